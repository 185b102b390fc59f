"""Draws single things of the table (tiles, doors, pawns, markers, table top) as sprites in the camera's picture."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.profile import Board, Markers
from devices.contract import Image
from devices.simulated.art import ArtStyle, door_side, paint_door, paint_table, paint_tile
from devices.simulated.lights import Light
from devices.simulated.optics import View, coarse_grid, enlarge
from devices.simulated.sprites import Box, Sprite, as_image, box_of, covering, plain, polygon_mask, thrice, warp
from devices.simulated.world import Pawn, Tile

Floats = NDArray[np.float64]
PAPER_MM = 60.0
WHITE, INK = 238, 26
_CIRCLE = np.column_stack([np.cos(np.linspace(0, 2 * np.pi, 25)[:-1]), np.sin(np.linspace(0, 2 * np.pi, 25)[:-1])])


def _sphere() -> Floats:
    height = np.linspace(-1, 1, 9)
    ring = np.sqrt(1 - height**2)
    return np.concatenate(
        [np.column_stack([_CIRCLE * r, np.full(len(_CIRCLE), z)]) for r, z in zip(ring, height, strict=True)]
    )


_SPHERE = _sphere()


class Painter:
    """Sprites for one view, light and art style; remembers what it has painted of every tile and door."""

    def __init__(self, board: Board, style: ArtStyle, table: str, seed: int) -> None:
        self.board, self.style, self.table, self.seed = board, style, table, seed
        xs, ys = zip(*board.corners_mm, strict=True)
        self.centre_mm = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
        self._faces: dict[tuple[bool, bool, int, float], Image] = {}
        self._doors: dict[tuple[int, float], Image] = {}
        self._tops: dict[int, tuple[Image, Floats, float]] = {}

    def tile(
        self, view: View, tile: Tile, xy_mm: tuple[float, float], lift_mm: float = 0.0, turn_deg: float = 0.0
    ) -> Sprite:
        """A tile about `xy_mm`, `lift_mm` above the table and turned `turn_deg` further counter-clockwise."""
        size, height = self.board.sizes_mm["tile"], self.board.sizes_mm["tile_height"]
        corners = _turned(_square(size), tile.angle_deg + turn_deg) + xy_mm
        low, high = _at(corners, lift_mm), _at(corners, lift_mm + height)
        px = view.project(np.concatenate([low, high]))
        box = box_of(px)
        colour = plain(box, self.style.edge)
        warp(self._face(tile, view.px_per_mm), px[4:], box, colour)
        return covering(box, colour, polygon_mask(box, _hull(px)))

    def door(
        self, view: View, tile: Tile, xy_mm: tuple[float, float], lift_mm: float = 0.0, turn_deg: float = 0.0
    ) -> Sprite:
        """The door in a tile about `xy_mm`: a wooden disc that stands out of it."""
        sizes = self.board.sizes_mm
        diameter, low = sizes["door_diameter"], lift_mm + sizes["tile_height"]
        high = low + sizes["door_height"]
        ring = _CIRCLE * diameter / 2 + xy_mm
        corners = _turned(_square(diameter), tile.angle_deg + turn_deg) + xy_mm
        px = view.project(np.concatenate([_at(ring, low), _at(ring, high), _at(corners, high)]))
        outline, top = px[: 2 * len(ring)], px[2 * len(ring) :]
        box = box_of(outline)
        colour = plain(box, door_side(self.style))
        warp(self._door(tile, view.px_per_mm), top, box, colour)
        return covering(box, colour, polygon_mask(box, _hull(outline)))

    def pawn(self, view: View, light: Light, pawn: Pawn, xy_mm: tuple[float, float], lift_mm: float = 0.0) -> Sprite:
        """A glass stone, flattened, lying on a door about `xy_mm`."""
        sizes = self.board.sizes_mm
        bed = sizes["tile_height"] + sizes["door_height"]
        radius, middle = sizes["pawn_radius"], sizes["pawn_centre_height"]
        shape = np.array([radius, radius, max(middle - bed, 2.0)])
        centre = np.array([*xy_mm, middle + lift_mm])
        hull = _hull(view.project(_SPHERE * shape + centre))
        box = box_of(hull)
        away = light.away(np.array([xy_mm]), self.centre_mm)[0]
        to_light = np.array([-away[0], -away[1], 1.0])
        to_light = view.camera.rotation @ (to_light / np.linalg.norm(to_light))
        colour = np.array(self.style.pawns[0 if pawn.player == "1" else 1], np.float32)
        return covering(box, _stone(box, hull, colour, to_light, light), polygon_mask(box, hull))

    def tile_cast(
        self, view: View, light: Light, tile: Tile, xy_mm: tuple[float, float], lift_mm: float = 0.0
    ) -> Floats:
        """The outline (N x 2 px) of a tile's shadow on the table."""
        height = self.board.sizes_mm["tile_height"] + lift_mm
        corners = _turned(_square(self.board.sizes_mm["tile"]), tile.angle_deg) + xy_mm
        cast = corners + light.away(corners, self.centre_mm) * height
        return _hull(view.project(_at(cast if lift_mm > 3 else np.concatenate([corners, cast]), 0.0)))

    def column_cast(
        self, view: View, light: Light, pawn: bool, xy_mm: tuple[float, float], lift_mm: float = 0.0
    ) -> Floats:
        """The outline (N x 2 px) of the shadow on the tiles of a door, or of a pawn on a door or in the air."""
        sizes = self.board.sizes_mm
        ground = sizes["tile_height"]
        height = sizes["pawn_centre_height"] - ground if pawn else sizes["door_height"]
        radius = sizes["pawn_radius"] if pawn else sizes["door_diameter"] / 2
        cast = _CIRCLE * radius + xy_mm + light.away(np.array([xy_mm]), self.centre_mm)[0] * (height + lift_mm)
        foot = _CIRCLE * sizes["door_diameter"] / 2 + xy_mm
        return _hull(view.project(_at(cast if lift_mm else np.concatenate([foot, cast]), ground)))

    def edge_px(self, view: View, light: Light, height_mm: float) -> float:
        """How wide the soft edge is of a shadow cast from this height."""
        return (0.8 + light.softness * height_mm) * view.px_per_mm

    def markers(self, view: View) -> list[Sprite]:
        """The printed markers on their squares of white paper."""
        spec = self.board.markers
        return [] if spec is None else [_marker(view, spec, number) for number in spec.corners_mm]

    def ground(self, view: View) -> Image:
        """The bare table as the camera sees it, evenly lit."""
        w, h = view.width, view.height
        grid = coarse_grid(w, h)
        texture, origin, scale = self._table_top(view)
        at = ((view.ground(grid.reshape(-1, 2)) - origin) * scale).reshape(grid.shape)
        # The nearest pixel will do: the lens' blur comes after it, and it takes a third of the time.
        x, y = (enlarge(np.clip(at[..., i], -9000, 9000), w, h) for i in (0, 1))
        return as_image(cv2.remap(texture, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REFLECT))

    def _table_top(self, view: View) -> tuple[Image, Floats, float]:
        """The painted table, the point of its first pixel in mm, and its px per mm; made once a picture size."""
        key = view.width
        if key not in self._tops:
            frame = [(x, y) for x in (0, view.width / 2, view.width) for y in (0, view.height / 2, view.height)]
            seen = np.clip(view.ground(frame), -900, 1400)
            low, high = seen.min(axis=0) - 120, seen.max(axis=0) + 120
            scale = min(view.px_per_mm, 2400 / float((high - low).max()))
            w, h = np.ceil((high - low) * scale).astype(int)
            self._tops[key] = (paint_table(self.table, self.seed, int(h), int(w), scale), low, scale)
        return self._tops[key]

    def _face(self, tile: Tile, px_per_mm: float) -> Image:
        scale = _step(px_per_mm)
        key = (tile.straight, tile.triangle, tile.seed, scale)
        if key not in self._faces:
            size = self.board.sizes_mm["tile"]
            self._faces[key] = paint_tile(self.style, tile.straight, tile.triangle, tile.seed, size, scale)
        return self._faces[key]

    def _door(self, tile: Tile, px_per_mm: float) -> Image:
        scale = _step(px_per_mm)
        if (tile.seed, scale) not in self._doors:
            size = self.board.sizes_mm["door_diameter"]
            self._doors[tile.seed, scale] = paint_door(self.style, tile.seed, size, scale)
        return self._doors[tile.seed, scale]


