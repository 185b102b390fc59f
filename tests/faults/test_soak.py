"""Two simulated hours at the table, at the level of readings, with faults of all kinds.

Nothing crashes, nothing that was acknowledged is lost or doubled, and every trouble goes.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from companion.bulletin import Bulletin, Device
from companion.commands import Corners
from companion.evidence import Author, Seen
from companion.fold import fold
from companion.footage import Keep
from companion.games.contract import Look, Message
from companion.house import House
from companion.journal import FILE, Journal
from companion.recorder import Recorder, replay
from companion.service import Service
from devices.faults import FAULTS, Running
from devices.house import FolderDisk
from devices.simulated.house_faults import FaultyDisk, FaultyWall
from tests.companion.table import CORNERS, TestTable, games, reading_of
from tests.devices.fakes import HandClock
from vision.reading import Fact, Reading

TABLE, CAMERA = Author("seat", "table"), Author("camera", "soak")
HOURS_S = 7200.0
BLIND = tuple(
    k for k in FAULTS if k.startswith(("camera.", "process.")) and not k.endswith(("colour", "exposure", "slow"))
)
WEAK = ("camera.colour", "camera.exposure", "camera.flicker", "camera.bump")
CLEARED_S = 3.0


class Evening:
    """A match whose eyes, disk and clock have faults; its readings are drawn from the truth, four times a second."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.clock = HandClock()
        self.faults = Running(self.clock)
        self.table = TestTable(seed=seed)
        self.journal = Journal(folder / FILE)
        self.service = Service(games, self.journal, Bulletin(), clock=self.clock, chance=random.Random(seed))
        disk = FaultyDisk(FolderDisk(folder), self.faults)
        self.journal.before_write = disk.before_write
        self.house = House(self.service, disk, folder, self.clock.now_s, FaultyWall(self.clock, self.faults))
        self.recorder = Recorder(folder / "tape")
        self.service.on_input = self.recorder.note
        self.service.watch(self)
        self.service.has_buttons(True)
        self.soon, self.next_read_s, self.next_fault_s, self.number = True, 0.0, 30.0, 0
        self.truth: dict[str, str] = self.table.look()
        self.acknowledged: list[str] = []

    # What the service wants of its eyes.
    @property
    def working(self) -> bool:
        return not self.blind

    @property
    def current(self) -> bool:
        return False

    @property
    def latest_s(self) -> float:
        return self.clock.now_s()

    corners: tuple[str, ...] = ()
    corner_names: tuple[str, ...] = ()

    def want(self, soon: bool) -> None:
        self.soon = soon

    def agree(self, frame_number: int, look: Look) -> None: ...
    def tap(self, points: Corners) -> None: ...
    def turn_board(self, corner: str) -> None: ...

    def keep(self, keep: Keep) -> None: ...

    @property
    def blind(self) -> bool:
        return any(f.kind in BLIND for f in self.faults.now())

    def tick(self) -> None:
        self.clock.sleep_s(0.25)
        now_s = self.clock.now_s()
        if now_s >= self.next_fault_s:
            self.next_fault_s = now_s + self.chance.uniform(10.0, 60.0)
            kind = self.chance.choice(list(FAULTS))
            self.faults.begin(kind, self.chance.uniform(1.0, 12.0))
        self.house.check()
        self.say()
        if not self.blind and (self.soon or now_s >= self.next_read_s):
            self.next_read_s = now_s + (0.3 if self.soon else 10.0)
            self.service.hear(Seen(self.reading(now_s), f"f{self.number}", CAMERA))

    def say(self) -> None:
        """The eyes' part of the screens, as the camera's supervisor says it."""
        now = [f for f in self.faults.now() if f.kind in BLIND]
        words = Message(FAULTS[now[0].kind].says[0], (("url", "x"), ("error", ""))) if now else None
        self.service.report(Device("camera", "x", not now, words or Message("devices.camera_works")), "camera", words)

    def reading(self, now_s: float) -> Reading:
        self.number += 1
        plain = reading_of(self.truth, now_s)
        facts = dict(plain.facts)
        weak = any(f.kind in WEAK for f in self.faults.now())
        for key in self.chance.sample(sorted(facts), 12 if weak else 2):
            if self.chance.random() < 0.3:
                facts[key] = Fact(facts[key].values, facts[key].log_likelihoods, hidden=True, reason="hand")
            else:
                soft = tuple(x * self.chance.uniform(0.1, 1.0) for x in facts[key].log_likelihoods)
                facts[key] = Fact(facts[key].values, soft)
        return Reading(self.number, now_s, facts, (), CORNERS)

    def rest(self, seconds: float) -> None:
        end_s = self.clock.now_s() + seconds
        while self.clock.now_s() < end_s:
            self.tick()

    def until(self, done: object, patience_s: float = 90.0) -> bool:
        end_s = self.clock.now_s() + patience_s
        while self.clock.now_s() < end_s:
            if done():  # type: ignore[operator]
                return True
            self.answer()
            self.tick()
        return bool(done())  # type: ignore[operator]

    def answer(self) -> None:
        question = self.service.match.question
        if question is None:
            return
        fits = [
            c
            for c in question.choices
            if c.value != "other" and all(self.truth.get(k) == v for k, v in c.facts.items())
        ]
        if fits:
            self.service.submit("answer", {"question": question.id, "value": fits[0].value}, TABLE)

    def begin(self) -> None:
        new = {"game": "moguli", "players": ["Ada", "Bea"], "options": {}, "start": "table"}
        self.table = TestTable(seed=self.chance.randrange(2**31))
        self.truth = self.table.look()
        assert self.until(lambda: self.service.submit("new_game", new, TABLE).ok)
        assert self.until(lambda: self.service.match.check.ready)
        assert self.until(lambda: self.service.match.phase == "playing" or self.press(0))
        assert self.until(lambda: self.service.match.phase == "playing")
        self.table.state = self.service.match.agreed

    def press(self, player: int) -> bool:
        return self.service.submit("done", {}, Author("button", f"done{player + 1}", player)).ok

    def turn(self) -> None:
        rules, before = self.table.rules, self.service.match.turns
        player = rules.to_act(self.table.state).players[0]
        text = rules.text(self.table.turn())
        self.truth = self.table.look()
        self.rest(self.chance.uniform(0.25, 2.0))
        pressed = self.until(lambda: self.press(player) or self.service.match.turns > before)
        assert pressed and self.until(lambda: self.service.match.turns == before + 1), (
            text,
            self.service.match.judgement,
            self.faults.now(),
        )
        assert self.service.match.agreed == self.table.state, text
        # The same position may be reached by a turn told otherwise; what was told is what must stay.
        self.acknowledged.append(self.service.match.entries[-1].text)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(10))
