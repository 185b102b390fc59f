"""Enrolled figures as numbers: what every face and end of a prism looks like at each of a few blurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from devices.contract import Image
from vision.contract import VisionError
from vision.sampling import Floats

FACES = 6
_TEXTURE = 6.0
"""Pixels a mm at which face pictures are blurred and sampled."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """An enrolled figure: a hexagonal prism with one flat BGR picture a side face.

    `faces` are six pictures of any size, face 1 first, in the order in which they follow each other counter-clockwise
    seen from the top end; each shows the face with the top end at its right-hand edge. `top` and `bottom` are square
    pictures of the ends seen from outside, face 1's edge up, as wide as the end is from corner to corner; None when not
    enrolled. `states` tells what each face means when it is up: "power" or "shield".
    """

    name: str
    faces: tuple[Image, ...]
    states: tuple[str, ...]
    top: Image | None = None
    bottom: Image | None = None


@dataclass(frozen=True, slots=True)
class Solid:
    """The prism's measures in mm."""

    length: float
    across_flats: float

    @property
    def apothem(self) -> float:
        """From the axis to a face."""
        return self.across_flats / 2

    @property
    def face_width(self) -> float:
        """Width of a side face, which is also the prism's radius to its edges."""
        return float(self.across_flats / np.sqrt(3.0))

    def patches(self, step_mm: float) -> list[Array]:
        """Sample points (N, 3) of the three sides about a reference direction and of the near end, in coordinates
        along the axis, along the reference direction, and along their cross product: sides -1, 0, +1, then the end."""
        half, width = self.length / 2, self.face_width
        along = _spaced(self.length, step_mm)
        across = _spaced(width, step_mm)
        t, s = (a.ravel() for a in np.meshgrid(across[::-1], along, indexing="ij"))
        result = []
        for side in (-1, 0, 1):
            turn = np.radians(60.0 * side)
            # The picture's up direction is normal x axis: -q for the reference side.
            b = self.apothem * np.cos(turn) + t * np.sin(turn)
            c = self.apothem * np.sin(turn) - t * np.cos(turn)
            result.append(np.column_stack([s, b, c]))
        ends = _spaced(2 * width, step_mm)
        right, up = (a.ravel() for a in np.meshgrid(ends, ends[::-1]))
        inside = np.ones(len(right), dtype=bool)
        for side in range(6):
            turn = np.radians(60.0 * side)
            inside &= up * np.cos(turn) + right * np.sin(turn) <= self.apothem - step_mm / 4
        result.append(np.column_stack([np.full(int(inside.sum()), half), up[inside], -right[inside]]))
        return result


@dataclass(frozen=True, slots=True)
class Look:
    """One way in which a figure can be seen: face number (1..6) in the reference direction; `turned` when its bottom
    end is the near one."""

    figure: int
    face: int
    turned: bool


@dataclass(frozen=True, slots=True, eq=False)
class Templates:
    """Every look of every figure at one spacing and blur: `patches` are four (H, N, 3) float32 arrays of colours in
    0..1 (as a camera codes them), for the sides -1, 0, +1 and the near end."""

    looks: tuple[Look, ...]
    points: tuple[Array, ...]
    patches: tuple[Floats, ...]
    has_end: NDArray[np.bool_]


def check(figures: Sequence[Figure]) -> None:
    """Raises VisionError that names the figure that cannot be used."""
    names: set[str] = set()
    for figure in figures:
        if figure.name in names:
            raise VisionError(f"two figures are called {figure.name!r}: give each its own name")
        names.add(figure.name)
        if len(figure.faces) != FACES or len(figure.states) != FACES:
            raise VisionError(f"figure {figure.name!r} has {len(figure.faces)} faces: six are needed, with six states")
        ends = [end for end in (figure.top, figure.bottom) if end is not None]
        for picture in (*figure.faces, *ends):
            if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or min(picture.shape[:2]) < 8:
                raise VisionError(f"figure {figure.name!r}: a face picture must be BGR and at least 8 px wide and high")


