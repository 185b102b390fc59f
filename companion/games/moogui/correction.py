"""Putting readings right by hand: a figure of the game stays in the game, every value is checked."""

from __future__ import annotations

from dataclasses import replace

from companion.games.contract import Look, Refusal
from companion.games.moogui.engine import goes_on
from companion.games.moogui.refusals import figure, no
from companion.games.moogui.state import ABSENT, OUT, UNSURE, State


def with_look(state: State, facts: Look) -> State | Refusal:
    """The state with these figures' readings corrected, judged again from there; a refusal names the figure."""
    lying, leftover, picked = dict(state.lying), dict(state.leftover), set(state.picked)
    for fact, value in facts.items():
        kind, _, piece = fact.partition(":")
        model = state.rule.model(piece)
        if kind != "figure" or model is None:
            return no("moogui.unknown_figure", fact, got=fact)
        if value not in (*model.readings, UNSURE, ABSENT):
            return no("moogui.bad_reading", piece, figure=figure(state, piece), got=value)
        if piece in lying:
            if value == ABSENT and lying[piece] == OUT:
                picked.add(piece)
                continue
            if value == ABSENT:
                return no("moogui.would_be_lost", piece, figure=figure(state, piece))
            lying[piece] = value
            picked.discard(piece)
        elif value == ABSENT:
            leftover.pop(piece, None)
        elif piece in leftover or state.game is None or state.phase == "order":
            leftover[piece] = value
        else:
            return no("moogui.not_in_play", piece, figure=figure(state, piece))
    there = {**leftover, **lying}
    gone = tuple(sorted(piece for piece in picked if there.get(piece) == OUT))
    state = replace(state, leftover=tuple(sorted(leftover.items())), picked=gone)
    game = state.game
    if game is None or not lying:
        return state
    changed = tuple(sorted(lying.items()))
    if state.phase == "tiebreak" and game.tie is not None:
        game = replace(game, tie=replace(game.tie, readings=changed))
    else:
        game = replace(game, readings=tuple(sorted({**dict(game.readings), **lying}.items())))
    return goes_on(replace(state, game=game))
