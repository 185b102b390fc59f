"""Where the board lies in the picture: from its markers, four tapped corners, or its own print where markers were never
seen; tracked from frame to frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera, camera_from_plane, follow_camera, nudged_camera
from calibration.profile import Corners3, Lens, Point, TableProfile
from devices.contract import Image
from vision.contract import VisionError
from vision.own_print import can_find, find_board
from vision.patches import Patches, quads, remembered, shifts
from vision.pictures import grey, shrunk
from vision.tapped import TappedBoard

Corners = NDArray[np.float32]
Covers = Callable[[tuple[float, float]], bool]
"""Tells whether something lies over a pixel (x, y)."""

FAST_WINDOWS_PX = (7, 15)
"""One adaptive-threshold window a pass: quick on sharp pictures; the full pass of 3 to 23 px follows when it fails."""

OUTLIER_MM = 3.0
"""A marker whose corners are off by more than this has been moved (or misread) and is left out."""

ENOUGH, FEW = 3, 2
"""Markers that give the board's place, and those that give it where the lens is known or was learned from more."""

REGION_PX = 12
"""Margin about a marker's last place in which it is looked for again."""
MARKER_MARGIN, CREPT_PX = 0.3, 1.5
"""Part of a marker's side that its patch reaches beyond it, and the movement up to which patches are followed."""
SEARCH_EVERY = 6
"""A board without markers is looked for by its print in one picture of so many: that costs more than any reading."""
STILL_PX, CREEP_PX = 0.7, 4.0
"""Movement of the markers' corners that is only noise, and from which the board counts as moved."""


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """The board in one picture: the camera over it, the registration's root-mean-square error on the table in mm, the
    markers it rests on (id -> 4 x 2 px; empty for tapped corners), and whether the board has moved in the picture
    since the pose before (`moved`)."""

    camera: Camera
    residual_mm: float
    markers_px: Mapping[int, Corners]
    moved: bool = False


