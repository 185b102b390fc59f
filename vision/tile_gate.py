"""Where something foreign (a hand, a sleeve) lies over the tiles: what neither bare tile nor print can look like.

Every board of tiles has one bare colour, lit smoothly. Small blocks of samples that leave it, and are no print, pawn
or door, are foreign; where many hang together a hand is over the board, and every tile it touches is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from vision.sampling import Bools, Floats, Indices, middle, solved, spread_of
from vision.tile_layout import ARM_OF_PATH, COUNT, GRID

BLOCKS = COUNT // 2
"""Blocks of 2 x 2 samples along a tile's side; the last row and column of samples lie on the edge and are dropped."""

CHROMA_LIMIT, LIGHT_LIMIT = 5.0, 6.0
"""Deviations, in spreads of this picture's bare tiles, from which a block is foreign."""

LEAST_SPREAD = np.array([0.018, 0.020, 0.07], dtype=np.float32)
LEAST_COARSE = np.array([0.014, 0.016, 0.06], dtype=np.float32)
"""Spreads below which no picture's bare tiles are trusted to lie, for small and for large blocks."""
COARSE_STRICTNESS = 0.75
"""Large blocks must leave the usual by more: less of what is wrong with them is noise."""

BESIDE = 1
"""So many blocks (of 4 mm) about a hand count as under it, where there is a trace of it."""

FEW, MANY = 8, 14
"""Foreign blocks on one tile that hide it alone; and together, on it and beside it, that make a hand."""
CORNER, TRACE = 2, 3
"""Blocks of a hand that hide a tile (one is 0.5 % of it); and foreign blocks anywhere on a tile that are a trace."""

_X, _Y = GRID.points_mm.T
_NEAR_EDGE = (np.abs(_X) > 27.0) | (np.abs(_Y) > 27.0)
_ON_ARM = np.stack(
    [
        (np.abs(_X) < 6.5) & (_Y > 0),
        (np.abs(_Y) < 6.5) & (_X > 0),
        (np.abs(_X) < 6.5) & (_Y < 0),
        (np.abs(_Y) < 6.5) & (_X < 0),
    ]
)
PRINTED = np.stack([_ON_ARM[arms].any(axis=0) for arms in ARM_OF_PATH]) | _NEAR_EDGE
"""Samples that may carry a line, for each of the six paths: (6, 841); the rim counts as such."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What bare blocks of one size look like about the smooth fit: what differs from it at each block of every tile
    alike (the doors' shadows), `usual` (3, 1, n, n), and the spread about both, `spread` (3, 1, n, n)."""

    usual: Floats
    spread: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BareTiles:
    """The bare tile's opponent log colour over the board: `fit` (6, 3) coefficients over (1, x, y, x^2, xy, y^2) in
    units of 150 mm about `centre`, and the `fine` and `coarse` blocks about it (noise hides less in large ones)."""

    fit: Array
    centre: Array
    fine: Ground
    coarse: Ground


def pooled(tiles: Floats, bare: Bools) -> tuple[Floats, Bools]:
    """Opponent log colours (3, T, 14, 14) of blocks of bare samples (log colours (3, T, 841)), and whether a block has
    enough of them."""
    means, whole = _pooled(tiles.reshape(3, -1, COUNT, COUNT), bare.reshape(-1, COUNT, COUNT))
    means[0::2] -= means[1]
    return means[[2, 0, 1]], whole


def _pooled(values: Floats, known: Bools) -> tuple[Floats, Bools]:
    """Means of the known ones of 2 x 2 values of squares (3, T, n, n): (3, T, n // 2, n // 2), and whether at least two
    of the four are known."""
    some = np.empty((4, *known.shape), dtype=np.float32)
    np.multiply(values, known, out=some[:3])
    some[3] = known
    end = known.shape[-1] // 2 * 2
    pairs = some[..., :end:2, :end] + some[..., 1:end:2, :end]
    sums = pairs[..., ::2] + pairs[..., 1::2]
    return sums[:3] / np.maximum(sums[3], np.float32(1.0)), np.asarray(sums[3] >= 2.0)


