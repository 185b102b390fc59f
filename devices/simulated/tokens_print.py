"""Printed sheets on a simulated table (boards, cards, markers) and the camera over them; for scenes of solids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.profile import Markers
from devices.contract import Image
from devices.simulated.materials import laid, plain, texture
from devices.simulated.solids import Camera, Floats, Light, Scene, Solid, develop, look_at, render
from devices.simulated.tray import lights, upright

PX_MM = 4.0
"""Pixels a mm in which sheets are printed."""
_FEW = 12
"""Up to so many solids are rendered together, with all shadows on each other."""
Colour = tuple[float, float, float]
"""Linear BGR, 0..1."""


@dataclass(eq=False)
class Sheet:
    """Paper lying flat: `albedo` (rows, columns, 3) linear BGR with its upper left corner at `corner_mm` on the table,
    turned by `turn_deg` (counter-clockwise) about that corner."""

    albedo: Floats
    corner_mm: tuple[float, float]
    turn_deg: float = 0.0

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height."""
        return self.albedo.shape[1] / PX_MM, self.albedo.shape[0] / PX_MM

    def axes(self) -> tuple[Floats, Floats]:
        """Unit vectors right and down along its sides."""
        c, s = np.cos(np.radians(self.turn_deg)), np.sin(np.radians(self.turn_deg))
        return np.array([c, s], np.float32), np.array([s, -c], np.float32)

    def at(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """The table point that lies so far right of and below its upper left corner."""
        right, down = self.axes()
        p = np.array(self.corner_mm) + x_mm * right + y_mm * down
        return float(p[0]), float(p[1])

    def lay(self, xy: Floats, under: Floats) -> Floats:
        """Albedo (n, 3) at table points (n, 2), this sheet lying on what is `under` it."""
        right, down = self.axes()
        off = xy - np.array(self.corner_mm, np.float32)
        u, v = (off @ right) * PX_MM - 0.5, (off @ down) * PX_MM - 0.5
        rows, columns = self.albedo.shape[:2]
        inside = np.flatnonzero((u > -0.5) & (v > -0.5) & (u < columns - 0.5) & (v < rows - 0.5))
        out = under.copy()
        for part in np.array_split(inside, len(inside) // 30000 + 1):
            if len(part):
                spot = (u[None, part].astype(np.float32), v[None, part].astype(np.float32))
                out[part] = cv2.remap(self.albedo, *spot, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[0]
        return out


def paper(width_mm: float, height_mm: float, colour: Colour) -> Floats:
    """An empty sheet of one colour."""
    shape = (round(height_mm * PX_MM), round(width_mm * PX_MM), 3)
    return np.asarray(np.broadcast_to(np.array(colour, np.float32), shape)).copy()


def px(*values_mm: float) -> tuple[int, ...]:
    """Whole pixels of a sheet."""
    return tuple(round(v * PX_MM) for v in values_mm)


def marker_sheets(markers: Markers) -> list[Sheet]:
    """The markers as paper squares with a white rim."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, markers.dictionary))
    sheets = []
    for number, corners in markers.corners_mm.items():
        left, top = corners[0][0], corners[0][1]
        side = corners[1][0] - left
        rim = round(side / 4 * PX_MM)
        cells = np.asarray(cv2.aruco.generateImageMarker(dictionary, number, round(side * PX_MM)), np.float32) / 255
        face = np.pad(cells, rim, constant_values=1.0)
        ink = np.repeat((0.03 + 0.8 * face)[..., None], 3, axis=2).astype(np.float32)
        sheets.append(Sheet(ink, (left - side / 4, top + side / 4)))
    return sheets


@dataclass(frozen=True, slots=True)
class ShotOptions:
    """How a picture is taken: its size, ranges of the camera's tilt (degrees), of the lens' blur (px), of noise (grey
    levels) and of colour gains, whether a hand is over the table, and where the camera stands (None: anywhere)."""

    size_px: tuple[int, int] = (1280, 720)
    tilt_deg: tuple[float, float] = (0.0, 24.0)
    blur_px: tuple[float, float] = (0.3, 0.9)
    noise: tuple[float, float] = (0.5, 3.0)
    cast: float = 0.12
    harsh: float = 0.3
    hand_at_mm: tuple[float, float] | None = None
    heading_deg: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture, and where the table's points are in it."""

    image: Image
    camera: Camera


def shoot(
    rng: np.random.Generator,
    sheets: Sequence[Sheet],
    solids: Sequence[Solid],
    shown_mm: tuple[float, float, float, float],
    options: ShotOptions,
) -> Shot:
    """The picture of a table with these sheets and solids; `shown_mm` (left, low, right, high) is all in it."""
    left, low, right, high = shown_mm
    middle = ((left + right) / 2, (low + high) / 2)
    width, height = options.size_px
    tilt = float(rng.uniform(*options.tilt_deg))
    heading = float(rng.choice([180.0, 270.0, 0.0, 90.0])) if options.heading_deg is None else options.heading_deg
    heading += float(rng.uniform(-8, 8))
    distance = float(rng.uniform(1.2, 1.9)) * max(right - left, high - low)
    turn, move = look_at(middle, distance, tilt, heading, -90.0 if width < height else 0.0)
    wide = Camera(width, height, 1.0, ((width - 1) / 2, (height - 1) / 2), turn, move)
    rim = np.array([(x, y, 0.0) for x in (left, right) for y in (low, high)])
    spans = np.abs(wide.project(rim) - np.array(wide.centre_px))
    focal = float(min((width / 2 - 8) / spans[:, 0].max(), (height / 2 - 8) / spans[:, 1].max()))
    camera = Camera(width, height, focal, wide.centre_px, turn, move)
    lamps, ambient = lights(rng, bool(rng.uniform() < options.harsh))
    hand = [] if options.hand_at_mm is None else _hand(rng, options.hand_at_mm)
    ground = _ground(rng, sheets)
    if len(solids) <= _FEW:
        linear = render(Scene([*solids, *hand], lamps, ground, ambient), camera)
    else:
        linear = render(Scene(hand, lamps, ground, ambient), camera)
        for solid in solids:
            _render_about(linear, solid, solids, hand, lamps, ground, ambient, camera)
    gains = 1 + rng.uniform(-options.cast, options.cast, 3)
    exposure = 0.8 / max(float(np.quantile(linear.max(axis=2), 0.97)), 1e-3) * float(rng.uniform(0.7, 1.15))
    image = develop(
        linear,
        rng,
        exposure,
        (float(gains[0]), float(gains[1]), float(gains[2])),
        float(rng.uniform(*options.blur_px)),
        float(rng.uniform(*options.noise)),
    )
    return Shot(image, camera)


def _render_about(
    linear: Floats,
    solid: Solid,
    solids: Sequence[Solid],
    hand: Sequence[Solid],
    lamps: Sequence[Light],
    ground: Callable[[Floats], Floats],
    ambient: Floats,
    camera: Camera,
) -> None:
    """Renders one low solid and its shadow into the picture; much quicker than all of many at once."""
    reach = max(solid.half_mm) * 1.9
    x, y = (float(v) for v in solid.centre_mm[:2])
    rim = np.array([(x + sx * reach, y + sy * reach, z) for sx in (-1, 1) for sy in (-1, 1) for z in (0.0, 6.0)])
    pixels = camera.project(rim)
    low = np.maximum(np.floor(pixels.min(axis=0)), 0).astype(int)
    high = np.minimum(np.ceil(pixels.max(axis=0)).astype(int) + 1, (camera.width, camera.height))
    if np.any(low >= high):
        return
    near = [s for s in solids if float(np.linalg.norm(s.centre_mm - solid.centre_mm)) < 3.5 * max(solid.half_mm)]
    wide, tall = (int(v) for v in high - low)
    window = camera.window(float(low[0]), float(low[1]), 1.0, wide, tall)
    linear[low[1] : high[1], low[0] : high[0]] = render(Scene([*near, *hand], lamps, ground, ambient), window)


def _ground(rng: np.random.Generator, sheets: Sequence[Sheet]) -> Callable[[Floats], Floats]:
    table = laid(texture(rng), float(rng.uniform(0.4, 1.5)), float(rng.uniform(0, 360)))

    def ground(xy: Floats) -> Floats:
        albedo = table(xy)
        for sheet in sheets:
            albedo = sheet.lay(xy, albedo)
        return albedo

    return ground


def _hand(rng: np.random.Generator, tip_mm: tuple[float, float]) -> list[Solid]:
    """Four fingers and a forearm that reach from somewhere to `tip_mm`."""
    away = float(rng.uniform(0, 360))
    c, s = np.cos(np.radians(away)), np.sin(np.radians(away))
    skin = plain(np.array([0.25, 0.4, 0.75], np.float32) * np.float32(rng.uniform(0.4, 1.0)), 0.1)
    solids = []
    for k in range(-2, 3):
        along = 90.0 - 4.0 * abs(k)
        middle = (tip_mm[0] + c * along - s * k * 18, tip_mm[1] + s * along + c * k * 18)
        centre = np.array([*middle, 30.0 + float(rng.uniform(-4, 4))], np.float32)
        solids.append(Solid((90.0, 9.5, 8.0), upright(4, away), centre, skin, 90.5))
    return solids
