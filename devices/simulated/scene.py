"""The lit picture of a world: what rests is painted once and kept, only what changed is painted again."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image
from devices.simulated.hand import HandAt, hand_shadow, hand_sprite
from devices.simulated.lights import Light
from devices.simulated.optics import View
from devices.simulated.painter import Painter
from devices.simulated.sprites import Box, Sprite, as_image, lay, thrice
from devices.simulated.world import Pawn, Tile, World

GAMMA = 2.2
UNIT = 180
"""The light field's value for brightness 1."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a hand carries: a tile or a pawn (or both), where, how high, and how far the tile is turned by now."""

    tile: Tile | None
    pawn: Pawn | None
    x_mm: float
    y_mm: float
    lift_mm: float
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """The sprites of one place, in the order in which they are laid, and the box around them."""

    shown: tuple[Tile | None, Pawn | None]
    flat: tuple[Sprite, ...]
    face: tuple[Sprite, ...]
    shadow: tuple[Sprite, ...]
    upright: tuple[Sprite, ...]
    box: Box


class Scene:
    """A kept picture of one world under one light, from one view. Changing either paints everything again."""

    def __init__(self, painter: Painter, view: View, light: Light, blur_px: float, vignetting: float) -> None:
        self.painter, self._view, self._light = painter, view, light
        self._blur_px, self._vignetting = blur_px, vignetting
        self.frame = Box(0, 0, view.lens.width, view.lens.height)
        self._cells: dict[str, _Cell] = {}
        self._ground: Image | None = None
        self._field: Image | None = None
        self._glare: Image | None = None
        self._lit: Image = np.zeros((view.lens.height, view.lens.width, 3), np.uint8)

    def look_from(self, view: View) -> None:
        """Moves the camera."""
        self._view = view
        self._ground = self._field = None
        self._cells.clear()

    def light_by(self, light: Light) -> None:
        """Changes the light."""
        self._light = light
        self._field = None
        self._cells.clear()

    @property
    def light(self) -> Light:
        """The present light."""
        return self._light

    def resting(self, world: World) -> Image:
        """The lit picture of everything that rests; the scene's own array, not to be changed."""
        places = self.painter.board.places_mm
        changed = [c for c in places if not self._same(c, world)]
        whole = self._ground is None or self._field is None
        dirty = self.frame if whole else Box(0, 0, 0, 0)
        for cell in changed:
            old, new = self._cells.get(cell), self._paint(cell, world)
            self._cells[cell] = new
            touched = new.box if old is None else new.box.joined(old.box)
            dirty = touched if dirty.empty else dirty.joined(touched)
        if whole:
            self._ground = self.painter.ground(self._view)
            for marker in self.painter.markers(self._view):
                lay(self._ground, self.frame, marker)
            self._field, self._glare = self._shine()
        if not dirty.empty:
            self._repaint(dirty.grown(4).clipped(self.frame))
        return self._lit

    def picture(self, world: World, held: Held | None, hands: tuple[HandAt, ...]) -> Image:
        """A new picture (uint8, H x W x 3): what rests, what is held, and hands over it."""
        canvas = self.resting(world).copy()
        light, view, centre = self._light, self._view, self.painter.centre_mm
        for hand in hands:
            shadow = hand_shadow(view, light, hand, self.frame, centre)
            if shadow is not None:
                lay(canvas, self.frame, shadow)
        for sprite in self._held(held) if held is not None else ():
            lay(canvas, self.frame, self._lit_sprite(sprite))
        for hand in hands:
            over = hand_sprite(view, hand, self.frame)
            if over is not None:
                lay(canvas, self.frame, self._lit_sprite(over))
        return canvas

    def _same(self, cell: str, world: World) -> bool:
        known = self._cells.get(cell)
        return known is not None and known.shown == (world.tiles.get(cell), world.pawns.get(cell))

    def _paint(self, cell: str, world: World) -> _Cell:
        paint, view, light = self.painter, self._view, self._light
        tile, pawn = world.tiles.get(cell), world.pawns.get(cell)
        x, y = paint.board.places_mm[cell]
        flat: list[Sprite] = []
        face: list[Sprite] = []
        shadow: list[Sprite] = []
        upright: list[Sprite] = []
        if tile is not None:
            x, y = x + tile.x_mm, y + tile.y_mm
            flat.append(paint.tile_shadow(view, light, (x, y), tile))
            face.append(paint.tile(view, tile, (x, y)))
            shadow.append(paint.column_shadow(view, light, (x, y), pawn is not None))
            upright.append(paint.door(view, tile, (x, y)))
        if pawn is not None:
            upright.append(paint.pawn(view, light, pawn, (x + pawn.x_mm, y + pawn.y_mm)))
        box = Box(0, 0, 0, 0)
        for sprite in (*flat, *face, *shadow, *upright):
            box = sprite.box if box.empty else box.joined(sprite.box)
        return _Cell((tile, pawn), tuple(flat), tuple(face), tuple(shadow), tuple(upright), box)

    def _repaint(self, box: Box) -> None:
        """Paints the resting things anew inside `box`."""
        assert self._ground is not None and self._field is not None
        canvas = box.of(self._ground).copy()
        places, eye = self.painter.board.places_mm, self._view.centre_mm[:2]
        near = [(c, self._cells[c]) for c in places if not self._cells[c].box.clipped(box).empty]
        near.sort(key=lambda item: -float(np.hypot(*(np.array(places[item[0]]) - eye))))
        for layer in ("flat", "face", "shadow", "upright"):
            for _, cell in near:
                for sprite in getattr(cell, layer):
                    lay(canvas, box, sprite)
        cv2.multiply(canvas, box.of(self._field), canvas, scale=1 / UNIT)
        if self._glare is not None:
            cv2.add(canvas, box.of(self._glare), canvas)
        if self._blur_px > 0:
            canvas = as_image(cv2.GaussianBlur(canvas, (0, 0), self._blur_px))
        box.of(self._lit)[:] = canvas

    def _held(self, held: Held) -> list[Sprite]:
        paint, view, light = self.painter, self._view, self._light
        at = (held.x_mm, held.y_mm)
        sprites: list[Sprite] = []
        if held.tile is not None:
            sprites.append(paint.tile_shadow(view, light, at, held.tile, held.lift_mm))
            sprites.append(paint.tile(view, held.tile, at, held.lift_mm, held.turn_deg))
            sprites.append(paint.door(view, held.tile, at, held.lift_mm, held.turn_deg))
        if held.pawn is not None:
            if held.tile is None:
                sprites.append(paint.column_shadow(view, light, at, True, held.lift_mm, door=False))
            off = (held.x_mm + held.pawn.x_mm, held.y_mm + held.pawn.y_mm)
            sprites.append(paint.pawn(view, light, held.pawn, off, held.lift_mm))
        return sprites

    def _lit_sprite(self, sprite: Sprite) -> Sprite:
        """The sprite's part inside the picture, in the light of its place."""
        if sprite.paint is None or self._field is None:
            return sprite
        part = sprite.box.clipped(self.frame)
        inner = Box(part.x0 - sprite.box.x0, part.y0 - sprite.box.y0, part.x1 - sprite.box.x0, part.y1 - sprite.box.y0)
        if part.empty:
            return sprite
        paint = cv2.multiply(inner.of(sprite.paint), part.of(self._field), scale=1 / UNIT)
        return Sprite(part, inner.of(sprite.keep), as_image(paint))

    def _shine(self) -> tuple[Image, Image | None]:
        """The light field (UNIT: brightness 1, in coded grey levels) with vignetting, and the lamp's glare."""
        w, h, step = self.frame.x1, self.frame.y1, 16
        grid = np.stack(np.meshgrid(np.arange(0, w + step, step), np.arange(0, h + step, step)), axis=-1)
        xy = self._view.ground(grid.reshape(-1, 2))
        centre = self.painter.centre_mm
        bright = self._light.brightness(xy, centre).reshape(grid.shape[:2])
        radius2 = (((grid - (w / 2, h / 2)) / np.hypot(w / 2, h / 2)) ** 2).sum(axis=-1)
        coded = np.clip((bright * (1 - self._vignetting * radius2)) ** (1 / GAMMA) * UNIT, 0, 255)
        field = as_image(_enlarge(coded, w, h))
        if not self._light.glare:
            return thrice(field), None
        spot = self._mirror()
        distance2 = ((xy - spot) ** 2).sum(axis=1).reshape(grid.shape[:2])
        shine = as_image(_enlarge(np.clip(150 * self._light.glare * np.exp(-distance2 / (2 * 38.0**2)), 0, 255), w, h))
        return thrice(field), thrice(shine)

    def _mirror(self) -> NDArray[np.float64]:
        """Where the flat table mirrors the lamp into the camera, in mm."""
        eye = self._view.centre_mm
        source, height = self._light.source(self.painter.centre_mm), self._light.lamp_mm or 2000.0
        share = height / (height + eye[2])
        return np.asarray(source + (eye[:2] - source) * share, dtype=np.float64)


def _enlarge(coarse: NDArray[np.float64], w: int, h: int) -> NDArray[np.uint8]:
    """The coarse map, known at every 16th pixel, at all of them."""
    shift = np.array([[16, 0, 0], [0, 16, 0]], np.float32)
    size = (w, h)
    fine = cv2.warpAffine(coarse.astype(np.float32), shift, size, borderMode=cv2.BORDER_REPLICATE)
    return np.clip(np.asarray(fine), 0, 255).astype(np.uint8)
