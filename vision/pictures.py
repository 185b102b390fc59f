"""Whatever a camera hands over, as pixels that the readers can trust; and cheap grey views of it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from devices.contract import Image

SMALLEST_PX = 48
"""A picture with a shorter side than this cannot show a board."""


def as_bgr(picture: Any) -> Image | None:
    """The picture as uint8 H x W x 3 BGR, or None when it is no picture (wrong type, empty, too small).

    Grey pictures and pictures with an alpha channel are converted; anything already BGR comes back as it is.
    """
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        return None
    if min(picture.shape[:2]) < SMALLEST_PX or max(picture.shape[:2]) > 32000:
        return None
    if picture.ndim == 2 or picture.shape[2] == 1:
        return _image(cv2.cvtColor(picture.reshape(picture.shape[:2]), cv2.COLOR_GRAY2BGR))
    if picture.shape[2] == 4:
        return _image(cv2.cvtColor(picture, cv2.COLOR_BGRA2BGR))
    return picture if picture.shape[2] == 3 else None


def grey(picture: Image) -> Image:
    """The picture as uint8 H x W."""
    return _image(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)) if picture.ndim == 3 else picture


def shrunk(picture: Image, long_side_px: int) -> Image:
    """The picture reduced by area so that its longer side is at most `long_side_px`; never enlarged."""
    height, width = picture.shape[:2]
    scale = long_side_px / max(height, width)
    if scale >= 1.0:
        return picture
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return _image(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))


def _image(array: Any) -> Image:
    return np.asarray(array, dtype=np.uint8)
