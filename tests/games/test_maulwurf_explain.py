"""What the camera sees of Die Maulwurfshöhle: which turn made it, or which rule stands in the way."""

from __future__ import annotations

import pytest

from companion.games.contract import Explanation, RulesError, Setup
from companion.games.maulwurf import RULES
from companion.games.maulwurf.state import State, Turn
from tests.games.test_maulwurf_rules import RING, position


def explained(state: State, **cells: str) -> Explanation[State, Turn]:
    """The explanation of the look of `state` with some cells changed (`at_5_0="-"`; a minus is an `m`)."""
    facts = {f"cell:{k[3:].replace('_', ',').replace('m', '-')}": v for k, v in cells.items()}
    return RULES.explain(state, {**RULES.look(state), **facts})


def told(state: State, **cells: str) -> list[str]:
    explanation = explained(state, **cells)
    assert not explanation.refusals
    return [RULES.text(story.turn) for story in explanation.stories]


def named(state: State, **cells: str) -> tuple[str, tuple[str, ...]]:
    explanation = explained(state, **cells)
    assert not explanation.stories and explanation.refusals
    first = explanation.refusals[0]
    return first.rule.removeprefix("maulwurf."), first.places


def test_a_step_a_push_a_dig_and_a_forced_dig_are_told() -> None:
    state = position({"1,5": 0, "1,6": 2})
    assert told(state, at_1_5="-", at_2_5="mole1") == ["1,5>2,5"]
    assert told(state, at_1_5="-", at_1_6="mole1", at_1_7="mole3") == ["1,5>>1,6"]
    assert told(position({"5,0": 0}), at_5_0="-", at_m8_0="mole1") == ["5,0>4,0 4,0~-8,0"]
    assert told(position({"4,0": 0}, ("4,0",)), at_4_0="-", at_m8_0="mole1") == ["4,0~-8,0"]


def test_a_push_with_its_dig_and_a_ring_in_one_turn_is_told() -> None:
    moles = {"-1,0": 0, "0,1": 0, "0,-1": 0, "2,0": 2, "4,0": 0, "3,0": 0}
    state = position({**moles, "1,0": 2})
    after = RULES.apply(state, RULES.parse("4,0>>3,0"))
    assert isinstance(after, State)
    assert told(state, **{"at_4_0": "-", "at_0_0": "mole3"} | _line(after)) == ["4,0>>3,0"]
    ring = position({"0,3": 0, "0,2": 2, "-1,0": 0, "1,0": 0, "0,-1": 0, "0,1": 0})
    seen = RULES.trace(ring, RULES.parse("0,3>>0,2"))
    assert [RULES.text(s.turn) for s in RULES.explain(ring, {**RULES.look(ring), **seen}).stories] == ["0,3>>0,2"]


def _line(after: State) -> dict[str, str]:
    look = RULES.look(after)
    return {f"at_{x}_0": look[f"cell:{x},0"] for x in (0, 1, 2, 3)}


def test_a_ring_with_its_busy_tile_and_the_taken_mole_is_told() -> None:
    state = position({**RING, "0,0": 2})
    assert told(state, at_1_m1="-", at_0_m1="mole1", at_0_0="busy1") == ["1,-1>0,-1"]


def test_several_digs_to_one_position_are_one_explanation() -> None:
    explanation = explained(position({"3,3": 0}), at_3_3="-", at_0_8="mole1")
    assert len(explanation.stories) == 1
    assert RULES.text(explanation.stories[0].turn) in ("3,3>2,4 2,4~0,8", "3,3>4,2 4,2~0,8", "3,3>4,4 4,4~0,8")


def test_an_unchanged_table_is_a_pass_only_for_a_player_without_a_turn() -> None:
    stuck = position({"0,0": 0, "0,2": 0, "2,0": 0, "2,2": 0})
    (story,) = explained(stuck).stories
    assert RULES.text(story.turn) == "pass" and story.unseen == 1
    assert named(position({"1,5": 0})) == ("nothing_moved", ())


def test_illegal_acts_are_named_with_their_places() -> None:
    state = position({"1,5": 0, "0,1": 0, "3,0": 0, "7,0": 0, "8,0": 2})
    assert named(state, at_7_2="-", at_7_1="mole3") == ("not_your_mole", ("7,2",))
    assert named(state, at_0_1="-", at_0_0="mole1") == ("step_into_cave", ("0,1", "0,0"))
    assert named(state, at_3_0="-", at_4_0="mole1") == ("must_dig", ("4,0",))
    assert named(state, at_1_5="-", at_1_7="mole1") == ("not_adjacent", ("1,5", "1,7"))
    over_edge = {"at_7_0": "-", "at_8_0": "mole1", "at_9_0": "mole3"}
    assert named(state, **over_edge) == ("push_over_edge", ("7,0", "8,0", "9,0"))


