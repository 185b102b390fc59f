"""Moguli's rulings one by one, on boards on which every move can be worked out by looking."""

from __future__ import annotations

import pytest

from companion.games.contract import Refusal, RulesError
from companion.games.moguli import RULES
from companion.games.moguli.board import BIT, INDEX
from companion.games.moguli.routes import witness
from companion.words import say
from tests.games.moguli_boards import at, listed, locks, pawns, play, refused

# Row 4: a pawn of each side; the first player's can pass under c4 to d4 and e4.
OPEN = at("a4", "c4")
# Row 1 has one free door, e1; turned by -90 it leads from row 1 up to e2, and only then a pawn can leave.
CORNER = {"e1": "B0", "e2": "S0"}
DUTY = at("a1,b1", "c1,d1", tiles=CORNER)


def test_the_line_of_a_row_lets_a_pawn_pass_under_the_other() -> None:
    moves = {text for text in listed(OPEN) if text.startswith("M") and "," not in text}
    assert moves == {"M a4-d4", "M a4-e4"}


def test_r1_angles_are_90_180_and_270() -> None:
    for angle in ("+90", "+180", "-90", "+270"):
        play(at("a4", "c4", tiles={"e7": "B0"}), f"R e7{angle}")
    with pytest.raises(RulesError, match=r"e7\+170"):
        RULES.parse("R e7+170")


def test_r2_a_half_turn_of_a_straight_changes_no_path_but_locks() -> None:
    after = play(OPEN, "R c4+180, M a4-e4")
    assert after.tiles == OPEN.tiles
    assert locks(after) == ["c4"]
    assert refused(after, "R c4+180") == "locked"


def test_r3_one_tile_twice_locks_once_and_a_net_turn_of_nothing_is_legal() -> None:
    before = at("a4", "c4", tiles={"e7": "B0"})
    after = play(before, "R e7+90, M a4-d4, B e7-90")
    assert after.tiles == before.tiles
    assert locks(after) == ["e7"]
    for angle in ("+90", "+180", "-90"):
        assert refused(after, f"R e7{angle}") == "locked"


def test_r3_both_tiles_of_a_turn_are_locked_for_one_turn() -> None:
    after = play(OPEN, "R a7+90, M a4-d4, B b7+90")
    assert locks(after) == ["a7", "b7"]
    assert locks(play(after, "-")) == []


def test_r4_the_own_door_left_is_no_pawn_to_pass_under() -> None:
    alone = at("b4", "a1")
    assert refused(alone, "M b4-c4") == "no_underground"
    below = at("b4", "a1", tiles={"c4": "s0"})
    assert refused(below, "M b4-e4") == "no_pass_under"


def test_r4_the_own_door_left_is_free_to_end_under() -> None:
    """Over the surface to a4, below under c4 and the own door b4 alike: the own door may lie on the way."""
    ring = at("b4", "d4", flags="c")
    play(ring, "M b4-c4")
    play(ring, "M b4-b4")


def test_r5_the_pawn_goes_down_where_its_surface_step_ended() -> None:
    tiles = {"b4": "s1", "b5": "S0", "b6": "S0"}
    state = at("a4", "b5", tiles=tiles)
    assert pawns(play(state, "M a4-b6")) == {"b6": 1, "b5": 2}
    barred = at("a4,b4", "b5", tiles=tiles)
    assert refused(barred, "M a4-b6") == "door_occupied"


def test_r6_a_move_may_return_to_its_door() -> None:
    ring = at("a4", "c4", flags="c")
    after = play(ring, "M a4-a4")
    assert after.pawns == ring.pawns
    assert locks(play(ring, "M a4-a4, B e7+90")) == ["e7"]


def test_r6_a_returning_move_frees_no_door() -> None:
    ring = at("a1,b1,c1,d1", "e4", flags="c")
    assert refused(ring, "M a1-a1") == "two_free_doors"


def test_r7_the_better_of_two_routes_counts() -> None:
    ring = at("a4,b4", "e4", flags="c")
    play(ring, "M a4-c4, B e7+90")
    others = ring.pawns[0] | ring.pawns[1]
    a4, c4 = INDEX["a4"], INDEX["c4"]
    route = witness(ring.tiles, a4, c4, others ^ BIT[a4], ring.pawns[1], True)
    assert route is not None
    assert route.bonus
    assert route.names == (("a4",), ("a4", "e4", "d4"), ("d4", "c4"))
    assert route.steps == 3


def test_r7_no_bonus_for_passing_under_an_own_pawn_only() -> None:
    state = at("a4,b4", "e7")
    assert refused(state, "M a4-c4, B a7+90") == "no_bonus"
    play(state, "M a4-c4, R a7+90")


def test_r8_able_by_a_rotation_is_able() -> None:
    assert refused(DUTY, "-") == "obliged"
    assert refused(DUTY, "R e1-90") == "obliged"
    assert pawns(play(DUTY, "R e1-90, M b1-e2"))["e2"] == 1


