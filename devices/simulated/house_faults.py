"""A wall clock and a disk with faults; the journal's own SQLite is made to fail as on a full or failing card."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from devices.contract import Clock
from devices.faults import Running
from devices.house import Disk

EPOCH_S = 1_800_000_000.0


@dataclass(frozen=True, slots=True)
class FaultyWall:
    """A wall clock that goes with `clock` and jumps or stands as the running faults say."""

    clock: Clock
    faults: Running

    def __call__(self) -> float:
        """Seconds since 1970, more or less."""
        now_s = self.clock.now_s()
        stop, jump = self.faults.of("clock.stop"), self.faults.of("clock.jump")
        if stop is not None:
            now_s -= self.faults.age_s(stop)
        return round(EPOCH_S + now_s + (jump.strength if jump is not None else 0.0), 6)


@dataclass(frozen=True, slots=True)
class FaultyDisk:
    """A disk that is full, slow or read-only as the running faults say, and otherwise as the one behind it."""

    disk: Disk
    faults: Running

    def free_mb(self) -> int:
        """Free space in megabytes; 0 while it is full."""
        return 0 if self.faults.of("disk.full") is not None else self.disk.free_mb()

    def read_only(self) -> bool:
        """True while it cannot be written."""
        return self.faults.of("disk.readonly") is not None or self.disk.read_only()

    def before_write(self, database: sqlite3.Connection) -> None:
        """Lets SQLite itself fail at the next write (SQLITE_FULL, SQLITE_READONLY), wait, or succeed."""
        pages = int(database.execute("PRAGMA page_count").fetchone()[0])
        full = self.faults.of("disk.full") is not None
        database.execute(f"PRAGMA max_page_count = {pages if full else 2**30}")
        database.execute(f"PRAGMA query_only = {int(self.faults.of('disk.readonly') is not None)}")
        slow = self.faults.of("disk.slow")
        if slow is not None:
            self.faults.clock.sleep_s(slow.strength)
