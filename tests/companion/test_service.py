"""The service: durable before told, restarted where it was, honest about devices; eyes and demo in one process."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from companion.bulletin import Bulletin, Device
from companion.commands import Reply
from companion.demo import Demo
from companion.evidence import Author, Seen
from companion.eyes import TROUBLE_S, Eyes
from companion.eyes_thread import EyesThread
from companion.games.contract import Look, Message
from companion.journal import FILE, Journal, JournalError
from companion.registry import GAMES, game
from companion.service import Service
from devices.contract import DeviceGone, Frame, Image
from tests.companion.table import CAMERA, TestTable, games, reading_of
from vision.reading import Reading

TABLE = Author("seat", "table")
NEW = {"game": "moguli", "players": ["Ada", "Bea"], "options": {}, "start": "shuffle"}


def _service(folder: Path, **more: Any) -> Service:
    return Service(
        games, Journal(folder / FILE), Bulletin(), deal=lambda name, chance: GAMES[name].deal_start(chance), **more
    )


def test_everything_told_is_on_the_disk_and_a_restart_goes_on(tmp_path: Path) -> None:
    service = _service(tmp_path)
    assert service.submit("new_game", NEW, TABLE).ok
    rules, state = service.match.rules, service.match.agreed
    turn = next(iter(rules.legal(state)))
    assert service.submit("declare", {"text": rules.text(turn)}, TABLE).ok
    assert service.bulletin.snapshot().record[0].text == rules.text(turn)
    again = _service(tmp_path)
    assert again.match.agreed == service.match.agreed and again.match.entries == service.match.entries
    assert again.match.id == service.match.id
    assert again.bulletin.snapshot().record == service.bulletin.snapshot().record
    assert again.submit("takeback", {}, TABLE).ok and again.match.turns == 0


def test_what_cannot_be_written_is_not_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = _service(tmp_path)
    service.submit("new_game", NEW, TABLE)
    before, number = service.match, service.bulletin.snapshot().number

    def full(self: Journal, match: str, events: object) -> int:
        raise JournalError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", full)
        reply = service.submit("pause", {}, TABLE)
    assert not reply.ok and reply.words == Message("companion.disk")
    assert service.match == before
    snapshot = service.bulletin.snapshot()
    assert snapshot.number > number and [t.device for t in snapshot.troubles] == ["journal"]
    assert service.submit("pause", {}, TABLE).ok
    assert not service.bulletin.snapshot().troubles


def test_a_client_cannot_set_what_only_the_service_knows(tmp_path: Path) -> None:
    service = _service(tmp_path)
    service.submit("new_game", {**NEW, "id": "mine", "manual": False, "corners": ["a1"]}, TABLE)
    assert service.match.id != "mine" and service.match.manual and service.match.phase == "playing"


def test_reading_the_table_needs_a_camera(tmp_path: Path) -> None:
    reply = _service(tmp_path).submit("new_game", {**NEW, "start": "table"}, TABLE)
    assert reply == Reply(False, Message("companion.no_camera_for_start"))


def test_a_match_of_an_unknown_game_is_left_in_peace(tmp_path: Path) -> None:
    service = _service(tmp_path)
    service.submit("new_game", NEW, TABLE)

    def none(name: str) -> Any:
        raise KeyError(name)

    again = Service(none, Journal(tmp_path / FILE), Bulletin())
    assert again.match.phase == "setup"
    assert [t.words.id for t in again.bulletin.snapshot().troubles] == ["companion.match_not_continued"]


def test_its_own_thread_works_off_what_many_threads_send(tmp_path: Path) -> None:
    service = _service(tmp_path)
    service.start()
    replies: list[Reply] = []
    service.submit("new_game", NEW, TABLE)

    def press() -> None:
        for _ in range(5):
            replies.append(service.submit("pause", {}, TABLE))
            replies.append(service.submit("resume", {}, TABLE))

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    service.stop()
    assert len(replies) == 40 and any(r.ok for r in replies)
    assert _service(tmp_path).match.paused == service.match.paused


def test_troubles_come_and_go(tmp_path: Path) -> None:
    service = _service(tmp_path)
    words = Message("devices.camera_gone", (("url", "x"), ("error", "")))
    service.report(Device("camera", "x", False, words), "camera", words)
    snapshot = service.bulletin.snapshot()
    assert snapshot.signal == "trouble" and not snapshot.devices[0].ok
    service.report(Device("camera", "x", True, Message("devices.camera_works")), "camera", None)
    snapshot = service.bulletin.snapshot()
    assert not snapshot.troubles and snapshot.devices[0].ok and snapshot.signal == "off"


class Lamp:
    """A light that remembers what it showed."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def show(self, signal: str) -> None:
        self.shown.append(signal)

    def close(self) -> None:
        pass