def _step(px_per_mm: float) -> float:
    """The resolution at which a face is painted for this scale: a little finer, and the same after a small move."""
    return float(2 ** (np.ceil(np.log2(px_per_mm) * 3) / 3))


def _stone(box: Box, hull: ArrayLike, colour: NDArray[np.float32], to_light: Floats, light: Light) -> Image:
    """Colour (h x w x 3) of a glass stone whose outline is `hull`; `to_light` in camera axes."""
    (cx, cy), (width, height), angle = cv2.fitEllipse(np.asarray(hull, np.float32))
    ys, xs = np.mgrid[box.y0 : box.y1, box.x0 : box.x1].astype(np.float32)
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    u = ((xs - cx) * c + (ys - cy) * s) * 2 / max(width, 1.0)
    v = (-(xs - cx) * s + (ys - cy) * c) * 2 / max(height, 1.0)
    r2 = np.minimum(u * u + v * v, 1.0)
    normal = np.stack([u * c - v * s, u * s + v * c, -np.sqrt(1 - r2)], axis=-1)
    lit = np.clip(normal @ to_light.astype(np.float32), -1, 1)
    body = 0.66 + 0.34 * np.clip(lit, 0, 1) - 0.30 * r2**4
    glow = 0.35 * np.clip(-(normal[..., :2] @ to_light[:2].astype(np.float32)), 0, 1) * r2
    half = to_light + np.array([0, 0, -1.0])
    half = (half / np.linalg.norm(half)).astype(np.float32)
    sharp = 90.0 if light.lamp_mm else 26.0
    shine = np.clip(normal @ half, 0, 1) ** sharp * (225 if light.lamp_mm else 95)
    rgb = colour * (body + glow)[..., None] + 14 * (1 - r2)[..., None] + shine[..., None]
    return as_image(np.clip(rgb, 0, 255))


