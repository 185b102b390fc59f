"""The card set as a form: one row for each value that the owner can compare with a printed card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from companion.games.contract import Json, Message, Refusal
from companion.games.data_form import Filled, Group, Part, Row
from companion.games.moogh import cards as card_sets
from companion.games.moogh.cards import CardSet
from companion.games.moogh.geometry import AROUND, FACINGS, footprint
from companion.games.moogh.printed import ACTIONS, BEAST_ACTIONS, MEN, NO_ICON, SIDES, SOLO, TABLES, faults

_FIXED = "arrows"
"""The one table that the rulebook prints: nothing to compare."""

_HEAD = "# The card set of MOOGH. A value is marked invented until somebody has compared it with the printed card.\n"


def _says(word: str, **values: str | int) -> Message:
    return Message(f"moogh.{word}", tuple(values.items()))


def _space(space: str) -> Message:
    return _says("form_space", space=space, words=f"@moogh.space_{space}")


def _beast_action(action: str) -> Message:
    plain = action.removesuffix("*")
    return _says(f"form_{plain}") if plain == action else _says("form_mini", action=f"@moogh.form_{plain}")


_BEAST = Part(tuple((a, _beast_action(a)) for action in BEAST_ACTIONS for a in (action, f"{action}*")))
_CAVEMAN = Part(tuple((action, _says(f"action_{action}")) for action in ACTIONS))
_NEXT_TO = Part(tuple((space, _space(space)) for space in AROUND))
_SIDE = Part(tuple((facing, _says(facing)) for facing in FACINGS))
_ICON = Part(((NO_ICON, _says("form_no_icon")), ("left", _says("choose_left")), ("right", _says("choose_right"))))
_PIPS, _SIZE = Part(low=1, high=6), Part(low=4, high=40)
_CELL = (Part(low=0, high=39, words=_says("form_column")), Part(low=0, high=39, words=_says("form_row")))


def _rages(table: str, *parts: Part, grows: bool = False) -> tuple[Row, ...]:
    return tuple(Row(f"{table}.{n}", _says("form_rage", rage=n), parts, grows) for n in range(1, 7))


def _groups() -> Iterator[Group]:
    yield Group(_says("form_front"), _rages("front", _BEAST, grows=True))
    yield Group(_says("form_back"), _rages("back", _BEAST, grows=True))
    yield Group(_says("form_save"), _rages("save", _PIPS))
    attack = tuple(Row(f"attack_dice.{n}", _says("form_pips", pips=n), (_NEXT_TO, _NEXT_TO)) for n in range(1, 7))
    yield Group(_says("form_attack_dice"), attack)
    spaces = tuple(Row(f"angle.{space}", _space(space), (Part(low=0, high=6),)) for space in (*AROUND, "TOP"))
    yield Group(_says("form_angle"), spaces)
    yield Group(_says("form_turn_icon"), tuple(Row(f"turn_icon.{s}", _space(s), (_ICON,)) for s in AROUND))
    for man in MEN:
        sides = tuple(
            Row(f"characters.{man}.{side}", _says(f"form_{side}"), (_CAVEMAN, _CAVEMAN), grows=True) for side in SIDES
        )
        yield Group(_says("form_character", who=f"@moogh.{man}"), sides)
    yield Group(
        _says("form_board"),
        (
            Row("board.cols", _says("form_cols"), (_SIZE,)),
            Row("board.rows", _says("form_rows"), (_SIZE,)),
            Row("board.wall", _says("form_wall"), (_SIDE,)),
            Row("board.beast", _says("form_beast"), (*_CELL, _SIDE)),
            Row("obstacles", _says("form_obstacles"), _CELL, grows=True),
        ),
    )
    for table, men in (("start", MEN), ("start_solo", SOLO)):
        places = tuple(Row(f"{table}.{man}", _says(man), _CELL) for man in men)
        yield Group(_says(f"form_{table}"), places)


class CardForm:
    """The form of the card set that is played with: the user's file, or the default set."""

    title = _says("form_title")

    def __init__(self, path: Path | None = None) -> None:
        self.groups = tuple(_groups())
        self._path = path

    def filled(self, text: str | None = None) -> Filled:
        """The values of a TOML text over the default set; None: of the set that is played with."""
        cards = card_sets.load(self._path) if text is None else card_sets.parse(text, "TOML")
        rows = [row for group in self.groups for row in group.rows]
        values = {row.key: tuple(_boxes(cards.data, row.key)) for row in rows}
        return Filled(values, {row.key: cards.mark(row.key) for row in rows})

    def faults(self, filled: Filled) -> tuple[Refusal, ...]:
        """What the loader has against these values, each with its row."""
        keys = set(filled.values)
        found = faults({**_data(filled), "provenance": dict(filled.marks)})
        return tuple(Refusal(f.rule, tuple(_row_of(f, keys)), f.values) for f in found)

    def text(self, filled: Filled) -> str:
        """The whole set as TOML: every key with its mark, in the order of the shipped file."""
        cards = card_sets.from_data({**_data(filled), "provenance": {_FIXED: "rulebook", **filled.marks}})
        icons = {space: cards.turn_icon.get(space, NO_ICON) for space in AROUND}
        parts = [_HEAD]
        for table, values in {**cards.data, "turn_icon": icons}.items():
            if table == "characters":
                parts += [_table(cards, f"{table}.{man}", sides) for man, sides in values.items()]
            else:
                parts.append(_table(cards, table, values))
        return "\n".join(parts)


