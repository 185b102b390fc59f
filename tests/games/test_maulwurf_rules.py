"""Die Maulwurfshöhle, case by case: each test is named after the rule or ruling that it shows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from companion.games.contract import Refusal, Setup
from companion.games.maulwurf import RULES
from companion.games.maulwurf.layout import Act, built_in
from companion.games.maulwurf.state import BUSY, State
from companion.games.maulwurf.turns import PASS, legal

AT_HOME = ("7,2", "8,-1", "8,1", "9,0")
"""Four moles of player 2 that keep the game going and stand in nobody's way."""
ENTRANCES = built_in("diamond181").tunnels


def position(
    moles: Mapping[str, int],
    pending: tuple[str, ...] = (),
    busy: Mapping[str, int] | None = None,
    seats: str = "02",
    to_move: int = 0,
    options: str = "e-",
    layout: str = "diamond181",
    home: bool = True,
) -> State:
    """A hand-made position; with `home` the second corner's four moles stand at AT_HOME."""
    board = built_in(layout)
    cells = bytearray(len(board.cells))
    placed = {**dict.fromkeys(AT_HOME, 2), **moles} if home else dict(moles)
    for cell, corner in placed.items():
        cells[board.tables.index[cell]] = corner + 1
    for cell, corner in (busy or {}).items():
        cells[board.tables.index[cell]] = corner + 1 + BUSY
    return State(
        layout=board,
        seats=tuple(int(s) for s in seats),
        board=bytes(cells),
        pending=tuple(sorted(board.tables.index[c] for c in pending)),
        to_move=to_move,
        push_enters_cave=options[0] == "e",
        then_move=options[1] == "t",
    )


def play(state: State, text: str) -> State:
    """The state after a turn that must be legal; it must also be among the legal ones."""
    turn = RULES.parse(text)
    after = RULES.apply(state, turn)
    assert isinstance(after, State), f"{text}: {after}"
    assert turn in legal(state) or turn[0].kind in ("resign", "draw")
    return after


def refused(state: State, text: str) -> Refusal:
    """The refusal of a turn that must be illegal; it must not be among the legal ones."""
    turn = RULES.parse(text)
    after = RULES.apply(state, turn)
    assert isinstance(after, Refusal), f"{text} was accepted"
    assert turn not in legal(state)
    return after


def at(state: State, cell: str) -> str:
    return RULES.look(state)[f"cell:{cell}"]


def waiting(state: State) -> set[str]:
    return {state.layout.cells[c] for c in state.pending}


# Start


@pytest.mark.parametrize(("players", "seats"), [(2, (0, 2)), (3, (0, 1, 2)), (4, (0, 1, 2, 3))])
def test_start_nine_moles_at_each_players_corner(players: int, seats: tuple[int, ...]) -> None:
    state = RULES.new(Setup(("Ada", "Ben", "Cem", "Dot")[:players]))
    assert state.seats == seats
    for corner in range(4):
        assert state.moles(corner) == (9 if corner in seats else 0)
    assert at(state, "0,9") == at(state, "-4,5") == at(state, "4,5") == "mole1"


def test_start_two_players_sit_at_opposite_corners() -> None:
    with pytest.raises(ValueError, match="opposite"):
        RULES.new(Setup(("Ada", "Ben"), {}, {"seats": [0, 1]}))
    assert RULES.new(Setup(("Ada", "Ben"), {}, {"seats": [1, 3]})).seats == (1, 3)


def test_start_the_table_names_the_starting_player() -> None:
    state = RULES.new(Setup(("Ada", "Ben", "Cem"), {"first": 3}))
    assert RULES.to_act(state).players == (2,)


def test_start_play_runs_clockwise() -> None:
    state = RULES.new(Setup(("Ada", "Ben", "Cem", "Dot"), {"first": 2}))
    order = []
    for _ in range(5):
        order.append(RULES.to_act(state).players[0])
        after = RULES.apply(state, legal(state)[0])
        assert isinstance(after, State)
        state = after
    assert order == [1, 2, 3, 0, 1]


