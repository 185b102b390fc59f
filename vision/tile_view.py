"""What the camera sees of tiles where they really lie: samples, past doors and pawns, and how far they may vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from calibration.palette import Lab
from devices.contract import Image
from vision.sampling import Bools, Floats, Indices, log_planes, planes_of, sampled
from vision.tile_doubt import Light, light_of
from vision.tile_ink import STRIPS
from vision.tile_layout import COUNT, GRID, behind_doors, behind_pawns, leans

Maps = tuple[NDArray[Any], NDArray[Any]]
"""Whole pixels (T, N, 2) and the fractions beyond them (T, N), in fixed-point numbers."""

CHANGED_LEVELS, LIVELY_SHARE = 16.0, 0.5
"""Grey levels by which a sample of the probe must differ from before, light taken out: at least, and as a share of how
much the picture varies about it."""

HIDDEN_MM, GLOW_MM = 2.0, 6.0
"""So far about a pawn the tile counts as hidden; and so far its shadow and its light on the tile are no sign of
anything foreign."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The board as the reader needs it: tile centres (T, 3: mm, mm, 0), sizes, row and column of each tile (T, 2), the
    grid's rows and columns, and the palette."""

    centres: Array
    sizes_mm: Mapping[str, float]
    row_column: Indices
    grid: tuple[int, int]
    palette: Mapping[str, Lab]


@dataclass(frozen=True, slots=True, eq=False)
class Openings:
    """What the camera sees of each tile past the things on it: samples (T, 841) beside its door (`door`), beside a pawn
    on it (`pawn`), well away from a pawn (`apart`), and half arms (T, 4, 2) beside a pawn (`halves`)."""

    door: Bools
    pawn: Bools
    apart: Bools
    halves: Bools


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Samples of tiles that lie at `poses` (T, 3): log colours (3, T, 841), which are `seen` and which are well `apart`
    from pawns (T, 841), the share of each tile `inside` the picture (T), the probe's 8-bit colours, where it falls in
    the picture and its tolerance, and the light on each tile."""

    poses: Array
    tiles: Floats
    seen: Bools
    apart: Bools
    inside: Array
    probe: Image
    maps: Maps
    tolerance: Image
    light: Light


def view_of(
    picture: Image,
    camera: Camera,
    height_mm: float,
    poses: Array,
    openings: Openings,
    which: Indices,
    standing: Bools,
    light: Floats,
) -> View:
    """Samples of the tiles `which` where they really lie, those that are seen, and those well away from pawns."""
    x, y = GRID.pixels(camera, poses, height_mm)
    colours, inside = sampled(picture, x, y)
    door, pawn = openings.door[which], standing[:, None]
    seen, apart = (np.where(pawn, each[which], door) for each in (openings.pawn, openings.apart))
    share = np.ones(len(which))
    if not inside.all():
        seen &= inside
        apart &= inside
        share = inside.mean(axis=1)
    planes = planes_of(colours)
    tiles = log_planes(planes)
    if light.any():
        tiles -= light.reshape(3, 1, 1)
    maps = maps_of(_probed(x), _probed(y))
    return View(poses, tiles, seen, apart, share, _probed(colours), maps, _tolerance(planes[1]), light_of(planes))


def maps_of(x: Floats, y: Floats) -> Maps:
    """These pixels (T, N each) as cv2.remap takes them: in half the time that it takes for fractions."""
    spots, parts = cv2.convertMaps(x, y, cv2.CV_16SC2)
    return np.asarray(spots), np.asarray(parts)


def openings_of(camera: Camera, starts: Array, board: Layout) -> Openings:
    """What doors and pawns leave open of tiles that lie at `starts`; a few mm or degrees more change nothing."""
    lean = leans(camera, starts, board.sizes_mm["tile_height"])
    door = ~behind_doors(lean, board.sizes_mm, GRID)
    over, near = behind_pawns(lean, board.sizes_mm, GRID, HIDDEN_MM, GLOW_MM)
    (strips,) = behind_pawns(lean, board.sizes_mm, STRIPS, HIDDEN_MM)
    halves = strips.reshape(len(starts), 4, 2, -1).mean(axis=-1) < 0.1
    return Openings(door, door & ~over, door & ~near, halves)


def _probed(samples: NDArray[Any]) -> NDArray[Any]:
    """The probe's samples (T, 225, ...) of those of whole tiles (T, 841, ...)."""
    count, _, *rest = samples.shape
    return samples.reshape(count, COUNT, COUNT, *rest)[:, ::2, ::2].reshape(count, -1, *rest)


def _tolerance(green: Image) -> Image:
    """By how many levels each sample of the probe (T, 225) may differ without having changed: more where the print is
    lively, so that a camera that creeps by a fraction of a pixel changes nothing."""
    plane = green.reshape(-1, COUNT)
    lively = cv2.morphologyEx(plane, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    found = cv2.convertScaleAbs(lively, alpha=LIVELY_SHARE, beta=CHANGED_LEVELS)
    return _probed(np.asarray(found, dtype=np.uint8).reshape(green.shape))


def open_halves(inside: Bools) -> Bools:
    """Which half arms (T, 4, 2) lie wholly inside the picture, from the samples of STRIPS that do (T, 408)."""
    return np.asarray(inside.reshape(len(inside), 4, 2, -1).all(axis=-1))