def _row_of(fault: Refusal, keys: set[str]) -> Iterator[str]:
    """The key of the row that a fault is about: `front.3, 2` and `board.beast.cells` lie in rows."""
    where = str(dict(fault.values).get("where", "")).partition(",")[0]
    while where and where not in keys:
        where = where.rpartition(".")[0]
    if where:
        yield where


def _boxes(data: Mapping[str, Any], key: str) -> Iterator[str]:
    """The texts of a row's boxes."""
    if key == "board.beast":
        beast = data["board"]["beast"]
        yield from (*map(str, min(beast["cells"])), beast["facing"])
        return
    value: Any = data
    for part in key.split("."):
        value = value.get(part, NO_ICON)
    yield from _flat(value)


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield str(value)


def _data(filled: Filled) -> dict[str, Any]:
    """The canonical form of what is typed; a text that is no number stays a text, and is a fault."""
    data: dict[str, Any] = {table: {} for table in TABLES}
    data[_FIXED] = dict(card_sets.default().data[_FIXED])
    for key, texts in filled.values.items():
        boxes: list[Json] = [int(text) if text.isascii() and text.isdigit() else text for text in texts]
        table, _, rest = key.partition(".")
        pairs = [boxes[n : n + 2] for n in range(0, len(boxes), 2)]
        if table == "obstacles":
            data[table] = pairs
        elif key == "board.beast":
            corner = (boxes[0], boxes[1])
            cells = [list(cell) for cell in footprint(corner)] if _whole(corner) else [list(corner)]
            data[table][rest] = {"cells": cells, "facing": boxes[2]}
        elif table == "characters":
            man, _, side = rest.partition(".")
            data[table].setdefault(man, {})[side] = pairs
        elif table in ("front", "back", "attack_dice", "start", "start_solo"):
            data[table][rest] = boxes
        elif boxes != [NO_ICON]:
            data[table][rest] = boxes[0]
    return data


def _whole(corner: tuple[Json, Json]) -> bool:
    return all(isinstance(n, int) for n in corner)


def _table(cards: CardSet, name: str, values: Any) -> str:
    """One TOML table with its marks; what is not confirmed says so beside it, for whoever reads the file."""
    rows = {"cells": values} if isinstance(values, list) else values
    marks = {key: cards.mark(name if isinstance(values, list) else f"{name}.{key}") for key in rows}
    whole = next((mark for mark in marks.values() if mark != "owner"), "owner")
    lines = [f"[{name}]", f"provenance = {json.dumps(whole)}"]
    own = ", ".join(f"{key} = {json.dumps(mark)}" for key, mark in marks.items() if mark != whole)
    lines += [f"provenance_of = {{ {own} }}"] if own else []
    lines += [f"{key} = {_value(value)}{_note(marks[key])}" for key, value in rows.items()]
    return "\n".join(lines) + "\n"


def _note(mark: str) -> str:
    return f"  # {mark}" if mark in ("invented", "inferred") else ""


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)
