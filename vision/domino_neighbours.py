"""Where the next tile of a line would lie: places beside known tiles that look like their material."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.domino_choice import LIKELY, Spot, Verdict, tile_chance
from vision.pips import Pyramid

Place = tuple[float, float, float, float, float]
"""Where a tile may lie: middle (x, y) and length in px, direction in the picture in degrees, how strongly (0..1)."""
GRID = 7, 3
"""Points along and across a face at which its colour is taken."""
ALIKE = 0.3
"""A place is of the tiles' material when its colour lies at least this share of the way from the table's to theirs."""
OFF_HUE, HUES_APART = 0.4, 0.05
"""So it is in a shadow when its hue is off by less than this share of that way, where the way is longer than the second
(shares of all light in a colour)."""


def neighbours(pyramid: Pyramid, verdicts: Sequence[Verdict]) -> list[Place]:
    """Places that touch a likely tile as a line's next tile does, are free, and have the tiles' colour.

    The finder knows tiles by their outline; in a line it may miss one of which two sides touch others.
    """
    tiles = [v.spot for v in verdicts if tile_chance(v) > LIKELY]
    if not tiles:
        return []
    beside = [(middle, along, spot.tile) for spot in tiles for middle, along in _beside(spot)]
    middles, alongs = np.array([b[0] for b in beside]), np.array([b[1] for b in beside])
    height, width = pyramid.level(0).shape[:2]
    free = ((middles >= 0) & (middles < (width, height))).all(axis=1) & ~_on(middles, tiles)
    across = np.stack([-alongs[:, 1], alongs[:, 0]], axis=1) / 2
    quads = np.stack([-alongs - across, -alongs + across, alongs + across, alongs - across], axis=1) + middles[:, None]
    free[free] = of_material(pyramid, tiles, quads[free])
    return [
        (float(x), float(y), 2 * math.hypot(*along), math.degrees(math.atan2(along[1], along[0])), beside[i][2])
        for i, (x, y), along in zip(np.flatnonzero(free), middles[free], alongs[free].tolist(), strict=True)
    ]


def of_material(pyramid: Pyramid, tiles: Sequence[Spot], quads: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which of the faces (n, 4, 2) px have the colour of these tiles rather than the table's."""
    body = np.median(_colours(pyramid, np.array([s.quad for s in tiles])), axis=0)
    whole = pyramid.level(0)
    ground = np.median(whole[:: max(1, whole.shape[0] // 60), :: max(1, whole.shape[1] // 60)].reshape(-1, 3), axis=0)
    colours = _colours(pyramid, quads)
    alike = _share(colours, ground, body) > ALIKE
    hues = [c / np.maximum(c.sum(axis=-1, keepdims=True), 1.0) for c in (colours, ground, body)]
    # In a shadow a tile may be darker than lit table, but has its own hue still.
    apart = float(np.linalg.norm(hues[2] - hues[1]))
    if apart > HUES_APART:
        alike |= np.linalg.norm(hues[0] - hues[2], axis=1) < OFF_HUE * apart
    return np.asarray(alike)


def _share(colours: NDArray[np.float64], ground: NDArray[np.float64], body: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the colours (n, 3) lie on the way from the table's to the tiles' (0..1)."""
    way = body - ground
    return np.asarray((colours - ground) @ way / max(float(way @ way), 1e-6))


def _on(points: NDArray[np.float64], tiles: Sequence[Spot]) -> NDArray[np.bool_]:
    """Which of the points (n, 2) lie on a tile: on the same side of its four edges."""
    quads = np.array([s.quad for s in tiles], np.float64)
    edges = np.roll(quads, -1, axis=1) - quads
    off = points[:, None, None] - quads[None]
    sides = edges[..., 0] * off[..., 1] - edges[..., 1] * off[..., 0]
    within = np.asarray((sides >= 0).all(axis=2) | (sides <= 0).all(axis=2), np.bool_)
    return np.asarray(within.any(axis=1))


def _beside(spot: Spot) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """(middle, half its length along it) of tiles in line with both ends, crosswise at them, in bends, at the sides."""
    q = spot.quad.astype(np.float64)
    middle, along, across = q.mean(axis=0), (q[2] + q[3] - q[0] - q[1]) / 4, (q[1] + q[2] - q[0] - q[3]) / 4
    out = []
    for end in (along, -along):
        out.append((middle + 2 * end, along))
        out += [(middle + 1.5 * end + side, 2 * across) for side in (across * 0, across, -across)]
        out += [(middle + 0.5 * end + 3 * side, 2 * across) for side in (across, -across)]
    return out + [(middle + 3 * side, 2 * across) for side in (across, -across)]


def _colours(pyramid: Pyramid, quads: NDArray[np.floating]) -> NDArray[np.float64]:
    """The median colours (n, 3) of faces (n, 4, 2) px; pips and bar are in the minority."""
    if not len(quads):
        return np.zeros((0, 3))
    length = float(np.median(np.linalg.norm(quads[:, 2] - quads[:, 1], axis=1)))
    level = max(0, min(6, math.floor(math.log2(max(length / 16, 1.0)))))
    image = pyramid.level(level)
    u, v = ((np.arange(n) + 0.5) / n for n in GRID)
    corner = quads.transpose(1, 0, 2)[:, :, None, None]
    u, v = u[:, None, None], v[:, None]
    top, low = corner[0] + u * (corner[3] - corner[0]), corner[1] + u * (corner[2] - corner[1])
    points = (top * (1 - v) + low * v).reshape(len(quads), -1, 2) / 2**level
    x = np.clip(points[..., 0].round().astype(int), 0, image.shape[1] - 1)
    y = np.clip(points[..., 1].round().astype(int), 0, image.shape[0] - 1)
    return np.asarray(np.median(image[y, x], axis=1), np.float64)