# a) Step


def test_step_goes_one_cell_in_eight_directions() -> None:
    state = position({"1,5": 0})
    steps = {turn[0].to for turn in legal(state)}
    assert steps == {"0,4", "0,5", "0,6", "1,4", "1,6", "2,4", "2,5", "2,6"}
    assert refused(state, "1,5>3,5").rule == "maulwurf.not_adjacent"


def test_r1_only_ones_own_mole_starts_a_turn() -> None:
    state = position({"1,5": 0})
    assert refused(state, "7,2>7,1") == Refusal("maulwurf.not_your_mole", ("7,2",), (("start", "7,2"),))
    assert refused(state, "3,3>3,4").rule == "maulwurf.no_mole"


def test_step_never_into_a_cave_with_or_without_a_busy_tile() -> None:
    state = position({"0,1": 0, "2,1": 0}, busy={"2,2": 2})
    refusal = refused(state, "0,1>0,0")
    assert refusal.rule == "maulwurf.step_into_cave" and refusal.places == ("0,1", "0,0")
    assert refused(state, "2,1>2,2").rule == "maulwurf.step_into_cave"


def test_step_not_onto_a_tile() -> None:
    assert refused(position({"1,5": 0, "1,6": 2}), "1,5>1,6").rule == "maulwurf.step_onto_tile"


# b) Push


def test_push_moves_the_whole_line_of_any_colours_by_one() -> None:
    after = play(position({"-5,-1": 0, "-4,-1": 2, "-3,-1": 0, "-2,-1": 2, "0,-1": 2}), "-5,-1>>-4,-1")
    assert [at(after, f"{x},-1") for x in range(-5, 1)] == ["-", "mole1", "mole3", "mole1", "mole3", "mole3"]


def test_push_not_over_the_edge() -> None:
    refusal = refused(position({"6,0": 0, "7,0": 2}), "7,0>>8,0")
    assert refusal.rule == "maulwurf.not_your_mole"
    refusal = refused(position({"7,0": 0, "8,0": 2}), "7,0>>8,0")
    assert refusal.rule == "maulwurf.push_over_edge"
    assert refusal.places == ("7,0", "8,0", "9,0")


def test_push_never_moves_a_busy_tile() -> None:
    state = position({"0,3": 0, "0,1": 2}, busy={"0,2": 2})
    assert refused(state, "0,3>>0,2").rule == "maulwurf.push_moves_busy"
    state = position({"0,4": 0, "0,3": 2}, busy={"0,2": 2})
    refusal = refused(state, "0,4>>0,3")
    assert refusal.rule == "maulwurf.push_moves_busy" and dict(refusal.values)["busy"] == "0,2"


def test_push_needs_a_tile_to_push() -> None:
    assert refused(position({"1,5": 0}), "1,5>>1,6").rule == "maulwurf.nothing_to_push"


def test_push_may_move_ones_own_moles() -> None:
    after = play(position({"1,5": 0, "1,6": 0}), "1,5>>1,6")
    assert at(after, "1,7") == at(after, "1,6") == "mole1"


def test_push_into_a_cave_and_a_mole_there_is_part_of_the_line() -> None:
    after = play(position({"0,4": 0, "0,3": 2}), "0,4>>0,3")
    assert at(after, "0,2") == "mole3"
    after = play(position({"0,4": 0, "0,3": 2, "0,2": 2}), "0,4>>0,3")
    assert at(after, "0,1") == at(after, "0,2") == "mole3"


def test_r2_the_pusher_may_end_in_a_cave_unless_the_table_forbids_it() -> None:
    moles = {"0,3": 0, "0,2": 2}
    assert at(play(position(moles), "0,3>>0,2"), "0,2") == "mole1"
    assert refused(position(moles, options="--"), "0,3>>0,2").rule == "maulwurf.pusher_enters_cave"


def test_a_mole_in_a_cave_starts_nothing() -> None:
    state = position({"0,2": 0, "0,3": 2, "5,1": 0})
    assert refused(state, "0,2>0,1").rule == "maulwurf.stuck_in_cave"
    assert refused(state, "0,2>>0,3").rule == "maulwurf.stuck_in_cave"


