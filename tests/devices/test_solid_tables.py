"""Simulated tables of solids: their truth, their hands, and pictures that are changed only where something changed."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.profile import load_board
from devices.simulated.carrying import moves
from devices.simulated.contract import SimulatedTable, TroubledTable
from devices.simulated.disturbances import Bump, LampSwitch
from devices.simulated.domino_table import CAMERA as DOMINO_CAMERA
from devices.simulated.domino_table import DominoTable
from devices.simulated.moogh_table import CAMERA as MOOGH_CAMERA
from devices.simulated.moogh_table import MooghTable
from devices.simulated.solids import Solid
from devices.simulated.token_table import CAMERA, TokenTable

BOARD = load_board("maulwurf")
SMALL = replace(CAMERA, width=640, height=360)
LOOK = {"cell:0,-9": "mole3", "cell:1,-8": "mole3", "cell:0,0": "busy1", "cell:3,3": "mole1"}


def make(seed: int = 1, **more: object) -> TokenTable:
    return TokenTable(LOOK, BOARD, seed, **{"camera": SMALL, "light": "window", **more})  # type: ignore[arg-type]


def finish(table: SimulatedTable) -> None:
    for _ in range(4000):
        if not table.stage.busy:
            return
        table.stage.advance(0.1)
    raise AssertionError("the hand never ended")


def test_the_table_keeps_its_seams() -> None:
    table = make()
    assert not isinstance(table, TroubledTable)
    assert {k: v for k, v in table.look().items() if v != "-"} == LOOK


def test_a_push_of_a_line_moves_every_token_by_hand() -> None:
    table = make()
    table.perform({"cell:0,-9": "-", "cell:1,-8": "mole3", "cell:2,-7": "mole3"})
    finish(table)
    assert {k for k, v in table.look().items() if v == "mole3"} == {"cell:1,-8", "cell:2,-7"}


def test_the_same_seed_gives_the_same_frames() -> None:
    one, other = make(4), make(4)
    for table in (one, other):
        table.perform({"cell:3,3": "-", "cell:3,4": "mole1"})
        table.stage.advance(1.0)
    assert np.array_equal(one.stage.frame(5).bgr, other.stage.frame(5).bgr)


def test_a_changed_picture_is_as_one_cast_anew() -> None:
    table = make()
    scene, world = table.stage._scene, table.stage._world
    table.stage.frame(0)
    table.perform({"cell:3,3": "-", "cell:3,4": "mole1"})
    finish(table)
    piecewise = scene.resting(world).astype(int)
    scene.light_by(table.stage._around.light)
    assert np.abs(piecewise - scene.resting(world)).max() <= 12


def test_a_hand_a_lamp_and_a_bump_change_the_picture() -> None:
    table = make()
    before = table.stage.frame(0).bgr.astype(int)
    table.stage.disturb(LampSwitch("diffuse"))
    table.stage.advance(1.0)
    lamp = table.stage.frame(1).bgr.astype(int)
    assert np.abs(lamp - before).mean() > 2
    table.stage.disturb(Bump())
    table.stage.advance(2.0)
    assert np.abs(table.stage.frame(2).bgr.astype(int) - lamp).mean() > 1
    table.perform({"cell:3,3": "-"})
    table.stage.advance(0.6)
    assert np.abs(table.stage.frame(3).bgr.astype(int) - lamp).mean() > 3


def test_what_no_board_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match="cell:99,0"):
        make().perform({"cell:99,0": "mole1"})
    with pytest.raises(ValueError, match="pawn"):
        make().perform({"cell:0,0": "pawn1"})


PLACES = tuple("abcdef")


@given(
    st.lists(st.sampled_from("-12"), min_size=6, max_size=6), st.lists(st.sampled_from("-12"), min_size=6, max_size=6)
)
def test_moves_never_put_a_piece_where_one_lies(before: list[str], after: list[str]) -> None:
    now = dict(zip(PLACES, before, strict=True))
    wanted = dict(zip(PLACES, after, strict=True))
    aside: list[str] = []
    for source, target in moves({k: v for k, v in wanted.items() if now[k] != v}, now):
        piece = now[source] if source is not None else None
        if source is not None:
            assert now[source] != "-"
            now[source] = "-"
        if target is None:
            aside.append(piece or "")
        else:
            assert now[target] == "-"
            now[target] = piece if piece is not None else wanted[target]
    assert now == wanted


MOOGH = {
    "beast:origin": "3,2", "beast:facing": "east", "die:health": "6", "die:rage": "1", "rage:cell": "1.1",
    "card:side": "front", "die:points": "0", "cube:red": "7,1", "cube:white": "0,4",
}  # fmt: skip


def test_moogh_pieces_go_where_they_are_put_and_what_has_no_piece_is_left_aside() -> None:
    table = MooghTable(
        MOOGH, load_board("moogh"), 1, light="diffuse", camera=replace(MOOGH_CAMERA, width=640, height=360)
    )
    assert dict(table.look()) == {k: v for k, v in MOOGH.items() if k != "beast:facing"}
    changes = {
        "beast:origin": "4,2", "beast:facing": "south", "die:health": "5", "card:side": "back", "rage:cell": "2.1",
        "die:rage": "2", "die:points": "A2", "cube:red": "0,4", "cube:white": "dead",
    }  # fmt: skip
    table.perform(changes)
    finish(table)
    assert dict(table.look()) == {k: v for k, v in {**MOOGH, **changes}.items() if k != "beast:facing"}
    assert "cube:white" not in table._world.solids


def test_a_domino_line_winds_over_the_table_without_a_collision() -> None:
    keys = dict.fromkeys([f"line:{n}" for n in range(-27, 28)] + ["hand:0", "hand:1"], "-")
    board = load_board("muggins")
    for seed in range(3):
        table = DominoTable(keys, board, seed, light="diffuse", camera=replace(DOMINO_CAMERA, width=640, height=360))
        rng = np.random.default_rng(seed)
        right, left, line = 6, 0, {0: "0-6"}
        for _ in range(20):
            if rng.uniform() < 0.6:
                new = int(rng.integers(7))
                line[max(line) + 1], right = f"{right}-{new}", new
            else:
                new = int(rng.integers(7))
                line[min(line) - 1], left = f"{new}-{left}", new
        table.perform({f"line:{n}": line[n] for n in sorted(line, key=abs)})
        finish(table)
        assert {k: v for k, v in table.look().items() if v != "-"} == {f"line:{n}": v for n, v in line.items()}
        solids = list(table._world.solids.values())
        boxes = [_rectangle(s) for s in solids]
        for i, one in enumerate(boxes):
            for other in boxes[i + 1 :]:
                assert cv2.rotatedRectangleIntersection(one, other)[0] == cv2.INTERSECT_NONE


def _rectangle(solid: Solid) -> tuple[tuple[float, float], tuple[float, float], float]:
    turn = float(np.degrees(np.arctan2(solid.rotation[1, 0], solid.rotation[0, 0])))
    middle = (float(solid.centre_mm[0]), float(solid.centre_mm[1]))
    return middle, (1.9 * solid.half_mm[0], 1.9 * solid.half_mm[1]), turn