def test_two_hours_of_faults(tmp_path: Path, seed: int) -> None:
    soak(tmp_path, seed, HOURS_S)


def test_five_minutes_of_faults(tmp_path: Path) -> None:
    soak(tmp_path, 1, 300.0)


def soak(folder: Path, seed: int, seconds: float) -> None:
    evening = Evening(folder, seed)
    end_s = evening.clock.now_s() + seconds
    games_played = 0
    while evening.clock.now_s() < end_s:
        evening.begin()
        games_played += 1
        done = 0
        while evening.service.match.phase == "playing" and evening.clock.now_s() < end_s and done < 60:
            evening.turn()
            done += 1
        match = evening.service.match
        recorded = [e.text for e in match.entries if e.text]
        assert recorded == evening.acknowledged[-done:], "what was acknowledged is the record"
        rows = list(evening.journal.rows(match.id))
        again = fold((row.event for row in rows), games)
        # The number of events counts on from game to game within one run of the program.
        assert replace(again, events=match.events) == match, "the journal alone gives the same match"
        if match.phase == "playing":
            assert evening.until(lambda: not evening.service.disk_trouble)
    evening.next_fault_s = end_s + 1e9
    evening.rest(12.0 + CLEARED_S)
    assert evening.service.bulletin.snapshot().troubles == (), "every trouble is gone"
    evening.recorder.close()
    evening.journal.close()
    assert replay(folder / "tape", games).differences == ()
    print(f"seed {seed}: {games_played} games, {len(evening.acknowledged)} turns, {evening.number} readings")
