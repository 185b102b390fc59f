"""Where a point of the table falls in the picture: a pinhole camera with OpenCV's lens model, and its estimation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.profile import Lens

Array = NDArray[np.float64]

TYPICAL_FOCAL = 1.05
"""Focal length in picture widths assumed where a view says little about it (webcams and Pi cameras: 0.8-1.3)."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A camera in the table's frame: x_camera = `rotation` (3 x 3) @ x_table + `translation_mm` (3).

    `matrix` is the 3 x 3 pinhole matrix in px, `distortion` OpenCV's k1, k2, p1, p2, k3. Pixel (0, 0) is the centre of
    the top-left pixel. `width` and `height` are the picture's size in px.
    """

    matrix: Array
    distortion: Array
    rotation: Array
    translation_mm: Array
    width: int
    height: int

    @property
    def position_mm(self) -> Array:
        """The lens centre in the table's frame, (3,) mm."""
        return np.asarray(-self.rotation.T @ self.translation_mm)

    @property
    def from_table(self) -> Array:
        """(3, 4): what turns table points (x, y, z, 1) in mm into the camera's own frame."""
        found = np.empty((3, 4))
        found[:, :3] = self.rotation
        found[:, 3] = self.translation_mm
        return found

    def project(self, points_mm: Array) -> Array:
        """Pixels (N, 2) float64 of table points (N, 3) in mm; points behind the camera give nonsense, not an error."""
        if not len(points_mm):
            return np.empty((0, 2))
        return self.project_rows(np.asarray(points_mm, dtype=np.float64).reshape(-1, 3).T).T

    def project_rows(self, solid_mm: Array) -> Array:
        """The same with points along columns: pixels (2, N) of table points (3, N)."""
        # Written out: cv2.projectPoints computes its derivatives too and costs four times as much.
        points = self.rotation @ solid_mm
        points += self.translation_mm.reshape(3, 1)
        return self.image_rows(points)

    def image_rows(self, points: Array) -> Array:
        """Pixels (2, N) of points (3, N) in the camera's own frame, which is overwritten."""
        depth = points[2]
        if depth.min() < 1e-9:
            depth[np.abs(depth) < 1e-9] = 1e-9
        rays = points[:2]
        rays /= depth
        k1, k2, p1, p2, k3 = self.distortion.ravel()[:5].tolist()
        if k1 or k2 or k3 or p1 or p2:
            x, y = rays
            square = x * x
            square += y * y
            radial = square * k3
            for k in (k2, k1):
                radial += k
                radial *= square
            radial += 1.0
            if p1 or p2:
                cross = 2 * x * y
                bent = np.stack([p1 * cross + p2 * (square + 2 * x * x), p2 * cross + p1 * (square + 2 * y * y)])
                rays *= radial
                rays += bent
            else:
                rays *= radial
        pixels = self.matrix[:2, :2] @ rays
        pixels += self.matrix[:2, 2:]
        return np.asarray(pixels)

    def to_plane(self, points_px: Array, height_mm: float = 0.0) -> Array:
        """Table points (N, 2) in mm of pixels (N, 2), for things at `height_mm` above the table."""
        straight = undistort(points_px, self.matrix, self.distortion)
        rays = np.column_stack([straight, np.ones(len(straight))]) @ np.linalg.inv(self.matrix).T @ self.rotation
        start = self.position_mm
        steps = (height_mm - start[2]) / rays[:, 2]
        return np.asarray(start[:2] + steps[:, None] * rays[:, :2])


def lens_matrix(lens: Lens, width: int, height: int) -> Array:
    """The pinhole matrix of a lens for a picture of another size of the same view."""
    sx, sy = width / lens.width, height / lens.height
    return np.array(
        [
            [lens.fx * sx, 0.0, (lens.cx + 0.5) * sx - 0.5],
            [0.0, lens.fy * sy, (lens.cy + 0.5) * sy - 0.5],
            [0.0, 0.0, 1.0],
        ]
    )


def undistort(points_px: Array, matrix: Array, distortion: Array) -> Array:
    """Pixels (N, 2) as the same camera without lens distortion would show them."""
    if not np.any(distortion):
        return np.asarray(points_px, dtype=np.float64)
    points = np.ascontiguousarray(points_px, dtype=np.float64).reshape(-1, 1, 2)
    return np.asarray(cv2.undistortPoints(points, matrix, distortion, P=matrix), dtype=np.float64).reshape(-1, 2)


def camera_from_plane(points_mm: Array, points_px: Array, width: int, height: int, lens: Lens | None) -> Camera | None:
    """The camera that sees the plane points (N >= 4, 2 in mm, z = 0) at these pixels (N, 2); None when none does.

    Without a lens the focal length comes from the homography, assuming square pixels and a centred axis, held near
    TYPICAL_FOCAL where the view is too frontal to tell (Zhang 2000: the columns of K^-1 H are orthogonal and of equal
    length). The pose is then refined by least squares over all points.
    """
    if lens is not None:
        matrix, distortion = lens_matrix(lens, width, height), np.array(lens.distortion)
    else:
        matrix, distortion = np.eye(3), np.zeros(5)
    straight = undistort(points_px, matrix, distortion)
    homography, _ = cv2.findHomography(np.asarray(points_mm, dtype=np.float64), straight)
    if homography is None or not np.all(np.isfinite(homography)):
        return None
    if lens is None:
        focal = _focal_from_homography(np.asarray(homography), width, height)
        matrix = np.array([[focal, 0.0, (width - 1) / 2], [0.0, focal, (height - 1) / 2], [0.0, 0.0, 1.0]])
    pose = _pose_from_homography(np.asarray(homography), matrix)
    if pose is None:
        return None
    rotation, translation = pose
    flat = np.column_stack([points_mm, np.zeros(len(points_mm))])
    rough = Camera(matrix, distortion, rotation, translation, width, height)
    return follow_camera(rough, flat, np.asarray(points_px, dtype=np.float64))


