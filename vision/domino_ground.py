"""The bare table under a line of tiles: what it looked like where nothing lay, to know it again."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Camera
from calibration.profile import Board, Point
from devices.contract import Image
from vision.pictures import as_bgr

CELL_MM = 8.0
CLEAR_MM = 45.0
"""Nothing within this distance of a tile's middle is taken for bare table."""

LIKE = 22.0
"""Mean grey levels, after the light is divided out, within which a spot looks as it did bare."""

RIM = 0.25
"""Width of the white paper about a marker, in sides of it."""

OTHER, LEAST_CELLS = 0.5, 200
"""Change of a spot (log) beyond the usual one from which something else lies there, and as few bare spots do not show
how the light has changed."""

SEEN = 0.7
"""Share of a spot that must have been seen bare before."""


class Ground:
    """A coarse picture of the table's top, (rows, columns, 3), one value every CELL_MM, kept where it lay bare."""

    def __init__(self, board: Board) -> None:
        corners = np.array(board.corners_mm, dtype=np.float64)
        self._low = corners.min(axis=0)
        size = np.ceil((corners.max(axis=0) - self._low) / CELL_MM).astype(int)
        xs = self._low[0] + (np.arange(size[0]) + 0.5) * CELL_MM
        ys = self._low[1] + (np.arange(size[1]) + 0.5) * CELL_MM
        self._at = np.stack(np.meshgrid(xs, ys), axis=-1)
        self._markers = np.zeros(self._at.shape[:2], dtype=bool)
        for square in board.markers.corners_mm.values() if board.markers is not None else ():
            spots = np.array(square)[:, :2]
            # With its rim of paper: its edges look otherwise after the smallest shift.
            reach = RIM * float(np.linalg.norm(spots[0] - spots[1])) + CELL_MM
            inside = (self._at > spots.min(axis=0) - reach) & (self._at < spots.max(axis=0) + reach)
            self._markers |= inside.all(axis=-1)
        self._bare = np.full((*self._at.shape[:2], 3), np.nan, np.float32)
        self._now = self._bare.copy()
        x, y = np.moveaxis((self._at - self._at.mean(axis=(0, 1))) / np.ptp(self._at, axis=(0, 1)), -1, 0)
        self._terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1).astype(np.float32)
        self._apart: NDArray[np.float32] | None = None

    def look(self, picture: Image, camera: Camera) -> None:
        """Takes in a new picture."""
        image = as_bgr(picture)
        if image is None:
            return
        points = np.column_stack([self._at.reshape(-1, 2), np.zeros(self._at[..., 0].size)])
        px = camera.project(points).astype(np.float32).reshape(*self._at.shape[:2], 2)
        soft = cv2.blur(image, (7, 7))
        colours = cv2.remap(soft, px[..., 0], px[..., 1], cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
        self._now = np.asarray(colours, np.float32)
        self._apart = None

    def keep(self, tiles_mm: Sequence[tuple[float, float]]) -> None:
        """Remembers the table where no tile lies; a hand that is over it is not in a picture at rest."""
        clear = np.ones(self._at.shape[:2], dtype=bool)
        for x, y in tiles_mm:
            clear &= np.hypot(self._at[..., 0] - x, self._at[..., 1] - y) > CLEAR_MM
        fresh = clear & np.isnan(self._bare[..., 0])
        if fresh.any():
            self._bare[fresh] = self._now[fresh]
            self._apart = None

    def bare(self, xy_mm: tuple[float, float]) -> bool:
        """Whether the table can be seen at this place, as it looked when nothing lay there."""
        levels = self.apart(xy_mm)
        return levels is not None and levels < LIKE

    def apart(self, xy_mm: tuple[float, float]) -> float | None:
        """By how many grey levels a place looks otherwise than bare; None where it was never seen bare."""
        near = np.hypot(self._at[..., 0] - xy_mm[0], self._at[..., 1] - xy_mm[1]) < 16.0
        known = ~np.isnan(self._bare[..., 0])
        if not near.any() or (near & known).sum() < SEEN * near.sum():
            return None
        return float(self._off()[near & known].mean())

    def covered_mm2(self, box_mm: tuple[float, float, float, float], tiles_mm: Sequence[Sequence[Point]]) -> float:
        """How much of a box (left, low, right, high) looks otherwise than bare, apart from these tiles' outlines and
        from markers."""
        tiles = np.zeros(self._at.shape[:2], np.uint8)
        for outline in tiles_mm:
            cells = (np.array(outline) - self._low) / CELL_MM - 0.5
            cv2.fillPoly(tiles, [np.round(cells).astype(np.int32)], 1)
        apart = cv2.dilate(tiles, np.ones((3, 3), np.uint8)) == 0
        x, y = self._at[..., 0], self._at[..., 1]
        inside = (box_mm[0] <= x) & (x <= box_mm[2]) & (box_mm[1] <= y) & (y <= box_mm[3])
        other = inside & apart & ~self._markers & ~np.isnan(self._bare[..., 0]) & (self._off().mean(axis=-1) >= LIKE)
        return float(np.count_nonzero(other)) * CELL_MM**2

    def _off(self) -> NDArray[np.float32]:
        """By how many levels each value differs from the bare one in the light of now."""
        if self._apart is None:
            self._apart = np.asarray(np.abs(self._now - self._bare * self._factor()), np.float32)
        return self._apart

    def _factor(self) -> NDArray[np.float32]:
        """By what each value has changed with the light alone, (rows, columns, 3): smoothly over the table, since one
        lamp lights it evenly and the next one from a side. What lies there now is left aside as it fits nothing."""
        now, bare, terms = (part[::2, ::2] for part in (self._now, self._bare, self._terms))
        both = bare[..., 1] > 5
        if not both.any():
            return np.ones_like(self._now)
        change = np.log((now[both] + 4.0) / (bare[both] + 4.0))
        usual = np.median(change, axis=0)
        terms = terms[both]
        alike = (np.abs(change - usual) < OTHER).all(axis=1)
        found = np.zeros((terms.shape[1], 3), np.float32)
        found[0] = usual
        for _ in range(2):
            if np.count_nonzero(alike) < LEAST_CELLS:
                break
            found = np.asarray(np.linalg.lstsq(terms[alike], change[alike], rcond=None)[0], np.float32)
            alike = (np.abs(change - terms @ found) < OTHER / 2).all(axis=1)
        return np.asarray(np.exp(np.clip(self._terms @ found, usual - OTHER, usual + OTHER)), np.float32)
