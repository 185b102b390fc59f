"""Illegal changes of a table, each with the rule it breaks, for trying out a referee.

Every change is built so that it breaks one rule by the rulings' own words; which rule that is follows from how it is
built and never from asking the engine why. The engine is asked only whether a pawn could legally end there, so that
nothing legal is planted.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from companion.games.contract import Look
from companion.games.moguli.board import ALL, BIT, CROSS, HOME, NAMES, PATH, TURNED, doors_in, mask_of
from companion.games.moguli.moves import is_obliged, pawn_moves, rotated_moves
from companion.games.moguli.routes import surface_ways, underground_ways
from companion.games.moguli.state import State, free_doors

Plant = Callable[[State, random.Random], "tuple[Look, str] | None"]


def illegal(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """The changed facts of an illegal act in the turn of the player to move, and the rule it breaks; None: no such act
    can be built here."""
    if state.over is not None or state.setup is not None:
        return None
    plants = list(PLANTS)
    chance.shuffle(plants)
    for plant in plants:
        planted = plant(state, chance)
        if planted is not None:
            return planted
    return None


def _free(state: State) -> int:
    return ALL & ~(state.pawns[0] | state.pawns[1])


def _pick(mask: int, chance: random.Random) -> int:
    return chance.choice(list(doors_in(mask)))


def _turn(state: State, tile: int, chance: random.Random) -> dict[str, str]:
    """A turn of the tile that shows."""
    paths = sorted({PATH[code] for code in TURNED[state.tiles[tile]]} - {PATH[state.tiles[tile]]})
    return {f"path:{NAMES[tile]}": chance.choice(paths)}


def _carry(player: int, start: int, end: int) -> dict[str, str]:
    return {f"pawn:{NAMES[start]}": "-", f"pawn:{NAMES[end]}": str(player + 1)}


def locked_tile(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """A tile turned that the opponent has just turned."""
    if not state.locked:
        return None
    return _turn(state, _pick(state.locked, chance), chance), "moguli.locked"


def other_side(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """A pawn of the side that is not to move, carried to a free door."""
    foe = 1 - state.to_move
    if not state.pawns[foe]:
        return None
    start = _pick(state.pawns[foe], chance)
    return _carry(foe, start, _pick(_free(state), chance)), "moguli.not_your_pawn"


def two_pawns(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """Two own pawns carried to free doors."""
    player = state.to_move
    if state.pawns[player].bit_count() < 2:
        return None
    starts = chance.sample(list(doors_in(state.pawns[player])), 2)
    ends = chance.sample(list(doors_in(_free(state))), 2)
    return {**_carry(player, starts[0], ends[0]), **_carry(player, starts[1], ends[1])}, "moguli.two_moves"


def three_tiles(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """Three tiles turned, none of them locked."""
    tiles = chance.sample(list(doors_in(ALL & ~state.locked)), 3)
    return {k: v for tile in tiles for k, v in _turn(state, tile, chance).items()}, "moguli.three_rotations"


def two_tiles(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """Two tiles turned and no pawn moved, where no pawn could have come back to its door."""
    base = pawn_moves(state)
    returns = any(ends & BIT[door] for door, ends, _, _, _ in base)
    if returns or any(ends & BIT[door] for _, _, door, ends, _ in rotated_moves(state, base)):
        return None
    first, second = chance.sample(list(doors_in(ALL & ~state.locked)), 2)
    return {**_turn(state, first, chance), **_turn(state, second, chance)}, "moguli.no_bonus"


def pawn_taken(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """A pawn taken off the board."""
    pawns = state.pawns[0] | state.pawns[1]
    return {f"pawn:{NAMES[_pick(pawns, chance)]}": "-"}, "moguli.pawn_gone"


def home_row(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """An own pawn put on the own starting row although fewer than two doors are then free there."""
    player = state.to_move
    home = HOME[player]
    free = free_doors(state, player)
    outside = 0 if is_obliged(state) else state.pawns[player] & ~home
    starts = (state.pawns[player] & home if free < 2 else 0) | (outside if free <= 2 else 0)
    ends = home & _free(state)
    if not starts or not ends:
        return None
    return _carry(player, _pick(starts, chance), _pick(ends, chance)), "moguli.two_free_doors"


def barred_pawn(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """Another pawn moved by a player who is obliged to clear a door."""
    player = state.to_move
    starts = state.pawns[player] & ~HOME[player]
    if not is_obliged(state) or not starts:
        return None
    return _carry(player, _pick(starts, chance), _pick(_free(state), chance)), "moguli.obliged_other"


def over_the_surface(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """An own pawn moved over the surface only."""
    return _by_way(state, chance, lambda ways: ways.surface, "moguli.no_underground")


def under_nobody(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """An own pawn moved along underground paths that pass under nobody."""
    return _by_way(state, chance, lambda ways: ways.below & ~ways.surface, "moguli.no_pass_under")


def out_of_reach(state: State, chance: random.Random) -> tuple[Look, str] | None:
    """An own pawn moved where no path leads, whatever stands in the way."""
    return _by_way(state, chance, lambda ways: ALL & ~ways.joined, "moguli.no_path")


class _Ways:
    """Doors round a pawn's door: over the surface; by an underground step under nobody with surface steps before and
    after; joined to it by any steps at all if no pawn barred the surface."""

    def __init__(self, state: State, start: int) -> None:
        cross = CROSS[state.options.cylinder]
        others = (state.pawns[0] | state.pawns[1]) & ~BIT[start]
        near = surface_ways(state.tiles, start, others, cross)
        self.surface = mask_of(near)
        self.below = 0
        for down in near:
            for walk in underground_ways(state.tiles, down, cross):
                for up in walk[1:]:
                    if BIT[up] & others:
                        break
                    self.below |= mask_of(surface_ways(state.tiles, up, others, cross))
        self.joined = 0
        for down in surface_ways(state.tiles, start, 0, cross):
            self.joined |= BIT[down]
            for walk in underground_ways(state.tiles, down, cross):
                for up in walk[1:]:
                    self.joined |= mask_of(surface_ways(state.tiles, up, 0, cross))


def _by_way(state: State, chance: random.Random, wanted: Callable[[_Ways], int], rule: str) -> tuple[Look, str] | None:
    """An own pawn that may move, carried to a wanted free door on which it cannot end, not even over a rotation that
    the bonus takes back."""
    base = pawn_moves(state)
    chance.shuffle(base)
    for door, ends, _, _, allowed in base:
        reached = ends
        for _, _, mover, _, bonus in rotated_moves(state, [pawn for pawn in base if pawn[0] == door]):
            assert mover == door
            reached |= bonus
        doors = wanted(_Ways(state, door)) & allowed & _free(state) & ~reached
        if doors:
            return _carry(state.to_move, door, _pick(doors, chance)), rule
    return None


PLANTS: tuple[Plant, ...] = (
    locked_tile,
    other_side,
    two_pawns,
    three_tiles,
    two_tiles,
    pawn_taken,
    home_row,
    barred_pawn,
    over_the_surface,
    under_nobody,
    out_of_reach,
)
"""All kinds of illegal change that can be planted."""
