"""Counts of the positions that legal turns lead to: the usual check of a move generator, and a measure of its speed."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

from companion.games.contract import Refusal, Rules, Setup
from companion.registry import GameEntry

NAMES = ("1", "2", "3", "4", "5", "6")


def perft(entry: GameEntry, depth: int, position: str | None) -> Iterator[tuple[int, int, float]]:
    """(depth, positions, seconds) for each depth up to `depth`, from a position line or a dealt start of seed 0.

    A finished game counts nothing further. Raises RulesError for a position line that cannot be read.
    """
    rules = entry.load_rules()
    state = _state(entry, position)
    for level in range(1, depth + 1):
        began_s = time.perf_counter()
        count = _count(rules, state, level)
        yield level, count, time.perf_counter() - began_s


def divided(entry: GameEntry, depth: int, position: str | None) -> Iterator[tuple[str, int]]:
    """(text, positions) for each first turn: how many of the positions at `depth` lie under it."""
    rules = entry.load_rules()
    state = _state(entry, position)
    for turn in rules.legal(state):
        after = rules.apply(state, turn)
        assert not isinstance(after, Refusal), rules.text(turn)
        yield rules.text(turn), 1 if depth == 1 else _count(rules, after, depth - 1)


def _state(entry: GameEntry, position: str | None) -> Any:
    rules = entry.load_rules()
    if position is not None:
        return rules.parse_position(position)
    options = {o.name: o.default for o in rules.options()}
    return rules.new(Setup(NAMES[: rules.min_players], options, entry.deal_start(random.Random(0))))


def _count(rules: Rules[Any, Any], state: Any, depth: int) -> int:
    turns = list(rules.legal(state))
    if depth == 1:
        return len(turns)
    total = 0
    for turn in turns:
        after = rules.apply(state, turn)
        assert not isinstance(after, Refusal), rules.text(turn)
        total += _count(rules, after, depth - 1)
    return total
