"""What is seen about a die: its outline (two small dice on a plain floor look like the pips of a large one that has
none), and whether it lies alone on plain floor."""

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
RING, RING_REACH = (0.8, 1.25), 2.6
"""Where something to lean on would be (sides of the die's box from its middle), and how many sides the patch shows."""
LIT, SHADE, GLEAM = (55, 90), 0.12, 1.35
"""Percentiles of the ring's brightness between which it is lit floor, and how dark and light floor may be beside it."""
OFF_LEVELS, OFF_SHARE, PLAIN = 12.0, 0.1, 0.95
"""How far floor's hue may be off (levels, and share of its brightness), and which part of the ring must be floor."""

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


def alone(pyramid: Pyramid, place: Found) -> bool:
    """True when the ring about a die shows one floor in light or shade and nothing else, so that there is no rim and no
    other die on which it could lean."""
    reach = place.side * RING_REACH
    m = square_map(place.cx, place.cy, reach, 0.0, SIZE_PX)
    patch = cv2.GaussianBlur(pyramid.patch(m, (SIZE_PX, SIZE_PX), reach / SIZE_PX), (0, 0), 0.8)
    ring = patch[_RING].astype(np.float32)
    bright = ring.sum(axis=1)
    low, high = np.percentile(bright, LIT)
    floor = ring[(bright >= low) & (bright <= high)].mean(axis=0)
    light = ring @ floor / max(float(floor @ floor), 1.0)
    off = np.linalg.norm(ring - light[:, None] * floor, axis=1)
    like = (off < OFF_LEVELS + OFF_SHARE * light * np.linalg.norm(floor)) & (light > SHADE) & (light < GLEAM)
    return float(np.mean(like)) >= PLAIN


_STEPS = (np.arange(SIZE_PX) - (SIZE_PX - 1) / 2) * RING_REACH / SIZE_PX
_FAR = np.hypot(_STEPS[:, None], _STEPS)
_RING = (np.abs(_FAR - (RING[0] + RING[1]) / 2)) <= (RING[1] - RING[0]) / 2