# Tunnels


def test_r3_a_mover_that_lands_on_an_entrance_digs_at_once() -> None:
    state = position({"5,0": 0})
    assert refused(state, "5,0>4,0") == Refusal("maulwurf.must_dig", ("4,0",), (("cell", "4,0"),))
    after = play(state, "5,0>4,0 4,0~-8,0")
    assert at(after, "-8,0") == "mole1" and at(after, "4,0") == "-" and not after.pending


def test_r3_a_dig_goes_to_another_free_entrance() -> None:
    state = position({"5,0": 0, "0,8": 2})
    assert refused(state, "5,0>4,0 4,0~0,8").rule == "maulwurf.dig_to_taken"
    assert refused(state, "5,0>4,0 4,0~0,5").rule == "maulwurf.dig_to_no_entrance"
    assert refused(state, "5,0>4,0 4,0~4,0").rule == "maulwurf.dig_back"
    assert refused(state, "5,0>5,1 5,1~0,6").rule == "maulwurf.no_dig"


def test_r3_with_no_other_free_entrance_the_mover_stays() -> None:
    taken = dict.fromkeys((t for t in ENTRANCES if t != "4,0"), 2)
    state = position({**taken, "5,0": 0}, home=False)
    after = play(state, "5,0>4,0")
    assert at(after, "4,0") == "mole1" and not after.pending


def test_a_pushing_mole_that_lands_on_an_entrance_digs() -> None:
    state = position({"5,0": 0, "4,0": 2})
    after = play(state, "5,0>>4,0 4,0~0,8")
    assert at(after, "3,0") == "mole3" and at(after, "0,8") == "mole1" and not after.pending


def test_a_pushed_mole_on_an_entrance_waits_for_its_owners_turn() -> None:
    after = play(position({"4,2": 0, "4,3": 2}), "4,2>>4,3")
    assert waiting(after) == {"4,4"} and after.to_move == 2
    refusal = refused(after, "7,2>7,1")
    assert refusal.rule == "maulwurf.must_dig_first" and refusal.places == ("4,4",)
    assert dict(RULES.notes(after)[0].values)["cells"] == "4,4"
    after = play(after, "4,4~0,8")
    assert not after.pending and at(after, "0,8") == "mole3"


def test_a_mole_pushed_from_entrance_to_entrance_is_pending() -> None:
    home = dict.fromkeys(("12,9", "12,10", "12,11", "12,12"), 2)
    state = position({**home, "0,4": 0, "1,3": 2}, layout="square13", home=False)
    after = play(state, "0,4>>1,3 1,3~9,1")
    assert waiting(after) == {"2,2"}


def test_ones_own_mole_pushed_onto_an_entrance_waits_too() -> None:
    after = play(position({"4,2": 0, "4,3": 0}), "4,2>>4,3")
    after = play(after, "7,2>7,1")
    assert refused(after, "4,3>5,3").rule == "maulwurf.must_dig_first"


def test_r4_the_forced_dig_is_the_whole_turn() -> None:
    state = position({"4,0": 0, "1,5": 0}, pending=("4,0",))
    refusal = refused(state, "1,5>1,6")
    assert refusal.rule == "maulwurf.must_dig_first" and refusal.places == ("4,0",)
    assert refused(state, "4,0~0,8 1,5>1,6").rule == "maulwurf.dig_is_the_turn"
    after = play(state, "4,0~0,8")
    assert after.to_move == 2 and not after.pending


def test_r4_of_several_pending_the_owner_picks_one_and_the_others_stay() -> None:
    state = position({"4,0": 0, "4,4": 0}, pending=("4,0", "4,4"))
    after = play(state, "4,4~0,8")
    assert waiting(after) == {"4,0"}
    assert len(legal(state)) == 2 * 30


