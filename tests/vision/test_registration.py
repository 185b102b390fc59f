"""Where the board lies: any turn of it, missing, moved and foreign markers, tapped corners, a camera that creeps."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import cv2
import numpy as np
import pytest

from calibration.profile import Lens, Markers, TableProfile
from tests.vision import drawn
from vision.contract import VisionError
from vision.registration import Registration, board_corners_px

EMPTY = drawn.look(0, pawns=0)


def worst_px(found: Registration, image: np.ndarray, truth: object, profile: TableProfile) -> float:  # type: ignore[type-arg]
    pose = found.locate(image)
    assert pose is not None
    off = np.array(board_corners_px(profile, pose.camera)) - np.array(board_corners_px(profile, truth))  # type: ignore[arg-type]
    return float(np.abs(off).max())


@pytest.mark.parametrize("roll_deg", [0, 45, 90, 135, 180, 225, 270, 315])
def test_found_however_the_board_is_turned(roll_deg: int) -> None:
    view, profile = drawn.camera(roll_deg), drawn.profile()
    found = Registration(profile)
    assert worst_px(found, drawn.picture(EMPTY, view), view, profile) < 2.0
    assert found.locate(drawn.picture(EMPTY, view)).residual_mm < 1.0  # type: ignore[union-attr]


def blot(image: np.ndarray, view: object, marker: int) -> np.ndarray:  # type: ignore[type-arg]
    corners = view.project(np.array(drawn.BOARD.markers.corners_mm[marker]))  # type: ignore[attr-defined, union-attr]
    image = image.copy()
    cv2.fillPoly(image, [np.round(corners).astype(np.int32)], (90, 90, 90))
    return image


@pytest.mark.parametrize("lost", list(combinations(range(4), 2)))
@pytest.mark.parametrize("known", ["lens", "learned"])
def test_two_markers_suffice_where_the_lens_is_known_or_was_learned(lost: tuple[int, int], known: str) -> None:
    before, view = drawn.camera(10), drawn.camera(13, tilt_deg=19)
    inner = (float(view.matrix[i]) for i in ((0, 0), (1, 1), (0, 2), (1, 2)))
    profile = drawn.profile(lens=Lens(view.width, view.height, *inner)) if known == "lens" else drawn.profile()
    found = Registration(profile)
    if known == "learned":
        assert found.locate(drawn.picture(EMPTY, before)) is not None
    picture = drawn.picture(EMPTY, view)
    for number in lost:
        picture = blot(picture, view, sorted(drawn.BOARD.markers.corners_mm)[number])  # type: ignore[union-attr]
    assert worst_px(found, picture, view, profile) < 4.0
    pose = found.locate(picture)
    assert pose is not None and len(pose.markers_px) == 2, "and the board is followed by them"


def test_two_markers_of_which_one_was_moved_are_no_board() -> None:
    before, view, profile = drawn.camera(10), drawn.camera(13), drawn.profile()
    spec = drawn.BOARD.markers
    assert spec is not None
    first, _, *others = sorted(spec.corners_mm)
    found = Registration(profile)
    assert found.locate(drawn.picture(EMPTY, before)) is not None
    picture = drawn.picture(EMPTY, view)
    for number in others:
        picture = blot(picture, view, number)
    away = {**spec.corners_mm, first: tuple((x + 25, y - 25, z) for x, y, z in spec.corners_mm[first])}
    moved = Registration(drawn.profile(board=replace(drawn.BOARD, markers=Markers(spec.dictionary, away))))
    assert moved.locate(drawn.picture(EMPTY, before)) is not None, "one of four that was moved is left out"
    assert moved.locate(picture) is None


def test_three_markers_suffice_and_two_do_not_under_an_unknown_lens() -> None:
    view, profile = drawn.camera(10), drawn.profile()
    three = blot(drawn.picture(EMPTY, view), view, 2)
    assert worst_px(Registration(profile), three, view, profile) < 3.0
    found = Registration(profile)
    assert found.locate(blot(three, view, 1)) is None
    assert found.trouble == "vision.few_markers"


def test_markers_of_another_set_are_no_board() -> None:
    spec = drawn.BOARD.markers
    assert spec is not None
    others = Markers(spec.dictionary, {k + 20: v for k, v in spec.corners_mm.items()})
    profile = drawn.profile(board=replace(drawn.BOARD, markers=others))
    found = Registration(profile)
    assert found.locate(drawn.picture(EMPTY, drawn.camera())) is None
    assert found.trouble == "vision.wrong_markers"


def test_a_marker_that_was_moved_is_left_out() -> None:
    spec, view = drawn.BOARD.markers, drawn.camera(5)
    assert spec is not None
    shifted = {**spec.corners_mm, 1: tuple((x + 30, y - 25, z) for x, y, z in spec.corners_mm[1])}
    profile = drawn.profile(board=replace(drawn.BOARD, markers=Markers(spec.dictionary, shifted)))
    pose = Registration(profile).locate(drawn.picture(EMPTY, view))
    assert pose is not None
    assert 1 not in pose.markers_px


def test_a_creeping_camera_is_followed_and_a_nudge_is_noticed() -> None:
    profile = drawn.profile()
    found = Registration(profile)
    assert found.locate(drawn.picture(EMPTY, drawn.camera(0.0))) is not None
    for roll_deg in (0.1, 0.2, 0.3):
        view = drawn.camera(roll_deg)
        pose = found.locate(drawn.picture(EMPTY, view, seed=1))
        assert pose is not None
        assert not pose.moved
        assert np.abs(np.array(board_corners_px(profile, pose.camera)) - board_corners_px(profile, view)).max() < 1.5
    view = drawn.camera(8.0)
    pose = found.locate(drawn.picture(EMPTY, view, seed=2))
    assert pose is not None
    assert pose.moved
    assert np.abs(np.array(board_corners_px(profile, pose.camera)) - board_corners_px(profile, view)).max() < 2.0


def test_tapped_corners_need_no_markers() -> None:
    view = drawn.camera(20, tilt_deg=30)
    plain = drawn.profile(board=replace(drawn.BOARD, markers=None))
    profile = replace(plain, corners_px=board_corners_px(plain, view))
    pose = Registration(profile).locate(drawn.picture(EMPTY, view, markers=False))
    assert pose is not None
    points = np.array([[100.0, 300.0, 14.6], [20.0, 20.0, 8.0]])
    assert np.abs(pose.camera.project(points) - view.project(points)).max() < 1.0


def test_a_lens_is_honoured() -> None:
    view = drawn.camera(15, tilt_deg=25)
    bent = replace(view, distortion=np.array([-0.25, 0.08, 0.0, 0.0, 0.0]))
    lens = Lens(
        view.width,
        view.height,
        *(float(view.matrix[i]) for i in ((0, 0), (1, 1), (0, 2), (1, 2))),
        (-0.25, 0.08, 0.0, 0.0, 0.0),
    )
    profile = drawn.profile(lens=lens)
    assert worst_px(Registration(profile), drawn.picture(EMPTY, bent), bent, profile) < 2.0


def test_a_profile_that_cannot_work_says_so() -> None:
    bare = replace(drawn.BOARD, markers=None)
    with pytest.raises(VisionError, match="tap the four corners"):
        Registration(TableProfile(bare))
    spec = drawn.BOARD.markers
    assert spec is not None
    with pytest.raises(VisionError, match="DICT_NO"):
        Registration(TableProfile(replace(bare, markers=Markers("DICT_NO", spec.corners_mm))))
