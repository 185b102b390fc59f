"""Where the next tile of a line would lie: places beside known tiles that look like their material."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.domino_choice import LIKELY, Spot, Verdict, tile_chance
from vision.pips import Floats, Pyramid

Place = tuple[float, float, float, float, float]
"""Where a tile may lie: middle (x, y) and length in px, direction in the picture in degrees, how strongly (0..1)."""
GRID = 7, 3
"""Points along and across a face at which its colour is taken."""
ALIKE = 0.3
"""A place is of the tiles' material when its colour lies at least this share of the way from the table's to theirs."""


def neighbours(pyramid: Pyramid, verdicts: Sequence[Verdict]) -> list[Place]:
    """Places that touch a likely tile as a line's next tile does, are free, and have the tiles' colour.

    The finder knows tiles by their outline; in a line it may miss one of which two sides touch others.
    """
    tiles = [v.spot for v in verdicts if tile_chance(v) > LIKELY]
    if not tiles:
        return []
    body = np.median([_colour(pyramid, s.quad) for s in tiles], axis=0)
    whole = pyramid.level(0)
    ground = np.median(whole[:: max(1, whole.shape[0] // 60), :: max(1, whole.shape[1] // 60)].reshape(-1, 3), axis=0)
    way = (body - ground) / max(float(np.sum((body - ground) ** 2)), 1.0)
    height, width = whole.shape[:2]
    rings = [np.ascontiguousarray(cv2.convexHull(s.quad), np.float32) for s in tiles]
    places = []
    for spot in tiles:
        for middle, along in _beside(spot):
            x, y = float(middle[0]), float(middle[1])
            inside = 0 <= x < width and 0 <= y < height
            if not inside or any(cv2.pointPolygonTest(r, (x, y), False) >= 0 for r in rings):
                continue
            across = np.array([-along[1], along[0]]) / 2
            quad = np.array([-along - across, -along + across, along + across, along - across]) + middle
            if float((_colour(pyramid, quad.astype(np.float32)) - ground) @ way) > ALIKE:
                angle = math.degrees(math.atan2(along[1], along[0]))
                places.append((x, y, 2 * float(np.hypot(*along)), angle, spot.tile))
    return places


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


def _colour(pyramid: Pyramid, quad: Floats) -> NDArray[np.float64]:
    """The median colour of a face (4, 2) px; pips and bar are in the minority."""
    length = float(np.hypot(*(quad[2] - quad[1])))
    level = max(0, min(6, math.floor(math.log2(max(length / 16, 1.0)))))
    image = pyramid.level(level)
    u, v = ((np.arange(n) + 0.5) / n for n in GRID)
    top = quad[0] + u[:, None] * (quad[3] - quad[0])
    low = quad[1] + u[:, None] * (quad[2] - quad[1])
    points = np.concatenate([top * (1 - t) + low * t for t in v]) / 2**level
    x = np.clip(points[:, 0].round().astype(int), 0, image.shape[1] - 1)
    y = np.clip(points[:, 1].round().astype(int), 0, image.shape[0] - 1)
    return np.asarray(np.median(image[y, x], axis=0), np.float64)
