"""A legal turn that lays an earlier position again: whoever moves a line back has made a turn, and taken none back."""

from __future__ import annotations

import random
from typing import Any

import pytest

from companion.games.contract import Setup
from companion.referee import Position, judge
from companion.registry import game
from companion.sight import sight_by_hand
from tests.companion.table import games

RULES = games("maulwurf")


def pushed_back() -> tuple[list[Any], Any]:
    """The states of a game of three up to a turn that leads to the look before the last one, and the state after it."""
    choose, chance = game("maulwurf").load_choose(), random.Random(1)
    states = [RULES.new(Setup(("A", "B", "C"), {o.name: o.default for o in RULES.options()}, None))]
    for _ in range(150):
        for turn in RULES.legal(states[-1]) if len(states) > 1 else ():
            after = RULES.apply(states[-1], turn)
            if RULES.look(after) == RULES.look(states[-2]):
                return states, after
        states.append(RULES.apply(states[-1], choose(states[-1], chance)))
    raise AssertionError("nobody can push a line back")


@pytest.mark.parametrize("presses", [0, 1])
def test_a_line_pushed_back_is_a_turn(presses: int) -> None:
    states, after = pushed_back()
    earlier = tuple((n, states[n]) for n in range(len(states) - 2, -1, -1))
    position = Position(states[-1], None, earlier, presses, done_expected=True)
    verdict = judge(RULES, position, sight_by_hand(RULES.look(after)))
    assert (verdict.kind, verdict.tale.kind) == ("accepted", "grow")
    assert [story.after for story in verdict.tale.stories] == [after]


def test_what_no_turn_leads_to_is_a_takeback() -> None:
    states, _ = pushed_back()
    step = next(
        n
        for n in range(1, len(states) - 1)
        if not RULES.explain(states[n], RULES.look(states[n - 1])).stories
        and RULES.look(states[n]) != RULES.look(states[n - 1])
    )
    earlier = tuple((n, states[n]) for n in range(step - 1, -1, -1))
    verdict = judge(RULES, Position(states[step], None, earlier), sight_by_hand(RULES.look(states[step - 1])))
    assert (verdict.kind, verdict.tale.kind, verdict.tale.number) == ("accepted", "takeback", step - 1)
