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


_LOBE = np.isin(np.arange(ARM_LENGTH * WIDTH) % WIDTH, LOBES).astype(np.float32)
"""1 where a sample of a strip lies beside any line."""


@dataclass(frozen=True, slots=True, eq=False)
class Arms:
    """Templates of strips on well-placed tiles, in the ink's channel: what must be summed of a strip (`bank`, 104 x 4:
    1, the line's matched filter, what a line adds, the product of these two), the `background` (4, 104), and the
    spread of the score of bare arms (`sigma`) and of lines (`line_sigma`)."""

    bank: Floats
    background: Floats
    sigma: float
    line_sigma: float


def cut_strips(inked: Floats, seen: Bools) -> tuple[Floats, Floats]:
    """The arms' strips (T, 4, 104) of the ink channel (T, 841), background at zero, and 1 where a sample is seen."""
    strips, shown = inked[:, _STRIPS], seen[:, _STRIPS].astype(np.float32)
    base = ((strips * shown) @ _LOBE) / np.maximum(shown @ _LOBE, np.float32(1.0))
    return strips - base[..., None], shown


_STRIPS = ARM_INDEX.reshape(4, -1)


def learn_arms(strips: Floats, shown: Floats, arms: Bools) -> Arms:
    """Templates from the strips of well-placed tiles and a first look at which arms (T, 4) carry a line."""
    enough = shown.sum(axis=2) > 0.8 * ARM_LENGTH * WIDTH
    lines, empties = arms & enough, ~arms & enough
    bare = shown * empties[..., None]
    background = (strips * bare).sum(axis=0) / np.maximum(bare.sum(axis=0), 1.0)
    excess = strips - background
    of_lines, lines_shown, of_empties, empties_shown = excess[lines], shown[lines], excess[empties], shown[empties]
    line = _mean(of_lines, lines_shown)
    count = lines_shown.sum(axis=0) + empties_shown.sum(axis=0)
    squares = _squares(of_lines - line, lines_shown) + _squares(of_empties, empties_shown)
    variance = squares / np.maximum(count, 1.0) + 1e-6
    weight = line / (variance + middle(variance, 0))
    weight = (weight - weight.mean()).astype(np.float32)
    bank = np.array([np.ones_like(weight), weight, line, weight * line]).T
    scores, share = score_arms(strips, shown, Arms(bank, background, 1.0, 1.0))
    good = share > 0.8
    of_lines, of_empties = scores[lines & good] - 1.0, scores[empties & good]
    off = np.concatenate([of_lines, of_empties])
    sigma = max(float(spread_of(off, 0)), 0.05) if len(off) else 1.0
    line_sigma = min(max(float(spread_of(of_lines, 0)), 0.15), 0.25) if len(of_lines) else 1.0
    return Arms(bank, background, sigma, line_sigma)


def score_arms(strips: Floats, shown: Floats, templates: Arms) -> tuple[Floats, Floats]:
    """How much of a line each arm shows (T, 4; 0 none, 1 a line) and the share of the evidence that is seen (T, 4)."""
    # Where part of a strip is hidden the filter stays blind to the strip's brightness: its weights add up to nothing.
    sums, excess = shown @ templates.bank, ((strips - templates.background) * shown) @ templates.bank[:, :2]
    count, sum_of, lines, both = (sums[..., i] for i in range(4))
    level, match = excess[..., 0], excess[..., 1]
    total = float(templates.bank[:, 3].sum())
    level_weight = sum_of / np.maximum(count, np.float32(1.0))
    expected = both - level_weight * lines
    response = match - level_weight * level
    share = np.minimum(np.maximum(expected / total, 0.0), 1.0) if total > 0 else np.zeros_like(expected)
    return response / np.maximum(expected, 0.02 * max(total, 1e-9)), share


def _squares(values: Floats, shown: Floats) -> Floats:
    return np.asarray((values * values * shown).sum(axis=0), dtype=np.float32)


def _mean(values: Floats, shown: Floats) -> Floats:
    if not len(values):
        return np.zeros(ARM_LENGTH * WIDTH, dtype=np.float32)
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
    paths = line @ _WITH + none @ _WITHOUT
    # What lies over a tile shows neither lines nor bare tile: such scores may not add up to a path by default.
    covered = math.log(slip * 10.0) - 4 * math.log(3.0)
    return np.asarray(np.logaddexp(paths, covered), dtype=np.float64)


_WITH, _WITHOUT = ARM_OF_PATH.T.astype(np.float64), 1.0 - ARM_OF_PATH.T


def log_mixture(deviation: Floats | Array, spread: Floats | Array, slip: float) -> Array:
    """Log density of scores that deviate by so many spreads: normal, but for a share `slip` spread over three units."""
    normal = np.exp(-0.5 * np.minimum(deviation * deviation, 900.0)) / (spread * math.sqrt(2 * math.pi))
    return np.asarray(np.log((1.0 - slip) * normal + slip / 3.0), dtype=np.float64)