class Registration:
    """Finds the board of one profile; remembers its last pose so that the next frame costs little. `trouble` is the
    message id that says why the last search found nothing."""

    def __init__(self, profile: TableProfile) -> None:
        """Raises VisionError when the profile gives neither markers nor tapped corners of a board that is not found by
        its own print, or an unknown dictionary."""
        self._profile = profile
        self._pose: Pose | None = None
        self._patches: tuple[Patches, Pose] | None = None
        self._shift: Array = np.zeros((0, 2))
        self._tapped: TappedBoard | None = None
        self._found: tuple[Point, ...] = ()
        self._seen_markers = False
        self._own_print = can_find(profile.board)
        self._lens = profile.lens
        self._in_vain = 0
        self.trouble = "vision.no_board"
        markers = profile.board.markers
        if profile.corners_px:
            if len(profile.corners_px) != 4:
                raise VisionError(f"four tapped corners are needed, got {len(profile.corners_px)}")
            self._tapped = TappedBoard(profile)
        elif markers is None and not self._own_print:
            raise VisionError("the profile has neither markers nor tapped corners: tap the four corners of the board")
        elif markers is not None:
            number = getattr(cv2.aruco, markers.dictionary, None)
            if not isinstance(number, int) or not markers.dictionary.startswith("DICT_"):
                raise VisionError(f"unknown marker dictionary {markers.dictionary!r}: use OpenCV's names (DICT_4X4_50)")
            dictionary = cv2.aruco.getPredefinedDictionary(number)
            self._detectors = [_detector(dictionary, w, w) for w in FAST_WINDOWS_PX]
            self._detectors += [_detector(dictionary, 3, 23), _detector(dictionary, 7, 7, quick=True)]
            self._centres_mm = {i: np.mean(corners, axis=0) for i, corners in markers.corners_mm.items()}
            self._bits = {
                i: _bits(dictionary, i) for i in markers.corners_mm if 0 <= i < len(np.asarray(dictionary.bytesList))
            }

    def locate(self, picture: Image) -> Pose | None:
        """The board's pose in this BGR or grey picture, None when it cannot be found (nothing is remembered then)."""
        if self._tapped is not None:
            return self._from_corners(picture)
        if self._profile.board.markers is None:
            return self._by_own_print(picture)
        before = self._pose
        pose = self._tracked(picture) if before is not None else None
        if pose is None:
            self._patches = None
            pose = self._searched(grey(picture))
            if pose is not None and before is not None:
                pose = Pose(pose.camera, pose.residual_mm, pose.markers_px, moved=True)
        if pose is not None and self._patches is None:
            quad = np.stack([np.asarray(c, dtype=np.float64) for c in pose.markers_px.values()])
            self._patches = remembered(picture, *quads(quad, MARKER_MARGIN)), pose
            self._shift = np.zeros((len(quad), 2))
            if len(quad) >= ENOUGH:
                self._lens = self._profile.lens or _lens_of(pose.camera)
        self._pose = pose
        self._seen_markers |= pose is not None or self.trouble != "vision.no_board"
        return pose if pose is not None or self._seen_markers else self._by_own_print(picture)

    @property
    def found_by_print(self) -> bool:
        """True while the board is one that was found by its own print, so that its sides may be mistaken."""
        return self._tapped is not None and not self._profile.corners_px

    def turn(self, quarters: int) -> None:
        """From now on the corner that was the board's first counts as the one so many quarters before it."""
        if self._tapped is not None and self._found:
            self._found = self._found[quarters:] + self._found[:quarters]
            self._tapped = TappedBoard(self._profile.with_corners(self._found))

    def _by_own_print(self, picture: Image) -> Pose | None:
        """The pose of a board that is found by its print, and from then on followed by what lies on it."""
        self._in_vain += 1
        if not self._own_print or picture.ndim != 3 or (self._in_vain - 1) % SEARCH_EVERY:
            return None
        corners = find_board(picture, self._profile.board, self._profile.lens)
        if corners is None:
            return None
        self._in_vain = 0
        self._found = corners
        self._tapped = TappedBoard(self._profile.with_corners(corners))
        return self._from_corners(picture)

    def forget(self) -> None:
        """Drops the remembered pose, so that the next picture is searched as a whole."""
        self._pose = self._patches = None
        self._in_vain = 0
        if self._tapped is not None and self._profile.corners_px:
            self._tapped.forget()
        else:
            self._tapped = None

    def _from_corners(self, picture: Image) -> Pose | None:
        assert self._tapped is not None
        found = self._tapped.locate(picture)
        return None if found is None else Pose(found[0], 0.0, {}, moved=found[1])

    def _tracked(self, picture: Image) -> Pose | None:
        """The remembered pose if the markers are still where they were, a repaired one if they crept a little."""
        assert self._pose is not None
        before = self._pose
        if (before.camera.height, before.camera.width) != picture.shape[:2]:
            return None
        pose = self._crept(picture, before)
        if pose is not None:
            return pose
        found, drift = self._looked_for(picture, before)
        if len(found) < min(ENOUGH, len(before.markers_px)):
            return None
        if drift < STILL_PX:
            return Pose(before.camera, before.residual_mm, before.markers_px)
        if drift > CREEP_PX:
            return None
        solid, pixels = self._unbled(found, before.camera)
        camera = follow_camera(before.camera, solid, pixels)
        if camera is None:
            return None
        residual = _residual(camera, solid, pixels)
        if residual > max(2.0 * before.residual_mm, OUTLIER_MM / 2):
            return None
        # A marker under a hand stays where the others say that it is.
        hidden = {i: c for i, c in before.markers_px.items() if i not in found}
        for marker, corners in hidden.items():
            points = np.array(self._corners_mm(marker))
            shift = (camera.project(points) - before.camera.project(points)).astype(np.float32)
            found[marker] = corners + shift
        self._patches = None
        return Pose(camera, residual, found)

    def _crept(self, picture: Image, before: Pose) -> Pose | None:
        """The pose by the markers' patches: cheap, for movements of a pixel or so since the patches were taken."""
        if self._patches is None:
            return None
        patches, anchor = self._patches
        moved, seen = shifts(patches, picture)
        shown = moved[seen]
        if len(shown) < min(ENOUGH, len(seen)) or _rms(shown) > CREPT_PX:
            return None
        if _rms(shown - self._shift[seen]) < STILL_PX:
            return Pose(before.camera, before.residual_mm, before.markers_px)
        centres = np.array([self._centres_mm[i] for i in anchor.markers_px])
        followed = nudged_camera(anchor.camera, centres[seen], shown)
        if followed is None or followed[1] > STILL_PX:
            return None
        camera = followed[0]
        if not seen.all():
            # A marker under a hand stays where the others say that it is.
            hidden = camera.project(centres) - anchor.camera.project(centres)
            moved = np.where(seen[:, None], moved, hidden)
        self._shift = moved
        corners = np.array(list(anchor.markers_px.values())) + moved[:, None].astype(np.float32)
        return Pose(camera, anchor.residual_mm, dict(zip(anchor.markers_px, corners, strict=True)))

    def _looked_for(self, picture: Image, before: Pose) -> tuple[dict[int, Corners], float]:
        """The same by looking for the markers' own cells about their last places."""
        found: dict[int, Corners] = {}
        drift = 0.0
        for marker, corners in before.markers_px.items():
            low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - REGION_PX, 0)
            high = np.ceil(corners.max(axis=0)).astype(int) + REGION_PX
            region = grey(picture[low[1] : high[1], low[0] : high[0]])
            near = corners - low.astype(np.float32)
            if self._shows(region, marker, near):
                now = _refined(region, [near])[0]
                drift += float(np.sum((now - near) ** 2)) / 4
                found[marker] = now + low.astype(np.float32)
        return found, float(np.sqrt(drift / len(found))) if found else 0.0

    def _corners_mm(self, marker: int) -> Corners3:
        markers = self._profile.board.markers
        assert markers is not None
        return markers.corners_mm[marker]

    def _unbled(self, found: Mapping[int, Corners], camera: Camera) -> tuple[Array, Array]:
        """Table points (N, 3) and pixels (N, 2) of these markers' corners, where the black squares really end.

        White paper bleeds into the black square: all corners are seen a little too far in, alike.
        """
        solid = np.array([self._corners_mm(i) for i in found], dtype=np.float64).reshape(-1, 3)
        pixels = np.array(list(found.values()), dtype=np.float64).reshape(-1, 2)
        squares = pixels.reshape(-1, 4, 2)
        outward = (squares - squares.sum(axis=1, keepdims=True) / 4).reshape(-1, 2)
        outward /= np.maximum(np.sqrt((outward * outward).sum(axis=1, keepdims=True)), 1e-9)
        off = camera.project(solid) - pixels
        return solid, pixels + outward * (float((off * outward).sum()) / len(off))

    def _shows(self, full: Image, marker: int, corners: Corners) -> bool:
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

    def _searched(self, full: Image) -> Pose | None:
        """A pose from a search of the whole picture: small and quick first, then larger and more thorough."""
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
            small = shrunk(full, long_side)
            corners, ids, _ = self._detectors[which].detectMarkers(small)
            scale = full.shape[1] / small.shape[1]
            if ids is not None:
                for i, c in zip(np.asarray(ids).ravel(), corners, strict=True):
                    strangers |= int(i) not in wanted
                    if int(i) in wanted and int(i) not in found:
                        found[int(i)] = ((np.asarray(c).reshape(-1, 2) + 0.5) * scale - 0.5).astype(np.float32)
            pose = self._searched_pose(found, full) if found and len(found) >= least else None
            if pose is not None:
                return pose
        if len(found) == FEW < least and self._lens is not None:  # so few are believed only where nothing is off
            pose = self._searched_pose(found, full)
            if pose is not None and pose.residual_mm <= OUTLIER_MM / 2:
                return pose
        few = "vision.few_markers" if found else "vision.no_board"
        self.trouble = "vision.wrong_markers" if strangers and not found else few
        return None

    def _searched_pose(self, found: Mapping[int, Corners], full: Image) -> Pose | None:
        """The pose of markers just found, and of those that the detector missed."""
        pose = self._solved(dict(zip(found, _refined(full, list(found.values())), strict=True)), full)
        if pose is None:
            return None
        missed = {} if len(pose.markers_px) == len(self._bits) else self._predicted(full, pose)
        return (self._solved({**pose.markers_px, **missed}, full) if missed else None) or pose

    def _predicted(self, full: Image, pose: Pose) -> dict[int, Corners]:
        """Markers that the detector missed but that lie where the pose says."""
        markers = self._profile.board.markers
        assert markers is not None
        extra: dict[int, Corners] = {}
        for i in self._bits:
            if i in pose.markers_px:
                continue
            corners = pose.camera.project(np.array(markers.corners_mm[i])).astype(np.float32)
            inside = np.all((corners > 0) & (corners < np.array(full.shape[1::-1])))
            if inside and self._shows(full, i, corners):
                extra[i] = _refined(full, [corners])[0]
        return extra

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
        solid = np.array([self._corners_mm(i) for i in found], dtype=np.float64).reshape(-1, 3)
        pixels = np.array(list(found.values()), dtype=np.float64).reshape(-1, 2)
        lift = float(solid[:, 2].mean())
        camera = camera_from_plane(
            solid[:, :2], pixels, width, height, self._lens if len(found) <= FEW else self._profile.lens
        )
        if camera is None:
            return None
        raised = camera.translation_mm - camera.rotation[:, 2] * lift
        camera = Camera(camera.matrix, camera.distortion, camera.rotation, raised, width, height)
        solid, pixels = self._unbled(found, camera)
        better = follow_camera(camera, solid, pixels)
        if better is None:
            return None
        residual = _residual(better, solid, pixels)
        return Pose(better, residual, dict(found)) if np.isfinite(residual) else None


