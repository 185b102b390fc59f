"""What a table settles once: own data files, hints, and what the others must agree to take back."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.bulletin import Bulletin
from companion.cli import main
from companion.commands import Reply
from companion.config import ConfigError, load_config
from companion.consent import UNDO
from companion.evidence import Author
from companion.games.contract import RulesError, Setup
from companion.journal import FILE, Journal
from companion.registry import GAMES, GameEntry, UnknownGameError
from companion.service import Service
from tests.companion.table import TestTable, games

SEATS = (Author("seat", "a", 0), Author("seat", "b", 1))
TABLE = Author("seat", "table")


class Played:
    """A service with these settings, and a match of one game by hand."""

    def __init__(
        self, folder: Path, name: str, entry: GameEntry | None = None, hints: bool = False, **more: Any
    ) -> None:
        entries = {**GAMES, name: entry or GAMES[name]}
        folder.mkdir(exist_ok=True)
        self.journal = Journal(folder / FILE)
        self.service = Service(
            games,
            self.journal,
            Bulletin(),
            deal=lambda n, chance: entries[n].deal_start(chance),
            data=lambda n, options: entries[n].data_used(options),
            hint=(lambda n: entries[n].load_hint()) if hints else None,
            chance=random.Random(0),
            **more,
        )
        begun = self.service.submit("new_game", {"game": name, "players": ["Ada", "Bea"], "start": "shuffle"}, TABLE)
        assert begun.ok, begun

    def say(self, command: str, author: Author = TABLE, **args: Any) -> Reply:
        return self.service.submit(command, args, author)

    def tell(self, *turns: str) -> None:
        for turn in turns:
            assert self.say("declare", text=turn).ok, turn

    @property
    def turns(self) -> int:
        return self.service.match.turns


# --- consent ----------------------------------------------------------------------------------------------------


def test_a_turn_without_chance_is_taken_back_at_once(tmp_path: Path) -> None:
    table = Played(tmp_path, "muggins")
    table.tell("lot 1", "open 14")
    assert table.say("takeback", SEATS[0]).ok
    assert table.turns == 1 and table.service.match.offer is None


@pytest.mark.parametrize("author", [SEATS[0], TABLE])
def test_a_turn_that_brought_chance_to_light_is_taken_back_when_all_others_agree(
    tmp_path: Path, author: Author
) -> None:
    table = Played(tmp_path, "muggins")
    table.tell("lot 1", "open 14")
    assert table.say("undo_to", author, number=0).ok
    assert table.turns == 2, "the lot is not undone before the others have agreed"
    shot = table.service.bulletin.snapshot()
    asked = {act.player for act in shot.acts if act.command == "agree"}
    assert asked == ({1} if author.player == 0 else {0, 1})
    for player in sorted(asked):
        assert table.say("agree", SEATS[player]).ok
    assert table.turns == 0 and table.service.match.agreed == table.service.match.states[0]


def test_who_declines_keeps_the_turn(tmp_path: Path) -> None:
    table = Played(tmp_path, "muggins")
    table.tell("lot 1")
    table.say("takeback", SEATS[0])
    assert table.say("decline", SEATS[1]).ok
    assert table.turns == 1 and table.service.match.offer is None


def test_the_table_may_ask_for_consent_never_or_always(tmp_path: Path) -> None:
    free = Played(tmp_path / "free", "muggins", undo="free")
    free.tell("lot 1")
    assert free.say("takeback", SEATS[0]).ok and free.turns == 0
    always = Played(tmp_path / "always", "muggins", undo="always")
    always.tell("lot 1", "open 14")
    assert always.say("takeback", SEATS[0]).ok and always.turns == 2
    assert always.say("agree", SEATS[1]).ok and always.turns == 1


def test_the_setting_is_part_of_the_match_and_not_of_the_command(tmp_path: Path) -> None:
    table = Played(tmp_path, "muggins", undo="always")
    args = {"game": "muggins", "players": ["Ada", "Bea"], "start": None, "undo": "free", "hints": True}
    table.service.submit("new_game", args, TABLE)
    assert table.service.match.undo == "always" and not table.service.match.hints


def test_the_camera_does_not_take_back_what_needs_consent() -> None:
    """The table shows an earlier position: it is asked, not done; once agreed nothing has to be put back."""
    table = TestTable(seed=1)
    table.match = replace(table.match, undo="always")
    before = table.match.agreed
    turn = table.turn()
    facts = table.rules.trace(before, turn)
    table.state = table.rules.apply(before, turn)
    table.see({**table.rules.look(before), **facts}, times=3)
    table.say("done")
    assert table.match.turns == 1
    table.see(table.rules.look(before), times=6)
    assert table.match.turns == 1 and table.match.offer is not None
    assert table.match.judgement is not None and table.match.judgement.kind == "waiting"
    table.say("agree", 0)
    table.say("agree", 1)
    assert table.match.turns == 0 and table.match.agreed == before and table.match.lag is None


# --- hints ------------------------------------------------------------------------------------------------------


def test_hints_are_off_unless_the_table_wants_them(tmp_path: Path) -> None:
    table = Played(tmp_path, "moguli")
    assert not any(act.command == "hint" for act in table.service.bulletin.snapshot().acts)
    refused = table.say("hint")
    assert not refused.ok and refused.words is not None and refused.words.id == "table.no_hints"


def test_a_hint_names_a_legal_turn_and_a_reason_to_whoever_is_to_move(tmp_path: Path) -> None:
    table = Played(tmp_path, "moguli", hints=True)
    acts = [act for act in table.service.bulletin.snapshot().acts if act.command == "hint"]
    assert [act.player for act in acts] == [0]
    began_s, number = time.process_time(), table.journal.number
    told = table.say("hint", SEATS[0])
    assert time.process_time() - began_s < 2.0
    assert told.ok and told.words is not None and told.words.id.startswith("moguli.hint.")
    rules, match = table.service.match.rules, table.service.match
    turn = rules.parse(str(dict(told.words.values)["turn"]))
    assert rules.outcome(rules.apply(match.agreed, turn)) is None
    assert table.journal.number == number, "a hint changes nothing"
    assert not table.say("hint", SEATS[1]).ok


def test_a_game_without_hints_says_so(tmp_path: Path) -> None:
    table = Played(tmp_path, "muggins", hints=True)
    table.tell("lot 1")
    assert not any(act.command == "hint" for act in table.service.bulletin.snapshot().acts)
    assert not table.say("hint", SEATS[0]).ok


# --- own data files ---------------------------------------------------------------------------------------------

OWN = {
    "moguli": '[mine]\nprovenance = "owner"\ntiles = [{kind = "straight", triangle = true, count = 35}]\n',
    "moogh": "[save]\n6 = 6\n",
    "moogui": '[ari]\nname = "Aurora"\n',
}


@pytest.fixture
def own(tmp_path: Path, request: pytest.FixtureRequest) -> GameEntry:
    name = str(request.param)
    file = tmp_path / "mine.toml"
    if name == "maulwurf":
        shipped = Path(__file__).parents[2] / "companion/games/maulwurf/square13.toml"
        file.write_text(shipped.read_text().replace('name = "square13"', 'name = "mine"').replace('"1,3", ', ""))
    else:
        file.write_text(OWN[name])
    return replace(GAMES[name], data_file=file)


@pytest.mark.parametrize("own", ["maulwurf", "moguli", "moogh", "moogui"], indirect=True)
def test_the_setup_records_which_data_was_used_and_a_replay_needs_no_file(tmp_path: Path, own: GameEntry) -> None:
    table = Played(tmp_path, own.name, own)
    used, shipped = own.data_used(), GAMES[own.name].data_used()
    assert used is not None and shipped is not None and used.hash != shipped.hash
    match = table.service.match
    assert match.data["hash"] == used.hash
    assert set(match.data["provenance"].values()) <= {"rulebook", "source", "inferred", "invented", "owner"}
    (own.data_file or tmp_path).unlink()
    again = Service(games, table.journal, Bulletin())
    assert again.match == match


@pytest.mark.parametrize("own", ["maulwurf", "moogh", "moogui"], indirect=True)
def test_a_table_is_checked_against_the_own_data(own: GameEntry) -> None:
    rules, used = own.load_rules(), own.data_used()
    assert used is not None
    state = rules.new(Setup(("Ada", "Bea"), {}, dict(used.start)))
    look = dict(rules.look(state))
    start = rules.start_from_look(look, {}, used.start)
    assert not isinstance(start, tuple), start
    assert rules.new(Setup(("Ada", "Bea"), {}, start)) == state


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("moguli", "[mine]\ntiles = 3\n", "mine.provenance"),
        ("moguli", "", "0"),
        ("moguli", '[mine]\nprovenance = "owner"\ntiles = [{kind="bend", triangle=true, count=34}]', "34"),
        ("moguli", '[mine]\nprovenance = "owner"\nprovenance_of = {tiles = "x"}\ntiles = []', "provenance_of.tiles"),
        ("maulwurf", 'name = "x"\nversion = 2\n', "version"),
        ("maulwurf", "nonsense", "Expected"),
        ("moogh", "[front]\n6 = []\n", "front.6"),
        ("moogh", '[save]\nprovenance_of = {6 = "x"}\n6 = 6\n', "save.6"),
        ("moogui", "[ari]\npowers = [1, 2]\n", "ari"),
        ("moogui", '[ari]\nname = "A"\nprovenance_of = {name = "x"}\n', "ari.name"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_before_anything_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, says: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(content)
    assert main(["perft", name, "--data-file", str(file)]) == 2
    error = capsys.readouterr().err
    assert says in error, error
    assert len(error.splitlines()) == 1


def test_a_missing_file_and_a_game_without_data_are_said(tmp_path: Path) -> None:
    for name in ("moguli", "maulwurf", "moogh", "moogui"):
        with pytest.raises(RulesError):
            replace(GAMES[name], data_file=tmp_path / "none.toml").data_used()
    with pytest.raises(UnknownGameError, match="muggins"):
        replace(GAMES["muggins"], data_file=tmp_path / "none.toml").data_used()


def test_the_configuration_names_file_hints_and_undo(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text('data_file = "mine.toml"\nhints = true\nundo = "always"\n')
    config = load_config(file)
    assert (config.data_file, config.hints, config.undo) == (str(tmp_path / "mine.toml"), True, "always")
    for line, says in (('undo = "no"', ", ".join(UNDO)), ('hints = "yes"', "true or false"), ("data_file = 1", "text")):
        file.write_text(line)
        with pytest.raises(ConfigError, match=says):
            load_config(file)
