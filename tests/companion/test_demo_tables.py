"""The demo of every game with a table begins, plays, and says nothing wrong."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from companion.bulletin import Bulletin
from companion.demo import Demo
from companion.journal import Journal
from companion.registry import game
from companion.service import Service


@pytest.mark.parametrize(
    ("name", "players", "options"),
    [
        ("maulwurf", 2, {}),
        ("maulwurf", 4, {}),
        ("maulwurf", 3, {"layout": "square13"}),
        ("muggins", 2, {}),
        ("muggins", 3, {}),
        ("moogh", 2, {}),
    ],
)
def test_the_first_turns_at_a_simulated_table_are_right(
    name: str, players: int, options: dict[str, str], tmp_path: Path
) -> None:
    entry = game(name)
    journal, bulletin = Journal(tmp_path / "journal.sqlite"), Bulletin()
    service = Service(
        lambda _: entry.load_rules(),
        journal,
        bulletin,
        data=lambda _, options: entry.data_used(dict(options)),
        chance=random.Random(1),
    )
    tally = Demo(entry, service, bulletin, 5, None, players=players, options=options).run(6)
    assert len(service.match.setup.players) == players
    assert service.match.setup.options.items() >= options.items()
    assert (tally.right, tally.wrong) == (6, 0), tally.faults
