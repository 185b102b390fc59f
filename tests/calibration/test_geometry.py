"""The camera model: estimation from a plane, heights, lens."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.geometry import Camera, camera_from_plane, lens_matrix
from calibration.profile import Lens
from tests.vision import drawn

PLANE = np.array([[0, 0], [295, 0], [295, 413], [0, 413], [-60, -60], [340, 450]], dtype=float)


def seen(view: Camera) -> np.ndarray:  # type: ignore[type-arg]
    return view.project(np.column_stack([PLANE, np.zeros(len(PLANE))]))


@pytest.mark.parametrize("tilt_deg", [20, 30, 40])
@pytest.mark.parametrize("roll_deg", [0, 77, 190])
def test_the_camera_is_found_from_four_points_and_more(tilt_deg: float, roll_deg: float) -> None:
    view = drawn.camera(roll_deg, tilt_deg)
    found = camera_from_plane(PLANE, seen(view), view.width, view.height, None)
    assert found is not None
    heights = np.array([[30.0, 40.0, 14.6], [250.0, 380.0, 14.6]])
    assert np.abs(found.project(heights) - view.project(heights)).max() < 0.3
    assert np.linalg.norm(found.position_mm - view.position_mm) < 0.02 * np.linalg.norm(view.position_mm)


def test_a_view_from_straight_above_says_little_of_the_focal_length_and_gives_a_usable_one() -> None:
    view = drawn.camera(10, 0.5)
    found = camera_from_plane(PLANE, seen(view), view.width, view.height, None)
    assert found is not None
    heights = np.array([[30.0, 40.0, 14.6], [250.0, 380.0, 14.6]])
    assert np.abs(found.project(heights) - view.project(heights)).max() < 2.0


def test_pixels_go_back_to_the_table_at_any_height() -> None:
    view = drawn.camera(33, 25)
    points = np.array([[10.0, 20.0, 8.0], [200.0, 300.0, 8.0]])
    assert np.abs(view.to_plane(view.project(points), 8.0) - points[:, :2]).max() < 1e-6


def test_a_lens_is_scaled_with_the_picture() -> None:
    lens = Lens(1280, 720, 1400, 1400, 639.5, 359.5)
    assert np.allclose(lens_matrix(lens, 640, 360), [[700, 0, 319.5], [0, 700, 179.5], [0, 0, 1]])


def test_points_on_a_line_give_no_camera() -> None:
    line = np.array([[float(i), 0.0] for i in range(4)])
    pixels = np.array([[100.0 + 20 * i, 200.0] for i in range(4)])
    assert camera_from_plane(line, pixels, 1280, 720, None) is None


def test_a_mirrored_plane_gives_no_camera() -> None:
    view = drawn.camera(0, 25)
    mirrored = seen(view) * [-1, 1] + [view.width - 1, 0]
    assert camera_from_plane(PLANE, mirrored, view.width, view.height, None) is None
