"""Buttons, lights and buzzer on GPIO pins, through gpiozero's own classes; real pins or mock pins, never by fallback.

URLs: `gpio://` (the Pi's pins by lgpio) or `gpio-mock://` (gpiozero's mock pins), each with an optional path of a TOML
file with the pin map (`gpio:///etc/companion/pins.toml`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gpiozero.pins.mock import MockFactory, MockPWMPin

from devices.clock import SYSTEM_CLOCK
from devices.contract import BadAddressError, Clock, Condition, DeviceError
from devices.gpio_buttons import GpioButtons
from devices.gpio_lights import GpioLights
from devices.wiring import Wiring, load_wiring


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
    wires, factory = _address(url, "lights", factory)
    lights = GpioLights({name: wire.pin for name, wire in wires.items()}, factory, clock, url)
    if not lights.working:
        lights.close()
        raise DeviceError(_nothing(url, "light", lights.conditions()))
    if clock is SYSTEM_CLOCK:
        lights.run()
    return lights


def open_wires(url: str, factory: Any = None) -> tuple[dict[str, Wiring], Any, dict[str, Wiring]]:
    """The buttons of the URL's pin map, the pin factory, and the lights of the same map; errors as for
    `open_buttons`."""
    wires, factory = _address(url, "buttons", factory)
    return wires, factory, load_wiring(_path(url))["lights"]


def mock_factory() -> MockFactory:
    """A fresh set of mock pins (with PWM, for the buzzer)."""
    return MockFactory(pin_class=MockPWMPin)


def load_pins(path: Path | None = None) -> dict[str, dict[str, int]]:
    """The pin numbers, `buttons` and `lights` by name, from `path` or the map that ships; raises BadAddressError."""
    return {part: {n: w.pin for n, w in wires.items()} for part, wires in load_wiring(path).items()}


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


def _address(url: str, part: str, factory: Any) -> tuple[dict[str, Wiring], Any]:
    parts = urlsplit(url)
    if parts.scheme not in ("gpio", "gpio-mock"):
        raise BadAddressError(f"{url!r} is no address of {part}; use gpio:// or gpio-mock://")
    pins = load_wiring(_path(url))[part]
    if not pins:
        raise BadAddressError(f"{url!r}: the pin map names no {part}")
    if factory is None:
        factory = mock_factory() if parts.scheme == "gpio-mock" else _pi_factory(url)
    return pins, factory


def _path(url: str) -> Path | None:
    path = urlsplit(url).path
    return Path(unquote(path)) if path.strip("/") else None


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


def _nothing(url: str, kind: str, conditions: Mapping[str, Condition]) -> str:
    errors = "; ".join(f"{name}: {dict(c.values).get('error', c.message)}" for name, c in conditions.items())
    return f"{url}: no {kind} can be used ({errors}); check the pin map and the wiring"
