"""Whether a tile carries the triangle: its look and place are learned from the picture's own tiles.

The triangle is printed in a corner between arms. On a bend only the corner between its two arms can hold it, so the
other three corners show what a corner without one looks like under the light of this picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats, Indices
from vision.tile_layout import CORNER_INDEX, CORNER_OF_PATH, CORNER_SIZE, COUNT

SAMPLES = CORNER_SIZE * CORNER_SIZE
POOLED = CORNER_SIZE // 2
_FLAT = CORNER_INDEX.reshape(4, -1)

WIDEST = 0.45
"""A triangle covers less than this part of a corner."""

FEWEST = 3
"""So many tiles must carry it for its look to be learned."""

LEAST_SHARE = 0.35
"""Part of the triangle's evidence that must be seen for a judgement."""


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """`weights` (3) make one channel of log colours; `shape` (100) is what a triangle adds to a corner there,
    `background` (4, 100) what corners without one look like; `sigma` the spread of the score about 0 (none) and 1
    (triangle), infinite when the picture shows no clear difference between tiles with and without."""

    weights: Floats
    shape: Floats
    background: Floats
    sigma: float


NONE = Triangle(
    np.zeros(3, np.float32), np.zeros(SAMPLES, np.float32), np.zeros((4, SAMPLES), np.float32), float("inf")
)


def inner_corners(paths: Sequence[str]) -> Indices:
    """Index of the corner between a bend's arms (T), -1 for a straight."""
    return np.array([CORNER_OF_PATH.get(p, -1) for p in paths], dtype=np.intp)


def learn_triangle(tiles: Floats, seen: Bools, paths: Sequence[str], trusted: Bools) -> Triangle:
    """The triangle's look from log colours (T, 841, 3) of well-placed tiles whose paths are known where `trusted`."""
    inner = inner_corners(paths)
    rows = np.flatnonzero(trusted & (inner >= 0))
    for _ in range(3):
        if len(rows) < 6:
            return NONE
        triangle, with_it = _learned(tiles[rows], seen[rows], inner[rows])
        if triangle is None:
            return NONE
        if np.mean(triangle.shape != 0) < WIDEST and with_it.sum() >= FEWEST:
            return triangle
        # Too wide for a triangle, or too rare: something else lies over these tiles.
        rows = rows[~with_it]
    return NONE


def _learned(tiles: Floats, seen: Bools, inner: Indices) -> tuple[Triangle | None, Bools]:
    plain = np.ones((len(tiles), 4), dtype=bool)
    plain[np.arange(len(tiles)), inner] = False
    corners, shown = tiles[:, _FLAT], seen[:, _FLAT]
    weights, with_it = _grouped(corners, shown, plain, inner)
    if weights is None or not with_it.any() or with_it.all():
        return None, with_it
    channel, shown = centred(corners @ weights, shown)
    own, own_shown = channel[~plain], shown[~plain]
    background = np.stack([_mean(channel[plain[:, c], c], shown[plain[:, c], c]) for c in range(4)])
    excess = own - background[inner]
    shape = np.zeros(SAMPLES, dtype=np.float32)
    for _ in range(2):
        shape = _mean(excess[with_it], own_shown[with_it]) - _mean(excess[~with_it], own_shown[~with_it])
        # Its faint parts are noise and remains of the arms.
        shape = np.where(np.abs(shape) > 0.35 * np.abs(shape).max(), shape, 0.0).astype(np.float32)
        scores, share = _score(excess, own_shown, shape)
        with_it = scores > 0.5
        if not with_it.any() or with_it.all():
            return None, with_it
    bare, bare_share = _score((channel - background)[plain], shown[plain], shape)
    none = np.concatenate([scores[~with_it & (share > 0.7)], bare[bare_share > 0.7]])
    if not len(none):
        return None, with_it
    sigma = max(1.4826 * float(np.median(np.abs(none))), 0.05)
    return Triangle(weights, shape, background, sigma if sigma < 0.25 else float("inf")), with_it


