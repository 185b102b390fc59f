"""Figures as solids: printed hexagonal prisms, how they rest, and how they fly, bounce and come to rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.figure_prints import FigurePrint
from devices.simulated.arena import FigureArt, Lying
from devices.simulated.solids import Floats, Ints, Paint, Solid

PRINT_PX_MM = 2.0
"""Prints are sampled at about the camera's own fineness, or fine print would turn into noise."""
HOPS = ((0.0, 0.42, 70.0), (0.42, 0.68, 34.0), (0.68, 0.84, 13.0), (0.84, 0.93, 4.0))
"""A flight's arcs: share of the time at which each begins and ends, and its height in mm."""
ROCKS = 0.9
"""Share of a flight from which a figure only rocks."""
Xy = tuple[float, float]
Doubles = NDArray[np.float64]


def art_of(figure: FigurePrint, length_mm: float, across_mm: float) -> FigureArt:
    """The figure's prints with its measures; an end without a print is bare."""
    bare = np.full((64, 64, 3), 150, dtype=np.uint8)
    ends = [bare if end is None else end for end in (figure.top, figure.bottom)]
    return FigureArt(figure.name, figure.faces, ends[0], ends[1], length_mm, across_mm)


def paint_of(art: FigureArt) -> Paint:
    """The paint of a figure's prism."""
    half, radius = art.length_mm / 2, art.across_mm / math.sqrt(3.0)
    sizes = [(art.length_mm, radius)] * 6 + [(2 * radius, 2 * radius)] * 2
    prints = [_albedo(p, s) for p, s in zip((*art.faces, art.top, art.bottom), sizes, strict=True)]

    def paint(p: Floats, faces: Ints) -> tuple[Floats, Floats, Floats]:
        albedo = np.zeros((len(p), 3), np.float32)
        for face, printed in enumerate(prints):
            mine = np.flatnonzero(faces == face)
            if not len(mine):
                continue
            x, y, z = p[mine].T
            turn = math.radians(60.0 * face)
            if face < 6:
                u, v = (x + half) / (2 * half), 0.5 - (y * math.cos(turn) + z * math.sin(turn)) / radius
            else:
                u, v = ((y if face == 6 else -y) + radius) / (2 * radius), (radius - z) / (2 * radius)
            rows, columns = printed.shape[:2]
            spots = ((u * columns - 0.5)[None].astype(np.float32), (v * rows - 0.5)[None].astype(np.float32))
            albedo[mine] = cv2.remap(printed, *spots, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[0]
        return albedo, np.zeros_like(p), np.full(len(p), 0.05, np.float32)

    return paint


def _albedo(picture: NDArray[np.uint8], size_mm: tuple[float, float]) -> Floats:
    linear = (picture.astype(np.float32) / np.float32(255.0)) ** np.float32(2.2)
    size = tuple(max(2, round(s * PRINT_PX_MM)) for s in size_mm)
    return np.asarray(cv2.resize(linear, (size[0], size[1]), interpolation=cv2.INTER_AREA), np.float32)


def solid_of(lying: Lying, paint: Paint) -> Solid:
    """The resting figure as a solid."""
    rotation, centre = lying.pose()
    art = lying.art
    radius = art.across_mm / math.sqrt(3.0)
    return Solid(
        (art.length_mm / 2, radius, radius),
        np.asarray(rotation, np.float32),
        np.asarray(centre, np.float32),
        paint,
        sides=6,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """A figure on its way over points of the floor (`path`, mm) to where it rests (`end`), tumbling about `axis` by
    `turns` full turns, between two shares (`begins`, `ends`) of the time of a throw."""

    end: Solid
    path: Sequence[Xy]
    axis: tuple[float, float, float]
    turns: float
    begins: float = 0.0
    ends: float = 1.0

    def at(self, share: float) -> Solid | None:
        """The figure after `share` of the throw; None before its own flight begins."""
        if share < self.begins:
            return None
        t = min(1.0, (share - self.begins) / max(self.ends - self.begins, 1e-6))
        if t >= 1.0:
            return self.end
        x, y = _along(self.path, 1 - (1 - t) ** 2)
        if t < ROCKS:
            spin = _turned(self.axis, 360.0 * self.turns * (1 - t / ROCKS) ** 1.3)
        else:  # about its own length
            rocks = (t - ROCKS) / (1 - ROCKS)
            long = self.end.rotation[:, 0]
            spin = _turned((float(long[0]), float(long[1]), float(long[2])), 14 * (1 - rocks) * math.sin(14 * rocks))
        rotation = np.asarray(spin @ self.end.rotation, np.float32)
        height = max((h * 4 * s * (1 - s) for a, b, h in HOPS if a <= t < b for s in ((t - a) / (b - a),)), default=0.0)
        half, radius, _ = self.end.half_mm
        turns = np.radians(30.0 + 60.0 * np.arange(6))
        ring = np.column_stack([-np.sin(turns), np.cos(turns)]) * radius
        local = np.concatenate([np.column_stack([np.full(6, s * half), ring]) for s in (-1, 1)])
        lowest = float((local @ rotation.T)[:, 2].min())
        return replace(self.end, rotation=rotation, centre_mm=np.array([x, y, height - lowest], np.float32))


def _along(path: Sequence[Xy], share: float) -> Xy:
    """A point of a bent line (two or three points: a Bezier curve)."""
    a, b = np.array(path[0]), np.array(path[-1])
    middle = np.array(path[1]) if len(path) > 2 else (a + b) / 2
    p = (1 - share) ** 2 * a + 2 * share * (1 - share) * middle + share**2 * b
    return float(p[0]), float(p[1])


def _turned(axis: tuple[float, float, float], degrees: float) -> Doubles:
    vector = np.array(axis, dtype=np.float64)
    vector *= math.radians(degrees) / max(float(np.linalg.norm(vector)), 1e-9)
    return np.asarray(cv2.Rodrigues(vector)[0], dtype=np.float64)
