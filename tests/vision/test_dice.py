"""Dice read on simulated tables; bad pictures; the small pieces the reader is made of."""

from __future__ import annotations

import math
from collections import Counter

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.contract import Frame, Image
from devices.simulated.tray import TrayOptions, TrayTruth, tray_scene
from vision.dice import DiceReader, facts_of
from vision.dice_eyes import OUTLINED
from vision.dice_places import COCKED, NONE
from vision.die_outline import outlined
from vision.pips import Found, Pyramid, net_bytes, square_map, unpacked
from vision.reading import SURE_LEAD, Piece, Reading

MODELS = ("dice_finder", "dice_judge", "dice_second", "domino_finder", "domino_squarer", "domino_halves")


def look(image: Image, reader: DiceReader | None = None) -> Reading:
    return (reader or DiceReader()).read(Frame(image, 1, 0.0, "test:"))


def stated(pieces: tuple[Piece, ...]) -> list[tuple[tuple[float, float], str]]:
    return [(p.xy, p.facts["value"].best) for p in pieces if p.facts["value"].sure(SURE_LEAD)]


def compare(reading: Reading, truth: TrayTruth) -> Counter[str]:
    """Right, asked, wrong values; cocked dice stated or refused; phantoms."""
    counts: Counter[str] = Counter()
    left = list(reading.pieces)
    for value, box in zip(truth.values, truth.boxes_px, strict=True):
        middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        side = float((box[2] - box[0] + box[3] - box[1]) / 2)
        near = [p for p in left if math.dist(p.xy, middle) < 0.4 * side]
        if not near:
            counts["missed"] += 1
            continue
        piece = min(near, key=lambda p: math.dist(p.xy, middle))
        left.remove(piece)
        fact = piece.facts["value"]
        if value is None:
            counts["cocked stated" if fact.sure(SURE_LEAD) else "cocked refused"] += 1
        elif not fact.sure(SURE_LEAD):
            counts["asked"] += 1
        else:
            counts["right" if fact.best == str(value) else "wrong"] += 1
    counts["phantom"] += sum(p.facts["value"].sure(SURE_LEAD) for p in left)
    return counts


def test_simulated_dice_of_all_makes_are_read_or_asked_hardly_ever_wrong() -> None:
    reader, counts = DiceReader(), Counter[str]()
    for seed in range(40):
        options = TrayOptions(dice=(3, 8), cocked=0.15, die_px=(28, 60), tilt_deg=(0, 30), hand=0.0)
        image, truth = tray_scene(np.random.default_rng([5, seed]), options)
        counts += compare(look(image, reader), truth)
    values = counts["right"] + counts["asked"] + counts["wrong"] + counts["missed"]
    assert counts["right"] > 0.7 * values, counts
    assert counts["wrong"] + counts["phantom"] <= 0.015 * values, counts
    assert counts["cocked refused"] > 10 * counts["cocked stated"], counts


@given(st.integers(0, 2**31), st.sampled_from([0, 1, 2]))
@settings(max_examples=8, deadline=None)
def test_turning_the_picture_changes_no_stated_value(seed: int, quarter: int) -> None:
    options = TrayOptions(dice=(2, 4), cocked=0.0, die_px=(35, 60), tilt_deg=(0, 20), hand=0.0, harsh=0.0)
    image, _ = tray_scene(np.random.default_rng([6, seed]), options)
    turned = np.ascontiguousarray(np.rot90(image, quarter + 1))
    reader = DiceReader()
    one, two = (
        Counter(v for _, v in stated(look(image, reader).pieces)),
        Counter(v for _, v in stated(look(turned, reader).pieces)),
    )
    unsure = sum(not p.facts["value"].sure(SURE_LEAD) for p in [*look(image).pieces, *look(turned).pieces])
    assert sum((one - two).values()) + sum((two - one).values()) <= unsure


def test_the_same_picture_gives_the_same_reading() -> None:
    image, _ = tray_scene(np.random.default_rng(3), TrayOptions(dice=(4, 4)))
    assert look(image) == look(image)


