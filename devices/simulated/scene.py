"""The lit picture of a world: what rests is painted once and kept, only what changed is painted again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image
from devices.simulated.hand import HandAt
from devices.simulated.lights import Light
from devices.simulated.optics import View
from devices.simulated.painter import Painter
from devices.simulated.shine import Shine
from devices.simulated.sprites import Box, Sprite, as_image, box_of, lay, shadow_mask, soft_shadow
from devices.simulated.world import Pawn, Tile, World

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Held:
    """What a hand carries: a tile or a pawn (or both), where, how high, and how far the tile is turned by now."""

    tile: Tile | None
    pawn: Pawn | None
    x_mm: float
    y_mm: float
    lift_mm: float
    turn_deg: float = 0.0

    def at(self, x_mm: float, y_mm: float, lift_mm: float, turn_deg: float) -> Held:
        """The same things at another place."""
        return replace(self, x_mm=x_mm, y_mm=y_mm, lift_mm=lift_mm, turn_deg=turn_deg)


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """One place painted: outlines of its shadows on table and tiles, its sprites, and the box around them all."""

    shown: tuple[Tile | None, Pawn | None]
    on_table: Floats | None
    on_tiles: Floats | None
    face: Sprite | None
    upright: tuple[Sprite, ...]
    box: Box


class Scene:
    """A kept picture of one world under one light, from one view. Changing either paints everything again."""

    def __init__(self, painter: Painter, view: View, light: Light, blur_px: float, vignetting: float) -> None:
        self.painter, self._view, self._light = painter, view, light
        self._blur_px, self._vignetting = blur_px, vignetting
        self.frame = Box(0, 0, view.width, view.height)
        self._cells: dict[str, _Cell] = {}
        self._ground: Image | None = None
        self._shine: Shine | None = None
        self._lit: Image = np.zeros((view.height, view.width, 3), np.uint8)

    def look_from(self, view: View) -> None:
        """Moves the camera; nothing happens when it is the same view."""
        if view is self._view:
            return
        self._view = view
        self._ground = self._shine = None
        self._cells.clear()

    def light_by(self, light: Light) -> None:
        """Changes the light."""
        self._light = light
        self._shine = None
        self._cells.clear()

    @property
    def light(self) -> Light:
        """The present light."""
        return self._light

    def resting(self, world: World) -> Image:
        """The lit picture of everything that rests; the scene's own array, not to be changed."""
        places = self.painter.board.places_mm
        changed = [c for c in places if not self._same(c, world)]
        whole = self._ground is None or self._shine is None
        dirty = self.frame if whole else Box(0, 0, 0, 0)
        for cell in changed:
            old, new = self._cells.get(cell), self._paint(cell, world)
            self._cells[cell] = new
            touched = new.box if old is None else new.box.joined(old.box)
            dirty = touched if dirty.empty else dirty.joined(touched)
        if self._ground is None:
            self._ground = self.painter.ground(self._view)
            for marker in self.painter.markers(self._view):
                lay(self._ground, self.frame, marker)
        if self._shine is None:
            self._shine = Shine(self._view, self._light, self._vignetting, self.painter.centre_mm)
        if not dirty.empty:
            self._repaint(dirty.grown(4).clipped(self.frame))
        return self._lit

    def picture(self, world: World, held: Held | None, hands: tuple[HandAt, ...]) -> Image:
        """A new picture (uint8, H x W x 3): what rests, what is held, and hands over it."""
        canvas = self.resting(world).copy()
        assert self._shine is not None
        self._shine.shade(canvas, hands)
        for sprite in self._held(held) if held is not None else ():
            lay(canvas, self.frame, self._shine.lit(sprite))
        self._shine.lay(canvas, hands)
        return canvas

    def _same(self, cell: str, world: World) -> bool:
        known = self._cells.get(cell)
        return known is not None and known.shown == (world.tiles.get(cell), world.pawns.get(cell))

    def _paint(self, cell: str, world: World) -> _Cell:
        paint, view, light = self.painter, self._view, self._light
        tile, pawn = world.tiles.get(cell), world.pawns.get(cell)
        x, y = paint.board.places_mm[cell]
        on_table: Floats | None = None
        on_tiles: Floats | None = None
        face: Sprite | None = None
        upright: list[Sprite] = []
        boxes: list[Box] = []
        if tile is not None:
            x, y = x + tile.x_mm, y + tile.y_mm
            on_table = paint.tile_cast(view, light, tile, (x, y))
            stands = pawn is not None and not self._bed_mm(tile, pawn)
            on_tiles = paint.column_cast(view, light, stands, (x, y))
            face = paint.tile(view, tile, (x, y))
            upright.append(paint.door(view, tile, (x, y)))
            boxes += [face.box, box_of(on_table, self._reach_px), box_of(on_tiles, self._reach_px)]
        if pawn is not None:
            upright.append(paint.pawn(view, light, pawn, (x + pawn.x_mm, y + pawn.y_mm), self._bed_mm(tile, pawn)))
        boxes += [sprite.box for sprite in upright]
        box = reduce(Box.joined, boxes) if boxes else Box(0, 0, 0, 0)
        return _Cell((tile, pawn), on_table, on_tiles, face, tuple(upright), box)

    def _bed_mm(self, tile: Tile | None, pawn: Pawn) -> float:
        """How much lower than on a door a pawn lies: on the tile beside its door, or on the bare table."""
        sizes = self.painter.board.sizes_mm
        if tile is None:
            return -sizes["door_height"] - sizes["tile_height"]
        beside = np.hypot(pawn.x_mm, pawn.y_mm) > (sizes["door_diameter"] + sizes["pawn_radius"]) / 2
        return -sizes["door_height"] if beside else 0.0

    def _repaint(self, inner: Box) -> None:
        """Paints the resting things anew inside `inner`."""
        box = inner.grown(6).clipped(self.frame)  # the lens' blur reaches over the edge
        assert self._ground is not None and self._shine is not None
        canvas = box.of(self._ground).copy()
        places, eye = self.painter.board.places_mm, self._view.centre_mm[:2]
        near = [(c, self._cells[c]) for c in places if not self._cells[c].box.clipped(box).empty]
        near.sort(key=lambda item: -float(np.hypot(*(np.array(places[item[0]]) - eye))))
        light, ready = self._light, [cell for _, cell in near]
        self._darken(canvas, box, [c.on_table for c in ready if c.on_table is not None], light.shadow * 1.3 + 0.1, 2.0)
        for cell in ready:
            if cell.face is not None:
                lay(canvas, box, cell.face)
        self._darken(canvas, box, [c.on_tiles for c in ready if c.on_tiles is not None], light.shadow, 9.0)
        for cell in ready:
            for sprite in cell.upright:
                lay(canvas, box, sprite)
        canvas = self._shine.light(canvas, box)
        if self._blur_px > 0:
            canvas = as_image(cv2.GaussianBlur(canvas, (3, 3) if self._blur_px < 0.9 else (0, 0), self._blur_px))
        inner.of(self._lit)[:] = inner.within(box).of(canvas)

    def _darken(self, canvas: Image, box: Box, outlines: list[Floats], depth: float, height_mm: float) -> None:
        edge = self.painter.edge_px(self._view, self._light, height_mm)
        if outlines:
            cv2.multiply(canvas, shadow_mask(box, outlines, min(depth, 0.8), edge), canvas, scale=1 / 255)

    @property
    def _reach_px(self) -> int:
        """How far a shadow's soft edge reaches beyond its outline."""
        return int(1.5 * self.painter.edge_px(self._view, self._light, 9.0)) + 2

    def _held(self, held: Held) -> list[Sprite]:
        paint, view, light = self.painter, self._view, self._light
        at, lift = (held.x_mm, held.y_mm), held.lift_mm
        sprites: list[Sprite] = []
        edge = paint.edge_px(view, light, 4.0 + lift)
        if held.tile is not None:
            sprites.append(soft_shadow(paint.tile_cast(view, light, held.tile, at, lift), light.shadow, edge))
            sprites.append(paint.tile(view, held.tile, at, lift, held.turn_deg))
            sprites.append(paint.door(view, held.tile, at, lift, held.turn_deg))
        if held.pawn is not None:
            if held.tile is None:
                sprites.append(soft_shadow(paint.column_cast(view, light, True, at, lift), light.shadow, edge))
            off = (held.x_mm + held.pawn.x_mm, held.y_mm + held.pawn.y_mm)
            sprites.append(paint.pawn(view, light, held.pawn, off, lift))
        return sprites
