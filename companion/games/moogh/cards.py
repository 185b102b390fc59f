"""The card set: what is printed on the cards, as data that is checked (`printed.faults`) before it is used.

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

from companion.games.contract import DataUsed, Json, RulesError
from companion.games.moogh.geometry import AROUND, FACINGS, Cell
from companion.games.moogh.printed import NO_ICON, PROVENANCE, SIDES, TABLES, cell_of, fault, faults


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
    for wrong in faults(data):
        raise RulesError(wrong, f"card set: {wrong.rule} {dict(wrong.values)}")
    whole = data.get("provenance", {})
    marks = dict.fromkeys(TABLES, whole) if isinstance(whole, str) else dict(whole)
    data = json.loads(json.dumps({table: data[table] for table in TABLES}))
    board = data["board"]
    return CardSet(
        cols=board["cols"],
        rows_count=board["rows"],
        wall=FACINGS.index(board["wall"]),
        origin=min(cell_of(c) for c in board["beast"]["cells"]),
        facing=FACINGS.index(board["beast"]["facing"]),
        obstacles=frozenset(cell_of(c) for c in data["obstacles"]),
        start={man: cell_of(c) for man, c in data["start"].items()},
        start_solo={man: cell_of(c) for man, c in data["start_solo"].items()},
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


def _error(rule: str, **values: str | int) -> RulesError:
    return RulesError(fault(rule, **values), f"card set: {rule} {values}")
