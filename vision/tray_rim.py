"""A tray found by its rim: the floor's outline within it, believed where a camera can see a floor of that size so.

The board spec of a tray has a table `grid.tray`; its corners are those of the floor, `sizes_mm.rim` the height of the
rim above the floor. A rim that stands between the camera and the floor hides the floor's edge: there its upper edge is
seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import TYPICAL_FOCAL, Array, Camera, camera_from_plane
from calibration.profile import Board, Lens, Point
from devices.contract import Image
from vision.outlines import reduced, straight, through
from vision.sampling import Bools, Floats

LONG_SIDE_PX = 480
"""Size at which the floor is looked for."""
MIDDLE = 0.3
"""Part of the picture, each way, in whose middle the floor is seen."""
SHADE, GLEAM = 0.12, 1.25
"""How much darker and lighter than usual the floor may be anywhere."""
OFF_SPREADS, OFF_LEVELS = 1.6, 5.0
"""How many times further than most of the middle, and by how many levels more, the floor's hue may be off."""
LEAST_AREA, FILLED = 0.1, 0.72
"""Parts of the picture and of its outline that the floor fills at least; dice and shadows take the rest."""
PLACES, REACH_PX = 64, 7.0
"""Places along a side at which the floor's edge is looked for, and how far about the side (px of the small picture)."""
BLACK, DOUBT_PX = 30.0, 2.0
"""Brightest channel (levels) below which nothing can be told from its shadow, and how wide such a band at the floor's
edge may be."""
WITHIN, STEP_PX, STEP, SHADED = 0.3, 3, 0.1, 2
"""How far within a side (parts of the way to the middle) another edge may run along it, over how many px and by how
much (parts of the floor's brightness) the looks change there, and along how many sides that may be a shadow's."""
MISFIT = 0.012
"""By how much of the floor's size its seen outline may lie off that of a floor of the board's size."""
FOCAL_SPREAD, FOCAL_RANGE = 0.35, 0.9
"""How far (natural log) cameras' focal lengths are from the typical one: usually and at most. A floor of another shape
would need a stranger lens."""
ALONG = np.array([0.06, 0.28, 0.5, 0.72, 0.94])
ROUNDS = 12


def is_tray(board: Board) -> bool:
    """True when this board is a tray, to be found by its rim."""
    return "tray" in board.grid


@dataclass(frozen=True, slots=True, eq=False)
class _Floor:
    """What a floor looks like: its colour (3,), how bright it may be in terms of that, and how far off it apart from
    brightness (levels)."""

    colour: Floats
    bright: tuple[float, float]
    limit: float

    def shown(self, colours: Floats) -> Bools:
        """Which of the colours (n, 3) may be this floor in light or shade."""
        light, off = _split(colours, self.colour)
        return np.asarray((off < self.limit) & (light > self.bright[0]) & (light < self.bright[1]))


def find_floor(picture: Image, board: Board, lens: Lens | None = None) -> tuple[Point, Point, Point, Point] | None:
    """The pixels of the floor's four corners in the board's order, also where the rim hides them; None when no such
    floor is surely there. A tray looks the same from both ends (a square one from all four): the first corner is the
    one at the picture's lower left."""
    sides = floor_sides(picture)
    if sides is None:
        return None
    height, width = picture.shape[:2]
    found = [_seen(*way, board, (width, height), lens) for way in _ways(crossings(sides), sides, board)]
    off, corners = min(found, key=lambda f: f[0])
    if off > MISFIT:
        return None
    a, b, c, d = ((float(x), float(y)) for x, y in corners)
    return a, b, c, d


def floor_sides(picture: Image) -> Array | None:
    """The lines (4, 3; unit normals) along the sides of a tray's floor that is seen in the middle of a BGR picture, the
    size of which need not be known; None when none surely is."""
    if picture.ndim != 3 or min(picture.shape[:2]) < 64:
        return None
    # Every so manieth pixel: the blur makes up for it, and an average over all costs more than all the rest.
    step = math.ceil(max(picture.shape[:2]) / LONG_SIDE_PX)
    small = picture[::step, ::step]
    soft = cv2.GaussianBlur(small, (0, 0), 1.5).astype(np.float32)
    floor = _floor(soft)
    quad = None if floor is None else _outline(soft, floor)
    if floor is None or quad is None:
        return None
    lines = [_edge(soft, floor, a, b, quad.mean(axis=0)) for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True)]
    if any(line is None for line in lines):
        return None
    if (
        np.count_nonzero([_framed(soft, floor, *line, quad.mean(axis=0)) for line in lines if line is not None])
        > SHADED
    ):
        return None
    ends = np.array(lines) * step
    sides = np.array([through(a, b) for a, b in ends])
    sides /= np.linalg.norm(sides[:, :2], axis=1, keepdims=True)
    return sides if np.abs(_met(sides)[:, 2]).min() > 1e-9 else None


