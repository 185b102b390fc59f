"""What is called unfinished: exactly the illegal looks that some further act makes legal."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion.games.contract import Look, Setup
from companion.games.moguli import RULES
from companion.games.moguli.board import NAMES
from companion.games.moguli.players import choose
from companion.games.moguli.start import deal
from companion.games.moguli.state import State
from tests.games.moguli_boards import at, explained, seen

TURNS = {"NE": ("ES", "SW", "NW"), "ES": ("SW", "NW", "NE"), "SW": ("NW", "NE", "ES"), "NW": ("NE", "ES", "SW")}
TURNS |= {"NS": ("EW",), "EW": ("NS",)}


@pytest.mark.parametrize(
    ("state", "changes", "unfinished"),
    [
        (at("a4", "b4,c7"), {"a3": "NS", "d5": "NS"}, True),  # then a4 passes under b4 and earns the bonus
        (at("a4,b4", "e7"), {"a3": "NS", "d5": "NS"}, False),  # nobody can pass under an opposing pawn
        (at("a4", "b4", locked="d5"), {"a3": "NS", "d5": "NS"}, False),  # one of them is locked
        (at("a4", "b4"), {"a4": "-", "e5": "1"}, False),  # no rotation joins two rows of straights
        (at("a4,b4", "e7", tiles={"b4": "S0"}), {"a4": "-", "e4": "1"}, True),  # b4 has still to be turned
        (at("a4,b4", "e7", tiles={"b4": "S0"}, locked="b4"), {"a4": "-", "e4": "1"}, False),  # and may not be
        (at("a4", "b4"), {"a4": "-"}, True),  # the pawn is in the hand, or has fallen
        (at("a4", "b4"), {"b4": "-"}, False),  # the other player's is no part of the turn
        (at("a4", "b4"), {"a3": "NS", "d5": "NS", "e5": "NS"}, False),
        (at("a4,a5", "b4"), {"a4": "-", "a5": "-", "c4": "1", "c5": "1"}, False),
    ],
)
def test_what_may_go_on(state: State, changes: dict[str, str], unfinished: bool) -> None:
    answer = explained(state, seen(state, **changes))
    assert answer.refusals and answer.unfinished is unfinished


def test_an_exchange_half_done_is_unfinished() -> None:
    state = at(
        "a1,b1,c1,d1,e1", "a7,b7,c7,d7,e7", tiles={"a1": "B0", "b1": "B0", "a3": "B1", "b3": "B1"}, more="setup=1"
    )
    half = {**RULES.look(state), "path:a1": "ES", "path:a3": "NE"}
    assert RULES.explain(state, half).unfinished
    assert not RULES.explain(state, {**half, "path:c4": "NS"}).unfinished


def _one_act_more(look: Look, before: Look) -> list[dict[str, str]]:
    """What one act could change of the facts that are as before."""
    acts = [
        {f"path:{n}": v} for n in NAMES if look[f"path:{n}"] == before[f"path:{n}"] for v in TURNS[look[f"path:{n}"]]
    ]
    bare = [n for n in NAMES if look[f"pawn:{n}"] == before[f"pawn:{n}"] == "-"]
    for name in NAMES:
        pawn = look[f"pawn:{name}"]
        if pawn != "-" and pawn == before[f"pawn:{name}"]:
            acts += [{f"pawn:{name}": "-", f"pawn:{end}": pawn} for end in bare]
    return acts


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), data=st.data())
def test_unfinished_is_what_one_act_more_makes_legal(seed: int, data: st.DataObject) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(("A", "B"), {}, deal(chance)))
    for _ in range(data.draw(st.integers(0, 14))):
        state = RULES.apply(state, choose(state, chance))
        assert isinstance(state, State)
        if state.over is not None:
            return
    before = RULES.look(state)
    look = dict(before)
    for name in data.draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True)):
        look[f"path:{name}"] = data.draw(st.sampled_from(TURNS[look[f"path:{name}"]]))
    if data.draw(st.booleans()):
        start = data.draw(st.sampled_from([n for n in NAMES if look[f"pawn:{n}"] != "-"]))
        end = data.draw(st.sampled_from([n for n in NAMES if look[f"pawn:{n}"] == "-"]))
        look[f"pawn:{start}"], look[f"pawn:{end}"] = "-", look[f"pawn:{start}"]
    answer = RULES.explain(state, look)
    if answer.stories:
        return
    further = any(RULES.explain(state, {**look, **act}).stories for act in _one_act_more(look, before))
    nothing = look == before  # two acts may be missing
    turned_only = [r.rule for r in answer.refusals] == ["moguli.rotation_ends_duty"]  # it can be turned on
    assert answer.unfinished == (further or nothing or turned_only)
