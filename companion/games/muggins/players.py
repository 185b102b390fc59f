"""Simulated players of Muggins, and fair lots and deals for whoever runs a match; all chance comes from `rng`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from companion.games.muggins.play import DEAL, dealt, legal, placement
from companion.games.muggins.state import Act, State, Turn, unseen
from companion.games.muggins.tiles import SET, Line, Tile, extend, points, tile_of

PIPS, THREAT = 0.8, 0.25
"""How much a pip shed and a point that the next player may make count, in points. More fear of the next player makes
matches of several such players endless: nobody scores and every round costs its hands."""


def choose(state: State, rng: random.Random) -> Turn:
    """A sensible act: scores now, leaves the next player little to score with, sheds heavy tiles; else any act."""
    acts = [turn[0] for turn in legal(state)] if state.phase == "play" else []
    held = set(_imagined(state, rng)) if state.secret else set(SET)
    placements = [act for act in acts if act.kind in ("open", "place") and act.tile in held]
    if placements:
        return (max(placements, key=lambda act: _worth(state, act) + rng.random() * 0.1),)
    others = [act for act in acts if act.kind in ("draw", "pass")]
    return (others[0],) if others else choose_random(state, rng)


def _imagined(state: State, rng: random.Random) -> list[Tile]:
    """A hand that the player to move may have at the table, where nobody but its owner knows it."""
    if state.phase != "play" or state.drawn is not None:
        return list(SET)
    free = unseen(state)
    if state.drew:
        return rng.sample(free, 1)
    known = state.known[state.to_move]
    return [*known, *rng.sample(free, state.counts[state.to_move] - len(known))]


def choose_random(state: State, rng: random.Random) -> Turn:
    """Any legal act; a fair lot, a shuffled deal, a hand of tiles that nobody has seen."""
    if state.phase == "lot":
        return lot(state, rng)
    if state.phase == "deal":
        return deal(state, rng)
    if state.phase == "show":
        waiting = [p for p, hand in enumerate(state.shown) if hand is None]
        known = state.known[waiting[0]]
        free = rng.sample(unseen(state), state.counts[waiting[0]] - len(known))
        return (Act("show", player=waiting[0], tiles=(*known, *free)),)
    return rng.choice(legal(state))


PLAYERS: Mapping[str, Callable[[State, random.Random], Turn]] = {"random": choose_random, "sensible": choose}


def lot(state: State, rng: random.Random) -> Turn:
    """A fair lot among those who draw: each draws one of six numbers, the highest begins, equal ones draw again."""
    drawn = {p: rng.randint(1, 6) for p in state.lots}
    return (Act("lot", players=tuple(p for p in state.lots if drawn[p] == max(drawn.values()))),)


def deal(state: State, rng: random.Random) -> Turn:
    """A shuffled deal, open or secret as the match is."""
    if state.secret:
        return (DEAL,)
    shuffled = list(SET)
    rng.shuffle(shuffled)
    return (dealt(state.players, tuple(shuffled)),)


def at_table(turn: Turn) -> Turn:
    """A turn of an open match as a table with secret hands hears of it: drawn and dealt tiles are not told."""
    return tuple(Act(act.kind) if act.kind in ("draw", "deal") else act for act in turn)


def hands_shown(state: State) -> Turn:
    """What the players of an open match show at its table when a round has ended: every hand that is left."""
    return tuple(Act("show", player=p, tiles=hand) for p, hand in enumerate(state.hands) if hand)


def _worth(state: State, act: Act) -> float:
    """Points now, pips shed, less what the tiles one cannot see would score next on average."""
    assert act.tile is not None
    _, scored = placement(state, act)
    line = extend(state.line, act.tile, act.end) if state.line else (act.tile,)
    if line is None:
        return float("-inf")
    hidden = [t for t in SET if t not in state.certain(state.to_move) and t not in {tile_of(a, b) for a, b in line}]
    threat = sum(_most(line, tile) for tile in hidden) / max(len(hidden), 1)
    return scored + PIPS * sum(act.tile) - THREAT * threat


def _most(line: Line, tile: Tile) -> int:
    """The most that placing this tile at the line would bring; 0 where it does not fit."""
    longer = (extend(line, tile, end) for end in ("L", "R"))
    return max((points(made) for made in longer if made is not None), default=0)
