"""Die Maulwurfshöhle as a whole: invariants in random play, texts that read back, bad input, games that replay."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.contract import Refusal, RulesError, Setup
from companion.games.maulwurf import RULES, choose
from companion.games.maulwurf.explain import turns_to
from companion.games.maulwurf.layout import Act, built_in
from companion.games.maulwurf.players import choose_random
from companion.games.maulwurf.state import BUSY, State
from companion.games.maulwurf.turns import legal
from companion.words import LANGUAGES, say

NAMES = ("Ada", "Ben", "Cem", "Dot")
PLAYTHROUGHS = sorted((Path(__file__).parent / "playthroughs").glob("maulwurf_*.txt"))


def crowded(chance: random.Random) -> State:
    """A random position with moles near the caves and on entrances, some of them waiting to dig."""
    layout = built_in(chance.choice(("diamond181", "square13")))
    tables = layout.tables
    seats = chance.choice(((0, 2), (1, 3), (0, 1, 2), (0, 1, 2, 3)))
    board = bytearray(len(layout.cells))
    inner = sorted(range(len(board)), key=lambda c: min(_far(layout.cells[c], layout.cells[k]) for k in tables.caves))
    for corner in seats:
        for _ in range(9):
            c = chance.choice(inner[: chance.choice((40, 90, 160))])
            if not board[c]:
                board[c] = corner + 1
    pending = tuple(t for t in tables.tunnels if board[t] and chance.random() < 0.3)
    return State(
        layout,
        seats,
        bytes(board),
        tuple(sorted(pending)),
        chance.choice(seats),
        push_enters_cave=chance.random() < 0.5,
        then_move=chance.random() < 0.3 and len(pending) < 2,
    )


def _far(a: str, b: str) -> int:
    (x, y), (u, v) = ((int(n) for n in cell.split(",")) for cell in (a, b))
    return max(abs(x - u), abs(y - v))


@pytest.mark.parametrize("seed", range(24))
def test_random_play_keeps_moles_busy_tiles_and_marks(seed: int) -> None:
    chance = random.Random(seed)
    options = {
        "layout": ("diamond181", "square13")[seed % 2],
        "push_enters_cave": seed % 3 > 0,
        "forced_dig": ("is_the_move", "then_move")[seed % 4 == 3],
    }
    state = RULES.new(Setup(NAMES[: 2 + seed % 3], options))
    for _ in range(120):
        if state.over is not None:
            assert legal(state) == []
            break
        turn = (choose, choose_random)[seed % 5 == 0](state, chance)
        after = RULES.apply(state, turn)
        assert isinstance(after, State)
        taken = sum(state.moles(s) for s in state.seats) - sum(after.moles(s) for s in state.seats)
        placed = sum(after.busy(s) for s in state.seats) - sum(state.busy(s) for s in state.seats)
        assert 0 <= taken <= placed
        assert all(after.board[c] == state.board[c] for c, code in enumerate(state.board) if code > BUSY)
        assert all(after.layout.tables.is_tunnel[c] and 0 < after.board[c] <= BUSY for c in after.pending)
        assert RULES.parse(RULES.text(turn)) == turn
        assert RULES.parse_position(RULES.position_text(after)) == after
        assert RULES.from_json(RULES.to_json(after)) == after
        state = after


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_legal_lists_exactly_what_apply_accepts(seed: int) -> None:
    chance = random.Random(seed)
    state = crowded(chance)
    turns = legal(state)
    assert len(set(turns)) == len(turns)
    for turn in chance.sample(turns, min(40, len(turns))):
        assert isinstance(RULES.apply(state, turn), State)
    known = set(turns)
    cells = state.layout.cells
    for _ in range(60):
        acts = chance.choice(turns)
        k = chance.randrange(len(acts))
        act = acts[k]
        changed = Act(chance.choice(("step", "push", "dig")), act.start, chance.choice((act.to, chance.choice(cells))))
        other = (*acts[:k], changed, *acts[k + 1 :])
        after = RULES.apply(state, other)
        assert isinstance(after, State) == (other in known), RULES.text(other)
        if isinstance(after, Refusal):
            assert all("[" not in say(after.message, lang) for lang in LANGUAGES)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_explain_finds_exactly_the_turns_that_lead_to_a_look(seed: int) -> None:
    chance = random.Random(seed)
    state = crowded(chance)
    after_by_turn = {t: RULES.apply(state, t) for t in legal(state)}
    for turn in chance.sample(sorted(after_by_turn), min(8, len(after_by_turn))):
        after = after_by_turn[turn]
        assert isinstance(after, State)
        if after.board == state.board:
            continue
        wanted = {t for t, a in after_by_turn.items() if isinstance(a, State) and a.board == after.board}
        assert set(turns_to(state, after.board)) == wanted
        explanation = RULES.explain(state, RULES.look(after))
        assert {s.after for s in explanation.stories} == {after_by_turn[t] for t in wanted}
        assert {**RULES.look(state), **RULES.trace(state, turn)} == RULES.look(after)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_any_look_is_explained_or_refused_in_words(seed: int) -> None:
    chance = random.Random(seed)
    state = crowded(chance)
    look = dict(RULES.look(state))
    for _ in range(chance.randint(1, 4)):
        a, b = chance.sample(sorted(look), 2)
        look[a], look[b] = look[b], look[a]
    explanation = RULES.explain(state, look)
    assert bool(explanation.stories) != bool(explanation.refusals)
    for refusal in explanation.refusals:
        assert refusal.rule.startswith("maulwurf.") and "[" not in say(refusal.message)
        assert all(place in state.layout.cells for place in refusal.places)


BAD: dict[str, Any] = {
    "bad_version": {"version": 2},
    "bad_seats": {"seats": [0, 0, 1]},
    "not_opposite": {"seats": [0, 1]},
    "too_many_moles": {"moles": {f"{x},0": 0 for x in range(-9, 1)}},
    "too_many_busy": {"busy": {"0,0": 0, "0,2": 0, "2,2": 0}},
    "busy_off_cave": {"busy": {"5,0": 0}},
    "two_on_a_cell": {"moles": {"0,0": 0}, "busy": {"0,0": 0}},
    "bad_pending": {"pending": ["0,9"]},
    "no_such_cell": {"moles": {"50,0": 0}},
    "layout_unknown": {"layout": "triangle", "layout_digest": ""},
    "bad_position": {"to_move": 1},
}


@pytest.mark.parametrize("rule", BAD)
def test_a_position_that_breaks_conservation_is_refused_with_its_reason(rule: str) -> None:
    data = {**RULES.to_json(RULES.new(Setup(NAMES[:2]))), **BAD[rule]}
    with pytest.raises(RulesError) as caught:
        RULES.from_json(data)
    assert caught.value.refusal.rule == f"maulwurf.{rule}"
    assert "[" not in say(caught.value.refusal.message)


@pytest.mark.parametrize(
    "wrong",
    [
        {"seats": None},
        {"moles": []},
        {"moles": {"0,9": 1}},
        {"busy": {"0,0": True}},
        {"pending": "4,0"},
        {"resigned": [0, 2]},
        {"passes": 9},
        {"passes": "1"},
        {"options": {"forced_dig": "later", "push_enters_cave": True}},
        {"options": {"forced_dig": "then_move", "push_enters_cave": 1}},
        {"over": {"winner": 0, "why": "two_busy"}},
        {"over": {"winner": 0, "why": "luck"}},
        {"past": [1]},
    ],
)
def test_nonsense_in_json_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RulesError):
        RULES.from_json({**RULES.to_json(RULES.new(Setup(NAMES[:2]))), **wrong})
    for data in (None, [], "x", {}):
        with pytest.raises(RulesError):
            RULES.from_json(data)


@pytest.mark.parametrize("text", ["", "hop", "0,9>0", "0,9->0,8", "resign 5", "pass pass", "0,9>0,8 dig", "draw 2"])
def test_a_text_that_is_no_turn_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(RulesError) as caught:
        RULES.parse(text)
    assert caught.value.refusal.rule == "maulwurf.bad_text"


@pytest.mark.parametrize("part", range(8))
def test_a_position_text_with_a_broken_part_is_refused(part: int) -> None:
    parts = RULES.position_text(RULES.new(Setup(NAMES[:2]))).split(" | ")
    broken = ["diamond181 09", "0:x", "0,9", "5:0,0", "x", "-1", "zz", "later"]
    parts[part : part + 1] = [broken[part]]
    with pytest.raises(RulesError):
        RULES.parse_position(" | ".join(parts))
    with pytest.raises(RulesError):
        RULES.parse_position(" | ".join(parts[:5]))


@pytest.mark.parametrize(
    ("players", "options", "start"),
    [
        (NAMES[:1], {}, None),
        ((*NAMES, "Eve"), {}, None),
        (NAMES[:2], {"layout": "triangle"}, None),
        (NAMES[:2], {"push_enters_cave": 1}, None),
        (NAMES[:2], {"wind": True}, None),
        (NAMES[:2], {"first": 3}, None),
        (NAMES[:2], {}, {"seats": [0, 1, 2]}),
        (NAMES[:2], {}, {"seats": "02"}),
        (NAMES[:2], {}, {"tiles": 1}),
        (NAMES[:3], {}, {"seats": [2, 1, 0]}),
    ],
)
def test_a_faulty_setup_is_refused(players: tuple[str, ...], options: dict[str, Any], start: Any) -> None:
    with pytest.raises(RulesError):
        RULES.new(Setup(players, options, start))


@pytest.mark.parametrize("path", PLAYTHROUGHS, ids=lambda p: p.stem)
def test_playthrough(path: Path) -> None:
    """Lines `> turn` are played, `! turn = rule` must be refused, `= position` and `* outcome` must hold."""
    state: State | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        sign, _, rest = line.partition(" ")
        if sign == "start":
            state = RULES.parse_position(rest)
            continue
        if sign not in (">", "!", "=", "*"):
            continue
        assert state is not None
        if sign == ">":
            after = RULES.apply(state, RULES.parse(rest))
            assert isinstance(after, State), f"{line}: {after}"
            state = after
        elif sign == "!":
            text, _, rule = rest.partition(" = ")
            after = RULES.apply(state, RULES.parse(text))
            assert isinstance(after, Refusal) and after.rule == f"maulwurf.{rule}", f"{line}: {after}"
        elif sign == "=":
            assert RULES.position_text(state) == rest
        else:
            outcome = RULES.outcome(state)
            assert outcome is not None and say(outcome.reason, players=NAMES) == rest


def test_there_are_playthroughs() -> None:
    assert PLAYTHROUGHS
