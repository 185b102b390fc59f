"""The time of a demo, which goes on from one simulated table to the next."""

from __future__ import annotations

import time

from devices.simulated.contract import SimulatedTable


class DemoClock:
    """Simulated seconds since the demo began; the clock of its scenario of faults."""

    def __init__(self) -> None:
        self._table: SimulatedTable | None = None
        self._past_s = 0.0

    def follow(self, table: SimulatedTable) -> None:
        """From now on this table's time is added."""
        self._past_s = self.now_s() - table.stage.now_s()
        self._table = table

    def now_s(self) -> float:
        """Simulated time in seconds."""
        return self._past_s + (self._table.stage.now_s() if self._table is not None else 0.0)

    def sleep_s(self, seconds: float) -> None:
        """Waits in real time: a slow disk keeps the program waiting, not the table."""
        time.sleep(seconds)
