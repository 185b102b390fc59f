"""Rolled dice in a match: whose they are, when they count, and what two sources say of one roll. Played in MOOGH."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from companion.bulletin import Bulletin
from companion.commands import Reply
from companion.evidence import Author, Chose, Evidence, Rolled
from companion.fold import fold
from companion.games.contract import Setup, roll_stories
from companion.journal import open_journal
from companion.match import Event, Match
from companion.recorder import Recorder, replay
from companion.registry import GAMES
from companion.rolls import LATE_S, PAIR_S
from companion.service import Service
from companion.snapshots import snapshot
from companion.step import step
from companion.words import LANGUAGES, catalogue
from tests.companion.table import TestTable, games

DIE, CAMERA, SEAT = Author("die", "a"), Author("camera", "picam://0"), Author("seat", "laptop")
RULES = games("moogh")
NEXT_TO_THE_BEAST = (4, 1)
"""At its left side, in front: LF."""


class Hunt:
    """A match of MOOGH, stepped; time is what the test says."""

    def __init__(self, players: int = 2) -> None:
        self.match = Match(games)
        self.events: list[Event] = []
        self.laid = False
        names = ["Ada", "Bea", "Cleo", "Dan"][:players]
        assert self.give(Chose("new_game", SEAT, {"game": "moogh", "players": names, "id": "m"})).ok

    def give(self, evidence: Evidence) -> Reply:
        done = step(self.match, evidence)
        self.match = done.match
        self.events += done.events
        assert self.laid or fold(self.events, games) == self.match
        return done.reply

    def lay(self, *agenda: tuple[Any, ...]) -> Hunt:
        """Puts these tasks before what comes next, as no history of the game would."""
        state = self.match.agreed
        self.match = replace(self.match, states=(replace(state, agenda=(*state.agenda, *agenda)),))
        self.laid = True
        return self

    def tell(self, text: str, at_s: float = 1000.0) -> Reply:
        return self.give(Chose("declare", SEAT, {"text": text, "at_s": at_s}))

    def roll(self, value: int, author: Author = DIE, at_s: float = 10.0, faces: int = 6) -> Reply:
        return self.give(Rolled("a", value, author, faces, at_s))

    def answer(self, index: int) -> Reply:
        asked = self.match.question
        assert asked is not None
        return self.give(Chose("answer", SEAT, {"question": asked.id, "value": asked.choices[index].value}))

    def on(self, *wanted: str) -> Hunt:
        """Plays on until exactly these must roll; every die shows 3."""
        for _ in range(400):
            waits = RULES.view(self.match.agreed, None)["awaits"]
            assert waits is not None
            if waits["kind"] == "roll" and (tuple(waits["by"]) == wanted or (not wanted and len(waits["by"]) == 1)):
                return self
            state = self.match.agreed
            turn = next(t for t in RULES.legal(state) if "roll" not in RULES.text(t) or RULES.text(t)[-1] == "3")
            if waits["what"] == "action":
                turn = GAMES["moogh"].load_choose()(state, random.Random(0))
            assert self.tell(RULES.text(turn)).ok
        raise AssertionError(f"no roll of {wanted} came up")

    @property
    def texts(self) -> list[str]:
        return [e.text for e in self.match.entries]

    @property
    def awaited(self) -> str:
        waits = RULES.view(self.match.agreed, None)["awaits"]
        return f"{next(iter(waits['by']))} roll {waits['what']}"


def test_a_game_without_dice_takes_no_roll() -> None:
    table = TestTable()
    done = step(table.match, Rolled("a", 4, DIE))
    assert not done.reply.ok and done.reply.words is not None and done.reply.words.id == "rolls.not_awaited"
    assert done.match == table.match and done.events == ()


@pytest.mark.parametrize("value", range(1, 7))
def test_an_awaited_roll_is_the_turn_and_its_source_is_recorded(value: int) -> None:
    hunt = Hunt().on()
    awaited, before = hunt.awaited, len(hunt.texts)
    assert hunt.roll(value).ok
    assert hunt.texts[before:] == [f"{awaited} {value}"]
    noted, turn = [e for e in hunt.events if e.kind in ("rolled", "turn")][-2:]
    assert (noted.kind, noted.data["source"], noted.data["value"], noted.author) == ("rolled", "die", value, DIE)
    assert (turn.kind, turn.author) == ("turn", DIE)
    assert hunt.match.judgement is not None
    assert [m.id for m in hunt.match.judgement.details] == ["rolls.from_die"]


def test_a_roll_that_is_not_awaited_is_refused_in_words() -> None:
    hunt = Hunt()
    before = hunt.match
    reply = hunt.roll(4)
    assert not reply.ok and reply.words is not None and reply.words.id == "rolls.not_awaited"
    assert dict(reply.words.values) == {"die": "a", "value": 4}
    assert hunt.match == before


@pytest.mark.parametrize(("value", "faces"), [(7, 6), (0, 6), (4, 20), (20, 20)])
def test_a_die_that_is_not_of_this_game_does_not_count(value: int, faces: int) -> None:
    hunt = Hunt().on()
    before = hunt.match
    assert not hunt.roll(value, faces=faces).ok
    assert hunt.match == before


def test_a_roll_counts_only_while_the_game_goes_on() -> None:
    hunt = Hunt().on()
    hunt.give(Chose("pause", SEAT))
    assert hunt.roll(4).words.id == "companion.not_while.paused"  # type: ignore[union-attr]
    empty = step(Match(games), Rolled("a", 4, DIE))
    assert empty.reply.words is not None and empty.reply.words.id == "companion.not_while.setup"


def saving() -> Hunt:
    """Two tribesmen of different players must save from one attack."""
    return Hunt().lay(("saves", ("red", "brown")))


def test_where_several_may_have_rolled_one_question_is_asked() -> None:
    hunt = saving()
    reply = hunt.roll(2)
    asked = hunt.match.question
    assert asked is not None and reply == Reply(True, asked.words) and asked.words.id == "rolls.whose"
    assert [c.turns[0][1] for c in asked.choices[:2]] == ["red roll save:attack 2", "brown roll save:attack 2"]
    assert [c.turns[0][0] for c in asked.choices[:2]] == [0, 1]
    assert hunt.answer(1).ok
    assert hunt.texts == ["brown roll save:attack 2"] and hunt.match.question is None
    assert hunt.roll(5, at_s=20.0).ok
    assert hunt.texts[1:] == ["red roll save:attack 5"]


def test_another_roll_waits_for_the_answer_and_one_of_nobody_counts_for_nothing() -> None:
    hunt = saving()
    hunt.roll(2)
    reply = hunt.roll(5, at_s=14.0)
    assert not reply.ok and reply.words is not None and reply.words.id == "rolls.answer_first"
    assert hunt.answer(2).ok
    assert hunt.texts == [] and hunt.match.question is None
    assert hunt.roll(5, CAMERA, at_s=15.0).ok
    assert hunt.match.question is not None and dict(hunt.match.question.words.values)["value"] == 5


def test_whose_roll_it_is_can_be_told_by_entering_it() -> None:
    hunt = saving()
    hunt.roll(2)
    assert hunt.tell("brown roll save:attack 2").ok
    assert hunt.texts == ["brown roll save:attack 2"] and hunt.match.question is None


def test_each_awaited_player_is_asked_and_has_buttons() -> None:
    hunt = saving()
    shot = snapshot(hunt.match, None, 1)
    assert shot.to_act == (0, 1)
    asked = [m for m in (shot.headline, *shot.notes) if m.id == "moogh.ask_save_attack"]
    assert [dict(m.values)["who"] for m in asked] == ["@moogh.red", "@moogh.brown"]
    for player, man in ((0, "red"), (1, "brown")):
        texts = [a.args["text"] for a in shot.acts if a.command == "declare" and a.player == player]
        assert [t for t in texts if "roll" in t] == [f"{man} roll save:attack {v}" for v in range(1, 7)]


def grabbing() -> Hunt:
    """Red is to roll whether he can hold on; his cube has been put on the beast already."""
    hunt = Hunt().lay(("Grab", "red"))
    state = hunt.match.agreed
    men = tuple(replace(m, at=NEXT_TO_THE_BEAST) if m.name == "red" else m for m in state.men)
    hunt.match = replace(hunt.match, states=(replace(state, men=men),))
    hunt.give(Chose("set_facts", SEAT, {"facts": {"cube:red": "grab:LF"}}))
    return hunt


def test_a_cube_moved_before_the_roll_is_told_records_no_roll() -> None:
    """Of 4, 5 and 6 the table cannot say which it was: it is asked for, also where somebody ends the turn."""
    hunt = grabbing()
    for _ in range(2):
        said = hunt.match.judgement
        assert said is not None
        assert "moogh.roll_untold" in [said.words.id, *(m.id for m in said.details)]
        assert hunt.match.provisional is None and hunt.texts == []
        assert not hunt.give(Chose("done", SEAT, {})).ok


@pytest.mark.parametrize("value", range(1, 7))
def test_the_roll_that_is_told_then_counts_and_the_table_is_put_as_it_says(value: int) -> None:
    hunt = grabbing()
    assert hunt.roll(value).ok
    assert hunt.texts == [f"red roll grab {value}"]
    table = RULES.look(hunt.match.agreed)["cube:red"]
    assert table == ("grab:LF" if value >= 4 else "4,1")


def test_a_done_button_where_a_roll_is_awaited_rolls_nothing() -> None:
    """Also where every value would come to the same."""
    hunt = Hunt().on()
    before = hunt.texts
    assert not hunt.give(Chose("done", SEAT, {})).ok
    assert hunt.texts == before


def test_a_roll_that_follows_a_choice_of_which_the_end_was_not_told_makes_it_final() -> None:
    hunt = Hunt().lay(("save", "red", "shake"), ("drop_to", "red"))
    state = hunt.match.agreed
    men = tuple(replace(m, at="top") if m.name == "red" else m for m in state.men)
    hunt.match = replace(hunt.match, states=(replace(state, men=men),))
    hunt.give(Chose("set_facts", SEAT, {"facts": {"cube:red": "{},{}".format(*NEXT_TO_THE_BEAST)}}))
    assert hunt.match.provisional is not None
    assert hunt.roll(6).ok
    assert hunt.texts == ["red drop_to 4,1", "red roll save:shake 6"]
    assert [e.by for e in hunt.match.entries] == ["next", "rolled"]


# --- a second opinion ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sources", [(DIE, CAMERA), (CAMERA, DIE)])
def test_two_sources_that_agree_are_one_roll(sources: tuple[Author, Author]) -> None:
    hunt = Hunt().on()
    before = len(hunt.texts)
    hunt.roll(4, sources[0], 10.0)
    assert hunt.roll(4, sources[1], 10.0 + PAIR_S).ok
    assert len(hunt.texts) == before + 1 and hunt.match.question is None
    assert hunt.match.judgement is not None
    assert [m.id for m in hunt.match.judgement.details] == ["rolls.agree"]
    assert [e.author for e in hunt.events if e.kind in ("rolled", "seconded")][-2:] == list(sources)


@pytest.mark.parametrize("sources", [(DIE, CAMERA), (CAMERA, DIE)])
@pytest.mark.parametrize("answer", [0, 1])
def test_two_sources_that_differ_are_asked_about(sources: tuple[Author, Author], answer: int) -> None:
    hunt = Hunt().on()
    awaited, before = hunt.awaited, len(hunt.texts)
    hunt.roll(4, sources[0], 10.0)
    reply = hunt.roll(2, sources[1], 10.5)
    asked = hunt.match.question
    assert asked is not None and reply.ok and asked.words.id == "rolls.differ"
    values = dict(asked.words.values)
    assert (values["one"], values["two"]) == (4, 2)
    assert values["first"] == f"@rolls.source_{sources[0].kind}"
    assert hunt.match.judgement is not None and hunt.match.judgement.kind == "question"
    assert hunt.answer(answer).ok
    assert hunt.texts[before:] == [f"{awaited} {(4, 2)[answer]}"] and hunt.match.question is None


def test_nothing_goes_on_while_the_sources_differ() -> None:
    hunt = Hunt().on()
    hunt.roll(4, DIE, 10.0)
    hunt.roll(2, CAMERA, 10.5)
    texts, asked = hunt.texts, hunt.match.question
    further = RULES.text(next(iter(RULES.legal(hunt.match.agreed))))
    for reply in (
        hunt.tell(further),
        hunt.roll(3, DIE, 14.0),
        hunt.give(Chose("set_facts", SEAT, {"facts": {"die:rage": "1"}})),
        hunt.give(Chose("referee", SEAT)),
    ):
        assert not reply.ok and reply.words is not None and reply.words.id == "rolls.answer_first"
    assert hunt.texts == texts and hunt.match.question == asked


def test_where_one_is_silent_the_other_serves() -> None:
    for author in (DIE, CAMERA):
        hunt = Hunt().on()
        for n in range(6):
            awaited = hunt.on().awaited
            assert hunt.roll(1 + n, author, 10.0 + 100 * n).ok
            assert hunt.texts[-1] == f"{awaited} {1 + n}"


def test_the_same_source_twice_is_two_rolls() -> None:
    hunt = Hunt().on()
    hunt.roll(4, DIE, 10.0)
    before = len(hunt.texts)
    reply = hunt.roll(4, DIE, 11.0)
    assert reply.ok == (len(hunt.texts) == before + 1)
    assert hunt.match.question is None


def test_two_electronic_dice_are_no_second_opinion_of_each_other() -> None:
    hunt = saving()
    hunt.roll(2)
    hunt.answer(0)
    assert hunt.give(Rolled("b", 2, Author("die", "b"), 6, 10.4)).ok
    assert hunt.texts == ["red roll save:attack 2", "brown roll save:attack 2"]


def test_a_late_second_report_may_be_the_next_roll_and_is_asked_about() -> None:
    """A hand was over the tray: what the camera sees then is the same roll, or the next one."""
    for value, words in ((2, "rolls.once_or_twice"), (6, "rolls.differ")):
        hunt = saving()
        hunt.roll(2)
        hunt.answer(0)
        assert hunt.roll(value, CAMERA, 10.0 + PAIR_S + 1).ok
        asked = hunt.match.question
        assert asked is not None and asked.words.id == words
        assert hunt.texts == ["red roll save:attack 2"]
        assert hunt.answer(len(asked.choices) - 1).ok
        assert hunt.texts == ["red roll save:attack 2", f"brown roll save:attack {value}"]
    far = saving()
    far.roll(2)
    far.answer(0)
    assert far.roll(2, CAMERA, 10.0 + LATE_S + 1).ok
    assert far.texts == ["red roll save:attack 2", "brown roll save:attack 2"]


def test_an_old_roll_does_not_count() -> None:
    hunt = saving()
    hunt.roll(2, at_s=100.0)
    hunt.answer(0)
    reply = hunt.roll(5, DIE, 100.0 - PAIR_S - 1)
    assert not reply.ok and reply.words is not None and reply.words.id == "rolls.older"
    assert len(hunt.texts) == 1


def test_a_roll_entered_by_hand_is_recorded_as_such_and_seconded() -> None:
    hunt = Hunt().on()
    awaited, before = hunt.awaited, len(hunt.texts)
    assert hunt.tell(f"{awaited} 4", at_s=10.0).ok
    noted = next(e for e in reversed(hunt.events) if e.kind == "rolled")
    assert (noted.data["source"], noted.author) == ("seat", SEAT)
    assert hunt.match.judgement is not None
    assert [m.id for m in hunt.match.judgement.details] == ["rolls.from_seat"]
    assert hunt.roll(4, DIE, 10.5).ok and len(hunt.texts) == before + 1
    hunt = Hunt().on()
    hunt.tell(f"{hunt.awaited} 4", at_s=10.0)
    hunt.roll(3, DIE, 10.5)
    assert hunt.match.question is not None and hunt.match.question.words.id == "rolls.differ"


def test_a_tap_just_after_the_die_has_told_it_is_no_second_roll() -> None:
    """Double Stab rolls twice to hit: the tap for the first die must not become the second one."""
    hunt = Hunt().lay(("hit", "red", "DS", 0))
    hunt.roll(1, DIE, 10.0)
    assert hunt.awaited == "red roll hit"
    reply = hunt.tell("red roll hit 1", at_s=11.0)
    assert reply.ok and reply.words is not None and reply.words.id == "rolls.known"
    assert hunt.texts == ["red roll hit 1"]
    assert hunt.tell("red roll hit 1", at_s=20.0).ok and len(hunt.texts) == 2


def test_taking_a_roll_back_forgets_it() -> None:
    hunt = Hunt(1).on()
    before = hunt.match.turns
    hunt.roll(4, DIE, 10.0)
    hunt.give(Chose("undo_to", SEAT, {"number": before}))
    if hunt.match.offer is not None:
        hunt.give(Chose("agree", SEAT))
    assert hunt.match.turns == before and hunt.match.throw is None
    assert hunt.roll(5, CAMERA, 10.5).ok and hunt.texts[-1].endswith("5")


# --- in the service --------------------------------------------------------------------------------------------


def test_a_roll_that_does_not_count_is_said_on_the_screen_until_something_happens(tmp_path: Any) -> None:
    journal, _ = open_journal(tmp_path)
    bulletin = Bulletin()
    service = Service(games, journal, bulletin)
    recorder = Recorder(tmp_path / "recording")
    service.on_input = recorder.note
    service.submit("new_game", {"game": "moogh", "players": ["Ada", "Bea"]}, SEAT)
    service.hear(Rolled("a", 4, DIE, 6, 10.0))
    assert [t.words.id for t in bulletin.snapshot().troubles] == ["rolls.not_awaited"]
    state = service.match.agreed
    service.submit("declare", {"text": RULES.text(next(iter(RULES.legal(state))))}, SEAT)
    assert bulletin.snapshot().troubles == ()
    recorder.close()
    journal.close()
    again = replay(tmp_path / "recording", games)
    assert (again.inputs, again.differences) == (3, ())


def test_every_sentence_about_rolls_is_there_in_every_language() -> None:
    wanted = {k for k in catalogue("en") if k.startswith("rolls.")}
    for lang in LANGUAGES:
        assert wanted <= catalogue(lang).keys()
    assert {f"rolls.{a}_{b}" for a in ("from", "source") for b in ("die", "camera", "seat")} <= wanted


def test_stories_of_a_roll_are_legal_turns_of_their_players() -> None:
    state = RULES.new(Setup(("Ada", "Bea")))
    assert roll_stories(RULES, state, 6, 4) == ()
    state = Hunt().on().match.agreed
    for value in range(1, 7):
        for story in roll_stories(RULES, state, 6, value):
            assert RULES.apply(state, story.turn) == story.after
            assert story.player in RULES.to_act(state).players
