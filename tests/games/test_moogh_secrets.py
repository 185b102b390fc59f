"""Secret arrows: each on its own seat, the record tells the others nothing until all have chosen."""

from __future__ import annotations

from companion.bulletin import Snapshot
from companion.evidence import Author, Chose
from companion.games.moogh.rules import RULES
from companion.match import Match
from companion.snapshots import snapshot
from companion.step import step

AT_TABLE = Author("seat", "table")


def begun(secret: bool) -> Match:
    match = Match(lambda name: RULES)
    new = {
        "id": "m", "game": "moogh", "players": ["A", "B"], "options": {"secret_actions": secret}, "start": None,
        "manual": True,
    }  # fmt: skip
    return step(match, Chose("new_game", AT_TABLE, new)).match


def chosen(match: Match, text: str, player: int) -> Match:
    done = step(match, Chose("declare", Author("seat", "phone", player), {"text": text}))
    assert done.reply.ok, done.reply
    return done.match


def seen(match: Match, viewer: int | None) -> Snapshot:
    return snapshot(match, viewer, 1, [], [], "")


def test_the_others_see_only_that_an_arrow_was_chosen_until_both_have() -> None:
    match = chosen(begun(secret=True), "red arrow 2", 0)
    for viewer in (None, 1):
        shot = seen(match, viewer)
        assert [line.text for line in shot.record] == ["?"]
        assert shot.record[0].words.id == "moogh.said_secret"
        assert "arrow 2" not in repr(shot.record) and shot.view["chosen"]["red"] is None
    assert [line.text for line in seen(match, 0).record] == ["red arrow 2"]
    both = chosen(match, "white arrow 1", 1)
    for viewer in (None, 0, 1):
        assert [line.text for line in seen(both, viewer).record] == ["red arrow 2", "white arrow 1"]


def test_the_buttons_of_a_secret_choice_say_what_is_chosen() -> None:
    acts = [a for a in seen(begun(secret=True), 0).acts if a.args.get("text", "").startswith("red arrow")]
    assert len(acts) > 1
    assert len({repr(a.words) for a in acts}) == len(acts)
    assert {a.player for a in acts} == {0}


def test_an_arrow_told_at_the_table_is_his_who_may_choose_it() -> None:
    match = begun(secret=False)
    for text in ("white arrow 1", "red arrow 2"):
        match = step(match, Chose("declare", AT_TABLE, {"text": text})).match
    assert [(line.text, line.player) for line in seen(match, None).record] == [("white arrow 1", 1), ("red arrow 2", 0)]


def test_open_arrows_are_told_at_once() -> None:
    match = chosen(begun(secret=False), "red arrow 2", 0)
    assert [line.text for line in seen(match, None).record] == ["red arrow 2"]
