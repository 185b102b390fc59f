"""The simulated camera: where it stands, its lens, and where points of the table fall in its picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.geometry import Camera
from calibration.profile import Lens

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CameraModel:
    """One camera over the table.

    It stands `height_mm` above the table, tilted by `tilt_deg` from straight down; `azimuth_deg` is the side on which
    it stands, counter-clockwise from +x as seen from its aim (270: at the first player's side, 180: to the first
    player's left, so that the long board lies along the wide picture). `focal_px` None frames the board and its
    markers with `margin` (a share of the picture) around them. `noise` is the standard deviation of sensor noise in
    grey levels in good light, `blur_px` that of the lens' blur, `jpeg_quality` 0 leaves the JPEG round trip out.
    `white_balance` is the share of the light's colour that the camera takes back; with `auto_exposure` off the gain
    stays as it was at the start.
    """

    width: int = 1280
    height: int = 720
    fps: float = 30.0
    height_mm: float = 900.0
    tilt_deg: float = 18.0
    azimuth_deg: float = 180.0
    roll_deg: float = 0.0
    focal_px: float | None = None
    margin: float = 0.03
    distortion: tuple[float, float, float, float, float] = (-0.06, 0.03, 0.0, 0.0, 0.0)
    blur_px: float = 0.6
    noise: float = 1.4
    vignetting: float = 0.18
    jpeg_quality: int = 90
    white_balance: float = 0.7
    auto_exposure: bool = True


@dataclass(frozen=True, eq=False)
class View:
    """A camera at a pose: the projection of the table's millimetres (x, y, z up) to pixels."""

    camera: Camera

    @property
    def width(self) -> int:
        """Picture width in px."""
        return self.camera.width

    @property
    def height(self) -> int:
        """Picture height in px."""
        return self.camera.height

    @property
    def lens(self) -> Lens:
        """The camera's inner geometry."""
        c, (k1, k2, p1, p2, k3) = self.camera, (float(k) for k in self.camera.distortion)
        fx, fy, cx, cy = (float(c.matrix[i]) for i in ((0, 0), (1, 1), (0, 2), (1, 2)))
        return Lens(c.width, c.height, fx, fy, cx, cy, (k1, k2, p1, p2, k3))

    def project(self, points_mm: ArrayLike) -> Floats:
        """Pixels (N x 2, x then y) of N x 3 points in mm, lens distortion included."""
        return self.camera.project(np.asarray(points_mm, dtype=np.float64))

    def ground(self, px: ArrayLike, z_mm: float = 0.0) -> Floats:
        """The points (N x 2, mm) of the plane `z_mm` above the table that N x 2 pixels show."""
        return self.camera.to_plane(np.asarray(px, dtype=np.float64), z_mm)

    @property
    def centre_mm(self) -> Floats:
        """Where the camera stands (x, y, z), in mm."""
        return self.camera.position_mm

    @cached_property
    def px_per_mm(self) -> float:
        """How many pixels one millimetre of the table takes in the picture's middle, the longer of two directions."""
        x, y = self.ground([((self.width - 1) / 2, (self.height - 1) / 2)])[0]
        a, b, c = self.project([(x, y, 0.0), (x + 10, y, 0.0), (x, y + 10, 0.0)])
        return float(max(np.hypot(*(b - a)), np.hypot(*(c - a))) / 10)

    def moved(self, shift_mm: tuple[float, float, float], turn_deg: tuple[float, float, float]) -> View:
        """The same lens after a bump: the camera shifted by mm (world axes) and turned by degrees (its own axes)."""
        turn = cv2.Rodrigues(np.radians(np.array(turn_deg, dtype=np.float64)))[0]
        rotation = np.asarray(turn @ self.camera.rotation, dtype=np.float64)
        centre = self.centre_mm + np.array(shift_mm)
        translation = np.asarray(-rotation @ centre, dtype=np.float64)
        return View(replace(self.camera, rotation=rotation, translation_mm=translation))


STEP_PX = 16


def coarse_grid(width: int, height: int) -> Floats:
    """Pixel positions (rows x columns x 2) of a grid `STEP_PX` apart that reaches over the picture's edges."""
    columns = np.arange(-(-width // STEP_PX) + 2) * STEP_PX - (STEP_PX + 1) / 2
    rows = np.arange(-(-height // STEP_PX) + 2) * STEP_PX - (STEP_PX + 1) / 2
    return np.stack(np.meshgrid(columns, rows), axis=-1)


def enlarge(coarse: ArrayLike, width: int, height: int) -> NDArray[np.float32]:
    """Values known on the coarse grid (rows x columns) at every pixel (height x width), in between by bilinear."""
    small = np.asarray(coarse, dtype=np.float32)
    size = (small.shape[1] * STEP_PX, small.shape[0] * STEP_PX)
    large = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_LINEAR), dtype=np.float32)
    return large[STEP_PX : STEP_PX + height, STEP_PX : STEP_PX + width]


def view_of(model: CameraModel, shown_mm: ArrayLike) -> View:
    """The view of `model` aimed so that the points `shown_mm` (N x 3) lie in the middle of the picture."""
    shown = np.asarray(shown_mm, dtype=np.float64).reshape(-1, 3)
    aim = (shown.min(axis=0) + shown.max(axis=0))[:2] / 2
    for _ in range(4):
        view = _aimed(model, aim, model.focal_px or 1000.0)
        px = view.project(shown)
        low, high = px.min(axis=0), px.max(axis=0)
        middle = view.ground([(low + high) / 2])[0]
        aim = aim + (middle - view.ground([((model.width - 1) / 2, (model.height - 1) / 2)])[0])
    if model.focal_px is not None:
        return view
    focal = 1000.0
    for _ in range(4):
        px = _aimed(model, aim, focal).project(shown) - [(model.width - 1) / 2, (model.height - 1) / 2]
        room = np.array([model.width, model.height]) * (0.5 - model.margin)
        focal *= float((room / np.abs(px).max(axis=0)).min())
    return _aimed(model, aim, focal)


def _aimed(model: CameraModel, aim_mm: Floats, focal_px: float) -> View:
    azimuth, tilt = math.radians(model.azimuth_deg), math.radians(model.tilt_deg)
    side = np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
    centre = np.array([*aim_mm, model.height_mm]) + side * model.height_mm * math.tan(tilt)
    forward = np.array([*aim_mm, 0.0]) - centre
    forward /= np.linalg.norm(forward)
    right = np.cross(-side, [0.0, 0.0, 1.0])  # the picture's upper edge is away from the side where the camera stands
    down = np.cross(forward, right)
    turn = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(model.roll_deg)]))[0]
    rotation = np.asarray(turn @ np.stack([right, down, forward]), dtype=np.float64)
    matrix = np.array([[focal_px, 0, (model.width - 1) / 2], [0, focal_px, (model.height - 1) / 2], [0, 0, 1]], float)
    translation = np.asarray(-rotation @ centre, dtype=np.float64)
    return View(Camera(matrix, np.array(model.distortion), rotation, translation, model.width, model.height))
