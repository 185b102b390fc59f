"""Which two arms of each tile carry the path: the line's look is learned from the picture's own 35 tiles.

Every tile has exactly two arms, so half of all strips show the line and half do not; that alone tells what a line
looks like, whatever its colour, width or number of strokes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats
from vision.tile_layout import ARM_HALF, ARM_INDEX, ARM_LENGTH, ARM_OF_PATH, LOBES, MIDDLE, STEP_MM

SHIFTS = np.arange(-3, 4)
"""Sideways shifts of a line, in samples, that the coarse search tries: up to 4.5 mm."""

WIDTH = 2 * ARM_HALF + 1
HALVES = (slice(0, ARM_LENGTH // 2), slice(ARM_LENGTH // 2, ARM_LENGTH))
HALF_MM = tuple(float(np.mean([(MIDDLE - 1 - r) * STEP_MM for r in range(ARM_LENGTH)[h]])) for h in HALVES)
"""Distance of the outer and inner half of a strip from the tile's centre."""


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """How lines stand out: `weights` (3) turn log colours into the one channel in which they show best, `profile` is
    the line's cross-section there (17 samples, zero mean), `background` what strips without a line look like on each
    side (4, 2 halves, 17)."""

    weights: Floats
    profile: Floats
    background: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Coarse:
    """First look at every tile: which arms seem to carry a line (T, 4), and the tile's offset (T, 3: mm, mm, rad)."""

    arms: Bools
    offsets: Array


def learn_ink(tiles: Floats) -> tuple[Ink, Coarse] | None:
    """The look of lines and a first look at the tiles, from log colours (T, 1521, 3); None when nothing stands out."""
    halves = _halves(tiles)
    base = halves[:, :, :, LOBES].mean(axis=3, keepdims=True)
    halves = halves - base
    mean = halves.mean(axis=(0, 1, 2))
    noise = halves[:, :, :, LOBES].reshape(-1, 3)
    covariance = noise.T @ noise / len(noise) + 1e-5 * np.eye(3, dtype=np.float32)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance)).astype(np.float32)
    _, strength, axes = np.linalg.svd((mean - mean[LOBES].mean(axis=0)) @ whiten.T, full_matrices=False)
    if not strength[0] > 1e-6:
        return None
    weights = (axes[0] @ whiten).astype(np.float32)
    values = halves @ weights
    profile = mean @ weights
    # Lines are printed symmetrically about the arm's axis; shadows are not.
    profile = (profile + profile[::-1]) / 2
    background = np.zeros((4, 2, WIDTH), dtype=np.float32)
    arms = np.zeros((len(tiles), 4), dtype=bool)
    for _ in range(4):
        profile = profile - profile.mean()
        scores, shifts, aligned = _matched(values - background, profile)
        arms = _two_best(scores)
        profile = aligned[arms].mean(axis=(0, 1))
        background = np.stack(
            [np.median(values[~arms[:, a], a], axis=0) if (~arms[:, a]).any() else background[a] for a in range(4)]
        ).astype(np.float32)
    profile = (profile - profile.mean()).astype(np.float32)
    if not np.linalg.norm(profile) > 1e-6:
        return None
    ink = Ink(weights, profile, background)
    scores, shifts, _ = _matched(values - background, profile)
    return ink, Coarse(arms, _offsets(np.repeat(arms[:, :, None], 2, axis=2), shifts))


def coarse_look(tiles: Floats, ink: Ink, seen: Bools) -> Coarse:
    """A first look with an ink already known; samples that are not `seen` (T, 1521) count for nothing."""
    halves = _halves(tiles) @ ink.weights
    halves = halves - halves[..., LOBES].mean(axis=-1, keepdims=True)
    open_ = np.stack([seen[:, ARM_INDEX][:, :, h].mean(axis=(2, 3)) for h in HALVES], axis=2) > 0.85
    scores, shifts, _ = _matched((halves - ink.background) * open_[..., None], ink.profile)
    arms = _two_best(scores)
    return Coarse(arms, _offsets(arms[:, :, None] & open_, shifts))


