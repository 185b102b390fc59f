"""A throw of which the eyes see that something lies there, not what: the button ends no turn before that is known."""

from __future__ import annotations

from typing import Any

from companion.games.contract import Setup
from companion.referee import Position, judge
from companion.registry import GAMES
from companion.sight import sight_of
from tests.companion.arena import Arena, figure
from tests.vision.test_figure_table import piece
from vision.figure_table import BUSY, STRANGE, VALUES, table_facts
from vision.reading import Fact, Reading

RULES = GAMES["moogui"].load_rules()
STARTED = ("start p1=ari p2=bruma", "order p1=200 p2=100 ~2")


def state_after(*lines: str) -> Any:
    state: Any = RULES.new(Setup(("Ada", "Bea"), {o.name: o.default for o in RULES.options()}))
    for line in lines:
        state = RULES.apply(state, RULES.parse(line))
    return state


def verdict_on(state: Any, facts: dict[str, Fact], presses: int) -> Any:
    look = RULES.look(state)
    known = {key: Fact(VALUES, tuple(0.0 if v == value else -24.0 for v in VALUES)) for key, value in look.items()}
    sight = sight_of(Reading(1, 0.0, {**known, **{k: f for k, f in facts.items() if k in look}}), look)
    return judge(RULES, Position(state, presses=presses, done_expected=True), sight)


def prism(like: str) -> dict[str, Fact]:
    """What is said of the figures not seen while an unknown prism lies there that looks most like one of them."""
    names = ("ari", "bruma", "ibex", "jaca")
    figure = Fact((*names, "unknown"), (*(-20.0 if n == like else -50.0 for n in names), 0.0))
    return table_facts([piece(figure)], names)


def test_an_unread_throw_that_its_player_has_ended_is_asked_with_the_likeliest_face_first() -> None:
    state = state_after(*STARTED)
    verdict = verdict_on(state, {"figure:ari": prism("ari")["figure:ari"]}, presses=1)
    assert verdict.kind == "unsure"
    told = [RULES.text(s.turn) for tale in verdict.rivals for s in tale.stories]
    assert told[0] == "throw p1 ari ari=1"


def test_while_nobody_has_ended_it_an_unread_throw_is_waited_for() -> None:
    assert verdict_on(state_after(*STARTED), prism("ari"), presses=0).kind == "unchanged"


def test_an_unread_sentinel_is_not_taken_for_the_end_of_the_turn() -> None:
    state = state_after(*STARTED, "throw p1 ari ari=3")
    facts = {k: f for k, f in prism("ibex").items() if k != "figure:ari"}
    assert verdict_on(state, facts, presses=1).kind == "unsure"


def test_where_a_figure_could_be_overlooked_a_turn_without_visible_acts_still_ends() -> None:
    state = state_after(*STARTED, "throw p1 ari ari=3")
    facts = {f"figure:{n}": Fact(VALUES, (*(-BUSY,) * (len(VALUES) - 1), 0.0)) for n in ("bruma", "ibex", "jaca")}
    assert verdict_on(state, facts, presses=1).kind == "unchanged"
    assert STRANGE < BUSY


def test_a_shield_that_is_picked_up_and_thrown_again_unread_is_not_taken_back() -> None:
    thrown = ("throw p1 ari ari=6", "end p1", "throw p2 bruma ari=6 bruma=2", "end p2")
    arena = Arena(*STARTED, *thrown)
    bruma = figure("bruma", "2", (150.0, 200.0))
    arena.see(bruma, figure("ari", "6"), times=2)
    arena.see(bruma)
    assert arena.match.provisional is not None, "it lies in a hand"
    arena.done(0)
    arena.see(bruma, figure("ari", "immune", unread=6.0), times=3)
    arena.answer({"figure:ari": "immune"})
    assert arena.texts[-1] == "shield p1 again ari=immune bruma=2"


def test_an_order_throw_of_which_one_figure_is_unread_is_asked() -> None:
    arena = Arena(STARTED[0])
    arena.done(0)
    arena.see(figure("bruma", "3", (300.0, 120.0)), figure("ari", "immune", (300.0, 330.0), unread=6.0), times=3)
    arena.answer({"figure:ari": "immune", "figure:bruma": "3"})
    assert arena.texts[-1] == "order p1=30 p2=180 ~2 ari=immune bruma=3"


def test_an_order_throw_of_which_one_figure_is_not_seen_is_waited_for_by_name() -> None:
    arena = Arena(STARTED[0])
    bruma = figure("bruma", "3", (300.0, 120.0))
    arena.see(bruma, times=3)
    assert arena.kind == "open", "it is not illegal"
    arena.done(0)
    arena.see(bruma, times=3)
    assert arena.kind == "illegal" and arena.match.judgement is not None
    assert arena.match.judgement.words.id == "moogui.order_waits" and arena.match.judgement.places == ("ari",)
    arena.see(bruma, figure("ari", "1", (300.0, 330.0)), times=2)
    arena.done(0)
    arena.see(bruma, figure("ari", "1", (300.0, 330.0)), times=2)
    assert arena.texts[-1].startswith("order p1=30 p2=180")


def test_a_shield_that_is_picked_up_ends_no_match_before_its_player_says_so() -> None:
    thrown = ("throw p1 ari ari=6", "end p1", "throw p2 bruma ari=6 bruma=2", "end p2")
    bruma = figure("bruma", "2", (150.0, 200.0))
    for again in (True, False):
        arena = Arena(*STARTED, *thrown, target=1)
        arena.see(bruma, figure("ari", "6"), times=2)
        arena.see(bruma, times=2)
        assert arena.match.phase == "playing" and arena.match.provisional is not None
        there = (bruma, figure("ari", "3")) if again else (bruma,)
        arena.done(0)
        arena.see(*there, times=2)
        assert arena.texts[-1] == ("shield p1 again ari=3 bruma=2" if again else "shield p1 back")
        assert arena.match.phase == "over"


def test_an_unmarked_turn_and_the_next_both_ended_while_the_camera_saw_nothing_are_asked_about() -> None:
    arena = Arena("start p1=ari p2=bruma", "order p1=100 p2=200 ~2")
    shield, power = figure("bruma", "6", (200.0, 200.0)), figure("ari", "3", (350.0, 320.0))
    arena.see(shield, times=2)
    arena.done(1)
    arena.see(shield, times=2)
    arena.see(shield, power, times=2)
    arena.done(0)
    arena.see(shield, power, times=2)
    record = len(arena.texts)
    arena.done(0)
    arena.done(1)
    arena.see(power, times=4)
    question = arena.match.question
    assert question is not None, arena.match.judgement
    offered = [[text for _, text in choice.turns] for choice in question.choices]
    assert ["end p1", "shield p2 back"] in offered
    chosen = question.choices[offered.index(["end p1", "shield p2 back"])]
    assert arena.say("answer", question=question.id, value=chosen.value).ok
    assert arena.texts[record:] == ["end p1", "shield p2 back"]
