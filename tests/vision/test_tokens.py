"""Tokens on a board: what was drawn is read; what is doubtful is asked; no picture breaks the reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibration.palette import named
from calibration.profile import Board, TableProfile, load_board
from companion.census import maulwurf
from companion.games.contract import Setup
from companion.registry import game
from devices.contract import Frame, Image
from devices.simulated.token_table import LIT, TokenTable
from devices.simulated.tokens import TokenOptions, TokenScene, token_scene
from devices.simulated.tokens_print import ShotOptions
from tests.shared import shared_dir
from tests.vision.light import LIGHTS
from vision.contract import VisionError
from vision.reading import SURE_LEAD, Reading
from vision.tokens import TokenReader

BOARD = load_board("maulwurf")
SQUARE = load_board("maulwurf", variant="square13")
LAYOUTS = {"diamond181": BOARD, "square13": SQUARE}
COLOURS = ("red", "blue", "green", "yellow")
SMALL = ShotOptions(size_px=(1120, 630), tilt_deg=(0.0, 16.0))


def position(rng: np.random.Generator, board: Board, players: int) -> dict[str, str]:
    """Up to nine moles of each player anywhere, busy tiles on caves."""
    caves = board.grid["groups"]["cave"]
    others = [p for p in board.places_mm if p not in caves]
    look = {f"cell:{place}": "-" for place in board.places_mm}
    for player in range(players):
        for place in rng.choice(others, 9):
            look[f"cell:{place}"] = f"mole{player + 1}"
        if rng.uniform() < 0.6:
            look[f"cell:{rng.choice(caves)}"] = f"busy{player + 1}"
    return look


def in_caves(*values: str) -> dict[str, str]:
    """These in the first caves, nothing in the others."""
    caves = sorted(BOARD.grid["groups"]["cave"])
    return {f"cell:{c}": v for c, v in zip(caves, [*values, *["-"] * (len(caves) - len(values))], strict=True)}


def profile(scene: TokenScene, board: Board, markers: bool) -> TableProfile:
    """What set-up knows of the scene's table."""
    if markers:
        return TableProfile(board)
    a, b, c, d = ((float(x), float(y)) for x, y in scene.corners_px)
    return TableProfile(replace(board, markers=None), corners_px=(a, b, c, d))


def outcome(reading: Reading, look: Mapping[str, str]) -> tuple[int, list[str]]:
    """How many cells are stated rightly, and which wrongly."""
    right, wrong = 0, []
    for key, value in look.items():
        fact = reading.facts[key]
        if fact.sure(SURE_LEAD):
            if fact.best == value:
                right += 1
            else:
                wrong.append(f"{key}: {fact.best} for {value}")
    return right, wrong


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32 - 1),
    players=st.integers(2, 4),
    printed=st.booleans(),
    markers=st.booleans(),
)
def test_what_was_drawn_is_read(seed: int, players: int, printed: bool, markers: bool) -> None:
    rng = np.random.default_rng(seed)
    colours = tuple(str(c) for c in rng.permutation(COLOURS)[:players])
    look = position(rng, BOARD, players)
    scene = token_scene(rng, BOARD, colours, look, TokenOptions(printed=printed, markers=markers, shot=SMALL))
    reader = TokenReader(profile(scene, BOARD, markers), colours)
    right, wrong = outcome(reader.read(Frame(scene.image, 0, 0.0, "")), look)
    assert not wrong
    assert right >= 0.95 * len(look)


@pytest.mark.parametrize("markers", [True, False])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_another_layout_is_read(players: int, markers: bool) -> None:
    rng = np.random.default_rng(5 + players)
    look = position(rng, SQUARE, players)
    scene = token_scene(rng, SQUARE, COLOURS[:players], look, TokenOptions(markers=markers, shot=SMALL))
    reading = TokenReader(profile(scene, SQUARE, markers), COLOURS[:players]).read(Frame(scene.image, 0, 0.0, ""))
    right, wrong = outcome(reading, look)
    assert not wrong
    assert right >= 0.95 * len(look)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(6))
def test_tokens_side_by_side_at_the_start_are_read_on_any_ground(layout: str, seed: int) -> None:
    rules = game("maulwurf").load_rules()
    options = {o.name: o.default for o in rules.options()} | {"layout": layout}
    look = rules.look(rules.new(Setup(("A", "B", "C", "D"), options)))
    rng = np.random.default_rng([seed, 9])
    colours = tuple(str(c) for c in rng.permutation(COLOURS))
    scene = token_scene(rng, LAYOUTS[layout], colours, look, TokenOptions(printed=seed % 2 == 0, shot=SMALL))
    reader = TokenReader(TableProfile(LAYOUTS[layout]), colours)
    right, wrong = outcome(reader.read(Frame(scene.image, 0, 0.0, "")), look)
    assert not wrong
    assert right >= 0.94 * len(look)


