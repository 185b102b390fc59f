"""Moogui's rulings, one test each; R-n are the rulings' numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.moogui import RULES, scoring
from companion.games.moogui.state import State

THREE = ("start p1=ari p2=bruma p3=cedro", "order p1=300 p2=200 p3=100 ~5")
TWO = ("start p1=ari p2=bruma", "order p1=300 p2=200 ~5")


def match(players: int = 4, **options: Any) -> State:
    """A competition of this many people, each with a character and its Sentinel; see the catalogue for the powers."""
    return RULES.new(Setup(tuple("abcdefgh"[:players]), {"mode": "competition", **options}))


def play(state: State, *lines: str) -> State:
    """The state after these lines of notation, all of which must be legal."""
    for line in lines:
        after = RULES.apply(state, RULES.parse(line))
        assert isinstance(after, State), f"{line}: {after}"
        state = after
    return state


def refused(state: State, line: str) -> str:
    """The rule that refuses this line; the state is asserted to be as it was."""
    before = RULES.to_json(state)
    answer = RULES.apply(state, RULES.parse(line))
    assert isinstance(answer, Refusal), f"{line} was accepted"
    assert RULES.to_json(state) == before
    return answer.rule


def standings(state: State) -> dict[int, tuple[str, int | None]]:
    """How the players of the game stand."""
    assert state.game is not None
    return {who: scoring.standing(state.rule, state.game, who) for who, _ in state.game.lineup}


def owned(state: State, player: int) -> set[str]:
    """A player's pieces."""
    return {piece for piece, owner in state.owners if owner == player}


def test_r1_the_attack_is_a_number_and_the_shield_is_none() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=5", "throw p2 bruma ari=5 bruma=6")
    assert standings(state) == {0: ("face", 55), 1: ("shield", None)}


def test_r2_an_unsure_reading_stops_everything_until_the_table_decides() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=unsure")
    assert RULES.to_act(state).message.id == "moogui.ask_decide"
    for line in (
        "end p1",
        "throw p2 bruma ari=1 bruma=1",
        "sign p1 p3 ibex by p1 p3",
        "sentinel p1 by p1 ibex ari=1 ibex=1",
    ):
        assert refused(state, line) == "moogui.unsure_pending"
    assert refused(state, "decide ari=unsure") == "moogui.bad_reading"
    assert refused(state, "decide ari=7") == "moogui.bad_reading"
    assert refused(state, "decide bruma=1") == "moogui.figure_not_unsure"
    assert standings(play(state, "decide ari=out"))[0] == ("out", None)


@pytest.mark.parametrize(("order", "first"), [("farthest_first", (2, 0, 1)), ("nearest_first", (1, 0, 2))])
def test_r3_order_by_distance_out_counts_as_the_farthest(order: str, first: tuple[int, ...]) -> None:
    state = play(match(order=order), THREE[0], "order p1=300 p2=200 p3=out ~5")
    assert state.game is not None and state.game.order == first


def test_r4_a_shield_is_thrown_again_once_and_then_only_taken_back() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=6", "throw p2 bruma ari=6 bruma=1", "end p2")
    again = play(state, "shield p1 again ari=6 bruma=1")
    assert refused(again, "shield p1 again ari=5 bruma=1") == "moogui.rethrow_used"
    assert RULES.to_act(again).message.id == "moogui.ask_take_back"
    ended = play(again, "shield p1 back")
    assert ended.last == (1, ()) and owned(ended, 0) == {"ari", "ibex"}


def test_r5_out_shield_and_immunity_count_lowest_in_a_tie_break() -> None:
    tie = ("throw p1 ari ari=3", "throw p2 bruma ari=3 bruma=3", "end p2")
    state = play(match(), *TWO, *tie)
    assert RULES.to_act(state).message.id == "moogui.ask_tie"
    for low in ("6", "immune"):
        again = play(state, f"tie p1 ari={low}", f"tie p2 ari={low} bruma=out")
        assert again.game is not None and again.game.tie is not None and again.game.tie.round == 2
    won = play(state, "tie p1 ari=out", "tie p2 bruma=1")
    assert won.last == (1, ("ari",))


