"""MOOGH at the table: looks, explanations, corrections, notation, JSON, playthroughs and random play."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.moogh import RULES
from companion.games.moogh.players import PLAYERS
from companion.games.moogh.state import Roll, State, Turn, Walk
from tests.games.test_moogh_rules import deck, fit, game, play

PLAYTHROUGHS = sorted((Path(__file__).parent / "playthroughs").glob("moogh_*.txt"))
OPTIONS = st.fixed_dictionaries(
    {option.name: st.sampled_from(option.choices) for option in RULES.options()},
)


@pytest.mark.parametrize("file", PLAYTHROUGHS, ids=lambda file: file.stem)
def test_playthrough(file: Path) -> None:
    """Lines are inputs; `= fact value` says how the table looks then; `! rule line` must be refused; # is a remark."""
    state = RULES.new(Setup(("Ada", "Bea", "Cai", "Dee")))
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line.startswith("="):
            _, fact, value = line.split()
            assert RULES.look(state)[fact] == value, f"line {number}: {line}"
        elif line.startswith("!"):
            _, rule, wrong = line.split(maxsplit=2)
            answer = RULES.apply(state, RULES.parse(wrong))
            assert isinstance(answer, Refusal) and answer.rule == rule, f"line {number}: {line}: {answer}"
        elif line:
            answer = RULES.apply(state, RULES.parse(line))
            assert isinstance(answer, State), f"line {number}: {line}: {answer}"
            state = answer


def test_there_are_playthroughs() -> None:
    assert PLAYTHROUGHS


def test_the_look_names_every_fact_a_camera_reads() -> None:
    assert RULES.look(RULES.new(Setup(("a",)))) == {
        "beast:origin": "3,2",
        "beast:facing": "east",
        "die:health": "6",
        "die:rage": "1",
        "rage:cell": "1.1",
        "card:side": "front",
        "die:points": "0",
        "cube:red": "0,1",
        "cube:green": "0,4",
    }


def test_a_whole_move_of_a_cube_is_explained_as_one_walk() -> None:
    state = play(RULES.new(Setup(("a",))), "red arrow 2")
    seen = {**RULES.look(state), "cube:red": "2,1"}
    best = RULES.explain(state, seen).stories[0]
    assert best.turn == Walk("red", "M2", ((1, 0), (2, 1))) or isinstance(best.turn, Walk)
    assert best.unseen == 0 and best.after.man("red").at == (2, 1)
    assert RULES.apply(state, best.turn) == best.after


def test_the_cube_of_somebody_else_is_named() -> None:
    state = play(RULES.new(Setup(("a",))), "red arrow 2")
    seen = {**RULES.look(state), "cube:green": "1,3"}
    answer = RULES.explain(state, seen)
    assert not answer.stories and answer.refusals[0].rule == "moogh.not_your_turn"


@pytest.mark.parametrize(("cell", "rule"), [("1,0", "moogh.onto_an_obstacle"), ("7,5", "moogh.not_adjacent")])
def test_an_illegal_move_of_a_cube_is_explained_with_its_rule_and_place(cell: str, rule: str) -> None:
    state = play(RULES.new(Setup(("a",))), "red arrow 2")
    answer = RULES.explain(state, {**RULES.look(state), "cube:red": cell})
    assert not answer.stories and (answer.refusals[0].rule, answer.refusals[0].places) == (rule, (cell,))


def test_a_die_that_shows_another_value_is_named_with_both_and_what_set_it() -> None:
    state = game(deck(characters=fit(red=[["Stab", "M1"]])), places={"red": [3, 1]})
    state = play(state, "red arrow 0\nred action Stab\nred roll hit 6")
    answer = RULES.explain(state, {**RULES.look(state), "die:health": "6"})
    assert not answer.stories and answer.refusals[0].rule == "moogh.differs"
    assert dict(answer.refusals[0].values) == {
        "fact": "@moogh.fact_die_health",
        "seen": "6",
        "held": "5",
        "cause": "red roll hit 6",
    }


def test_what_is_not_seen_is_not_held_against_anybody() -> None:
    state = RULES.new(Setup(("a",)))
    assert not RULES.explain(state, {"die:health": "6"}).refusals


def test_the_start_is_checked_against_the_table() -> None:
    table = dict(RULES.look(RULES.new(Setup(("a",) * 4))))
    assert RULES.start_from_look(table, {}) == {}
    wrong = RULES.start_from_look({**table, "cube:red": "6,1", "die:health": "5"}, {})
    assert isinstance(wrong, tuple) and [refusal.rule for refusal in wrong] == ["moogh.start_differs"] * 2


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"die:health": "0"}, "moogh.bad_fact"),
        ({"die:points": "C3"}, "moogh.bad_fact"),
        ({"rage:cell": "7.1"}, "moogh.bad_fact"),
        ({"beast:origin": "20,2"}, "moogh.bad_fact"),
        ({"cube:blue": "1,1"}, "moogh.bad_fact"),
        ({"cube:red": "grab:CFL"}, "moogh.bad_fact"),
        ({"cube:red": "0,4"}, "moogh.two_on_a_space"),
        ({"cube:red": "1,0"}, "moogh.no_space_there"),
        ({"cube:red": "3,2"}, "moogh.no_space_there"),
        ({"cube:red": "8,2"}, "moogh.no_space_there"),
    ],
)
def test_a_correction_that_would_lose_or_double_something_is_refused(facts: dict[str, str], rule: str) -> None:
    answer = RULES.with_look(RULES.new(Setup(("a",))), facts)
    assert isinstance(answer, Refusal) and answer.rule == rule


