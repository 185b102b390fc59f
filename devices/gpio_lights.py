"""Lights and buzzer on GPIO pins, made to follow the patterns of the signals."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from gpiozero import LED, GPIOZeroError, PWMOutputDevice

from devices.contract import SIGNALS, Clock, Condition, DeviceGone
from devices.signals import Pattern, load_patterns
from devices.wiring import bad_pin

_COLOURS: Mapping[frozenset[str], frozenset[str]] = {
    frozenset({"green"}): frozenset({"rgb_green"}),
    frozenset({"amber"}): frozenset({"rgb_red", "rgb_green"}),
    frozenset({"red"}): frozenset({"rgb_red"}),
    frozenset({"amber", "red"}): frozenset({"rgb_red", "rgb_blue"}),
}
"""The colour of an RGB light for the lamps of a step: yellow for amber, violet where two lamps burn."""


class GpioLights:
    """The green, amber and red light, an RGB light (pins `rgb_red`, `rgb_green`, `rgb_blue`), the buzzer. `show` only
    names the signal; `tick` makes the pins follow its pattern, called by a thread of its own (`run`) or, in tests, by
    hand."""

    def __init__(
        self,
        pins: Mapping[str, int],
        factory: Any,
        clock: Clock,
        url: str,
        patterns: Mapping[str, Pattern] | None = None,
    ) -> None:
        self._clock, self._url = clock, url
        self._patterns = patterns if patterns is not None else load_patterns()
        self._lamps: dict[str, LED] = {}
        self._buzzer: PWMOutputDevice | None = None
        self._bad: dict[str, Condition] = {}
        self._lock = threading.Condition()
        self._signal, self._since_s = "off", clock.now_s()
        self._open = True
        self._thread: threading.Thread | None = None
        for name, pin in pins.items():
            try:
                if name == "buzzer":
                    self._buzzer = PWMOutputDevice(pin, pin_factory=factory)
                else:
                    self._lamps[name] = LED(pin, pin_factory=factory)
            except (GPIOZeroError, OSError, ValueError) as error:
                self._bad[name] = bad_pin("devices.light_bad_pin", name, pin, error)

    @property
    def working(self) -> bool:
        """True when at least one light or the buzzer can be driven."""
        return bool(self._lamps) or self._buzzer is not None

    def show(self, signal: str) -> None:
        """Shows `signal` from now on; raises DeviceGone after `close`, ValueError for no signal of SIGNALS."""
        if signal not in SIGNALS:
            raise ValueError(f"unknown signal {signal!r}; there are {', '.join(SIGNALS)}")
        with self._lock:
            if not self._open:
                raise DeviceGone(f"{self._url}: the lights have been closed; open them again")
            self._signal, self._since_s = signal, self._clock.now_s()
            self._lock.notify_all()

    def tick(self) -> float | None:
        """Sets the pins for the present time; returns the seconds until something changes, None when nothing will."""
        with self._lock:
            return self._set_pins() if self._open else None

    def run(self) -> None:
        """Starts the thread that calls `tick` whenever something changes."""
        self._thread = threading.Thread(target=self._loop, name="lights", daemon=True)
        self._thread.start()

    def conditions(self) -> dict[str, Condition]:
        """How each light and the buzzer is."""
        names = [*self._lamps, *(["buzzer"] if self._buzzer is not None else [])]
        return {**{n: Condition(True, "devices.light_works", (("light", n),)) for n in names}, **self._bad}

    def close(self) -> None:
        """Switches everything off and releases the pins; may be called any number of times."""
        with self._lock:
            self._open = False
            for device in (*self._lamps.values(), *([self._buzzer] if self._buzzer is not None else [])):
                if not device.closed:
                    device.off()
                    device.close()
            self._lock.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(2.0)

    def _set_pins(self) -> float | None:
        step, left_s = self._patterns[self._signal].at(self._clock.now_s() - self._since_s)
        on = frozenset(step.on)
        on |= _COLOURS.get(on, frozenset())
        for name, lamp in self._lamps.items():
            if bool(lamp.value) != (name in on):
                lamp.value = name in on
        if self._buzzer is not None:
            if step.tone_hz:
                self._buzzer.frequency = step.tone_hz
            self._buzzer.value = 0.5 if step.tone_hz else 0.0
        return left_s

    def _loop(self) -> None:
        with self._lock:
            while self._open:
                left_s = self._set_pins()
                self._lock.wait(None if left_s is None else max(left_s, 0.005))
