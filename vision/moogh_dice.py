"""The upper face of one die whose size and rough place are known: which pips it shows, and where it lies exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from devices.contract import Image
from vision.sampling import Floats, logs

FACE_PX = 16
"""Side of a face in the samples that are compared."""

VALUES = ("1", "2", "3", "4", "5", "6")
_SPREAD = 0.25
"""Distance of the outer pips' rows from the middle of the face, in sides."""
_PIPS, _INNER = (0.09, 0.125), 0.86
"""Radii of pips that dice on sale have, and side of the part of the face that is compared (its edges are rounded)."""
_TURN_DEG = 7.5
VIEWS = 3
_EVIDENCE, _MORE = 16.0, 1.5
"""Independent samples that a face counts for of as many pixels as samples, and how many times more a finer one does."""
_LEAST_FIT, _GOOD_FIT = 0.72, 0.82
"""Correlation from which a face counts as one that shows pips, and from which no other view is tried."""
_LEAST_CONTRAST = 0.10
"""Standard deviation (log units) below which a face is too plain to show any."""

_LOOKED_AT = 8
"""Best places of the coarse search that are searched finely."""
_COARSE_PX, _COARSE_INNER = 12, 0.76
"""Side of a face, and of the part of it that is compared (in sides), in the coarse search."""

