"""Where a prism may lie: its corners and silhouette, which places are covered, and the part of the picture there."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from devices.contract import Image
from vision.arena import STEP_MM, Floor
from vision.figure_faces import Solid
from vision.figure_fit import LYING, View, frames

GRID_MM, TURN_DEG = 4.0, 15.0
"""Steps of the scan."""
COVER = 0.75
"""Share of a silhouette that must be covered: a white label on a white floor is not seen as covered."""
CROP_PX = 6
CAMERA_PX = 0.9
"""Blur of a camera's picture in px."""


def silhouette_mm(rest: str, place: Array, view: View, solid: Solid) -> Array:
    """Where the prism's twelve corners (12, 2) are seen on the floor, in mm."""
    return view.to_floor(corners(rest, place, solid))


def corners(rest: str, place: Array, solid: Solid) -> Array:
    """The prism's twelve corners (12, 3) in mm: the far end's six, then the near end's."""
    centres, bases = frames(rest, place[None], solid)
    turns = np.radians(30.0 + 60.0 * np.arange(6))
    ring = np.column_stack([np.cos(turns), np.sin(turns)]) * solid.face_width
    local = [np.column_stack([np.full(6, end * solid.length / 2), ring]) for end in (-1, 1)]
    return np.asarray(np.concatenate(local) @ bases[0] + centres[0])


_LYING_BODY = np.array(
    [(s, b, c) for s in (-0.4, 0.0, 0.4) for b, c in ((0.9, -0.3), (0.9, 0.3), (0.0, -0.7), (0.0, 0.7))]
)
_STANDING_BODY = np.array(
    [(s, b, c) for s in (-0.3, 0.1, 0.5) for b, c in ((0.7, 0.0), (0.0, -0.7), (0.0, 0.7), (-0.7, 0.0))]
)


def candidates(rest: str, view: View, floor: Floor, mask: NDArray[np.uint8], points: Array, solid: Solid) -> Array:
    """Places on a grid whose silhouette is covered."""
    height = solid.across_flats if rest == LYING else solid.length
    shrink = (view.eye[2] - height) / view.eye[2]
    tops = view.eye[:2] + (points - view.eye[:2]) * shrink
    low, high = tops.min(axis=0), tops.max(axis=0)
    xs, ys = (np.arange(a, b + GRID_MM, GRID_MM) for a, b in zip(low, high, strict=True))
    spots = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    covered = _at(floor, mask, view, np.column_stack([spots, np.full(len(spots), height)])) > 0
    spots = spots[covered]
    towards = np.arctan2(*(view.eye[:2] - points.mean(axis=0))[::-1])
    if rest == LYING:
        angles = towards + np.radians(np.arange(-90.0 + TURN_DEG / 2, 90.0, TURN_DEG))
        body = _LYING_BODY
    else:
        angles = towards + np.radians([-15.0, 15.0])
        body = _STANDING_BODY
    if not len(spots):
        return np.empty((0, 3))
    places = np.column_stack([np.repeat(spots, len(angles), axis=0), np.tile(angles, len(spots))])
    inner = body * (solid.length, solid.apothem, solid.apothem)
    _, bases = frames(rest, places[: len(angles)], solid)
    turned = (inner @ bases).reshape(-1, 3)
    height = solid.apothem if rest == LYING else solid.length / 2
    # Where a point of the body is seen on the floor grows with the spot as with the point itself.
    stretch = view.eye[2] / (view.eye[2] - height - turned[:, 2])
    aside = (view.eye[:2] + (turned[:, :2] - view.eye[:2]) * stretch[:, None] - floor.low_mm) / STEP_MM
    column, row = (
        np.rint(spots[:, axis, None] * (stretch / STEP_MM) + aside[:, axis]).astype(np.intp) for axis in (0, 1)
    )
    column, row = np.clip(column, 0, mask.shape[1] - 1), np.clip(row, 0, mask.shape[0] - 1)
    seen = mask.ravel()[row * mask.shape[1] + column].reshape(len(places), len(body))
    return np.asarray(places[np.count_nonzero(seen, axis=1) >= COVER * len(body)])


def is_covered(rest: str, place: Array, view: View, floor: Floor, mask: NDArray[np.uint8], solid: Solid) -> bool:
    """Whether the inner part of the silhouette of a prism at this place is covered still."""
    body = corners(rest, place, solid)
    middle = body.mean(axis=0)
    return bool(_at(floor, mask, view, middle + 0.7 * (body - middle)).mean() > COVER)


def _at(floor: Floor, mask: NDArray[np.uint8], view: View, solid_points: Array) -> NDArray[np.uint8]:
    """The mask where these points (N, 3) are seen on the floor."""
    columns, rows = floor.cells(view.to_floor(solid_points))
    return np.asarray(mask[rows, columns])


def softened(picture: Image, blur_mm: float, scale: float) -> Image:
    """The picture blurred as the templates of this blur are, less what the camera has already blurred."""
    sigma = math.sqrt(max((blur_mm * scale) ** 2 - CAMERA_PX**2, 0.0))
    return picture if sigma < 0.4 else np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), dtype=np.uint8)


def cut_out(picture: Image, view: View, points: Array) -> tuple[Image, View]:
    """The part of the picture about covered floor points, and its view."""
    edge = np.array([points.min(axis=0) - 10.0, points.max(axis=0) + 10.0])
    box = view.project(np.array([(x, y, 0.0) for x in edge[:, 0] for y in edge[:, 1]]))
    low = np.maximum(np.floor(box.min(axis=0)).astype(int) - CROP_PX, 0)
    high = np.minimum(np.ceil(box.max(axis=0)).astype(int) + CROP_PX, (picture.shape[1], picture.shape[0]))
    high = np.maximum(high, low + 1)
    low = np.minimum(low, np.array([picture.shape[1], picture.shape[0]]) - 1)
    return picture[low[1] : high[1], low[0] : high[0]], view.moved(low.astype(float))


def same_place(places: Array, place: Array) -> NDArray[np.bool_]:
    """Which places (P, 3) are the same as one within a few steps of the scan."""
    turn = np.abs((places[:, 2] - place[2] + np.pi) % (2 * np.pi) - np.pi)
    return np.asarray((np.hypot(places[:, 0] - place[0], places[:, 1] - place[1]) < 1.8 * GRID_MM) & (turn < 0.5))
