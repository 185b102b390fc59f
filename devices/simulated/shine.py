"""How bright each point of the picture is under one light, and hands laid into it in that light."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image
from devices.simulated.hand import HandAt, hand_shadow, hand_sprites
from devices.simulated.lights import Light
from devices.simulated.optics import View, coarse_grid, enlarge
from devices.simulated.sprites import Box, Sprite, as_image, lay, thrice

Floats = NDArray[np.float64]
GAMMA = 2.2
UNIT = 155
"""The kept picture's grey level of a white thing in brightness 1; the room above it is for brighter light."""


class Shine:
    """The light field of one view: `field` (UNIT: brightness 1, in coded grey levels, with vignetting) and `glare`, the
    lamp's mirror image in the table, or None."""

    def __init__(self, view: View, light: Light, vignetting: float, centre_mm: tuple[float, float]) -> None:
        self._view, self._light, self._centre_mm = view, light, centre_mm
        self._frame = Box(0, 0, view.width, view.height)
        w, h = view.width, view.height
        grid = coarse_grid(w, h)
        xy, shape = view.ground(grid.reshape(-1, 2)), grid.shape[:2]
        bright = light.brightness(xy, centre_mm).reshape(shape)
        radius2 = (((grid - (w / 2, h / 2)) / np.hypot(w / 2, h / 2)) ** 2).sum(axis=-1)
        coded = (bright * (1 - vignetting * radius2)) ** (1 / GAMMA) * UNIT
        self.field = thrice(as_image(enlarge(np.clip(coded, 0, 255), w, h)))
        self.glare: Image | None = None
        if light.glare:
            distance2 = ((xy - self._mirror()) ** 2).sum(axis=1).reshape(shape)
            shine = UNIT * 0.6 * light.glare * np.exp(-distance2 / (2 * 30.0**2))
            self.glare = thrice(as_image(enlarge(shine, w, h)))

    def light(self, canvas: Image, box: Box) -> Image:
        """The painted part `box` of the picture in this light; the canvas itself is changed."""
        cv2.multiply(canvas, box.of(self.field), canvas, scale=1 / 255)
        if self.glare is not None:
            cv2.add(canvas, box.of(self.glare), canvas)
        return canvas

    def lit(self, sprite: Sprite) -> Sprite:
        """The sprite's part inside the picture, in the light of its place."""
        if sprite.paint is None:
            return sprite
        part = sprite.box.clipped(self._frame)
        inner = part.within(sprite.box)
        if part.empty:
            return sprite
        paint = cv2.multiply(inner.of(sprite.paint), part.of(self.field), scale=1 / 255)
        return Sprite(part, inner.of(sprite.keep), as_image(paint))

    def shade(self, canvas: Image, hands: Sequence[HandAt]) -> None:
        """Lays the shadows of hands over the whole picture."""
        for hand in hands:
            shadow = hand_shadow(self._view, self._light, hand, self._frame, self._centre_mm)
            if shadow is not None:
                lay(canvas, self._frame, shadow)

    def lay(self, canvas: Image, hands: Sequence[HandAt]) -> None:
        """Lays the hands themselves over the whole picture."""
        for hand in hands:
            for piece in hand_sprites(self._view, hand, self._frame):
                lay(canvas, self._frame, self.lit(piece))

    def _mirror(self) -> Floats:
        """Where the flat table mirrors the lamp into the camera, in mm."""
        eye = self._view.centre_mm
        source, height = self._light.source(self._centre_mm), self._light.lamp_mm or 2000.0
        share = height / (height + eye[2])
        return np.asarray(source + (eye[:2] - source) * share, dtype=np.float64)
