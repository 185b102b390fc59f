"""Simulated players of Muggins, and fair lots and deals for whoever runs a match; all chance comes from `rng`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from companion.games.muggins.explain import explain
from companion.games.muggins.play import DEAL, dealt, legal, placement
from companion.games.muggins.state import Act, State, Turn, unseen
from companion.games.muggins.tiles import SET, Line, Tile, ends, extend, points, tile_of

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


class TablePlayers:
    """Players of one table who know their own hands, where the companion does not: a `choose` with a memory.

    What each holds follows from how the round was dealt and from its log, so that a turn taken back brings its tile
    back. A new deal is made whenever a round has not begun.
    """

    def __init__(self) -> None:
        self._dealt: Act | None = None

    def __call__(self, state: State, rng: random.Random) -> Turn:
        """A sensible act with the tiles that the player really holds."""
        if not state.secret or state.phase not in ("play", "show"):
            return choose(state, rng)
        if self._dealt is None or not state.log:
            shuffled = list(SET)
            rng.shuffle(shuffled)
            self._dealt = dealt(state.players, tuple(shuffled))
        held = _held(self._dealt, state)
        if held is None:
            return choose(state, rng)
        hands, boneyard, drawn = held
        if state.phase == "show":
            player = next(p for p, hand in enumerate(state.shown) if hand is None)
            return (Act("show", player=player, tiles=tuple(sorted(hands[player]))),)
        known = replace(
            state,
            secret=False,
            hands=hands,
            boneyard=boneyard,
            drawn=drawn if state.drew else None,
            counts=(),
            known=(),
        )
        return at_table(choose(known, rng))


def _held(deal_: Act, state: State) -> tuple[tuple[tuple[Tile, ...], ...], tuple[Tile, ...], Tile | None] | None:
    """All hands, the boneyard and the tile drawn last, by the deal and the round's log; None where they do not fit."""
    hands, boneyard, drawn = [list(hand) for hand in deal_.hands], list(deal_.tiles), None
    for player, act in state.log:
        if act.kind == "draw" and boneyard:
            drawn = boneyard.pop(0)
            hands[player].append(drawn)
        elif act.kind in ("open", "place") and act.tile is not None:
            if act.tile not in hands[player]:
                return None
            hands[player].remove(act.tile)
    return tuple(tuple(hand) for hand in hands), tuple(boneyard), drawn


def illegal(state: State, rng: random.Random) -> tuple[dict[str, str], str] | None:
    """Tiles laid against the rules, and the rule: one that does not fit, one that lies there already, two at once."""
    if state.phase != "play" or not state.line:
        return None
    left, right = ends(state.line)
    places = {"L": -state.opened - 1, "R": len(state.line) - state.opened}
    end = rng.choice("LR")
    outer = left if end == "L" else right
    gone = {tile_of(a, b) for a, b in state.line}
    kind = rng.choice(("does_not_fit", "already_on_line", "one_a_turn"))
    changes: dict[str, str] = {}
    if kind == "one_a_turn":
        for side, number in (("L", left), ("R", right)):
            fitting = [t for t in SET if number in t and t not in gone]
            if not fitting:
                return None
            tile = rng.choice(fitting)
            gone.add(tile)
            changes[f"line:{places[side]}"] = _laid(tile, number, side)
    else:
        again = kind == "already_on_line"
        tiles = [t for t in SET if (t in gone) == again and (again or outer not in t)]
        if not tiles:
            return None
        tile = rng.choice(tiles)
        changes[f"line:{places[end]}"] = _laid(tile, outer, end)
    found = explain(state, changes)
    return None if found.stories else (changes, found.refusals[0].rule)


def _laid(tile: Tile, number: int, end: str) -> str:
    """A tile as it lies at an end, with this number inwards if it has it."""
    inner, outer = tile if tile[0] == number else tile[::-1]
    return f"{inner}-{outer}" if end == "R" else f"{outer}-{inner}"


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
