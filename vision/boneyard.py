"""How many tiles lie face down in the marked areas of a table: as many as explain all that is not bare there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Camera
from devices.contract import Image
from vision.reading import Piece
from vision.sampling import Bools, Floats, logs

PX_MM = 2.0
"""Side of a pixel of an area's plan."""
AROUND_MM = 30.0
"""So far about an area the bare table is looked at, to know it from what lies on it."""
APART, TIMES = 0.16, 4.5
"""A spot is not bare from this difference in log units on, and from so many times the table's own spread."""
SPREAD = 0.12
"""A table that differs from itself by more (a printed cloth) cannot be told from tiles."""
LONG, SHORT = (0.85, 1.3), (0.8, 1.5)
"""Sides of one tile's patch over the tile's own; its sides and its shadow are seen with it."""
FULL = 0.8
"""Share of its upright rectangle that a single tile's patch fills."""
LEFT_OVER = 0.3
"""Share of a tile's face that no tile explains, from which the number is not known."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Count:
    """Tiles seen, and whether nothing else lies there: only then is the number known."""

    tiles: int
    whole: bool


def count(
    picture: Image, camera: Camera, areas: Sequence[Box], pieces: Sequence[Piece], size_mm: tuple[float, float, float]
) -> Count:
    """The tiles in areas of the table (left, low, right, high in mm); `pieces` are those that were found in the picture
    otherwise, `size_mm` length, width and height of a tile."""
    tiles, whole = 0, True
    for area in areas:
        inside = [p for p in pieces if area[0] <= p.xy[0] <= area[2] and area[1] <= p.xy[1] <= area[3]]
        found, clean = _in_area(picture, camera, area, inside, size_mm)
        tiles, whole = tiles + found, whole and clean
    return Count(tiles, whole)


def _in_area(
    picture: Image, camera: Camera, area: Box, pieces: Sequence[Piece], size_mm: tuple[float, float, float]
) -> tuple[int, bool]:
    long, short, high = size_mm
    plan, low = _plan(picture, camera, area, high)
    other = _not_bare(plan)
    if other is None:
        return len(pieces), False
    known = np.zeros(other.shape, np.uint8)
    for piece in pieces:
        corners = (np.array(piece.outline) - low) / PX_MM - 0.5
        cv2.fillPoly(known, [np.round(corners).astype(np.int32)], 1)
    rest = (other & (cv2.dilate(known, np.ones((7, 7), np.uint8)) == 0)).astype(np.uint8)
    rest = cv2.morphologyEx(rest, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    edge = round(AROUND_MM / PX_MM)
    number, marks, stats, _ = cv2.connectedComponentsWithStats(rest, connectivity=4)
    tiles, whole = len(pieces), True
    for label in range(1, number):
        patch = marks == label
        within = float(np.count_nonzero(patch[edge:-edge, edge:-edge]))
        if within * PX_MM**2 < LEFT_OVER * long * short:
            continue
        if _is_tile(patch, int(stats[label, cv2.CC_STAT_AREA]), long, short):
            tiles += 1
        else:
            whole = False
    return tiles, whole


def _plan(picture: Image, camera: Camera, area: Box, height_mm: float) -> tuple[Image, Floats]:
    """An area with what lies about it from above, at the height of the tiles' faces, and the mm of its first corner."""
    low = np.array([area[0], area[1]]) - AROUND_MM
    far = np.array([area[2], area[3]]) + AROUND_MM
    wide, tall = (int(n) for n in np.ceil((far - low) / PX_MM))
    xs = low[0] + (np.arange(wide) + 0.5) * PX_MM
    ys = low[1] + (np.arange(tall) + 0.5) * PX_MM
    at = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    px = camera.project(np.column_stack([at, np.full(len(at), height_mm)])).astype(np.float32).reshape(tall, wide, 2)
    plan = cv2.remap(picture, px[..., 0], px[..., 1], cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.blur(plan, (3, 3)), dtype=np.uint8), np.asarray(low, np.float32)


def _not_bare(plan: Image) -> Bools | None:
    """Where a plan differs from the table, whose light is a quadratic; None where the table itself is too uneven."""
    seen = logs(plan)
    h, w = seen.shape[:2]
    x, y = np.meshgrid(np.linspace(-1, 1, w), np.linspace(-1, 1, h))
    terms = np.stack([np.ones_like(x), x, y, y * y], axis=-1).astype(np.float32)
    basis, values = terms[::2, ::2].reshape(-1, 4), seen[::2, ::2].reshape(-1, 3)
    weight = np.ones(len(values), np.float32)
    fit = np.zeros((4, 3), np.float32)
    for scale in (0.6, 0.3, 0.2, 0.15, 0.12, 0.1):
        root = np.sqrt(weight)[:, None]
        fit = np.asarray(np.linalg.lstsq(basis * root, values * root, rcond=None)[0], np.float32)
        off = np.abs(values - basis @ fit).max(axis=1)
        weight = 1 / (1 + (off / scale) ** 4)
    off = np.asarray(np.abs(seen - terms @ fit).max(axis=2), np.float32)
    near = off[off < np.quantile(off, 0.6)]
    spread = float(np.sqrt(np.mean(near**2)))
    return None if spread > SPREAD else np.asarray(off > max(APART, TIMES * spread))


def _is_tile(patch: Bools, area_px: int, long: float, short: float) -> bool:
    points = np.argwhere(patch)[:, ::-1].astype(np.float32)
    sides = sorted(side + 1 for side in cv2.minAreaRect(points)[1])
    one, two = sides[1] * PX_MM / long, sides[0] * PX_MM / short
    full = area_px / (sides[0] * sides[1])
    return LONG[0] < one < LONG[1] and SHORT[0] < two < SHORT[1] and full > FULL
