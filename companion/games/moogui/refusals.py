"""Refusals with the names that their sentences need."""

from __future__ import annotations

from companion.games.contract import Refusal
from companion.games.moogui.state import State


def no(rule: str, *places: str, **values: str | int | float) -> Refusal:
    """A refusal; places are piece ids."""
    return Refusal(rule, places, tuple(values.items()))


def player(index: int) -> str:
    """A player as a value of a sentence."""
    return f"#{index}"


def figure(state: State, piece: str) -> str:
    """A figure's name; with its piece id where several of one model take part."""
    model = state.rule.model(piece)
    if model is None:
        return piece
    twins = sum(model_id == model.id for _, model_id in state.rule.model_of)
    return f"{model.name} ({piece})" if twins > 1 else model.name
