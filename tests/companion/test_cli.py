"""The command line: one clear line for every mistake, and the exit status that says so."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from companion.cli import main
from companion.config import Config, ConfigError, load_config
from companion.journal import FolderLock
from companion.registry import GAMES, UnknownGameError


def test_an_unknown_game_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--game", "nonsense"]) == 2
    assert "nonsense" in (error := capsys.readouterr().err) and "moguli" in error


def test_a_folder_in_use_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = FolderLock(tmp_path)
    assert main(["demo", "--data", str(tmp_path), "--turns", "1", "--speed", "max"]) == 2
    error = capsys.readouterr().err
    assert "in use by another companion" in error and len(error.strip().splitlines()) == 1
    lock.close()


def test_a_port_in_use_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["run", "--data", str(tmp_path), "--port", port]) == 2
        assert main(["demo", "--data", str(tmp_path), "--port", port, "--turns", "1"]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 2 and all(port in line for line in lines)


@pytest.mark.parametrize("speed", ["0", "-1", "fast", "nan", "inf"])
def test_a_speed_that_is_none(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--speed", speed]) == 2
    assert "--speed" in capsys.readouterr().err


@pytest.mark.parametrize(("game", "count"), [("muggins", "1"), ("muggins", "5"), ("moguli", "3"), ("maulwurf", "9")])
def test_a_demo_for_too_few_or_too_many_says_how_many_may_play(
    game: str, count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--game", game, "--players", count, "--turns", "1"]) == 2
    assert "--players" in (error := capsys.readouterr().err) and game in error


def test_perft_counts_the_turns_of_a_dealt_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perft", "moguli", "--depth", "1"]) == 0
    assert capsys.readouterr().out.startswith("depth 1: ")
    assert main(["perft", "moguli", "nonsense"]) == 2


def test_the_words_are_complete(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["words", "check"]) == 0
    assert capsys.readouterr().out.count("\n") == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("camra = 'x'", "camra"),
        ("port = 'x'", "port"),
        ("port = 70000", "port"),
        ("game = 'nonsense'", "nonsense"),
        ("language = 'xx'", "language"),
        ("game =", "cannot be read"),
        ("game = moguli", "texts in quotes"),
        ("game = '\udcff'", "no text file"),
    ],
)
def test_a_bad_configuration_names_file_and_key(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "table.toml"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ConfigError, match=says) as error:
        load_config(file)
    assert "table.toml" in str(error.value)


def test_a_configuration_is_read(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text('camera = "file:///x.jpg"\nlanguage = "fi"\nport = 0\n', encoding="utf-8")
    assert load_config(file) == Config(camera="file:///x.jpg", language="fi", port=0)
    file.write_text('profile = "p.toml"\ndata_file = "/elsewhere/d.json"\n', encoding="utf-8")
    assert load_config(file) == Config(profile=str(tmp_path / "p.toml"), data_file="/elsewhere/d.json")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
    with pytest.raises(ConfigError, match="no configuration"):
        load_config(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "command",
    [["mat", "moguli", "--out"], ["bench", "--json"], ["census", ".", "--json"], ["export", "last", "--output"]],
)
def test_a_file_that_cannot_be_written_is_told_before_the_work(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (tmp_path, tmp_path / "none" / "x"):
        assert main([*command, str(place)]) == 2
        error = capsys.readouterr().err
        assert f"{place} cannot be written" in error and error.count("\n") == 1


def test_a_game_without_a_board_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "boardless", replace(GAMES["moguli"], name="boardless"))  # type: ignore[arg-type]
    assert main(["mat", "boardless"]) == 2
    error = capsys.readouterr().err
    assert "there is no board spec for boardless" in error and error.count("\n") == 1


@pytest.mark.parametrize("turns", ["0", "-3", "x", "1.5"])
def test_a_count_that_is_none(turns: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--turns", turns])
    assert end.value.code == 2
    assert turns in (error := capsys.readouterr().err) and "whole number" in error


def test_a_game_whose_part_is_missing_says_what_to_do() -> None:
    cured = {"reader": "leave `camera` out", "table": "name another game"}
    for entry in GAMES.values():
        for part, cure in cured.items():
            if not getattr(entry, part):
                with pytest.raises(UnknownGameError, match=cure):
                    entry.load_reader() if part == "reader" else entry.load_table()
    bare = replace(GAMES["moguli"], reader="", table="")
    with pytest.raises(UnknownGameError, match=cured["reader"]):
        bare.load_reader()
    with pytest.raises(UnknownGameError, match=cured["table"]):
        bare.load_table()
