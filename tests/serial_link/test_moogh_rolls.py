"""A stretch of MOOGH whose every roll comes from a die on a wire, through the real driver, whatever the wire does."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from companion.box import BoxThread
from companion.bulletin import Bulletin
from companion.evidence import Author, Rolled
from companion.games.contract import Message
from companion.journal import open_journal
from companion.registry import GAMES
from companion.service import Service
from devices.simulated.serial_device import FAULTS, SimulatedSerial
from tests.serial_link.conftest import Board

ENTRY = GAMES["moogh"]
RULES = ENTRY.load_rules()
TABLE = Author("seat", "laptop")
PATIENCE_S = 20.0


class Hunt:
    """A match of MOOGH in a running service; choices are tapped, rolls must come over the wire."""

    def __init__(self, service: Service, bulletin: Bulletin) -> None:
        self.service, self.bulletin = service, bulletin
        self.chance = random.Random(5)
        self.wait(lambda: any(d.name == "box" and d.ok for d in bulletin.snapshot().devices), "the die is found")
        assert service.submit("new_game", {"game": "moogh", "players": ["Ada", "Bea"], "start": "shuffle"}, TABLE).ok
        self.expected = service.match.agreed
        self.texts: list[str] = []

    def wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not until():
            snapshot = self.bulletin.snapshot()
            assert time.monotonic() < end, f"{what}: {snapshot.headline} {snapshot.verdict} {snapshot.troubles}"
            time.sleep(0.01)

    def rolls(self, count: int) -> Iterator[int]:
        """Plays, and yields a value whenever a die must be rolled; goes on when the match has taken it as that turn."""
        while count:
            state = self.expected
            assert RULES.outcome(state) is None
            turn = ENTRY.load_choose()(state, self.chance)
            text = RULES.text(turn)
            if RULES.to_act(state).kind == "roll":
                count -= 1
                yield int(text[-1])
                self.wait(self.taken(text), f"{text} is taken")
            else:
                assert self.service.submit("declare", {"text": text}, TABLE).ok
            self.expected = RULES.apply(state, turn)
            self.texts.append(text)
            self.wait(lambda: self.said == self.texts, f"{text} is in the record")
            assert self.service.match.agreed == self.expected

    def taken(self, text: str) -> Callable[[], bool]:
        """Whether this roll is in the record; answers the question whose it is, when that is asked."""

        def there() -> bool:
            question = self.service.match.question
            if question is None:
                return self.said == [*self.texts, text]
            choice = next(c for c in question.choices if c.turns and c.turns[0][1] == text)
            return self.service.submit("answer", {"question": question.id, "value": choice.value}, TABLE).ok

        return there

    @property
    def said(self) -> list[str]:
        return [line.text for line in self.bulletin.snapshot().record]


@contextmanager
def hunt(port: str, folder: Path) -> Iterator[Hunt]:
    journal, _ = open_journal(folder)
    bulletin = Bulletin()
    service = Service(
        lambda name: GAMES[name].load_rules(), journal, bulletin, deal=lambda n, c: GAMES[n].deal_start(c)
    )
    service.start()
    thread = BoxThread(service, f"serial://{port}", folder, lights=True)
    thread.start()
    try:
        yield Hunt(service, bulletin)
    finally:
        thread.stop()
        service.stop()
        journal.close()


def test_rolls_from_the_firmware_under_micropython(board: Board, tmp_path: Path) -> None:
    with hunt(board.port, tmp_path) as game:
        for number, value in enumerate(game.rolls(8)):
            if number == 3:
                words = Message("devices.camera_gone", (("url", "v4l2://x"), ("error", "gone")))
                game.service.report(None, "camera", words)
            board.roll(value)
        assert {e.by for e in game.service.match.entries} == {"declared", "rolled"}


def test_rolls_over_a_wire_on_which_everything_goes_wrong(tmp_path: Path) -> None:
    """One fault after the other, a roll in the midst of each; the game is the same as without."""
    link = tmp_path / "usb-die"
    wire = SimulatedSerial(link=link, seed=2)
    faults = [f for f in FAULTS if f != "twin"]
    try:
        with hunt(str(link), tmp_path) as game:
            for number, value in enumerate(game.rolls(len(faults) + 1)):
                if number == len(faults):
                    wire.roll("a", 0)  # it leans on something: that is said and counts for nothing
                    game.wait(lambda: said(game) == {"rolls.cocked"}, "a leaning die is said")
                    wire.roll("a", value)
                    game.wait(lambda: "rolls.cocked" not in said(game), "the die has been rolled again")
                    continue
                wire.fault(faults[number])
                time.sleep(0.3)
                wire.roll("a", value)
                time.sleep(0.3)
                wire.mend()
        assert sum(e.by == "rolled" for e in game.service.match.entries) == len(faults) + 1
    finally:
        wire.close()


def said(game: Hunt) -> set[str]:
    return {t.words.id for t in game.bulletin.snapshot().troubles if t.words.id.startswith("rolls.")}


def test_a_die_that_nobody_has_to_roll_changes_nothing(tmp_path: Path) -> None:
    wire = SimulatedSerial(seed=2)
    try:
        with hunt(wire.path, tmp_path) as game:
            before: Any = game.service.match.agreed
            wire.roll("a", 6)
            game.wait(lambda: said(game) == {"rolls.not_awaited"}, "it is said that no roll is awaited")
            assert game.service.match.agreed == before and game.said == []
            next(game.rolls(1))
            game.wait(lambda: not said(game), "the game goes on")
    finally:
        wire.close()


@pytest.mark.parametrize("value", [2, 5])
def test_a_camera_as_second_opinion_of_a_die_on_the_wire(tmp_path: Path, value: int) -> None:
    wire = SimulatedSerial(seed=2)
    try:
        with hunt(wire.path, tmp_path) as game:
            next(game.rolls(1))
            wire.roll("a", 2)
            game.wait(lambda: len(game.said) == len(game.texts) + 1, "the die's roll counts")
            game.service.hear(Rolled("tray", value, Author("camera", "picam://0"), 6, time.monotonic()))
            if value == 2:
                game.wait(lambda: game.bulletin.snapshot().details == (AGREED,), "they agree")
                assert game.bulletin.snapshot().question is None
            else:
                game.wait(lambda: game.bulletin.snapshot().question is not None, "they differ")
            assert len(game.said) == len(game.texts) + 1
    finally:
        wire.close()


AGREED = Message("rolls.agree", (("first", "@rolls.source_die"), ("second", "@rolls.source_camera")))
