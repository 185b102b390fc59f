"""Enrolment without tapping: six photographs of the arena with the figure lying alone in it, a face up in each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import cv2
import numpy as np

from calibration.geometry import Array
from calibration.profile import TableProfile
from devices.contract import Image
from vision.arena import STEP_MM, Arena, Floor, covered
from vision.arena_paper import Mask
from vision.contract import VisionError
from vision.enrol import from_photographs
from vision.figure_faces import FACES, Figure, Solid
from vision.figure_fit import LYING, STANDING, View, view_at
from vision.figure_places import corners
from vision.pictures import as_bgr
from vision.registration import Registration
from vision.sampling import Floats


class PhotographError(VisionError):
    """A photograph that no face can be taken from: its number (1..6), `reason` (`no_picture`, `no_arena`, `nothing`,
    `coarse`, `not_alone`, `upright`), and what the message tells besides."""

    def __init__(self, reason: str, words: str, number: int = 0) -> None:
        super().__init__(words)
        self.reason, self.number = reason, number


SMALLEST_MM2 = 300.0
"""Covered floor below which nothing of a figure's size can lie."""
OVERLAP = 0.7
"""Share of silhouette and covered floor that must be common to both."""
LEAST_PX_MM = 1.5
"""Below so many pixels a mm a photograph is too coarse to enrol a face from."""
ACROSS = 0.35
"""Share of its length by which the figure must reach across the picture, so that right and left can be told."""
_TURNS = np.radians(np.arange(0.0, 180.0, 7.5))


def from_the_table(
    name: str,
    photographs: Sequence[Image],
    states: Sequence[str],
    profile: TableProfile,
    ends: tuple[Image | None, Image | None] = (None, None),
) -> Figure:
    """The figure from six photographs of the arena in which it lies alone, its top end to the picture's right.

    The face that is up goes round from photograph to photograph as in `from_photographs`. The arena is found by what
    the profile gives: markers, tapped corners, or its own line. Raises VisionError that says which photograph cannot be
    used and why.
    """
    if len(photographs) != FACES:
        raise VisionError(f"figure {name!r}: six photographs are needed, one a face, got {len(photographs)}")
    found = []
    for number, photograph in enumerate(photographs, 1):
        picture = as_bgr(photograph)
        if picture is None:
            raise PhotographError("no_picture", f"photograph {number} is no picture", number)
        try:
            found.append((picture, upper_face(picture, profile)))
        except PhotographError as error:
            words = f"photograph {number} of figure {name!r}: {error}"
            raise PhotographError(error.reason, words, number) from error
    return from_photographs(name, found, states, _solid(profile), ends)


def _solid(profile: TableProfile) -> Solid:
    sizes = profile.board.sizes_mm
    return Solid(sizes.get("figure_length", 45.0), sizes.get("figure_across_flats", 24.0))


def upper_face(picture: Image, profile: TableProfile) -> list[tuple[float, float]]:
    """The pixels of the corners of the face that is up: upper left and right, lower right and left; its top end is
    right. Raises PhotographError."""
    solid = _solid(profile)
    pose = Registration(profile).locate(picture)
    if pose is None:
        raise PhotographError("no_arena", "the arena is not found in it: show its markers or its whole line")
    floor = Arena(profile).floor(picture, pose.camera)
    things = covered(floor, SMALLEST_MM2)
    if not things:
        raise PhotographError("nothing", "nothing lies in the arena")
    points = floor.points(things[0])
    view = view_at(pose.camera, points.mean(axis=0))
    if view.scale < LEAST_PX_MM:
        coarse = f"it shows {view.scale:.1f} px a mm, {LEAST_PX_MM} are needed: take a larger or nearer one"
        raise PhotographError("coarse", coarse)
    place, fit = _silhouette(floor, things[0], view, solid, LYING)
    upright = _silhouette(floor, things[0], view, solid, STANDING)[1]
    if fit < max(OVERLAP, upright) or len(things) > 1:
        more = "something else than one lying figure is in the arena: take everything else away"
        raise PhotographError("not_alone", more)
    place = _along_edges(picture, place, view, solid)
    ahead = np.array([math.cos(place[2]), math.sin(place[2]), 0.0])
    centre = np.array([*place[:2], solid.across_flats])
    tips = view.project(np.array([centre - ahead * solid.length / 2, centre + ahead * solid.length / 2]))
    reach = tips[1] - tips[0]
    if abs(reach[0]) < ACROSS * float(np.linalg.norm(reach)):
        raise PhotographError("upright", "the figure points up or down in it: lay it across, its top end to the right")
    if reach[0] < 0:
        ahead = -ahead
    # Seen from above with the top end to the right, the picture's upper edge is to the left of that direction.
    left = np.array([-ahead[1], ahead[0], 0.0]) * solid.face_width / 2
    half = ahead * solid.length / 2
    spots = np.array([centre - half + left, centre + half + left, centre + half - left, centre - half - left])
    return [(float(x), float(y)) for x, y in view.project(spots)]


