"""The driver on a real pty: found by identity, nothing lost or doubled, every fault named and survived."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from companion.words import LANGUAGES, catalogue
from devices.contract import DieReport, Press, TimerReport
from devices.firmware.wire import encode
from devices.serial_box import SerialBox, understand
from devices.serial_link import SerialLink, WireEvent
from devices.serial_port import PORT_ERRORS, Port, candidate_ports
from devices.simulated.serial_device import FAULTS, SimulatedSerial

TOLD_WITHIN_S = 2.0
BACK_WITHIN_S = 3.0


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def device(stack: ExitStack, folder: Path, **about: object) -> SimulatedSerial:
    made = SimulatedSerial(link=folder / f"usb-{about.get('name', 'box')}", **about)  # type: ignore[arg-type]
    stack.callback(made.close)
    return made


def box_on(stack: ExitStack, folder: Path, identity: str = "") -> SerialBox:
    box = SerialBox(SerialLink(lambda: candidate_ports(folder), identity))
    stack.callback(box.close)
    return box


def wait(until: Callable[[], bool], seconds: float) -> float:
    """Seconds until it held; fails when it does not come true in time (the machine may be busy: twice the time)."""
    start = time.monotonic()
    while not until():
        assert time.monotonic() - start < 2 * seconds, f"did not happen within {2 * seconds:.1f} s"
        time.sleep(0.005)
    return time.monotonic() - start


def collect(box: SerialBox, seconds: float) -> list[object]:
    events, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        event = box.read(0.05)
        if event is not None:
            events.append(event)
    return events


def presses(events: list[object]) -> list[str]:
    return [e.button for e in events if isinstance(e, Press)]


def fresh(events: list[object]) -> list[tuple[str, int | None]]:
    return [(e.phase, e.value) for e in events if isinstance(e, DieReport) and e.fresh]


def test_a_box_is_found_pressed_rolled_and_lit(stack: ExitStack, tmp_path: Path) -> None:
    wire = device(stack, tmp_path)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    wire.press("done1")
    wire.roll("a", 4)
    box.show("question")
    events = collect(box, 0.6)
    assert presses(events) == ["done1"]
    assert fresh(events) == [("rolling", None), ("settled", 4)]
    assert wire.shown == ["question"]


def test_what_lies_there_at_the_start_is_no_roll(stack: ExitStack, tmp_path: Path) -> None:
    wire = device(stack, tmp_path)
    wire.roll("a", 6)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    reports = [e for e in collect(box, 0.6) if isinstance(e, DieReport)]
    assert [(r.value, r.fresh) for r in reports][-1] == (6, False)


def test_unplugged_and_plugged_in_again_under_another_name(stack: ExitStack, tmp_path: Path) -> None:
    wire = device(stack, tmp_path)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    before = wire.path
    wire.fault("unplug")
    wait(lambda: not box.condition.ok, TOLD_WITHIN_S)
    wire.press("done2")  # pressed while the cable is out: told when it is back
    box.show("illegal")
    time.sleep(0.2)
    (tmp_path / "usb-box").unlink(missing_ok=True)
    wire._link = tmp_path / "usb-other-name"
    wire.mend()
    wait(lambda: box.condition.ok, BACK_WITHIN_S)
    assert wire.path != "" and (tmp_path / "usb-other-name").exists(), before
    assert presses(collect(box, 0.8)) == ["done2"]
    assert "illegal" in wire.shown


def test_a_stranger_is_not_taken_for_the_device(stack: ExitStack, tmp_path: Path) -> None:
    device(stack, tmp_path, identity="aaaa")
    box = box_on(stack, tmp_path, identity="bbbb")
    wait(lambda: box.condition.message == "serial.stranger", 4)
    right = device(stack, tmp_path, identity="bbbb", name="second")
    wait(lambda: box.condition.ok, BACK_WITHIN_S + 1)
    right.press("done1")
    assert presses(collect(box, 0.4)) == ["done1"]


def test_two_devices_with_one_identity_are_named(stack: ExitStack, tmp_path: Path) -> None:
    device(stack, tmp_path, identity="same", name="one")
    device(stack, tmp_path, identity="same", name="two")
    box = box_on(stack, tmp_path, identity="same")
    wait(lambda: box.condition.message == "serial.twins", 4)


def test_another_protocol_version_is_named(stack: ExitStack, tmp_path: Path) -> None:
    wire = device(stack, tmp_path)
    wire.fault("wrong_version")
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.message == "serial.version", 4)
    wire.mend()
    wait(lambda: box.condition.ok, BACK_WITHIN_S)


def test_no_device_is_said(stack: ExitStack, tmp_path: Path) -> None:
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.message == "serial.searching", 1)
    assert box.read(0.01) is None


def test_a_busy_port_is_named(stack: ExitStack, tmp_path: Path) -> None:
    device(stack, tmp_path)
    first = box_on(stack, tmp_path)
    wait(lambda: first.condition.ok, 3)
    second = box_on(stack, tmp_path)
    wait(lambda: second.condition.message == "serial.cannot_open", 3)
    assert first.condition.ok


@pytest.mark.parametrize("fault", ["noise", "half_lines", "duplicates", "wrong_crc", "flood", "reset", "slow_drip"])
def test_nothing_is_lost_or_doubled_on_a_bad_wire(stack: ExitStack, tmp_path: Path, fault: str) -> None:
    wire = device(stack, tmp_path, seed=3)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    wire.fault(fault)
    for n in range(6):
        wire.press(f"done{1 + n % 2}", for_s=0.03)
        time.sleep(0.08)
    time.sleep(0.4)
    wire.mend()
    assert presses(collect(box, 1.5)) == ["done1", "done2"] * 3


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_said_in_two_seconds_and_gone_three_after_its_end(
    stack: ExitStack, tmp_path: Path, fault: str
) -> None:
    wire = device(stack, tmp_path, seed=3)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    time.sleep(0.6)
    assert box.condition.ok, "nothing is said of a good wire"
    wire.fault(fault)
    wait(lambda: box.condition.message == FAULTS[fault], TOLD_WITHIN_S)
    wire.mend()
    wait(lambda: box.condition.ok, BACK_WITHIN_S)
    wire.press("done1")
    assert presses(collect(box, 0.6)) == ["done1"]
    assert box.condition.ok


@pytest.mark.parametrize("message", sorted({*FAULTS.values(), "devices.button_stuck", "serial.nonsense"}))
def test_every_fault_says_what_to_do_in_every_language(message: str) -> None:
    for language in LANGUAGES:
        assert message in catalogue(language)
        assert catalogue(language)[message].count(".") >= 2, "what is wrong, and what to do"


def test_a_button_that_stays_down_is_said_until_it_is_let_go(stack: ExitStack, tmp_path: Path) -> None:
    wire = device(stack, tmp_path)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    wire.press("referee", for_s=2.2)
    events: list[object] = []

    def told() -> bool:
        events.append(box.read(0.02))
        return box.condition.message == "devices.button_stuck"

    wait(told, TOLD_WITHIN_S)
    wait(lambda: not told(), BACK_WITHIN_S)
    assert presses(events) == ["referee"]
    assert box.rejected == 0


def test_the_turn_timer_runs_and_stops_over_the_wire(stack: ExitStack, tmp_path: Path) -> None:
    device(stack, tmp_path)
    box = box_on(stack, tmp_path)
    wait(lambda: box.condition.ok, 3)
    collect(box, 0.3)
    box.start_timer("turn", 5000)
    (started,) = collect(box, 0.4)
    assert isinstance(started, TimerReport) and started.running and 4500 <= started.remaining_ms <= 5000
    box.stop_timer("turn")
    (stopped,) = collect(box, 0.4)
    assert isinstance(stopped, TimerReport) and not stopped.running
    assert started.remaining_ms - 3000 <= stopped.remaining_ms < started.remaining_ms
    assert box.condition.ok


@pytest.mark.parametrize("error", PORT_ERRORS)
@pytest.mark.parametrize("call", ["read", "in_waiting", "write", "close"])
def test_an_unplug_is_survived_in_every_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: type[Exception]
) -> None:
    """pyserial raises another kind in nearly every call."""
    wire = SimulatedSerial()
    port = Port(wire.path)

    def fails(*_: object) -> bytes:
        raise error("the device is gone")

    wire.panel.feed(encode(0, "HELLO", "1", "1"), 0)
    time.sleep(0.6)
    attribute = property(fails) if call == "in_waiting" else fails
    monkeypatch.setattr(type(port.device), call, attribute)
    if call in ("read", "in_waiting"):
        assert port.read() == []
    elif call == "write":
        port.write(b"x")
    else:
        port.close()
    assert port.gone
    monkeypatch.undo()
    port.close()
    wire.close()


@pytest.mark.parametrize(
    "words",
    [
        ("DIE", "a", "settled", "6", "7"),
        ("DIE", "a", "settled", "6", "0"),
        ("DIE", "a", "settled", "7", "3"),
        ("DIE", "a", "settled", "6"),
        ("DIE", "a", "flying", "6"),
        ("DIE",),
        ("BTN", "done1"),
        ("BTN", "done1", "explode"),
        ("TIMER", "turn", "run", "soon"),
        ("TIMER", "turn", "run", "9999999999"),
        ("NOW",),
        ("NOW", "BTN", "done1", "press"),
        ("XYZ", "1"),
    ],
)
def test_nonsense_is_rejected_never_repaired(words: tuple[str, ...]) -> None:
    assert understand(WireEvent(words[0], words[1:], 0.0)) is None
