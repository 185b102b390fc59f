"""Whether a tile carries the triangle: its look and place are learned from the picture's own tiles.

The triangle is printed in a corner between arms. On a bend only the corner between its two arms can hold it, so the
other three corners show what a corner without one looks like under the light of this picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats, Indices, blended, spread_of
from vision.tile_arms import log_mixture
from vision.tile_layout import CORNER_INDEX, CORNER_OF_PATH, CORNER_SIZE, COUNT

SAMPLES = CORNER_SIZE * CORNER_SIZE
POOLED = CORNER_SIZE // 2
_FLAT = CORNER_INDEX.reshape(4, -1)

WIDEST = 0.45
"""A triangle covers less than this part of a corner."""

FEWEST = 3
"""So many tiles must carry it for its look to be learned."""

AMBIGUOUS = 0.12
"""When more corners than this are neither clearly with nor clearly without, the triangle's look is not known."""

STRAYS = 0.04
"""When more corners than this look like nothing known, the filter may miss triangles too."""

FAINTER, BOLDER = 0.17, 0.35
"""How much weaker and stronger than the average a triangle's score is, one standard deviation each."""

DOUBTFUL = 0.15
"""A spread of scores above which the lines' ink is not trusted to be the triangle's."""

LEAST_SHARE = 0.35
"""Part of the triangle's evidence that must be seen for a judgement."""


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """`weights` (3) make one channel of log colours; `shape` (100) is what a triangle adds to a corner there,
    `background` (4, 100) what corners without one look like; `sigma` the spread of the score about 0 without one,
    infinite when the picture shows no clear difference between tiles with and without; `slip` the share of corners
    that may look like either for no known reason."""

    weights: Floats
    shape: Floats
    background: Floats
    sigma: float
    slip: float


NONE = Triangle(
    np.zeros(3, np.float32), np.zeros(SAMPLES, np.float32), np.zeros((4, SAMPLES), np.float32), float("inf"), 1.0
)


def inner_corners(paths: Indices) -> Indices:
    """Index of the corner between a bend's arms (T), -1 for a straight, of paths (T) as in PATHS."""
    return np.asarray(CORNER_OF_PATH[paths])


def learn_triangle(
    tiles: Floats, inked: Floats, ink_weights: Floats, seen: Bools, paths: Indices, trusted: Bools
) -> Triangle:
    """The triangle's look from log colours (3, T, 841) of well-placed tiles whose paths are known where `trusted`.

    It is sought in the lines' own ink first (`inked`, T x 841, made with `ink_weights`), then in any colour.
    """
    inner = inner_corners(paths)
    rows = np.flatnonzero(trusted & (inner >= 0))
    found = _learned(inked[rows][:, _FLAT], ink_weights, seen[rows][:, _FLAT], inner[rows])
    if found.sigma > DOUBTFUL:
        corners, shown = tiles[:, rows][:, :, _FLAT], seen[rows][:, _FLAT]
        weights = _telling_colour(corners, shown, inner[rows])
        other = _learned(blended(corners, weights), weights, shown, inner[rows])
        found = other if other.sigma < found.sigma else found
    return found


def _learned(channel: Floats, weights: Floats, shown: Bools, inner: Indices) -> Triangle:
    """The same from one channel of corners (N, 4, 100) and the inner corner of each tile."""
    for _ in range(3):
        if len(inner) < 2 * FEWEST:
            return NONE
        triangle, with_it = _split(channel, weights, shown.astype(np.float32), inner)
        if triangle is None:
            return NONE
        if np.mean(triangle.shape != 0) < WIDEST and with_it.sum() >= FEWEST:
            return triangle
        # Too wide for a triangle, or too rare: something else lies over these tiles.
        channel, shown, inner = channel[~with_it], shown[~with_it], inner[~with_it]
    return NONE


