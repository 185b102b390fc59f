"""Stand-ins for wires: a capture object that does as it is told, a clock that only moves when slept on."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np


class FakeCapture:
    """In the shape of cv2.VideoCapture; `give` hands out pictures, `unplug` ends them, `hang` lets a read block."""

    def __init__(self) -> None:
        self._pictures: deque[Any] = deque()
        self._news = threading.Condition()
        self._ended = self._hangs = False
        self.released = 0

    def give(self, value: int) -> None:
        with self._news:
            self._pictures.append(np.full((48, 64, 3), value % 256, np.uint8))
            self._news.notify_all()

    def give_raw(self, picture: Any) -> None:
        with self._news:
            self._pictures.append(picture)
            self._news.notify_all()

    def unplug(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify_all()

    @property
    def drained(self) -> bool:
        return not self._pictures

    def read(self) -> tuple[bool, Any]:
        with self._news:
            self._news.wait_for(lambda: self._pictures or self._ended or self.released, 30.0)
            if self._pictures:
                return True, self._pictures.popleft()
            return False, None

    def release(self) -> None:
        with self._news:
            self.released += 1
            self._news.notify_all()


class HandClock:
    """A clock that stands still until somebody sleeps on it or moves it."""

    def __init__(self, now_s: float = 100.0) -> None:
        self._now_s = now_s

    def now_s(self) -> float:
        return self._now_s

    def sleep_s(self, seconds: float) -> None:
        self._now_s += max(seconds, 0.0)
