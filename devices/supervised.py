"""A camera that comes back: opened again after every loss, its pictures watched, and what it lacks said in words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from devices.capture import DeviceGarbled, DeviceStalled
from devices.clock import SYSTEM_CLOCK
from devices.contract import Clock, Condition, DeviceGone, Frame, Source
from devices.picture_health import PictureHealth, Rate

PAUSES_S = (0.5, 1.0, 2.0)
"""Pauses between tries to open; the last one is short enough that a camera plugged in again is soon in use."""
FRESH_S = 1.0
"""An older frame is not given out: nobody may judge what the table looked like a while ago."""
EVERY_S = 0.09
"""Frames that come sooner after one are passed over: ten a second tell all about a table and spare a small computer."""
SILENT_S = 1.5
"""A camera without a picture for so long is said to be stalled, before it is given up and opened again."""
SLOW_GAP_S = 0.5
"""A silence after a pause as long as this between two pictures is slowness; without one it is not judged yet."""
RATE_NEWS = 0.25
"""The measured rate is told anew when it has changed by this part."""
_TURN_S = 0.25
_AWAY = frozenset(f"devices.camera_{name}" for name in ("opening", "missing", "gone", "stalled", "late"))


class Kept:
    """A `Source` of frames that never gives up, in the caller's thread: each `read` does what is due.

    While the camera is away `read` returns None; `condition` says what is the matter (`devices.camera_works`,
    `camera_opening`, `camera_missing`, `camera_gone`, `camera_stalled`, `camera_late`, `camera_slow`, or what
    PictureHealth finds). Frame numbers go on rising over every reopening. `fit` tells whether the frame given last may
    be judged.
    """

    def __init__(
        self,
        opener: Callable[[], Source[Frame]],
        url: str,
        clock: Clock = SYSTEM_CLOCK,
        pauses_s: Sequence[float] = PAUSES_S,
        anywhere: bool = True,
    ) -> None:
        """`anywhere`: the board is found wherever the camera stands; else another camera's pictures are not `fit`."""
        self._opener, self._url, self._clock, self._pauses_s = opener, url, clock, pauses_s
        self._anywhere = anywhere
        self._live = not url.startswith("file:")
        self._health, self._rate = PictureHealth(), Rate()
        self._source: Source[Frame] | None = None
        self._closed = False
        self._number = self._offset = 0
        self._tries = 0
        self._next_s = self._alive_s = clock.now_s()
        self._told_rate = 0.0
        self._given_s = -EVERY_S
        self.fit = False
        self.condition = Condition(False, "devices.camera_opening", (("url", url),))

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame that is not older than FRESH_S, or None. Raises DeviceGone only after `close`."""
        if self._closed:
            raise DeviceGone(f"{self._url}: this camera has been closed; open it again")
        if self._source is None and not self._opened(timeout_s):
            return None
        assert self._source is not None
        try:
            frame = self._source.read(timeout_s)
        except DeviceStalled as error:
            self._lost("stalled", error)
            return None
        except DeviceGarbled as error:
            self._lost("torn", error)
            return None
        except Exception as error:  # a camera library may raise anything; supervision must outlive it
            self._lost("gone", error)
            return None
        now_s = self._clock.now_s()
        if frame is None:
            self._silence(now_s)
            return None
        return self._checked(frame, now_s)

    def accept(self) -> None:
        """The board was found in the newest picture: it is no strange one, whatever it looks like."""
        self._health.accept()

    def close(self) -> None:
        """Ends the camera and its supervision; may be called any number of times."""
        self._closed = True
        self._let_go()

    def _opened(self, timeout_s: float) -> bool:
        wait_s = self._next_s - self._clock.now_s()
        if wait_s > 0:
            self._clock.sleep_s(min(wait_s, timeout_s))
            return False
        try:
            self._source = self._opener()
        except Exception as error:
            self._lost("gone" if self._number else "missing", error)
            return False
        self._health.reopened()
        self._rate.clear()
        self._offset = self._number
        self._alive_s = self._clock.now_s()
        self._given_s = -EVERY_S
        return True

    def _checked(self, frame: Frame, now_s: float) -> Frame | None:
        """The frame, renumbered, with `condition` and `fit` as it shows them; None for one that is too old."""
        frame = replace(frame, number=self._offset + max(frame.number, 0) + 1)
        self._number = max(self._number, frame.number)
        if now_s - self._alive_s > SILENT_S:
            self._rate.clear()  # what was a silence is no slow rate afterwards
        self._alive_s, self._tries = now_s, 0
        self._rate.feed(frame, now_s)
        rate = self._rate.per_s(now_s)
        if self._live and now_s - self._given_s < EVERY_S:
            return None
        self._given_s = now_s
        if self._live and abs(now_s - frame.time_s) > FRESH_S:
            self.fit = False
            self._say("late", ("seconds", round(abs(now_s - frame.time_s), 1)))
            return None
        finding = self._health.feed(frame) if self._live else None
        if finding is None and self._health.repeated:
            return None
        self.fit = finding is None or (finding.fit and (self._anywhere or finding.name != "swapped"))
        if finding is not None and finding.name:
            self.condition = finding.condition(self._url)
        elif self._live and self._rate.slow:
            self._say("slow", ("rate", _halves(rate)))
        elif finding is None or self.condition.message in _AWAY:
            self._works(rate)
        return frame

    def _works(self, rate: float | None) -> None:
        if rate is not None and abs(rate - self._told_rate) > RATE_NEWS * max(self._told_rate, 1.0):
            self._told_rate = rate
        if self._told_rate:
            told = (("url", self._url), ("rate", round(self._told_rate)))
            self.condition = Condition(True, "devices.camera_works_at", told)
        else:
            self.condition = Condition(True, "devices.camera_works", (("url", self._url),))

    def _silence(self, now_s: float) -> None:
        if not self._live or self.condition.message in ("devices.camera_gone", "devices.camera_missing"):
            return
        if now_s - self._alive_s > SILENT_S and self._number:
            self.fit = False
            if self.condition.message not in ("devices.camera_torn", "devices.camera_opening"):
                self._say("stalled", ("error", ""))
        elif self._number > self._offset:
            rate = self._rate.per_s(now_s)
            if self._rate.slow and self._rate.gap_s > SLOW_GAP_S and self.condition.ok:
                self._say("slow", ("rate", _halves(rate)))

    def _lost(self, name: str, error: Exception) -> None:
        self._say(name, ("error", str(error)))
        self.fit = False
        self._let_go()
        self._next_s = self._clock.now_s() + self._pauses_s[min(self._tries, len(self._pauses_s) - 1)]
        self._tries += 1

    def _let_go(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def _say(self, name: str, *values: tuple[str, str | int | float]) -> None:
        self.condition = Condition(False, f"devices.camera_{name}", (("url", self._url), *values))


def _halves(rate: float | None) -> float:
    """A rate coarse enough not to change with every picture."""
    return round(2 * (rate or 0.0)) / 2


class Supervised:
    """A `Kept` camera in a thread of its own: only the newest frame waits to be read, no opening blocks the reader."""

    def __init__(
        self,
        opener: Callable[[], Source[Frame]],
        url: str,
        clock: Clock = SYSTEM_CLOCK,
        pauses_s: Sequence[float] = PAUSES_S,
        anywhere: bool = True,
    ) -> None:
        self._url, self._clock = url, clock
        self._kept = Kept(opener, url, clock, pauses_s, anywhere)
        self._news = threading.Condition()
        self._newest: tuple[Frame, bool] | None = None
        self._stop = False
        self._accepted = False
        self.fit = False
        self._thread = threading.Thread(target=self._run, name=f"supervisor {url}", daemon=True)
        self._thread.start()

    @property
    def condition(self) -> Condition:
        """How the camera is now, in words to come."""
        return self._kept.condition

    def read(self, timeout_s: float) -> Frame | None:
        """The newest frame not yet given out and not older than FRESH_S; None when none comes within `timeout_s`.
        Raises DeviceGone only after `close`."""
        with self._news:
            self._news.wait_for(lambda: self._stop or self._newest is not None, timeout_s)
            if self._stop:
                raise DeviceGone(f"{self._url}: this camera has been closed; open it again")
            newest, self._newest = self._newest, None
        if newest is None or self._clock.now_s() - newest[0].time_s > FRESH_S:
            return None
        self.fit = newest[1]
        return newest[0]

    @property
    def away(self) -> bool:
        """True while no picture comes that may be judged."""
        return not self._kept.fit

    def accept(self) -> None:
        """The board was found in a picture that was given out lately."""
        self._accepted = True

    def close(self) -> None:
        """Ends the camera and its supervision; may be called any number of times."""
        with self._news:
            self._stop = True
            self._news.notify_all()
        if self._thread is not threading.current_thread():
            self._thread.join(3.0)

    def _run(self) -> None:
        try:
            while not self._stop:
                frame = self._kept.read(_TURN_S)
                if self._accepted:
                    self._accepted = False
                    self._kept.accept()
                if frame is not None:
                    with self._news:
                        self._newest = (frame, self._kept.fit)
                        self._news.notify_all()
        finally:
            self._kept.close()
