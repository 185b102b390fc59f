"""The record book: what all matches of a journal come to, by game: the game's own tables, and where pieces landed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration.profile import Board, load_board
from companion.fold import BrokenHistoryError, fold
from companion.games.sheets import Played, Sheet
from companion.journal import FILE, Journal, JournalError, Row
from companion.landings import Landing, landings
from companion.match import GamesByName
from companion.records import IMPORTED

SheetsOf = Callable[[str], Callable[[Sequence[Played]], tuple[Sheet, ...]]]
"""By game, who makes tables of its matches."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one game's matches come to: how many there are, its tables, the board's corners in mm, and by piece where it
    landed, oldest first."""

    game: str
    matches: int
    sheets: tuple[Sheet, ...]
    corners_mm: tuple[tuple[float, float], ...] = ()
    landings: tuple[tuple[str, tuple[Landing, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """A match as it was read when its journal held so many events of it."""

    events: int
    game: str
    played: Played | None
    landed: dict[str, list[Landing]]


class RecordBook:
    """Reads the journal of a folder beside the service that writes it; a match is folded again only when it has grown.
    `pages` may be called from any thread."""

    def __init__(
        self, folder: Path, games: GamesByName, sheets_of: SheetsOf, board: Callable[[str], Board] = load_board
    ) -> None:
        self._file, self._games, self._sheets_of, self._board = folder / FILE, games, sheets_of, board
        self._lock = threading.Lock()
        self._known: dict[str, _Read] = {}

    def pages(self) -> tuple[Page, ...]:
        """One page a game that has been played, the game played last first; raises JournalError."""
        with self._lock:
            rows = self._rows()
            for match, events in rows.items():
                known = self._known.get(match)
                if known is None or known.events != len(events):
                    self._known[match] = self._read(match, events)
            reads = [self._known[match] for match in rows]
            games = list(dict.fromkeys(r.game for r in reversed(reads) if r.played is not None))
            return tuple(self._page(game, [r for r in reads if r.game == game]) for game in games)

    def _rows(self) -> dict[str, list[Row]]:
        if not self._file.exists():
            raise JournalError(f"there is no journal {self._file}")
        journal = Journal(self._file)
        try:
            found: dict[str, list[Row]] = {}
            for row in journal.rows():
                if row.event.kind != IMPORTED:
                    found.setdefault(row.match, []).append(row)
            return found
        finally:
            journal.close()

    def _read(self, name: str, rows: Sequence[Row]) -> _Read:
        events = [row.event for row in rows]
        game = str(events[0].data.get("game", ""))
        try:
            match = fold(events, self._games)
        except (BrokenHistoryError, LookupError):
            return _Read(len(rows), game, None, {})  # of another version of the program: kept, not counted
        parse = match.rules.parse
        steps = [
            (match.states[n], parse(e.text), match.states[n + 1])
            for n, e in enumerate(match.entries)
            if e.text and not e.refused
        ]
        return _Read(len(rows), game, Played(name, match.setup.players, steps), landings(events))

    def _page(self, game: str, reads: Sequence[_Read]) -> Page:
        played = [r.played for r in reads if r.played is not None and r.played.steps]
        landed: dict[str, list[Landing]] = {}
        for read in reads:
            for piece, places in read.landed.items():
                landed.setdefault(piece, []).extend(places)
        corners = self._board(game).corners_mm if landed else ()
        told = tuple((piece, tuple(places)) for piece, places in sorted(landed.items()))
        return Page(game, len(played), self._sheets_of(game)(played), tuple(corners), told)
