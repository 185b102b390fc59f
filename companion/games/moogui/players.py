"""Simulated players and throws: how figures fall, who moves whom, and what a sensible player decides.

`choose` answers every input that a match waits for, readings included; all chance comes from the generator.
"""

from __future__ import annotations

import random as randoms

from companion.games.contract import Look
from companion.games.moogui.look import is_throw, listed
from companion.games.moogui.scoring import leaders
from companion.games.moogui.state import (
    ABSENT,
    IMMUNE,
    OUT,
    UNSURE,
    EndTurn,
    OrderThrow,
    Readings,
    Shield,
    Sign,
    State,
    Throw,
    ThrowSentinel,
    TieThrow,
    Turn,
)
from companion.games.moogui.throws import in_arena

P_OUT, P_IMMUNE, P_UNSURE = 0.12, 0.08, 0.03
"""How a thrown figure ends that shows no face."""
P_MOVED = 0.15
"""A figure already lying is moved by a throw."""
_FARTHEST_MM = 330.0
_UNCERTAINTY_MM = 2.0
P_EQUAL, APART_MM = 0.08, 20.0
"""How often two land equally far from the centre; otherwise their distances differ by so much at least."""
ROOM_MM = 90.0
"""Two figures' distances from the centre make so much together at least: there is one place in the middle."""


def choose_any(state: State, random: randoms.Random) -> Turn:
    """Any legal input with equal chance, throws with what they may move; IndexError when the match is over."""
    return _chance(state, random.choice(listed(state)), random)


def choose(state: State, random: randoms.Random) -> Turn:
    """A sensible input: throws when due, adds a Sentinel when behind, throws a shield again when somebody leads."""
    turn = choose_on_paper(state, random)
    while any(reading == UNSURE for _, reading in getattr(turn, "readings", ())):
        turn = choose_on_paper(state, random)  # at a real arena every figure lies somehow
    return turn


def choose_on_paper(state: State, random: randoms.Random) -> Turn:
    """The same where readings are told, not seen: one may be unsure."""
    turns = listed(state)
    game = state.game
    if game is None or state.phase in ("order", "tiebreak", "split") or state.unsure:
        kept = [turn for turn in turns if not isinstance(turn, Sign)]
        return _chance(state, kept[0] if state.phase == "split" else random.choice(kept), random)
    ahead = leaders(state.rule, game)
    if state.phase == "shields":
        again = [turn for turn in turns if isinstance(turn, Shield) and turn.again]
        return _chance(state, random.choice(again) if again and ahead else Shield(_first(turns), again=False), random)
    sentinels = [turn for turn in turns if isinstance(turn, ThrowSentinel)]
    if sentinels and game.current not in ahead:
        return _chance(state, random.choice(sentinels), random)
    rest = [
        turn for turn in turns if isinstance(turn, EndTurn) or (isinstance(turn, Throw) and turn.player == game.current)
    ]
    allies = [turn for turn in turns if isinstance(turn, Sign) and turn.player == game.current]
    if allies and game.current not in ahead and random.random() < 0.5:
        return random.choice(allies)
    return _chance(state, random.choice(rest or turns), random)


def _first(turns: list[Turn]) -> int:
    return next(turn.player for turn in turns if isinstance(turn, Shield))


def _chance(state: State, turn: Turn, random: randoms.Random) -> Turn:
    """The same input with how the figures really fall."""
    if isinstance(turn, OrderThrow):
        return _order(state, turn, random)
    if not is_throw(turn) or not isinstance(turn, Throw | ThrowSentinel | TieThrow | Shield):
        return turn
    readings = _fallen(state, turn, random)
    match turn:
        case Throw(player, piece):
            return Throw(player, piece, readings)
        case ThrowSentinel(player, thrower, piece):
            return ThrowSentinel(player, thrower, piece, readings)
        case TieThrow(player):
            return TieThrow(player, readings)
    return Shield(turn.player, True, readings)


def _fallen(state: State, turn: Throw | ThrowSentinel | TieThrow | Shield, random: randoms.Random) -> Readings:
    game = state.game
    assert game is not None, "throws belong to a game"
    thrown = turn.figure if isinstance(turn, Throw | ThrowSentinel) else game.character(turn.player)
    return tuple(
        (piece, _fall(state, piece, random) if piece == thrown or random.random() < P_MOVED else reading)
        for piece, reading in turn.readings
    )


def _fall(state: State, piece: str, random: randoms.Random) -> str:
    chance = random.random()
    for limit, reading in ((P_OUT, OUT), (P_OUT + P_IMMUNE, IMMUNE), (P_OUT + P_IMMUNE + P_UNSURE, UNSURE)):
        if chance < limit:
            return reading
    model = state.rule.model(piece)
    return str(random.randint(1, len(model.powers) if model else 6))


def _order(state: State, turn: OrderThrow, random: randoms.Random) -> OrderThrow:
    """Distances that are plainly apart or equal, and how the figures lie there."""
    game = state.game
    assert game is not None, "an order throw belongs to a game"
    distances: list[tuple[int, float | None]] = []
    for who, _ in turn.distances:
        known = [mm for _, mm in distances if mm is not None]
        if random.random() < P_OUT:
            distances.append((who, None))
        elif (same := [mm for mm in known if 2 * mm > ROOM_MM]) and random.random() < P_EQUAL:
            distances.append((who, random.choice(same)))
        else:
            mm = round(random.uniform(0.0, _FARTHEST_MM), 1)
            while any(abs(mm - other) < APART_MM or mm + other < ROOM_MM for other in known):
                mm = round(random.uniform(0.0, _FARTHEST_MM), 1)
            distances.append((who, mm))
    readings = []
    for who, far in distances:
        piece = game.character(who)
        reading = OUT if far is None else UNSURE
        while reading == UNSURE or (reading == OUT) != (far is None):
            reading = _fall(state, piece, random)
        readings.append((piece, reading))
    return OrderThrow(tuple(distances), _UNCERTAINTY_MM, tuple(sorted(readings)))


def illegal(state: State, random: randoms.Random) -> tuple[Look, str] | None:
    """An act against the rules as changed facts, and the rule that it breaks; None where none can be built.

    A throw out of turn, a figure taken out too early, one turned over though nobody has thrown."""
    game = state.game
    if game is None or state.phase != "throwing" or state.in_the_way or state.unsure:
        return None
    acts: list[tuple[Look, str]] = []
    lying = dict(game.readings)
    for piece in in_arena(game):
        model = state.rule.model(piece)
        others = [r for r in (model.readings if model else ()) if r not in (OUT, lying[piece])]
        acts.append(({f"figure:{piece}": ABSENT}, "moogui.taken_too_early"))
        acts.append(({f"figure:{piece}": random.choice(others)}, "moogui.moved_without_throw"))
    after = game.order[game.turn + 1 : game.turn + 2]
    if after and game.character(game.current) not in lying:
        acts.append(({f"figure:{game.character(after[0])}": "1"}, "moogui.not_your_turn"))
    return random.choice(acts) if acts else None


PLAYERS = {"random": choose_any, "sensible": choose, "on_paper": choose_on_paper}
"""The players by name."""
