"""The card set: what is printed on the cards, as data that is checked before it is used.

The canonical form (`CardSet.data`) is one JSON object: `board`, `start`, `start_solo`, `obstacles`, `angle`,
`turn_icon`, `attack_dice`, `save`, `arrows`, `front`, `back`, `characters`. A TOML file has the same tables, each with
a `provenance` (`provenance_of` maps single keys to another one), and `obstacles.cells` for the list. A user's file
gives only what differs from the default set.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from companion.games.contract import DataUsed, Json, Refusal, RulesError
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


@dataclass(frozen=True, slots=True, eq=False)
class CardSet:
    """A checked card set; equal when `data` is equal.

    `rows[side][rage]` is a row of beast actions, `pairs[man][hurt]` the arrows of his card's side, `provenance` maps
    a table (`front`) or one overridden key of it (`front.3`) to where its values come from.
    """

    cols: int
    rows_count: int
    wall: int
    origin: Cell
    facing: int
    obstacles: frozenset[Cell]
    start: Mapping[str, Cell]
    start_solo: Mapping[str, Cell]
    angle: Mapping[str, int]
    turn_icon: Mapping[str, str]
    attack_dice: Mapping[int, tuple[str, str]]
    save: Mapping[int, int]
    arrows: Mapping[int, int]
    rows: Mapping[str, Mapping[int, tuple[str, ...]]]
    pairs: Mapping[str, tuple[tuple[tuple[str, str], ...], ...]]
    data: Mapping[str, Json]
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CardSet) and (self is other or self.data == other.data)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def columns(self) -> int:
        """How many columns each side of the action card has."""
        return len(self.rows["front"][1])

    @property
    def digest(self) -> str:
        """SHA-256 of the values (not of their provenance) in hexadecimal: which set a game was played with."""
        return hashlib.sha256(json.dumps(self.data, sort_keys=True).encode()).hexdigest()

    @property
    def marked(self) -> dict[str, Json]:
        """The values together with where they come from; `from_data` takes both."""
        return {**self.data, "provenance": dict(self.provenance)}

    def mark(self, key: str) -> str:
        """Where the value of a key (`front.3`, `characters.red.fit`, `obstacles`) comes from; empty where nobody has
        said it."""
        while key and key not in self.provenance:
            key = key.rpartition(".")[0]
        return self.provenance.get(key, "")

    @property
    def invented(self) -> bool:
        """Whether any value is still one that nobody has read from a card."""
        return any(self.mark(key) == "invented" for key in keys_of(self.data))


def load(path: Path | None = None) -> CardSet:
    """The default set, with the keys of the user's TOML file in place of its own; raises RulesError on nonsense."""
    if path is None:
        return default()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _error("moogh.cards_unreadable", file=path.name, error=str(error)) from error
    return parse(text, path.name)


def parse(text: str, name: str) -> CardSet:
    """The default set, with the keys of a TOML text in place of its own; `name` is told where it is no TOML."""
    try:
        user = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _error("moogh.cards_unreadable", file=name, error=str(error)) from error
    data, provenance = _plain(_shipped())
    changed, marks = _plain(user, partial=True)
    for table, values in changed.items():
        if table == "obstacles":
            data[table], provenance[table] = values, marks[table]
        elif table == "characters":
            data[table] = {**data[table], **{man: {**data[table].get(man, {}), **new} for man, new in values.items()}}
            for man, new in values.items():
                for side in new:
                    where = f"characters.{man}"
                    provenance[f"{where}.{side}"] = marks.get(f"{where}.{side}", marks[where])
        else:
            data[table] = {**data[table], **values}
            provenance.update({f"{table}.{key}": marks.get(f"{table}.{key}", marks[table]) for key in values})
    data["turn_icon"] = {space: way for space, way in data["turn_icon"].items() if way != NO_ICON}
    return from_data(data, provenance)


def used(path: Path | None, options: Mapping[str, str | int | bool]) -> DataUsed:
    """The default card set, with the user's file over it."""
    cards = load(path)
    name = "default" if path is None else path.stem
    return DataUsed(name, cards.digest, cards.provenance, {} if path is None else {"cards": cards.marked})


@cache
def default() -> CardSet:
    """The set that ships with the companion; invented where the rulebook does not say."""
    return from_data(*_plain(_shipped()))