def test_a_correction_changes_only_what_it_names() -> None:
    state = play(RULES.new(Setup(("a",))), "red arrow 2")
    after = RULES.with_look(
        state, {"cube:red": "2,2", "die:points": "B3", "card:side": "back", "beast:facing": "north"}
    )
    assert isinstance(after, State)
    changed = {fact for fact, value in RULES.look(after).items() if RULES.look(state)[fact] != value}
    assert changed == {"cube:red", "die:points", "card:side", "beast:facing"}
    assert RULES.legal(after)


def test_cubes_are_not_corrected_while_a_die_is_awaited() -> None:
    state = game(deck(characters=fit(red=[["Stab", "M1"]])), places={"red": [3, 1]})
    state = play(state, "red arrow 0\nred action Stab")
    answer = RULES.with_look(state, {"cube:red": "0,0"})
    assert isinstance(answer, Refusal) and answer.rule == "moogh.roll_first"
    assert isinstance(RULES.with_look(state, {"die:health": "3"}), State)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "red",
        "red arrow",
        "blue arrow 1",
        "red roll hit 7",
        "red roll hit",
        "red walk M3 1,1",
        "red walk M1 x",
        "red a b c",
    ],
)
def test_malformed_notation_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(RulesError) as error:
        RULES.parse(text)
    assert dict(error.value.refusal.values)["text"] == text


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("version", 2, "moogh.bad_version"),
        ("game", "moguli", "moogh.bad_json"),
        ("phase", 5, "moogh.bad_json"),
        ("agenda", [["hit", "nobody", "Stab", 0]], "moogh.bad_json"),
        ("agenda", [], "moogh.bad_json"),
        ("cards_digest", "0", "moogh.bad_json"),
        ("men", {"red": ["0,1", 0]}, "moogh.bad_json"),
        ("men", {"red": ["0,4", 0], "green": ["0,4", 0]}, "moogh.two_on_a_space"),
        ("men", {"red": ["dead", 0], "green": ["0,4", 0]}, "moogh.bad_json"),
        ("rage", [9, "front", 1], "moogh.bad_json"),
        ("options", {}, "moogh.bad_json"),
    ],
)
def test_json_that_is_no_state_is_refused_with_the_reason(key: str, value: Any, rule: str) -> None:
    data = {**RULES.to_json(RULES.new(Setup(("a",)))), key: value}
    with pytest.raises(RulesError) as error:
        RULES.from_json(data)
    assert error.value.refusal.rule == rule


@pytest.mark.parametrize("text", ["", "1.1 | x", "1.1 | 3,2 east 6 | 1 front 1 | 0 | red=0,1/0 | []"])
def test_a_position_line_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(RulesError):
        RULES.parse_position(text)


@pytest.mark.parametrize(
    ("players", "options", "start", "rule"),
    [
        (0, {}, None, "moogh.player_count"),
        (6, {}, None, "moogh.player_count"),
        (1, {"fog": True}, None, "moogh.bad_option"),
        (1, {"pvp": 1}, None, "moogh.bad_option"),
        (1, {"start_column": 9}, None, "moogh.bad_option"),
        (1, {}, {"weather": "rain"}, "moogh.bad_start"),
        (2, {}, {"seats": {"red": 0, "green": 0, "brown": 0, "white": 0}}, "moogh.bad_seats"),
        (4, {}, {"seats": {"red": 0, "green": 1, "brown": 2, "white": 4}}, "moogh.bad_seats"),
    ],
)
def test_a_wrong_setup_is_refused(players: int, options: dict[str, Any], start: Any, rule: str) -> None:
    with pytest.raises(RulesError) as error:
        RULES.new(Setup(("x",) * players, options, start))
    assert error.value.refusal.rule == rule