def templates(figures: Sequence[Figure], solid: Solid, step_mm: float, blur_mm: float) -> Templates:
    """The templates of these figures (two looks a face: either end near)."""
    points = solid.patches(step_mm)
    sides = [[_side(p, solid, step_mm, blur_mm) for p in f.faces] for f in figures]
    ends: list[dict[bool, Floats | None]] = [
        {False: _end(f.top, solid, blur_mm), True: _end(f.bottom, solid, blur_mm)} for f in figures
    ]
    looks, rows, has_end = [], [], []
    for number, _ in enumerate(figures):
        for face in range(FACES):
            for turned in (False, True):
                looks.append(Look(number, face + 1, turned))
                row = []
                for side in (-1, 0, 1):
                    if turned:
                        # Upside down the neighbours change places and every picture stands on its head.
                        row.append(sides[number][(face - side) % FACES][::-1])
                    else:
                        row.append(sides[number][(face + side) % FACES])
                picture = ends[number][turned]
                has_end.append(picture is not None)
                row.append(_end_samples(picture, points[3], solid, face, turned))
                rows.append(row)
    patches = tuple(np.stack([row[i] for row in rows]).astype(np.float32) for i in range(4))
    return Templates(tuple(looks), tuple(points), patches, np.array(has_end, dtype=bool))


def _side(picture: Image, solid: Solid, step_mm: float, blur_mm: float) -> Floats:
    """(N, 3) colours of a face at its sample points."""
    width, height = round(solid.length * _TEXTURE), round(solid.face_width * _TEXTURE)
    soft = _blurred(picture, width, height, blur_mm)
    along = (_spaced(solid.length, step_mm) + solid.length / 2) * _TEXTURE - 0.5
    across = (solid.face_width / 2 - _spaced(solid.face_width, step_mm)[::-1]) * _TEXTURE - 0.5
    v, u = np.meshgrid(across, along, indexing="ij")
    return _at(soft, u.ravel(), v.ravel())


def _end(picture: Image | None, solid: Solid, blur_mm: float) -> Floats | None:
    if picture is None:
        return None
    size = round(2 * solid.face_width * _TEXTURE)
    return _blurred(picture, size, size, blur_mm)


def _end_samples(picture: Floats | None, points: Array, solid: Solid, face: int, turned: bool) -> Floats:
    if picture is None:
        return np.zeros((len(points), 3), dtype=np.float32)
    # Seen from outside the faces run counter-clockwise round the top end and clockwise round the bottom end.
    turn = np.radians(60.0 * face) * (-1 if turned else 1)
    up, right = points[:, 1], -points[:, 2]
    x = right * np.cos(turn) - up * np.sin(turn)
    y = right * np.sin(turn) + up * np.cos(turn)
    radius = solid.face_width
    return _at(picture, (x + radius) * _TEXTURE - 0.5, (radius - y) * _TEXTURE - 0.5)


def _blurred(picture: Image, width: int, height: int, blur_mm: float) -> Floats:
    """The picture at this size, blurred as light adds up (before the camera's curve), coded again as a camera does."""
    sized = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32) / 255.0
    soft = cv2.GaussianBlur(sized**2.2, (0, 0), blur_mm * _TEXTURE, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(soft ** (1 / 2.2), dtype=np.float32)


def _at(picture: Floats, u: Array, v: Array) -> Floats:
    found = cv2.remap(
        picture,
        u.astype(np.float32).reshape(1, -1),
        v.astype(np.float32).reshape(1, -1),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(found.reshape(-1, 3), dtype=np.float32)


def _spaced(length: float, step_mm: float) -> Array:
    count = max(3, round(length / step_mm))
    return np.asarray((np.arange(count) + 0.5) * (length / count) - length / 2, dtype=np.float64)
