"""Every game's drawing template: what is in the view is drawn, can be put right by hand, and is said in words."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
import pytest

from calibration.palette import NAMED_RGB
from calibration.profile import load_board
from companion.bulletin import Mark
from companion.games.contract import Json, Refusal, Setup
from companion.registry import GAMES
from companion.words import LANGUAGES, say
from web.boards import Board, board_of

SVG = "{http://www.w3.org/2000/svg}"
PLAYERS = ("Ada", "Bea", "Cy", "Dan")


def views(name: str, seeds: int = 4, turns: int = 25) -> Iterator[tuple[Json, dict[str, str], int]]:
    """Views, looks and numbers of players from random games by the real rules."""
    entry = GAMES[name]
    rules, choose = entry.load_rules(), entry.load_choose()
    for seed in range(seeds):
        chance = random.Random(seed)
        count = chance.randint(rules.min_players, min(rules.max_players, 4))
        state = rules.new(Setup(PLAYERS[:count], {}, entry.deal_start(chance)))
        yield rules.view(state, None), dict(rules.look(state)), count
        for _ in range(turns):
            if rules.outcome(state) is not None:
                break
            after = rules.apply(state, choose(state, chance))
            assert not isinstance(after, Refusal)
            state = after
        yield rules.view(state, 0), dict(rules.look(state)), count


@pytest.fixture(params=sorted(GAMES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def template(name: str) -> Board:
    board = board_of(name)
    assert board is not None
    return board


def groups(svg: str, kind: str) -> list[str]:
    return [g.attrib["data-place"] for g in ET.fromstring(svg).iter(f"{SVG}g") if g.attrib.get("class") == kind]


def test_what_may_be_set_by_hand_is_what_the_rules_know(name: str) -> None:
    board = template(name)
    values = {kind.kind: {choice.value for choice in kind.choices} for kind in board.kinds()}
    for view, look, _ in views(name):
        facts = dict(board.facts(view))
        assert facts and facts.items() <= look.items()
        for key, value in facts.items():
            assert value in values[key.partition(":")[0]], key
        hidden = {k for k, v in look.items() if v != "-"} - facts.keys()
        assert all(key.startswith("hand:") for key in hidden), "only shown hands are not set on the board"


def test_every_place_and_piece_is_drawn_once(name: str) -> None:
    board = template(name)
    for view, _, _ in views(name):
        svg = board.draw(view, ())
        places = groups(svg, "place")
        assert len(set(places)) == len(places)
        assert {key.partition(":")[2] for key in board.facts(view)} == set(places)
        assert set(groups(svg, "piece")) <= set(places)
        assert len(svg) < 100_000


def test_an_edited_view_has_the_new_fact_and_the_old_ones(name: str) -> None:
    board, chance = template(name), random.Random(7)
    for view, _, _ in views(name):
        facts = dict(board.facts(view))
        before = board.draw(view, ())
        assert dict(board.facts(board.edited(view, {}))) == facts
        assert dict(board.facts(board.edited(view, {"soul:x": "1", next(iter(facts)): "no such value"}))) == facts
        for key in chance.sample(sorted(facts), min(6, len(facts))):
            kind = next(k for k in board.kinds() if k.kind == key.partition(":")[0])
            value = chance.choice(kind.choices).value
            if name == "muggins" and value == kind.nothing:
                continue
            edited = dict(board.facts(board.edited(view, {key: value})))
            if edited[key] != value:
                assert edited == facts and name == "moogh", "the kind has the value, this fact cannot"
                continue
            assert all(edited.get(k, v) == v for k, v in facts.items() if k != key)
            if value != facts[key] and key.partition(":")[0] not in ("rage", "card"):
                assert board.draw(board.edited(view, {key: value}), ()) != before
        assert board.draw(view, ()) == before, "the view itself is left alone"


def test_marks_are_drawn_on_known_places_only(name: str) -> None:
    board = template(name)
    for view, _, _ in views(name, 1):
        bare = board.draw(view, ())
        place = groups(bare, "place")[0]
        assert board.draw(view, (Mark(place, "illegal"),)) != bare
        assert board.draw(view, (Mark("no such place", "illegal"), Mark('"><script>', "last"))) == bare


def test_a_bare_table_is_drawn(name: str) -> None:
    ET.fromstring(template(name).draw(None, (Mark("x", "hint"),)))


def test_players_differ_by_more_than_colour(name: str) -> None:
    rules = GAMES[name].load_rules()
    for count in range(rules.min_players, rules.max_players + 1):
        names = tuple(f"p{n}" for n in range(count))
        state = rules.new(Setup(names, {}, GAMES[name].deal_start(random.Random(count))))
        chips = [template(name).chip(rules.view(state, None), player) for player in range(count)]
        assert len({re.sub(r"#[0-9a-f]{3,6}", "", chip) for chip in chips}) == count
        for chip in chips:
            ET.fromstring(chip)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_players_chip_is_the_mole_that_lies_at_his_corner(count: int) -> None:
    rules = GAMES["maulwurf"].load_rules()
    view = rules.view(rules.new(Setup(PLAYERS[:count], {}, None)), None)
    drawn = set(re.findall(r'<circle r="11" fill="(#[0-9a-f]{6})"', template("maulwurf").draw(view, ())))
    chips = [
        re.findall(r'<circle r="11" fill="(#[0-9a-f]{6})"', template("maulwurf").chip(view, n)) for n in range(count)
    ]
    assert {fill for fills in chips for fill in fills} == drawn and len(drawn) == count


@pytest.mark.parametrize("variant", ["", "square13"])
def test_moles_are_drawn_in_the_colours_of_the_board_spec(variant: str) -> None:
    for number, colour in enumerate(load_board("maulwurf", variant=variant).grid["colours"], 1):
        icon = next(c.icon for c in template("maulwurf").kinds()[0].choices if c.value == f"mole{number}")
        drawn = np.array([int(re.findall(r'fill="#([0-9a-f]{6})"', icon)[0][i : i + 2], 16) for i in (0, 2, 4)])
        nearest = min(("red", "blue", "green", "yellow"), key=lambda c: np.linalg.norm(drawn - NAMED_RGB[c]))
        assert nearest == colour


def test_the_beasts_player_and_who_leads_two_have_chips_of_their_own() -> None:
    rules, chip = GAMES["moogh"].load_rules(), template("moogh").chip
    three = rules.view(rules.new(Setup(PLAYERS[:3], {}, None)), None)
    letters = [re.findall(r">([A-Z])</text>", chip(three, player)) for player in range(3)]
    assert [sorted(found) for found in letters] == [["G", "R"], ["B", "W"], []]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_board_is_said_in_every_language(name: str, lang: str) -> None:
    board = template(name)
    for kind in board.kinds():
        for message in (kind.words, *(choice.words for choice in kind.choices)):
            assert not say(message, lang).startswith("[")
    for view, _, count in views(name, 2):
        table = board.table(view)
        assert len(table.rows) == len(table.places)
        shown = {place for row in table.places for place in row if place}
        assert shown == {key.partition(":")[2] for key in board.facts(view)}
        for _, cells in table.rows:
            for message in (m for cell in cells for m in cell):
                words = say(message, lang, PLAYERS[:count])
                assert "[" not in words and "{" not in words
