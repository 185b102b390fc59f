"""Simulated players of a secret match know their own hands: what they show at the end proves nothing against them."""

from __future__ import annotations

import random

import pytest

from companion.games.contract import Refusal, Setup
from companion.games.muggins.players import TablePlayers, illegal
from companion.games.muggins.rules import RULES


@pytest.mark.parametrize("players", [2, 3, 4])
def test_honest_players_are_accused_of_nothing(players: int) -> None:
    chance, choose = random.Random(players), TablePlayers()
    state = RULES.new(Setup(tuple("ABCD")[:players], {"hands": "secret"}))
    rounds = 0
    while rounds < 3 and RULES.outcome(state) is None:
        turn = choose(state, chance)
        after = RULES.apply(state, turn)
        assert not isinstance(after, Refusal), after
        if after.phase == "deal" and state.phase in ("show", "play"):
            rounds += 1
            assert RULES.findings(after) == ()
        state = after


def test_a_turn_taken_back_brings_its_tile_back() -> None:
    chance, choose = random.Random(4), TablePlayers()
    state = RULES.new(Setup(("A", "B"), {"hands": "secret"}, {"starter": 0}))
    states = [state]
    while len(states) < 6:
        after = RULES.apply(states[-1], choose(states[-1], chance))
        assert not isinstance(after, Refusal)
        states.append(after)
    again = choose(states[2], chance)
    assert not isinstance(RULES.apply(states[2], again), Refusal)


def test_planted_acts_break_the_rule_that_they_name() -> None:
    chance, choose = random.Random(5), TablePlayers()
    state = RULES.new(Setup(("A", "B"), {"hands": "secret"}, {"starter": 0}))
    rules = set()
    for _ in range(12):
        for _ in range(6):
            planted = illegal(state, chance)
            if planted is not None:
                changes, rule = planted
                found = RULES.explain(state, {**RULES.look(state), **changes})
                assert not found.stories and found.refusals[0].rule == rule
                rules.add(rule)
        after = RULES.apply(state, choose(state, chance))
        assert not isinstance(after, Refusal)
        state = after
        if state.phase != "play":
            break
    assert rules >= {"muggins.does_not_fit", "muggins.already_on_line", "muggins.one_a_turn"}
