"""Golden cases of Muggins, translated into this project's engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from companion.games.contract import Refusal
from companion.games.muggins import RULES
from companion.games.muggins.play import END, apply, legal, placement
from companion.games.muggins.state import Act, Entry, State
from companion.games.muggins.table import findings
from companion.games.muggins.tiles import TARGET, cost, end_sum, extend, pips, points, tally, tile_of
from tests.golden import Case

FAULTS = {
    "out of turn": "out_of_turn",
    "tile does not fit": "does_not_fit",
    "tile already on the line": "already_on_line",
    "draw before the opening": "draw_before_opening",
    "draw from an empty boneyard": "draw_from_empty",
    "pass with tiles in the boneyard": "pass_with_boneyard",
    "not the tile drawn last": "not_drawn_last",
    "illegal pass": "illegal_pass",
    "illegal draw": "illegal_draw",
    "number of tiles": "number_of_tiles",
    "tile shown twice": "shown_twice",
    "no such tile": "no_such_tile",
    "set does not add up": "does_not_add_up",
}


def cases(data: Any, name: str) -> Iterator[Case]:
    checks: dict[str, Callable[[Any], str | None]] = {
        "positions": _position,
        "rounds": _round,
        "table": _table,
        "agreed_ends": _agreed_end,
        "lines": _line,
        "costs": _cost,
        "tallies": _tally,
    }
    for kind, check in checks.items():
        for item in data[kind]:
            yield Case(kind, item["id"], lambda check=check, item=item: check(item))  # type: ignore[misc]


def state_of(position: Any) -> State:
    """The engine's open state; built directly because hand-made positions hold fewer than 28 tiles."""
    drawn = position.get("drawn")
    line = tuple(tuple(t) for t in position.get("line", ()))
    return State(
        players=position["players"],
        target=position["target"],
        secret=False,
        scores=tuple(position["scores"]),
        phase="play",
        to_move=position["to_move"],
        line=line,
        hands=tuple(tuple(tuple(t) for t in hand) for hand in position["hands"]),
        boneyard=tuple(tuple(t) for t in position["boneyard"]),
        drew=drawn is not None,
        drawn=None if drawn is None else tuple(drawn),
        passes=position.get("passes", 0),
    )


def act_of(act: Any) -> Act:
    tile = tuple(act["tile"]) if act.get("tile") else None
    return Act(act["a"], tile, act.get("end") or "")


def _differ(what: str, ours: Any, theirs: Any) -> str | None:
    return None if ours == theirs else f"{what}: {ours!r}, not {theirs!r}"


def _perft(state: State, depth: int) -> int:
    """Sequences of acts within the round."""
    if state.phase != "play":
        return 0
    turns = legal(state)
    if depth == 1:
        return len(turns)
    return sum(_perft(after, depth - 1) for after in (apply(state, t) for t in turns) if isinstance(after, State))


def _position(item: Any) -> str | None:
    state = state_of(item["position"])
    ours = []
    for (act,) in legal(state):
        entry: dict[str, Any] = {"a": act.kind, "points": placement(state, act)[1] if act.kind != "draw" else 0}
        if act.tile is not None and act.kind != "draw":
            entry["tile"] = list(act.tile)
        if act.end:
            entry["end"] = act.end
        ours.append(entry)
    key = repr
    text = RULES.position_text(state)
    read_back = None
    if len(state.line) + sum(map(len, state.hands)) + len(state.boneyard) == 28:
        read_back = _differ("read back", RULES.parse_position(text), state)
    return (
        _differ("legal", sorted((sorted(a.items()) for a in ours), key=key), _sorted(item["legal"]))
        or _differ("text", " | ".join(text.split(" | ")[:6]), item["text"])
        or read_back
        or _differ("perft_1", _perft(state, 1), item["perft_1"])
        or _differ("perft_2", _perft(state, 2), item["perft_2"])
        or _differ("perft_3", _perft(state, 3), item["perft_3"])
    )


