"""What stands on MOOGH's hunting ground: the beast's big die, and the cubes of the tribesmen by colour and place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from calibration.geometry import Camera
from devices.contract import Image
from vision.moogh_dice import Face, read_face
from vision.sampling import Bools, Floats, Indices, logs, middle, solved

PX_MM = 1.5
"""Side of a pixel of the plan."""
RIM = 9
"""The plan reaches so many pixels beyond the board."""
EDGE_MM = 3.0
"""A cube whose middle lies nearer to the board's edge, or beyond it, is not on a cell."""
HUES: Mapping[str, tuple[float, float]] = {
    # Red-green and blue-green in log units of painted wood under white light; white has none.
    "red": (1.0, 0.03),
    "green": (-0.85, -0.62),
    "brown": (0.31, -0.15),
}
_TURN, _WEAK, _STRENGTH = 0.16, 0.05, 0.33
"""Standard deviations of a hue's direction (radians), of a weak hue in any direction, and of its log strength."""
_NEAR = 2.6
"""Standard deviations within which a pixel may be of a colour."""
_PALE, _BRIGHT, _DARK = 0.14, 0.17, -0.12
"""White is at most so coloured and so much brighter than the board, brown at least so much darker (log units)."""
_TOP, _AROUND = 5, (11, 15)
"""Sides (px) of the square that a cube's top fills, and of the band about it in which there is little of its colour."""
_FULL, _EMPTY = 0.80, 0.40
_HALF_FULL = 0.5
"""Share of the square from which there may be a cube."""
_BRIGHTER = 0.2
"""White is at least so much brighter than the brightest of the board about it: the print's light spots have soft edges,
and what lies beside a dark one is as bright on its other side."""
_BESIDE = (13, 21)
"""Sides (px) of the square band about a cube in which the board is seen."""
_BIG, _CLEAR_FIT = 0.55, 0.86
"""Share of a square of the beast's size that is not the board's from which the beast may be there, and correlation from
which a die is believed where there is no such square."""
_ALIEN, _LIKE = 0.2, 0.25
"""Distance in hue from the board's own from which something lies there, and within which two hues may be the same."""


@dataclass(frozen=True, slots=True)
class Cube:
    """A cube's place on the table in mm, how much of its top is seen in its colour (0..1), its mean hue."""

    xy_mm: tuple[float, float]
    fill: float
    hue: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """All that is seen on the board: the beast's die, cubes by colour (likeliest first), and of the cells (deep, wide;
    north row first) how full of a colour the fullest square is (`traces`), and which are hidden behind the die
    (`behind`) or under something unknown (`strange`)."""

    beast: Face | None
    cubes: Mapping[str, tuple[Cube, ...]]
    traces: Mapping[str, Floats]
    behind: Bools
    strange: Bools


@dataclass(frozen=True, slots=True)
class GroundSpec:
    """The board's measures: cells and their pitch, heights of board, cubes and die in mm."""

    wide: int
    deep: int
    pitch_mm: float
    board_mm: float
    cube_mm: float
    die_mm: float


def read_ground(
    picture: Image,
    camera: Camera,
    spec: GroundSpec,
    hues: Mapping[str, Sequence[float]],
    known_beast: Face | None = None,
) -> Ground:
    """What stands on the board; `hues` are those of the cubes, white excepted; `known_beast` where it is known that the
    beast's die still lies as it did."""
    flat = logs(_plan(picture, camera, spec, spec.board_mm + spec.cube_mm))
    seen = np.stack(
        [flat[..., 2] - flat[..., 1], flat[..., 0] - flat[..., 1], flat.mean(axis=2, dtype=np.float32)], axis=-1
    )
    own = _board_print(seen, spec)
    hue, light = seen[..., :2], seen[..., 2] - own[..., 2]
    apart = _length(hue - own[..., :2])
    beast = known_beast or _beast(picture, camera, spec, hue, apart > _ALIEN)
    die = _hidden(camera, spec, beast, light.shape)
    white = (np.minimum(_length(hue), apart) < _PALE) & (light > _BRIGHT / 2) & ~die
    masks = {name: mask & ~die for name, mask in _masks(hue, light, apart, hues).items()}
    masks["white"] = white & (light > _BRIGHT) & (light > _beside(light, die) + _BRIGHTER)
    cubes = {name: _cubes(mask, hue, spec) for name, mask in masks.items()}
    known = die.copy()
    for found in cubes.values():
        for cube in found:
            column, row = _pixel(cube.xy_mm, spec)
            known[max(0, row - 8) : row + 9, max(0, column - 8) : column + 9] = True
    return Ground(
        beast=beast,
        cubes=cubes,
        traces={name: _traces(white if name == "white" else mask, spec) for name, mask in masks.items()},
        behind=_cells(die, spec) > 0.7,
        strange=_cells((apart > _ALIEN) & ~known, spec) > 0.45,
    )


