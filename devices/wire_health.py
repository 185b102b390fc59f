"""What is wrong with a serial wire over which lines still come, by signs in what arrives, and only while they last."""

from __future__ import annotations

from collections import deque

from devices.contract import Condition
from devices.firmware.wire import Lines

WITHIN_S = 2.0
"""So many seconds a sign counts."""

SLOW_LINE_S = 0.06
"""A line is 120 bytes at most and takes 11 ms at 115200 baud."""

TWICE_S = 0.1
"""Equal lines so close together are one said twice; equal heartbeats are half a second apart."""

NEEDED = {
    "restarted": 1,
    "flood": 100,
    "noise": 2,
    "wrong_crc": 1,
    "half_lines": 1,
    "duplicates": 3,
    "slow": 2,
}
"""How many signs make a fault, the one that matters most first. Flood: only heartbeats and answers come without a
number, a few each second. Duplicates: a reader held up for a second finds a pair of equal heartbeats or two."""


class WireHealth:
    """Signs and when they came; times are monotonic seconds."""

    def __init__(self) -> None:
        self._signs = {fault: deque[float](maxlen=NEEDED[fault]) for fault in NEEDED}
        self._counts = (0, 0, 0)
        self._last: tuple[int, list[str]] | None = None
        self._last_s = 0.0
        self._begun_s: float | None = None

    def sign(self, fault: str, now_s: float) -> None:
        """Notes one sign of a fault of NEEDED."""
        self._signs[fault].append(now_s)

    def heard(self, lines: Lines, whole: list[tuple[int, list[str]]], now_s: float) -> None:
        """Takes what one read has brought: the buffer after it, and the whole lines in it."""
        counts = (lines.noise, lines.halves, lines.wrong)
        for fault, old, new in zip(("noise", "half_lines", "wrong_crc"), self._counts, counts, strict=True):
            for _ in range(min(new - old, NEEDED[fault])):
                self.sign(fault, now_s)
        self._counts = counts
        for line in whole:
            if line == self._last and now_s - self._last_s < TWICE_S:
                self.sign("duplicates", now_s)
            if not line[0] and line[1][0] != "ACK":
                self.sign("flood", now_s)
            self._last, self._last_s = line, now_s
        if whole and self._begun_s is not None and now_s - self._begun_s > SLOW_LINE_S:
            self.sign("slow", now_s)
        if whole or not lines.begun:
            self._begun_s = None
        if lines.begun and self._begun_s is None:
            self._begun_s = now_s

    def condition(self, name: str, now_s: float) -> Condition | None:
        """The fault that matters most now, or None."""
        for fault, times in self._signs.items():
            if len(times) == NEEDED[fault] and now_s - times[0] <= WITHIN_S:
                return Condition(False, f"serial.{fault}", (("name", name),))
        return None
