"""Whether the table is at rest: frame by frame, in time of the frames, cheap enough for every frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from devices.contract import Frame, Image
from vision.pictures import as_bgr
from vision.sampling import middle

State = Literal["still", "moving", "hand"]

LONG_SIDE_PX = 320
"""About what the longer side of the compared pictures measures."""

CHANGED_LEVELS, MOST_LEVELS = 12.0, 36.0
"""Grey levels (of 255, after smoothing) from which a pixel counts as changed; and the most to which noise may raise
that (a pawn differs from its tile by more)."""

NOISE = 7.0
"""Times the middling difference of two pictures: nearly five standard deviations; noise hardly ever exceeds it."""

NEWS_SHARE = 0.0003
"""Part of the picture that must differ from the last table at rest to be worth a new reading: half a moved pawn."""

HAND_SHARE = 0.006
"""A change larger than this share of the picture that reaches its border is an arm."""


@dataclass(frozen=True, slots=True)
class Stillness:
    """What one frame says: `state`; `share`, the part of the picture that changed since the frame before (0..1);
    `calm_s`, for how long of frame time nothing has moved; `fresh`, True only on the frame that brought rest about (the
    moment to read the table)."""

    state: State
    share: float
    calm_s: float
    fresh: bool


class Settler:
    """Tells rest from motion, with hysteresis: motion begins above `on_share`, rest needs less than `off_share` for
    `settle_ms`. Slow or sudden changes of the light are divided out by the median ratio and are no motion."""

    def __init__(self, settle_ms: float = 500.0, on_share: float = 0.003, off_share: float = 0.001) -> None:
        self._settle_s = settle_ms / 1000.0
        self._on_share, self._off_share = on_share, off_share
        self._before: Image | None = None
        self._rest: Image | None = None
        self._moved_s = 0.0
        self._moving = True
        self._announced = False

    def feed(self, frame: Frame) -> Stillness:
        """The state after this frame; a picture that is none counts as motion. Frames come in order of time."""
        picture = as_bgr(frame.bgr)
        now = None if picture is None else _small(picture)
        if now is None or self._before is None or now.shape != self._before.shape:
            self._before, self._rest = now, None
            self._moved_s, self._moving, self._announced = frame.time_s, True, False
            return Stillness("moving", 1.0, 0.0, False)
        share = _share(_changed(now, self._before))
        self._before = now
        if share > (self._off_share if self._moving else self._on_share):
            self._moved_s, self._moving, self._announced = frame.time_s, True, False
        elif not self._moving and self._rest is not None and _share(_changed(now, self._rest)) > NEWS_SHARE:
            # Something was put down between two frames, too small or too quick to be seen moving.
            self._moved_s, self._moving, self._announced = frame.time_s, True, False
        calm_s = frame.time_s - self._moved_s
        if not self._moving or calm_s >= self._settle_s:
            self._moving = False
            fresh = not self._announced
            self._announced = True
            if fresh:
                self._rest = now
            return Stillness("still", share, calm_s, fresh)
        hand = self._rest is not None and _reaches_border(_changed(now, self._rest))
        return Stillness("hand" if hand else "moving", share, calm_s, False)


def _small(picture: Image) -> Image:
    """A smoothed, reduced grey picture: the green channel of every n-th pixel."""
    step = max(1, round(max(picture.shape[:2]) / LONG_SIDE_PX))
    green = np.ascontiguousarray(picture[step // 2 :: step, step // 2 :: step, 1])
    return np.asarray(cv2.blur(green, (3, 3)), dtype=np.uint8)


def _changed(now: Image, before: Image) -> Image:
    """255 where a pixel has changed, else 0."""
    few = [np.ascontiguousarray(each[::4, ::4]).astype(np.float32).ravel() + np.float32(4.0) for each in (now, before)]
    ratio = min(max(float(middle(few[0] / few[1], 0)), 0.2), 5.0)
    # Clipped and dark pixels do not follow the light; a wide band about the ratio forgives them.
    off = cv2.absdiff(now, cv2.convertScaleAbs(before, alpha=ratio))
    usual = float(middle(np.ascontiguousarray(off[::4, ::4]).ravel().astype(np.float32), 0)) + 0.5
    limit = min(max(NOISE * usual, CHANGED_LEVELS), MOST_LEVELS)
    return np.asarray(cv2.threshold(off, limit, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def _share(changed: Image) -> float:
    return cv2.countNonZero(changed) / changed.size


def _reaches_border(changed: Image) -> bool:
    if _share(changed) < HAND_SHARE:
        return False
    mask = cv2.morphologyEx(changed, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    border = set(np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))) - {0}
    return any(stats[i, cv2.CC_STAT_AREA] > HAND_SHARE * changed.size for i in border if i < count)
