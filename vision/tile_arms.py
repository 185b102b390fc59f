"""Which two arms of each well-placed tile carry the path: matched filters learned from the picture's own tiles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats, middle, spread_of
from vision.tile_layout import ARM_HALF, ARM_INDEX, ARM_LENGTH, ARM_OF_PATH, LOBES

WIDTH = 2 * ARM_HALF + 1
LEAST_SHARE = 0.3
"""Part of an arm's evidence that must be seen for a judgement."""


@dataclass(frozen=True, slots=True, eq=False)
class Arms:
    """Templates of strips on well-placed tiles, in the ink's channel: `line` (8, 13) what a line adds, `weight` its
    matched filter, `background` (4, 8, 13), and the spread of the score of bare arms (`sigma`) and of
    lines (`line_sigma`)."""

    line: Floats
    weight: Floats
    background: Floats
    sigma: float
    line_sigma: float


def cut_strips(inked: Floats, seen: Bools) -> tuple[Floats, Floats]:
    """The arms' strips (T, 4, 8, 13) of the ink channel (T, 841), background at zero, and 1 where a sample is seen."""
    strips, shown = inked[:, ARM_INDEX], seen[:, ARM_INDEX].astype(np.float32)
    lobes = shown[..., LOBES]
    base = np.sum(strips[..., LOBES] * lobes, axis=(2, 3)) / np.maximum(lobes.sum(axis=(2, 3)), 1.0)
    return strips - base[..., None, None], shown


def learn_arms(strips: Floats, shown: Floats, arms: Bools) -> Arms:
    """Templates from the strips of well-placed tiles and a first look at which arms (T, 4) carry a line."""
    enough = shown.reshape(len(shown), 4, -1).sum(axis=2) > 0.8 * ARM_LENGTH * WIDTH
    lines, empties = arms & enough, ~arms & enough
    bare = shown * empties[..., None, None]
    background = np.einsum("tahw,tahw->ahw", strips, bare) / np.maximum(bare.sum(axis=0), 1.0)
    excess = strips - background
    line = _mean(excess[lines], shown[lines])
    rest = np.concatenate([excess[lines] - line, excess[empties]])
    kept = np.concatenate([shown[lines], shown[empties]])
    variance = np.sum(rest * rest * kept, axis=0) / np.maximum(kept.sum(axis=0), 1.0) + 1e-6
    weight = line / (variance + middle(variance.ravel(), 0))
    weight = (weight - weight.mean()).astype(np.float32)
    scores, share = score_arms(strips, shown, Arms(line, weight, background, 1.0, 1.0))
    good = share > 0.8
    of_lines, of_empties = scores[lines & good] - 1.0, scores[empties & good]
    off = np.concatenate([of_lines, of_empties])
    sigma = max(float(spread_of(off, 0)), 0.05) if len(off) else 1.0
    line_sigma = min(max(float(spread_of(of_lines, 0)), 0.15), 0.25) if len(of_lines) else 1.0
    return Arms(line, weight, background, sigma, line_sigma)


def score_arms(strips: Floats, shown: Floats, templates: Arms) -> tuple[Floats, Floats]:
    """How much of a line each arm shows (T, 4; 0 none, 1 a line) and the share of the evidence that is seen (T, 4)."""
    weight, line, size = templates.weight.ravel(), templates.line.ravel(), ARM_LENGTH * WIDTH
    total = float(weight @ line)
    # Where part of a strip is hidden the filter stays blind to the strip's brightness: its weights add up to nothing.
    bank = np.array([np.ones_like(weight), weight, line, weight * line]).T
    count, sum_of, lines, both = (shown.reshape(-1, size) @ bank).T
    level, match, _, _ = (((strips - templates.background) * shown).reshape(-1, size) @ bank).T
    level_weight = sum_of / np.maximum(count, 1.0)
    expected = both - level_weight * lines
    response = match - level_weight * level
    share = np.minimum(np.maximum(expected / total, 0.0), 1.0) if total > 0 else np.zeros_like(expected)
    scores = response / np.maximum(expected, 0.02 * max(total, 1e-9))
    return scores.reshape(strips.shape[:2]), share.reshape(strips.shape[:2])


def _mean(values: Floats, shown: Floats) -> Floats:
    if not len(values):
        return np.zeros((ARM_LENGTH, WIDTH), dtype=np.float32)
    return np.asarray(np.sum(values * shown, axis=0) / np.maximum(shown.sum(axis=0), 1.0), dtype=np.float32)


def path_log_likelihoods(scores: Floats, share: Floats, arms: Arms, slip: float) -> Array:
    """Log-likelihood (T, 6) of each path in the order of PATHS.

    An arm's score is normal about 1 (line) or 0 (none), its spread growing as less of it is seen; `slip` is the share
    of scores that follow neither, so that no single arm can be worth more than about -log(slip).
    """
    spread = max(arms.sigma, 0.06) / np.sqrt(np.maximum(share, 0.02))
    # Print and light vary in strength over the board: a line may be fainter or bolder, bare tile is bare.
    wide = np.array([np.hypot(spread, arms.line_sigma), spread])
    both = log_mixture(np.array([scores - 1.0, scores]) / wide, wide, slip)
    # Of an arm that is hardly seen nothing follows; that every tile has two arms fills the gap.
    line, none = np.where(share > LEAST_SHARE, both, -math.log(3.0))
    paths = line @ ARM_OF_PATH.T + none @ (~ARM_OF_PATH).T
    # What lies over a tile shows neither lines nor bare tile: such scores may not add up to a path by default.
    covered = math.log(slip * 10.0) - len(ARM_OF_PATH[0]) * math.log(3.0)
    return np.asarray(np.logaddexp(paths, covered), dtype=np.float64)


def log_mixture(deviation: Floats | Array, spread: Floats | Array, slip: float) -> Array:
    """Log density of scores that deviate by so many spreads: normal, but for a share `slip` spread over three units."""
    normal = np.exp(-0.5 * np.minimum(deviation * deviation, 900.0)) / (spread * math.sqrt(2 * math.pi))
    return np.asarray(np.log((1.0 - slip) * normal + slip / 3.0), dtype=np.float64)
