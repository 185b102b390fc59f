"""Moogui at the arena: catalogue, looks, explanations, corrections, notation, JSON, playthroughs, the ledger."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.moogui import RULES, catalogue
from companion.games.moogui.players import PLAYERS
from companion.games.moogui.state import (
    Clear,
    Decide,
    EndTurn,
    OrderThrow,
    Shield,
    State,
    Throw,
    ThrowSentinel,
    TieThrow,
)
from tests.games.test_moogui_rules import THREE, TWO, match, play, refused

PLAYTHROUGHS = sorted((Path(__file__).parent / "playthroughs").glob("moogui_*.txt"))


@pytest.mark.parametrize("file", PLAYTHROUGHS, ids=lambda file: file.stem)
def test_playthrough(file: Path) -> None:
    """`= fact value`: the arena looks so; `~ piece player`: whose it is; `! rule line`: refused; else an input."""
    state = match()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        line = line.partition("#")[0].strip()
        where = f"line {number}: {line}"
        if line.startswith("="):
            _, fact, value = line.split()
            assert RULES.look(state)[fact] == value, where
        elif line.startswith("~"):
            _, piece, player = line.split()
            assert state.owner(piece) == int(player[1:]) - 1, where
        elif line.startswith("!"):
            _, rule, wrong = line.split(maxsplit=2)
            assert refused(state, wrong) == rule, where
        elif line:
            state = play(state, line)


def test_there_are_playthroughs() -> None:
    assert PLAYTHROUGHS


# --- catalogue --------------------------------------------------------------------------------------------------

ARI = catalogue.to_data(catalogue.default())[0]
IBEX = next(model for model in catalogue.to_data(catalogue.default()) if model["kind"] == "sentinel")


def changed(model: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A model with other values; None takes a key away."""
    return {
        key: value for key, value in {**copy.deepcopy(model), **keys}.items() if value is not None or key in ("attack",)
    }


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ([], "moogui.catalogue_type"),
        (changed(ARI, id="Ari!"), "moogui.catalogue_id"),
        (changed(ARI, colour="red"), "moogui.catalogue_unknown"),
        (changed(ARI, powers=None), "moogui.catalogue_missing"),
        (changed(ARI, name=" "), "moogui.catalogue_type"),
        (changed(ARI, kind="dragon"), "moogui.catalogue_kind"),
        (changed(ARI, provenance="rumour"), "moogui.catalogue_provenance"),
        (changed(ARI, powers="many"), "moogui.catalogue_type"),
        (changed(ARI, faces="x.png"), "moogui.catalogue_type"),
        (changed(ARI, faces=["x.png"]), "moogui.catalogue_pictures"),
        (changed(ARI, shield=7), "moogui.catalogue_face"),
        (changed(ARI, shield=None, powers=[1, 2, 3, 4, 5, 6]), "moogui.catalogue_shield"),
        (changed(IBEX, shield=6, powers=[1, 2, 3, 4, 5, None]), "moogui.catalogue_shield"),
        (changed(ARI, attack=None), "moogui.catalogue_attack"),
        (changed(IBEX, attack=2), "moogui.catalogue_attack"),
        (changed(ARI, attack=6), "moogui.catalogue_both"),
        (changed(ARI, powers=[1, 2, 3, 4, 5, 6]), "moogui.catalogue_shield_power"),
        (changed(ARI, powers=[1, 2, 3, None, 5, None]), "moogui.catalogue_power"),
        (changed(ARI, powers=[0, 2, 3, 4, 5, None]), "moogui.catalogue_power"),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(model: Any, rule: str) -> None:
    with pytest.raises(RulesError) as error:
        catalogue.from_data([model])
    assert error.value.refusal.rule == rule


def test_a_model_twice_and_a_catalogue_that_is_no_list_are_refused() -> None:
    for data, rule in (([ARI, ARI], "moogui.catalogue_twice"), ({}, "moogui.catalogue_type")):
        with pytest.raises(RulesError) as error:
            catalogue.from_data(data)
        assert error.value.refusal.rule == rule


