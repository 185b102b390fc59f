"""Parts of the picture that look as they did when they were read last, so that they need not be read again."""

from __future__ import annotations

from collections.abc import Hashable

import cv2
import numpy as np

from calibration.geometry import Array
from devices.contract import Image

SHRINK = 2
"""Parts are compared at this fraction of the picture's size: noise shrinks, a pip that came or went does not vanish."""
LEVELS = 10
"""Levels up to which a pixel of a shrunk part may differ (noise of up to 5 levels in either picture). More noise than
that costs a reading, never a change that is missed."""
MARGIN_PX = 2

Box = tuple[int, int, int, int]


class Unchanged:
    """Remembers parts of the picture by name. A part is compared with what it looked like when kept, not with the
    picture before, so that a slow change of the light is noticed too."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Box, Image]] = {}
        # Parts that were found changed: they are the ones that will be kept.
        self._changed: dict[Hashable, tuple[Image, Box, Image]] = {}

    def keep(self, name: Hashable, picture: Image, pixels: Array) -> None:
        """Remembers how the picture looks about these pixels (N, 2)."""
        box = _box(pixels, picture)
        of, about, small = self._changed.pop(name, (None, box, None))
        self._kept[name] = box, small if small is not None and of is picture and about == box else _small(picture, box)

    def same(self, name: Hashable, picture: Image) -> bool:
        """True when the part of that name was kept and looks as it did."""
        if name not in self._kept:
            return False
        box, before = self._kept[name]
        now = _small(picture, box)
        alike = now.size > 0 and now.shape == before.shape
        if alike and float(cv2.norm(now, before, cv2.NORM_INF)) <= LEVELS:
            return True
        self._changed[name] = picture, box, now
        return False

    def forget(self, name: Hashable | None = None) -> None:
        """Drops one part, or all."""
        if name is None:
            self._kept.clear()
            self._changed.clear()
        else:
            self._kept.pop(name, None)
            self._changed.pop(name, None)


def _box(pixels: Array, picture: Image) -> Box:
    """The upright rectangle about these pixels within the picture, aligned to the shrinking: x, y, right, bottom."""
    limit = np.array(picture.shape[1::-1]) // SHRINK * SHRINK
    known = np.clip(np.nan_to_num(np.asarray(pixels, dtype=np.float64), nan=0.0), -1e6, 1e6)
    low = np.clip((np.floor(known.min(axis=0)).astype(int) - MARGIN_PX) // SHRINK * SHRINK, 0, limit)
    high = np.clip(-(-(np.ceil(known.max(axis=0)).astype(int) + MARGIN_PX) // SHRINK) * SHRINK, low, limit)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _small(picture: Image, box: Box) -> Image:
    x, y, right, bottom = box
    part = picture[y:bottom, x:right]
    if not part.size:
        return np.zeros((0, 0, 3), dtype=np.uint8)
    size = (max(part.shape[1] // SHRINK, 1), max(part.shape[0] // SHRINK, 1))
    return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