def test_r5_sentinels_do_not_count_in_a_tie_break() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=2", "sentinel p1 by p1 ibex ari=2 ibex=1")  # 20 + 5
    state = play(state, "throw p2 bruma ari=2 bruma=2 ibex=1", "end p2")  # 25
    assert play(state, "tie p1 ari=4", "tie p2 ari=4 bruma=4").last == (1, ("ari", "ibex"))  # 40 against 45


def test_r6_without_a_face_up_nobody_wins_and_everybody_keeps_everything() -> None:
    state = play(
        match(), *TWO, "throw p1 ari ari=out", "sentinel p1 by p1 ibex ibex=6", "throw p2 bruma bruma=immune ibex=6"
    )
    ended = play(state, "end p2")
    assert ended.last == (-1, ()) and owned(ended, 0) == {"ari", "ibex"}


def test_r7_one_sentinel_a_player_a_game() -> None:
    start = {
        "model_of": {"ari": "ari", "ibex": "ibex", "ibex_2": "ibex", "bruma": "bruma"},
        "owners": {"ari": 0, "ibex": 0, "ibex_2": 0, "bruma": 1},
    }
    state = RULES.new(Setup(("a", "b"), {"mode": "competition"}, start))
    state = play(state, *TWO, "throw p1 ari ari=1", "sentinel p1 by p1 ibex ari=1 ibex=1")
    assert refused(state, "sentinel p1 by p1 ibex_2 ari=1 ibex=1 ibex_2=1") == "moogui.sentinel_thrown"


@pytest.mark.parametrize("reading", ["out", "immune"])
def test_r8_a_sentinel_out_or_immune_adds_nothing(reading: str) -> None:
    state = play(match(), *TWO, "throw p1 ari ari=1", f"sentinel p1 by p1 ibex ari=1 ibex={reading}")
    assert standings(state)[0] == ("face", 10)


def allied(*lines: str) -> State:
    """Three play; p1 wins with a Sentinel of p4, who gets a north Sentinel for it."""
    pieces = {"ari": 0, "bruma": 1, "cedro": 2, "dune": 3, "ibex": 3}
    start = {"model_of": {piece: piece for piece in pieces}, "owners": pieces}
    state = RULES.new(Setup(tuple("abcd"), {"mode": "competition"}, start))
    return play(state, *THREE, *lines)


WON = (
    "sign p1 p4 ibex by p1 p4",
    "throw p1 ari ari=5",
    "sentinel p1 by p4 ibex ari=5 ibex=6",
    "throw p2 bruma ari=5 bruma=1 ibex=6",
    "throw p3 cedro ari=5 bruma=1 cedro=1 ibex=6",
    "end p3",
)


def test_r9_an_even_pool_is_agreed_or_dealt_from_the_highest_to_the_sentinels_owner() -> None:
    state = allied(*WON)
    assert state.phase == "split" and state.game is not None and state.game.pool == ("bruma", "cedro")
    assert refused(state, "split bruma=p1 cedro=p1") == "moogui.bad_split"
    assert refused(state, "split bruma=p4") == "moogui.bad_split"
    assert owned(play(state, "split bruma=p4 cedro=p1"), 3) == {"dune", "ibex", "bruma"}
    assert owned(play(state, "split"), 3) == {"dune", "ibex", "cedro"}  # cedro shows up to 60, bruma 50


def test_r10_out_is_final() -> None:
    state = play(match(), *THREE, "throw p1 ari ari=5", "throw p2 bruma ari=out bruma=1")
    assert refused(state, "throw p3 cedro ari=5 bruma=1 cedro=1") == "moogui.out_is_final"
    assert play(state, "throw p3 cedro bruma=1 cedro=1").lying == (("ari", "out"), ("bruma", "1"), ("cedro", "1"))


