"""What every game refuses, with what, where and why, and nothing changed: positions that lose or double a piece, turns
for another player, options and saved states that it does not know."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from companion.evidence import Author, Chose
from companion.games.contract import Refusal, RulesError, Setup
from companion.match import Match
from companion.registry import GAMES
from companion.step import step
from companion.words import catalogue, placeholders
from tests.companion.table import games

NAMES = ("Ada", "Bea", "Cy", "Dan")
COUNTS = {"moguli": 2, "maulwurf": 2, "moogh": 4, "moogui": 3, "muggins": 2}
OPENING = {"muggins": ("lot 1", "open 14", "left 11"), "moogui": ("start p1=ari p2=bruma p3=cedro",)}


def begun(name: str) -> Any:
    entry = GAMES[name]
    rules = entry.load_rules()
    state = rules.new(Setup(NAMES[: COUNTS[name]], {}, entry.deal_start(random.Random(1))))
    for text in OPENING.get(name, ()):
        state = rules.apply(state, rules.parse(text))
        assert not isinstance(state, Refusal), text
    return state


def said(refusal: Refusal, name: str) -> str:
    """The sentence's values and places in one text, once it is sure that the sentence exists and has all it needs."""
    template = catalogue("en").get(refusal.rule)
    assert template is not None and refusal.rule.startswith(f"{name}."), refusal
    assert placeholders(template) <= {key for key, _ in refusal.values}, refusal
    return " ".join([*refusal.places, *(str(value) for _, value in refusal.values)])


def moguli_pawn_twice(data: Any) -> str:
    data["pawns"][0][1] = "a1"
    return "a1"


def moguli_two_pawns_on_a_door(data: Any) -> str:
    data["pawns"][0][0] = "a7"
    return "a7"


def moguli_a_sixth_pawn(data: Any) -> str:
    data["pawns"][0].append("c4")
    return ""


def moguli_tile_missing(data: Any) -> str:
    del data["tiles"]["c3"]
    return "c3"


def maulwurf_a_tenth_mole(data: Any) -> str:
    data["moles"]["0,0" if "0,0" not in data["moles"] else "1,0"] = 0
    return ""


def maulwurf_a_mole_off_the_board(data: Any) -> str:
    data["moles"]["99,0"] = 0
    return "99,0"


def maulwurf_three_busy_tiles(data: Any) -> str:
    data["busy"] = {"0,0": 0, "2,0": 0, "-2,0": 0}
    return ""


def moogh_two_on_a_cell(data: Any) -> str:
    data["men"]["green"][0] = data["men"]["red"][0]
    return "7,1"


def moogh_a_man_missing(data: Any) -> str:
    del data["men"]["white"]
    return "men"


def moogh_dead_without_injury(data: Any) -> str:
    data["men"]["white"] = ["dead", 0]
    return "men"


def moogui_a_piece_without_owner(data: Any) -> str:
    del data["owners"]["ari"]
    return "owners"


def moogui_a_piece_too_many(data: Any) -> str:
    data["owners"]["fake"] = 0
    return "owners"


def moogui_an_owner_who_is_not_there(data: Any) -> str:
    data["owners"]["ari"] = 7
    return "7"


def muggins_a_tile_twice_in_line(data: Any) -> str:
    data["line"] = [*data["line"], [4, 1], [1, 4]]
    return ""


def muggins_more_than_28_tiles(data: Any) -> str:
    data["hidden"] += 1
    return ""


def muggins_a_score_out_of_fives(data: Any) -> str:
    data["scores"][0] = 3
    return "scores"


BROKEN: list[tuple[str, Callable[[Any], str]]] = [
    (function.__name__.split("_")[0], function)
    for function in (
        moguli_pawn_twice,
        moguli_two_pawns_on_a_door,
        moguli_a_sixth_pawn,
        moguli_tile_missing,
        maulwurf_a_tenth_mole,
        maulwurf_a_mole_off_the_board,
        maulwurf_three_busy_tiles,
        moogh_two_on_a_cell,
        moogh_a_man_missing,
        moogh_dead_without_injury,
        moogui_a_piece_without_owner,
        moogui_a_piece_too_many,
        moogui_an_owner_who_is_not_there,
        muggins_a_tile_twice_in_line,
        muggins_more_than_28_tiles,
        muggins_a_score_out_of_fives,
    )
]


@pytest.mark.parametrize(("name", "change"), BROKEN, ids=[function.__name__ for _, function in BROKEN])
def test_a_position_that_breaks_conservation_is_refused_and_says_where(name: str, change: Callable[[Any], str]) -> None:
    rules = GAMES[name].load_rules()
    data = json.loads(json.dumps(rules.to_json(begun(name))))
    assert rules.from_json(copy.deepcopy(data)) == begun(name)
    where = change(data)
    with pytest.raises(RulesError) as caught:
        rules.from_json(data)
    assert where in said(caught.value.refusal, name) and where in str(caught.value)