def from_data(data: Json, provenance: Mapping[str, str] | None = None) -> CardSet:
    """The set of a canonical JSON object; raises RulesError with the first fault, its place and what was wanted.

    A `provenance` inside the data, a string for the whole set or one a table or key, is taken over.
    """
    for fault in faults(data):
        raise RulesError(fault, f"card set: {fault.rule} {dict(fault.values)}")
    whole = data.get("provenance", {})
    marks = dict.fromkeys(TABLES, whole) if isinstance(whole, str) else dict(whole)
    data = json.loads(json.dumps({table: data[table] for table in TABLES}))
    board = data["board"]
    return CardSet(
        cols=board["cols"],
        rows_count=board["rows"],
        wall=FACINGS.index(board["wall"]),
        origin=min(_cell(c) for c in board["beast"]["cells"]),
        facing=FACINGS.index(board["beast"]["facing"]),
        obstacles=frozenset(_cell(c) for c in data["obstacles"]),
        start={man: _cell(c) for man, c in data["start"].items()},
        start_solo={man: _cell(c) for man, c in data["start_solo"].items()},
        angle=data["angle"],
        turn_icon=data["turn_icon"],
        attack_dice={int(n): (pair[0], pair[1]) for n, pair in data["attack_dice"].items()},
        save={int(n): value for n, value in data["save"].items()},
        arrows={int(n): value for n, value in data["arrows"].items()},
        rows={side: {int(n): tuple(row) for n, row in data[side].items()} for side in ("front", "back")},
        pairs={
            man: tuple(tuple((pair[0], pair[1]) for pair in sides[side]) for side in SIDES)
            for man, sides in data["characters"].items()
        },
        data=data,
        provenance={**marks, **(provenance or {})},
    )


def keys_of(data: Mapping[str, Any]) -> Iterator[str]:
    """Every value of a card set that has a provenance of its own."""
    for table in TABLES:
        if table == "obstacles":
            yield table
        elif table == "characters":
            yield from (f"{table}.{man}.{side}" for man in data[table] for side in data[table][man])
        else:
            yield from (f"{table}.{key}" for key in (AROUND if table == "turn_icon" else data[table]))


def faults(data: Json) -> Iterator[Refusal]:
    """Everything that is wrong with a card set in canonical form, most basic things first."""
    if not isinstance(data, Mapping):
        yield _fault("moogh.cards_type", where="card set", got=type(data).__name__)
        return
    missing = [table for table in TABLES if table not in data]
    yield from (_fault("moogh.cards_missing", where=table) for table in missing)
    for key in data:
        if key not in TABLES and key != "provenance":
            yield _fault("moogh.cards_unknown", where=key)
    marks = data.get("provenance", {})
    for where, mark in marks.items() if isinstance(marks, Mapping) else [("provenance", marks)]:
        if mark not in PROVENANCE:
            yield _fault("moogh.cards_provenance", where=str(where), got=str(mark))
    for table in TABLES:
        wanted = list if table == "obstacles" else Mapping
        if table not in missing and not isinstance(data[table], wanted):
            yield _fault("moogh.cards_type", where=table, got=repr(data[table]))
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
                yield _fault("moogh.cards_type", where=where, got=repr(row))
                continue
            columns = columns or len(row)
            if len(row) != columns:
                yield _fault("moogh.cards_columns", where=where, got=len(row), wanted=columns)
            for number, action in enumerate(row, 1):
                if not isinstance(action, str) or action.removesuffix("*") not in BEAST_ACTIONS:
                    yield _fault("moogh.cards_beast_action", where=f"{where}, {number}", got=str(action))
    front, back = data["front"].get("3"), data["back"].get("3")
    if isinstance(front, list) and front and str(front[-1]).removesuffix("*") != "T":
        yield _fault("moogh.cards_printed", where=f"front.3, {len(front)}", got=str(front[-1]), wanted="T")
    if isinstance(back, list) and back and str(back[0]).removesuffix("*") != "S":
        yield _fault("moogh.cards_printed", where="back.3, 1", got=str(back[0]), wanted="S")


def _spaces(data: Mapping[str, Any]) -> Iterator[Refusal]:
    yield from _keys("attack_dice", data["attack_dice"], [str(rage) for rage in _RAGES])
    for face, pair in data["attack_dice"].items():
        if not isinstance(pair, list) or len(pair) != 2 or len({str(s) for s in pair}) != 2:
            yield _fault("moogh.cards_two_spaces", where=f"attack_dice.{face}", got=str(pair))
            continue
        for space in pair:
            if space not in AROUND:
                yield _fault("moogh.cards_space", where=f"attack_dice.{face}", got=str(space))
    yield from _keys("angle", data["angle"], [*AROUND, "TOP"])
    for space, angle in data["angle"].items():
        if not _whole(angle, 0, 6):
            yield _number(f"angle.{space}", angle, 0, 6)
    for space, way in data["turn_icon"].items():
        if space not in AROUND or way not in ("left", "right"):
            yield _fault("moogh.cards_turn_icon", where=f"turn_icon.{space}", got=str(way))


def _characters(data: Mapping[str, Any]) -> Iterator[Refusal]:
    yield from _keys("characters", data["characters"], list(MEN))
    for man, sides in data["characters"].items():
        if not isinstance(sides, Mapping):
            yield _fault("moogh.cards_type", where=f"characters.{man}", got=repr(sides))
            continue
        yield from _keys(f"characters.{man}", sides, list(SIDES))
        for side, arrows in sides.items():
            where = f"characters.{man}.{side}"
            if not isinstance(arrows, list) or not arrows:
                yield _fault("moogh.cards_no_arrow", where=where)
                continue
            for number, pair in enumerate(arrows, 1):
                if not isinstance(pair, list) or len(pair) != 2:
                    yield _fault("moogh.cards_pair", where=f"{where}, {number}", got=str(pair))
                    continue
                for action in pair:
                    if action not in ACTIONS:
                        yield _fault("moogh.cards_action", where=f"{where}, {number}", got=str(action))


