"""The whole chain at a simulated arena: throws are seen, read, judged and proved without anybody telling them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from calibration.profile import load_board
from companion.bulletin import Bulletin, Device
from companion.cli import main
from companion.clips import Clips
from companion.demo import Demo
from companion.evidence import Evidence, Seen
from companion.games.contract import Message
from companion.journal import open_journal
from companion.landings import landings
from companion.registry import GAMES
from companion.serving import service_of
from companion.step import Step
from companion.tally import Tally
from companion.words import knows

STATES_TOLD: list[str] = []
"""What the health panel said of the arena in the last match."""


def play(data: Path, seed: int, turns: int) -> tuple[Tally, list[tuple[str, Message]]]:
    """The demo's tally, and the details of every judgement by the turn that it was about."""
    journal, _ = open_journal(data)
    service = service_of(journal, Bulletin(), GAMES, Clips(data / "clips"))
    details: list[tuple[str, Message]] = []

    def note(evidence: Evidence, done: Step) -> None:
        judgement = done.match.judgement
        if isinstance(evidence, Seen) and judgement is not None and any(e.kind == "judged" for e in done.events):
            last = done.match.entries[-1].text if done.match.entries else ""
            details.extend((last, words) for words in judgement.details)

    service.on_input = note
    report, told = service.report, STATES_TOLD
    told.clear()

    def tell(device: Device | None, name: str, trouble: Message | None) -> None:
        if device is not None and device.name == "arena":
            told.append(device.words.id)
        report(device, name, trouble)

    service.report = tell  # type: ignore[method-assign]
    try:
        return Demo(GAMES["moogui"], service, Bulletin(), seed, None).run(turns), details
    finally:
        journal.close()


def test_a_match_plays_itself_with_proof(tmp_path: Path) -> None:
    tally, details = play(tmp_path, 1, 6)
    assert (tally.right, tally.wrong, tally.faults) == (6, 0, [])
    proved = [(turn, dict(words.values)) for turn, words in details if words.id == "table.proof"]
    assert any(turn.startswith("order") for turn, _ in proved)
    assert any(turn.startswith("throw") for turn, _ in proved)
    assert all(values["share"] >= 99.0 for _, values in proved)
    assert {"vision.arena.ready", "vision.arena.thrown", "vision.arena.settled"} <= set(STATES_TOLD)
    assert all(knows(words) for words in STATES_TOLD)


def test_its_journal_gives_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(tmp_path, 1, 6)
    assert main(["report", "last", "--data", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("Ada: ") for line in lines)
    assert any(line.startswith("ari: faces") for line in lines)
    assert not any("{" in line or "[" in line for line in lines)


def test_where_figures_landed_is_as_far_from_the_centre_as_the_order_throw_says(tmp_path: Path) -> None:
    play(tmp_path, 1, 4)
    journal, _ = open_journal(tmp_path)
    events = [row.event for row in journal.rows()]
    journal.close()
    corners = load_board("moogui").corners_mm
    middle = tuple((min(c[i] for c in corners) + max(c[i] for c in corners)) / 2 for i in (0, 1))
    start = next(e.data["turn"] for e in events if e.kind == "turn" and e.data["turn"].startswith("start"))
    order = next(e.data["turn"] for e in events if e.kind == "turn" and e.data["turn"].startswith("order"))
    figures = dict(part.split("=") for part in start.split()[1:])
    told = {who: part.partition("=")[2] for part in order.split() if (who := part.partition("=")[0]) in figures}
    landed = landings(events)
    compared = 0
    for who, distance in told.items():
        first = landed.get(figures[who], [])[:1]
        if distance != "out" and first:
            assert math.dist(first[0], middle) == pytest.approx(float(distance), abs=0.2)
            compared += 1
    assert compared