def test_r11_the_next_throw_ends_the_turn_and_with_it_the_chance_of_a_sentinel() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=1", "throw p2 bruma ari=1 bruma=1")
    assert refused(state, "sentinel p1 by p1 ibex ari=1 bruma=1 ibex=1") == "moogui.not_your_turn"
    assert state.phase == "throwing"  # the last turn ends by the explicit act only
    assert play(state, "end p2").phase == "idle"


def test_r12_characters_are_declared_before_the_order_throw() -> None:
    state = match()
    assert refused(state, "order p1=1 p2=2 ~1") == "moogui.no_game"
    assert refused(state, "start p1=ibex p2=bruma") == "moogui.not_a_character"
    assert refused(state, "start p1=bruma p2=ari") == "moogui.not_owner"
    assert refused(state, "start p1=nobody p2=bruma") == "moogui.unknown_figure"
    assert refused(state, "start p1=ari") == "moogui.player_count"
    assert refused(state, "start p1=ari p1=ari") == "moogui.duplicate_player"
    assert refused(state, "start p1=ari p9=bruma") == "moogui.unknown_player"


def test_a_fifth_player_is_refused() -> None:
    state = match(5)
    assert refused(state, "start p1=ari p2=bruma p3=cedro p4=dune p5=eon") == "moogui.player_count"


def test_r13_several_shields_in_order_of_play_and_a_new_one_gets_the_choice_too() -> None:
    state = play(match(), *THREE, "throw p1 ari ari=6", "throw p2 bruma ari=6 bruma=1")
    state = play(state, "throw p3 cedro ari=6 bruma=1 cedro=5", "end p3")
    assert refused(state, "shield p3 back") == "moogui.not_your_turn"
    assert refused(state, "shield p2 back") == "moogui.not_in_shield"
    state = play(state, "shield p1 again ari=5 bruma=6 cedro=5")  # the re-throw turns bruma to the shield
    assert RULES.to_act(state).players == (1,)
    state = play(state, "shield p2 back")
    assert RULES.to_act(state).players == (2,)
    assert play(state, "shield p3 again ari=1 cedro=6").last == (2, ("ari",))


def test_r14_equals_by_chaining_throw_again_among_themselves() -> None:
    state = play(match(), "start p1=ari p2=bruma p3=cedro p4=dune", "order p1=100 p2=104 p3=108 p4=out ~5")
    assert state.game is not None and state.game.groups == ((3,), (0, 1, 2))
    assert refused(state, "order p1=1 p2=50 ~5") == "moogui.order_group"
    state = play(state, "order p1=10 p2=50 p3=90 ~5")
    assert state.game is not None and state.game.order == (3, 2, 1, 0)


def test_r14_two_out_are_equal_and_one_in_is_not() -> None:
    state = play(match(), THREE[0], "order p1=out p2=out p3=0 ~1000")
    assert state.game is not None and state.game.groups == ((0, 1), (2,))


def test_r15_a_sentinel_counts_for_the_rethrown_shield_and_is_lost_when_that_is_taken_back() -> None:
    lines = (
        "throw p1 ari ari=6",
        "sentinel p1 by p1 ibex ari=6 ibex=6",
        "throw p2 bruma ari=6 bruma=4 ibex=6",
        "end p2",
    )
    state = play(match(), *TWO, *lines)
    assert play(state, "shield p1 again ari=2 bruma=4 ibex=6").last == (0, ("bruma",))  # 20 + 30 beats 45
    assert play(state, "shield p1 back").last == (1, ("ibex",))
    assert refused(state, "sentinel p1 by p1 ibex ari=6 bruma=4 ibex=6") == "moogui.wrong_phase"


def test_r16_both_sign_each_with_an_own_act() -> None:
    state = allied("offer p1 p4 ibex by p1")
    assert state.game is not None and not state.game.alliances
    assert refused(state, "offer p1 p4 ibex by p1") == "moogui.offered_already"
    assert refused(state, "offer p1 p4 ibex by p2") == "moogui.alliance_unsigned"
    words = [RULES.text(said.turn) for said in RULES.declarations(state, 3)]
    assert "offer p1 p4 ibex by p4" in words
    state = play(state, "offer p1 p4 ibex by p4")
    assert state.game is not None and len(state.game.alliances) == 1 and not state.game.offers


