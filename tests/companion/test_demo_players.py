"""What a demo's players know of what a camera can tell: missed turns, and which answer to a question is true."""

from __future__ import annotations

import random

from companion.demo_players import Players
from companion.games.contract import Message, Setup
from companion.match import Choice, Entry, Match
from companion.registry import GAMES

MOOGUI = Players(GAMES["moogui"], random.Random(1))
RULES = MOOGUI.rules


def played(*lines: str) -> list[object]:
    """The states of a Moogui match, the first before the first line."""
    states: list[object] = [RULES.new(Setup(("Ada", "Bea"), {o.name: o.default for o in RULES.options()}))]
    for line in lines:
        states.append(RULES.apply(states[-1], RULES.parse(line)))
    return states


def test_turns_of_which_the_second_wipes_out_the_first_are_not_missed_together() -> None:
    before, after = played("start p1=ari p2=bruma", "order p1=100 p2=out ~2 ari=2 bruma=out")[1:]
    assert not MOOGUI.unseen_together(before, after, RULES.parse("clear"))


def test_turns_that_both_leave_their_marks_may_be_missed_together() -> None:
    maulwurf = Players(GAMES["maulwurf"], random.Random(2))
    rules = maulwurf.rules
    state = rules.new(Setup(("Ada", "Bea"), {o.name: o.default for o in rules.options()}))
    found = 0
    for first in rules.legal(state):
        after = rules.apply(state, first)
        for second in rules.legal(after):
            apart = not rules.trace(state, first).keys() & rules.trace(after, second).keys()
            found += apart and maulwurf.unseen_together(state, after, second)
    assert found


def test_a_takeback_is_true_only_when_it_was_one() -> None:
    lines = ("start p1=ari p2=bruma", "order p1=100 p2=200 ~2 ari=2 bruma=3", "clear")
    states = played(*lines)
    entries = tuple(Entry(0, text, Message("game.turn")) for text in lines[:2])
    match = Match(lambda name: GAMES[name].load_rules(), game="moogui", entries=entries, states=tuple(states[:3]))
    choice = Choice("1", Message("table.answer_takeback"), "takeback", number=1, facts=RULES.look(states[1]))
    truth = RULES.look(states[3])
    assert not MOOGUI.hold_for_true(choice, match, truth, states[3])
    assert MOOGUI.hold_for_true(choice, match, truth, states[1])
