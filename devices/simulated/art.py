"""What is printed and painted: tile faces in several styles, wooden doors, table tops. Invented, after no real game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image
from devices.simulated.sprites import SHIFT, as_image

Bgr = tuple[int, int, int]
Floats32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ArtStyle:
    """How a set's tiles, doors and pawns look.

    `ground` is the tile's colour, `grain` its texture (`fibre`, `speckle`, `marble`, `weave`, `plain`) with strength
    `grain_level` in grey levels. A path is drawn as a `line`: `pair` (two strokes), `dashes` (two broken strokes),
    `bar` (one broad stroke) or `rail` (a broad stroke with a dark middle), `line_mm` wide over all, strokes of
    `stroke_mm`. The triangle lies `triangle_at_mm` from the middle along both arms, its legs `triangle_mm` long.
    """

    name: str
    ground: Bgr
    grain: str
    grain_level: float
    ink: Bgr
    line: str
    line_mm: float
    stroke_mm: float
    triangle: Bgr
    triangle_at_mm: float
    triangle_mm: float
    pointing_out: bool
    edge: Bgr
    wood: Bgr
    pawns: tuple[Bgr, Bgr]


STYLES: dict[str, ArtStyle] = {
    style.name: style
    for style in (
        ArtStyle("slate", (74, 62, 52), "speckle", 7, (236, 240, 240), "pair", 8.0, 2.2,
                 (236, 240, 240), 13.5, 8.0, True, (92, 96, 100), (128, 178, 214), ((236, 238, 232), (170, 66, 22))),
        ArtStyle("sand", (132, 176, 204), "fibre", 11, (250, 250, 248), "pair", 9.0, 2.6,
                 (250, 250, 248), 15.0, 9.0, False, (86, 118, 146), (70, 104, 146), ((240, 240, 236), (150, 48, 30))),
        ArtStyle("moss", (58, 92, 62), "marble", 9, (214, 236, 240), "dashes", 9.0, 2.6,
                 (190, 226, 240), 14.0, 9.0, True, (70, 84, 88), (110, 160, 205), ((228, 236, 238), (40, 40, 176))),
        ArtStyle("brick", (62, 74, 148), "weave", 8, (235, 238, 242), "bar", 6.0, 6.0,
                 (235, 238, 242), 13.0, 9.0, False, (54, 62, 96), (140, 190, 222), ((236, 236, 230), (44, 40, 38))),
        ArtStyle("night", (64, 36, 34), "marble", 6, (112, 196, 232), "rail", 8.5, 2.4,
                 (112, 196, 232), 14.5, 8.5, True, (50, 48, 52), (92, 132, 172), ((226, 232, 226), (70, 130, 36))),
    )
}  # fmt: skip

TABLES = ("oak", "walnut", "cloth", "mat", "laminate")


def noise(rng: np.random.Generator, height: int, width: int, size_px: float, stretch: float = 1.0) -> Floats32:
    """Smooth noise of mean 0 and deviation about 1 (float32, height x width), blobs `size_px` wide, `stretch` times
    longer along x."""
    rows, columns = max(2, int(height / size_px) + 2), max(2, int(width / (size_px * stretch)) + 2)
    coarse = rng.standard_normal((rows, columns), dtype=np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def paint_tile(style: ArtStyle, straight: bool, triangle: bool, seed: int, mm: float, px_per_mm: float) -> Image:
    """The top face of a tile of side `mm` unturned (a straight joins N and S, a bend N and E), north up."""
    fine = max(px_per_mm, 3.0)
    side = round(mm * fine)
    rng = np.random.default_rng([seed, 71])
    face = _ground(style, rng, side, fine)
    for turn in (0, 2) if straight else (0, 1):
        _arm(face, style, turn, fine)
    if triangle:
        _triangle(face, style, fine)
    rim = np.full((side, side), 255, np.uint8)
    cv2.rectangle(rim, (0, 0), (side - 1, side - 1), 205, max(1, round(0.35 * fine)))
    face = as_image(cv2.multiply(face, cv2.merge([rim, rim, rim]), scale=1 / 255))
    wanted = max(8, round(mm * px_per_mm))
    return as_image(cv2.resize(face, (wanted, wanted), interpolation=cv2.INTER_AREA))


def _ground(style: ArtStyle, rng: np.random.Generator, side: int, fine: float) -> Image:
    """A tile's bare face, cut out of the style's sheet, in a shade of its own."""
    sheet = _sheet(style, fine, 3 * side)
    x, y = (int(v) for v in rng.integers(2 * side, size=2))
    part = sheet[y : y + side, x : x + side]
    shade = 1 + rng.normal(0, 0.025) + rng.normal(0, 0.007, 3)
    return as_image(cv2.multiply(part, np.array([*shade, 1.0])))


@lru_cache(maxsize=4)
def _sheet(style: ArtStyle, fine: float, side: int) -> Image:
    """A sheet of the style's printed ground, `side` px wide."""
    rng = np.random.default_rng([76, len(style.name), *style.ground])
    if style.grain == "fibre":
        texture = noise(rng, side, side, 0.5 * fine, 7.0) * 0.8 + noise(rng, side, side, 9 * fine) * 0.6
    elif style.grain == "marble":
        base = noise(rng, side, side, 14 * fine) + 0.5 * noise(rng, side, side, 5 * fine)
        texture = np.sin(4 * base) + 0.3 * noise(rng, side, side, fine)
    elif style.grain == "weave":
        ramp = np.arange(side, dtype=np.float32) * (2 * np.pi / (1.6 * fine))
        texture = np.sin(ramp)[:, None] * np.sin(ramp)[None, :] + 0.7 * noise(rng, side, side, 12 * fine)
    elif style.grain == "speckle":
        texture = noise(rng, side, side, 0.7 * fine) * 0.9 + noise(rng, side, side, 11 * fine) * 0.7
    else:
        texture = 0.5 * noise(rng, side, side, 12 * fine)
    level = style.grain_level * np.array([0.9, 1.0, 1.05], np.float32)
    return _clip(np.array(style.ground, np.float32) + texture[..., None] * level)


