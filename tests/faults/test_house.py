"""Disk and clock: said within two seconds, gone within three after the fault, and no turn lost or doubled by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.bulletin import Bulletin
from companion.evidence import Author
from companion.house import House
from companion.journal import FILE, Journal
from companion.registry import GAMES
from companion.service import Service
from devices.contract import Condition
from devices.faults import FAULTS, Running
from devices.house import ACCEPT_S, ClockWatch, FolderDisk, disk_condition
from devices.simulated.house_faults import FaultyDisk, FaultyWall
from tests.companion.table import games
from tests.devices.fakes import HandClock

TABLE = Author("seat", "table")
KINDS = [kind for kind in FAULTS.values() if kind.place in ("clock", "disk")]


class Home:
    """A service whose disk and clock have faults, in a time of its own."""

    def __init__(self, folder: Path) -> None:
        self.clock = HandClock()
        self.faults = Running(self.clock)
        self.journal = Journal(folder / FILE)
        self.service = Service(
            games,
            self.journal,
            Bulletin(),
            deal=lambda name, chance: GAMES[name].deal_start(chance),
            clock=self.clock,
        )
        disk = FaultyDisk(FolderDisk(folder), self.faults)
        self.journal.before_write = disk.before_write
        self.house = House(self.service, disk, folder, self.clock.now_s, FaultyWall(self.clock, self.faults))

    @property
    def said(self) -> set[str]:
        return {t.words.id for t in self.service.bulletin.snapshot().troubles}

    def live(self, seconds: float) -> None:
        end_s = self.clock.now_s() + seconds
        while self.clock.now_s() < end_s:
            self.clock.sleep_s(0.1)
            self.house.check()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.journal.close()


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_a_fault_is_said_in_two_seconds_and_gone_three_after_its_end(home: Home, kind) -> None:  # type: ignore[no-untyped-def]
    home.live(3.0)
    assert not home.said
    home.faults.begin(kind.name, 6.0)
    new = {"game": "moguli", "players": ["Ada", "Bea"], "options": {}, "start": "shuffle"}
    home.service.submit("new_game", new, TABLE)  # a slow disk is known by the first thing that is written
    home.live(2.0)
    assert home.said & set(kind.says), home.said
    assert home.said <= set(kind.says)
    home.live(4.0 + 3.0)
    assert not home.said


@pytest.mark.parametrize("name", ["disk.full", "disk.readonly"])
def test_what_a_failing_disk_refuses_can_be_done_once_again(home: Home, name: str) -> None:
    new = {"game": "moguli", "players": ["Ada", "Bea"], "options": {}, "start": "shuffle"}
    assert home.service.submit("new_game", new, TABLE).ok
    home.faults.begin(name, 10.0)
    refused = 0
    for number in range(400):
        before = home.service.match
        reply = home.service.submit("pause" if number % 2 == 0 else "resume", {}, TABLE)
        if not reply.ok:
            refused += 1
            assert home.service.match == before
            break
    assert refused, "the disk took everything"
    home.live(14.0)
    assert not home.said
    assert home.service.submit("resume" if home.service.match.paused else "pause", {}, TABLE).ok
    rows = [row.event.kind for row in home.journal.rows()]
    assert len(rows) == home.journal.number


def test_a_clock_that_was_set_is_old_news_after_a_while() -> None:
    clock, shift = HandClock(), [0.0]
    watch = ClockWatch(clock.now_s, lambda: clock.now_s() + shift[0])
    shift[0] = -7200.0
    clock.sleep_s(1.0)
    assert watch.check() == Condition(False, "companion.clock_jumped", (("seconds", -7200),))
    clock.sleep_s(ACCEPT_S + 1.0)
    assert watch.check().ok
    clock.sleep_s(1.0)
    assert watch.check().ok


def test_a_disk_that_cannot_be_asked_is_a_failing_one(tmp_path: Path) -> None:
    assert disk_condition(FolderDisk(tmp_path / "nowhere")).message == "companion.disk_readonly"
    assert disk_condition(FolderDisk(tmp_path)).message in ("companion.disk_works", "companion.disk_full")
