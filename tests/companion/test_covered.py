"""What something covers never becomes a turn by itself: held, named, asked; and turns missed altogether."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.evidence import Seen
from companion.referee import separate_changes
from companion.sight import likely_looks, sight_of
from companion.step import step
from tests.companion.table import CAMERA, TestTable, reading_of
from tests.games.moguli_boards import at, seen


def _keys(table: TestTable, *cells: str) -> list[str]:
    return [key for key in table.look() if key.partition(":")[2] in cells]


def _rotated_cell(table: TestTable) -> str:
    return table.texts("R")[0].split()[1][:2]


def _ended_unseen() -> tuple[TestTable, Any, dict[str, str], str]:
    """A table at which a tile was turned and the turn ended before any picture; the turn, the look before, the cell."""
    table = TestTable(seed=6, done_expected=True)
    table.opening()
    player = table.rules.to_act(table.state).players[0]
    before, cell = table.look(), _rotated_cell(table)
    turn = table.turn(table.texts("R")[0])
    table.done(player)
    return table, turn, before, cell


def _answer_with(table: TestTable, turn: Any) -> None:
    """Somebody gives the open question the true answer, which it must offer."""
    question = table.match.question
    assert question is not None
    chosen = next(c for c in question.choices if [t for _, t in c.turns] == [table.rules.text(turn)])
    assert table.say("answer", question=question.id, value=chosen.value).ok


def test_a_turn_ended_with_its_tile_covered_is_held_and_the_place_is_named() -> None:
    table = TestTable(seed=6, done_expected=True)
    table.opening()
    turns, player = table.match.turns, table.rules.to_act(table.state).players[0]
    before, cell = table.look(), _rotated_cell(table)
    table.turn(table.texts("R")[0])
    table.done(player)
    table.see(before, hidden=_keys(table, cell), times=3)
    assert table.match.turns == turns and table.kind == "unfinished"
    assert table.match.judgement is not None and table.match.judgement.places == (cell,)
    table.see()
    assert table.match.turns == turns + 1 and table.match.agreed == table.state


def test_what_stays_covered_is_asked_and_the_truth_is_offered() -> None:
    table, turn, before, cell = _ended_unseen()
    turns = table.match.turns
    unreadable = {f"path:{cell}": dict.fromkeys(("NE", "NS", "NW", "ES", "EW", "SW"), 0.0)}
    table.see(before, hidden=_keys(table, cell), weak=unreadable, times=8)
    assert table.match.turns == turns
    _answer_with(table, turn)
    assert table.match.turns == turns + 1 and table.match.agreed == table.state
    table.see(before, hidden=_keys(table, cell), times=3)
    assert table.match.question is None and table.match.agreed == table.state, "the answer stands until it is seen"


def test_a_turn_ended_in_a_light_in_which_its_tile_cannot_be_read_is_held_and_then_asked() -> None:
    table, turn, before, cell = _ended_unseen()
    turns = table.match.turns
    table.see(before, dazzled=_keys(table, cell), times=3)
    assert table.match.turns == turns and table.kind == "unfinished", "nothing seen is not nothing done"
    assert table.match.judgement is not None and table.match.judgement.places == (cell,)
    table.see(before, dazzled=_keys(table, cell), times=5)
    assert table.match.turns == turns
    _answer_with(table, turn)
    table.see(before, dazzled=_keys(table, cell), times=3)
    assert table.match.question is None and table.match.agreed == table.state, "it is asked once"


def test_what_was_covered_all_along_and_looks_the_same_holds_nothing_back() -> None:
    table = TestTable(seed=6, done_expected=True)
    table.opening()
    turns, player = table.match.turns, table.rules.to_act(table.state).players[0]
    cell = next(c for c in ("c3", "c4", "d4") if c not in table.texts("R")[0])
    hidden = _keys(table, cell)
    table.turn(table.texts("R")[0])
    table.done(player)
    table.time_s += 1.0
    reading = replace(reading_of(table.look(), table.time_s, hidden=hidden), still=frozenset(hidden))
    table.match = step(table.match, Seen(reading, "", CAMERA)).match
    assert table.match.turns == turns + 1 and table.match.agreed == table.state


def test_a_pawn_beside_its_door_is_not_called_gone() -> None:
    table = TestTable(seed=6, done_expected=True)
    table.opening()
    text = table.texts("M")[0]
    start, end = text.split()[1].split("-")
    table.turn(text)
    seen = {**table.look(), f"pawn:{end}": "-"}
    table.see(seen, hidden=_keys(table, end), times=4)
    assert table.kind == "unfinished"
    table.see(seen, times=4)
    assert table.kind == "open", "a pawn that lies between the doors has still to be put down"
    table.see()
    assert table.match.provisional is not None and table.match.provisional.after == table.state
    assert start != end


@pytest.mark.parametrize("seed", range(4))
def test_two_presses_are_never_taken_for_one_turn_and_nothing(seed: int) -> None:
    table = TestTable(seed=seed, done_expected=True)
    table.opening()
    turns, texts = table.match.turns, []
    for kind in ("M", "R"):
        player = table.rules.to_act(table.state).players[0]
        choices = table.texts(kind)
        if not choices:
            return
        texts.append(table.rules.text(table.turn(choices[0])))
        table.done(player)
    table.see(times=3)
    question = table.match.question
    if question is None:
        assert table.match.turns == turns + 2 and table.match.agreed == table.state
    else:
        assert [t for c in question.choices for t in [[text for _, text in c.turns]] if t == texts]


def test_a_pawn_that_goes_where_another_had_left_is_a_change_of_its_own() -> None:
    places = [f"pawn:{c}{r}" for c in "abcde" for r in range(1, 8)]
    bare = dict.fromkeys(places, "-")
    before = {**bare, "pawn:a1": "1", "pawn:b1": "2"}
    after = {**bare, "pawn:c1": "1", "pawn:a1": "2"}
    assert separate_changes(before, after) == [
        {"pawn:a1": "-", "pawn:c1": "1"},
        {"pawn:b1": "-", "pawn:a1": "2"},
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_the_likeliest_looks_come_in_order_without_doubles(seed: int, limit: int) -> None:
    chance = random.Random(seed)
    values = ("NE", "NS", "NW", "ES", "EW", "SW")
    weak = {f"path:a{n}": {v: -chance.choice((0.0, 0.0, 1.0, 3.0)) for v in values} | {"NE": 0.0} for n in range(1, 8)}
    expected = dict.fromkeys(weak, "NE")
    sight = sight_of(reading_of(expected, 1.0, weak=weak), expected)
    looks = likely_looks(sight, expected, limit, 14.0)
    costs = [cost for cost, _ in looks]
    assert costs == sorted(costs) and len(looks) <= limit
    assert len({tuple(sorted(look.items())) for _, look in looks}) == len(looks)
    for cost, look in looks:
        changed = sum(look[k] != expected[k] for k in look)
        assert cost == pytest.approx(sight.cost(look) + 4.0 * changed)


def test_a_refusal_after_a_turn_that_was_partly_inferred_says_so() -> None:
    table = TestTable(seed=0, done_expected=True)
    state = at("a4", "b4", tiles={"b4": "S0"})  # a4 passes b4 only if b4 is turned, and turned back by the bonus
    table.match, table.state = replace(table.match, states=(state,), entries=()), state
    table.see(seen(state, a4="-", e4="1"))
    table.done(0)
    table.see(seen(state, a4="-", e4="1"), times=2)
    assert [entry.text for entry in table.match.entries] == ["R b4+90, M a4-e4, B b4+90"]
    table.see(seen(state, a4="-", e4="1", b4="EW"), times=3)
    judgement = table.match.judgement
    assert judgement is not None and judgement.words.id == "moguli.locked" and judgement.places == ("b4",)
    assert judgement.details[-1].id == "table.partly_inferred"


def test_a_press_after_a_question_is_not_used_up_by_its_answer() -> None:
    table = TestTable(seed=6, done_expected=True)
    table.opening()
    turns, player = table.match.turns, table.rules.to_act(table.state).players[0]
    before, text = table.look(), next(t for t in table.texts("M", "R"))
    first = table.rules.apply(table.state, table.rules.parse(text.split(", ")[0]))
    (pawn,) = [k for k, v in table.rules.look(first).items() if v != before[k] and v != "-"]
    weak = {pawn: {"1": -9.0, "2": -9.0, "-": -1.0, str(player + 1): 0.0}}
    table.see(table.rules.look(first), weak=weak, times=8)
    question = table.match.question
    assert question is not None
    table.turn(text)
    table.done(player)  # the turn has gone on while the question stood
    chosen = next((c for c in question.choices if c.turns), question.choices[0])
    table.say("answer", question=question.id, value=chosen.value)
    table.see(times=3)
    assert table.match.turns == turns + 1 and table.match.agreed == table.state
