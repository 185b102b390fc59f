"""All legal turns of a position: one for each different next state, or every ordered one.

Two turns lead to the same next state when pawns, tile codes and locked tiles come out the same. What is merged follows
from the rulings, so no next state is ever built here: a bonus rotation alone does what a rotation does; of two
different tiles turned the order does not show; one tile turned twice shows its net turn (R-3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from companion.games.moguli.board import ALL, STRAIGHT, TURNED, doors_in
from companion.games.moguli.moves import Pawn, can, is_obliged, pawn_moves, rotated_moves
from companion.games.moguli.state import ACTS, BONUS, EXCHANGE, MOVE, ROTATE, State, Turn

Ways = dict[int, list[int]]
"""Tile -> the quarter turns of it that open something."""


def legal_turns(state: State) -> list[Turn]:
    """One legal turn for each different next state; empty exactly when the game is over. Exchanges in the setup."""
    if state.over is not None:
        return []
    if state.setup is not None:
        return [(act,) for act in EXCHANGE.values()]
    base = pawn_moves(state)
    tiles = state.tiles
    unlocked = tuple(doors_in(ALL & ~state.locked))
    straights = tuple(STRAIGHT[tiles[tile]] for tile in unlocked)
    singles = _singles(unlocked, straights)
    opened: dict[tuple[int, int], Ways] = defaultdict(lambda: defaultdict(list))
    gained: dict[tuple[int, int], Ways] = defaultdict(lambda: defaultdict(list))
    before = {door: (ends, bonus) for door, ends, bonus, _, _ in base}
    for tile, quarters, door, ends, bonus in rotated_moves(state, base):
        ends_before, bonus_before = before[door]
        for end in doors_in(ends & ~ends_before):
            opened[door, end][tile].append(quarters)
        for end in doors_in(bonus & ~bonus_before):
            gained[door, end][tile].append(quarters)
    compulsory = state.options.compulsory_actions
    able = any(ends for _, ends, _, _, _ in base) or (state.options.ability == "turn" and bool(opened))
    turns: list[Turn] = []
    still: list[Turn] = []
    if not (able and (compulsory or is_obliged(state))):
        still.extend(singles if compulsory else ((), *singles))
    for door, ends, bonus, _, _ in base:
        for end in doors_in(ends):
            first = (MOVE[door][end],)
            kept = still if door == end else turns
            if not compulsory:
                kept.append(first)
            kept.extend(map(first.__add__, singles))
            if bonus >> end & 1:
                kept.extend(map(first.__add__, _pairs(unlocked, straights)))
    for (door, end), ways in opened.items():
        move = MOVE[door][end]
        kept = still if door == end else turns
        kept.extend([(ROTATE[tile][quarters], move) for tile, some in ways.items() for quarters in some])
    for (door, end), ways in gained.items():
        kept = still if door == end else turns
        for tile, some in ways.items():
            bonuses = _bonuses(unlocked, straights, tile)
            done = {BONUS[other][quarters] for other in ways if other < tile for quarters in ways[other]}
            if done:
                bonuses = tuple(bonus for bonus in bonuses if bonus[0] not in done)
            for quarters in some:
                kept.extend(map((ROTATE[tile][quarters], MOVE[door][end]).__add__, bonuses))
            kept.extend(_same_tile(tiles[tile], tile, MOVE[door][end], some, opened.get((door, end))))
    return _merged(still, tiles) + turns


def _merged(still: list[Turn], tiles: tuple[int, ...]) -> list[Turn]:
    """Of turns after which every pawn stands where it stood (a move may return, R-6) the first to each next state."""
    found: dict[frozenset[tuple[int, int]], Turn] = {}
    for turn in still:
        net: dict[int, int] = {}
        for act in turn:
            kind, place, arg = ACTS[act]
            if kind != "M":
                net[place] = TURNED[net.get(place, tiles[place])][arg]
        found.setdefault(frozenset(net.items()), turn)
    return list(found.values())


def _same_tile(code: int, tile: int, move: str, some: list[int], opened: Ways | None) -> Iterator[Turn]:
    """One tile rotated before the move and again by the bonus that only this rotation made the move earn: the net turns
    that one rotation alone (in `opened` those that make the move legal at all; None: it is anyhow) does not show."""
    if STRAIGHT[code]:
        if opened is not None:
            yield ROTATE[tile][1], move, BONUS[tile][1]
        return
    shown = (1, 2, 3) if opened is None else opened.get(tile, ())
    for net in range(4):
        if net not in shown:
            quarters = next(q for q in some if q != net)
            yield ROTATE[tile][quarters], move, BONUS[tile][(net - quarters) % 4]


@lru_cache(maxsize=64)
def _singles(unlocked: tuple[int, ...], straights: tuple[bool, ...]) -> tuple[Turn, ...]:
    """One rotation of each kind that differs afterwards: three of a bend, two of a straight (one of them unseen)."""
    return tuple(
        (ROTATE[tile][quarters],)
        for tile, straight in zip(unlocked, straights, strict=True)
        for quarters in ((1, 2) if straight else (1, 2, 3))
    )


@lru_cache(maxsize=512)
def _bonuses(unlocked: tuple[int, ...], straights: tuple[bool, ...], but: int) -> tuple[Turn, ...]:
    """The bonus rotations of every tile but one, as `_singles`."""
    return tuple(
        (BONUS[tile][quarters],)
        for tile, straight in zip(unlocked, straights, strict=True)
        if tile != but
        for quarters in ((1, 2) if straight else (1, 2, 3))
    )


@lru_cache(maxsize=16)
def _pairs(unlocked: tuple[int, ...], straights: tuple[bool, ...]) -> tuple[Turn, ...]:
    """Rotation and bonus rotation after a move: each two tiles once, and the net-zero turn of each bend."""
    pairs = [
        (first, bonus)
        for (first,) in _singles(unlocked, straights)
        for (bonus,) in _bonuses(unlocked, straights, ACTS[first].place)
        if ACTS[bonus].place > ACTS[first].place
    ]
    pairs.extend(
        (ROTATE[tile][1], BONUS[tile][3]) for tile, straight in zip(unlocked, straights, strict=True) if not straight
    )
    return tuple(pairs)


def ordered_turns(state: State) -> Iterator[Turn]:
    """Every legal turn in every order of its acts, with all three angles of a straight: the unmerged list."""
    if state.over is not None or state.setup is not None:
        yield from legal_turns(state)
        return
    compulsory = state.options.compulsory_actions
    unlocked = tuple(doors_in(ALL & ~state.locked))
    rotations = [(tile, quarters) for tile in unlocked for quarters in (1, 2, 3)]
    bonuses = [BONUS[tile][quarters] for tile, quarters in rotations]
    if not ((compulsory or is_obliged(state)) and can(state)):
        if not compulsory:
            yield ()
        for tile, quarters in rotations:
            yield (ROTATE[tile][quarters],)
    base = pawn_moves(state)
    for move, earns in _moves(base):
        if not compulsory:
            yield (move,)
            if earns:
                for last in bonuses:
                    yield move, last
        for tile, quarters in rotations:
            yield move, ROTATE[tile][quarters]
            if earns:
                for last in bonuses:
                    yield move, ROTATE[tile][quarters], last
    for tile, quarters in rotations:
        tiles = list(state.tiles)
        tiles[tile] = TURNED[tiles[tile]][quarters]
        rotation = ROTATE[tile][quarters]
        for move, earns in _moves(pawn_moves(state, tiles)):
            yield rotation, move
            if earns:
                for last in bonuses:
                    yield rotation, move, last


def _moves(pawns: list[Pawn]) -> Iterator[tuple[str, bool]]:
    for door, ends, bonus, _, _ in pawns:
        for end in doors_in(ends):
            yield MOVE[door][end], bool(bonus >> end & 1)
