"""The line on a domino table, followed from picture to picture; hands beside it; what covers and what goes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from devices.contract import Frame
from devices.simulated.domino_table import DominoTable
from devices.simulated.world import SLOPPY
from vision.contract import VisionError
from vision.domino_ground import Ground
from vision.domino_table import MORE_MM2, DominoTableReader
from vision.reading import SURE_LEAD, Reading

BOARD = load_board("muggins")
KEYS = {**{f"line:{n}": "-" for n in range(-27, 28)}, "hand:0": "-", "hand:1": "-"}


class Seat:
    """A table and its reader; every change is agreed on when it was read."""

    def __init__(self, seed: int, light: str = "diffuse", **more: object) -> None:
        self.table = DominoTable(KEYS, BOARD, seed, light=light, **more)  # type: ignore[arg-type]
        self.reader = DominoTableReader(TableProfile(BOARD))
        self.number = 0
        self.read()

    def read(self) -> Reading:
        self.number += 1
        return self.reader.read(self.table.stage.frame(self.number))

    def lay(self, **changes: str) -> Reading:
        self.table.perform({key.replace("_", ":").replace("minus", "-"): v for key, v in changes.items()})
        while self.table.stage.busy:
            self.table.stage.advance(0.2)
        return self.read()

    def agree(self) -> None:
        self.reader.agree(self.table.look())


def said(reading: Reading) -> dict[str, str]:
    return {key: fact.best for key, fact in reading.facts.items() if fact.best != "-" and not fact.blank}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_tile_by_tile_the_line_is_followed_to_both_sides(seed: int) -> None:
    seat = Seat(seed, manner=SLOPPY) if seed == 3 else Seat(seed)
    for key, value in (
        ("line_0", "1-4"), ("line_minus1", "1-1"), ("line_1", "4-4"), ("line_2", "4-3"), ("line_minus2", "6-1"),
        ("line_3", "3-6"), ("line_4", "6-6"), ("line_5", "6-2"), ("line_6", "2-0"), ("line_7", "0-5"),
    ):  # fmt: skip
        reading = seat.lay(**{key: value})
        truth = {k: v for k, v in seat.table.look().items() if v != "-"}
        doubtful = {k for k, f in reading.facts.items() if not f.sure(SURE_LEAD)}
        assert said(reading).keys() == truth.keys()
        assert {k: v for k, v in said(reading).items() if truth[k] != v}.keys() <= doubtful
        seat.agree()


def test_a_tile_that_does_not_fit_is_read_as_it_is() -> None:
    seat = Seat(5)
    seat.lay(line_0="1-4")
    seat.agree()
    reading = seat.lay(line_1="5-2")
    assert said(reading) == {"line:0": "1-4", "line:1": "5-2"}


def test_the_number_of_a_tile_is_sure_or_has_no_lead() -> None:
    seat = Seat(6, "window")
    for key, value in (("line_0", "2-2"), ("line_1", "2-5"), ("line_minus1", "3-2")):
        reading = seat.lay(**{key: value})
        for name, fact in reading.facts.items():
            assert not fact.sure(SURE_LEAD) or fact.best == seat.table.look()[name]
        seat.agree()


def test_a_tile_taken_away_leaves_bare_ground() -> None:
    seat = Seat(7)
    seat.lay(line_0="2-4")
    seat.agree()
    seat.lay(line_1="4-6")
    seat.agree()
    reading = seat.lay(line_1="-")
    fact = reading.facts["line:1"]
    assert (fact.best, fact.hidden) == ("-", False)


@pytest.mark.parametrize("side", [1, -1])
def test_the_bare_table_is_known_again_where_another_lamp_lights_it_from_elsewhere(side: int) -> None:
    seat = Seat(7)
    frame, camera = seat.table.stage.frame(70), seat.reader._tiles.camera
    assert camera is not None
    ground = Ground(BOARD)
    falls_off = np.linspace(1.6, 0.6, frame.bgr.shape[1])[None, ::side, None]
    ground.look(np.clip(frame.bgr * falls_off, 0, 255).astype(np.uint8), camera)
    ground.keep([])
    covered = frame.bgr.copy()
    x, y = (int(v) for v in camera.project(np.array([(200.0, 0.0, 0.0)]))[0])
    covered[y - 30 : y + 30, x - 30 : x + 30] = 255 - covered[y - 30 : y + 30, x - 30 : x + 30]
    ground.look(covered, camera)
    assert [spot for spot in (-300.0, -150.0, 0.0, 100.0, 300.0) if not ground.bare((spot, 0.0))] == []
    assert not ground.bare((200.0, 0.0))


def test_a_strip_that_has_left_the_picture_says_nothing_of_a_hand() -> None:
    seat = Seat(8)
    seat.lay(line_0="2-4")
    assert not seat.read().notices
    frame = seat.table.stage.frame(90)
    for n, share in enumerate((0.05, 0.1, 0.15)):  # the camera sinks, and two of the markers leave its picture
        shift = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -share * frame.bgr.shape[0]]], np.float32)
        pushed = np.asarray(cv2.warpAffine(frame.bgr, shift, frame.bgr.shape[1::-1]), np.uint8)
        reading = seat.reader.read(Frame(pushed, 91 + n, 91.0 + n, ""))
    assert reading.notices == ("vision.place_out_of_picture",)
    hands = [reading.facts["hand:0"], reading.facts["hand:1"]]
    assert sorted(fact.reason for fact in hands) == ["", "out_of_picture"]
    assert all(fact.hidden == bool(fact.reason) for fact in hands)


def test_a_tile_under_a_hand_is_hidden_not_gone() -> None:
    seat = Seat(8)
    seat.lay(line_0="2-4")
    seat.agree()
    frame = seat.table.stage.frame(90)
    picture = frame.bgr.copy()
    h, w = picture.shape[:2]
    picture[int(0.42 * h) : int(0.58 * h), int(0.42 * w) : int(0.58 * w)] = (110, 140, 200)
    reading = seat.reader.read(Frame(picture, 91, 91.0, ""))
    assert reading.facts["line:0"].hidden or reading.facts["line:0"].best == "2-4"


def test_a_shown_hand_is_read_in_its_owners_strip_and_nowhere_else() -> None:
    shown = {"3-5", "2-6", "4-6"}
    seat = Seat(9)
    seat.lay(line_0="2-4")
    seat.agree()
    seat.lay(hand_1=" ".join(sorted(shown)))
    reading = seat.read()
    assert set(reading.facts["hand:1"].best.split()) == shown
    assert reading.facts["hand:0"].best == "-"
    assert said(reading).keys() == {"line:0", "hand:1"}


@pytest.mark.parametrize("seed", range(30, 46))
def test_a_shown_hand_is_right_or_unsure_also_where_a_tile_is_not_seen(seed: int) -> None:
    shown = {"0-1", "3-5", "4-6"} if seed % 2 else {"1-1", "0-2", "5-6", "2-3"}
    table = Seat(seed)
    table.lay(line_0="2-4")
    table.agree()
    table.lay(hand_1=" ".join(sorted(shown)))
    hand = table.read().facts["hand:1"]
    assert hand.hidden or not hand.sure(SURE_LEAD) or set(hand.best.split()) == shown


def test_a_cleared_table_begins_a_new_line() -> None:
    seat = Seat(10)
    seat.lay(line_0="2-4")
    seat.agree()
    seat.lay(line_0="-")
    seat.agree()
    assert said(seat.lay(line_0="5-3")) == {"line:0": "5-3"}


def test_a_picture_without_the_table_is_named() -> None:
    reader = DominoTableReader(TableProfile(BOARD))
    frame = DominoTable(KEYS, BOARD, 1).stage.frame(0)
    reading = reader.read(Frame(frame.bgr[:200, 300:900].copy(), 0, 0.0, ""))
    assert reading.troubles and not reading.facts


def test_a_table_without_strips_for_hands_cannot_be_read() -> None:
    with pytest.raises(VisionError, match="hands_mm"):
        DominoTableReader(TableProfile(load_board("maulwurf")))


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_double_blank_that_continues_the_line_is_not_overlooked(seed: int) -> None:
    seat = Seat(seed)
    for key, value in (("line_0", "4-5"), ("line_1", "5-0"), ("line_2", "0-0"), ("line_3", "0-6")):
        reading = seat.lay(**{key: value})
        fact = reading.facts[key.replace("_", ":")]
        assert fact.best == value or not fact.sure(SURE_LEAD)
        assert fact.best != "-"
        seat.agree()
    facts = seat.read().facts
    assert facts["line:2"].best == "0-0" and not facts["line:2"].hidden


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_a_line_cleared_unseen_before_the_next_opening_is_gone(seed: int) -> None:
    seat = Seat(seed)
    for key, value in (("line_0", "1-4"), ("line_minus1", "1-1"), ("line_1", "4-4"), ("line_2", "4-3")):
        seat.lay(**{key: value})
        seat.agree()
    reading = seat.lay(line_minus1="-", line_1="-", line_2="-", line_0="5-5")
    assert said(reading) == {"line:0": "5-5"}
    assert all(reading.facts[f"line:{n}"].best == "-" and not reading.facts[f"line:{n}"].hidden for n in (-1, 1, 2))


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_a_tile_taken_off_again_leaves_ground_that_was_clearly_not_the_tile(seed: int) -> None:
    seat = Seat(seed)
    for key, value in (("line_0", "1-4"), ("line_1", "4-4"), ("line_2", "4-3")):
        seat.lay(**{key: value})
        seat.agree()
    fact = seat.lay(line_2="-").facts["line:2"]
    assert fact.best == "-" and fact.lead > 10.0


@pytest.mark.parametrize("shift_px", [-3, 3])
def test_the_edges_of_markers_beside_a_hand_are_no_tiles_after_a_shift(shift_px: int) -> None:
    seat = Seat(3)
    frame = seat.table.stage.frame(9)
    seat.reader.read(frame)
    camera, ground = seat.reader._tiles.camera, Ground(BOARD)
    assert camera is not None
    ground.look(frame.bgr, camera)
    ground.keep([])
    ground.look(np.roll(frame.bgr, shift_px, axis=1), camera)
    for box in BOARD.grid["hands_mm"].values():
        assert ground.covered_mm2(tuple(box), []) < MORE_MM2
