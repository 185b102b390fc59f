"""The eyes in a child process: what breaks there costs a restart, never the match, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from companion.bulletin import Bulletin
from companion.channel import Task
from companion.clips import Clips
from companion.evidence import Author
from companion.journal import FILE, Journal
from companion.process import EyesProcess
from companion.service import Service
from tests.companion.table import TestTable, games
from tests.faults.stand_ins import Script

TABLE = Author("seat", "table")
PATIENCE_S = 60.0


def until(done: Callable[[], bool], what: str = "") -> float:
    """Seconds until `done`; fails when it never is."""
    began_s = time.monotonic()
    while not done():
        assert time.monotonic() - began_s < PATIENCE_S, f"never happened: {what}"
        time.sleep(0.02)
    return time.monotonic() - began_s


class Bench:
    """A match in this process, its eyes in another, its table in a file."""

    def __init__(self, folder: Path, memory_mb: int = 700) -> None:
        self.table = TestTable(seed=3)
        self.bulletin = Bulletin()
        self.journal = Journal(folder / FILE)
        self.clips = Clips(folder / "clips")
        self.service = Service(games, self.journal, self.bulletin, clips=self.clips)
        self.script = Script(folder / "script.json")
        self.script.write(self.table.look())
        url = f"script://{folder / 'script.json'}"
        task = Task(
            TableProfile(load_board("moguli"), camera=url),
            "tests.faults.stand_ins:ScriptReader",
            url,
            "tests.faults.stand_ins:open_script",
        )
        self.eyes = EyesProcess(task, self.service, self.bulletin, memory_mb)
        self.service.watch(self.eyes)
        self.service.has_buttons(True)
        self.service.start()
        self.eyes.start()
        self.troubles: list[tuple[float, list[str]]] = []
        self.bulletin.listen(self.note)

    def note(self) -> None:
        self.troubles.append((time.monotonic(), self.now))

    @property
    def now(self) -> list[str]:
        return [t.words.id for t in self.bulletin.snapshot().troubles]

    @property
    def quiet_s(self) -> float:
        """When the last trouble ended."""
        return next(at_s for at_s, names in reversed(self.troubles) if not names)

    @property
    def said(self) -> set[str]:
        return {name for _, names in self.troubles for name in names}

    def begin(self) -> None:
        until(lambda: self.eyes.working, "the eyes work")
        new = {"game": "moguli", "players": ["Ada", "Bea"], "options": {}, "start": "table"}
        assert self.service.submit("new_game", new, TABLE).ok
        until(lambda: self.service.match.check.ready, "the start is seen")
        assert self.service.submit("done", {}, Author("button", "done1", 0)).ok
        until(lambda: self.service.match.phase == "playing", "the game begins")
        self.table.state = self.service.match.agreed

    def turn(self) -> None:
        """The player to move turns and presses the button at once; it must come on the record as it was made."""
        rules, before = self.table.rules, self.service.match.turns
        player = rules.to_act(self.table.state).players[0]
        turn = self.table.turn()
        self.script.write(self.table.look(), "")
        self.service.submit("done", {}, Author("button", f"done{player + 1}", player))
        until(lambda: self.service.match.turns == before + 1, f"turn {rules.text(turn)} is on the record")
        assert self.service.match.agreed == self.table.state

    def close(self) -> None:
        self.eyes.stop()
        self.service.stop()
        self.journal.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, memory_mb=400)
    yield made
    made.close()


def count(folder: str) -> int:
    return len(list(Path(folder).iterdir()))


def descriptors() -> int:
    return count("/proc/self/fd")


def children() -> list[int]:
    """Processes whose parent this one is, ended or not."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(int(stat.parent.name))
    return found


def restarts_in_one_match(bench: Bench, times: int) -> list[float]:
    """Kills the eyes so often, each time with a turn being made; returns the seconds until they worked again."""
    bench.begin()
    bench.turn()
    before, threads = descriptors(), count("/proc/self/task")
    took = []
    for _ in range(times):
        pid, so_far = bench.eyes.pid, bench.eyes.restarts
        assert pid is not None
        killed_s = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        bench.turn()
        until(lambda n=so_far: bench.eyes.restarts == n + 1 and not bench.now, "the eyes are back")  # type: ignore[misc]
        took.append(bench.quiet_s - killed_s)
    assert descriptors() <= before + 1
    assert count("/proc/self/task") <= threads + 1
    assert children() == [bench.eyes.pid]
    return took


