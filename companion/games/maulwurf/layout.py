"""Boards of Die Maulwurfshöhle: cells, corners with their start cells, caves and tunnel entrances, read from TOML."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from companion.games.contract import DataUsed, Json, Refusal, RulesError

BUILT_IN = ("diamond181", "square13")
PROVENANCES = ("rulebook", "source", "inferred", "invented", "owner")
TABLES = ("cells", "corners", "starts", "caves", "tunnels")
MOLES = 9
CORNERS = 4
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
ORTHOGONAL = ((0, 1), (1, 0), (0, -1), (-1, 0))
_CELL = re.compile(r"(-?\d{1,3})(?:\.\.(-?\d{1,3}))?,(-?\d{1,3})")


class Act(NamedTuple):
    """One act of a turn. `kind` is "step", "push", "dig", "pass", "resign" or "draw"; `start` and `to` are cells `x,y`
    (a push goes `to` the cell of the first tile pushed); a resignation's `start` is the player's index."""

    kind: str
    start: str = ""
    to: str = ""


class Ray(NamedTuple):
    """One of a cell's eight directions: the neighbour, the cells beyond it up to the edge, and the two acts."""

    near: int
    beyond: tuple[int, ...]
    step: Act
    push: Act


@dataclass(frozen=True, slots=True)
class Tables:
    """What the rules look up, by cell index (the cells' order in the layout)."""

    index: Mapping[str, int]
    rays: tuple[tuple[Ray, ...], ...]
    is_cave: bytes
    is_tunnel: bytes
    caves: tuple[int, ...]
    tunnels: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]
    rings: tuple[tuple[int, tuple[int, ...]], ...]
    digs: Mapping[int, Mapping[int, Act]]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """One board. Cells are `x,y`; `corners`, `caves` and `tunnels` keep the file's order, which the rules refer to.

    `starts` holds the nine start cells of each corner. `provenance` says per table (`cells`, `corners`, ...) or per
    key (`caves.at`) where it comes from. `tables` is derived. Equal contents compare equal.
    """

    name: str
    cells: tuple[str, ...]
    corners: tuple[str, ...]
    starts: tuple[tuple[str, ...], ...]
    caves: tuple[str, ...]
    tunnels: tuple[str, ...]
    provenance: Mapping[str, str] = field(default_factory=dict)
    tables: Tables = field(init=False, repr=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "tables", _tables(self))
        text = json.dumps(to_data(self), sort_keys=True, separators=(",", ":"))
        object.__setattr__(self, "digest", hashlib.sha256(text.encode()).hexdigest()[:16])

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Layout) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def adjacent_tunnels(self) -> tuple[tuple[str, str], ...]:
        """Pairs of entrances that touch (eight directions): a warning, since digs there are easily confused."""
        t = self.tables
        pairs = [(a, ray.near) for a in t.tunnels for ray in t.rays[a] if t.is_tunnel[ray.near]]
        named = ((self.cells[a], self.cells[b]) for a, b in pairs)
        return tuple(sorted((p for p in named if xy(p[0]) < xy(p[1])), key=lambda p: (xy(p[0]), xy(p[1]))))


def xy(cell: str) -> tuple[int, int]:
    """The coordinates of a cell name."""
    x, _, y = cell.partition(",")
    return int(x), int(y)