@pytest.mark.parametrize("light", LIT)
@pytest.mark.parametrize("seed", [1, 3])
def test_a_busy_tile_is_no_mole_however_dim_the_light(light: str, seed: int) -> None:
    look = dict.fromkeys((f"cell:{place}" for place in BOARD.places_mm), "-")
    look |= {"cell:0,-2": "busy1", "cell:0,0": "busy2", "cell:2,2": "busy4"}
    look |= {"cell:1,1": "mole1", "cell:-3,1": "mole2", "cell:2,5": "mole3", "cell:-1,-4": "mole4"}
    right, wrong = outcome(TokenReader(TableProfile(BOARD)).read(shown(look, seed, light)), look)
    assert not wrong
    assert right >= 0.97 * len(look)


def test_caves_that_are_mostly_taken_are_asked_about_or_known_from_before() -> None:
    caves = BOARD.grid["groups"]["cave"]
    look = dict.fromkeys((f"cell:{place}" for place in BOARD.places_mm), "-")
    look |= {f"cell:{cave}": f"busy{n % 4 + 1}" for n, cave in enumerate(caves[:5])}
    look |= {"cell:1,1": "mole1", "cell:-3,1": "mole2", "cell:2,5": "mole3", "cell:-1,-4": "mole4"}
    assert not outcome(TokenReader(TableProfile(BOARD)).read(shown(look, 3, "diffuse")), look)[1]
    reader = TokenReader(TableProfile(BOARD))
    before = look | {f"cell:{caves[0]}": "-"}
    reader.read(shown(before, 3, "diffuse"))
    reader.agree(before)
    reading = reader.read(shown(look, 3, "diffuse"))
    assert not outcome(reading, look)[1]
    facts = [reading.facts[f"cell:{cave}"] for cave in caves]
    assert [f.best == "-" for f in facts] == [False] * 5 + [True] * 4


@pytest.mark.parametrize("light", ["diffuse", "window", "dim"])
@pytest.mark.parametrize("taken", [6, 7, 8, 9])
def test_when_nearly_all_caves_are_taken_it_is_known_from_before_how_an_empty_one_looks(taken: int, light: str) -> None:
    caves = BOARD.grid["groups"]["cave"]
    look = dict.fromkeys((f"cell:{place}" for place in BOARD.places_mm), "-")
    look |= {"cell:1,1": "mole1", "cell:-3,1": "mole2", "cell:2,5": "mole3", "cell:-1,-4": "mole4"}
    reader = TokenReader(TableProfile(BOARD))
    reader.read(shown(look, 3, "diffuse"))
    reader.agree(look)
    late = look | {f"cell:{cave}": f"busy{n % 4 + 1}" for n, cave in enumerate(caves[:taken])}
    reading = reader.read(shown(late, 3, light))
    assert not outcome(reading, late)[1]
    told = [reading.facts[f"cell:{cave}"] for cave in caves]
    if light == "diffuse":
        assert sum(f.sure(SURE_LEAD) and not f.reason for f in told) >= 7
        assert all(f.best == "-" and f.sure(SURE_LEAD) for f in told[taken:])
    fresh = TokenReader(TableProfile(BOARD)).read(shown(late, 3, light))
    assert not outcome(fresh, late)[1], "who has not seen them empty asks"


def shown(look: Mapping[str, str], seed: int, light: str) -> Frame:
    """A picture of the simulated table."""
    table = TokenTable(look, BOARD, seed, light=light)
    table.stage.advance(0.1)
    frame = table.stage.camera().read(0.0)
    assert frame is not None
    return frame


def test_a_token_between_two_cells_is_stated_on_neither() -> None:
    rng = np.random.default_rng(11)
    look = position(rng, BOARD, 2)
    look["cell:1,0"], look["cell:2,0"] = "mole1", "-"
    look["cell:-3,1"], look["cell:-3,2"] = "mole2", "-"
    moved = {"1,0": (11.0, 0.0), "-3,1": (0.0, 11.0)}
    scene = token_scene(rng, BOARD, COLOURS[:2], look, TokenOptions(shift_mm=moved, shot=SMALL))
    reading = TokenReader(TableProfile(BOARD), COLOURS[:2]).read(Frame(scene.image, 0, 0.0, ""))
    for key in ("cell:1,0", "cell:2,0", "cell:-3,1", "cell:-3,2"):
        fact = reading.facts[key]
        assert not (fact.sure(SURE_LEAD) and fact.best != "-"), key
    pairs = (("cell:1,0", "cell:2,0"), ("cell:-3,1", "cell:-3,2"))
    assert all(any(not reading.facts[k].sure(SURE_LEAD) for k in pair) for pair in pairs)


