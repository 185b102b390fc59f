"""Texts and JSON of Die Maulwurfshöhle: turns and positions, with the checks that a position from outside must pass."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NoReturn

from companion.games.contract import Json, Refusal, RulesError
from companion.games.maulwurf.layout import BUILT_IN, MOLES, Act, Layout, built_in, from_data, to_data
from companion.games.maulwurf.state import BUSY, BUSY_TILES, EMPTY, Over, State, Turn, end_of

VERSION = 1
SIGNS = {"step": ">", "push": ">>", "dig": "~"}
_KINDS = {sign: kind for kind, sign in SIGNS.items()}
_ACT = re.compile(r"(-?\d+,-?\d+)(>>|>|~)(-?\d+,-?\d+)")
_FORCED = {"is_the_move": False, "then_move": True}


def text(turn: Turn) -> str:
    """A turn in one line, acts parted by blanks: `from>to` a step, `from>>to` a push, `from~to` a dig; or `pass`,
    `draw`, `resign 2` (the second player)."""
    return " ".join(_act_text(act) for act in turn)


def _act_text(act: Act) -> str:
    if act.kind in SIGNS:
        return f"{act.start}{SIGNS[act.kind]}{act.to}"
    return f"resign {int(act.start) + 1}" if act.kind == "resign" else act.kind


def parse(line: str) -> Turn:
    """The turn of such a line; raises RulesError quoting what cannot be read."""
    words = line.split()
    if len(words) == 1 and words[0] in ("pass", "draw"):
        return (Act(words[0]),)
    if len(words) == 2 and words[0] == "resign" and words[1] in ("1", "2", "3", "4"):
        return (Act("resign", str(int(words[1]) - 1)),)
    acts = []
    for word in words:
        match = _ACT.fullmatch(word)
        if match is None:
            refuse("bad_text", f"{word!r} in {line!r} is no act like 0,3>0,4, 0,3>>0,4 or 0,4~8,0", text=word)
        acts.append(Act(_KINDS[match[2]], match[1], match[3]))
    if not acts:
        refuse("bad_text", "an empty text is no turn", text=line)
    return tuple(acts)


def position_text(state: State) -> str:
    """A position in one line: layout and seats | moles by corner | pending | busy tiles by corner | to move | passes |
    options (`e` push_enters_cave, `t` then_move), then `resigned`, `agreed` and a layout that is not built in, where
    they apply. Players are their corners' numbers from 0."""
    cells = state.layout.cells

    def by_corner(added: int) -> str:
        groups = []
        for corner in sorted(state.seats):
            names = sorted(cells[c] for c, code in enumerate(state.board) if code == corner + 1 + added)
            groups.append(f"{corner}:{';'.join(names)}")
        return " ".join(groups)

    parts = [
        f"{state.layout.name} {''.join(str(s) for s in state.seats)}",
        by_corner(0),
        ";".join(sorted(cells[c] for c in state.pending)) or "-",
        by_corner(BUSY),
        str(state.to_move),
        str(state.passes),
        ("e" if state.push_enters_cave else "-") + ("t" if state.then_move else "-"),
    ]
    if state.resigned:
        parts.append(f"resigned {''.join(str(s) for s in state.resigned)}")
    if state.over is not None and state.over.why == "agreed":
        parts.append("agreed")
    if state.layout.name not in BUILT_IN:
        parts.append("layout " + json.dumps(to_data(state.layout), separators=(",", ":")))
    return " | ".join(parts)


def parse_position(line: str) -> State:
    """The position of such a line; raises RulesError that says what is wrong."""
    parts = [p.strip() for p in line.split("|")]
    if len(parts) < 7:
        refuse("bad_position", f"a position has at least seven parts between |, not {len(parts)}: {line!r}", text=line)
    extra = {word: rest for word, _, rest in (p.partition(" ") for p in parts[7:])}
    if unknown := extra.keys() - {"resigned", "agreed", "layout"}:
        refuse("bad_position", f"unknown part {min(unknown)!r} in {line!r}", text=min(unknown))
    name, _, seats = parts[0].partition(" ")
    if parts[6] not in ("--", "e-", "-t", "et"):
        refuse("bad_position", f"options {parts[6]!r} must be e or -, then t or -", text=parts[6])
    data = {
        "version": VERSION,
        "layout": _json_of(extra["layout"]) if "layout" in extra else name,
        "seats": _corners(seats),
        "moles": _groups(parts[1]),
        "pending": [] if parts[2] == "-" else parts[2].split(";"),
        "busy": _groups(parts[3]),
        "to_move": _number(parts[4]),
        "passes": _number(parts[5]),
        "resigned": _corners(extra.get("resigned", "")),
        "options": {
            "push_enters_cave": parts[6][0] == "e",
            "forced_dig": "then_move" if parts[6][1] == "t" else "is_the_move",
        },
        "over": {"winner": None, "why": "agreed"} if "agreed" in extra else None,
    }
    state = from_json(data)
    if state.layout.name != name:
        refuse("bad_position", f"the layout is called {state.layout.name!r}, not {name!r}", text=name)
    return state if "agreed" in extra else replace(state, over=end_of(state))


