"""The journal: durable before it is told, whole after a kill, honest about damage, one program a folder."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.evidence import Author
from companion.journal import (
    FILE,
    DamagedError,
    FolderInUseError,
    FolderLock,
    Journal,
    JournalError,
    open_journal,
)
from companion.match import Event

EVENTS = [
    Event("paused" if n % 2 else "resumed", {"n": n, "text": "ä\n"}, Author("seat", "a", n % 2)) for n in range(8)
]


def _bodies(journal: Journal) -> list[int]:
    return [row.event.data["n"] for row in journal.rows()]


def test_what_was_written_is_read_back_in_order_by_another_program(tmp_path: Path) -> None:
    journal = Journal(tmp_path / FILE)
    assert journal.append("m1", EVENTS[:3]) == 3
    assert journal.append("m2", EVENTS[3:5]) == 5
    journal.close()
    again = Journal(tmp_path / FILE)
    assert [row.event for row in again.rows()] == EVENTS[:5]
    assert [row.event for row in again.rows("m2")] == EVENTS[3:5]
    assert again.number == 5


def test_the_last_match_is_the_one_opened_last(tmp_path: Path) -> None:
    journal = Journal(tmp_path / FILE)
    assert journal.last_match() is None
    journal.append("m1", [Event("opened")])
    journal.append("m2", [Event("opened"), Event("paused")])
    assert journal.last_match() == "m2"


def test_rows_cannot_be_changed_or_deleted(tmp_path: Path) -> None:
    journal = Journal(tmp_path / FILE)
    journal.append("m", EVENTS[:2])
    other = sqlite3.connect(tmp_path / FILE)
    for statement in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            other.execute(statement)
    other.close()


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE events SET body = replace(body, '1', '7') WHERE number = 2",
        "DELETE FROM events WHERE number = 2",
        "UPDATE events SET match = 'other' WHERE number = 3",
        "UPDATE events SET number = 9 WHERE number = 4",
    ],
)
def test_a_changed_missing_or_moved_row_is_found_and_the_file_kept(tmp_path: Path, tampering: str) -> None:
    journal = Journal(tmp_path / FILE)
    journal.append("m", EVENTS[:4])
    journal.close()
    db = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    db.execute("DROP TRIGGER no_update")
    db.execute("DROP TRIGGER no_delete")
    db.execute(tampering)
    db.close()
    with pytest.raises(DamagedError, match="damaged"):
        Journal(tmp_path / FILE)
    fresh, kept = open_journal(tmp_path)
    assert kept is not None and kept.exists() and fresh.number == 0
    fresh.append("m", EVENTS[:1])


@settings(max_examples=30, deadline=None)
@given(where=st.floats(0.0, 1.0), count=st.integers(1, 400), seed=st.integers(0, 1000))
def test_random_damage_is_noticed_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, where: float, count: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    journal = Journal(folder / FILE)
    journal.append("m", EVENTS)
    journal.close()
    content = bytearray((folder / FILE).read_bytes())
    start = int(where * (len(content) - 1))
    chance = random.Random(seed)
    for i in range(start, min(start + count, len(content))):
        content[i] = chance.randrange(256)
    (folder / FILE).write_bytes(content)
    try:
        journal, kept = open_journal(folder)
    except JournalError as error:
        assert "newer program" in str(error), "only a damaged version number may look so"
        return
    assert [row.event for row in journal.rows()] == ([] if kept else EVENTS)
    journal.close()


def test_a_file_that_is_no_database_is_kept_and_a_new_journal_begun(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database " * 200)
    journal, kept = open_journal(tmp_path)
    assert kept is not None and kept.read_bytes().startswith(b"this is no database")
    assert journal.append("m", EVENTS[:1]) == 1
    journal.close()
    (tmp_path / FILE).write_bytes(b"again " * 900)
    _, second = open_journal(tmp_path)
    assert second is not None and second != kept and kept.exists()


def test_two_programs_on_one_folder_give_one_clear_message(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(FolderInUseError, match=rf"in use by another companion \(process {os.getpid()}\).*--data"):
        FolderLock(tmp_path)
    lock.close()
    FolderLock(tmp_path).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(JournalError, match="file"):
        FolderLock(tmp_path / "file")


def test_a_journal_of_a_newer_program_is_refused_and_untouched(tmp_path: Path) -> None:
    Journal(tmp_path / FILE).close()
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(JournalError, match="newer program"):
        open_journal(tmp_path)
    assert not list(tmp_path.glob("*damaged*"))


WRITER = """
import sys
from pathlib import Path
from companion.journal import Journal
from companion.match import Event
journal = Journal(Path(sys.argv[1]))
for n in range(100000):
    journal.append("m", [Event("x", {"n": n, "pad": "p" * (n % 700)})] * (1 + n % 3))
    print(n, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_at_any_moment_loses_nothing_acknowledged(tmp_path: Path, seed: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / FILE)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(random.Random(seed).uniform(0.0, 0.3))
        writer.send_signal(signal.SIGKILL)
        told = [first, *writer.stdout.read().splitlines()]
    acknowledged = int([line for line in told if line.strip().isdigit()][-1])
    journal = Journal(tmp_path / FILE)
    numbers = _bodies(journal)
    expected = [n for n in range(max(numbers) + 1) for _ in range(1 + n % 3)]
    assert numbers == expected, "whole transactions, in order, none twice"
    assert max(numbers) >= acknowledged


def test_a_cut_write_ahead_log_leaves_a_prefix(tmp_path: Path) -> None:
    """Power loss cannot be made here; copies of the log cut at frame boundaries and random bytes stand in for it."""
    live = tmp_path / "live"
    live.mkdir()
    journal = Journal(live / FILE)
    for n in range(12):
        journal.append("m", [Event("x", {"n": n, "pad": "p" * 900})])
    log = (live / f"{FILE}-wal").read_bytes()
    page = int.from_bytes(log[8:12], "big")
    frames = range(32, len(log), 24 + page)
    assert len(frames) > 12
    chance = random.Random(1)
    lengths = []
    for number, cut in enumerate([*frames, *(chance.randrange(len(log)) for _ in range(12)), len(log)]):
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        shutil.copy(live / FILE, copy / FILE)
        (copy / f"{FILE}-wal").write_bytes(log[:cut])
        opened, kept = open_journal(copy)
        assert kept is None, "a cut log is no damage"
        numbers = _bodies(opened)
        assert numbers == list(range(len(numbers)))
        lengths.append(len(numbers))
        opened.close()
    assert lengths[-1] == 12 and len(set(lengths)) > 6
    journal.close()
