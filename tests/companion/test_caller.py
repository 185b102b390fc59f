"""The caller: what is worth saying is said once, the newest goes first, and no speech program holds up the game."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from companion import caller
from companion.bulletin import Bulletin, Device, Question, Snapshot, TurnLine
from companion.caller import Announcer, Caller
from companion.config import ConfigError, load_config
from companion.games.contract import Message

PLAYERS = ("Ada", "-v")
START = Snapshot(
    1, "moguli", "m", "playing", PLAYERS, to_act=(0,), headline=Message("game.to_move", (("player", "#0"),))
)


def turn(number: int, now: Snapshot = START) -> Snapshot:
    line = TurnLine(number, 0, "x", Message("table.rewritten", (("number", number),)))
    headline = Message("game.to_move", (("player", "#1"),))
    return replace(now, number=number + 1, record=(*now.record, line), to_act=(1,), headline=headline)


def until(done: Callable[[], bool], patience_s: float = 20.0) -> None:
    began_s = time.monotonic()
    while not done():
        assert time.monotonic() - began_s < patience_s
        time.sleep(0.01)


def test_a_turn_is_said_once_with_whose_turn_it_is() -> None:
    announcer = Announcer("en")
    assert announcer.words(START) == ""
    assert announcer.words(turn(1)) == "Turn 1 was corrected in the record. -v: your turn."
    assert announcer.words(replace(turn(1), number=9)) == ""
    assert Announcer("de").words(turn(1)) == ""


def test_questions_refusals_and_the_end_are_said_and_a_pause_is_quiet() -> None:
    announcer = Announcer("en")
    announcer.words(START)
    asked = Question("q1", Message("table.what_happened"), ())
    assert announcer.words(replace(START, question=asked)).startswith("I am not sure what happened. Which is it?")
    illegal = replace(START, signal="illegal", verdict=Message("table.no_legal_turn"))
    assert announcer.words(illegal).startswith("No legal turn leads to this table.")
    assert announcer.words(replace(turn(1), phase="paused")) == ""
    over = replace(turn(1), phase="over", outcome=Message("table.started"))
    assert announcer.words(over).endswith("The game has begun.")


class Health:
    def __init__(self) -> None:
        self.said: list[tuple[bool, str]] = []

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        assert device is not None and name == "voice" and (trouble is None) == device.ok
        self.said.append((device.ok, device.words.id))


class Speaking:
    """A caller whose speech program is a small script; what it heard is in a file."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> None:
        self.heard = folder / "heard"
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        if script is not None:
            program = folder / "espeak-ng"
            program.write_text(f'#!/bin/sh\nHEARD="{self.heard}"\n{script}\n')
            program.chmod(program.stat().st_mode | stat.S_IEXEC)
        self.bulletin, self.health = Bulletin(), Health()
        self.bulletin.publish({None: START})
        self.caller = Caller(self.bulletin, self.health, "en")
        self.caller.start()

    def lines(self) -> list[str]:
        return self.heard.read_text().splitlines() if self.heard.exists() else []


def test_the_program_hears_the_words_in_the_tables_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Speaking(tmp_path, monkeypatch, 'echo "$@ | $(cat)" >> "$HEARD"')
    table.bulletin.publish({None: turn(1)})
    until(lambda: bool(table.lines()))
    table.caller.stop()
    assert table.lines() == ["-v en --stdin | Turn 1 was corrected in the record. -v: your turn."]
    assert table.health.said == [(True, "companion.voice_works")]


def test_a_newer_announcement_cuts_off_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Speaking(tmp_path, monkeypatch, 'cat | cut -c1-6 >> "$HEARD"; exec sleep 60')
    for number in (1, 2):
        table.bulletin.publish({None: turn(number)})
        until(lambda n=number: table.lines() == [f"Turn {i}" for i in range(1, n + 1)])  # type: ignore[misc]
    began_s = time.monotonic()
    table.caller.stop()
    assert time.monotonic() - began_s < 5.0
    assert not table.caller._thread.is_alive()


def test_what_is_not_installed_is_said_and_the_table_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Speaking(tmp_path, monkeypatch, None)
    assert table.health.said == [(False, "companion.voice_missing")]
    began_s = time.monotonic()
    table.bulletin.publish({None: turn(1)})
    assert time.monotonic() - began_s < 1.0
    table.caller.stop()


def test_a_failing_program_is_said_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'cat >/dev/null; test -e "$HEARD" && exit 0; touch "$HEARD"; echo "no sound card" >&2; exit 1'
    table = Speaking(tmp_path, monkeypatch, script)
    table.bulletin.publish({None: turn(1)})
    until(lambda: (False, "companion.voice_failed") in table.health.said)
    table.bulletin.publish({None: turn(2)})
    until(lambda: table.health.said[-1] == (True, "companion.voice_works"))
    table.caller.stop()


def test_a_hanging_program_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "LONGEST_S", 0.3)
    table = Speaking(tmp_path, monkeypatch, "exec sleep 60")
    table.bulletin.publish({None: turn(1)})
    until(lambda: (False, "companion.voice_failed") in table.health.said)
    table.caller.stop()


def test_only_known_voices_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text('voice = "espeak-ng"\n')
    assert load_config(file).voice == "espeak-ng"
    file.write_text('voice = "rm"\n')
    with pytest.raises(ConfigError, match="known are espeak-ng"):
        load_config(file)