def to_json(state: State) -> Json:
    """The position as JSON: `moles` and `busy` map cells to corners; a layout that is not built in is written out."""
    cells, board = state.layout.cells, state.board
    own = state.layout.name in BUILT_IN and state.layout == built_in(state.layout.name)
    return {
        "version": VERSION,
        "layout": state.layout.name if own else to_data(state.layout),
        "layout_digest": state.layout.digest,
        "seats": list(state.seats),
        "moles": {cells[c]: code - 1 for c, code in enumerate(board) if EMPTY < code <= BUSY},
        "busy": {cells[c]: code - 1 - BUSY for c, code in enumerate(board) if code > BUSY},
        "pending": [cells[c] for c in state.pending],
        "to_move": state.to_move,
        "passes": state.passes,
        "resigned": list(state.resigned),
        "options": {
            "push_enters_cave": state.push_enters_cave,
            "forced_dig": "then_move" if state.then_move else "is_the_move",
        },
        "over": None if state.over is None else {"winner": state.over.winner, "why": state.over.why},
        "past": list(state.past),
    }


def from_json(data: Json) -> State:
    """The position; raises RulesError for nonsense, for what breaks conservation and for a later version."""
    if not isinstance(data, dict):
        refuse("bad_position", f"a position is a JSON object, not {type(data).__name__}", text=type(data).__name__)
    if data.get("version") != VERSION:
        refuse(
            "bad_version",
            f"version {data.get('version')!r}; this program reads {VERSION}",
            found=str(data.get("version")),
        )
    layout = layout_of(data.get("layout"))
    if "layout_digest" in data and data["layout_digest"] != layout.digest:
        refuse("layout_changed", f"the layout {layout.name!r} is not the one that was played on", name=layout.name)
    seats = _ints(data, "seats")
    check_seats(seats)
    options = data.get("options")
    if not isinstance(options, dict) or options.get("forced_dig") not in _FORCED:
        refuse("bad_position", f"options {options!r} name no known forced_dig", text="options")
    if not isinstance(options.get("push_enters_cave"), bool):
        refuse("bad_position", "push_enters_cave must be true or false", text="push_enters_cave")
    board = bytearray(len(layout.cells))
    for key, added in (("moles", 0), ("busy", BUSY)):
        pieces = data.get(key)
        if not isinstance(pieces, dict):
            refuse("bad_position", f"{key} must map cells to corners", text=key)
        for cell, corner in pieces.items():
            c = _cell(layout, cell)
            if corner not in seats or isinstance(corner, bool):
                refuse("bad_position", f"{key} on {cell}: {corner!r} is not among the seats", text=cell)
            if board[c]:
                refuse("two_on_a_cell", f"two tiles on {cell}", (cell,), cell=cell)
            board[c] = corner + 1 + added
    pending = data.get("pending")
    if not isinstance(pending, list):
        refuse("bad_position", "pending must be a list of cells", text="pending")
    past = data.get("past", [])
    if not isinstance(past, list) or not all(isinstance(p, str) for p in past):
        refuse("bad_position", "past must be a list of fingerprints", text="past")
    state = State(
        layout=layout,
        seats=seats,
        board=bytes(board),
        pending=tuple(sorted(_cell(layout, c) for c in pending)),
        to_move=_int(data, "to_move"),
        passes=_int(data, "passes"),
        resigned=tuple(sorted(_ints(data, "resigned"))),
        push_enters_cave=options["push_enters_cave"],
        then_move=_FORCED[options["forced_dig"]],
        past=tuple(past),
    )
    check(state)
    return replace(state, over=_over(data.get("over"), state))


