"""The route of one pawn move: a witness for a legal one (R-7), the step that fails for an impossible one."""

from __future__ import annotations

from dataclasses import dataclass

from companion.games.contract import Refusal
from companion.games.moguli.board import (
    BIT,
    CROSS,
    NAMES,
    SURFACE_ENDS,
    SURFACE_EXIT,
    UNDERGROUND_ENDS,
    UNDERGROUND_EXIT,
    names_in,
)
from companion.games.moguli.moves import Tiles


@dataclass(frozen=True, slots=True)
class Route:
    """One way of a pawn: the doors of the surface step from its own door to where it goes down, the tiles of the
    underground step from there to where it comes up, the doors of the second surface step from there to the end.
    Neighbouring parts share a door. `bonus` when it passes under an opposing pawn."""

    surface: tuple[int, ...]
    underground: tuple[int, ...]
    second: tuple[int, ...]
    bonus: bool

    @property
    def steps(self) -> int:
        """Tile steps of the three parts together."""
        return len(self.surface) + len(self.underground) + len(self.second) - 3

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The three parts as door names."""
        first, below, second = (
            [NAMES[door] for door in part] for part in (self.surface, self.underground, self.second)
        )
        return tuple(first), tuple(below), tuple(second)


def surface_ways(tiles: Tiles, door: int, others: int, cross: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """Every door reached over the surface from `door` (itself included) with the shortest way to it."""
    ways: dict[int, tuple[int, ...]] = {door: (door,)}
    for port in SURFACE_ENDS[tiles[door]][door]:
        way: tuple[int, ...] = (door,)
        while (entry := cross[port]) >= 0:
            here = entry >> 2
            port = SURFACE_EXIT[tiles[here]][entry]
            if port < 0 or BIT[here] & others or here == door:
                break
            way = (*way, here)
            if here not in ways or len(way) < len(ways[here]):
                ways[here] = way
    return ways


def underground_ways(tiles: Tiles, door: int, cross: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The two longest underground walks from `door`, each with `door` first; a full ring ends on it again."""
    walks: list[tuple[int, ...]] = []
    for port in UNDERGROUND_ENDS[tiles[door]][door]:
        walk: tuple[int, ...] = (door,)
        while (entry := cross[port]) >= 0:
            here = entry >> 2
            port = UNDERGROUND_EXIT[tiles[here]][entry]
            if port < 0:
                break
            walk = (*walk, here)
            if here == door:
                break
        walks.append(walk)
    return walks


def routes(tiles: Tiles, start: int, end: int, others: int, foes: int, cylinder: bool) -> list[Route]:
    """All legal routes from `start` to `end` whose surface steps are the shortest between their doors."""
    cross = CROSS[cylinder]
    ends = surface_ways(tiles, end, others, cross) if not BIT[end] & others else {}
    found = []
    for down, surface in surface_ways(tiles, start, others, cross).items():
        for walk in underground_ways(tiles, down, cross):
            for length in range(3, len(walk) + 1):
                up = walk[length - 1]
                between = sum(BIT[door] for door in set(walk[1 : length - 1]))
                if BIT[up] & others or up not in ends or not between & others:
                    continue
                second = tuple(reversed(ends[up]))
                found.append(Route(surface, walk[:length], second, bool(between & foes)))
    return found


def witness(tiles: Tiles, start: int, end: int, others: int, foes: int, cylinder: bool) -> Route | None:
    """The route that the record keeps (R-7): one that earns the bonus if there is any, of those one of fewest steps."""
    return min(
        routes(tiles, start, end, others, foes, cylinder),
        key=lambda route: (not route.bonus, route.steps, route.surface, route.underground),
        default=None,
    )


def no_route(tiles: Tiles, start: int, end: int, pawns: int, cylinder: bool) -> Refusal:
    """Why the pawn on `start` cannot come to `end` at all: the rule of the part of the way that fails, the nearest to
    a legal move first. To be asked only where there is no route."""
    cross = CROSS[cylinder]
    others = pawns & ~BIT[start]
    values = (("start", NAMES[start]), ("end", NAMES[end]))
    if BIT[end] & others:
        return Refusal("moguli.door_occupied", (NAMES[start], NAMES[end]), (*values, ("door", NAMES[end])))
    from_start = surface_ways(tiles, start, others, cross)
    to_end = surface_ways(tiles, end, others, cross)
    if end in from_start:
        return Refusal("moguli.no_underground", (NAMES[start], NAMES[end]), values)
    joined = [
        walk[: walk.index(up, 1) + 1]
        for down in from_start
        for walk in underground_ways(tiles, down, cross)
        for up in to_end
        if up in walk[1:]
    ]
    if joined:
        walk = min(joined, key=len)
        return Refusal(
            "moguli.no_pass_under",
            (NAMES[start], NAMES[end]),
            (*values, ("down", NAMES[walk[0]]), ("up", NAMES[walk[-1]])),
        )
    if blocker := _blocker(tiles, start, end, others, cross):
        return Refusal("moguli.door_occupied", (NAMES[start], NAMES[end], blocker), (*values, ("door", blocker)))
    furthest = 0
    for down in from_start:
        for walk in underground_ways(tiles, down, cross):
            furthest |= sum(BIT[door] for door in set(walk[1:]))
    reached = ", ".join(names_in(sum(BIT[door] for door in from_start) | furthest))
    return Refusal("moguli.no_path", (NAMES[start], NAMES[end]), (*values, ("reached", reached)))


def _blocker(tiles: Tiles, start: int, end: int, others: int, cross: tuple[int, ...]) -> str | None:
    """The occupied door in a surface step without which there would be a route, or a way over the surface alone; of
    several ways the one with the fewest pawns in it. None where no pawn is in the way."""
    after = surface_ways(tiles, end, 0, cross)
    ways: list[tuple[int, ...]] = []
    for down, first in surface_ways(tiles, start, 0, cross).items():
        if down == end:
            ways.append(first)
        for walk in underground_ways(tiles, down, cross):
            for at in range(2, len(walk)):
                if walk[at] in after and any(BIT[door] & others for door in walk[1:at]):
                    ways.append(first + tuple(reversed(after[walk[at]])))
    blocked = [[NAMES[door] for door in way if BIT[door] & others] for way in ways]
    return min(filter(None, blocked), key=len)[0] if any(blocked) else None
