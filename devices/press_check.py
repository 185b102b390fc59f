"""Each button is pressed once when it is asked for; at which pin it is and how it is wired shows by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gpiozero import GPIOZeroError, InputDevice

from devices.clock import SYSTEM_CLOCK
from devices.contract import Clock, Condition
from devices.debounce import SETTLE_S
from devices.wiring import Wiring, bad_pin

WAIT_S = 15.0
"""So long each button is waited for; first as one to ground, half of it as one to the supply."""

STEP_S = 0.002


class PressCheck:
    """Asks for one button after the other. `pins` are the pins to listen at, under the names that a map gives them."""

    def __init__(self, pins: Mapping[str, Wiring], factory: Any, clock: Clock = SYSTEM_CLOCK) -> None:
        self.found: dict[str, Wiring] = {}
        self._pins, self._clock, self._factory = dict(pins), clock, factory
        self._inputs: dict[int, InputDevice] = {}
        self.bad: dict[str, Condition] = {}

    def run(self, ask: Callable[[str], None]) -> Iterator[Condition]:
        """How each button turns out to be wired, as soon as it is known; `ask` is called with the name of the one that
        must be pressed now. Afterwards `found` holds the wiring of those that were found."""
        try:
            for name in self._pins:
                ask(name)
                yield self._about(name)
        finally:
            self._release()

    def _about(self, name: str) -> Condition:
        wire = self._pressed(False, WAIT_S / 2) or self._pressed(True, WAIT_S / 2)
        if name in self.bad:
            return self.bad[name]
        if wire is None:
            return Condition(False, "devices.press_nothing", (("button", name), ("pin", self._pins[name].pin)))
        taken = next((n for n, w in self.found.items() if w.pin == wire.pin), None)
        if taken is not None:
            return Condition(False, "devices.press_same", (("button", name), ("other", taken), ("pin", wire.pin)))
        self.found[name] = wire
        kind = ("supply" if wire.to_supply else "ground") + ("_opens" if wire.opens else "")
        expected = wire == self._pins[name]
        values = (("button", name), ("pin", wire.pin), ("how", f"@devices.press_{kind}"))
        return Condition(expected, "devices.press_right" if expected else "devices.press_other", values)

    def _pressed(self, to_supply: bool, seconds: float) -> Wiring | None:
        """The wiring that the next press shows, with the pins pulled away from where the buttons lead."""
        self._listen(to_supply)
        rest = {pin: bool(device.pin.state) for pin, device in self._inputs.items()}
        end_s = self._clock.now_s() + seconds
        since: dict[int, float] = {}
        while (now_s := self._clock.now_s()) < end_s:
            for pin, device in self._inputs.items():
                if bool(device.pin.state) == rest[pin]:
                    since.pop(pin, None)
                elif now_s - since.setdefault(pin, now_s) >= SETTLE_S:
                    self._wait_for_rest(device, rest[pin], end_s)
                    return Wiring(pin, to_supply, opens=rest[pin] == to_supply)
            self._clock.sleep_s(STEP_S)
        return None

    def _wait_for_rest(self, device: InputDevice, rest: bool, end_s: float) -> None:
        """Waits until the button is let go, so that its bouncing is not taken for the next one."""
        since_s = self._clock.now_s()
        while (now_s := self._clock.now_s()) < end_s and now_s - since_s < SETTLE_S:
            if bool(device.pin.state) != rest:
                since_s = now_s
            self._clock.sleep_s(STEP_S)

    def _listen(self, to_supply: bool) -> None:
        self._release()
        for name, wire in self._pins.items():
            try:
                self._inputs[wire.pin] = InputDevice(wire.pin, pull_up=not to_supply, pin_factory=self._factory)
            except (GPIOZeroError, OSError, ValueError) as error:
                self.bad[name] = bad_pin("devices.button_bad_pin", name, wire.pin, error)

    def _release(self) -> None:
        for device in self._inputs.values():
            device.close()
        self._inputs.clear()


def pin_map(found: Mapping[str, Wiring], lights: Mapping[str, Wiring]) -> Iterable[str]:
    """The lines of a pin map file with these buttons and lights."""
    yield "[buttons]"
    for name, wire in found.items():
        extra = "".join(f", {key} = true" for key in ("to_supply", "opens") if getattr(wire, key))
        yield f"{name} = {{ pin = {wire.pin}{extra} }}" if extra else f"{name} = {wire.pin}"
    yield ""
    yield "[lights]"
    for name, wire in lights.items():
        yield f"{name} = {wire.pin}"
