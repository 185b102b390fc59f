"""The parts of a turning tile as sample indices: arms, corners between arms, and what door and pawn hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from vision.sampling import Bools, Floats, Stencil, square_stencil

STEP_MM = 2.0
COUNT = 29
SAMPLES = COUNT * COUNT
MIDDLE = COUNT // 2
GRID = square_stencil(STEP_MM, COUNT)
"""Samples of a whole tile: 29 x 29, 2 mm apart, north row first."""

PROBE_INDEX = np.arange(SAMPLES).reshape(COUNT, COUNT)[::2, ::2].ravel()
"""Every other sample of every other row (225), by which a change is noticed."""
PROBE = Stencil(GRID.points_mm[PROBE_INDEX])
PROBED = len(PROBE_INDEX)

ARMS = "NESW"
PATHS = ("NE", "NS", "NW", "ES", "EW", "SW")
ARM_OF_PATH = np.array([[side in path for side in ARMS] for path in PATHS])
"""Which of the four arms (N, E, S, W) each path has: (6, 4) booleans."""

ARM_HALF = 6
"""Half the width of an arm's strip, in samples: 12 mm to each side."""
ARM_LENGTH = 8
"""Samples along an arm's strip, from 26 mm (outermost, first) to 12 mm from the centre."""
LOBES = np.r_[0:2, 2 * ARM_HALF - 1 : 2 * ARM_HALF + 1]
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
"""(4, 8, 13): samples of the strip of each arm; row 0 is outermost, columns run clockwise across the arm."""

CORNER_SIZE = 10
CORNER_INDEX = _turned(_block(range(2, 2 + CORNER_SIZE), range(MIDDLE + 3, MIDDLE + 3 + CORNER_SIZE)))
"""(4, 10, 10): samples of the corners NE, ES, SW, NW (6 to 24 mm from both axes), each turned as if it were NE."""

CORNER_OF_PATH = np.array([0, -1, 3, 1, -1, 2])
"""Which corner lies between the arms of each path; -1 for the straight ones."""


def leans(camera: Camera, poses: Array, tile_height_mm: float) -> Array:
    """By how much a point 1 mm above each tile (T, 3) seems moved on it, in the tile's own frame: (T, 2) mm."""
    position = camera.position_mm
    lean = (poses[:, :2] - position[:2]) / max(float(position[2]) - tile_height_mm, 1.0)
    cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    return np.array([cos * lean[:, 0] + sin * lean[:, 1], -sin * lean[:, 0] + cos * lean[:, 1]]).T


def behind_doors(lean: Array, sizes_mm: Mapping[str, float], stencil: Stencil) -> Bools:
    """Samples of each tile (T, N) that its door hides from the camera."""
    ends = lean * (sizes_mm["door_height"] - sizes_mm["tile_height"])
    return _capsules(ends, [sizes_mm["door_diameter"] / 2 + 1.0], stencil)[0]


def behind_pawns(lean: Array, sizes_mm: Mapping[str, float], stencil: Stencil, *margins_mm: float) -> tuple[Bools, ...]:
    """Samples of each tile (T, N) that a pawn on its door hides from the camera, for each of these margins."""
    # A round stone shows its rim from somewhat above its middle.
    ends = lean * (sizes_mm["pawn_centre_height"] + sizes_mm["pawn_radius"] / 3 - sizes_mm["tile_height"])
    return _capsules(ends, [sizes_mm["pawn_radius"] + m for m in margins_mm], stencil)


def _capsules(ends: Array, radii: Sequence[float], stencil: Stencil) -> tuple[Bools, ...]:
    """Samples within each of the radii of the segment from the tile's centre to each end (T, 2)."""
    points: Floats = stencil.points_mm.T.astype(np.float32)
    tips: Floats = ends.astype(np.float32)
    square = np.maximum((tips * tips).sum(axis=1, keepdims=True), np.float32(1e-6))
    onto = tips @ points
    along = onto / square
    np.minimum(np.maximum(along, np.float32(0.0), out=along), np.float32(1.0), out=along)
    # The square of the distance, in place: points^2 - along * (2 * onto - along * square).
    onto *= np.float32(-2.0)
    onto += along * square
    onto *= along
    onto += (points * points).sum(axis=0)
    return tuple(onto < radius * radius for radius in radii)
