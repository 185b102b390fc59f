"""The firmware's core under a real MicroPython on a pty, against the real driver; a game driven by it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.box import BoxThread
from companion.bulletin import Bulletin
from companion.evidence import Author
from companion.games.contract import Message
from companion.journal import open_journal
from companion.registry import GAMES
from companion.service import Service
from devices.contract import DieReport, Press
from devices.serial_box import SerialBox
from devices.serial_link import SerialLink
from tests.serial_link.conftest import Board


@pytest.fixture
def box(board: Board) -> Iterator[SerialBox]:
    box = SerialBox(SerialLink(lambda: [board.port]))
    end = time.monotonic() + 10
    while not box.condition.ok:
        assert time.monotonic() < end, f"{box.condition}, {board.errors.read_text()}"
        time.sleep(0.02)
    yield box
    box.close()


def events(box: SerialBox, seconds: float) -> list[object]:
    got, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        event = box.read(0.05)
        if event is not None:
            got.append(event)
    return got


def test_buttons_reach_the_driver_in_order(board: Board, box: SerialBox) -> None:
    for button in ("done1", "done2", "takeback", "done1"):
        board.press(button)
        time.sleep(0.04)
    assert [e.button for e in events(box, 1.0) if isinstance(e, Press)] == ["done1", "done2", "takeback", "done1"]


def test_rolls_reach_the_driver(board: Board, box: SerialBox) -> None:
    for value in (4, 1, 6):
        board.roll(value)
    told = [(e.phase, e.value) for e in events(box, 1.5) if isinstance(e, DieReport) and e.fresh]
    assert [value for phase, value in told if phase == "settled"] == [4, 1, 6]


def test_signals_reach_the_lamps(board: Board, box: SerialBox) -> None:
    for signal in ("provisional", "illegal", "accepted"):
        box.show(signal)
    events(box, 0.6)
    assert board.shown() == ["provisional", "illegal", "accepted"]


def test_the_lamps_say_that_the_host_is_gone(board: Board, box: SerialBox) -> None:
    events(box, 0.3)
    box.close()
    end = time.monotonic() + 12
    while board.shown() != ["trouble"]:
        assert time.monotonic() < end, board.shown()
        time.sleep(0.05)


def test_a_whole_game_driven_by_the_firmware(board: Board, tmp_path: Path) -> None:
    """Turns end by the box's buttons alone and its lamps tell the verdict; a camera that fails changes nothing."""
    entry = GAMES["moguli"]
    rules, hint = entry.load_rules(), entry.load_hint()
    assert hint is not None
    journal, _ = open_journal(tmp_path)
    bulletin = Bulletin()
    short = entry.deal_start(random.Random(2))
    service = Service(lambda name: GAMES[name].load_rules(), journal, bulletin, deal=lambda name, chance: short)
    service.start()
    thread = BoxThread(service, f"serial://{board.port}", tmp_path, lights=True)
    thread.start()
    table = Author("seat", "laptop")

    def wait(until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + 20
        while not until():
            assert time.monotonic() < end, f"{what}: {bulletin.snapshot().verdict}, {board.shown()}"
            time.sleep(0.02)

    def turns() -> list[str]:
        return [line.text for line in bulletin.snapshot().record]

    def lamps(signal: str) -> None:
        wait(lambda: board.shown()[-1:] == [signal], f"the lamps show {signal}")

    def move_a_stranger() -> None:
        """The one whose turn it is not moves a pawn."""
        look = rules.look(service.match.agreed)
        to_act = rules.to_act(service.match.agreed).players
        stranger = next(p for p in ("1", "2") if int(p) - 1 not in to_act)
        place = next(k for k, v in look.items() if k.startswith("pawn:") and v == stranger)
        empty = next(k for k, v in look.items() if k.startswith("pawn:") and v == "-" and k[-1] == "4")
        service.submit("set_facts", {"facts": {place: "-", empty: stranger}}, table)
        lamps("illegal")
        board.press("takeback")
        lamps("accepted")

    try:
        wait(lambda: any(d.name == "box" and d.ok for d in bulletin.snapshot().devices), "the box is found")
        names = {"game": "moguli", "players": ["Ada", "Bea"], "start": "shuffle"}
        assert service.submit("new_game", names, table).ok
        played: list[str] = []
        while rules.outcome(service.match.agreed) is None:
            state = service.match.agreed
            player = rules.to_act(state).players[0]
            turn = hint(state)[0]
            if len(played) == 3:
                service.report(None, "camera", Message("devices.camera_gone", (("url", "v4l2://x"), ("error", "gone"))))
                move_a_stranger()
            assert service.submit("set_facts", {"facts": dict(rules.trace(state, turn))}, table).ok
            if rules.outcome(rules.apply(state, turn)) is None:
                lamps("provisional")
                assert turns() == played
                board.press(f"done{player + 1}")
            played.append(rules.text(turn))
            wait(lambda: turns() == played, "the turn is in the record")
            lamps("accepted")
            assert len(played) < 60
        assert bulletin.snapshot().phase == "over" and len(bulletin.snapshot().winners) == 1
        assert [t.words.id for t in bulletin.snapshot().troubles] == ["devices.camera_gone"]
    finally:
        thread.stop()
        service.stop()
        journal.close()


def test_the_takeback_button_takes_the_last_turn_back(board: Board, tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    bulletin = Bulletin()
    games = lambda name: GAMES[name].load_rules()  # noqa: E731
    service = Service(games, journal, bulletin, deal=lambda n, c: GAMES[n].deal_start(c))
    service.start()
    thread = BoxThread(service, f"serial://{board.port}", tmp_path, lights=True)
    thread.start()
    table = Author("seat", "laptop")
    try:
        end = time.monotonic() + 20
        assert service.submit("new_game", {"game": "moguli", "players": ["Ada", "Bea"], "start": "shuffle"}, table).ok
        state = service.match.agreed
        turn = GAMES["moguli"].load_choose()(state, random.Random(4))
        text = games("moguli").text(turn)
        assert service.submit("declare", {"text": text}, table).ok
        assert [line.text for line in bulletin.snapshot().record] == [text]
        while not any(d.name == "box" and d.ok for d in bulletin.snapshot().devices):
            assert time.monotonic() < end
            time.sleep(0.02)
        board.press("takeback")
        while bulletin.snapshot().record:
            assert time.monotonic() < end
            time.sleep(0.02)
    finally:
        thread.stop()
        service.stop()
        journal.close()
