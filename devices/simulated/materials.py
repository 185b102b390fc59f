"""Procedural surfaces for simulated tables: cloth, wood, card, prints, and the paint of dice and domino tiles.

Colours are linear BGR, 0..1. Everything random comes from the generator that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from devices.simulated.solids import Floats, Ints, Paint

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    0: (),
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
"""Where the pips of a value lie on a face, in pitches from its middle."""


def colour(rng: np.random.Generator, saturation: tuple[float, float], value: tuple[float, float]) -> Floats:
    """A random colour of any hue, (3,)."""
    hue, s, v = rng.uniform(0, 180), rng.uniform(*saturation), rng.uniform(*value)
    bgr = cv2.cvtColor(np.array([[[hue * 2, s, v]]], np.float32), cv2.COLOR_HSV2BGR)[0, 0]
    return np.asarray(bgr, np.float32) ** np.float32(2.2)


def noise(rng: np.random.Generator, size: int, octaves: int, stretch: float = 1.0) -> Floats:
    """Smooth noise with mean 0 and deviation 1, (size, size); `stretch` > 1 draws it out along x, as wood grain."""
    out = np.zeros((size, size), np.float32)
    for k in range(octaves):
        cells = 4 << k
        grain = rng.normal(0, 1, (cells, max(2, round(cells / stretch)))).astype(np.float32)
        out += cv2.resize(grain, (size, size), interpolation=cv2.INTER_CUBIC) * 0.6**k
    return np.asarray((out - out.mean()) / (out.std() + 1e-6), np.float32)


def texture(rng: np.random.Generator, size: int = 384) -> Floats:
    """A random table top, (size, size, 3): plain, cloth, wood, speckle, print or a clutter of shapes."""
    kind = rng.choice(["plain", "cloth", "wood", "speckle", "print", "clutter"], p=[0.25, 0.25, 0.2, 0.1, 0.08, 0.12])
    base = _table_colour(rng)
    other = _table_colour(rng)
    if kind == "wood":
        grain = noise(rng, size, 6, stretch=float(rng.uniform(6, 20)))
        mix = np.clip(0.5 + 0.25 * grain, 0, 1)[..., None]
        return np.asarray(base * (1 - mix) + base * rng.uniform(0.35, 0.8) * mix, np.float32)
    amount = {"plain": 0.02, "cloth": 0.12, "speckle": 0.06}.get(str(kind), 0.04)
    out = base * (1 + amount * noise(rng, size, 7))[..., None]
    if kind in ("cloth", "speckle"):
        fine = rng.normal(0, 1, (size, size)).astype(np.float32)
        out = out * (1 + rng.uniform(0.05, 0.25) * cv2.GaussianBlur(fine, (0, 0), rng.uniform(0.5, 1.2)))[..., None]
    if kind == "print":
        for y in range(10, size, int(rng.integers(8, 20))):
            x = 5
            while x < size:
                run = int(rng.integers(4, 30))
                cv2.line(out, (x, y), (x + run, y), [float(v) for v in other], int(rng.integers(1, 4)))
                x += run + int(rng.integers(3, 10))
    if kind == "clutter":
        for _ in range(int(rng.integers(4, 25))):
            _shape(rng, out)
    return np.asarray(np.clip(out, 0, 1), np.float32)


def _table_colour(rng: np.random.Generator) -> Floats:
    which = rng.uniform()
    if which < 0.35:
        return colour(rng, (0.0, 0.12), (0.05, 1.0))
    if which < 0.6:
        return np.array([0.12, 0.25, 0.5], np.float32) * np.float32(rng.uniform(0.3, 1.6))
    return colour(rng, (0.2, 0.9), (0.15, 0.9))


def _shape(rng: np.random.Generator, out: Floats) -> None:
    size = len(out)
    paint = [float(v) for v in _table_colour(rng)]
    x, y = (int(v) for v in rng.integers(0, size, 2))
    reach = int(rng.integers(3, 60))
    kind = rng.integers(0, 4)
    if kind == 0:
        cv2.circle(out, (x, y), max(2, reach // 3), paint, -1, cv2.LINE_AA)
    elif kind == 1:
        box = cv2.boxPoints(((x, y), (reach, rng.uniform(3, 60)), rng.uniform(0, 180))).astype(np.int32)
        cv2.fillConvexPoly(out, box, paint, cv2.LINE_AA)
    elif kind == 2:
        end = (x + int(rng.integers(-90, 90)), y + int(rng.integers(-90, 90)))
        cv2.line(out, (x, y), end, paint, int(rng.integers(1, 12)), cv2.LINE_AA)
    else:
        for _ in range(int(rng.integers(2, 8))):
            cv2.circle(out, (x + int(rng.integers(-30, 30)), y + int(rng.integers(-30, 30))), 3, paint, -1, cv2.LINE_AA)


def laid(image: Floats, mm_a_px: float, angle_deg: float = 0.0) -> Callable[[Floats], Floats]:
    """The texture spread over the plane (and mirrored at its edges): world (n, 2) mm to albedo (n, 3)."""
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    turn = (np.array([[c, -s], [s, c]]) / mm_a_px).astype(np.float32)

    def at(xy: Floats) -> Floats:
        if not len(xy):
            return np.zeros((0, 3), np.float32)
        uv = np.clip(xy, -1e4, 1e4) @ turn.T + np.float32(len(image) / 2)
        uv = uv.astype(np.float32)
        rows = np.array_split(uv, len(uv) // 30000 + 1)
        parts = [
            cv2.remap(image, r[None, :, 0], r[None, :, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)[0]
            for r in rows
        ]
        return np.concatenate(parts)

    return at


def plain(albedo: Floats, gloss: float = 0.0) -> Paint:
    """One colour all over."""

    def paint(p: Floats, faces: Ints) -> tuple[Floats, Floats, Floats]:
        n = len(p)
        return np.tile(albedo, (n, 1)), np.zeros((n, 3), np.float32), np.full(n, gloss, np.float32)

    return paint


def covered(at: Callable[[Floats], Floats], gloss: float = 0.0) -> Paint:
    """A texture over all faces, laid along the two longest axes."""

    def paint(p: Floats, faces: Ints) -> tuple[Floats, Floats, Floats]:
        n = len(p)
        return at(p[:, :2]), np.zeros((n, 3), np.float32), np.full(n, gloss, np.float32)

    return paint


@dataclass(frozen=True, slots=True, eq=False)
class PipInk:
    """How pips look: colour, radius and depth of the hollow (0 = painted flat), all lengths in mm."""

    ink: Floats
    radius_mm: float
    pitch_mm: float
    hollow: float = 0.0

    def mark(self, albedo: Floats, dent: Floats, p: Floats, rows: Ints, u: int, v: int, spots: Floats) -> None:
        """Paints pips at `spots` (k, 2) mm on the face spanned by local axes u and v, for the points in `rows`."""
        for su, sv in spots:
            du, dv = p[rows, u] - su, p[rows, v] - sv
            inside = du * du + dv * dv < self.radius_mm**2
            hit = rows[inside]
            albedo[hit] = self.ink
            dent[hit, u] = -self.hollow * du[inside] / self.radius_mm
            dent[hit, v] = -self.hollow * dv[inside] / self.radius_mm


def die_paint(
    body: Callable[[Floats], Floats],
    ink: PipInk,
    faces: tuple[int, int, int, int, int, int],
    flips: tuple[int, ...],
    gloss: float,
    ace_scale: float = 1.0,
) -> Paint:
    """A pip die: `faces` gives the value on +x -x +y -y +z -z, `flips` a mirror bit for each (2, 3 and 6 have two
    directions), `body` the colour at local points, `ace_scale` how much larger the single pip of the ace is."""
    ace = PipInk(ink.ink, ink.radius_mm * ace_scale, ink.pitch_mm, ink.hollow)

    def paint(p: Floats, face: Ints) -> tuple[Floats, Floats, Floats]:
        albedo, dent = body(p).copy(), np.zeros_like(p)
        for f in range(6):
            rows = np.flatnonzero(face == f)
            if len(rows):
                u, v = [(1, 2), (0, 2), (0, 1)][f // 2]
                spots = np.array(PIPS[faces[f]], np.float32) * ink.pitch_mm
                if flips[f]:
                    spots = spots[:, ::-1] * np.array([1, -1], np.float32)
                (ace if faces[f] == 1 else ink).mark(albedo, dent, p, rows, u, v, spots)
        return albedo, dent, np.full(len(p), gloss, np.float32)

    return paint


def marbled(rng: np.random.Generator, one: Floats, two: Floats, scale_mm: float) -> Callable[[Floats], Floats]:
    """Two colours swirled through a body."""
    field = noise(rng, 64, 5)
    shift = rng.uniform(0, 64, 3).astype(np.float32)

    def at(p: Floats) -> Floats:
        uv = (np.stack([p[:, 0] + 0.7 * p[:, 2], p[:, 1] - 0.6 * p[:, 2]], 1) / scale_mm * 8 + shift[:2]).astype(
            np.int64
        )
        mix = np.clip(0.5 + field[uv[:, 1] % 64, uv[:, 0] % 64], 0, 1)[:, None].astype(np.float32)
        return np.asarray(one * (1 - mix) + two * mix, np.float32)

    return at


def solid_colour(albedo: Floats) -> Callable[[Floats], Floats]:
    """The same colour at every local point."""
    return lambda p: np.tile(albedo, (len(p), 1))
