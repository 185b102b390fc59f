"""What the figures' readings are worth: standings, leaders, who has lost what, how a pool is shared."""

from __future__ import annotations

from collections.abc import Iterable

from companion.games.moogui.state import IMMUNE, OUT, UNSURE, Game, Readings, Rule, State

LOWEST = -1
"""What out, shield and immunity count in a tie-break (R-5)."""


def standing(rule: Rule, game: Game, player: int) -> tuple[str, int | None]:
    """How a player stands in the game proper: ("face", score), or not_thrown, taken_back, shield, immune, out, unsure.

    The score is the character's power plus the Sentinel's, where that lies with a face up (R-8).
    """
    piece = game.character(player)
    if piece in game.taken_back:
        return "taken_back", None
    readings = dict(game.readings)
    reading = readings.get(piece)
    model = rule.model(piece)
    if reading is None or model is None:
        return "not_thrown", None
    if reading in (OUT, IMMUNE, UNSURE):
        return reading, None
    power = model.power(reading)
    if model.shielded(reading) or power is None:
        return "shield", None
    return "face", power + sum(_power(rule, sentinel, readings) for who, sentinel in game.thrown if who == player)


def _power(rule: Rule, piece: str, readings: dict[str, str]) -> int:
    model = rule.model(piece)
    return (model.power(readings[piece]) or 0) if model else 0


def leaders(rule: Rule, game: Game) -> tuple[int, ...]:
    """The players with the highest score, in order of play; nobody when no character shows a power."""
    scores = {player: score for player in game.order if (score := standing(rule, game, player)[1]) is not None}
    best = max(scores.values(), default=None)
    return tuple(player for player, score in scores.items() if score == best)


def tie_best(rule: Rule, game: Game, tied: Iterable[int], readings: Readings) -> tuple[int, ...]:
    """Who leads a round of a tie-break; all of them when everybody threw the lowest (R-5)."""
    known = dict(readings)
    scores = {}
    for player in tied:
        model = rule.model(game.character(player))
        power = model.power(known[game.character(player)]) if model else None
        scores[player] = LOWEST if power is None else power
    best = max(scores.values())
    return tuple(player for player, score in scores.items() if score == best)


def pending_shield(rule: Rule, game: Game) -> int | None:
    """R-13: the earliest in order of play whose character lies in shield and is not decided."""
    return next((player for player in game.order if standing(rule, game, player)[0] == "shield"), None)


def lost(state: State, game: Game, winner: int) -> tuple[str, ...]:
    """The figures that the winner takes: all played except the winner's side's and those in shield or immunity.

    An ally's Sentinel is on the winner's side. Nothing is lost without a winner (R-6).
    """
    if winner < 0:
        return ()
    readings = dict(game.readings)
    ally_piece = {sentinel for player, sentinel in game.thrown if player == winner}
    played = [piece for _, piece in (*game.lineup, *game.thrown)]
    return tuple(
        sorted(
            piece
            for piece in played
            if state.owner(piece) != winner
            and piece not in ally_piece
            and piece not in game.taken_back
            and readings[piece] != IMMUNE
        )
    )


def sharer(state: State, game: Game, winner: int) -> int | None:
    """The ally with whom a winner shares: R-16, only when his Sentinel was thrown for the winner, whatever it added."""
    for player, sentinel in game.thrown:
        if player == winner and state.owner(sentinel) != winner:
            return state.owner(sentinel)
    return None


def dealt(state: State, pool: tuple[str, ...], winner: int, ally: int) -> tuple[tuple[str, int], ...]:
    """R-9: dealt alternately from the highest figure, the Sentinel's owner first."""

    def rank(piece: str) -> tuple[int, int, str]:
        model = state.rule.model(piece)
        highest, total = model.strength if model else (0, 0)
        return -highest, -total, piece

    return tuple((piece, (ally, winner)[turn % 2]) for turn, piece in enumerate(sorted(pool, key=rank)))
