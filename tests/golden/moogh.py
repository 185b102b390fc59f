"""MOOGH's golden cases: each file is one game, an input a step; the state after each is compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.moogh import engine
from companion.games.moogh.geometry import FACINGS
from companion.games.moogh.setup import new
from companion.games.moogh.state import Choice, Roll, State, Turn
from companion.games.moogh.waits import Waits
from tests.golden import Case

PLAYERS = {"solo": 1, "2": 2, "4": 4}


def cases(data: Any, name: str) -> Iterator[Case]:
    """One case a file: the whole game."""
    yield Case("games", data.get("id", name), lambda: check(data))


def check(data: Any) -> str | None:
    """The first difference between the engine and the game."""
    setup = data["setup"]
    start = {key: setup[key] for key in ("cards", "teams") if key in setup}
    players = ("",) * PLAYERS[setup.get("mode", "4")]
    state = new(Setup(players, setup.get("options", {}), start))
    wrong = difference(state, data["start"])
    if wrong:
        return f"start: {wrong}"
    for number, step in enumerate(data["steps"]):
        try:
            after = take(state, step)
        except (RulesError, KeyError) as error:
            return f"step {number} {shown(step)}: {error}"
        if isinstance(after, str) and step.get("forced"):
            after = state  # a question with one answer need not be put
        if isinstance(after, str):
            return f"step {number} {shown(step)}: {after}"
        state, wrong = without_choice(after, step["state"])
        if wrong:
            return f"step {number} {shown(step)}: {wrong}"
    return None


def without_choice(state: State, wanted: Any) -> tuple[State, str | None]:
    """The state, after answering questions that have one answer and that the file does not put, and what differs."""
    wrong = difference(state, wanted)
    now = engine.waits(state)
    if wrong is None or now is None or now.kind != "choice" or len(now.by) > 1 or len(now.by[0][1]) > 1:
        return state, wrong
    after = engine.apply(state, Choice(now.who, now.what, now.by[0][1][0]))
    answer = (state, wrong) if isinstance(after, Refusal) else without_choice(after, wanted)
    return answer if answer[1] is None else (state, wrong)


def take(state: State, step: Any) -> State | str:
    """The state after the step (the same one for an input that must be refused), or what went wrong."""
    now = engine.waits(state)
    if now is None:
        return "the game is over for the engine"
    value = step.get("roll", step.get("choice", step.get("illegal")))
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    values = {value for _, values in now.by for value in values}
    what = now.what if text in values else step.get("what", now.what)
    turn: Turn = Roll(step["who"], step["why"], value) if "roll" in step else Choice(step["who"], what, text)
    if "illegal" in step:
        if now.kind == "roll":
            turn = Roll(step["who"], now.what, value)
        after = engine.apply(state, turn)
        return state if isinstance(after, Refusal) else f"accepted {turn}"
    after = engine.apply(state, turn)
    return f"refused: {after.rule} {dict(after.values)}, waiting for {now}" if isinstance(after, Refusal) else after


def difference(state: State, wanted: Any) -> str | None:
    """The first part of the state that the engine sees differently."""
    got = told(state)
    now = engine.waits(state)
    others = now is not None and wanted["waits"].get("who") in [who for who, _ in now.by[1:]]
    for key, value in wanted.items():
        if key == "active" and state.over is not None:
            continue
        if key == "waits" and others:  # saves against one attack come in any order, also in this one
            continue
        if got[key] != value:
            return f"{key}: engine {got[key]}, golden {value}"
    return None


def told(state: State) -> dict[str, Any]:
    """The state in the form of the golden files."""
    now = engine.waits(state)
    over = None
    if state.over is not None:
        over = {"reason": state.over[0], "winner": state.over[1] or None, "balance": state.balance}
    return {
        "round": state.round,
        "phase": state.phase,
        "active": active(state, now),
        "beast": {"origin": list(state.origin), "facing": FACINGS[state.facing], "health": state.health},
        "rage": {"level": state.level, "side": state.side, "column": state.column},
        "balance": state.balance,
        "tribesmen": {
            man.name: {"at": list(man.at) if isinstance(man.at, tuple) else man.at, "hurt": man.hurt}
            for man in state.men
        },
        "over": over,
        "waits": waiting(now),
    }


def active(state: State, now: Waits | None) -> str | None:
    """The tribesman whose turn it is, in a caveman phase."""
    if state.phase in (2, 4) or now is None:
        return None
    acting = [task[1] for task in state.agenda if task[0] == "act"]
    return acting[-1] if acting else now.who


def waiting(now: Waits | None) -> dict[str, Any]:
    """What is waited for, as the files write it."""
    if now is None:
        return {"ask": "over"}
    if now.kind == "roll":
        return {"ask": "roll", "who": now.who, "why": now.what}
    return {"ask": "choice", "who": now.who, "what": now.what, "options": [option(v) for v in now.by[0][1]]}


def option(value: str) -> Any:
    """A choice's value: a number, a cell, or a word."""
    if value.isdigit():
        return int(value)
    return [int(n) for n in value.split(",")] if "," in value else value


def shown(step: Any) -> str:
    """The step's input without the state."""
    return str({key: value for key, value in step.items() if key != "state"})