def crossings(sides: Array) -> Array:
    """Where each line (4, 3) crosses the one before it, (4, 2)."""
    met = _met(sides)
    return np.asarray(met[:, :2] / met[:, 2:])


def _met(sides: Array) -> Array:
    return np.asarray(np.cross(np.roll(sides, 1, axis=0), sides), np.float64)


def _floor(soft: Floats) -> _Floor | None:
    """The look of what most of the picture's middle shows; None when that is of many colours."""
    middle = soft[_middle(soft)][::3, ::3].reshape(-1, 3)
    colour = np.median(middle, axis=0)
    for _ in range(3):
        near = np.abs(middle - colour).max(axis=1) < 25
        colour = middle[near].mean(axis=0) if near.any() else colour
    light, off = _split(middle, colour)
    usual = np.abs(light - 1) < 0.5
    if np.count_nonzero(usual) < len(middle) / 2:
        return None
    low, high = np.percentile(light[usual], (5, 95))
    limit = float(np.percentile(off[usual], 90)) * OFF_SPREADS + OFF_LEVELS
    return _Floor(colour, (SHADE * float(low), GLEAM * float(high)), limit)


def _middle(soft: Floats) -> tuple[slice, slice]:
    down, across = (slice(round(n * (0.5 - MIDDLE / 2)), round(n * (0.5 + MIDDLE / 2)) + 1) for n in soft.shape[:2])
    return down, across