@pytest.mark.parametrize("light", LIT)
@pytest.mark.parametrize("seed", [20, 21])
def test_a_token_anywhere_between_cells_is_never_missing(light: str, seed: int) -> None:
    chance = np.random.default_rng([seed, LIT.index(light)])
    groups = {p for listed in BOARD.grid["groups"].values() for p in listed}
    every = ((u, v) for u in range(-6, 7, 3) for v in range(-6, 7, 3) if abs(u) + abs(v) <= 6)
    spots = [f"{u},{v}" for u, v in every if f"{u},{v}" not in groups]
    look = dict.fromkeys((f"cell:{place}" for place in BOARD.places_mm), "-")
    look |= {f"cell:{place}": f"mole{n % 4 + 1}" for n, place in enumerate(spots)}
    table = TokenTable(look, BOARD, seed, light=light)
    for place in spots:
        solid = table._world.solids[f"cell:{place}"]
        off = np.array([*(chance.choice([-0.5, -0.25, 0.25, 0.5]) * BOARD.grid["pitch_mm"] for _ in range(2)), 0.0])
        at = np.array([*BOARD.places_mm[place], solid.centre_mm[2]])
        table._world.solids[f"cell:{place}"] = replace(solid, centre_mm=np.asarray(at + off, np.float32))
    table.stage.advance(0.1)
    frame = table.stage.camera().read(0.0)
    assert frame is not None
    facts = TokenReader(TableProfile(BOARD)).read(frame).facts
    for place in spots:
        u, v = (int(x) for x in place.split(","))
        about = [facts[f"cell:{u + a},{v + b}"] for a in (-1, 0, 1) for b in (-1, 0, 1)]
        assert any(f.best != "-" or not f.sure(SURE_LEAD) for f in about), place
        assert all(f.best in ("-", look[f"cell:{place}"]) for f in about if f.sure(SURE_LEAD)), place


def test_under_a_hand_nothing_is_stated_wrongly() -> None:
    rng = np.random.default_rng(3)
    look = position(rng, BOARD, 4)
    shot = replace(SMALL, hand_at_mm=(20.0, -15.0))
    scene = token_scene(rng, BOARD, COLOURS, look, TokenOptions(shot=shot))
    reading = TokenReader(TableProfile(BOARD), COLOURS).read(Frame(scene.image, 0, 0.0, ""))
    right, wrong = outcome(reading, look)
    assert not wrong
    assert 0.4 * len(look) < right < len(look)
    assert any(f.reason == "hand" and f.hidden for f in reading.facts.values())


@pytest.mark.parametrize("seed", [8, 10])
def test_agreed_colours_follow_the_light(seed: int) -> None:
    rng = np.random.default_rng(seed)
    look = position(rng, BOARD, 4)
    scene = token_scene(rng, BOARD, COLOURS, look, TokenOptions(shot=SMALL))
    reader = TokenReader(TableProfile(BOARD), COLOURS)
    for gains in ((1.0, 1.0, 1.0), (0.9, 1.0, 1.0), (0.8, 1.0, 1.0), (0.7, 1.0, 1.0)):
        warmer = np.clip(scene.image * np.array(gains), 0, 255).astype(np.uint8)
        right, wrong = outcome(reader.read(Frame(warmer, 0, 0.0, "")), look)
        assert not wrong
        assert right >= 0.95 * len(look)
        reader.agree(look)