def _lens_of(camera: Camera) -> Lens:
    """The inner geometry that a camera over the board was found to have."""
    k1, k2, p1, p2, k3 = (float(x) for x in camera.distortion.ravel()[:5])
    (fx, _, cx), (_, fy, cy), _ = camera.matrix.tolist()
    return Lens(camera.width, camera.height, fx, fy, cx, cy, (k1, k2, p1, p2, k3))


def _rms(moved: Array) -> float:
    """Root of the mean square length of movements (N, 2)."""
    return math.sqrt(float(np.einsum("ij,ij->", moved, moved)) / max(len(moved), 1))


def _residual(camera: Camera, solid: Array, pixels: Array) -> float:
    errors = camera.to_plane(pixels, float(solid[:, 2].mean())) - solid[:, :2]
    return _rms(errors)


def _detector(
    dictionary: cv2.aruco.Dictionary, smallest: int, largest: int, quick: bool = False
) -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.adaptiveThreshWinSizeMin = smallest
    parameters.adaptiveThreshWinSizeMax = largest
    # OpenCV's default of 0.125 throws away one marker in six since 4.12.
    parameters.minMarkerDistanceRate = 0.05
    if quick:
        # Fewer things that look like markers are worth the loss of small and faint ones.
        parameters.adaptiveThreshConstant = 12
        parameters.minMarkerPerimeterRate = 0.08
    return cv2.aruco.ArucoDetector(dictionary, parameters)


