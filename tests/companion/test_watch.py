"""A game that began by hand, without any camera, goes on with one: the camera joins between two turns."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from companion.bulletin import Bulletin
from companion.cli import main
from companion.commands import Reply
from companion.demo import Demo
from companion.evidence import Author
from companion.games.contract import Message, Setup
from companion.journal import Journal
from companion.registry import game
from companion.service import Service

TABLE = Author("seat", "table")


def service_of(name: str, tmp_path: Path, data_file: Path | None = None) -> Service:
    entry = replace(game(name), data_file=data_file)
    return Service(
        lambda _: entry.load_rules(),
        Journal(tmp_path / "journal.sqlite"),
        Bulletin(),
        data=lambda _, options: entry.data_used(dict(options)),
        chance=random.Random(1),
    )


@pytest.mark.parametrize(("name", "by_hand"), [("muggins", 5), ("maulwurf", 4), ("moogh", 9)])
def test_turns_are_tapped_first_and_seen_from_the_middle_of_the_game_on(
    name: str, by_hand: int, tmp_path: Path
) -> None:
    service = service_of(name, tmp_path)
    demo = Demo(game(name), service, service.bulletin, 3, None)
    rules = demo.rules
    new = {"game": name, "players": ["Ada", "Bea"], "options": {}, "start": None}
    assert service.submit("new_game", new, TABLE).ok and service.match.manual
    state = service.match.agreed
    demo.room.lay(rules.look(state), 3)
    for _ in range(by_hand):
        turn, after, _ = demo._pick(state)
        assert service.submit("declare", {"text": rules.text(turn)}, TABLE).ok
        demo.room.table.perform(rules.trace(state, turn))
        state = after
        assert service.match.agreed == state
    while demo.room.busy:
        demo.room.tick()
    demo.room.match_id = service.match.id
    assert service.submit("watch", {}, TABLE).ok and not service.match.manual
    demo._state, demo._states = state, [state]
    while demo.tally.right + demo.tally.wrong < 4:
        demo._turns()
    assert (demo.tally.right, demo.tally.wrong) == (4, 0), demo.tally.faults
    assert any(e.by in ("done", "seen") for e in service.match.entries[by_hand:])


def test_what_lies_otherwise_than_was_tapped_is_named_when_the_camera_joins(tmp_path: Path) -> None:
    service = service_of("maulwurf", tmp_path)
    demo = Demo(game("maulwurf"), service, service.bulletin, 4, None)
    new = {"game": "maulwurf", "players": ["Ada", "Bea"], "options": {}, "start": None}
    assert service.submit("new_game", new, TABLE).ok
    look = dict(demo.rules.look(service.match.agreed))
    lost = next(key for key, value in sorted(look.items()) if value != "-")
    demo.room.lay({**look, lost: "-"}, 4)
    assert service.submit("watch", {}, TABLE).ok
    for _ in range(60):
        demo.room.tick()
    judgement = service.match.judgement
    assert service.match.turns == 0
    assert judgement is not None and judgement.kind == "illegal"
    assert lost.partition(":")[2] in judgement.places


def test_a_camera_joins_only_where_there_is_one_and_only_once(tmp_path: Path) -> None:
    service = service_of("muggins", tmp_path)
    new = {"game": "muggins", "players": ["Ada", "Bea"], "options": {}, "start": None}
    service.submit("new_game", new, TABLE)
    assert service.submit("watch", {}, TABLE) == Reply(False, Message("companion.no_camera_for_start"))
    demo = Demo(game("muggins"), service, service.bulletin, 3, None)
    demo.room.lay(demo.rules.look(service.match.agreed), 3)
    demo.room.tick()
    assert service.submit("watch", {}, TABLE).ok
    assert service.submit("watch", {}, TABLE) == Reply(False, Message("companion.camera_plays"))


def test_a_board_of_ones_own_that_no_camera_knows_is_said_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = Path(__file__).parents[2] / "companion/games/maulwurf/square13.toml"
    fewer, other_starts = tmp_path / "fewer.toml", tmp_path / "starts.toml"
    text = shipped.read_text().replace('name = "square13"', 'name = "mine"')
    fewer.write_text(text.replace('"1,3", ', ""))
    other_starts.write_text(text)
    new = {"game": "maulwurf", "players": ["Ada", "Bea"], "options": {"layout": "square13"}, "start": "table"}
    for file, known in ((fewer, False), (other_starts, True)):
        service = service_of("maulwurf", tmp_path, file)
        demo = Demo(game("maulwurf"), service, service.bulletin, 3, None, options={"layout": "square13"})
        demo.room.lay(demo.rules.look(demo.rules.new(Setup(("A", "B"), demo._options))), 3)
        reply = service.submit("new_game", new, TABLE)
        assert reply.ok == known
        unseen = Reply(False, Message("companion.board_unseen", (("name", "mine"),)))
        assert known or reply == unseen
        assert service.submit("new_game", {**new, "start": None}, TABLE).ok
        assert known or service.submit("watch", {}, TABLE) == unseen
    assert main(["demo", "--game", "maulwurf", "--data-file", str(fewer), "--turns", "1", "--speed", "max"]) == 2
    assert "mine" in capsys.readouterr().err
