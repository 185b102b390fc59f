"""The board's markers in one picture: found, checked cell by cell, and what pose of the camera they tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera, camera_from_plane, follow_camera
from calibration.profile import Corners3, Lens, Markers
from devices.contract import Image
from vision.contract import VisionError
from vision.pictures import halved

Corners = NDArray[np.float32]

FAST_WINDOWS_PX = (7, 15)
"""One adaptive-threshold window a pass: quick on sharp pictures; the full pass of 3 to 23 px follows when it fails."""

LEGIBLE = 0.06
"""Perimeter, as a share of the longer side, below which a marker in the smallest picture has no cells to be told."""

OUTLIER_MM = 3.0
"""A marker whose corners are off by more than this has been moved (or misread) and is left out."""

ENOUGH, FEW = 3, 2
"""Markers that give the board's place, and those that give it where the lens is known or was learned from more."""


REGION_PX = 240
"""Longer side of the enlarged picture in which a marker is looked for about the place that the others tell."""

ROUGH_MM, BETTER, POLISHES = 0.5, 0.8, 3
"""Error from which a pose's corners are looked for again where it puts them; the part of it that must be left for that
to have been worth it, and how often."""


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """The board in one picture: the camera over it, the registration's root-mean-square error on the table in mm, the
    markers it rests on (id -> 4 x 2 px; empty for tapped corners), and whether the board has moved in the picture
    since the pose before (`moved`)."""

    camera: Camera
    residual_mm: float
    markers_px: Mapping[int, Corners]
    moved: bool = False