def _bits(dictionary: cv2.aruco.Dictionary, marker: int) -> NDArray[np.float32]:
    """The marker's cells with its black rim, zero mean and unit length."""
    size = int(dictionary.markerSize) + 2
    cells = np.asarray(cv2.aruco.generateImageMarker(dictionary, marker, size), dtype=np.float32)
    cells -= cells.mean()
    return np.asarray(cells / np.linalg.norm(cells), dtype=np.float32)


def _refined(full: Image, markers: list[Corners]) -> list[Corners]:
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


def board_corners_px(profile: TableProfile, camera: Camera) -> tuple[tuple[float, float], ...]:
    """The four board corners in the picture, in the board's corner order."""
    corners: Array = np.array([(x, y, 0.0) for x, y in profile.board.corners_mm])
    return tuple((float(u), float(v)) for u, v in camera.project(corners))


def printed(profile: TableProfile, camera: Camera) -> Covers:
    """Tells whether a pixel lies on a marker's print: what looks like a piece there is none."""
    markers = profile.board.markers
    squares = [] if markers is None else [camera.project(np.array(c)) for c in markers.corners_mm.values()]
    rings = [square.astype(np.float32) for square in squares]
    return lambda xy: any(cv2.pointPolygonTest(ring, xy, False) >= 0 for ring in rings)
