"""Whether a die's outline is seen: two small dice on a plain floor look like the pips of a large one without any."""

from __future__ import annotations

import cv2
import numpy as np

from vision.pips import Found, Pyramid, square_map

SIZE_PX, REACH = 48, 1.9
"""Side of the patch, and how many sides of the die's box it shows."""
RAYS, INNER, OUTER = 24, 0.3, 0.9
"""Rays from the middle, followed between these distances (in sides of the box): from inside any square of that box,
however turned, to outside it."""
STEP_LEVELS = 8.0
"""Change in any colour over two samples that counts as an edge; a plain floor's noise stays below it."""

_ANGLES = np.radians(np.arange(RAYS) * 360.0 / RAYS)
_RADII = np.arange(INNER * SIZE_PX / REACH, OUTER * SIZE_PX / REACH)
_X = np.rint((SIZE_PX - 1) / 2 + np.outer(_RADII, np.cos(_ANGLES))).astype(np.intp)
_Y = np.rint((SIZE_PX - 1) / 2 + np.outer(_RADII, np.sin(_ANGLES))).astype(np.intp)


def outlined(pyramid: Pyramid, place: Found) -> float:
    """The share of rays (0..1) from the place's middle that cross an edge where a die's outline may lie."""
    reach = place.side * REACH
    m = square_map(place.cx, place.cy, reach, 0.0, SIZE_PX)
    patch = cv2.GaussianBlur(pyramid.patch(m, (SIZE_PX, SIZE_PX), reach / SIZE_PX), (0, 0), 0.8)
    samples = patch[_Y, _X].astype(np.float32)
    steps = np.abs(samples[2:] - samples[:-2]).max(axis=(0, 2))
    return float(np.mean(steps > STEP_LEVELS))
