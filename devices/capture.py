"""A camera that is read by a thread of its own, of which only the newest frame is kept."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from devices.contract import Clock, DeviceGone, Frame

STALL_S = 3.0
"""Without a picture for so long a camera counts as stalled."""
GARBLED_S = 1.0
"""A camera that sends only damaged pictures for so long is opened again."""
FIRST_S = 6.0
"""The first picture may take so long (exposure settles, streams begin at a key frame)."""
SETTLE_S = 2.0
"""After so long a camera's automatics have settled."""
LEAST_PX = 16
_BREATH_S = 0.01
_log = logging.getLogger(__name__)


class DeviceStalled(DeviceGone):
    """The device is there but has given nothing for too long; only opening it again helps."""


class DeviceGarbled(DeviceGone):
    """The device sends data, but no whole picture for too long; only opening it again may help."""


class Capture(Protocol):
    """What a camera library's object must do; `cv2.VideoCapture` does."""

    def read(self) -> tuple[bool, Any]:
        """(True, picture) when the next picture has come, (False, anything) when there will be none."""

    def release(self) -> None:
        """Lets the device go."""


@runtime_checkable
class SendsJpeg(Capture, Protocol):
    """A capture object that knows its newest picture as it was sent."""

    @property
    def jpeg(self) -> bytes:
        """The picture read last as JPEG; empty when it came otherwise."""


@runtime_checkable
class Told(Protocol):
    """A source that tells of every picture, also of those that nobody takes in time."""

    on_frame: Callable[[Frame], None]


class CaptureSource:
    """Frames of a capture object: the newest only, read-only, numbered; never blocks beyond the timeout.

    The object is touched by the reading thread alone, also to release it: libraries crash when it is released under a
    waiting read. A read that hangs for ever costs that thread, not the caller.
    """

    def __init__(
        self,
        capture: Capture,
        url: str,
        clock: Clock,
        stall_s: float = STALL_S,
        settled: Callable[[], None] | None = None,
    ) -> None:
        """`settled` is called once, by the reading thread, SETTLE_S after the first picture."""
        self.on_frame: Callable[[Frame], None] = lambda frame: None
        """Called by the reading thread with every picture; must be quick."""
        self._settled, self._settle_at_s = settled, math.inf
        self._capture, self._url, self._clock, self._stall_s = capture, url, clock, stall_s
        self._news = threading.Condition()
        self._newest: Frame | None = None
        self._given = 0
        self._gone = ""
        self._closed = False
        self._alive_s = clock.now_s()
        self._garbled_since_s: float | None = None
        self._thread = threading.Thread(target=self._pump, name=f"camera {url}", daemon=True)
        self._thread.start()

    def read(self, timeout_s: float) -> Frame | None:
        """The newest frame not yet given out; None when none comes within `timeout_s`. Raises DeviceGone when the
        camera has ended or was closed, DeviceStalled when it has been silent for too long."""
        with self._news:
            self._news.wait_for(self._has_news, timeout_s)
            if self._closed:
                raise DeviceGone(f"{self._url}: this camera has been closed; open it again")
            newest = self._newest
            if newest is not None and newest.number > self._given:
                self._given = newest.number
                return newest
            if self._gone:
                raise DeviceGone(self._gone)
            silent_s = self._clock.now_s() - self._alive_s
            if self._garbled_since_s is not None and self._clock.now_s() - self._garbled_since_s > GARBLED_S:
                raise DeviceGarbled(f"{self._url}: no whole picture for {silent_s:.0f} seconds")
            if silent_s > (self._stall_s if newest is not None else max(FIRST_S, self._stall_s)):
                raise DeviceStalled(f"{self._url}: no picture for {silent_s:.0f} seconds")
            return None

    def close(self) -> None:
        """Ends the camera; returns when it is released, or after two seconds when it hangs."""
        with self._news:
            if self._closed:
                return
            self._closed = True
            self._news.notify_all()
        if self._thread is not threading.current_thread():
            self._thread.join(2.0)
            if self._thread.is_alive():
                _log.warning("%s hangs and could not be released; its thread is left behind", self._url)

    def _has_news(self) -> bool:
        return self._closed or bool(self._gone) or (self._newest is not None and self._newest.number > self._given)

    def _pump(self) -> None:
        number = 0
        try:
            while not self._closed:
                done, picture = self._capture.read()
                time_s = self._clock.now_s()
                if not done:
                    self._end(f"{self._url}: the camera has stopped giving pictures; check its cable and power")
                    return
                if not _is_picture(picture):
                    if self._garbled_since_s is None:
                        self._garbled_since_s = time_s
                    time.sleep(_BREATH_S)  # a library that fails at once must not take a whole processor
                    continue
                self._garbled_since_s = None
                picture.flags.writeable = False
                number += 1
                if number == 1:
                    self._settle_at_s = time_s + SETTLE_S
                elif self._settled is not None and time_s >= self._settle_at_s:
                    settled, self._settled = self._settled, None
                    settled()
                jpeg = self._capture.jpeg if isinstance(self._capture, SendsJpeg) else b""
                frame = Frame(picture, number, time_s, self._url, jpeg)
                with self._news:
                    self._newest, self._alive_s = frame, time_s
                    self._news.notify_all()
                self.on_frame(frame)
        except Exception as error:  # a camera library may raise anything; the reader must hear of it, not the thread
            self._end(f"{self._url}: the camera failed: {error}")
        finally:
            try:
                self._capture.release()
            except Exception as error:
                _log.warning("%s: releasing the camera failed: %s", self._url, error)

    def _end(self, reason: str) -> None:
        with self._news:
            self._gone = reason
            self._news.notify_all()


def _is_picture(picture: Any) -> bool:
    """True for a colour picture; half frames and grey ones of a failing camera are passed over."""
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
        return False
    return picture.ndim == 3 and picture.shape[2] == 3 and min(picture.shape[:2]) >= LEAST_PX
