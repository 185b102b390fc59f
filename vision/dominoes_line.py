"""The line that dominoes form: its order, its two ends, and the tile newly laid against the picture before."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.reading import SURE_LEAD, Fact, Piece, Reading

Points = NDArray[np.float64]

JOINT = 0.22
"""Two tiles touch when their nearest contact points are nearer than this share of a tile's length."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Tiles `one` and `two` (indices of pieces) touch with these sides: "left", "right", or "middle" (a tile laid
    crosswise is touched at its long side's middle, and carries its value on both)."""

    one: int
    one_side: str
    two: int
    two_side: str
    gap: float


@dataclass(frozen=True, slots=True)
class Line:
    """Tiles in order (indices of pieces), each with the sides towards the line's start and towards its end, and how
    sure the order is: False when tiles touch in a way that allows another line."""

    order: tuple[int, ...]
    sides: tuple[tuple[str, str], ...]
    certain: bool


def line_facts(pieces: Sequence[Piece], seen: Callable[[int, int], bool] = lambda one, two: True) -> dict[str, Fact]:
    """Facts of the line: `line:order` (piece indices joined by ">"), `line:start` and `line:finish` (the open values).

    Empty when fewer than two tiles touch. A doubtful order or end has no lead. `seen(end, inner)` tells whether the
    table can be seen where a tile beyond the piece `end` would lie, in line with the piece `inner` next to it: where it
    cannot, neither the order nor this end is certain.
    """
    line = line_of(pieces)
    if line is None:
        return {}
    order = line.order
    ends = [seen(order[0], order[1]), seen(order[-1], order[-2])] if len(order) > 1 else [True, True]
    doubt = math.log(0.4) if not (line.certain and all(ends)) else math.log(1e-4)
    facts = {"line:order": Fact((">".join(map(str, order)), "?"), (math.log1p(-math.exp(doubt)), doubt))}
    for name, place, k, clear in (("start", 0, 0, ends[0]), ("finish", -1, 1, ends[1])):
        piece, side = pieces[order[place]], line.sides[place][k]
        fact = piece.facts["left" if side == "middle" else side]
        if not (line.certain and clear):
            fact = Fact(
                fact.values, tuple(x * 0.3 for x in fact.log_likelihoods), reason="unclear" if clear else "dark"
            )
        facts[f"line:{name}"] = fact
    return facts


def newly_laid(before: Reading, after: Reading) -> tuple[Piece, ...]:
    """The tiles of `after` that lie where none lay `before` (both readings in the same unit)."""
    old = [p for p in before.pieces if p.kind == "domino"]
    return tuple(
        p for p in after.pieces if p.kind == "domino" and all(math.dist(p.xy, o.xy) > 0.35 * length(p) for o in old)
    )


def line_of(pieces: Sequence[Piece]) -> Line | None:
    """The one line through touching tiles, longest first; None when no two tiles touch.

    Where several joints are possible (tiles beside each other at a bend) those whose values match are kept, since a
    line joins equal numbers; when the values are unsure or more than one line remains, it is not certain.
    """
    joints = joints_of(pieces)
    if not joints:
        return None
    chains = _chains(pieces, joints)
    if not chains:
        return None
    longest = max(len(c.order) for c in chains)
    best = [c for c in chains if len(c.order) == longest]
    matched = [c for c in best if _matches(pieces, c)]
    chosen = (matched or best)[0]
    alike = {c.order for c in (matched or best)} - {chosen.order, chosen.order[::-1]}
    touching = {i for j in joints for i in (j.one, j.two)}
    certain = bool(matched) and not alike and touching <= set(chosen.order)
    return Line(chosen.order, chosen.sides, certain)