def _split(channel: Floats, weights: Floats, shown: Floats, inner: Indices) -> tuple[Triangle | None, Bools]:
    everyone = np.arange(len(inner))
    plain = np.ones((len(inner), 4, 1), dtype=np.float32)
    plain[everyone, inner] = 0.0
    channel = channel - channel.mean(axis=2, keepdims=True)
    bare = shown * plain
    background = np.sum(channel * bare, axis=0) / np.maximum(bare.sum(axis=0), 1.0)
    excess = channel - background
    own, own_shown = excess[everyone, inner], shown[everyone, inner]
    energy = _pooled(own * own_shown) ** 2
    # The place where corners differ most from one another, strays apart, is where the triangle lies.
    ordered = np.sort(energy, axis=0)
    low, high = ordered[len(ordered) // 5], ordered[len(ordered) * 17 // 20]
    spot = int(np.argmax(high - low))
    with_it = energy[:, spot] > (high[spot] + low[spot]) / 2
    shape = np.zeros(SAMPLES, dtype=np.float32)
    scores, share = shape, shape
    for _ in range(3):
        if not with_it.any() or with_it.all():
            return None, with_it
        shape = _mean(own[with_it], own_shown[with_it]) - _mean(own[~with_it], own_shown[~with_it])
        shape = _one_piece(shape)
        scores, share = _score(own, own_shown, shape)
        with_it = np.asarray(scores > 0.5)
    if not with_it.any() or with_it.all():
        return None, with_it
    bare_scores, bare_share = _score(excess, shown, shape)
    none = np.concatenate([scores[~with_it & (share > 0.7)], bare_scores[(bare_share > 0.7) & (plain[..., 0] > 0)]])
    if not len(none):
        return None, with_it
    between = float(np.mean((scores > 0.18) & (scores < 0.6) & (share > 0.7)))
    strays = float(np.mean(((scores < -0.4) | (scores > 1.8)) & (share > 0.7)))
    sigma = max(float(spread_of(none, 0)), 0.05) if between < AMBIGUOUS else float("inf")
    slip = strays / 2 if strays > STRAYS else 0.0
    return Triangle(weights, shape, background, sigma if sigma < 0.25 else float("inf"), slip), with_it


def _one_piece(shape: Floats) -> Floats:
    """The shape without its faint parts (noise) and without pieces apart from its strongest (remains of the arms)."""
    square = shape.reshape(CORNER_SIZE, CORNER_SIZE)
    peak = int(np.argmax(np.abs(cv2.blur(square, (3, 3), borderType=cv2.BORDER_CONSTANT))))
    sign = np.sign(square.ravel()[peak])
    strong = (square * sign > 0.35 * float((square * sign).max())).astype(np.uint8)
    _, labels = cv2.connectedComponents(strong, connectivity=8)
    piece = labels.ravel() == labels.ravel()[peak]
    return np.where(piece & (strong.ravel() > 0), shape, 0.0).astype(np.float32)


def _pooled(corners: Floats) -> Floats:
    """Means of 2 x 2 samples of corners (N, 100): (N, 25)."""
    square = corners.reshape(-1, CORNER_SIZE, CORNER_SIZE)
    square = square[:, 0::2] + square[:, 1::2]
    return np.asarray((square[:, :, 0::2] + square[:, :, 1::2]).reshape(-1, POOLED * POOLED) / 4.0)


def _telling_colour(corners: Floats, shown: Bools, inner: Indices) -> Floats:
    """The mix of log colours (3) in which inner corners differ most from one another, against what plain ones do."""
    if not len(inner):
        return np.zeros(3, dtype=np.float32)
    everyone = np.arange(len(inner))
    middle_of = corners - corners.mean(axis=3, keepdims=True)
    pools = _pooled((middle_of * shown).reshape(-1, SAMPLES)).reshape(3, -1, 4, POOLED * POOLED)
    pools = np.ascontiguousarray(pools.transpose(1, 2, 3, 0))
    mine = pools[everyone, inner]
    others = np.delete(pools.reshape(-1, POOLED * POOLED, 3), everyone * 4 + inner, axis=0)
    others = others - others.mean(axis=0)
    covariance = np.einsum("nsc,nsd->cd", others, others) / max(others.shape[0] * others.shape[1], 1)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance + 1e-4 * np.eye(3))).astype(np.float32)
    mine = (mine - mine.mean(axis=0)) @ whiten.T
    spot = mine[:, int(np.argmax(spread_of(mine, 0).sum(axis=-1)))]
    _, _, axes = np.linalg.svd(spot, full_matrices=False)
    return np.asarray(axes[0] @ whiten, dtype=np.float32)


