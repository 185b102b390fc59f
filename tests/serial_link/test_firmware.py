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


def test_a_game_driven_by_the_firmware(board: Board, tmp_path: Path) -> None:
    """Turns end by the box's buttons alone and its lamps tell the verdict; a camera that fails changes nothing."""
    entry = GAMES["moguli"]
    rules, choose, chance = entry.load_rules(), entry.load_choose(), random.Random(4)
    journal, _ = open_journal(tmp_path)
    bulletin = Bulletin()
    service = Service(
        lambda name: GAMES[name].load_rules(), journal, bulletin, deal=lambda n, c: GAMES[n].deal_start(c)
    )
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

    try:
        wait(lambda: any(d.name == "box" and d.ok for d in bulletin.snapshot().devices), "the box is found")
        names = {"game": "moguli", "players": ["Ada", "Bea"], "start": "shuffle"}
        assert service.submit("new_game", names, table).ok
        played: list[str] = []
        for number in range(6):
            state = service.match.agreed
            player = rules.to_act(state).players[0]
            turn = choose(state, chance)
            if number == 3:
                service.report(None, "camera", Message("devices.camera_gone", (("url", "v4l2://x"), ("error", "gone"))))
            assert service.submit("set_facts", {"facts": dict(rules.trace(state, turn))}, table).ok
            wait(lambda: board.shown()[-1:] == ["provisional"], "the lamps show an open turn")
            assert turns() == played
            board.press(f"done{player + 1}")
            played.append(rules.text(turn))
            wait(lambda: turns() == played, "the press ends the turn")
            wait(lambda: board.shown()[-1:] == ["accepted"], "the lamps show it")
        service.report(None, "camera", None)
        board.press("takeback")
        wait(lambda: turns() == played[:-1], "the button takes the last turn back")
        state = service.match.agreed
        stranger = next(p for p in ("1", "2") if int(p) - 1 not in rules.to_act(state).players)
        look = rules.look(state)
        place = next(k for k, v in look.items() if k.startswith("pawn:") and v == stranger)
        empty = next(k for k, v in look.items() if k.startswith("pawn:") and v == "-" and k[-1] == "4")
        service.submit("set_facts", {"facts": {place: "-", empty: stranger}}, table)
        wait(lambda: board.shown()[-1:] == ["illegal"], "the lamps show an illegal act")
    finally:
        thread.stop()
        service.stop()
        journal.close()
