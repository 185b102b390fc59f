"""Pictures of an arena with figures lying in it, for any camera: painted face by face, with what is true of them.

World frame: that of the arena's board spec, millimetres, z up. Colours are linear BGR, 0..1, until the sensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from calibration.profile import Board, Markers
from devices.contract import Image
from devices.simulated.materials import colour, noise
from devices.simulated.solids import look_at

Floats = NDArray[np.float32]
ENDS = ("top", "bottom")
_FINER = 3
"""Figures are painted at so many times the camera's resolution each way."""
_FLOOR_MM = 2.0
"""Size of a pixel of the floor's texture."""


@dataclass(frozen=True, slots=True, eq=False)
class FigureArt:
    """One model's printed pictures (BGR): six side faces, the top end at their right-hand edge, in counter-clockwise
    order seen from the top end; and the two ends, face 1's edge up. `length_mm` and `across_mm` are its measures."""

    name: str
    faces: tuple[Image, ...]
    top: Image
    bottom: Image
    length_mm: float = 45.0
    across_mm: float = 24.0


@dataclass(frozen=True, slots=True, eq=False)
class Lying:
    """One figure at rest: which side is up (`1`..`6`, `top`, `bottom`), its centre on the floor in mm, and the
    direction in degrees of its top end (lying) or of its face 1 (standing). `lift_mm`, `lean_deg` raise and tilt it."""

    art: FigureArt
    up: str
    xy: tuple[float, float]
    turn_deg: float
    lift_mm: float = 0.0
    lean_deg: float = 0.0

    def pose(self) -> tuple[Array, Array]:
        """Rotation (columns: the local axes towards the top end, then y, then face 1's normal z) and centre in mm."""
        turn = math.radians(self.turn_deg)
        ahead = np.array([math.cos(turn), math.sin(turn), 0.0])
        up = np.array([0.0, 0.0, 1.0])
        if self.up in ENDS:
            axis = up if self.up == "top" else -up
            rotation = np.column_stack([axis, np.cross(ahead, axis), ahead])
            height = self.art.length_mm / 2
        else:
            around = math.radians(60.0 * (int(self.up) - 1))
            # Face k's normal is z turned by 60 (k - 1) degrees about the axis; it is to point upwards.
            side = np.cross(up, ahead)
            normal = math.cos(around) * up + math.sin(around) * side
            rotation = np.column_stack([ahead, np.cross(normal, ahead), normal])
            height = self.art.across_mm / 2
        lean = math.radians(self.lean_deg)
        tilt = np.array([[math.cos(lean), 0, math.sin(lean)], [0, 1, 0], [-math.sin(lean), 0, math.cos(lean)]])
        return tilt @ rotation, np.array([*self.xy, height + self.lift_mm])

    def corners(self) -> Array:
        """Its twelve corners (12, 3) in mm, the bottom end's six first."""
        radius = self.art.across_mm / math.sqrt(3.0)
        turns = np.radians(30.0 + 60.0 * np.arange(6))
        ring = np.column_stack([-np.sin(turns), np.cos(turns)]) * radius
        local = [np.column_stack([np.full(6, s * self.art.length_mm / 2), ring]) for s in (-1, 1)]
        rotation, centre = self.pose()
        return np.asarray(np.concatenate(local) @ rotation.T + centre)

    def footprint(self) -> Array:
        """Where it touches the floor, a convex outline (N, 2) in mm."""
        corners = self.corners()
        low = corners[corners[:, 2] < corners[:, 2].min() + 0.1]
        return np.asarray(cv2.convexHull(low[:, :2].astype(np.float32)).reshape(-1, 2), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ArenaLook:
    """How the arena is lit and looks. `light` is the direction to the light, `tint` its colour, `shade` the share of
    light that comes from everywhere, `floor` seeds the floor's texture, `line_bgr` the line's colour, `paper` whether
    markers lie there; then the sensor's blur in px, noise in levels, and JPEG quality (0: none)."""

    light: tuple[float, float, float] = (0.4, -0.5, 1.0)
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    strength: float = 0.85
    shade: float = 0.55
    shadow_blur_mm: float = 4.0
    floor: int = 0
    line_bgr: tuple[float, float, float] = (0.35, 0.06, 0.04)
    paper: bool = True
    blur_px: float = 0.7
    noise: float = 2.0
    jpeg: int = 0
    seed: int = field(default=0)


def camera_over(
    board: Board, width: int, height: int, tilt_deg: float, heading_deg: float, roll_deg: float, span_mm: float
) -> Camera:
    """A camera that sees about `span_mm` across its shorter side, looking at the arena's middle."""
    corners = np.array(board.corners_mm)
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    focal = 1.15 * max(width, height)
    distance = focal * span_mm / min(width, height)
    rotation, shift = look_at((float(middle[0]), float(middle[1])), distance, tilt_deg, heading_deg, roll_deg)
    matrix = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1.0]])
    return Camera(matrix, np.zeros(5), rotation.astype(np.float64), shift.astype(np.float64), width, height)


