"""Figures where they are hard to see: in a lamp's mirror image, on a marker's paper, on bold floors, as they come to
rest. Never is one that lies there said to be surely absent, nor named wrongly."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.figure_prints import printable
from calibration.profile import TableProfile, load_board
from devices.contract import Frame, Image
from devices.simulated import arena, arena_table
from devices.simulated.arena import ArenaLook, FigureArt, Lying, camera_over, invented_figures, paint
from vision import figure_pieces, figures
from vision.figure_pieces import UNKNOWN
from vision.figure_table import FigureTableReader, enrolled, table_facts
from vision.figures import FigureReader
from vision.reading import SURE_LEAD, Reading
from vision.sampling import Floats

BOARD = load_board("moogui")
PRINTS = {p.name: p for p in printable(BOARD)}
CAMERA = camera_over(BOARD, 1440, 1080, 15.0, -90.0, 3.0, 880.0)
STRANGER = invented_figures(np.random.default_rng(3), 1)[0]
Y, X = np.mgrid[0:512, 0:512] * 2.0
"""The floor's texture, mm."""


def art(name: str) -> FigureArt:
    figure = PRINTS[name]
    assert figure.top is not None and figure.bottom is not None
    return FigureArt(name, figure.faces, figure.top, figure.bottom)


def picture_of(*lying: Lying, look: ArenaLook | None = None) -> Image:
    return paint(BOARD, CAMERA, lying, look or ArenaLook())


def mirrored(picture: Image, xy: tuple[float, float], levels: float, wide_mm: float = 30.0) -> Image:
    """The picture with a lamp's mirror image over a spot."""
    x, y = CAMERA.project(np.array([(*xy, 0.0)]))[0]
    scale = CAMERA.width / 1200.0
    v, u = np.mgrid[0 : CAMERA.height, 0 : CAMERA.width]
    shine = levels * np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * (wide_mm * scale) ** 2))
    return np.asarray(np.clip(picture + shine[..., None], 0, 255), dtype=np.uint8)


def reader() -> FigureTableReader:
    """One that has seen the bare arena."""
    made = FigureTableReader(TableProfile(BOARD))
    made.prepare()
    return made


@pytest.fixture(scope="module")
def experienced() -> FigureTableReader:
    made = reader()
    made.read(Frame(picture_of(), 0, 0.0, ""))
    return made


def read(by: FigureTableReader, picture: Image) -> Reading:
    return by.read(Frame(picture, 1, 0.0, ""))


def wrong(reading: Reading, truth: dict[str, str]) -> dict[str, str]:
    """What is stated of figures and not so."""
    facts = {name: reading.facts[f"figure:{name}"] for name in PRINTS}
    return {n: f.best for n, f in facts.items() if f.sure(SURE_LEAD) and f.best != truth.get(n, "-")}


def unsure(reading: Reading) -> list[str]:
    return [name for name in PRINTS if not reading.facts[f"figure:{name}"].sure(SURE_LEAD)]


class TestMirrorImage:
    @pytest.mark.parametrize("levels", [30.0, 50.0, 70.0, 140.0])
    @pytest.mark.parametrize("off", [(0.0, 0.0), (25.0, -10.0), (48.0, 20.0)])
    def test_a_figure_under_it_is_read(
        self, experienced: FigureTableReader, levels: float, off: tuple[float, float]
    ) -> None:
        picture = picture_of(
            Lying(art("ari"), "4", (330.0, 400.0), 35.0), Lying(art("koi"), "2", (150.0, 200.0), -60.0)
        )
        reading = read(experienced, mirrored(picture, (330.0 + off[0], 400.0 + off[1]), levels))
        assert wrong(reading, {"ari": "4", "koi": "2"}) == {}
        if levels <= 70.0:  # a stronger one may burn the print away
            assert unsure(reading) == []

    @pytest.mark.parametrize("levels", [40.0, 100.0])
    def test_alone_it_is_nothing(self, experienced: FigureTableReader, levels: float) -> None:
        reading = read(experienced, mirrored(picture_of(), (250.0, 300.0), levels))
        assert (reading.pieces, unsure(reading)) == ((), [])

    def test_a_stranger_under_it_is_not_named(self, experienced: FigureTableReader) -> None:
        picture = picture_of(Lying(STRANGER, "3", (330.0, 400.0), 35.0), Lying(art("koi"), "2", (150.0, 200.0), -60.0))
        reading = read(experienced, mirrored(picture, (330.0, 400.0), 70.0))
        assert wrong(reading, {"koi": "2"}) == {}
        assert {"ari", "bruma"} <= set(unsure(reading))


