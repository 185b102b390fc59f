"""Simulated players of Die Maulwurfshöhle: one that plays anything, one that builds rings and spoils others'."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache

from companion.games.contract import Refusal
from companion.games.maulwurf.layout import Layout, xy
from companion.games.maulwurf.state import BUSY, State, Turn
from companion.games.maulwurf.turns import apply, legal

LOOKED_AT = 8
"""How many turns the sensible player plays out, those that bring a mole nearest to where it is wanted."""
STRAY = 12
_HELD = (0.0, 2.0, 6.0, 15.0, 0.0)
"""Worth of an open cave with so many neighbours held by one player (with four it is closed already)."""


def choose(state: State, rng: random.Random) -> Turn:
    """A sensible turn: closes rings, gathers around the most promising cave, stands in others' way; one turn deep.

    One turn in STRAY is any turn, so that players who block each other do not do so for ever.
    """
    turns = legal(state)
    if rng.random() * STRAY < 1.0:
        return rng.choice(turns)
    wanted = _wanted(state)
    index = state.layout.tables.index

    def gain(turn: Turn) -> float:
        if not turn[0].to:
            return 0.0
        return wanted[index[turn[-1].to]] - wanted[index[turn[0].start]] + rng.random() * 0.2

    best, best_worth = turns[0], float("-inf")
    for turn in sorted(turns, key=gain, reverse=True)[:LOOKED_AT]:
        after = apply(state, turn)
        if not isinstance(after, Refusal):
            worth = _worth(after, state.to_move) + rng.random() * 0.2
            if worth > best_worth:
                best, best_worth = turn, worth
    return best


def choose_random(state: State, rng: random.Random) -> Turn:
    """Any legal turn, all equally likely."""
    return rng.choice(legal(state))


PLAYERS: Mapping[str, Callable[[State, random.Random], Turn]] = {"random": choose_random, "sensible": choose}


@cache
def _nearness(layout: Layout) -> tuple[tuple[float, ...], ...]:
    """For each cave, in the layout's order, how near every cell is: 1 at the cave, 1/2 one king's step away, ..."""
    places = [xy(cell) for cell in layout.cells]
    caves = [xy(cave) for cave in layout.caves]
    return tuple(tuple(1.0 / (1 + max(abs(x - u), abs(y - v))) for x, y in places) for u, v in caves)


def _promising(state: State, corner: int) -> tuple[int, float]:
    """The open cave (by its place in the layout's order) around which a player has come furthest, and its worth."""
    board, mole = state.board, corner + 1
    moles = [c for c, code in enumerate(board) if code == mole]
    nearness = _nearness(state.layout)
    best, best_worth = -1, -1.0
    for k, (cave, (a, b, c, d)) in enumerate(state.layout.tables.rings):
        if board[cave] <= BUSY:
            around = (board[a], board[b], board[c], board[d])
            held = around.count(mole)
            others = 4 - held - around.count(0)
            worth = _HELD[held] * 0.6**others + sum(map(nearness[k].__getitem__, moles))
            if worth > best_worth:
                best, best_worth = k, worth
    return best, best_worth


def _wanted(state: State) -> list[float]:
    """For every cell how much the player to move wants a mole there."""
    me = state.to_move + 1
    k, _ = _promising(state, state.to_move)
    if k < 0:
        return [0.0] * len(state.board)
    wanted = [0.3 - 0.3 / near for near in _nearness(state.layout)[k]]
    for c in state.layout.tables.rings[k][1]:
        wanted[c] += 4.0
    for _, around in state.layout.tables.rings:
        for other in state.active:
            if other + 1 != me and sum(state.board[c] == other + 1 for c in around) == 3:
                for c in around:
                    wanted[c] += 6.0
    return wanted


def _worth(state: State, corner: int) -> float:
    if state.over is not None:
        return 0.0 if state.over.winner is None else 1000.0 if state.over.winner == corner else -1000.0
    worth = 0.0
    for other in state.active:
        sign = 1.0 if other == corner else -0.5
        worth += sign * (60.0 * state.busy(other) + 3.0 * state.moles(other) + _promising(state, other)[1])
    return worth