def score_corners(tiles: Floats, seen: Bools, triangle: Triangle) -> tuple[Floats, Floats]:
    """How much of a triangle each of the four corners shows (T, 4; 0 none, 1 whole) and the share that is seen."""
    if not math.isfinite(triangle.sigma):
        nothing = np.zeros((len(tiles), 4), np.float32)
        return nothing, nothing
    channel = blended(tiles, triangle.weights)[:, _FLAT]
    return _score(channel - triangle.background, seen[:, _FLAT].astype(np.float32), triangle.shape)


def printed_by(triangle: Triangle) -> Bools:
    """Samples of a tile (6, 841) that a triangle may cover, with a margin of one sample: in each of the four corners,
    in any of them, and none."""
    covered = cv2.dilate((triangle.shape != 0).astype(np.uint8).reshape(CORNER_SIZE, CORNER_SIZE), np.ones((3, 3)))
    printed = np.zeros((6, COUNT * COUNT), dtype=bool)
    np.put_along_axis(printed[:4], _FLAT, np.broadcast_to(covered.ravel() > 0, _FLAT.shape), axis=1)
    printed[4] = printed[:4].any(axis=0)
    return printed


def _score(excess: Floats, shown: Floats, shape: Floats) -> tuple[Floats, Floats]:
    # Where part of a corner is hidden the filter stays blind to the corner's brightness: its weights add up to nothing.
    bank = np.array([np.ones_like(shape), shape, shape * shape]).T
    seen, found = shown @ bank, (shown * excess) @ bank[:, :2]
    count, weight, square = seen[..., 0], seen[..., 1], seen[..., 2]
    level, match = found[..., 0], found[..., 1]
    level_weight = weight / np.maximum(count, np.float32(1.0))
    expected = square - level_weight * weight
    total = float(shape @ shape) - float(shape.sum()) ** 2 / len(shape)
    share = np.minimum(np.maximum(expected / max(total, 1e-9), 0.0), 1.0)
    return (match - level_weight * level) / np.maximum(expected, 0.02 * max(total, 1e-9)), share


def _mean(values: Floats, shown: Floats) -> Floats:
    return np.asarray(np.sum(values * shown, axis=0) / np.maximum(shown.sum(axis=0), 1.0), dtype=np.float32)


def triangle_log_likelihoods(scores: Floats, share: Floats, paths: Indices, triangle: Triangle, slip: float) -> Array:
    """Log-likelihoods (T, 2) of no triangle and triangle; on a straight tile the likeliest corner counts."""
    if not math.isfinite(triangle.sigma):
        return np.zeros((len(paths), 2))
    rows, inner = np.arange(len(paths)), inner_corners(paths)
    corner = np.where(inner < 0, scores.argmax(axis=1), inner)
    score, part = scores[rows, corner], share[rows, corner]
    spread = max(triangle.sigma, 0.08) / np.sqrt(np.maximum(part, 0.02))
    slip = max(slip, triangle.slip)
    # Paint varies in strength from tile to tile: a triangle may be fainter or brighter, bare tile is bare.
    wide = np.hypot(spread, np.where(score < 1.0, FAINTER, BOLDER))
    spreads = np.array([spread, wide])
    none, whole = log_mixture(np.array([score, score - 1.0]) / spreads, spreads, slip)
    odds = (whole - none) * (part > LEAST_SHARE)
    return np.array([np.zeros_like(odds), odds], dtype=np.float64).T
