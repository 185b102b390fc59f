"""Buttons, lights and buzzer on GPIO pins, through gpiozero's own classes; real pins or mock pins, never by fallback.

URLs: `gpio://` (the Pi's pins by lgpio) or `gpio-mock://` (gpiozero's mock pins), each with an optional path of a TOML
file with the pin map (`gpio:///etc/companion/pins.toml`).
"""

from __future__ import annotations

import threading
import tomllib
from collections import deque
from collections.abc import Mapping
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gpiozero import LED, Button, GPIOZeroError, PWMOutputDevice
from gpiozero.pins.mock import MockFactory, MockPWMPin

from devices.clock import SYSTEM_CLOCK
from devices.contract import SIGNALS, BadAddressError, Clock, Condition, DeviceError, DeviceGone, Press
from devices.debounce import Debouncer
from devices.signals import Pattern, load_patterns

STEP_S = 0.01
"""How finely a simulated clock is moved on while waiting for a press."""


def open_buttons(url: str, clock: Clock = SYSTEM_CLOCK, factory: Any = None) -> GpioButtons:
    """The table's buttons. `factory` is a gpiozero pin factory to use instead of the URL's own (mock pins that a
    simulated finger presses). Raises BadAddressError, or DeviceError when no pin at all can be used."""
    pins, factory = _address(url, "buttons", factory)
    buttons = GpioButtons(pins, factory, clock, url)
    if not buttons.working:
        buttons.close()
        raise DeviceError(_nothing(url, "button", buttons.conditions()))
    return buttons


def open_lights(url: str, clock: Clock = SYSTEM_CLOCK, factory: Any = None) -> GpioLights:
    """The table's lights and buzzer; arguments and errors as for `open_buttons`. With the system's clock a thread makes
    the pins follow the signals; with another clock its owner calls `tick`."""
    pins, factory = _address(url, "lights", factory)
    lights = GpioLights(pins, factory, clock, url)
    if not lights.working:
        lights.close()
        raise DeviceError(_nothing(url, "light", lights.conditions()))
    if clock is SYSTEM_CLOCK:
        lights.run()
    return lights


def mock_factory() -> MockFactory:
    """A fresh set of mock pins (with PWM, for the buzzer)."""
    return MockFactory(pin_class=MockPWMPin)


def load_pins(path: Path | None = None) -> dict[str, dict[str, int]]:
    """The pin map, `buttons` and `lights` by name, from `path` or the one that ships; raises BadAddressError."""
    source = path if path is not None else resources.files("devices") / "pins.toml"
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
        return {part: {str(k): int(v) for k, v in data.get(part, {}).items()} for part in ("buttons", "lights")}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError, ValueError, AttributeError) as error:
        raise BadAddressError(f"cannot read the pin map {source}: {error}; see docs/devices.md for its form") from error


class GpioButtons:
    """A `Source` of clean presses. Presses are never dropped: several since the last read come one by one."""

    def __init__(self, pins: Mapping[str, int], factory: Any, clock: Clock, url: str) -> None:
        self._clock, self._url = clock, url
        self._debouncer = Debouncer()
        self._edges: deque[tuple[str, bool, float]] = deque()
        self._ready: deque[Press] = deque()
        self._news = threading.Condition()
        self._buttons: dict[str, Button] = {}
        self._bad: dict[str, Condition] = {}
        self._open = True
        for name, pin in pins.items():
            try:
                button = Button(pin, pull_up=True, bounce_time=None, pin_factory=factory)
            except (GPIOZeroError, OSError, ValueError) as error:
                self._bad[name] = _bad_pin("devices.button_bad_pin", name, pin, error)
                continue
            self._buttons[name] = button
            self._debouncer.edge(name, bool(button.is_pressed), clock.now_s())
            button.when_pressed = partial(self._heard, name, True)
            button.when_released = partial(self._heard, name, False)

    @property
    def working(self) -> bool:
        """True when at least one button can be read."""
        return bool(self._buttons)

    def read(self, timeout_s: float) -> Press | None:
        """The oldest press not yet read, or None when there is none within `timeout_s`; DeviceGone after `close`."""
        deadline_s = self._clock.now_s() + timeout_s
        while True:
            if not self._open:
                raise DeviceGone(f"{self._url}: the buttons have been closed; open them again")
            now_s = self._clock.now_s()
            self._drain(now_s)
            if self._ready:
                return self._ready.popleft()
            if now_s >= deadline_s:
                return None
            self._wait(min(deadline_s, self._debouncer.next_s() or deadline_s) - now_s)

    def conditions(self) -> dict[str, Condition]:
        """How each button is: works, its pin cannot be used, or it is stuck."""
        stuck = set(self._debouncer.stuck(self._clock.now_s()))
        fine = {
            name: Condition(False, "devices.button_stuck", (("button", name),))
            if name in stuck
            else Condition(True, "devices.button_works", (("button", name),))
            for name in self._buttons
        }
        return {**fine, **self._bad}

    def close(self) -> None:
        """Releases the pins; may be called any number of times."""
        self._open = False
        for button in self._buttons.values():
            button.close()
        self._buttons.clear()
        with self._news:
            self._news.notify_all()

    def _heard(self, name: str, down: bool) -> None:
        """Called in the pin library's thread: only notes the edge."""
        self._edges.append((name, down, self._clock.now_s()))
        with self._news:
            self._news.notify_all()

    def _drain(self, now_s: float) -> None:
        while self._edges:
            self._debouncer.edge(*self._edges.popleft())
        for name, button in self._buttons.items():  # an edge that the library lost shows in the level
            down = bool(button.is_pressed)
            if down != self._debouncer.level(name) and not self._edges:
                self._debouncer.edge(name, down, now_s)
        self._ready.extend(self._debouncer.presses(now_s))

    def _wait(self, seconds: float) -> None:
        if self._clock is not SYSTEM_CLOCK:
            self._clock.sleep_s(min(max(seconds, 1e-4), STEP_S))
            return
        with self._news:
            if not self._edges and self._open:
                self._news.wait(max(seconds, 0.001))