def test_another_count_of_faces_is_a_warning_only() -> None:
    (model,) = catalogue.from_data([changed(ARI, powers=[1, 2, 3, 4, None], shield=5, attack=4)])
    assert [warning.id for warning in catalogue.warnings(model)] == ["moogui.catalogue_faces"]
    assert model.readings == ("1", "2", "3", "4", "5", "immune", "out")
    assert not catalogue.warnings(catalogue.default()[0])


def test_a_users_file_adds_models_and_overrides_single_keys(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[ari]\nname = "Aurora"\n'
        '[mine]\nname = "Mine"\nkind = "sentinel"\ncontinent = "north"\npowers = [1, 2, 3, 4, 5, 6]\n'
    )
    models = {model.id: model for model in catalogue.load(file)}
    assert models["ari"] == replace(catalogue.default()[0], name="Aurora", provenance_of=(("name", "owner"),))
    assert catalogue.from_data(catalogue.to_data(tuple(models.values()))) == tuple(models.values())
    used = catalogue.used(file, {})
    assert used.provenance["ari"] == "invented" and used.provenance["ari.name"] == "owner"
    assert used.hash != catalogue.used(None, {}).hash
    assert models["mine"].provenance == "owner" and models["bruma"].provenance == "invented"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[ari", "moogui.catalogue_unreadable"),
        ("ari = 1", "moogui.catalogue_type"),
        ("[ari]\nshield = 9\n", "moogui.catalogue_face"),
    ],
)
def test_nonsense_in_a_users_file_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(RulesError) as error:
        catalogue.load(file)
    assert error.value.refusal.rule == rule


# --- looks and explanations -------------------------------------------------------------------------------------


def seen(state: State, **facts: str) -> dict[str, str]:
    """How the arena looks with these figures lying otherwise."""
    return {**RULES.look(state), **{f"figure:{piece}": reading for piece, reading in facts.items()}}


def test_the_look_names_every_piece() -> None:
    state = play(match(2), *TWO, "throw p1 ari ari=3")
    assert RULES.look(state) == {"figure:ari": "3", "figure:ibex": "-", "figure:bruma": "-", "figure:jaca": "-"}


def test_a_throw_is_explained_with_all_figures_that_it_moved() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=3")
    stories = RULES.explain(state, seen(state, ari="out", bruma="2")).stories
    assert [story.turn for story in stories] == [Throw(1, "bruma", (("ari", "out"), ("bruma", "2")))]
    assert stories[0].player == 1 and stories[0].unseen == 0


def test_a_sentinel_a_rethrow_and_a_tie_throw_are_explained() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=6")
    (story,) = RULES.explain(state, seen(state, ibex="4")).stories
    assert story.turn == ThrowSentinel(0, 0, "ibex", (("ari", "6"), ("ibex", "4")))
    state = play(state, "throw p2 bruma ari=6 bruma=1", "end p2")
    (story,) = RULES.explain(state, seen(state, ari="5")).stories
    assert story.turn == Shield(0, True, (("ari", "5"), ("bruma", "1")))
    tied = play(match(), *TWO, "throw p1 ari ari=3", "throw p2 bruma ari=3 bruma=3", "end p2", "clear")
    (story,) = RULES.explain(tied, seen(tied, ari="2")).stories
    assert story.turn == TieThrow(0, (("ari", "2"),))


def test_a_shield_taken_back_is_explained_by_its_absence() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=6", "throw p2 bruma ari=6 bruma=1", "end p2")
    turns = [story.turn for story in RULES.explain(state, seen(state, ari="-")).stories]
    assert turns == [Shield(0, False)]


def test_an_unsure_figure_that_is_seen_surely_is_explained_as_decided() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=unsure")
    (story,) = RULES.explain(state, seen(state, ari="4")).stories
    assert story.turn == Decide("ari", "4")


def test_an_order_throw_is_explained_from_distances() -> None:
    state = play(match(), THREE[0])
    look = seen(state, ari="1", bruma="2", cedro="out")
    told = {"distance:ari": "100.5", "distance:bruma": "40", "distance:cedro": "out", "uncertainty:arena": "6"}
    story = RULES.explain(state, {**look, **told}).stories[0]
    assert isinstance(story.turn, OrderThrow)
    assert story.turn.distances == ((0, 100.5), (1, 40.0), (2, None)) and story.turn.uncertainty_mm == 6.0
    assert RULES.look(story.after)["figure:bruma"] == "2"  # they lie there until they are picked up


