"""Boards without markers or tapped corners: found by their own print, turned the right way or asked about."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from calibration.geometry import Array
from calibration.profile import Board, TableProfile, load_board
from companion.games.contract import Setup
from companion.registry import game
from devices.contract import Frame, Image
from devices.simulated.arena import ArenaLook, Lying, camera_over, invented_figures, paint
from devices.simulated.moogh import MooghOptions, moogh_scene, random_look
from devices.simulated.tokens import TokenOptions, token_scene
from devices.simulated.tokens_print import ShotOptions
from tests.shared import shared_dir
from tests.vision.test_tokens import COLOURS, bad_pictures, outcome
from vision.contract import VisionError
from vision.figures import FigureReader
from vision.moogh import MooghReader
from vision.own_print import can_find, find_board
from vision.reading import SURE_LEAD
from vision.registration import Registration
from vision.tokens import TokenReader

BOARDS = {name: replace(load_board(name), markers=None) for name in ("maulwurf", "moogui", "moogh")}
BOARDS["square13"] = replace(load_board("maulwurf", variant="square13"), markers=None)
LAYOUTS = {"diamond181": "maulwurf", "square13": "square13"}
SHOT = ShotOptions(size_px=(1280, 720), tilt_deg=(5.0, 20.0))


def start_look(layout: str = "diamond181") -> dict[str, str]:
    rules = game("maulwurf").load_rules()
    state = rules.new(Setup(("A", "B", "C", "D"), {o.name: o.default for o in rules.options()} | {"layout": layout}))
    return dict(rules.look(state))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("heading", [0.0, 90.0, 180.0, 270.0])
def test_a_board_of_cells_at_the_start_is_found_and_turned_by_its_tokens(heading: float, layout: str) -> None:
    board, look = BOARDS[LAYOUTS[layout]], start_look(layout)
    colours = tuple(str(c) for c in board.grid["colours"])
    options = TokenOptions(markers=False, shot=replace(SHOT, heading_deg=heading))
    scene = token_scene(np.random.default_rng(int(heading) + 1), board, colours, look, options)
    reader = TokenReader(TableProfile(board))
    for number in range(2):
        reading = reader.read(Frame(scene.image, number, 0.0, ""))
        right, wrong = outcome(reading, look)
        assert not wrong
        assert right >= 0.97 * len(look)


def test_where_the_tokens_do_not_tell_the_sides_they_are_asked_for() -> None:
    board = BOARDS["maulwurf"]
    rng = np.random.default_rng(3)
    look = {f"cell:{p}": "-" for p in board.places_mm}
    for n, place in enumerate(rng.choice(list(board.places_mm), 36, replace=False)):
        look[f"cell:{place}"] = f"mole{n % 4 + 1}"
    colours = tuple(str(c) for c in board.grid["colours"])
    scene = token_scene(rng, board, colours, look, TokenOptions(markers=False, shot=SHOT))
    reading = TokenReader(TableProfile(board)).read(Frame(scene.image, 0, 0.0, ""))
    assert reading.troubles == ("vision.side_unknown",)
    assert not reading.facts and reading.board_found


@pytest.mark.parametrize("seed", range(4))
def test_an_arena_is_found_by_its_line(seed: int) -> None:
    board, art = BOARDS["moogui"], invented_figures(np.random.default_rng(1), 3)
    view = camera_over(board, 1600, 1200, 8.0 + 5.0 * seed, -90.0 + 4.0 * seed, 3.0 * seed - 5.0, 900.0)
    lying = [Lying(art[0], "2", (300.0, 250.0), 40.0), Lying(art[1], "4", (600.0, 430.0), 88.0)]
    picture = paint(load_board("moogui"), view, lying, ArenaLook(floor=seed, paper=False, jpeg=85))
    found = find_board(picture, board)
    assert found is not None
    truth = view.project(np.array([(x, y, 0.0) for x, y in board.corners_mm]))
    assert off_px(np.array(found), truth, 4) < 2.5
    reading = FigureReader(TableProfile(board), []).read(Frame(picture, 0, 0.0, ""))
    middle = np.array([300.0, 300.0])
    far = sorted(math.dist(p.xy, (300.0, 300.0)) for p in reading.pieces)
    assert far == pytest.approx(sorted(math.dist(f.xy, middle) for f in lying), abs=12.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_hunting_ground_is_found_the_right_way_up_or_not_at_all(seed: int) -> None:
    board = BOARDS["moogh"]
    rng = np.random.default_rng(seed)
    look = random_look(rng, board)
    scene = moogh_scene(rng, board, look, MooghOptions(markers=False, shot=SHOT))
    found = find_board(scene.image, board)
    assert found is None or off_px(np.array(found), np.array(scene.corners_px), 1) < 6.0
    reading = MooghReader(TableProfile(board)).read(Frame(scene.image, 0, 0.0, ""))
    assert reading.board_found == (found is not None)
    for key, fact in reading.facts.items():
        assert not fact.sure(SURE_LEAD) or fact.best == look[key] or look[key] == "dead", key


def off_px(found: Array, truth: Array, ways: int) -> float:
    """The largest error of the corners, for the best of so many ways round."""
    return min(float(np.linalg.norm(np.roll(found, n, axis=0) - truth, axis=1).max()) for n in range(ways))


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS.keys())
@pytest.mark.parametrize("name", ["noise", "black", "white", "tiny", "four channels"])
def test_where_there_is_no_board_none_is_found(board: Board, name: str) -> None:
    picture = bad_pictures()[name]
    if picture.shape[2] == 3:
        assert find_board(picture, board) is None


def test_other_boards_are_not_taken_for_it() -> None:
    rng = np.random.default_rng(5)
    moles = token_scene(rng, BOARDS["maulwurf"], ("red", "blue"), start_look_of_two(), TokenOptions(False, shot=SHOT))
    assert find_board(moles.image, BOARDS["moogh"]) is None
    assert find_board(moles.image, BOARDS["square13"]) is None
    look = random_look(rng, BOARDS["moogh"])
    hunt: Image = moogh_scene(rng, BOARDS["moogh"], look, MooghOptions(markers=False, shot=SHOT)).image
    assert find_board(hunt, BOARDS["maulwurf"]) is None
    assert find_board(hunt, BOARDS["square13"]) is None
    look = start_look("square13")
    squares = token_scene(rng, BOARDS["square13"], COLOURS, look, TokenOptions(False, shot=SHOT))
    assert find_board(squares.image, BOARDS["maulwurf"]) is None
    assert find_board(squares.image, BOARDS["moogh"]) is None
    assert find_board(hunt, BOARDS["moogui"]) is None


def start_look_of_two() -> Mapping[str, str]:
    return {k: v if v[-1] in "12" else "-" for k, v in start_look().items()}


def test_a_board_whose_print_is_not_known_needs_markers_or_corners() -> None:
    board = replace(load_board("moguli"), markers=None)
    assert not can_find(board)
    with pytest.raises(VisionError, match="tap the four corners"):
        Registration(TableProfile(board))


def rendered(name: str) -> list[tuple[Image, Mapping[str, Any]]]:
    folder = shared_dir() / "data" / "pathtraced" / name
    found = []
    for path in sorted(folder.glob("[0-9]*.json")):
        picture = cv2.imread(str(path.with_suffix(".jpg")), cv2.IMREAD_COLOR)
        assert picture is not None
        found.append((np.asarray(picture, dtype=np.uint8), json.loads(path.read_text(encoding="utf-8"))))
    return found


@pytest.mark.parametrize(("name", "most", "ways", "share"), [("moogui", 3.0, 4, 0.95), ("moogh", 3.0, 1, 0.5)])
def test_rendered_boards_are_found_or_not_at_all(name: str, most: float, ways: int, share: float) -> None:
    board = BOARDS[name]
    pictures = rendered(name)
    count = 0
    for picture, truth in pictures:
        found = find_board(picture, board)
        if found is not None:
            corners = np.array([truth["board_corners_px"][n] for n in board.corner_names])
            assert off_px(np.array(found), corners, ways) < most
            count += 1
    assert count >= share * len(pictures)


def test_rendered_diamonds_are_found_cell_by_cell() -> None:
    board = BOARDS["maulwurf"]
    corners_mm = np.array(board.corners_mm, dtype=np.float32)
    for picture, truth in rendered("maulwurf"):
        found = find_board(picture, board)
        assert found is not None
        spots = np.array([board.places_mm[p] for p in truth["cell_centers_px"]], dtype=np.float32).reshape(-1, 1, 2)
        centres = np.array(list(truth["cell_centers_px"].values()))
        errors = []
        for n in range(4):
            to_px = cv2.getPerspectiveTransform(corners_mm, np.roll(np.array(found, dtype=np.float32), n, axis=0))
            off = cv2.perspectiveTransform(spots, to_px).reshape(-1, 2) - centres
            errors.append(float(np.linalg.norm(off, axis=1).max()))
        assert min(errors) < 2.5
