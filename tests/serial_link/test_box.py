"""A serial box in the game: presses end turns, the lights follow, a pulled cable is said, another box is not taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.box import IDENTITY_FILE, BoxThread
from companion.commands import Reply
from devices.contract import BadAddressError
from devices.serial_box import open_box
from devices.simulated.serial_device import SimulatedSerial


class Listener:
    """What a service does with a box, noted down."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, int | None]] = []
        self.rolls: list[int] = []
        self.troubles: list[str] = []
        self.buttons = False
        self.lights: object = None

    def light(self, lights: object) -> None:
        self.lights = lights

    def has_buttons(self, there: bool) -> None:
        self.buttons = there

    def submit(self, command: str, args: object, author: object) -> Reply:
        self.commands.append((command, author.player))  # type: ignore[attr-defined]
        return Reply(True)

    def hear(self, evidence: object) -> None:
        self.rolls.append(evidence.value)  # type: ignore[attr-defined]

    def report(self, device: object, name: str, trouble: object) -> None:
        self.troubles.append("" if trouble is None else trouble.id)  # type: ignore[attr-defined]


@pytest.fixture
def wire() -> Iterator[SimulatedSerial]:
    wire = SimulatedSerial()
    yield wire
    wire.close()


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 8
    while not until():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_presses_rolls_and_lights(wire: SimulatedSerial, tmp_path: Path) -> None:
    service = Listener()
    thread = BoxThread(service, f"serial://{wire.path}", tmp_path, lights=True)  # type: ignore[arg-type]
    thread.start()
    wait(lambda: service.buttons)
    wire.press("done2")
    wire.roll("a", 5)
    wait(lambda: service.commands == [("done", 1)] and service.rolls == [5])
    service.lights.show("illegal")  # type: ignore[attr-defined]
    wait(lambda: wire.shown == ["illegal"])
    wire.fault("unplug")
    wait(lambda: service.troubles[-1] in ("serial.lost", "serial.cannot_open"))
    assert not service.buttons
    thread.stop()
    assert (tmp_path / f"box-{IDENTITY_FILE}").read_text().strip() == "e6614103e7"


def test_dice_on_a_device_of_their_own_leave_the_buttons_of_the_other(wire: SimulatedSerial, tmp_path: Path) -> None:
    dice = SimulatedSerial(identity="dd", name="dice", buttons=())
    service = Listener()
    box = BoxThread(service, f"serial://{wire.path}", tmp_path, lights=True)  # type: ignore[arg-type]
    box.start()
    wait(lambda: service.buttons)
    second = BoxThread(service, f"serial://{dice.path}", tmp_path, lights=False, name="dice")  # type: ignore[arg-type]
    second.start()
    wait(lambda: (tmp_path / f"dice-{IDENTITY_FILE}").exists())
    dice.roll("a", 3)
    wire.press("done1")
    wait(lambda: service.rolls == [3] and service.commands == [("done", 0)])
    dice.fault("unplug")
    wait(lambda: service.troubles[-1] in ("serial.lost", "serial.cannot_open"))
    assert service.buttons
    second.stop()
    box.stop()
    dice.close()
    assert (tmp_path / f"dice-{IDENTITY_FILE}").read_text().strip() == "dd"


def test_another_box_is_not_taken(wire: SimulatedSerial, tmp_path: Path) -> None:
    (tmp_path / f"box-{IDENTITY_FILE}").write_text("another\n")
    service = Listener()
    thread = BoxThread(service, f"serial://{wire.path}", tmp_path, lights=True)  # type: ignore[arg-type]
    thread.start()
    wait(lambda: "serial.stranger" in service.troubles)
    thread.stop()
    assert not service.commands


@pytest.mark.parametrize("url", ["", "serial://", "gpio://", "serial://com1", "/dev/ttyACM0"])
def test_a_bad_address_says_what_to_write(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadAddressError, match="serial://any"):
        open_box(url)
    service = Listener()
    thread = BoxThread(service, url, tmp_path, lights=False)  # type: ignore[arg-type]
    thread.start()
    wait(lambda: service.troubles == ["companion.box_unusable"])
    thread.stop()
