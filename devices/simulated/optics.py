"""The simulated camera: where it stands, its lens, and where points of the table fall in its picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

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


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A lens at a pose: the projection of the table's millimetres (x, y, z up) to pixels."""

    lens: Lens
    rotation: Floats
    translation: Floats

    def project(self, points_mm: ArrayLike) -> Floats:
        """Pixels (N x 2, x then y) of N x 3 points in mm, lens distortion included."""
        points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 1, 3)
        rvec = cv2.Rodrigues(self.rotation)[0]
        px, _ = cv2.projectPoints(points, rvec, self.translation, self._matrix(), np.array(self.lens.distortion))
        return np.asarray(px, dtype=np.float64).reshape(-1, 2)

    def ground(self, px: ArrayLike, z_mm: float = 0.0) -> Floats:
        """The points (N x 2, mm) of the plane `z_mm` above the table that N x 2 pixels show."""
        pixels = np.asarray(px, dtype=np.float64).reshape(-1, 1, 2)
        rays = cv2.undistortPoints(pixels, self._matrix(), np.array(self.lens.distortion)).reshape(-1, 2)
        directions = np.column_stack([rays, np.ones(len(rays))]) @ self.rotation
        centre = self.centre_mm
        reach = (z_mm - centre[2]) / np.minimum(directions[:, 2], -1e-3)
        return np.asarray(centre[:2] + directions[:, :2] * reach[:, None], dtype=np.float64)

    @property
    def centre_mm(self) -> Floats:
        """Where the camera stands (x, y, z), in mm."""
        return np.asarray(-self.rotation.T @ self.translation, dtype=np.float64)

    def px_per_mm(self, xy_mm: tuple[float, float], z_mm: float = 0.0) -> float:
        """How many pixels one millimetre takes at this point, the longer of its two directions."""
        x, y = xy_mm
        a, b, c = self.project([(x, y, z_mm), (x + 10, y, z_mm), (x, y + 10, z_mm)])
        return float(max(np.linalg.norm(b - a), np.linalg.norm(c - a)) / 10)

    def moved(self, shift_mm: tuple[float, float, float], turn_deg: tuple[float, float, float]) -> View:
        """The same lens after a bump: the camera shifted by mm (world axes) and turned by degrees (its own axes)."""
        turn = cv2.Rodrigues(np.radians(np.array(turn_deg, dtype=np.float64)))[0]
        rotation = np.asarray(turn @ self.rotation, dtype=np.float64)
        centre = self.centre_mm + np.array(shift_mm)
        return replace(self, rotation=rotation, translation=np.asarray(-rotation @ centre, dtype=np.float64))

    def _matrix(self) -> Floats:
        lens = self.lens
        return np.array([[lens.fx, 0, lens.cx], [0, lens.fy, lens.cy], [0, 0, 1]], dtype=np.float64)


def view_of(model: CameraModel, shown_mm: ArrayLike) -> View:
    """The view of `model` aimed so that the points `shown_mm` (N x 3) lie in the middle of the picture."""
    shown = np.asarray(shown_mm, dtype=np.float64).reshape(-1, 3)
    aim = (shown.min(axis=0) + shown.max(axis=0))[:2] / 2
    for _ in range(4):
        view = _aimed(model, aim, model.focal_px or 1000.0)
        px = view.project(shown)
        low, high = px.min(axis=0), px.max(axis=0)
        middle = view.ground([(low + high) / 2])[0]
        aim = aim + (middle - view.ground([[view.lens.cx, view.lens.cy]])[0])
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
    lens = Lens(
        width=model.width,
        height=model.height,
        fx=focal_px,
        fy=focal_px,
        cx=(model.width - 1) / 2,
        cy=(model.height - 1) / 2,
        distortion=model.distortion,
    )
    return View(lens, rotation, np.asarray(-rotation @ centre, dtype=np.float64))
