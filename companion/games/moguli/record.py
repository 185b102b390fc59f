"""Moguli's states as JSON, as views for the board drawing, and with facts corrected by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from companion.games.contract import Json, Look, Refusal, RulesError
from companion.games.moguli.board import INDEX, NAMES, PATH, TRIANGLE, doors_in, mask_of, names_in
from companion.games.moguli.judge import awaited
from companion.games.moguli.looks import look_of, read_look
from companion.games.moguli.notation import WHYS
from companion.games.moguli.start import read_tiles, start_of
from companion.games.moguli.state import OPTIONS, PAWNS, Over, State, options_from

VERSION = 1
_KEYS = {"version", "tiles", "pawns", "to_move", "locked", "blocked_run", "last_turn", "options", "setup", "over"}


def to_json(state: State) -> Json:
    """The state as JSON; players are 0 and 1, tiles as in `Setup.start`."""
    over = state.over
    return {
        "version": VERSION,
        **start_of(state.tiles),
        "pawns": [list(names_in(mask)) for mask in state.pawns],
        "to_move": state.to_move,
        "locked": list(names_in(state.locked)),
        "blocked_run": state.blocked_run,
        "last_turn": state.last_turn,
        "options": {option.name: getattr(state.options, option.name) for option in OPTIONS},
        "setup": state.setup,
        "over": None if over is None else {"winner": over.winner, "why": over.why},
    }


def _bad(key: str, value: object, why: str) -> NoReturn:
    raise RulesError(
        Refusal("moguli.bad_json", values=(("key", key), ("value", repr(value)), ("why", why))),
        f"a Moguli state cannot have {key} = {value!r}: {why}",
    )


def from_json(data: Json) -> State:
    """The state; raises RulesError naming the key that is missing or makes no sense, or the later version."""
    if not isinstance(data, dict):
        _bad("state", data, "it is an object")
    version = data.get("version")
    if type(version) is int and version > VERSION:
        raise RulesError(
            Refusal("moguli.later_version", values=(("version", version), ("known", VERSION))),
            f"this state has version {version}, this program knows {VERSION}: install a newer one",
        )
    if version != VERSION:
        _bad("version", version, f"it is {VERSION}")
    if set(data) != _KEYS:
        key = sorted(set(data) ^ _KEYS)[0]
        _bad(key, data.get(key), "a state has exactly " + ", ".join(sorted(_KEYS)))
    for key in ("to_move", "blocked_run"):
        if type(data[key]) is not int or data[key] < 0 or (key == "to_move" and data[key] > 1):
            _bad(key, data[key], "it is 0 or 1" if key == "to_move" else "it is a whole number")
    if type(data["last_turn"]) is not bool:
        _bad("last_turn", data["last_turn"], "it is true or false")
    if data["setup"] is not None and (type(data["setup"]) is not int or data["setup"] not in (0, 1)):
        _bad("setup", data["setup"], "it is null, 0 or 1")
    if not isinstance(data["options"], dict):
        _bad("options", data["options"], "they are an object")
    pawns = data["pawns"]
    if not isinstance(pawns, list) or len(pawns) != 2:
        _bad("pawns", pawns, "they are two lists of doors")
    first, second = (_mask("pawns", listed) for listed in pawns)
    if first & second:
        _bad("pawns", pawns, f"two pawns on {', '.join(names_in(first & second))}")
    if any(len(listed) > PAWNS for listed in pawns):
        _bad("pawns", pawns, f"nobody has more than {PAWNS}")
    return State(
        tiles=read_tiles(data["tiles"]),
        pawns=(first, second),
        to_move=data["to_move"],
        locked=_mask("locked", data["locked"]),
        blocked_run=data["blocked_run"],
        last_turn=data["last_turn"],
        options=options_from(data["options"]),
        setup=data["setup"],
        over=_over(data["over"]),
    )


def _mask(key: str, listed: object) -> int:
    if not isinstance(listed, list) or not all(isinstance(name, str) and name in INDEX for name in listed):
        _bad(key, listed, "it is a list of doors from a1 to e7")
    if len(set(listed)) < len(listed):
        _bad(key, listed, "a door is there twice")
    return mask_of(INDEX[name] for name in listed)


def _over(data: object) -> Over | None:
    if data is None:
        return None
    if not isinstance(data, dict) or set(data) != {"winner", "why"} or data["why"] not in WHYS:
        _bad("over", data, f"it is null or a winner and why: {', '.join(WHYS)}")
    winner = data["winner"]
    if winner is not None and (type(winner) is not int or winner not in (0, 1)):
        _bad("over", data, "the winner is null, 0 or 1")
    return Over(winner, str(data["why"]))


def with_look(state: State, facts: Look) -> State | Refusal:
    """The state with these facts corrected by hand; refused where a pawn would be lost or doubled. Raises RulesError
    on a fact that is none of Moguli's."""
    look = look_of(state)
    for key in facts:
        if key not in look:
            raise RulesError(
                Refusal("moguli.bad_look", values=(("key", key), ("value", facts[key]))), f"Moguli has no fact {key!r}"
            )
    tiles, pawns = read_look({**look, **facts})
    for player in range(2):
        more = pawns[player].bit_count() - state.pawns[player].bit_count()
        if more:
            changed = pawns[player] ^ state.pawns[player]
            places = names_in(changed)
            values = (("player", f"#{player}"), ("count", abs(more)), ("places", ", ".join(places)))
            return Refusal("moguli.pawn_added" if more > 0 else "moguli.pawn_gone", places, values)
    return replace(state, tiles=tiles, pawns=pawns)


def view(state: State) -> Json:
    """The board for the drawing template: nothing is secret. Players are 1 and 2."""
    return {
        "tiles": {
            name: {"path": PATH[code], "triangle": TRIANGLE[code]}
            for name, code in zip(NAMES, state.tiles, strict=True)
        },
        "pawns": {NAMES[door]: player + 1 for player in range(2) for door in doors_in(state.pawns[player])},
        "to_move": awaited(state) + 1,
        "locked": list(names_in(state.locked)),
        "free": [5 - ((state.pawns[0] | state.pawns[1]) >> shift & 31).bit_count() for shift in (0, 30)],
        "last_turn": state.last_turn,
        "cylinder": state.options.cylinder,
        "over": state.over is not None,
    }