class MarkerSearch:
    """Finds one board's markers. `trouble` is the message id that says why the last search found nothing."""

    def __init__(self, markers: Markers, lens: Lens | None) -> None:
        """`lens`: the camera's where its profile tells it. Raises VisionError for an unknown dictionary."""
        self._markers, self._lens = markers, lens
        self._learned = lens
        self.trouble = "vision.no_board"
        number = getattr(cv2.aruco, markers.dictionary, None)
        if not isinstance(number, int) or not markers.dictionary.startswith("DICT_"):
            raise VisionError(f"unknown marker dictionary {markers.dictionary!r}: use OpenCV's names (DICT_4X4_50)")
        dictionary = cv2.aruco.getPredefinedDictionary(number)
        self._detectors = [_detector(dictionary, w, w, least=LEGIBLE) for w in FAST_WINDOWS_PX]
        self._detectors += [_detector(dictionary, 3, 23), _detector(dictionary, 7, 7, least=0.08, contrast=12)]
        known = len(np.asarray(dictionary.bytesList))
        self._bits = {i: _bits(dictionary, i) for i in markers.corners_mm if 0 <= i < known}

    def corners_mm(self, marker: int) -> Corners3:
        """A marker's corners on the table."""
        return self._markers.corners_mm[marker]

    def unbled(self, found: Mapping[int, Corners], camera: Camera) -> tuple[Array, Array]:
        """Table points (N, 3) and pixels (N, 2) of these markers' corners, where the black squares really end.

        White paper bleeds into the black square: all corners are seen a little too far in, alike.
        """
        solid = np.array([self.corners_mm(i) for i in found], dtype=np.float64).reshape(-1, 3)
        pixels = np.array(list(found.values()), dtype=np.float64).reshape(-1, 2)
        squares = pixels.reshape(-1, 4, 2)
        outward = (squares - squares.sum(axis=1, keepdims=True) / 4).reshape(-1, 2)
        outward /= np.maximum(np.sqrt((outward * outward).sum(axis=1, keepdims=True)), 1e-9)
        off = camera.project(solid) - pixels
        return solid, pixels + outward * (float((off * outward).sum()) / len(off))

    def shows(self, full: Image, marker: int, corners: Corners) -> bool:
        """True when the marker's own black and white cells still lie between these corners."""
        bits = self._bits[marker]
        size = len(bits)
        square = np.array([[0, 0], [size, 0], [size, size], [0, size]], dtype=np.float32) - np.float32(0.5)
        to_px = cv2.getPerspectiveTransform(square, corners)
        cells = cv2.warpPerspective(
            full, to_px, (size, size), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
        ).astype(np.float32)
        cells -= cells.mean()
        norm = float(np.linalg.norm(cells))
        return norm > 5.0 * size and float((cells * bits).sum()) > 0.85 * norm

    def find(self, full: Image) -> Pose | None:
        """A pose from a search of a whole grey picture: small and quick first, then larger and more thorough. Two
        markers are enough where the lens is known, or was learned from more, and nothing is off."""
        wanted = set(self._bits)
        found: dict[int, Corners] = {}
        strangers = False
        least = min(ENOUGH, len(wanted))
        passes = [(640, 3), (640, 0), (1280, 0), (1280, 1), (1280, 2)]
        if max(full.shape[:2]) > 1600:
            passes += [(2600, 0), (2600, 2)]
        # A blurred marker is found best where the blur is small.
        passes.append((640, 2))
        for long_side, which in passes:
            small = _reduced(full, long_side)
            corners, ids, _ = self._detectors[which].detectMarkers(small)
            scale = full.shape[1] / small.shape[1]
            if ids is not None:
                for i, c in zip(np.asarray(ids).ravel(), corners, strict=True):
                    strangers |= int(i) not in wanted
                    if int(i) in wanted and int(i) not in found:
                        found[int(i)] = ((np.asarray(c).reshape(-1, 2) + 0.5) * scale - 0.5).astype(np.float32)
            pose = self._pose(found, full) if found and len(found) >= least else None
            if pose is not None:
                if len(pose.markers_px) >= ENOUGH:
                    self._learned = self._lens or _lens_of(pose.camera)
                return pose
        if len(found) == FEW < least and self._learned is not None:
            pose = self._pose(found, full)
            if pose is not None and pose.residual_mm <= OUTLIER_MM / 2:
                return pose
        few = "vision.few_markers" if found else "vision.no_board"
        self.trouble = "vision.wrong_markers" if strangers and not found else few
        return None

    def _pose(self, found: Mapping[int, Corners], full: Image) -> Pose | None:
        """The pose of markers just found, and of those that the detector missed."""
        pose = self._solved(dict(zip(found, refined(full, list(found.values())), strict=True)), full)
        if pose is None:
            return None
        if len(pose.markers_px) >= ENOUGH and (pose.residual_mm > ROUGH_MM or len(pose.markers_px) < len(self._bits)):
            pose = self._polished(full, pose)
        missed = {} if len(pose.markers_px) == len(self._bits) else self._predicted(full, pose)
        return (self._solved({**pose.markers_px, **missed}, full) if missed else None) or pose

    def _polished(self, full: Image, pose: Pose) -> Pose:
        """The pose of the same markers' corners, looked for where the pose says: in a reduced picture a corner may be
        seen so far off that its refinement ends beside it."""
        for _ in range(POLISHES):
            starts = [pose.camera.project(np.array(self.corners_mm(i))).astype(np.float32) for i in pose.markers_px]
            again = self._solved(dict(zip(pose.markers_px, refined(full, starts), strict=True)), full)
            if again is None or again.residual_mm > BETTER * pose.residual_mm:
                break
            pose = again
        return pose

    def _predicted(self, full: Image, pose: Pose) -> dict[int, Corners]:
        """Markers that the detector missed but that lie where the pose says, or near."""
        extra: dict[int, Corners] = {}
        for i in self._bits:
            if i in pose.markers_px:
                continue
            corners = pose.camera.project(np.array(self.corners_mm(i))).astype(np.float32)
            if not np.all((corners > 0) & (corners < np.array(full.shape[1::-1]))):
                continue
            near = corners if self.shows(full, i, corners) else self._enlarged(full, i, corners)
            if near is not None:
                extra[i] = refined(full, [near])[0]
        return extra

    def _enlarged(self, full: Image, marker: int, corners: Corners) -> Corners | None:
        """A marker's corners, looked for in an enlarged picture of the region about these ones."""
        low, high = corners.min(axis=0), corners.max(axis=0)
        margin = float((high - low).max()) * 0.7
        first = np.maximum(np.floor(low - margin).astype(int), 0)
        last = np.ceil(high + margin).astype(int)
        region = full[first[1] : last[1], first[0] : last[0]]
        scale = REGION_PX / max(region.shape)
        large = cv2.resize(region, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
        found, ids, _ = self._detectors[2].detectMarkers(large)
        for i, quad in zip([] if ids is None else ids.ravel(), found, strict=False):
            if int(i) == marker:
                spots = (np.asarray(quad).reshape(-1, 2) + 0.5) / scale - 0.5 + first
                return np.asarray(spots, dtype=np.float32)
        return None

    def _solved(self, found: Mapping[int, Corners], full: Image) -> Pose | None:
        """The pose of these markers; one marker that does not fit the others is left out."""
        height, width = full.shape[:2]
        best = self._fit(found, width, height)
        if best is not None and best.residual_mm > OUTLIER_MM / 2 and len(found) > 3:
            for ids in combinations(sorted(found), len(found) - 1):
                pose = self._fit({i: found[i] for i in ids}, width, height)
                if pose is not None and pose.residual_mm < best.residual_mm / 2:
                    best = pose
        return best if best is not None and best.residual_mm <= 2 * OUTLIER_MM else None

    def _fit(self, found: Mapping[int, Corners], width: int, height: int) -> Pose | None:
        solid = np.array([self.corners_mm(i) for i in found], dtype=np.float64).reshape(-1, 3)
        pixels = np.array(list(found.values()), dtype=np.float64).reshape(-1, 2)
        lift = float(solid[:, 2].mean())
        camera = camera_from_plane(
            solid[:, :2], pixels, width, height, self._learned if len(found) <= FEW else self._lens
        )
        if camera is None:
            return None
        raised = camera.translation_mm - camera.rotation[:, 2] * lift
        camera = Camera(camera.matrix, camera.distortion, camera.rotation, raised, width, height)
        solid, pixels = self.unbled(found, camera)
        better = follow_camera(camera, solid, pixels)
        if better is None:
            return None
        residual = residual_mm(better, solid, pixels)
        return Pose(better, residual, dict(found)) if np.isfinite(residual) else None


def _reduced(full: Image, long_side_px: int) -> Image:
    """The picture reduced to this longer side: halved while it can be, which costs least, then sampled."""
    longer = max(full.shape[:2])
    small = halved(full, max(int(math.log2(longer / long_side_px)), 0))
    longer = max(small.shape[:2])
    if longer <= long_side_px:
        return small
    scale = long_side_px / longer
    size = (max(1, round(small.shape[1] * scale)), max(1, round(small.shape[0] * scale)))
    return np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)


