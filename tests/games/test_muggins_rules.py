"""Muggins, case by case: each test is named after the rule or ruling that it shows."""

from __future__ import annotations

import pytest

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.muggins import RULES
from companion.games.muggins.play import legal
from companion.games.muggins.state import State
from companion.games.muggins.tiles import SET, Line, Tile, cost, end_sum, extend, points, tally

NAMES = ("Ada", "Ben", "Cem", "Dot")


def tiles(text: str) -> tuple[Tile, ...]:
    return tuple((int(t[0]), int(t[1])) for t in text.split())


def rest(*used: str) -> str:
    """The tiles of the set that are in none of the texts, in order, as a boneyard's text."""
    gone = {tuple(sorted(t)) for text in used for t in tiles(text.replace("/", " ").replace(",", " ").replace("-", ""))}
    return ",".join(f"{a}{b}" for a, b in SET if (a, b) not in gone) or "-"


def opened(line: str, hands: str, boneyard: str | None = None, to_move: int = 0, more: str = "") -> State:
    """An open position in play; the boneyard is whatever the line and the hands leave, unless it is given."""
    players = hands.count("/") + 1
    used = (line.replace(",", " "), hands)
    parts = [line, hands, rest(*used) if boneyard is None else boneyard, " ".join("0" * players), str(to_move)]
    return RULES.parse_position(" | ".join([*parts, "250" if players == 2 else "200", *([more] if more else [])]))


def play(state: State, text: str) -> State:
    after = RULES.apply(state, RULES.parse(text))
    assert isinstance(after, State), f"{text}: {after}"
    return after


def refused(state: State, text: str) -> str:
    turn = RULES.parse(text)
    after = RULES.apply(state, turn)
    assert isinstance(after, Refusal), f"{text} was accepted"
    assert turn not in legal(state)
    return after.rule.removeprefix("muggins.")


def texts(state: State) -> list[str]:
    return [RULES.text(turn) for turn in legal(state)]


def fresh(players: int = 2, hands: str = "secret", starter: int | None = 0) -> State:
    return RULES.new(Setup(NAMES[:players], {"hands": hands}, {"starter": starter}))


# Set, deal, start


@pytest.mark.parametrize(("players", "each", "left", "target"), [(2, 7, 14, 250), (3, 5, 13, 200), (4, 5, 8, 200)])
def test_deal_seven_tiles_for_two_five_for_more_and_all_the_rest_may_be_drawn(
    players: int, each: int, left: int, target: int
) -> None:
    state = fresh(players)
    assert [state.holds(p) for p in range(players)] == [each] * players
    assert (state.left, state.target) == (left, target)


def test_the_first_starter_is_drawn_by_lot_and_ties_are_drawn_again_among_the_tied() -> None:
    state = fresh(4, starter=None)
    assert RULES.to_act(state).kind == "roll" and RULES.to_act(state).players == (0, 1, 2, 3)
    assert refused(state, "open 66") == "expects_lot"
    state = play(state, "lot 2 4")
    assert RULES.to_act(state).players == (1, 3)
    assert refused(state, "lot 1") == "lot_among"
    state = play(state, "lot 4")
    assert RULES.to_act(state).players == (3,)


def test_an_open_deal_is_the_whole_set() -> None:
    state = fresh(2, "open")
    hands = "00,01,02,03,04,05,06 / 11,12,13,14,15,16,22"
    boneyard = rest(hands)
    after = play(state, f"deal {hands} | {boneyard}")
    assert after.phase == "play" and after.to_move == 0 and after.left == 14
    assert refused(state, f"deal {hands} | {boneyard[:-3]}") == "deal_not_the_set"
    assert refused(state, f"deal {hands.replace('11,', '')} | {boneyard},11") == "deal_sizes"
    assert refused(fresh(), "open 66; deal") == "one_a_turn"


# Placing


def test_the_starter_opens_with_any_tile_in_hand() -> None:
    state = opened("-", "00,35,46,12,13,14,15 / 66,22,33,44,55,01,02")
    assert texts(state) == [f"open {t}" for t in ("00", "35", "46", "12", "13", "14", "15")]
    assert refused(state, "open 66") == "not_in_hand"


def test_a_tile_joins_an_end_by_an_equal_half() -> None:
    state = opened("14", "11,44,46,23,35,00,66 / 55,22,33,01,02,03")
    assert set(texts(state)) == {"left 11", "right 44", "right 46"}
    assert refused(state, "left 44") == "does_not_fit"
    assert play(state, "right 46").line == ((1, 4), (4, 6))
    assert refused(state, "open 11") == "opened_already"


def test_a_tile_lies_in_the_line_once() -> None:
    secret = play(fresh(), "open 14")
    assert refused(secret, "left 14") == "already_on_line"


def test_one_placement_ends_the_turn() -> None:
    state = opened("14", "11,12,46,23,35,00,66 / 55,22,33,01,02,03")
    assert play(state, "left 11").to_move == 1
    assert refused(state, "left 11; left 12") == "one_a_turn"


