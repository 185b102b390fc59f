"""A board with tapped corners: followed after a knock, left where it is when only what lies on it changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.geometry import Camera
from calibration.profile import TableProfile
from tests.vision import drawn
from tests.vision.test_tiles import wrong
from vision.registration import Registration, board_corners_px
from vision.tiles import TileReader

BEFORE = drawn.camera(20, 25)
SLOPPY = drawn.Sloppy(1.0, 2.0)


def tapped() -> TableProfile:
    plain = drawn.profile(board=replace(drawn.BOARD, markers=None))
    return replace(plain, corners_px=board_corners_px(plain, BEFORE))


def off_px(profile: TableProfile, found: tuple[tuple[float, float], ...], truth: Camera) -> float:
    return float(np.abs(np.array(found) - np.array(board_corners_px(profile, truth))).max())


@pytest.mark.parametrize(("roll_deg", "far"), [(26, 1.0), (20, 1.1), (12, 1.05), (32, 0.95), (20, 0.93)])
@pytest.mark.parametrize("hand", [False, True])
def test_found_again_after_a_knock(roll_deg: float, far: float, hand: bool) -> None:
    profile, truth = tapped(), drawn.look(5)
    reader = TileReader(profile)
    reader.read(drawn.frame(drawn.picture(truth, BEFORE, markers=False, sloppy=SLOPPY, seed=3)))
    after = drawn.camera(roll_deg, 25, far=far)
    image = drawn.picture(truth, after, markers=False, sloppy=SLOPPY, seed=3)
    if hand:
        image = drawn.hand(image, after, (150.0, 200.0))
    knocked = reader.read(drawn.frame(image, 1, 1.0))
    assert knocked.troubles == ("vision.board_moved",)
    again = reader.read(drawn.frame(image, 2, 1.3))
    assert again.troubles == ()
    assert off_px(profile, again.board_px, after) < 3.0
    assert wrong(again, truth) == []


def test_a_creeping_camera_is_followed() -> None:
    profile, truth = tapped(), drawn.look(6)
    found = Registration(profile)
    for step in range(12):
        view = drawn.camera(20 + 0.2 * step, 25)
        pose = found.locate(drawn.picture(truth, view, markers=False, sloppy=SLOPPY, seed=3))
        assert pose is not None
        assert off_px(profile, board_corners_px(profile, pose.camera), view) < 2.0


def test_a_new_deal_moves_nothing() -> None:
    profile = tapped()
    found = Registration(profile)
    for seed in range(4):
        pose = found.locate(drawn.picture(drawn.look(seed), BEFORE, markers=False, sloppy=SLOPPY, seed=seed))
        assert pose is not None
        assert not pose.moved
        assert off_px(profile, board_corners_px(profile, pose.camera), BEFORE) < 2.0