def test_killed_eyes_come_back_and_no_turn_is_lost_or_wrong(bench: Bench) -> None:
    restarts_in_one_match(bench, 3)
    assert bench.eyes.restarts == 3
    assert len(bench.service.match.entries) == 4
    assert "companion.eyes_crashed" in bench.said


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_hundred_restarts_in_one_match_leave_nothing_behind(bench: Bench) -> None:
    took = restarts_in_one_match(bench, 100)
    print(f"seconds until the eyes worked again: median {sorted(took)[50]:.2f}, longest {max(took):.2f}")
    assert bench.eyes.restarts == 100


@pytest.mark.parametrize(
    ("act", "says"),
    [("crash", "companion.eyes_crashed"), ("hang", "companion.eyes_hung"), ("leak", "companion.eyes_swollen")],
)
def test_what_breaks_in_the_child_is_said_and_mended(bench: Bench, act: str, says: str) -> None:
    bench.begin()
    bench.turn()
    bench.script.write(bench.table.look(), act)
    bench.service.submit("referee", {}, TABLE)
    until(lambda: says in bench.said, says)
    assert until(lambda: not bench.now, "it is mended") < 30.0
    bench.turn()


def test_an_error_in_the_reader_is_said_without_a_restart(bench: Bench) -> None:
    bench.begin()
    pid = bench.eyes.pid
    bench.script.write(bench.table.look(), "raise")
    bench.service.submit("referee", {}, TABLE)
    until(lambda: "companion.eyes_failed" in bench.said, "the error is said")
    until(lambda: not bench.now, "it is over")
    assert bench.eyes.pid == pid
    bench.turn()


def test_what_was_agreed_reaches_the_reader_in_the_child(bench: Bench, tmp_path: Path) -> None:
    bench.begin()
    bench.turn()
    bench.service.submit("referee", {}, TABLE)
    agreed = tmp_path / "script.agreed"
    until(lambda: agreed.exists(), "the reader hears")


def test_a_doubted_turn_is_shown_from_the_childs_memory(bench: Bench) -> None:
    bench.begin()
    bench.turn()
    assert not bench.clips.folder.exists()  # what nobody doubts is not kept
    assert bench.service.submit("doubt", {"number": 1}, TABLE).ok
    (line,) = bench.bulletin.snapshot().record
    until(lambda: bool(bench.clips.times_s(line.clip)), "the clip is kept")
    times_s = bench.clips.times_s(line.clip)
    assert times_s == sorted(times_s)
    assert times_s[0] < 0 < times_s[-1] <= 1.5
    assert bench.clips.picture(line.clip, len(times_s) - 1)[:2] == b"\xff\xd8"
    assert bench.clips.picture(line.clip, len(times_s)) == b""


def test_the_camera_photographs_and_the_eyes_learn_a_new_profile_without_a_word(bench: Bench, tmp_path: Path) -> None:
    bench.begin()
    file = tmp_path / "now.jpg"
    assert bench.eyes.photograph(file)
    until(file.exists, "the photograph is there")
    picture = cv2.imdecode(np.frombuffer(file.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None and picture.shape == (90, 160, 3)
    pid, said = bench.eyes.pid, bench.said
    bench.eyes.renew(bench.eyes._task.profile)
    until(lambda: bench.eyes.pid not in (None, pid) and bench.eyes.working, "new eyes work")
    assert bench.eyes.restarts == 0
    assert bench.said == said
    bench.turn()


def test_nothing_is_left_when_it_ends(tmp_path: Path) -> None:
    before, processes = descriptors(), children()
    bench = Bench(tmp_path)
    until(lambda: bench.eyes.working, "the eyes work")
    bench.close()
    assert descriptors() == before
    assert children() == processes