def test_r8_by_the_position_a_player_is_released_and_may_still_use_the_way() -> None:
    state = at("a1,b1", "c1,d1", tiles=CORNER, flags="p")
    play(state, "-")
    play(state, "R a7+90")
    play(state, "R e1-90, M b1-e2")


def test_r8_a_released_player_may_not_move_another_pawn() -> None:
    state = at("a1,a4,b1", "c1,c4,d1")
    play(state, "-")
    assert refused(state, "M a4-d4") == "obliged_other"
    assert refused(state, "R a7+90, M a4-d4") == "obliged_other"


def test_r9_an_obliged_player_who_can_must_move_out_of_the_row() -> None:
    state = at("a1,b1,a4", "c1,c4,d1", tiles={"e1": "B3", "e2": "S0"})
    assert refused(state, "-") == "obliged"
    answer = RULES.apply(state, RULES.parse("-"))
    assert isinstance(answer, Refusal) and answer.places == ("a1", "b1"), "the pawns in the row, not the one on a4"
    assert refused(state, "M a4-d4") == "obliged_other"
    assert refused(state, "M b1-e1") == "two_free_doors"
    assert pawns(play(state, "M b1-e2"))["e2"] == 1


def test_r10_nothing_a_rotation_or_a_move_alone_are_turns() -> None:
    for text in ("-", "R a1+90", "M a4-d4", "M a4-d4, R a1+90", "R a1+90, M a4-d4"):
        play(OPEN, text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("R a1+90, R b1+90", "two_rotations"),
        ("M a4-d4, M d4-a4", "two_moves"),
        ("B a1+90", "no_bonus"),
        ("B a1+90, M a4-d4", "no_bonus"),
        ("M a4-d4, B a1+90, R b1+90", "bonus_last"),
        ("X4", "exchange_only_before"),
        ("resign 1, M a4-d4", "one_declaration"),
        ("M c4-a4", "not_your_pawn"),
        ("M b4-d4", "no_pawn_there"),
        ("M a4-c4", "door_occupied"),
        ("M a4-b4", "no_underground"),
        ("M a4-a5", "no_path"),
        ("R b4+90, M a4-d4", "no_path"),
    ],
)
def test_what_a_turn_may_not_hold(text: str, rule: str) -> None:
    assert refused(OPEN, text) == rule


def test_r10_a_rotation_may_break_the_path_after_the_move_only() -> None:
    play(OPEN, "M a4-d4, R b4+90")
    assert refused(OPEN, "R b4+90, M a4-d4") == "no_path"


def test_r10_compulsory_actions() -> None:
    state = at("a4", "c4", flags="m")
    assert refused(state, "-") == "rotation_missing"
    assert refused(state, "M a4-d4") == "rotation_missing"
    assert refused(state, "M a4-d4, B a1+90") == "rotation_missing"
    assert refused(state, "R a1+90") == "move_missing"
    assert refused(state, "R b4+90") == "rotation_ends_duty"
    play(state, "R a1+90, M a4-d4")
    play(state, "M a4-d4, R b4+90, B b4+90")


def test_r10_compulsory_but_unable_is_exactly_one_rotation() -> None:
    state = at("a4", "c6", flags="m")
    assert refused(state, "-") == "rotation_missing"
    play(state, "R a1+90")


def test_the_second_player_wins_at_once_with_four() -> None:
    column = {f"e{row}": "S0" for row in range(1, 8)}
    after = play(at("e3", "e5,b1,c1,d1", 2, tiles=column), "M e5-e1")
    assert after.over is not None
    assert (after.over.winner, after.over.why) == (1, "four")


def test_r11_the_first_player_with_four_gives_one_last_turn() -> None:
    column = {f"e{row}": "S0" for row in range(1, 8)}
    state = play(at("e3,a7,b7,c7", "e5,b1,c1,d1", 1, tiles=column), "M e3-e7")
    assert state.over is None
    assert state.last_turn
    # e5 alone can go down the column, under nobody: no fourth pawn.
    lost = play(state, "-")
    assert lost.over is not None
    assert (lost.over.winner, lost.over.why) == (0, "four")


def test_r11_both_with_four_is_a_draw() -> None:
    column = {f"e{row}": "S0" for row in range(1, 8)}
    state = play(at("e3,a7,b7,c7,e2", "e5,b1,c1,d1", 1, tiles=column), "M e3-e7")
    drawn = play(state, "M e5-e1")
    assert drawn.over is not None
    assert (drawn.over.winner, drawn.over.why) == (None, "both_four")


def test_r11_obligations_hold_in_the_last_turn() -> None:
    column = {f"e{row}": "S0" for row in range(1, 8)}
    state = at("a7,b7,c7,d7,e4", "e7,b1", 2, tiles=column, last=True)
    assert refused(state, "-") == "obliged"
    assert refused(state, "R a4+90") == "obliged"
    play(state, "M e7-e2")


