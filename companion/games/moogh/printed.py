"""What may be printed on the cards: the words of a card set, and everything that is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from companion.games.contract import Json, Refusal
from companion.games.moogh.geometry import AROUND, FACINGS, Cell, footprint

MEN = ("red", "white", "brown", "green")
"""The tribesmen in the order in which simultaneous things happen to them (R-18)."""
SOLO = ("red", "green")
PROVENANCE = ("rulebook", "source", "inferred", "invented", "owner")
BEAST_ACTIONS = ("M1", "M2", "M3", "B1", "A1", "A2", "S", "T", "TA")
ACTIONS = ("M1", "M2", "Stab", "DS", "Aim", "Grab", "Climb", "Throw", "Sedate", "AS")
TABLES = (
    "board",
    "start",
    "start_solo",
    "obstacles",
    "angle",
    "turn_icon",
    "attack_dice",
    "save",
    "arrows",
    "front",
    "back",
    "characters",
)
SIDES = ("fit", "hurt")
NO_ICON = "none"
"""What a user's file says of a space that has a turn icon in the default set and none on the printed card."""
_RAGES = range(1, 7)
_MOST_CELLS = 40


def faults(data: Json) -> Iterator[Refusal]:
    """Everything that is wrong with a card set in canonical form, most basic things first."""
    if not isinstance(data, Mapping):
        yield fault("moogh.cards_type", where="card set", got=type(data).__name__)
        return
    missing = [table for table in TABLES if table not in data]
    yield from (fault("moogh.cards_missing", where=table) for table in missing)
    for key in data:
        if key not in TABLES and key != "provenance":
            yield fault("moogh.cards_unknown", where=key)
    marks = data.get("provenance", {})
    for where, mark in marks.items() if isinstance(marks, Mapping) else [("provenance", marks)]:
        if mark not in PROVENANCE:
            yield fault("moogh.cards_provenance", where=str(where), got=str(mark))
    for table in TABLES:
        wanted = list if table == "obstacles" else Mapping
        if table not in missing and not isinstance(data[table], wanted):
            yield fault("moogh.cards_type", where=table, got=repr(data[table]))
            missing.append(table)
    if missing:
        return
    yield from _numbers(data, "save", 1, 6, ())
    yield from _numbers(data, "arrows", 1, 3, (1, 1, 2, 2, 3, 3))
    yield from _rows(data)
    yield from _spaces(data)
    yield from _characters(data)
    yield from _scenery(data)


def _numbers(data: Mapping[str, Any], table: str, low: int, high: int, exactly: tuple[int, ...]) -> Iterator[Refusal]:
    """Six rows, one whole number each; `exactly` gives the printed numbers where they are known."""
    values = data[table]
    yield from _keys(table, values, [str(rage) for rage in _RAGES])
    for rage in _RAGES:
        value = values.get(str(rage), low)
        lowest, highest = (exactly[rage - 1],) * 2 if exactly else (low, high)
        if not _whole(value, lowest, highest):
            yield _number(f"{table}.{rage}", value, lowest, highest)


def _rows(data: Mapping[str, Any]) -> Iterator[Refusal]:
    columns = 0
    for side in ("front", "back"):
        yield from _keys(side, data[side], [str(rage) for rage in _RAGES])
        for rage in _RAGES:
            where, row = f"{side}.{rage}", data[side].get(str(rage))
            if row is None:
                continue
            if not isinstance(row, list) or not row:
                yield fault("moogh.cards_type", where=where, got=repr(row))
                continue
            columns = columns or len(row)
            if len(row) != columns:
                yield fault("moogh.cards_columns", where=where, got=len(row), wanted=columns)
            for number, action in enumerate(row, 1):
                if not isinstance(action, str) or action.removesuffix("*") not in BEAST_ACTIONS:
                    yield fault("moogh.cards_beast_action", where=f"{where}, {number}", got=str(action))
    front, back = data["front"].get("3"), data["back"].get("3")
    if isinstance(front, list) and front and str(front[-1]).removesuffix("*") != "T":
        yield fault("moogh.cards_printed", where=f"front.3, {len(front)}", got=str(front[-1]), wanted="T")
    if isinstance(back, list) and back and str(back[0]).removesuffix("*") != "S":
        yield fault("moogh.cards_printed", where="back.3, 1", got=str(back[0]), wanted="S")