def bad_pictures() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    cloth, _ = tray_scene(np.random.default_rng(11), TrayOptions(dice=(0, 0), tray=1.0, strangers=1.0))
    dice, _ = tray_scene(np.random.default_rng(12), TrayOptions(dice=(3, 3)))
    return {
        "black": np.zeros((480, 640, 3), np.uint8),
        "white": np.full((480, 640, 3), 255, np.uint8),
        "noise": rng.integers(0, 256, (480, 640, 3), dtype=np.uint8),
        "blurred": cv2.GaussianBlur(dice, (0, 0), 25),
        "grey": cv2.cvtColor(cloth, cv2.COLOR_BGR2GRAY),
        "four channels": cv2.cvtColor(cloth, cv2.COLOR_BGR2BGRA),
        "huge": cv2.resize(cloth, (6000, 4000)),
        "tiny": np.zeros((3, 2, 3), np.uint8),
        "one pixel wide": np.zeros((400, 1, 3), np.uint8),
        "empty": np.zeros((0, 0, 3), np.uint8),
        "no dice": cloth,
        "stripes": np.tile(np.array([0, 0, 255, 255], np.uint8).repeat(8), (480, 20))[:, :, None].repeat(3, axis=2),
    }


@pytest.mark.parametrize("name", bad_pictures())
def test_a_picture_without_dice_gives_no_dice_and_says_why(name: str) -> None:
    reading = look(bad_pictures()[name])
    assert stated(reading.pieces) == []
    assert reading.pieces or reading.troubles


def test_half_a_picture_is_read_as_far_as_it_goes() -> None:
    image, truth = tray_scene(np.random.default_rng(12), TrayOptions(dice=(3, 3), cocked=0.0, strangers=0.0))
    cut = image.copy()
    cut[192:] = 128
    counts = compare(look(cut), truth)
    assert counts["wrong"] == counts["phantom"] == 0


def test_what_speaks_for_leaning_or_for_no_die_speaks_for_no_value() -> None:
    for other in (COCKED, NONE):
        p = np.full(8, 1e-6)
        p[3], p[other] = 0.9, 0.1
        facts = facts_of(np.log(p / p.sum()).astype(np.float32))
        assert facts["value"].best == "4"
        assert not facts["value"].sure(SURE_LEAD)
    sure = np.full(8, 1e-5)
    sure[3] = 1.0
    assert facts_of(np.log(sure / sure.sum()).astype(np.float32))["value"].sure(SURE_LEAD)


@given(st.floats(20, 600), st.floats(20, 400), st.floats(10, 300), st.floats(0, 360))
def test_a_square_is_cut_out_about_its_middle(cx: float, cy: float, side: float, turn: float) -> None:
    m = square_map(cx, cy, side, turn, 56)
    assert np.allclose(m @ np.array([cx, cy, 1.0]), 27.5, atol=1e-2)
    assert math.isclose(float(np.linalg.norm(m[0, :2])), 56 / side, rel_tol=1e-4)


def test_a_patch_shows_the_same_place_from_every_level_of_the_pyramid() -> None:
    image = np.zeros((256, 256, 3), np.uint8)
    cv2.circle(image, (150, 90), 30, (255, 255, 255), -1)
    for side in (80.0, 160.0, 240.0):
        patch = Pyramid(image).patch(square_map(150, 90, side, 0.0, 40), (40, 40), side / 40)
        y, x = np.nonzero(patch[:, :, 0] > 128)
        assert abs(float(x.mean()) - 19.5) < 0.35
        assert abs(float(y.mean()) - 19.5) < 0.35


def test_a_die_has_an_outline_and_pips_on_a_plain_floor_have_none() -> None:
    floor = np.full((200, 200, 3), 205, np.uint8)
    for at in ((80, 80), (120, 120)):
        cv2.circle(floor, at, 9, (40, 40, 160), -1, cv2.LINE_AA)
    die = floor.copy()
    ring = cv2.boxPoints(((100, 100), (90, 90), 20)).round().astype(np.int32)
    cv2.polylines(die, [ring], True, (180, 180, 180), 3, cv2.LINE_AA)
    place = Found(100, 100, 116, 116, 1.0)
    assert outlined(Pyramid(floor), place) < OUTLINED < outlined(Pyramid(die), place)


def test_packed_cells_are_spread_row_by_row() -> None:
    packed = np.arange(8, dtype=np.float32).reshape(8, 1, 1)
    assert unpacked(packed).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_all_trained_files_together_are_small() -> None:
    assert sum(len(net_bytes(name)) for name in MODELS) < 5_000_000
