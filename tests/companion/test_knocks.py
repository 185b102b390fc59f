"""A knocked camera in frame time: noticed at once, read again soon, nothing judged meanwhile."""

from __future__ import annotations

import pytest

from calibration.profile import TableProfile, load_board
from companion.bulletin import Device
from companion.evidence import Evidence
from companion.eyes import Eyes
from companion.games.contract import Message
from devices.simulated.bench import START
from devices.simulated.disturbances import Bump
from devices.simulated.table import MoguliTable
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
def test_a_bump_is_noticed_within_a_second_and_forgotten_within_three(seed: int, bump: Bump) -> None:
    board = load_board("moguli")
    table, listener = MoguliTable(START, board, seed, light="diffuse"), Listener()
    eyes = Eyes(TableProfile(board, camera="sim://table"), TileReader, listener)  # type: ignore[arg-type]
    camera = table.camera()

    def one() -> bool:
        table.advance(FRAME_S)
        frame = camera.read(0.0)
        assert frame is not None
        return eyes.look(frame) is not None

    for _ in range(20):
        one()
    listener.said.clear()
    table.disturb(bump)
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