Reach = float | tuple[float, float]
Expected = tuple[tuple[float, float], float] | None
"""Where a face should be (mm), and the standard deviation of that."""
_SPOTS: dict[str, tuple[tuple[int, int], ...]] = {
    "1": ((0, 0),),
    "2": ((-1, -1), (1, 1)),
    "3": ((-1, -1), (0, 0), (1, 1)),
    "4": ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    "5": ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    "6": ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """The best reading of a face: the best correlation of each value 1..6, the middle of the upper face in mm on the
    table, its turn in degrees (modulo a quarter), and how many independent samples it counts for."""

    fits: Floats
    xy_mm: tuple[float, float]
    turn_deg: float
    evidence: float = _EVIDENCE

    @property
    def fit(self) -> float:
        """The best correlation, 0..1."""
        return float(self.fits.max())

    @property
    def shown(self) -> bool:
        """True when there are pips at all."""
        return self.fit >= _LEAST_FIT

    @property
    def scores(self) -> tuple[float, ...]:
        """Log-likelihoods of the values 1..6, 0 for the best; hardly apart where no pips are shown."""
        logged = -self.evidence * np.log(1.0 - np.minimum(self.fits, 0.99) ** 2) * (1.0 if self.shown else 0.1)
        return tuple(float(s) for s in logged - logged.max())


@dataclass(frozen=True, slots=True, eq=False)
class _Templates:
    """Unit-length patterns (P, F * F) in order of value, the first of each value (6,), turn in degrees and mask of each
    (P,); the masks (M, F * F) of the turned face, and on each of them a plane's three directions (M, 3, F * F)."""

    patterns: Floats
    firsts: NDArray[np.intp]
    turns: Array
    mask_of: NDArray[np.intp]
    masks: Floats
    slopes: Floats


def read_face(
    picture: Image, camera: Camera, xy_mm: tuple[float, float], height_mm: float, side_mm: float, reach_mm: Reach
) -> Face | None:
    """The face of a die of `side_mm` whose upper face lies at `height_mm` within `reach_mm` (each way; or x, y) of
    `xy_mm`; None when the place is not wholly in the picture or nothing like pips is there."""
    step = side_mm / FACE_PX
    reach = reach_mm if isinstance(reach_mm, tuple) else (reach_mm, reach_mm)
    wide, high = (FACE_PX + 2 * max(1, math.ceil(r / step)) for r in reach)
    patch = _sampled(picture, camera, xy_mm, height_mm, step, (wide, high))
    if patch is None:
        return None
    # A die is likelier where it is expected than at the end of the reach.
    expected = None if isinstance(reach_mm, tuple) else (xy_mm, reach_mm / 2)
    best: tuple[Face, int] | None = None
    for n in range(VIEWS):
        face = _fitted(_view(patch, n), step, xy_mm, expected)
        if face is not None and (best is None or face.fit > best[0].fit):
            best = face, n
        if best is not None and best[0].fit >= _GOOD_FIT:
            break
    if best is None:
        return None
    face, n = best
    # Half a sample aside it may fit better.
    patch = _sampled(picture, camera, face.xy_mm, height_mm, step, (FACE_PX + 1, FACE_PX + 1))
    between = None if patch is None else _fitted(_view(patch, n), step, face.xy_mm, expected)
    if between is None:
        return face
    nearer = max(face, between, key=lambda f: f.fit)
    finer = min(max(_pixels_across(camera, face.xy_mm, height_mm, side_mm) / FACE_PX, 1.0), _MORE)
    return Face(np.maximum(face.fits, between.fits), nearer.xy_mm, nearer.turn_deg, _EVIDENCE * finer)


def _view(patch: Image, which: int) -> Floats:
    """One of VIEWS in which pips stand out: whiteness (the weakest channel); brightness where that says otherwise; and
    whiteness as light adds up, in which the dark rounded edges of a shining face count for less than its pips."""
    if which == 0:
        return np.asarray(logs(patch).min(axis=2))
    if which == 1:
        return np.asarray(logs(patch).mean(axis=2, dtype=np.float32))
    weakest = patch.min(axis=2).astype(np.float32) ** np.float32(2.2)
    return np.asarray(weakest / max(float(weakest.mean()), 1.0))


def _pixels_across(camera: Camera, xy_mm: tuple[float, float], height_mm: float, side_mm: float) -> float:
    """How many pixels of the picture a face measures across, the narrower way."""
    x, y = xy_mm
    ends = [(x, y, height_mm), (x + side_mm, y, height_mm), (x, y + side_mm, height_mm)]
    here, right, up = camera.project(np.array(ends))
    return float(min(np.linalg.norm(right - here), np.linalg.norm(up - here)))


def _sampled(
    picture: Image,
    camera: Camera,
    xy_mm: tuple[float, float],
    height_mm: float,
    step: float,
    size: tuple[int, int],
) -> Image | None:
    """BGR samples (high, wide, 3) of the plane at `height_mm`, north row first; each the mean of what it covers."""
    wide, high = size
    right, up = (wide - 1) / 2 * step, (high - 1) / 2 * step
    x, y = xy_mm
    corners = np.array([(x + sx * right, y + sy * up, height_mm) for sx, sy in ((-1, 1), (1, 1), (1, -1), (-1, -1))])
    pixels = camera.project(corners).astype(np.float32)
    if not np.all((pixels >= -0.5) & (pixels <= np.array(picture.shape[1::-1]) - 0.5)):
        return None
    fine = max(1, round(float(np.linalg.norm(pixels[0] - pixels[1])) / wide))
    square = np.array([(0, 0), (wide - 1, 0), (wide - 1, high - 1), (0, high - 1)], np.float32)
    square = (square + np.float32(0.5)) * np.float32(fine) - np.float32(0.5)
    to_px = cv2.getPerspectiveTransform(square, pixels)
    found = cv2.warpPerspective(
        picture, to_px, (wide * fine, high * fine), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    )
    if fine > 1:
        found = cv2.resize(found, (wide, high), interpolation=cv2.INTER_AREA)
    return np.asarray(found, dtype=np.uint8)


def _fitted(patch: Floats, step: float, xy_mm: tuple[float, float], expected: Expected) -> Face | None:
    """The best face in a view (high, wide): first at every other place, then about the best of those."""
    t = _templates(FACE_PX, _TURN_DEG, _INNER)
    level = patch - patch.mean()
    windows = np.lib.stride_tricks.sliding_window_view(level, (FACE_PX, FACE_PX))
    rows, columns = windows.shape[:2]
    near = np.ones((rows, columns), dtype=bool)
    if rows * columns > 9 * _LOOKED_AT:
        near[:] = False
        size = tuple(max(_COARSE_PX, round(n * _COARSE_PX / FACE_PX)) for n in level.shape[::-1])
        small = cv2.resize(level, size, interpolation=cv2.INTER_AREA)
        coarse = np.lib.stride_tricks.sliding_window_view(small, (_COARSE_PX, _COARSE_PX))
        match = _matches(coarse.reshape(-1, _COARSE_PX**2), _templates(_COARSE_PX, 2 * _TURN_DEG, _COARSE_INNER))
        heights = match.max(axis=1).reshape(coarse.shape[:2])
        for _ in range(_LOOKED_AT):
            row, column = (int(v) for v in np.unravel_index(int(np.argmax(heights)), heights.shape))
            heights[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = 0.0
            y = round(row * (rows - 1) / max(1, len(heights) - 1))
            x = round(column * (columns - 1) / max(1, heights.shape[1] - 1))
            near[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2] = True
    spots = np.argwhere(near)
    middles = np.stack([spots[:, 1] - (columns - 1) / 2, (rows - 1) / 2 - spots[:, 0]], axis=1) * step + xy_mm
    match = _matches(windows[near].reshape(-1, FACE_PX * FACE_PX), t)
    if expected is not None:
        off = np.sum((middles - expected[0]) ** 2, axis=1) / expected[1] ** 2
        match = np.sqrt(np.maximum(1 - (1 - match**2) * np.exp(off / 2 / _EVIDENCE)[:, None], 0.0))
    top = int(np.argmax(match))
    if float(match.flat[top]) <= 0.0:
        return None
    best = np.maximum.reduceat(match.max(axis=0), t.firsts)
    spot, pattern = divmod(top, match.shape[1])
    return Face(
        fits=best,
        xy_mm=(float(middles[spot][0]), float(middles[spot][1])),
        turn_deg=float(t.turns[pattern] % 90.0),
    )


def _matches(places: Floats, t: _Templates) -> Floats:
    """Correlation (N, P) of windows (N, F * F) with every pattern; slopes of brightness over the face left aside."""
    energy = (places * places) @ t.masks.T
    slopes = (places @ t.slopes.reshape(-1, places.shape[1]).T).reshape(len(places), -1, 3)
    rest = energy - (slopes * slopes).sum(axis=2)
    plain = rest < _LEAST_CONTRAST**2 * t.masks.sum(axis=1)
    scale = np.where(plain, 0.0, 1.0 / np.sqrt(np.maximum(rest, 1e-6))).astype(np.float32)
    match = places @ t.patterns.T
    np.abs(match, out=match)
    match *= scale[:, t.mask_of]
    return np.asarray(match, dtype=np.float32)


@cache
def _templates(size: int, turn_deg: float, inner: float) -> _Templates:
    """All patterns of a face of `size` px, one each `turn_deg`, of which the middle `inner` sides are compared."""
    steps = (np.arange(size) + 0.5) / size - 0.5
    x, y = np.meshgrid(steps, -steps)
    quarter = round(90.0 / turn_deg)
    masks, slopes, patterns, values, turned, mask_of = [], [], [], [], [], []
    for n in range(2 * quarter):
        turn = n * turn_deg
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        u, v = c * x + s * y, -s * x + c * y
        if n < quarter:
            # Soft edge of one sample.
            mask = np.clip((inner / 2 - np.maximum(np.abs(u), np.abs(v))) * size + 0.5, 0, 1).ravel()
            root = np.sqrt(mask)
            basis, _ = np.linalg.qr(root[:, None] * np.stack([np.ones_like(mask), x.ravel(), y.ravel()], axis=1))
            masks.append(mask)
            slopes.append((root[:, None] * basis).T)
        mask, slope = masks[n % quarter], slopes[n % quarter]
        for value, spots in _SPOTS.items():
            if n >= quarter and value in "145":
                continue
            for pip in _PIPS:
                gaps = np.min([np.hypot(u - a * _SPREAD, v - b * _SPREAD) for a, b in spots], axis=0).ravel()
                shape = np.clip((pip - gaps) * size / 1.6 + 0.5, 0, 1)
                weighted = shape * mask - slope.T @ (slope @ shape)
                patterns.append(weighted / math.sqrt(float(weighted @ (weighted / np.maximum(mask, 1e-9)))))
                values.append(int(value) - 1)
                turned.append(turn)
                mask_of.append(n % quarter)
    order = np.argsort(values, kind="stable")
    return _Templates(
        patterns=np.array(patterns, dtype=np.float32)[order],
        firsts=np.searchsorted(np.array(values)[order], np.arange(6)).astype(np.intp),
        turns=np.array(turned)[order],
        mask_of=np.array(mask_of, dtype=np.intp)[order],
        masks=np.array(masks, dtype=np.float32),
        slopes=np.array(slopes, dtype=np.float32),
    )
