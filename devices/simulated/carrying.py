"""How hands carry solids over a table: what is taken up, where it is put down, in phases of simulated time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from calibration.profile import Board
from devices.simulated.choreography import GRIP_MM, HIGH_MM, MovingHand, Phase
from devices.simulated.disturbances import RestingHand
from devices.simulated.hand import PEOPLE, HandAt, Person
from devices.simulated.solid_scene import HeldSolid, SolidWorld
from devices.simulated.solids import Solid
from devices.simulated.tokens_print import Sheet, marker_sheets
from devices.simulated.world import Manner

AWAY_MM = 330.0
"""How far outside the board a hand waits."""

Xy = tuple[float, float]


@dataclass(slots=True)
class Laid(SolidWorld):
    """A world of solids and what each of them shows, by the same names."""

    shows: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Laid:
        """A world that can be changed without changing this one."""
        return Laid(dict(self.solids), dict(self.sheets), dict(self.shows))

    def lay_markers(self, board: Board) -> None:
        """The board's printed markers, if it has any, lie there from now on."""
        for number, sheet in enumerate(marker_sheets(board.markers) if board.markers is not None else ()):
            self.sheets[f"marker{number}"] = sheet

    def put(self, name: str, solid: Solid, shows: str) -> None:
        """A solid lies there from now on."""
        self.solids[name], self.shows[name] = solid, shows

    def take(self, name: str) -> None:
        """It lies there no longer."""
        self.solids.pop(name, None)
        self.shows.pop(name, None)


@dataclass(frozen=True, slots=True, eq=False)
class Carry:
    """Take up the solid `source` (None: one from beside the board) and put it down as `solid` under the name `target`,
    where it shows `shows`; without `solid` it is taken off the table."""

    source: str | None
    target: str = ""
    solid: Solid | None = None
    shows: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Relay:
    """Take up the printed sheet `name` and lay it down again as `sheet`, showing `shows`."""

    name: str
    sheet: Sheet
    shows: str


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Take many solids off the table at once and push others into view: (name, solid, what it shows)."""

    away: tuple[str, ...]
    here: tuple[tuple[str, Solid, str], ...]


Handling = Carry | Relay | Sweep


class Hands:
    """Turns handling into phases over one world; whoever sits nearest reaches for a thing."""

    def __init__(self, board: Board, world: Laid, rng: np.random.Generator) -> None:
        self._board, self._world, self._rng = board, world, rng
        corners = np.array(board.corners_mm)
        (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
        self._middle = ((left + right) / 2, (low + high) / 2)
        self._seats: tuple[Xy, ...] = (
            (float(self._middle[0]), float(low - AWAY_MM)),
            (float(self._middle[0]), float(high + AWAY_MM)),
        )
        order = rng.permutation(len(PEOPLE))
        self._people: tuple[Person, ...] = tuple(PEOPLE[i] for i in order[: len(self._seats)])

    def phases(self, act: Handling, manner: Manner) -> Iterator[Phase[HeldSolid]]:
        """The phases of an act; each is planned when the one before has ended."""
        if isinstance(act, Relay):
            yield from self._relay(act, manner)
        elif isinstance(act, Sweep):
            yield from self._sweep(act, manner)
        else:
            yield from self._carry(act, manner)

    def rest(self, event: RestingHand, age_s: float) -> HandAt:
        """Where a resting hand is, `age_s` seconds after it set out."""
        x, y = self._board.places_mm.get(event.cell, self._middle)
        at = (int(event.player) - 1) % len(self._seats)
        seat_x, seat_y = self._seats[at]
        share = max(0.0, min(1.0, age_s / 0.5, (event.seconds - age_s) / 0.5))
        from_deg = math.degrees(math.atan2(seat_y - y, seat_x - x))
        spot = (seat_x + (x - seat_x) * share, seat_y + (y - seat_y) * share)
        return HandAt(*spot, 8.0, from_deg, "flat", person=self._people[at])

    def _carry(self, act: Carry, manner: Manner) -> Iterator[Phase[HeldSolid]]:
        world = self._world
        old = world.solids.get(act.source) if act.source is not None else None
        first = old if old is not None else act.solid
        if first is None:
            return
        hand = self._hand(_spot(first), manner)
        held = None if act.solid is None else HeldSolid(act.solid)
        if old is not None and act.source is not None:
            x, y = _spot(old)
            yield hand.reach((x, y, GRIP_MM), partial(world.take, act.source))
            held = HeldSolid(old) if held is None else held
            yield hand.go((x, y, GRIP_MM + 25), 0.12, held)
        if act.solid is not None:
            x, y = _spot(act.solid)
            yield hand.go((x, y, GRIP_MM + 25), 0.35 if old is not None else 0.6, held)
            put = partial(world.put, act.target, act.solid, act.shows)
            yield hand.go((x, y, GRIP_MM), 0.14, held, then=put)
            held = None
        yield hand.leave(held)

    def _sweep(self, act: Sweep, manner: Manner) -> Iterator[Phase[HeldSolid]]:
        spots = [_spot(solid) for _, solid, _ in act.here] or [_spot(s) for n in act.away if (s := self._at(n))]
        if not spots:
            return
        hand = self._hand(spots[0], manner)

        def push() -> None:
            for name in act.away:
                self._world.take(name)
            for name, solid, shows in act.here:
                self._world.put(name, solid, shows)

        yield hand.reach((*spots[0], GRIP_MM))
        yield hand.go((*spots[-1], GRIP_MM), 0.8, then=push)
        yield hand.leave()

    def _at(self, name: str) -> Solid | None:
        return self._world.solids.get(name)

    def _relay(self, act: Relay, manner: Manner) -> Iterator[Phase[HeldSolid]]:
        w, h = act.sheet.size_mm
        x, y = act.sheet.at(w / 2, h / 2)
        hand = self._hand((x, y), manner)
        hand.pose = "flat"

        def lay() -> None:
            self._world.sheets[act.name], self._world.shows[act.name] = act.sheet, act.shows

        yield hand.reach((x, y, 8.0))
        yield hand.go((x, y, 30.0), 0.4, then=lay)
        yield hand.leave()

    def _hand(self, spot: Xy, manner: Manner) -> MovingHand[HeldSolid]:
        near = min(range(len(self._seats)), key=lambda i: abs(self._seats[i][1] - spot[1]))
        seat_x, seat_y = self._seats[near]
        seat_x += float(self._rng.normal(0, 45))
        from_deg = math.degrees(math.atan2(seat_y - spot[1], seat_x - spot[0]))
        return MovingHand((seat_x, seat_y, HIGH_MM), from_deg, self._people[near], manner.pace)


def _spot(solid: Solid) -> Xy:
    return float(solid.centre_mm[0]), float(solid.centre_mm[1])


def moves(changes: Mapping[str, str], look: Mapping[str, str], bare: str = "-") -> list[tuple[str | None, str | None]]:
    """The moves of pieces, as (from, to), None being beside the board, that make places which look like `look` look so
    at `changes`: nothing is put where something still lies."""
    now = {k: look[k] for k in changes}
    out: list[tuple[str | None, str | None]] = []
    while differing := [k for k in changes if now[k] != changes[k]]:
        free = next((k for k in differing if now[k] == bare and changes[k] != bare), None)
        if free is None:  # something must go: to nowhere, or aside until its place is free
            gone = differing[-1]
            out.append((gone, None))
            now[gone] = bare
            continue
        piece = changes[free]
        source = next((k for k in reversed(differing) if now[k] == piece), None)
        out.append((source, free))
        now[free] = piece
        if source is not None:
            now[source] = bare
    return out
