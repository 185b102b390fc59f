"""Simulated players of Moguli and the hint."""

from __future__ import annotations

import random

from companion.games.moguli.state import State, Turn
from companion.games.moguli.turns import legal_turns


def choose(state: State, chance: random.Random) -> Turn:
    """A random legal turn, one with a pawn move twice in three times where there is one."""
    turns = legal_turns(state)
    moving = [turn for turn in turns if any(act[0] == "M" for act in turn)]
    if moving and chance.random() < 2 / 3:
        return chance.choice(moving)
    return chance.choice(turns)