def test_the_same_order_throw_is_not_counted_twice_while_the_figures_lie_there() -> None:
    state = play(match(), TWO[0], "order p1=100 p2=103 ~5 ari=1 bruma=2")
    told = {"distance:ari": "100", "distance:bruma": "103", "uncertainty:arena": "5"}
    turns = [story.turn for story in RULES.explain(state, {**RULES.look(state), **told}).stories]
    assert not [turn for turn in turns if isinstance(turn, OrderThrow)]
    cleared = play(state, "clear")
    seen_again = {**seen(cleared, ari="3", bruma="4"), "distance:ari": "50", "distance:bruma": "200"}
    assert isinstance(RULES.explain(cleared, seen_again).stories[0].turn, OrderThrow)


def test_figures_of_the_order_throw_are_picked_up_before_the_first_throw() -> None:
    state = play(match(), TWO[0], "order p1=300 p2=100 ~5 ari=1 bruma=2")
    assert "moogui.pick_up" in [note.id for note in RULES.notes(state)]
    (story,) = RULES.explain(state, seen(state, bruma="-")).stories
    assert story.turn == Clear(("bruma",))
    moved = RULES.explain(state, seen(state, ari="4"))
    assert not moved.stories and moved.refusals[0].rule == "moogui.pick_up"  # a nudge is no throw
    empty = play(state, "clear")
    (story,) = RULES.explain(empty, seen(empty, ari="4")).stories
    assert story.turn == Throw(0, "ari", (("ari", "4"),))


def test_nothing_changed_is_explained_only_by_what_leaves_no_mark() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=3")
    stories = RULES.explain(state, RULES.look(state)).stories
    assert EndTurn(0) in [story.turn for story in stories] and all(story.unseen == 1 for story in stories)


@pytest.mark.parametrize(
    ("facts", "rule", "place"),
    [
        ({"ari": "4"}, "moogui.moved_without_throw", "ari"),
        ({"ari": "-"}, "moogui.taken_too_early", "ari"),
        ({"cedro": "1"}, "moogui.not_your_turn", "cedro"),
        ({"dune": "1"}, "moogui.unknown_player", ""),
        ({"jaca": "1"}, "moogui.not_owner", "jaca"),
        ({"bruma": "9"}, "moogui.bad_reading", "bruma"),
    ],
)
def test_what_no_input_explains_is_refused_with_rule_and_figure(facts: dict[str, str], rule: str, place: str) -> None:
    state = play(match(), *THREE, "throw p1 ari ari=3")
    answer = RULES.explain(state, seen(state, **facts))
    if rule == "moogui.not_owner":  # p2's Sentinel in p1's turn: no alliance could even be signed
        assert not answer.stories and answer.refusals[0].rule in ("moogui.not_owner", "moogui.wrong_continent")
        return
    assert not answer.stories and answer.refusals[0].rule == rule
    assert not place or place in answer.refusals[0].places


def test_a_figure_that_is_out_may_be_picked_up_at_any_time() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=out")
    (story,) = RULES.explain(state, seen(state, ari="-")).stories
    assert RULES.text(story.turn) == "clear ari" and RULES.look(story.after) == seen(state, ari="-")
    assert RULES.from_json(RULES.to_json(story.after)) == story.after
    assert RULES.with_look(state, {"figure:ari": "-"}) == story.after
    assert RULES.with_look(story.after, {"figure:ari": "out"}) == state
    again = RULES.apply(story.after, story.turn)
    assert isinstance(again, Refusal) and again.rule == "moogui.taken_too_early"
    after = story.after
    assert RULES.explain(after, seen(after, bruma="1")).stories[0].turn == Throw(1, "bruma", (("bruma", "1"),))


def test_a_figure_that_is_not_out_stays_where_it_lies() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=3")
    explained = RULES.explain(state, seen(state, ari="-"))
    assert not explained.stories and explained.refusals[0].rule == "moogui.taken_too_early"
    answer = RULES.with_look(state, {"figure:ari": "-"})
    assert isinstance(answer, Refusal) and answer.rule == "moogui.would_be_lost"