class TestStains:
    def stained(self, *lying: Lying) -> Image:
        """An ink blot that lies there all the time, under what else lies there."""
        picture = picture_of()
        spot = CAMERA.project(np.array([(300.0 + x, 250.0 + y, 0.0) for x, y in ((-24, -9), (24, -14), (20, 13))]))
        blot = cv2.fillPoly(np.zeros_like(picture[..., 0]), [np.rint(spot).astype(np.int32)], 255)
        below, above = picture_of(), picture_of(*lying)
        changed = (np.abs(above.astype(int) - below).max(axis=2) > 12)[..., None]
        return np.where(changed, above, np.where(blot[..., None] > 0, np.uint8(25), below)).astype(np.uint8)

    def test_one_that_was_always_there_is_no_figure(self) -> None:
        by = reader()
        for gain in (1.0, 0.8):
            reading = read(by, np.asarray(cv2.convertScaleAbs(self.stained(), alpha=gain), dtype=np.uint8))
            assert unsure(reading) == []

    def test_what_comes_to_lie_on_one_is_not_passed_over(self) -> None:
        by = reader()
        read(by, self.stained())
        reading = read(by, self.stained(Lying(STRANGER, "3", (300.0, 250.0), 80.0)))
        assert wrong(reading, {}) == {}
        assert {"ari", "bruma"} <= set(unsure(reading))


@pytest.mark.parametrize(
    ("xy", "turn"), [((-18.0, 541.0), 174.0), ((607.0, 548.0), 86.0), ((-30.0, 20.0), 60.0), ((640.0, 45.0), -20.0)]
)
def test_a_figure_on_the_paper_of_a_marker_is_read(
    experienced: FigureTableReader, xy: tuple[float, float], turn: float
) -> None:
    reading = read(experienced, picture_of(Lying(art("bruma"), "4", xy, turn)))
    fact = reading.facts["figure:bruma"]
    assert fact.best in ("4", "out") and fact.log_likelihood("-") < -SURE_LEAD
    assert wrong(reading, {"bruma": fact.best}) == {}


