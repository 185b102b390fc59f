"""What can be done to a simulated table by hand, and which acts bring about a change of its look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devices.simulated.world import PATHS, STRAIGHT


@dataclass(frozen=True, slots=True)
class TurnTile:
    """Lift the tile on `cell` by its door, turn it by quarter turns clockwise, put it back; its pawn turns with it."""

    cell: str
    quarters: int


@dataclass(frozen=True, slots=True)
class MovePawn:
    """Carry a pawn from one cell to another; None is beside the board. `off_mm` puts it down so far from the door's
    middle (half a pitch: between two tiles); a pawn beside its door stands on the tile."""

    player: str
    source: str | None
    target: str | None
    off_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Nudge:
    """Take the tile on `cell` by its door and leave it askew by `askew_deg` (counter-clockwise) and shifted, without
    having turned it: an act begun and not finished."""

    cell: str
    askew_deg: float
    shift_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RelayTiles:
    """Take up the tiles of several cells and lay others there: cell -> (path, triangle), None leaves it bare."""

    tiles: Mapping[str, tuple[str, bool] | None]


@dataclass(frozen=True, slots=True)
class Hover:
    """A hand comes over `cell`, stays for `seconds` in a pose (`pinch`, `flat`) and goes without changing anything."""

    cell: str
    seconds: float
    pose: str = "pinch"
    player: str = "1"


Act = TurnTile | MovePawn | Nudge | RelayTiles | Hover


def acts_for(changes: Mapping[str, str], look: Mapping[str, str]) -> list[Act]:
    """The acts that make a table that looks like `look` (whole) look so at `changes`, in the order of their first
    facts; raises ValueError for a fact or value that no table can show."""
    for key, value in changes.items():
        _check(key, value, look)
    lifted = [k[5:] for k, v in changes.items() if k.startswith("pawn:") and look[k] not in ("-", v)]
    wanted = [k[5:] for k, v in changes.items() if k.startswith("pawn:") and v not in ("-", look[k])]
    relay = {cell for cell in _tiles_in(changes) if _replaced(cell, changes, look)}
    if relay:
        relay |= {cell for cell in _tiles_in(changes) if look[f"path:{cell}"] != _wanted(cell, changes, look)[0]}
    acts: list[Act] = []
    done: set[str] = set()
    for key in changes:
        kind, cell = key.split(":", 1)
        if kind == "pawn":
            acts += _pawn_acts(cell, changes, look, lifted, wanted)
        elif relay and not done.issuperset(relay) and cell in relay:
            acts.append(RelayTiles({c: _tile(c, changes, look) for c in _tiles_in(changes) if c in relay}))
            done |= relay
        elif cell not in done and kind == "path":
            done.add(cell)
            quarters = _quarters(look[key], changes[key])
            if quarters:
                acts.append(TurnTile(cell, quarters))
    return acts


def effect_of(act: Act, look: Mapping[str, str]) -> dict[str, str]:
    """The facts that an act changes on a table that looks like `look`; a pawn beside its door counts as on it."""
    facts: dict[str, str] = {}
    if isinstance(act, TurnTile):
        kind, quarter = PATHS[look[f"path:{act.cell}"]]
        turned = (kind, (quarter + act.quarters) % (2 if kind == STRAIGHT else 4))
        facts[f"path:{act.cell}"] = next(path for path, value in PATHS.items() if value == turned)
    elif isinstance(act, MovePawn):
        facts |= {f"pawn:{act.source}": "-"} if act.source is not None else {}
        facts |= {f"pawn:{act.target}": act.player} if act.target is not None else {}
    elif isinstance(act, RelayTiles):
        for cell, tile in act.tiles.items():
            facts[f"path:{cell}"] = tile[0] if tile is not None else "-"
            facts[f"triangle:{cell}"] = ("yes" if tile[1] else "no") if tile is not None else "-"
    return facts


def _check(key: str, value: str, look: Mapping[str, str]) -> None:
    kind = key.partition(":")[0]
    known = {"path": (*PATHS, "-"), "triangle": ("yes", "no", "-"), "pawn": ("1", "2", "-")}
    if kind not in known or key not in look:
        raise ValueError(f"this table has no fact {key!r}")
    if value not in known[kind]:
        raise ValueError(f"{key} cannot be {value!r}; it may be {', '.join(known[kind])}")


def _tiles_in(changes: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(k.split(":", 1)[1] for k in changes if not k.startswith("pawn:")))


def _wanted(cell: str, changes: Mapping[str, str], look: Mapping[str, str]) -> tuple[str, str]:
    path, triangle = f"path:{cell}", f"triangle:{cell}"
    return changes.get(path, look[path]), changes.get(triangle, look[triangle])


def _tile(cell: str, changes: Mapping[str, str], look: Mapping[str, str]) -> tuple[str, bool] | None:
    path, triangle = _wanted(cell, changes, look)
    return None if path == "-" else (path, triangle == "yes")


def _replaced(cell: str, changes: Mapping[str, str], look: Mapping[str, str]) -> bool:
    """True when the tile cannot be turned into what is wanted: another one must be laid."""
    path, triangle = _wanted(cell, changes, look)
    old = look[f"path:{cell}"]
    if "-" in (path, old):
        return path != old
    return PATHS[path][0] != PATHS[old][0] or triangle != look[f"triangle:{cell}"]


def _quarters(old: str, new: str) -> int:
    """Quarter turns clockwise from one path to the other; a straight set to what it shows is turned half round."""
    if "-" in (old, new):
        return 0
    (kind, a), (_, b) = PATHS[old], PATHS[new]
    if kind == STRAIGHT:
        return 1 if a != b else 2
    return (b - a) % 4


def _pawn_acts(
    cell: str, changes: Mapping[str, str], look: Mapping[str, str], lifted: list[str], wanted: list[str]
) -> list[Act]:
    acts: list[Act] = []
    if cell in lifted:
        lifted.remove(cell)
        player = look[f"pawn:{cell}"]
        target = next((c for c in wanted if changes[f"pawn:{c}"] == player and look[f"pawn:{c}"] == "-"), None)
        if target is not None:
            wanted.remove(target)
        acts.append(MovePawn(player, cell, target))
    if cell in wanted:
        player = changes[f"pawn:{cell}"]
        source = next((c for c in lifted if look[f"pawn:{c}"] == player), None)
        if source is not None and look[f"pawn:{cell}"] == "-":
            lifted.remove(source)
        else:
            source = None
        wanted.remove(cell)
        acts.append(MovePawn(player, source, cell))
    return acts