def test_a_busy_tile_in_the_line_and_a_moved_busy_tile_are_named() -> None:
    state = position({"0,4": 0, "0,3": 2}, busy={"0,2": 2})
    seen = {"at_0_4": "-", "at_0_3": "mole1", "at_0_2": "mole3", "at_0_1": "busy3"}
    assert named(state, **seen)[0] == "push_moves_busy"
    assert named(state, at_0_2="-", at_2_2="busy3")[0] == "busy_stays"
    assert named(state, at_2_2="busy1") == ("busy_too_early", ("2,2",))
    assert named(state, at_5_0="busy1") == ("busy_off_cave", ("5,0",))


def test_a_mole_that_must_dig_first_is_named() -> None:
    state = position({"4,0": 0, "1,5": 0}, ("4,0",))
    assert named(state, at_1_5="-", at_1_6="mole1") == ("must_dig_first", ("4,0",))


def test_a_mole_coming_out_of_a_cave_by_itself_is_named() -> None:
    assert named(position({"0,0": 0}), at_0_0="-", at_0_1="mole1") == ("stuck_in_cave", ("0,0",))


def test_a_pusher_in_a_cave_where_the_table_forbids_it_is_named() -> None:
    state = position({"0,3": 0, "0,2": 2}, options="--")
    assert named(state, at_0_3="-", at_0_2="mole1", at_0_1="mole3")[0] == "pusher_enters_cave"


def test_the_missing_busy_tile_of_a_closed_ring_is_asked_for() -> None:
    state = position({**RING, "0,0": 2})
    assert named(state, at_1_m1="-", at_0_m1="mole1") == ("busy_due", ("0,0",))
    assert named(state, at_1_m1="-", at_0_m1="mole1", at_0_0="-") == ("busy_due", ("0,0",))


def test_two_moles_of_one_player_and_two_players_at_once_are_told_apart() -> None:
    state = position({"1,5": 0, "3,3": 0})
    both = {"at_1_5": "-", "at_1_6": "mole1", "at_3_3": "-", "at_3_2": "mole1"}
    assert named(state, **both)[0] == "two_moves"
    assert named(state, at_1_5="-", at_1_6="mole1", at_7_2="-", at_7_1="mole3")[0] == "two_turns"


def test_a_lost_mole_and_one_too_many_are_named_by_colour() -> None:
    state = position({"1,5": 0})
    assert named(state, at_1_5="-") == ("mole_missing", ("1,5",))
    assert named(state, at_3_3="mole3") == ("mole_extra", ("3,3",))


def test_then_move_combinations_are_told() -> None:
    state = position({"4,0": 0, "4,4": 0, "1,5": 0}, ("4,0", "4,4"), options="et")
    after = RULES.apply(state, RULES.parse("4,4~8,0 4,0~4,4 1,5>1,6"))
    assert isinstance(after, State)
    explanation = RULES.explain(state, RULES.look(after))
    assert after in [s.after for s in explanation.stories]
    assert all(RULES.apply(state, s.turn) == s.after for s in explanation.stories)


def test_a_look_that_is_no_look_is_refused() -> None:
    state = position({"1,5": 0})
    with pytest.raises(RulesError):
        RULES.explain(state, {"cell:44,44": "-"})
    with pytest.raises(RulesError):
        RULES.explain(state, {"cell:1,5": "purple"})
    assert RULES.explain(state, {"cell:1,5": "-", "cell:1,6": "mole1", "hand:x": "?"}).stories


# Start and corrections


def test_a_start_is_read_from_the_table() -> None:
    state = RULES.new(Setup(("Ada", "Ben", "Cem")))
    assert RULES.start_from_look(RULES.look(state), {}) == {"seats": [0, 1, 2]}


def test_every_fault_of_a_start_is_named() -> None:
    look = {**RULES.look(RULES.new(Setup(("Ada", "Ben")))), "cell:0,9": "-", "cell:0,0": "mole1"}
    refusals = RULES.start_from_look(look, {})
    assert {(r.rule, r.places) for r in refusals} == {
        ("maulwurf.start_missing", ("0,9",)),
        ("maulwurf.start_extra", ("0,0",)),
    }
    one_sided = RULES.look(position({}, home=False))
    assert RULES.start_from_look(one_sided, {})[0].rule == "maulwurf.start_few_seats"


def test_a_correction_moves_a_mole_and_keeps_the_rest() -> None:
    state = position({"4,0": 0, "1,5": 0}, ("4,0",))
    after = RULES.with_look(state, {"cell:1,5": "-", "cell:1,7": "mole1"})
    assert isinstance(after, State) and RULES.look(after)["cell:1,7"] == "mole1"
    assert after.pending == state.pending and after.to_move == state.to_move


