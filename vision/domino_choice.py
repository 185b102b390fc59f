"""Places that may hold a domino, and which of them can at once: no tile lies in another, all are of one size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Camera
from vision.pips import Floats

FACE_DOWN, OTHER = 7, 8
"""The judge's classes after the values 0..6."""
THICK_MM = 8.0
LIKELY = 0.9
AREA_SPREAD, AREA_SPREAD_PX = math.log(1.5), math.log(2.6)
"""How far a tile's face may be from the usual size (natural log of areas): on the table, and in a picture of unknown
perspective. What is a quarter of it, a blank half taken for a tile, never passes."""
QUARTER_SPREAD = math.log(1.6)
SLACK = 1.2
"""How much further off (natural log of areas) a face may seem to be before its corners are known exactly."""
REACH = 0.75
"""No point of a face is further from its middle than this many lengths, even where a slant shortens it by half."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Where a tile may lie: its upper face's corners (4, 2) px (left and right of the first half's end, then of the
    second's, going round) and the probability that a tile lies exactly so.

    From these: the middle of the upper face and its length in px, and its direction in the picture from the first half
    to the second, clockwise from +x. They are asked for thousands of times a picture and so are worked out once.
    """

    quad: Floats
    tile: float
    middle: tuple[float, float] = field(init=False)
    length: float = field(init=False)
    angle_deg: float = field(init=False)

    def __post_init__(self) -> None:
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = self.quad.tolist()
        x, y = cx + dx - ax - bx, cy + dy - ay - by
        object.__setattr__(self, "middle", ((ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4))
        object.__setattr__(self, "length", math.hypot(x, y) / 2)
        object.__setattr__(self, "angle_deg", math.degrees(math.atan2(y, x)))


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """A tile and, for each half, the log-probabilities of 0..6, face down, something else."""

    spot: Spot
    halves: Floats
    clear: bool = False
    """Whether it was clear at a glance."""


def tile_chance(verdict: Verdict) -> float:
    """Probability that a tile lies exactly there: what the squarer and both halves say together."""
    other = np.exp(verdict.halves[:, OTHER].astype(np.float64))
    return float(verdict.spot.tile * (1 - other[0]) * (1 - other[1]))


def alike(verdicts: Sequence[Verdict], camera: Camera | None) -> list[Verdict]:
    """Those as large as the tiles of their set are: near the median area of the likely ones that show pips."""
    spread = AREA_SPREAD_PX if camera is None else AREA_SPREAD
    return [v for v, off in zip(verdicts, _off_size(verdicts, camera), strict=True) if abs(off) < spread]


def wholes(verdicts: Sequence[Verdict]) -> list[tuple[float, float, float, float, float]]:
    """Places (cx, cy, length, angle in degrees, score) of the tiles of which only a half was taken for one.

    A blank half is twice as wide as long, as a tile is; it has a quarter of a tile's area. The other half lies on
    either of its long sides.
    """
    places = []
    for v, off in zip(verdicts, _off_size(verdicts, None), strict=True):
        if abs(off + math.log(4)) < QUARTER_SPREAD and not _pips(v):
            s = v.spot
            for turn in (90.0, -90.0):
                angle = math.radians(s.angle_deg + turn)
                step = s.length / 4
                x, y = s.middle[0] + step * math.cos(angle), s.middle[1] + step * math.sin(angle)
                places.append((x, y, 2 * s.length, s.angle_deg + turn, s.tile))
    return places


def _off_size(verdicts: Sequence[Verdict], camera: Camera | None) -> list[float]:
    """Natural log of each face's area over the usual one; zeros where fewer than two likely ones show pips.

    Areas, since a slant shortens a face by as much whichever way it lies.
    """
    quads = [v.spot.quad.astype(np.float64) for v in verdicts]
    if camera is not None:
        quads = [camera.to_plane(q, THICK_MM) for q in quads]
    areas = [math.log(max(_area(q), 1e-6)) for q in quads]
    likely = [a for v, a in zip(verdicts, areas, strict=True) if tile_chance(v) > LIKELY and _pips(v)]
    usual = float(np.median(likely)) if len(likely) > 1 else math.nan
    return [0.0 if math.isnan(usual) else a - usual for a in areas]


def sizes(spots: Sequence[Spot], clear: Sequence[Verdict]) -> list[str]:
    """Of each spot whether it is of the size of the clear tiles ("whole"), of their halves' ("half"), or of neither
    (""), with some slack; all are "whole" where fewer than two clear tiles show pips."""
    areas = [_log_area(v.spot) for v in clear if _pips(v)]
    if len(areas) < 2:
        return ["whole"] * len(spots)
    usual = float(np.median(areas))
    offs = [_log_area(s) - usual for s in spots]
    likes = [abs(off) < SLACK * AREA_SPREAD_PX for off in offs]
    parts = [abs(off + math.log(4)) < SLACK * QUARTER_SPREAD for off in offs]
    return ["whole" if w else "half" if h else "" for w, h in zip(likes, parts, strict=True)]


def _log_area(spot: Spot) -> float:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = spot.quad.tolist()
    return math.log(max(abs((cx - ax) * (dy - by) - (cy - ay) * (dx - bx)) / 2, 1e-6))


def _pips(verdict: Verdict) -> bool:
    return any(0 < int(k) < FACE_DOWN for k in verdict.halves.argmax(axis=1))


def _area(quad: NDArray[np.float64]) -> float:
    one, two = quad[2] - quad[0], quad[3] - quad[1]
    return abs(float(one[0] * two[1] - one[1] * two[0])) / 2


def apart(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those that may all be there at once, since no tile lies in another: the set with the greatest sum of log odds.

    Equal halves that touch look much like a tile of their own; among the tiles of a line such ghosts are outnumbered.
    """
    clash: list[set[int]] = [set() for _ in verdicts]
    for (i, v), (j, w) in itertools.combinations(enumerate(verdicts), 2):
        if overlap(v.spot, w.spot):
            clash[i].add(j)
            clash[j].add(i)
    chances = [min(max(tile_chance(v), 1e-3), 0.998) for v in verdicts]
    weight = [math.log(c / (1 - c)) + 3.0 for c in chances]
    left, kept = set(range(len(verdicts))), []
    while left:
        group, edge = set(), {min(left)}
        while edge:
            group |= edge
            edge = set().union(*(clash[i] for i in edge)) - group
        kept += _heaviest(frozenset(group), clash, weight, {})
        left -= group
    return [verdicts[i] for i in sorted(kept, key=lambda i: -weight[i])]


def overlap(one: Spot, two: Spot) -> bool:
    """True when the two faces share more than a third of half a tile."""
    if math.dist(one.middle, two.middle) > REACH * (one.length + two.length):
        return False
    shared = cv2.intersectConvexConvex(cv2.convexHull(one.quad), cv2.convexHull(two.quad))[0]
    return bool(shared > 0.08 * min(one.length, two.length) ** 2)


def _heaviest(
    group: frozenset[int],
    clash: Sequence[set[int]],
    weight: Sequence[float],
    known: dict[frozenset[int], list[int]],
) -> list[int]:
    """The heaviest subset of `group` without a clash: exact, by branching; greedy once that would take too long."""
    if not group:
        return []
    if group in known:
        return known[group]
    busiest = max(group, key=lambda i: (len(clash[i] & group), weight[i]))
    if not clash[busiest] & group:
        return list(group)
    if len(known) > 3000:
        busiest = max(group, key=lambda i: weight[i])
        return [busiest, *_heaviest(group - clash[busiest] - {busiest}, clash, weight, known)]
    taken = [busiest, *_heaviest(group - clash[busiest] - {busiest}, clash, weight, known)]
    passed = _heaviest(group - {busiest}, clash, weight, known)
    best = max(taken, passed, key=lambda c: sum(weight[i] for i in c))
    known[group] = best
    return best