def check(state: State) -> None:
    """Raises RulesError when a position breaks what every position keeps: pieces, places, marks, whose turn."""
    cells, tables = state.layout.cells, state.layout.tables
    for corner in state.seats:
        if state.moles(corner) > MOLES:
            refuse(
                "too_many_moles",
                f"corner {corner} has {state.moles(corner)} moles, nine at most",
                color=f"@maulwurf.color{corner + 1}",
            )
        if state.busy(corner) > BUSY_TILES:
            refuse(
                "too_many_busy",
                f"corner {corner} has {state.busy(corner)} busy tiles, two at most",
                color=f"@maulwurf.color{corner + 1}",
            )
    if odd := [cells[c] for c, code in enumerate(state.board) if code > BUSY and not tables.is_cave[c]]:
        refuse("busy_off_cave", f"a busy tile off the caves: {' '.join(odd)}", odd, cells=" ".join(odd))
    for c in state.pending:
        code = state.board[c]
        if (
            state.pending.count(c) > 1
            or not tables.is_tunnel[c]
            or not EMPTY < code <= BUSY
            or code - 1 in state.resigned
        ):
            refuse("bad_pending", f"no mole can be waiting to dig on {cells[c]}", (cells[c],), cell=cells[c])
    if len(set(state.resigned)) < len(state.resigned) or not set(state.resigned) < set(state.seats):
        refuse("bad_position", f"resigned {state.resigned} must be some of the seats {state.seats}", text="resigned")
    if state.to_move not in state.seats:
        refuse("bad_position", f"to move {state.to_move} is not among the seats {state.seats}", text="to_move")
    if not 0 <= state.passes <= len(state.seats):
        refuse("bad_position", f"{state.passes} passes with {len(state.seats)} players", text="passes")


def check_seats(seats: tuple[int, ...]) -> None:
    """Raises RulesError unless two to four different corners in clockwise order, two of them opposite, are seated."""
    clockwise = sum(a > b for a, b in zip(seats, (*seats[1:], *seats[:1]), strict=True)) == 1
    different = len(set(seats)) == len(seats) and set(seats) <= {0, 1, 2, 3}
    if not 2 <= len(seats) <= 4 or not different or not clockwise:
        refuse("bad_seats", f"seats {seats} must be two to four different corners, clockwise", text=str(seats))
    if len(seats) == 2 and abs(seats[0] - seats[1]) != 2:
        refuse("not_opposite", f"two players sit at opposite corners, not at {seats}", text=str(seats))


def layout_of(data: Json) -> Layout:
    """The layout of a built-in name or of written-out data; raises RulesError."""
    return built_in(data) if isinstance(data, str) else from_data(data)


def refuse(rule: str, said: str, /, places: Iterable[str] = (), **values: str) -> NoReturn:
    """Raises RulesError with the rule `maulwurf.<rule>`."""
    raise RulesError(Refusal(f"maulwurf.{rule}", tuple(places), tuple(values.items())), said)


def _over(data: Json, state: State) -> Over | None:
    if data is None:
        return None
    if not isinstance(data, dict) or data.get("why") not in (
        "two_busy",
        "all_passed",
        "nobody_can_win",
        "agreed",
        "last_one_left",
    ):
        refuse("bad_position", f"over: {data!r} names no known end", text="over")
    over = Over(data.get("winner"), data["why"])
    if over != end_of(state) and over != Over(None, "agreed"):
        refuse("bad_position", f"over: {data!r} is not how this position ends", text="over")
    return over


def _json_of(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError as error:
        refuse("bad_position", f"the layout in the position is no JSON: {error}", text="layout")


def _groups(text: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for group in text.split():
        corner, colon, cells = group.partition(":")
        if not colon or corner not in ("0", "1", "2", "3"):
            refuse("bad_position", f"{group!r} is no list like 0:3,4;5,6", text=group)
        for cell in cells.split(";") if cells else ():
            if cell in found:
                refuse("two_on_a_cell", f"two tiles on {cell}", (cell,), cell=cell)
            found[cell] = int(corner)
    return found


def _corners(text: str) -> list[int]:
    if not set(text) <= set("0123"):
        refuse("bad_position", f"{text!r} must be corners 0 to 3", text=text)
    return [int(c) for c in text]


def _number(text: str) -> int:
    if not re.fullmatch(r"\d", text):
        refuse("bad_position", f"{text!r} must be a number from 0 to 9", text=text)
    return int(text)


def _cell(layout: Layout, cell: Json) -> int:
    if not isinstance(cell, str) or cell not in layout.tables.index:
        refuse("no_such_cell", f"{cell!r} is no cell of {layout.name}", cell=str(cell))
    return layout.tables.index[cell]


def _int(data: Mapping[str, Json], key: str) -> int:
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        refuse("bad_position", f"{key} must be a whole number, not {value!r}", text=key)
    return value


def _ints(data: Mapping[str, Json], key: str) -> tuple[int, ...]:
    values = data.get(key)
    if not isinstance(values, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        refuse("bad_position", f"{key} must be a list of whole numbers, not {values!r}", text=key)
    return tuple(values)
