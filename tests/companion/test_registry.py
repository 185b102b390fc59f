"""Every game in the registry has the parts that it names, and they keep to their seams."""

from __future__ import annotations

import random

import pytest

from companion.games.contract import Refusal, Setup
from companion.registry import GAMES, UnknownGameError, game


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_parts_of_a_game_can_be_loaded_and_played(name: str) -> None:
    entry = game(name)
    rules, choose, chance = entry.load_rules(), entry.load_choose(), random.Random(1)
    assert rules.name == name
    options = {o.name: o.default for o in rules.options()}
    state = rules.new(Setup(tuple("ABCDEF")[: rules.min_players], options, entry.deal_start(chance)))
    for _ in range(20):
        if rules.outcome(state) is not None:
            break
        turn = choose(state, chance)
        assert rules.parse(rules.text(turn)) == turn
        after = rules.apply(state, turn)
        assert not isinstance(after, Refusal)
        state = after
    if entry.has_table:
        assert callable(entry.load_reader()) and callable(entry.load_table())


def test_a_part_that_does_not_exist_yet_is_named() -> None:
    without = next((e for e in GAMES.values() if not e.has_table), None)
    if without is None:
        pytest.skip("every game has its table")
    with pytest.raises(UnknownGameError, match=without.name):
        without.load_table()
    with pytest.raises(UnknownGameError, match="moguli"):
        game("nonsense")
