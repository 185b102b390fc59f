"""`companion perft`: the counts, and the count under each first turn."""

from __future__ import annotations

import random

import pytest

from companion.bench.perft import divided, perft
from companion.cli import main
from companion.games.contract import Refusal, Setup
from companion.registry import GAMES


@pytest.mark.parametrize(
    ("name", "depth"), [("maulwurf", 2), ("moogh", 3), ("moogui", 3), ("muggins", 3), ("moguli", 1)]
)
def test_what_lies_under_the_first_turns_adds_up(name: str, depth: int) -> None:
    entry = GAMES[name]
    rules = entry.load_rules()
    counts = [count for _, count, _ in perft(entry, depth, None)]
    under = dict(divided(entry, depth, None))
    assert len(counts) == depth and len(under) == counts[0] and sum(under.values()) == counts[-1]
    state = rules.new(Setup(("1", "2")[: rules.min_players], {}, entry.deal_start(random.Random(0))))
    assert all(not isinstance(rules.apply(state, rules.parse(text)), Refusal) for text in under)


def test_a_position_is_counted_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Muggins, one tile in the hand to move that fits both ends of a line of another tile: two turns."""
    rules = GAMES["muggins"].load_rules()
    state = rules.new(Setup(("a", "b"), {"hands": "secret"}))
    for text in ("lot 1", "open 36"):
        state = rules.apply(state, rules.parse(text))
    assert main(["perft", "muggins", rules.position_text(state)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"depth 1: {len(lines) - 1} positions")
    fits = {
        f"{side} {a}{b}"
        for side, n in (("left", 3), ("right", 6))
        for a in range(7)
        for b in range(a, 7)
        if n in (a, b)
    }
    fits -= {"left 36", "right 36"}
    assert {line.partition(":")[0] for line in lines[1:]} == fits | {"draw"}
