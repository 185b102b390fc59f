"""The worked cases beside the checkout, through the golden runner; and what the runner makes of bad files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.games.moguli import RULES
from companion.games.moguli.state import State
from tests.golden.__main__ import main
from tests.shared import shared_dir


@pytest.mark.parametrize("name", ["moguli.json", "moguli_explain.json"])
def test_golden_cases(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main([str(shared_dir() / "rules" / "golden" / name)])
    assert status == 0, capsys.readouterr().out


def test_a_wrong_case_fails_and_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiles = {f"{c}{r}": ["STRAIGHT", True, 1] for c in "abcde" for r in range(1, 8)}
    options = {"ability": "turn", "compulsory_actions": False, "cylinder": False, "new_starting_row": False}
    before = {"tiles": tiles, "pawns": {"a4": 1, "c4": 2}, "to_move": 1, "locked": [], "blocked_run": 0}
    before |= {"last_turn": False, "options": options}
    turn = {"id": "no-such-move", "before": before, "turn": [["M", "a4", "a5"]], "legal": True, "after": None}
    file = tmp_path / "moguli_mine.json"
    file.write_text(json.dumps({"turns": [turn, {**turn, "id": "refused", "legal": False}]}))
    assert main([str(file)]) == 1
    printed = capsys.readouterr().out
    assert "FAILED moguli_mine.json turns no-such-move" in printed
    assert "1 passed, 1 failed" in printed


@pytest.mark.parametrize(("name", "text"), [("moguli.json", "{"), ("chess.json", "{}")])
def test_a_file_that_cannot_be_checked(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert main([str(tmp_path / name)]) == 2
    assert main([str(tmp_path / "moguli_missing.json")]) == 2
    assert main([]) == 2


def test_the_playthrough_line_by_line() -> None:
    """`playthroughs/moguli.txt`: positions and turns, each with the position after it or the rule that refuses it."""
    lines = (Path(__file__).parent / "playthroughs" / "moguli.txt").read_text(encoding="utf-8").splitlines()
    state = None
    checked = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("position "):
            state = RULES.parse_position(line.removeprefix("position "))
            continue
        assert state is not None
        text, arrow, expected = line.partition(" => ")
        assert arrow, f"line {number}: {line}"
        answer = RULES.apply(state, RULES.parse(text.strip()))
        if expected.startswith("no: "):
            assert getattr(answer, "rule", None) == f"moguli.{expected.removeprefix('no: ').strip()}", f"line {number}"
        else:
            assert isinstance(answer, State), f"line {number}: {answer}"
            state = answer
            assert short(RULES.position_text(answer)) == expected.strip(), f"line {number}"
        checked += 1
    assert state is not None
    assert RULES.outcome(state) is not None
    assert checked > 20


def short(position: str) -> str:
    """A position line without its tiles."""
    return position.split(" ", 1)[1]
