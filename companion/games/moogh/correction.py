"""Putting facts right by hand: every value is checked, nothing may be lost or doubled."""

from __future__ import annotations

import re
from dataclasses import replace

from companion.games.contract import Look, Refusal
from companion.games.moogh.engine import asked, settle
from companion.games.moogh.geometry import FACINGS, NEAR
from companion.games.moogh.state import At, Man, State, cell_text, parse_cell
from companion.games.moogh.work import Work

_POINTS = re.compile(r"0|[AB]([1-9]\d?)\Z")
_CELL_OF_CARD = re.compile(r"([1-6])\.(\d)\Z")


def with_look(state: State, facts: Look) -> State | Refusal:
    """The state after these facts were corrected; a refusal names the fact, the value and what is wrong with it."""
    if state.over is not None:
        return Refusal("moogh.over")
    now = asked(Work(state))
    cubes = {fact: value for fact, value in facts.items() if fact.startswith("cube:")}
    if cubes and now is not None and now.kind == "roll":
        return Refusal("moogh.roll_first", tuple(cubes), (("who", f"@moogh.{now.who}"),))
    for fact, value in facts.items():
        if fact not in cubes:
            changed = _dice(state, fact, value)
            if isinstance(changed, Refusal):
                return changed
            state = changed
    men = {man.name: man for man in state.men}
    for fact, value in cubes.items():
        moved = _cube(state, men.get(fact.removeprefix("cube:")), fact, value)
        if isinstance(moved, Refusal):
            return moved
        men[moved.name] = moved
    return _settled(replace(state, men=tuple(men.values())))


def _dice(state: State, fact: str, value: str) -> State | Refusal:
    cell, card = parse_cell(value), _CELL_OF_CARD.match(value)
    match fact:
        case "die:health" if value in ("1", "2", "3", "4", "5", "6"):
            return replace(state, health=int(value))
        case "die:rage" if value in ("1", "2", "3", "4", "5", "6"):
            return replace(state, level=int(value))
        case "rage:cell" if card and int(card[2]) <= state.rule.cards.columns:
            return replace(state, level=int(card[1]), column=int(card[2]))
        case "card:side" if value in ("front", "back"):
            return replace(state, side=value)
        case "die:points" if _POINTS.match(value):
            return replace(state, balance=int(value[1:] or 0) * (-1 if value[0] == "B" else 1))
        case "beast:facing" if value in FACINGS:
            return replace(state, facing=FACINGS.index(value))
        case "beast:origin" if cell is not None and not Work(replace(state, origin=cell)).gone():
            return replace(state, origin=cell)
    return _bad(fact, value)


def _cube(state: State, man: Man | None, fact: str, value: str) -> Man | Refusal:
    if man is None:
        return _bad(fact, value)
    at: At | None = parse_cell(value)
    if at is None and (value in ("top", "dead") or (value.startswith("grab:") and value[5:] in NEAR)):
        at = value
    if at is None:
        return _bad(fact, value)
    hurt = 2 if at == "dead" else min(man.hurt, 1)
    return Man(man.name, at, hurt)


def _settled(state: State) -> State | Refusal:
    """The state once no two tokens share a space and none lies where it cannot."""
    w = Work(state)
    taken: dict[At, str] = {}
    under = {task[1] for task in w.agenda if task[0] == "pushed"}  # waits under the beast to be pushed aside
    for man, at in w.at.items():
        if isinstance(at, str):
            continue
        if w.solid(at) and man not in under:
            return Refusal(
                "moogh.no_space_there", (cell_text(at),), (("who", f"@moogh.{man}"), ("cell", cell_text(at)))
            )
        if at in taken:
            values = (("who", f"@moogh.{man}"), ("other", f"@moogh.{taken[at]}"), ("cell", cell_text(at)))
            return Refusal("moogh.two_on_a_space", (cell_text(at),), values)
        taken[at] = man
    if not w.living():
        w.over = ("all_dead", "")
    settle(w)
    return w.freeze()


def _bad(fact: str, value: str) -> Refusal:
    return Refusal("moogh.bad_fact", (fact,), (("fact", fact), ("value", value)))