def test_the_arena_is_empty_before_the_match() -> None:
    assert RULES.start_from_look({"figure:ari": "-"}, {}) == {}
    (refusal,) = RULES.start_from_look({"figure:ari": "3", "figure:ibex": "-"}, {})
    assert refusal.rule == "moogui.pick_up" and refusal.places == ("ari",)


# --- corrections ------------------------------------------------------------------------------------------------


def test_a_correction_is_judged_again_from_there() -> None:
    state = play(match(), *TWO, "throw p1 ari ari=6", "throw p2 bruma ari=6 bruma=1", "end p2")
    corrected = RULES.with_look(state, {"figure:ari": "2"})  # it was no shield: 20 beats 15
    assert isinstance(corrected, State) and corrected.last == (0, ("bruma",))


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"figure:ari": "-"}, "moogui.would_be_lost"),
        ({"figure:ari": "7"}, "moogui.bad_reading"),
        ({"figure:nobody": "1"}, "moogui.unknown_figure"),
        ({"pawn:a1": "1"}, "moogui.unknown_figure"),
        ({"figure:bruma": "1"}, "moogui.not_in_play"),
    ],
)
def test_a_correction_cannot_lose_or_add_a_figure(facts: dict[str, str], rule: str) -> None:
    answer = RULES.with_look(play(match(), *TWO, "throw p1 ari ari=3"), facts)
    assert isinstance(answer, Refusal) and answer.rule == rule


def test_what_lies_from_before_is_corrected_without_touching_the_game() -> None:
    order = play(match(), TWO[0])
    lying = RULES.with_look(order, {"figure:ari": "3"})
    assert isinstance(lying, State) and lying.leftover == (("ari", "3"),) and lying.game == order.game
    gone = RULES.with_look(lying, {"figure:ari": "-"})
    assert gone == order
    between = RULES.with_look(match(), {"figure:ibex": "immune"})
    assert isinstance(between, State) and RULES.look(between)["figure:ibex"] == "immune"


# --- text and JSON ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("", "dance", "throw", "throw p1", "throw p0 ari ari=1", "throw p1 ari ari=0", "throw p1 ari ari=1 ari=2"),
        *(
            "order ~5",
            "order p1=x ~5",
            "order p1=5",
            "start",
            "start p1",
            "sign p1 p2 ibex",
            "decide",
            "end",
            "end p1 p2",
        ),
        *("decide ari=1 bruma=1", "finish now", "shield p1 maybe", "sentinel p1 p2 ibex", "offer p1 p2 ibex p1"),
    ],
)
def test_malformed_notation_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(RulesError) as error:
        RULES.parse(text)
    assert dict(error.value.refusal.values)["text"] == text


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """JSON of a state in the middle of a game, with something wrong in it."""
    data: dict[str, Any] = json.loads(json.dumps(RULES.to_json(play(match(), *TWO, "throw p1 ari ari=3"))))
    change(data)
    return data


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda d: d.update(version=2), "moogui.bad_version"),
        (lambda d: d.update(game="moogh"), "moogui.bad_json"),
        (lambda d: d["owners"].pop("ari"), "moogui.bad_json"),
        (lambda d: d["owners"].update(ari=9), "moogui.bad_json"),
        (lambda d: d["model_of"].update(ari="none"), "moogui.bad_json"),
        (lambda d: d.update(phase="idle"), "moogui.bad_json"),
        (lambda d: d.update(phase="tiebreak"), "moogui.bad_json"),
        (lambda d: d.update(phase="shields"), "moogui.bad_json"),
        (lambda d: d.update(phase="split"), "moogui.bad_json"),
        (lambda d: d.update(points=[1]), "moogui.bad_json"),
        (lambda d: d["options"].update(mode="war"), "moogui.bad_json"),
        (lambda d: d["now"].update(order=[0]), "moogui.bad_json"),
        (lambda d: d["now"].update(turn=5), "moogui.bad_json"),
        (lambda d: d["now"].update(groups=[[0]]), "moogui.bad_json"),
        (lambda d: d["now"].update(readings={"ari": "9"}), "moogui.bad_json"),
        (lambda d: d["now"].update(readings={"cedro": "1"}), "moogui.bad_json"),
        (lambda d: d["now"].update(thrown=[[0, "ibex"]]), "moogui.bad_json"),
        (lambda d: d.update(now=3), "moogui.bad_json"),
    ],
)
def test_json_that_is_no_state_is_refused(change: Callable[[dict[str, Any]], object], rule: str) -> None:
    with pytest.raises(RulesError) as error:
        RULES.from_json(broken(change))
    assert error.value.refusal.rule == rule