def _halves(tiles: Floats) -> Floats:
    strips = tiles[:, ARM_INDEX]
    return np.stack([strips[:, :, h].mean(axis=2) for h in HALVES], axis=2)


def _matched(values: Floats, profile: Floats) -> tuple[Floats, Array, Floats]:
    """Best match of each half strip (T, 4, 2, 17) with the profile over all shifts: the score of each arm (T, 4), the
    shifts in mm (T, 4, 2), and the half strips moved back by whole samples."""
    unit = profile / max(float(np.linalg.norm(profile)), 1e-9)
    bank = np.stack([_rolled(unit, int(s)) for s in SHIFTS], axis=1).astype(np.float32)
    match = values @ bank
    best = match.argmax(axis=-1)
    columns = np.arange(WIDTH)[None] + SHIFTS[:, None]
    picked = np.clip(columns, 0, WIDTH - 1)[best]
    aligned = np.take_along_axis(values, picked, axis=-1)
    inner = np.clip(best, 1, len(SHIFTS) - 2)[..., None]
    left, centre, right = (np.take_along_axis(match, inner + d, axis=-1)[..., 0] for d in (-1, 0, 1))
    bend = left - 2 * centre + right
    fine = np.where(bend < -1e-9, 0.5 * (left - right) / np.where(bend < -1e-9, bend, -1.0), 0.0)
    shifts = (SHIFTS[inner[..., 0]] + np.clip(fine, -1.0, 1.0)) * STEP_MM
    return match.max(axis=-1).sum(axis=-1), shifts, aligned


def _rolled(profile: Floats, shift: int) -> Floats:
    moved = np.zeros_like(profile)
    if shift >= 0:
        moved[shift:] = profile[: len(profile) - shift]
    else:
        moved[:shift] = profile[-shift:]
    return np.asarray(moved - moved.mean(), dtype=np.float32)


def _two_best(scores: Floats) -> Bools:
    arms = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(arms, np.argsort(-scores, axis=1)[:, :2], True, axis=1)
    return arms


# Sideways (clockwise across the arm) is +x for N, -y for E, -x for S, +y for W; a point d mm out on arm a moves
# sideways by -d * angle for every arm (counter-clockwise angles).
_SIDE = np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]])


def _offsets(used: Bools, shifts: Array) -> Array:
    """Least squares of each tile's offset (mm, mm, rad) from sideways shifts (T, 4, 2 halves) where `used`."""
    rows = np.array([[[_SIDE[a, 0], _SIDE[a, 1], -d] for d in HALF_MM] for a in range(4)])
    design = (rows[None] * used[..., None]).reshape(len(used), 8, 3)
    target = (shifts * used).reshape(len(used), 8, 1)
    # Without evidence a tile lies where it should: 2.5 mm and 4 degrees of spread against 0.7 mm of matching error.
    prior = np.diag([0.7 / 2.5, 0.7 / 2.5, 0.7 / np.radians(4.0)]) ** 2
    gram = design.transpose(0, 2, 1) @ design + prior
    return np.linalg.solve(gram, design.transpose(0, 2, 1) @ target)[..., 0]


@dataclass(frozen=True, slots=True, eq=False)
class Arms:
    """Templates of strips on well-placed tiles, in the ink's channel: `line` (11, 17) what a line adds, `weight` its
    matched filter, `background` (4, 11, 17), and the spread of the score."""

    line: Floats
    weight: Floats
    background: Floats
    sigma: float


