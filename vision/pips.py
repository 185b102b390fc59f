"""What the readers of dice and dominoes share: picture pyramid, squared-up crops, small networks run by cv2.dnn."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image

Floats = NDArray[np.float32]


class Net:
    """A small ONNX network run by cv2.dnn on one thread; input (n, 3, h, w) float32, one output."""

    def __init__(self, data: bytes) -> None:
        # OpenCV 5 runs small convolutions twice as fast in its classic engine; 4.x has no such choice.
        classic = getattr(cv2.dnn, "ENGINE_CLASSIC", None)
        buffer = np.frombuffer(data, np.uint8)
        self._net = cv2.dnn.readNetFromONNX(buffer) if classic is None else cv2.dnn.readNetFromONNX(buffer, classic)

    def __call__(self, x: Floats) -> Floats:
        """The network's output for a batch."""
        self._net.setInput(x)
        return np.asarray(self._net.forward(), np.float32)


@cache
def net_bytes(name: str) -> bytes:
    """The trained file `vision/models/<name>.onnx`, or the one in the folder that COMPANION_MODELS names."""
    folder = os.environ.get("COMPANION_MODELS")
    if folder:
        return (Path(folder) / f"{name}.onnx").read_bytes()
    return (resources.files("vision") / "models" / f"{name}.onnx").read_bytes()


class Pyramid:
    """A picture at full, half, quarter ... size. Level k's pixel (x, y) is full-size ((x + 0.5) * 2**k - 0.5, ...)."""

    def __init__(self, image: Image) -> None:
        self._levels: list[Image] = [image]

    def level(self, k: int) -> Image:
        """The picture reduced k times by two (area average); never smaller than one pixel."""
        while len(self._levels) <= k:
            last = self._levels[-1]
            size = (max(1, last.shape[1] // 2), max(1, last.shape[0] // 2))
            self._levels.append(np.asarray(cv2.resize(last, size, interpolation=cv2.INTER_AREA), np.uint8))
        return self._levels[k]

    def patch(self, to_patch: Floats, size: tuple[int, int], shrink: float) -> Image:
        """The patch of `size` (width, height) that the 2x3 or 3x3 matrix `to_patch` (full-size px to patch px) cuts
        out, taken from the level that fits `shrink` (full-size px a patch px), so that nothing is aliased."""
        k = max(0, round(np.log2(max(shrink, 1e-6)) - 0.2))
        k = min(k, 6)
        source = self.level(k)
        f = float(2**k)
        up = np.array([[f, 0, (f - 1) / 2], [0, f, (f - 1) / 2], [0, 0, 1]])
        if len(to_patch) == 2:
            m = np.asarray(to_patch, np.float64) @ up
            return np.asarray(cv2.warpAffine(source, m, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)
        return np.asarray(cv2.warpPerspective(source, to_patch @ up, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def square_map(cx: float, cy: float, side: float, turn_deg: float, size: int) -> Floats:
    """The 2x3 matrix that brings the square about (cx, cy) of `side` px, turned by `turn_deg`, to size x size px."""
    s = size / side
    c, n = s * np.cos(np.radians(turn_deg)), s * np.sin(np.radians(turn_deg))
    h = (size - 1) / 2
    return np.array([[c, n, h - c * cx - n * cy], [-n, c, h + n * cx - c * cy]], np.float32)


@dataclass(frozen=True, slots=True)
class Found:
    """A place where a finder sees something: middle and size of its box in px, and how strongly (0..1)."""

    cx: float
    cy: float
    width: float
    height: float
    score: float

    @property
    def side(self) -> float:
        """Mean side of the box in px."""
        return (self.width + self.height) / 2


STRIDE = 4
"""Pixels a cell of a finder's map."""


def unpacked(out: Floats) -> Floats:
    """A finder's output (4 c, h, w) as maps (c, 2 h, 2 w): four neighbours are packed in each cell."""
    c, h, w = len(out) // 4, out.shape[1], out.shape[2]
    return np.ascontiguousarray(out.reshape(c, 2, 2, h, w).transpose(0, 3, 1, 4, 2).reshape(c, 2 * h, 2 * w))


def peaks(heat: Floats, least: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the local maxima (3 x 3) of a heat map that reach `least`."""
    top = cv2.dilate(heat, np.ones((3, 3), np.uint8))
    rows, columns = np.nonzero((heat >= top) & (heat >= least))
    return rows, columns


def thinned(found: Sequence[Found], nearer: float, alike: float) -> list[Found]:
    """The strongest of those that lie on each other: closer than `nearer` of the larger side, sizes within a factor
    `alike` (a pip that looks like a small die must not drive out the die that it lies on)."""
    kept: list[Found] = []
    for f in sorted(found, key=lambda f: -f.score):
        if not any(
            math.hypot(f.cx - k.cx, f.cy - k.cy) < nearer * max(f.side, k.side)
            and max(f.side, k.side) < alike * min(f.side, k.side)
            for k in kept
        ):
            kept.append(f)
    return kept


def normal(patches: Sequence[Image]) -> Floats:
    """Patches (n, h, w, 3) as network input (n, 3, h, w): each its own mean away, deviation made one (from 8 levels
    up, so that noise of a flat patch is not blown up)."""
    x = np.asarray(patches, np.float32)
    mean = x.mean(axis=(1, 2, 3), keepdims=True)
    deviation = np.maximum(x.std(axis=(1, 2, 3), keepdims=True), 8.0)
    return np.ascontiguousarray(((x - mean) / deviation).transpose(0, 3, 1, 2))


def normal_view(image: Image) -> Floats:
    """A whole picture as a finder's input (1, 3, h, w): as `normal`, but small bright or dark things on a plain ground
    may not stand out further than they do in a close view, where the finder has learned them."""
    step = max(1, math.isqrt(image.shape[0] * image.shape[1] // SAMPLES))
    sample = image[::step, ::step]
    low, high = _percentiles(sample, (0.3, 99.7))
    deviation = max(float(sample.std()), float(high - low) / RANGE_DEVIATIONS, 8.0)
    middle = float(sample.mean())
    return np.asarray(cv2.dnn.blobFromImage(image, 1 / deviation, mean=(middle, middle, middle)), np.float32)


def _percentiles(sample: Image, shares: Sequence[float]) -> list[float]:
    """As `numpy.percentile`, several times as fast for bytes."""
    below = np.cumsum(np.bincount(sample.ravel(), minlength=256))
    out = []
    for share in shares:
        rank = (int(below[-1]) - 1) * share / 100
        one, two = np.searchsorted(below, (math.floor(rank), math.floor(rank) + 1), "right").tolist()
        out.append(one + (rank - math.floor(rank)) * (min(two, 255) - one))
    return out


SAMPLES = 4000
"""Pixels from which a picture's brightness is judged."""
RANGE_DEVIATIONS = 4.5
"""Brightness range over standard deviation in a typical close view."""


def log_softmax(logits: Floats) -> Floats:
    """Natural logarithms of probabilities along the last axis."""
    top = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(top - np.log(np.exp(top).sum(axis=-1, keepdims=True)), np.float32)