def test_r16_one_alliance_a_player_in_time_and_with_the_owner() -> None:
    state = allied()
    assert refused(state, "sign p1 p4 ibex by p1") == "moogui.alliance_unsigned"
    assert refused(state, "sign p1 p1 ibex by p1 p1") == "moogui.alliance_with_self"
    assert refused(state, "sign p1 p2 ibex by p1 p2") == "moogui.not_owner"
    assert refused(state, "sign p1 p4 dune by p1 p4") == "moogui.not_a_sentinel"
    assert refused(state, "sign p2 p4 ibex by p2 p4") == "moogui.wrong_continent"
    assert refused(state, "sign p4 p1 ibex by p4 p1") == "moogui.not_playing"
    thrown = play(state, "throw p1 ari ari=1")
    assert refused(thrown, "sentinel p1 by p4 ibex ari=1 ibex=1") == "moogui.no_alliance"
    late = play(thrown, "end p1")
    assert refused(late, "sign p1 p4 ibex by p1 p4") == "moogui.alliance_too_late"
    signed = play(state, "sign p1 p4 ibex by p4 p1")
    assert refused(signed, "sign p1 p4 ibex by p1 p4") == "moogui.alliance_exists"


def test_r16_a_promised_sentinel_cannot_be_used_otherwise() -> None:
    pieces = {"ari": 0, "eon": 1, "ibex": 1}
    start = {"model_of": {piece: piece for piece in pieces}, "owners": pieces}
    state = RULES.new(Setup(("a", "b"), {"mode": "competition"}, start))
    state = play(
        state, "start p1=ari p2=eon", "order p1=100 p2=300 ~5", "sign p1 p2 ibex by p1 p2", "throw p2 eon eon=1"
    )
    assert refused(state, "sentinel p2 by p2 ibex eon=1 ibex=1") == "moogui.sentinel_promised"


def test_r16_shares_are_due_only_when_the_sentinel_was_thrown() -> None:
    lines = [line for line in WON if not line.startswith("sentinel")]
    unused = allied(*(line.replace(" ibex=6", "") for line in lines))
    assert unused.last == (0, ("bruma", "cedro")) and owned(unused, 0) == {"ari", "bruma", "cedro"}
    useless = allied(*(line.replace("ibex=6", "ibex=immune") for line in WON))
    assert useless.phase == "split"


def test_an_ally_loses_the_sentinel_when_the_sum_is_not_the_highest() -> None:
    lines = [line.replace("cedro=1", "cedro=6").replace("ari=5", "ari=1") for line in WON]
    ended = allied(*lines)  # 10 + 30 against 60
    assert ended.last == (2, ("ari", "bruma", "ibex"))


def test_training_gives_points_nothing_changes_hands_and_three_make_the_grand_winner() -> None:
    state = RULES.new(Setup(("a", "b")))
    game = (
        "start p1=ari p2=bruma",
        "order p1=300 p2=100 ~5",
        "throw p1 ari ari=5",
        "throw p2 bruma ari=5 bruma=1",
        "end p2",
    )
    for points in (1, 2):
        state = play(state, *game)
        assert state.points == (points, 0) and state.last == (0, ())
    state = play(state, *game)
    outcome = RULES.outcome(state)
    assert outcome is not None and outcome.winners == (0,) and owned(state, 1) == {"bruma", "jaca"}
    assert RULES.legal(state) == () and refused(state, game[0]) == "moogui.match_over"


def test_a_competition_ends_when_one_owns_all_characters() -> None:
    state = play(match(2), *TWO, "throw p1 ari ari=5", "throw p2 bruma ari=5 bruma=1", "end p2")
    outcome = RULES.outcome(state)
    assert outcome is not None and outcome.winners == (0,) and outcome.reason.id == "moogui.end_one_owner"


