"""Small pieces of a picture found again in the next one: where they are now, and whether they can be seen at all.

Each patch is matched to a fraction of a pixel by one step of least squares (Lucas and Kanade 1981) that also solves for
gain and offset, so that a change of light moves nothing. It reaches about as far as its samples are apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from calibration.geometry import Array
from devices.contract import Image
from vision.sampling import Bools, Floats

SIDE = 14
"""Samples along a patch's side."""

ALIKE = 0.75
"""Share of a patch's contrast that must be explained for it to count as seen."""

LEAST_CONTRAST, LEAST_GAIN = 3.0, 0.1
"""Standard deviation in grey levels, and part of its former contrast, without which a patch says nothing."""

REFINE_PX = 0.3
"""A shift larger than this is measured once more from where it led."""


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """Patches of one picture: pixels `x` and `y` (M, K) of their samples, the `model` (M, K, 4) of what they may look
    like (slopes along x and y, the samples, 1) and its pseudo-inverse `solver` (M, 4, K)."""

    x: Floats
    y: Floats
    model: Floats
    solver: Floats


def quads(corners_px: Array, margin: float) -> tuple[Floats, Floats]:
    """Pixels x and y (M, 196) of samples that fill quadrangles (M, 4, 2), enlarged by `margin` about their centres."""
    spots = np.asarray(corners_px, dtype=np.float64).transpose(2, 0, 1) @ _weights(margin)
    return spots[0].astype(np.float32), spots[1].astype(np.float32)


@lru_cache(8)
def _weights(margin: float) -> Array:
    """What the corners of a quadrangle are worth in each sample: (4, 196)."""
    steps = np.linspace(-margin / 2, 1 + margin / 2, SIDE)
    u, v = (each.ravel() for each in np.meshgrid(steps, steps))
    return np.stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v])


def remembered(picture: Image, x: Floats, y: Floats) -> Patches:
    """The patches at these pixels (M, K) of this picture."""
    one = np.float32(1.0)
    around = np.concatenate([x, x - one, x + one, x, x]), np.concatenate([y, y, y, y - one, y + one])
    centre, left, right, above, below = _samples(picture, *around).reshape(5, *x.shape)
    model = np.ones((*x.shape, 4), dtype=np.float32)
    model[..., 0], model[..., 1] = (right - left) / 2, (below - above) / 2
    model[..., 2] = centre - centre.mean(axis=1, keepdims=True)
    gram = model.transpose(0, 2, 1) @ model
    gram += np.eye(4, dtype=np.float32) * np.float32(1e-3)
    return Patches(x, y, model, np.linalg.inv(gram) @ model.transpose(0, 2, 1))


def shifts(patches: Patches, picture: Image) -> tuple[Array, Bools]:
    """How far each patch has moved (M, 2) px, and which of them are seen (M)."""
    moved, seen = _step(patches, picture, patches.x, patches.y)
    if float(np.abs(moved[seen]).max(initial=0.0)) > REFINE_PX:
        near = np.where(seen[:, None], moved, 0.0).astype(np.float32)
        more, seen = _step(patches, picture, patches.x + near[:, :1], patches.y + near[:, 1:])
        moved = near + more
    return moved, seen


def _step(patches: Patches, picture: Image, x: Floats, y: Floats) -> tuple[Array, Bools]:
    now = _samples(picture, x, y)
    now -= cv2.reduce(now, 1, cv2.REDUCE_AVG)
    found = patches.solver @ now[..., None]
    rest = now - (patches.model @ found)[..., 0]
    unlike, whole = _squares(rest), _squares(now)
    gain = found[:, 2, 0]
    seen = (unlike < (1.0 - ALIKE) * whole) & (gain > LEAST_GAIN) & (whole > LEAST_CONTRAST**2 * now.shape[1])
    return -found[:, :2, 0].astype(np.float64) / np.maximum(gain, LEAST_GAIN)[:, None], seen


def _squares(values: Floats) -> Floats:
    """Sums of the squares of each row."""
    return np.asarray(cv2.reduce(values, 1, cv2.REDUCE_SUM2), dtype=np.float32).ravel()


def _samples(picture: Image, x: Floats, y: Floats) -> Floats:
    found = np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
    return (found[..., 1] if found.ndim == 3 else found).astype(np.float32)