def check_invariants(state: State) -> None:
    """Nothing leaves its range, nobody shares a space, the dead stay dead, the agenda waits unless the game is over."""
    assert 0 <= state.health <= 6 and 1 <= state.level <= 6
    assert 0 <= state.column <= state.rule.cards.columns
    standing = [man.at for man in state.men if not isinstance(man.at, str)]
    assert len(set(standing)) == len(standing)
    beast = {(state.origin[0] + x, state.origin[1] + y) for x in (0, 1) for y in (0, 1)}
    waiting = {state.man(task[1]).at for task in state.agenda if task[0] == "pushed"}  # under the beast for a moment
    for cell in standing:
        assert cell not in state.rule.cards.obstacles and (cell not in beast or cell in waiting)
        assert 0 <= cell[0] < state.rule.cards.cols and 0 <= cell[1] < state.rule.cards.rows_count
    for man in state.men:
        assert (man.hurt == 2) == (man.at == "dead")
    assert (RULES.outcome(state) is None) == bool(RULES.legal(state))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), players=st.integers(1, 5), options=OPTIONS, who=st.sampled_from(sorted(PLAYERS)))
def test_random_games_keep_the_invariants_and_survive_text_and_json(
    seed: int, players: int, options: dict[str, Any], who: str
) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(("x",) * players, options))
    for _ in range(300):
        check_invariants(state)
        if chance.random() < 0.2:
            assert RULES.from_json(json.loads(json.dumps(RULES.to_json(state)))) == state
            assert RULES.parse_position(RULES.position_text(state)) == state
        if RULES.outcome(state) is not None:
            return
        turn: Turn = PLAYERS[who](state, chance)
        assert RULES.parse(RULES.text(turn)) == turn
        after = RULES.apply(state, turn)
        assert isinstance(after, State)
        seen = {**RULES.look(state), **RULES.trace(state, turn)}
        assert seen == RULES.look(after)
        if chance.random() < 0.1:
            told = RULES.explain(state, seen)
            if isinstance(turn, Roll):  # several rolls would come to the same: none is made up
                assert not told.stories and told.unfinished and told.refusals[0].rule == "moogh.roll_untold"
            else:
                assert any(story.after == after for story in told.stories)
        state = after


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    facts=st.dictionaries(
        st.sampled_from(sorted(RULES.look(RULES.new(Setup(("a",) * 4))))),
        st.sampled_from(["0", "3", "2.2", "front", "B4", "5,2", "3,3", "top", "dead", "grab:LF", "north", "x"]),
        max_size=4,
    ),
)
def test_any_correction_leaves_a_state_that_can_be_played_on_or_is_refused(seed: int, facts: dict[str, str]) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(("x",) * 4))
    for _ in range(chance.randrange(60)):
        after = RULES.apply(state, PLAYERS["sensible"](state, chance))
        assert isinstance(after, State)
        if RULES.outcome(after) is not None:
            break
        state = after
    corrected = RULES.with_look(state, facts)
    if isinstance(corrected, Refusal):
        return
    for _ in range(60):
        if RULES.outcome(corrected) is not None:
            break
        check_invariants(corrected)
        after = RULES.apply(corrected, PLAYERS["random"](corrected, chance))
        assert isinstance(after, State)
        corrected = after


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_thousand_games_keep_the_invariants() -> None:
    for seed in range(10_000):
        chance = random.Random(seed)
        state = RULES.new(Setup(("x",) * (1 + seed % 5), {"pvp": seed % 3 == 0, "secret_actions": seed % 2 == 0}))
        while RULES.outcome(state) is None:
            after = RULES.apply(state, PLAYERS[("random", "sensible")[seed % 2]](state, chance))
            assert isinstance(after, State)
            state = after
            check_invariants(state)


def test_even_points_are_put_right_as_zero() -> None:
    state = RULES.new(Setup(("a",)))
    ahead = RULES.with_look(state, {"die:points": "B3"})
    assert isinstance(ahead, State) and ahead.balance == -3
    even = RULES.with_look(ahead, {"die:points": "0"})
    assert isinstance(even, State) and even.balance == 0


def test_a_table_for_one_is_told_from_a_table_for_four_by_its_cubes() -> None:
    for players in (1, 4):
        look = dict(RULES.look(RULES.new(Setup(tuple("abcd"[:players])))))
        assert RULES.start_from_look(look, {}) == {}
        away = {**look, "cube:white": "-", "cube:brown": "-"}
        answer = RULES.start_from_look(away, {})
        assert (answer == {}) == (players == 1)
        if players == 4:
            assert {r.rule for r in answer} == {"moogh.start_differs"}


def test_when_all_is_over_and_nothing_is_seen_that_is_said() -> None:
    state = RULES.apply(RULES.new(Setup(("a",))), RULES.parse("table give_up yes"))
    assert isinstance(state, State) and RULES.outcome(state) is not None
    assert [r.rule for r in RULES.explain(state, {}).refusals] == ["moogh.nothing_seen"]
    assert [r.rule for r in RULES.explain(state, {"die:health": "1"}).refusals] == ["moogh.differs"]


def test_a_table_for_one_has_two_cubes_and_the_others_lie_on_no_cell() -> None:
    state = RULES.new(Setup(("a",)))
    for elsewhere in ("top", "dead", "grab:FL", "-"):
        seen = {**RULES.look(state), "cube:brown": elsewhere, "cube:white": elsewhere}
        assert RULES.start_from_look(seen, {}) == {}
