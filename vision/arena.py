"""The arena's floor as one camera sees it: laid flat, compared with itself, and what lies on it picked out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from calibration.profile import TableProfile
from devices.contract import Image
from vision.arena_paper import Mask, Paper
from vision.pictures import halved
from vision.sampling import Floats, logs, middle

STEP_MM = 3.0
"""Side of a cell of the flat map."""
CELL, WINDOW = 8, 7
"""Cells (each way) that are averaged to one value of the coarse floor, and how many of those (each way) the floor's
median is taken over: 168 mm, twice as wide as a heap of a few figures."""
REACH_MM = 24.0
"""Depth, from the line's outer edge both ways, within which the line's own look is learned side by side."""
LINE_SLACK_MM = 3.0
"""Width beside the line that its blur may reach."""
BRIGHTER, OTHER, DARKER, BLACK = 0.16, 0.14, 0.12, 1.1
"""Log differences from the floor that count: brighter, of another colour, darker (a shadow may be), far too dark for a
shadow. Raised where the floor itself is lively."""
EDGE = 0.22
"""Log difference within 9 mm from which the floor map has an edge: a lamp's mirror image has none."""
BUSY = 0.36
"""How much the floor's own liveliness may raise what counts before a figure could be overlooked on it."""
NODE = 12
"""Cells from one exactly projected place of the map to the next: perspective bends so little between that straight
lines will do."""


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """The flat map: `low_mm` is its corner, cells of STEP_MM, x along columns, y along rows.

    `solid` marks cells that differ from the floor in a way that no shadow does (brighter, of another colour, black);
    `dark` those that may be shadow; `seen` those that lie in the picture; `edges` those at which the look changes
    sharply; `paper` the markers', on which what is white is not told from them. `glow` (uint8): by how many levels a
    cell outshines the floor around, in the colour in which it does so most. `busy`: so lively a floor that a figure
    could be overlooked on it. `line_mm` tells, for each side along which the line was found, how far its outer edge is
    seen outside (+) or inside (-) its place.
    """

    low_mm: Array
    solid: Mask
    dark: Mask
    seen: Mask
    glow: Image
    edges: Mask
    paper: Mask
    busy: bool
    line_mm: tuple[float, ...]

    def cells(self, points_mm: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Column and row of points (N, 2), held within the map."""
        at = np.rint((points_mm - self.low_mm) * (1.0 / STEP_MM)).astype(np.intp)
        return np.clip(at[:, 0], 0, self.solid.shape[1] - 1), np.clip(at[:, 1], 0, self.solid.shape[0] - 1)

    def points(self, mask: Mask) -> Array:
        """The marked cells as points (N, 2) in mm."""
        found = cv2.findNonZero(mask)
        return np.empty((0, 2)) if found is None else found.reshape(-1, 2) * STEP_MM + self.low_mm

    def inside(self, outline_mm: Array) -> Mask:
        """Cells within the convex hull of points (N, 2)."""
        hull = cv2.convexHull(((outline_mm - self.low_mm) / STEP_MM).astype(np.float32)).reshape(-1, 2)
        mask = np.zeros_like(self.solid)
        cv2.fillConvexPoly(mask, np.rint(np.clip(hull, -1e4, 1e4)).astype(np.int32), 1)
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class _Spots:
    """Where the cells of the map fall in a picture of this size (height, width) by this camera, made smaller so many
    `times` to one half: as cv2.remap takes them; and which are `seen`."""

    camera: Camera
    size: tuple[int, int]
    times: int
    maps: tuple[NDArray[Any], NDArray[Any]]
    seen: Mask


class Arena:
    """The floor of one profile's arena, picture after picture."""

    def __init__(self, profile: TableProfile) -> None:
        """`profile.board` is a rectangle along the axes; its `sizes_mm` may give `apron` and `wall_gap`, its `grid`
        the side of the `wall`."""
        board = profile.board
        corners = np.array(board.corners_mm)
        self.low, self.high = corners.min(axis=0), corners.max(axis=0)
        apron = board.sizes_mm.get("apron", 150.0)
        reach = dict.fromkeys(("near", "right", "far", "left"), apron)
        wall = str(board.grid.get("wall", "none"))
        if wall in reach:
            # Of the cells at the wall's foot the last one may show the wall itself.
            reach[wall] = max(board.sizes_mm.get("wall_gap", 8.0) - STEP_MM, 0.0)
        self.floor_low = self.low - np.array([reach["left"], reach["near"]])
        self.floor_high = self.high + np.array([reach["right"], reach["far"]])
        span = np.ceil((self.floor_high - self.floor_low) / STEP_MM).astype(int)
        self._shape = (int(span[1]), int(span[0]))
        wide = board.sizes_mm.get("line", 10.0) + LINE_SLACK_MM
        outer, inner = self.low - LINE_SLACK_MM, self.high + LINE_SLACK_MM
        self._off_line = np.full(self._shape, 255, dtype=np.uint8)
        for (low, high), level in (((outer, inner), 0), ((self.low + wide, self.high - wide), 255)):
            a, b = (np.rint((p - self.floor_low) / STEP_MM).astype(int) for p in (low, high))
            self._off_line[max(a[1], 0) : b[1] + 1, max(a[0], 0) : b[0] + 1] = level
        self._papers: list[Paper] = []
        if board.markers is not None and not profile.corners_px:
            for number, square in board.markers.corners_mm.items():
                cells = (np.array(square)[:, :2] - self.floor_low) / STEP_MM
                self._papers.append(Paper(board.markers.dictionary, number, cells, self._shape))
        self._sheets = np.zeros(self._shape, dtype=np.uint8)
        for paper in self._papers:
            paper.mark(self._sheets)
        self._spots: _Spots | None = None

    def floor(self, picture: Image, camera: Camera) -> Floor:
        """The flat map of this picture."""
        flat, seen = self._flat(picture, camera)
        empty = self._empty(flat)
        glow = _largest(cv2.split(cv2.subtract(flat, empty)))
        off = logs(flat) - logs(empty)
        sides = self._without_line(off, seen)
        planes = cv2.split(off)
        light = (planes[0] + planes[1] + planes[2]) * np.float32(1.0 / 3.0)
        tint = np.asarray(_largest([cv2.absdiff(p, light) for p in planes]), dtype=np.float32)
        liveliness, colourfulness = _spread(light[::3, ::3]), _spread(tint[::3, ::3])
        needed = max(BRIGHTER, 5 * liveliness), max(OTHER, 6 * colourfulness)
        bright, other = light > needed[0], tint > needed[1]
        solid = np.asarray(bright | other | (light < -BLACK), dtype=np.uint8)
        dark = np.asarray(light < -max(DARKER, 4 * liveliness), dtype=np.uint8)
        for paper in self._papers:
            paper.judge(flat, solid, dark)
        steep = _largest([cv2.morphologyEx(p, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) for p in planes])
        edges = np.asarray(steep > EDGE, dtype=np.uint8) & seen
        return Floor(
            self.floor_low,
            solid & seen,
            dark & seen,
            seen,
            np.asarray(glow, dtype=np.uint8),
            edges,
            self._sheets,
            max(needed) > BUSY,
            sides,
        )

    def _flat(self, picture: Image, camera: Camera) -> tuple[Image, Mask]:
        if self._spots is None or self._spots.camera is not camera or self._spots.size != picture.shape[:2]:
            self._spots = self._spots_of(camera, picture.shape[0], picture.shape[1])
        spots = self._spots
        small = halved(picture, spots.times)
        flat = cv2.remap(small, *spots.maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(flat, dtype=np.uint8), spots.seen

    def _spots_of(self, camera: Camera, height: int, width: int) -> _Spots:
        rows, columns = self._shape
        down, across = -(-rows // NODE) + 2, -(-columns // NODE) + 2
        # Places half a node aside, one beyond the map on every side: so resizing fills in the cells between.
        xs, ys = ((np.arange(n) - 0.5) * NODE - 0.5 for n in (across, down))
        grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2) * STEP_MM + self.floor_low
        pixels = camera.project(np.column_stack([grid, np.zeros(len(grid))])).reshape(down, across, 2)
        pixels = np.clip(np.nan_to_num(pixels, nan=-1e5), -1e5, 1e5)
        scale = float(np.median(np.linalg.norm(np.diff(pixels, axis=1), axis=2))) / NODE
        times = max(int(math.log2(max(scale + 0.6, 1.0))), 0)
        while times and min(height, width) >> (times - 1) <= 64:
            times -= 1
        pixels = ((pixels + 0.5) / 2**times - 0.5).astype(np.float32)
        maps = cv2.resize(pixels, (across * NODE, down * NODE), interpolation=cv2.INTER_LINEAR)
        x, y = cv2.split(maps[NODE : NODE + rows, NODE : NODE + columns])
        seen = (x >= 0) & (y >= 0) & (x <= (width >> times) - 1) & (y <= (height >> times) - 1)
        return _Spots(camera, (height, width), times, (x, y), np.asarray(seen, dtype=np.uint8))

    def _empty(self, flat: Image) -> Image:
        """The empty floor everywhere: medians over wide windows, so that what lies there does not
        count, and neither does the line."""
        rows, columns = flat.shape[:2]
        size = (max(WINDOW, columns // CELL), max(WINDOW, rows // CELL))
        share = np.asarray(cv2.resize(self._off_line, size, interpolation=cv2.INTER_AREA), dtype=np.float32) / 255.0
        kept = cv2.bitwise_and(flat, flat, mask=self._off_line)
        sums = np.asarray(cv2.resize(kept, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
        means = np.minimum(sums / np.maximum(share, 0.2)[..., None] + 0.5, 255.0).astype(np.uint8)
        coarse = cv2.medianBlur(means, WINDOW)
        smooth = cv2.resize(coarse, (columns, rows), interpolation=cv2.INTER_LINEAR)
        return np.asarray(smooth, dtype=np.uint8)

    def _without_line(self, off: Floats, seen: Mask) -> tuple[float, ...]:
        """Takes the line's own look out of the log differences, in place, along each side; how far outside its place
        each side's outer edge is seen. It is learned from the side itself, so that any width and colour will do."""
        first = np.rint((self.low - self.floor_low) / STEP_MM).astype(int)
        last = np.rint((self.high - self.floor_low) / STEP_MM).astype(int)
        deep = int(REACH_MM / STEP_MM)
        found: list[float] = []
        looks = []
        for axis in (0, 1):
            for edge in (first[axis], last[axis]):
                across = slice(max(edge - deep, 0), min(edge + deep + 1, self._shape[1 - axis]))
                along = slice(max(first[1 - axis], 0), last[1 - axis] + 1)
                part = (along, across) if axis == 0 else (across, along)
                band, mask = off[part][::2] if axis == 0 else off[part][:, ::2].transpose(1, 0, 2), seen[part]
                mask = mask[::2] if axis == 0 else mask[:, ::2].T
                profile = _profile(band, mask)
                outside = -1 if edge == first[axis] else 1
                at = _edge(
                    profile[::-outside], int(edge) - across.start if outside < 0 else across.stop - 1 - int(edge)
                )
                if at is not None:
                    nominal = float((self.low if outside < 0 else self.high)[axis] - self.floor_low[axis]) / STEP_MM
                    found.append((at + (float(edge) - nominal) * outside) * STEP_MM)
                lower = np.minimum(np.minimum(profile, np.roll(profile, 1, 0)), np.roll(profile, -1, 0))
                upper = np.maximum(np.maximum(profile, np.roll(profile, 1, 0)), np.roll(profile, -1, 0))
                # A side's end lies under the line of the next side, which its own profile knows nothing of.
                wide = slice(max(first[1 - axis] - 2, 0), last[1 - axis] + 3)
                part = (wide, across) if axis == 0 else (across, wide)
                shape = (1, -1, 3) if axis == 0 else (-1, 1, 3)
                looks.append((part, np.minimum(lower, 0).reshape(shape), np.maximum(upper, 0).reshape(shape)))
        for part, lower, upper in looks:
            band = off[part]
            off[part] = np.maximum(band - upper, 0) + np.minimum(band - lower, 0)
        return tuple(found)


def covered(floor: Floor, least_mm2: float) -> list[Mask]:
    """Masks of what may lie on the floor, each joined whole, at least `least_mm2` large; largest first. On a marker's
    paper half as much will do, for what is white is not seen there, if it is no shadow: where the paper ends dark floor
    looks like one.

    Shadows are part of them: which cells belong to a figure is found out by fitting it.
    """
    either = floor.solid | floor.dark
    joined = cv2.morphologyEx(either, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)))
    joined = cv2.morphologyEx(joined, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8, ltype=cv2.CV_16U)
    on_paper, solid = (np.bincount(labels[mask > 0], minlength=count) for mask in (floor.paper, floor.solid))
    sizes = stats[:, cv2.CC_STAT_AREA]
    little = np.where((on_paper > 0) & (2 * solid >= sizes), least_mm2 / 2, least_mm2)
    large = [i for i in range(1, count) if sizes[i] * STEP_MM**2 >= little[i]]
    return [(labels == i).astype(np.uint8) for i in sorted(large, key=lambda i: -sizes[i])]


def _profile(band: Floats, mask: Mask) -> Floats:
    """Median level (D, 3) at each depth of a band (L, D, 3), nought where too little of it is seen."""
    if mask.all():
        # Ordered where they lie together: that costs a third of ordering them across.
        return middle(np.ascontiguousarray(band.reshape(len(band), -1).T), 1).reshape(-1, 3)
    result = np.zeros((band.shape[1], 3), dtype=np.float32)
    for depth in np.flatnonzero(mask.mean(axis=0) > 0.3):
        result[depth] = middle(band[mask[:, depth] > 0, depth], 0)
    return result


def _edge(profile: Floats, edge: int) -> float | None:
    """How many cells outside index `edge` the line's outer edge is seen in a profile (D, 3) that begins inside or
    outside; None where no line is seen. `profile` is ordered from outside to inside."""
    strength = np.abs(profile).mean(axis=1)
    near = strength[max(edge - 2, 0) : edge + 5]
    if not len(near) or near.max() < BRIGHTER:
        return None
    half = near.max() / 2
    i = int(np.argmax(strength >= half))
    before = strength[i - 1] if i > 0 else 0.0
    return float(edge - (i - (strength[i] - half) / max(strength[i] - before, 1e-6)))


def _largest(planes: Sequence[Any]) -> Any:
    """The largest value of the planes at each place."""
    blue, green, red = planes
    return cv2.max(cv2.max(blue, green), red)


def _spread(values: Floats) -> float:
    flat = values.ravel()
    return float(1.4826 * middle(np.abs(flat - middle(flat, 0)), 0))
