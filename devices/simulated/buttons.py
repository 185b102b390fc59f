"""Buttons behind gpiozero's mock pins, wired right or wrong, with contacts that can misbehave by script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpiozero import Button
from gpiozero.pins.mock import MockFactory, MockPWMPin

from devices.contract import Clock
from devices.wiring import Wiring

FAULTS: Mapping[str, str] = {
    "bounce": "devices.button_bounces",
    "stuck": "devices.button_stuck",
    "ghost": "devices.button_ghost",
    "inverted": "devices.button_inverted",
    "busy_pin": "devices.button_bad_pin",
}
"""Faults of a button, and the message that must come on the screens of each. `inverted` and `busy_pin` are there before
the driver opens the pins."""

BOUNCES = 15
BOUNCE_S = 0.0015
GHOST_S = 0.004


class WiredPin(MockPWMPin):  # type: ignore[misc]
    """A mock pin with a contact on it: closed, the contact decides its level, open, the pull resistor does."""

    wire: Wiring | None = None
    closed = False

    def contact(self, closed: bool) -> None:
        """The contact closes or opens."""
        self.closed = closed
        self._settle()

    def _set_pull(self, value: str) -> None:
        self._pull = value
        self._settle()

    def _settle(self) -> None:
        if self._function == "input" and self._pull != "floating":
            high = self.wire.to_supply if self.wire is not None and self.closed else self._pull == "up"
            (self.drive_high if high else self.drive_low)()


class SimulatedButtons:
    """Fingers on the buttons of a table. `wires` is how they really are wired, whatever the pin map says; `factory` is
    for the driver. `press` and the faults take their time on the clock step by step."""

    def __init__(self, wires: Mapping[str, Wiring], clock: Clock) -> None:
        self.factory = MockFactory(pin_class=WiredPin)
        self._clock, self._wires = clock, dict(wires)
        self._busy: dict[str, Any] = {}
        for name in wires:
            self._wire(name, wires[name])

    def _wire(self, name: str, wire: Wiring) -> None:
        self._wires[name] = wire
        pin = self._pin(name)
        pin.wire = wire
        pin.contact(wire.opens)

    def _pin(self, name: str) -> WiredPin:
        pin: WiredPin = self.factory.pin(self._wires[name].pin)
        return pin

    def set(self, name: str, down: bool) -> None:
        """Presses a button, or lets it go."""
        self._pin(name).contact(down != self._wires[name].opens)

    def press(self, name: str, for_s: float = 0.1) -> None:
        """Presses a button for a while."""
        self.set(name, True)
        self._clock.sleep_s(for_s)
        self.set(name, False)

    def fault(self, fault: str, name: str) -> None:
        """Begins a fault of FAULTS at a button; a bounce and a ghost are over when it returns. Raises ValueError."""
        if fault not in FAULTS:
            raise ValueError(f"unknown button fault {fault!r}; known are {', '.join(FAULTS)}")
        if fault == "bounce":
            for down in (*(True, False) * BOUNCES, True):
                self.set(name, down)
                self._clock.sleep_s(BOUNCE_S)
            self._clock.sleep_s(0.1)
            self.set(name, False)
        elif fault == "ghost":
            self.press(name, GHOST_S)
        elif fault == "stuck":
            self.set(name, True)
        elif fault == "inverted":
            wire = self._wires[name]
            self._wire(name, Wiring(wire.pin, wire.to_supply, not wire.opens))
        else:
            self._busy[name] = Button(self._wires[name].pin, pin_factory=self.factory)

    def mend(self, fault: str, name: str) -> None:
        """Ends a fault."""
        if fault == "stuck":
            self.set(name, False)
        elif fault == "inverted":
            self.fault("inverted", name)
        elif name in self._busy:
            self._busy.pop(name).close()

    def close(self) -> None:
        """Frees what another program would hold."""
        for name in tuple(self._busy):
            self.mend("busy_pin", name)
        self.factory.reset()
