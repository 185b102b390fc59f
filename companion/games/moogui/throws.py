"""What every throw shares: which figures must be read after it, and what the readings change."""

from __future__ import annotations

from dataclasses import replace

from companion.games.contract import Refusal
from companion.games.moogui.refusals import figure, no
from companion.games.moogui.state import OUT, UNSURE, Game, Readings, State


def in_arena(game: Game) -> tuple[str, ...]:
    """The figures of the game proper that still lie in the arena: neither out (R-10) nor taken back."""
    return tuple(piece for piece, reading in game.readings if reading != OUT and piece not in game.taken_back)


def wrong_readings(state: State, readings: Readings, expected: set[str]) -> Refusal | None:
    """Why these are not the readings of exactly the expected figures; None when they are."""
    told = dict(readings)
    for piece in told:
        model = state.rule.model(piece)
        if model is None:
            return no("moogui.unknown_figure", piece, got=piece)
        if piece not in expected:
            gone = state.game is not None and dict(state.game.readings).get(piece) == OUT and state.phase != "tiebreak"
            return no("moogui.out_is_final" if gone else "moogui.readings_extra", piece, figure=figure(state, piece))
        if told[piece] != UNSURE and told[piece] not in model.readings:
            return no("moogui.bad_reading", piece, figure=figure(state, piece), got=told[piece])
    missing = sorted(expected - told.keys())
    if missing or len(told) != len(readings):
        return no("moogui.readings_missing", *missing, figure=figure(state, missing[0]) if missing else "")
    return None


def read_again(game: Game, readings: Readings) -> Game:
    """The game after all figures were read again: each one's latest position counts."""
    return replace(game, readings=tuple(sorted({**dict(game.readings), **dict(readings)}.items())))
