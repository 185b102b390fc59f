"""Ten simulated minutes at the table with real pixels and random faults: no turn wrong, everything said goes away."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from companion.bulletin import Bulletin
from companion.demo import Demo
from companion.fold import fold
from companion.house import House
from companion.journal import open_journal
from companion.registry import GAMES, game, rules_of
from companion.service import Service
from devices.faults import FAULTS, Fault, fault
from devices.house import FolderDisk
from devices.simulated.house_faults import FaultyDisk, FaultyWall

KINDS = [kind for kind in FAULTS if not kind.startswith("process.")]
SAID_S, CLEARED_S = 2.0, 3.0


class Screens:
    """Watches that the screens say every fault in time and forget it in time; one beside another is not told apart."""

    def __init__(self, scenario: list[Fault], bulletin: Bulletin) -> None:
        self.bulletin = bulletin
        self.faults = [
            f
            for n, f in enumerate(scenario)
            if all(
                f.end_s + CLEARED_S < g.at_s or g.end_s + CLEARED_S < f.at_s for g in scenario[:n] + scenario[n + 1 :]
            )
        ]
        # A slow disk is known by what is written on it.
        self.felt_s = {f: f.at_s for f in self.faults if f.kind != "disk.slow"}
        self.said: set[Fault] = set()
        self.late: set[str] = set()

    def wrote(self, now_s: float) -> None:
        for each in self.faults:
            if each.at_s <= now_s < each.end_s:
                self.felt_s.setdefault(each, now_s)

    def look(self, now_s: float) -> None:
        shown = {trouble.words.id for trouble in self.bulletin.snapshot().troubles}
        for each in self.faults:
            says = shown & set(FAULTS[each.kind].says)
            if says and now_s > each.at_s:
                self.said.add(each)
            if each not in self.said and self.felt_s.get(each, now_s) + SAID_S < now_s < each.end_s:
                self.late.add(f"{each} was not said")
            if says and each.end_s + CLEARED_S < now_s < each.end_s + CLEARED_S + 1.0:
                self.late.add(f"{each} was not cleared")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(10))
def test_ten_minutes_of_faults(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    play(tmp_path, seed, 600.0, monkeypatch)


def play(folder: Path, seed: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(f"faults {seed}")
    scenario, at_s = [], 8.0
    while at_s < seconds:
        scenario.append(fault(chance.choice(KINDS), at_s, chance.uniform(1.0, 9.0)))
        at_s = scenario[-1].end_s + chance.uniform(-2.0, 16.0)
    journal, _ = open_journal(folder)
    bulletin = Bulletin()
    service = Service(
        lambda name: GAMES[name].load_rules(), journal, bulletin, deal=lambda name, c: GAMES[name].deal_start(c)
    )
    demo = Demo(game("moguli"), service, bulletin, seed, None, scenario)
    disk = FaultyDisk(FolderDisk(folder), demo.room.faults)
    screens = Screens(scenario, bulletin)

    def before_write(database: sqlite3.Connection) -> None:
        disk.before_write(database)
        screens.wrote(demo.room.clock.now_s())

    journal.before_write = before_write
    house = House(service, disk, folder, demo.room.clock.now_s, FaultyWall(demo.room.clock, demo.room.faults))

    def tick() -> None:
        house.check()
        screens.look(demo.room.clock.now_s())
        demo.room.stopped = demo.room.clock.now_s() > seconds

    demo.room.on_tick = tick
    # What careless players do is measured elsewhere; here only the devices are at fault.
    monkeypatch.setattr(demo, "_mischief", lambda: None)
    monkeypatch.setattr(demo, "_turns", lambda: demo._turn(*demo._pick(demo._state)))
    tally = demo.run()
    rows = list(journal.rows(service.match.id))
    journal.close()
    print(f"seed {seed}: {tally.line}; {tally.asides}; faults {len(scenario)}, watched {len(screens.faults)}")
    assert tally.wrong == 0, tally.faults
    assert tally.right >= 10
    again = fold((row.event for row in rows), rules_of)
    # The number of events counts on from game to game within one run of the program.
    assert replace(again, events=service.match.events) == service.match, "the journal alone gives the same match"
    assert not screens.late, screens.late
