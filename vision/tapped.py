"""A board known by four tapped corners, followed by what lies on it: there is nothing else to hold on to.

Patches of the tiles (or of the bare board) are found again to a fraction of a pixel; those that a hand hides or a turn
has changed drop out. After a knock the board is found by features that moved alike, and believed only where enough of
its patches are then seen at their new places.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from calibration.geometry import Array, Camera, camera_from_plane, follow_camera
from calibration.profile import Lens, TableProfile
from devices.contract import Image
from vision.patches import Patches, quads, remembered, shifts
from vision.pictures import grey, shrunk
from vision.sampling import Bools

PATCH_SHARE = 0.8
"""Side of a patch as a share of a tile's."""
BARE_GRID = 6
"""Patches along each side of a board that has no places."""

STILL_PX, CREPT_PX = 0.7, 1.5
"""Movement that is only noise, and up to which patches are followed directly."""
ALIKE_PX = 1.0
"""How well patches must agree about a common movement."""
FEWEST, FEW_SHARE, OLD_SHARE = 6, 0.25, 0.6
"""Patches, and share of them, that must be seen to follow the board; below the last share they are taken anew."""

FLOW_LONG_SIDE_PX, FEATURES, FLOW_PX = 640, 240, 2.0
"""Size at which a knock is measured, features tried, and how well those that count must agree."""
INLIERS, INLIER_SHARE = 16, 0.35
"""Features, and share of those found again, that must have moved alike."""


