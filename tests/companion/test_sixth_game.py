"""A further game needs nothing but its own parts: the common ones know no game by its name."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import companion.registry
from companion.bulletin import Bulletin
from companion.demo import Demo
from companion.games.contract import Rules
from companion.journal import Journal
from companion.registry import GAMES, GameEntry
from companion.service import Service
from tests.companion import toy

ROOT = Path(__file__).parent.parent.parent
COMMON = (
    *(f"companion/{name}.py" for name in (
        "referee", "sight", "judging", "ordering", "rolls", "match", "fold", "step", "draft", "consent", "journal",
        "bulletin", "snapshots", "commands", "evidence", "service", "eyes", "mischief", "recorder", "records",
        "doubts", "start_check", "opening", "demo", "demo_room", "demo_players", "tally",
    )),
    *(f"devices/simulated/{name}.py" for name in ("stage", "solid_scene", "carrying", "shine", "contract")),
    *(str(p.relative_to(ROOT)) for p in (ROOT / "web").glob("*.py")),
    *(str(p.relative_to(ROOT)) for p in (ROOT / "web/static").glob("*.js")),
    *(str(p.relative_to(ROOT)) for p in (ROOT / "web/templates").glob("*")),
)  # fmt: skip

TOY = GameEntry(
    name="toy",
    rules="tests.companion.toy:RULES",
    reader="vision.tokens:TokenReader",
    table="devices.simulated.token_table:TokenTable",
)


@pytest.mark.parametrize("path", COMMON)
def test_the_common_parts_name_no_game(path: str) -> None:
    named = re.findall(rf"\b({'|'.join(GAMES)})\b", (ROOT / path).read_text(encoding="utf-8"), re.IGNORECASE)
    assert not named, f"{path} names {sorted(set(named))}"


def test_a_sixth_game_is_played_at_the_table_with_its_own_parts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(companion.registry, "load_board", lambda name: toy.board())
    rules: Rules[object, object] = TOY.load_rules()
    journal = Journal(tmp_path / "journal.sqlite")
    bulletin = Bulletin()
    service = Service(lambda name: rules, journal, bulletin, chance=random.Random(1))
    tally = Demo(TOY, service, bulletin, 1, None).run(6)
    assert tally.line == "turns right 6 asked 0 wrong 0", tally.faults