PATTERNS = {
    "checks": lambda mm: ((X // mm + Y // mm) % 2) * 2 - 1,
    "stripes": lambda mm: ((X // mm) % 2) * 2 - 1,
    "tiles": lambda mm: np.sin(7.1 * (X // mm) + 3.3 * (Y // mm)),
}


@pytest.mark.parametrize("strong", [8.0, 16.0])
@pytest.mark.parametrize("mm", [10.0, 20.0, 35.0, 70.0])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_on_a_bold_floor_nothing_that_lies_there_is_surely_absent(
    monkeypatch: pytest.MonkeyPatch, experienced: FigureTableReader, pattern: str, mm: float, strong: float
) -> None:
    texture = np.asarray(strong * PATTERNS[pattern](mm), dtype=np.float32)
    monkeypatch.setattr(arena, "noise", lambda *_, **__: texture)
    truth = {"ari": "3", "bruma": "5", "dune": "immune"}
    lying = [
        Lying(art("ari"), "3", (120.0, 200.0), 20.0),
        Lying(art("bruma"), "5", (300.0, 420.0), -75.0),
        Lying(art("dune"), "top", (470.0, 180.0), 10.0),
    ]
    reading = read(experienced, picture_of(*lying, look=ArenaLook(floor=5)))
    assert wrong(reading, truth) == {}


def test_what_was_read_badly_before_is_searched_anew() -> None:
    by = reader()
    read(by, picture_of())
    for step in range(6):
        up = Lying(art("ari"), "1", (300.0, 300.0), 30.0 + 8.0 * step)
        read(by, picture_of(replace(up, lean_deg=7.0)))
        reading = read(by, picture_of(up))
        assert reading.facts["figure:ari"].best == "1"
        assert unsure(reading) == []


def test_an_unknown_prism_is_likeliest_what_it_looks_most_like(experienced: FigureTableReader) -> None:
    pieces = read(experienced, picture_of(Lying(art("ari"), "5", (300.0, 300.0), 10.0))).pieces
    figure = pieces[0].facts["figure"]
    levels = tuple(x if v != UNKNOWN else max(figure.log_likelihoods) + 20.0 for v, x in figure.ranked)
    strange = replace(
        pieces[0],
        facts={
            **pieces[0].facts,
            "figure": replace(figure, values=tuple(v for v, _ in figure.ranked), log_likelihoods=levels),
        },
    )
    facts = table_facts([strange], ["ari", "bruma"])
    assert [v for v, _ in facts["figure:ari"].ranked[:2]] == ["-", "5"]
    assert facts["figure:ari"].lead < facts["figure:bruma"].lead < SURE_LEAD


@pytest.mark.parametrize("grey", [0.03, 0.06, 0.09])
def test_where_a_markers_paper_ends_on_a_dark_floor_nothing_lies(
    experienced: FigureTableReader, monkeypatch: pytest.MonkeyPatch, grey: float
) -> None:
    def colour(rng: np.random.Generator, saturation: tuple[float, float], value: tuple[float, float]) -> Floats:
        line = np.array((0.05, 0.45, 0.06), np.float32)
        return np.full(3, grey, np.float32) if saturation[0] == 0.0 else line

    monkeypatch.setattr(arena_table, "colour", colour)
    table = arena_table.ArenaTable({"figure:ari": "-"}, BOARD, 1, light="dim")
    reading = experienced.read(table.stage.frame(1))
    assert reading.board_found and reading.pieces == ()


def test_what_an_overexposed_figure_says_of_its_name_counts_less(
    experienced: FigureTableReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = picture_of(Lying(art("bruma"), "2", (320.0, 280.0), 40.0))
    bright = np.asarray(cv2.convertScaleAbs(picture, alpha=2.0), dtype=np.uint8)

    def lead(of: Image) -> float:
        experienced.read(Frame(picture_of(), 0, 0.0, ""))
        (piece,) = experienced.read(Frame(of, 0, 0.0, "")).pieces
        return piece.facts["figure"].lead

    told = lead(picture), lead(bright)
    monkeypatch.setattr(figures, "CLIPPED", 256)
    assert told[0] == pytest.approx(lead(picture))
    assert told[1] == pytest.approx(figure_pieces.OVEREXPOSED * lead(bright), rel=0.02)


class TestOverexposed:
    """White labels burn out; cameras press the brightest colours together before that."""

    @staticmethod
    def exposed(picture: Image, times: float, knee: bool) -> Image:
        level = 255.0 * ((picture / 255.0) ** 2.2 * times) ** (1 / 2.2)
        pressed = np.where(level > 215, 215 + 40 * np.tanh((level - 215) / 40), level)
        return np.clip(pressed if knee else level, 0, 255).round().astype(np.uint8)

    @pytest.mark.parametrize("times", [1.6, 2.4])
    @pytest.mark.parametrize("knee", [False, True])
    @pytest.mark.parametrize("face", ["2", "5", "top"])
    def test_a_figure_is_known(self, experienced: FigureTableReader, times: float, knee: bool, face: str) -> None:
        picture = picture_of(
            Lying(art("bruma"), face, (420.0, 390.0), 35.0), Lying(art("jaca"), "3", (150.0, 200.0), -60.0)
        )
        reading = read(experienced, self.exposed(picture, times, knee))
        assert wrong(reading, {"bruma": "immune" if face == "top" else face, "jaca": "3"}) == {}
        assert unsure(reading) == []

    @pytest.mark.parametrize("times", [1.6, 2.4])
    @pytest.mark.parametrize("face", ["1", "3", "6"])
    def test_a_stranger_beside_one_is_not_named(self, experienced: FigureTableReader, times: float, face: str) -> None:
        picture = picture_of(Lying(STRANGER, face, (330.0, 400.0), 35.0), Lying(art("koi"), "2", (150.0, 200.0), -60.0))
        assert wrong(read(experienced, self.exposed(picture, times, True)), {"koi": "2"}) == {}


@pytest.mark.parametrize("floor", [3, 9, 11])
def test_white_sides_on_a_floor_of_their_own_shade_leave_gaps_and_the_figure_is_known_all_the_same(floor: int) -> None:
    by = FigureReader(TableProfile(BOARD), [enrolled(p) for p in PRINTS.values()])
    view = camera_over(BOARD, 1440, 1080, 25.0, -90.0, 3.0, 880.0)
    standing = [
        Lying(art("dune"), "bottom", (171.0, 427.0), 90.0 + 25 * floor),
        Lying(art("bruma"), "top", (430.0, 419.0), 35.0 * floor),
    ]
    look = ArenaLook(light=(0.4, 0.4, 1.0), strength=0.45, floor=floor, noise=3.0, blur_px=1.0)
    reading = by.read(Frame(paint(BOARD, view, standing, look), 1, 0.0, ""))
    assert sorted(p.facts["figure"].best for p in reading.pieces) == ["bruma", "dune"]


@pytest.mark.parametrize("shade", [0.55, 0.62])
def test_what_is_only_darker_than_the_floor_is_something_if_it_has_an_outline_and_a_shadow_if_not(shade: float) -> None:
    by = FigureReader(TableProfile(BOARD), [enrolled(p) for p in PRINTS.values()])
    around = np.array([(13 * np.cos(t), 13 * np.sin(t), 0.0) for t in np.arange(0.0, 6.2, np.pi / 3)])
    outer, inner = (CAMERA.project((300.0, 300.0, 0.0) + scale * around) for scale in (1.0, 0.5))
    drawn, shadow = np.ones((2, CAMERA.height, CAMERA.width), np.float32)
    for ring in (outer, inner):
        cv2.polylines(drawn, [np.rint(ring * 16).astype(np.int32)], True, shade, 4, cv2.LINE_AA, shift=4)
    cv2.fillPoly(shadow, [np.rint(outer).astype(np.int32)], shade)
    for light, seen in ((drawn, 1), (cv2.GaussianBlur(shadow, (0, 0), 12.0), 0)):
        picture = np.asarray(picture_of() * light[..., None], dtype=np.uint8)
        assert len(by.read(Frame(picture, 1, 0.0, "")).pieces) == seen
