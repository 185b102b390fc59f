"""A reading as costs: how badly each look of the table would explain what the camera reports."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from companion.games.contract import Look
from vision.reading import SURE_LEAD, Fact, Reading

FLOOR = 20.0
"""The most that one fact can say against a look (nats), so that one glitch never outvotes everything else."""

CHANGE = 4.0
"""Prior cost of each fact that changed: of a hundred facts, each with several values, a turn changes one to four."""

COVERED = "?"
"""What the camera says of a fact that something covers; no value of any fact."""

DOUBTFUL = "~"
"""Stands behind what the camera says of a fact where it is not sure of it; then by how many nats it prefers that."""

GLIMPSE = 0.9
"""The most that a fact which something covers can say for one value rather than another: with CHANGE less than what
decides anything, for what is seen of a covered thing misleads with great confidence."""

AGREES = 2.5
"""The same where it shows just what is expected, and clearly: few things that cover a changed place look so."""

BARE = ("-", "")
"""What games call a place on which nothing lies."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen, ready to be compared with looks.

    `costs`: fact key -> value -> nats by which the value explains the picture worse than the best value, 0..FLOOR; a
    value that is not listed costs FLOOR. `hidden`: facts about which the picture says nothing. `covered`: those of them
    that something hides, that lie askew or in a light in which nothing can be read, and whose picture has changed, with
    what little may be concluded: key -> value -> nats, 0..AGREES. `measured`: what the eyes tell besides the game's
    facts, each with one value (a distance, an uncertainty); rules may explain a look by it.
    """

    costs: Mapping[str, Mapping[str, float]]
    hidden: frozenset[str] = frozenset()
    covered: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    measured: Look = field(default_factory=dict)

    def cost(self, look: Look) -> float:
        """How badly `look` explains the sight, 0 for perfectly; hidden and unnamed facts cost nothing."""
        total = 0.0
        for key, by_value in self.costs.items():
            value = look.get(key)
            if value is not None:
                total += by_value.get(value, FLOOR)
        return total

    def cost_of(self, key: str, value: str) -> float:
        """What one fact says against one value."""
        by_value = self.costs.get(key)
        return 0.0 if by_value is None else by_value.get(value, FLOOR)

    def opened(self) -> Sight:
        """The same sight with every covered fact taken for what it could be, instead of for what it was."""
        return Sight({**self.costs, **self.covered}, self.hidden - self.covered.keys(), measured=self.measured)

    def without(self, keys: Collection[str]) -> Sight:
        """The same sight with nothing concluded about these facts."""
        costs, covered = ({k: v for k, v in part.items() if k not in keys} for part in (self.costs, self.covered))
        return Sight(costs, self.hidden | frozenset(keys), covered, self.measured)


def sight_of(reading: Reading, keys: Look) -> Sight:
    """The sight of a reading, as far as it is about `keys` (the facts that the game knows)."""
    costs: dict[str, dict[str, float]] = {}
    covered: dict[str, dict[str, float]] = {}
    hidden = set()
    for key in keys:
        fact = reading.facts.get(key)
        if fact is None:
            hidden.add(key)
            continue
        peak = max(fact.log_likelihoods)
        if fact.blank:
            hidden.add(key)
            if key in reading.still or not (fact.hidden or fact.reason):
                continue
            # A bare place proves nothing: a piece may lie beside it.
            agrees = fact.best == keys[key] and fact.best not in BARE and fact.lead >= SURE_LEAD
            shown = zip(fact.values, fact.log_likelihoods, strict=True)
            covered[key] = {v: min(AGREES if agrees else GLIMPSE, (peak - x) / 4.0) for v, x in shown}
            continue
        costs[key] = {v: min(FLOOR, peak - x) for v, x in zip(fact.values, fact.log_likelihoods, strict=True)}
    others = {k: f.best for k, f in reading.facts.items() if k not in keys and len(f.values) == 1 and not f.hidden}
    return Sight(costs, frozenset(hidden), covered, others)


def said_by(fact: Fact) -> str:
    """What the camera says of a fact: COVERED, or its best value, marked where it is not sure of that."""
    return COVERED if fact.hidden else marked(fact.best, fact.lead)


def marked(value: str, lead: float) -> str:
    """A value as the camera says it that leads by so many nats."""
    return value if lead >= SURE_LEAD else f"{value}{DOUBTFUL}{lead:.1f}"


def plain(said: str) -> str:
    """What the camera says, whether doubtfully or not."""
    return said.partition(DOUBTFUL)[0]


def lead_of(said: str) -> float:
    """By how many nats the camera preferred what it said; infinite where it was sure, or did not tell."""
    lead = said.partition(DOUBTFUL)[2]
    return float(lead) if lead else math.inf


def sight_by_hand(look: Look) -> Sight:
    """The sight of a table that a person has described: everything is certain."""
    return Sight({key: {value: 0.0} for key, value in look.items()})


def likely_looks(
    sight: Sight, expected: Look, limit: int, beyond: float, change: float = CHANGE
) -> list[tuple[float, dict[str, str]]]:
    """The likeliest looks of the whole table, best first: (cost, look) pairs, at most `limit`.

    A look's cost is what the sight says against it plus `change` for every fact that differs from `expected`; hidden
    facts keep their expected value. Looks that cost more than `beyond` above the best are left out.
    """
    best = dict(expected)
    total = 0.0
    flips: list[tuple[float, str, str]] = []
    for key, by_value in sight.costs.items():
        now = expected[key]
        ranked = sorted((c + (change if v != now else 0.0), v != now, v) for v, c in by_value.items())
        if now not in by_value:
            ranked = sorted([*ranked, (FLOOR, False, now)])
        least = ranked[0][0]
        best[key] = ranked[0][2]
        total += least
        flips += [(c - least, key, v) for c, _, v in ranked[1:] if c - least <= beyond]
    flips.sort()
    return [(total + extra, {**best, **chosen}) for extra, chosen in _cheapest_subsets(flips, limit, beyond)]


def _cheapest_subsets(
    flips: list[tuple[float, str, str]], limit: int, beyond: float
) -> list[tuple[float, dict[str, str]]]:
    """The cheapest sets of flips (sorted by cost) with at most one flip a fact, the empty set first."""
    found: list[tuple[float, dict[str, str]]] = [(0.0, {})]
    heap: list[tuple[float, int, tuple[int, ...]]] = [(flips[0][0], 1, (0,))] if flips else []
    while heap and len(found) < limit:
        cost, size, chosen = heapq.heappop(heap)
        if cost > beyond:
            break
        after = chosen[-1] + 1
        several = after < len(flips)
        if len({flips[i][1] for i in chosen}) == size:
            found.append((cost, {flips[i][1]: flips[i][2] for i in chosen}))
            if several:  # what has two flips of one fact can only be mended, not grow
                heapq.heappush(heap, (cost + flips[after][0], size + 1, (*chosen, after)))
        if several:
            heapq.heappush(heap, (cost - flips[after - 1][0] + flips[after][0], size, (*chosen[:-1], after)))
    return found