def joints_of(pieces: Sequence[Piece]) -> list[Joint]:
    """Every way in which two tiles may be joined: end to end, end to a half's side at a bend, end to the middle."""
    tiles = [(i, p) for i, p in enumerate(pieces) if p.kind == "domino" and p.facts["face"].best == "up"]
    touching = {i: contacts(p) for i, p in tiles}
    points = {i: np.array([xy for _, xy in found]) for i, found in touching.items()}
    lengths = {i: length(p) for i, p in tiles}
    joints: list[Joint] = []
    for (i, a), (j, b) in itertools.combinations(tiles, 2):
        reach = (lengths[i] + lengths[j]) / 2
        if math.dist(a.xy, b.xy) > 1.25 * reach:
            continue
        gaps = np.linalg.norm(points[i][:, None] - points[j][None], axis=2) / reach
        ways = [
            Joint(i, touching[i][k][0], j, touching[j][m][0], float(gaps[k, m]))
            for k, m in zip(*np.nonzero(gaps < JOINT), strict=True)
            if not (touching[i][k][0] == touching[j][m][0] == "middle")
        ]
        nearest: dict[tuple[str, str], Joint] = {}
        for w in ways:
            key = (w.one_side, w.two_side)
            if key not in nearest or w.gap < nearest[key].gap:
                nearest[key] = w
        joints += nearest.values()
    return joints


def length(piece: Piece) -> float:
    """How long a tile is, in the unit of its outline."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = piece.outline
    return math.hypot(cx + dx - ax - bx, cy + dy - ay - by) / 2


def contacts(piece: Piece) -> list[tuple[str, Points]]:
    """Where a neighbour may touch: the middles of both ends, of the four half sides, of the two long sides."""
    q = np.array(piece.outline, np.float64)
    left, right = (q[0] + q[1]) / 2, (q[2] + q[3]) / 2
    low, high = (q[0] + q[3]) / 2, (q[1] + q[2]) / 2
    out = [("left", left), ("right", right), ("middle", low), ("middle", high)]
    for a, b in ((q[0], q[3]), (q[1], q[2])):
        out += [("left", a * 0.75 + b * 0.25), ("right", a * 0.25 + b * 0.75)]
    return out


def _value(piece: Piece, side: str) -> Fact:
    return piece.facts["left" if side == "middle" else side]


def _joins(pieces: Sequence[Piece], joint: Joint) -> bool:
    """True when both sides may show the same number: it is the best of each, or one of them is unsure."""
    one, two = _value(pieces[joint.one], joint.one_side), _value(pieces[joint.two], joint.two_side)
    if one.sure(SURE_LEAD) and two.sure(SURE_LEAD):
        return one.best == two.best
    return abs(one.log_likelihood(two.best) - one.log_likelihood(one.best)) < 5 or one.best == two.best


def _double(piece: Piece) -> bool:
    return piece.facts["left"].best == piece.facts["right"].best


def _chains(pieces: Sequence[Piece], joints: Sequence[Joint]) -> list[Line]:
    """All longest walks over joints, entering a tile by one side and leaving it by the other."""
    out: dict[int, list[tuple[str, int, str]]] = {}
    for j in joints:
        if not _joins(pieces, j):
            continue
        out.setdefault(j.one, []).append((j.one_side, j.two, j.two_side))
        out.setdefault(j.two, []).append((j.two_side, j.one, j.one_side))
    best: list[Line] = []
    exits = {(i, e): _exits(pieces[i], e) for i in out for e in ("left", "right", "middle")}

    def walk(order: list[int], sides: list[tuple[str, str]], entered: str) -> None:
        nonlocal best
        here = order[-1]
        for leave in exits[here, entered]:
            longest = len(best[0].order) if best else 0
            if len(order) > longest or (len(order) == longest and len(best) < 64):
                done = Line(tuple(order), (*sides, (entered, leave)), True)
                best = [done] if len(order) > longest else [*best, done]
            for side, other, other_side in out.get(here, []):
                if side == leave and other not in order:
                    walk([*order, other], [*sides, (entered, leave)], other_side)

    starts = sorted(out, key=lambda i: len({o for _, o, _ in out[i]}))
    for start in starts[:6]:
        for entered in ("left", "right", "middle"):
            if entered != "middle" or _double(pieces[start]):
                walk([start], [], entered)
    return best


def _exits(piece: Piece, entered: str) -> tuple[str, ...]:
    """By which sides a line that came in at `entered` may go on: a double may be left by any other side."""
    if _double(piece):
        return tuple(s for s in ("left", "right", "middle") if s != entered or s == "middle")
    if entered == "middle":
        return ()
    return ("right" if entered == "left" else "left",)


def _matches(pieces: Sequence[Piece], line: Line) -> bool:
    for (i, (_, leave)), (j, (enter, _)) in itertools.pairwise(zip(line.order, line.sides, strict=True)):
        if _value(pieces[i], leave).best != _value(pieces[j], enter).best:
            return False
    return len(line.order) > 1