class TappedBoard:
    """Where the board of one profile with tapped corners lies."""

    def __init__(self, profile: TableProfile) -> None:
        """`profile` has four `corners_px`."""
        self._profile = profile
        board = profile.board
        height = board.sizes_mm.get("tile_height", 0.0)
        corners = np.array(board.corners_mm, dtype=np.float64)
        if board.places_mm:
            # Every other place is enough, and half the work.
            centres = np.array(list(board.places_mm.values())[::2], dtype=np.float64)
            half = PATCH_SHARE * board.sizes_mm.get("tile", 20.0) / 2
        else:
            low, high = corners.min(axis=0), corners.max(axis=0)
            steps = (np.arange(BARE_GRID) + 0.5) / BARE_GRID
            centres = np.array([low + (high - low) * (u, v) for u in steps for v in steps])
            half = float((high - low).min()) / BARE_GRID / 2
        square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
        spots = centres[:, None] + square
        self._anchors_mm = np.concatenate([spots, np.full((*spots.shape[:2], 1), height)], axis=2)
        self._centres_mm = np.column_stack([centres, np.full(len(centres), height)])
        self._corners_mm = corners
        self._camera: Camera | None = None
        self._patches: Patches | None = None
        self._small: Image | None = None

    def forget(self) -> None:
        """Starts from the tapped corners again."""
        self._camera = self._patches = self._small = None

    def locate(self, picture: Image) -> tuple[Camera, bool] | None:
        """The camera over the board, and whether the board was knocked since the picture before; None when the tapped
        corners are no view of it."""
        height, width = picture.shape[:2]
        if self._camera is None or (self._camera.width, self._camera.height) != (width, height):
            corners_px = np.array(self._profile.corners_px)
            camera = camera_from_plane(self._corners_mm, corners_px, width, height, self._profile.lens)
            return None if camera is None else (self._kept(picture, camera), False)
        assert self._patches is not None
        moved, seen = shifts(self._patches, picture)
        count = int(np.count_nonzero(seen))
        if count >= max(FEWEST, FEW_SHARE * len(seen)):
            drift = float(np.median(np.linalg.norm(moved[seen], axis=1)))
            if drift < STILL_PX:
                if count < OLD_SHARE * len(seen):
                    near = np.median(moved[seen], axis=0).astype(np.float32)
                    self._patches = remembered(picture, self._patches.x + near[0], self._patches.y + near[1])
                    self._small = _small(picture)
                return self._camera, False
            if drift <= CREPT_PX:
                crept = self._followed(self._camera, self._centres_px(self._camera), moved, seen)
                if crept is not None:
                    return self._kept(picture, crept), False
        found = self._knocked(picture)
        # Nothing else is known: a new deal changes every tile and moves nothing.
        return (self._kept(picture, found or self._camera), found is not None)

    def _kept(self, picture: Image, camera: Camera) -> Camera:
        corners = camera.project(self._anchors_mm.reshape(-1, 3)).reshape(-1, 4, 2)
        self._patches = remembered(picture, *quads(corners, 0.0))
        self._camera, self._small = camera, _small(picture)
        return camera

    def _centres_px(self, camera: Camera) -> Array:
        return camera.project(self._centres_mm)

    def _followed(self, camera: Camera, centres_px: Array, moved: Array, seen: Bools) -> Camera | None:
        """The camera by the patches that moved alike."""
        before, now = centres_px[seen], centres_px[seen] + moved[seen]
        _, kept = cv2.estimateAffinePartial2D(before, now, ransacReprojThreshold=ALIKE_PX)
        alike = np.zeros(0, dtype=bool) if kept is None else np.asarray(kept).ravel() > 0
        if np.count_nonzero(alike) < FEWEST:
            return None
        return follow_camera(camera, self._centres_mm[seen][alike], now[alike])

    def _knocked(self, picture: Image) -> Camera | None:
        """The camera after a knock, None when nothing shows that there was one."""
        assert self._camera is not None
        assert self._patches is not None
        assert self._small is not None
        before, now = self._small, _small(picture)
        scale = before.shape[1] / picture.shape[1]
        outline = self._camera.project(np.column_stack([self._corners_mm, np.zeros(len(self._corners_mm))]))
        small_outline = ((outline + 0.5) * scale - 0.5).astype(np.float32)
        mask = np.zeros(before.shape, dtype=np.uint8)
        cv2.fillConvexPoly(mask, np.round(small_outline).astype(np.int32), 255)
        points = cv2.goodFeaturesToTrack(before, FEATURES, 0.01, 7, mask=mask)
        if points is None or len(points) < INLIERS:
            return None
        gain = float(before.mean() + 1.0) / float(now.mean() + 1.0)
        now = np.asarray(cv2.convertScaleAbs(now, alpha=gain), dtype=np.uint8)
        moved, found, _ = cv2.calcOpticalFlowPyrLK(before, now, points, None, winSize=(21, 21), maxLevel=4)  # type: ignore[call-overload]
        good = np.asarray(found).ravel() > 0
        if np.count_nonzero(good) < INLIERS:
            return None
        homography, kept = cv2.findHomography(points[good], moved[good], cv2.RANSAC, FLOW_PX)
        inliers = 0 if homography is None else int(np.count_nonzero(kept))
        if inliers < max(INLIERS, INLIER_SHARE * np.count_nonzero(good)):
            return None
        shifted = cv2.perspectiveTransform(small_outline.reshape(-1, 1, 2), homography).reshape(-1, 2)
        corners = (shifted.astype(np.float64) + 0.5) / scale - 0.5
        if np.linalg.norm(corners - outline, axis=1).max() < CREPT_PX:
            return None
        width, height, matrix = self._camera.width, self._camera.height, self._camera.matrix
        # A knock does not change the lens.
        sizes = (float(matrix[0, 0]), float(matrix[1, 1]), float(matrix[0, 2]), float(matrix[1, 2]))
        lens = self._profile.lens or Lens(width, height, *sizes, (0.0, 0.0, 0.0, 0.0, 0.0))
        camera = camera_from_plane(self._corners_mm, corners, width, height, lens)
        return None if camera is None else self._confirmed(picture, camera)

    def _confirmed(self, picture: Image, camera: Camera) -> Camera | None:
        """The camera, refined, if the patches are seen where it has them."""
        assert self._patches is not None
        corners = camera.project(self._anchors_mm.reshape(-1, 3)).reshape(-1, 4, 2)
        x, y = quads(corners, 0.0)
        moved, seen = shifts(replace(self._patches, x=x, y=y), picture)
        if np.count_nonzero(seen) < max(FEWEST, FEW_SHARE * len(seen)):
            return None
        return self._followed(camera, self._centres_px(camera), moved, seen) or camera


def _small(picture: Image) -> Image:
    return grey(shrunk(picture, FLOW_LONG_SIDE_PX))
