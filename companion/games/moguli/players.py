"""Simulated players of Moguli: a random one, a sensible one, and the hint with its reason.

They play only what a camera can tell: no half turn of a straight, no tile turned back, no move back to its own door.
The search looks at every pawn move, at once or after a rotation, and for the most promising ones at every rotation that
may follow; its size is bounded by counts, not by a clock, so the same state gives the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from companion.games.contract import Message
from companion.games.moguli.board import ALL, HOME, NAMES, STRAIGHT, doors_in, row_of
from companion.games.moguli.judge import judge
from companion.games.moguli.moves import is_obliged, pawn_moves, rotated_moves
from companion.games.moguli.notation import turn_text
from companion.games.moguli.planted import illegal as illegal
from companion.games.moguli.state import ACTS, BONUS, MOVE, ROTATE, State, Turn
from companion.games.moguli.turns import legal_turns

WORTH = (0.0, 1.0, 2.0, 3.2, 4.6, 6.2, 10.0)
"""What a pawn is worth by the rows it has advanced; the far row counts most."""
WIN = 1000.0
SENSIBLE_WIDTH = 3
HINT_WIDTH = 6
WEIGHED = 300
"""How many turns are looked at closely; of more, those that bring pawns furthest."""


def choose(state: State, chance: random.Random) -> Turn:
    """A random legal turn that a camera can see; where a pawn can move, it does so three times in four."""
    if state.setup is not None:
        return chance.choice(legal_turns(state))
    turns = _candidates(state)
    moving = [turn for turn in turns if _moves(turn)]
    resting = [turn for turn in turns if not _moves(turn)]
    if not moving or chance.random() < 1 / 4:
        turn = chance.choice(resting)
        if isinstance(judge(state, turn), State):
            return turn
    if not moving:
        plain = [turn for turn in resting if isinstance(judge(state, turn), State)]
        return chance.choice(plain or legal_turns(state))  # sometimes only what a camera cannot tell is left
    move = chance.choice(sorted({act for turn in moving for act in turn if act[0] == "M"}))
    turn = chance.choice([turn for turn in moving if move in turn])
    longer = list(_longer(state, turn))
    if longer and chance.random() < 1 / 2:
        tried = chance.choice(longer)
        if isinstance(judge(state, tried), State):
            return tried
    return turn


def _moves(turn: Turn) -> bool:
    return any(act[0] == "M" for act in turn)


def _visible(state: State, turn: Turn) -> bool:
    """Whether every act of the turn shows on the table."""
    tiles = []
    for act in turn:
        kind, place, arg = ACTS[act]
        if kind == "M" and place == arg:
            return False
        if kind in "RB":
            tiles.append(place)
            if arg == 2 and STRAIGHT[state.tiles[place]]:
                return False
    return len(set(tiles)) == len(tiles)


def sensible(state: State, chance: random.Random) -> Turn:
    """A good turn found by a small search; `chance` decides between equals. In the setup any exchange."""
    if state.setup is not None:
        return chance.choice(legal_turns(state))
    return _best(state, SENSIBLE_WIDTH, chance)


def hint(state: State) -> tuple[Turn, Message]:
    """The best turn found for the player to move, and why; the state must not be over."""
    if state.setup is not None:
        turn = legal_turns(state)[0]
        return turn, Message("moguli.hint.quiet", (("turn", turn_text(turn)),))
    turn = _best(state, HINT_WIDTH, random.Random(0))
    return turn, _reason(state, turn)


def _best(state: State, width: int, chance: random.Random) -> Turn:
    player = state.to_move
    plain = sorted(_plain(state), key=lambda found: -_worth(found[1], player))[:WEIGHED]
    rated = sorted(((value(after, player), chance.random(), turn) for turn, after in plain), reverse=True)
    if not rated:
        return legal_turns(state)[0]
    best = rated[0]
    for _, _, turn in rated[:width]:
        for longer in _longer(state, turn):
            after = judge(state, longer)
            if isinstance(after, State):
                best = max(best, (value(after, player), chance.random(), longer))
    return best[2]


def _plain(state: State) -> Iterator[tuple[Turn, State]]:
    """The legal ones of the candidates, with the state after each."""
    for turn in _candidates(state):
        after = judge(state, turn)
        if isinstance(after, State):
            yield turn, after


@lru_cache(maxsize=4)  # a player often weighs the same position several times
def _candidates(state: State) -> tuple[Turn, ...]:
    """Turns that a camera can see: one pawn move, at once or after a rotation, all of them legal (compulsory actions:
    with a rotation); and nothing or one rotation, which a duty may forbid."""
    base = pawn_moves(state)
    turns: list[Turn] = [()]
    turns += [(ROTATE[tile][q],) for tile in doors_in(ALL & ~state.locked) for q in (1, 2, 3)]
    turns += [(MOVE[door][end],) for door, ends, _, _, _ in base for end in doors_in(ends)]
    at_once = {door: ends for door, ends, _, _, _ in base}
    for tile, quarters, door, ends, _ in rotated_moves(state, base):
        turns += [(ROTATE[tile][quarters], MOVE[door][end]) for end in doors_in(ends & ~at_once[door])]
    if state.options.compulsory_actions:
        first = ROTATE[next(doors_in(ALL & ~state.locked))][1]
        turns = [(*turn, first) if len(turn) == 1 and turn[0][0] == "M" else turn for turn in turns]
    return tuple(turn for turn in turns if _visible(state, turn))


def _longer(state: State, turn: Turn) -> Iterator[Turn]:
    """The turn with each further rotation that could be allowed after it."""
    if not _moves(turn):
        return
    spin = BONUS if any(act[0] == "R" for act in turn) else ROTATE
    for tile in doors_in(ALL & ~state.locked):
        for act in spin[tile].values():
            longer = (*turn, act)
            if _visible(state, longer):
                yield longer


def value(state: State, player: int) -> float:
    """How good a state is for the player: pawns by rows advanced, and the best next step of each side."""
    if state.over is not None:
        winner = state.over.winner
        return 0.0 if winner is None else WIN if winner == player else -WIN
    total = 0.0
    for side in range(2):
        sign = 1.0 if side == player else -1.0
        turn = 0.7 if side == state.to_move else 0.4
        total += sign * (_worth(state, side) + turn * _best_step(state, side))
    return total


def _worth(state: State, side: int) -> float:
    return sum(WORTH[advanced(side, door)] for door in doors_in(state.pawns[side]))


def advanced(player: int, door: int) -> int:
    """How many rows the door lies in front of the player's own starting row, 0..6."""
    return row_of(door) - 1 if player == 0 else 7 - row_of(door)


