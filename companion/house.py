"""Looks after the machine while a game runs: its disk, its clock, and a journal that could not be written."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from companion.bulletin import Device
from companion.games.contract import Message
from companion.service import Service
from devices.contract import Condition
from devices.house import ClockWatch, Disk, disk_condition

EVERY_S = 0.5
PROBE_S = 1.0
"""How often a journal that could not be written, or only slowly, is tried again."""
SLOW_S = 1.0


class House:
    """Reports disk and clock to the service; `check` as often as you like, it looks every half second."""

    def __init__(
        self,
        service: Service,
        disk: Disk,
        folder: Path,
        steady_s: Callable[[], float] = time.monotonic,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._service, self._disk, self._url, self._steady_s = service, disk, f"file://{folder}", steady_s
        self._clock = ClockWatch(steady_s, wall_s)
        self._next_s = self._probe_s = steady_s()

    def check(self) -> None:
        """Looks, when it is time, and reports what has changed."""
        now_s = self._steady_s()
        if now_s < self._next_s:
            return
        self._next_s = now_s + EVERY_S
        self._report("clock", "system clock", self._clock.check())
        disk = disk_condition(self._disk)
        writable = disk.ok
        slow = self._service.write_s > SLOW_S
        if disk.ok and slow:
            disk = Condition(False, "companion.disk_slow", (("seconds", round(self._service.write_s, 1)),))
        self._report("disk", self._url, disk)
        if writable and (slow or self._service.disk_trouble) and now_s >= self._probe_s:
            self._probe_s = now_s + PROBE_S
            self._service.probe_disk()

    def _report(self, name: str, url: str, condition: Condition) -> None:
        words = Message(condition.message, condition.values)
        if condition.ok:  # free space changes all the time; the panel need not
            words = Message(
                condition.message, tuple((k, v // 100 * 100) for k, v in condition.values if type(v) is int)
            )
        self._service.report(Device(name, url, condition.ok, words), name, None if condition.ok else words)


class HouseThread:
    """Lets a house be looked after until `stop`."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="house", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends."""
        self._stop.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_S):
            self._house.check()
