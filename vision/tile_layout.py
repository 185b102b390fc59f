"""The parts of a turning tile as sample indices: arms, corners between arms, and what door and pawn hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from vision.sampling import Bools, square_stencil

STEP_MM = 1.5
COUNT = 39
MIDDLE = COUNT // 2
GRID = square_stencil(STEP_MM, COUNT)
"""Samples of a whole tile: 39 x 39, 1.5 mm apart, north row first."""

ARMS = "NESW"
PATHS = ("NE", "NS", "NW", "ES", "EW", "SW")
ARM_OF_PATH = np.array([[side in path for side in ARMS] for path in PATHS])
"""Which of the four arms (N, E, S, W) each path has: (6, 4) booleans."""

ARM_HALF = 8
"""Half the width of an arm's strip, in samples: 12 mm to each side."""
ARM_LENGTH = 11
"""Samples along an arm's strip, from 27 mm (outermost, first) to 12 mm from the centre."""
LOBES = np.r_[0:3, 2 * ARM_HALF - 2 : 2 * ARM_HALF + 1]
"""Columns of a strip that lie beside any line: its background."""


def _turned(block: NDArray[np.intp]) -> NDArray[np.intp]:
    """Index blocks of the same part on the N, E, S and W side, each seen with its own side up."""
    rows, columns = np.divmod(block, COUNT)
    blocks = []
    for _ in ARMS:
        blocks.append(rows * COUNT + columns)
        rows, columns = columns, COUNT - 1 - rows
    return np.stack(blocks)


def _block(rows: range, columns: range) -> NDArray[np.intp]:
    return np.array([[r * COUNT + c for c in columns] for r in rows], dtype=np.intp)


ARM_INDEX = _turned(_block(range(1, 1 + ARM_LENGTH), range(MIDDLE - ARM_HALF, MIDDLE + ARM_HALF + 1)))
"""(4, 11, 17): samples of the strip of each arm; row 0 is outermost, columns run clockwise across the arm."""

CORNER_SIZE = 15
CORNER_INDEX = _turned(_block(range(1, 1 + CORNER_SIZE), range(MIDDLE + 4, MIDDLE + 4 + CORNER_SIZE)))
"""(4, 15, 15): samples of the corners NE, ES, SW, NW, each turned as if it were NE."""

CORNER_OF_PATH = {"NE": 0, "ES": 1, "SW": 2, "NW": 3}


def covered_by_pieces(camera: Camera, poses: Array, sizes_mm: dict[str, float], pawn: Sequence[bool] | Bools) -> Bools:
    """Samples of each tile (T, 1521) that its door, or the pawn on it where `pawn` says so, hides from the camera."""
    tile = sizes_mm["tile_height"]
    position = camera.position_mm
    lean = (poses[:, :2] - position[:2]) / (position[2] - tile)
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    own = np.stack([cos * lean[:, 0] + sin * lean[:, 1], -sin * lean[:, 0] + cos * lean[:, 1]], axis=1)
    door = _capsules(own * (sizes_mm["door_height"] - tile), sizes_mm["door_diameter"] / 2 + 1.0)
    stone = _capsules(own * (sizes_mm["pawn_centre_height"] - tile), sizes_mm["pawn_radius"] + 1.2)
    return np.asarray(door | (stone & np.asarray(pawn, dtype=bool)[:, None]))


def _capsules(ends: Array, radius: float) -> Bools:
    """Grid samples within `radius` of the segment from the tile's centre to each end (T, 2): (T, 1521)."""
    points = GRID.points_mm.T
    square = np.maximum(np.sum(ends**2, axis=1, keepdims=True), 1e-9)
    along = np.clip((ends @ points) / square, 0.0, 1.0)
    distance = (points[0] - along * ends[:, :1]) ** 2 + (points[1] - along * ends[:, 1:]) ** 2
    return np.asarray(distance < radius * radius)