def learn_bare(blocks: Floats, whole: Bools, poses: Array) -> BareTiles:
    """The bare tile's colour from blocks (3, T, 14, 14) of all tiles; a hand over some of them does no harm."""
    tiles = len(whole)
    kept = whole[:, ::2, ::2].reshape(tiles, -1)
    some = np.where(kept, blocks[:, :, ::2, ::2].reshape(3, tiles, -1), np.float32(np.inf))
    count = kept.sum(axis=1)
    good = count > 8
    some.sort(axis=2)
    middles = some[:, np.arange(tiles), np.minimum(count // 2, some.shape[2] - 1)].T
    target = np.where(good[:, None], middles, 0.0)
    centre = poses[:, :2].mean(axis=0)
    terms = _terms(poses, centre)
    fit = np.zeros((6, 3))
    # Most tiles agree in colour, whatever lies over the others; brightness may vary over the board.
    odd = np.abs(target - middle(target[good], 0))[:, :2] if good.any() else np.zeros((len(target), 2))
    scale = middle(odd[good], 0) * 1.5 + 0.02 if good.any() else np.ones(2)
    weight = good / np.maximum(1.0, (odd / scale).max(axis=1) / 2.0) ** 4
    for _ in range(3):
        # Brightness may bend over the board, the light's colour only leans.
        for terms_used, channels in ((6, slice(2, 3)), (3, slice(0, 2))):
            part = terms[:, :terms_used] * weight[:, None]
            gram = part.T @ terms[:, :terms_used] + 1e-6 * np.eye(terms_used)
            fit[:terms_used, channels] = solved(gram, part.T @ target[:, channels])
        off = np.abs(target - terms @ fit)
        scale = spread_of(off[good], 0) + 0.01 if good.any() else np.ones(3)
        weight = good / np.maximum(1.0, (off / scale).max(axis=1) / 2.0) ** 4
    plain = weight > 0.2
    if plain.sum() >= len(plain) // 3:
        whole = whole & plain[:, None, None]
    rest = blocks - (terms @ fit).T.astype(np.float32)[:, :, None, None]
    return BareTiles(fit, centre, _ground(rest, whole, LEAST_SPREAD), _ground(*_pooled(rest, whole), LEAST_COARSE))


def _ground(rest: Floats, whole: Bools, least: Floats) -> Ground:
    inside = rest[:, :, ::2, ::2][:, whole[:, ::2, ::2]]
    spread = spread_of(inside, 1) if inside.shape[1] else np.ones(3)
    spread = np.maximum(spread, least).astype(np.float32).reshape(3, 1, 1, 1)
    shown = whole.astype(np.float32)
    each = np.maximum(shown.sum(axis=0), np.float32(1.0))
    usual, held = np.zeros((3, 1, *rest.shape[2:]), dtype=np.float32), rest
    for reach in (np.float32(6.0) * spread, np.float32(3.0) * spread):
        held = np.minimum(np.maximum(rest, usual - reach), usual + reach)
        usual = (held * shown).sum(axis=1, keepdims=True) / each
    held -= usual
    held *= held
    held *= shown
    around = np.sqrt(held.sum(axis=1, keepdims=True) / each)
    return Ground(usual, np.minimum(np.maximum(around, spread), np.float32(2.0) * spread))


def _terms(poses: Array, centre: Array) -> Array:
    x, y = ((poses[:, :2] - centre) / 150.0).T
    return np.array([np.ones_like(x), x, y, x * x, x * y, y * y]).T


def foreign_blocks(
    blocks: Floats, whole: Bools, poses: Array, bare: BareTiles, strictness: float = 1.0
) -> tuple[Bools, Bools]:
    """Which blocks (T, 14, 14) have a colour of their own (or are too bright), and which are only too dark."""
    fit = (_terms(poses, bare.centre) @ bare.fit).T.astype(np.float32)
    rest = blocks - fit[:, :, None, None]
    coloured, dark = _odd(rest, whole, bare.fine, strictness)
    for large, small in zip(
        _odd(*_pooled(rest, whole), bare.coarse, COARSE_STRICTNESS * strictness), (coloured, dark), strict=True
    ):
        if large.any():
            small |= large.repeat(2, axis=1).repeat(2, axis=2) & whole
    return coloured, dark & ~coloured


def _odd(rest: Floats, whole: Bools, ground: Ground, strictness: float) -> tuple[Bools, Bools]:
    off = (rest - ground.usual) * (np.float32(strictness) / ground.spread)
    bright = off[2]
    coloured = (off[0] * off[0] + off[1] * off[1] > CHROMA_LIMIT**2) | (bright > LIGHT_LIMIT)
    return coloured & whole, (bright < -LIGHT_LIMIT) & whole


def hidden_tiles(coloured: Bools, dark: Bools, grid: tuple[int, int], row_column: Indices) -> tuple[Bools, Bools]:
    """Which tiles (T) lie behind something, and which lie behind something or in a deep shadow, from their foreign
    blocks; `row_column` (T, 2) places each tile in the `grid`, row 0 nearest to the first player."""
    own = cv2.reduce(coloured.reshape(len(coloured), -1).view(np.uint8), 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S).ravel()
    behind = np.asarray(own >= FEW)
    if int(own.sum()) + np.count_nonzero(dark) < MANY:
        return behind, behind
    # Blocks run from north to south, rows of the board from south to north.
    place = (grid[0] - 1 - row_column[:, 0], row_column[:, 1])
    canvas = np.zeros((*grid, BLOCKS, BLOCKS), dtype=np.uint8)
    canvas[place] = coloured + 2 * dark
    board = canvas.transpose(0, 2, 1, 3).reshape(grid[0] * BLOCKS, grid[1] * BLOCKS)
    closed = cv2.morphologyEx((board > 0).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
    if stats[1:, cv2.CC_STAT_AREA].max(initial=0) < MANY:
        return behind, behind
    strong = np.bincount(labels[board == 1], minlength=count)
    whole = strong + np.bincount(labels[board == 2], minlength=count)
    hand = (whole >= MANY) & (strong >= MANY // 2)
    shade = whole >= MANY
    hand[0] = shade[0] = False
    over = (hand[labels] & (board > 0)).astype(np.uint8)
    if over.any():
        # A hand's faint rim reaches further than what is plainly foreign, but leaves a trace.
        wide = cv2.dilate(over, np.ones((2 * BESIDE + 1, 2 * BESIDE + 1), np.uint8))
        behind = behind | (_on_tiles(over) >= CORNER)[place] | ((_on_tiles(wide) > 0)[place] & (own >= TRACE))
    return behind, behind | (_on_tiles(shade[labels] & (board > 0)) > 0)[place]


def _on_tiles(blocks: NDArray[Any]) -> Indices:
    """How many of these blocks of a whole board lie on each tile (rows, columns)."""
    rows, columns = blocks.shape
    return np.asarray(blocks.reshape(rows // BLOCKS, BLOCKS, columns // BLOCKS, BLOCKS).sum(axis=(1, 3), dtype=np.intp))
