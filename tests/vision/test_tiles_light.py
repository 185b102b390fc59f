"""Bad light at the tile reader: what cannot be read is asked, the fault is named, what has not changed stays known."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.geometry import Camera
from devices.contract import Image
from tests.vision import drawn
from tests.vision.test_tiles import asked, wrong
from vision.registration import board_corners_px
from vision.tiles import TileReader


def share_of_tile(mask: NDArray[np.bool_], view: Camera, cell: str) -> float:
    """The share of a tile's picture that the mask covers."""
    x, y = drawn.BOARD.places_mm[cell]
    corners = view.project(np.array([(x + a, y + b, 2.0) for a, b in ((-29, -29), (29, -29), (29, 29), (-29, 29))]))
    tile = np.zeros(mask.shape, np.uint8)
    cv2.fillConvexPoly(tile, corners.round().astype(np.int32), 1)
    return float(mask[tile > 0].mean())


def veiled(image: Image, view: object, strength: float) -> Image:
    """A reflection on the middle of the board."""
    centre = view.project(np.array([[147.5, 206.5, 0.0]]))[0]  # type: ignore[attr-defined]
    y, x = np.mgrid[: image.shape[0], : image.shape[1]].astype(np.float32)
    glow = strength * np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * (0.08 * image.shape[1]) ** 2))
    return np.clip(image + glow[..., None], 0, 255).astype(np.uint8)


@pytest.mark.parametrize("strength", [60.0, 120.0, 250.0, 500.0])
@pytest.mark.parametrize("seed", range(3))
def test_under_a_reflection_errors_become_questions(seed: int, strength: float) -> None:
    truth, view = drawn.look(seed), drawn.camera(40.0 * seed)
    reading = TileReader(drawn.profile()).read(drawn.frame(veiled(drawn.picture(truth, view), view, strength)))
    assert wrong(reading, truth) == []


def test_a_strong_reflection_is_named_where_it_lies() -> None:
    truth, view = drawn.look(1), drawn.camera()
    reading = TileReader(drawn.profile()).read(drawn.frame(veiled(drawn.picture(truth, view), view, 500.0)))
    assert {"path:c4", "triangle:c4", "pawn:c4"} <= set(asked(reading, truth))
    assert "glare" in {f.reason for f in reading.facts.values()}


@pytest.mark.parametrize("gain", [1.2, 1.4, 1.7, 2.2, 3.0])
def test_in_too_much_light_errors_become_questions(gain: float) -> None:
    truth, view = drawn.look(2), drawn.camera(15)
    image = np.clip(drawn.picture(truth, view) * gain, 0, 255).astype(np.uint8)
    reading = TileReader(drawn.profile()).read(drawn.frame(image))
    assert wrong(reading, truth) == [] if reading.facts else reading.troubles != ()


def test_a_picture_that_is_blurred_beyond_reading_says_so() -> None:
    image = cv2.GaussianBlur(drawn.picture(drawn.look(1), drawn.camera()), (0, 0), 9.0)
    reading = TileReader(drawn.profile()).read(drawn.frame(np.asarray(image, dtype=np.uint8)))
    assert reading.troubles == ("vision.blurred",)


def test_a_picture_in_the_dark_says_so() -> None:
    image = (drawn.picture(drawn.look(1), drawn.camera()) * 0.03).astype(np.uint8)
    assert TileReader(drawn.profile()).read(drawn.frame(image)).troubles == ("vision.too_dark",)


@pytest.mark.parametrize("cut_mm", [10.0, 30.0, 70.0, 110.0])
def test_a_tile_that_is_cut_off_is_not_read(cut_mm: float) -> None:
    truth, view = drawn.look(3), drawn.camera()
    plain = drawn.profile(board=replace(drawn.BOARD, markers=None))
    left = int(view.project(np.array([[cut_mm, 200.0, 8.0]]))[0, 0])
    corners = tuple((x - left, y) for x, y in board_corners_px(plain, view))
    image = np.ascontiguousarray(drawn.picture(truth, view, markers=False)[:, left : left + 900])
    reading = TileReader(replace(plain, corners_px=corners)).read(drawn.frame(image))
    assert wrong(reading, truth) == []
    assert reading.facts["path:a4"].reason == "out_of_picture"


def test_places_beside_a_hand_that_have_not_changed_stay_known() -> None:
    truth, view = drawn.look(0), drawn.camera(0, 15)
    image = drawn.picture(truth, view, sloppy=drawn.Sloppy(1.0, 2.0), seed=1)
    covered = drawn.frame(drawn.hand(image, view, (60.0, 200.0)), 1, 1.0)
    reader = TileReader(drawn.profile())
    reader.read(drawn.frame(image))
    reader.agree(truth)
    followed = reader.read(covered)
    assert wrong(followed, truth) == []
    hand = np.any(covered.bgr != image, axis=2)
    hidden = {c for c in drawn.BOARD.places_mm if followed.facts[f"path:{c}"].hidden}
    under = {c: share_of_tile(hand, view, c) for c in drawn.BOARD.places_mm}
    assert {c for c, share in under.items() if share > 0.05} <= hidden
    assert hidden <= {c for c, share in under.items() if share > 0.0}
    assert asked(reader.read(drawn.frame(image, 2, 2.0)), truth) == []


def test_what_a_hand_changed_is_read_anew_when_it_has_gone() -> None:
    truth, view = drawn.look(4), drawn.camera(5)
    image = drawn.picture(truth, view, seed=1)
    reader = TileReader(drawn.profile())
    reader.read(drawn.frame(image))
    reader.agree(truth)
    reader.read(drawn.frame(drawn.hand(image, view, (60.0, 200.0)), 1, 1.0))
    after = {**truth, "path:b4": next(p for p in drawn.PATHS if p != truth["path:b4"])}
    reading = reader.read(drawn.frame(drawn.picture(after, view, seed=1), 2, 2.0))
    assert wrong(reading, after) == []
    assert reading.facts["path:b4"].best == after["path:b4"]
