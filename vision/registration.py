"""Where the board lies in the picture: from its markers, four tapped corners, or its own print where markers were never
seen; tracked from frame to frame."""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np

from calibration.geometry import Array, Camera, follow_camera, nudged_camera
from calibration.profile import Point, TableProfile
from devices.contract import Image
from vision.contract import VisionError
from vision.marker_search import ENOUGH, OUTLIER_MM, Corners, MarkerSearch, Pose, refined, residual_mm
from vision.own_print import can_find, find_board, lies_here, off_mm
from vision.patches import Patches, quads, remembered, shifts
from vision.pictures import grey
from vision.tapped import TappedBoard

Covers = Callable[[tuple[float, float]], bool]
"""Tells whether something lies over a pixel (x, y)."""

REGION_PX = 12
"""Margin about a marker's last place in which it is looked for again."""
MARKER_MARGIN, CREPT_PX = 0.3, 1.5
"""Part of a marker's side that its patch reaches beyond it, and the movement up to which patches are followed."""
ASTRAY_MM = 6.0
"""A board whose corners are seen further than this from their places was pushed away from its markers."""
SEARCH_EVERY = 6
"""A board without markers is looked for by its print in one picture of so many: that costs more than any reading."""
STILL_PX, CREEP_PX = 0.7, 4.0
"""Movement of the markers' corners that is only noise, and from which the board counts as moved."""


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
        self._search: MarkerSearch | None = None
        self._in_vain = 0
        self._astray, self._doubted = False, 0
        markers = profile.board.markers
        if profile.corners_px:
            if len(profile.corners_px) != 4:
                raise VisionError(f"four tapped corners are needed, got {len(profile.corners_px)}")
            self._tapped = TappedBoard(profile)
        elif markers is None and not self._own_print:
            raise VisionError("the profile has neither markers nor tapped corners: tap the four corners of the board")
        elif markers is not None:
            self._search = MarkerSearch(markers, profile.lens)
            self._centres_mm = {i: np.mean(corners, axis=0) for i, corners in markers.corners_mm.items()}

    def locate(self, picture: Image) -> Pose | None:
        """The board's pose in this BGR or grey picture, None when it cannot be found (nothing is remembered then)."""
        if self._tapped is not None:
            return self._from_corners(picture)
        if self._search is None:
            return self._by_own_print(picture)
        before = self._pose
        pose = self._tracked(picture) if before is not None else None
        if pose is None:
            self._patches = None
            pose = self._search.find(grey(picture))
            if pose is not None and before is not None:
                pose = Pose(pose.camera, pose.residual_mm, pose.markers_px, moved=True)
        if pose is not None and self._patches is None:
            quad = np.stack([np.asarray(c, dtype=np.float64) for c in pose.markers_px.values()])
            self._patches = remembered(picture, *quads(quad, MARKER_MARGIN)), pose
            self._shift = np.zeros((len(quad), 2))
        self._pose = pose
        self._seen_markers |= pose is not None or self.trouble != "vision.no_board"
        return pose if pose is not None or self._seen_markers else self._by_own_print(picture)

    @property
    def trouble(self) -> str:
        """The message id that says why the last search found nothing."""
        return self._search.trouble if self._search is not None else "vision.no_board"

    @property
    def found_by_print(self) -> bool:
        """True while the board is one that was found by its own print, so that its sides may be mistaken."""
        return self._tapped is not None and not self._profile.corners_px

    def astray(self, picture: Image, pose: Pose) -> bool:
        """Whether the board was pushed away from where its markers, or tapped corners, put it: its print is not there,
        and is seen elsewhere. Where it is not seen at all it may be covered, and what was known of it still holds."""
        if not self._own_print or self.found_by_print or picture.ndim != 3:
            return False
        corners_px = np.array(board_corners_px(self._profile, pose.camera))
        if lies_here(picture, self._profile.board, corners_px):
            self._astray, self._doubted = False, 0
        else:
            found = self._doubted % SEARCH_EVERY == 0 and find_board(picture, self._profile.board, self._profile.lens)
            if found:
                away_mm = off_mm(self._profile.board, pose.camera.to_plane(np.array(found)))
                self._astray = away_mm > ASTRAY_MM
            self._doubted += 1
        return self._astray

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
        assert self._pose is not None and self._search is not None
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
        solid, pixels = self._search.unbled(found, before.camera)
        camera = follow_camera(before.camera, solid, pixels)
        if camera is None:
            return None
        residual = residual_mm(camera, solid, pixels)
        if residual > max(2.0 * before.residual_mm, OUTLIER_MM / 2):
            return None
        # A marker under a hand stays where the others say that it is.
        hidden = {i: c for i, c in before.markers_px.items() if i not in found}
        for marker, corners in hidden.items():
            points = np.array(self._search.corners_mm(marker))
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
        assert self._search is not None
        found: dict[int, Corners] = {}
        drift = 0.0
        for marker, corners in before.markers_px.items():
            low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - REGION_PX, 0)
            high = np.ceil(corners.max(axis=0)).astype(int) + REGION_PX
            region = grey(picture[low[1] : high[1], low[0] : high[0]])
            near = corners - low.astype(np.float32)
            if self._search.shows(region, marker, near):
                now = refined(region, [near])[0]
                drift += float(np.sum((now - near) ** 2)) / 4
                found[marker] = now + low.astype(np.float32)
        return found, float(np.sqrt(drift / len(found))) if found else 0.0


def _rms(moved: Array) -> float:
    """Root of the mean square length of movements (N, 2)."""
    return math.sqrt(float(np.einsum("ij,ij->", moved, moved)) / max(len(moved), 1))


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
