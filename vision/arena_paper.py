"""The paper of one marker on an arena's floor: what lies on it is told from its own print."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from devices.contract import Image
from vision.sampling import Bools, Floats, logs

Mask = NDArray[np.uint8]

PAPER, SURE_PAPER = 1.75, 1.4
"""Side of a marker's paper in sides of its black square (1.5, with slack for its rim); and of what is surely paper."""
PAPER_TINT = 0.3
"""Log difference in colour from a marker's own white that its print cannot have."""
PRINT = 0.8
"""Log difference by which a marker's black is darker than its white at least."""
WHITE_SHARE = 0.3
"""The share of the paper, its brightest, that shows the paper's white."""


class Paper:
    """One marker's paper on a flat map."""

    def __init__(self, dictionary: str, number: int, square: Array, shape: tuple[int, int]) -> None:
        """`square` (4, 2) are the corners of the marker's black square in cells of the map, which has so many rows and
        columns (`shape`)."""
        centre = square.mean(axis=0)
        self._outline = np.rint(centre + (square - centre) * PAPER).astype(np.int32)
        low = np.clip(self._outline.min(axis=0), 0, (shape[1] - 1, shape[0] - 1))
        high = np.clip(self._outline.max(axis=0) + 1, 1, (shape[1], shape[0]))
        self._visible = bool(np.all(high - low >= 3))
        self._part = (slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0])))
        paper = np.zeros((high[1] - low[1], high[0] - low[0]), dtype=np.uint8)
        cv2.fillConvexPoly(paper, self._outline - low.astype(np.int32), 1)
        rim = paper.copy()
        sure = np.rint(centre + (square - centre) * SURE_PAPER).astype(np.int32)
        cv2.fillConvexPoly(rim, sure - low.astype(np.int32), 0)
        self._paper: Bools = np.asarray(paper > 0)
        self._within: Bools = np.asarray(rim == 0)
        printed = _print(dictionary, number, square, shape)[self._part]
        block = np.ones((3, 3), np.uint8)
        self._black: Bools = np.asarray(cv2.dilate(printed, block) < 0.05) & self._paper
        self._blank: Bools = np.asarray(cv2.erode(printed, block) > 0.95)

    def mark(self, sheets: Mask) -> None:
        """Marks the paper's cells in a mask of the map, in place."""
        cv2.fillConvexPoly(sheets, self._outline, 1)

    def judge(self, flat: Image, solid: Mask, dark: Mask) -> None:
        """Tells anew what is `solid` and what may be shadow (`dark`) on the paper, in place.

        On it lies as a thing what has colour, seen against the paper's own white, what is white where its print is
        black, and what is as dark as the print where that is white; what is less dark may be a shadow. Where the paper
        may end already, what looks like the floor is the floor.
        """
        if not self._visible:
            return
        part = self._part
        level = logs(flat[part])
        light = level.mean(axis=2)
        nth = int(np.ceil((1.0 - WHITE_SHARE) * (light.size - 1)))
        white = level[light >= np.partition(light, nth, axis=None)[nth]].mean(axis=0)
        off = level - white
        shade = off.mean(axis=2)
        tint = np.abs(off - shade[..., None]).max(axis=2)
        coloured = (tint > PAPER_TINT) & (shade > -1.6)
        ink = min(float(np.median(shade[self._black])), -PRINT) if self._black.any() else -PRINT
        thing = coloured | (self._black & (shade > ink / 2)) | (self._blank & (shade < ink + PRINT / 4))
        gloom = self._blank & (shade < ink / 2)
        other = self._within | (solid[part] > 0) | (dark[part] > 0)
        solid[part] = np.where(self._paper, thing & other, solid[part])
        dark[part] = np.where(self._paper, gloom & other, dark[part])


def _print(dictionary: str, number: int, square: Array, shape: tuple[int, int]) -> Floats:
    """How white (1) or black (0) each cell of the map is by a marker's print, white beside it."""
    known = cv2.aruco.getPredefinedDictionary(int(getattr(cv2.aruco, dictionary)))
    code = cv2.aruco.generateImageMarker(known, number, 128)
    fine = 4
    flat = np.array([[0, 0], [128, 0], [128, 128], [0, 128]], dtype=np.float32) - np.float32(0.5)
    spots = ((square + 0.5) * fine - 0.5).astype(np.float32)
    warp = cv2.getPerspectiveTransform(flat, spots)
    size = (shape[1] * fine, shape[0] * fine)
    laid = cv2.warpPerspective(code, warp, size, borderMode=cv2.BORDER_CONSTANT, borderValue=255)
    small = cv2.resize(laid, shape[::-1], interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.float32) / np.float32(255.0)