def test_a_correction_may_not_lose_or_double_a_mole() -> None:
    state = position({"1,5": 0})
    for facts, rule in (
        ({"cell:1,5": "-"}, "mole_missing"),
        ({"cell:1,6": "mole1"}, "mole_extra"),
        ({"cell:1,6": "mole2"}, "no_such_color"),
        ({"cell:1,6": "busy1"}, "busy_off_cave"),
        ({"cell:0,0": "busy1", "cell:0,2": "busy1", "cell:2,2": "busy1"}, "too_many_busy"),
    ):
        refusal = RULES.with_look(state, facts)
        assert not isinstance(refusal, State) and refusal.rule == f"maulwurf.{rule}"
    taken = RULES.with_look(position({"0,0": 2, "1,5": 0}), {"cell:0,0": "busy1"})
    assert isinstance(taken, State) and taken.moles(2) == 4


def test_a_turn_that_only_lacks_its_dig_or_busy_tile_is_unfinished() -> None:
    assert explained(position({"3,0": 0}), at_3_0="-", at_4_0="mole1").unfinished
    assert explained(position(RING), at_1_m1="-", at_0_m1="mole1").unfinished
    push = position({"3,0": 0, "4,0": 2})
    pushed = explained(push, at_3_0="-", at_4_0="mole1", at_5_0="mole3")
    assert pushed.unfinished and pushed.refusals[0].rule == "maulwurf.must_dig"
    assert not explained(position({"1,5": 0}), at_1_5="-", at_1_7="mole1").unfinished
    assert not explained(position({"1,5": 0}), at_7_2="-", at_7_1="mole3").unfinished


def test_then_move_is_unfinished_until_all_have_dug_and_one_has_moved() -> None:
    state = position({"4,0": 0, "4,4": 0, "1,5": 0}, ("4,0", "4,4"), options="et")
    one = explained(state, at_4_0="-", at_0_8="mole1")
    assert one.unfinished and one.refusals[0].rule == "maulwurf.dig_on" and one.refusals[0].places == ("4,4",)
    two = explained(state, at_4_0="-", at_0_8="mole1", at_4_4="-", at_8_0="mole1")
    assert two.unfinished and two.refusals[0].rule == "maulwurf.then_move"


def test_acts_that_show_are_not_unseen_and_a_landing_between_is_none() -> None:
    state = position({"1,5": 0, "5,0": 0})
    for seen in ({"at_1_5": "-", "at_2_5": "mole1"}, {"at_5_0": "-", "at_m8_0": "mole1"}):
        assert [story.unseen for story in explained(state, **seen).stories] == [0]


def test_the_first_cell_of_the_board_is_a_cell_like_any_other() -> None:
    """Its index is 0: a mole can be pushed into the first corner, and over the edge from it no more."""
    state = position({"2,7": 0, "1,8": 2})
    assert told(state, at_2_7="-", at_1_8="mole1", at_0_9="mole3") == ["2,7>>1,8"]
    assert told(position({"1,8": 0}), at_1_8="-", at_0_9="mole1") == ["1,8>0,9"]


def test_the_second_busy_tile_may_be_put_right_by_hand_and_no_third() -> None:
    state = position({"1,5": 0, "0,-3": 2, "0,0": 0, "2,0": 0}, busy={"-2,0": 0})
    second = RULES.with_look(state, {"cell:2,0": "busy1"})
    assert isinstance(second, State) and second.busy(0) == 2
    third = RULES.with_look(state, {"cell:2,0": "busy1", "cell:0,0": "busy1"})
    assert not isinstance(third, State) and third.rule == "maulwurf.too_many_busy"


def test_own_and_foreign_moles_that_go_too_far_are_told_apart() -> None:
    state = position({"4,0": 0, "7,2": 2, "5,3": 2})
    assert named(state, at_4_0="-", at_4_3="mole1") == ("not_adjacent", ("4,0", "4,3"))
    assert named(state, at_7_2="-", at_7_m1="mole3") == ("not_your_mole", ("7,2",))


def test_a_dig_without_landing_first_is_named_for_the_act_that_comes_nearest() -> None:
    """From entrance to entrance nothing but a pending mole digs; from beside one it has to step on it first."""
    state = position({"4,0": 0, "0,1": 2})
    assert named(state, at_4_0="-", at_m8_0="mole1")[0] == "no_dig"
    busy = position({"3,3": 0, "2,4": 2, "4,2": 2, "4,4": 2})
    assert named(busy, at_3_3="-", at_0_8="mole1") == ("not_adjacent", ("3,3", "0,8"))


def test_nobody_declares_anything_once_it_is_over_or_without_a_seat() -> None:
    state = RULES.new(Setup(("a", "b")))
    assert RULES.declarations(state, 0) and not RULES.declarations(state, 2) and not RULES.declarations(state, -1)
    over = RULES.apply(state, RULES.parse("draw"))
    assert isinstance(over, State) and RULES.outcome(over) is not None
    assert not RULES.declarations(over, 0) and not RULES.declarations(over, 1)
