"""The arena in the words of the game: printable and enrolled figures, what lies there, what is out, what is unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.figure_prints import FigurePrint, load_figures, printable, save_figure
from calibration.profile import CalibrationError, TableProfile, load_board, load_profile, save_profile
from companion.games.moogui import RULES, catalogue
from companion.registry import game
from devices.contract import Frame, Image
from devices.simulated.arena import ArenaLook, FigureArt, Lying, camera_over, paint
from vision.enrol import doubts
from vision.figure_faces import Solid
from vision.figure_pieces import UNKNOWN
from vision.figure_table import FigureTableReader, enrolled, table_facts
from vision.reading import SURE_LEAD, Fact, Piece, Reading

BOARD = load_board("moogui")
PRINTS = {p.name: p for p in printable(BOARD)}


def art(figure: FigurePrint) -> FigureArt:
    assert figure.top is not None and figure.bottom is not None
    return FigureArt(figure.name, figure.faces, figure.top, figure.bottom)


def picture_of(*lying: Lying) -> Image:
    return paint(BOARD, camera_over(BOARD, 1920, 1440, 15.0, -90.0, 3.0, 880.0), lying, ArenaLook())


def stated(fact: Fact) -> str:
    return fact.best if fact.sure(SURE_LEAD) else "?"


@pytest.fixture(scope="module")
def reading() -> Reading:
    """Four figures in the game's arena: a power, a shield, one that stands, one beyond the line."""
    shield = str(PRINTS["bruma"].shield)
    picture = picture_of(
        Lying(art(PRINTS["ari"]), "3", (180.0, 200.0), 30.0),
        Lying(art(PRINTS["bruma"]), shield, (400.0, 220.0), -70.0),
        Lying(art(PRINTS["glim"]), "top", (300.0, 420.0), 10.0),
        Lying(art(PRINTS["lynx"]), "2", (-30.0, 300.0), 88.0),
    )
    return game("moogui").load_reader()(TableProfile(BOARD)).read(Frame(picture, 1, 0.0, ""))


def test_the_printable_figures_are_those_of_the_made_up_catalogue() -> None:
    powers = {m.id: [p or 0 for p in m.powers] for m in catalogue.default()}
    assert powers == {name: list(listed) for name, listed in BOARD.grid["figures"].items()}
    assert {m.id: m.shield or 0 for m in catalogue.default()} == {p.name: p.shield for p in PRINTS.values()}


def test_the_printable_figures_can_be_told_apart() -> None:
    assert doubts([enrolled(p) for p in PRINTS.values()], Solid(45.0, 24.0)) == []


def test_what_lies_there_is_read_in_the_games_words(reading: Reading) -> None:
    told = {name: stated(reading.facts[f"figure:{name}"]) for name in PRINTS}
    there = {"ari": "3", "bruma": str(PRINTS["bruma"].shield), "glim": "immune", "lynx": "out"}
    assert told == {name: there.get(name, "-") for name in PRINTS}
    assert reading.facts["distance:lynx"].best == "out"
    assert float(reading.facts["distance:ari"].best) == pytest.approx(np.hypot(120, 100), abs=3.0)
    assert 0.0 < float(reading.facts["uncertainty:arena"].best) < 10.0


def test_the_words_are_those_of_the_rules(reading: Reading) -> None:
    from companion.games.contract import Setup

    state = RULES.new(Setup(("A", "B", "C", "D"), {o.name: o.default for o in RULES.options()}))
    assert set(RULES.look(state)) <= {k for k in reading.facts if k.startswith("figure:")}


def piece(figure: Fact, **facts: Fact) -> Piece:
    faces = Fact((*"123456", "top", "bottom"), (0.0, -30.0, -30.0, -30.0, -30.0, -30.0, -30.0, -30.0))
    sides = {"face": faces, "in": Fact(("yes", "no"), (0.0, -20.0)), "distance": Fact(("10.0",), (0.0,)), **facts}
    return Piece("figure", (300.0, 300.0), 1.0, {"figure": figure, **sides})


def test_near_the_edge_it_is_asked_whether_a_figure_is_out() -> None:
    edge = {"in": Fact(("yes", "no"), (0.0, -0.4))}
    fact = table_facts([piece(Fact(("ari", UNKNOWN), (0.0, -30.0)), **edge)], ["ari"])["figure:ari"]
    assert {fact.ranked[0][0], fact.ranked[1][0]} == {"1", "out"}
    assert not fact.sure(SURE_LEAD)


def test_while_something_unknown_lies_there_no_figure_is_surely_absent() -> None:
    stranger = piece(Fact(("ari", "koi", UNKNOWN), (-12.0, -14.0, 0.0)))
    facts = table_facts([stranger], ["ari", "koi"])
    for name in ("ari", "koi"):
        assert facts[f"figure:{name}"].best == "-" and not facts[f"figure:{name}"].sure(SURE_LEAD)
    assert facts["distance:ari"].best == "10.0", "it is the one that may be asked about"
    assert "distance:koi" not in facts


def test_a_figure_that_is_hardly_in_doubt_still_tells_how_far_it_lies() -> None:
    facts = table_facts([piece(Fact(("ari", "koi", UNKNOWN), (0.0, -30.0, -1.0)))], ["ari", "koi"])
    assert not facts["figure:ari"].sure(SURE_LEAD)
    assert facts["distance:ari"].best == "10.0" and "distance:koi" not in facts


def test_enrolled_figures_are_kept_and_read(tmp_path: Path) -> None:
    for name in ("ari", "koi"):
        save_figure(tmp_path, replace(PRINTS[name], name=f"my_{name}"))
    kept = load_figures(tmp_path)
    assert [p.name for p in kept] == ["my_ari", "my_koi"]
    assert all(np.array_equal(a, b) for a, b in zip(kept[0].faces, PRINTS["ari"].faces, strict=True))
    save_profile(TableProfile(BOARD, figures=str(tmp_path)), tmp_path / "table.toml")
    reader = FigureTableReader(load_profile(tmp_path / "table.toml"))
    picture = picture_of(Lying(art(PRINTS["koi"]), "5", (300.0, 260.0), 45.0))
    facts = reader.read(Frame(picture, 1, 0.0, "")).facts
    assert (stated(facts["figure:my_koi"]), stated(facts["figure:my_ari"])) == ("5", "-")


def test_a_folder_without_figures_is_named(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="enrol them again"):
        FigureTableReader(TableProfile(BOARD, figures=str(tmp_path)))
    (tmp_path / "figures.toml").write_text('[x]\nfaces = ["a.png"]\n')
    with pytest.raises(CalibrationError, match=r"a\.png"):
        load_figures(tmp_path)
