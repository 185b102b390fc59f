"""What a match says of players and figures: scores, shares, and whether a figure falls fairly, with the numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from companion.games.contract import Message
from companion.games.moogui.state import (
    IMMUNE,
    OUT,
    UNSURE,
    OrderThrow,
    Shield,
    State,
    Throw,
    ThrowSentinel,
    TieThrow,
    Turn,
)

K = TypeVar("K")
FEWEST = 5.0
"""Expected throws a face below which a chi-square says nothing."""


@dataclass(slots=True)
class Record:
    """How one player or one figure did.

    `games` played and `wins`; `falls` counts how throws came to rest (`1`.., `immune`, `out`), `scores` the powers that
    they showed, `shields` those with the shield up, `distances_mm` those of order throws.
    """

    games: int = 0
    wins: int = 0
    falls: Counter[str] = field(default_factory=Counter)
    scores: list[int] = field(default_factory=list)
    shields: int = 0
    distances_mm: list[float] = field(default_factory=list)

    @property
    def throws(self) -> int:
        """How often it was thrown and read."""
        return self.falls.total()

    @property
    def mean_score(self) -> float | None:
        """Mean power of the throws that showed one; None without any."""
        return sum(self.scores) / len(self.scores) if self.scores else None

    @property
    def mean_distance_mm(self) -> float | None:
        """Mean distance from the centre of order throws that were in; None without any."""
        return sum(self.distances_mm) / len(self.distances_mm) if self.distances_mm else None

    def share(self, reading: str) -> float:
        """Share of throws that came to rest so (`immune`, `out`, a face); 0 without throws."""
        return self.falls[reading] / self.throws if self.throws else 0.0


@dataclass(frozen=True, slots=True)
class Fairness:
    """A chi-square test that all faces of a figure are equally likely.

    `counts` of the faces in order, `expected` of each, `statistic`, `degrees` of freedom, and `p`, the probability of
    so uneven counts by chance (None: too few throws to say).
    """

    counts: tuple[int, ...]
    expected: float
    statistic: float
    degrees: int
    p: float | None


@dataclass(slots=True)
class Statistics:
    """Records by player (index) and by piece."""

    players: dict[int, Record] = field(default_factory=dict)
    figures: dict[str, Record] = field(default_factory=dict)


def gathered(steps: Iterable[tuple[State, Turn, State]]) -> Statistics:
    """The statistics of turns, each with the state before and after it."""
    found = Statistics()
    for before, turn, after in steps:
        for piece, reading in _thrown(before, turn):
            model = before.rule.model(piece)
            owner = before.owner(piece)
            for record in (_of(found.players, owner), _of(found.figures, piece)):
                record.falls[reading] += 1
                power = model.power(reading) if model is not None and reading not in (OUT, IMMUNE) else None
                if power is not None:
                    record.scores.append(power)
                record.shields += model is not None and model.shielded(reading)
        if isinstance(turn, OrderThrow) and before.game is not None:
            for who, far in turn.distances:
                if far is not None:
                    for record in (_of(found.players, who), _of(found.figures, before.game.character(who))):
                        record.distances_mm.append(far)
        if after.games > before.games and before.game is not None:
            for who, piece in before.game.lineup:
                _of(found.players, who).games += 1
                _of(found.figures, piece).games += 1
            winner = after.last[0] if after.last is not None else -1
            if winner >= 0:
                _of(found.players, winner).wins += 1
                _of(found.figures, before.game.character(winner)).wins += 1
    return found


def fairness(counts: Mapping[str, int], faces: int = 6) -> Fairness:
    """Whether the faces `1`..`faces` came up equally often; how a figure stood or lay out does not count."""
    told = tuple(counts.get(str(n), 0) for n in range(1, faces + 1))
    expected = sum(told) / faces
    if not expected:
        return Fairness(told, 0.0, 0.0, faces - 1, None)
    statistic = sum((n - expected) ** 2 for n in told) / expected
    p = chance_of(statistic, faces - 1) if expected >= FEWEST else None
    return Fairness(told, expected, statistic, faces - 1, p)


def report(steps: Iterable[tuple[State, Turn, State]]) -> tuple[Message, ...]:
    """The statistics in words: a line a player, a line a figure, and a line on how fairly each figure falls."""
    known = list(steps)
    found = gathered(known)
    lines = [
        Message("moogui.stat_player", (("who", f"#{who}"), *_values(record)))
        for who, record in sorted(found.players.items())
    ]
    for piece, record in sorted(found.figures.items()):
        lines.append(Message("moogui.stat_figure", (("who", piece), *_values(record))))
        model = known[0][0].rule.model(piece)
        fair = fairness(record.falls, len(model.powers) if model is not None else 6)
        values = (("who", piece), ("counts", ", ".join(map(str, fair.counts))))
        if fair.p is None:
            lines.append(Message("moogui.stat_few", values))
        else:
            told = (("expected", round(fair.expected, 1)), ("statistic", round(fair.statistic, 2)))
            percent = ("p", round(100 * fair.p, 1))
            lines.append(Message("moogui.stat_fair", (*values, *told, ("degrees", fair.degrees), percent)))
    return tuple(lines)


def _values(record: Record) -> tuple[tuple[str, str | int | float], ...]:
    shield = record.shields / record.throws if record.throws else 0.0
    score, far = record.mean_score, record.mean_distance_mm
    return (
        ("games", record.games),
        ("wins", record.wins),
        ("throws", record.throws),
        ("score", "-" if score is None else round(score, 1)),
        ("shield", round(100 * shield)),
        ("immune", round(100 * record.share(IMMUNE))),
        ("out", round(100 * record.share(OUT))),
        ("far", "-" if far is None else round(far)),
    )


def chance_of(statistic: float, degrees: int) -> float:
    """Probability that a chi-square variable of so many degrees of freedom is at least so large.

    The closed forms: a sum of Poisson terms for even degrees, the error function and a like sum for odd ones
    (Abramowitz and Stegun 26.4.4, 26.4.5).
    """
    x = max(statistic, 0.0)
    if degrees % 2 == 0:
        term, total = 1.0, 1.0
        for k in range(1, degrees // 2):
            term *= x / (2 * k)
            total += term
        return math.exp(-x / 2) * total
    root = math.sqrt(x)
    term, total = root, 0.0
    for k in range(1, (degrees - 1) // 2 + 1):
        total += term
        term *= x / (2 * k + 1)
    return math.erfc(root / math.sqrt(2)) + math.sqrt(2 / math.pi) * math.exp(-x / 2) * total


def _thrown(before: State, turn: Turn) -> list[tuple[str, str]]:
    """The figure that a turn threw and how it came to rest; those of an order throw all."""
    game = before.game
    if game is None:
        return []
    readings = dict(getattr(turn, "readings", ()))
    if isinstance(turn, OrderThrow):
        thrown = list(readings)
    elif isinstance(turn, Throw | ThrowSentinel):
        thrown = [turn.figure]
    elif isinstance(turn, TieThrow) or (isinstance(turn, Shield) and turn.again):
        thrown = [game.character(turn.player)]
    else:
        thrown = []
    return [(piece, readings[piece]) for piece in thrown if readings.get(piece, UNSURE) != UNSURE]


def _of(records: dict[K, Record], key: K) -> Record:
    return records.setdefault(key, Record())
