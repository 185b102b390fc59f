"""MOOGH's rulings, one test each, on small made-up boards; R-n are the rulings' numbers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.moogh import RULES, cards
from companion.games.moogh.engine import waits
from companion.games.moogh.state import Man, State


def deck(**changes: Any) -> dict[str, Any]:
    """The default cards on an idle beast (every space is Turn, the printed ones kept), with these tables changed."""
    data: dict[str, Any] = copy.deepcopy(dict(cards.default().data))
    idle = {str(rage): ["T", "T", "T", "T"] for rage in range(1, 7)}
    data["front"] = idle
    data["obstacles"] = []
    data |= changes
    return data


def fit(**arrows: list[list[str]]) -> dict[str, Any]:
    """The default characters with other arrows on their fit side."""
    people: dict[str, Any] = copy.deepcopy(dict(cards.default().data["characters"]))
    for man, pairs in arrows.items():
        people[man]["fit"] = pairs
    return people


def game(data: dict[str, Any], players: int = 1, places: dict[str, list[int]] | None = None, **options: Any) -> State:
    """A new game with these cards; `places` moves tribesmen before the first turn."""
    for man, cell in (places or {}).items():
        data["start"] = {**data["start"], man: cell}
        if man in data["start_solo"]:
            data["start_solo"] = {**data["start_solo"], man: cell}
    return RULES.new(Setup(tuple("abcde"[:players]), options, {"cards": data}))


def play(state: State, lines: str | Sequence[str]) -> State:
    """The state after these lines of notation, all of which must be legal."""
    for line in lines.split("\n") if isinstance(lines, str) else lines:
        if line.strip():
            after = RULES.apply(state, RULES.parse(line))
            assert not isinstance(after, Refusal), f"{line.strip()}: {after}"
            state = after
    return state


def refused(state: State, line: str) -> str:
    """The rule that refuses this line; the state is asserted to be as it was."""
    before = RULES.to_json(state)
    answer = RULES.apply(state, RULES.parse(line))
    assert isinstance(answer, Refusal), f"{line} was accepted"
    assert RULES.to_json(state) == before
    return answer.rule


def row(*actions: str) -> dict[str, list[str]]:
    """A front whose row 1 says this and all others Turn."""
    return {"1": list(actions), **{str(rage): ["T"] * len(actions) for rage in range(2, 7)}}


def test_round_order_is_red_white_beast_brown_green_beast() -> None:
    state = game(deck(), players=4)
    seen = []
    for line in (
        "red arrow 0",
        "white arrow 0",
        "red action end",
        "white action end",
        "brown arrow 0",
        "green arrow 0",
    ):
        state = play(state, line)
        now = waits(state)
        assert now is not None
        seen.append((state.phase, now.who))
    assert seen == [(1, "white"), (1, "red"), (1, "white"), (3, "brown"), (3, "green"), (3, "brown")]
    state = play(state, "brown action end\ngreen action end")
    assert (state.round, state.phase) == (2, 1)


def test_r1_stab_only_from_adjacent_spaces_unless_the_option_allows_corners() -> None:
    cards_ = deck(characters=fit(red=[["Stab", "M1"]]))
    state = play(game(cards_, places={"red": [2, 1]}), "red arrow 0")
    assert refused(state, "red action Stab") == "moogh.stab_adjacent"
    allowed = play(game(cards_, places={"red": [2, 1]}, stab_from_corners=True), "red arrow 0\nred action Stab")
    now = waits(allowed)
    assert now is not None and now.need == 1 + 1  # rage 1 and the angle of CBL


def test_hit_needs_rage_plus_angle_before_the_blow() -> None:
    state = game(deck(characters=fit(red=[["Stab", "Stab"]])), places={"red": [5, 2]})
    state = play(state, "red arrow 0\nred action Stab")
    assert waits(state).need == 3  # type: ignore[union-attr]
    missed = play(state, "red roll hit 2")
    assert (missed.health, missed.level, missed.balance) == (6, 2, 0)
    hit = play(state, "red roll hit 3")
    assert (hit.health, hit.level, hit.balance) == (5, 2, 2)  # one for the hit, one for the front


def test_r2_double_stab_raises_rage_once_when_both_miss() -> None:
    state = game(deck(characters=fit(red=[["DS", "M1"]])), places={"red": [5, 2]})
    state = play(state, "red arrow 0\nred action DS\nred roll hit 1\nred roll hit 1")
    assert (state.health, state.level, state.balance) == (6, 2, 0)


def test_r2_the_second_die_is_not_rolled_after_a_kill() -> None:
    state = game(deck(characters=fit(red=[["DS", "M1"]])), places={"red": [3, 1]})
    weak = RULES.with_look(state, {"die:health": "1"})
    assert isinstance(weak, State)
    state = play(weak, "red arrow 0\nred action DS\nred roll hit 6")
    outcome = RULES.outcome(state)
    assert outcome is not None and outcome.winners == (0,) and outcome.reason.id == "moogh.end_beast_dead"
    assert state.balance == 3


def test_kill_gives_three_in_place_of_one_and_front_still_adds() -> None:
    state = game(deck(characters=fit(red=[["Aim", "M1"]])), places={"red": [5, 2]})
    weak = RULES.with_look(state, {"die:health": "1"})
    assert isinstance(weak, State)
    assert play(weak, "red arrow 0\nred action Aim\nred roll hit 1").balance == 4


def test_r8_equal_scores_are_a_draw() -> None:
    state = game(deck(characters=fit(white=[["Stab", "M1"]])), players=2, places={"white": [3, 1]})
    even = RULES.with_look(state, {"die:health": "1", "die:points": "A3"})
    assert isinstance(even, State)
    state = play(even, "red arrow 0\nwhite arrow 0\nred action end\nwhite action Stab\nwhite roll hit 6")
    outcome = RULES.outcome(state)
    assert state.balance == 0 and outcome is not None
    assert outcome.winners == () and outcome.reason.id == "moogh.end_draw"


def test_turn_icon_turns_the_beast_with_those_who_hold_on() -> None:
    state = game(deck(characters=fit(red=[["Grab", "Stab"]])), places={"red": [3, 1]})
    state = play(state, "red arrow 0\nred action Grab\nred roll grab 4\nred action Stab\nred roll hit 2")
    assert RULES.look(state)["beast:facing"] == "north"
    assert state.man("red").at == "grab:LB"


def test_r3_sedate_is_no_attempt_and_rage_falls_by_two() -> None:
    state = game(deck(characters=fit(red=[["Sedate", "M1"]])), places={"red": [1, 2]})
    angry = RULES.with_look(state, {"rage:cell": "5.1"})
    assert isinstance(angry, State)
    state = play(angry, "red arrow 0\nred action Sedate\nred roll sedate 4\nred action end")
    assert state.level == 2  # five, minus two, minus one for a phase without an attempt
    assert state.column == 2


@pytest.mark.parametrize(("lure", "facing"), [("attract", "north"), ("scare", "south"), ("none", "east")])
def test_attract_turns_towards_scare_away_by_the_side_of_the_centreline(lure: str, facing: str) -> None:
    state = game(deck(characters=fit(red=[["AS", "M1"]])), places={"red": [4, 0]})
    state = play(state, f"red arrow 0\nred action AS\nred roll attract_scare 4\nred turn {lure}")
    assert RULES.look(state)["beast:facing"] == facing


def test_r4_pushed_ahead_when_both_sides_are_taken() -> None:
    data = deck(front=row("T", "M1", "T", "T"), obstacles=[[5, 1], [5, 4]])
    state = play(game(data, places={"red": [5, 2]}), "red arrow 0\nred action end")
    assert state.man("red").at == (6, 2)


def test_r4_r14_pushed_to_the_nearest_free_space_when_nothing_else_is() -> None:
    data = deck(front=row("T", "M1", "T", "T"), obstacles=[[5, 1], [5, 4], [6, 2]])
    state = play(game(data, places={"red": [5, 2]}), "red arrow 0\nred action end")
    assert state.man("red").at == (4, 1)  # (6, 1) is as near and in the same row: the smaller column


def test_r5_a_flight_is_at_least_one_space_and_half_the_roll() -> None:
    data = deck(front=row("T", "S", "T", "T"), characters=fit(red=[["Climb", "M1"]]))
    start = game(data, places={"red": [3, 1]})
    start = play(start, "red arrow 0\nred action Climb\nred roll climb 3\nred action end")
    start = play(start, "red roll shake_direction 1\nred fly FL")
    for pips, cell in ((1, (5, 2)), (2, (5, 2)), (4, (6, 2)), (5, (6, 2)), (6, (7, 2))):
        assert play(start, f"red roll shake_distance {pips}").man("red").at == cell


def test_r6_equal_sides_turn_clockwise_and_the_steering_player_chooses_r24() -> None:
    board = {"cols": 8, "rows": 6, "wall": "north"}
    beast = {"cells": [[3, 2], [4, 2], [3, 3], [4, 3]], "facing": "north"}
    data = deck(board={**board, "beast": beast})
    state = play(game(copy.deepcopy(data)), "red arrow 0\nred action end")
    assert RULES.look(state)["beast:facing"] == "east"
    steered = play(
        game(data, moogh_control=True), "red arrow 0\nred action end\nmoogh die_way right\nmoogh turn_way left"
    )
    assert RULES.look(steered)["beast:facing"] == "west"


def test_r7_the_balance_has_no_cap_and_the_table_is_told() -> None:
    state = RULES.with_look(game(deck()), {"die:points": "A8"})
    assert isinstance(state, State) and state.balance == 8
    assert "moogh.second_die" in [note.id for note in RULES.notes(state)]


def test_r9_start_column_zero_executes_column_one_first() -> None:
    data = deck(front=row("M1", "T", "T", "T"))
    first = play(game(copy.deepcopy(data), start_column=0), "red arrow 0\nred action end")
    assert (first.column, first.origin) == (1, (4, 2))
    second = play(game(data), "red arrow 0\nred action end")
    assert (second.column, second.origin) == (2, (3, 2))


def test_r10_both_choose_before_the_chief_resolves_in_any_order() -> None:
    state = play(game(deck(), players=4), "white arrow 1\nred arrow 2")
    assert dict(state.chosen) == {"white": ("M2", "Grab"), "red": ("M2", "Grab")}
    assert waits(state).who == "red"  # type: ignore[union-attr]


def test_r11_letting_go_is_free_even_when_both_actions_are_used() -> None:
    data = deck(characters=fit(red=[["Grab", "M1"]]))
    state = play(game(data, places={"red": [3, 1]}), "red arrow 0\nred action M1\nred step 4,1\nred action Grab")
    state = play(state, "red roll grab 5")
    assert state.man("red").at == "grab:LF"
    assert play(state, "red action let_go").man("red").at == (4, 1)


def test_letting_go_onto_an_occupied_space_pushes_its_occupant_where_he_wants() -> None:
    data = deck(characters=fit(red=[["Grab", "M1"]], green=[["M1", "M2"]]))
    state = play(game(data, places={"red": [3, 1], "green": [3, 0]}), "red arrow 0\nred action Grab\nred roll grab 4")
    state = play(state, "red action end\ngreen arrow 0\ngreen action M1\ngreen step 3,1\ngreen action end")
    state = play(state, "red arrow 0\nred action let_go")
    now = waits(state)
    assert now is not None and (now.what, now.who) == ("pushed_to", "green")
    state = play(state, "green pushed_to 2,1")
    assert (state.man("green").at, state.man("red").at) == ((2, 1), (3, 1))


def test_r12_the_second_grab_comes_in_a_later_turn_and_failing_keeps_the_hold() -> None:
    data = deck(characters=fit(red=[["Grab", "Grab"]]))
    state = play(game(data, places={"red": [3, 1]}), "red arrow 0\nred action Grab\nred roll grab 4")
    assert refused(state, "red action Grab") == "moogh.grab_adjacent"
    state = play(
        state, "red action end\ngreen arrow 0\ngreen action end\nred arrow 0\nred action Grab\nred roll grab 1"
    )
    assert state.man("red").at == "grab:LB"
    assert play(state, "red action Grab\nred roll grab 4").man("red").at == "top"


def test_r13_no_throw_and_no_luring_from_the_top_but_sedate() -> None:
    data = deck(characters=fit(red=[["Throw", "AS"], ["Sedate", "M1"]]))
    state = game(data, places={"red": [3, 1]})
    top = RULES.with_look(state, {"cube:red": "top"})
    assert isinstance(top, State)
    first = play(top, "red arrow 0")
    assert refused(first, "red action Throw") == "moogh.throw_line"
    assert refused(first, "red action AS") == "moogh.too_far"
    assert waits(play(top, "red arrow 1\nred action Sedate")).what == "sedate"  # type: ignore[union-attr]


def test_r13_a_grabber_is_hit_where_he_holds_and_the_top_is_safe() -> None:
    data = deck(front=row("T", "A1", "T", "T"))
    state = game(data)
    placed = RULES.with_look(state, {"cube:red": "grab:LB", "cube:green": "top"})
    assert isinstance(placed, State)
    state = play(placed, "red arrow 0\nred action end\nmoogh roll attack_die 4")
    now = waits(state)
    assert now is not None and [who for who, _ in now.by] == ["red"]
    state = play(state, "red roll save:attack 1")
    assert state.man("red") == Man("red", "grab:LB", 1) and state.balance == 1


def test_saves_against_one_attack_come_in_any_order() -> None:
    data = deck(front=row("T", "A1", "T", "T"))
    state = play(
        game(data, places={"red": [3, 1], "green": [2, 1]}), "red arrow 0\nred action end\nmoogh roll attack_die 4"
    )
    state = play(state, "green roll save:attack 1\nred roll save:attack 6")
    assert (state.man("green").hurt, state.man("red").hurt) == (1, 0)


def test_r16_a_mini_shake_comes_after_its_action_and_does_not_injure() -> None:
    data = deck(front=row("T", "M1*", "T", "T"))
    placed = RULES.with_look(game(data), {"cube:red": "grab:LB"})
    assert isinstance(placed, State)
    state = play(placed, "red arrow 0\nred action end")
    assert state.origin == (4, 2)
    state = play(state, "red roll save:mini_shake 1")
    assert state.man("red") == Man("red", (4, 1), 0)


def test_r19_turn_on_attacker_ignores_one_who_holds_on() -> None:
    data = deck(front={str(r): ["T", "TA", "TA", "T" if r == 3 else "TA"] for r in range(1, 7)})
    data["characters"] = fit(red=[["Stab", "M1"]])
    placed = RULES.with_look(game(data), {"cube:red": "grab:LB", "cube:green": "0,3"})
    assert isinstance(placed, State)
    state = play(placed, "red arrow 0\nred action Stab\nred roll hit 1\nred action end")
    assert RULES.look(state)["beast:facing"] == "west"  # green, though red was the attacker


def test_r19_of_equally_near_ones_the_first_quarter_turn_clockwise_counts() -> None:
    data = deck(front=row("T", "TA", "T", "T"))
    state = play(game(data, places={"red": [4, 0], "green": [3, 5]}), "red arrow 0\nred action end")
    assert RULES.look(state)["beast:facing"] == "south"
    data = deck(front=row("T", "TA", "T", "T"))
    state = play(game(data, places={"red": [4, 1], "green": [5, 2]}), "red arrow 0\nred action end")
    assert RULES.look(state)["beast:facing"] == "east"  # already looked at: no quarter at all


def test_r20_never_turns_to_the_wall_though_it_may_tread_there() -> None:
    board = {"cols": 8, "rows": 6, "wall": "south"}
    beast = {"cells": [[3, 2], [4, 2], [3, 3], [4, 3]], "facing": "east"}
    data = deck(board={**board, "beast": beast}, obstacles=[[5, 2], [3, 1]])
    state = play(game(data), "red arrow 0\nred action end")
    assert RULES.look(state)["beast:facing"] == "east"


def test_the_beast_off_the_open_edge_ends_the_game_and_all_lose() -> None:
    data = deck(front=row("T", "M3", "T", "T"))
    placed = RULES.with_look(game(data), {"beast:origin": "6,2"})
    assert isinstance(placed, State)
    state = play(placed, "red arrow 0\nred action end")
    outcome = RULES.outcome(state)
    assert state.origin == (8, 2) and outcome is not None
    assert outcome.winners == () and outcome.reason.id == "moogh.end_escaped"
    assert RULES.legal(state) == ()


def test_r21_a_phase_without_living_tribesmen_lets_the_rage_fall() -> None:
    placed = RULES.with_look(game(deck()), {"cube:green": "dead", "rage:cell": "4.1"})
    assert isinstance(placed, State)
    state = play(placed, "red arrow 0\nred action end")
    assert (state.round, state.phase, state.level) == (2, 1, 2)  # both beast phases, one each


def test_r22_teams_can_be_set_and_are_the_default_ones_otherwise() -> None:
    start = {
        "teams": {"A": ["red", "white"], "B": ["brown", "green"]},
        "seats": {"red": 0, "white": 0, "brown": 1, "green": 1},
    }
    state = RULES.new(Setup(("a", "b"), {}, start))
    assert dict(state.rule.teams)["white"] == "A"
    assert dict(RULES.new(Setup(("a", "b"))).rule.teams)["white"] == "B"
    with pytest.raises(RulesError) as error:
        RULES.new(Setup(("a", "b"), {}, {"teams": {"A": ["red"], "B": ["brown", "white"]}}))
    assert error.value.refusal.rule == "moogh.bad_teams"


def test_r23_pvp_is_off_and_never_strikes_the_own_team() -> None:
    data = deck(characters=fit(red=[["Stab", "M1"]]))
    places = {"red": [0, 0], "green": [1, 0], "brown": [0, 1]}
    state = play(game(copy.deepcopy(data), players=4, places=places), "red arrow 0\nwhite arrow 0")
    assert refused(state, "red action Stab") == "moogh.stab_adjacent"
    state = play(game(data, players=4, places=places, pvp=True), "red arrow 0\nwhite arrow 0\nred action Stab")
    assert [value for _, values in waits(state).by for value in values] == ["brown"]  # type: ignore[union-attr]
    state = play(state, "red target brown\nred roll pvp_hit 4\nbrown roll save:pvp 4")
    assert (state.man("brown").hurt, state.balance, state.level, state.attempted) == (1, -1, 1, False)


def test_r24_leaving_the_left_edge_flips_into_the_last_column() -> None:
    state = play(game(deck(), moogh_control=True), "red arrow 0\nred action end\nmoogh die_way left")
    assert (state.side, state.column) == ("back", 4)


def test_r25_solo_single_beast_counts_the_attempts_of_both_phases() -> None:
    data = deck(characters=fit(red=[["Stab", "M1"]]))
    state = game(data, places={"red": [3, 1]}, solo_single_beast=True)
    state = play(state, "red arrow 0\nred action Stab\nred roll hit 1\nred action end")
    assert state.phase == 3
    state = play(state, "green arrow 0\ngreen action end")
    assert (state.round, state.phase, state.level, state.column) == (2, 1, 2, 2)


def test_three_and_five_players_let_the_last_one_steer_the_beast() -> None:
    for count, hunters in ((3, (0, 1)), (5, (0, 1, 2, 3))):
        state = RULES.new(Setup(tuple("abcde"[:count])))
        assert state.rule.seat("moogh") == (count - 1,) and state.rule.moogh_control
        assert {seat for who, seat in state.rule.seats if who != "moogh"} == set(hunters)


def test_two_players_have_one_chief_each() -> None:
    with pytest.raises(RulesError) as error:
        RULES.new(Setup(("a", "b"), {}, {"seats": {"red": 0, "brown": 0, "white": 1, "green": 1}}))
    assert error.value.refusal.rule == "moogh.one_chief_each"


def test_secret_arrows_are_seen_by_their_own_seat_only_until_all_have_chosen() -> None:
    state = play(RULES.new(Setup(tuple("abcd"), {"secret_actions": True})), "red arrow 2")
    red = state.rule.seat("red")[0]
    assert RULES.view(state, red)["chosen"] == {"red": ["M2", "Grab"]}
    assert RULES.view(state, red + 1)["chosen"] == {"red": None}
    assert RULES.view(state, None)["chosen"] == {"red": None}
    assert RULES.view(play(state, "white arrow 0"), None)["chosen"]["red"] == ["M2", "Grab"]
    assert RULES.describe(state, RULES.parse("white arrow 0")).id == "moogh.said_secret"
    white = RULES.declarations(state, state.rule.seat("white")[0])
    assert "moogh.said_arrow" in [said.message.id for said in white]  # on the own seat's buttons


def test_what_is_awaited_is_told_with_the_least_roll_that_succeeds() -> None:
    state = game(deck(characters=fit(green=[["Stab", "M1"]])), places={"green": [5, 3]})
    state = play(state, "red arrow 0\nred action end\ngreen arrow 0\ngreen action Stab")
    awaited = RULES.to_act(state)
    assert awaited.kind == "roll" and awaited.message.id == "moogh.ask_hit"
    assert dict(awaited.message.values) == {"who": "@moogh.green", "need": 3}


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ("1,1", "moogh.onto_an_obstacle"),
        ("3,2", "moogh.onto_the_beast"),
        ("2,2", "moogh.onto_a_tribesman"),
        ("2,-1", "moogh.off_the_board"),
        ("5,0", "moogh.not_adjacent"),
    ],
)
def test_move_only_onto_free_adjacent_spaces(cell: str, rule: str) -> None:
    data = deck(obstacles=[[1, 1]])
    state = play(game(data, places={"red": [2, 1], "green": [2, 2]}), "red arrow 0\nred action M1")
    assert refused(state, f"red step {cell}") == rule


def test_inputs_out_of_turn_and_of_another_kind_are_refused() -> None:
    state = game(deck(), players=4)
    assert refused(state, "brown arrow 0") == "moogh.not_your_turn"
    assert refused(state, "red roll hit 3") == "moogh.not_awaited"
    assert refused(state, "red arrow 9") == "moogh.no_such_choice"
    state = play(state, "red arrow 0\nwhite arrow 0")
    assert refused(state, "red action Throw") == "moogh.not_on_the_arrow"
    assert refused(state, "red action let_go") == "moogh.not_holding"
    over = RULES.apply(state, RULES.parse("table give_up yes"))
    assert isinstance(over, State) and refused(over, "red action end") == "moogh.over"


@pytest.mark.parametrize(
    ("cell", "facing"), [([6, 2], "north"), ([6, 3], "south"), ([1, 2], "north"), ([4, 5], "south")]
)
def test_attract_knows_the_side_also_straight_ahead_and_behind(cell: list[int], facing: str) -> None:
    state = game(deck(characters=fit(red=[["AS", "M1"]])), places={"red": cell})
    state = play(state, "red arrow 0\nred action AS\nred roll attract_scare 4\nred turn attract")
    assert RULES.look(state)["beast:facing"] == facing


def test_throw_reaches_from_every_space_within_two_and_from_none_farther() -> None:
    data = deck(characters=fit(red=[["Throw", "M1"]]))
    state = play(game(data, places={"red": [0, 0], "green": [7, 5]}), "red arrow 0")
    for x in range(8):
        for y in range(6):
            placed = RULES.with_look(state, {"cube:red": f"{x},{y}"})
            if isinstance(placed, Refusal):
                continue  # under the beast, or where green stands
            able = RULES.parse("red action Throw") in RULES.legal(placed)
            assert able == (1 <= x <= 6), (x, y)


@pytest.mark.parametrize(
    ("wall", "origin", "stopped"),
    [("north", "3,1", (3, 0)), ("east", "5,2", (6, 2)), ("south", "3,3", (3, 4)), ("west", "1,2", (0, 2))],
)
def test_the_wall_stops_the_beast_on_each_side(wall: str, origin: str, stopped: tuple[int, int]) -> None:
    beast = {"cells": [[3, 2], [4, 2], [3, 3], [4, 3]], "facing": wall}
    board = {"cols": 8, "rows": 6, "wall": wall, "beast": beast}
    data = deck(board=board, front=row("T", "M3", "T", "T"))
    placed = RULES.with_look(game(data, places={"red": [0, 0], "green": [7, 5]}), {"beast:origin": origin})
    assert isinstance(placed, State)
    assert play(placed, "red arrow 0\nred action end").origin == stopped


def test_what_followed_is_told_step_by_step() -> None:
    data = deck(front=row("T", "A1", "M1", "T"), characters=fit(red=[["Sedate", "M1"]], green=[["M1", "M2"]]))
    state = play(game(data, places={"red": [3, 1], "green": [5, 2]}), "red arrow 0\nred action Sedate")
    assert [told.id for told in play(state, "red roll sedate 3").told] == ["moogh.tell_fails"]
    assert [told.id for told in play(state, "red roll sedate 4").told] == ["moogh.tell_succeeds"]
    state = play(state, "red roll sedate 4\nred action end")
    assert [told.id for told in state.told] == ["moogh.tell_no_attempt", "moogh.tell_space"]
    state = play(state, "moogh roll attack_die 4")
    assert dict(state.told[0].values) == {"first": "LB", "second": "CBL"}
    assert [told.id for told in play(state, "red roll save:attack 1").told] == ["moogh.tell_injured"]
    state = play(state, "red roll save:attack 2\ngreen arrow 0\ngreen action end")
    told = [each.id for each in state.told]
    assert told == ["moogh.tell_no_attempt", "moogh.tell_space", "moogh.tell_steps", "moogh.tell_lands"]
    assert dict(state.told[3].values) == {"who": "@moogh.green", "cell": "5,1"}


def test_a_turn_and_a_death_are_told() -> None:
    data = deck(front=row("T", "T", "A2", "T"), characters=fit(red=[["Stab", "M1"]]))
    state = play(game(data, places={"red": [3, 1]}), "red arrow 0\nred action Stab\nred roll hit 1")
    assert [told.id for told in state.told] == ["moogh.tell_hits", "moogh.tell_rage", "moogh.tell_turns"]
    quiet = play(game(deck()), "red arrow 0\nred action end")
    assert [told.id for told in quiet.told][-1] == "moogh.tell_stays"
    lines = (
        "red arrow 0\nred action end\ngreen arrow 0\ngreen action end\nmoogh roll attack_die 4\nred roll save:attack 1"
    )
    state = play(game(data, places={"red": [3, 1]}), lines + "\nmoogh roll attack_die 4\nred roll save:attack 1")
    assert state.told[0].id == "moogh.tell_dead"