def load(text: str) -> Layout:
    """The layout of a TOML file's text; raises RulesError that says what is wrong at which cells.

    Tables `cells`, `corners`, `caves`, `tunnels` with `at`, a list of `"x,y"` or of runs `"x..x,y"`, and `starts` with
    one list per corner (`first` to `fourth`); each with a `provenance`, overridden per key by `provenance_of`.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _refuse("layout_unreadable", (), f"the layout is no TOML: {error}", reason=str(error))
    known = {"name", "version", *TABLES}
    for key in data:
        if key not in known:
            _refuse("layout_unreadable", (), f"unknown key {key!r} in the layout", reason=key)
    if data.get("version") != 1:
        _refuse("layout_unreadable", (), f"layout version {data.get('version')!r}, known is 1", reason="version")
    parts: dict[str, Any] = {"name": data.get("name")}
    provenance: dict[str, str] = {}
    for table in TABLES:
        content = data.get(table)
        if not isinstance(content, dict):
            _refuse("layout_unreadable", (), f"the layout has no table [{table}]", reason=table)
        _provenance(table, content, provenance)
        if table == "starts":
            parts[table] = [content.get(k) for k in ("first", "second", "third", "fourth") if k in content]
        else:
            parts[table] = content.get("at")
    return from_data(parts, provenance)


def from_data(data: Json, provenance: Mapping[str, str] | None = None) -> Layout:
    """The layout of plain lists (`name`, `cells`, `corners`, `starts`, `caves`, `tunnels`); raises RulesError."""
    if not isinstance(data, dict) or not isinstance(data.get("name"), str) or not data["name"]:
        _refuse("layout_unreadable", (), "a layout needs a name", reason="name")
    if not re.fullmatch(r"[\w-]+", data["name"]):
        _refuse(
            "layout_unreadable", (), f"a layout's name is letters, digits, - and _: {data['name']!r}", reason="name"
        )
    starts = data.get("starts")
    if not isinstance(starts, list):
        _refuse("layout_unreadable", (), "a layout needs start cells for each corner", reason="starts")
    return Layout(
        name=data["name"],
        cells=_names(data.get("cells"), "cells"),
        corners=_names(data.get("corners"), "corners"),
        starts=tuple(_names(cells, "starts") for cells in starts),
        caves=_names(data.get("caves"), "caves"),
        tunnels=_names(data.get("tunnels"), "tunnels"),
        provenance=dict(provenance or {}),
    )


def to_data(layout: Layout) -> Json:
    """The layout as JSON that `from_data` reads back (without its provenance)."""
    return {
        "name": layout.name,
        "cells": list(layout.cells),
        "corners": list(layout.corners),
        "starts": [list(s) for s in layout.starts],
        "caves": list(layout.caves),
        "tunnels": list(layout.tunnels),
    }


@cache
def built_in(name: str) -> Layout:
    """The layout of a name in BUILT_IN; raises RulesError for another name."""
    if name not in BUILT_IN:
        _refuse("layout_unknown", (), f"there is no layout {name!r}; known: {', '.join(BUILT_IN)}", name=name)
    return load(resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def used(path: Path | None, options: Mapping[str, str | int | bool]) -> DataUsed:
    """The board of the user's file, else the built-in one that the option `layout` names."""
    if path is None:
        name = options.get("layout", BUILT_IN[0])
        layout = built_in(str(name) if name in BUILT_IN else BUILT_IN[0])
        return DataUsed(layout.name, layout.digest, layout.provenance, {})
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _refuse("layout_unreadable", (), f"{path.name}: {error}", reason=f"{path.name}: {error}")
    layout = load(text)
    # The camera reads the cells of the board that the option names; where moles start makes no difference to it.
    printed = built_in(str(options.get("layout", BUILT_IN[0])))
    alike = all(set(getattr(layout, part)) == set(getattr(printed, part)) for part in ("cells", "caves", "tunnels"))
    return DataUsed(layout.name, layout.digest, layout.provenance, {"layout": to_data(layout)}, alike)


def _refuse(rule: str, places: Iterable[str], text: str, **values: str) -> NoReturn:
    where = tuple(places)
    if where:
        values["cells"] = " ".join(where)
        text = f"{text}: {' '.join(where)}"
    raise RulesError(Refusal(f"maulwurf.{rule}", where, tuple(values.items())), text)


def _provenance(table: str, content: Mapping[str, Any], into: dict[str, str]) -> None:
    given = {table: content.get("provenance")}
    overrides = content.get("provenance_of", {})
    if not isinstance(overrides, dict):
        _refuse("layout_unreadable", (), f"[{table}] provenance_of must be a table", reason=table)
    for key, value in overrides.items():
        if key not in content:
            _refuse("layout_unreadable", (), f"[{table}] provenance_of names {key!r}, which is not there", reason=key)
        given[f"{table}.{key}"] = value
    for key, value in given.items():
        if value not in PROVENANCES:
            _refuse(
                "layout_unreadable", (), f"{key}: provenance {value!r}, known: {', '.join(PROVENANCES)}", reason=key
            )
        into[key] = str(value)


def _names(cells: Any, table: str) -> tuple[str, ...]:
    """Cell names of a list of `x,y` and runs `x..x,y`."""
    if not isinstance(cells, list):
        _refuse("layout_unreadable", (), f"{table} must be a list of cells", reason=table)
    names: list[str] = []
    for cell in cells:
        match = _CELL.fullmatch(cell) if isinstance(cell, str) else None
        if match is None:
            _refuse(
                "layout_unreadable", (), f"{table}: {cell!r} is no cell like 3,-2 or run like -1..1,8", reason=table
            )
        first, last, y = int(match[1]), int(match[2] or match[1]), int(match[3])
        if last < first:
            _refuse("layout_unreadable", (), f"{table}: the run {cell!r} goes backwards", reason=table)
        names += [f"{x},{y}" for x in range(first, last + 1)]
    return tuple(names)


