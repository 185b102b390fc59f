"""What the camera sees of tiles where they really lie: samples, past doors and pawns, and how far they may vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from calibration.palette import Lab
from devices.contract import Image
from vision.sampling import Bools, Floats, Indices, log_planes
from vision.tile_doubt import Light, light_of
from vision.tile_ink import STRIPS
from vision.tile_layout import COUNT, GRID, PROBE_INDEX, behind_doors, behind_pawns, leans

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
    from pawns (T, 841), the share of each tile `inside` the picture (T), the probe's 8-bit colours and tolerance, and
    the light on each tile."""

    poses: Array
    tiles: Floats
    seen: Bools
    apart: Bools
    inside: Array
    probe: Image
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
    colours, inside = GRID.colours(picture, camera, poses, height_mm)
    door, pawn = openings.door[which], standing[:, None]
    seen, apart = (np.where(pawn, each[which], door) for each in (openings.pawn, openings.apart))
    share = np.ones(len(which))
    if not inside.all():
        seen &= inside
        apart &= inside
        share = inside.mean(axis=1)
    tiles = log_planes(colours)
    if light.any():
        tiles -= light.reshape(3, 1, 1)
    probe = colours[:, PROBE_INDEX]
    return View(poses, tiles, seen, apart, share, probe, _tolerance(colours), light_of(colours))


def openings_of(camera: Camera, starts: Array, board: Layout) -> Openings:
    """What doors and pawns leave open of tiles that lie at `starts`; a few mm or degrees more change nothing."""
    lean = leans(camera, starts, board.sizes_mm["tile_height"])
    door = ~behind_doors(lean, board.sizes_mm, GRID)
    over, near = behind_pawns(lean, board.sizes_mm, GRID, HIDDEN_MM, GLOW_MM)
    (strips,) = behind_pawns(lean, board.sizes_mm, STRIPS, HIDDEN_MM)
    halves = strips.reshape(len(starts), 4, 2, -1).mean(axis=-1) < 0.1
    return Openings(door, door & ~over, door & ~near, halves)


def _tolerance(colours: Image) -> Image:
    """By how many levels each sample of the probe (T, 225) may differ without having changed: more where the print is
    lively, so that a camera that creeps by a fraction of a pixel changes nothing."""
    plane = np.ascontiguousarray(colours[..., 1]).reshape(-1, COUNT)
    lively = cv2.morphologyEx(plane, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    found = cv2.convertScaleAbs(lively, alpha=LIVELY_SHARE, beta=CHANGED_LEVELS)
    return np.asarray(found, dtype=np.uint8).reshape(len(colours), -1)[:, PROBE_INDEX]


def open_halves(inside: Bools) -> Bools:
    """Which half arms (T, 4, 2) lie wholly inside the picture, from the samples of STRIPS that do (T, 408)."""
    return np.asarray(inside.reshape(len(inside), 4, 2, -1).all(axis=-1))