@pytest.mark.parametrize(
    "text", ["", "a | b", "competition 1 0,0 | idle | - 0 | - | []", "x 1 0 | idle | - 0 | - | {}"]
)
def test_a_position_line_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(RulesError):
        RULES.parse_position(text)


# --- random play ------------------------------------------------------------------------------------------------


def check_ledger(state: State, pieces: tuple[str, ...]) -> None:
    """No piece is created, lost or owned twice; owners are people at the arena; points only rise in training."""
    assert tuple(piece for piece, _ in state.owners) == pieces
    assert all(0 <= owner < state.rule.players for _, owner in state.owners)
    assert state.rule.mode == "training" or not any(state.points)
    assert (RULES.outcome(state) is None) == bool(RULES.legal(state))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    people=st.integers(2, 8),
    mode=st.sampled_from(["training", "competition"]),
    order=st.sampled_from(["farthest_first", "nearest_first"]),
    who=st.sampled_from(sorted(PLAYERS)),
)
def test_the_ledger_adds_up_and_everything_survives_text_and_json(
    seed: int, people: int, mode: str, order: str, who: str
) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(("x",) * people, {"mode": mode, "order": order}))
    pieces = tuple(piece for piece, _ in state.owners)
    for _ in range(150):
        check_ledger(state, pieces)
        if RULES.outcome(state) is not None:
            return
        turn = PLAYERS[who](state, chance)
        assert RULES.parse(RULES.text(turn)) == turn
        after = RULES.apply(state, turn)
        assert isinstance(after, State)
        assert {**RULES.look(state), **RULES.trace(state, turn)} == RULES.look(after)
        if chance.random() < 0.2:
            assert RULES.from_json(json.loads(json.dumps(RULES.to_json(after)))) == after
            assert RULES.parse_position(RULES.position_text(after)) == after
            listed = chance.choice(RULES.legal(state))
            wanted = RULES.apply(state, listed)
            assert isinstance(wanted, State)
            assert any(story.after == wanted for story in RULES.explain(state, RULES.look(wanted)).stories)
        state = after


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), mode=st.sampled_from(["training", "competition"]))
def test_what_is_lost_in_a_game_is_what_changes_hands(seed: int, mode: str) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(("x",) * 5, {"mode": mode}))
    for _ in range(120):
        if RULES.outcome(state) is not None:
            return
        turn = PLAYERS["sensible"](state, chance)
        before, after = state, RULES.apply(state, turn)
        assert isinstance(after, State)
        state = after
        if state.games == before.games or state.last is None:
            assert state.owners == before.owners
            continue
        winner, lost = state.last
        moved = {piece for piece, owner in state.owners if before.owner(piece) != owner}
        assert moved <= set(lost)
        assert winner >= 0 or not lost
        assert mode == "competition" or not moved
        protected = {piece for piece, reading in before.lying if reading == "immune"}
        assert not isinstance(turn, EndTurn) or not moved & protected


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_ledger_adds_up_in_ten_thousand_games() -> None:
    games, seed = 0, 0
    while games < 10_000:
        chance = random.Random(seed)
        state = RULES.new(Setup(("x",) * (2 + seed % 7), {"mode": "competition"}))
        pieces = tuple(piece for piece, _ in state.owners)
        while RULES.outcome(state) is None:
            after = RULES.apply(state, PLAYERS[("random", "sensible")[seed % 2]](state, chance))
            assert isinstance(after, State)
            state = after
            check_ledger(state, pieces)
        games, seed = games + state.games, seed + 1
