"""Whatever a camera hands over, as pixels that the readers can trust; and cheap grey views of it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from devices.contract import Image

COLOURLESS_LEVELS = 1.5
"""Mean difference of a pixel's channels below which a picture has no colour; JPEG noise on grey stays under it."""

SMALLEST_PX = 48
"""A picture with a shorter side than this cannot show a board."""


DARK_LEVEL, BURNT_SHARE = 12.0, 0.08
"""Mean grey level below which a picture is too dark, and burnt-out share above which there is glare in it."""

BLUR_LONG_SIDE_PX, BLURRED_RATIO, LEAST_SLOPE = 640, 0.078, 12.0
"""Size at which blur is judged; ratio of bend to slope below which a picture is blurred: a blur of 0.4 % of the longer
side, sharp ones have 0.09 and more; and the slope without which nothing can be said."""


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


def halved(picture: Image, times: int) -> Image:
    """The picture made smaller by area to one part in 2**times each way, step by step: that costs a quarter of doing it
    at once. An odd last row or column is left out.
    """
    small = picture
    for _ in range(times):
        height, width = max(small.shape[0] // 2, 1), max(small.shape[1] // 2, 1)
        small = _image(cv2.resize(small[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA))
    return small


def shrunk(picture: Image, long_side_px: int) -> Image:
    """The picture reduced by area so that its longer side is at most `long_side_px`; never enlarged."""
    height, width = picture.shape[:2]
    scale = long_side_px / max(height, width)
    if scale >= 1.0:
        return picture
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return _image(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))


def colourless(picture: Image) -> bool:
    """True for a picture without colours (a night camera, a grey file): pieces told by colour cannot be read from it.

    Looks at some thousand pixels, of few rows: memory is read by the row.
    """
    height, width = picture.shape[:2]
    row, step = max(1, height // 8), max(1, width // 128)
    some = np.ascontiguousarray(picture[row // 2 :: row, step // 2 :: step])
    means = cv2.mean(some)[:3]
    if max(means) - min(means) >= COLOURLESS_LEVELS:
        return False
    blue, green, red = cv2.split(some)
    most, least = cv2.max(cv2.max(blue, green), red), cv2.min(cv2.min(blue, green), red)
    return float(cv2.mean(cv2.subtract(most, least))[0]) < COLOURLESS_LEVELS


def fault_of(picture: Image) -> str:
    """The message id of what makes this picture hard to read: too dark, glare, blurred; empty when it is none of these.

    Blur is told from the ratio of the steepest curvature to the steepest slope, which contrast does not change.
    """
    small = grey(shrunk(picture, BLUR_LONG_SIDE_PX))
    level, burnt = float(small.mean()), float((small >= 250).mean())
    if level < DARK_LEVEL:
        return "vision.too_dark"
    if burnt > BURNT_SHARE:
        return "vision.too_bright" if burnt > 0.5 else "vision.glare"
    smooth = cv2.GaussianBlur(small, (0, 0), 1.0)
    slope = float(np.percentile(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 1, 0)), 99.5))
    bend = float(np.percentile(np.abs(cv2.Laplacian(smooth, cv2.CV_32F)), 99.5))
    return "vision.blurred" if slope > LEAST_SLOPE and bend < BLURRED_RATIO * slope else ""


def _image(array: Any) -> Image:
    return np.asarray(array, dtype=np.uint8)