def _beast(picture: Image, camera: Camera, spec: GroundSpec, hue: Floats, alien: Bools) -> Face | None:
    """The big die: where something of its size is not of the board's colour, else anywhere on the board or half beyond
    its edge."""
    top = spec.board_mm + spec.die_mm
    side = round(spec.die_mm / PX_MM) - 2
    inside = np.zeros(alien.shape, dtype=bool)
    inside[RIM:-RIM, RIM:-RIM] = alien[RIM:-RIM, RIM:-RIM]
    full = _fullness(inside, side)
    near = None
    if float(full.max()) > _BIG:
        row, column = (int(v) for v in np.unravel_index(np.argmax(full), full.shape))
        part = (slice(max(0, row - 8), row + 9), slice(max(0, column - 8), column + 9))
        own = middle(hue[part][inside[part]], 0)
        # From here on by the die's own hue: the table beyond the board's edge is not the board's either.
        full = _fullness((_length(hue - own) < _LIKE) & alien, side)
        rows, columns = np.nonzero(full > full.max() - 0.05)
        places = np.array([_place(float(c), float(r), spec) for r, c in zip(rows, columns, strict=True)])
        foot, high = camera.position_mm[:2], float(camera.position_mm[2])
        # Of all that is seen of the die, its top is farthest from the point below the camera.
        away = np.linalg.norm(places - foot, axis=1)
        farthest = places[away >= away.max() - 2 * PX_MM].mean(axis=0)
        centre = foot + (farthest - foot) * (high - top) / (high - spec.board_mm - spec.cube_mm)
        near = read_face(picture, camera, (centre[0], centre[1]), top, spec.die_mm, spec.die_mm / 4)
        if near is not None and near.shown:
            return near
    wide, high = spec.wide * spec.pitch_mm, spec.deep * spec.pitch_mm
    for beyond in (spec.pitch_mm, 0.0, -spec.die_mm / 4):
        # Where the picture ends near the board, less of it is searched.
        reach = ((wide - spec.die_mm) / 2 + beyond, (high - spec.die_mm) / 2 + beyond)
        face = read_face(picture, camera, (wide / 2, high / 2), top, spec.die_mm, reach)
        if face is not None:
            return face if face.fit >= _CLEAR_FIT else near
    return near


def _fullness(mask: Bools, side: int) -> Floats:
    """Share of the square of `side` px about each pixel that a mask fills; pips are no holes in it."""
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    return np.asarray(
        cv2.boxFilter(closed.astype(np.float32), -1, (side, side), borderType=cv2.BORDER_CONSTANT), dtype=np.float32
    )


