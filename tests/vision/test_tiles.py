"""The tile reader: drawn boards of an art of their own, path-traced frames, hands, and pictures that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibration.palette import named
from companion.census.moguli import facts_of, players_colours, profile_of
from devices.contract import Frame
from tests.vision import drawn
from vision.contract import VisionError
from vision.reading import SURE_LEAD, Reading
from vision.tiles import TileReader

FRAMES = Path(__file__).parent / "frames"


def wrong(reading: Reading, truth: dict[str, str]) -> list[str]:
    return [k for k, v in truth.items() if reading.facts[k].sure(SURE_LEAD) and reading.facts[k].best != v]


def asked(reading: Reading, truth: dict[str, str]) -> list[str]:
    return [k for k in truth if not reading.facts[k].sure(SURE_LEAD)]


@pytest.mark.parametrize("seed", range(6))
def test_a_drawn_board_is_read_however_it_lies(seed: int) -> None:
    truth = drawn.look(seed)
    view = drawn.camera(roll_deg=61.0 * seed, tilt_deg=5.0 * seed)
    image = drawn.picture(truth, view, sloppy=drawn.Sloppy(2.0, 4.0), seed=seed)
    reading = TileReader(drawn.profile()).read(drawn.frame(image))
    assert not reading.troubles
    assert wrong(reading, truth) == []
    assert len(asked(reading, truth)) <= 2


@pytest.mark.parametrize("change", ["dark", "bright", "warm", "blurred", "noisy", "compressed", "small"])
def test_in_bad_pictures_errors_become_questions(change: str) -> None:
    truth, view = drawn.look(3), drawn.camera(25)
    image = drawn.picture(truth, view, sloppy=drawn.Sloppy(1.0, 2.0)).astype(np.float32)
    rng = np.random.default_rng(1)
    image = {
        "dark": lambda: image * 0.2 + rng.normal(0, 3, image.shape),
        "bright": lambda: image * 1.5,
        "warm": lambda: image * np.array([0.55, 0.9, 1.2]),
        "blurred": lambda: cv2.GaussianBlur(image, (0, 0), 2.0),
        "noisy": lambda: image + rng.normal(0, 18, image.shape),
        "compressed": lambda: cv2.imdecode(cv2.imencode(".jpg", image.astype(np.uint8), [1, 40])[1], 1),
        "small": lambda: cv2.resize(image, (800, 450), interpolation=cv2.INTER_AREA),
    }[change]()
    reading = TileReader(drawn.profile()).read(drawn.frame(np.clip(image, 0, 255).astype(np.uint8)))
    assert reading.board_found
    assert wrong(reading, truth) == []


def test_what_lies_under_a_hand_is_not_told() -> None:
    truth, view = drawn.look(4), drawn.camera(0, 15)
    image = drawn.hand(drawn.picture(truth, view), view, (150.0, 200.0))
    reading = TileReader(drawn.profile()).read(drawn.frame(image))
    assert wrong(reading, truth) == []
    assert {"path:b4", "path:c4", "triangle:c4", "pawn:b4"} <= set(asked(reading, truth))
    assert reading.facts["path:b4"].hidden
    assert reading.facts["path:b4"].reason == "hand"
    assert not any(reading.facts[f"path:{c}"].hidden for c in ("e1", "e7", "a1", "a7"))


def test_a_game_is_followed_and_a_hand_hides_only_what_it_covers() -> None:
    truth, view = drawn.look(5), drawn.camera(3)
    reader = TileReader(drawn.profile())
    assert wrong(reader.read(drawn.frame(drawn.picture(truth, view, seed=0))), truth) == []
    reader.agree(truth)
    covered = drawn.hand(drawn.picture(truth, view, seed=0, noise=4.0), view, (60.0, 200.0))
    assert wrong(reader.read(drawn.frame(covered, 1, 1.0)), truth) == []
    after = {**truth, "path:b2": next(p for p in drawn.PATHS if p != truth["path:b2"])}
    empty = next(k for k, v in truth.items() if k.startswith("pawn:") and v == "-")
    taken = next(k for k, v in truth.items() if k.startswith("pawn:") and v == "1")
    after |= {taken: "-", empty: "1"}
    reading = reader.read(drawn.frame(drawn.picture(after, view, seed=0, noise=2.0), 2, 2.0))
    assert wrong(reading, after) == []
    assert asked(reading, after) == []


def test_light_that_changes_is_no_change_of_the_table() -> None:
    truth, view = drawn.look(6), drawn.camera(0)
    reader, image = TileReader(drawn.profile()), drawn.picture(truth, view)
    before = reader.read(drawn.frame(image))
    dimmed = np.clip(image * np.array([0.6, 0.7, 0.75]), 0, 255).astype(np.uint8)
    after = reader.read(drawn.frame(dimmed, 1, 1.0))
    assert {k: f.best for k, f in after.facts.items()} == {k: f.best for k, f in before.facts.items()}
    assert asked(after, truth) == []


@pytest.mark.parametrize(
    "colours", [((235, 235, 235), (60, 50, 190)), ((120, 120, 120), (38, 38, 38)), ((30, 30, 30), (90, 90, 90))]
)
def test_without_names_of_colours_pawns_are_learned_on_the_starting_rows(
    colours: tuple[tuple[int, int, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "PAWNS", dict(zip("12", colours, strict=True)))
    truth = dict(drawn.look(7, pawns=0))
    for column in "abcde":
        truth |= {f"pawn:{column}1": "1", f"pawn:{column}7": "2"}
    reader = TileReader(drawn.profile(palette={}))
    view = drawn.camera(12)
    assert asked(reader.read(drawn.frame(drawn.picture(truth, view))), truth) == []
    later = {**truth, "pawn:c1": "-", "pawn:c4": "1", "pawn:d7": "-", "pawn:d5": "2"}
    reading = reader.read(drawn.frame(drawn.picture(later, view, seed=0), 1, 1.0))
    assert wrong(reading, later) == []
    assert asked(reading, later) == []


@pytest.mark.parametrize("pure", [(6, 4, 205), (205, 4, 30), (10, 150, 4)])
def test_a_pawn_of_a_purer_colour_than_its_name_is_known_by_the_other_colour(
    pure: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "PAWNS", {"1": (235, 235, 235), "2": pure})
    name = {0: "blue", 1: "green", 2: "red"}[int(np.argmax(pure))]
    truth = dict(drawn.look(9))
    reader = TileReader(drawn.profile(palette={"pawn1": named("white"), "pawn2": named(name)}))
    reading = reader.read(drawn.frame(drawn.picture(truth, drawn.camera())))
    assert wrong(reading, truth) == []
    assert asked(reading, truth) == []


def test_with_unnamed_colours_nobody_is_guessed() -> None:
    truth = drawn.look(8)
    reading = TileReader(drawn.profile(palette={})).read(drawn.frame(drawn.picture(truth, drawn.camera())))
    pawns = [k for k, v in truth.items() if k.startswith("pawn:") and v != "-"]
    assert all(not reading.facts[k].sure(SURE_LEAD) for k in pawns)
    assert wrong(reading, truth) == []


@pytest.mark.parametrize("name", ["000", "009", "010", "020"])
def test_path_traced_frames(name: str) -> None:
    truth = json.loads((FRAMES / f"{name}.json").read_text(encoding="utf-8"))
    image = cv2.imread(str(FRAMES / f"{name}.jpg"))
    profile = profile_of(truth, players_colours([truth]))
    reading = TileReader(profile).read(Frame(image, 0, 0.0, name))  # type: ignore[arg-type]
    facts = facts_of(truth)
    assert wrong(reading, {k: v for k, v, _ in facts}) == []
    covered = {k: v for k, v, cover in facts if cover > 0.02}
    assert len(asked(reading, covered)) >= 0.98 * len(covered)
    visible = {k: v for k, v, cover in facts if cover <= 0.02}
    assert len(asked(reading, visible)) <= (0.2 if covered else 0.02) * len(visible)


def test_drawing_changes_a_copy_only() -> None:
    truth, view = drawn.look(9), drawn.camera()
    image = drawn.picture(truth, view)
    image.flags.writeable = False
    reader = TileReader(drawn.profile())
    shown = reader.draw(image, reader.read(drawn.frame(image)))
    assert shown.shape == image.shape
    assert (shown != image).any()


PICTURES = {
    "black": np.zeros((720, 1280, 3), np.uint8),
    "white": np.full((720, 1280, 3), 255, np.uint8),
    "noise": np.random.default_rng(0).integers(0, 256, (480, 640, 3), dtype=np.uint8),
    "one pixel": np.zeros((1, 1, 3), np.uint8),
    "empty": np.zeros((0, 0, 3), np.uint8),
    "a line": np.zeros((1, 5000, 3), np.uint8),
    "floats": np.zeros((480, 640, 3), np.float64),
    "two channels": np.zeros((480, 640, 2), np.uint8),
    "huge": np.zeros((4000, 6000, 3), np.uint8),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_without_a_board_says_why(name: str) -> None:
    reading = TileReader(drawn.profile()).read(Frame(PICTURES[name], 4, 2.0, name))  # type: ignore[arg-type]
    assert not reading.facts
    assert len(reading.troubles) == 1
    assert reading.troubles[0].startswith("vision.")
    assert (reading.frame_number, reading.time_s) == (4, 2.0)


def test_a_transparent_picture_is_read_and_a_grey_one_is_named() -> None:
    truth, view = drawn.look(1), drawn.camera()
    image = drawn.picture(truth, view)
    with_alpha = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    assert wrong(TileReader(drawn.profile()).read(drawn.frame(with_alpha)), truth) == []
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    for colourless in (grey, cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR)):
        reading = TileReader(drawn.profile()).read(drawn.frame(colourless))  # type: ignore[arg-type]
        assert reading.troubles == ("vision.no_colour",)
        assert not reading.facts


def test_large_pictures_are_read() -> None:
    truth, view = drawn.look(2), drawn.camera(30, width=3840, height=2160)
    assert wrong(TileReader(drawn.profile()).read(drawn.frame(drawn.picture(truth, view))), truth) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_torn_and_mangled_pictures_never_raise(data: st.DataObject) -> None:
    truth, view = drawn.look(0), drawn.camera(width=640, height=360)
    image = drawn.picture(truth, view)
    top = data.draw(st.integers(0, 300))
    left = data.draw(st.integers(0, 500))
    kind = data.draw(st.sampled_from(["crop", "torn", "grid", "swapped"]))
    if kind == "crop":
        image = image[top:, left:]
    elif kind == "torn":
        image[top:] = data.draw(st.integers(0, 255))
    elif kind == "grid":
        image[:, :: data.draw(st.integers(2, 9))] = 0
    else:
        image = np.ascontiguousarray(image[::-1])
    reader = TileReader(drawn.profile())
    for number in range(2):
        reading = reader.read(drawn.frame(image, number, float(number)))
        assert all(np.isfinite(f.log_likelihoods).all() for f in reading.facts.values())


def test_a_mirrored_board_is_not_read_as_something_else() -> None:
    truth = drawn.look(0)
    mirrored = np.ascontiguousarray(drawn.picture(truth, drawn.camera())[:, ::-1])
    assert not TileReader(drawn.profile()).read(drawn.frame(mirrored)).facts


def test_tapped_corners_on_an_empty_table_give_no_facts_that_are_sure() -> None:
    profile = drawn.profile(
        board=replace(drawn.BOARD, markers=None),
        corners_px=((300.0, 600.0), (800.0, 600.0), (780.0, 100.0), (320.0, 100.0)),
    )
    rng = np.random.default_rng(3)
    table = np.clip(110 + rng.normal(0, 8, (720, 1280, 3)), 0, 255).astype(np.uint8)
    reading = TileReader(profile).read(drawn.frame(table))
    stated = [k for k, f in reading.facts.items() if f.sure(SURE_LEAD)]
    assert stated == []


def test_a_board_that_is_no_tile_board_is_refused() -> None:
    with pytest.raises(VisionError, match="door_height"):
        TileReader(drawn.profile(board=replace(drawn.BOARD, sizes_mm={"tile": 58.0})))