def _check(layout: Layout) -> None:
    """Raises RulesError with the first thing that makes the layout unplayable."""
    cells, caves, tunnels = set(layout.cells), set(layout.caves), set(layout.tunnels)
    for table, names in (("cells", layout.cells), ("caves", layout.caves), ("tunnels", layout.tunnels)):
        twice = {n for n in names if names.count(n) > 1} if len(set(names)) < len(names) else set()
        if twice:
            _refuse("layout_cell_twice", sorted(twice, key=xy), f"a cell is listed twice in {table}", table=table)
    if len(layout.corners) != CORNERS or len(set(layout.corners)) != CORNERS or len(layout.starts) != CORNERS:
        _refuse("layout_corners", layout.corners, "a layout needs four corners, each with its start cells")
    if odd := [c for c in layout.corners if c not in cells]:
        _refuse("layout_corner_no_cell", odd, "a corner is no cell")
    for table, names in (("starts", sum(layout.starts, ())), ("caves", layout.caves), ("tunnels", layout.tunnels)):
        if odd := [c for c in names if c not in cells]:
            _refuse("layout_no_cell", odd, f"listed in {table} but no cell", table=table)
    starts = sum(layout.starts, ())
    if overlap := sorted({c for c in starts if starts.count(c) > 1}, key=xy):
        _refuse("layout_starts_overlap", overlap, "start cells overlap")
    if taken := [c for c in starts if c in caves or c in tunnels]:
        _refuse("layout_start_taken", taken, "a start cell is a cave or a tunnel entrance")
    for corner, start in zip(layout.corners, layout.starts, strict=True):
        if len(start) < MOLES:
            _refuse("layout_few_starts", [corner], f"{len(start)} start cells, nine are needed")
        if len(start) > MOLES:
            _refuse("layout_many_starts", [corner], f"{len(start)} start cells, only nine moles")
    if both := [c for c in layout.tunnels if c in caves]:
        _refuse("layout_tunnel_is_cave", both, "a tunnel entrance is a cave")
    for cave in layout.caves:
        x, y = xy(cave)
        around = [f"{x + dx},{y + dy}" for dx, dy in ORTHOGONAL]
        if missing := [c for c in around if c not in cells]:
            _refuse("layout_cave_at_edge", [cave, *missing], "a cave lacks one of its four orthogonal neighbours")
        if beside := [c for c in around if c in caves or c in tunnels]:
            _refuse("layout_cave_beside", [cave, *beside], "a cave is beside a cave or a tunnel entrance")
    if len(layout.tunnels) < 2:
        _refuse("layout_few_tunnels", layout.tunnels, "fewer than two tunnel entrances")


def _tables(layout: Layout) -> Tables:
    index = {name: i for i, name in enumerate(layout.cells)}
    at = {xy(name): i for name, i in index.items()}

    def rays(name: str) -> tuple[Ray, ...]:
        found = []
        x, y = xy(name)
        for dx, dy in DIRECTIONS:
            line = []
            k = 1
            while (cell := at.get((x + k * dx, y + k * dy))) is not None:
                line.append(cell)
                k += 1
            if line:
                to = layout.cells[line[0]]
                found.append(Ray(line[0], tuple(line[1:]), Act("step", name, to), Act("push", name, to)))
        return tuple(found)

    tunnels = tuple(index[c] for c in layout.tunnels)
    caves = tuple(index[c] for c in layout.caves)
    rings = []
    for cave in layout.caves:
        x, y = xy(cave)
        rings.append((index[cave], tuple(at[x + dx, y + dy] for dx, dy in ORTHOGONAL)))
    return Tables(
        index=index,
        rays=tuple(rays(name) for name in layout.cells),
        is_cave=bytes(name in layout.caves for name in layout.cells),
        is_tunnel=bytes(name in layout.tunnels for name in layout.cells),
        caves=caves,
        tunnels=tunnels,
        starts=tuple(tuple(index[c] for c in start) for start in layout.starts),
        rings=tuple(rings),
        digs={a: {b: Act("dig", layout.cells[a], layout.cells[b]) for b in tunnels if b != a} for a in tunnels},
        keys=tuple(f"cell:{name}" for name in layout.cells),
    )
