"""The two halves of a tile, rectified, and what tells a tile of a larger set."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from devices.contract import Image
from vision.domino_choice import Spot
from vision.pips import Floats, Pyramid

HALF_PX = 40
MARGIN = 0.15
"""What a half's crop shows around the half, as a share of its side."""
PIP_LINE, CORNERS = (0.25, 0.5, 0.75), (0.25, 0.75)
"""Where along a half a line of three pips lies, and the pips of a four: parts of its side."""
PLAIN_LEVELS = 20.0
"""Grey levels between pips and their tile from which pips can be told from none."""


def half_maps(quad: Floats) -> tuple[Floats, Floats]:
    """The 3x3 matrices that bring the two halves of a tile (4, 2), bar to the right, into square crops."""
    side = HALF_PX / (1 + 2 * MARGIN)
    low = MARGIN * side - 0.5
    high, far = low + side, low + 2 * side
    target = np.array([[low, low], [low, high], [far, high], [far, low]], np.float32)
    q = np.ascontiguousarray(quad, np.float32)
    one = cv2.getPerspectiveTransform(q, target)
    two = cv2.getPerspectiveTransform(np.ascontiguousarray(q[[2, 3, 0, 1]]), target)
    return np.asarray(one, np.float32), np.asarray(two, np.float32)


def halves(pyramid: Pyramid, spot: Spot, grow: float) -> list[Image]:
    """The crops (40 x 40 BGR) of both halves of a tile whose face is taken `grow` times as large."""
    quad = np.asarray((spot.quad - spot.middle) * grow + spot.middle, np.float32)
    shrink = spot.length * grow / 2 * (1 + 2 * MARGIN) / HALF_PX
    return [pyramid.patch(m, (HALF_PX, HALF_PX), shrink) for m in half_maps(quad)]


def beyond_six(patch: Image, value: int) -> bool:
    """True when a half's crop (40 x 40 BGR) that passes for a five or a six has pips where those have none: a tile of
    a larger set (seven to nine), of which the judge of halves knows nothing."""
    colours = cv2.blur(np.asarray(patch, np.float32), (3, 3))
    rim = round(MARGIN * HALF_PX / (1 + 2 * MARGIN))
    face = np.median(colours[rim:-rim, rim:-rim].reshape(-1, 3), axis=0)  # pips cover less than half of any tile
    levels = np.asarray(np.abs(colours - face).max(axis=2), np.float32)
    ways = [_pips_between(each) for each in (levels, levels.T)]
    return any(ways[0][::2] + ways[1][::2]) if value == 5 else all(any(way) for way in ways)


def _pips_between(levels: Floats) -> list[bool]:
    """Whether there are pips between the two lines of a six that lie along this crop, at each place of a line; from how
    far each pixel is from the tile's own colour."""
    side = HALF_PX / (1 + 2 * MARGIN)

    def at(xs: Sequence[float], ys: Sequence[float]) -> Floats:
        columns, rows = (np.rint(MARGIN * side + side * np.array(each)).astype(int) for each in (xs, ys))
        return np.asarray(levels[np.ix_(rows, columns)], np.float32)

    # Makers put their pips a little nearer together or farther apart.
    levels = np.asarray(cv2.dilate(levels, np.ones((3, 3), np.uint8)), np.float32)
    pips = float(np.median(at(CORNERS, CORNERS)))
    return [bool(pips > PLAIN_LEVELS and x > 0.5 * pips) for x in at(PIP_LINE, (0.5,)).ravel()]
