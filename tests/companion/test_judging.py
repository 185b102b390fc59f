"""The referee at a table: what is accepted, what waits, what is asked, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion.games.contract import Refusal
from tests.companion.table import TestTable


def test_a_settled_legal_turn_is_provisional_and_final_by_the_button() -> None:
    table = TestTable(seed=1)
    turn = table.turn()
    table.see()
    assert table.match.provisional is not None and table.match.provisional.turn == turn
    assert table.match.turns == 0
    table.done(0)
    table.see()
    assert table.match.turns == 1 and table.match.provisional is None
    assert table.match.agreed == table.state


def test_a_provisional_turn_grows() -> None:
    table = TestTable(seed=2)
    table.opening()
    turns, before = table.match.turns, table.state
    turn = table.rules.parse(table.texts("M", "R")[0])
    first = table.rules.apply(before, table.rules.parse(table.rules.text(turn).split(", ")[0]))
    assert not isinstance(first, Refusal)
    table.see(table.rules.look(first))
    assert table.match.provisional is not None and table.match.provisional.after == first
    table.state = table.rules.apply(before, turn)
    table.see()
    assert table.match.provisional is not None and table.match.provisional.after == table.state
    assert table.match.turns == turns


def test_a_turn_that_must_go_on_is_unfinished_and_illegal_only_when_its_player_ends_it() -> None:
    table = TestTable(seed=2)
    turn = table.rules.parse(table.texts("R", "M")[0])
    look = {**table.look(), **_rotated(table, turn)}
    table.see(look, times=3)
    assert table.kind == "open"
    assert table.match.judgement is not None and table.match.judgement.details[0].id == "moguli.obliged"
    table.done(0)
    table.see(look, times=2)
    assert table.kind == "illegal" and table.match.turns == 0
    assert table.match.judgement.words.id == "moguli.obliged"
    table.state = table.rules.apply(table.state, turn)
    table.see(times=2)
    assert table.match.provisional is not None and table.match.provisional.turn == turn


def _rotated(table: TestTable, turn: Any) -> dict[str, str]:
    """What the rotation alone changes."""
    return {k: v for k, v in table.rules.trace(table.state, turn).items() if k.startswith("path:")}


def test_the_same_look_again_changes_nothing() -> None:
    table = TestTable(seed=1)
    table.turn()
    table.see()
    events = len(table.events)
    table.see(times=5)
    assert len(table.events) == events


def test_a_provisional_turn_put_back_is_withdrawn_when_seen_twice() -> None:
    table = TestTable(seed=3)
    before = table.state
    table.turn()
    table.see()
    table.state = before
    table.see(step_s=0.2)
    assert table.match.provisional is not None
    table.see(step_s=0.4)
    assert table.match.provisional is None and table.kind == "withdrawn"


def test_the_next_players_act_makes_the_turn_final_where_nobody_uses_the_button() -> None:
    table = TestTable(seed=4)
    table.turn()
    table.see()
    table.turn()
    table.see(step_s=0.2)
    assert table.match.turns == 0, "what makes a turn final is looked at twice"
    table.see()
    assert table.match.turns == 1
    assert table.match.provisional is not None and table.match.provisional.player == 1


def test_an_act_that_could_be_either_players_is_asked() -> None:
    table = TestTable(seed=2)
    table.opening()
    table = _buttonless(table)
    turns = table.match.turns
    table.turn(table.texts("M")[0])
    table.see()
    rotation = table.texts("R")[0]
    table.turn(rotation)
    table.see(times=3)
    question = table.match.question
    assert question is not None and {"grow", "next"} <= {c.kind for c in question.choices}
    chosen = next(c for c in question.choices if c.kind == "next")
    assert table.say("answer", question=question.id, value=chosen.value).ok
    assert table.match.turns == turns + 1


def _buttonless(table: TestTable) -> TestTable:
    """The same table where nobody has used the done-button so far."""
    table.match = replace(table.match, done_expected=False)
    return table


def test_with_buttons_a_second_rotation_is_asked_not_taken_for_the_next_players() -> None:
    table = TestTable(seed=4, done_expected=True)
    table.opening()
    turns = table.match.turns
    first, second = table.texts("R")[:1], table.texts("R")[-1:]
    table.turn(first[0])
    table.see()
    table.turn(second[0])
    table.see(times=3)
    assert table.match.question is None, "nothing depends on it while the turn is not ended"
    table.see(times=4)
    question = table.match.question
    assert question is not None
    assert {c.kind for c in question.choices} >= {"illegal", "next"}
    assert table.match.turns == turns


def test_an_illegal_turn_is_called_so_with_its_rule_and_places_and_withdrawn_by_putting_it_back() -> None:
    table = TestTable(seed=5)
    table.opening()
    table.turn(table.texts("R")[0])
    turns = table.match.turns + 1
    table.see()
    table.done()
    table.see()
    locked = table.match.entries[-1].text.split()[1][:2]
    turned = {"NE": "ES", "ES": "SW", "SW": "NW", "NW": "NE"}
    look = table.look()
    look[f"path:{locked}"] = turned[look[f"path:{locked}"]]
    table.see(look, step_s=0.2)
    assert table.kind != "illegal", "one reading is not enough"
    table.see(look)
    assert table.kind == "illegal"
    assert table.match.judgement is not None
    assert table.match.judgement.words.id.startswith("moguli.") and locked in table.match.judgement.places
    assert table.match.table[f"path:{locked}"] == look[f"path:{locked}"]
    table.see()
    assert table.kind == "checked" and table.match.turns == turns


def test_done_on_an_unchanged_table_is_a_turn_without_visible_acts() -> None:
    table = TestTable(seed=6)
    table.opening()
    turns, player = table.match.turns, table.rules.to_act(table.state).players[0]
    table.done(player)
    table.see()
    assert table.match.turns == turns + 1
    assert table.rules.to_act(table.match.agreed).players == (1 - player,)


def test_done_on_an_unchanged_table_where_a_move_is_due_is_refused_with_the_rule() -> None:
    table = TestTable(seed=6)
    table.done(0)
    table.see()
    assert table.match.turns == 0 and table.kind == "illegal"
    assert table.match.judgement is not None and table.match.judgement.words.id == "moguli.obliged"


def test_done_of_the_wrong_player_is_refused() -> None:
    table = TestTable(seed=6)
    reply = table.done(1)
    assert not reply.ok and reply.words is not None and reply.words.id == "game.not_your_turn"


def test_a_turn_and_its_button_before_any_reading_are_judged_together() -> None:
    table = TestTable(seed=7)
    table.turn()
    table.done(0)
    assert table.match.turns == 0
    table.see()
    assert table.match.turns == 1 and table.match.agreed == table.state


def test_two_turns_behind_a_covered_camera_are_found_when_both_pressed() -> None:
    asked = 0
    for seed in range(6):
        table = TestTable(seed=seed, done_expected=True)
        texts: list[str] = []
        for _ in range(2):
            player = table.rules.to_act(table.state).players[0]
            texts.append(table.rules.text(table.turn()))
            table.done(player)
        table.see(times=3)
        question = table.match.question
        if question is not None:
            asked += 1
            assert [list(c.turns) for c in question.choices if [t for _, t in c.turns] == texts], "offers the truth"
        else:
            assert table.match.turns == 2 and table.match.agreed == table.state
    assert asked < 6, "who turned which tile is not always open"


def test_a_takeback_by_hand_of_a_final_turn_is_seen() -> None:
    table = TestTable(seed=8)
    start = table.state
    table.play(1)
    table.state = start
    table.see(times=3)
    assert table.match.turns == 0 and table.kind == "takeback"
    assert table.match.agreed == start


def test_after_a_takeback_by_button_the_table_is_waited_for_and_not_read_as_the_turn_again() -> None:
    table = TestTable(seed=9)
    start = table.state
    table.turn()
    table.see()
    after = table.look()
    assert table.say("takeback", 0).ok
    table.see(after, times=3)
    assert table.match.provisional is None and table.kind == "waiting"
    table.state = start
    table.see()
    assert table.match.lag is None
    table.state = start
    table.turn()
    table.see()
    assert table.match.provisional is not None


def test_a_hand_over_the_last_changed_place_changes_nothing() -> None:
    table = TestTable(seed=10)
    before = table.look()
    table.turn()
    table.see()
    changed = [k for k, v in table.look().items() if before[k] != v]
    events = len(table.events)
    table.see(hidden=changed, times=4)
    assert len(table.events) == events


def test_something_illegal_beside_hidden_places_is_not_called_illegal_at_once() -> None:
    table = TestTable(seed=11)
    look = table.look(pawn_a1="-")
    hidden = [k for k in look if k[-2:] in ("a2", "b2", "a3")]
    table.see(look, times=3, hidden=hidden)
    assert table.kind != "illegal"


def test_a_weak_fact_is_repaired_by_the_rules() -> None:
    table = TestTable(seed=12)
    table.turn()
    key = "triangle:c4"
    truth = table.look()[key]
    other = "no" if truth == "yes" else "yes"
    table.see(weak={key: {truth: -1.5, other: 0.0}})
    assert table.match.provisional is not None and table.match.provisional.after == table.state


def test_a_decisive_doubt_is_asked_with_the_likeliest_first_and_the_answer_settles_it() -> None:
    table = TestTable(seed=13)
    table.opening()
    turn = table.turn(table.texts("R")[0])
    ((key, truth),) = table.rules.trace(table.match.agreed, turn).items()
    old = table.rules.look(table.match.agreed)[key]
    weak = {key: {truth: 0.0, old: -5.0}}
    table.see(weak=weak, times=7)
    question = table.match.question
    assert question is not None and question.choices[0].kind in ("grow", "unchanged")
    chosen = next(c for c in question.choices if c.kind == "grow")
    assert table.say("answer", question=question.id, value=chosen.value).ok
    assert table.match.provisional is not None and table.match.provisional.turn == turn
    table.see(weak=weak, times=3)
    assert table.match.question is None, "what has been answered is not asked again"


@pytest.mark.parametrize("command", ["done", "takeback", "answer", "set_facts", "correct", "declare"])
def test_a_spectator_is_refused(command: str) -> None:
    from companion.evidence import Author, Chose
    from companion.step import step

    table = TestTable(seed=1)
    done = step(table.match, Chose(command, Author("spectator", "x"), {}))
    assert not done.reply.ok and not done.events


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), data=st.data())
def test_one_unreadable_place_never_stops_a_game(seed: int, data: st.DataObject) -> None:
    table = TestTable(seed=seed)
    key = data.draw(st.sampled_from(sorted(table.look())))
    values = dict.fromkeys(("NE", "NS", "NW", "ES", "EW", "SW"), 0.0)
    flat = {"path": values, "triangle": {"no": 0.0, "yes": 0.0}, "pawn": {"-": 0.0, "1": 0.0, "2": 0.0}}
    for turns in range(6):
        if table.rules.outcome(table.state) is not None:
            return
        player = table.rules.to_act(table.state).players[0]
        before = table.look()
        turn = table.turn()
        if key in table.rules.trace(table.match.agreed, turn):
            return
        assert before != table.look()
        table.see(weak={key: flat[key.split(":")[0]]})
        table.done(player)
        table.see(weak={key: flat[key.split(":")[0]]})
        assert table.match.turns == turns + 1 and table.match.question is None


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), data=st.data())
def test_a_misread_never_becomes_a_fact(seed: int, data: st.DataObject) -> None:
    """Calibrated noise: a wrong value leads the true one by less than the odds that the reader may claim."""
    table = TestTable(seed=seed)
    for _ in range(4):
        if table.rules.outcome(table.state) is not None:
            return
        player = table.rules.to_act(table.state).players[0]
        table.turn()
        keys = data.draw(st.lists(st.sampled_from(sorted(table.look())), max_size=3, unique=True))
        weak = {}
        for key in keys:
            truth = table.look()[key]
            values = {"path": ("NE", "NS", "NW", "ES", "EW", "SW"), "triangle": ("no", "yes"), "pawn": ("-", "1", "2")}
            wrong = data.draw(st.sampled_from([v for v in values[key.split(":")[0]] if v != truth]))
            lead = data.draw(st.floats(-12.0, 3.0))
            weak[key] = dict.fromkeys(values[key.split(":")[0]], -12.0) | {truth: 0.0, wrong: lead}
        table.see(weak=weak, times=2)
        table.see()
        table.done(player)
        table.see()
        if table.match.question is not None or table.match.turns == 0:
            return
        assert table.rules.look(table.match.agreed) == table.rules.look(table.state)
