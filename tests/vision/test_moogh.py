"""The table of MOOGH: what was drawn is read; what is doubtful is asked; no picture breaks the reader."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibration.profile import TableProfile, load_board
from companion.census import moogh as census
from companion.games.moogh import RULES
from devices.contract import Frame, Image
from devices.simulated.moogh import MooghOptions, MooghScene, moogh_scene, random_look
from devices.simulated.tokens_print import ShotOptions
from tests.shared import shared_dir
from tests.vision.light import LIGHTS
from tests.vision.test_tokens import bad_pictures
from vision.contract import VisionError
from vision.moogh import OFF_BOARD, MooghReader
from vision.reading import SURE_LEAD, Reading

BOARD = load_board("moogh")
SHOT = ShotOptions(size_px=(1280, 720), tilt_deg=(0.0, 18.0), heading_deg=270.0)
LOOK: Mapping[str, str] = {
    "beast:origin": "3,2",
    "die:health": "5",
    "die:rage": "4",
    "rage:cell": "4.2",
    "card:side": "front",
    "die:points": "B3",
    "cube:red": "7,1",
    "cube:green": "1,4",
    "cube:brown": "0,1",
    "cube:white": "6,5",
}


def reading_of(scene: MooghScene, markers: bool) -> Reading:
    """What a fresh reader makes of a scene."""
    if markers:
        table = TableProfile(BOARD)
    else:
        a, b, c, d = ((float(x), float(y)) for x, y in scene.corners_px)
        table = TableProfile(replace(BOARD, markers=None), corners_px=(a, b, c, d))
    return MooghReader(table).read(Frame(scene.image, 0, 0.0, ""))


def wrong(reading: Reading, look: Mapping[str, str]) -> list[str]:
    """Facts that are stated and not so; a cube off the board may be stated on no cell."""
    found = []
    for key, fact in reading.facts.items():
        value = look[key]
        if fact.sure(SURE_LEAD) and fact.best != value and not (value == "dead" and fact.best in OFF_BOARD):
            found.append(f"{key}: {fact.best} for {value}")
    return found


def right(reading: Reading, look: Mapping[str, str]) -> int:
    """How many facts are stated as they are."""
    return sum(f.sure(SURE_LEAD) and f.best == look[k] for k, f in reading.facts.items())


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32 - 1),
    markers=st.booleans(),
    action_turn=st.sampled_from([None, 180.0, 30.0]),
    point_turn=st.sampled_from([None, 180.0, -50.0]),
)
def test_what_was_drawn_is_read(seed: int, markers: bool, action_turn: float | None, point_turn: float | None) -> None:
    rng = np.random.default_rng(seed)
    look = random_look(rng, BOARD)
    options = MooghOptions(action_turn_deg=action_turn, point_turn_deg=point_turn, markers=markers, shot=SHOT)
    reading = reading_of(moogh_scene(rng, BOARD, look, options), markers)
    assert not wrong(reading, look)
    standing = sum(value != "dead" for value in look.values())
    assert right(reading, look) >= standing - 2


def test_the_facts_are_those_of_the_rules() -> None:
    reading = reading_of(moogh_scene(np.random.default_rng(1), BOARD, LOOK, MooghOptions(shot=SHOT)), True)
    assert set(reading.facts) <= {"beast:facing", *LOOK}
    assert RULES.name == "moogh"
    assert set(LOOK) == set(reading.facts)


def test_pips_that_differ_from_the_row_are_read_as_they_are() -> None:
    look = {**LOOK, "die:rage": "6", "rage:cell": "2.3"}
    reading = reading_of(moogh_scene(np.random.default_rng(6), BOARD, look, MooghOptions(shot=SHOT)), True)
    assert not wrong(reading, look)
    assert reading.facts["die:rage"].best == "6"
    assert reading.facts["rage:cell"].best == "2.3"


def test_a_cube_between_two_cells_is_asked() -> None:
    options = MooghOptions(cube_shift_mm={"red": (-10.0, 0.0), "green": (0.0, 10.0)}, shot=SHOT)
    reading = reading_of(moogh_scene(np.random.default_rng(2), BOARD, LOOK, options), True)
    for name in ("red", "green"):
        assert not reading.facts[f"cube:{name}"].sure(SURE_LEAD)


def test_a_cube_off_the_board_is_on_no_cell() -> None:
    look = {**LOOK, "cube:red": "dead", "cube:green": "top"}
    reading = reading_of(moogh_scene(np.random.default_rng(3), BOARD, look, MooghOptions(shot=SHOT)), True)
    for name in ("red", "green"):
        fact = reading.facts[f"cube:{name}"]
        weights = {v: math.exp(x) for v, x in zip(fact.values, fact.log_likelihoods, strict=True)}
        assert sum(weights[v] for v in OFF_BOARD) > 0.9 * sum(weights.values())


def test_dice_that_are_not_there_are_asked() -> None:
    options = MooghOptions(missing=("health", "rage", "points"), shot=SHOT)
    reading = reading_of(moogh_scene(np.random.default_rng(4), BOARD, LOOK, options), True)
    for key in ("die:health", "beast:origin", "die:rage", "rage:cell", "die:points"):
        assert not reading.facts[key].sure(SURE_LEAD), key
    assert reading.facts["card:side"].best == LOOK["card:side"]


def test_a_card_without_its_print_says_nothing() -> None:
    options = MooghOptions(blank_action=True, shot=SHOT)
    reading = reading_of(moogh_scene(np.random.default_rng(5), BOARD, LOOK, options), True)
    for key in ("card:side", "rage:cell", "die:rage"):
        assert not reading.facts[key].sure(SURE_LEAD), key


def test_under_a_hand_nothing_is_stated_wrongly() -> None:
    for spot in ((60.0, 60.0), (216.0, 60.0)):
        options = MooghOptions(shot=replace(SHOT, hand_at_mm=spot))
        reading = reading_of(moogh_scene(np.random.default_rng(7), BOARD, LOOK, options), True)
        assert not wrong(reading, LOOK)


@pytest.mark.parametrize("light", sorted(LIGHTS))
@pytest.mark.parametrize("seed", [31, 32])
def test_no_light_states_anything_wrongly(light: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    look = {**random_look(rng, BOARD), "cube:white": "dead"}
    scene = moogh_scene(rng, BOARD, look, MooghOptions(shot=SHOT))
    lit = replace(scene, image=LIGHTS[light](scene.image, rng))
    reading = reading_of(lit, True)
    assert not wrong(reading, look)
    assert right(reading, look) >= 4


def test_cards_that_were_moved_are_found_again() -> None:
    rng = np.random.default_rng(9)
    shot = replace(SHOT, tilt_deg=(5.0, 5.0))
    reader = MooghReader(TableProfile(BOARD))
    for turn, side in ((0.0, "front"), (25.0, "back"), (180.0, "front")):
        look = {**LOOK, "card:side": side}
        options = MooghOptions(action_turn_deg=turn, point_turn_deg=-turn, shot=shot)
        reading = reader.read(Frame(moogh_scene(rng, BOARD, look, options).image, 0, 0.0, ""))
        assert not wrong(reading, look)
        assert reading.facts["card:side"].sure(SURE_LEAD)
        reader.agree(look)


def test_only_what_changed_is_read_again_and_everything_that_changed() -> None:
    reader = MooghReader(TableProfile(BOARD))
    shot = replace(SHOT, tilt_deg=(5.0, 5.0), noise=(1.0, 1.0))
    changes: tuple[Mapping[str, str], ...] = ({}, {"cube:red": "6,0"}, {"die:rage": "5"}, {"die:points": "A6"}, {})
    changes += ({"beast:origin": "1,1", "die:health": "2"},)
    for change in changes:
        look = {**LOOK, **change}
        scene = moogh_scene(np.random.default_rng(12), BOARD, look, MooghOptions(shot=shot))
        reading = reader.read(Frame(scene.image, 0, 0.0, ""))
        assert not wrong(reading, look)
        assert right(reading, look) >= len(look) - 1


def test_drawing_leaves_the_picture_alone() -> None:
    scene = moogh_scene(np.random.default_rng(1), BOARD, LOOK, MooghOptions(shot=SHOT))
    reader = MooghReader(TableProfile(BOARD))
    before = scene.image.copy()
    drawn = reader.draw(scene.image, reader.read(Frame(scene.image, 0, 0.0, "")))
    assert np.array_equal(scene.image, before)
    assert not np.array_equal(drawn, before)


@pytest.mark.parametrize("name", bad_pictures())
@pytest.mark.parametrize("markers", [True, False])
def test_a_picture_of_nothing_states_nothing(name: str, markers: bool) -> None:
    corners = ((100.0, 600.0), (700.0, 610.0), (650.0, 150.0), (150.0, 140.0))
    table = TableProfile(BOARD) if markers else TableProfile(replace(BOARD, markers=None), corners_px=corners)
    picture: Image = bad_pictures()[name]
    reading = MooghReader(table).read(Frame(picture, 0, 0.0, ""))
    assert markers is False or reading.troubles
    assert not [k for k, f in reading.facts.items() if f.sure(SURE_LEAD)]


def test_a_board_spec_without_cards_is_refused() -> None:
    with pytest.raises(VisionError, match="action_card"):
        grid = {k: v for k, v in BOARD.grid.items() if k != "action_card"}
        MooghReader(TableProfile(replace(BOARD, grid=grid)))


def test_rendered_photographs() -> None:
    folder = shared_dir() / "data" / "pathtraced" / "moogh"
    assert census.recognise(folder)
    tally = census.read(folder)
    total = sum(sum(c.values()) for c in tally.counts.values())
    assert not tally.wrong
    assert sum(c["right"] for c in tally.counts.values()) >= 0.98 * total
