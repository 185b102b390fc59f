"""Ten simulated minutes at the table with real pixels and random faults: no turn wrong, everything said goes away."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from companion.bulletin import Bulletin
from companion.demo import Demo
from companion.house import House
from companion.journal import open_journal
from companion.registry import GAMES, game
from companion.service import Service
from devices.faults import FAULTS, fault
from devices.house import FolderDisk
from devices.simulated.house_faults import FaultyDisk, FaultyWall

KINDS = [kind for kind in FAULTS if not kind.startswith("process.")]


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
        at_s += chance.uniform(6.0, 24.0)
    journal, _ = open_journal(folder)
    bulletin = Bulletin()
    service = Service(
        lambda name: GAMES[name].load_rules(), journal, bulletin, deal=lambda name, c: GAMES[name].deal_start(c)
    )
    demo = Demo(game("moguli"), service, bulletin, seed, None, scenario)
    disk = FaultyDisk(FolderDisk(folder), demo.room.faults)
    journal.before_write = disk.before_write
    house = House(service, disk, folder, demo.room.clock.now_s, FaultyWall(demo.room.clock, demo.room.faults))

    def tick() -> None:
        house.check()
        demo.room.stopped = demo.room.clock.now_s() > seconds

    demo.room.on_tick = tick
    # What careless players do is measured elsewhere; here only the devices are at fault.
    monkeypatch.setattr(demo, "_mischief", lambda: None)
    monkeypatch.setattr(demo, "_turns", lambda: demo._turn(*demo._pick(demo._state)))
    tally = demo.run()
    journal.close()
    print(f"seed {seed}: {tally.line}; {tally.asides}; faults {len(scenario)}")
    assert tally.wrong == 0, tally.faults
    assert tally.right >= 10