def test_a_match_is_finished_by_agreement_between_two_games_only() -> None:
    assert refused(play(match(), *TWO), "finish") == "moogui.game_in_progress"
    outcome = RULES.outcome(play(match(), "finish"))
    assert outcome is not None and outcome.winners == ()


def readings_faults() -> Iterable[tuple[str, str]]:
    """Readings that are not exactly those of the figures in the arena."""
    return [
        ("throw p2 bruma bruma=1", "moogui.readings_missing"),
        ("throw p2 bruma ari=1", "moogui.readings_missing"),
        ("throw p2 bruma ari=1 bruma=1 cedro=1", "moogui.readings_extra"),
        ("throw p2 bruma ari=1 bruma=7", "moogui.bad_reading"),
        ("throw p2 bruma ari=1 bruma=1 nobody=1", "moogui.unknown_figure"),
        ("throw p2 ari ari=1 bruma=1", "moogui.not_your_character"),
        ("throw p3 cedro ari=1 cedro=1", "moogui.not_your_turn"),
        ("throw p1 ari ari=1", "moogui.already_thrown"),
        ("throw p4 dune ari=1 dune=1", "moogui.unknown_player"),
    ]


@pytest.mark.parametrize(("line", "rule"), readings_faults())
def test_after_a_throw_all_figures_and_only_they_are_read(line: str, rule: str) -> None:
    assert refused(play(match(), *THREE, "throw p1 ari ari=1"), line) == rule


@pytest.mark.parametrize(
    ("players", "options", "start", "rule"),
    [
        (1, {}, None, "moogui.people_count"),
        (9, {}, None, "moogui.people_count"),
        (2, {"mode": "war"}, None, "moogui.bad_option"),
        (2, {"target": True}, None, "moogui.bad_option"),
        (2, {}, {"weather": 1}, "moogui.bad_start"),
        (2, {}, {"owners": {}}, "moogui.bad_start"),
        (2, {}, {"model_of": {"x": "ari"}, "owners": {"y": 0}}, "moogui.bad_start"),
        (2, {}, {"model_of": {"x": "ari"}, "owners": {"x": 5}}, "moogui.bad_owner"),
        (2, {}, {"model_of": {"x": "none"}, "owners": {"x": 0}}, "moogui.unknown_figure"),
        (2, {}, {"model_of": {"X y": "ari"}, "owners": {"X y": 0}}, "moogui.catalogue_id"),
    ],
)
def test_a_wrong_setup_is_refused(players: int, options: dict[str, Any], start: Any, rule: str) -> None:
    with pytest.raises(RulesError) as error:
        RULES.new(Setup(("x",) * players, options, start))
    assert error.value.refusal.rule == rule


def test_r16_an_ally_may_serve_several_players_with_different_sentinels() -> None:
    pieces = {"ari": 0, "eon": 1, "dune": 2, "ibex": 2, "ibex_2": 2}
    model_of = {**{piece: piece for piece in pieces}, "ibex_2": "ibex"}
    state = RULES.new(Setup(tuple("abc"), {"mode": "competition"}, {"model_of": model_of, "owners": pieces}))
    state = play(state, "start p1=ari p2=eon", "order p1=300 p2=100 ~5", "sign p1 p3 ibex by p1 p3")
    assert refused(state, "sign p2 p3 ibex by p2 p3") == "moogui.sentinel_promised"
    state = play(
        state, "sign p2 p3 ibex_2 by p2 p3", "throw p1 ari ari=1", "sentinel p1 by p3 ibex ari=1 ibex=6", "end p1"
    )
    state = play(
        state, "throw p2 eon ari=1 eon=1 ibex=6", "sentinel p2 by p3 ibex_2 ari=1 eon=1 ibex=6 ibex_2=6", "end p2"
    )
    assert state.game is not None and state.game.winner == 1 and state.game.pool == ("ari", "ibex")  # 42 against 40
    assert owned(play(state, "split ari=p2 ibex=p3"), 2) == {"dune", "ibex", "ibex_2"}  # the ally wins the own one back


