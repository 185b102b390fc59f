"""Matches outside the journal: what is exported comes back as it was, and nothing else is believed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.cli import main
from companion.evidence import Author, Chose
from companion.fold import fold
from companion.games.contract import Refusal
from companion.journal import FILE, Journal
from companion.match import Event, Match
from companion.records import RecordError, find, lines, read, take_over, text
from companion.registry import GAMES
from companion.step import step
from tests.companion.table import games

PLAYERS = {"moogh": 4, "moogui": 3, "maulwurf": 3, "moguli": 2, "muggins": 2}


def played(name: str, turns: int = 12, seed: int = 0, **more: Any) -> list[Event]:
    """The events of a match that is told turn by turn, with one takeback in it where the table may simply do that."""
    entry, chance = GAMES[name], random.Random(seed)
    rules, choose = entry.load_rules(), entry.load_choose()
    match, events = Match(games), []

    def say(command: str, **args: Any) -> None:
        nonlocal match
        done = step(match, Chose(command, Author("program", "test"), args))
        assert done.reply.ok, done.reply
        match = done.match
        events.extend(done.events)

    people = ["Ada", "Bea", "Cy", "Dan"][: PLAYERS[name]]
    say("new_game", game=name, players=people, start=entry.deal_start(chance), id=f"{name}-{seed}", **more)
    for number in range(turns):
        if rules.outcome(match.agreed) is not None:
            break
        say("declare", text=rules.text(choose(match.agreed, chance)))
        if number == 5:
            say("undo_to", number=3)
            if match.offer is not None:
                say("agree")
    return events


@pytest.fixture(params=sorted(GAMES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def journal_of(folder: Path, *matches: list[Event]) -> Journal:
    folder.mkdir(exist_ok=True)
    journal = Journal(folder / FILE)
    for events in matches:
        journal.append(str(events[0].data["id"]), events)
    return journal


def exported(tmp_path: Path, name: str) -> list[str]:
    journal = journal_of(tmp_path / "from", played(name))
    return list(lines(find(journal, "last"), games))


def test_a_match_comes_back_as_it_was_and_exports_to_the_same_lines(tmp_path: Path, name: str) -> None:
    events = played(name)
    written = exported(tmp_path, name)
    record = read("".join(written), games)
    assert record.match == fold(events, games) and record.match.turns > 3
    other = journal_of(tmp_path / "to")
    assert take_over(other, record, "x.jsonl")
    assert not take_over(other, record, "x.jsonl")
    assert list(lines(find(other, "last"), games)) == written


def test_the_text_holds_every_turn_in_the_games_notation(tmp_path: Path, name: str) -> None:
    events = played(name)
    match = fold(events, games)
    shown = text(find(journal_of(tmp_path, events), name), games)
    for entry in match.entries:
        assert f": {entry.text}  ; " in shown
    assert f"Position: {match.rules.position_text(match.agreed)}" in shown
    again = next(line for line in shown.splitlines() if line.startswith("Start: ")).removeprefix("Start: ")
    state = match.rules.parse_position(again)
    for entry in match.entries:
        state = match.rules.apply(state, match.rules.parse(entry.text))
        assert not isinstance(state, Refusal)
    assert match.rules.position_text(state) == match.rules.position_text(match.agreed)


def cut(written: list[str]) -> list[str]:
    return written[:-3]


def later(written: list[str]) -> list[str]:
    return [written[0].replace('"version":1', '"version":2'), *written[1:]]


def other_file(written: list[str]) -> list[str]:
    return ["{}\n", *written[1:]]


def no_json(written: list[str]) -> list[str]:
    return [*written[:2], "nonsense\n", *written[3:]]


def one_missing(written: list[str]) -> list[str]:
    return [
        written[0].replace(f'"events":{len(written) - 2}', f'"events":{len(written) - 3}'),
        *written[1:4],
        *written[5:],
    ]


def another_name(written: list[str]) -> list[str]:
    return [written[0].replace("Ada", "Eve"), *written[1:]]


def edited_words(written: list[str]) -> list[str]:
    return [*written[:-2], written[-2].replace('"wall_s":', '"wall_s": '), written[-1]]


def another_end(written: list[str]) -> list[str]:
    return [*written[:-1], written[-1].replace('"turns":', '"turns":1')]


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (cut, "line", "cut off"),
        (later, "line 1", "version 2"),
        (other_file, "line 1", "no match that was exported"),
        (no_json, "line 3", "no JSON"),
        (one_missing, "line 5", "lines are missing"),
        (another_name, "line 2", "first line"),
        (edited_words, "line", "SHA-256"),
        (another_end, "line", "turns is"),
    ],
)
def test_what_is_not_as_it_was_written_is_refused_with_its_line(
    tmp_path: Path, name: str, change: Callable[[list[str]], list[str]], line: str, says: str
) -> None:
    with pytest.raises(RecordError) as caught:
        read("".join(change(exported(tmp_path, name))), games)
    assert str(caught.value).startswith(line) and says in str(caught.value)


def test_another_turn_is_found_at_its_own_line(tmp_path: Path, name: str) -> None:
    """A legal turn leads to another position, an illegal one names its rule; both at the line, not at the end."""
    written = exported(tmp_path, name)
    turns = [n for n, line in enumerate(written) if '"kind":"turn"' in line]
    data = [json.loads(line) for line in written]
    data[turns[1]]["data"]["turn"] = data[turns[2]]["data"]["turn"]
    changed = [json.dumps(d) + "\n" for d in data]
    with pytest.raises(RecordError) as caught:
        read("".join(changed), games)
    assert str(caught.value).startswith(f"line {turns[1] + 1}: turn")


def test_data_that_this_program_has_in_another_form_is_refused(tmp_path: Path) -> None:
    used = GAMES["moogh"].data_used()
    assert used is not None
    for digest, accepted in ((used.hash, True), ("0" * 64, False)):
        events = played("moogh", data={"name": "default", "hash": digest, "provenance": {}})
        written = "".join(lines(find(journal_of(tmp_path / digest[:4], events), "last"), games))
        if accepted:
            assert read(written, games, lambda n, o: GAMES[n].data_used(o)).match.turns
            continue
        with pytest.raises(RecordError, match="line 1: played with 'default' 0000"):
            read(written, games, lambda n, o: GAMES[n].data_used(o))


def test_the_command_line_exports_and_takes_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, file, away = str(tmp_path / "home"), tmp_path / "m.jsonl", str(tmp_path / "away")
    journal_of(tmp_path / "home", played("muggins"), played("moguli")).close()
    assert main(["export", "mo", "--data", home, "--output", str(file)]) == 0
    assert main(["export", "muggins-0", "--text", "--language", "de", "--data", home]) == 0
    assert "Game: muggins" in capsys.readouterr().out
    assert main(["import", str(file), "--check"]) == 0
    assert not (tmp_path / "away").exists()
    assert main(["import", str(file), "--data", away]) == 0
    assert "moguli-0: moguli, 9 turns" in capsys.readouterr().out
    journal = Journal(tmp_path / "away" / FILE)
    assert journal.last_match() is None, "a match from a file is not the one at the table"
    journal.close()
    assert main(["import", str(file), "--data", str(tmp_path / "third"), "--continue"]) == 0
    assert Journal(tmp_path / "third" / FILE).last_match() == "moguli-0"


def test_a_match_of_the_same_name_is_not_overwritten(tmp_path: Path) -> None:
    record = read("".join(exported(tmp_path, "maulwurf")), games)
    other = journal_of(tmp_path / "to", played("maulwurf", turns=3))
    before = other.number
    with pytest.raises(RecordError, match="another match maulwurf-0"):
        take_over(other, record, "x")
    assert other.number == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["export", "nothing"], "moguli-0"),
        (["export", "m"], "more than one"),
        (["export", "last", "--output", "/no/such/folder/x"], "cannot be written"),
        (["import", "/no/such/file"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    journal_of(tmp_path, played("muggins", 2), played("moguli", 2)).close()
    assert main([*arguments, "--data", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.splitlines()) == 1


def test_where_there_is_no_journal_none_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "last", "--data", str(tmp_path / "none")]) == 2
    assert "no journal" in capsys.readouterr().err and not (tmp_path / "none").exists()
