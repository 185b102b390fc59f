"""Dominoes read on simulated tables; bad pictures; corners and overlaps."""

from __future__ import annotations

import math
from collections import Counter

import cv2
import numpy as np
import pytest

from devices.contract import Frame, Image
from devices.simulated.dominoes import DominoOptions, DominoTruth, domino_scene
from vision.domino_choice import FACE_DOWN, Spot, Verdict, apart
from vision.domino_halves import HALF_PX, MARGIN, half_maps
from vision.dominoes import DominoReader, facts_of
from vision.reading import SURE_LEAD, Piece, Reading


def look(image: Image, reader: DominoReader | None = None) -> Reading:
    return (reader or DominoReader()).read(Frame(image, 1, 0.0, "test:"))


def compare(reading: Reading, truth: DominoTruth, size: tuple[int, int]) -> Counter[str]:
    """Halves right, asked, wrong or missed; face-down tiles stated; stated halves where no tile lies."""
    counts: Counter[str] = Counter()
    left = list(reading.pieces)
    for tile, quad in zip(truth.tiles, truth.corners_px, strict=True):
        if quad.min() < 2 or (quad.max(axis=0) > np.array(size) - 3).any():
            left = [p for p in left if math.dist(p.xy, quad.mean(axis=0)) > 0.5 * np.linalg.norm(quad[3] - quad[0])]
            continue
        length = float(np.linalg.norm(quad[3] - quad[0]))
        near = [p for p in left if math.dist(p.xy, quad.mean(axis=0)) < 0.25 * length]
        if not near:
            counts["missed"] += 1
            continue
        piece = near[0]
        left.remove(piece)
        if tile.halves is None:
            stated = any(piece.facts[k].sure(SURE_LEAD) for k in ("left", "right"))
            counts["face down stated" if stated else "face down refused"] += 1
            continue
        first = np.array(piece.outline[0]) + np.array(piece.outline[1])
        same = np.linalg.norm(first / 2 - quad[:2].mean(axis=0)) < np.linalg.norm(first / 2 - quad[2:].mean(axis=0))
        for key, value in zip(("left", "right") if same else ("right", "left"), tile.halves, strict=True):
            fact = piece.facts[key]
            counts["asked" if not fact.sure(SURE_LEAD) else "right" if fact.best == str(value) else "wrong"] += 1
    counts["phantom"] += sum(stated_somewhere(p) for p in left)
    return counts


def stated_somewhere(piece: Piece) -> bool:
    return any(piece.facts[k].sure(SURE_LEAD) for k in ("left", "right"))


def test_simulated_tiles_of_all_makes_are_read_or_asked_hardly_ever_wrong() -> None:
    reader, counts = DominoReader(), Counter[str]()
    for seed in range(30):
        options = DominoOptions(tiles=(2, 9), tile_px=(60, 110), tilt_deg=(0, 30))
        image, truth = domino_scene(np.random.default_rng([8, seed]), options)
        counts += compare(look(image, reader), truth, (384, 384))
    halves = counts["right"] + counts["asked"] + counts["wrong"] + 2 * counts["missed"]
    assert counts["right"] > 0.8 * halves, counts
    assert counts["wrong"] + counts["phantom"] <= 0.01 * halves, counts
    assert counts["face down stated"] == 0, counts


def bad_pictures() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    empty, _ = domino_scene(np.random.default_rng(21), DominoOptions(tiles=(0, 0), line=0.0, strangers=1.0))
    tiles, _ = domino_scene(np.random.default_rng(22), DominoOptions(tiles=(4, 4)))
    return {
        "black": np.zeros((480, 640, 3), np.uint8),
        "white": np.full((480, 640, 3), 255, np.uint8),
        "noise": rng.integers(0, 256, (480, 640, 3), dtype=np.uint8),
        "blurred": cv2.GaussianBlur(tiles, (0, 0), 25),
        "grey": cv2.cvtColor(empty, cv2.COLOR_BGR2GRAY),
        "four channels": cv2.cvtColor(empty, cv2.COLOR_BGR2BGRA),
        "huge": cv2.resize(empty, (6000, 4000)),
        "tiny": np.zeros((3, 2, 3), np.uint8),
        "empty": np.zeros((0, 0, 3), np.uint8),
        "no dominoes": empty,
    }


@pytest.mark.parametrize("name", bad_pictures())
def test_a_picture_without_tiles_gives_no_tiles_and_says_why(name: str) -> None:
    reading = look(bad_pictures()[name])
    assert not any(stated_somewhere(p) for p in reading.pieces)
    assert reading.pieces or reading.troubles
    assert not reading.facts or not reading.facts["line:order"].sure(SURE_LEAD)


def test_both_halves_are_squared_up_with_the_bar_to_the_right() -> None:
    quad = np.array([[10, 10], [10, 50], [90, 50], [90, 10]], np.float32)
    side = HALF_PX / (1 + 2 * MARGIN)
    bar = np.array([50.0, 30.0, 1.0])
    for m in half_maps(quad):
        at = m @ bar
        assert np.allclose(at[:2] / at[2], (MARGIN * side + side - 0.5, (HALF_PX - 1) / 2), atol=0.1)


def verdict(x: float, tile: float, value: int = 3, chance: float = 0.9999) -> Verdict:
    quad = np.array([[x, 0], [x, 20], [x + 40, 20], [x + 40, 0]], np.float32)
    p = np.full(9, (1 - chance) / 8)
    p[value] = chance
    return Verdict(Spot(quad, tile), np.log(np.stack([p, p])).astype(np.float32))


def test_of_two_tiles_in_each_other_the_likelier_stays_and_neighbours_both_do() -> None:
    near, same, beside = verdict(0, 0.99), verdict(10, 0.7), verdict(41, 0.8)
    assert apart([same, near, beside]) == [near, beside]


def test_doubt_about_the_tile_is_doubt_about_its_numbers() -> None:
    assert facts_of(verdict(0, 0.99999, chance=0.99999))["left"].sure(SURE_LEAD)
    assert not facts_of(verdict(0, 0.6, chance=0.99999))["left"].sure(SURE_LEAD)


def test_a_tile_face_down_shows_no_number() -> None:
    facts = facts_of(verdict(0, 0.99999, FACE_DOWN))
    assert facts["face"].best == "down"
    assert not facts["left"].sure(SURE_LEAD)
    assert not facts["right"].sure(SURE_LEAD)