def paint(board: Board, camera: Camera, figures: Sequence[Lying], look: ArenaLook) -> Image:
    """The picture that this camera takes."""
    canvas = _floor(board, camera, look)
    light = np.array(look.light) / np.linalg.norm(look.light)
    for figure in figures:
        _cast(canvas, camera, figure, light, look)
    eye = camera.position_mm
    for figure in sorted(figures, key=lambda f: -float(np.linalg.norm(f.pose()[1] - eye))):
        _figure(canvas, camera, figure, light, look)
    lit = canvas * (np.array(look.tint, dtype=np.float32) * np.float32(look.strength))
    if look.blur_px > 0:
        lit = np.asarray(cv2.GaussianBlur(lit, (0, 0), look.blur_px), dtype=np.float32)
    rng = np.random.default_rng(look.seed)
    coded = 255.0 * np.clip(lit, 0, 1) ** (1 / 2.2) + rng.normal(0.0, max(look.noise, 1e-6), lit.shape)
    picture = np.asarray(np.clip(coded, 0, 255), dtype=np.uint8)
    if look.jpeg:
        done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, look.jpeg])
        assert done
        picture = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)
    return picture


def invented_figures(rng: np.random.Generator, count: int) -> list[FigureArt]:
    """Made-up models, each of its own colour, with six different numbers and a sign of its own."""
    hues = (np.arange(count) + rng.random()) * 180.0 / count
    made = []
    for i, hue in enumerate(hues):
        value = int(rng.integers(110, 230))
        one = np.array([[[int(hue) % 180, int(rng.integers(150, 255)), value]]], dtype=np.uint8)
        body = tuple(int(v) for v in np.asarray(cv2.cvtColor(one, cv2.COLOR_HSV2BGR))[0, 0])
        numbers = rng.choice(np.arange(2, 99), 6, replace=False)
        faces = tuple(_face(body, str(number), i) for number in numbers)
        made.append(FigureArt(f"F{i + 1}", faces, _end(body, True), _end(body, False)))
    return made