def test_a_player_who_holds_a_playable_tile_must_play_one() -> None:
    state = opened("14", "11,12,46,23,35,00,66 / 55,22,33,01,02,03")
    assert refused(state, "draw") == "must_play"
    assert refused(state, "pass") == "pass_with_boneyard"


def test_a_player_who_cannot_play_draws_until_the_first_playable_tile_and_places_that() -> None:
    hands = "22,23,25,26,33,35 / 00,02,03,05,06,01,12"
    state = opened("14", hands, "36,55,44,56,66,11,46,13,15,16,04,24,34,45", to_move=0)
    assert texts(state) == ["draw 36"]
    assert refused(state, "draw 44") == "not_next_in_boneyard"
    state = play(state, "draw 36; draw")
    assert texts(state) == ["draw 44"]
    state = play(state, "draw")
    assert texts(state) == ["right 44"]
    assert refused(state, "draw") == "must_play"


def test_the_drawn_tile_must_be_placed_and_not_another_from_the_hand() -> None:
    hands = "22,23,25,26,33,35 / 00,02,03,05,06,01,12"
    drawn = opened("14", hands, "44,36,55,56,66,11,46,13,15,16,04,24,34,45")
    drawn = play(drawn, "draw")
    assert refused(drawn, "left 12") == "not_in_hand"
    assert texts(drawn) == ["right 44"]


def test_pass_only_with_an_empty_boneyard_and_nothing_playable() -> None:
    assert refused(play(fresh(), "open 14"), "pass") == "pass_with_boneyard"
    line = BLOCKED.replace("05,56", "05,56,66")
    assert texts(opened(line, "44,55 / 00", "-")) == ["pass"]
    assert refused(opened(BLOCKED, "44,66 / 00,55", "-"), "pass") == "must_play"


def test_r1_a_tile_that_fits_both_ends_may_go_to_either() -> None:
    state = opened("12,25", "15,00,33,22,44,24 / 66,56,14,11,04,03")
    assert set(texts(state)) >= {"left 15", "right 15"}
    assert play(state, "left 15").scores[0] == 10
    assert play(state, "right 15").scores[0] == 0


def test_r1_with_equal_ends_the_side_matters_for_the_record_and_never_for_the_score() -> None:
    state = opened("51,12,25", "35,00,33,22,44 / 66,56,14,11,04,03")
    left, right = play(state, "left 35"), play(state, "right 35")
    assert left.scores == right.scores and left.line != right.line


# Scoring


def placed(*steps: str) -> list[tuple[int, int]]:
    line: Line = ()
    sums = []
    for step in steps:
        end, _, tile = step.rpartition(" ")
        (t,) = tiles(tile)
        longer = extend(line, t, end) if line else (t,)
        assert longer is not None
        line = longer
        sums.append((end_sum(line), points(line)))
    return sums


def test_scoring_the_worked_line_of_one_four() -> None:
    assert placed("14", "L 11", "R 44", "R 34") == [(5, 5), (6, 0), (10, 10), (5, 5)]


def test_scoring_three_six_with_the_double_six_on_it() -> None:
    assert placed("36", "R 66") == [(9, 0), (15, 15)]


def test_scoring_a_lone_double_counts_its_halves_once() -> None:
    assert placed("22") == [(4, 0)]
    assert placed("00") == [(0, 0)]
    assert placed("55") == [(10, 10)]


def test_scoring_a_covered_double_counts_no_longer() -> None:
    assert placed("55", "R 45", "L 05") == [(10, 10), (14, 0), (4, 0)]


def test_the_score_is_the_placements_and_no_one_elses() -> None:
    state = play(play(fresh(3), "open 14"), "right 44")
    assert state.scores == (5, 0, 0)
    assert play(state, "left 11").scores == (5, 0, 10)


@pytest.mark.parametrize(
    ("hand", "lost"),
    [("", 0), ("00", 0), ("01", 0), ("11", 0), ("12", 5), ("13", 5), ("05", 5), ("34", 5), ("35", 10), ("66 66", 25)],
)
def test_a_hand_costs_its_pips_to_the_nearest_five(hand: str, lost: int) -> None:
    assert cost(tiles(hand)) == lost


@pytest.mark.parametrize(
    ("score", "marks"), [(0, (0, 0)), (5, (0, 1)), (45, (0, 9)), (50, (1, 0)), (135, (2, 7)), (-15, (0, 3))]
)
def test_paper_marks_are_fifties_and_strokes_of_five(score: int, marks: tuple[int, int]) -> None:
    assert tally(score) == marks


# End of a round


def test_a_round_ends_with_the_last_tile_and_its_placement_scores_too() -> None:
    state = opened("14", "44 / 11,56")
    after = play(state, "right 44")
    assert after.phase == "deal" and after.scores == (0, -15)
    assert after.last is not None and (after.last.out, after.last.pips, after.last.costs) == (0, (0, 13), (0, 15))
    scoring = play(opened("05", "55 / 11,56"), "right 55")
    assert scoring.scores == (10, -15)


