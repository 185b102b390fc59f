"""Profiles, colours and mats: saved and loaded alike, refused with the cure."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.mat import marker_sheet_svg, mat_svg
from calibration.palette import NAMED_RGB, bgr_to_lab, lab_to_bgr, named
from calibration.profile import CalibrationError, Lens, TableProfile, load_board, load_profile, save_profile

BOARD = load_board("moguli")


def test_a_profile_comes_back_as_it_was(tmp_path: Path) -> None:
    profile = TableProfile(
        replace(BOARD, sizes_mm={**BOARD.sizes_mm, "tile": 57.5}),
        corners_px=((1.0, 2.0), (3.0, 4.5), (5.0, 6.0), (7.0, 8.0)),
        lens=Lens(1280, 720, 1400.5, 1401.0, 640.0, 360.0, (-0.1, 0.02, 0.0, 0.001, 0.0)),
        palette={"pawn1": (200.0, 130.0, 120.5), "pawn2": (60.0, 150.0, 80.0)},
        camera="v4l2://by-id/x",
    )
    save_profile(profile, tmp_path / "p.toml")
    assert load_profile(tmp_path / "p.toml") == profile


@settings(max_examples=60)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_a_garbled_profile_is_refused_with_its_name_and_the_cure(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes
) -> None:
    path = tmp_path_factory.mktemp("p") / "table.toml"
    path.write_bytes(junk)
    with pytest.raises(CalibrationError, match=r"table\.toml.*(calibrate again)"):
        load_profile(path)


@pytest.mark.parametrize("drop", ["lens", "corners_px", "palette", "sizes_mm", "markers"])
def test_a_damaged_part_is_named(tmp_path: Path, drop: str) -> None:
    profile = TableProfile(BOARD, lens=Lens(10, 10, 1, 1, 1, 1), palette={"pawn1": (1.0, 2.0, 3.0)})
    path = tmp_path / "p.toml"
    save_profile(profile, path)
    text = path.read_text(encoding="utf-8")
    table = re.compile(rf"^\[{drop}[^\n]*\n(?:[^\[\n][^\n]*\n)*", re.M)
    damaged = (
        table.sub("", text) + f'\n[{drop}]\nx = "y"\n'
        if table.search(text)
        else text.replace(f"{drop} = []", f'{drop} = ["x"]')
    )
    path.write_text(damaged, encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"p\.toml"):
        load_profile(path)


def test_colours_have_names() -> None:
    with pytest.raises(CalibrationError, match=r"turquoise.*white"):
        named("turquoise")
    assert named("White")[0] > named("grey")[0] > named("black")[0]
    for name, rgb in NAMED_RGB.items():
        assert np.abs(lab_to_bgr(named(name)) - np.array(rgb[::-1])).max() <= 5
    assert bgr_to_lab(np.array([128.0, 128.0, 128.0]))[1:] == pytest.approx((128.0, 128.0), abs=0.5)


def _drawn(svg: str, px_mm: float) -> np.ndarray:  # type: ignore[type-arg]
    """The rectangles of one of our own SVGs as a picture."""
    width, height = (float(v) for v in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())  # type: ignore[union-attr]
    image = np.full((round(height * px_mm), round(width * px_mm)), 255, np.uint8)
    for group in re.findall(r'<g id="marker\d+">(.*?)</g></g>', svg):
        for n, rect in enumerate(re.findall(r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', group)):
            x, y, w, h = (round(float(v) * px_mm) for v in rect)
            image[y : y + h, x : x + w] = 0 if n == 0 else 255
    return image


@pytest.mark.parametrize("svg", [mat_svg(BOARD), marker_sheet_svg(BOARD)], ids=["mat", "sheet"])
def test_printed_markers_are_the_boards_own_in_true_size(svg: str) -> None:
    assert BOARD.markers is not None
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(_drawn(svg, 4.0))
    assert sorted(np.asarray(ids).ravel()) == sorted(BOARD.markers.corners_mm)
    for square in corners:
        sides = np.linalg.norm(np.diff(np.asarray(square).reshape(-1, 2), axis=0), axis=1) / 4.0
        assert sides == pytest.approx(40.0, abs=0.6)
    line = re.search(r'id="check" x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)"', svg)
    assert line is not None
    assert float(line[2]) - float(line[1]) == pytest.approx(100.0, abs=1e-6)
    assert re.search(r'width="[\d.]+mm" height="[\d.]+mm"', svg)


def test_on_the_mat_markers_lie_where_the_spec_says() -> None:
    assert BOARD.markers is not None
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(_drawn(mat_svg(BOARD), 4.0))
    found = {int(i): np.asarray(c).reshape(-1, 2) / 4.0 for i, c in zip(np.asarray(ids).ravel(), corners, strict=True)}
    first = np.array(BOARD.markers.corners_mm[0])[:, :2]
    for i, pixels in found.items():
        away = np.array(BOARD.markers.corners_mm[i])[:, :2] - first
        assert np.allclose((pixels - found[0]) * [1, -1], away, atol=0.6)


def test_a_board_without_markers_has_no_mat() -> None:
    with pytest.raises(CalibrationError, match="no markers to print"):
        mat_svg(replace(BOARD, markers=None))
