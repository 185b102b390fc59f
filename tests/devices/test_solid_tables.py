"""Simulated tables of solids: their truth, their hands, and pictures that are changed only where something changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.profile import load_board
from devices.simulated.carrying import moves
from devices.simulated.contract import DisturbedTable, SimulatedTable, TroubledTable
from devices.simulated.disturbances import Bump, LampSwitch
from devices.simulated.token_table import CAMERA, TokenTable

BOARD = load_board("maulwurf")
SMALL = replace(CAMERA, width=640, height=360)
LOOK = {"cell:0,-9": "mole3", "cell:1,-8": "mole3", "cell:0,0": "busy1", "cell:3,3": "mole1"}


def make(seed: int = 1, **more: object) -> TokenTable:
    return TokenTable(LOOK, BOARD, seed, **{"camera": SMALL, "light": "window", **more})  # type: ignore[arg-type]


def finish(table: SimulatedTable) -> None:
    for _ in range(4000):
        if not table.busy:
            return
        table.advance(0.1)
    raise AssertionError("the hand never ended")


def test_the_table_keeps_its_seams() -> None:
    table = make()
    assert isinstance(table, DisturbedTable)
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
        table.advance(1.0)
    assert np.array_equal(one.frame(5).bgr, other.frame(5).bgr)


def test_a_changed_picture_is_as_one_cast_anew() -> None:
    table = make()
    scene, world = table._stage._scene, table._stage._world
    table.frame(0)
    table.perform({"cell:3,3": "-", "cell:3,4": "mole1"})
    finish(table)
    piecewise = scene.resting(world).astype(int)
    scene.light_by(table._stage._around.light)
    assert np.abs(piecewise - scene.resting(world)).max() <= 12


def test_a_hand_a_lamp_and_a_bump_change_the_picture() -> None:
    table = make()
    before = table.frame(0).bgr.astype(int)
    table.disturb(LampSwitch("diffuse"))
    table.advance(1.0)
    lamp = table.frame(1).bgr.astype(int)
    assert np.abs(lamp - before).mean() > 2
    table.disturb(Bump())
    table.advance(2.0)
    assert np.abs(table.frame(2).bgr.astype(int) - lamp).mean() > 1
    table.perform({"cell:3,3": "-"})
    table.advance(0.6)
    assert np.abs(table.frame(3).bgr.astype(int) - lamp).mean() > 3


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
