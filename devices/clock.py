"""The machine's own monotonic clock, behind the same contract as simulated ones."""

from __future__ import annotations

import time


class SystemClock:
    """Monotonic time of this machine."""

    def now_s(self) -> float:
        """Seconds since some moment in the past; never goes back."""
        return time.monotonic()

    def sleep_s(self, seconds: float) -> None:
        """Returns after so many seconds."""
        if seconds > 0:
            time.sleep(seconds)


SYSTEM_CLOCK = SystemClock()
