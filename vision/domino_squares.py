"""Tiles squared up: a network is shown each place level and tells whether a tile lies there, and its corners."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.domino_choice import Spot
from vision.pips import Floats, Net, Pyramid, normal

SQUARER_PX = (64, 40)
SQUARER_REACH = 1.35
"""Width of the squarer's crop over the length of the tile."""


def squarer_map(cx: float, cy: float, length: float, angle_deg: float) -> Floats:
    """The 2x3 matrix that brings a tile of `length` px, lying at `angle_deg` about (cx, cy), level into the crop."""
    s = SQUARER_PX[0] / (SQUARER_REACH * length)
    c, n = s * np.cos(np.radians(angle_deg)), s * np.sin(np.radians(angle_deg))
    x, y = (SQUARER_PX[0] - 1) / 2, (SQUARER_PX[1] - 1) / 2
    return np.array([[c, n, x - c * cx - n * cy], [-n, c, y + n * cx - c * cy]], np.float32)


def square(
    net: Net, pyramid: Pyramid, places: Sequence[tuple[float, float, float, float]]
) -> tuple[list[Spot], Floats]:
    """What lies at the places (middle x, y, length in px, direction in degrees), one spot each, and what else the
    network says of it (n, outputs - 9)."""
    if not places:
        return [], np.zeros((0, 0), np.float32)
    patches, backs = [], []
    for cx, cy, length, angle in places:
        m = squarer_map(cx, cy, length, angle)
        patches.append(pyramid.patch(m, SQUARER_PX, SQUARER_REACH * length / SQUARER_PX[0]))
        backs.append(cv2.invertAffineTransform(m))
    out, back = net(normal(patches)), np.array(backs, np.float32)
    corners = out[:, 1:9].reshape(-1, 4, 2) * SQUARER_PX[0] + (np.array(SQUARER_PX, np.float32) - 1) / 2
    quads = np.asarray(corners @ back[:, :, :2].transpose(0, 2, 1) + back[:, None, :, 2], np.float32)
    tiles = 1 / (1 + np.exp(-out[:, 0].astype(np.float64)))
    return [Spot(quad, float(tile)) for quad, tile in zip(quads, tiles, strict=True)], out[:, 9:]
