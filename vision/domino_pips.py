"""Whether the pips of a tile lie as the numbers say that it seems to show: what a network sees, looked up by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.domino_choice import FACE_DOWN, Spot
from vision.pips import Pyramid

GRID, BETWEEN, NEAR = (0.25, 0.5, 0.75), (0.375, 0.625), (-0.035, 0.0, 0.035)
"""Where pips lie on a half, where none can, and how far about its middle a pip is looked at (shares of its side)."""
HALF_PX = 24
"""A half is looked up where it measures at least this."""
LEAST, FILLED, EMPTY = 24.0, 0.6, 0.3
"""Levels by which a pip differs from its tile at least; the parts of the strongest pip from which on there is one, and
up to which there is none."""
BLANK = 12.0
"""No place of a blank half differs from the tile by more than this (levels)."""
_CORNERS, _MIDDLE, _LINE, _OTHER = 0b101000101, 0b000010000, 0b000101000, 0b010000010
_DIAGONALS = 0b100000001, 0b001000100
PATTERNS: tuple[frozenset[int], ...] = (
    frozenset({0}),
    frozenset({_MIDDLE}),
    frozenset(_DIAGONALS),
    frozenset(d | _MIDDLE for d in _DIAGONALS),
    frozenset({_CORNERS}),
    frozenset({_CORNERS | _MIDDLE}),
    frozenset({_CORNERS | _LINE, _CORNERS | _OTHER}),
)
"""For each number which of the nine places have pips, as bits, row by row."""


def agree(pyramid: Pyramid, spots: Sequence[Spot], shown: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which tiles (n,) have pips where the numbers `shown` (n, 2; 0..6, or 7 for face down) have them and nowhere else,
    every one as plain as the others. Tiles face down never agree."""
    if not spots:
        return np.zeros(0, np.bool_)
    places, between = _colours(pyramid, spots)
    face = np.median(between, axis=2, keepdims=True)
    pips = np.abs(places - face).max(axis=3)
    spread = np.abs(between - face).max(axis=(2, 3))
    strongest = pips.max(axis=2)
    limit = strongest[..., None]
    filled = pips >= FILLED * limit
    plain = (filled | (pips <= EMPTY * limit)).all(axis=2) & (strongest >= LEAST) & (spread <= EMPTY * strongest)
    bits = np.where(strongest <= BLANK, 0, filled @ (1 << np.arange(9)))
    known = plain | (strongest <= BLANK)
    fits = [
        [b in PATTERNS[v] for b, v in zip(*pair, strict=True)] for pair in zip(bits, shown % FACE_DOWN, strict=True)
    ]
    return np.asarray((known & fits & (shown < FACE_DOWN)).all(axis=1))


def _colours(pyramid: Pyramid, spots: Sequence[Spot]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The colours of both halves of each tile (n, 2, 9, 3) at the places of pips and (n, 2, 4, 3) between them."""
    quads = np.array([s.quad for s in spots], np.float64)
    half = float(np.median([s.length for s in spots])) / 2
    level = max(0, math.floor(math.log2(max(half / HALF_PX, 1.0))))
    image = pyramid.level(level)
    at = [(y + b, x + a) for y in GRID for x in GRID for b in NEAR for a in NEAR]
    at += [(y, x) for y in BETWEEN for x in BETWEEN]
    v, u = np.array(at).T[:, None, None]
    # The first half's outer edge lies at u = 0; the second begins in the middle.
    u = (u + np.array([0.0, 1.0])[:, None]) / 2
    u, v = u[..., None], v[..., None]
    a, b, c, d = (quads[:, k][:, None, None] for k in range(4))
    points = ((a + u * (d - a)) * (1 - v) + (b + u * (c - b)) * v + 0.5) / 2**level - 0.5
    x = np.clip(points[..., 0].round().astype(int), 0, image.shape[1] - 1)
    y = np.clip(points[..., 1].round().astype(int), 0, image.shape[0] - 1)
    colours = image[y, x].astype(np.float64)
    count = len(GRID) ** 2 * len(NEAR) ** 2
    places = colours[:, :, :count].reshape(len(quads), 2, 9, -1, 3).mean(axis=3)
    return places, colours[:, :, count:]
