"""One suite for every kind of button source and every kind of lights: what `Source[Press]` and `Lights` promise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from devices.clock import SYSTEM_CLOCK
from devices.contract import SIGNALS, DeviceGone, Lights, Press, Source
from devices.gpio import load_pins, mock_factory, open_buttons, open_lights
from devices.serial_box import BoxEvent, open_box
from devices.simulated.buttons import SimulatedButtons
from devices.simulated.serial_device import SimulatedSerial
from devices.wiring import load_wiring
from tests.devices.test_contract import until
from tests.serial_link.conftest import running_board

BUTTONS = ("done1", "done2", "takeback", "referee")


@dataclass
class Wired:
    """Buttons under test and a finger on them."""

    source: Source[BoxEvent] | Source[Press]
    press: Callable[[str], None]


def gpio_buttons(folder: Path) -> Iterator[Wired]:
    fingers = SimulatedButtons(load_wiring()["buttons"], SYSTEM_CLOCK)
    source = open_buttons("gpio-mock://", factory=fingers.factory)
    yield Wired(source, lambda button: fingers.press(button, 0.06))
    source.close()


def serial_buttons(folder: Path) -> Iterator[Wired]:
    wire = SimulatedSerial()
    source = open_box(f"serial://{wire.path}")
    until(lambda: source.condition.ok)

    def press(button: str) -> None:
        wire.press(button)
        time.sleep(0.1)

    yield Wired(source, press)
    source.close()
    wire.close()


def firmware_buttons(folder: Path) -> Iterator[Wired]:
    """The Pico's core under MicroPython."""
    with running_board(folder) as board:
        source = open_box(f"serial://{board.port}")
        until(lambda: source.condition.ok)

        def press(button: str) -> None:
            board.press(button)
            time.sleep(0.1)

        yield Wired(source, press)
        source.close()


@pytest.fixture(params=[gpio_buttons, serial_buttons, firmware_buttons], ids=lambda kind: kind.__name__)
def wired(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Wired]:
    yield from request.param(tmp_path)


def presses(source: Source[BoxEvent] | Source[Press], count: int) -> list[Press]:
    got: list[Press] = []
    end_s = time.monotonic() + 10.0
    while len(got) < count and time.monotonic() < end_s:
        event = source.read(0.2)
        if isinstance(event, Press):
            got.append(event)
    return got


def test_presses_come_in_order_once_each_and_none_is_lost(wired: Wired) -> None:
    began_s = time.monotonic()
    for button in (*BUTTONS, "done1"):
        wired.press(button)
    got = presses(wired.source, 5)
    assert [p.button for p in got] == [*BUTTONS, "done1"]
    assert all(began_s <= p.time_s <= time.monotonic() for p in got)
    assert [p.time_s for p in got] == sorted(p.time_s for p in got)
    end_s = time.monotonic() + 0.3
    while time.monotonic() < end_s:
        assert not isinstance(wired.source.read(0.05), Press)


def test_a_read_returns_when_its_time_is_over(wired: Wired) -> None:
    presses(wired.source, 0)
    while wired.source.read(0.2) is not None:
        pass
    began_s = time.monotonic()
    assert wired.source.read(0.1) is None
    assert 0.05 <= time.monotonic() - began_s < 5.0
    assert wired.source.read(0.0) is None


def test_close_may_be_repeated_and_ends_reading(wired: Wired) -> None:
    wired.source.close()
    wired.source.close()
    with pytest.raises(DeviceGone):
        wired.source.read(0.0)


@dataclass
class Lit:
    """Lights under test, and the newest signal that has come out of the wire."""

    lights: Lights
    shows: Callable[[str], bool]


LAMPS = {
    "off": set[str](),
    "accepted": {"green"},
    "question": {"amber"},
    "illegal": {"red"},
    "trouble": {"amber", "red"},
}


def gpio_lights(folder: Path) -> Iterator[Lit]:
    factory, pins = mock_factory(), load_pins()["lights"]
    lights = open_lights("gpio-mock://", factory=factory)

    def shows(signal: str) -> bool:
        lit = {name for name in ("green", "amber", "red") if factory.pin(pins[name]).state}
        return lit == LAMPS.get(signal, {"green"})

    yield Lit(lights, shows)
    lights.close()
    factory.reset()


def firmware_lights(folder: Path) -> Iterator[Lit]:
    with running_board(folder) as board:
        lights = open_box(f"serial://{board.port}")
        yield Lit(lights, lambda signal: board.shown()[-1:] == [signal])
        lights.close()


def serial_lights(folder: Path) -> Iterator[Lit]:
    wire = SimulatedSerial()
    lights = open_box(f"serial://{wire.path}")
    yield Lit(lights, lambda signal: wire.shown[-1:] == [signal])
    lights.close()
    wire.close()


@pytest.fixture(params=[gpio_lights, serial_lights, firmware_lights], ids=lambda kind: kind.__name__)
def lit(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lit]:
    yield from request.param(tmp_path)


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_is_shown_without_waiting(lit: Lit, signal: str) -> None:
    other = "illegal" if signal != "illegal" else "accepted"
    lit.lights.show(other)
    began_s = time.monotonic()
    lit.lights.show(signal)
    assert time.monotonic() - began_s < 0.5
    until(lambda: lit.shows(signal))


def test_an_unknown_signal_is_refused_and_closed_lights_are_gone(lit: Lit) -> None:
    with pytest.raises(ValueError, match="party"):
        lit.lights.show("party")
    lit.lights.close()
    lit.lights.close()
    with pytest.raises(DeviceGone):
        lit.lights.show("accepted")
