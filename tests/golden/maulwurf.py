"""Golden cases of Die Maulwurfshöhle, translated into this project's engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from companion.games.contract import Refusal, RulesError
from companion.games.maulwurf import RULES
from companion.games.maulwurf.explain import look_of, turns_to
from companion.games.maulwurf.layout import MOLES, Act, Layout, built_in, from_data, to_data
from companion.games.maulwurf.state import BUSY, State, Turn, end_of
from companion.games.maulwurf.turns import legal
from tests.golden import Case

WHY = {
    "two busy": "two_busy",
    "all passed": "all_passed",
    "nobody can win": "nobody_can_win",
    "agreed": "agreed",
    "last one left": "last_one_left",
}


def cases(data: Any, name: str) -> Iterator[Case]:
    def case(kind: str, id: str, function: Callable[..., str | None], *arguments: Any) -> Case:
        return Case(kind, id, lambda: function(*arguments))

    for layout, content in data["layouts"].items():
        yield case("layouts", layout, _layout, layout, content)
    for item in data["positions"]:
        yield case("positions", item["id"], _position, item)
    for item in data["cases"]:
        yield case("cases", item["id"], _case, item)
    for item in data["explain"]:
        yield case("explain", item["id"], _explain, item)
    for item in data["loader"]:
        yield case("loader", item["id"], _loader, item)


def layout_of(position: Any) -> Layout:
    """The named layout, with the cells added on which a hand-made position stands beside the board (5,-5 does)."""
    layout = built_in(position["layout"])
    beside = [cell for cell in position["moles"] if cell not in layout.cells]
    if not beside:
        return layout
    data = to_data(layout)
    return from_data({**data, "cells": data["cells"] + beside})


def state_of(position: Any) -> State:
    """The engine's state; built directly because hand-made positions hold any number of moles."""
    layout = layout_of(position)
    board = board_of(position, position)
    state = State(
        layout=layout,
        seats=tuple(position["seats"]),
        board=board,
        pending=tuple(sorted(layout.tables.index[c] for c in position["pending"])),
        to_move=position["to_move"],
        passes=position["passes"],
        resigned=tuple(sorted(position["resigned"])),
        push_enters_cave=position["options"]["push_enters_cave"],
        then_move=position["options"]["forced_dig"] == "then_move",
    )
    assert end_of(state) is None
    return state


def board_of(position: Any, pieces: Any) -> bytes:
    layout = layout_of(position)
    board = bytearray(len(layout.cells))
    for cell, corner in pieces["moles"].items():
        board[layout.tables.index[cell]] = corner + 1
    for cell, corner in pieces["busy"].items():
        board[layout.tables.index[cell]] = corner + 1 + BUSY
    return bytes(board)


def turn_of(acts: Any) -> Turn:
    return tuple(Act(*act) for act in acts)


def _differ(what: str, ours: Any, theirs: Any) -> str | None:
    return None if ours == theirs else f"{what}: {ours!r}, not {theirs!r}"


def _layout(name: str, content: Any) -> str | None:
    ours = to_data(built_in(name))
    return (
        _differ("cells", sorted(ours["cells"]), sorted(content["cells"]))
        or _differ("starts", [sorted(s) for s in ours["starts"]], [sorted(s) for s in content["starts"]])
        or _differ("corners", ours["corners"], content["corners"])
        or _differ("caves", ours["caves"], content["caves"])
        or _differ("tunnels", ours["tunnels"], content["tunnels"])
    )


def _loader(item: Any) -> str | None:
    try:
        layout = from_data(item["layout"])
    except RulesError as error:
        return f"refused: {error}" if item["accepted"] else None
    if not item["accepted"]:
        return f"accepted, although {item['fault']}"
    ours = {frozenset(pair) for pair in layout.adjacent_tunnels}
    return _differ("adjacent", ours, {frozenset(pair) for pair in item["adjacent_tunnels"]})


def _position(item: Any) -> str | None:
    state = state_of(item["position"])
    turns = legal(state)
    after = {turn: RULES.apply(state, turn) for turn in turns}
    refused = [RULES.text(t) for t, a in after.items() if isinstance(a, Refusal)]
    kinds = Counter("+".join(act.kind for act in turn) for turn in turns)
    read_back = None
    if all(state.moles(c) <= MOLES for c in state.seats):
        read_back = _differ("read back", RULES.parse_position(RULES.position_text(state)), state)
    perft = None
    if item["perft_2"] is not None:
        perft = _differ("perft_2", sum(len(legal(a)) for a in after.values() if isinstance(a, State)), item["perft_2"])
    return (
        _differ("text", " | ".join(RULES.position_text(state).split(" | ")[:7]), item["text"])
        or read_back
        or _differ("refused", refused, [])
        or _differ("different", len(set(turns)), len(turns))
        or _differ("turns", len(turns), item["turns"])
        or _differ("kinds", dict(kinds), item["turns_by_kind"])
        or _differ("merged", len(set(after.values())), item["turns_merged"])
        or perft
    )


def _after(state: State, expected: Any) -> str | None:
    cells = state.layout.cells
    over = expected["over"]
    want = None if over is None else (over["winner"], WHY[over["why"]])
    got = None if state.over is None else (state.over.winner, state.over.why)
    moles = {cells[c]: code - 1 for c, code in enumerate(state.board) if 0 < code <= BUSY}
    busy = {cells[c]: code - 1 - BUSY for c, code in enumerate(state.board) if code > BUSY}
    return (
        _differ("moles", moles, expected["moles"])
        or _differ("busy", busy, expected["busy"])
        or _differ("pending", sorted(cells[c] for c in state.pending), sorted(expected["pending"]))
        or _differ("over", got, want)
        or _differ("passes", state.passes, expected["passes"])
        or _differ("resigned", list(state.resigned), sorted(expected["resigned"]))
        or (None if want else _differ("to move", state.to_move, expected["to_move"]))
    )


def _case(item: Any) -> str | None:
    state = state_of(item["start"])
    for number, step in enumerate(item["steps"]):
        if "resign" in step:
            turn: Turn = (Act("resign", str(state.seats.index(step["resign"]))),)
        elif "agree_draw" in step:
            turn = (Act("draw"),)
        else:
            turn = turn_of(step["turn"])
            wrong = _differ(f"step {number} legal", turn in legal(state), step["legal"])
            if wrong:
                return wrong
        after = RULES.apply(state, turn)
        if step["after"] is None:
            if not isinstance(after, Refusal):
                return f"step {number}: accepted"
            continue
        if isinstance(after, Refusal):
            return f"step {number}: refused, {after}"
        wrong = _after(after, step["after"])
        if wrong:
            return f"step {number}: {wrong}"
        state = after
    return None


def _explain(item: Any) -> str | None:
    state = state_of(item["before"])
    seen = board_of(item["before"], item["after_visible"])
    explanation = RULES.explain(state, look_of(state.layout.tables.keys, seen))
    wanted = {turn_of(t) for t in item["turns"]}
    ours = turns_to(state, seen)
    return (
        _differ("turns", {RULES.text(t) for t in ours}, {RULES.text(t) for t in wanted})
        or _differ("twice", len(ours), len(set(ours)))
        or _differ("next states", len({s.after for s in explanation.stories}), item["next_states"])
        or (None if wanted or explanation.refusals else "no reason given")
    )
