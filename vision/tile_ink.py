"""What a printed line looks like on this board, and a first look at every tile with it: its arms and its place.

Every tile has exactly two arms, so half of all strips show the line and half do not; that alone tells what a line
looks like, whatever its colour, width or number of strokes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array
from vision.sampling import Bools, Floats, Stencil, blended

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
_SHIFTED = np.clip(np.arange(WIDTH) + _STEPS[:, None], 0, WIDTH - 1)
"""Columns that a shifted line's columns come from, for each shift."""
_LOBES = np.r_[0:3, WIDTH - 3 : WIDTH]
"""Columns of a strip that lie beside any line: its background."""
_LOBE_MEAN = np.zeros(WIDTH, dtype=np.float32)
_LOBE_MEAN[_LOBES] = 1.0 / len(_LOBES)

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
    """How lines stand out: `weights` (3) turn log colours into the one channel in which they show best, `bank` (17, 7)
    holds the line's cross-section there at each shift, `background` what halves without a line look like (4, 2, 17)."""

    weights: Floats
    bank: Floats
    background: Floats


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """Which arms seem to carry a line (T, 4), and each tile's offset (T, 3: mm, mm, rad counter-clockwise)."""

    arms: Bools
    offsets: Array


def half_strips(colours: Floats) -> Floats:
    """Cross-sections (3, T, 4, 2, 17) of all half arms from log colours (3, T, 408) of STRIPS, background at zero."""
    rows = colours.reshape(-1, len(ROWS_MM[0]), WIDTH)
    halves = (rows[:, 0] + rows[:, 1] + rows[:, 2]) / np.float32(len(ROWS_MM[0]))
    halves -= (halves @ _LOBE_MEAN)[:, None]
    return np.asarray(halves.reshape(3, -1, 4, 2, WIDTH), dtype=np.float32)


def learn_ink(halves: Floats) -> Ink | None:
    """The look of lines, from half strips (3, T, 4, 2, 17) of a whole board; None when nothing stands out."""
    flat = halves.reshape(3, -1, WIDTH)
    mean = flat.sum(axis=1) / np.float32(flat.shape[1])
    noise = halves[..., _LOBES].reshape(3, -1)
    spread, axes = np.linalg.eigh(noise @ noise.T / np.float32(noise.shape[1]))
    whiten = axes / np.sqrt(np.maximum(spread, 0.0) + np.float32(1e-5))
    white = mean.T @ whiten
    strength, axes = np.linalg.eigh(white.T @ white)
    if not strength[2] > 1e-12:
        return None
    weights = (whiten @ axes[:, 2]).astype(np.float32)
    values, profile = blended(halves, weights), weights @ mean
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
        match = _matches(excess, _bank(profile))
        arms = _two_best(match)
        lines = excess[arms].reshape(-1, WIDTH)
        columns = _SHIFTED[match[arms].reshape(-1, len(SHIFTS)).argmax(axis=1)]
        profile = lines.ravel()[columns + np.arange(0, lines.size, WIDTH)[:, None]].mean(axis=0)
        background = _background(values, arms, background)
    profile = profile - profile.mean()
    return Ink(weights, _bank(profile / max(float(np.linalg.norm(profile)), 1e-9)), background)


def _background(values: Floats, arms: Bools, before: Floats) -> Floats:
    """The middling halves (4, 2, 17) of arms without a line; those of `before` where there are too few."""
    ordered = np.where(arms[:, :, None, None], np.float32(np.inf), values)
    ordered.sort(axis=0)
    bare = (~arms).sum(axis=0)
    found = ordered[np.maximum(bare - 1, 0) // 2, np.arange(4)]
    return np.where(bare[:, None, None] > 4, found, before)


def first_look(halves: Floats, ink: Ink, open_halves: Bools) -> FirstLook:
    """Arms and offsets of tiles (3, T, 4, 2, 17) by an ink; halves that are not open (T, 4, 2) count for nothing. With
    several cases of what is open, (C, T, 4, 2), the tiles of each case follow those of the case before."""
    match = _matches(blended(halves, ink.weights) - ink.background, ink.bank) * open_halves[..., None]
    match = match.reshape(-1, 4, 2, len(SHIFTS))
    arms = _two_best(match)
    best = np.minimum(np.maximum(match.argmax(axis=-1), 1), len(SHIFTS) - 2)
    spots = best + np.arange(0, match.size, len(SHIFTS)).reshape(best.shape)
    left, centre, right = match.ravel()[spots + _BESIDE]
    bend = np.minimum(left - 2 * centre + right, np.float32(-1e-9))
    fine = np.minimum(np.maximum(0.5 * (left - right) / bend, -1.0), 1.0)
    used = arms[:, :, None] & open_halves.reshape(best.shape)
    return FirstLook(arms, _offsets(used, (best + fine - _STEPS[-1]) * COLUMN_MM))


_BESIDE = np.array([-1, 0, 1]).reshape(3, 1, 1, 1)


def _bank(profile: Floats) -> Floats:
    """The profile at each shift, blind to brightness: (17, 7)."""
    bank = np.append(profile, np.float32(0.0))[_MOVED]
    return np.asarray(bank - bank.mean(axis=0), dtype=np.float32)


def _matches(values: Floats, bank: Floats) -> Floats:
    """Correlation of each half strip with the line at each shift: (T, 4, 2, 7)."""
    return np.asarray(values.reshape(-1, WIDTH) @ bank).reshape(*values.shape[:-1], len(SHIFTS))


_TIE = np.arange(4, dtype=np.float32) * np.float32(-1e-5)
"""Decides between arms that show exactly the same, as hidden ones do."""


def _two_best(match: Floats) -> Bools:
    scores = match.max(axis=-1).sum(axis=-1) + _TIE
    ordered = scores.copy()
    ordered.sort(axis=1)
    return np.asarray(scores >= ordered[:, 2:3])


# A turn by `angle` moves a point `d` mm out on any arm sideways by -d * angle.
_DESIGN = np.array([[_SIDE[a, 0], _SIDE[a, 1], -d] for a in range(4) for d in HALF_MM])
# Without evidence a tile lies where it should: 2.5 mm and 4 degrees of spread against 0.7 mm of matching error.
_PRIOR = np.diag([0.7 / 2.5, 0.7 / 2.5, 0.7 / np.radians(4.0)]) ** 2
_SETS = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float64)
_SOLVERS = np.linalg.solve(
    np.einsum("sh,hi,hj->sij", _SETS, _DESIGN, _DESIGN) + _PRIOR, (_SETS[:, :, None] * _DESIGN).transpose(0, 2, 1)
)
"""What turns the sideways shifts of the halves into an offset by least squares, for every set of halves that may be
used: (256, 3, 8)."""


def _offsets(used: Bools, shifts: Array) -> Array:
    """Each tile's offset (mm, mm, rad) from sideways shifts (T, 4, 2) in mm where `used`."""
    which = np.packbits(used.reshape(-1, 8), axis=1, bitorder="little").ravel()
    return np.asarray((_SOLVERS[which] @ shifts.reshape(-1, 8, 1))[..., 0])