def _scenery(data: Mapping[str, Any]) -> Iterator[Refusal]:
    board = data["board"]
    yield from _keys("board", board, ["cols", "rows", "wall", "beast"])
    sizes = [board.get("cols"), board.get("rows")]
    for name, size in zip(("cols", "rows"), sizes, strict=True):
        if not _whole(size, 4, _MOST_CELLS):
            yield _number(f"board.{name}", size, 4, _MOST_CELLS)
            return
    if board.get("wall") not in FACINGS:
        yield _fault("moogh.cards_side", where="board.wall", got=str(board.get("wall")))
    beast = board.get("beast")
    if not isinstance(beast, Mapping) or not isinstance(beast.get("cells"), list):
        yield _fault("moogh.cards_type", where="board.beast", got=repr(beast))
        return
    if beast.get("facing") not in FACINGS:
        yield _fault("moogh.cards_side", where="board.beast.facing", got=str(beast.get("facing")))
    cells = [_cell(c) if _is_cell(c) else None for c in beast["cells"]]
    corner = min((c for c in cells if c), default=(0, 0))
    if len(cells) != 4 or set(cells) != set(footprint(corner)):
        yield _fault("moogh.cards_beast", where="board.beast.cells", got=str(beast["cells"]))
        return
    for table, men in (("start", MEN), ("start_solo", SOLO)):
        yield from _keys(table, data[table], list(men))
        taken: dict[Cell, str] = dict.fromkeys(footprint(corner), "board.beast")
        places = [(f"obstacles, {n}", c) for n, c in enumerate(data["obstacles"], 1)]
        places += [(f"{table}.{man}", c) for man, c in data[table].items()]
        for where, cell in [("board.beast", list(c)) for c in taken] + places:
            if not _is_cell(cell) or not (0 <= cell[0] < sizes[0] and 0 <= cell[1] < sizes[1]):
                yield _fault("moogh.cards_off_board", where=where, got=str(cell))
            elif where != "board.beast":
                if _cell(cell) in taken:
                    yield _fault("moogh.cards_taken", where=where, got=str(cell), other=taken[_cell(cell)])
                taken[_cell(cell)] = where


def _keys(where: str, table: Mapping[str, Any], wanted: list[str]) -> Iterator[Refusal]:
    yield from (_fault("moogh.cards_missing", where=f"{where}.{key}") for key in wanted if key not in table)
    yield from (_fault("moogh.cards_unknown", where=f"{where}.{key}") for key in table if key not in wanted)


def _plain(tables: Mapping[str, Any], partial: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """A TOML file's tables in canonical form, and their provenance by table (or `characters.red`)."""
    data: dict[str, Any] = {}
    provenance: dict[str, str] = {}
    for table, values in tables.items():
        if table not in TABLES:
            raise _error("moogh.cards_unknown", where=table)
        if not isinstance(values, Mapping):
            raise _error("moogh.cards_type", where=table, got=repr(values))
        if table == "characters":
            nested = {man: _without_mark(f"{table}.{man}", sides, provenance, partial) for man, sides in values.items()}
            data[table] = nested
            continue
        plain = _without_mark(table, values, provenance, partial)
        if table == "obstacles":
            if set(plain) != {"cells"}:
                raise _error("moogh.cards_missing", where="obstacles.cells")
            data[table] = plain["cells"]
        else:
            data[table] = plain
    return data, provenance


def _without_mark(where: str, values: Any, provenance: dict[str, str], partial: bool) -> Any:
    if not isinstance(values, Mapping):
        raise _error("moogh.cards_type", where=where, got=repr(values))
    mark = values.get("provenance", "owner" if partial else None)
    if mark not in PROVENANCE:
        raise _error("moogh.cards_provenance", where=where, got=str(mark))
    provenance[where] = mark
    plain = {key: value for key, value in values.items() if key not in ("provenance", "provenance_of")}
    of = values.get("provenance_of", {})
    if not isinstance(of, Mapping):
        raise _error("moogh.cards_type", where=f"{where}.provenance_of", got=repr(of))
    for key, own in of.items():
        if key not in plain:
            raise _error("moogh.cards_missing", where=f"{where}.{key}")
        if own not in PROVENANCE:
            raise _error("moogh.cards_provenance", where=f"{where}.{key}", got=str(own))
        provenance[f"{where}.{key}"] = own
    return plain


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "cards.toml").read_text(encoding="utf-8"))


def _is_cell(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(_whole(n, -99, 99) for n in value)


def _cell(value: Any) -> Cell:
    return value[0], value[1]


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _number(where: str, got: object, low: int, high: int) -> Refusal:
    return _fault("moogh.cards_number", where=where, got=str(got), low=low, high=high)


def _fault(rule: str, **values: str | int) -> Refusal:
    return Refusal(rule, values=tuple(values.items()))


def _error(rule: str, **values: str | int) -> RulesError:
    return RulesError(_fault(rule, **values), f"card set: {rule} {values}")
