"""A prism laid into the picture at a place: what of it is seen, in which colours, and how well a known look fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from devices.contract import Image
from vision.figure_faces import Solid
from vision.sampling import Floats

LYING, STANDING = "lying", "standing"
NOISE = 0.012
"""Noise of a sample (0..1) added to every contrast, so that a blank patch matches nothing."""
LIGHT_END, FEW_BRIGHT, TOLD = 225.0, 0.1, 0.02
"""Level from which cameras press colours together until they clip them; the share of such samples up to which that
hardly matters; the share of a look's power that must be seen below for the strength of light to be told from it."""
LEAST_MM2 = 60.0
"""A patch of which the camera sees less than this (foreshortened) says nothing."""
PROBE_MM, PROBE_RAD = 0.7, 0.03
"""Steps by which the descent feels its way."""
_PROBES = np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], dtype=float)
_PROBES *= (PROBE_MM, PROBE_MM, PROBE_RAD)
_TURNS = np.radians([-60.0, 0.0, 60.0])
_AROUND = np.array([(x, y, z) for x in (-30.0, 0.0, 30.0) for y in (-30.0, 0.0, 30.0) for z in (0.0, 40.0)])
"""Places about a spot at which the lens's bending is looked at."""
_NORMALS = np.array([[0, 0, 0, 1], [*np.cos(_TURNS), 0], [*np.sin(_TURNS), 0]])
"""The four patches' normals as columns, in a prism's own directions."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The camera about one spot of the arena as one 3 x 4 matrix: exact perspective, the lens's bending to first order
    (right to a hundredth of a pixel within a few figures' lengths). `eye` is the lens centre in mm, `scale` px/mm."""

    eye: Array
    matrix: Array
    scale: float

    def project(self, points_mm: Array) -> Array:
        """Pixels (..., 2) of points (..., 3)."""
        flat = points_mm @ self.matrix[:, :3].T + self.matrix[:, 3]
        return np.asarray(flat[..., :2] / flat[..., 2:])

    def to_floor(self, points_mm: Array) -> Array:
        """Where on the floor (..., 2) in mm the points (..., 3) are seen."""
        stretch = self.eye[2] / (self.eye[2] - points_mm[..., 2:])
        return np.asarray(self.eye[:2] + (points_mm[..., :2] - self.eye[:2]) * stretch)

    def moved(self, origin_px: Array) -> View:
        """The same view in a part of the picture that begins at pixel `origin_px`."""
        matrix = self.matrix.copy()
        matrix[:2] -= origin_px[:, None] * matrix[2]
        return View(self.eye, matrix, self.scale)


def view_at(camera: Camera, xy: Array) -> View:
    """The view about a spot (2,) in mm."""
    around = np.add(_AROUND, (xy[0], xy[1], 0.0))
    pinhole = camera.matrix @ np.column_stack([camera.rotation, camera.translation_mm])
    pixels = camera.project(around)
    bend = np.eye(3)
    if camera.distortion.any():
        flat = around @ pinhole[:, :3].T + pinhole[:, 3]
        bend[:2] = np.linalg.lstsq(flat / flat[:, 2:], pixels, rcond=None)[0].T
    floor = pixels[::2].reshape(3, 3, 2)
    steps = np.diff(floor, axis=0)
    scale = float(np.sqrt((steps * steps).sum(axis=2)).mean()) / 30.0
    return View(camera.position_mm, bend @ pinhole, scale)


@dataclass(frozen=True, slots=True, eq=False)
class Prints:
    """The sample points of all four patches in one array (N, 3; see Solid.patches), which patch each belongs to (N),
    the patches' places in the array, how many points each has (4), and what gives their means: `mean` (4, N). The same
    for colours laid end to end: which patch's which colour each is (3 N), and what gives the means (3 N, 12)."""

    points: Floats
    owner: NDArray[np.intp]
    slices: tuple[slice, ...]
    counts: Floats
    mean: Floats
    colour_owner: NDArray[np.intp]
    colour_mean: Floats


