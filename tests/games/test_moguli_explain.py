"""What the engine makes of a look: legal stories, and for illegal changes the rule that a player would name."""

from __future__ import annotations

import random

import pytest

from companion.games.contract import RulesError, Setup
from companion.games.moguli import RULES, deal
from companion.games.moguli.planted import PLANTS, Plant
from companion.games.moguli.players import choose
from companion.games.moguli.start import tile_set
from companion.games.moguli.state import State
from tests.games.moguli_boards import at, explained, locks, named, play, seen

OPEN = at("a4", "c4")


def stories(state: State, **changes: str) -> list[tuple[str, int, list[str]]]:
    """Text, unseen acts and locked tiles of every story."""
    found = explained(state, seen(state, **changes)).stories
    return [(RULES.text(story.turn), story.unseen, locks(story.after)) for story in found]


BENDS = {f"{column}{row}": "B0" for column in "abcde" for row in (1, 2, 3, 5, 6, 7)}
ROW = at("a4", "c4", tiles=BENDS)


def test_a_rotation_is_told_from_what_turned() -> None:
    assert stories(ROW, e7="SW")[0] == ("R e7+180", 0, ["e7"])


def test_a_straight_turned_by_a_quarter_may_be_either() -> None:
    assert stories(OPEN, e7="NS")[0] == ("R e7+90", 0, ["e7"])


def test_nothing_seen_is_nothing_done_or_an_unseen_half_turn() -> None:
    found = explained(OPEN, RULES.look(OPEN)).stories
    assert (RULES.text(found[0].turn), found[0].unseen) == ("-", 0)
    assert (RULES.text(found[1].turn), found[1].unseen) == ("R a1+180", 1)
    assert len(found) == 36


def test_a_move_and_what_the_bonus_may_have_hidden() -> None:
    found = stories(ROW, a4="-", d4="1")
    assert found[0] == ("M a4-d4", 0, [])
    assert ("M a4-d4, R e7+180, B e7+180", 2, ["e7"]) in found
    assert ("M a4-d4, B b4+180", 1, ["b4"]) in found
    # nothing; one of 5 straights; one of 30 bends turned back; two of 5 straights
    assert len(found) == 1 + 5 + 30 + 10


def test_two_tiles_and_a_move_under_the_opponent() -> None:
    found = stories(ROW, a4="-", d4="1", e7="SW", a1="ES")
    assert found == [("M a4-d4, R a1+90, B e7+180", 0, ["a1", "e7"])]


def test_a_rotation_that_opens_the_way_came_first() -> None:
    closed = at("a4", "c4", tiles={"b4": "S0"})
    assert stories(closed, b4="EW", a4="-", d4="1")[0] == ("R b4+90, M a4-d4", 0, ["b4"])


def test_a_rotation_that_closes_the_way_came_last() -> None:
    assert stories(ROW, b4="NS", a4="-", d4="1")[0] == ("M a4-d4, B b4+90", 0, ["b4"])


def test_two_tiles_turned_and_no_pawn_moved_over_a_ring() -> None:
    ring = at("a4", "c4", flags="c", tiles=BENDS)
    assert stories(ring, e7="SW", a1="ES") == [("M a4-a4, R a1+90, B e7+180", 1, ["a1", "e7"])]


def test_one_tile_turned_twice_where_one_rotation_could_not() -> None:
    """b4 must lie east-west for the move; it is seen north-south before and after."""
    closed = at("a4", "c4", tiles={**BENDS, "b4": "S0"})
    assert stories(closed, a4="-", d4="1") == [("R b4+90, M a4-d4, B b4+90", 2, ["b4"])]


def test_an_exchange_of_rows_is_told_from_what_lies_there() -> None:
    state = at("a1", "a7", tiles={"a4": "b0"}, more="rows setup=1")
    look = dict(RULES.look(play(state, "X4")))
    found = explained(state, look).stories
    assert [(RULES.text(story.turn), story.unseen) for story in found] == [("X4", 0)]


def test_anything_but_an_exchange_is_refused_in_the_setup() -> None:
    state = at("a1", "a7", tiles={"a4": "b0"}, more="rows setup=1")
    assert named(state, a5="NS") == ("exchange_rows", ("a5",))
    assert named(state, a1="-", b1="1") == ("exchange_pawns", ("a1", "b1"))


