"""The machine itself as a device: its disk and its wall clock, each behind a small contract, each with a condition."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from devices.contract import Condition

ROOM_MB = 50
"""Less free space than this is said: SQLite needs room for its log before a game's events."""
JUMP_S = 2.0
ACCEPT_S = 30.0
"""A clock that was set keeps its new time; after so long that is no news any more."""
STAND_S = 1.0


class Disk(Protocol):
    """What is to be known of a disk."""

    def free_mb(self) -> int:
        """Free space in megabytes for an ordinary user; raises OSError when the disk cannot be asked."""

    def read_only(self) -> bool:
        """True when nothing can be written; raises OSError when the disk cannot be asked."""


@dataclass(frozen=True, slots=True)
class FolderDisk:
    """The disk on which a folder lies."""

    folder: Path

    def free_mb(self) -> int:
        """Free space in megabytes."""
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize // 2**20

    def read_only(self) -> bool:
        """True when it is mounted read-only, as Linux does with a failing memory card."""
        return bool(os.statvfs(self.folder).f_flag & os.ST_RDONLY)


def disk_condition(disk: Disk) -> Condition:
    """How a disk is: `companion.disk_works`, `disk_full`, `disk_readonly`."""
    try:
        if disk.read_only():
            return Condition(False, "companion.disk_readonly")
        free_mb = disk.free_mb()
    except OSError:
        return Condition(False, "companion.disk_readonly")
    if free_mb < ROOM_MB:
        return Condition(False, "companion.disk_full", (("megabytes", free_mb),))
    return Condition(True, "companion.disk_works", (("megabytes", free_mb),))


class ClockWatch:
    """Compares the wall clock with the monotonic one, which cannot be set; `check` about once a second."""

    def __init__(self, steady_s: Callable[[], float] = time.monotonic, wall_s: Callable[[], float] = time.time) -> None:
        self._steady_s, self._wall_s = steady_s, wall_s
        self._at_s, self._wall_was_s = steady_s(), wall_s()
        self._offset_s = self._wall_was_s - self._at_s
        self._jumped_at_s: float | None = None
        self._stands_since_s: float | None = None

    def check(self) -> Condition:
        """`companion.clock_works`, `clock_jumped` or `clock_stopped`."""
        now_s, wall_s = self._steady_s(), self._wall_s()
        passed_s = now_s - self._at_s
        if passed_s > 0:
            stands = wall_s == self._wall_was_s
            if not stands:
                self._stands_since_s = None
            elif self._stands_since_s is None:
                self._stands_since_s = self._at_s
            self._at_s, self._wall_was_s = now_s, wall_s
        if self._stands_since_s is not None and now_s - self._stands_since_s >= STAND_S:
            return Condition(False, "companion.clock_stopped")
        jump_s = wall_s - now_s - self._offset_s
        if abs(jump_s) <= JUMP_S:
            self._jumped_at_s = None
            return Condition(True, "companion.clock_works")
        if self._jumped_at_s is None:
            self._jumped_at_s = now_s
        elif now_s - self._jumped_at_s > ACCEPT_S:
            self._offset_s, self._jumped_at_s = wall_s - now_s, None
            return Condition(True, "companion.clock_works")
        return Condition(False, "companion.clock_jumped", (("seconds", round(jump_s)),))