def test_r4_then_move_digs_all_pending_and_then_moves() -> None:
    state = position({"4,0": 0, "4,4": 0, "1,5": 0}, pending=("4,0", "4,4"), options="et")
    assert refused(state, "4,0~0,8").rule == "maulwurf.must_dig_first"
    assert refused(state, "4,0~0,8 4,4~0,6").rule == "maulwurf.then_move"
    after = play(state, "4,0~0,8 4,4~8,0 1,5>1,6")
    assert not after.pending and at(after, "1,6") == "mole1"


def test_r4_then_move_the_mole_just_dug_may_move() -> None:
    after = play(position({"4,0": 0}, pending=("4,0",), options="et"), "4,0~0,8 0,8>0,7")
    assert at(after, "0,7") == "mole1"


def test_r4_then_move_without_a_move_left_ends_the_turn_and_is_no_pass() -> None:
    full = {c: 1 + int(c.partition(",")[0]) % 2 for c in built_in("diamond181").cells if c not in ("-8,0", "0,0")}
    state = position({**full, "4,0": 0}, ("4,0",), {"0,0": 2}, seats="012", options="et", home=False)
    assert refused(state, "4,0~-8,0 -8,0>>-7,0").rule == "maulwurf.push_moves_busy"
    after = play(state, "4,0~-8,0")
    assert after.passes == 0 and at(after, "-8,0") == "mole1" and after.to_move == 1


def test_r5_after_a_dig_the_mole_stands_there_without_being_pending() -> None:
    after = play(position({"5,0": 0, "1,5": 0}), "5,0>4,0 4,0~0,8")
    after = play(after, "7,2>7,1")
    assert not after.pending
    assert at(play(after, "1,5>1,6"), "0,8") == "mole1"


def test_r5_leaving_the_entrance_clears_the_mark_and_a_pushed_off_mole_is_free() -> None:
    state = position({"4,0": 2, "5,0": 0}, pending=("4,0",))
    after = play(state, "5,0>>4,0 4,0~0,8")
    assert at(after, "3,0") == "mole3" and not after.pending


def test_r10_nobody_digs_back_to_an_entrance_left_in_the_same_turn() -> None:
    moles = dict.fromkeys(("12,9", "12,10", "12,11", "12,12"), 2)
    state = position({**moles, "1,3": 0}, layout="square13", home=False)
    assert refused(state, "1,3>2,2 2,2~1,3") == Refusal("maulwurf.dig_back", ("1,3",), (("to", "1,3"),))
    state = position({**moles, "2,2": 0}, ("2,2",), options="et", layout="square13", home=False)
    assert refused(state, "2,2~9,1 9,1>10,2 10,2~2,2").rule == "maulwurf.dig_back"
    assert refused(state, "2,2~9,1 9,1>10,2 10,2~9,1").rule == "maulwurf.dig_back"
    play(state, "2,2~9,1 9,1>10,2 10,2~3,1")


def test_r10_when_no_other_entrance_is_free_the_mole_stays() -> None:
    taken = dict.fromkeys((t for t in built_in("square13").tunnels if t not in ("1,3", "2,2")), 2)
    state = position({**taken, "1,3": 0}, layout="square13", home=False)
    assert at(play(state, "1,3>2,2"), "2,2") == "mole1"


def test_r11_when_no_pending_mole_can_dig_the_turn_is_ordinary_and_the_marks_stay() -> None:
    taken = dict.fromkeys((t for t in ENTRANCES if t != "4,0"), 2)
    state = position({**taken, "4,0": 0, "1,5": 0}, pending=("4,0",), home=False)
    after = play(state, "1,5>1,6")
    assert waiting(after) == {"4,0"}
    assert [m.id for m in RULES.notes(state)] == ["maulwurf.note_cannot_dig"]
    assert not play(state, "4,0>5,0").pending


# Busy


RING = {"-1,0": 0, "0,1": 0, "1,0": 0, "1,-1": 0}
"""One step (1,-1 to 0,-1) from a ring around the cave 0,0."""


