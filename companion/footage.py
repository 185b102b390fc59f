"""The last seconds as pictures in memory, of which a clip is written down only when somebody asks for one.

A camera's own JPEG is kept as it came; where there is none a picture is made small before it is encoded.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import cv2

from devices.contract import Frame

FULL_S = 15.0
"""So long every picture is remembered."""
LONG_S = 60.0
SPARSE_S = 0.2
"""Up to LONG_S one picture in so many seconds is."""
MOST_BYTES = 64 * 2**20
LONG_SIDE_PX = 640
"""To this an encoded picture is reduced; a camera's own JPEG keeps its size."""
QUALITY = 75
SUFFIX = ".clip"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Keep:
    """An order: the pictures of `from_s` to `to_s` (frame time) go to `file`; `moment_s` is the time that counts as 0
    in it. All clips of its folder together stay below `limit_bytes`, the oldest go first."""

    file: str
    from_s: float
    moment_s: float
    to_s: float
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class Shot:
    """One remembered picture."""

    time_s: float
    jpeg: bytes


class Footage:
    """A ring of pictures. `add`, `keep` and `flush` may be called from any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._sparse: deque[Shot] = deque()
        self._full: deque[Shot] = deque()
        self._bytes = 0
        self._due: list[Keep] = []

    @property
    def bytes(self) -> int:
        """How much is remembered."""
        return self._bytes

    @property
    def times_s(self) -> tuple[float, ...]:
        """The times of all pictures that are remembered, oldest first."""
        with self._lock:
            return tuple(shot.time_s for shot in (*self._sparse, *self._full))

    def add(self, frame: Frame) -> None:
        """Remembers a picture, and forgets what is too old or too much."""
        jpeg = frame.jpeg or encoded(frame)
        if not jpeg:
            return
        with self._lock:
            newest = self._full[-1].time_s if self._full else frame.time_s
            if frame.time_s < newest:  # another time base: what was remembered belongs to the old one
                self._forget()
            self._full.append(Shot(frame.time_s, jpeg))
            self._bytes += len(jpeg)
            self._trim(frame.time_s)
            due = [keep for keep in self._due if keep.to_s <= frame.time_s]
            self._due = [keep for keep in self._due if keep.to_s > frame.time_s]
        for keep in due:
            self._write(keep)

    def keep(self, keep: Keep) -> None:
        """Writes a clip as soon as its last picture is there; in a thread of its own, for a disk may be slow."""
        with self._lock:
            wait = bool(self._full) and self._full[-1].time_s < keep.to_s
            if wait:
                self._due.append(keep)
        if not wait:
            self._write(keep)

    def flush(self) -> None:
        """Writes what is due although its last pictures will not come: the camera has gone."""
        with self._lock:
            due, self._due = self._due, []
        for keep in due:
            self._write(keep)

    def _forget(self) -> None:
        self._sparse.clear()
        self._full.clear()
        self._bytes = 0

    def _trim(self, now_s: float) -> None:
        while self._full and self._full[0].time_s < now_s - FULL_S:
            shot = self._full.popleft()
            # A hair less, since a camera's pictures never come exactly at their times.
            if not self._sparse or shot.time_s - self._sparse[-1].time_s >= SPARSE_S - 0.01:
                self._sparse.append(shot)
            else:
                self._bytes -= len(shot.jpeg)
        while self._sparse and (self._sparse[0].time_s < now_s - LONG_S or self._bytes > self._most_bytes):
            self._bytes -= len(self._sparse.popleft().jpeg)
        while len(self._full) > 1 and self._bytes > self._most_bytes:
            self._bytes -= len(self._full.popleft().jpeg)

    def _write(self, keep: Keep) -> None:
        with self._lock:
            shots = [s for s in (*self._sparse, *self._full) if keep.from_s <= s.time_s <= keep.to_s]
        if shots:
            threading.Thread(target=write_clip, args=(keep, shots), name="clip", daemon=True).start()


def encoded(frame: Frame) -> bytes:
    """A small JPEG of a frame, cheap enough for every frame; empty when it cannot be encoded."""
    height, width = frame.bgr.shape[:2]
    step = max(1.0, max(height, width) / LONG_SIDE_PX)
    size = (round(width / step), round(height / step))
    small = frame.bgr if step == 1.0 else cv2.resize(frame.bgr, size, interpolation=cv2.INTER_AREA)
    done, jpeg = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return jpeg.tobytes() if done else b""


def write_clip(keep: Keep, shots: list[Shot]) -> None:
    """Writes a clip: a line of JSON (`times_s` from its moment on, `sizes`), then the JPEGs one after the other. A clip
    that is larger than all clips may be is thinned. A disk that cannot take it costs the clip, never the game."""
    while len(shots) > 1 and sum(len(shot.jpeg) for shot in shots) > keep.limit_bytes:
        shots = shots[::2]
    head = {
        "times_s": [round(shot.time_s - keep.moment_s, 3) for shot in shots],
        "sizes": [len(shot.jpeg) for shot in shots],
    }
    file = Path(keep.file)
    part = file.with_suffix(".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            out.write(json.dumps(head).encode() + b"\n")
            for shot in shots:
                out.write(shot.jpeg)
        part.replace(file)
        _make_room(file, keep.limit_bytes)
    except OSError as error:
        _log.warning("the clip %s could not be kept: %s", file, error)


def write_picture(file: Path, frame: Frame) -> None:
    """Writes a frame in full, in one step; a disk that cannot take it costs the picture."""
    jpeg = frame.jpeg or bytes(cv2.imencode(".jpg", frame.bgr, [cv2.IMWRITE_JPEG_QUALITY, 95])[1])
    part = file.with_suffix(".part")
    try:
        part.write_bytes(jpeg)
        part.replace(file)
    except OSError as error:
        _log.warning("the photograph %s could not be written: %s", file, error)


def _make_room(newest: Path, limit_bytes: int) -> None:
    clips = sorted(newest.parent.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    total = sum(path.stat().st_size for path in clips)
    for old in clips:
        if total <= limit_bytes:
            return
        if old != newest:
            total -= old.stat().st_size
            old.unlink()
