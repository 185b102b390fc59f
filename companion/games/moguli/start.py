"""How a game of Moguli begins: tiles as they lie, five pawns a side, and the set of tiles a copy of the game holds.

`Setup.start` is `{"tiles": {"a1": ["NE", true], ...}}`: each tile's surface path and triangle. Which tiles there are is
data (`tiles.toml`, or a user's own file of the same form); it decides what a shuffled start is dealt from, and whether
the count of triangles on the table is plausible, which is a warning and no refusal.
"""

from __future__ import annotations

import hashlib
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from companion.games.contract import DataUsed, Json, Look, Message, Refusal, RulesError, Setup
from companion.games.moguli.board import (
    DOORS,
    HOME,
    INDEX,
    NAMES,
    PATH,
    PATHS,
    TRIANGLE,
    code_from_rotation,
    code_of,
    names_in,
)
from companion.games.moguli.looks import read_look
from companion.games.moguli.state import START_PAWNS, State, options_from

KINDS = ("bend", "straight")
PROVENANCES = ("rulebook", "source", "inferred", "invented", "owner")


@dataclass(frozen=True, slots=True)
class TileSet:
    """What one copy of the game holds: (kind, triangle) -> number of tiles, 35 in all; where the numbers come from,
    `provenance_of` for the keys that come from elsewhere than the rest."""

    name: str
    title: str
    provenance: str
    tiles: tuple[tuple[str, bool, int], ...]
    provenance_of: tuple[tuple[str, str], ...] = ()

    @property
    def triangles(self) -> int:
        """How many tiles have the triangle."""
        return sum(count for _, triangle, count in self.tiles if triangle)

    @property
    def hash(self) -> str:
        """A short hash of the contents, kept with a record that used them."""
        return hashlib.sha256(repr(self.tiles).encode()).hexdigest()[:12]


def _fault(key: str, why: str, source: str) -> RulesError:
    return RulesError(
        Refusal("moguli.bad_tile_set", values=(("key", key), ("why", why), ("source", source))),
        f"{source}: {key}: {why}",
    )


def read_tile_sets(text: str, source: str) -> dict[str, TileSet]:
    """The tile sets of a TOML text by name; raises RulesError naming `source`, the key and what is wrong with it."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _fault("the file", f"is no TOML: {error}", source) from error
    return {name: _tile_set(name, table, source) for name, table in tables.items()}


def _tile_set(name: str, table: object, source: str) -> TileSet:
    if not isinstance(table, dict):
        raise _fault(name, "is no table", source)
    provenance = table.get("provenance")
    if provenance not in PROVENANCES:
        raise _fault(f"{name}.provenance", f"is {provenance!r}, must be one of {', '.join(PROVENANCES)}", source)
    unknown = sorted(set(table) - {"title", "provenance", "provenance_of", "tiles"})
    if unknown:
        raise _fault(f"{name}.{unknown[0]}", "is no known key (title, provenance, provenance_of, tiles)", source)
    marks = table.get("provenance_of", {})
    if not isinstance(marks, dict) or not marks.keys() <= {"title", "tiles"}:
        raise _fault(f"{name}.provenance_of", "must map title or tiles to where it comes from", source)
    for key, mark in marks.items():
        if mark not in PROVENANCES:
            raise _fault(f"{name}.provenance_of.{key}", f"is {mark!r}, must be one of {', '.join(PROVENANCES)}", source)
    entries = table.get("tiles")
    if not isinstance(entries, list) or not entries:
        raise _fault(f"{name}.tiles", "must be a list of {kind, triangle, count}", source)
    tiles: list[tuple[str, bool, int]] = []
    for number, entry in enumerate(entries, 1):
        key = f"{name}.tiles {number}"
        if not isinstance(entry, dict) or set(entry) != {"kind", "triangle", "count"}:
            raise _fault(key, "must have exactly kind, triangle and count", source)
        kind, triangle, count = entry["kind"], entry["triangle"], entry["count"]
        if kind not in KINDS:
            raise _fault(f"{key}.kind", f"is {kind!r}, must be one of {', '.join(KINDS)}", source)
        if type(triangle) is not bool:
            raise _fault(f"{key}.triangle", f"is {triangle!r}, must be true or false", source)
        if type(count) is not int or count < 1:
            raise _fault(f"{key}.count", f"is {count!r}, must be a whole number above 0", source)
        if any((kind, triangle) == known[:2] for known in tiles):
            raise _fault(key, f"{kind} with triangle = {str(triangle).lower()} is there twice", source)
        tiles.append((kind, triangle, count))
    total = sum(count for _, _, count in tiles)
    if total != DOORS:
        raise _fault(f"{name}.tiles", f"are {total} tiles, the board takes {DOORS}", source)
    return TileSet(name, str(table.get("title", name)), provenance, tuple(tiles), tuple(sorted(marks.items())))


PUBLISHED = "published"


@cache
def built_in_sets() -> Mapping[str, TileSet]:
    """The tile sets that come with the program."""
    path = Path(__file__).with_name("tiles.toml")
    return read_tile_sets(path.read_text(encoding="utf-8"), path.name)


def tile_set(name: str = PUBLISHED, own: Mapping[str, TileSet] | None = None) -> TileSet:
    """The set of this name, a user's own one before a built-in one; raises RulesError listing those there are."""
    sets = {**built_in_sets(), **(own or {})}
    if name not in sets:
        raise _fault(name, f"is no known tile set ({', '.join(sorted(sets))})", "tile sets")
    return sets[name]