def test_r6_a_closed_ring_brings_a_busy_tile_and_the_moles_may_move_again() -> None:
    after = play(position(RING), "1,-1>0,-1")
    assert at(after, "0,0") == "busy1" and after.over is None
    after = play(play(after, "7,2>7,1"), "0,-1>1,-1")
    assert at(after, "0,0") == "busy1"


@pytest.mark.parametrize("owner", [0, 2])
def test_r6_a_mole_of_any_colour_in_the_closed_cave_is_taken(owner: int) -> None:
    before = position({**RING, "0,0": owner})
    after = play(before, "1,-1>0,-1")
    assert at(after, "0,0") == "busy1" and after.moles(owner) == before.moles(owner) - 1


def test_r6_diagonal_neighbours_close_nothing() -> None:
    after = play(position({"-1,-1": 0, "-1,1": 0, "1,1": 0, "2,-1": 0}), "2,-1>1,-1")
    assert at(after, "0,0") == "-"


def test_r6_a_ring_completed_by_an_opponents_push_counts() -> None:
    moles = {"-1,0": 0, "0,1": 0, "1,0": 0, "-1,-1": 0, "-2,-1": 2}
    after = play(position(moles, to_move=2), "-2,-1>>-1,-1")
    assert at(after, "0,0") == "busy1"


def test_r6_the_movers_caves_come_first() -> None:
    rings = {"-1,0": 0, "1,0": 0, "0,-1": 0, "0,1": 0, "-2,-1": 2, "-3,-2": 2, "-1,-2": 2, "-2,-3": 2, "4,1": 2}
    after = play(position(rings, busy={"2,2": 2, "2,0": 0}, to_move=2), "4,1>5,1")
    assert after.over is not None and after.over.winner == 2
    assert at(after, "-2,-2") == "busy3" and at(after, "0,0") == "-"


def test_r7_two_rings_with_one_tile_left_take_the_first_cave_of_the_layout() -> None:
    moles = {"-3,0": 0, "-2,1": 0, "-2,-1": 0, "-1,0": 0, "0,1": 0, "0,-1": 0, "1,1": 0}
    after = play(position(moles, busy={"2,2": 0}), "1,1>1,0")
    assert at(after, "-2,0") == "busy1" and at(after, "0,0") == "-"
    assert after.over is not None and after.over.why == "two_busy"


def test_then_move_tests_busy_tiles_after_the_whole_turn_only() -> None:
    moles = {**RING, "4,4": 0}
    after = play(position(moles, ("4,4",), options="et"), "4,4~0,6 1,-1>0,-1")
    assert at(after, "0,0") == "busy1"
    closed = {"-1,0": 0, "0,1": 0, "1,0": 0, "0,-1": 0, "4,4": 0}
    after = play(position(closed, ("4,4",), options="et"), "4,4~0,6 0,-1>1,-1")
    assert at(after, "0,0") == "-"


# End


def test_two_busy_tiles_win_at_once() -> None:
    after = play(position(RING, busy={"2,2": 0}), "1,-1>0,-1")
    outcome = RULES.outcome(after)
    assert outcome is not None and outcome.winners == (0,)
    assert legal(after) == [] and RULES.to_act(after).kind == "over"
    assert refused(after, "7,2>7,1").rule == "maulwurf.game_over"


def test_r8_without_any_legal_turn_a_player_passes() -> None:
    state = position({"0,0": 0, "0,2": 0, "2,0": 0, "2,2": 0})
    assert legal(state) == [PASS]
    after = play(state, "pass")
    assert after.passes == 1 and after.to_move == 2
    assert refused(after, "pass").rule == "maulwurf.pass_with_a_turn"
    assert play(after, "7,2>7,1").passes == 0


def test_r8_all_passing_in_a_row_is_a_draw() -> None:
    caves = {"0,0": 0, "0,2": 0, "2,0": 0, "2,2": 0, "-2,-2": 2, "-2,0": 2, "-2,2": 2, "0,-2": 2}
    after = play(play(position(caves, home=False), "pass"), "pass")
    outcome = RULES.outcome(after)
    assert outcome is not None and outcome.winners == () and outcome.reason.id == "maulwurf.over_all_passed"