def _plan(picture: Image, camera: Camera, spec: GroundSpec, height_mm: float) -> Image:
    """The board from above with a rim, north up, as it is at a height."""
    wide, tall = _size(spec)
    corners = [_place(c, r, spec) for c, r in ((0, 0), (wide - 1, 0), (wide - 1, tall - 1), (0, tall - 1))]
    square = np.array([(0, 0), (wide - 1, 0), (wide - 1, tall - 1), (0, tall - 1)], np.float32)
    pixels = camera.project(np.column_stack([np.array(corners), np.full(4, height_mm)])).astype(np.float32)
    plan = cv2.warpPerspective(
        picture,
        cv2.getPerspectiveTransform(square, pixels),
        (wide, tall),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(cv2.blur(plan, (3, 3)), dtype=np.uint8)


def _board_print(seen: Floats, spec: GroundSpec) -> Floats:
    """Hue and brightness (plan, 3) of the board itself under this light: a quadratic fitted to the middles of the cells
    with those that hold something weighed out."""
    rows, columns, terms, basis = _light_terms(spec)
    cells = middle(seen[rows, columns], axis=1).astype(np.float64)
    basis = basis.astype(np.float64)
    weight = 1 / (1 + (np.abs(cells - middle(cells, 0)).max(axis=1) / 0.3) ** 4)
    fit = np.zeros((6, 3))
    for _ in range(6):
        weighted = basis * weight[:, None]
        fit = solved(weighted.T @ basis + 1e-9 * np.eye(6), weighted.T @ cells)
        off = np.abs(cells - basis @ fit).max(axis=1)
        weight = 1 / (1 + (off / max(2.0 * float(middle(off, 0)), 0.04)) ** 4)
    return np.asarray(terms @ fit.astype(np.float32))


@cache
def _light_terms(spec: GroundSpec) -> tuple[Indices, Indices, Floats, Floats]:
    """Rows and columns (cells, samples) of the cells' middles in the plan; a quadratic's terms over the plan (high,
    wide, 6) and in the cells (cells, 6)."""
    pitch = spec.pitch_mm / PX_MM
    tall = np.round(RIM + (np.arange(spec.deep) + 0.5) * pitch).astype(np.intp)
    across = np.round(RIM + (np.arange(spec.wide) + 0.5) * pitch).astype(np.intp)
    wide, high = _size(spec)
    x, y = np.meshgrid(np.linspace(-1, 1, wide), np.linspace(-1, 1, high))
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1).astype(np.float32)
    near = np.array([(r, c) for r in range(-4, 5, 2) for c in range(-4, 5, 2)], dtype=np.intp)
    row, column = (v.ravel() for v in np.meshgrid(tall, across, indexing="ij"))
    return row[:, None] + near[:, 0], column[:, None] + near[:, 1], terms, terms[row, column]


def _masks(hue: Floats, light: Floats, apart: Floats, hues: Mapping[str, Sequence[float]]) -> dict[str, Bools]:
    """Which pixels of the plan may be of which colour (white is judged elsewhere)."""
    strength = _length(hue)
    known = np.log(np.maximum(strength, 0.02))
    sigma = np.hypot(_TURN, _WEAK / np.maximum(strength, 0.02))
    names = list(hues)
    far = []
    for name in names:
        u, v = (float(h) for h in hues[name])
        turn = np.arctan2(hue[..., 1] * u - hue[..., 0] * v, hue[..., 0] * u + hue[..., 1] * v)
        far.append(np.hypot(turn / sigma, (known - math.log(math.hypot(u, v))) / _STRENGTH))
    distance = np.stack(far)
    nearest = np.argmin(distance, axis=0)
    masks: dict[str, Bools] = {}
    for n, name in enumerate(names):
        mask = (nearest == n) & (distance[n] < _NEAR) & (apart > _PALE / 2)
        masks[name] = mask & (light < _DARK) if name == "brown" else mask
    return masks


