"""All legal turns of a position: one for each different next state, or every ordered one.

Two turns lead to the same next state when pawns, tile codes and locked tiles come out the same. What is merged follows
from the rulings, so no next state is ever built here: a bonus rotation alone does what a rotation does; of two
different tiles turned the order does not show; one tile turned twice shows its net turn (R-3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from companion.games.moguli.board import ALL, INDEX, STRAIGHT, TURNED, doors_in
from companion.games.moguli.moves import Pawn, can, is_obliged, pawn_moves, rotated_moves
from companion.games.moguli.state import BONUS, DECLINE, EXCHANGE_ROWS, MOVE, ROTATE, Act, State, Turn

Ways = dict[int, list[int]]
"""Tile -> the quarter turns of it that open something."""


def legal_turns(state: State) -> list[Turn]:
    """One legal turn for each different next state; empty exactly when the game is over. Exchanges in the setup."""
    if state.over is not None:
        return []
    if state.setup is not None:
        return [DECLINE] + [(Act("X", "", row),) for row in EXCHANGE_ROWS]
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
            move = MOVE[door][end]
            kept = still if door == end else turns
            if not compulsory:
                kept.append((move,))
            kept.extend([(move, *rotation) for rotation in singles])
            if bonus >> end & 1:
                kept.extend([(move, *pair) for pair in _pairs(unlocked, straights)])
    for (door, end), ways in opened.items():
        move = MOVE[door][end]
        kept = still if door == end else turns
        kept.extend((ROTATE[tile][quarters], move) for tile, some in ways.items() for quarters in some)
    for (door, end), ways in gained.items():
        kept = still if door == end else turns
        kept.extend(_gained(state, MOVE[door][end], ways, opened.get((door, end)), unlocked))
    return _merged(still, tiles) + turns


def _merged(still: list[Turn], tiles: tuple[int, ...]) -> list[Turn]:
    """Of turns after which every pawn stands where it stood (a move may return, R-6) the first to each next state."""
    found: dict[frozenset[tuple[int, int]], Turn] = {}
    for turn in still:
        net: dict[int, int] = {}
        for act in turn:
            if act.kind != "M":
                tile = INDEX[act.place]
                net[tile] = TURNED[net.get(tile, tiles[tile])][int(act.arg)]
        found.setdefault(frozenset(net.items()), turn)
    return list(found.values())


def _gained(state: State, move: Act, ways: Ways, opened: Ways | None, unlocked: tuple[int, ...]) -> Iterator[Turn]:
    """Rotation, move, bonus where only the rotation makes the move earn the bonus."""
    at_once = opened is None
    for tile, some in ways.items():
        straight = STRAIGHT[state.tiles[tile]]
        for quarters in some:
            first = ROTATE[tile][quarters]
            for other in unlocked:
                if other == tile:
                    continue
                reverse = ways.get(other, ())
                for turn in (1, 2) if STRAIGHT[state.tiles[other]] else (1, 2, 3):
                    if other > tile or turn not in reverse:
                        yield first, move, BONUS[other][turn]
        if straight:
            if not at_once:
                yield ROTATE[tile][1], move, BONUS[tile][1]
            continue
        shown = {1, 2, 3} if opened is None else set(opened.get(tile, ()))
        for net in range(4):
            if net not in shown:
                quarters = next(q for q in some if (net - q) % 4)
                yield ROTATE[tile][quarters], move, BONUS[tile][(net - quarters) % 4]


@lru_cache(maxsize=64)
def _singles(unlocked: tuple[int, ...], straights: tuple[bool, ...]) -> tuple[Turn, ...]:
    """One rotation of each kind that differs afterwards: three of a bend, two of a straight (one of them unseen)."""
    return tuple(
        (ROTATE[tile][quarters],)
        for tile, straight in zip(unlocked, straights, strict=True)
        for quarters in ((1, 2) if straight else (1, 2, 3))
    )


@lru_cache(maxsize=16)
def _pairs(unlocked: tuple[int, ...], straights: tuple[bool, ...]) -> tuple[Turn, ...]:
    """Rotation and bonus rotation after a move: each two tiles once, and the net-zero turn of each bend."""
    singles = _singles(unlocked, straights)
    pairs = [
        (first, BONUS[INDEX[second.place]][int(second.arg)])
        for place, (first,) in enumerate(singles)
        for (second,) in singles[place + 1 :]
        if second.place != first.place
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


def _moves(pawns: list[Pawn]) -> Iterator[tuple[Act, bool]]:
    for door, ends, bonus, _, _ in pawns:
        for end in doors_in(ends):
            yield MOVE[door][end], bool(bonus >> end & 1)