@pytest.mark.parametrize("light", sorted(LIGHTS))
@pytest.mark.parametrize("seed", [31, 32])
def test_no_light_makes_a_token_something_else(light: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    look = position(rng, BOARD, 4)
    # Five busy tiles are the most that a game can end with.
    look |= in_caves("busy1", "busy2", "busy3", "busy4", "busy1")
    scene = token_scene(rng, BOARD, COLOURS, look, TokenOptions(shot=SMALL))
    reader = TokenReader(TableProfile(BOARD), COLOURS)
    right, wrong = outcome(reader.read(Frame(LIGHTS[light](scene.image, rng), 0, 0.0, "")), look)
    assert not wrong
    assert right >= 0.6 * len(look)


def test_where_most_caves_hold_something_none_is_stated_wrongly() -> None:
    rng = np.random.default_rng(32)
    look = position(rng, BOARD, 4) | in_caves("busy1", "busy1", "busy2", "busy3", "busy4", "mole2", "mole3")
    scene = token_scene(rng, BOARD, COLOURS, look, TokenOptions(shot=SMALL))
    reading = TokenReader(TableProfile(BOARD), COLOURS).read(Frame(scene.image, 0, 0.0, ""))
    _, wrong = outcome(reading, look)
    assert not wrong
    assert any(f.reason == "unclear" for f in reading.facts.values())


def test_drawing_leaves_the_picture_alone() -> None:
    rng = np.random.default_rng(2)
    look = position(rng, BOARD, 2)
    scene = token_scene(rng, BOARD, COLOURS[:2], look, TokenOptions(shot=SMALL))
    reader = TokenReader(TableProfile(BOARD), COLOURS[:2])
    before = scene.image.copy()
    drawn = reader.draw(scene.image, reader.read(Frame(scene.image, 0, 0.0, "")))
    assert np.array_equal(scene.image, before)
    assert not np.array_equal(drawn, before)


def bad_pictures() -> dict[str, Image]:
    """Pictures that show no board, and things that are no pictures."""
    rng = np.random.default_rng(0)
    return {
        "black": np.zeros((720, 1280, 3), np.uint8),
        "white": np.full((720, 1280, 3), 255, np.uint8),
        "grey": np.full((720, 1280), 128, np.uint8),
        "four channels": rng.integers(0, 256, (360, 640, 4), dtype=np.uint8),
        "noise": rng.integers(0, 256, (720, 1280, 3), dtype=np.uint8),
        "tiny": np.zeros((8, 8, 3), np.uint8),
        "empty": np.zeros((0, 0, 3), np.uint8),
    }


@pytest.mark.parametrize("name", bad_pictures())
@pytest.mark.parametrize("markers", [True, False])
def test_a_picture_of_nothing_states_no_token(name: str, markers: bool) -> None:
    corners = ((100.0, 600.0), (1100.0, 610.0), (1000.0, 100.0), (200.0, 90.0))
    table = TableProfile(BOARD) if markers else TableProfile(replace(BOARD, markers=None), corners_px=corners)
    reader = TokenReader(table, COLOURS)
    reading = reader.read(Frame(bad_pictures()[name], 0, 0.0, ""))
    assert markers is False or reading.troubles
    assert not [k for k, f in reading.facts.items() if f.sure(SURE_LEAD) and f.best != "-"]


def test_a_picture_cut_short_is_survived() -> None:
    rng = np.random.default_rng(4)
    look = position(rng, BOARD, 2)
    scene = token_scene(rng, BOARD, COLOURS[:2], look, TokenOptions(markers=False, shot=SMALL))
    cut = scene.image.copy()
    cut[cut.shape[0] // 2 :] = 128
    reading = TokenReader(profile(scene, BOARD, False), COLOURS[:2]).read(Frame(cut, 0, 0.0, ""))
    stated = {k: f.best for k, f in reading.facts.items() if f.sure(SURE_LEAD) and f.best != "-"}
    assert all(look[k] == v for k, v in stated.items())


def test_misuse_is_refused() -> None:
    with pytest.raises(VisionError, match="unknown colours"):
        TokenReader(TableProfile(BOARD), ("red", "ultraviolet"))
    with pytest.raises(VisionError, match="no places"):
        TokenReader(TableProfile(replace(BOARD, places_mm={})), COLOURS)


def test_rendered_photographs() -> None:
    folder = shared_dir() / "data" / "pathtraced" / "maulwurf"
    assert maulwurf.recognise(folder)
    tally = maulwurf.read(folder)
    cells = [tally.counts[kind] for kind in ("cell", "mole", "busy")]
    total = sum(sum(c.values()) for c in cells)
    assert total == 181 * tally.pictures
    assert not tally.wrong
    assert sum(c["right"] for c in cells) >= 0.998 * total


def test_the_board_specs_colours_serve_while_not_all_players_play() -> None:
    colours = tuple(BOARD.grid["colours"])
    rng = np.random.default_rng(21)
    look = position(rng, BOARD, 2)
    scene = token_scene(rng, BOARD, colours, look, TokenOptions(shot=SMALL))
    right, wrong = outcome(
        game("maulwurf").load_reader()(TableProfile(BOARD)).read(Frame(scene.image, 0, 0.0, "")), look
    )
    assert not wrong
    assert right >= 0.95 * len(look)


def test_a_table_may_have_other_colours() -> None:
    rng = np.random.default_rng(22)
    look = position(rng, BOARD, 2)
    scene = token_scene(rng, BOARD, ("yellow", "green"), look, TokenOptions(shot=SMALL))
    own = {"mole1": named("yellow"), "mole2": named("green"), "mole3": named("red"), "mole4": named("blue")}
    reading = TokenReader(TableProfile(BOARD, palette=own)).read(Frame(scene.image, 0, 0.0, ""))
    right, wrong = outcome(reading, look)
    assert not wrong
    assert right >= 0.95 * len(look)
