"""Statistics of a match: what was thrown is counted once; the chi-square is the textbook's."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from companion.games.contract import Setup
from companion.games.moogui import RULES
from companion.games.moogui.players import choose
from companion.games.moogui.state import State, Turn
from companion.games.moogui.statistics import chance_of, fairness, gathered


def steps(*lines: str) -> list[tuple[State, Turn, State]]:
    state = RULES.new(Setup(("Ada", "Bea")))
    found = []
    for line in lines:
        turn = RULES.parse(line)
        after = RULES.apply(state, turn)
        assert isinstance(after, State), after
        found.append((state, turn, after))
        state = after
    return found


def test_a_game_is_counted_by_player_and_figure() -> None:
    found = gathered(
        steps(
            "start p1=ari p2=bruma",
            "order p1=210 p2=100 ~8",
            "throw p1 ari ari=4",
            "end p1",
            "throw p2 bruma ari=out bruma=5",
            "end p2",
        )
    )
    ada, bea = found.players[0], found.players[1]
    assert (ada.games, ada.wins, bea.games, bea.wins) == (1, 0, 1, 1)
    assert (ada.falls, ada.mean_score, ada.mean_distance_mm) == (Counter({"4": 1}), 40.0, 210.0)
    assert (bea.falls, bea.mean_score, bea.share("5")) == (Counter({"5": 1}), 50.0, 1.0)
    assert found.figures["ari"].throws == 1  # that it was knocked out was no throw of its own


def test_shares_and_shields() -> None:
    found = gathered(
        steps(
            "start p1=ari p2=bruma",
            "order p1=210 p2=out ~8",
            "throw p2 bruma bruma=out",
            "end p2",
            "throw p1 ari ari=6",
            "end p1",
            "shield p1 again ari=immune",
        )
    )
    ari = found.figures["ari"]
    assert (ari.throws, ari.shields, ari.share("immune"), ari.mean_score) == (2, 1, 0.5, None)
    assert found.figures["bruma"].share("out") == 1.0
    assert found.figures["bruma"].mean_distance_mm is None


@pytest.mark.parametrize(
    ("statistic", "degrees", "p"),
    # Critical values as printed in tables of the chi-square distribution.
    [(11.070, 5, 0.05), (15.086, 5, 0.01), (1.145, 5, 0.95), (9.488, 4, 0.05), (3.841, 1, 0.05), (5.991, 2, 0.05)],
)
def test_the_chi_square_is_the_tables(statistic: float, degrees: int, p: float) -> None:
    assert chance_of(statistic, degrees) == pytest.approx(p, abs=2e-4)


def test_a_loaded_figure_is_found_a_fair_one_is_not_and_few_throws_say_nothing() -> None:
    loaded = fairness({"1": 40, "2": 10, "3": 12, "4": 9, "5": 11, "6": 8, "out": 50})
    assert loaded.counts == (40, 10, 12, 9, 11, 8)
    assert loaded.p is not None and loaded.p < 1e-6
    fair = fairness({"1": 16, "2": 14, "3": 15, "4": 17, "5": 13, "6": 15})
    assert fair.p is not None and fair.p > 0.9
    assert fairness({"1": 3, "2": 1}).p is None
    assert fairness({}).p is None


def test_every_throw_of_played_matches_is_counted() -> None:
    chance, total, found = random.Random(3), 0, []
    state = RULES.new(Setup(("Ada", "Bea", "Cleo"), {"mode": "competition"}))
    for _ in range(120):
        if RULES.outcome(state) is not None:
            break
        turn = choose(state, chance)
        after = RULES.apply(state, turn)
        assert isinstance(after, State)
        found.append((state, turn, after))
        total += RULES.reveals(state, turn) * (len(turn.readings) if RULES.text(turn).startswith("order") else 1)  # type: ignore[union-attr]
        state = after
    statistics = gathered(found)
    assert sum(r.throws for r in statistics.figures.values()) == total
    assert sum(r.throws for r in statistics.players.values()) == total
    assert sum(r.wins for r in statistics.players.values()) <= state.games
