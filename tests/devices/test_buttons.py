"""Buttons and lights through gpiozero's own classes on mock pins, and the debouncer on any train of edges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory
from hypothesis import given
from hypothesis import strategies as st

from devices.contract import SIGNALS, BadAddressError, DeviceError, DeviceGone, Press
from devices.debounce import SETTLE_S, STUCK_S, Debouncer
from devices.gpio import MockWires, load_pins, mock_factory, open_buttons, open_lights
from devices.gpio_buttons import GpioButtons
from devices.signals import load_patterns
from tests.devices.fakes import HandClock

PINS = load_pins()["buttons"]
LAMPS = load_pins()["lights"]


@pytest.fixture
def factory() -> Iterator[MockFactory]:
    """Mock pins that do not outlive the test."""
    pins = mock_factory()
    yield pins
    pins.reset()
    Device.pin_factory = None


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def all_presses(buttons: GpioButtons, seconds: float = 0.2) -> list[str]:
    """Everything pressed within so much of the clock's time."""
    names = []
    while (press := buttons.read(seconds)) is not None:
        names.append(press.button)
    return names


@pytest.mark.parametrize("bounces", [0, 1, 7])
def test_a_press_comes_once_clean_or_bouncing(factory: MockFactory, clock: HandClock, bounces: int) -> None:
    buttons, wires = open_buttons("gpio-mock://", clock, factory), MockWires(factory, PINS, bounces)
    began_s = clock.now_s()
    wires("done1", True)
    press = buttons.read(1.0)
    assert press == Press("done1", pytest.approx(began_s))
    wires("done1", False)
    assert all_presses(buttons) == []
    wires("done1", True)
    assert all_presses(buttons) == ["done1"]
    buttons.close()


def test_a_tap_between_two_reads_is_not_lost(factory: MockFactory, clock: HandClock) -> None:
    buttons, wires = open_buttons("gpio-mock://", clock, factory), MockWires(factory, PINS)
    for button in ("takeback", "done2"):
        wires(button, True)
        clock.sleep_s(0.08)
        wires(button, False)
        clock.sleep_s(0.3)
    assert all_presses(buttons) == ["takeback", "done2"]
    buttons.close()


def test_two_at_once_are_two_presses(factory: MockFactory, clock: HandClock) -> None:
    buttons, wires = open_buttons("gpio-mock://", clock, factory), MockWires(factory, PINS, 2)
    wires("done1", True)
    wires("done2", True)
    assert sorted(all_presses(buttons)) == ["done1", "done2"]
    buttons.close()


def test_a_button_held_down_gives_one_press_and_is_called_stuck(factory: MockFactory, clock: HandClock) -> None:
    buttons, wires = open_buttons("gpio-mock://", clock, factory), MockWires(factory, PINS)
    wires("referee", True)
    assert all_presses(buttons) == ["referee"]
    assert buttons.conditions()["referee"].ok
    clock.sleep_s(STUCK_S)
    assert all_presses(buttons) == []
    assert buttons.conditions()["referee"].message == "devices.button_stuck"
    assert buttons.conditions()["done1"].ok
    wires("referee", False)
    assert all_presses(buttons) == [] and buttons.conditions()["referee"].ok
    buttons.close()


def test_a_button_that_is_down_at_the_start_gives_no_press(factory: MockFactory, clock: HandClock) -> None:
    class Pressed(MockFactory):
        def pin(self, name: object) -> object:
            pin = super().pin(name)
            if name == PINS["done1"]:
                pin._set_pull = lambda value: pin.drive_low()
            return pin

    buttons = open_buttons("gpio-mock://", clock, Pressed())
    assert all_presses(buttons) == []
    buttons.close()


def test_one_bad_pin_does_not_stop_the_rest(tmp_path: Path, factory: MockFactory, clock: HandClock) -> None:
    pins = tmp_path / "pins.toml"
    pins.write_text("[buttons]\ndone1 = 17\ntwin = 17\nnowhere = 99\n[lights]\ngreen = 5\nred = 99\n")
    buttons = open_buttons(f"gpio-mock://{pins}", clock, factory)
    conditions = buttons.conditions()
    assert conditions["done1"].ok
    assert {n: c.message for n, c in conditions.items() if not c.ok} == {
        "twin": "devices.button_bad_pin",
        "nowhere": "devices.button_bad_pin",
    }
    MockWires(factory, {"done1": 17})("done1", True)
    assert all_presses(buttons) == ["done1"]
    buttons.close()
    lights = open_lights(f"gpio-mock://{pins}", clock, mock_factory())
    lights.show("accepted")
    lights.tick()
    assert not lights.conditions()["red"].ok and lights.conditions()["green"].ok
    lights.close()


def test_no_usable_pin_is_said(tmp_path: Path, clock: HandClock) -> None:
    pins = tmp_path / "pins.toml"
    pins.write_text("[buttons]\ndone1 = 99\n")
    with pytest.raises(DeviceError, match="no button can be used"):
        open_buttons(f"gpio-mock://{pins}", clock)
    with pytest.raises(BadAddressError, match="names no lights"):
        open_lights(f"gpio-mock://{pins}", clock)
    pins.write_text("[buttons\n")
    with pytest.raises(BadAddressError, match="cannot read the pin map"):
        open_buttons(f"gpio-mock://{pins}", clock)
    with pytest.raises(BadAddressError, match="no address"):
        open_buttons("gipo://", clock)


def test_reading_closed_buttons_and_showing_on_closed_lights(clock: HandClock) -> None:
    buttons, lights = open_buttons("gpio-mock://", clock), open_lights("gpio-mock://", clock)
    for device in (buttons, buttons, lights, lights):
        device.close()
    with pytest.raises(DeviceGone):
        buttons.read(0.0)
    with pytest.raises(DeviceGone):
        lights.show("off")