def test_r16_an_offer_is_void_when_the_turn_of_its_player_is_over() -> None:
    pieces = {"ari": 0, "eon": 1, "dune": 2, "ibex": 2}
    start = {"model_of": {piece: piece for piece in pieces}, "owners": pieces}
    state = RULES.new(Setup(tuple("abc"), {"mode": "competition"}, start))
    state = play(
        state, "start p1=ari p2=eon", "order p1=300 p2=100 ~5", "offer p1 p3 ibex by p1", "offer p2 p3 ibex by p2"
    )
    state = play(state, "throw p1 ari ari=1", "end p1")
    assert state.game is not None and [offer.player for offer in state.game.offers] == [1]
    assert refused(state, "offer p1 p3 ibex by p3") == "moogui.alliance_too_late"


def test_a_refusal_names_the_player_as_people_count() -> None:
    answer = RULES.apply(play(match(), *TWO), RULES.parse("throw p4 dune dune=1"))
    assert isinstance(answer, Refusal) and dict(answer.values) == {"got": 4}


def test_a_shield_or_a_tie_of_somebody_unknown_and_readings_with_a_shield_taken_back_are_named() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=6", "throw p2 bruma ari=6 bruma=1", "end p2")
    extra = RULES.apply(state, RULES.parse("shield p1 back ari=6"))
    assert isinstance(extra, Refusal) and (extra.rule, extra.places) == ("moogui.readings_extra", ("ari",))
    assert dict(extra.values) == {"figure": "Ari"}
    stranger = RULES.apply(state, RULES.parse("shield p4 back"))
    assert isinstance(stranger, Refusal) and dict(stranger.values) == {"got": 4}
    tied = play(match(), *TWO, "throw p1 ari ari=3", "throw p2 bruma ari=3 bruma=3", "end p2")
    assert refused(tied, "tie p2 bruma=1") == "moogui.not_your_turn"
    stranger = RULES.apply(tied, RULES.parse("tie p4 dune=1"))
    assert isinstance(stranger, Refusal) and dict(stranger.values) == {"got": 4}


def test_r16_an_alliance_voids_the_other_offers_to_its_player_and_of_its_sentinel_only() -> None:
    pieces = {"ari": 0, "eon": 1, "faro": 2, "ibex": 2, "ibex_2": 2, "jaca": 3}
    model_of = {**{piece: piece for piece in pieces}, "ibex_2": "ibex"}
    state = RULES.new(Setup(tuple("abcd"), {"mode": "competition"}, {"model_of": model_of, "owners": pieces}))
    state = play(state, "start p1=ari p2=eon p3=faro", "offer p1 p3 ibex by p1", "offer p1 p3 ibex_2 by p1")
    state = play(state, "offer p2 p3 ibex by p2", "offer p2 p3 ibex_2 by p2", "offer p3 p4 jaca by p3")
    state = play(state, "sign p1 p3 ibex by p1 p3")
    assert state.game is not None
    assert [(o.player, o.sentinel) for o in state.game.offers] == [(1, "ibex_2"), (2, "jaca")]


def test_an_unknown_player_is_named_when_a_game_is_declared() -> None:
    answer = RULES.apply(match(), RULES.parse("start p1=ari p9=bruma"))
    assert isinstance(answer, Refusal) and dict(answer.values) == {"got": 9}


def test_a_correction_in_a_tie_break_changes_the_tie_break_only() -> None:
    tied = play(match(), *TWO, "throw p1 ari ari=3", "throw p2 bruma ari=3 bruma=3", "end p2", "tie p1 ari=2")
    corrected = RULES.with_look(tied, {"figure:ari": "5"})
    assert isinstance(corrected, State) and corrected.game is not None and corrected.game.tie is not None
    assert corrected.game.tie.readings == (("ari", "5"),)
    assert tied.game is not None and corrected.game.readings == tied.game.readings
    assert play(corrected, "tie p2 ari=5 bruma=4").last == (0, ("bruma",))  # 55 against 45
