"""Pictures, folders of pictures and videos as a camera: shown at their rate, so that recordings can be replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from devices.contract import BadAddressError, Clock, DeviceGone, Frame, Image

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
VIDEOS = (".mp4", ".avi", ".mkv", ".mov", ".webm", ".mjpg", ".mjpeg")
RATE = 10.0
"""Pictures per second of a folder or a single picture, when the URL does not say."""


class FileSource:
    """Replays pictures at their rate by the clock. A slow reader gets the newest and misses those between.

    A single picture is shown for ever; a folder or video ends with DeviceGone, or begins again when `loop`.
    """

    def __init__(self, path: Path, url: str, clock: Clock, rate: float | None = None, loop: bool = False) -> None:
        self._url, self._clock = url, clock
        self._loop = loop
        self._count, found_rate, self._picture, self._release = _open(path, url)
        self._rate = rate or found_rate
        self._began_s = clock.now_s()
        self._given = 0
        self._closed = False

    def read(self, timeout_s: float) -> Frame | None:
        """The picture whose time has come, when it was not given yet; waits for it up to `timeout_s`. Raises
        DeviceGone after the last one and after `close`."""
        if self._closed:
            raise DeviceGone(f"{self._url}: this replay has been closed; open it again")
        if self._count > 1 and self._given >= self._count and not self._loop:
            raise DeviceGone(f"{self._url}: the recording has been shown to its end; add ?loop=1 to repeat it")
        wait_s = self._began_s + self._given / self._rate - self._clock.now_s()
        if wait_s > 0:
            self._clock.sleep_s(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return None
        due = int((self._clock.now_s() - self._began_s) * self._rate + 1e-6) + 1
        if self._count > 1 and not self._loop:
            due = min(due, self._count)
        self._given = due
        picture = self._picture((due - 1) % self._count)
        if picture is None:
            raise DeviceGone(f"{self._url}: picture {due} cannot be decoded; the recording is damaged there")
        picture.flags.writeable = False
        return Frame(picture, due, self._clock.now_s(), self._url)

    def close(self) -> None:
        """Ends the replay."""
        if not self._closed:
            self._closed = True
            self._release()


Opened = tuple[int, float, Callable[[int], Image | None], Callable[[], None]]


def _open(path: Path, url: str) -> Opened:
    """How many pictures, their rate, how to get one by index, how to release."""
    if not path.exists():
        raise BadAddressError(
            f"{url!r} names nothing: there is no {path}; give a picture, a folder of pictures or a video"
        )
    if path.is_dir():
        paths = sorted(p for p in path.iterdir() if p.suffix.lower() in PICTURES)
        if not paths:
            raise BadAddressError(f"{url!r}: the folder {path} holds no pictures ({', '.join(PICTURES)})")
        return len(paths), RATE, lambda i: _decode(paths[i]), lambda: None
    if path.suffix.lower() in VIDEOS:
        return _video(path, url)
    picture = _decode(path)
    if picture is None:
        raise BadAddressError(f"{url!r}: {path} is no picture that can be decoded")
    return 1, RATE, lambda _: picture, lambda: None


def _decode(path: Path) -> Image | None:
    """The picture, also from a path that OpenCV's own reader would garble; None when it is none."""
    try:
        data = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError:
        return None
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
    return None if picture is None else np.asarray(picture, dtype=np.uint8)


def _video(path: Path, url: str) -> Opened:
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    count, rate = int(capture.get(cv2.CAP_PROP_FRAME_COUNT)), float(capture.get(cv2.CAP_PROP_FPS))
    if not capture.isOpened() or count < 1:
        raise BadAddressError(f"{url!r}: {path} is no video that can be decoded")
    at = 0

    def picture(index: int) -> Image | None:
        nonlocal at
        if index < at:
            capture.set(cv2.CAP_PROP_POS_FRAMES, index)
            at = index
        while at < index:  # seeking forward goes by key frames in many files; reading on is exact
            if not capture.grab():
                return None
            at += 1
        done, image = capture.read()
        at += 1
        return np.asarray(image, dtype=np.uint8) if done else None

    return count, rate if 0 < rate < 1000 else RATE, picture, capture.release