def _silhouette(floor: Floor, thing: Mask, view: View, solid: Solid, rest: str) -> tuple[Array, float]:
    """The place of the prism so at rest whose silhouette is most like what is covered, and how alike they are (0..1).
    What is only dark may be its shadow and counts neither way."""
    certain = thing & floor.solid
    unsure = (thing & (1 - floor.solid)).astype(bool)
    rows, columns = np.nonzero(certain if certain.any() else thing)
    low = np.maximum(np.array([columns.min(), rows.min()]) - 30, 0)
    high = np.array([columns.max(), rows.max()]) + 30
    part = (slice(low[1], high[1]), slice(low[0], high[0]))
    inside, unsure = certain[part].astype(bool), unsure[part]
    origin = floor.low_mm + low * STEP_MM
    middle = np.array([columns.mean(), rows.mean()]) * STEP_MM + floor.low_mm
    # What is seen of a body is thrown outwards by its height.
    middle += (view.eye[:2] - middle) * ((solid.apothem if rest == LYING else solid.length / 2) / view.eye[2])

    def alike(place: Array) -> float:
        cells = (view.to_floor(corners(rest, place, solid)) - origin) / STEP_MM
        hull = cv2.convexHull(cells.astype(np.float32)).reshape(-1, 2)
        mask = np.zeros(inside.shape, dtype=np.uint8)
        cv2.fillConvexPoly(mask, np.rint(np.clip(hull, -1e4, 1e4)).astype(np.int32), 1)
        body = mask.astype(bool)
        return float(np.count_nonzero(body & inside)) / max(1, int(np.count_nonzero((body & ~unsure) | inside)))

    best: Array = max((np.array([*middle, turn]) for turn in _TURNS), key=alike)
    best = _climbed(best, alike, (4.0, 4.0, math.radians(6.0)), 4)
    return best, alike(best)


def _along_edges(picture: Image, place: Array, view: View, solid: Solid) -> Array:
    """The place at which the prism's outline lies on edges of the picture; edges within it may be those of a print."""
    spots = view.project(corners(LYING, place, solid))
    low = np.maximum(np.floor(spots.min(axis=0)).astype(int) - 20, 0)
    high = np.ceil(spots.max(axis=0)).astype(int) + 21
    part = picture[low[1] : high[1], low[0] : high[0]]
    near = view.moved(low.astype(float))
    for sigma_mm, step_mm in ((0.8, 1.6), (0.4, 0.6)):
        soft = cv2.GaussianBlur(part, (0, 0), max(0.8, sigma_mm * view.scale)).astype(np.float32)
        slope = [cv2.Sobel(soft, cv2.CV_32F, dx, dy, ksize=3) for dx, dy in ((1, 0), (0, 1))]
        strength: Floats = np.sqrt((slope[0] ** 2 + slope[1] ** 2).sum(axis=2))

        def fit(place: Array, strength: Floats = strength) -> float:
            body = near.project(corners(LYING, place, solid))
            hull = cv2.convexHull(body.astype(np.float32)).reshape(-1, 2)
            return _mean_along(strength, np.asarray(hull, dtype=np.float32))

        place = _climbed(place, fit, (step_mm, step_mm, step_mm / 20.0), 5)
    return place


def _mean_along(strength: Floats, ring: Floats) -> float:
    """Mean edge strength along a closed outline (N, 2) px."""
    ends = np.roll(ring, -1, axis=0)
    t = (np.arange(24) + 0.5)[:, None, None] / 24
    spots = (ring * (1 - t) + ends * t).astype(np.float32)
    seen = cv2.remap(strength, spots[..., 0], spots[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    length = np.linalg.norm(ends - ring, axis=1)
    return float((np.asarray(seen).mean(axis=0) * length).sum() / max(float(length.sum()), 1e-6))


def _climbed(place: Array, rated: Callable[[Array], float], steps: tuple[float, float, float], halvings: int) -> Array:
    """The best place that single steps along x, y and the angle lead to, with steps halved so many times."""
    best, level = place, rated(place)
    for n in range(halvings):
        size = np.array(steps) / 2**n
        for _ in range(12):
            tries: list[Array] = [best + sign * size * np.eye(3)[axis] for axis in range(3) for sign in (-1, 1)]
            top: Array = max(tries, key=rated)
            if rated(top) <= level:
                break
            best, level = top, rated(top)
    return best
