"""A serial device behind a real pty: the firmware's own core, with a wire that can misbehave by script."""

from __future__ import annotations

import os
import random
import termios
import threading
import time
import tty
from collections.abc import Mapping
from pathlib import Path

from devices.firmware.panel import Panel
from devices.firmware.wire import VERSION, encode

FAULTS: Mapping[str, str] = {
    "unplug": "serial.lost",
    "silence": "serial.lost",
    "noise": "serial.noise",
    "half_lines": "serial.half_lines",
    "duplicates": "serial.duplicates",
    "wrong_crc": "serial.wrong_crc",
    "reset": "serial.restarted",
    "flood": "serial.flood",
    "slow_drip": "serial.slow",
    "wrong_version": "serial.version",
    "twin": "serial.twins",
}
"""Faults of one wire, and the message that must come on the screens of each. `twin`: a second device with this one's
identity is plugged in (where there is a folder of links)."""

STEP_S = 0.002
DRIP_S = 0.004
"""Time between two bytes of a slow drip."""


class SimulatedSerial:
    """One device on a pty, served by a thread; `path` is what a driver opens.

    `link` (optional) is kept as a symbolic link to the pty, as udev keeps /dev/serial/by-id; after a re-plug the pty
    has another name. `shown` lists the light signals received. Faults begin with `fault(name)` and end with `mend()`.
    """

    def __init__(
        self,
        identity: str = "e6614103e7",
        name: str = "box",
        buttons: tuple[str, ...] = ("done1", "done2", "takeback", "referee"),
        dice: tuple[str, ...] = ("a",),
        link: Path | None = None,
        seed: int = 0,
    ) -> None:
        self.shown: list[str] = []
        self.path = ""
        self._about = (identity, name, buttons, dice)
        self._link = link
        self._random = random.Random(seed)
        self._fault = ""
        self._spoilt = False
        self._dripping = b""
        self._dripped_s = 0.0
        self._twin: SimulatedSerial | None = None
        self._boots = 0
        self._lock = threading.Lock()
        self._files: tuple[int, int] | None = None
        self._stop = threading.Event()
        self.panel = self._boot()
        self.plug()
        self._thread = threading.Thread(target=self._serve, name=f"simulated-serial-{name}", daemon=True)
        self._thread.start()

    def press(self, button: str, for_s: float = 0.06) -> None:
        """Presses and releases a button; returns at once, the release follows `for_s` later."""
        with self._lock:
            now = _now_ms()
            self.panel.edge(button, True, now)
        threading.Timer(for_s, self._release, (button,)).start()

    def _release(self, button: str) -> None:
        with self._lock:
            self.panel.edge(button, False, _now_ms())

    def roll(self, die: str, value: int) -> None:
        """The die rolls and settles on `value`; 0 leaves it cocked."""
        with self._lock:
            axis, sign = ((value - 1, 1) if value <= 3 else (6 - value, -1)) if value else (0, 1)
            up = tuple(1000 * sign if i == axis else 0 for i in range(3)) if value else (700, 700, 0)
            now = _now_ms()
            self.panel.accelerate(die, (0, 0, 0), now - 500)
            self.panel.accelerate(die, (300, -900, 500), now - 450)
            self.panel.accelerate(die, (up[0], up[1], up[2]), now - 449)
            self.panel.accelerate(die, (up[0], up[1], up[2]), now)

    def fault(self, name: str) -> None:
        """Begins a fault of FAULTS; raises ValueError for another word."""
        if name not in FAULTS:
            raise ValueError(f"unknown serial fault {name!r}; known are {', '.join(FAULTS)}")
        with self._lock:
            self._fault = name
            if name == "unplug":
                self._unplug()
            elif name == "twin" and self._link is not None:
                identity, own, buttons, dice = self._about
                link = self._link.with_name(f"{self._link.name}-twin")
                self._twin = SimulatedSerial(identity, own, buttons, dice, link)
            elif name in ("reset", "wrong_version"):
                self.panel = self._boot()

    def mend(self) -> None:
        """Ends the fault; an unplugged device is plugged in again, under another name."""
        with self._lock:
            self._fault = ""
            twin, self._twin = self._twin, None
            if self._files is None:
                self.plug()
        if twin is not None:
            twin.close()

    def plug(self) -> None:
        """Opens a pty and points the link at it."""
        master, slave = os.openpty()
        tty.setraw(slave, termios.TCSANOW)
        os.set_blocking(master, False)
        self._files = (master, slave)
        self.path = os.ttyname(slave)
        if self._link is not None:
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(self.path)

    def close(self) -> None:
        """Ends the thread and frees the pty; may be called any number of times."""
        self.mend()
        self._stop.set()
        self._thread.join(timeout=5)
        with self._lock:
            self._unplug()

    def _unplug(self) -> None:
        if self._files is not None:
            for fd in self._files:
                os.close(fd)
            self._files = None
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    def _boot(self) -> Panel:
        self._boots += 1
        identity, name, buttons, dice = self._about
        return Panel(identity, name, f"boot{self._boots}", list(buttons), list(dice), self.shown.append)

    def _serve(self) -> None:
        while not self._stop.wait(STEP_S):
            with self._lock:
                if self._files is None:
                    continue
                now = _now_ms()
                try:
                    data = os.read(self._files[0], 4096)
                except OSError:  # nothing to read, or the other side is not open
                    data = b""
                if self._fault != "silence":
                    self.panel.feed(data, now)
                    self._write(self._drip(self._spoil(self.panel.poll(now))))

    def _write(self, data: bytes) -> None:
        if self._files is None:
            return
        try:
            while data:
                data = data[os.write(self._files[0], data) :]
        except OSError:  # the buffer is full because nobody reads: real devices lose bytes here too
            return

    def _drip(self, data: bytes) -> bytes:
        """One byte at a time of what is to be written."""
        self._dripping += data
        now_s = time.monotonic()
        if not self._dripping or (self._fault == "slow_drip" and now_s - self._dripped_s < DRIP_S):
            return b""
        self._dripped_s = now_s
        count = 1 if self._fault == "slow_drip" else len(self._dripping)
        out, self._dripping = self._dripping[:count], self._dripping[count:]
        return out

    def _now_spoilt(self) -> bool:
        """At least every other time, never quite regularly."""
        self._spoilt = not self._spoilt or self._random.random() < 0.3
        return self._spoilt

    def _spoil(self, data: bytes) -> bytes:
        if not data and self._fault not in ("noise", "flood"):
            return data
        match self._fault:
            case "noise":
                return bytes(self._random.randrange(256) for _ in range(self._random.randrange(4))) + data
            case "half_lines":
                return data[: len(data) // 2] if self._now_spoilt() else data
            case "duplicates":
                return data + data
            case "wrong_crc":
                return data[:-2] + (b"0" if data[-2:-1] != b"0" else b"1") + b"\n" if self._now_spoilt() else data
            case "flood":
                return data + encode(0, "NOISE", "flood") * 5
            case "wrong_version":
                return (
                    data
                    if b" IAM " not in data
                    else encode(0, "IAM", str(VERSION + 1), *self._about[:2], "x", "b", "1")
                )
        return data


def _now_ms() -> int:
    return int(time.monotonic() * 1000)