def _sorted(acts: Any) -> Any:
    return sorted((sorted(a.items()) for a in acts), key=repr)


def _round(item: Any) -> str | None:
    state = state_of(item["start"])
    for k, act in enumerate(item["acts"]):
        turn = (act_of(act),)
        if turn == (Act("draw"),):
            turn = (Act("draw", state.boneyard[0]),)
        if state.to_move != act["p"] or turn not in legal(state):
            return f"act {k} {RULES.text(turn)} is not legal for {act['p']}"
        after = apply(state, turn)
        if isinstance(after, Refusal):
            return f"act {k}: {after}"
        state = after
        phase = {"deal": "round_over"}.get(state.phase, state.phase)
        wrong = (
            _differ("scores", list(state.scores), act["scores"])
            or _differ("line", [list(t) for t in state.line], act["line"])
            or _differ("boneyard", state.left, act["boneyard_left"])
            or _differ("passes", state.passes, act["passes"])
            or _differ("phase", phase, act["phase"])
        )
        if wrong:
            return f"act {k}: {wrong}"
    end = item["round_end"]
    ours = None
    if state.last is not None:
        out = state.last.out
        why = "blocked" if out is None else "out"
        ours = {"why": why, "out": out, "pips": list(state.last.pips), "cost": list(state.last.costs)}
    return (
        _differ("round end", ours, end)
        or _differ("scores", list(state.scores), item["scores"])
        or _differ("winner", state.over.winner if state.over else None, item["winner"])
        or (_differ("next starter", state.starter, end["out"]) if end else None)
    )


def _table(item: Any) -> str | None:
    log: list[Entry] = []
    for k, act in enumerate(item["acts"]):
        for known in item.get("known", ()):
            if known["at"] == k:
                log.append((known["p"], Act("know", player=known["p"], tiles=_tiles(known["tiles"]))))
        log.append((act["p"], act_of(act)))
    shown = item.get("shown")
    rest = item.get("boneyard_shown")
    found = findings(
        item["players"],
        log,
        item.get("starter"),
        None if shown is None else [_tiles(hand) for hand in shown],
        None if rest is None else _tiles(rest),
    )
    ours = {(f.at, f.player, f.fault, tuple(sorted(f.evidence))) for f in found}
    theirs = {
        (f["at"], f["p"], FAULTS[f["fault"]], tuple(sorted((k, _value(v)) for k, v in f["evidence"].items())))
        for f in item["findings"]
    }
    return _differ("findings", ours, theirs) or _differ("found twice", len(found), len(ours))


def _tiles(tiles: Any) -> tuple[Any, ...]:
    return tuple(tile_of(*t) for t in tiles)


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _agreed_end(item: Any) -> str | None:
    n = item["players"]
    state = State(n, TARGET[n], True, tuple(item["scores"]), phase="deal", counts=(0,) * n, known=((),) * n)
    after = apply(state, (END,))
    if isinstance(after, Refusal) or after.over is None:
        return f"not ended: {after}"
    outcome = RULES.outcome(after)
    assert outcome is not None
    winners = () if item["winner"] is None else (item["winner"],)
    return _differ("winners", outcome.winners, winners) or _differ("why", after.over.why, "agreed")


def _line(item: Any) -> str | None:
    line: tuple[tuple[int, int], ...] = ()
    for step in item["steps"]:
        tile = tile_of(*step["tile"])
        longer = extend(line, tile, step["end"]) if line else (tile,)
        if longer is None:
            return f"{tile} does not fit"
        line = longer
        wrong = (
            _differ("line", [list(t) for t in line], step["line"])
            or _differ("sum", end_sum(line), step["sum"])
            or _differ("points", points(line), step["points"])
        )
        if wrong:
            return wrong
    return None


def _cost(item: Any) -> str | None:
    hand = _tiles(item["hand"])
    return _differ("pips", pips(hand), item["pips"]) or _differ("cost", cost(hand), item["cost"])


def _tally(item: Any) -> str | None:
    return _differ("marks", tally(item["score"]), (item["fifties"], item["strokes"]))
