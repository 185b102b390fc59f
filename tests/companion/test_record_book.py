"""The record book: where pieces landed, what many matches come to, and a ledger in which every piece has its owner."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from companion.bulletin import Bulletin
from companion.evidence import Author
from companion.games.contract import Message
from companion.games.moogui.players import choose_on_paper
from companion.games.sheets import Sheet
from companion.journal import FILE, Journal, JournalError
from companion.landings import landings
from companion.match import Event
from companion.record_book import RecordBook
from companion.registry import GAMES
from companion.service import Service

TABLE = Author("seat", "table")


def landed(number: int, **places: tuple[float, float]) -> Event:
    return Event("landed", {"number": number, "places": {name: [*at, 2.0] for name, at in places.items()}})


def event(kind: str, **data: object) -> Event:
    return Event(kind, dict(data))


def test_only_turns_that_still_stand_have_landings() -> None:
    events = [
        event("provisional", turn="a"),
        landed(1, ari=(1.0, 2.0)),
        event("turn", turn="a"),
        event("provisional", turn="b"),
        landed(2, bruma=(3.0, 4.0)),
        event("withdrawn", lag=True),
        event("provisional", turn="c"),
        landed(2, bruma=(5.0, 6.0), ari=(7.0, 8.0)),
        landed(2, bruma=(5.5, 6.0)),  # the same turn, seen to grow
        event("turn", turn="c"),
        event("turn", turn="d"),
        landed(3, ari=(9.0, 9.0)),
        event("undone", to=2),
    ]
    assert landings(events) == {"ari": [(1.0, 2.0), (7.0, 8.0)], "bruma": [(5.5, 6.0)]}
    assert landings([*events, event("undone", to=0)]) == {}


def book(folder: Path) -> RecordBook:
    return RecordBook(folder, lambda n: GAMES[n].load_rules(), lambda n: GAMES[n].load_sheets())


class Table:
    """Matches of figures, told and not seen."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.journal = Journal(folder / FILE)
        self.service = Service(lambda n: GAMES[n].load_rules(), self.journal, Bulletin())
        self.chance = random.Random(seed)

    def play(self, games: int, mode: str = "competition") -> Any:
        args = {"game": "moogui", "players": ["Ada", "Bea", "Cid"], "options": {"mode": mode}, "start": "shuffle"}
        assert self.service.submit("new_game", args, TABLE).ok
        rules, match = GAMES["moogui"].load_rules(), self.service.match
        while match.agreed.games < games and rules.outcome(match.agreed) is None:
            text = rules.text(choose_on_paper(match.agreed, self.chance))
            before = match.turns
            self.service.submit("declare", {"text": text}, TABLE)
            match = self.service.match
            if match.offer is not None:
                self.service.submit("agree", {}, TABLE)
                match = self.service.match
            assert match.turns > before, text
        return match.agreed


def named(sheets: tuple[Sheet, ...]) -> Mapping[str, list[Sheet]]:
    found: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        found.setdefault(sheet.title.id, []).append(sheet)
    return found


def pieces(cell: object) -> list[str]:
    count, _, listed = str(cell).partition(": ")
    found = listed.split(", ") if listed else []
    assert int(count) == len(found)
    return found


def test_the_ledger_names_every_piece_once_after_every_game(tmp_path: Path) -> None:
    table = Table(tmp_path, 3)
    first = table.play(4)
    second = table.play(3)
    (page,) = book(tmp_path).pages()
    assert (page.game, page.matches) == ("moogui", 2)
    ledgers = named(page.sheets)["moogui.sheet_ledger"]
    for sheet, state in zip(ledgers, (second, first), strict=True):
        assert [row[0] for row in sheet.rows] == list(range(state.games + 1))
        everything = sorted(piece for piece, _ in state.owners)
        for row in sheet.rows:
            assert sorted(p for cell in row[2:] for p in pieces(cell)) == everything
        for who, cell in enumerate(sheet.rows[-1][2:]):
            assert sorted(pieces(cell)) == sorted(p for p, owner in state.owners if owner == who)
        assert sheet.note is not None and dict(sheet.note.values)["pieces"] == len(everything)
    players = named(page.sheets)["moogui.sheet_players"][0]
    assert [row[0] for row in players.rows] == ["Ada", "Bea", "Cid"]
    assert sum(int(str(row[2])) for row in players.rows) <= first.games + second.games


def test_what_is_fair_is_told_with_its_numbers(tmp_path: Path) -> None:
    table = Table(tmp_path, 5)
    table.play(2, "training")
    (page,) = book(tmp_path).pages()
    (fair,) = named(page.sheets)["moogui.sheet_fairness"]
    assert fair.rows
    for row in fair.rows:
        counts = [int(n) for n in str(row[1]).split(", ")]
        assert len(counts) == 6 and row[2] == round(sum(counts) / 6, 1) and row[4] == 5
        assert row[5] == Message("moogui.sheet_too_few")  # two games are too few
    assert "moogui.sheet_ledger" not in named(page.sheets)  # nothing changes hands in training


def test_a_match_that_goes_on_is_read_again(tmp_path: Path) -> None:
    table = Table(tmp_path, 7)
    table.play(1)
    pages = book(tmp_path)
    (before,) = pages.pages()
    assert pages.pages() == (before,)
    table.play(1)
    (after,) = pages.pages()
    assert (before.matches, after.matches) == (1, 2)


def test_without_a_journal_there_is_an_error_and_without_a_match_nothing(tmp_path: Path) -> None:
    with pytest.raises(JournalError):
        book(tmp_path).pages()
    Journal(tmp_path / FILE).close()
    assert book(tmp_path).pages() == ()
