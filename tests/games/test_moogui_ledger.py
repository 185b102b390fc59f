"""Ten thousand competition games played out: no figure is created, lost or owned twice in any of them."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from companion.games.contract import Setup
from companion.games.moogui import RULES
from companion.games.moogui.players import PLAYERS
from companion.games.moogui.state import State

GAMES = 10_000
MOST_TURNS = 400
"""Inputs after which a match is left and another one begun."""


def audit(state: State, pieces: Counter[str]) -> None:
    """Every piece has exactly one owner at the table, and there are the same pieces as at the start."""
    assert Counter(piece for piece, _ in state.owners) == pieces
    assert all(0 <= owner < state.rule.players for _, owner in state.owners)


def play(games: int, seed: int) -> tuple[int, int]:
    """Plays matches until so many games have ended; the games and the figures that have changed hands."""
    ended = moved = 0
    chance = random.Random(seed)
    while ended < games:
        people = chance.randint(2, 5)
        options = {"mode": "competition", "order": chance.choice(["farthest_first", "nearest_first"])}
        state = RULES.new(Setup(tuple("x" * people), options))
        player = PLAYERS[chance.choice(["sensible", "on_paper", "random"])]
        pieces = Counter(piece for piece, _ in state.owners)
        for _ in range(MOST_TURNS):
            if RULES.outcome(state) is not None or ended >= games:
                break
            after = RULES.apply(state, player(state, chance))
            assert isinstance(after, State), after
            audit(after, pieces)
            before, now = dict(state.owners), dict(after.owners)
            changed = [piece for piece in pieces if before[piece] != now[piece]]
            if after.games > state.games:
                ended += 1
                moved += len(changed)
                winner, lost = after.last or (-1, ())
                assert set(changed) <= set(lost)  # a figure that the winner owned already does not change hands
                if winner < 0:
                    assert not changed
            else:
                assert not changed, "figures change hands only when a game ends"
            state = after
    return ended, moved


def test_the_ledger_adds_up_in_a_hundred_games() -> None:
    ended, moved = play(100, 1)
    assert ended == 100
    assert moved > 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_ledger_adds_up_in_ten_thousand_games() -> None:
    ended, moved = play(GAMES, 2)
    assert ended == GAMES
    assert moved > GAMES / 10
