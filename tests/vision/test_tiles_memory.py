"""What the tile reader keeps: a hand, clutter or a lamp teaches it nothing worse than what it knows."""

from __future__ import annotations

import random

import cv2
import numpy as np
import pytest

from calibration.geometry import Camera
from calibration.profile import TableProfile, load_board
from devices.contract import Image
from devices.simulated.acts import MovePawn
from devices.simulated.art import STYLES
from devices.simulated.bench import START
from devices.simulated.table import MoguliTable
from tests.vision import drawn
from tests.vision.test_tiles import asked, wrong
from vision.tiles import TileReader

VIEW = drawn.camera(8, 18)


def crossed(image: Image, view: Camera, seed: int, tiles: int) -> Image:
    """The same board with lines to all four sides on so many tiles: nobody can say which path they show."""
    cluttered = image.copy()
    for cell in random.Random(seed).sample(sorted(drawn.BOARD.places_mm), tiles):
        x, y = drawn.BOARD.places_mm[cell]
        for ax, ay in drawn.AIMS.values():
            ends = view.project(np.array([[x + 9 * ax, y + 9 * ay, 2.0], [x + 29 * ax, y + 29 * ay, 2.0]]))
            a, b = (tuple(int(v) for v in end) for end in ends.round())
            cv2.line(cluttered, a, b, drawn.LINE, 7, cv2.LINE_AA)
    return cluttered


def read_and_agreed(truth: dict[str, str], image: Image) -> TileReader:
    reader = TileReader(drawn.profile())
    assert asked(reader.read(drawn.frame(image)), truth) == []
    reader.agree(truth)
    return reader


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("at_mm", [(60.0, 200.0), (150.0, 330.0), (200.0, 60.0)])
def test_a_hand_that_rests_over_the_board_leaves_no_trace(seed: int, at_mm: tuple[float, float]) -> None:
    truth = drawn.look(seed)
    image = drawn.picture(truth, VIEW, sloppy=drawn.Sloppy(1.0, 2.0), seed=seed)
    reader = read_and_agreed(truth, image)
    covered = drawn.hand(image, VIEW, at_mm)
    for number in range(1, 26):
        assert wrong(reader.read(drawn.frame(covered, number, 0.3 * number)), truth) == []
    gone = reader.read(drawn.frame(image, 26, 7.8))
    assert gone.troubles == ()
    assert wrong(gone, truth) == []
    assert asked(gone, truth) == []


def test_what_was_done_under_a_resting_hand_is_read_when_it_has_gone() -> None:
    truth = drawn.look(4)
    image = drawn.picture(truth, VIEW, seed=1)
    reader = read_and_agreed(truth, image)
    covered = drawn.hand(image, VIEW, (60.0, 200.0))
    for number in range(1, 12):
        reader.read(drawn.frame(covered, number, 0.3 * number))
    after = {**truth, "path:b4": next(p for p in drawn.PATHS if p != truth["path:b4"])}
    reading = reader.read(drawn.frame(drawn.picture(after, VIEW, seed=1), 12, 4.0))
    assert wrong(reading, after) == []
    assert reading.facts["path:b4"].best == after["path:b4"]


def test_much_that_is_unclear_is_trouble() -> None:
    truth = drawn.look(2)
    image = crossed(drawn.picture(truth, VIEW, seed=2), VIEW, 2, 30)
    reading = TileReader(drawn.profile()).read(drawn.frame(image))
    assert reading.troubles == ("vision.unclear",)


@pytest.mark.parametrize("time_s", [1.0, 90.0])
def test_a_picture_of_which_nothing_can_be_learned_replaces_nothing(time_s: float) -> None:
    truth = drawn.look(3)
    image = drawn.picture(truth, VIEW, seed=3)
    reader = read_and_agreed(truth, image)
    cluttered = crossed(image, VIEW, 3, 30)
    for number in range(1, 6):
        assert wrong(reader.read(drawn.frame(cluttered, number, time_s + number)), truth) == []
    again = reader.read(drawn.frame(image, 6, time_s + 6.3))
    assert again.troubles == ()
    assert wrong(again, truth) == []
    assert asked(again, truth) == []


