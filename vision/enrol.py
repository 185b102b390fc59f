"""Enrolment of figures: flat pictures of their faces, cut from photographs, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from devices.contract import Image
from vision.contract import VisionError
from vision.figure_faces import FACES, Figure, Solid, check, templates
from vision.figure_fit import prints, rows
from vision.pictures import as_bgr
from vision.sampling import Bools, Floats

FACE_PX_MM = 10.0
"""Pixels a mm of a face picture cut from a photograph."""
CHECK_MM, CHECK_BLUR_MM = 1.8, 0.9
"""Spacing and blur at which faces are compared: what a soft picture of an arena still shows."""
SAME = 0.985
"""Likeness of two looks from which a picture of one is no longer surely told from the other."""
ASLANT = (0.4, 1.0, 0.4)
"""What a face's neighbours and the face itself count."""
ENDS = ("top", "bottom")
FLAT_SPREAD = 6.0
"""Standard deviation in levels below which a face shows nothing."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two sides that cannot be told apart (or one, twice, that shows nothing): figure name and side (`1`..`6`, `top`,
    `bottom`) of each, and their likeness, 0..1."""

    first: tuple[str, str]
    second: tuple[str, str]
    likeness: float


def face_from_photograph(picture: Image, corners_px: Sequence[tuple[float, float]], solid: Solid) -> Image:
    """The flat face (BGR, FACE_PX_MM) within four corners of a photograph.

    `corners_px` are the face's corners as its picture is read: top left, top right (both at its upper edge), bottom
    right, bottom left; the top end of the figure is at the right. Raises VisionError for nonsense.
    """
    image = as_bgr(picture)
    corners = np.array(corners_px, dtype=np.float32)
    if image is None or corners.shape != (4, 2) or not np.all(np.isfinite(corners)):
        raise VisionError("a face needs a photograph and the four corners of the face in it")
    area = float(cv2.contourArea(corners))
    if area < 200.0 or not cv2.isContourConvex(corners.astype(np.int32)):
        raise VisionError(f"these four corners are no face ({area:.0f} px^2): tap them one after the other, clockwise")
    size = (round(solid.length * FACE_PX_MM), round(solid.face_width * FACE_PX_MM))
    flat = np.array([(0, 0), (size[0], 0), (size[0], size[1]), (0, size[1])], dtype=np.float32) - np.float32(0.5)
    warp = cv2.getPerspectiveTransform(corners, flat)
    return np.asarray(cv2.warpPerspective(image, warp, size, flags=cv2.INTER_LINEAR), dtype=np.uint8)


def from_photographs(
    name: str,
    photographs: Sequence[tuple[Image, Sequence[tuple[float, float]]]],
    states: Sequence[str],
    solid: Solid,
    ends: tuple[Image | None, Image | None] = (None, None),
) -> Figure:
    """The figure from six photographs, each with the corners of the face that is up, in the order in which the faces
    follow each other counter-clockwise seen from the top end; `ends` are square flat pictures of top and
    bottom, where there are any. Raises VisionError when something is missing."""
    if len(photographs) != FACES:
        raise VisionError(f"figure {name!r}: six photographs are needed, one a face, got {len(photographs)}")
    faces = tuple(face_from_photograph(picture, corners, solid) for picture, corners in photographs)
    figure = Figure(name, faces, tuple(states), *ends)
    check([figure])
    return figure


def doubts(figures: Sequence[Figure], solid: Solid) -> list[Doubt]:
    """Every pair of sides that a reader could not tell apart, likest first; empty when all is well.

    Two faces of one figure that look alike leave its score open; two of different figures that look alike leave open
    whose it is, unless their neighbours differ. Ends are compared between figures only (top and bottom of one figure
    mean the same). Raises VisionError for figures that cannot be used.
    """
    check(figures)
    if not figures:
        return []
    made = templates(figures, solid, CHECK_MM, CHECK_BLUR_MM)
    points = prints(made.points)
    known = np.asarray(np.concatenate(made.patches, axis=1) * 255.0, dtype=np.float32)
    parts = rows(known, points)
    found: list[Doubt] = []
    for figure in figures:
        for number, picture in enumerate(figure.faces, 1):
            if float(picture.reshape(-1, 3).std(axis=0).max()) < FLAT_SPREAD:
                side = (figure.name, str(number))
                found.append(Doubt(side, side, 1.0))
    upright = [i for i, look in enumerate(made.looks) if not look.turned]
    # Neighbours are seen aslant: they help to tell two like faces apart, but less than the faces themselves.
    left = sum(w * (1.0 - (p[upright] @ p.T) ** 2) for w, p in zip(ASLANT, parts[:3], strict=True))
    faces = np.sqrt(np.clip(1.0 - np.asarray(left) / sum(ASLANT), 0.0, 1.0))
    for a, i in enumerate(upright):
        first = made.looks[i]
        for j, second in enumerate(made.looks):
            if (second.figure, second.face) > (first.figure, first.face) and faces[a, j] > SAME:
                here, there = ((figures[k.figure].name, str(k.face)) for k in (first, second))
                found.append(Doubt(here, there, float(faces[a, j])))
    found += _ends(figures, parts[3] @ parts[3].T, made.has_end, [(k.figure, k.turned) for k in made.looks])
    likest: dict[tuple[tuple[str, str], tuple[str, str]], Doubt] = {}
    for doubt in sorted(found, key=lambda d: -d.likeness):
        likest.setdefault((doubt.first, doubt.second), doubt)
    return list(likest.values())


def _ends(figures: Sequence[Figure], alike: Floats, has_end: Bools, whose: list[tuple[int, bool]]) -> list[Doubt]:
    found = []
    for i, (first, turned) in enumerate(whose):
        for j, (second, other) in enumerate(whose):
            if second > first and has_end[i] and has_end[j] and alike[i, j] > SAME:
                here, there = ((figures[n].name, ENDS[t]) for n, t in ((first, turned), (second, other)))
                found.append(Doubt(here, there, float(alike[i, j])))
    return found
