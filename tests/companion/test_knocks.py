"""A knocked camera in frame time: noticed at once, read again soon, nothing judged meanwhile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from companion.bulletin import Device
from companion.evidence import Evidence
from companion.eyes import Eyes
from companion.games.contract import Message
from devices.simulated.bench import START
from devices.simulated.disturbances import Bump
from devices.simulated.table import MoguliTable
from tests.vision import drawn
from vision.registration import board_corners_px
from vision.tiles import TileReader

FRAME_S = 0.1


class Listener:
    """Stands for the service: notes what is wrong with the board, and since when."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.said: list[tuple[float, str]] = []

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """Notes the trouble's id, or an empty text."""
        self.said.append((self.now_s, trouble.id if trouble is not None else ""))

    def hear(self, evidence: Evidence) -> None:
        """Evidence is returned by the eyes."""


@pytest.mark.parametrize(
    ("seed", "bump"),
    [(1, Bump()), (2, Bump((5, 4, 0), (0.4, 0.2, 0.3))), (3, Bump((-12, 6, 0), (-1.0, 0.3, 0.9), shake_s=1.0))],
)
@pytest.mark.parametrize("markers", [True, False])
def test_a_bump_is_noticed_within_a_second_and_forgotten_within_three(seed: int, bump: Bump, markers: bool) -> None:
    board = load_board("moguli")
    shown = board if markers else replace(board, markers=None)
    table, listener = MoguliTable(START, shown, seed, light="diffuse"), Listener()
    known = TableProfile(board, camera="sim://table") if markers else table.profile()
    eyes = Eyes(known, TileReader, listener, side_known=True)  # type: ignore[arg-type]
    camera = table.stage.camera()

    def one() -> bool:
        table.stage.advance(FRAME_S)
        frame = camera.read(0.0)
        assert frame is not None
        return eyes.look(frame) is not None

    for _ in range(20):
        one()
    listener.said.clear()
    table.stage.disturb(bump)
    judged_s = []
    for number in range(40):
        listener.now_s = (number + 1) * FRAME_S
        if one():
            judged_s.append(listener.now_s)
    noticed_s = next(at for at, said in listener.said if said == "vision.board_moved")
    assert noticed_s <= 1.0
    assert noticed_s < judged_s[0] <= 3.0, "back in time, and nothing judged before"
    assert judged_s[0] > bump.shake_s
    assert listener.said[-1][1] == ""
    still = next(at for at, said in listener.said if said == "" and at > noticed_s)
    assert still == judged_s[0], "the trouble is over when the table is read again"


def test_which_side_is_whose_may_be_said_after_a_knock() -> None:
    before, after, look = drawn.camera(20, 25), drawn.camera(24, 25), drawn.look(5)
    plain = drawn.profile(board=replace(drawn.BOARD, markers=None))
    names, corners = plain.board.corner_names, board_corners_px(plain, before)
    wrong_way = replace(plain, corners_px=corners[2:] + corners[:2])
    eyes = Eyes(wrong_way, TileReader, Listener(), side_known=False)  # type: ignore[arg-type]
    first, later = (drawn.picture(look, view, markers=False, seed=3) for view in (before, after))
    for number in range(40):
        eyes.look(drawn.frame(first if number < 20 else later, number, number * FRAME_S))
    eyes.turn_board(names[2])
    seen = None
    for number in range(40, 60):
        seen = eyes.look(drawn.frame(later, number, number * FRAME_S)) or seen
    assert seen is not None
    truth = board_corners_px(plain, after)
    assert np.abs(np.array(seen.reading.board_px) - np.array(truth)).max() < 3.0
    assert {k: f.best for k, f in seen.reading.facts.items() if k.startswith("path:")} == {
        k: v for k, v in look.items() if k.startswith("path:")
    }