def _beside(light: Floats, die: Bools) -> Floats:
    """Brightness of the brightest spot, as large as a cube's top, in the band about each pixel of the plan."""
    inner, outer = _BESIDE
    band = np.ones((outer, outer), np.uint8)
    band[(outer - inner) // 2 : (outer + inner) // 2, (outer - inner) // 2 : (outer + inner) // 2] = 0
    spots = cv2.blur(light, (_TOP, _TOP))
    spots[die] = _DARK
    return np.asarray(cv2.dilate(spots, band), dtype=np.float32)


def _cubes(mask: Bools, hue: Floats, spec: GroundSpec) -> tuple[Cube, ...]:
    """Squares of the size of a cube that are full of a colour which the band about them lacks."""
    full = mask.astype(np.float32)
    top = cv2.boxFilter(full, -1, (_TOP, _TOP), borderType=cv2.BORDER_REPLICATE)
    inner, outer = _AROUND
    areas = inner**2, outer**2
    within, around = (
        cv2.boxFilter(full, -1, (s, s), normalize=False, borderType=cv2.BORDER_REPLICATE) for s in (inner, outer)
    )
    band = (around - within) / (areas[1] - areas[0])
    rated = np.where(band < _EMPTY, top, 0.0)
    found: list[Cube] = []
    for _ in range(12):
        peak = float(rated.max())
        if peak < _HALF_FULL:
            break
        rows, columns = np.nonzero(rated >= peak - 0.02)
        first = np.hypot(rows - rows[0], columns - columns[0]) < _TOP
        row, column = int(rows[first].mean().round()), int(columns[first].mean().round())
        part = (slice(max(0, row - 2), row + 3), slice(max(0, column - 2), column + 3))
        shade = hue[part][mask[part]]
        mean = middle(shade, 0) if len(shade) else np.zeros(2)
        place = _place(column, row, spec)
        if _on_board(place, spec):
            found.append(Cube(place, peak, (float(mean[0]), float(mean[1]))))
        rated[max(0, row - 7) : row + 8, max(0, column - 7) : column + 8] = 0.0
    return tuple(found)


def _hidden(camera: Camera, spec: GroundSpec, beast: Face | None, shape: tuple[int, ...]) -> Bools:
    """Pixels of the plan at the cubes' height that the beast's die hides from the camera."""
    out = np.zeros(shape, np.uint8)
    if beast is None or not beast.shown:
        return out.astype(bool)
    half = spec.die_mm / 2
    turn = math.radians(beast.turn_deg)
    square = np.array([(sx * half, sy * half) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    square = square @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    square += np.array(beast.xy_mm)
    level = spec.board_mm + spec.cube_mm
    upper = np.column_stack([square, np.full(4, spec.board_mm + spec.die_mm)])
    lower = np.column_stack([square, np.full(4, spec.board_mm)])
    cast = camera.to_plane(camera.project(np.concatenate([lower, upper])), level)
    hull = cv2.convexHull(cast.astype(np.float32)).reshape(-1, 2)
    pixels = np.array([_pixel((float(x), float(y)), spec) for x, y in hull], np.int32)
    cv2.fillConvexPoly(out, pixels, 1)
    return np.asarray(cv2.dilate(out, np.ones((3, 3), np.uint8)), dtype=bool)


def _length(hue: Floats) -> Floats:
    return np.asarray(cv2.magnitude(hue[..., 0].copy(), hue[..., 1].copy()), dtype=np.float32)


def _cells(mask: Bools, spec: GroundSpec) -> Floats:
    """Share (deep, wide) of each cell's middle half that a mask covers."""
    pitch = spec.pitch_mm / PX_MM
    edges = [
        np.round(RIM + np.add.outer(np.arange(n), (0.25, 0.75)) * pitch).astype(np.intp).ravel()
        for n in (spec.deep, spec.wide)
    ]
    sums = np.add.reduceat(np.add.reduceat(mask.astype(np.float32), edges[0], axis=0), edges[1], axis=1)[::2, ::2]
    heights, widths = (np.diff(e)[::2] for e in edges)
    return np.asarray(sums / np.outer(heights, widths), dtype=np.float32)


def _traces(mask: Bools, spec: GroundSpec) -> Floats:
    """How full (deep, wide) of a colour the fullest square of each cell is."""
    top = cv2.boxFilter(mask.astype(np.float32), -1, (_TOP, _TOP), borderType=cv2.BORDER_REPLICATE)
    edge = math.ceil(EDGE_MM / PX_MM)
    outside = np.ones(top.shape, dtype=bool)
    outside[RIM + edge : -RIM - edge, RIM + edge : -RIM - edge] = False
    top[outside] = 0.0
    pitch = spec.pitch_mm / PX_MM
    rows = np.round(RIM + np.arange(spec.deep) * pitch).astype(np.intp)
    columns = np.round(RIM + np.arange(spec.wide) * pitch).astype(np.intp)
    return np.maximum.reduceat(np.maximum.reduceat(top, rows, axis=0), columns, axis=1)


def _on_board(xy_mm: tuple[float, float], spec: GroundSpec) -> bool:
    """True where the middle of a cube is well on the board."""
    x, y = xy_mm
    wide, high = spec.wide * spec.pitch_mm, spec.deep * spec.pitch_mm
    return EDGE_MM < x < wide - EDGE_MM and EDGE_MM < y < high - EDGE_MM


def _size(spec: GroundSpec) -> tuple[int, int]:
    """Width and height of the plan in px."""
    return round(spec.wide * spec.pitch_mm / PX_MM) + 2 * RIM, round(spec.deep * spec.pitch_mm / PX_MM) + 2 * RIM


def _place(column: float, row: float, spec: GroundSpec) -> tuple[float, float]:
    """The table point of a pixel of the plan."""
    return (column + 0.5 - RIM) * PX_MM, spec.deep * spec.pitch_mm - (row + 0.5 - RIM) * PX_MM


def _pixel(xy_mm: tuple[float, float], spec: GroundSpec) -> tuple[int, int]:
    return round(xy_mm[0] / PX_MM + RIM - 0.5), round((spec.deep * spec.pitch_mm - xy_mm[1]) / PX_MM + RIM - 0.5)
