"""A doubted turn: who may doubt what, what the table decides, and of which seconds pictures are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from companion.bulletin import Bulletin
from companion.clips import AFTER_S, BEFORE_S, Clips
from companion.commands import Corners
from companion.evidence import Author, Seen
from companion.footage import LONG_S, Keep
from companion.games.contract import Look, Message
from companion.journal import FILE, Journal
from companion.service import Service
from companion.snapshots import snapshot
from tests.companion.table import CAMERA, PLAYERS, TestTable, games, reading_of

TABLE = Author("seat", "table")


def doubts(table: TestTable) -> list[tuple[int, str, str]]:
    return [(c.number, c.decided, c.clip) for c in table.match.contests]


def played(turns: int) -> TestTable:
    table = TestTable(seed=4)
    table.opening()
    table.play(turns)
    return table


def test_a_doubt_and_its_decision_are_in_the_journal_with_their_authors() -> None:
    table = played(2)
    assert table.say("doubt", 1, number=2, clip="m-t2").ok
    assert table.say("uphold", 0, number=2).ok
    noted = [(e.kind, e.author, e.data["number"]) for e in table.events if e.kind in ("contested", "upheld")]
    assert noted == [("contested", PLAYERS[1], 2), ("upheld", PLAYERS[0], 2)]
    assert table.refolded() == table.match
    line = snapshot(table.match, None, 1).record[1]
    assert line.doubt == Message("table.doubt_stands", (("player", "#0"),))
    assert line.clip == "m-t2" and not line.doubted


def test_what_is_not_doubted_cannot_be_upheld_and_what_is_not_there_not_doubted() -> None:
    table = played(1)
    assert not table.say("uphold", number=1).ok
    for number in (0, -1, table.match.turns + 1, True, "1", None):
        reply = table.say("doubt", number=number)
        assert not reply.ok and reply.words is not None and reply.words.id == "companion.no_such_turn"
    assert table.say("doubt", number=1).words == Message("table.doubt_without_pictures")
    assert table.say("uphold", number=1).ok
    assert not table.say("uphold", number=1).ok


def test_a_corrected_turn_settles_its_doubt() -> None:
    table = played(2)
    last = next(e for e in reversed(table.match.entries) if e.text)
    table.say("doubt", 0, number=table.match.turns, clip="c")
    table.say("doubt", 0, number=1, clip="d")
    assert table.say("correct_turn", 1, number=table.match.turns, text=last.text).ok
    assert doubts(table) == [(table.match.turns, "changed", "c"), (1, "", "d")]
    line = snapshot(table.match, None, 1).record[-1]
    assert line.doubt == Message("table.doubt_changed", (("player", "#1"),))


def test_a_turn_taken_back_takes_its_doubt_along() -> None:
    table = played(3)
    for number in (1, 2, 3):
        table.say("doubt", number=number)
    table.say("undo_to", number=1)
    assert doubts(table) == [(1, "", "")]
    assert table.refolded() == table.match


def test_a_turn_that_is_not_final_may_be_doubted_and_withdrawn() -> None:
    table = played(0)
    table.turn(table.texts("R")[0])
    table.see()
    number = table.match.turns + 1
    assert table.say("doubt", 1, number=number, clip="c").ok
    shown = snapshot(table.match, None, 1).provisional
    assert shown is not None and shown.doubted and shown.clip == "c"
    assert table.say("takeback", 0).ok
    assert doubts(table) == []


class Eyes:
    """A watcher that notes what it is to keep."""

    working = current = True
    corners: tuple[str, ...] = ()
    corner_names: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.latest_s = 0.0
        self.kept: list[Keep] = []

    def tap(self, points: Corners) -> Message | None:
        return None

    def want(self, soon: bool) -> None: ...
    def agree(self, frame_number: int, look: Look) -> None: ...
    def turn_board(self, corner: str) -> None: ...

    def keep(self, keep: Keep) -> None:
        self.kept.append(keep)


class Seeing:
    """A service whose table is seen without a camera."""

    def __init__(self, folder: Path, limit_mb: int = 10) -> None:
        self.table = TestTable(seed=4)
        self.eyes, self.clips = Eyes(), Clips(folder / "clips", limit_mb)
        self.service = Service(games, Journal(folder / FILE), Bulletin(), clips=self.clips)
        self.service.watch(self.eyes)
        self.submit("new_game", game="moguli", players=["Ada", "Bea"], options={}, start="table")
        self.see(self.table.look())
        self.submit("accept_start")
        self.table.state = self.service.match.agreed

    def submit(self, command: str, **args: Any) -> Any:
        return self.service.submit(command, args, TABLE)

    def see(self, look: Look, **unclear: Any) -> None:
        self.eyes.latest_s += 1.0
        self.service.hear(Seen(reading_of(look, self.eyes.latest_s, **unclear), "f", CAMERA))

    def turn(self) -> None:
        self.table.turn()
        self.see(self.table.look())
        self.submit("done")
        self.see(self.table.look())


def test_the_seconds_around_the_doubted_turn_are_kept_and_only_those(tmp_path: Path) -> None:
    seeing = Seeing(tmp_path)
    seeing.turn()
    seen_s = seeing.eyes.latest_s - 1.0  # the reading before the button
    seeing.turn()
    assert seeing.eyes.kept == []
    assert seeing.submit("doubt", number=1).ok
    (keep,) = seeing.eyes.kept
    assert (keep.from_s, keep.moment_s, keep.to_s) == (seen_s - BEFORE_S, seen_s, seen_s + AFTER_S)
    assert keep.limit_bytes == 10 * 2**20
    (contest,) = seeing.service.match.contests
    assert keep.file == str(seeing.clips.folder / f"{contest.clip}.clip")
    seeing.submit("doubt", number=1)  # doubted once more: the same pictures
    assert len(seeing.eyes.kept) == 1
    assert seeing.service.match.contests[0].clip == contest.clip


def test_what_is_long_past_has_no_pictures_and_the_doubt_is_noted_all_the_same(tmp_path: Path) -> None:
    seeing = Seeing(tmp_path)
    seeing.turn()
    seeing.eyes.latest_s += LONG_S + 1.0
    reply = seeing.submit("doubt", number=1)
    assert reply.ok and reply.words == Message("table.doubt_without_pictures")
    assert seeing.eyes.kept == [] and seeing.service.match.contests[0].clip == ""


def test_a_table_that_keeps_no_clips_asks_for_none(tmp_path: Path) -> None:
    seeing = Seeing(tmp_path, limit_mb=0)
    seeing.turn()
    assert seeing.submit("doubt", number=1).words == Message("table.doubt_without_pictures")
    assert seeing.eyes.kept == []


def test_nobody_can_name_a_clip_of_their_own(tmp_path: Path) -> None:
    seeing = Seeing(tmp_path)
    seeing.turn()
    seeing.submit("doubt", number=1, clip="../../etc/passwd")
    assert seeing.service.match.contests[0].clip.startswith(seeing.service.match.id)


def test_what_is_asked_about_is_kept_at_once_and_shown_with_the_answered_turn(tmp_path: Path) -> None:
    seeing = Seeing(tmp_path)
    while not seeing.table.texts("R"):
        seeing.turn()
    number, before = seeing.service.match.turns + 1, dict(seeing.table.look())
    turn = seeing.table.turn(seeing.table.texts("R")[0])
    ((key, truth),) = seeing.table.rules.trace(seeing.service.match.agreed, turn).items()
    for _ in range(7):
        seeing.see(seeing.table.look(), weak={key: {truth: 0.0, before[key]: -5.0}})
    question = seeing.service.bulletin.snapshot().question
    assert question is not None
    (keep,) = seeing.eyes.kept
    assert question.clip and keep.file.endswith(f"{question.clip}.clip")
    asked = seeing.service.match.question
    assert asked is not None
    told = next(c for c in asked.choices if c.kind == "grow")
    assert seeing.submit("answer", question=question.id, value=told.value).ok
    assert seeing.service.bulletin.snapshot().question is None
    seeing.submit("doubt", number=number)
    assert len(seeing.eyes.kept) == 1
    assert seeing.service.match.contests[0].clip == question.clip


@pytest.mark.parametrize("doubtful", [True, False])
def test_a_turn_ended_while_a_fact_is_in_doubt_waits_for_the_next_reading(tmp_path: Path, doubtful: bool) -> None:
    seeing = Seeing(tmp_path)
    before = seeing.table.look()
    seeing.table.turn()
    look = seeing.table.look()
    key = next(k for k in look if k.startswith("path:") and look[k] == before[k])
    values = [look[key], *(v for v in ("NE", "ES") if v != look[key])]
    seeing.see(look, weak={key: dict(zip(values, (0.0, -2.0, -30.0), strict=False))} if doubtful else None)
    assert seeing.service.match.provisional is not None
    turns = seeing.service.match.turns
    assert seeing.submit("done").ok
    assert seeing.service.match.turns == turns + (not doubtful)
    seeing.see(look)
    assert seeing.service.match.turns == turns + 1