def _arm(face: Image, style: ArtStyle, turn: int, fine: float) -> None:
    """Draws the path from the middle to the side `turn` quarter turns clockwise from north."""
    half = face.shape[0] / 2 / fine
    out, stroke = style.line_mm / 2, style.stroke_mm
    if style.line == "bar":
        strokes = [(-out, out, 0.0, half, style.ink)]
    elif style.line == "rail":
        dark = (style.ground[0] // 3, style.ground[1] // 3, style.ground[2] // 3)
        strokes = [(-out, out, 0.0, half, style.ink), (-out + stroke, out - stroke, 0.0, half, dark)]
    else:
        pieces = [(0.0, half)] if style.line == "pair" else [(6.0, 14.0), (16.0, 22.5), (24.5, half)]
        strokes = [(left, left + stroke, near, far, style.ink) for near, far in pieces for left in (-out, out - stroke)]
    for left, right, near, far, ink in strokes:
        _polygon(face, [(left, near), (right, near), (right, far), (left, far)], turn, fine, ink)


def _triangle(face: Image, style: ArtStyle, fine: float) -> None:
    at, leg = style.triangle_at_mm, style.triangle_mm
    if style.pointing_out:
        corners = [(at + leg / 2, at + leg / 2), (at - leg / 2, at + leg / 2), (at + leg / 2, at - leg / 2)]
    else:
        corners = [(at - leg / 2, at - leg / 2), (at + leg / 2, at - leg / 2), (at - leg / 2, at + leg / 2)]
    _polygon(face, corners, 0, fine, style.triangle)


def _polygon(face: Image, points_mm: list[tuple[float, float]], turn: int, fine: float, ink: Bgr) -> None:
    """Fills a polygon in mm east and north of the middle, after `turn` quarter turns clockwise."""
    middle = (face.shape[0] - 1) / 2
    points = np.array(points_mm)
    for _ in range(turn % 4):
        points = np.column_stack([points[:, 1], -points[:, 0]])
    px = np.column_stack([middle + points[:, 0] * fine, middle - points[:, 1] * fine])
    cv2.fillConvexPoly(face, np.round(px * (1 << SHIFT)).astype(np.int32), ink, cv2.LINE_AA, SHIFT)


def door_side(style: ArtStyle) -> Bgr:
    """The colour of a door's side, where no light falls."""
    b, g, r = (int(c * 0.62) for c in style.wood)
    return b, g, r


def paint_door(style: ArtStyle, seed: int, mm: float, px_per_mm: float) -> Image:
    """The round wooden top of a door in a square (side `mm`) of its side's colour: grain, and the slit to grip it."""
    fine = 8.0
    side = round(mm * fine)
    rng = np.random.default_rng([seed, 72])
    rings = noise(rng, side, side, 1.1 * fine, 9.0) + 0.5 * noise(rng, side, side, 4 * fine)
    face = _clip(np.array(style.wood, np.float32) * (1 + 0.07 * rings[..., None] + rng.normal(0, 0.05)))
    slit = round(0.7 * fine)
    angle = rng.uniform(0, np.pi)
    reach = np.array([np.cos(angle), np.sin(angle)]) * side * 0.42
    a, b = (side / 2 - reach).astype(int), (side / 2 + reach).astype(int)
    dark = tuple(int(c * 0.45) for c in style.wood)
    cv2.line(face, (int(a[0]), int(a[1])), (int(b[0]), int(b[1])), dark, slit, cv2.LINE_AA)
    cv2.circle(face, (side // 2, side // 2), side // 2 - 2, tuple(int(c * 0.8) for c in style.wood), 4, cv2.LINE_AA)
    ys, xs = np.mgrid[:side, :side] - (side - 1) / 2
    face[xs**2 + ys**2 > (side / 2) ** 2] = door_side(style)
    wanted = max(6, round(mm * px_per_mm))
    return as_image(cv2.resize(face, (wanted, wanted), interpolation=cv2.INTER_AREA))


def paint_table(table: str, seed: int, height: int, width: int, px_per_mm: float) -> Image:
    """A table top seen straight from above, of `height` x `width` px; `table` is one of TABLES."""
    rng = np.random.default_rng([seed, 73])
    fine = px_per_mm
    if table in ("oak", "walnut"):
        colour = np.array((88, 138, 182) if table == "oak" else (36, 52, 78), np.float32)
        grain = 0.55 * noise(rng, height, width, 2.2 * fine, 30) + 0.5 * noise(rng, height, width, 9 * fine, 14)
        grain += 0.3 * noise(rng, height, width, 1.0 * fine, 12)
        plank = 118 * fine
        for i in range(int(height / plank) + 1):
            rows = slice(int(i * plank), int((i + 1) * plank))
            grain[rows] += rng.normal(0, 0.8)
            grain[rows.start : rows.start + max(1, round(0.9 * fine))] -= 4.5
        return _clip(colour * (1 + 0.10 * grain[..., None]))
    if table == "cloth":
        texture = noise(rng, height, width, 1.1 * fine) * 0.55 + noise(rng, height, width, 60 * fine) * 0.5
        return _clip(np.array((52, 30, 122), np.float32) * (1 + 0.16 * texture[..., None]))
    if table == "mat":
        texture = noise(rng, height, width, 0.9 * fine) * 0.8 + noise(rng, height, width, 40 * fine) * 0.5
        return _clip(np.array((44, 42, 40), np.float32) + 5.5 * texture[..., None])
    if table == "laminate":
        texture = noise(rng, height, width, 26 * fine, 1.6) * 0.7 + noise(rng, height, width, 1.4 * fine) * 0.35
        return _clip(np.array((196, 202, 205), np.float32) + 4.5 * texture[..., None])
    raise ValueError(f"unknown table {table!r}; there are {', '.join(TABLES)}")


def _clip(values: NDArray[np.generic]) -> Image:
    return as_image(np.clip(values, 0, 255))