def _lens_of(camera: Camera) -> Lens:
    """The inner geometry that a camera over the board was found to have."""
    k1, k2, p1, p2, k3 = (float(x) for x in camera.distortion.ravel()[:5])
    (fx, _, cx), (_, fy, cy), _ = camera.matrix.tolist()
    return Lens(camera.width, camera.height, fx, fy, cx, cy, (k1, k2, p1, p2, k3))


def residual_mm(camera: Camera, solid: Array, pixels: Array) -> float:
    """Root-mean-square distance (mm) in the plane of table points (N, 3) from where the pixels (N, 2) put them."""
    errors = camera.to_plane(pixels, float(solid[:, 2].mean())) - solid[:, :2]
    return math.sqrt(float(np.einsum("ij,ij->", errors, errors)) / len(errors))


def _detector(
    dictionary: cv2.aruco.Dictionary, smallest: int, largest: int, least: float = 0.03, contrast: int = 7
) -> cv2.aruco.ArucoDetector:
    """A detector with windows from `smallest` to `largest` px: what it finds measures `least` of the picture's longer
    side around and is darker than its surroundings by `contrast` levels. The more of each, the less looks like one."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.adaptiveThreshWinSizeMin = smallest
    parameters.adaptiveThreshWinSizeMax = largest
    # OpenCV's default of 0.125 throws away one marker in six since 4.12.
    parameters.minMarkerDistanceRate = 0.05
    # A cell is told by its middle: blur mixes its rim with the cells beside it, and small markers would not be known.
    parameters.perspectiveRemovePixelPerCell = 5
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.25
    parameters.minMarkerPerimeterRate = least
    parameters.adaptiveThreshConstant = contrast
    return cv2.aruco.ArucoDetector(dictionary, parameters)


def _bits(dictionary: cv2.aruco.Dictionary, marker: int) -> NDArray[np.float32]:
    """The marker's cells with its black rim, zero mean and unit length."""
    size = int(dictionary.markerSize) + 2
    cells = np.asarray(cv2.aruco.generateImageMarker(dictionary, marker, size), dtype=np.float32)
    cells -= cells.mean()
    return np.asarray(cells / np.linalg.norm(cells), dtype=np.float32)


def refined(full: Image, markers: list[Corners]) -> list[Corners]:
    """The same corners to a fraction of a pixel; the window follows each marker's size."""
    refined = []
    for corners in markers:
        side = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).min())
        window = int(np.clip(side / 14, 2, 9))
        criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 15, 0.02)
        start = np.ascontiguousarray(corners, dtype=np.float32).reshape(-1, 1, 2)
        inside = np.all((corners > window + 1) & (corners < np.array(full.shape[1::-1]) - window - 2))
        if inside:
            start = np.asarray(cv2.cornerSubPix(full, start.copy(), (window, window), (-1, -1), criteria))
        refined.append(start.reshape(-1, 2).astype(np.float32))
    return refined
