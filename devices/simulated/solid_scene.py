"""The lit picture of solids on printed sheets: cast once and kept, only what changed is cast again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from devices.contract import Image
from devices.simulated.hand import HandAt
from devices.simulated.lights import Light
from devices.simulated.optics import View
from devices.simulated.shine import GAMMA, Shine
from devices.simulated.solids import Camera, Floats, Scene, Solid, render
from devices.simulated.solids import Light as Ray
from devices.simulated.sprites import Box, as_image, box_of
from devices.simulated.tokens_print import Sheet
from devices.simulated.tray import upright


@dataclass(slots=True)
class SolidWorld:
    """What lies on a table: `solids` and printed `sheets` by name; replacing one under its name is how things move."""

    solids: dict[str, Solid] = field(default_factory=dict)
    sheets: dict[str, Sheet] = field(default_factory=dict)

    def copy(self) -> SolidWorld:
        """A world that can be changed without changing this one."""
        return SolidWorld(dict(self.solids), dict(self.sheets))


@dataclass(frozen=True, slots=True, eq=False)
class HeldSolid:
    """A solid in a hand, lifted and turned from how it lay."""

    solid: Solid

    def at(self, x_mm: float, y_mm: float, lift_mm: float, turn_deg: float) -> HeldSolid:
        """The same solid held at another place."""
        centre = np.array([x_mm, y_mm, float(self.solid.centre_mm[2]) + lift_mm], np.float32)
        spun = np.asarray(upright(4, turn_deg) @ self.solid.rotation, np.float32) if turn_deg else self.solid.rotation
        return HeldSolid(replace(self.solid, centre_mm=centre, rotation=spun))


class SolidScene:
    """A kept picture of one world under one light, from one view. `table` maps table points (n, 2) mm to albedo."""

    def __init__(
        self,
        table: Callable[[Floats], Floats],
        centre_mm: tuple[float, float],
        view: View,
        light: Light,
        blur_px: float,
        vignetting: float,
    ) -> None:
        self._table, self._centre_mm = table, centre_mm
        self._view, self._light = view, light
        self._blur_px, self._vignetting = blur_px, vignetting
        self.frame = Box(0, 0, view.width, view.height)
        self._shown: SolidWorld | None = None
        self._shine: Shine | None = None
        self._lit: Image = np.zeros((view.height, view.width, 3), np.uint8)

    def look_from(self, view: View) -> None:
        """Moves the camera; nothing happens when it is the same view."""
        if view is not self._view:
            self._view, self._shown, self._shine = view, None, None

    def light_by(self, light: Light) -> None:
        """Changes the light."""
        self._light, self._shown, self._shine = light, None, None

    def resting(self, world: SolidWorld) -> Image:
        """The lit picture of everything that rests; the scene's own array, not to be changed."""
        if self._shine is None:
            self._shine = Shine(self._view, self._light, self._vignetting, self._centre_mm)
        if self._shown is None:
            # Bare ground first: many solids at once would be asked for their shadow on every pixel.
            bare = SolidWorld(sheets=world.sheets)
            self._lit[:] = self._cast(self.frame, bare, ())
            self._shown = bare.copy()
        boxes = self._changed(self._shown, world)
        self._shown = world.copy()
        for box in boxes:
            inner = box.clipped(self.frame)
            if not inner.empty:
                inner.of(self._lit)[:] = self._cast(inner, world, ())
        return self._lit

    def picture(self, world: SolidWorld, held: HeldSolid | None, hands: tuple[HandAt, ...]) -> Image:
        """A new picture (uint8, H x W x 3): what rests, what is held, and hands over it."""
        canvas = self.resting(world).copy()
        assert self._shine is not None
        if held is not None:
            box = self._box(held.solid).clipped(self.frame)
            if not box.empty:
                box.of(canvas)[:] = self._cast(box, world, (held.solid,))
        self._shine.shade(canvas, hands)
        self._shine.lay(canvas, hands)
        return canvas

    def _changed(self, old: SolidWorld, new: SolidWorld) -> list[Box]:
        boxes: list[Box] = []
        for before, after in ((old.solids, new.solids), (new.solids, old.solids)):
            boxes += [self._box(s) for name, s in before.items() if after.get(name) is not s]
        for one, other in ((old.sheets, new.sheets), (new.sheets, old.sheets)):
            boxes += [self._sheet_box(s) for name, s in one.items() if other.get(name) is not s]
        return boxes

    def _cast(self, box: Box, world: SolidWorld, more: Sequence[Solid]) -> Image:
        """The picture's part `box`, cast anew."""
        assert self._shine is not None
        wide = box.grown(4).clipped(self.frame)
        near = [s for s in world.solids.values() if not self._box(s).clipped(wide).empty]
        ambient, ray = _rays(self._light)
        solid_scene = Scene([*near, *more], [ray], _ground(self._table, world.sheets), ambient)
        camera = self._camera.window(wide.x0, wide.y0, 1.0, wide.x1 - wide.x0, wide.y1 - wide.y0)
        linear = render(solid_scene, camera)
        canvas = as_image(255 * np.power(np.clip(linear, 0, 1), 1 / GAMMA))
        canvas = self._shine.light(canvas, wide)
        if self._blur_px > 0:
            canvas = as_image(cv2.GaussianBlur(canvas, (3, 3) if self._blur_px < 0.9 else (0, 0), self._blur_px))
        return box.within(wide).of(canvas)

    @property
    def _camera(self) -> Camera:
        """The view's camera for casting, which knows no distortion."""
        camera = self._view.camera
        matrix = camera.matrix
        return Camera(
            camera.width,
            camera.height,
            float(matrix[0, 0]),
            (float(matrix[0, 2]), float(matrix[1, 2])),
            np.asarray(camera.rotation, np.float32),
            np.asarray(camera.translation_mm, np.float32),
        )

    def _box(self, solid: Solid) -> Box:
        """Where a solid and its shadow are in the picture."""
        corners = solid.corners_mm()
        # Where the ray throws it that it is cast with: a box from anything else would cut the shadow off.
        towards = _rays(self._light)[1].towards
        shadow = corners[:, :2] - towards[:2] / towards[2] * corners[:, 2:]
        flat = np.column_stack([shadow, np.zeros(len(shadow))])
        return box_of(self._view.project(np.concatenate([corners, flat])), margin=4)

    def _sheet_box(self, sheet: Sheet) -> Box:
        w, h = sheet.size_mm
        corners = [(*sheet.at(x, y), 0.0) for x, y in ((0, 0), (w, 0), (w, h), (0, h))]
        return box_of(self._view.project(corners), margin=4)


def _rays(light: Light) -> tuple[Floats, Ray]:
    """The ambient share and the one ray that give flat white paper brightness 1 and shadows of the light's depth."""
    azimuth = np.radians(light.azimuth_deg)
    slope = light.slope if not light.lamp_mm else 0.55
    towards = np.array([np.cos(azimuth) * slope, np.sin(azimuth) * slope, 1.0])
    towards /= np.linalg.norm(towards)
    direct = np.full(3, light.shadow / towards[2], np.float32)
    shine = 0.6 if light.glare else 0.15
    return np.full(3, 1 - light.shadow, np.float32), Ray(np.asarray(towards, np.float32), direct, shine)


def _ground(table: Callable[[Floats], Floats], sheets: Mapping[str, Sheet]) -> Callable[[Floats], Floats]:
    def ground(xy: Floats) -> Floats:
        albedo = table(xy)
        for sheet in sheets.values():
            albedo = sheet.lay(xy, albedo)
        return albedo

    return ground
