"""A tray found by its rim: rightly or not at all, whatever its cloth, wood, light and the dice in it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration.geometry import Array
from calibration.profile import Board, TableProfile
from devices.contract import Frame
from devices.simulated.tray import TrayOptions, TrayTruth, tray_scene
from tests.vision.test_dice import bad_pictures
from vision.dice import DiceReader
from vision.reading import SURE_LEAD
from vision.tray_rim import find_floor, is_tray

OPTIONS = TrayOptions(
    tray=1.0, dice=(1, 6), cocked=0.0, strangers=0.2, size_px=(640, 480), die_px=(26, 40), tilt_deg=(0, 25), hand=0.0
)


def board_of(truth: TrayTruth) -> Board:
    corners = tuple((float(x), float(y)) for x, y in truth.floor_mm)
    return Board("tray", "simulated", ("a", "b", "c", "d"), corners, {}, {"rim": truth.rim_mm}, None, {"tray": {}})


def off(found: tuple[tuple[float, float], ...], truth: TrayTruth) -> float:
    """The largest error of a corner in mean sides of the floor; a square tray looks alike from all sides."""
    size = float(np.linalg.norm(truth.floor_px - np.roll(truth.floor_px, 1, axis=0), axis=1).mean())
    ways: list[Array] = [np.roll(np.array(found), n, axis=0) for n in range(4)]
    return min(float(np.linalg.norm(way - truth.floor_px, axis=1).max()) for way in ways) / size


def test_a_tray_is_found_where_it_is_or_not_at_all() -> None:
    found = 0
    for seed in range(20):
        image, truth = tray_scene(np.random.default_rng([31, seed]), OPTIONS)
        corners = find_floor(image, board_of(truth))
        if corners is not None:
            found += 1
            assert off(corners, truth) < 0.045, seed
    assert found >= 8


def test_a_bare_table_has_no_tray() -> None:
    _, tray = tray_scene(np.random.default_rng(1), OPTIONS)
    for seed in range(8):
        image, _ = tray_scene(np.random.default_rng([32, seed]), replace(OPTIONS, tray=0.0))
        assert find_floor(image, board_of(tray)) is None


def test_a_floor_of_another_shape_is_another_tray() -> None:
    for seed in range(6):
        image, truth = tray_scene(np.random.default_rng([31, seed]), OPTIONS)
        board = board_of(truth)
        longer = replace(board, corners_mm=tuple((1.6 * x, y) for x, y in board.corners_mm))
        assert find_floor(image, longer) is None


def test_dice_in_a_tray_known_by_its_rim_are_read_in_millimetres() -> None:
    placed = 0
    for seed in range(6):
        image, truth = tray_scene(np.random.default_rng([33, seed]), OPTIONS)
        reading = DiceReader(TableProfile(board_of(truth))).read(Frame(image, 1, 0.0, "test:"))
        if "vision.no_board" in reading.troubles:
            assert all(p.unit == "px" for p in reading.pieces)
            continue
        spots = [p.xy for p in reading.pieces if p.facts["value"].sure(SURE_LEAD)]
        centres = truth.centres_mm[:, :2].tolist()
        # The tray looks alike from its four sides.
        turned = [[(c * x - s * y, s * x + c * y) for x, y in centres] for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))]
        near = max(sum(any(math.dist(a, b) < 8.0 for b in way) for a in spots) for way in turned)
        assert near == len(spots), seed
        placed += near
    assert placed >= 4


@pytest.mark.parametrize("name", ["black", "white", "noise", "tiny", "one pixel wide", "stripes"])
def test_bad_pictures_show_no_tray(name: str) -> None:
    _, tray = tray_scene(np.random.default_rng(1), OPTIONS)
    board = board_of(tray)
    assert is_tray(board)
    assert find_floor(bad_pictures()[name], board) is None