def prints(patches: Sequence[Array]) -> Prints:
    """The patches laid end to end."""
    counts = [len(p) for p in patches]
    owner = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum([0, *counts])
    slices = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
    mean = ((owner == np.arange(len(counts))[:, None]) / np.array(counts)[:, None]).astype(np.float32)
    colour_owner = (3 * owner[:, None] + np.arange(3)).ravel()
    colour_mean = np.ascontiguousarray(np.kron(mean, np.eye(3, dtype=np.float32)).T)
    points, each = np.concatenate(patches).astype(np.float32), np.array(counts, dtype=np.float32)
    return Prints(points, owner, slices, each, mean, colour_owner, colour_mean)


def frames(rest: str, places: Array, solid: Solid) -> tuple[Array, Array]:
    """Centres (P, 3) and bases (P, 3, 3; rows: axis, reference direction, their cross product) of places (P, 3).

    A place is the centre's x and y in mm and an angle in radians: of the axis towards the near end (lying), of the
    reference side (standing).
    """
    cos, sin = np.cos(places[:, 2]), np.sin(places[:, 2])
    bases = np.zeros((len(places), 3, 3))
    centres = np.empty((len(places), 3))
    centres[:, :2] = places[:, :2]
    if rest == LYING:
        centres[:, 2] = solid.apothem
        bases[:, 0, 0], bases[:, 0, 1] = cos, sin
        bases[:, 1, 2] = 1.0
        bases[:, 2, 0], bases[:, 2, 1] = sin, -cos
    else:
        centres[:, 2] = solid.length / 2
        bases[:, 0, 2] = 1.0
        bases[:, 1, 0], bases[:, 1, 1] = cos, sin
        bases[:, 2, 0], bases[:, 2, 1] = -sin, cos
    return centres, bases


def exposure(centres: Array, bases: Array, solid: Solid, eye: Array) -> Array:
    """Area in mm^2, as the camera sees it, of the four patches at each place: (P, 4); nought where turned away, and
    where too little of a patch is seen to say anything."""
    sight = eye - centres
    sight /= np.sqrt((sight * sight).sum(axis=1, keepdims=True))
    along = (bases @ sight[..., None])[..., 0]
    side, end = solid.length * solid.face_width, 1.5 * math.sqrt(3.0) * solid.face_width**2
    shown = along @ (_NORMALS * (side, side, side, end))
    shown[shown < LEAST_MM2] = 0.0
    return np.asarray(shown)


def samples(picture: Image, view: View, centres: Array, bases: Array, points: Floats) -> Floats:
    """Colours (P, N, 3) in 0..255 of a prism's points (N, 3) at each place."""
    turn = view.matrix[:, :3]
    to_px = (turn @ bases.transpose(0, 2, 1)).astype(np.float32)
    flat = to_px @ points.T
    flat += (centres @ turn.T + view.matrix[:, 3]).astype(np.float32)[..., None]
    x, y = flat[:, 0] / flat[:, 2], flat[:, 1] / flat[:, 2]
    found = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return np.asarray(found, dtype=np.float32)


def levelled(patch: Floats, made: Prints) -> Floats:
    """Patches (P, N, 3) without each patch's mean colour."""
    flat = patch.reshape(len(patch), -1)
    means = flat @ made.colour_mean
    return np.asarray(flat - means[:, made.colour_owner]).reshape(patch.shape)


def rows(patch: Floats, made: Prints) -> list[Floats]:
    """Each patch of (P, N, 3) as rows (P, 3 n) without mean colour, of length one (shorter where it is only noise);
    colours in 0..255."""
    level = levelled(patch, made)
    result = []
    for part in made.slices:
        flat = level[:, part].reshape(len(level), -1)
        size = np.sqrt(np.einsum("ij,ij->i", flat, flat) + flat.shape[1] * (255 * NOISE) ** 2)
        result.append(np.asarray(flat / size[:, None], dtype=np.float32))
    return result


