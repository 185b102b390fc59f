"""What goes wrong round a table, as typed events in simulated time: lamps, bumps, shadows, glare, hands at rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from devices.contract import Image
from devices.simulated.lights import LIGHTS, Light
from devices.simulated.optics import View
from devices.simulated.sprites import Box, Sprite, as_image, lay, soft_shadow, thrice

EXPOSURE_LAG_S = 0.45
Xyz = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LampSwitch:
    """The light changes at once to another one of LIGHTS (or a given one) and stays; automatic exposure follows."""

    light: str | Light


@dataclass(frozen=True, slots=True)
class LightDrift:
    """Within `seconds` the light's strength goes to `level` times what it was, and its colour is multiplied by
    `colour_bgr`; both stay."""

    seconds: float
    level: float = 1.0
    colour_bgr: Xyz = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class ExposureWalk:
    """For `seconds` the camera's gain swings by `depth` (0.3: a third up and down) every `period_s`."""

    seconds: float
    depth: float = 0.3
    period_s: float = 2.5


@dataclass(frozen=True, slots=True)
class ColourCast:
    """For `seconds` the camera's white balance is wrong by these factors."""

    seconds: float
    bgr: Xyz = (1.25, 1.0, 0.85)


@dataclass(frozen=True, slots=True)
class Bump:
    """Somebody knocks against the camera: it shakes for `shake_s` and stays shifted (mm) and turned (degrees)."""

    shift_mm: Xyz = (12.0, -8.0, 0.0)
    turn_deg: Xyz = (0.6, -0.8, 1.5)
    shake_s: float = 0.6


@dataclass(frozen=True, slots=True)
class RestingHand:
    """A hand of player `player` comes over `cell`, rests there for `seconds` and goes, apart from all acts."""

    cell: str
    seconds: float
    player: str = "1"


@dataclass(frozen=True, slots=True)
class PlayerShadow:
    """Somebody leans in: for `seconds` a soft shadow lies about `xy_mm`, coming and going in `fade_s`."""

    seconds: float
    xy_mm: tuple[float, float]
    radius_mm: float = 160.0
    depth: float = 0.55
    fade_s: float = 0.5


@dataclass(frozen=True, slots=True)
class Glare:
    """For `seconds` something mirrors a light into the camera about `xy_mm`."""

    seconds: float
    xy_mm: tuple[float, float]
    radius_mm: float = 35.0
    strength: float = 0.9


@dataclass(frozen=True, slots=True)
class Covered:
    """For `seconds` something is held close before the lens."""

    seconds: float


Event = LampSwitch | LightDrift | ExposureWalk | ColourCast | Bump | RestingHand | PlayerShadow | Glare | Covered
Scenario = Sequence[tuple[float, Event]]
"""Events with the simulated seconds after the table's start at which they begin."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that events make of one instant: light (its `level` and colour by now), the gain's factor, colour
    error, how the view is moved, what overlays the picture, how far the lens is covered (0..1)."""

    light: Light
    gain: float
    cast: Xyz
    view: View
    overlays: tuple[PlayerShadow | Glare, ...]
    fades: tuple[float, ...]
    covered: float
    resting: tuple[tuple[RestingHand, float], ...]