@pytest.mark.parametrize(
    ("state", "changes", "rule", "places"),
    [
        (OPEN, {"c4": "-", "c6": "2"}, "not_your_pawn", ("c4", "c6")),
        (at("a4,a5", "c4"), {"a4": "-", "a5": "-", "d4": "1", "d5": "1"}, "two_moves", ("a4", "a5", "d4", "d5")),
        (at("a4", "c4", locked="e7"), {"e7": "NS"}, "locked", ("e7",)),
        (at("a4", "c4", locked="e7"), {"e7": "NS", "a4": "-", "d4": "1"}, "locked", ("e7",)),
        (OPEN, {"e7": "NS", "e6": "NS", "e5": "NS"}, "three_rotations", ("e5", "e6", "e7")),
        (OPEN, {"e7": "NS", "e6": "NS"}, "no_bonus", ("e6", "e7")),
        (at("a4,b4", "e7"), {"a4": "-", "c4": "1", "e6": "NS", "a1": "NS"}, "no_bonus", ("a1", "e6")),
        (OPEN, {"a4": "-", "b4": "1"}, "no_underground", ("a4", "b4")),
        (at("a4", "e7", tiles={"b4": "s0"}), {"a4": "-", "c4": "1"}, "no_pass_under", ("a4", "c4")),
        (OPEN, {"a4": "-", "a6": "1"}, "no_path", ("a4", "a6")),
        (
            at("a4,b4", "b5", tiles={"b4": "s1", "b5": "S0", "b6": "S0"}),
            {"a4": "-", "b6": "1"},
            "door_occupied",
            ("a4", "b6", "b4"),
        ),
        (at("a1,b1,c1,a2", "c2", tiles={"e2": "B2", "e1": "B0"}), {"a2": "-", "e1": "1"}, "two_free_doors", None),
        (at("a1,b1,c1,d1", "c4"), {"a1": "-", "e1": "1"}, "two_free_doors", ("a1", "e1")),
        (at("a1,b1,a4", "c1,c4,d1"), {"a4": "-", "d4": "1"}, "obliged_other", ("a4",)),
        (OPEN, {"a4": "-"}, "pawn_gone", ("a4",)),
        (OPEN, {"a4": "2"}, "pawn_gone", ("a4",)),
        (OPEN, {"c4": "1", "a4": "-"}, "pawn_gone", ("c4",)),
        (OPEN, {"b4": "2"}, "pawn_added", ("b4",)),
        (OPEN, {"b4": "triangle no"}, "tile_changed", ("b4",)),
        (OPEN, {"b4": "NE"}, "tile_changed", ("b4",)),
    ],
)
def test_the_rule_a_player_would_name(
    state: State, changes: dict[str, str], rule: str, places: tuple[str, ...] | None
) -> None:
    found = named(state, **changes)
    assert found[0] == rule
    assert places is None or found[1] == places


def test_two_tiles_turned_before_the_move_that_needs_both() -> None:
    state = at("a4", "c4", tiles={"b4": "S0", "d4": "S0"})
    assert named(state, b4="EW", d4="EW", a4="-", e4="1")[0] == "bonus_last"


def test_what_comes_first_when_several_rules_are_broken() -> None:
    state = at("a4,b4", "c4,e7", locked="e5")
    look = seen(state, e5="NS", c4="-", c6="2")
    rules = [refusal.rule for refusal in explained(state, look).refusals]
    assert rules == ["moguli.not_your_pawn", "moguli.locked"]


def test_an_obliged_turn_that_is_not_finished_yet() -> None:
    state = at("a1,b1", "c1,d1", tiles={"e1": "B3", "e2": "S0"})
    for changes in ({}, {"a7": "NS"}):
        answer = explained(state, seen(state, **changes))
        assert answer.refusals[0].rule == "moguli.obliged"
        assert answer.refusals[0].places[-2:] == ("a1", "b1")
        assert answer.unfinished
        assert not answer.warnings


def test_r15_warns_while_the_turn_is_open() -> None:
    state = at("a1,b1", "c1,d1", tiles={"e1": "B3", "e2": "S0"})
    answer = explained(state, seen(state, e1="NE"))
    assert answer.refusals[0].rule == "moguli.rotation_ends_duty"
    assert answer.unfinished
    assert [warning.id for warning in answer.warnings] == ["moguli.rotation_ends_duty"]


def test_an_illegal_act_is_not_called_unfinished() -> None:
    state = at("a1,b1", "c1,d1", tiles={"e1": "B3", "e2": "S0"}, locked="a7")
    answer = explained(state, seen(state, a7="NS"))
    assert [refusal.rule for refusal in answer.refusals] == ["moguli.locked", "moguli.obliged"]
    assert not answer.unfinished


def test_after_the_end_every_change_is_refused() -> None:
    ended = play(OPEN, "draw")
    assert named(ended, e7="NS") == ("game_over", ("e7",))
    assert explained(ended, RULES.look(ended)).stories == ()


def test_a_look_with_a_fact_missing_or_impossible_is_no_look() -> None:
    look = dict(RULES.look(OPEN))
    del look["path:c3"]
    with pytest.raises(RulesError, match="path:c3"):
        RULES.explain(OPEN, look)
    with pytest.raises(RulesError, match="'3'"):
        RULES.explain(OPEN, {**RULES.look(OPEN), "pawn:b2": "3"})


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_planted_acts_get_the_rule_they_were_built_to_break(plant: Plant) -> None:
    chance = random.Random(plant.__name__)
    planted = 0
    for game in range(6):
        tiles = tile_set("mixed" if game % 3 == 0 else "published")
        options = {"cylinder": game % 2 == 1, "ability": "position" if game % 4 == 3 else "turn"}
        state = RULES.new(Setup(("A", "B"), options, deal(chance, tiles)))
        for _ in range(25):
            if state.over is not None:
                break
            act = plant(state, chance)
            if act is not None:
                planted += 1
                answer = RULES.explain(state, {**RULES.look(state), **act[0]})
                assert not answer.stories
                assert answer.refusals[0].rule == act[1], RULES.position_text(state)
                assert set(answer.refusals[0].places) & {key.split(":")[1] for key in act[0]}
            after = RULES.apply(state, choose(state, chance))
            assert isinstance(after, State)
            state = after
    assert planted > 3