def _best_step(state: State, side: int) -> float:
    turned = state if side == state.to_move else replace(state, to_move=side)
    best = 0.0
    for door, ends, _, _, _ in pawn_moves(turned):
        if ends:
            furthest = max(advanced(side, end) for end in doors_in(ends))
            best = max(best, WORTH[furthest] - WORTH[advanced(side, door)])
    return best


def _arrives(state: State, side: int) -> bool:
    """Whether the side, were it to move, could bring its fourth pawn home at once or after a rotation."""
    far = HOME[1 - side]
    if (state.pawns[side] & far).bit_count() != 3:
        return False
    turned = replace(state, to_move=side)
    base = pawn_moves(turned)
    steps = [(door, ends) for door, ends, _, _, _ in base]
    steps += [(door, ends) for _, _, door, ends, _ in rotated_moves(turned, base)]
    return any(ends & far and advanced(side, door) < 6 for door, ends in steps)


def _reason(state: State, turn: Turn) -> Message:
    player = state.to_move
    after = judge(state, turn)
    assert isinstance(after, State)
    said = ("turn", turn_text(turn))
    if after.over is not None and after.over.winner == player:
        return Message("moguli.hint.wins", (said,))
    move = next((ACTS[act] for act in turn if act[0] == "M"), None)
    if _arrives(state, 1 - player) and not _arrives(after, 1 - player):
        return Message("moguli.hint.stops", (said,))
    if move is not None:
        rows = advanced(player, move.arg) - advanced(player, move.place)
        if advanced(player, move.arg) == 6 and rows > 0:
            return Message("moguli.hint.arrives", (said, ("end", NAMES[move.arg])))
        if is_obliged(state):
            return Message("moguli.hint.duty", (said,))
        if rows > 0:
            return Message("moguli.hint.advances", (said, ("rows", rows)))
    return Message("moguli.hint.quiet", (said,))
