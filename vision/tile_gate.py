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
from vision.sampling import Bools, Floats, Indices, middle, spread_of
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
    kept = bare.astype(np.float32)
    total, count = _quartered(tiles * kept, COUNT), _quartered(kept, COUNT)
    total /= np.maximum(count, np.float32(1.0))
    blocks = np.empty_like(total)
    np.subtract(total[2], total[1], out=blocks[0])
    np.subtract(total[0], total[1], out=blocks[1])
    blocks[2] = total[1]
    return blocks, np.asarray(count >= 2.0)


def _quartered(values: Floats, side: int) -> Floats:
    """Sums of 2 x 2 values of squares (..., side * side or side, side): (..., side // 2, side // 2)."""
    half = side // 2
    lead = values.shape[:-1] if values.shape[-1] != side else values.shape[:-2]
    rows = values.reshape(-1, side)
    pairs = rows[:, 0 : 2 * half : 2] + rows[:, 1 : 2 * half : 2]
    pairs = pairs.reshape(-1, side, half)
    return np.asarray(pairs[:, 0 : 2 * half : 2] + pairs[:, 1 : 2 * half : 2]).reshape(*lead, half, half)


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
            fit[:terms_used, channels] = np.linalg.solve(gram, part.T @ target[:, channels])
        off = np.abs(target - terms @ fit)
        scale = spread_of(off[good], 0) + 0.01 if good.any() else np.ones(3)
        weight = good / np.maximum(1.0, (off / scale).max(axis=1) / 2.0) ** 4
    plain = weight > 0.2
    if plain.sum() >= len(plain) // 3:
        whole = whole & plain[:, None, None]
    rest = blocks - (terms @ fit).T.astype(np.float32)[:, :, None, None]
    return BareTiles(fit, centre, _ground(rest, whole, LEAST_SPREAD), _ground(*_joined(rest, whole), LEAST_COARSE))


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


def _joined(rest: Floats, whole: Bools) -> tuple[Floats, Bools]:
    """Blocks of twice the size (3, T, 7, 7), and whether enough of each is known."""
    kept = whole.astype(np.float32)
    total, count = _quartered(rest * kept, BLOCKS), _quartered(kept, BLOCKS)
    total /= np.maximum(count, np.float32(1.0))
    return total, np.asarray(count >= 2.0)


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
    joined, known = _joined(rest, whole)
    large_coloured, large_dark = (
        odd.repeat(2, axis=1).repeat(2, axis=2) & whole
        for odd in _odd(joined, known, bare.coarse, COARSE_STRICTNESS * strictness)
    )
    coloured |= large_coloured
    return coloured, (dark | large_dark) & ~coloured


def _odd(rest: Floats, whole: Bools, ground: Ground, strictness: float) -> tuple[Bools, Bools]:
    off = (rest - ground.usual) * (np.float32(strictness) / ground.spread)
    coloured = (off[0] * off[0] + off[1] * off[1] > CHROMA_LIMIT**2) | (off[2] > LIGHT_LIMIT)
    return coloured & whole, (off[2] < -LIGHT_LIMIT) & whole


def hidden_tiles(coloured: Bools, dark: Bools, grid: tuple[int, int], row_column: Indices) -> tuple[Bools, Bools]:
    """Which tiles (T) lie behind something, and which lie behind something or in a deep shadow, from their foreign
    blocks; `row_column` (T, 2) places each tile in the `grid`, row 0 nearest to the first player."""
    own = coloured.sum(axis=(1, 2))
    behind = own >= FEW
    if coloured.sum() + dark.sum() < MANY:
        return behind, behind
    # Blocks run from north to south, rows of the board from south to north.
    place = (grid[0] - 1 - row_column[:, 0], row_column[:, 1])
    canvas = np.zeros((*grid, BLOCKS, BLOCKS), dtype=np.uint8)
    canvas[place] = coloured + 2 * dark
    board = canvas.transpose(0, 2, 1, 3).reshape(grid[0] * BLOCKS, grid[1] * BLOCKS)
    closed = cv2.morphologyEx((board > 0).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, labels = cv2.connectedComponents(closed, connectivity=8)
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
