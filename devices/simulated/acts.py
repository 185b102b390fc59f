"""What a hand does on the table, as phases in simulated time: reach, grip, turn, carry, put down, go."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from calibration.profile import Board
from devices.simulated.disturbances import RestingHand
from devices.simulated.hand import PEOPLE, HandAt, Person
from devices.simulated.scene import Held
from devices.simulated.world import PATHS, STRAIGHT, Manner, Pawn, Tile, World, tile_for

Xyz = tuple[float, float, float]
HIGH_MM, GRIP_MM = 70.0, 12.0
"""Heights of the fingers while travelling and while holding a door or pawn."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch of a movement: the fingers go from `start` to `end` (mm) in `seconds`, the wrist turns from
    `twist_deg[0]` to `[1]`, what is held turns with it by `turns_deg`. `then` changes the world at its end."""

    seconds: float
    start: Xyz
    end: Xyz
    from_deg: float
    held: Held | None = None
    twist_deg: tuple[float, float] = (0.0, 0.0)
    turns_deg: tuple[float, float] = (0.0, 0.0)
    pose: str = "pinch"
    person: Person = PEOPLE[0]
    then: Callable[[], None] | None = None

    def at(self, share: float) -> tuple[HandAt, Held | None]:
        """The hand and what it holds after `share` (0..1) of the phase."""
        s = share * share * (3 - 2 * share)
        x, y, z = (a + (b - a) * s for a, b in zip(self.start, self.end, strict=True))
        twist, turn = (a + (b - a) * s for a, b in (self.twist_deg, self.turns_deg))
        held = self.held
        if held is not None:
            held = replace(held, x_mm=x, y_mm=y, lift_mm=max(z - GRIP_MM, 0.0), turn_deg=turn)
        return HandAt(x, y, z, self.from_deg, self.pose, twist, self.person), held


@dataclass(frozen=True, slots=True)
class TurnTile:
    """Lift the tile on `cell` by its door, turn it by quarter turns clockwise, put it back; its pawn turns with it."""

    cell: str
    quarters: int


@dataclass(frozen=True, slots=True)
class MovePawn:
    """Carry a pawn from one cell to another; None is beside the board."""

    player: str
    source: str | None
    target: str | None


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


Act = TurnTile | MovePawn | RelayTiles | Hover


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


class Choreographer:
    """Turns acts into phases over one world; the hand stays over the table from one act to the next."""

    def __init__(self, board: Board, world: World, rng: np.random.Generator, people: tuple[Person, Person]) -> None:
        self._board, self._world, self._rng, self._people = board, world, rng, people
        ys = [y for _, y in board.corners_mm]
        self._near, self._far = min(ys), max(ys)
        self._middle = sum(x for x, _ in board.corners_mm) / 4

    def phases(self, act: Act, manner: Manner) -> Iterator[Phase]:
        """The phases of an act; each is planned when the one before has ended."""
        if isinstance(act, TurnTile):
            yield from self._turn(act, manner)
        elif isinstance(act, MovePawn):
            yield from self._move(act, manner)
        elif isinstance(act, RelayTiles):
            yield from self._relay(act, manner)
        else:
            yield from self._hover(act, manner)

    def rest(self, event: RestingHand, age_s: float) -> HandAt:
        """Where a resting hand is, `age_s` seconds after it set out."""
        (x, y), first = self._board.places_mm[event.cell], event.player == "1"
        seat_x, seat_y = self._middle, self._near - 330 if first else self._far + 330
        share = max(0.0, min(1.0, age_s / 0.5, (event.seconds - age_s) / 0.5))
        from_deg = math.degrees(math.atan2(seat_y - y, seat_x - x))
        person = self._people[0 if first else 1]
        return HandAt(
            seat_x + (x - seat_x) * share, seat_y + (y - seat_y) * share, 8.0, from_deg, "flat", person=person
        )

    def _turn(self, act: TurnTile, manner: Manner) -> Iterator[Phase]:
        tile, pawn = self._world.tiles[act.cell], self._world.pawns.get(act.cell)
        x, y = self._place(act.cell)
        hand = self._hand(act.cell, None, manner)
        quarters = act.quarters if act.quarters < 3 else act.quarters - 4
        yield hand.reach((x, y, GRIP_MM), partial(self._take, act.cell, tile=True, pawn=True))
        held = Held(tile, pawn, x, y, 0.0)
        degrees, swing = -90.0 * quarters, -50.0 if quarters > 0 else 50.0
        up = (x, y, GRIP_MM + 20)
        yield hand.go(up, 0.12, held)
        yield hand.go(up, 0.22 * abs(quarters) + 0.1, held, twist=(0.0, swing), turns=(0.0, degrees))

        def put() -> None:
            dx, dy, askew = manner.settle(self._rng)
            quarter = (tile.quarter + act.quarters) % 4
            self._world.tiles[act.cell] = replace(tile, quarter=quarter, x_mm=dx, y_mm=dy, askew_deg=askew)
            if pawn is not None:
                off = manner.stand(self._rng)
                self._world.pawns[act.cell] = Pawn(pawn.player, *off)

        yield hand.go((x, y, GRIP_MM), 0.14, held, twist=(swing, swing), turns=(degrees, degrees), then=put)
        yield hand.leave(twist=(swing, 0.0))

    def _move(self, act: MovePawn, manner: Manner) -> Iterator[Phase]:
        hand = self._hand(act.source or act.target or "", act.player, manner)
        pawn = Pawn(act.player)
        grip = GRIP_MM + 4
        if act.source is not None:
            source = act.source
            yield hand.reach((*self._place(source), grip), partial(self._take, act.source, tile=False, pawn=True))
            yield hand.go((*self._place(source), grip + 40), 0.16, Held(None, pawn, 0, 0, 0))
        if act.target is None:
            yield hand.leave(held=Held(None, pawn, 0, 0, 0))
            return
        target = act.target
        x, y = self._place(target)
        over = (x, y, grip + 40)
        yield hand.go(over, 0.45 if act.source is not None else 0.6, Held(None, pawn, 0, 0, 0))

        def put() -> None:
            self._world.pawns[target] = Pawn(act.player, *manner.stand(self._rng))
            tile = self._world.tiles.get(target)
            if tile is not None:  # a touch moves the tile a little
                dx, dy, turn = manner.settle(self._rng, 0.3)
                limit, most = manner.tile_limit_mm, manner.tile_limit_deg
                x_mm, y_mm = np.clip([tile.x_mm + dx, tile.y_mm + dy], -limit, limit)
                askew = float(np.clip(tile.askew_deg + turn, -most, most))
                self._world.tiles[target] = replace(tile, x_mm=float(x_mm), y_mm=float(y_mm), askew_deg=askew)

        yield hand.go((x, y, grip), 0.2, Held(None, pawn, 0, 0, 0), then=put)
        yield hand.leave()

    def _relay(self, act: RelayTiles, manner: Manner) -> Iterator[Phase]:
        stack: list[Tile] = []
        hand = self._hand(next(iter(act.tiles)), None, manner)
        for cell in act.tiles:
            tile = self._world.tiles.get(cell)
            if tile is not None:
                stack.append(tile)
                yield hand.reach((*self._place(cell), GRIP_MM), partial(self._take, cell, tile=True, pawn=False))
                yield hand.go((*self._place(cell), GRIP_MM + 40), 0.15, Held(tile, None, 0, 0, 0))
                yield hand.leave(held=Held(tile, None, 0, 0, 0))
        for cell, wanted in act.tiles.items():
            if wanted is None:
                continue
            new = tile_for(*wanted, seed=int(self._rng.integers(1 << 30)))
            kept = next((t for t in stack if (t.straight, t.triangle) == (new.straight, new.triangle)), None)
            if kept is not None:
                stack.remove(kept)
                new = replace(new, seed=kept.seed)
            dx, dy, askew = manner.settle(self._rng)
            new = replace(new, x_mm=dx, y_mm=dy, askew_deg=askew)
            held = Held(new, None, 0, 0, 0)
            yield hand.go((*self._place(cell), GRIP_MM + 30), 0.5, held)

            def put(cell: str = cell, new: Tile = new) -> None:
                self._world.tiles[cell] = new

            yield hand.go((*self._place(cell), GRIP_MM), 0.15, held, then=put)
            yield hand.leave()

    def _hover(self, act: Hover, manner: Manner) -> Iterator[Phase]:
        hand = self._hand(act.cell, act.player, manner)
        at = (*self._place(act.cell), 8.0 if act.pose == "flat" else 45.0)
        hand.pose = act.pose
        yield hand.reach(at)
        yield hand.go(at, act.seconds)
        yield hand.leave()

    def _take(self, cell: str, tile: bool, pawn: bool) -> None:
        if tile:
            self._world.tiles.pop(cell, None)
        if pawn:
            self._world.pawns.pop(cell, None)

    def _place(self, cell: str) -> tuple[float, float]:
        x, y = self._board.places_mm[cell]
        tile = self._world.tiles.get(cell)
        return (x + tile.x_mm, y + tile.y_mm) if tile is not None else (x, y)

    def _hand(self, cell: str, player: str | None, manner: Manner) -> _Hand:
        """The hand of the pawn's owner, else of whoever sits nearer to the tile."""
        x, y = self._board.places_mm[cell]
        if player is None:
            player = "1" if y <= (self._near + self._far) / 2 else "2"
        first = player == "1"
        seat_y = self._near - 330 if first else self._far + 330
        seat_x = self._middle + float(self._rng.normal(40 if first else -40, 45))
        from_deg = math.degrees(math.atan2(seat_y - y, seat_x - x))
        return _Hand((seat_x, seat_y, HIGH_MM), from_deg, self._people[0 if first else 1], manner.pace)


class _Hand:
    """One hand on its way: each call is the next phase from where it is."""

    def __init__(self, seat: Xyz, from_deg: float, person: Person, pace: float) -> None:
        self._seat, self._at, self._from_deg, self._person, self._pace = seat, seat, from_deg, person, pace
        self.pose = "pinch"

    def reach(self, to: Xyz, then: Callable[[], None] | None = None) -> Phase:
        return self.go(to, 0.5, then=then)

    def leave(self, held: Held | None = None, twist: tuple[float, float] = (0.0, 0.0)) -> Phase:
        return self.go(self._seat, 0.45, held, twist=twist)

    def go(
        self,
        to: Xyz,
        seconds: float,
        held: Held | None = None,
        twist: tuple[float, float] = (0.0, 0.0),
        turns: tuple[float, float] = (0.0, 0.0),
        then: Callable[[], None] | None = None,
    ) -> Phase:
        start, self._at = self._at, to
        pace, pose = seconds * self._pace, self.pose
        return Phase(pace, start, to, self._from_deg, held, twist, turns, pose, self._person, then)
