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
        # What x, y, cos, sin, height and 1 of a pose add to x, y, z and 1 of the corners of its square: (4, 9 * 6).
        u, v = self._reach_mm * _CORNERS.T
        parts = np.zeros((4, len(u), 6))
        parts[0, :, 0] = parts[1, :, 1] = parts[2, :, 4] = parts[3, :, 5] = 1.0
        parts[0, :, 2], parts[0, :, 3], parts[1, :, 2], parts[1, :, 3] = u, -v, v, u
        self._parts = parts.reshape(4, -1)

    def pixels(self, camera: Camera, poses: Array, height_mm: float | Array) -> tuple[Floats, Floats]:
        """Pixel x and y (T, N) of the stencil at `height_mm` (one, or one a tile) on tiles at `poses` (T, 3: mm, mm,
        radians).

        Perspective and lens are followed to second order within a tile, which is exact to about 0.05 px.
        """
        terms = np.empty((6, len(poses)))
        terms[:2] = poses.T[:2]
        np.cos(poses[:, 2], out=terms[2])
        np.sin(poses[:, 2], out=terms[3])
        terms[4] = height_mm
        terms[5] = 1.0
        spans = (camera.from_table @ self._parts).reshape(-1, 6)
        pixels = camera.image_rows((spans @ terms).reshape(3, -1))
        if not cv2.checkRange(pixels, quiet=True, minVal=-1e5, maxVal=1e5)[0]:
            pixels = np.clip(np.nan_to_num(pixels, nan=-1e4, posinf=-1e4, neginf=-1e4), -1e5, 1e5)
        corners = pixels.astype(np.float32).reshape(2, len(_CORNERS), len(poses))
        x, y = corners.transpose(0, 2, 1) @ self._weights
        return x, y

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


def planes_of(colours: Image) -> Image:
    """The channels (3, T, N) of 8-bit colours (T, N, 3), each together in memory."""
    planes = np.empty((3, *colours.shape[:2]), dtype=np.uint8)
    cv2.split(colours, list(planes))
    return planes


def log_planes(planes: Image) -> Floats:
    """The same as `logs`, of planes (3, T, N)."""
    return np.asarray(cv2.LUT(planes.reshape(3, -1), _LOG), dtype=np.float32).reshape(planes.shape)


def log_of(levels: Floats) -> Floats:
    """The same of colours that are no longer whole numbers."""
    scaled = (levels + np.float32(LOG_OFFSET)) * np.float32(1.0 / (255.0 + LOG_OFFSET))
    return np.asarray(np.log(scaled), dtype=np.float32)


def blended(planes: Floats, weights: Floats) -> Floats:
    """One channel (...) of planes (3, ...)."""
    return np.asarray(weights @ planes.reshape(3, -1), dtype=np.float32).reshape(planes.shape[1:])


def middle(values: NDArray[Any], axis: int) -> NDArray[Any]:
    """The (lower) median along an axis, without numpy's checks, which cost more than the sorting of small arrays."""
    place = (values.shape[axis] - 1) // 2
    ordered = values.copy()
    ordered.partition(place, axis=axis)
    return np.asarray(ordered[place] if axis == 0 else ordered.take(place, axis=axis))


def spread_of(values: NDArray[np.floating[Any]], axis: int) -> NDArray[Any]:
    """Standard deviation about zero that the median of the absolute values stands for."""
    return np.asarray(1.4826 * middle(np.abs(values), axis))


def solved(gram: Array, target: Array) -> Array:
    """The solution (N, M) of normal equations (N, N) and (N, M); np.linalg's checks cost more than so small a one."""
    return np.asarray(cv2.solve(gram, target, flags=cv2.DECOMP_CHOLESKY)[1], dtype=np.float64)


def _flat(colours: Any) -> Any:
    return np.ascontiguousarray(colours).reshape(len(colours), -1)


def square_stencil(step_mm: float, count: int) -> Stencil:
    """A square grid of `count` x `count` points about the centre, north row first, west column first."""
    steps = (np.arange(count) - (count - 1) / 2) * step_mm
    return Stencil(np.array([(x, -y) for y in steps for x in steps]))