def learn_arms(inked: Floats, seen: Bools, arms: Bools) -> Arms:
    """Templates from the ink channel (T, 1521) of well-placed tiles, given which samples are seen and a first look."""
    strips, shown = _strips(inked, seen)
    enough = shown.mean(axis=(2, 3)) > 0.8
    lines, empties = arms & enough, ~arms & enough
    background = np.stack([_mean(strips[:, a], empties[:, a], shown[:, a]) for a in range(4)])
    excess = strips - background
    line = _mean(excess.reshape(-1, ARM_LENGTH, WIDTH), lines.ravel(), shown.reshape(-1, ARM_LENGTH, WIDTH))
    rest = np.where(lines[:, :, None, None], excess - line, excess)[(lines | empties)]
    kept = shown[(lines | empties)]
    variance = np.sum(rest**2 * kept, axis=0) / np.maximum(kept.sum(axis=0), 1) + 1e-6
    weight = line / (variance + float(np.median(variance)))
    weight = weight - weight.mean()
    templates = Arms(line, weight.astype(np.float32), background, 1.0)
    scores, share = score_arms(inked, seen, templates)
    good = share > 0.8
    spread = np.concatenate([scores[lines & good] - 1.0, scores[empties & good]])
    sigma = 1.4826 * float(np.median(np.abs(spread))) if len(spread) else 1.0
    return Arms(line, templates.weight, background, max(sigma, 0.05))


def score_arms(inked: Floats, seen: Bools, templates: Arms) -> tuple[Floats, Floats]:
    """How much of a line each arm shows (T, 4; 0 none, 1 a line) and the share of the evidence that is seen (T, 4)."""
    strips, shown = _strips(inked, seen)
    power = templates.weight * templates.line
    total = float(power.sum())
    weights = templates.weight * shown
    # Where part of a strip is hidden the filter must stay blind to the strip's brightness.
    weights = weights - shown * (weights.sum(axis=(2, 3)) / np.maximum(shown.sum(axis=(2, 3)), 1))[..., None, None]
    response = np.sum(weights * (strips - templates.background), axis=(2, 3))
    expected = np.sum(weights * templates.line, axis=(2, 3))
    share = np.clip(expected / total, 0.0, 1.0) if total > 0 else np.zeros_like(expected)
    return response / np.maximum(expected, 0.02 * max(total, 1e-9)), share


def _strips(inked: Floats, seen: Bools) -> tuple[Floats, Bools]:
    strips, shown = inked[:, ARM_INDEX], seen[:, ARM_INDEX]
    lobes = shown[..., LOBES]
    count = np.maximum(lobes.sum(axis=(2, 3)), 1)
    base = np.sum(strips[..., LOBES] * lobes, axis=(2, 3)) / count
    return strips - base[..., None, None], shown


def _mean(values: Floats, which: Bools, shown: Bools) -> Floats:
    if not which.any():
        return np.zeros(values.shape[1:], dtype=np.float32)
    kept = shown[which]
    return np.asarray(np.sum(values[which] * kept, axis=0) / np.maximum(kept.sum(axis=0), 1), dtype=np.float32)


def path_log_likelihoods(scores: Floats, share: Floats, sigma: float, slip: float) -> Array:
    """Log-likelihood (T, 6) of each path in the order of PATHS.

    An arm's score is normal about 1 (line) or 0 (none), its spread growing as less of it is seen; `slip` is the share
    of scores that follow neither, so that no single arm can be worth more than about -log(slip).
    """
    spread = np.maximum(sigma, 0.06) / np.sqrt(np.clip(share, 0.02, 1.0))
    # Print and light vary in strength over the board: a line may be fainter or bolder, bare tile is bare.
    wide = np.hypot(spread, 0.15)
    line = _log_mixture((scores - 1.0) / wide, wide, slip)
    none = _log_mixture(scores / spread, spread, slip)
    paths = line @ ARM_OF_PATH.T + none @ (~ARM_OF_PATH).T
    # What lies over a tile shows neither lines nor bare tile: such scores may not add up to a path by default.
    covered = np.log(slip * 10.0) - len(ARM_OF_PATH[0]) * np.log(3.0)
    return np.asarray(np.logaddexp(paths, covered), dtype=np.float64)


def _log_mixture(deviation: Floats, spread: Floats, slip: float) -> Array:
    normal = np.exp(-0.5 * np.minimum(np.abs(deviation), 30.0) ** 2) / (spread * np.sqrt(2 * np.pi))
    return np.asarray(np.log((1.0 - slip) * normal + slip / 3.0), dtype=np.float64)
