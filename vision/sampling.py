"""Samples of many tiles straight from the picture: tile coordinates -> pixels -> colours, nothing is warped."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from devices.contract import Image

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]

LOG_OFFSET = 8.0
"""Added to an 8-bit value before its logarithm is taken, so that noise in the dark does not run away."""

_LOG = np.log((np.arange(256) + LOG_OFFSET) / (255.0 + LOG_OFFSET)).astype(np.float32)
_CORNERS = np.array([(x, y) for y in (-1.0, 0.0, 1.0) for x in (-1.0, 0.0, 1.0)])


def _quadratic(points: Array) -> Array:
    x, y = points[:, 0], points[:, 1]
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y])


_FIT = np.linalg.pinv(_quadratic(_CORNERS))


class Stencil:
    """A set of sample points of a tile in its own frame (mm, x east, y north), the same for every tile."""

    def __init__(self, points_mm: Array) -> None:
        """`points_mm` is (N, 2), within some 40 mm of the tile's centre."""
        self.points_mm = np.asarray(points_mm, dtype=np.float64)
        self._reach_mm = max(4.0, float(np.abs(self.points_mm).max()))
        self._weights = (_FIT @ _quadratic(self.points_mm / self._reach_mm)).astype(np.float32)
        self._corners_mm = (self._reach_mm * _CORNERS).T

    def pixels(self, camera: Camera, poses: Array, height_mm: float | Array) -> tuple[Floats, Floats]:
        """Pixel x and y (T, N) of the stencil at `height_mm` (one, or one a tile) on tiles at `poses` (T, 3: mm, mm,
        radians).

        Perspective and lens are followed to second order within a tile, which is exact to about 0.05 px.
        """
        count, (u, v) = len(poses), self._corners_mm
        x, y, turn = (column[:, None] for column in poses.T)
        cos, sin = np.cos(turn), np.sin(turn)
        solid = np.empty((3, count, len(u)))
        solid[0] = x + cos * u - sin * v
        solid[1] = y + sin * u + cos * v
        solid[2] = np.reshape(height_mm, (-1, 1))
        pixels = camera.project_rows(solid.reshape(3, -1))
        if not np.abs(pixels).max(initial=0.0) < 1e5:
            pixels = np.clip(np.nan_to_num(pixels, nan=-1e4, posinf=-1e4, neginf=-1e4), -1e5, 1e5)
        bent = pixels.astype(np.float32).reshape(2 * count, len(u)) @ self._weights
        return bent[:count], bent[count:]

    def colours(self, picture: Image, camera: Camera, poses: Array, height_mm: float | Array) -> tuple[Image, Bools]:
        """8-bit colours (T, N, 3) and whether each sample lies inside the picture (T, N)."""
        return sampled(picture, *self.pixels(camera, poses, height_mm))


def sampled(picture: Image, x: Floats, y: Floats) -> tuple[Image, Bools]:
    """8-bit colours (T, N, 3) at these pixels (T, N each), and whether each lies inside the picture (T, N)."""
    found = np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)
    right, bottom = picture.shape[1] - 1, picture.shape[0] - 1
    left_most, right_most = cv2.minMaxLoc(x)[:2]
    top_most, bottom_most = cv2.minMaxLoc(y)[:2]
    if left_most >= 0 and top_most >= 0 and right_most <= right and bottom_most <= bottom:
        return found, np.ones(x.shape, dtype=bool)
    return found, (x >= 0) & (y >= 0) & (x <= right) & (y <= bottom)


def logs(colours: Image) -> Floats:
    """Logarithm of 8-bit colours, float32: light becomes an addend, and white is 0."""
    return np.asarray(cv2.LUT(_flat(colours), _LOG), dtype=np.float32).reshape(colours.shape)


def log_planes(colours: Image) -> Floats:
    """The same channel by channel, (3, T, N) of colours (T, N, 3): each channel lies together in memory."""
    planes = np.concatenate(cv2.split(colours))
    return np.asarray(cv2.LUT(planes, _LOG), dtype=np.float32).reshape(3, *colours.shape[:2])


def log_of(levels: Floats) -> Floats:
    """The same of colours that are no longer whole numbers."""
    scaled = (levels + np.float32(LOG_OFFSET)) * np.float32(1.0 / (255.0 + LOG_OFFSET))
    return np.asarray(np.log(scaled), dtype=np.float32)


def blended(planes: Floats, weights: Floats) -> Floats:
    """One channel (...) of planes (3, ...)."""
    return np.asarray(weights @ planes.reshape(3, -1), dtype=np.float32).reshape(planes.shape[1:])


def middle(values: NDArray[np.floating[Any]], axis: int) -> NDArray[Any]:
    """The (lower) median along an axis, without numpy's checks, which cost more than the sorting of small arrays."""
    place = (values.shape[axis] - 1) // 2
    ordered = values.copy()
    ordered.partition(place, axis=axis)
    return np.asarray(ordered[place] if axis == 0 else ordered.take(place, axis=axis))


def spread_of(values: NDArray[np.floating[Any]], axis: int) -> NDArray[Any]:
    """Standard deviation about zero that the median of the absolute values stands for."""
    return np.asarray(1.4826 * middle(np.abs(values), axis))


def _flat(colours: Any) -> Any:
    return np.ascontiguousarray(colours).reshape(len(colours), -1)


def square_stencil(step_mm: float, count: int) -> Stencil:
    """A square grid of `count` x `count` points about the centre, north row first, west column first."""
    steps = (np.arange(count) - (count - 1) / 2) * step_mm
    return Stencil(np.array([(x, -y) for y in steps for x in steps]))