def test_r12_three_turns_without_a_possible_move_end_the_game() -> None:
    state = at("a7,b3", "c1", run=2)
    after = play(state, "R d5+90")
    assert after.over is not None
    assert (after.over.winner, after.over.why) == (None, "blocked")
    more = play(at("a7,b5", "c2", run=2), "-")
    assert more.over is not None
    assert (more.over.winner, more.over.why) == (0, "blocked")
    fewer = play(at("b5", "c1", run=2), "-")
    assert fewer.over is not None
    assert fewer.over.winner == 1
    assert play(at("a7,b5", "c2", run=1), "-").over is None


def test_r12_being_able_and_not_moving_breaks_the_series() -> None:
    after = play(at("a4", "c4", run=2), "-")
    assert after.over is None
    assert after.blocked_run == 0


def test_r12_an_obliged_player_without_an_obliged_move_counts() -> None:
    after = play(at("a1,a4,b1", "c1,c4,d1", run=1), "-")
    assert after.blocked_run == 2


def test_r12_the_measure_is_the_turn_whatever_ability_says() -> None:
    after = play(at("a1,b1", "c1,d1", tiles=CORNER, flags="p", run=2), "-")
    assert after.over is None
    assert after.blocked_run == 0


def test_r13_both_may_resign_and_agree_a_draw_at_any_time() -> None:
    for text, winner in (("resign 1", 1), ("resign 2", 0), ("resign", 1), ("draw", None)):
        after = play(OPEN, text)
        assert after.over is not None
        assert after.over.winner == winner
        assert refused(after, "-") == "game_over"
        assert listed(after) == set()


def test_r14_without_a_pawn_at_home_there_is_no_duty() -> None:
    state = at("a4", "a1,b1,c1,d1,c4")
    play(state, "-")
    play(state, "M a4-d4")


def test_r15_a_rotation_may_not_leave_the_duty_undone() -> None:
    state = at("a1,b1", "c1,d1", tiles={"e1": "B3", "e2": "S0"})
    assert refused(state, "R e1+90") == "rotation_ends_duty"
    assert refused(state, "R a7+90") == "obliged"
    play(state, "M b1-e2, R e1+90")
    assert not any(text.startswith("R") and "M" not in text for text in listed(state))


def test_two_free_doors_bind_a_pawn_that_comes_home() -> None:
    tiles = {"d1": "B0", "d2": "B2", "c1": "S1", "e1": "S1"}
    state = at("a1,b1,c1,a2", "c2", tiles=tiles)
    assert refused(state, "M a2-e1") == "two_free_doors"
    assert refused(state, "M a2-d1") == "two_free_doors"


def test_two_free_doors_do_not_bind_a_move_within_the_row_while_two_stay_free() -> None:
    state = at("a1,b1,c1", "c5")
    assert pawns(play(state, "M a1-d1"))["d1"] == 1


def test_the_cylinder_joins_a_and_e_but_not_rows_1_and_7() -> None:
    assert refused(at("a4", "e4"), "M a4-d4") == "no_underground"
    play(at("a4", "e4", flags="c"), "M a4-d4")
    columns = {f"a{row}": "S0" for row in range(1, 8)}
    assert refused(at("a1", "a7", tiles=columns, flags="c"), "M a1-a6") == "no_underground"


def test_new_starting_row_each_may_exchange_once_the_first_player_first() -> None:
    tiles = {"a1": "b0", "a4": "b3", "a5": "b2", "a7": "b1"}
    state = at("a1,b1", "a7,b7", tiles=tiles, more="rows setup=1")
    assert listed(state) == {"X-", "X3", "X4", "X5"}
    assert RULES.to_act(state).players == (0,)
    assert refused(state, "M a1-c1") == "exchange_first"
    second = play(state, "X4")
    assert RULES.to_act(second).players == (1,)
    assert RULES.look(second)["path:a1"] == "NW"
    assert RULES.look(second)["path:a4"] == "NE"
    assert second.pawns == state.pawns
    begun = play(second, "X5")
    assert begun.setup is None
    assert RULES.look(begun)["path:a7"] == "SW"
    assert RULES.to_act(begun).players == (0,)
    assert refused(begun, "X3") == "exchange_only_before"


def test_new_starting_row_declined_is_over_for_the_first_player() -> None:
    state = at("a1", "a7", more="rows setup=1")
    second = play(state, "X-")
    assert second.tiles == state.tiles
    assert RULES.to_act(play(second, "X3")).kind == "turn"


def test_a_refusal_fills_its_sentence() -> None:
    answer = RULES.apply(OPEN, RULES.parse("M a4-d4, M d4-a4"))
    assert isinstance(answer, Refusal)
    assert answer.places == ("d4", "a4")
    assert say(answer.message) == "Only one pawn may be moved in a turn (2 were: a4, d4)."


def test_a_refusal_for_want_of_a_path_says_how_far_paths_lead() -> None:
    answer = RULES.apply(at("b4", "d4", tiles={"e4": "S0"}), RULES.parse("M b4-b6"))
    assert isinstance(answer, Refusal)
    assert dict(answer.values)["reached"] == "a4, b4, c4, d4"
