"""Commands: who may give which, when, and what each does; the match is always the fold of its events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from companion.commands import COMMANDS
from companion.doubts import ASK_S
from companion.evidence import Author, Chose
from companion.fold import BrokenHistoryError, fold
from companion.games.contract import Message
from companion.match import Event, Match
from companion.registry import GAMES
from companion.snapshots import snapshot
from companion.step import step
from tests.companion.table import TestTable, games


def _by_hand(seed: int = 0) -> TestTable:
    """A match that is played on the page, with no camera."""
    table = TestTable(seed=seed)
    args = {"game": "moguli", "players": ["Ada", "Bea"], "id": "h", "start": table.match.setup.start}
    assert table.say("new_game", **args).ok
    return table


def _notes(table: TestTable) -> tuple[Message, ...]:
    return snapshot(table.match, None, 1).notes


def test_a_game_can_be_played_by_hand_alone() -> None:
    table = _by_hand()
    assert table.match.manual
    for _ in range(4):
        player = table.rules.to_act(table.state).players[0]
        turn = table.turn()
        facts = table.rules.trace(table.match.agreed, turn)
        assert table.say("set_facts", player, facts=dict(facts)).ok
        assert table.match.provisional is not None
        assert table.say("done", player).ok
        assert table.match.agreed == table.state


def test_by_hand_an_illegal_act_is_shown_and_taken_back_without_touching_the_last_turn() -> None:
    table = _by_hand()
    turn = table.turn()
    table.say("set_facts", facts=dict(table.rules.trace(table.match.agreed, turn)))
    table.say("done")
    assert table.match.turns == 1
    pawn = next(k for k, v in table.look().items() if k.startswith("pawn:") and v == "1")
    table.say("set_facts", facts={pawn: "-"})
    assert table.kind == "illegal" and table.match.table[pawn] == "-"
    refused = table.say("done")
    assert not refused.ok
    assert table.say("takeback").ok
    assert table.match.turns == 1 and table.match.table[pawn] == "1"


def test_by_hand_the_page_shows_what_the_next_act_builds_on() -> None:
    table = _by_hand()

    def shown() -> Any:
        return snapshot(table.match, None, 1).view

    assert table.say("set_facts", facts={"pawn:a1": "-", "pawn:a7": "-", "pawn:c4": "1", "pawn:c3": "2"}).ok
    assert table.kind == "illegal" and shown()["pawns"] != table.rules.view(table.match.agreed, None)["pawns"]
    assert shown() == table.rules.view(table.rules.with_look(table.match.agreed, table.match.table), None)
    assert table.say("set_facts", facts={"pawn:a1": "1", "pawn:a7": "2", "pawn:c4": "-", "pawn:c3": "-"}).ok
    assert table.kind != "illegal" and shown() == table.rules.view(table.match.agreed, None)
    table.say("set_facts", facts={"pawn:a1": "-", "pawn:c4": "1"})
    assert table.say("takeback").ok
    assert shown() == table.rules.view(table.match.agreed, None)
    table.say("set_facts", facts={"pawn:a1": "-"})
    assert table.kind in ("illegal", "open") and shown() == table.rules.view(table.match.agreed, None)


def test_undo_to_goes_back_to_the_position_after_that_turn() -> None:
    table = TestTable(seed=1)
    states = [table.state]
    for _ in range(4):
        table.play(1)
        states.append(table.state)
    assert table.say("undo_to", number=2).ok
    assert table.match.agreed == states[2] and table.match.turns == 2
    assert not table.say("undo_to", number=3).ok


def test_a_correction_changes_the_position_and_is_not_undone_by_the_same_misreading() -> None:
    table = TestTable(seed=2)
    table.play(2)
    turned = {"NE": "ES", "ES": "SW", "SW": "NW", "NW": "NE"}
    key = "path:c4"
    misread, truth = table.look()[key], turned[table.look()[key]]
    assert table.say("correct", 0, facts={key: truth}).ok
    assert table.rules.look(table.match.agreed)[key] == truth
    events = len(table.events)
    table.see(table.look(path_c4=misread), times=4)
    assert table.rules.look(table.match.now)[key] == truth and table.match.provisional is None
    assert len(table.events) == events, "the camera says what it said before: no news"
    table.see(table.look(path_c4=truth), times=2)
    assert not table.match.told


def test_a_correction_that_would_lose_a_piece_is_refused() -> None:
    table = TestTable(seed=2)
    pawn = next(k for k, v in table.look().items() if v == "1" and k.startswith("pawn:"))
    reply = table.say("correct", 0, facts={pawn: "-"})
    assert not reply.ok and reply.words is not None


def test_a_corrected_record_is_judged_again_and_what_breaks_is_marked_not_dropped() -> None:
    table = TestTable(seed=3)
    table.play(4)
    texts = [e.text for e in table.match.entries]
    before = table.match.states[0]
    other = next(
        t for t in table.rules.legal(before) if table.rules.text(t).startswith("M") and table.rules.text(t) != texts[0]
    )
    assert table.say("correct_turn", number=1, text=table.rules.text(other)).ok
    assert len(table.match.entries) == 4 and table.match.entries[0].corrected
    assert [e.text for e in table.match.entries[1:]] == texts[1:]
    assert table.say("correct_turn", number=1, text=texts[0]).ok
    assert not any(e.refused for e in table.match.entries)
    assert table.match.agreed == table.state


def test_a_turn_corrected_to_an_illegal_one_is_refused_with_the_rule() -> None:
    table = TestTable(seed=3)
    table.play(2)
    reply = table.say("correct_turn", number=2, text=table.match.entries[0].text)
    assert not reply.ok and reply.words is not None and reply.words.id.startswith("moguli.")


def test_an_unseen_act_is_declared() -> None:
    table = TestTable(seed=1)
    turn = table.turn()
    text = table.rules.text(turn)
    assert table.say("declare", 0, text=text).ok
    assert table.match.turns == 1 and table.match.entries[0].by == "declared"
    assert table.match.lag is not None, "the table has still to follow"
    reply = table.say("declare", 0, text=text)
    assert not reply.ok, "it is the other one's turn"


def test_resigning_ends_the_game_and_a_takeback_opens_it_again() -> None:
    table = TestTable(seed=1)
    said = [d for d in table.rules.declarations(table.state, 1) if d.message.id == "game.resign"]
    assert table.say("declare", 1, text=table.rules.text(said[0].turn)).ok
    assert table.match.phase == "over" and table.match.outcome is not None and table.match.outcome.winners == (0,)
    assert table.say("takeback", 1).ok
    assert table.match.phase == "playing"


@pytest.mark.parametrize("agreed", [True, False])
def test_a_draw_needs_the_other_players_consent(agreed: bool) -> None:
    table = TestTable(seed=1)
    said = next(d for d in table.rules.declarations(table.state, 0) if d.needs_consent)
    assert table.say("declare", 0, text=table.rules.text(said.turn)).ok
    assert table.match.phase == "playing" and table.match.offer is not None
    assert Message("table.offer_waits", (("player", "#0"), ("what", f"@{said.message.id}"))) in _notes(table)
    assert not table.say("agree", 0).ok, "nobody agrees to their own offer"
    assert table.say("agree" if agreed else "decline", 1).ok
    assert table.match.phase == ("over" if agreed else "playing") and table.match.offer is None
    assert all(note.id != "table.offer_waits" for note in _notes(table))


def test_every_act_is_offered_once() -> None:
    for options in ({}, {"new_starting_row": True}):
        table = TestTable(seed=1)
        start = table.match.setup.start
        assert table.say(
            "new_game", game="moguli", players=["Ada", "Bea"], options=options, start=start, id="n", manual=True
        ).ok
        offered = [(a.command, a.player, a.args.get("text")) for a in snapshot(table.match, None, 1).acts]
        assert len(offered) == len(set(offered)) and ("declare", 0) in {o[:2] for o in offered}


def test_nothing_is_judged_while_paused() -> None:
    table = TestTable(seed=1)
    table.say("pause")
    table.turn()
    table.see(times=3)
    assert table.match.provisional is None
    assert not table.say("done").ok
    table.say("resume")
    table.see()
    assert table.match.provisional is not None


def test_the_referee_button_shows_every_doubt() -> None:
    table = TestTable(seed=1)
    assert table.say("referee").ok
    weak = {"path:b3": {"NE": 0.0, "ES": -3.0, "SW": -9.0, "NW": -9.0}}
    look = table.look()
    best = look["path:b3"]
    weak = {"path:b3": {v: (0.0 if v == best else -3.0 if v != "NS" else -9.0) for v in ("NE", "ES", "SW", "NW", "NS")}}
    table.see(weak=weak)
    assert table.match.judgement is not None
    assert table.match.judgement.words.id == "table.doubts" and table.match.judgement.places == ("b3",)


def test_the_start_names_what_lies_wrong_and_begins_only_when_it_is_right() -> None:
    table = TestTable(seed=1)
    table.say("new_game", game="moguli", players=["Ada", "Bea"], start="table", id="n")
    right = table.look()
    wrong = {**right, "pawn:c1": "-", "pawn:c3": "1"}
    table.see(wrong)
    assert not table.match.check.ready and {"c1", "c3"} <= set(table.match.check.places)
    assert not table.say("accept_start").ok
    table.see(right)
    assert table.match.check.ready
    assert table.done(1).ok
    assert table.match.phase == "playing" and table.match.agreed == table.state


def test_a_doubtful_tile_at_the_start_is_asked() -> None:
    table = TestTable(seed=1)
    table.say("new_game", game="moguli", players=["Ada", "Bea"], start="table", id="n")
    truth = table.look()["path:b3"]
    other = next(v for v in ("NE", "ES", "SW", "NW") if v != truth)
    weak = {"path:b3": {truth: -0.5, other: 0.0, "NS": -15.0}}
    table.see(weak=weak)
    table.see(weak=weak, step_s=ASK_S)
    question = table.match.question
    assert question is not None and {c.facts["path:b3"] for c in question.choices} >= {truth, other}
    chosen = next(c for c in question.choices if c.facts["path:b3"] == truth)
    assert table.say("answer", question=question.id, value=chosen.value).ok
    table.see(weak=weak)
    assert table.say("accept_start").ok and table.match.agreed == table.state


def test_a_weak_pawn_at_the_start_is_repaired_by_the_rules() -> None:
    table = TestTable(seed=1)
    table.say("new_game", game="moguli", players=["Ada", "Bea"], start="table", id="n")
    table.see(weak={"pawn:c1": {"1": -0.5, "2": 0.0, "-": -9.0}})
    assert table.match.check.ready


def test_without_markers_the_side_is_asked_once() -> None:
    table = TestTable(seed=1)
    table.say("new_game", game="moguli", players=["A", "B"], start="table", id="n", corners=["a1", "e1", "e7", "a7"])
    question = table.match.question
    assert question is not None and [c.facts["side"] for c in question.choices] == ["a1", "e1", "e7", "a7"]
    table.see()
    assert not table.match.check.ready
    assert table.say("answer", question=question.id, value="e7").ok
    assert table.match.side == "e7" and table.match.question is None
    table.see()
    assert table.match.check.ready


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"game": "nonsense"}, "companion.unknown_game"),
        ({"players": ["Ada"]}, "companion.wrong_players_exactly"),
        ({"game": "muggins", "players": ["Ada"], "start": None}, "companion.wrong_players"),
        ({"players": ["Ada", " Ada "]}, "companion.same_name"),
        ({"players": ["Ada", "ADA"]}, "companion.same_name"),
        ({"players": ["Ada", ""]}, "companion.wrong_players_exactly"),
        ({"players": ["Ada", "\u200b\u202e\x00"]}, "companion.wrong_players_exactly"),
        ({"options": {"cylinder": "yes"}}, "companion.bad_option"),
        ({"options": {"nonsense": True}}, "companion.unknown_option"),
        ({"players": None}, "companion.bad_arguments"),
        ({"options": [1]}, "companion.bad_arguments"),
    ],
)
def test_a_bad_new_game_is_refused_in_words_and_changes_nothing(change: dict[str, Any], words: str) -> None:
    table = TestTable(seed=1)
    before = table.match
    args = {"game": "moguli", "players": ["Ada", "Bea"], "start": "table", "id": "n", **change}
    reply = table.say("new_game", **args)
    assert not reply.ok and reply.words is not None and reply.words.id == words
    assert table.match == before


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Eva\nMaria ", "Eva Maria"),
        ("Eva \u202eabc\u202c", "Eva abc"),
        ("\x1b[31mEva\x00", "[31mEva"),
        ("\u0645\u0631\u064a\u0645", "\u0645\u0631\u064a\u0645"),
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
        ("x" * 10_000, "x" * 40),
    ],
)
def test_a_name_is_kept_as_it_can_be_shown(given: str, kept: str) -> None:
    table = TestTable(seed=1)
    start = table.match.setup.start
    assert table.say("new_game", game="moguli", players=[given, "Bea"], start=start, id="n").ok
    assert table.match.setup.players == (kept, "Bea")


def test_a_start_that_breaks_the_rules_is_refused_by_its_rule() -> None:
    table = TestTable(seed=1)
    before = table.match
    reply = table.say("new_game", game="moguli", players=["A", "B"], id="n", start={"tiles": {"a1": ["XX", True]}})
    assert not reply.ok and reply.words is not None and reply.words.id.startswith("moguli.")
    assert table.match == before


def test_an_event_of_another_program_version_is_named() -> None:
    with pytest.raises(BrokenHistoryError, match="nonsense"):
        fold([Event("nonsense")], games)
    with pytest.raises(BrokenHistoryError, match="turn"):
        fold([Event("turn", {"turn": "M a1-a2", "player": 0, "by": "done"})], games)


JUNK = st.one_of(
    st.none(), st.integers(-3, 99), st.text(max_size=5), st.just({}), st.just([1]), st.just({"path:c3": "NE"})
)


class MatchMachine(RuleBasedStateMachine):
    """Any sequence of readings and commands: never an exception, and the match is the fold of its events."""

    @initialize(seed=st.integers(0, 50), hand=st.booleans())
    def begin(self, seed: int, hand: bool) -> None:
        self.table = _by_hand(seed) if hand else TestTable(seed=seed)

    @rule()
    def play(self) -> None:
        if self.table.match.phase == "playing" and self.table.rules.outcome(self.table.match.agreed) is None:
            self.table.state = self.table.match.agreed
            self.table.turn()
            self.table.see()

    @rule(times=st.integers(1, 3))
    def see(self, times: int) -> None:
        self.table.see(times=times, step_s=0.5)

    @rule(data=st.data())
    def disturb(self, data: st.DataObject) -> None:
        look = self.table.look()
        key = data.draw(st.sampled_from(sorted(look)))
        values = sorted({v for k, v in look.items() if k.split(":")[0] == key.split(":")[0]})
        self.table.see({**look, key: data.draw(st.sampled_from(values))}, times=2, step_s=0.7)

    @rule(by=st.sampled_from([None, 0, 1]))
    def press_done(self, by: int | None) -> None:
        self.table.done(by)

    @rule(
        by=st.sampled_from([None, 0, 1]), command=st.sampled_from(["takeback", "agree", "decline", "referee", "done"])
    )
    def plain(self, by: int | None, command: str) -> None:
        self.table.say(command, by)

    @rule(command=st.sampled_from(["pause", "resume"]))
    def hold(self, command: str) -> None:
        self.table.say(command)

    @rule(number=st.integers(-1, 5))
    def undo(self, number: int) -> None:
        self.table.say("undo_to", number=number)

    @rule(data=st.data(), command=st.sampled_from(["set_facts", "correct"]))
    def facts(self, data: st.DataObject, command: str) -> None:
        key = data.draw(st.sampled_from(["path:c3", "pawn:c1", "pawn:b4", "triangle:a1", "nonsense"]))
        self.table.say(command, facts={key: data.draw(st.sampled_from(["NE", "SW", "-", "1", "yes", "?"]))})

    @rule(by=st.sampled_from([0, 1]))
    def offer(self, by: int) -> None:
        if self.table.match.states:
            said = [d for d in self.table.rules.declarations(self.table.match.agreed, by) if d.needs_consent]
            for declaration in said[:1]:
                self.table.say("declare", by, text=self.table.rules.text(declaration.turn))

    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        question = self.table.match.question
        if question is not None:
            value = data.draw(st.sampled_from([c.value for c in question.choices]))
            self.table.say("answer", question=question.id, value=value)

    @rule(
        command=st.sampled_from(sorted(COMMANDS)), junk=JUNK, name=st.sampled_from(["facts", "number", "text", "value"])
    )
    def nonsense(self, command: str, junk: Any, name: str) -> None:
        if command not in ("pause", "resume"):
            self.table.say(command, **{name: junk})

    @invariant()
    def folded(self) -> None:
        if hasattr(self, "table"):
            assert self.table.refolded() == self.table.match
            match = self.table.match
            assert len(match.states) in (0, len(match.entries) + 1)
            assert match.phase != "over" or match.outcome is not None


MatchMachine.TestCase.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
TestMatchMachine = MatchMachine.TestCase


def test_a_match_of_no_game_answers_in_words() -> None:
    match = Match(lambda name: GAMES[name].load_rules())
    for command in COMMANDS:
        done = step(match, Chose(command, Author("seat", "x", 0), {}))
        assert not done.reply.ok and done.reply.words is not None and done.match == match


def test_a_place_that_stays_hidden_at_the_start_is_asked_only_for_what_the_rules_leave_open() -> None:
    table = TestTable(seed=1)
    table.say("new_game", game="moguli", players=["Ada", "Bea"], start="table", id="n")
    hidden = [k for k in table.look() if k.endswith(":c1")]
    table.see(hidden=hidden)
    assert not table.match.check.ready and table.match.check.places == ("c1",)
    asked = []
    for _ in range(20):
        table.see(hidden=hidden)
        question = table.match.question
        if question is not None:
            key = next(iter(question.choices[0].facts))
            asked.append(key)
            chosen = next(c for c in question.choices if c.facts[key] == table.look()[key])
            assert table.say("answer", question=question.id, value=chosen.value).ok
        if table.match.check.ready:
            break
    assert sorted(asked) == ["path:c1", "triangle:c1"]
    events = len(table.events)
    table.see(hidden=hidden, times=6)
    assert table.match.check.ready and len(table.events) - events <= 1, "it stays ready"
    assert table.say("accept_start").ok and table.match.agreed == table.state
