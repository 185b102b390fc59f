"""What the drivers of serial devices and buttons take of a core while their wires carry as much as they can."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections import Counter
from contextlib import suppress
from typing import Any

from companion.games.contract import Json
from devices.clock import SYSTEM_CLOCK
from devices.contract import Press
from devices.firmware.panel import Panel
from devices.firmware.wire import encode
from devices.gpio import open_buttons
from devices.serial_box import SerialBox
from devices.serial_link import SerialLink
from devices.simulated.buttons import SimulatedButtons
from devices.wiring import load_wiring

BYTES_S = 11520
"""What 115200 baud carry: ten bits a byte."""

PRESSES_S = 100
"""Presses a second on the serial box; each is two events, the press and the release."""

EDGES = 6
"""Edges of one press at the pins: closing and opening bounce once each."""

PRESS_S = 0.112
"""How long one press and the pause after it take at the pins: with four buttons over 200 edges a second."""


class _FullLine:
    """A box on a pty that presses PRESSES_S times a second and fills the rest of the line with lines of no meaning."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.bytes = 0
        self._panel = Panel("bench", "bench", "boot1", ["b"], [], lambda signal: None)
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self.full = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5.0)
        os.close(self._master)
        os.close(self._slave)

    def _run(self) -> None:
        filler = encode(0, "FILL", "x" * 20)
        began_s = pressed_s = time.monotonic()
        budget = 0.0
        while not self._stop.wait(0.002):
            now_s = time.monotonic()
            with suppress(BlockingIOError):
                self._panel.feed(os.read(self._master, 4096), int(now_s * 1000))
            out = self._panel.poll(int(now_s * 1000))
            if not self.full.is_set():
                began_s = pressed_s = now_s
            budget += BYTES_S * (now_s - began_s)
            began_s = now_s
            while self.full.is_set() and now_s - pressed_s >= 1.0 / PRESSES_S:
                pressed_s += 1.0 / PRESSES_S
                self.sent.append(f"b{len(self.sent)}")
                self._panel.box.event("BTN", self.sent[-1], "press")
                self._panel.box.event("BTN", self.sent[-1], "release")
            while budget - len(out) >= len(filler) and self.full.is_set():
                out += filler
            budget -= len(out) if self.full.is_set() else 0.0
            self.bytes += len(out) if self.full.is_set() else 0
            while out:
                with suppress(BlockingIOError):
                    out = out[os.write(self._master, out) :]


def wires(seconds: float = 6.0) -> dict[str, Json]:
    """Share of a core that the drivers take with a full serial line and 200 edges a second at the pins, and how many
    presses were lost or doubled. Counted are the link's thread, the reading of both, and the pin library's callbacks
    (with the mock pins' own work)."""
    line = _FullLine()
    link = SerialLink(lambda: [line.port])
    box = SerialBox(link)
    while not box.working:
        time.sleep(0.05)
    names = load_wiring()["buttons"]
    fingers = SimulatedButtons(names, SYSTEM_CLOCK)
    buttons = open_buttons("gpio-mock://", factory=fingers.factory)
    spent: Counter[str] = Counter()
    got: list[str] = []
    pressed: Counter[str] = Counter()
    felt: Counter[str] = Counter()
    done = threading.Event()

    def read_box() -> None:
        while not done.is_set():
            event = box.read(0.2)
            if isinstance(event, Press):
                got.append(event.button)
        spent["box"] = time.thread_time_ns()

    def read_buttons() -> None:
        while not done.is_set():
            press = buttons.read(0.2)
            if press is not None:
                felt[press.button] += 1
        spent["buttons"] = time.thread_time_ns()

    def finger() -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            for down in (True, False):
                for name in names:
                    for contact in (down, not down, down):
                        fingers.set(name, contact)
                    pressed[name] += down
                time.sleep(PRESS_S / 2)
        spent["finger"] = time.thread_time_ns()

    threads = [threading.Thread(target=work) for work in (read_box, read_buttons)]
    hand = threading.Thread(target=finger)
    clock = time.pthread_getcpuclockid(_ident(link))
    began_s, link_began_s = time.monotonic(), time.clock_gettime(clock)
    line.full.set()
    for thread in (*threads, hand):
        thread.start()
    hand.join()
    line.full.clear()
    taken_s = time.monotonic() - began_s
    time.sleep(0.5)
    link_s = time.clock_gettime(clock) - link_began_s
    done.set()
    for thread in threads:
        thread.join()
    box.close()
    buttons.close()
    line.close()
    cpu_s = link_s + sum(spent.values()) / 1e9
    lost = sum((pressed - felt).values()) + len(set(line.sent) - set(got))
    doubled = sum((felt - pressed).values()) + len(got) - len(set(got))
    return {
        "wires_core_share": round(cpu_s / taken_s, 3),
        "wires_serial_bytes_a_second": round(line.bytes / taken_s),
        "wires_serial_presses": len(line.sent),
        "wires_pin_edges_a_second": round(EDGES * sum(pressed.values()) / taken_s),
        "wires_lost": lost,
        "wires_doubled": doubled,
    }


def _ident(link: Any) -> int:
    """The identity of a link's thread, whose CPU time is read from outside."""
    ident: int = link._thread.ident
    return ident
