"""A knocked camera over an arena: which way the floor's picture has gone, so that what is known of it can follow."""

from __future__ import annotations

import cv2
import numpy as np

from vision.sampling import Floats

AROUND_PX = 15
"""Side of the surroundings against which contours are compared: lines and markers remain, a grainy floor goes."""
STEPS, EXACT, SMOOTH_PX = 60, 1e-5, 5
"""How far the map is refined: at most so many steps, until a step gains less than this; of pictures smoothed so."""


def gone_to(floor: Floats, now: Floats) -> Floats | None:
    """The map (2, 3) that leads from pixels of the contours `now` (H, W) to those of `floor`; None without one.

    A shift by phase correlation, refined to an affine map by enhanced correlation (Evangelidis and Psarakis, 2008)."""
    known, seen = (np.ascontiguousarray(x - cv2.blur(x, (AROUND_PX, AROUND_PX)), np.float32) for x in (floor, now))
    window = cv2.createHanningWindow((known.shape[1], known.shape[0]), cv2.CV_32F)
    (x, y), _ = cv2.phaseCorrelate(known, seen, window)
    start = np.array([[1, 0, -x], [0, 1, -y]], dtype=np.float32)
    until = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, STEPS, EXACT)
    everywhere = np.full(known.shape, 255, dtype=np.uint8)
    try:
        found = cv2.findTransformECC(seen, known, start, cv2.MOTION_AFFINE, until, everywhere, SMOOTH_PX)[1]
    except cv2.error:  # no map brings them together
        return None
    return np.asarray(found, dtype=np.float32)


def moved(picture: Floats, way: Floats, unknown: Floats) -> Floats:
    """A picture (H, W) or (H, W, 3) of the floor as it looks through this map; `unknown` where it shows nothing."""
    size = (picture.shape[1], picture.shape[0])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    there = cv2.warpAffine(
        np.ones(picture.shape[:2], np.uint8), way, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    )
    laid = cv2.warpAffine(picture, way, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    known = there > 0 if picture.ndim == 2 else (there > 0)[..., None]
    return np.asarray(np.where(known, laid, unknown), dtype=np.float32)
