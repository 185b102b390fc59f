"""The simulated camera's sensor: exposure, white balance, noise and JPEG, from a lit picture to a frame's bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np

from devices.contract import Image
from devices.simulated.lights import Light
from devices.simulated.optics import CameraModel
from devices.simulated.shine import GAMMA
from devices.simulated.sprites import Box, as_image

GRAINS = 4
"""So many noise pictures take turns, at random."""
BLOCK, MUCH = 16, 0.6
"""JPEG treats blocks of so many pixels apart from one another, so that only those that changed are done again; but all
when more than this share has changed."""
ROOM = 64
"""How many pixels larger than a frame a noise picture is, so that it can be cut out anywhere."""
TARGET = 0.17
"""Mean linear brightness at which the automatic exposure aims."""
BRIGHT = 0.78
"""Linear brightness above which it lets only the brightest 3 % of the picture be."""


def exposure_for(lit: Image, light: Light) -> float:
    """The gain with which the automatic exposure would answer to this picture under a light of this level, 0.2..12."""
    small = np.asarray(cv2.resize(lit, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA))[..., 1] / 255
    mean, bright = float((small**GAMMA).mean()), float(np.quantile(small, 0.97) ** GAMMA)
    return float(np.clip(min(TARGET / (mean + 1e-4), BRIGHT / (bright + 1e-4)) / light.level, 0.2, 12.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Developed:
    """A lit picture and what became of it under one table and noise: a frame for each of GRAINS noise pictures."""

    lit: Image
    table: Image
    sigma: float
    pictures: dict[int, Image]


@dataclass(slots=True)
class Sensor:
    """Turns lit pictures into frames; the same seed, time and picture give the same frame."""

    model: CameraModel
    seed: int
    _noise: dict[float, list[tuple[Image, Image]]] = field(default_factory=dict)
    _kept: _Developed | None = None
    _sparks: Image | None = None

    def expose(self, lit: Image, light: Light, gain: float, tick: int, cast: tuple[float, float, float]) -> Image:
        """A frame of the lit picture at this gain; `tick` chooses the noise, `cast` a colour error (linear BGR)."""
        tint = np.array(light.colour_bgr) / light.colour_bgr[1]
        balanced = tint ** (1 - self.model.white_balance) * np.array(cast)
        level = (light.level * gain * balanced) ** (1 / GAMMA)
        ramp = np.arange(256)[None, :] * level[:, None]
        knee = np.where(ramp > 215, 215 + 40 * np.tanh((ramp - 215) / 40), ramp)
        table = np.clip(np.round(knee), 0, 255).astype(np.uint8).T.reshape(256, 1, 3)
        sigma = self.model.noise * max(1.0, gain) ** 0.6
        rng = np.random.default_rng([self.seed, tick, 74])
        number = int(rng.integers(GRAINS))
        whole = Box(0, 0, lit.shape[1], lit.shape[0])
        kept = self._kept
        if kept is None or kept.lit.shape != lit.shape or kept.sigma != sigma or not np.array_equal(kept.table, table):
            kept = self._kept = _Developed(lit.copy(), table, sigma, {})
        off = np.asarray(cv2.absdiff(lit, kept.lit)).reshape(lit.shape[0], -1)
        x, y, w, h = cv2.boundingRect(off)
        box = Box(
            x // 3 // BLOCK * BLOCK, y // BLOCK * BLOCK, -(-(x + w) // 3 // BLOCK) * BLOCK, -(-(y + h) // BLOCK) * BLOCK
        )
        box = box.clipped(whole)
        if (box.x1 - box.x0) * (box.y1 - box.y0) > MUCH * off.size / 3:
            kept = self._kept = _Developed(lit.copy(), table, sigma, {})
            box = Box(0, 0, 0, 0)
        if number not in kept.pictures:
            kept.pictures[number] = self._develop(kept.lit, whole, table, sigma, number)
        picture = kept.pictures[number].copy()
        if sigma > 0:
            # So that no two frames are the same, as real ones never are.
            cv2.add(picture, self._flicker(int(rng.integers(ROOM)), int(rng.integers(ROOM))), picture)
        if not box.empty:
            box.of(picture)[:] = self._develop(box.of(lit), box, table, sigma, number)
        return picture

    def _develop(self, lit: Image, box: Box, table: Image, sigma: float, number: int) -> Image:
        """The part `box` of a frame from that part of the lit picture."""
        picture = as_image(cv2.LUT(lit, table))
        if sigma > 0:
            plus, minus = self._grain(sigma, number)
            cv2.add(picture, box.of(plus), picture)
            cv2.subtract(picture, box.of(minus), picture)
        if self.model.jpeg_quality > 0:
            _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, self.model.jpeg_quality])
            picture = as_image(cv2.imdecode(data, cv2.IMREAD_COLOR))
        return picture

    def _grain(self, sigma: float, number: int) -> tuple[Image, Image]:
        """What noise adds and takes away, cut out of one of two kept noise pictures."""
        step = float(np.round(np.log2(sigma) * 4) / 4)
        if step not in self._noise:
            self._noise[step] = [self._make(2.0**step, which) for which in range(2)]
        rng = np.random.default_rng([self.seed, number, 76])
        x, y = int(rng.integers(ROOM)), int(rng.integers(ROOM))
        plus, minus = self._noise[step][number % 2]
        h, w = self.model.height, self.model.width
        return plus[y : y + h, x : x + w], minus[y : y + h, x : x + w]

    def _flicker(self, x: int, y: int) -> Image:
        """One level more here and there, cut out of a kept picture at a place of its own."""
        h, w = self.model.height, self.model.width
        if self._sparks is None:
            lively = np.random.default_rng([self.seed, 77]).random((h + ROOM, w + ROOM, 3), dtype=np.float32) < 0.2
            self._sparks = lively.astype(np.uint8)
        return self._sparks[y : y + h, x : x + w]

    def _make(self, sigma: float, number: int) -> tuple[Image, Image]:
        rng = np.random.default_rng([self.seed, number, 75])
        h, w = self.model.height + ROOM, self.model.width + ROOM
        luma = rng.standard_normal((h, w), dtype=np.float32)
        chroma = rng.standard_normal((h // 3 + 1, w // 3 + 1, 3), dtype=np.float32)
        chroma = np.asarray(cv2.resize(chroma, (w, h), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
        grain = sigma * (0.85 * luma[..., None] + np.array([1.0, 0.5, 0.8], np.float32) * chroma)
        plus = np.clip(np.round(grain), 0, 255).astype(np.uint8)
        minus = np.clip(np.round(-grain), 0, 255).astype(np.uint8)
        return plus, minus
