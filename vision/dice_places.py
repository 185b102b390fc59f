"""Which of the places that were judged are dice: by their sizes, their outlines, and what lies in what."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.pips import Floats, Found, log_softmax, thinned

COCKED, NONE = 6, 7
"""The judge's classes after the values 1..6."""
EVEN, LIKELY, PLAIN, CLEAR = (math.log(p) for p in (0.5, 0.7, 0.95, 0.98))
"""Log-probabilities from which something is more likely than not, and plainer and plainer."""
PIP_SHARE = 0.3
"""No pip is larger than this share of its die's box."""
PART, ASIDE = (0.45, 0.8), 0.15
"""Sides of a heap's dice in sides of the heap, and how far at least from its middle they lie."""
USUAL, APART, MOST_OVERLOOKED = 0.35, (0.72, 1.5), 4
"""A die that was overlooked is of the usual size (natural log), at such distances from the nearest (usual sides); no
more places are looked at."""
BARE = 8.0
"""A place without an outline is no die, by this much (natural log odds)."""
ODD_FROM, ODD_RATE, ODD_AT_MOST = 0.75, 6.0, 8.0
"""A place larger or smaller than the usual die by more than the first (natural log of sides; dice of one game differ by
a half) is no die, by the second (natural log odds a unit); never by more than the third."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the judge says of one place: log-probabilities of the values 1..6, leaning, no die; the corrected box; and
    the upright edge from base to top in units of the box's side, in picture axes."""

    place: Found
    logs: Floats
    up: tuple[float, float]
    alone: bool = False
    """Whether it lies alone on plain floor."""


def sized(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts with what their size says: dice that lie together are of about one size, and what is several times
    smaller or larger than the clear ones is rather a pip, a print or a knob."""
    clear = [v.place.side for v in verdicts if v.logs[:6].max() > CLEAR]
    if len(clear) < 2:
        return list(verdicts)
    usual = float(np.median(clear))
    return [of_size(v, usual) for v in verdicts]


def of_size(verdict: Verdict, usual_px: float) -> Verdict:
    """The verdict with what its size says where dice are usually that large."""
    logs = verdict.logs.copy()
    logs[NONE] += min(max(abs(math.log(verdict.place.side / usual_px)) - ODD_FROM, 0.0) * ODD_RATE, ODD_AT_MOST)
    return replace(verdict, logs=log_softmax(logs))


def bare(verdict: Verdict) -> Verdict:
    """The verdict on a place without an outline: pips alone make no die."""
    logs = verdict.logs.copy()
    logs[NONE] += BARE
    return replace(verdict, logs=log_softmax(logs))


def within(place: Found, verdicts: Sequence[Verdict]) -> bool:
    """True for a place on a die whose value is already clear: a pip, a corner, or the same die again. A smaller die
    aside of its middle may show that it is a heap."""
    return any(
        _off(place, v.place) < 0.45 * v.place.side
        and v.logs[:6].max() > CLEAR
        and not (PART[0] < place.side / v.place.side < PART[1] and _off(place, v.place) > ASIDE * v.place.side)
        for v in verdicts
    )


def overlooked(faint: Floats, verdicts: Sequence[Verdict]) -> list[Found]:
    """Of places (n, 5) where the finder sees little those where a die of the usual size would touch two others: dice
    that others touch on all sides have hardly any outline."""
    dice = np.array([(v.place.cx, v.place.cy) for v in verdicts if v.logs[NONE] < EVEN])
    clear = [v.place.side for v in verdicts if v.logs[:6].max() > CLEAR]
    if len(clear) < 2:
        return []
    usual = float(np.median(clear))
    fits = faint[np.abs(np.log((faint[:, 2] + faint[:, 3]) / 2 / usual)) < USUAL]
    far = np.linalg.norm(fits[:, None, :2] - dice, axis=2) / usual
    near = fits[(far.min(axis=1, initial=np.inf) > APART[0]) & (np.count_nonzero(far < APART[1], axis=1) > 1)]
    return thinned([Found(*row) for row in near.tolist()], 0.45, 1.8)[:MOST_OVERLOOKED]


def apart(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The likeliest dice of those that lie on each other.

    No die lies in another: what holds a die that shows two pips or more is no die but a tray or a heap; what then still
    lies on a much larger die and looks like an ace is one of its pips.
    """
    possible = [v for v in verdicts if v.logs[NONE] < EVEN]
    heaps = [v for v in possible if any(_heap(v, k) for k in possible) or _pair(v, possible)]
    left = [v for v in verdicts if not any(v is h for h in heaps)]
    dice = [v for v in left if v.logs[NONE] < EVEN]
    kept: list[Verdict] = []
    for v in sorted(left, key=lambda v: float(v.logs[NONE])):
        pip = any(_holds(k.place, v.place) for k in dice)
        if not pip and not any(_same(v.place, k.place) for k in kept):
            kept.append(v)
    return kept


def _heap(large: Verdict, small: Verdict) -> bool:
    """True when the small one is a die of two pips or more and lies in the large one, so that this is none. A pip with
    its gleam may look like a two: what is no larger than a pip of a likely die must plainly be one."""
    pip = small.place.side < PIP_SHARE * large.place.side and large.logs[:6].max() > EVEN
    two, more = small.logs[1] > (PLAIN if pip else LIKELY), small.logs[2:6].max() > LIKELY
    return _holds(large.place, small.place) and bool(two or more)


def _pair(large: Verdict, possible: Sequence[Verdict]) -> bool:
    """True when two plain dice beside each other lie in the large one, which is a heap then."""
    parts = [
        v.place
        for v in possible
        if v.logs[:6].max() > PLAIN
        and PART[0] < v.place.side / large.place.side < PART[1]
        and _off(v.place, large.place) < 0.5 * large.place.side
    ]
    return any(_off(a, b) > 0.3 * (a.side + b.side) for a, b in itertools.combinations(parts, 2))


def _holds(large: Found, small: Found) -> bool:
    """True when the small place lies in the large one and is less than half its size."""
    reach = 0.5 * large.side
    return small.side < 0.5 * large.side and max(abs(small.cx - large.cx), abs(small.cy - large.cy)) < reach


def _same(one: Found, two: Found) -> bool:
    """True for two places of about one size whose middles are nearer than those of touching dice can be."""
    return _off(one, two) < 0.42 * max(one.side, two.side)


def _off(one: Found, two: Found) -> float:
    return math.hypot(one.cx - two.cx, one.cy - two.cy)