class GpioLights:
    """The green, amber and red light and the buzzer. `show` only names the signal; `tick` makes the pins follow its
    pattern, called by a thread of its own (`run`) or, in tests, by hand."""

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
                self._bad[name] = _bad_pin("devices.light_bad_pin", name, pin, error)

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
        for name, lamp in self._lamps.items():
            if bool(lamp.value) != (name in step.on):
                lamp.value = name in step.on
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


class MockWires:
    """Fingers on mock pins: what a simulated table calls to press a button, so that the real driver hears it.

    `bounces` is how many times the contact opens again before it stays closed (and the other way round).
    """

    def __init__(self, factory: MockFactory, pins: Mapping[str, int], bounces: int = 0) -> None:
        self._factory, self._pins, self._bounces = factory, pins, bounces

    def __call__(self, button: str, down: bool) -> None:
        """Presses (True) or lets go (False) a button; a name without a pin does nothing."""
        if button not in self._pins:
            return
        pin = self._factory.pin(self._pins[button])
        for low in (*(down, not down) * self._bounces, down):
            (pin.drive_low if low else pin.drive_high)()


def _address(url: str, part: str, factory: Any) -> tuple[dict[str, int], Any]:
    parts = urlsplit(url)
    if parts.scheme not in ("gpio", "gpio-mock"):
        raise BadAddressError(f"{url!r} is no address of {part}; use gpio:// or gpio-mock://")
    pins = load_pins(Path(unquote(parts.path)) if parts.path.strip("/") else None)[part]
    if not pins:
        raise BadAddressError(f"{url!r}: the pin map names no {part}")
    if factory is None:
        factory = mock_factory() if parts.scheme == "gpio-mock" else _pi_factory(url)
    return pins, factory


def _pi_factory(url: str) -> Any:
    """The Pi's pins through lgpio, never another library by fallback."""
    try:
        from gpiozero.pins.lgpio import LGPIOFactory

        return LGPIOFactory()
    except ImportError as error:
        raise DeviceError(
            f"{url}: the GPIO library lgpio is missing: sudo apt install python3-lgpio, in a virtual environment made "
            f"with --system-site-packages; without a Pi use gpio-mock://"
        ) from error
    except Exception as error:  # lgpio raises its own kinds, all meaning that the chip cannot be opened
        raise DeviceError(
            f"{url}: the GPIO pins cannot be opened ({error}); on a Pi add this user to the group gpio, elsewhere use "
            f"gpio-mock://"
        ) from error


def _bad_pin(message: str, name: str, pin: int, error: Exception) -> Condition:
    return Condition(False, message, (("name", name), ("pin", pin), ("error", str(error))))


def _nothing(url: str, kind: str, conditions: Mapping[str, Condition]) -> str:
    errors = "; ".join(f"{name}: {dict(c.values).get('error', c.message)}" for name, c in conditions.items())
    return f"{url}: no {kind} can be used ({errors}); check the pin map and the wiring"
