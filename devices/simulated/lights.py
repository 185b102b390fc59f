"""The light over the simulated table: how bright each point is, where shadows fall and how soft they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Light:
    """One state of the room's light.

    `level` is its strength (1: a well-lit room) and `colour_bgr` its colour, both linear. `azimuth_deg` is the side it
    comes from, `slope` the horizontal length of a shadow per unit of height, `shadow` its depth 0..1, `softness` the
    width of its edge per unit of height. `falloff` is by how much the far side is darker than the near one (0..1).
    `lamp_mm` puts a bulb at that height over a point `reach_mm` from the board's centre, so that shadows diverge and
    glossy tiles show its glare.
    """

    kind: str
    level: float = 1.0
    colour_bgr: tuple[float, float, float] = (1.0, 1.0, 1.0)
    azimuth_deg: float = 60.0
    slope: float = 0.5
    shadow: float = 0.3
    softness: float = 0.8
    falloff: float = 0.1
    lamp_mm: float = 0.0
    reach_mm: float = 350.0
    glare: float = 0.0

    def away(self, xy_mm: Floats, centre_mm: tuple[float, float]) -> Floats:
        """Shadow shift (N x 2, mm per mm of height) of things at N x 2 points, pointing away from the light."""
        points = np.asarray(xy_mm, dtype=np.float64).reshape(-1, 2)
        if self.lamp_mm:
            return np.asarray((points - self.source(centre_mm)) / self.lamp_mm, dtype=np.float64)
        return np.repeat([-self._towards() * self.slope], len(points), axis=0)

    def brightness(self, xy_mm: Floats, centre_mm: tuple[float, float]) -> Floats:
        """Linear brightness (N, about 1 in the board's middle) of N x 2 points, without `level`."""
        points = np.asarray(xy_mm, dtype=np.float64).reshape(-1, 2)
        if self.lamp_mm:
            distance2 = ((points - self.source(centre_mm)) ** 2).sum(axis=1) / self.lamp_mm**2
            middle2 = (self.reach_mm / self.lamp_mm) ** 2
            bulb = ((1 + middle2) / (1 + distance2)) ** 1.5
            return np.asarray(self.falloff * np.minimum(bulb, 2.5) + 1 - self.falloff, dtype=np.float64)
        along = ((points - centre_mm) @ self._towards()) / 350.0
        return np.asarray(np.clip(1 + self.falloff * np.tanh(along), 0.1, 2.0), dtype=np.float64)

    def source(self, centre_mm: tuple[float, float]) -> Floats:
        """The point of the table under the lamp, in mm."""
        return np.asarray(centre_mm + self._towards() * self.reach_mm, dtype=np.float64)

    def _towards(self) -> Floats:
        azimuth = math.radians(self.azimuth_deg)
        return np.array([math.cos(azimuth), math.sin(azimuth)])


LIGHTS: dict[str, Light] = {
    light.kind: light
    for light in (
        Light("diffuse", slope=0.35, shadow=0.22, softness=1.2, falloff=0.05),
        Light("window", 0.9, (1.08, 1.0, 0.93), 150.0, slope=1.1, shadow=0.38, softness=0.6, falloff=0.35),
        Light("lamp", 0.8, (0.72, 0.95, 1.12), 40.0, shadow=0.5, softness=0.18, falloff=0.8, lamp_mm=620.0, glare=0.5),
        Light("dim", 0.16, (0.85, 0.98, 1.05), 100.0, slope=0.6, shadow=0.25, softness=1.0, falloff=0.2),
        Light(
            "candle", 0.3, (0.42, 0.78, 1.2), 250.0, shadow=0.45, softness=0.4, falloff=0.7, lamp_mm=480.0, glare=0.2
        ),
        Light("tube", 1.1, (1.12, 1.08, 0.86), 10.0, slope=0.25, shadow=0.2, softness=1.4, falloff=0.12, glare=0.15),
    )
}


def light_over(named: str | Light | None, usual: Sequence[str], rng: np.random.Generator) -> Light:
    """A light as it is, or a named one from any side; None: one of the `usual` names by chance."""
    kind = named if named is not None else str(rng.choice(list(usual)))
    return replace(LIGHTS[kind], azimuth_deg=float(rng.uniform(0, 360))) if isinstance(kind, str) else kind
