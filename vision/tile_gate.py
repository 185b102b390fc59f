"""Where something foreign (a hand, a sleeve) lies over the tiles: what neither bare tile nor print can look like.

Every board of tiles has one bare colour, lit smoothly. Small blocks of samples that leave it, and are no print, pawn
or door, are foreign; where many hang together a hand is over the board, and every tile it touches is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

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
"""So many blocks (of 4 mm) about a hand count as under it."""

FEW, MANY = 8, 14
"""Foreign blocks on one tile that hide it alone; and together, on it and beside it, that make a hand."""

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
    alike (the doors' shadows), `usual` (n, n, 3), and the spread about both, `spread` (n, n, 3)."""

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
    """Opponent log colours (T, 14, 14, 3) of blocks of bare samples, and whether a block has enough of them."""
    kept = bare.reshape(-1, COUNT, COUNT)[:, :-1, :-1].astype(np.float32)
    total = tiles.reshape(-1, COUNT, COUNT, 3)[:, :-1, :-1] * kept[..., None]
    total, kept = total[:, 0::2] + total[:, 1::2], kept[:, 0::2] + kept[:, 1::2]
    total, kept = total[:, :, 0::2] + total[:, :, 1::2], kept[:, :, 0::2] + kept[:, :, 1::2]
    mean = total / np.maximum(kept, np.float32(1.0))[..., None]
    green = mean[..., 1]
    blocks = np.empty_like(mean)
    np.subtract(mean[..., 2], green, out=blocks[..., 0])
    np.subtract(mean[..., 0], green, out=blocks[..., 1])
    blocks[..., 2] = green
    return np.asarray(blocks, dtype=np.float32), np.asarray(kept >= 2.0)


def learn_bare(blocks: Floats, whole: Bools, poses: Array) -> BareTiles:
    """The bare tile's colour from blocks (T, 14, 14, 3) of all tiles; a hand over some of them does no harm."""
    kept = whole[:, ::2, ::2].reshape(len(blocks), 1, -1)
    some = np.where(kept, blocks[:, ::2, ::2].reshape(len(blocks), -1, 3).transpose(0, 2, 1), np.float32(np.inf))
    count = kept.sum(axis=(1, 2))
    good = count > 8
    ordered = np.sort(some, axis=2)
    middles = ordered[np.arange(len(blocks)), :, np.minimum(count // 2, ordered.shape[2] - 1)]
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
    rest = blocks - (terms @ fit).astype(np.float32)[:, None, None]
    return BareTiles(fit, centre, _ground(rest, whole, LEAST_SPREAD), _ground(*_joined(rest, whole), LEAST_COARSE))


def _ground(rest: Floats, whole: Bools, least: Floats) -> Ground:
    inside = rest[:, ::2, ::2][whole[:, ::2, ::2]]
    spread = spread_of(inside, 0) if len(inside) else np.ones(3)
    spread = np.maximum(spread, least).astype(np.float32)
    shown = whole[..., None].astype(np.float32)
    each = np.maximum(shown.sum(axis=0), np.float32(1.0))
    usual, held = np.zeros(rest.shape[1:], dtype=np.float32), rest
    for reach in (6.0, 3.0):
        held = usual + np.clip(rest - usual, -np.float32(reach) * spread, np.float32(reach) * spread)
        usual = np.sum(held * shown, axis=0) / each
    off = held - usual
    around = np.sqrt(np.sum(off * off * shown, axis=0) / each)
    return Ground(usual, np.clip(around, spread, 2.0 * spread))


def _joined(rest: Floats, whole: Bools) -> tuple[Floats, Bools]:
    """Blocks of twice the size (T, 7, 7, 3), and whether enough of each is known."""
    kept = whole.astype(np.float32)
    total = rest * kept[..., None]
    total, kept = total[:, 0::2] + total[:, 1::2], kept[:, 0::2] + kept[:, 1::2]
    total, kept = total[:, :, 0::2] + total[:, :, 1::2], kept[:, :, 0::2] + kept[:, :, 1::2]
    mean = total / np.maximum(kept, np.float32(1.0))[..., None]
    return np.asarray(mean, dtype=np.float32), np.asarray(kept >= 2.0)


def _terms(poses: Array, centre: Array) -> Array:
    x, y = ((poses[:, :2] - centre) / 150.0).T
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)


def foreign_blocks(
    blocks: Floats, whole: Bools, poses: Array, bare: BareTiles, strictness: float = 1.0
) -> tuple[Bools, Bools]:
    """Which blocks (T, 14, 14) have a colour of their own (or are too bright), and which are only too dark."""
    fit = (_terms(poses, bare.centre) @ bare.fit).astype(np.float32)
    rest = blocks - fit[:, None, None]
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
    coloured = (off[..., 0] ** 2 + off[..., 1] ** 2 > CHROMA_LIMIT**2) | (off[..., 2] > LIGHT_LIMIT)
    return coloured & whole, (off[..., 2] < -LIGHT_LIMIT) & whole


def hidden_tiles(coloured: Bools, dark: Bools, grid: tuple[int, int], row_column: Indices) -> tuple[Bools, Bools]:
    """Which tiles (T) lie behind something, and which lie behind something or in a deep shadow, from their foreign
    blocks; `row_column` (T, 2) places each tile in the `grid`, row 0 nearest to the first player."""
    behind = coloured.sum(axis=(1, 2)) >= FEW
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
    touched = []
    for large, margin in ((hand, BESIDE), (shade, 0)):
        over = (large[labels] & (board > 0)).astype(np.uint8)
        if margin and over.any():
            # A hand's faint rim reaches further than what is plainly foreign.
            over = np.asarray(cv2.dilate(over, np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)))
        part = over.reshape(grid[0], BLOCKS, grid[1], BLOCKS)
        touched.append(behind | part.any(axis=(1, 3))[place])
    return touched[0], touched[0] | touched[1]
