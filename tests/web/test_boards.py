"""The drawing template of Moguli: everything in the view is drawn, marked by shape, and said in words."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.bulletin import Mark
from companion.games.contract import Json, Setup
from companion.games.moguli import RULES
from companion.registry import GAMES
from companion.words import LANGUAGES, say
from web.boards import board_of, moguli

PLACES = [f"{c}{r}" for r in range(1, 8) for c in "abcde"]
ROLES = ("last", "provisional", "illegal", "question", "hint", "draft")
SVG = "{http://www.w3.org/2000/svg}"


def random_views(count: int, seed: int) -> Iterator[tuple[Json, dict[str, str]]]:
    """Views and looks of random games by the real rules."""
    chance = random.Random(seed)
    choose = GAMES["moguli"].load_choose()
    for _ in range(count):
        options = {o.name: chance.choice(o.choices) for o in RULES.options()}
        state = RULES.new(Setup(("A", "B"), options, GAMES["moguli"].deal_start(chance)))
        for _ in range(chance.randrange(12)):
            if RULES.outcome(state) is None:
                state = RULES.apply(state, choose(state, chance))  # type: ignore[assignment]
        yield RULES.view(state, None), dict(RULES.look(state))


VIEWS = list(random_views(12, 5))


def places_with(svg: str, piece: bool) -> dict[str, ET.Element]:
    root = ET.fromstring(svg)
    name = "piece" if piece else "place"
    return {g.attrib["data-place"]: g for g in root.iter(f"{SVG}g") if g.attrib.get("class") == name}


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_a_real_view_is_drawn_with_all_its_places_and_pawns(number: int) -> None:
    view, look = VIEWS[number]
    svg = moguli.draw(view, ())
    assert set(places_with(svg, piece=False)) == set(PLACES)
    pawns = {key.split(":")[1] for key, value in look.items() if key.startswith("pawn:") and value != "-"}
    assert set(places_with(svg, piece=True)) == pawns
    assert len(svg) < 40_000


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_facts_by_hand_are_those_of_the_rules(number: int) -> None:
    view, look = VIEWS[number]
    assert dict(moguli.facts(view)) == look
    for kind in moguli.kinds():
        values = {choice.value for choice in kind.choices}
        assert {v for k, v in look.items() if k.startswith(f"{kind.kind}:")} <= values
        assert set(kind.turn) <= values
        assert set(kind.turn.values()) <= values


FACTS = st.dictionaries(
    st.sampled_from([f"{k}:{p}" for k in ("path", "triangle", "pawn") for p in PLACES]), st.none(), max_size=8
).flatmap(
    lambda keys: st.fixed_dictionaries(
        {
            key: st.sampled_from(
                [c.value for kind in moguli.kinds() if kind.kind == key.split(":")[0] for c in kind.choices]
            )
            for key in keys
        }
    )
)


@given(FACTS, st.integers(0, len(VIEWS) - 1))
def test_an_edited_view_has_the_new_facts_and_the_old_ones_elsewhere(facts: dict[str, str], number: int) -> None:
    view, look = VIEWS[number]
    before = moguli.draw(view, ())
    edited = moguli.edited(view, {**facts, "pawn:z9": "1", "soul:a1": "x"})
    assert dict(moguli.facts(edited)) == {**look, **facts}
    assert moguli.draw(view, ()) == before, "the view itself is left alone"
    assert moguli.edited(view, {}) == view


def test_a_quarter_turn_four_times_is_none() -> None:
    (path,) = (kind for kind in moguli.kinds() if kind.kind == "path")
    for value in moguli.PATHS:
        turned = value
        for _ in range(4):
            turned = path.turn[turned]
        assert turned == value
    clockwise = dict(zip("NESW", "ESWN", strict=True))
    for value, turned in path.turn.items():
        assert {clockwise[side] for side in value} == set(turned)


def test_marks_differ_by_shape_not_only_by_colour() -> None:
    drawn = {}
    for role in ROLES:
        root = ET.fromstring(moguli.draw(VIEWS[0][0], (Mark("c3", role),)))
        marks = [g for g in root.iter(f"{SVG}g") if role in g.attrib.get("class", "").split()]
        assert len(marks) == 2, "an outline and a sign"
        text = "".join(ET.tostring(g, encoding="unicode") for g in marks)
        drawn[role] = re.sub(r'#[0-9a-f]{3,6}|class="[^"]*"', "", text)
    assert len(set(drawn.values())) == len(ROLES)


def test_pawns_differ_by_shape_not_only_by_colour() -> None:
    first, second = (re.sub(r"#[0-9a-f]{3,6}", "", moguli.chip(None, player)) for player in (0, 1))
    assert first != second


def test_strange_marks_and_an_empty_table_are_drawn_all_the_same() -> None:
    svg = moguli.draw(None, (Mark("z9", "last"), Mark("a1", '"><script>'), Mark("b2", "hint")))
    assert "<script>" not in svg
    assert set(places_with(svg, piece=False)) == set(PLACES)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_place_is_said_in_every_language(lang: str) -> None:
    for view, _ in VIEWS:
        table = moguli.table(view)
        assert [p for row in table.places for p in row] == [f"{c}{r}" for r in range(7, 0, -1) for c in "abcde"]
        for _, cells in table.rows:
            for cell in cells:
                assert all(not say(message, lang).startswith("[") for message in cell)


def test_a_game_without_a_template_has_no_board() -> None:
    assert board_of("no_such_game") is None
    assert board_of("../etc") is None
    assert board_of("os.path") is None
    assert board_of("moguli") is moguli