def _spaces(data: Mapping[str, Any]) -> Iterator[Refusal]:
    yield from _keys("attack_dice", data["attack_dice"], [str(rage) for rage in _RAGES])
    for face, pair in data["attack_dice"].items():
        if not isinstance(pair, list) or len(pair) != 2 or len({str(s) for s in pair}) != 2:
            yield fault("moogh.cards_two_spaces", where=f"attack_dice.{face}", got=str(pair))
            continue
        for space in pair:
            if space not in AROUND:
                yield fault("moogh.cards_space", where=f"attack_dice.{face}", got=str(space))
    yield from _keys("angle", data["angle"], [*AROUND, "TOP"])
    for space, angle in data["angle"].items():
        if not _whole(angle, 0, 6):
            yield _number(f"angle.{space}", angle, 0, 6)
    for space, way in data["turn_icon"].items():
        if space not in AROUND or way not in ("left", "right"):
            yield fault("moogh.cards_turn_icon", where=f"turn_icon.{space}", got=str(way))


def _characters(data: Mapping[str, Any]) -> Iterator[Refusal]:
    yield from _keys("characters", data["characters"], list(MEN))
    for man, sides in data["characters"].items():
        if not isinstance(sides, Mapping):
            yield fault("moogh.cards_type", where=f"characters.{man}", got=repr(sides))
            continue
        yield from _keys(f"characters.{man}", sides, list(SIDES))
        for side, arrows in sides.items():
            where = f"characters.{man}.{side}"
            if not isinstance(arrows, list) or not arrows:
                yield fault("moogh.cards_no_arrow", where=where)
                continue
            for number, pair in enumerate(arrows, 1):
                if not isinstance(pair, list) or len(pair) != 2:
                    yield fault("moogh.cards_pair", where=f"{where}, {number}", got=str(pair))
                    continue
                for action in pair:
                    if action not in ACTIONS:
                        yield fault("moogh.cards_action", where=f"{where}, {number}", got=str(action))


def _scenery(data: Mapping[str, Any]) -> Iterator[Refusal]:
    board = data["board"]
    yield from _keys("board", board, ["cols", "rows", "wall", "beast"])
    sizes = [board.get("cols"), board.get("rows")]
    for name, size in zip(("cols", "rows"), sizes, strict=True):
        if not _whole(size, 4, _MOST_CELLS):
            yield _number(f"board.{name}", size, 4, _MOST_CELLS)
            return
    if board.get("wall") not in FACINGS:
        yield fault("moogh.cards_side", where="board.wall", got=str(board.get("wall")))
    beast = board.get("beast")
    if not isinstance(beast, Mapping) or not isinstance(beast.get("cells"), list):
        yield fault("moogh.cards_type", where="board.beast", got=repr(beast))
        return
    if beast.get("facing") not in FACINGS:
        yield fault("moogh.cards_side", where="board.beast.facing", got=str(beast.get("facing")))
    cells = [cell_of(c) if _is_cell(c) else None for c in beast["cells"]]
    corner = min((c for c in cells if c), default=(0, 0))
    if len(cells) != 4 or set(cells) != set(footprint(corner)):
        yield fault("moogh.cards_beast", where="board.beast.cells", got=str(beast["cells"]))
        return
    for table, men in (("start", MEN), ("start_solo", SOLO)):
        yield from _keys(table, data[table], list(men))
        taken: dict[Cell, str] = dict.fromkeys(footprint(corner), "board.beast")
        places = [(f"obstacles, {n}", c) for n, c in enumerate(data["obstacles"], 1)]
        places += [(f"{table}.{man}", c) for man, c in data[table].items()]
        for where, cell in [("board.beast", list(c)) for c in taken] + places:
            if not _is_cell(cell) or not (0 <= cell[0] < sizes[0] and 0 <= cell[1] < sizes[1]):
                yield fault("moogh.cards_off_board", where=where, got=str(cell))
            elif where != "board.beast":
                if cell_of(cell) in taken:
                    yield fault("moogh.cards_taken", where=where, got=str(cell), other=taken[cell_of(cell)])
                taken[cell_of(cell)] = where


def _keys(where: str, table: Mapping[str, Any], wanted: list[str]) -> Iterator[Refusal]:
    yield from (fault("moogh.cards_missing", where=f"{where}.{key}") for key in wanted if key not in table)
    yield from (fault("moogh.cards_unknown", where=f"{where}.{key}") for key in table if key not in wanted)


def _is_cell(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(_whole(n, -99, 99) for n in value)


def cell_of(value: Any) -> Cell:
    """The cell of a pair of numbers."""
    return value[0], value[1]


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _number(where: str, got: object, low: int, high: int) -> Refusal:
    return fault("moogh.cards_number", where=where, got=str(got), low=low, high=high)


def fault(rule: str, **values: str | int) -> Refusal:
    """One thing that is wrong with a card set, as its message wants it."""
    return Refusal(rule, values=tuple(values.items()))