def test_r8_a_player_with_fewer_than_four_moles_plays_on() -> None:
    after = play(position({"1,5": 0}), "1,5>1,6")
    assert after.over is None


def test_r9_a_resigned_player_is_skipped_and_the_pieces_stay() -> None:
    state = RULES.new(Setup(("Ada", "Ben", "Cem")))
    after = play(state, "resign 2")
    assert after.to_move == 0 and after.moles(1) == 9
    assert RULES.to_act(play(after, "0,9>0,8 0,8~4,0")).players == (2,)
    assert refused(after, "resign 2").rule == "maulwurf.already_resigned"


def test_r9_a_resigned_player_places_nothing_and_pushing_its_moles_sets_no_mark() -> None:
    ring = {"1,0": 1, "0,1": 1, "-1,0": 1, "0,-1": 1}
    state = position({**ring, "4,2": 0, "4,3": 1, "6,2": 1}, ("6,2",), seats="012")
    state = play(state, "resign 2")
    assert not state.pending
    after = play(state, "4,2>>4,3")
    assert not after.pending and at(after, "4,4") == "mole2" and at(after, "0,0") == "-"


def test_r9_the_last_one_left_wins() -> None:
    after = play(RULES.new(Setup(("Ada", "Ben"))), "resign 1")
    outcome = RULES.outcome(after)
    assert outcome is not None and outcome.winners == (1,) and outcome.reason.id == "maulwurf.over_last_one_left"


def test_r9_resigning_takes_back_ones_own_pass_from_the_row() -> None:
    caves = {"0,0": 0, "0,2": 0, "2,0": 0, "2,2": 0, "-2,-2": 1, "-2,0": 1, "-2,2": 1, "0,-2": 1}
    state = position(caves, seats="012")
    after = play(play(state, "pass"), "pass")
    assert after.passes == 2 and after.to_move == 2
    after = play(after, "resign 1")
    assert after.passes == 1 and after.over is None


def test_r12_a_draw_when_nobody_has_four_moles_left() -> None:
    moles = {"-1,0": 2, "0,1": 2, "0,-1": 2, "2,-1": 2, "1,-1": 0, "1,1": 0, "5,1": 0, "0,0": 2}
    state = position(moles, seats="02", home=False, to_move=0)
    after = play(state, "5,1>5,2")
    assert after.over is None
    few = position({"1,5": 0, "7,2": 2, "8,1": 2, "9,0": 2}, home=False)
    ended = play(few, "1,5>1,6")
    assert ended.over is not None and ended.over.why == "nobody_can_win" and ended.over.winner is None


def test_r12_a_draw_by_agreement_needs_everybodys_consent() -> None:
    state = RULES.new(Setup(("Ada", "Ben")))
    (offer,) = [d for d in RULES.declarations(state, 1) if d.needs_consent]
    after = RULES.apply(state, offer.turn)
    assert isinstance(after, State) and after.over is not None and after.over.why == "agreed"


def test_repetition_is_hinted_at_and_never_ends_the_game() -> None:
    state = position({"1,5": 0})
    for text in ("1,5>1,6", "7,2>7,1", "1,6>1,5", "7,1>7,2") * 3:
        assert state.over is None
        state = play(state, text)
    assert dict(RULES.notes(state)[0].values)["times"] == 4


def test_a_turn_is_one_act_with_its_dig() -> None:
    state = position({"1,5": 0, "3,3": 0})
    assert refused(state, "1,5>1,6 3,3>3,4").rule == "maulwurf.one_turn"
    assert RULES.apply(state, ()) == Refusal("maulwurf.no_act")
    assert RULES.apply(state, (Act("step", "1,5", "77,7"),)) == Refusal(
        "maulwurf.no_such_cell", (), (("cell", "77,7"),)
    )


def test_the_state_before_a_turn_stays_as_it_was() -> None:
    state = position(RING)
    kept = RULES.to_json(state)
    for turn in legal(state):
        RULES.apply(state, turn)
    assert RULES.to_json(state) == kept