def _outline(soft: Floats, floor: _Floor) -> Array | None:
    """The quadrangle (4, 2) about the floor's area in the picture's middle."""
    height, width = soft.shape[:2]
    shown = floor.shown(soft.reshape(-1, 3)).astype(np.uint8).reshape(height, width)
    for step, size in ((cv2.MORPH_OPEN, 3), (cv2.MORPH_CLOSE, 5), (cv2.MORPH_OPEN, 9)):
        shown = np.asarray(cv2.morphologyEx(shown, step, np.ones((size, size), np.uint8)), np.uint8)
    labels = np.asarray(cv2.connectedComponents(shown)[1])
    counts = np.bincount(labels[_middle(soft)].ravel(), minlength=2)[1:]
    if not counts.any():
        return None
    area = labels == 1 + int(counts.argmax())
    outlines, _ = cv2.findContours(area.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    quad = reduced(cv2.convexHull(max(outlines, key=cv2.contourArea)).reshape(-1, 2).astype(np.float64))
    if quad is None:
        return None
    whole = abs(cv2.contourArea(quad.astype(np.float32)))
    return quad if whole > LEAST_AREA * height * width and np.count_nonzero(area) > FILLED * whole else None


def _edge(soft: Floats, floor: _Floor, a: Array, b: Array, middle: Array) -> tuple[Array, Array] | None:
    """The ends of the side from a to b laid along the floor's edge: the straight line on which most places lie where it
    ends; None where few do."""
    along = b - a
    out = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-6)
    if out @ (middle - a) > 0:
        out = -out
    t = (np.arange(PLACES) + 0.5) / PLACES
    steps = np.arange(-REACH_PX, REACH_PX + 0.25, 0.5)
    spots = (a + along * t[:, None])[:, None] + out * steps[None, :, None]
    x, y = (spots[..., n].astype(np.float32) for n in (0, 1))
    seen = np.asarray(cv2.remap(soft, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    on = floor.shown(seen.reshape(-1, 3)).reshape(x.shape)
    # Where it is likeliest that all before is floor and all after is none; what is black may be either.
    gain = np.cumsum(np.where(on, 1, np.where(seen.max(axis=2) < BLACK, 0, -1)), axis=1)
    first, last = gain.argmax(axis=1), gain.shape[1] - 1 - gain[:, ::-1].argmax(axis=1)
    ends = (gain.max(axis=1) > 2) & (last < len(steps) - 3)
    if not ends.any() or float(np.median((last - first)[ends])) > DOUBT_PX / 0.5:
        return None
    line = straight(t[ends], steps[first][ends] + 0.25)
    return None if line is None else (a + out * line[0], b + out * (line[0] + line[1]))


def _framed(soft: Floats, floor: _Floor, a: Array, b: Array, middle: Array) -> bool:
    """True when another edge runs along the side from a to b not far within it: that of a rim of the floor's own hue,
    or of a shadow."""
    t = np.linspace(0.1, 0.9, PLACES)[:, None, None]
    far = float(np.linalg.norm((a + b) / 2 - middle))
    depths = np.arange(1.5, WITHIN * far, 1.0)[None, :, None] / far
    spots = ((a * (1 - t) + b * t) * (1 - depths) + middle * depths).astype(np.float32)
    seen = cv2.remap(soft, spots[..., 0], spots[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    looks = np.median(np.asarray(seen, np.float32), axis=0)
    steps = np.linalg.norm(looks[STEP_PX:] - looks[:-STEP_PX], axis=1)
    return float(steps.max(initial=0.0)) > STEP * float(np.linalg.norm(floor.colour))


def _split(colours: Floats, floor: Floats) -> tuple[Floats, Floats]:
    """How bright colours (n, 3) are in terms of the floor's, and how far (levels) they are off it apart from that."""
    light = colours @ floor / max(float(floor @ floor), 1.0)
    return np.asarray(light, np.float32), np.asarray(
        np.linalg.norm(colours - light[:, None] * floor, axis=1), np.float32
    )


def _ways(corners: Array, sides: Array, board: Board) -> list[tuple[Array, Array]]:
    """Corners (4, 2) and the lines (4, 3) from each to the next in both orders that the board's may have; first the one
    whose first corner is at the picture's lower left."""
    turn = cv2.contourArea(corners.astype(np.float32), True) * cv2.contourArea(
        np.array(board.corners_mm, np.float32), True
    )
    # Millimetres count upwards and pixels downwards: seen from above, the board goes the other way round.
    if turn > 0:
        corners, sides = corners[::-1], np.roll(sides[::-1], -1, axis=0)
    first = int(np.argmin(corners[:, 0] - corners[:, 1]))
    return [(np.roll(corners, -first - n, axis=0), np.roll(sides, -first - n, axis=0)) for n in (0, 1)]


def _seen(
    corners: Array, sides: Array, board: Board, size_px: tuple[int, int], lens: Lens | None
) -> tuple[float, Array]:
    """How far (in sizes of the floor) the seen sides are off those of the board's floor under the camera that fits
    best, and the floor's corners (4, 2) px under that camera."""
    corners_mm = np.array(board.corners_mm)
    camera = camera_from_plane(corners_mm, corners, *size_px, lens)
    if camera is None:
        return np.inf, corners
    size = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean())
    rim_mm = board.sizes_mm.get("rim", 0.0)
    for _ in range(2):
        edges = _edges(corners_mm, camera, rim_mm)
        camera, off = _fitted(camera, edges, sides, lens is None)
    if lens is None and abs(np.log(camera.matrix[0, 0] / (TYPICAL_FOCAL * size_px[0]))) > FOCAL_RANGE:
        return np.inf, corners
    return off / size, camera.project(np.column_stack([corners_mm, np.zeros(4)]))


def _edges(corners_mm: Array, camera: Camera, rim_mm: float) -> Array:
    """Points (4, n, 3) along the sides as they are seen: on the floor, or on the rim where that stands before it."""
    following = np.roll(corners_mm, -1, axis=0)
    points = corners_mm[:, None] * (1 - ALONG[:, None]) + following[:, None] * ALONG[:, None]
    outward = (corners_mm + following) / 2 - corners_mm.mean(axis=0)
    hidden: Bools = np.einsum("ij,ij->i", camera.position_mm[:2] - corners_mm, outward) > 0
    heights = np.where(hidden, rim_mm, 0.0)[:, None, None]
    return np.concatenate([points, np.broadcast_to(heights, (*points.shape[:2], 1))], axis=2)


def _fitted(camera: Camera, edges: Array, sides: Array, any_focal: bool) -> tuple[Camera, float]:
    """The camera under which the edges (4, n, 3) fall on the lines (4, 3; unit normals) best, and by how many px they
    are off then (root mean square). Gauss-Newton over pose and, where the lens is not known, focal length."""
    start = np.concatenate([cv2.Rodrigues(camera.rotation)[0].ravel(), camera.translation_mm, [0.0]])
    steps = np.array([1e-4] * 3 + [0.05] * 3 + [1e-4])[: 7 if any_focal else 6]
    loose = np.log(camera.matrix[0, 0] / (TYPICAL_FOCAL * camera.width))

    def at(p: Array) -> Camera:
        matrix = camera.matrix.copy()
        matrix[:2, :2] *= np.exp(p[6])
        return Camera(matrix, camera.distortion, cv2.Rodrigues(p[:3])[0], p[3:6].copy(), camera.width, camera.height)  # type: ignore[arg-type]

    def rest(p: Array) -> Array:
        px = at(p).project(edges.reshape(-1, 3)).reshape(*edges.shape[:2], 2)
        off = np.einsum("snk,sk->sn", px, sides[:, :2]) + sides[:, 2:]
        return np.append(off.ravel(), (loose + p[6]) / FOCAL_SPREAD if any_focal else 0.0)

    for _ in range(ROUNDS):
        now = rest(start)
        slopes = np.stack([(rest(start + np.eye(7)[n] * d) - now) / d for n, d in enumerate(steps)], axis=1)
        scale = np.maximum(np.linalg.norm(slopes, axis=0), 1e-9)
        move = np.linalg.lstsq(slopes / scale, -now, rcond=1e-6)[0] / scale
        start[: len(steps)] += move
        if float(np.abs(slopes @ move).max()) < 0.01:
            break
    return at(start), float(np.sqrt(np.mean(rest(start)[:-1] ** 2)))
