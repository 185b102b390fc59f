"""What a printed line looks like on this board, and a first look at every tile with it: its arms and its place.

Every tile has exactly two arms, so half of all strips show the line and half do not; that alone tells what a line
looks like, whatever its colour, width or number of strokes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats, Stencil, middle, mixed

COLUMN_MM = 1.5
HALF_COLUMNS = 8
WIDTH = 2 * HALF_COLUMNS + 1
ROWS_MM = ((26.0, 23.5, 21.0), (18.0, 15.5, 13.0))
"""Distances from the tile's centre of the samples of an arm's outer and inner half."""
HALF_MM = tuple(sum(rows) / len(rows) for rows in ROWS_MM)
SHIFTS = (-3, -2, -1, 0, 1, 2, 3)
"""Sideways shifts of a line, in columns, that are tried: up to 4.5 mm."""
_STEPS = np.array(SHIFTS)
_MOVED = np.arange(WIDTH)[:, None] - _STEPS
_MOVED[(_MOVED < 0) | (_MOVED >= WIDTH)] = WIDTH
"""Column of the profile that falls on each column at each shift; WIDTH (a zero) beyond its ends."""
_LOBES = np.r_[0:3, WIDTH - 3 : WIDTH]
"""Columns of a strip that lie beside any line: its background."""

_ACROSS = (np.arange(WIDTH) - HALF_COLUMNS) * COLUMN_MM
_AIM = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
_SIDE = np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]])
"""Outward along the arms N, E, S, W, and clockwise across them."""

STRIPS = Stencil(
    np.array([_AIM[a] * d + _SIDE[a] * u for a in range(4) for rows in ROWS_MM for d in rows for u in _ACROSS])
)
"""Samples of the four arms' strips: 4 arms x 2 halves x 3 rows x 17 columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """How lines stand out: `weights` (3) turn log colours into the one channel in which they show best, `profile` is
    the line's cross-section there (17 columns, zero mean, unit length), `background` what halves without a line look
    like (4, 2, 17)."""

    weights: Floats
    profile: Floats
    background: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """Which arms seem to carry a line (T, 4), and each tile's offset (T, 3: mm, mm, rad counter-clockwise)."""

    arms: Bools
    offsets: Array


def half_strips(colours: Floats) -> Floats:
    """Cross-sections (T, 4, 2, 17, 3) of all half arms from log colours (T, 408, 3) of STRIPS, background at zero."""
    rows = colours.reshape(-1, 4, 2, len(ROWS_MM[0]), WIDTH, 3)
    halves = (rows[:, :, :, 0] + rows[:, :, :, 1] + rows[:, :, :, 2]) / np.float32(3.0)
    return np.asarray(halves - halves[:, :, :, _LOBES].mean(axis=3, keepdims=True), dtype=np.float32)


def learn_ink(halves: Floats) -> Ink | None:
    """The look of lines, from half strips (T, 4, 2, 17, 3) of a whole board; None when nothing stands out."""
    mean = halves.mean(axis=(0, 1, 2))
    noise = halves[:, :, :, _LOBES].reshape(-1, 3)
    covariance = noise.T @ noise / len(noise) + 1e-5 * np.eye(3, dtype=np.float32)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance)).astype(np.float32)
    _, strength, axes = np.linalg.svd(mean @ whiten.T, full_matrices=False)
    if not strength[0] > 1e-6:
        return None
    weights = (axes[0] @ whiten).astype(np.float32)
    values, profile = mixed(halves, weights), mean @ weights
    # Lines are printed symmetrically about the arm's axis; shadows are not.
    profile = (profile + profile[::-1]) / 2
    background = np.zeros((4, 2, WIDTH), dtype=np.float32)
    for _ in range(3):
        profile = profile - profile.mean()
        size = float(np.linalg.norm(profile))
        if not size > 1e-6:
            return None
        profile = profile / size
        excess = values - background
        match = _matches(excess, profile)
        arms = _two_best(match)
        shifts = match[arms].argmax(axis=-1)
        columns = np.clip(np.arange(WIDTH) + _STEPS[shifts][..., None], 0, WIDTH - 1)
        profile = np.take_along_axis(excess[arms], columns, axis=-1).mean(axis=(0, 1))
        for a in range(4):
            bare = values[~arms[:, a], a]
            if len(bare) > 4:
                background[a] = middle(bare, 0)
    profile = profile - profile.mean()
    return Ink(weights, (profile / max(float(np.linalg.norm(profile)), 1e-9)).astype(np.float32), background)


def first_look(halves: Floats, ink: Ink, open_halves: Bools) -> FirstLook:
    """Arms and offsets of tiles (T, 4, 2, 17, 3) by an ink; halves that are not open (T, 4, 2) count for nothing."""
    values = (mixed(halves, ink.weights) - ink.background) * open_halves[..., None]
    match = _matches(values, ink.profile)
    arms = _two_best(match)
    best = np.clip(match.argmax(axis=-1), 1, len(SHIFTS) - 2)[..., None]
    left, centre, right = (np.take_along_axis(match, best + d, axis=-1)[..., 0] for d in (-1, 0, 1))
    bend = left - 2 * centre + right
    fine = np.where(bend < -1e-9, 0.5 * (left - right) / np.where(bend < -1e-9, bend, -1.0), 0.0)
    shifts = (_STEPS[best[..., 0]] + np.clip(fine, -1.0, 1.0)) * COLUMN_MM
    return FirstLook(arms, _offsets(arms[:, :, None] & open_halves, shifts))


def _matches(values: Floats, profile: Floats) -> Floats:
    """Correlation of each half strip with the profile at each shift: (T, 4, 2, 7)."""
    bank = np.append(profile, np.float32(0.0))[_MOVED]
    flat = values.reshape(-1, WIDTH) @ (bank - bank.mean(axis=0))
    return np.asarray(flat, dtype=np.float32).reshape(*values.shape[:-1], len(SHIFTS))


def _two_best(match: Floats) -> Bools:
    scores = match.max(axis=-1).sum(axis=-1)
    arms = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(arms, np.argsort(-scores, axis=1)[:, :2], True, axis=1)
    return arms


def _offsets(used: Bools, shifts: Array) -> Array:
    """Least squares of each tile's offset (mm, mm, rad) from sideways shifts (T, 4, 2) in mm where `used`."""
    # A turn by `angle` moves a point `d` mm out on any arm sideways by -d * angle.
    rows = np.array([[[_SIDE[a, 0], _SIDE[a, 1], -d] for d in HALF_MM] for a in range(4)])
    design = (rows[None] * used[..., None]).reshape(len(used), 8, 3)
    target = (shifts * used).reshape(len(used), 8, 1)
    # Without evidence a tile lies where it should: 2.5 mm and 4 degrees of spread against 0.7 mm of matching error.
    prior = np.diag([0.7 / 2.5, 0.7 / 2.5, 0.7 / np.radians(4.0)]) ** 2
    gram = design.transpose(0, 2, 1) @ design + prior
    return np.asarray(np.linalg.solve(gram, design.transpose(0, 2, 1) @ target)[..., 0])
