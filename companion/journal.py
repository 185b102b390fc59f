"""The journal: every event of every match, numbered, hash-chained and on the disk before anybody hears of it.

SQLite in WAL mode with `synchronous=FULL`, one append-only table, one writer, explicit `BEGIN IMMEDIATE`. Each row's
hash covers the row before it, so that a changed, missing or reordered row is found when the journal is opened. Order
is the number; both clocks are only noted beside it (a small computer's wall clock may jump).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from companion.evidence import Author
from companion.games.contract import Json
from companion.match import Event

VERSION = 1
FILE = "journal.db"
_SIDE_FILES = ("", "-wal", "-shm")
_GENESIS = "0" * 64
_UNABLE = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}
"""SQLite's errors that say nothing about the file's contents."""
_log = logging.getLogger(__name__)


def _unopened(file: Path, error: Exception) -> str:
    cure = "make sure that it is a file in a folder that you may write to, or name another folder with --data"
    return f"the journal {file} cannot be opened ({error}); {cure}"


_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, match TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    wall_s REAL NOT NULL, monotonic_s REAL NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_match ON events (match, number);
CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""


class JournalError(Exception):
    """The journal cannot be used; the message says why and what to do."""


class FolderInUseError(JournalError):
    """Another program of ours writes in this data folder."""


class DamagedError(JournalError):
    """The journal does not hold together (SQLite or the hash chain says so)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One event as it stands in the journal."""

    number: int
    match: str
    event: Event
    wall_s: float
    hash: str


class FolderLock:
    """Holds a data folder for one program; released by `close` and by the program's end, however it comes."""

    def __init__(self, folder: Path) -> None:
        """Raises FolderInUseError when another program holds it, JournalError when the folder cannot be used."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = (folder / "lock").open("a+", encoding="utf-8")
        except OSError as error:
            raise JournalError(
                f"the data folder {folder} cannot be used: {error.strerror}; choose --data DIR"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            who = f" (process {holder})" if holder else ""
            raise FolderInUseError(
                f"the data folder {folder} is in use by another companion{who}; stop it, or choose another --data DIR"
            ) from error
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def close(self) -> None:
        """Gives the folder free; may be called any number of times."""
        self._file.close()


class Journal:
    """The events on disk. To be used by one thread at a time."""

    def __init__(self, file: Path) -> None:
        """Opens or makes the journal and checks the whole chain; raises DamagedError or JournalError."""
        self._file = file
        self.before_write: Callable[[sqlite3.Connection], None] = lambda database: None
        """Called before every write; a simulated disk does its mischief here."""
        try:
            self._db = sqlite3.connect(file, isolation_level=None, timeout=5.0, check_same_thread=False)
        except sqlite3.Error as error:
            raise JournalError(_unopened(file, error)) from error
        try:
            self._prepare()
            self._number, self._hash = 0, _GENESIS
            for row in self.rows():
                self._number, self._hash = row.number, row.hash
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._db.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNABLE:
                raise JournalError(_unopened(file, error)) from error
            raise DamagedError(f"the journal {file} is damaged: {error}") from error
        except JournalError:
            self._db.close()
            raise

    def _prepare(self) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"):
            self._db.execute(f"PRAGMA {pragma}")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise JournalError(
                f"the journal {self._file} was written by a newer program (version {version}, this one reads up to "
                f"{VERSION}); update the program, or choose another --data DIR"
            )
        problem = self._db.execute("PRAGMA quick_check").fetchone()[0]
        if problem != "ok":
            raise DamagedError(f"the journal {self._file} is damaged: {problem}")
        if version < VERSION:
            self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")

    @property
    def number(self) -> int:
        """The number of the newest event, 0 for an empty journal."""
        return self._number

    def append(self, match: str, events: Sequence[Event], wall_s: Sequence[float] = ()) -> int:
        """Writes events, all or none, and returns the newest number once they are on the disk. `wall_s`: when each
        happened, by the wall clock (default: now).

        Raises JournalError when that is impossible (disk full, card gone); nothing is written then.
        """
        number, last = self._number, self._hash
        rows = []
        for index, event in enumerate(events):
            number += 1
            body = _dumps([event.data, [event.author.kind, event.author.name, event.author.player], event.picture])
            at_s, monotonic_s = wall_s[index] if wall_s else time.time(), time.monotonic()
            last = _hash(last, number, match, event.kind, body, at_s)
            rows.append((number, match, event.kind, body, at_s, monotonic_s, last))
        try:
            self.before_write(self._db)
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                self._db.execute("COMMIT")
            except sqlite3.Error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise JournalError(f"the journal {self._file} cannot be written: {error}") from error
        self._number, self._hash = number, last
        return number

    def probe(self) -> bool:
        """Writes what stands there already; True when that reached the disk."""
        try:
            self.before_write(self._db)
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute(f"PRAGMA user_version = {VERSION}")
                self._db.execute("COMMIT")
            except sqlite3.Error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error:
            return False
        return True

    def rows(self, match: str | None = None) -> Iterator[Row]:
        """All rows in order, or those of one match; without `match` the chain is checked (DamagedError)."""
        where = "" if match is None else "WHERE match = ?"
        found = self._db.execute(
            f"SELECT number, match, kind, body, wall_s, hash FROM events {where} ORDER BY number",
            () if match is None else (match,),
        )
        last, expected = _GENESIS, 1
        for number, name, kind, body, wall_s, digest in found:
            if match is None:
                if not all(isinstance(text, str) for text in (name, kind, body)):
                    raise DamagedError(
                        f"the journal {self._file} is damaged: event {expected} is not as it was written"
                    )
                last = _hash(last, number, name, kind, body, wall_s)
                if number != expected or last != digest:
                    raise DamagedError(
                        f"the journal {self._file} is damaged: event {expected} is not as it was written"
                    )
                expected += 1
            try:
                data, author, picture = json.loads(body)
                event = Event(kind, data, Author(author[0], author[1], author[2]), picture)
            except (ValueError, TypeError, IndexError) as error:
                raise DamagedError(f"the journal {self._file} is damaged: event {number}: {error}") from error
            yield Row(number, name, event, wall_s, digest)

    def last_match(self) -> str | None:
        """The id of the match that was opened last at this table (not one from a file), or None."""
        row = self._db.execute(
            "SELECT match FROM events WHERE kind = 'opened' "
            "AND match NOT IN (SELECT match FROM events WHERE kind = 'imported') ORDER BY number DESC LIMIT 1"
        ).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Closes the file; may be called any number of times."""
        self._db.close()


def open_journal(folder: Path) -> tuple[Journal, Path | None]:
    """The journal of a data folder (which the caller has locked) and, if it was damaged, where the damaged one is kept.

    A damaged journal is never repaired nor thrown away: it is renamed, with its side files, and a new one begun.
    """
    file = folder / FILE
    try:
        return Journal(file), None
    except DamagedError as error:
        kept = file.with_name(f"{FILE}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        number = 1
        while kept.exists():
            number += 1
            kept = kept.with_name(f"{kept.name.split('~')[0]}~{number}")
        for side in _SIDE_FILES:
            old = file.with_name(FILE + side)
            if old.exists():
                old.rename(kept.with_name(kept.name + side))
        _log.info("%s; it is kept as %s and a new journal begun", error, kept)
        return Journal(file), kept


def _hash(last: str, number: int, match: str, kind: str, body: str, wall_s: float) -> str:
    return hashlib.sha256(_dumps([last, number, match, kind, body, wall_s]).encode()).hexdigest()


def _dumps(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