def test_the_light_follows_the_verdict_after_it_is_durable(tmp_path: Path) -> None:
    lamp = Lamp()
    service = _service(tmp_path, lights=lamp, chance=random.Random(2))
    service.submit("new_game", NEW, TABLE)
    rules, state = service.match.rules, service.match.agreed
    turn = next(iter(rules.legal(state)))
    service.submit("set_facts", {"facts": dict(rules.trace(state, turn))}, TABLE)
    service.submit("done", {}, TABLE)
    assert lamp.shown[-2:] == ["provisional", "accepted"]


class Blank:
    """A reader that sees what it is told to."""

    def __init__(self, profile: TableProfile) -> None:
        self.profile = profile
        self.look: Look | None = None
        self.agreed: list[Look] = []

    def read(self, frame: Frame) -> Reading:
        if self.look is None:
            return Reading(frame.number, frame.time_s, troubles=("vision.no_board",))
        return reading_of(self.look, frame.time_s)

    def agree(self, look: Mapping[str, str]) -> None:
        self.agreed.append(look)

    def draw(self, image: Image, reading: Reading) -> Image:
        return image


PATTERN = np.random.default_rng(5).integers(40, 200, (9, 16, 3)).repeat(10, 0).repeat(10, 1)


def _frame(number: int) -> Frame:
    """The same view with a living sensor's noise."""
    noise = np.random.default_rng(number).normal(0, 2, PATTERN.shape)
    return Frame(np.clip(PATTERN + noise, 0, 255).astype(np.uint8), number, number * 0.1, "test")


def _eyes(service: Service, **more: Any) -> tuple[Eyes, Blank]:
    made: list[Blank] = []

    def make(profile: TableProfile) -> Blank:
        made.append(Blank(profile))
        return made[-1]

    profile = more.pop("profile", TableProfile(load_board("moguli")))
    eyes = Eyes(profile, make, service, **more)
    return eyes, made[0]


def test_a_board_out_of_the_picture_is_trouble_until_it_is_back(tmp_path: Path) -> None:
    service = _service(tmp_path)
    eyes, reader = _eyes(service)
    for number in range(10):
        eyes.look(_frame(number))
    assert not service.bulletin.snapshot().troubles, "a hand may cover a marker for a moment"
    for number in range(10, 40):
        assert eyes.look(_frame(number)) is None
    assert TROUBLE_S < 4.0
    assert [t.words.id for t in service.bulletin.snapshot().troubles] == ["vision.no_board"]
    reader.look = TestTable(seed=1).look()
    seen = [eyes.look(_frame(number)) for number in range(40, 60)]
    assert any(seen) and not service.bulletin.snapshot().troubles


def test_tapped_corners_are_turned_to_the_side_that_was_named(tmp_path: Path) -> None:
    service = _service(tmp_path)
    corners = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0))
    profiles: list[TableProfile] = []

    def make(profile: TableProfile) -> Blank:
        profiles.append(profile)
        return Blank(profile)

    eyes = Eyes(TableProfile(load_board("moguli"), corners), make, service)
    service.watch(eyes)
    service.submit("new_game", {**NEW, "start": "table"}, TABLE)
    question = service.bulletin.snapshot().question
    assert question is not None and [a.value for a in question.answers] == ["a1", "e1", "e7", "a7"]
    assert service.submit("answer", {"question": question.id, "value": "e7"}, TABLE).ok
    eyes.look(_frame(1))
    assert profiles[-1].corners_px == corners[2:] + corners[:2]
    assert eyes.corners == ()


def test_a_camera_that_is_missing_or_goes_is_said_and_tried_again(tmp_path: Path) -> None:
    service = _service(tmp_path)
    service.start()
    eyes, reader = _eyes(service)
    reader.look = TestTable(seed=1).look()
    tries: list[int] = []
    works = threading.Event()

    class Camera:
        def __init__(self, fails: bool) -> None:
            self.number, self.fails = 0, fails

        def read(self, timeout_s: float) -> Frame | None:
            self.number += 1
            if self.fails and self.number > 3:
                raise DeviceGone("unplugged")
            if self.number > 30:
                works.set()
            return replace(_frame(len(tries) * 1000 + self.number), time_s=time.monotonic())

        def close(self) -> None:
            pass

    def opener(url: str) -> Camera:
        tries.append(1)
        if len(tries) == 1:
            raise DeviceGone("not there")
        return Camera(fails=len(tries) == 2)

    seen = _collect(service.bulletin)
    thread = EyesThread(eyes, service, "test://camera", opener)
    thread.start()
    assert works.wait(20.0)
    thread.stop()
    service.stop()
    ids = [i for ids in seen() for i in ids]
    assert "devices.camera_missing" in ids and "devices.camera_gone" in ids
    assert not service.bulletin.snapshot().troubles


