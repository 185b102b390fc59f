"""A board that was pushed away from its markers: said, and nothing is read from places that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from calibration.profile import Board, Markers, TableProfile, load_board
from devices.contract import Frame, Image
from devices.simulated.moogh import MooghOptions, moogh_scene, random_look
from devices.simulated.tokens import TokenOptions, token_scene
from devices.simulated.tokens_print import ShotOptions
from tests.vision import drawn
from vision.contract import Reader
from vision.moogh import MooghReader
from vision.reading import SURE_LEAD, Reading
from vision.tiles import TileReader
from vision.tokens import TokenReader

SHOT = ShotOptions(size_px=(1280, 720), tilt_deg=(5.0, 20.0))
DIAMOND, SQUARE = load_board("maulwurf"), load_board("maulwurf", variant="square13")
PUSHED_MM = ((12.0, 0.0), (0.0, -12.0), (22.0, 0.0), (-16.0, 16.0), (0.0, 31.0))


def pushed(board: Board, x_mm: float, y_mm: float) -> Board:
    """The board as its spec says, were the markers pushed so far: the same as the board pushed the other way."""
    assert board.markers is not None
    corners = {
        marker: tuple((x + x_mm, y + y_mm, z) for x, y, z in corners)
        for marker, corners in board.markers.corners_mm.items()
    }
    return replace(board, markers=Markers(board.markers.dictionary, corners))


def tokens(
    board: Board, seed: int, hand_at_mm: tuple[float, float] | None = None, heading_deg: float | None = None
) -> tuple[Image, Mapping[str, str]]:
    rng = np.random.default_rng(seed)
    look = {f"cell:{place}": "-" for place in board.places_mm}
    for n, place in enumerate(rng.choice(list(board.places_mm), 36, replace=False)):
        look[f"cell:{place}"] = f"mole{n % 4 + 1}"
    colours = tuple(str(c) for c in board.grid["colours"])
    return token_scene(
        rng, board, colours, look, TokenOptions(shot=replace(SHOT, hand_at_mm=hand_at_mm, heading_deg=heading_deg))
    ).image, look


def read(reader: Reader, picture: Image, number: int = 0) -> Reading:
    return reader.read(Frame(picture, number, float(number), "test"))


def wrong(reading: Reading, look: Mapping[str, str]) -> list[str]:
    return [k for k, f in reading.facts.items() if f.sure(SURE_LEAD) and not f.hidden and f.best != look[k]]


@pytest.mark.parametrize("away_mm", PUSHED_MM)
@pytest.mark.parametrize("board", [DIAMOND, SQUARE], ids=["diamond", "square"])
def test_a_board_of_cells_beside_its_place_is_not_read(board: Board, away_mm: tuple[float, float]) -> None:
    picture, _ = tokens(board, 11)
    reading = read(TokenReader(TableProfile(pushed(board, *away_mm))), picture)
    assert reading.troubles == ("vision.board_astray",)
    assert reading.board_found and not reading.facts


@pytest.mark.parametrize("board", [DIAMOND, SQUARE], ids=["diamond", "square"])
@pytest.mark.parametrize("seed", range(5))
def test_a_board_of_cells_in_its_place_is_read(board: Board, seed: int) -> None:
    picture, look = tokens(board, seed)
    reading = read(TokenReader(TableProfile(board)), picture)
    assert not reading.troubles
    assert not wrong(reading, look)


@pytest.mark.parametrize("board", [DIAMOND, SQUARE], ids=["diamond", "square"])
@pytest.mark.parametrize("seed", [501, 505, 507, 517, 521, 522])
def test_under_a_hand_as_pale_as_the_board_nothing_is_stated_wrongly(board: Board, seed: int) -> None:
    """A hand may have the board's colour, or a player's; its rim cuts into tokens as a busy tile's notch does."""
    x, y = np.random.default_rng(seed).uniform(-110, 110, 2)
    picture, look = tokens(board, seed, (float(x), float(y)))
    reading = read(TokenReader(TableProfile(board)), picture)
    assert not reading.troubles
    assert not wrong(reading, look)
    assert sum(f.sure(SURE_LEAD) and not f.hidden for f in reading.facts.values()) > len(look) / 2


def test_a_board_pushed_back_is_read_again() -> None:
    reader = TokenReader(TableProfile(DIAMOND))
    beside, look = tokens(pushed(DIAMOND, 15.0, 0.0), 12)
    there, _ = tokens(DIAMOND, 12)
    assert read(reader, beside).troubles == ("vision.board_astray",)
    reading = read(reader, there, 1)
    assert not reading.troubles and reading.facts and not wrong(reading, look)
    assert read(reader, beside, 2).troubles == ("vision.board_astray",)


@pytest.mark.parametrize("heading_deg", [0.0, 90.0, 180.0, 270.0])
def test_a_board_that_looks_the_same_from_all_sides_is_found_in_its_place_however_it_lies(
    heading_deg: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the quick look fails (a hand, a reflection), the board is searched; its first corner may be any of four."""
    monkeypatch.setattr("vision.registration.lies_here", lambda *_: False)
    picture, look = tokens(DIAMOND, 13, heading_deg=heading_deg)
    reading = read(TokenReader(TableProfile(DIAMOND)), picture)
    assert not reading.troubles and not wrong(reading, look)


@pytest.mark.parametrize("away_mm", PUSHED_MM)
def test_a_hunting_ground_beside_its_place_states_nothing_wrong(away_mm: tuple[float, float]) -> None:
    board = load_board("moogh")
    said = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        look = random_look(rng, board)
        picture = moogh_scene(rng, board, look, MooghOptions(shot=SHOT)).image
        here = read(MooghReader(TableProfile(board)), picture)
        assert not here.troubles
        said += read(MooghReader(TableProfile(pushed(board, *away_mm))), picture).troubles == ("vision.board_astray",)
    # A ground whose rocks a hand or a beast covers is not found elsewhere either.
    assert said >= 2


@pytest.mark.parametrize("away_mm", [(12.0, 0.0), (0.0, -20.0), (29.5, 0.0), (-29.5, 29.5)])
def test_tiles_beside_their_places_are_not_read(away_mm: tuple[float, float]) -> None:
    facts, view = drawn.look(3), drawn.camera()
    picture = drawn.picture(facts, view)
    assert not wrong(read(TileReader(TableProfile(drawn.BOARD)), picture), facts)
    reading = read(TileReader(TableProfile(pushed(drawn.BOARD, *away_mm))), picture)
    assert not any(f.sure(SURE_LEAD) for f in reading.facts.values() if not f.hidden)
    assert reading.troubles in (("vision.mostly_hidden",), ("vision.unclear",), ("vision.no_tiles",))
