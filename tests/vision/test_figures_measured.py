"""Figures by the dozen: nearly all are named at 2 px/mm, and strangers are not taken for enrolled ones."""

from __future__ import annotations

import math

import numpy as np

from calibration.profile import TableProfile
from companion.census import moogui as census
from companion.census.tally import decoded
from devices.contract import Frame
from devices.simulated.arena import ArenaLook, Lying
from tests.shared import shared_dir
from tests.vision.test_figures import BOARD, KNOWN, camera, enrolled, read, stated
from vision.figure_pieces import UNKNOWN
from vision.figures import FigureReader


def test_nearly_all_simulated_figures_are_named_with_their_faces() -> None:
    reader = FigureReader(TableProfile(BOARD), [enrolled(a) for a in KNOWN])
    rng = np.random.default_rng(78)
    count = right = 0
    for _ in range(6):
        lying = [
            Lying(art, str(rng.integers(1, 7)), (x + rng.uniform(-60, 60), y + rng.uniform(-60, 60)), float(turn))
            for art, (x, y), turn in zip(
                KNOWN, ((150, 150), (430, 160), (160, 430), (440, 440)), rng.uniform(-180, 180, 4), strict=False
            )
        ]
        view = camera(float(rng.uniform(0, 30)), float(rng.choice([-97.0, 5.0, 86.0, 180.0])))
        reading = read(reader, lying, ArenaLook(floor=int(rng.integers(50))), view)
        for figure in lying:
            near = [p for p in reading.pieces if math.dist(p.xy, figure.xy) < 6.0]
            told = (stated(near[0].facts["figure"]), stated(near[0].facts["face"])) if near else ("?", "?")
            assert told[0] in (figure.art.name, "?") and told[1] in (figure.up, "?")
            right += told == (figure.art.name, figure.up)
            count += 1
    assert right >= 0.97 * count


def test_rendered_strangers_are_not_taken_for_enrolled_figures() -> None:
    folder = shared_dir() / "data" / "pathtraced" / "moogui"
    figures, sizes = census.catalogue(folder)
    count = taken = 0
    for number, (path, truth) in enumerate(census.shots(folder)):
        picture, _ = decoded(path)
        assert picture is not None
        there = sorted({str(f["id"]) for f in truth["figures"]})
        left_out = there[number % len(there)]
        reader = FigureReader(census.profile_of(truth, sizes), [f for f in figures if f.name != left_out])
        pieces = reader.read(Frame(picture, 0, 0.0, "")).pieces
        for figure in truth["figures"]:
            if figure["id"] == left_out:
                count += 1
                near = [p for p in pieces if math.dist(p.xy, figure["center_mm"][:2]) < 30.0]
                taken += any(stated(p.facts["figure"]) not in (UNKNOWN, "?") for p in near)
    assert taken <= 0.02 * count
