"""Draws single things of the table (tiles, doors, pawns, markers, table top) as sprites in the camera's picture."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.profile import Board, Markers
from devices.contract import Image
from devices.simulated.art import ArtStyle, paint_door, paint_table, paint_tile
from devices.simulated.lights import Light
from devices.simulated.optics import View
from devices.simulated.sprites import Box, Sprite, as_image, box_of, covering, polygon_mask, soft_shadow, thrice, warp
from devices.simulated.world import Pawn, Tile

Floats = NDArray[np.float64]
PAPER_MM = 60.0
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
        self._faces: dict[tuple[bool, bool, int, int], Image] = {}
        self._doors: dict[tuple[int, int], Image] = {}
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
        hull = cv2.convexHull(px.astype(np.float32)).reshape(-1, 2)
        colour = np.empty((box.y1 - box.y0, box.x1 - box.x0, 3), np.uint8)
        colour[:] = self.style.edge
        face = warp(self._face(tile, view.px_per_mm(xy_mm)), px[4:], box)
        colour = _over(colour, face, polygon_mask(box, px[4:]))
        return covering(box, colour, polygon_mask(box, hull))

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
        n = len(ring)
        top = px[n : 2 * n]
        box = box_of(px[: 2 * n])
        hull = cv2.convexHull(px[: 2 * n].astype(np.float32)).reshape(-1, 2)
        colour = np.empty((box.y1 - box.y0, box.x1 - box.x0, 3), np.uint8)
        colour[:] = [int(c * 0.62) for c in self.style.wood]
        face = warp(self._door(tile, view.px_per_mm(xy_mm, high)), px[2 * n :], box)
        colour = _over(colour, face, polygon_mask(box, top))
        return covering(box, colour, polygon_mask(box, hull))

    def pawn(self, view: View, light: Light, pawn: Pawn, xy_mm: tuple[float, float], lift_mm: float = 0.0) -> Sprite:
        """A glass stone, flattened, lying on a door about `xy_mm`."""
        sizes = self.board.sizes_mm
        bed = sizes["tile_height"] + sizes["door_height"]
        radius, middle = sizes["pawn_radius"], sizes["pawn_centre_height"]
        shape = np.array([radius, radius, max(middle - bed, 2.0)])
        centre = np.array([*xy_mm, middle + lift_mm])
        hull = cv2.convexHull(view.project(_SPHERE * shape + centre).astype(np.float32)).reshape(-1, 2)
        box = box_of(hull)
        away = light.away(np.array([xy_mm]), self.centre_mm)[0]
        to_light = np.array([-away[0], -away[1], 1.0])
        to_light = view.rotation @ (to_light / np.linalg.norm(to_light))
        colour = np.array(self.style.pawns[0 if pawn.player == "1" else 1], np.float32)
        return covering(box, _stone(box, hull, colour, to_light, light), polygon_mask(box, hull))

    def tile_shadow(
        self, view: View, light: Light, xy_mm: tuple[float, float], tile: Tile, lift_mm: float = 0.0
    ) -> Sprite:
        """The shadow of a tile on the table."""
        height = self.board.sizes_mm["tile_height"] + lift_mm
        corners = _turned(_square(self.board.sizes_mm["tile"]), tile.angle_deg) + xy_mm
        cast = corners + light.away(corners, self.centre_mm) * height
        both = np.concatenate([corners, cast]) if lift_mm < 3 else cast
        edge = (0.8 + light.softness * height) * view.px_per_mm(xy_mm)
        return soft_shadow(view.project(_at(both, 0.0)), min(0.75, light.shadow * 1.3 + 0.15), edge)

    def column_shadow(
        self, view: View, light: Light, xy_mm: tuple[float, float], pawn: bool, lift_mm: float = 0.0, door: bool = True
    ) -> Sprite:
        """The shadow of a door, and of the pawn on it, on the tiles."""
        sizes = self.board.sizes_mm
        ground = sizes["tile_height"]
        height = sizes["pawn_centre_height"] - ground if pawn else sizes["door_height"]
        radius = sizes["pawn_radius"] if pawn else sizes["door_diameter"] / 2
        away = light.away(np.array([xy_mm]), self.centre_mm)[0]
        base = _CIRCLE * sizes["door_diameter"] / 2 + xy_mm
        cast = _CIRCLE * radius + xy_mm + away * (height + lift_mm)
        both = np.concatenate([base * 1.0, cast]) if door else cast
        edge = (1.0 + light.softness * (height + lift_mm)) * view.px_per_mm(xy_mm)
        return soft_shadow(view.project(_at(both, ground)), light.shadow / (1 + 0.02 * lift_mm), edge)

    def markers(self, view: View) -> list[Sprite]:
        """The printed markers on their squares of white paper."""
        spec = self.board.markers
        return [] if spec is None else [_marker(view, spec, number) for number in spec.corners_mm]

    def ground(self, view: View) -> Image:
        """The bare table as the camera sees it, evenly lit."""
        lens = view.lens
        w, h, step = lens.width, lens.height, 16
        columns, rows = np.arange(0, w + step, step), np.arange(0, h + step, step)
        grid = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
        xy = np.clip(view.ground(grid), -1500, 2000)
        texture, origin, scale = self._table_top(view)
        at = ((xy - origin) * scale).astype(np.float32).reshape(len(rows), len(columns), 2)
        # Bilinear between grid points: a point of the coarse map lies at every `step`-th pixel exactly.
        size = ((len(columns)) * step, (len(rows)) * step)
        shift = np.array([[step, 0, 0], [0, step, 0]], np.float32)
        flags = cv2.INTER_LINEAR
        fine = np.asarray(cv2.warpAffine(at, shift, size, flags=flags, borderMode=cv2.BORDER_REPLICATE))[:h, :w]
        fx, fy = np.ascontiguousarray(fine[..., 0]), np.ascontiguousarray(fine[..., 1])
        return as_image(cv2.remap(texture, fx, fy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT))

    def _table_top(self, view: View) -> tuple[Image, Floats, float]:
        """The painted table, the point of its first pixel in mm, and its px per mm; made once a picture size."""
        key = view.lens.width
        if key not in self._tops:
            lens = view.lens
            frame = [(x, y) for x in (0, lens.width / 2, lens.width) for y in (0, lens.height / 2, lens.height)]
            seen = np.clip(view.ground(frame), -900, 1400)
            low, high = seen.min(axis=0) - 120, seen.max(axis=0) + 120
            scale = min(view.px_per_mm(self.centre_mm), 2400 / float((high - low).max()))
            w, h = np.ceil((high - low) * scale).astype(int)
            self._tops[key] = (paint_table(self.table, self.seed, int(h), int(w), scale), low, scale)
        return self._tops[key]

    def _face(self, tile: Tile, px_per_mm: float) -> Image:
        scale = round(px_per_mm * 12)
        key = (tile.straight, tile.triangle, tile.seed, scale)
        if key not in self._faces:
            size = self.board.sizes_mm["tile"]
            self._faces[key] = paint_tile(self.style, tile.straight, tile.triangle, tile.seed, size, scale / 10)
        return self._faces[key]

    def _door(self, tile: Tile, px_per_mm: float) -> Image:
        scale = round(px_per_mm * 12)
        if (tile.seed, scale) not in self._doors:
            size = self.board.sizes_mm["door_diameter"]
            self._doors[tile.seed, scale] = paint_door(self.style, tile.seed, size, scale / 10)
        return self._doors[tile.seed, scale]


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
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, spec.dictionary))
    corners = np.array(spec.corners_mm[number], np.float64)
    side = float(np.linalg.norm(corners[1] - corners[0]))
    black = 300
    paper = round(black * max(PAPER_MM / side, 1.2))
    patch = np.full((paper, paper), 238, np.uint8)
    inset = (paper - black) // 2
    art = as_image(cv2.aruco.generateImageMarker(dictionary, number, black))
    patch[inset : inset + black, inset : inset + black] = np.where(art > 0, 238, 26)
    middle = corners.mean(axis=0)
    outer = view.project(middle + (corners - middle) * paper / black)
    box = box_of(outer)
    wanted = max(16, round(float(np.linalg.norm(outer[1] - outer[0])) * 1.3))
    patch = as_image(cv2.resize(patch, (wanted, wanted), interpolation=cv2.INTER_AREA))
    return covering(box, warp(thrice(patch), outer, box), polygon_mask(box, outer))


def _over(ground: Image, top: Image, mask: Image) -> Image:
    weight = mask.astype(np.float32) / 255
    return as_image(cv2.blendLinear(top, ground, weight, 1 - weight))


def _square(size_mm: float) -> Floats:
    """Corners about the origin as seen on a printed face: top-left, top-right, bottom-right, bottom-left (y north)."""
    h = size_mm / 2
    return np.array([(-h, h), (h, h), (h, -h), (-h, -h)])


def _turned(points_mm: Floats, degrees: float) -> Floats:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.asarray(points_mm @ np.array([(c, s), (-s, c)]), dtype=np.float64)


def _at(points_mm: Floats, z_mm: float) -> Floats:
    return np.column_stack([points_mm, np.full(len(points_mm), z_mm)])