class Surroundings:
    """Keeps which events have begun, and what they amount to at a time. Only times matter, not when it is asked."""

    def __init__(self, view: View, light: Light) -> None:
        self._view, self._light = view, light
        self._drift = (1.0, (1.0, 1.0, 1.0))
        self._running: list[tuple[float, Event]] = []

    @property
    def light(self) -> Light:
        """The light as its last switch left it, without drift."""
        return self._light

    def begin(self, event: Event, now_s: float) -> None:
        """An event begins."""
        self._settle(now_s)
        if isinstance(event, LampSwitch):
            kind = event.light
            self._light = replace(LIGHTS[kind], azimuth_deg=self._light.azimuth_deg) if isinstance(kind, str) else kind
        else:
            self._running.append((now_s, event))

    def at(self, now_s: float) -> Conditions:
        """The conditions at a time not before the last event's beginning."""
        self._settle(now_s)
        level, colour = self._drift
        gain, cast, view, covered = 1.0, np.ones(3), self._view, 0.0
        overlays: list[PlayerShadow | Glare] = []
        fades: list[float] = []
        resting: list[tuple[RestingHand, float]] = []
        for start_s, event in self._running:
            age = now_s - start_s
            if isinstance(event, LightDrift):
                share = min(age / event.seconds, 1.0)
                level *= event.level**share
                colour = _times(colour, tuple(c**share for c in event.colour_bgr))
            elif isinstance(event, ExposureWalk):
                gain *= 1 + event.depth * math.sin(2 * math.pi * age / event.period_s)
            elif isinstance(event, ColourCast):
                cast = cast * event.bgr
            elif isinstance(event, Bump):
                view = _bumped(view, event, age)
            elif isinstance(event, PlayerShadow):
                overlays.append(event)
                fades.append(min(1.0, age / event.fade_s, (event.seconds - age) / event.fade_s))
            elif isinstance(event, Glare):
                overlays.append(event)
                fades.append(1.0)
            elif isinstance(event, Covered):
                covered = max(covered, min(1.0, age / 0.25, (event.seconds - age) / 0.25))
            elif isinstance(event, RestingHand):
                resting.append((event, age))
        light = replace(self._light, level=self._light.level * level, colour_bgr=_times(self._light.colour_bgr, colour))
        b, g, r = (float(c) for c in cast)
        return Conditions(light, gain, (b, g, r), view, tuple(overlays), tuple(fades), covered, tuple(resting))

    def _settle(self, now_s: float) -> None:
        """Takes events out that are over; what they left behind stays."""
        still: list[tuple[float, Event]] = []
        for start_s, event in self._running:
            if now_s - start_s < _duration_s(event):
                still.append((start_s, event))
            elif isinstance(event, LightDrift):
                self._drift = (self._drift[0] * event.level, _times(self._drift[1], event.colour_bgr))
            elif isinstance(event, Bump):
                self._view = self._view.moved(event.shift_mm, event.turn_deg)
        self._running = still


def over(canvas: Image, view: View, frame: Box, conditions: Conditions) -> None:
    """Lays shadows, glare and a cover before the lens over a lit picture."""
    for event, fade in zip(conditions.overlays, conditions.fades, strict=True):
        angles = np.linspace(0, 2 * np.pi, 25)[:-1]
        ring = np.column_stack([np.cos(angles), np.sin(angles)]) * event.radius_mm + event.xy_mm
        points = view.project(np.column_stack([ring, np.full(len(ring), 2.0)]))
        if isinstance(event, PlayerShadow):
            lay(canvas, frame, soft_shadow(points, event.depth * fade, 0.8 * event.radius_mm * view.px_per_mm))
        else:
            shade = soft_shadow(points, 1.0, 0.9 * event.radius_mm * view.px_per_mm)
            shine = as_image((255 - shade.keep.astype(np.float32)) * 0.85 * event.strength * fade)
            lay(canvas, frame, Sprite(shade.box, as_image(np.full_like(shade.keep, 255)), shine))
    if conditions.covered > 0:
        width = frame.x1
        edge = conditions.covered * (width + 200) - 100
        open_ = np.clip((np.arange(width) - edge) / 160 + 0.5, 0, 1)
        keep = as_image(np.broadcast_to(np.round(255 * (0.04 + 0.96 * open_)), (frame.y1, width)))
        cloth = np.array([9, 11, 17]) * (1 - open_)[:, None]
        lay(canvas, frame, Sprite(frame, thrice(keep), as_image(np.broadcast_to(cloth, (frame.y1, width, 3)))))


def _duration_s(event: Event) -> float:
    if isinstance(event, Bump):
        return event.shake_s
    return 0.0 if isinstance(event, LampSwitch) else event.seconds


def _bumped(view: View, event: Bump, age_s: float) -> View:
    """The view while it shakes: it swings about its new place with a decaying amplitude."""
    share = 1 - math.exp(-4 * age_s / event.shake_s) * math.cos(2 * math.pi * 5 * age_s)
    x, y, z = (share * v for v in event.shift_mm)
    a, b, c = (share * v for v in event.turn_deg)
    return view.moved((x, y, z), (a, b, c))


def _times(a: Xyz, b: Sequence[float]) -> Xyz:
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])
