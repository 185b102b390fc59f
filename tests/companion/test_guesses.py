"""An illegal table is named for what is seen of it, not asked about for what nothing shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from companion.games.contract import Setup
from companion.referee import Position, judge
from companion.sight import Sight
from tests.companion.table import games

RULES = games("moogh")
OFF_BOARD = ("top", "dead", "grab:LF", "grab:RF")


def holding() -> Any:
    """Red holds on to the beast; his cube stands on no cell, and a camera sees no more than that."""
    state = RULES.new(Setup(("Ada", "Bea"), {}, None))
    men = tuple(replace(man, at="grab:LF") if man.name == "red" else man for man in state.men)
    return replace(state, men=men)


def sight_of(look: Mapping[str, str], **costs: Mapping[str, float]) -> Sight:
    seen = {key: {value: 0.0} for key, value in look.items()}
    return Sight({**seen, "cube:red": {**dict.fromkeys(OFF_BOARD, 0.0), "7,1": 18.0}, **costs})


def test_what_is_illegal_is_named_though_something_else_cannot_be_told_apart() -> None:
    state = holding()
    verdict = judge(RULES, Position(state), sight_of({**RULES.look(state), "die:health": "2"}))
    assert verdict.kind == "illegal"
    assert {k: v for k, v in verdict.tale.look.items() if RULES.look(state)[k] != v} == {"die:health": "2"}


def test_what_is_seen_besides_is_still_asked_about() -> None:
    state = holding()
    look = {**RULES.look(state), "die:health": "2"}
    where = RULES.look(state)["cube:green"]
    verdict = judge(RULES, Position(state), sight_of(look, **{"cube:green": {where: 4.0, "7,3": 0.0}}))
    assert verdict.kind == "unsure"
    assert {tale.look["cube:green"] for tale in verdict.rivals} == {where, "7,3"}
