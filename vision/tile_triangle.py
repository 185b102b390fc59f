"""Whether a tile carries the triangle: its look and place are learned from the picture's own tiles.

The triangle is printed in a corner between arms. On a bend only the corner between its two arms can hold it, so the
other three corners show what a corner without one looks like under the light of this picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats
from vision.tile_layout import CORNER_INDEX, CORNER_OF_PATH, CORNER_SIZE

SAMPLES = CORNER_SIZE * CORNER_SIZE


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """`shape` (225, 3): what a triangle adds to a corner, in whitened log colours; `whiten` (3, 3); `background`
    (4, 225, 3) of the four corners; `sigma`, the spread of the score about 0 (none) and 1 (triangle), infinite when
    the picture shows no clear difference between tiles with and without."""

    shape: Floats
    whiten: Floats
    background: Floats
    sigma: float


def learn_triangle(tiles: Floats, seen: Bools, paths: list[str], trusted: Bools) -> Triangle:
    """The triangle's look from log colours (T, 1521, 3) of well-placed tiles whose paths are known (`trusted`)."""
    corners, shown = _corners(tiles, seen)
    bends = np.array([CORNER_OF_PATH.get(p, -1) for p in paths])
    usable = trusted & (bends >= 0)
    inner = np.zeros((len(paths), 4), dtype=bool)
    inner[np.flatnonzero(bends >= 0), bends[bends >= 0]] = True
    plain = (usable[:, None] & ~inner)[..., None] & shown
    count = np.maximum(plain.sum(axis=0), 1)[..., None]
    background = np.sum(corners * plain[..., None], axis=0) / count
    rest = corners - background
    noise = rest[plain]
    if len(noise) < 100 or usable.sum() < 6:
        return Triangle(np.zeros((SAMPLES, 3), np.float32), np.eye(3, dtype=np.float32), background, np.inf)
    covariance = np.cov(noise.T) + 1e-4 * np.eye(3)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance)).astype(np.float32)
    mine = rest[np.flatnonzero(usable), bends[usable]] @ whiten.T
    mine_shown = shown[np.flatnonzero(usable), bends[usable]]
    shape, split = _split(mine, mine_shown)
    templates = Triangle(shape, whiten, background.astype(np.float32), 1.0)
    scores, share = score_corners(tiles, seen, templates)
    own, own_share = scores[np.flatnonzero(usable), bends[usable]], share[np.flatnonzero(usable), bends[usable]]
    clear = own_share > 0.7
    empty = scores[usable[:, None] & ~inner & (share > 0.7)]
    spread = np.concatenate([own[split & clear] - 1.0, own[~split & clear], empty])
    sigma = max(1.4826 * float(np.median(np.abs(spread))), 0.05) if len(spread) else np.inf
    return Triangle(shape, whiten, templates.background, sigma if sigma < 0.3 and split.any() else np.inf)


def _split(mine: Floats, shown: Bools) -> tuple[Floats, Bools]:
    """Two groups of corners (N, 225, 3) and what the one has more than the other, found from the strongest blob."""
    flat = np.where(shown[..., None], mine, 0.0).reshape(-1, CORNER_SIZE, CORNER_SIZE, 3)
    blurred = sum(
        np.roll(np.roll(flat, dy, axis=1), dx, axis=2) for dy in (-1, 0, 1) for dx in (-1, 0, 1)
    ) / np.float32(9.0)
    energy = np.sum(np.asarray(blurred)[:, 1:-1, 1:-1] ** 2, axis=-1).reshape(len(mine), -1)
    # The place where corners differ most from one another is where the triangle lies.
    spot = int(np.argmax(np.percentile(energy, 75, axis=0) - np.percentile(energy, 25, axis=0)))
    with_it = energy[:, spot] > (energy[:, spot].max() + energy[:, spot].min()) / 2
    shape = np.zeros((SAMPLES, 3), dtype=np.float32)
    for _ in range(4):
        if not with_it.any() or with_it.all():
            break
        kept = shown[..., None]
        yes = np.sum(mine[with_it] * kept[with_it], axis=0) / np.maximum(kept[with_it].sum(axis=0), 1)
        no = np.sum(mine[~with_it] * kept[~with_it], axis=0) / np.maximum(kept[~with_it].sum(axis=0), 1)
        shape = (yes - no).astype(np.float32)
        shape = _concentrated(shape)
        power = np.sum(shape**2 * kept, axis=(1, 2))
        scores = np.sum(mine * shape * kept, axis=(1, 2)) / np.maximum(power, 1e-9)
        with_it = scores > 0.5
    return shape, with_it


def _concentrated(shape: Floats) -> Floats:
    """The shape with its faint parts (noise, remains of the arms) cut away."""
    strength = np.sqrt(np.sum(shape**2, axis=-1, keepdims=True))
    return np.asarray(np.where(strength > 0.35 * strength.max(), shape, 0.0), dtype=np.float32)


def score_corners(tiles: Floats, seen: Bools, templates: Triangle) -> tuple[Floats, Floats]:
    """How much of a triangle each of the four corners shows (T, 4; 0 none, 1 whole) and the share that is seen."""
    corners, shown = _corners(tiles, seen)
    excess = (corners - templates.background) @ templates.whiten.T
    shape = templates.shape
    used = np.any(shape != 0, axis=-1)
    if not used.any():
        return np.zeros(shown.shape[:2], np.float32), np.zeros(shown.shape[:2], np.float32)
    power = np.sum(shape**2, axis=-1)
    seen_power = shown @ power
    response = np.sum(excess[:, :, used] * shape[used] * shown[:, :, used, None], axis=(2, 3))
    share = seen_power / power.sum()
    return response / np.maximum(seen_power, 0.02 * power.sum()), share


def _corners(tiles: Floats, seen: Bools) -> tuple[Floats, Bools]:
    index = CORNER_INDEX.reshape(4, -1)
    corners, shown = tiles[:, index], seen[:, index]
    middle = np.median(corners, axis=2, keepdims=True)
    return corners - middle, shown


def triangle_log_likelihoods(scores: Floats, share: Floats, paths: list[str], sigma: float, slip: float) -> Array:
    """Log-likelihoods (T, 2) of no triangle and triangle; on a straight tile the likeliest corner counts."""
    rows = np.arange(len(paths))
    corner = np.array([CORNER_OF_PATH.get(p, -1) for p in paths])
    corner = np.where(corner < 0, scores.argmax(axis=1), corner)
    score, part = scores[rows, corner], np.clip(share[rows, corner], 0.0, 1.0)
    if not np.isfinite(sigma):
        return np.zeros((len(paths), 2))
    spread = sigma / np.sqrt(np.clip(part, 0.02, 1.0))
    # Paint varies in strength from tile to tile: a triangle may be fainter or brighter, bare tile is bare.
    wide = np.hypot(spread, 0.18)
    none = _log_mixture(score / spread, spread, slip)
    whole = _log_mixture((score - 1.0) / wide, wide, slip)
    odds = np.where(part > 0.25, whole - none, 0.0)
    return np.stack([np.zeros_like(odds), odds], axis=1).astype(np.float64)


def _log_mixture(deviation: Floats, spread: Floats, slip: float) -> Array:
    normal = np.exp(-0.5 * np.minimum(np.abs(deviation), 30.0) ** 2) / (spread * np.sqrt(2 * np.pi))
    return np.asarray(np.log((1.0 - slip) * normal + slip / 3.0), dtype=np.float64)
