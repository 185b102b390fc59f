"""Where a pawn can go: the inner loop of everything else, so written for speed.

Each tile has exactly two path ends a level, so each level is a set of disjoint lines and rings, and a walk has no
branches. `reach` walks them straight from the tile codes: a pawn sees few tiles, so preparing the board costs more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from companion.games.moguli.board import (
    ALL,
    BIT,
    CROSS,
    HOME,
    STRAIGHT,
    SURFACE_ENDS,
    SURFACE_EXIT,
    TURNED,
    UNDERGROUND_ENDS,
    UNDERGROUND_EXIT,
    doors_in,
)
from companion.games.moguli.state import State, free_doors

Tiles = tuple[int, ...] | list[int]


def reach(tiles: Tiles, door: int, others: int, foes: int, cross: tuple[int, ...]) -> tuple[int, int, int]:
    """Where the pawn on `door` can end a move, before the two-free-doors rules: three masks.

    The doors it can end on; those of them reached with a bonus by some route (R-7); the tiles on which the answer
    depends: turning any other tile changes neither. `others` are all pawns but the moving one (its own door counts as
    free, R-4), `foes` the opposing ones, `cross` one of `board.CROSS`.
    """
    bits = BIT
    surface = SURFACE_EXIT
    touched = component = bits[door]
    line = [door]
    for port in SURFACE_ENDS[tiles[door]][door]:
        while True:
            entry = cross[port]
            if entry < 0:
                break
            here = entry >> 2
            bit = bits[here]
            if bit & others:
                break
            touched |= bit
            port = surface[tiles[here]][entry]
            if port < 0 or bit & component:
                break
            component |= bit
            line.append(here)
    plain = gain = 0
    under = UNDERGROUND_EXIT
    for down in line:
        for port in UNDERGROUND_ENDS[tiles[down]][down]:
            passed = 0
            while True:
                entry = cross[port]
                if entry < 0:
                    break
                here = entry >> 2
                bit = bits[here]
                touched |= bit
                port = under[tiles[here]][entry]
                if port < 0:
                    break
                if bit & others:
                    if bit & foes:
                        passed = 2
                    elif not passed:
                        passed = 1
                elif passed == 2:
                    gain |= bit
                elif passed:
                    plain |= bit
                if here == down:
                    break
    if not gain and not plain:
        return 0, 0, touched
    ends = bonus = 0
    rest = gain
    while True:
        while rest:
            bit = rest & -rest
            if bit & component:
                found = component
            else:
                up = bit.bit_length() - 1
                found = bit
                touched |= bit
                for port in SURFACE_ENDS[tiles[up]][up]:
                    while True:
                        entry = cross[port]
                        if entry < 0:
                            break
                        here = entry >> 2
                        bit = bits[here]
                        if bit & others:
                            break
                        touched |= bit
                        port = surface[tiles[here]][entry]
                        if port < 0 or bit & found:
                            break
                        found |= bit
            ends |= found
            rest &= ~found
        if gain:
            bonus, gain = ends, 0
        rest = plain & ~ends
        if not rest:
            return ends, bonus, touched
        plain = 0


def is_obliged(state: State) -> bool:
    """Whether the player to move is bound to clear a door: fewer than two free, and a pawn of theirs at home (R-14)."""
    player = state.to_move
    return bool(state.pawns[player] & HOME[player]) and free_doors(state, player) < 2


def movable(state: State) -> list[tuple[int, int]]:
    """The pawns that may be moved at all, each with the mask of doors on which it may end by the two-free-doors rules.

    Those rules look only at where pawns stand, so a rotation does not change them.
    """
    player = state.to_move
    home = HOME[player]
    mine = state.pawns[player]
    free = free_doors(state, player)
    if free < 2 and mine & home:
        return [(door, ALL & ~home) for door in doors_in(mine & home)]
    newcomer = ALL if free >= 3 else ALL & ~home
    return [(door, ALL if BIT[door] & home else newcomer) for door in doors_in(mine)]


Pawn = tuple[int, int, int, int, int]
"""A pawn's moves: door, ends, ends with a bonus, tiles it depends on, mask of allowed ends."""


def pawn_moves(state: State, tiles: Tiles | None = None) -> list[Pawn]:
    """Moves of every movable pawn in this position, or with these tiles in place of its own."""
    foes = state.pawns[1 - state.to_move]
    pawns = foes | state.pawns[state.to_move]
    cross = CROSS[state.options.cylinder]
    if tiles is None:
        tiles = state.tiles
    found = []
    for door, allowed in movable(state):
        ends, bonus, touched = reach(tiles, door, pawns ^ BIT[door], foes, cross)
        found.append((door, ends & allowed, bonus & allowed, touched, allowed))
    return found


def rotated_moves(state: State, base: list[Pawn]) -> Iterator[tuple[int, int, int, int, int]]:
    """What single legal rotations change: (tile, quarters, door, ends, ends with a bonus) for every pawn whose moves
    depend on the tile, quarters 1..3 of a bend and 1 of a straight (its half turn changes no path, R-2)."""
    foes = state.pawns[1 - state.to_move]
    pawns = foes | state.pawns[state.to_move]
    cross = CROSS[state.options.cylinder]
    tiles = list(state.tiles)
    unlocked = ALL & ~state.locked
    for door, _, _, touched, allowed in base:
        others = pawns ^ BIT[door]
        for tile in doors_in(touched & unlocked):
            code = tiles[tile]
            turned = TURNED[code]
            for quarters in (1,) if STRAIGHT[code] else (1, 2, 3):
                tiles[tile] = turned[quarters]
                ends, bonus, _ = reach(tiles, door, others, foes, cross)
                yield tile, quarters, door, ends & allowed, bonus & allowed
            tiles[tile] = code


def can_in_position(state: State) -> bool:
    """Whether the player to move could move a pawn as the tiles lie; an obliged player: could fulfil the obligation."""
    return any(ends for _, ends, _, _, _ in pawn_moves(state))


@lru_cache(maxsize=4096)
def can_in_turn(state: State) -> bool:
    """The same, when one legal rotation may come first (R-8)."""
    base = pawn_moves(state)
    if any(ends for _, ends, _, _, _ in base):
        return True
    return any(ends for _, _, _, ends, _ in rotated_moves(state, base))


def can(state: State) -> bool:
    """Whether the player to move can move, by the measure of the game's option `ability`."""
    return can_in_turn(state) if state.options.ability == "turn" else can_in_position(state)


def must_move(state: State) -> bool:
    """Whether a turn without a pawn move is illegal: obliged (or actions compulsory) and able."""
    return (state.options.compulsory_actions or is_obliged(state)) and can(state)
