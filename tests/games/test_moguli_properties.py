"""Properties of Moguli's engine against a slow reading of the rulings, on random positions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.contract import Refusal
from companion.games.moguli import RULES
from companion.games.moguli.board import BIT, CROSS, DOORS, NAMES, PATH, SIDES, TRIANGLE, doors_in
from companion.games.moguli.judge import judge
from companion.games.moguli.moves import can_in_position, can_in_turn, reach
from companion.games.moguli.routes import no_route, witness
from companion.games.moguli.state import ACTS, MOVE, Options, State
from companion.games.moguli.turns import legal_turns, ordered_turns


@st.composite
def states(draw: st.DrawFn, most_pawns: int = 5, bends_only: bool = False) -> State:
    chance = random.Random(draw(st.integers(0, 2**32)))
    codes = [0, 1, 4, 5, 6, 7, 10, 11] if bends_only else list(range(12))
    doors = chance.sample(range(DOORS), 2 * most_pawns)
    count = chance.randint(1, most_pawns), chance.randint(0, most_pawns)
    return State(
        tiles=tuple(chance.choice(codes) for _ in range(DOORS)),
        pawns=(sum(BIT[d] for d in doors[: count[0]]), sum(BIT[d] for d in doors[most_pawns : most_pawns + count[1]])),
        locked=sum(BIT[d] for d in chance.sample(range(DOORS), chance.randint(0, 2))),
        blocked_run=chance.randint(0, 2),
        options=Options(
            cylinder=chance.random() < 0.5,
            ability=chance.choice(("turn", "position")),
            compulsory_actions=chance.random() < 0.2,
        ),
    )


def sides(code: int, below: bool) -> str:
    """The two sides that a tile joins on a level, read from the ruling."""
    above = PATH[code]
    return above if not below or TRIANGLE[code] else "".join(side for side in SIDES if side not in above)


def neighbours(state: State, door: int, below: bool) -> Iterator[int]:
    column, row = door % 5, door // 5
    for side, opposite, right, up in (("N", "S", 0, 1), ("E", "W", 1, 0), ("S", "N", 0, -1), ("W", "E", -1, 0)):
        x, y = column + right, row + up
        if state.options.cylinder:
            x %= 5
        if side in sides(state.tiles[door], below) and 0 <= x < 5 and 0 <= y < 7:
            other = 5 * y + x
            if opposite in sides(state.tiles[other], below):
                yield other


def slowly(state: State, start: int) -> tuple[set[int], set[int]]:
    """Where a pawn can end, and with a bonus, by walking every way; the two-free-doors rules left out."""
    others = {d for d in doors_in(state.pawns[0] | state.pawns[1]) if d != start}
    foes = set(doors_in(state.pawns[1]))

    def over(door: int) -> set[int]:
        found, rest = {door}, [door]
        while rest:
            for other in neighbours(state, rest.pop(), False):
                if other not in found and other not in others:
                    found.add(other)
                    rest.append(other)
        return found

    ends: set[int] = set()
    bonus: set[int] = set()
    for down in over(start):
        walks: list[tuple[int, ...]] = [(down, other) for other in neighbours(state, down, True)]
        while walks:
            walk = walks.pop()
            between = set(walk[1:-1])
            if walk[-1] not in others and between & others:
                ends |= over(walk[-1])
                if between & foes:
                    bonus |= over(walk[-1])
            if walk[-1] != down:
                walks += [(*walk, d) for d in neighbours(state, walk[-1], True) if d != walk[-2] and d not in walk[1:]]
    return ends, bonus


@settings(max_examples=150, deadline=None)
@given(states())
def test_reach_is_what_walking_every_way_finds(state: State) -> None:
    pawns = state.pawns[0] | state.pawns[1]
    for door in doors_in(state.pawns[0]):
        ends, bonus, _ = reach(state.tiles, door, pawns ^ BIT[door], state.pawns[1], CROSS[state.options.cylinder])
        assert (set(doors_in(ends)), set(doors_in(bonus))) == slowly(state, door)


@settings(max_examples=60, deadline=None)
@given(states(), st.integers(0, DOORS - 1), st.integers(0, 11))
def test_a_tile_on_which_reach_does_not_depend_can_be_any_tile(state: State, tile: int, code: int) -> None:
    pawns = state.pawns[0] | state.pawns[1]
    other = (*state.tiles[:tile], code, *state.tiles[tile + 1 :])
    for door in doors_in(state.pawns[0]):
        asked = (door, pawns ^ BIT[door], state.pawns[1], CROSS[state.options.cylinder])
        ends, bonus, touched = reach(state.tiles, *asked)
        if not touched & BIT[tile]:
            assert reach(other, *asked) == (ends, bonus, touched)


@settings(max_examples=60, deadline=None)
@given(states())
def test_a_witness_route_exists_exactly_for_legal_ends_and_is_walkable(state: State) -> None:
    pawns = state.pawns[0] | state.pawns[1]
    for door in doors_in(state.pawns[0]):
        others = pawns ^ BIT[door]
        ends, bonus, _ = reach(state.tiles, door, others, state.pawns[1], CROSS[state.options.cylinder])
        for end in range(DOORS):
            route = witness(state.tiles, door, end, others, state.pawns[1], state.options.cylinder)
            assert (route is not None) == bool(ends & BIT[end])
            if route is None:
                refusal = no_route(state.tiles, door, end, pawns, state.options.cylinder)
                assert {NAMES[door], NAMES[end]} <= set(refusal.places)
                continue
            assert route.bonus == bool(bonus & BIT[end])
            assert (route.surface[0], route.second[-1]) == (door, end)
            assert (route.surface[-1], route.underground[-1]) == (route.underground[0], route.second[0])
            for below, way in ((False, route.surface), (True, route.underground), (False, route.second)):
                for one, other in pairwise(way):
                    assert other in neighbours(state, one, below)
                    assert below or not others & BIT[other]


@settings(max_examples=12, deadline=None)
@given(states(most_pawns=4))
def test_the_merged_list_has_one_turn_for_every_next_state_of_the_ordered_one(state: State) -> None:
    ordered = list(ordered_turns(state))
    if len(ordered) > 4000:
        ordered = random.Random(1).sample(ordered, 4000)
        assert {judge(state, turn) for turn in ordered} <= {judge(state, turn) for turn in legal_turns(state)}
        return
    merged = [judge(state, turn) for turn in legal_turns(state)]
    assert len(set(merged)) == len(merged)
    assert set(merged) == {judge(state, turn) for turn in ordered}


@settings(max_examples=40, deadline=None)
@given(states(), st.integers(0, 2**32))
def test_judge_allows_exactly_what_the_ordered_list_holds(state: State, seed: int) -> None:
    chance = random.Random(seed)
    allowed = set(ordered_turns(state))
    turns = chance.sample(sorted(allowed), min(20, len(allowed)))
    acts = [act for act in ACTS if act[0] in "RMB"]
    turns += [tuple(chance.choice(acts) for _ in range(chance.randint(0, 3))) for _ in range(20)]
    mine = list(doors_in(state.pawns[0]))
    turns += [(MOVE[chance.choice(mine)][chance.randrange(DOORS)],) for _ in range(20)]
    for turn in turns:
        assert isinstance(judge(state, turn), Refusal) == (turn not in allowed), RULES.text(turn)


@settings(max_examples=30, deadline=None)
@given(states())
def test_able_by_the_position_is_able_by_the_turn(state: State) -> None:
    assert can_in_turn(state) or not can_in_position(state)


@settings(max_examples=40, deadline=None)
@given(states(bends_only=True), st.integers(0, 2**32))
def test_what_a_turn_shows_is_explained_by_its_next_state(state: State, seed: int) -> None:
    turns = legal_turns(state)
    for turn in random.Random(seed).sample(turns, min(10, len(turns))):
        after = judge(state, turn)
        assert isinstance(after, State)
        stories = RULES.explain(state, RULES.look(after)).stories
        assert after in [story.after for story in stories]
        assert len({story.after for story in stories}) == len(stories)
        for story in stories:
            assert judge(state, story.turn) == story.after


@settings(max_examples=60, deadline=None)
@given(states(), st.integers(0, 2**32))
def test_any_change_is_explained_or_refused_with_words_and_places(state: State, seed: int) -> None:
    chance = random.Random(seed)
    look = dict(RULES.look(state))
    for _ in range(chance.randint(1, 4)):
        key = chance.choice(sorted(look))
        values = {"path": ["NE", "NS", "NW", "ES", "EW", "SW"], "triangle": ["no", "yes"], "pawn": ["-", "1", "2"]}
        look[key] = chance.choice(values[key.split(":")[0]])
    answer = RULES.explain(state, look)
    assert bool(answer.stories) != bool(answer.refusals)
    for story in answer.stories:
        assert RULES.look(story.after) == look