CORRECTIONS = [
    ("moguli", {"pawn:c4": "1"}),
    ("moguli", {"pawn:a1": "2"}),
    ("moguli", {"pawn:z9": "1"}),
    ("moguli", {"path:a1": "NN"}),
    ("maulwurf", {"cell:0,0": "mole1"}),
    ("maulwurf", {"cell:99,0": "-"}),
    ("maulwurf", {"cell:0,9": "horse"}),
    ("moogh", {"cube:red": "0,1"}),
    ("moogh", {"cube:red": "99,1"}),
    ("moogh", {"die:health": "7"}),
    ("moogui", {"figure:ari": "9"}),
    ("moogui", {"figure:fake": "1"}),
    ("muggins", {"line:0": "-"}),
    ("muggins", {"line:1": "4-1"}),
    ("muggins", {"count:boneyard": "99"}),
]


@pytest.mark.parametrize(("name", "facts"), CORRECTIONS, ids=[f"{n}-{next(iter(f))}" for n, f in CORRECTIONS])
def test_a_correction_that_loses_or_doubles_a_piece_is_refused(name: str, facts: dict[str, str]) -> None:
    rules, state = GAMES[name].load_rules(), begun(name)
    before = json.dumps(rules.to_json(state))
    try:
        answer = rules.with_look(state, facts)
    except RulesError as malformed:
        answer = malformed.refusal
    assert isinstance(answer, Refusal), answer
    said(answer, name)
    assert json.dumps(rules.to_json(state)) == before


OTHERS = [
    ("moguli", "M a7-a5"),
    ("maulwurf", "0,-9>0,-8"),
    ("moogh", "moogh roll attack_die 3"),
    ("moogui", "throw p2 bruma bruma=1"),
    ("muggins", "open 14"),
]


@pytest.mark.parametrize(("name", "text"), OTHERS)
def test_a_turn_that_is_not_this_players_is_refused(name: str, text: str) -> None:
    rules, state = GAMES[name].load_rules(), begun(name)
    answer = rules.apply(state, rules.parse(text))
    assert isinstance(answer, Refusal)
    said(answer, name)
    assert state == begun(name)


@pytest.mark.parametrize("name", ["moguli", "maulwurf", "moogh"])
def test_a_turn_told_from_another_seat_is_refused(name: str) -> None:
    """Of games in which only one may act."""
    entry = GAMES[name]
    people = list(NAMES[: COUNTS[name]])
    args = {"game": name, "players": people, "start": entry.deal_start(random.Random(1)), "id": "x"}
    match = step(Match(games), Chose("new_game", Author("seat", "a"), args)).match
    rules = match.rules
    to_act = rules.to_act(match.agreed).players
    other = next(p for p in range(len(people)) if p not in to_act) if len(to_act) < len(people) else None
    if other is None:
        pytest.skip("all may act")
    text = rules.text(next(iter(rules.legal(match.agreed))))
    done = step(match, Chose("declare", Author("seat", "b", other), {"text": text}))
    assert not done.reply.ok and done.reply.words is not None and done.reply.words.id == "game.not_your_turn"
    assert done.match == match and not done.events


@pytest.mark.parametrize("name", sorted(GAMES))
def test_unknown_options_and_values_are_named(name: str) -> None:
    entry = GAMES[name]
    rules, start = entry.load_rules(), entry.deal_start(random.Random(1))
    players = NAMES[: COUNTS[name]]
    some = rules.options()[0]
    for options in ({"no_such": True}, {some.name: "no_such"}):
        with pytest.raises(RulesError) as caught:
            rules.new(Setup(players, options, start))
        assert "no_such" in said(caught.value.refusal, name)
    for count in (0, 9):
        with pytest.raises(RulesError) as caught:
            rules.new(Setup(tuple("abcdefghij"[:count]), {}, start))
        assert str(count) in said(caught.value.refusal, name)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_state_of_a_later_version_is_refused_by_its_version(name: str) -> None:
    rules = GAMES[name].load_rules()
    data = rules.to_json(begun(name))
    with pytest.raises(RulesError) as caught:
        rules.from_json({**data, "version": data["version"] + 1})
    assert str(data["version"] + 1) in said(caught.value.refusal, name)


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize("data", [None, [], 3, "x", {}, {"version": 1}, {"version": "1"}, {"version": None}])
def test_json_that_is_no_state_is_refused(name: str, data: Any) -> None:
    with pytest.raises(RulesError) as caught:
        GAMES[name].load_rules().from_json(data)
    said(caught.value.refusal, name)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_state_with_any_part_missing_or_of_another_type_is_refused_or_read(name: str) -> None:
    """Never another exception than the one that says why."""
    rules = GAMES[name].load_rules()
    data = rules.to_json(begun(name))
    refused = 0
    for key in data:
        for value in ("missing", None, 3, "x", [], {}, [[]], {"a": []}, -1, True):
            changed = {k: v for k, v in data.items() if k != key} if value == "missing" else {**data, key: value}
            try:
                rules.to_json(rules.from_json(copy.deepcopy(changed)))
            except RulesError as error:
                refused += 1
                said(error.refusal, name)
    assert refused > len(data)