def descend(
    picture: Image,
    view: View,
    rest: str,
    places: Array,
    known: Floats,
    made: Prints,
    solid: Solid,
) -> Array:
    """Places (P, 3) moved one Gauss-Newton step towards where the known looks (P, N, 3; levelled) fit best."""
    count = len(places)
    probes = (places[:, None, :] + _PROBES).reshape(-1, 3)
    centres, bases = frames(rest, probes, solid)
    shown = exposure(centres[::7], bases[::7], solid, view.eye)
    seen = levelled(samples(picture, view, centres, bases, made.points), made).reshape(count, 7, -1, 3)
    weight = (np.sqrt(shown / made.counts).astype(np.float32)[:, made.owner])[..., None]
    slopes = seen[:, 1::2] - seen[:, 2::2]
    slopes *= weight[:, None] * np.float32(0.5)
    # How much brighter each patch is than the known one.
    known_power, both = ((made.mean @ (known * other)).sum(axis=2) for other in (known, seen[:, 0]))
    gains = both / (known_power + np.float32(1e-3) / made.counts)
    off = (seen[:, 0] - gains[:, made.owner, None] * known) * weight
    slopes = slopes.reshape(count, 3, -1)
    pull = np.matmul(slopes, off.reshape(count, -1, 1))
    normal = np.matmul(slopes, slopes.transpose(0, 2, 1)).astype(np.float64)
    top = normal[:, range(3), range(3)].max(axis=1)
    normal += np.eye(3) * (1e-6 + 1e-3 * top)[:, None, None]
    steps = -np.linalg.solve(normal, pull.astype(np.float64))[..., 0]
    return places + np.clip(steps, -5.0, 5.0) * (PROBE_MM, PROBE_MM, PROBE_RAD)


def kinship(
    seen: Floats, known: Sequence[Floats], sizes: Floats, made: Prints, shown: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """A strict correlation (B, H, 4) of seen colours (N, 3) with those of known looks at each blur, patch by patch
    (four of B, 3, H, n), and the light (B, 3, H, 4) that each asks for; nought of patches that are not `shown` (4).

    `sizes` (B, 3, H, 4) are the known patches' sums of squares. Light may scale each colour but add nothing, so that a
    body of another colour does not pass for a shade of light: 1 - result^2 is the share of the contrast (about each
    colour's mean) that the known patch leaves unexplained.
    """
    bright = seen > LIGHT_END
    if np.count_nonzero(bright) > FEW_BRIGHT * bright.size:
        return _kinship_below(seen, known, sizes, made, shown)
    planes = np.ascontiguousarray(seen.T)
    product = np.zeros(sizes.shape, dtype=np.float32)
    for i in np.flatnonzero(shown).tolist():
        product[..., i] = (known[i] @ planes[:, made.slices[i], None])[..., 0]
    light = product / sizes
    power, contrast = _power(seen, made)
    left = power - (product * light).sum(axis=1)
    return np.sqrt(np.clip(1.0 - left / contrast, 0.0, 1.0)) * shown, light


def _kinship_below(
    seen: Floats, known: Sequence[Floats], sizes: Floats, made: Prints, shown: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """The same where much is brighter than LIGHT_END: what the known look is by that light is held to it too, and only
    what is seen below tells how strong the light is."""
    held = np.minimum(seen, np.float32(LIGHT_END))
    planes = np.ascontiguousarray(held.T)
    told = np.ascontiguousarray((seen <= LIGHT_END).T, dtype=np.float32)
    light, left = np.zeros(sizes.shape, dtype=np.float32), np.zeros(sizes.shape, dtype=np.float32)
    for i in np.flatnonzero(shown).tolist():
        mine, open_ = planes[:, made.slices[i], None], told[:, made.slices[i], None]
        size = ((known[i] * known[i]) @ open_)[..., 0]
        # Where next to nothing is below, the light is at least what all of it together says.
        least = (known[i] @ mine)[..., 0] / sizes[..., i]
        below = (known[i] @ (mine * open_))[..., 0] / np.maximum(size, np.float32(1e-3))
        light[..., i] = np.where(size > TOLD * sizes[..., i], np.maximum(below, least), least)
        off = np.minimum(light[..., i, None] * known[i], np.float32(LIGHT_END)) - mine[:, None, :, 0]
        left[..., i] = np.einsum("bchn,bchn->bch", off, off)
    _, contrast = _power(held, made)
    return np.sqrt(np.clip(1.0 - left.sum(axis=1) / contrast, 0.0, 1.0)) * shown, light


def _power(seen: Floats, made: Prints) -> tuple[Floats, Floats]:
    """The sum of the squares of what is seen, and that about each colour's mean with the samples' noise."""
    means, squares = made.mean @ seen, made.mean @ (seen * seen)
    noise = np.float32(3.0 * (255 * NOISE) ** 2)
    return made.counts * squares.sum(axis=1), made.counts * ((squares - means * means).sum(axis=1) + noise)
