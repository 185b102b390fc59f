"""Dice and dominoes on tables: places in mm by markers or tapped corners, else px; leaning, markers, sizes, lines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from calibration.geometry import Camera
from calibration.profile import TableProfile
from companion.census.dicetray import profile_of
from devices.contract import Frame, Image
from vision.dice import DiceReader
from vision.dice_leaning import leaning, support, upright, usual_uprights
from vision.dice_places import COCKED, NONE, Verdict
from vision.domino_choice import Spot, alike, wholes
from vision.domino_choice import Verdict as TileVerdict
from vision.domino_neighbours import neighbours
from vision.dominoes import DominoReader
from vision.pips import Found, Pyramid
from vision.reading import SURE_LEAD, Reading
from vision.registration import printed

FRAMES = Path(__file__).parent / "free_frames"
MARKED_DICE, TAPPED_DICE = "dicetray_004", "dicetray_000"
MARKED_TILES, BARE_TILES = "dominoes_002", "dominoes_004"


def shot(name: str) -> tuple[Image, Mapping[str, Any]]:
    truth = json.loads((FRAMES / f"{name}.json").read_text(encoding="utf-8"))
    return np.asarray(cv2.imread(str(FRAMES / f"{name}.jpg")), np.uint8), truth


def profile(truth: Mapping[str, Any]) -> TableProfile:
    found = profile_of(truth)
    assert found is not None
    return found


def read(reader: DiceReader | DominoReader, image: Image) -> Reading:
    return reader.read(Frame(image, 1, 0.0, "test:"))


@pytest.mark.parametrize("name", [MARKED_DICE, TAPPED_DICE])
def test_dice_lie_where_they_lie_on_the_table(name: str) -> None:
    image, truth = shot(name)
    reading = read(DiceReader(profile(truth)), image)
    assert {p.unit for p in reading.pieces} == {"mm"}
    assert reading.troubles == ()
    for die in truth["dice"]:
        near = min(reading.pieces, key=lambda p: math.dist(p.xy, die["center_mm"][:2]))
        assert math.dist(near.xy, die["center_mm"][:2]) < 3.0
        value = near.facts["value"]
        if die["cocked"]:
            assert not value.sure(SURE_LEAD)
        else:
            assert value.best == str(die["value"])
    assert len(reading.pieces) == len(truth["dice"])


def test_without_a_table_dice_are_read_in_px() -> None:
    image, truth = shot(TAPPED_DICE)
    reading = read(DiceReader(), image)
    for die in truth["dice"]:
        outline = np.array(die["outline_px"])
        middle = (outline.min(axis=0) + outline.max(axis=0)) / 2
        near = min(reading.pieces, key=lambda p: math.dist(p.xy, middle))
        assert near.unit == "px"
        assert math.dist(near.xy, middle) < 0.1 * float(np.ptp(outline, axis=0).mean())
        assert near.facts["value"].best == str(die["value"])


def test_tiles_lie_where_they_lie_on_the_table_and_markers_are_no_tiles() -> None:
    image, truth = shot(MARKED_TILES)
    reading = read(DominoReader(profile(truth)), image)
    assert len(reading.pieces) == len(truth["tiles"])
    for tile in truth["tiles"]:
        middle = np.mean(np.array(tile["half_center_mm"])[:, :2], axis=0)
        near = min(reading.pieces, key=lambda p: math.dist(p.xy, middle))
        assert math.dist(near.xy, middle) < 3.0
        assert {near.facts["left"].best, near.facts["right"].best} == {str(v) for v in tile["halves"]}


def test_a_line_is_read_in_order_without_a_table() -> None:
    image, truth = shot(BARE_TILES)
    reading = read(DominoReader(), image)
    ends = {reading.facts[f"line:{e}"].best for e in ("start", "finish")}
    assert reading.facts["line:order"].sure(SURE_LEAD)
    assert len(reading.facts["line:order"].best.split(">")) == len(truth["tiles"])
    assert ends == {str(v) for v in truth["open_ends"]}


def test_pieces_are_read_in_px_and_the_missing_table_is_said_when_its_markers_are_covered() -> None:
    image, truth = shot(MARKED_DICE)
    covered = image.copy()
    for marker in truth["markers"]:
        cv2.fillPoly(covered, [np.array(marker["corners_px"]).round().astype(np.int32)], (128, 128, 128))
    reading = read(DiceReader(profile(truth)), covered)
    assert "vision.no_board" in reading.troubles
    assert {p.unit for p in reading.pieces} == {"px"}


def test_a_marker_covers_its_own_print_alone() -> None:
    image, truth = shot(MARKED_TILES)
    table = profile(truth)
    reader = DominoReader(table)
    read(reader, image)
    assert reader.camera is not None
    covers = printed(table, reader.camera)
    for marker in truth["markers"]:
        x, y = np.array(marker["corners_px"]).mean(axis=0)
        assert covers((float(x), float(y)))
    for tile in truth["tiles"]:
        x, y = np.array(tile["center_px"])
        assert not covers((float(x), float(y)))


CAMERA = Camera(
    np.array([[1000.0, 0, 640], [0, 1000.0, 360], [0, 0, 1]]),
    np.zeros(5),
    np.diag([1.0, -1.0, -1.0]),
    np.array([0.0, 0.0, 600.0]),
    1280,
    720,
)
"""Straight above the origin, 600 mm high."""


def test_a_flat_dies_edge_points_away_from_the_point_under_the_camera() -> None:
    for x, y in ((100.0, 0.0), (-60.0, 80.0), (0.0, -120.0)):
        at = CAMERA.project(np.array([[x, y, 8.0]]))[0]
        edge = upright(Found(float(at[0]), float(at[1]), 30, 30, 1.0), CAMERA, 16.0)
        away = at - np.array([640.0, 360.0])
        assert float(edge @ away) == pytest.approx(float(np.linalg.norm(edge) * np.linalg.norm(away)), rel=1e-3)
    below = upright(Found(640.0, 360.0, 30, 30, 1.0), CAMERA, 16.0)
    assert float(np.linalg.norm(below)) < 1e-3


def die(up: tuple[float, float], cocked: float = 0.2) -> Verdict:
    p = np.full(8, 1e-3)
    p[4], p[COCKED], p[NONE] = 1 - cocked, cocked, 1e-3
    return Verdict(Found(100, 100, 30, 30, 1.0), np.log(p / p.sum()).astype(np.float32), up)


def test_an_edge_that_points_elsewhere_speaks_for_leaning_and_one_that_fits_against_it() -> None:
    flat = np.array([0.1, 0.1], np.float32)
    fits, off, before = (leaning(die(up), flat).logs for up in ((0.1, 0.12), (0.5, -0.1), (0.1, 0.1)))
    assert fits[COCKED] < die((0, 0)).logs[COCKED] < off[COCKED]
    assert off[4] < before[4]
    assert leaning(die((0.5, 0.5)), None).logs == pytest.approx(die((0.5, 0.5)).logs, abs=1e-5)


def test_one_that_leans_among_others_does_not_bend_what_is_usual() -> None:
    others = [die((0.10, 0.02)), die((0.12, 0.0)), die((0.11, 0.01)), die((0.7, -0.4))]
    usual = usual_uprights([die((0.9, 0.9)), *others])[0]
    assert usual is not None
    assert float(np.linalg.norm(usual - np.array([0.11, 0.01]))) < 0.06
    assert usual_uprights(others[:2]) == [None, None]
    assert usual_uprights([]) == []


def test_a_die_leans_rather_at_the_rim_than_where_nothing_is_near() -> None:
    rim = np.array([(-90, -80), (90, -80), (90, 80), (-90, 80)], np.float64)
    spots = np.array([(81.0, 0.0), (0.0, 0.0), (-40.0, 40.0), (-40.0, 22.0), (200.0, 0.0)])
    at_rim, free, touching, touched, outside = (support(i, spots, rim, 16.0) for i in range(5))
    assert at_rim > touching == touched == outside == 0.0 > free


def tile(x: float, y: float, length: float, values: tuple[int, int], turn_deg: float = 0.0) -> TileVerdict:
    a = np.array([math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))]) * length / 2
    b = np.array([-a[1], a[0]]) / 2
    quad = np.array([-a - b, -a + b, a + b, a - b], np.float32) + np.array([x, y], np.float32)
    p = np.full((2, 9), 1e-4)
    p[0, values[0]] = p[1, values[1]] = 1.0
    return TileVerdict(Spot(quad, 0.999), np.log(p / p.sum(axis=1, keepdims=True)).astype(np.float32))


def test_a_blank_half_taken_for_a_tile_is_dropped_and_the_whole_tile_is_looked_at() -> None:
    tiles = [tile(100, 100, 80, (3, 4)), tile(200, 100, 82, (6, 1)), tile(300, 100, 79, (2, 2))]
    half = tile(420, 100, 40, (0, 0), 90)
    assert alike([*tiles, half], None) == tiles
    places = wholes([*tiles, half])
    assert sorted(round(p[0]) for p in places) == [410, 430]
    assert all(p[2] == pytest.approx(80, rel=0.01) and abs(p[1] - 100) < 0.5 for p in places)
    assert wholes(tiles) == []


def test_the_next_tile_of_a_line_is_looked_for_where_the_material_lies() -> None:
    image = np.full((240, 480, 3), (60, 90, 60), np.uint8)
    image[80:120, 60:140] = image[80:120, 142:222] = (220, 230, 235)
    places = neighbours(Pyramid(image), [tile(99.5, 99.5, 80, (3, 4))])
    straight = [p for p in places if math.dist(p[:2], (181.5, 99.5)) < 4 and abs((p[3] + 90) % 180 - 90) < 1]
    assert straight
    assert all(p[0] > 120 for p in places)
    assert neighbours(Pyramid(image), [replace_chance(tile(99.5, 99.5, 80, (3, 4)), 0.5)]) == []


def replace_chance(verdict: TileVerdict, chance: float) -> TileVerdict:
    return replace(verdict, spot=replace(verdict.spot, tile=chance))


@pytest.mark.parametrize("name", [TAPPED_DICE, BARE_TILES])
def test_of_a_picture_cut_short_only_what_is_there_is_read(name: str) -> None:
    image, truth = shot(name)
    image = image.copy()
    image[image.shape[0] // 2 :] = 128
    dice = "dice" in truth
    reading = read(DiceReader() if dice else DominoReader(), image)
    for piece in reading.pieces:
        stated = {f.best for k, f in piece.facts.items() if k in ("value", "left", "right") and f.sure(SURE_LEAD)}
        things = truth["dice" if dice else "tiles"]
        near = min(things, key=lambda t, p=piece: math.dist(p.xy, t["center_px"]))  # type: ignore[misc]
        assert stated <= ({str(near["value"])} if dice else {str(v) for v in near["halves"]})
