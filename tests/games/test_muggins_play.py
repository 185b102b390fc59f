"""Muggins as a whole: invariants in random matches, texts that read back, bad input, rounds that replay."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.muggins import RULES, choose
from companion.games.muggins.play import apply, legal, placement
from companion.games.muggins.players import at_table, choose_random, hands_shown
from companion.games.muggins.state import Act, Entry, State, Turn
from companion.games.muggins.table import findings
from companion.games.muggins.tiles import IN_SET, SET, Line, end_sum, extend, mirrored, points, tile_of
from companion.words import LANGUAGES, say
from tests.games.test_muggins_rules import NAMES, fresh, play

PLAYTHROUGHS = sorted((Path(__file__).parent / "playthroughs").glob("muggins_*.txt"))


def total(state: State) -> int:
    return len(state.line) + sum(state.holds(p) for p in range(state.players)) + state.left


@pytest.mark.parametrize("hands", ["open", "secret"])
@pytest.mark.parametrize("seed", range(9))
def test_random_matches_keep_28_tiles_a_joined_line_and_scores_in_fives(hands: str, seed: int) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(NAMES[: 2 + seed % 3], {"hands": hands}))
    player = (choose, choose_random)[seed % 2]
    for _ in range(250):
        turn = player(state, chance)
        after = RULES.apply(state, turn)
        assert isinstance(after, State), (RULES.text(turn), after)
        assert total(after) == 28 or (after.phase == "deal" and after.last is None)
        assert all(b == c for (_, b), (c, _) in zip(after.line, after.line[1:], strict=False))
        placed = [tile_of(a, b) for a, b in after.line]
        assert len(set(placed)) == len(placed) and set(placed) <= IN_SET
        assert all(score % 5 == 0 for score in after.scores)
        risen = [p for p in range(state.players) if after.scores[p] > state.scores[p]]
        assert not risen or (risen == [state.to_move] and turn[-1].kind in ("open", "place"))
        assert RULES.parse(RULES.text(turn)) == turn
        assert RULES.parse_position(RULES.position_text(after)) == after
        assert RULES.from_json(RULES.to_json(after)) == after
        words = say(RULES.describe(state, turn), players=NAMES)
        assert "[muggins" not in words and "{" not in words
        assert "{" not in say(RULES.to_act(after).message, "fi", NAMES)
        state = after
        if state.over is not None:
            assert legal(state) == [] and RULES.to_act(state).kind == "over"
            break
        assert legal(state)


@pytest.mark.parametrize("seed", range(6))
def test_a_fair_match_at_the_table_scores_as_in_open_play_and_proves_nothing(seed: int) -> None:
    chance = random.Random(seed)
    names = NAMES[: 2 + seed % 3]
    truth = RULES.new(Setup(names, {"hands": "open"}))
    dealt = RULES.apply(truth, choose(truth, chance))
    assert isinstance(dealt, State)
    truth, table = dealt, RULES.new(Setup(names))
    for _ in range(200):
        turn = choose(truth, chance)
        after, heard = RULES.apply(truth, turn), RULES.apply(table, at_table(turn))
        assert isinstance(after, State) and isinstance(heard, State)
        if heard.phase == "show":
            shown = RULES.apply(heard, hands_shown(after))
            assert isinstance(shown, State) and not RULES.findings(shown)
            heard = shown
        assert (heard.scores, heard.phase, heard.line, heard.left) == (
            after.scores,
            after.phase,
            after.line,
            after.left,
        )
        truth, table = after, heard
        if truth.over is not None:
            break


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_legal_lists_exactly_what_apply_accepts(seed: int, secret: bool) -> None:
    state = somewhere(random.Random(seed), "secret" if secret else "open")
    if state.phase != "play":
        return
    acts: list[Act] = [Act("draw"), Act("pass")]
    acts += [Act("open", t) for t in SET]
    acts += [Act("place", t, end) for t in SET for end in "LR"]
    known = {turn[0] for turn in legal(state)}
    if not secret:
        known = {Act("draw") if act.kind == "draw" else act for act in known}
    for act in acts:
        after = apply(state, (act,))
        assert isinstance(after, State) == (act in known), RULES.text((act,))
        if isinstance(after, Refusal):
            assert all("{" not in say(after.message, lang, NAMES) for lang in LANGUAGES)


def somewhere(chance: random.Random, hands: str) -> State:
    """A state some acts into a match."""
    state = RULES.new(Setup(NAMES[: chance.randint(2, 4)], {"hands": hands}))
    for _ in range(chance.randint(0, 60)):
        after = apply(state, choose_random(state, chance))
        assert isinstance(after, State)
        if after.over is not None:
            break
        state = after
    return state


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_what_a_placement_shows_is_explained_by_it(seed: int, turned: bool) -> None:
    chance = random.Random(seed)
    state = somewhere(chance, "secret")
    turns = [t for t in legal(state) if t[0].kind in ("open", "place")]
    if state.phase != "play" or not turns:
        return
    turn: Turn = chance.choice(turns)
    draws = chance.randint(0, 1) if state.line and state.left and not any(state.known) else 0
    turn = (Act("draw"),) * draws + turn
    after = apply(state, turn)
    assert isinstance(after, State)
    (story,) = RULES.explain(state, RULES.look(after)).stories
    assert story.after == after and story.player == state.to_move
    assert {**RULES.look(state), **RULES.trace(state, turn)} == RULES.look(after)
    if turned:
        seen: dict[str, str] = {k: "-" for k in RULES.look(after) if k.startswith("line:")}
        seen |= {f"line:{k}": f"{a}-{b}" for k, (a, b) in enumerate(mirrored(after.line))}
        (story,) = RULES.explain(state, {**RULES.look(after), **seen}).stories
        assert story.after.line in (after.line, mirrored(after.line)) and story.after.scores == after.scores


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SET), st.sampled_from("LR")), min_size=1, max_size=40))
def test_a_line_scores_the_same_from_both_sides(steps: list[tuple[tuple[int, int], str]]) -> None:
    line: Line = (steps[0][0],)
    for tile, end in steps[1:]:
        line = extend(line, tile, end) or line
        assert end_sum(line) == end_sum(mirrored(line))
        assert points(line) in (0, end_sum(line)) and points(line) % 5 == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_a_fair_round_proves_nothing_and_an_unfair_pass_is_found(seed: int) -> None:
    chance = random.Random(seed)
    state = RULES.new(Setup(NAMES[: chance.randint(2, 4)], {"hands": "open"}))
    log: list[Entry] = []
    unfair: list[tuple[int, int]] = []
    while state.last is None and state.over is None:
        turn = choose_random(state, chance)
        player, passes = state.to_move, Act("pass")
        if state.phase == "play":
            act = turn[0]
            if act.kind == "place" and not state.left and not unfair and chance.random() < 0.3:
                unfair.append((len(log), player))
                log.append((player, passes))
                break
            log.append((player, act._replace(tile=None) if act.kind == "draw" else act))
        after = apply(state, turn)
        assert isinstance(after, State)
        state = after
    hands = state.hands
    found = findings(state.players, log, None, hands, state.boneyard if chance.random() < 0.5 else None)
    assert {(f.at, f.player) for f in found} == set(unfair)
    assert all(f.fault == "illegal_pass" for f in found)


BAD: dict[str, Any] = {
    "bad_version": {"version": 3},
    "bad_players": {"scores": [0]},
    "not_28": {"hidden": 13},
    "tile_twice": {"line": [[1, 4], [4, 1]], "hidden": 12},
    "line_does_not_join": {"line": [[1, 4], [5, 1]], "hidden": 12},
    "no_such_tile": {"line": [[1, 9]], "hidden": 13},
    "bad_position": {"phase": "dreaming"},
}


@pytest.mark.parametrize("rule", BAD)
def test_a_position_that_breaks_conservation_is_refused_with_its_reason(rule: str) -> None:
    with pytest.raises(RulesError) as caught:
        RULES.from_json({**RULES.to_json(fresh()), **BAD[rule]})
    assert caught.value.refusal.rule == f"muggins.{rule}"
    assert "{" not in say(caught.value.refusal.message)


@pytest.mark.parametrize(
    "wrong",
    [
        {"to_move": 2},
        {"to_move": True},
        {"scores": [1, 0]},
        {"target": 0},
        {"passes": 3},
        {"opened": 1},
        {"round": 0},
        {"secret": 1},
        {"log": [[0, "deal"]]},
        {"log": [[0, "open 14; pass"]]},
        {"log": [[5, "open 14"]]},
        {"over": {"winner": 0, "why": "target"}},
        {"known": []},
        {"counts": [7, 7, 7]},
        {"counts": [-1, 15]},
        {"lots": [4]},
        {"last": {"out": 0}},
        {"drawn": [9]},
        {"hands": 3},
    ],
)
def test_nonsense_in_json_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RulesError):
        RULES.from_json({**RULES.to_json(fresh()), **wrong})
    for data in (None, [], "x", {"version": 1}):
        with pytest.raises(RulesError):
            RULES.from_json(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- | 7 / 7 | 14 | 0 0 | 0",
        "- | 7 / 7 | 14 | 0 0 | 0 | 250 | secret=yes moon=1",
        "- | 7 / x | 14 | 0 0 | 0 | 250 | secret=yes",
        "1x | 7 / 6 | 14 | 0 0 | 0 | 250 | secret=yes",
        "- | 7 / 7 | 14 | 0 0 | zero | 250 | secret=yes",
        "- | 7 / 7 | 14 | 0 0 | 0 | 250 | secret=yes last=1",
        "- | 00,01 / 02 | 03 | 0 0 | 0 | 250",
    ],
)
def test_a_position_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(RulesError):
        RULES.parse_position(text)


def test_the_state_before_an_act_stays_as_it_was() -> None:
    state = play(fresh(), "open 14")
    kept = RULES.to_json(state)
    for turn in legal(state):
        RULES.apply(state, turn)
    assert RULES.to_json(state) == kept


@pytest.mark.parametrize("path", PLAYTHROUGHS, ids=lambda p: p.stem)
def test_playthrough(path: Path) -> None:
    """Lines `> turn` are played, `! turn = rule` must be refused; `sum`, `= scores` and `note` must hold."""
    state: State | None = None
    last = (0, 0)
    for line in path.read_text(encoding="utf-8").splitlines():
        sign, _, rest = line.partition(" ")
        if sign == "players":
            state = RULES.new(Setup(tuple(rest.split())))
        if state is None or sign in ("players", "", "#"):
            continue
        if sign == ">":
            turn = RULES.parse(rest)
            after = RULES.apply(state, turn)
            assert isinstance(after, State), f"{line}: {after}"
            last = placement(state, turn[-1])
            state = after
        elif sign == "!":
            text, _, rule = rest.partition(" = ")
            refusal = RULES.apply(state, RULES.parse(text))
            assert isinstance(refusal, Refusal) and refusal.rule == f"muggins.{rule}", f"{line}: {refusal}"
        elif sign == "sum":
            assert f"{last[0]} scores {last[1]}" == rest
        elif sign == "=":
            assert " ".join(map(str, state.scores)) == rest
        elif sign == "note":
            assert rest in [say(m, players=NAMES) for m in RULES.notes(state)]
        else:
            pytest.fail(f"what is {line!r}?")


def test_there_are_playthroughs() -> None:
    assert PLAYTHROUGHS