def deal(chance: random.Random, tiles: TileSet | None = None) -> Json:
    """A `Setup.start` with the set's tiles in random order and orientation; the published set by default."""
    chosen = tiles or tile_set()
    codes = [
        code_from_rotation(kind == "straight", triangle, chance.randrange(4))
        for kind, triangle, count in chosen.tiles
        for _ in range(count)
    ]
    chance.shuffle(codes)
    return {**start_of(tuple(codes)), "tile_set": chosen.name, "tile_set_hash": chosen.hash}


def load(path: Path) -> TileSet:
    """The one tile set of a user's own file; raises RulesError that says what is wrong with it, and where."""
    try:
        sets = read_tile_sets(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise _fault("the file", f"cannot be read: {error}", path.name) from error
    if len(sets) != 1:
        raise _fault("the file", f"must hold one tile set, not {len(sets)}", path.name)
    return next(iter(sets.values()))


def used(path: Path | None, options: Mapping[str, str | int | bool]) -> DataUsed:
    """The tile set of the user's file, else the published one."""
    chosen = tile_set() if path is None else load(path)
    start: dict[str, Json] = {"tile_set": chosen.name, "tile_set_hash": chosen.hash}
    if path is not None:
        start["tile_set_tiles"] = [list(entry) for entry in chosen.tiles]
    marks = {chosen.name: chosen.provenance, **{f"{chosen.name}.{key}": mark for key, mark in chosen.provenance_of}}
    return DataUsed(chosen.title, chosen.hash, marks, start)


def dealt(chance: random.Random, given: Json) -> Json:
    """A `Setup.start` dealt from the set that `given` names (`DataUsed.start`)."""
    return {**deal(chance, _set_of(given)), **given}


def _set_of(given: Json) -> TileSet:
    """The tile set that a start names, or holds."""
    name = str(given["tile_set"])
    if "tile_set_tiles" not in given:
        return tile_set(name)
    try:
        tiles = tuple((str(kind), bool(triangle), int(count)) for kind, triangle, count in given["tile_set_tiles"])
    except (TypeError, ValueError) as error:
        raise _fault("tile_set_tiles", f"must be a list of kind, triangle and count: {error}", "start") from error
    return TileSet(name, name, "owner", tiles)


def start_of(tiles: tuple[int, ...]) -> dict[str, Json]:
    """The `Setup.start` with these tile codes."""
    return {"tiles": {NAMES[door]: [PATH[code], TRIANGLE[code]] for door, code in enumerate(tiles)}}


def read_tiles(data: Json) -> tuple[int, ...]:
    """The codes of `{"a1": ["NE", true], ...}`; raises RulesError naming the door that is missing or unreadable."""
    if not isinstance(data, dict):
        raise _bad_tiles("a1-e7", data)
    for name in data:
        if name not in INDEX:
            raise _bad_tiles(str(name), data[name])
    codes = []
    for name in NAMES:
        value = data.get(name)
        if not (isinstance(value, list | tuple) and len(value) == 2) or value[0] not in PATHS:
            raise _bad_tiles(name, value)
        if type(value[1]) is not bool:
            raise _bad_tiles(name, value)
        codes.append(code_of(value[0], value[1]))
    return tuple(codes)


def _bad_tiles(name: str, value: object) -> RulesError:
    return RulesError(
        Refusal("moguli.bad_tiles", (name,) if name in INDEX else (), (("place", name), ("value", repr(value)))),
        f'tile {name} cannot be {value!r}; a tile looks like ["NE", true], for every door from a1 to e7',
    )


def new(setup: Setup) -> State:
    """The state before the first turn; raises RulesError on a wrong number of players, option or start."""
    if len(setup.players) != 2:
        raise RulesError(
            Refusal("moguli.two_players", values=(("count", len(setup.players)),)),
            f"Moguli is for two players, not {len(setup.players)}",
        )
    options = options_from(setup.options)
    if not isinstance(setup.start, dict) or "tiles" not in setup.start:
        raise RulesError(
            Refusal("moguli.no_start", values=(("start", repr(setup.start)),)),
            f"a game of Moguli needs a start with the tiles as they lie, not {setup.start!r}",
        )
    return State(
        read_tiles(setup.start["tiles"]),
        START_PAWNS,
        options=options,
        setup=0 if options.new_starting_row else None,
        odd=start_warnings(setup.start, _set_of(setup.start)) if "tile_set" in setup.start else (),
    )


def start_from_look(look: Look) -> Json | tuple[Refusal, ...]:
    """The start of a table that looks so, or each door on which the pawns are not as they must be."""
    tiles, pawns = read_look(look)
    found: list[Refusal] = []
    for player in range(2):
        home, foe_home = HOME[player], HOME[1 - player]
        mine, theirs = pawns[player], pawns[1 - player]
        row = "1" if player == 0 else "7"
        cases = (
            ("moguli.start_missing", home & ~mine & ~theirs),
            ("moguli.start_wrong_side", foe_home & mine),
            ("moguli.start_astray", mine & ~home & ~foe_home),
        )
        for rule, mask in cases:
            if mask:
                places = names_in(mask)
                values = (("player", f"#{player}"), ("row", row), ("places", ", ".join(places)))
                found.append(Refusal(rule, places, values))
    return tuple(found) if found else start_of(tiles)


def start_warnings(start: Json, tiles: TileSet | None = None) -> tuple[Message, ...]:
    """What is implausible about a start, never a refusal: other triangles or straights than the set holds."""
    chosen = tiles or tile_set()
    codes = read_tiles(start["tiles"])
    triangles = sum(TRIANGLE[code] for code in codes)
    straights = sum(PATH[code] in ("NS", "EW") for code in codes)
    expected = sum(count for kind, _, count in chosen.tiles if kind == "straight")
    found = []
    if triangles != chosen.triangles:
        found.append(Message("moguli.triangle_count", (("count", triangles), ("expected", chosen.triangles))))
    if straights != expected:
        found.append(Message("moguli.straight_count", (("count", straights), ("expected", expected))))
    return tuple(found)