def lit(factory: MockFactory) -> set[str]:
    return {name for name in ("green", "amber", "red") if factory.pin(LAMPS[name]).state}


def test_the_signals_on_the_pins(factory: MockFactory, clock: HandClock) -> None:
    lights = open_lights("gpio-mock://", clock, factory)
    seen: dict[str, set[str]] = {}
    sounds: dict[str, bool] = {}
    for signal in SIGNALS:
        lights.show(signal)
        lights.tick()
        seen[signal], sounds[signal] = lit(factory), factory.pin(LAMPS["buzzer"]).state > 0
    assert seen == {
        "off": set(),
        "accepted": {"green"},
        "provisional": {"green"},
        "question": {"amber"},
        "illegal": {"red"},
        "trouble": {"amber", "red"},
    }
    assert {s for s, on in sounds.items() if on} == {"accepted", "question", "illegal"}
    lights.show("provisional")
    clock.sleep_s(0.05)
    blinks = []
    for _ in range(24):
        lights.tick()
        blinks.append(bool(lit(factory)))
        clock.sleep_s(0.1)
    assert blinks == ([True] * 7 + [False] * 5) * 2
    lights.show("accepted")
    clock.sleep_s(5.0)
    assert lights.tick() is None
    assert lit(factory) == {"green"} and factory.pin(LAMPS["buzzer"]).state == 0
    with pytest.raises(ValueError, match="unknown signal"):
        lights.show("party")
    lights.close()
    assert not any(factory.pin(n).state for n in LAMPS.values())


def test_an_rgb_light_has_a_colour_for_every_signal(tmp_path: Path, factory: MockFactory, clock: HandClock) -> None:
    pins = tmp_path / "pins.toml"
    pins.write_text("[lights]\nrgb_red = 16\nrgb_green = 20\nrgb_blue = 21\n")
    lights = open_lights(f"gpio-mock://{pins}", clock, factory)
    colours = {}
    for signal in SIGNALS:
        lights.show(signal)
        lights.tick()
        colours[signal] = "".join(c for c, pin in (("r", 16), ("g", 20), ("b", 21)) if factory.pin(pin).state)
    lights.close()
    assert colours == {
        "off": "",
        "accepted": "g",
        "provisional": "g",
        "question": "rg",
        "illegal": "r",
        "trouble": "rb",
    }


def test_every_signal_ends_silent_or_repeats() -> None:
    for signal, pattern in load_patterns().items():
        step, left_s = pattern.at(1000.0)
        assert pattern.repeat or (left_s is None and step.tone_hz == 0), signal


def test_the_lights_follow_by_themselves_with_the_systems_clock(factory: MockFactory) -> None:
    lights = open_lights("gpio-mock://", factory=factory)
    lights.show("trouble")
    for _ in range(2000):
        if lit(factory) == {"amber", "red"}:
            break
        lights._thread.join(0.005)
    assert lit(factory) == {"amber", "red"}
    lights.close()
    assert not lights._thread.is_alive()


Edges = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.booleans(), st.floats(0.0, 0.2)), max_size=60)


def timed(edges: list[tuple[str, bool, float]]) -> list[tuple[str, bool, float]]:
    now_s, result = 0.0, []
    for button, down, gap_s in edges:
        now_s += gap_s
        result.append((button, down, now_s))
    return result


def pressed(edges: list[tuple[str, bool, float]], asked_at: list[float]) -> list[Press]:
    debouncer = Debouncer()
    for button in "ab":
        debouncer.edge(button, False, 0.0)
    presses: list[Press] = []
    questions = sorted(asked_at)
    for button, down, time_s in edges:
        while questions and questions[0] <= time_s:
            presses += debouncer.presses(questions.pop(0))
        debouncer.edge(button, down, time_s)
    return presses + debouncer.presses(1000.0)


@given(Edges, st.lists(st.floats(0.0, 12.0), max_size=30))
def test_presses_do_not_depend_on_when_it_is_asked(edges: list[tuple[str, bool, float]], asked: list[float]) -> None:
    train = timed(edges)
    by_time = sorted(pressed(train, asked), key=lambda p: (p.time_s, p.button))
    assert by_time == sorted(pressed(train, []), key=lambda p: (p.time_s, p.button))


@given(Edges)
def test_each_press_stands_for_one_long_enough_contact(edges: list[tuple[str, bool, float]]) -> None:
    train = timed(edges)
    for button in "ab":
        levels: list[tuple[bool, float]] = [(False, -1.0)]
        for name, down, time_s in train:
            if name == button and down != levels[-1][0]:
                levels.append((down, time_s))
        held, wanted = False, 0
        for (down, since_s), (_, until_s) in zip(levels, [*levels[1:], (False, 1000.0)], strict=True):
            if until_s - since_s >= SETTLE_S:
                wanted += down and not held
                held = down
        assert sum(p.button == button for p in pressed(train, [])) == wanted


@given(st.lists(st.floats(0.0, SETTLE_S * 0.9), min_size=1, max_size=20).filter(lambda g: len(g) % 2 == 0))
def test_a_spark_shorter_than_the_settling_time_is_no_press(gaps: list[float]) -> None:
    edges = [("a", i % 2 == 0, gap) for i, gap in enumerate([1.0, *gaps[1:]])]
    assert pressed(timed(edges), []) == []


def test_the_wiring_picture_shows_the_shipped_pins() -> None:
    picture = (Path(__file__).parents[2] / "docs" / "img" / "wiring.svg").read_text(encoding="utf-8")
    for number in (*PINS.values(), *LAMPS.values()):
        assert f"GPIO{number} (pin" in picture
