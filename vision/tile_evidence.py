"""What is known of the tiles of one picture: one row a tile, so that the rows of some are replaced in one go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from vision.reading import SURE_LEAD
from vision.sampling import Bools, Indices
from vision.tile_gate import BLOCKS
from vision.tile_layout import PROBED
from vision.tile_view import Maps

Evidence = NDArray[np.void]
"""An array of `ROW`, (T,)."""

ROW = np.dtype(
    [
        ("pose", "f8", 3),
        ("paths", "f8", 6),
        ("triangles", "f8", 2),
        ("pawns", "f8", 3),
        ("pawn_colour", "f8", 3),
        ("inside", "f8"),
        ("spots", "i2", (PROBED, 2)),
        ("parts", "u2", PROBED),
        ("probe", "u1", (PROBED, 3)),
        ("tolerance", "u1", PROBED),
        ("coloured", "?", (BLOCKS, BLOCKS)),
        ("dark", "?", (BLOCKS, BLOCKS)),
        ("clear", "?"),
        ("certain", "?"),
        ("pawn_seen", "?"),
        ("behind", "?"),
        ("askew", "?"),
        ("loose", "?"),
        ("reason", "u1"),
    ],
    align=True,
)
"""A tile's pose (mm, mm, rad); log-likelihoods of its path, triangle and pawn, whether the path's lead is `clear`, and
whether the pawn's is too (`certain`); the opponent log colour above its door, and whether all of that is in the
picture; the share of the tile inside the picture; the 8-bit colours of the PROBE, where it is in the picture as
cv2.remap takes it (`spots`, `parts`), and by how many levels each sample may vary unchanged (`tolerance`); foreign
blocks, coloured and dark; whether something lies over the tile (`behind`), whether it lies too far off (`askew`) or a
pawn may lie on it beside its door (`loose`), and which of the REASONS is wrong with the light on it."""

_BYTES = np.dtype((np.void, ROW.itemsize))


def rows_of(count: int, **fields: Any) -> Evidence:
    """The evidence of so many tiles with these fields (T, ...); those that are not named are zero."""
    rows = np.zeros(count, ROW)
    for name, values in fields.items():
        rows[name] = values
    rows["clear"] = lead(rows["paths"]) >= SURE_LEAD
    rows["certain"] = rows["clear"] & (lead(rows["pawns"]) >= SURE_LEAD)
    return rows


def moved(whole: Evidence, maps: Maps) -> Evidence:
    """A copy of the evidence with the probes elsewhere in the picture."""
    rows = whole.view(_BYTES).copy().view(ROW)
    rows["spots"], rows["parts"] = maps
    return np.asarray(rows)


def merged(whole: Evidence, part: Evidence, which: Indices) -> Evidence:
    """A copy of all tiles' evidence with that of the tiles `which` replaced."""
    # As mere bytes, which numpy copies at once instead of field by field.
    rows = whole.view(_BYTES).copy()
    rows[which] = part.view(_BYTES)
    return rows.view(ROW)


def some_of(whole: Evidence, which: Indices | Bools) -> Evidence:
    """A copy of the evidence of some of the tiles."""
    return np.asarray(whole.view(_BYTES)[which].view(ROW))


def lead(log_likelihoods: Array) -> Array:
    """Best minus second best along the last axis."""
    top = np.partition(log_likelihoods, -2, axis=-1)
    return np.asarray(top[..., -1] - top[..., -2])