def _collect(bulletin: Bulletin) -> Callable[[], list[list[str]]]:
    found: list[list[str]] = []
    bulletin.listen(lambda: found.append([t.words.id for t in bulletin.snapshot().troubles]))
    return lambda: found


def test_a_reading_is_agreed_with_the_reader_when_the_table_is_as_agreed(tmp_path: Path) -> None:
    service = _service(tmp_path)
    eyes, reader = _eyes(service)
    service.watch(eyes)
    table = TestTable(seed=1)
    reader.look = table.look()
    number = 0

    def pass_time(frames: int) -> None:
        nonlocal number
        for _ in range(frames):
            seen = eyes.look(_frame(number))
            number += 1
            if seen is not None:
                service.hear(seen)

    pass_time(10)
    service.submit("new_game", {**NEW, "start": "table"}, TABLE)
    pass_time(10)
    assert service.submit("done", {}, Author("button", "done1", 0)).ok
    assert service.match.phase == "playing"
    service.submit("referee", {}, TABLE)
    pass_time(20)
    assert reader.agreed and reader.agreed[-1] == table.look()


def test_evidence_of_a_spectating_camera_does_not_touch_a_game_by_hand(tmp_path: Path) -> None:
    service = _service(tmp_path)
    service.submit("new_game", NEW, TABLE)
    before = service.match
    service.hear(Seen(reading_of(TestTable(seed=3).look(), 1.0), "", CAMERA))
    assert service.match == before


@pytest.mark.parametrize("seed", [4, 5])
def test_the_whole_chain_plays_without_an_error_and_without_sleeping(tmp_path: Path, seed: int) -> None:
    service = _service(tmp_path)
    demo = Demo(game("moguli"), service, service.bulletin, seed, None)
    tally = demo.run(5)
    assert tally.faults == [] and tally.right == 5 and tally.asked <= 1
    assert service.match.turns == 5
    assert _service(tmp_path).match.agreed == service.match.agreed


def test_the_same_seed_plays_the_same_game(tmp_path: Path) -> None:
    records = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        service = _service(tmp_path / folder)
        Demo(game("moguli"), service, service.bulletin, 7, None).run(3)
        rows = Journal(tmp_path / folder / FILE).rows()
        records.append([(r.event.kind, {k: v for k, v in r.event.data.items() if k != "id"}) for r in rows])
    assert records[0] == records[1]


PLAYS = """
import random, sys
from pathlib import Path
from companion.bulletin import Bulletin
from companion.evidence import Author
from companion.journal import Journal
from companion.registry import GAMES
from companion.service import Service
service = Service(lambda n: GAMES[n].load_rules(), Journal(Path(sys.argv[1])), Bulletin(),
                  deal=lambda n, c: GAMES[n].deal_start(c))
table, chance, choose = Author("seat", "table"), random.Random(int(sys.argv[2])), GAMES["moguli"].load_choose()
new = {"game": "moguli", "players": ["A", "B"], "options": {}, "start": "shuffle"}
while True:
    if service.match.phase != "playing":
        service.submit("new_game", new, table)
    text = service.match.rules.text(choose(service.match.agreed, chance))
    assert service.submit("declare", {"text": text}, table).ok
    print(service.match.id, service.match.turns, text, sep="|", flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_kill_9_in_the_middle_of_a_game_and_every_told_turn_is_there(tmp_path: Path, seed: int) -> None:
    command = [sys.executable, "-c", PLAYS, str(tmp_path / FILE), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as player:
        assert player.stdout is not None
        told = [player.stdout.readline()]
        time.sleep(random.Random(seed).uniform(0.05, 0.5))
        player.send_signal(signal.SIGKILL)
        told += player.stdout.read().splitlines()
    match_id, turns, text = [line.strip() for line in told if line.count("|") == 2][-1].split("|")
    service = _service(tmp_path)
    assert service.match.id == match_id or service.match.turns == 0, "a new game may just have begun"
    if service.match.id == match_id:
        assert service.match.turns >= int(turns) and service.match.entries[int(turns) - 1].text == text
    if service.match.phase == "playing":
        following = service.match.rules.text(next(iter(service.match.rules.legal(service.match.agreed))))
        assert service.submit("declare", {"text": following}, TABLE).ok


def test_a_guest_who_begins_a_game_of_their_own_is_left_in_peace(tmp_path: Path) -> None:
    service = _service(tmp_path)
    demo = Demo(game("moguli"), service, service.bulletin, 4, None)
    ticks = 0

    def guest() -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 60:
            assert service.submit("new_game", NEW, TABLE).ok
        if ticks == 90:
            demo.room.stopped = True

    demo.room.on_tick = guest
    demo.run()
    assert service.match.manual and service.match.turns == 0