def follow_camera(camera: Camera, points_mm: Array, points_px: Array) -> Camera | None:
    """The same camera a little elsewhere: its pose refined so that table points (N, 3) fall on these pixels (N, 2)."""
    start, _ = cv2.Rodrigues(camera.rotation)
    turn, shift = cv2.solvePnPRefineLM(
        np.ascontiguousarray(points_mm, dtype=np.float64).reshape(-1, 1, 3),
        np.ascontiguousarray(points_px, dtype=np.float64).reshape(-1, 1, 2),
        camera.matrix,
        camera.distortion,
        start.reshape(3, 1),
        camera.translation_mm.reshape(3, 1).copy(),
    )
    rotation = np.asarray(cv2.Rodrigues(turn)[0], dtype=np.float64)
    translation = np.asarray(shift, dtype=np.float64).ravel()
    if not (np.all(np.isfinite(rotation)) and np.all(np.isfinite(translation))):
        return None
    return Camera(camera.matrix, camera.distortion, rotation, translation, camera.width, camera.height)


def nudged_camera(camera: Camera, points_mm: Array, moved_px: Array) -> tuple[Camera, float] | None:
    """The same camera a hair elsewhere: pixels of table points (N >= 3, 3) moved by so much (N, 2), up to a few px;
    with the root-mean-square part of the movement (px) that no pose explains.

    One Gauss-Newton step, which so near is as good as the full refinement and costs a fifth.
    """
    turn = np.asarray(cv2.Rodrigues(camera.rotation)[0], dtype=np.float64).reshape(3, 1)
    points = np.ascontiguousarray(points_mm, dtype=np.float64).reshape(-1, 1, 3)
    _, slopes = cv2.projectPoints(points, turn, camera.translation_mm, camera.matrix, camera.distortion)
    slopes, target = np.asarray(slopes, dtype=np.float64)[:, :6], np.asarray(moved_px, dtype=np.float64).reshape(-1, 1)
    _, found = cv2.solve(slopes, target, flags=cv2.DECOMP_SVD)
    if not cv2.checkRange(found)[0]:
        return None
    step = np.asarray(found, dtype=np.float64)
    rest = (slopes @ step - target).ravel()
    rotation = np.asarray(cv2.Rodrigues(turn + step[:3])[0], dtype=np.float64)
    translation = camera.translation_mm + step[3:, 0]
    moved = Camera(camera.matrix, camera.distortion, rotation, translation, camera.width, camera.height)
    return moved, math.sqrt(2.0 * float(rest @ rest) / len(rest))


def _focal_from_homography(homography: Array, width: int, height: int) -> float:
    """Focal length in px: best trade between the homography's two constraints and the typical value."""
    across, down = (width - 1) / 2, (height - 1) / 2
    (ax, ay, a2), (bx, by, b2) = homography[:, 0].tolist(), homography[:, 1].tolist()
    ax, ay, bx, by = ax - across * a2, ay - down * a2, bx - across * b2, by - down * b2
    long_side = float(max(width, height))
    # Squares and product of the two columns, of which all but the last element is divided by the focal length.
    part = (long_side * _FOCALS) ** -2.0
    square_a, square_b = (ax * ax + ay * ay) * part + a2 * a2, (bx * bx + by * by) * part + b2 * b2
    product = (ax * bx + ay * by) * part + a2 * b2
    skew2, stretch = product * product / (square_a * square_b), 0.5 * np.log(square_a / square_b)
    # 0.004: what half a pixel of corner noise makes of the two constraints; 0.25: spread of real cameras' log focal.
    cost = (skew2 + stretch * stretch) / 0.004**2 + _UNUSUAL
    return long_side * float(_FOCALS[int(np.argmin(cost))])


_FOCALS = np.exp(np.linspace(math.log(0.45), math.log(3.0), 96))
"""Focal lengths in picture widths that are tried."""
_UNUSUAL = (np.log(_FOCALS / TYPICAL_FOCAL) / 0.25) ** 2


def _pose_from_homography(homography: Array, matrix: Array) -> tuple[Array, Array] | None:
    columns = np.linalg.inv(matrix) @ homography
    squares = np.einsum("ij,ij->j", columns[:, :2], columns[:, :2])
    scale = float(squares[0] * squares[1]) ** 0.25
    if not scale > 1e-12:
        return None
    columns = columns / (scale if columns[2, 2] >= 0 else -scale)
    (ax, ay, az), (bx, by, bz) = columns[:, 0].tolist(), columns[:, 1].tolist()
    third = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
    u, _, vt = np.linalg.svd(np.array([[ax, bx, third[0]], [ay, by, third[1]], [az, bz, third[2]]]))
    rotation = u @ vt
    # A mirrored plane would need the camera below the table: no picture of this board.
    if cv2.determinant(rotation) < 0 or float(rotation[:, 2] @ columns[:, 2]) > 0:
        return None
    return rotation, columns[:, 2].copy()