@pytest.mark.parametrize("gain", [0.06, 0.09, 0.11, 0.14, 0.2, 0.3, 0.6, 1.2, 1.35, 1.6, 2.0, 3.0, 4.5, 8.0])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_done_while_the_light_is_bad_is_not_taken_for_nothing_and_is_read_when_it_is_good(
    seed: int, gain: float
) -> None:
    truth = drawn.look(seed)
    reader = read_and_agreed(truth, drawn.picture(truth, VIEW, seed=seed))
    start = next(k for k, v in truth.items() if k.startswith("pawn:") and v == "1")
    end = next(k for k, v in truth.items() if k.startswith("pawn:") and v == "-")
    turned = next(k for k in truth if k.startswith("path:") and k[-2:] not in (start[-2:], end[-2:]))
    other = next(p for p in drawn.PATHS if p != truth[turned])
    after = {**truth, start: "-", end: "1", turned: other}
    picture = drawn.picture(after, VIEW, seed=seed)
    bad = np.clip(picture.astype(float) * gain, 0, 255).astype(np.uint8)
    for number in range(1, 4):
        reading = reader.read(drawn.frame(bad, number, 0.3 * number))
        assert reading.troubles or wrong(reading, after) == []
        silent = [k for k, f in reading.facts.items() if f.blank and not f.reason]
        assert all(k[:9] == "triangle:" and reading.facts[f"pawn:{k[9:]}"].best != "-" for k in silent), silent
    good = reader.read(drawn.frame(picture, 4, 1.5))
    assert good.troubles == ()
    assert wrong(good, after) == []
    assert asked(good, after) == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("style", sorted(STYLES))
def test_a_pawn_put_down_beside_a_door_is_not_called_gone(style: str, seed: int) -> None:
    chance, board = random.Random(seed), load_board("moguli")
    table = MoguliTable(START, board, seed, style=style, light=chance.choice(["diffuse", "window", "lamp"]))
    camera, reader = table.stage.camera(), TileReader(TableProfile(board))
    table.stage.advance(0.5)
    frame = camera.read(0.0)
    assert frame is not None
    before = {key: fact.best for key, fact in reader.read(frame).facts.items()}
    reader.agree(before)
    start = chance.choice([k for k, v in before.items() if k.startswith("pawn:") and v != "-"])
    end = chance.choice([k for k, v in before.items() if k.startswith("pawn:") and v == "-"])
    far, way = chance.uniform(15.0, 26.0), chance.uniform(0.0, 2 * np.pi)
    table.act([MovePawn(before[start], start[5:], end[5:], (far * np.cos(way), far * np.sin(way)))])
    while table.stage.busy:
        table.stage.advance(0.1)
    table.stage.advance(1.0)
    frame = camera.read(0.0)
    assert frame is not None
    reading = reader.read(frame)
    assert not reading.troubles
    # Where it lies, or between which places, nothing may be called bare.
    assert any(f.hidden for k, f in reading.facts.items() if k.startswith("pawn:"))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("style", sorted(STYLES))
def test_a_tile_turned_twice_in_a_dim_light_is_not_taken_for_what_it_was(style: str, seed: int) -> None:
    chance, board = random.Random(seed), load_board("moguli")
    noise = np.random.default_rng(seed)
    cell = chance.choice(sorted(board.places_mm))
    look = dict(START)
    others = [p for p in drawn.PATHS if p != look[f"path:{cell}"]]
    chance.shuffle(others)
    reader = TileReader(TableProfile(board))
    for number, path in enumerate((look[f"path:{cell}"], *others[:2])):
        look[f"path:{cell}"] = path
        table = MoguliTable(look, board, seed, style=style)
        table.stage.advance(1.0)
        picture = table.stage.frame(number).bgr
        dim = picture * 0.4 + noise.normal(0.0, 2.5, picture.shape)
        reading = reader.read(drawn.frame(np.clip(dim, 0, 255).astype(np.uint8), number, 0.5 * number))
        assert wrong(reading, look) == []
        if number == 0:
            reader.agree(look)
