"""Places of the tiles on a domino table: where one lay, where the next may lie, and whether one continues the line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.dominoes_line import JOINT, contacts, length
from vision.reading import Piece

SAME_PLACE = 0.35
"""A tile lies where one lay before when it is nearer than this share of its length."""

SAME_TURN_DEG = 25.0

GONE, GONE_SURELY, FADED = 8.0, 12.0, 3.0
"""Lead with which a place is bare whose ground can be seen again; and where the tile that lay there differed from the
ground so many times more."""

WAS_THERE, TOUCHES = 8.0, 5.0
"""What it says for a tile, in nats, that the table has agreed on one just there, and that it lies up against an open
end of the line: so few of the things and places that are none."""

BESIDE = 0.57
"""From one tile of a hand to the next, as a share of a tile's length, where they are pushed together."""

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Laid:
    """A tile of the line: where its middle is, the direction from its left half to its right one, its length; by
    how many grey levels it differs from the ground."""

    xy: tuple[float, float]
    angle_deg: float
    length: float
    value: str = ""
    apart: float = 0.0

    def gone(self, apart: float | None) -> float:
        """The lead with which it is gone where its place now differs from the ground by so many levels."""
        return GONE_SURELY if apart is not None and FADED * apart < self.apart else GONE


@dataclass(frozen=True, slots=True)
class Found:
    """A tile seen at a place of the line; `left` says whether its first half is the line's left one, `fits` how much
    its place alone says for a tile (nats)."""

    piece: Piece
    left: bool
    fits: float
    crosswise: bool = False


def nearest(pieces: Sequence[Piece], laid: Laid, used: set[int]) -> int | None:
    """Which of the tiles that are not used lies where one lay before; None where none does."""
    near = [
        (math.dist(p.xy, laid.xy), i)
        for i, p in enumerate(pieces)
        if i not in used and abs((p.angle_deg - laid.angle_deg + 90) % 180 - 90) < SAME_TURN_DEG
    ]
    return min(near)[1] if near and min(near)[0] < SAME_PLACE * laid.length else None


def next_places(end: Laid, inner: Laid | None) -> list[Laid]:
    """Where the next tile may lie at an end: straight on, crosswise, or to either side."""
    way = math.radians(end.angle_deg)
    along = np.array([math.cos(way), math.sin(way)])
    across = np.array([-along[1], along[0]])
    outs: list[tuple[Points, Points, float]] = []
    if inner is None:
        outs = [(s * v, w, half) for v, w, half in ((along, across, 0.5), (across, along, 0.25)) for s in (1.0, -1.0)]
    else:
        off = np.array(end.xy) - np.array(inner.xy)
        lengthwise = abs(float(off @ along)) >= abs(float(off @ across))
        v, w, half = (along, across, 0.5) if lengthwise else (across, along, 0.25)
        outs = [(v if float(off @ v) > 0 else -v, w, half)]
    places = []
    for out, side, half in outs:
        edge = np.array(end.xy) + out * half * end.length
        places += [(edge + out * end.length / 2, out), (edge + out * end.length / 4, side)]
        if half == 0.5:
            inside = edge - out * end.length / 4
            places += [(inside + s * side * end.length * 0.75, side) for s in (1.0, -1.0)]
    return [
        Laid((float(xy[0]), float(xy[1])), math.degrees(math.atan2(axis[1], axis[0])), end.length)
        for xy, axis in places
    ]


def neighbours(piece: Piece) -> list[Laid]:
    """A tile of a shown hand, and where others may lie beside it."""
    way, long = math.radians(piece.angle_deg + 90.0), length(piece)
    steps = (0.0, BESIDE * long, -BESIDE * long)
    x, y = piece.xy
    return [Laid((x + s * math.cos(way), y + s * math.sin(way)), piece.angle_deg, long) for s in steps]


def joined(end: Found, inner: Found | None, piece: Piece, right: bool) -> tuple[float, Found] | None:
    """The gap (share of a tile's length) and how a tile would continue the line at an end; None where it does not
    touch an open side of it."""
    reach = (length(end.piece) + length(piece)) / 2
    if math.dist(end.piece.xy, piece.xy) > 1.25 * reach:
        return None
    double = end.piece.facts["left"].best == end.piece.facts["right"].best
    outer = "right" if end.left == right else "left"
    ways = []
    for side, point in contacts(end.piece):
        if inner is None:
            pass
        elif not double:
            if side != outer:
                continue
        elif float(np.linalg.norm(point - np.array(inner.piece.xy))) < math.dist(end.piece.xy, inner.piece.xy) - 1:
            continue
        for other, touch in contacts(piece):
            if side == other == "middle":
                continue
            gap = float(np.linalg.norm(point - touch)) / reach
            if gap < JOINT:
                ways.append((gap, side, other))
    if not ways:
        return None
    gap, side, other = min(ways)
    if inner is None:  # the only tile so far: which end is meant follows from the side that is touched
        ahead = _ahead(end, side, piece)
        if ahead != right:
            return None
    if other == "middle":
        return gap, Found(piece, True, TOUCHES, crosswise=True)
    # The inner half is towards the line: its left half on the right side.
    return gap, Found(piece, (other == "left") == right, TOUCHES)


def _ahead(end: Found, side: str, piece: Piece) -> bool:
    """Whether a tile that touches the only one lies at its right end."""
    double = end.piece.facts["left"].best == end.piece.facts["right"].best
    if side == "middle" or double:
        return piece.xy[0] >= end.piece.xy[0]
    return (side == "right") == end.left
