"""The census: what it counts, and how it behaves on folders that it cannot use."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from companion.census import main, throws
from companion.census.tally import ASKED, RIGHT, WRONG, Tally, interval, reliability
from tests.shared import shared_dir
from vision.reading import Fact

FRAMES = Path(__file__).parent / "frames"


def test_a_folder_of_pictures_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in ("jpg", "json"):
        shutil.copy(FRAMES / f"009.{suffix}", tmp_path / f"a.{suffix}")
    truth = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    (tmp_path / "a.json").write_text(json.dumps({**truth, "image": "a.jpg"}), encoding="utf-8")
    report_path = tmp_path / "out.json"
    assert main(tmp_path, report_path) == 0
    report = json.loads(report_path.read_text(encoding="utf-8"))
    assert sum(sum(c.values()) for k, c in report["kinds"].items() if k != "board") == 105
    assert report["kinds"]["board"] == {"right": 1, "asked": 0, "wrong": 0}
    assert report["wrong"] == []
    assert report["time_ratio"]["median"] > 0
    assert {"folder", "kinds", "wrong", "reliability", "time_ratio"} <= set(report)
    assert "path covered" in capsys.readouterr().out


def test_folders_without_truth_are_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tmp_path / "missing") != 0
    assert "no such folder" in capsys.readouterr().err
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert main(tmp_path) != 0
    assert "no pictures with truth" in capsys.readouterr().err


def test_right_asked_and_wrong() -> None:
    tally = Tally()
    tally.fact("path", "f", "a1", Fact(("NE", "SW"), (0.0, -9.0)), "NE")
    tally.fact("path", "f", "a2", Fact(("NE", "SW"), (0.0, -3.0)), "NE")
    tally.fact("path", "f", "a3", Fact(("NE", "SW"), (0.0, -9.0), hidden=True), "SW")
    tally.fact("path", "f", "a4", Fact(("NE", "SW"), (0.0, -9.0)), "SW")
    tally.fact("path", "f", "a5", None, "SW")
    assert tally.counts["path"] == {RIGHT: 1, ASKED: 3, WRONG: 1}
    assert [w["place"] for w in tally.wrong] == ["a4"]


def test_reliability_and_interval() -> None:
    stated = [(0.9995, True)] * 99 + [(0.9995, False), (0.6, False)]
    assert reliability(stated) == [{"stated": 0.5, "n": 1, "right": 0}, {"stated": 0.999, "n": 100, "right": 99}]
    row = interval(stated, 0.99)
    assert (row["n"], row["right"]) == (100, 99)
    # Wilson's interval of 99 in 100.
    assert row["low"] == pytest.approx(0.9455, abs=5e-4)
    assert row["high"] == pytest.approx(0.9982, abs=5e-4)


def test_filmed_throws_are_right_in_every_labelled_interval_and_change_in_time() -> None:
    tally = throws.read(shared_dir() / "data" / "video_dice")
    assert tally.wrong == []
    assert tally.counts[throws.STATE] == {RIGHT: 6} and tally.counts[throws.CHANGE][RIGHT] >= 7
    assert max(tally.ratios["arena states"]) <= 0.4


def test_by_how_much_states_change_beside_their_labels() -> None:
    states = ["hand_in"] * 5 + ["thrown"] * 3 + ["settled"] * 6 + ["cleared"] * 2
    assert throws._changes(states, 8, 12, ("settled",)) == [("begins", 1), ("ends", 2)]
    assert throws._changes(states, 3, 6, throws.ALLOWED["hand"]) == [("begins", 0), ("ends", 0)]
    assert throws._changes(states, 15, 16, throws.ALLOWED["empty"]) == [("begins", 0)]


def test_labels_that_are_none_are_no_clips(tmp_path: Path) -> None:
    for text in ("[", "[]", '{"a.mp4": 3}', '{"a.mp4": {"fps": 30, "hand": [], "rest": []}}'):
        (tmp_path / "labels.json").write_text(text, encoding="utf-8")
        assert not throws.recognise(tmp_path)
