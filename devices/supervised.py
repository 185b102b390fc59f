"""A camera that comes back: opened again after every loss, with growing pauses, and what it lacks said in words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from devices.capture import DeviceStalled
from devices.clock import SYSTEM_CLOCK
from devices.contract import Clock, Condition, DeviceGone, Frame, Source

PAUSES_S = (1.0, 2.0, 5.0, 10.0)
FRESH_S = 1.0
"""An older frame is not given out: nobody may judge what the table looked like a while ago."""
_TURN_S = 0.25


class Supervised:
    """A `Source` of frames that never gives up until it is closed; opening and reading happen in its own thread.

    While the camera is away `read` returns None; `condition` says what is the matter (`devices.camera_works`,
    `camera_opening`, `camera_gone`, `camera_stalled`). Frame numbers go on rising over every reopening.
    """

    def __init__(
        self,
        opener: Callable[[], Source[Frame]],
        url: str,
        clock: Clock = SYSTEM_CLOCK,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self._opener, self._url, self._clock, self._pauses_s = opener, url, clock, pauses_s
        self._news = threading.Condition()
        self._newest: Frame | None = None
        self._number = self._given = 0
        self._condition = Condition(False, "devices.camera_opening", (("url", url),))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"supervisor {url}", daemon=True)
        self._thread.start()

    @property
    def condition(self) -> Condition:
        """How the camera is now, in words to come."""
        return self._condition

    def read(self, timeout_s: float) -> Frame | None:
        """The newest frame not yet given out and not older than FRESH_S; None when none comes within `timeout_s`.
        Raises DeviceGone only after `close`."""
        with self._news:
            self._news.wait_for(lambda: self._stop.is_set() or self._number > self._given, timeout_s)
            if self._stop.is_set():
                raise DeviceGone(f"{self._url}: this camera has been closed; open it again")
            if self._number == self._given:
                return None
            self._given = self._number
            newest = self._newest
        if newest is None or self._clock.now_s() - newest.time_s > FRESH_S:
            return None
        return newest

    def close(self) -> None:
        """Ends the camera and its supervision; may be called any number of times."""
        with self._news:
            self._stop.set()
            self._news.notify_all()
        self._thread.join(3.0)

    def _run(self) -> None:
        tries = 0
        while not self._stop.is_set():
            before = self._number
            try:
                self._pump()
            except DeviceStalled as error:
                self._lost("devices.camera_stalled", error)
            except Exception as error:  # a camera library may raise anything; supervision must outlive it
                self._lost("devices.camera_gone", error)
            tries = 0 if self._number > before else tries + 1
            self._stop.wait(self._pauses_s[min(tries, len(self._pauses_s) - 1)])

    def _pump(self) -> None:
        """Opens the camera and passes its frames on until it is lost or this is closed."""
        source = self._opener()
        try:
            while not self._stop.is_set():
                frame = source.read(_TURN_S)
                if frame is None:
                    continue
                with self._news:
                    self._number += 1
                    self._newest = replace(frame, number=self._number)
                    self._condition = Condition(True, "devices.camera_works", (("url", self._url),))
                    self._news.notify_all()
        finally:
            source.close()

    def _lost(self, message: str, error: Exception) -> None:
        self._condition = Condition(False, message, (("url", self._url), ("error", str(error))))