def _face(body: tuple[int, ...], number: str, sign: int) -> Image:
    picture = np.full((138, 448, 3), body, dtype=np.uint8)
    pale = tuple(int(235 + 0.08 * (v - 128)) for v in body)
    cv2.rectangle(picture, (36, 12), (412, 126), pale, -1)
    size = cv2.getTextSize(number, cv2.FONT_HERSHEY_DUPLEX, 3.3, 12)[0]
    cv2.putText(picture, number, (140 - size[0] // 2, 105), cv2.FONT_HERSHEY_DUPLEX, 3.3, (20, 20, 25), 12, cv2.LINE_AA)
    points = 3 + sign % 5
    turns = np.arange(2 * points) * np.pi / points
    radius = np.where(np.arange(2 * points) % 2, 18.0 + 3.0 * (sign % 3), 44.0)
    star = np.column_stack([330 + radius * np.sin(turns), 69 - radius * np.cos(turns)])
    cv2.fillPoly(picture, [np.rint(star).astype(np.int32)], body, cv2.LINE_AA)
    return picture


def _end(body: tuple[int, ...], top: bool) -> Image:
    picture = np.full((138, 138, 3), [int(0.8 * v) for v in body], dtype=np.uint8)
    cv2.circle(picture, (69, 69), 38, (240, 240, 240), 9, cv2.LINE_AA)
    if top:
        cv2.circle(picture, (69, 69), 12, (240, 240, 240), -1, cv2.LINE_AA)
    else:
        cv2.line(picture, (45, 69), (93, 69), (240, 240, 240), 9, cv2.LINE_AA)
    return picture


def _floor(board: Board, camera: Camera, look: ArenaLook) -> Floats:
    """The empty arena, linear, with its line and markers."""
    rng = np.random.default_rng(look.floor)
    base = colour(rng, (0.0, 0.45), (0.35, 0.85))
    grain = noise(rng, 512, 7, stretch=float(rng.choice([1.0, 8.0])))
    pattern = np.asarray(base * (1.0 + np.float32(rng.uniform(0.02, 0.08)) * grain)[..., None], dtype=np.float32)
    nodes = np.stack(np.meshgrid(np.linspace(0, camera.width - 1, 33), np.linspace(0, camera.height - 1, 33)), axis=-1)
    ground = camera.to_plane(nodes.reshape(-1, 2)).reshape(33, 33, 2).astype(np.float32)
    wide = cv2.resize(ground, (camera.width, camera.height), interpolation=cv2.INTER_CUBIC) / np.float32(_FLOOR_MM)
    x, y = (np.ascontiguousarray(wide[..., i]) for i in (0, 1))
    canvas = np.asarray(cv2.remap(pattern, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), dtype=np.float32)
    corners = np.array(board.corners_mm)
    low, high, wide_mm = corners.min(axis=0), corners.max(axis=0), board.sizes_mm.get("line", 10.0)
    for a, b in (
        ((low[0], low[1]), (high[0], low[1] + wide_mm)),
        ((low[0], high[1] - wide_mm), (high[0], high[1])),
        ((low[0], low[1]), (low[0] + wide_mm, high[1])),
        ((high[0] - wide_mm, low[1]), (high[0], high[1])),
    ):
        spots = np.array([(a[0], a[1], 0), (b[0], a[1], 0), (b[0], b[1], 0), (a[0], b[1], 0)], dtype=np.float64)
        _polygon(canvas, camera.project(spots), np.array(look.line_bgr, dtype=np.float32))
    if look.paper and board.markers is not None:
        _markers(canvas, camera, board.markers)
    return canvas


def _markers(canvas: Floats, camera: Camera, markers: Markers) -> None:
    dictionary = cv2.aruco.getPredefinedDictionary(int(getattr(cv2.aruco, markers.dictionary)))
    for number, square in markers.corners_mm.items():
        code = cv2.aruco.generateImageMarker(dictionary, number, 120)
        sheet = np.full((180, 180), 255, dtype=np.uint8)
        sheet[30:150, 30:150] = code
        solid = np.array(square)
        middle = solid.mean(axis=0)
        picture = np.asarray(cv2.cvtColor(sheet, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
        _stick(canvas, camera, picture, middle + (solid - middle) * 1.5, 0.82)


def _cast(canvas: Floats, camera: Camera, figure: Lying, light: Array, look: ArenaLook) -> None:
    """Darkens the floor where the figure takes the light away."""
    corners = figure.corners()
    fallen = corners[:, :2] - light[:2] / light[2] * corners[:, 2:]
    pixels = camera.project(np.column_stack([fallen, np.zeros(len(fallen))]))
    mask = np.zeros(canvas.shape[:2], dtype=np.float32)
    hull = np.asarray(cv2.convexHull(pixels.astype(np.float32)).reshape(-1, 2), dtype=np.float64)
    cv2.fillConvexPoly(mask, np.rint(hull * 16).astype(np.int32), 1.0, cv2.LINE_AA, 4)
    scale = float(np.linalg.norm(pixels[0] - pixels[6])) / max(float(np.linalg.norm(fallen[0] - fallen[6])), 1e-6)
    blur = max(0.6, look.shadow_blur_mm * scale)
    box = _window(hull, canvas, int(4 * blur) + 3)
    if box is None:
        return
    soft = cv2.GaussianBlur(mask[box], (0, 0), blur)
    canvas[box] *= 1.0 - np.float32(1.0 - look.shade) * np.asarray(soft, dtype=np.float32)[..., None]


def _figure(canvas: Floats, camera: Camera, figure: Lying, light: Array, look: ArenaLook) -> None:
    rotation, centre = figure.pose()
    art = figure.art
    radius, half, apothem = art.across_mm / math.sqrt(3.0), art.length_mm / 2, art.across_mm / 2
    for k in range(6):
        turn = math.radians(60.0 * k)
        normal = np.array([0.0, -math.sin(turn), math.cos(turn)])
        up = np.cross(normal, [1.0, 0.0, 0.0])
        middle = normal * apothem
        local = [
            middle + s * half * np.array([1.0, 0, 0]) + t * radius / 2 * up
            for s, t in ((-1, 1), (1, 1), (1, -1), (-1, -1))
        ]
        _panel(canvas, camera, art.faces[k], np.array(local) @ rotation.T + centre, light, look)
    for picture, sign in ((art.top, 1.0), (art.bottom, -1.0)):
        right = np.array([0.0, sign, 0.0])
        up = np.array([0.0, 0.0, 1.0])
        middle = np.array([sign * half, 0.0, 0.0])
        local = [middle + radius * (a * right + b * up) for a, b in ((-1, 1), (1, 1), (1, -1), (-1, -1))]
        _panel(canvas, camera, picture, np.array(local) @ rotation.T + centre, light, look, hexagon=True)


def _panel(
    canvas: Floats, camera: Camera, picture: Image, solid: Array, light: Array, look: ArenaLook, hexagon: bool = False
) -> None:
    """One flat side, if it faces the camera, lit by its slope. `solid` are its corners TL, TR, BR, BL."""
    normal = np.cross(solid[1] - solid[0], solid[0] - solid[3])
    normal /= np.linalg.norm(normal)
    if float(normal @ (camera.position_mm - solid.mean(axis=0))) <= 0:
        return
    level = look.shade + (1.0 - look.shade) * max(0.0, float(normal @ light)) / float(light[2])
    _stick(canvas, camera, picture, solid, level, hexagon)


def _stick(canvas: Floats, camera: Camera, picture: Image, solid: Array, level: float, hexagon: bool = False) -> None:
    """A flat picture laid into the canvas with its corners TL, TR, BR, BL at `solid` (4, 3) mm."""
    pixels = camera.project(solid)
    box = _window(pixels, canvas, 2)
    if box is None:
        return
    rows, columns = box
    origin = np.array([columns.start, rows.start])
    fine = ((pixels - origin + 0.5) * _FINER - 0.5).astype(np.float32)
    height, width = picture.shape[:2]
    flat = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32) - np.float32(0.5)
    size = ((columns.stop - columns.start) * _FINER, (rows.stop - rows.start) * _FINER)
    warp = cv2.getPerspectiveTransform(flat, fine)
    albedo = (picture.astype(np.float32) / np.float32(255.0)) ** np.float32(2.2)
    per_px = max(width, height) / max(float(np.linalg.norm(fine[0] - fine[1])), 1.0)
    if per_px > 1.5:
        # What is shrunk is blurred first, or fine print would turn into noise.
        albedo = np.asarray(cv2.GaussianBlur(albedo, (0, 0), 0.4 * per_px), dtype=np.float32)
    laid = cv2.warpPerspective(albedo, warp, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    shape = fine
    if hexagon:
        turns = np.radians(60.0 * np.arange(6))
        around = np.column_stack([np.cos(turns), np.sin(turns)]) * 0.5 + 0.5
        spots = (around * (width, height) - 0.5).astype(np.float32).reshape(-1, 1, 2)
        shape = cv2.perspectiveTransform(spots, warp).reshape(-1, 2)
    mask = np.zeros((size[1], size[0]), dtype=np.float32)
    cv2.fillConvexPoly(mask, np.rint(shape * 16).astype(np.int32), 1.0, cv2.LINE_8, 4)
    cut = (columns.stop - columns.start, rows.stop - rows.start)
    share = np.asarray(cv2.resize(mask, cut, interpolation=cv2.INTER_AREA), dtype=np.float32)[..., None]
    lit = np.asarray(cv2.resize(laid * mask[..., None], cut, interpolation=cv2.INTER_AREA), dtype=np.float32)
    canvas[box] = canvas[box] * (1 - share) + lit * np.float32(level)


def _polygon(canvas: Floats, pixels: Array, colour: Floats) -> None:
    mask = np.zeros(canvas.shape[:2], dtype=np.float32)
    cv2.fillConvexPoly(mask, np.rint(np.clip(pixels, -2e4, 2e4) * 16).astype(np.int32), 1.0, cv2.LINE_8, 4)
    mask = np.asarray(cv2.GaussianBlur(mask, (3, 3), 0.5), dtype=np.float32)[..., None]
    canvas *= 1 - mask
    canvas += mask * colour


def _window(pixels: Array | Floats, canvas: Floats, margin: int) -> tuple[slice, slice] | None:
    """Rows and columns of the canvas about these pixels, None when they lie outside it."""
    low = np.maximum(np.floor(pixels.min(axis=0)).astype(int) - margin, 0)
    high = np.minimum(np.ceil(pixels.max(axis=0)).astype(int) + margin + 1, canvas.shape[1::-1])
    if np.any(high - low < 2):
        return None
    return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))