def test_who_emptied_the_hand_starts_the_next_round() -> None:
    after = play(opened("14", "11,56 / 44", to_move=1), "right 44")
    assert after.starter == 1
    hands = "00,01,02,03,04,05,06 / 11,12,13,14,15,16,22"
    again = play(after, f"deal {hands} | {rest(hands)}")
    assert again.phase == "play" and again.to_move == 1 and again.round == 2


BLOCKED = "61,15,52,24,43,36,60,01,12,23,35,54,46,62,22,20,03,33,31,11,14,40,05,56"
"""A line of 24 tiles with both ends 6: of the four others only the double six fits."""


def test_r5_a_round_is_blocked_when_all_pass_in_a_row_with_an_empty_boneyard() -> None:
    line = BLOCKED.replace("05,56", "05,56,66")
    state = opened(line, "44,55 / 00", "-")
    assert texts(state) == ["pass"]
    state = play(state, "pass")
    assert state.phase == "play" and state.passes == 1
    after = play(state, "pass")
    assert after.phase == "deal" and after.last is not None and after.last.out is None
    assert after.scores == (-20, 0)


def test_after_a_blocked_round_the_starter_is_drawn_by_lot_again() -> None:
    line = BLOCKED.replace("05,56", "05,56,66")
    after = play(play(opened(line, "44,55 / 00", "-"), "pass"), "pass")
    hands = "00,01,02,03,04,05,06 / 11,12,13,14,15,16,22"
    after = play(after, f"deal {hands} | {rest(hands)}")
    assert after.phase == "lot" and after.lots == (0, 1)


def test_r2_scores_may_go_below_zero() -> None:
    assert play(opened("14", "44 / 11,56"), "right 44").scores[1] == -15


# Winning


def test_the_first_to_reach_the_target_wins_at_once_and_no_hand_is_deducted() -> None:
    state = RULES.parse_position(f"14 | 44,56 / 11,26 | {rest('14', '44 56 11 26')} | 240 245 | 0 | 250")
    left = play(state, "right 44")
    assert left.scores == (240, 245) and left.over is None
    state = RULES.parse_position(f"24 | 44,56 / 11,26 | {rest('24', '44 56 11 26')} | 240 245 | 0 | 250")
    won = play(state, "right 44")
    outcome = RULES.outcome(won)
    assert won.scores == (250, 245) and won.phase == "over"
    assert outcome is not None and outcome.winners == (0,) and outcome.reason.id == "muggins.over_target"
    assert legal(won) == [] and refused(won, "left 26") == "match_over"


def test_r3_only_the_player_who_has_just_placed_can_reach_the_target() -> None:
    state = RULES.parse_position(f"24 | 44,56 / 11,26 | {rest('24', '44 56 11 26')} | 245 245 | 0 | 250")
    assert RULES.outcome(play(state, "right 44")).winners == (0,)  # type: ignore[union-attr]


def test_r6_the_table_may_agree_to_end_between_rounds_and_the_leader_wins() -> None:
    after = play(opened("14", "44 / 11,56"), "right 44")
    (offer,) = [d for d in RULES.declarations(after, 1) if d.needs_consent]
    ended = RULES.apply(after, offer.turn)
    assert isinstance(ended, State)
    outcome = RULES.outcome(ended)
    assert outcome is not None and outcome.winners == (0,) and outcome.reason.id == "muggins.over_agreed"
    assert refused(opened("14", "44 / 11,56"), "end") == "end_between_rounds"


def test_r6_equal_leaders_draw() -> None:
    outcome = RULES.outcome(play(fresh(3, starter=None), "end"))
    assert outcome is not None and outcome.winners == ()


def test_r4_the_table_may_correct_a_score_by_a_recorded_adjustment() -> None:
    state = play(fresh(), "adjust 2 -10")
    assert state.scores == (0, -10)
    assert refused(state, "adjust 2 +3") == "adjust_by_fives"
    won = play(state, "adjust 1 +250")
    assert won.over is not None and won.over.winner == 0


def test_faulty_texts_and_setups_are_refused() -> None:
    for text in ("", "open", "open 77", "left", "middle 14", "draw 9", "lot 5", "show 5 00", "adjust 1 5", "deal 01"):
        with pytest.raises(RulesError):
            RULES.parse(text)
    for setup in (
        Setup(NAMES[:1]),
        Setup((*NAMES, "Eve")),
        Setup(NAMES[:2], {"hands": "glass"}),
        Setup(NAMES[:2], {"wind": True}),
        Setup(NAMES[:2], {}, {"starter": 2}),
        Setup(NAMES[:2], {}, {"tiles": []}),
        Setup(NAMES[:2], {}, "now"),
    ):
        with pytest.raises(RulesError):
            RULES.new(setup)
