"""How a hand does its acts, as phases in simulated time: reach, grip, turn, carry, put down, go."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from calibration.profile import Board
from devices.simulated.acts import Act, Hover, MovePawn, Nudge, RelayTiles, TurnTile
from devices.simulated.disturbances import RestingHand
from devices.simulated.hand import PEOPLE, HandAt, Person
from devices.simulated.scene import Held
from devices.simulated.world import Manner, Pawn, Tile, World, tile_for

Xyz = tuple[float, float, float]
HIGH_MM, GRIP_MM = 70.0, 12.0
"""Heights of the fingers while travelling and while holding a door or pawn."""


class Carried(Protocol):
    """Something that a hand holds."""

    def at(self, x_mm: float, y_mm: float, lift_mm: float, turn_deg: float) -> Self:
        """The same thing at another place, so high above the table, turned so far counter-clockwise."""


H = TypeVar("H", bound=Carried)


@dataclass(frozen=True, slots=True)
class Phase(Generic[H]):
    """One stretch of a movement: the fingers go from `start` to `end` (mm) in `seconds`, the wrist turns from
    `twist_deg[0]` to `[1]`, what is held turns with it by `turns_deg`. `then` changes the world at its end."""

    seconds: float
    start: Xyz
    end: Xyz
    from_deg: float
    held: H | None = None
    twist_deg: tuple[float, float] = (0.0, 0.0)
    turns_deg: tuple[float, float] = (0.0, 0.0)
    pose: str = "pinch"
    person: Person = PEOPLE[0]
    then: Callable[[], None] | None = None

    def at(self, share: float) -> tuple[HandAt, H | None]:
        """The hand and what it holds after `share` (0..1) of the phase."""
        s = share * share * (3 - 2 * share)
        x, y, z = (a + (b - a) * s for a, b in zip(self.start, self.end, strict=True))
        twist, turn = (a + (b - a) * s for a, b in (self.twist_deg, self.turns_deg))
        held = self.held
        if held is not None:
            held = held.at(x, y, max(z - GRIP_MM, 0.0), turn)
        return HandAt(x, y, z, self.from_deg, self.pose, twist, self.person), held


class Choreographer:
    """Turns acts into phases over one world; the hand stays over the table from one act to the next."""

    def __init__(self, board: Board, world: World, rng: np.random.Generator, people: tuple[Person, Person]) -> None:
        self._board, self._world, self._rng, self._people = board, world, rng, people
        ys = [y for _, y in board.corners_mm]
        self._near, self._far = min(ys), max(ys)
        self._middle = sum(x for x, _ in board.corners_mm) / 4

    def phases(self, act: Act, manner: Manner) -> Iterator[Phase[Held]]:
        """The phases of an act; each is planned when the one before has ended."""
        if isinstance(act, TurnTile):
            yield from self._turn(act, manner)
        elif isinstance(act, MovePawn):
            yield from self._move(act, manner)
        elif isinstance(act, RelayTiles):
            yield from self._relay(act, manner)
        elif isinstance(act, Nudge):
            yield from self._nudge(act, manner)
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

    def _turn(self, act: TurnTile, manner: Manner) -> Iterator[Phase[Held]]:
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

    def _move(self, act: MovePawn, manner: Manner) -> Iterator[Phase[Held]]:
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
        x, y = (a + b for a, b in zip(self._place(target), act.off_mm, strict=True))
        over = (x, y, grip + 40)
        yield hand.go(over, 0.45 if act.source is not None else 0.6, Held(None, pawn, 0, 0, 0))

        def put() -> None:
            dx, dy = manner.stand(self._rng)
            self._world.pawns[target] = Pawn(act.player, dx + act.off_mm[0], dy + act.off_mm[1])
            tile = self._world.tiles.get(target)
            if tile is not None:  # a touch moves the tile a little
                dx, dy, turn = manner.settle(self._rng, 0.3)
                limit, most = manner.tile_limit_mm, manner.tile_limit_deg
                x_mm, y_mm = np.clip([tile.x_mm + dx, tile.y_mm + dy], -limit, limit)
                askew = float(np.clip(tile.askew_deg + turn, -most, most))
                self._world.tiles[target] = replace(tile, x_mm=float(x_mm), y_mm=float(y_mm), askew_deg=askew)

        yield hand.go((x, y, grip), 0.2, Held(None, pawn, 0, 0, 0), then=put)
        yield hand.leave()

    def _nudge(self, act: Nudge, manner: Manner) -> Iterator[Phase[Held]]:
        tile, pawn = self._world.tiles[act.cell], self._world.pawns.get(act.cell)
        x, y = self._place(act.cell)
        hand = self._hand(act.cell, None, manner)
        yield hand.reach((x, y, GRIP_MM), partial(self._take, act.cell, tile=True, pawn=True))

        def put() -> None:
            (dx, dy), askew = act.shift_mm, tile.askew_deg + act.askew_deg
            moved = replace(tile, x_mm=tile.x_mm + dx, y_mm=tile.y_mm + dy, askew_deg=askew)
            self._world.tiles[act.cell] = moved
            if pawn is not None:
                self._world.pawns[act.cell] = pawn

        held, to = Held(tile, pawn, x, y, 0.0), (x + act.shift_mm[0], y + act.shift_mm[1], GRIP_MM)
        yield hand.go(to, 0.4, held, turns=(0.0, act.askew_deg), then=put)
        yield hand.leave()

    def _relay(self, act: RelayTiles, manner: Manner) -> Iterator[Phase[Held]]:
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

    def _hover(self, act: Hover, manner: Manner) -> Iterator[Phase[Held]]:
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

    def _hand(self, cell: str, player: str | None, manner: Manner) -> MovingHand[Held]:
        """The hand of the pawn's owner, else of whoever sits nearer to the tile."""
        x, y = self._board.places_mm[cell]
        if player is None:
            player = "1" if y <= (self._near + self._far) / 2 else "2"
        first = player == "1"
        seat_y = self._near - 330 if first else self._far + 330
        seat_x = self._middle + float(self._rng.normal(40 if first else -40, 45))
        from_deg = math.degrees(math.atan2(seat_y - y, seat_x - x))
        return MovingHand((seat_x, seat_y, HIGH_MM), from_deg, self._people[0 if first else 1], manner.pace)


class MovingHand(Generic[H]):
    """One hand on its way: each call is the next phase from where it is."""

    def __init__(self, seat: Xyz, from_deg: float, person: Person, pace: float) -> None:
        self._seat, self._at, self._from_deg, self._person, self._pace = seat, seat, from_deg, person, pace
        self.pose = "pinch"

    def reach(self, to: Xyz, then: Callable[[], None] | None = None) -> Phase[H]:
        """Goes there with an empty hand."""
        return self.go(to, 0.5, then=then)

    def leave(self, held: H | None = None, twist: tuple[float, float] = (0.0, 0.0)) -> Phase[H]:
        """Goes back to where it came from."""
        return self.go(self._seat, 0.45, held, twist=twist)

    def go(
        self,
        to: Xyz,
        seconds: float,
        held: H | None = None,
        twist: tuple[float, float] = (0.0, 0.0),
        turns: tuple[float, float] = (0.0, 0.0),
        then: Callable[[], None] | None = None,
    ) -> Phase[H]:
        """Goes there with what it holds; `then` happens on arrival."""
        start, self._at = self._at, to
        pace, pose = seconds * self._pace, self.pose
        return Phase(pace, start, to, self._from_deg, held, twist, turns, pose, self._person, then)