def _grouped(corners: Floats, shown: Bools, plain: Bools, inner: Indices) -> tuple[Floats | None, Bools]:
    """The channel (3) in which inner corners (`inner` of each tile) fall into two groups best, and who is in the
    group that differs from plain corners; on corners pooled two by two."""
    pooled = corners.reshape(-1, 4, POOLED, 2, POOLED, 2, 3).mean(axis=(3, 5)).reshape(-1, 4, POOLED * POOLED, 3)
    covered = ~shown.reshape(-1, 4, POOLED, 2, POOLED, 2).all(axis=(3, 5)).reshape(-1, 4, POOLED * POOLED)
    pooled = pooled - np.median(pooled, axis=2, keepdims=True)
    open_ = ~covered[..., None]
    count = np.maximum((open_ & plain[:, :, None, None]).sum(axis=0), 1)
    excess = (pooled - (pooled * open_ * plain[:, :, None, None]).sum(axis=0) / count) * open_
    noise = excess[plain].reshape(-1, 3)
    covariance = noise.T @ noise / max(len(noise), 1) + 1e-4 * np.eye(3, dtype=np.float32)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance)).astype(np.float32)
    mine = excess[np.arange(len(inner)), inner] @ whiten.T
    energy = np.sum(mine**2, axis=-1)
    # The place where corners differ most from one another, strays apart, is where the triangle lies.
    low, high = np.percentile(energy, (20, 85), axis=0)
    spot = int(np.argmax(high - low))
    with_it = energy[:, spot] > (high[spot] + low[spot]) / 2
    for _ in range(3):
        if not with_it.any() or with_it.all():
            return None, with_it
        shape = mine[with_it].mean(axis=0) - mine[~with_it].mean(axis=0)
        strength = np.linalg.norm(shape, axis=-1, keepdims=True)
        shape = np.where(strength > 0.4 * strength.max(), shape, 0.0)
        scores = np.einsum("nsc,sc->n", mine, shape) / max(float(np.sum(shape**2)), 1e-9)
        with_it = scores > 0.5
    _, _, axes = np.linalg.svd(shape, full_matrices=False)
    return (axes[0] @ whiten).astype(np.float32), with_it


def score_corners(tiles: Floats, seen: Bools, triangle: Triangle) -> tuple[Floats, Floats]:
    """How much of a triangle each of the four corners shows (T, 4; 0 none, 1 whole) and the share that is seen."""
    if not np.isfinite(triangle.sigma):
        nothing = np.zeros((len(tiles), 4), np.float32)
        return nothing, nothing
    channel, shown = centred(tiles[:, _FLAT] @ triangle.weights, seen[:, _FLAT])
    return _score(channel - triangle.background, shown, triangle.shape)


def printed_corner(triangle: Triangle) -> Bools:
    """Samples of each corner, as tile samples (4, 841), that a triangle may cover, with a margin of one sample."""
    covered = cv2.dilate((triangle.shape != 0).astype(np.uint8).reshape(CORNER_SIZE, CORNER_SIZE), np.ones((3, 3)))
    printed = np.zeros((4, COUNT * COUNT), dtype=bool)
    np.put_along_axis(printed, _FLAT, np.broadcast_to(covered.ravel() > 0, _FLAT.shape), axis=1)
    return printed


def centred(channel: Floats, shown: Bools) -> tuple[Floats, Bools]:
    """One channel of corners (T, 4, 100) with the mean of what is seen of each corner at zero, and the same mask."""
    count = np.maximum(shown.sum(axis=-1, keepdims=True), 1)
    return channel - np.sum(channel * shown, axis=-1, keepdims=True) / count, shown


def _score(excess: Floats, shown: Bools, shape: Floats) -> tuple[Floats, Floats]:
    # Where part of a corner is hidden the filter must stay blind to the corner's brightness.
    power = shape * shape
    weights = shape * shown
    weights = weights - shown * (weights.sum(axis=-1) / np.maximum(shown.sum(axis=-1), 1))[..., None]
    expected = weights @ shape
    total = float(np.sum(power)) - float(shape.sum()) ** 2 / len(shape)
    share = np.clip(expected / max(total, 1e-9), 0.0, 1.0)
    return np.sum(weights * excess, axis=-1) / np.maximum(expected, 0.02 * max(total, 1e-9)), share


def _mean(values: Floats, shown: Bools) -> Floats:
    return np.asarray(np.sum(values * shown, axis=0) / np.maximum(shown.sum(axis=0), 1), dtype=np.float32)


def triangle_log_likelihoods(scores: Floats, share: Floats, paths: Sequence[str], sigma: float, slip: float) -> Array:
    """Log-likelihoods (T, 2) of no triangle and triangle; on a straight tile the likeliest corner counts."""
    if not np.isfinite(sigma):
        return np.zeros((len(paths), 2))
    rows, inner = np.arange(len(paths)), inner_corners(paths)
    corner = np.where(inner < 0, scores.argmax(axis=1), inner)
    score, part = scores[rows, corner], share[rows, corner]
    spread = sigma / np.sqrt(np.clip(part, 0.02, 1.0))
    # Paint varies in strength from tile to tile: a triangle may be fainter or brighter, bare tile is bare.
    wide = np.hypot(spread, 0.18)
    none = _log_mixture(score / spread, spread, slip)
    whole = _log_mixture((score - 1.0) / wide, wide, slip)
    odds = np.where(part > LEAST_SHARE, whole - none, 0.0)
    return np.stack([np.zeros_like(odds), odds], axis=1).astype(np.float64)


def _log_mixture(deviation: Floats | Array, spread: Floats | Array, slip: float) -> Array:
    normal = np.exp(-0.5 * np.minimum(np.abs(deviation), 30.0) ** 2) / (spread * np.sqrt(2 * np.pi))
    return np.asarray(np.log((1.0 - slip) * normal + slip / 3.0), dtype=np.float64)