def _marker(view: View, spec: Markers, number: int) -> Sprite:
    corners = np.array(spec.corners_mm[number], np.float64)
    share = max(PAPER_MM / float(np.linalg.norm(corners[1] - corners[0])), 1.2)
    middle = corners.mean(axis=0)
    outer = view.project(middle + (corners - middle) * share)
    box = box_of(outer)
    size = _step(max(16.0, float(np.linalg.norm(outer[1] - outer[0]))))
    colour = plain(box, (WHITE, WHITE, WHITE))
    warp(_marker_face(spec.dictionary, number, share, round(size)), outer, box, colour)
    return covering(box, colour, polygon_mask(box, outer))


@lru_cache(maxsize=64)
def _marker_face(dictionary: str, number: int, share: float, size: int) -> Image:
    """A printed marker on its white paper, `share` times as wide as its black square, `size` px wide over all."""
    black = 300
    paper = round(black * share)
    face = np.full((paper, paper), WHITE, np.uint8)
    inset = (paper - black) // 2
    known = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    art = as_image(cv2.aruco.generateImageMarker(known, number, black))
    face[inset : inset + black, inset : inset + black] = np.where(art > 0, WHITE, INK)
    return thrice(as_image(cv2.resize(face, (size, size), interpolation=cv2.INTER_AREA)))


def _hull(px: Floats) -> Floats:
    return np.asarray(cv2.convexHull(px.astype(np.float32)), dtype=np.float64).reshape(-1, 2)


def _square(size_mm: float) -> Floats:
    """Corners about the origin as seen on a printed face: top-left, top-right, bottom-right, bottom-left (y north)."""
    h = size_mm / 2
    return np.array([(-h, h), (h, h), (h, -h), (-h, -h)])


def _turned(points_mm: Floats, degrees: float) -> Floats:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.asarray(points_mm @ np.array([(c, s), (-s, c)]), dtype=np.float64)


def _at(points_mm: Floats, z_mm: float) -> Floats:
    solid = np.empty((len(points_mm), 3))
    solid[:, :2], solid[:, 2] = points_mm, z_mm
    return solid
