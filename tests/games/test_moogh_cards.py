"""The card set: every constraint of the printed cards is checked, and the fault is named with its place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from companion.games.contract import RulesError, Setup
from companion.games.moogh import RULES, cards, printed

Change = Callable[[dict[str, Any]], object]


def put(*path: str, value: Any) -> Change:
    """A change that sets one value deep inside the data."""

    def change(data: dict[str, Any]) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return change


FAULTS: list[tuple[str, Change]] = [
    ("moogh.cards_missing", lambda d: d.pop("save")),
    ("moogh.cards_missing", lambda d: d["save"].pop("4")),
    ("moogh.cards_missing", lambda d: d["front"].pop("6")),
    ("moogh.cards_missing", lambda d: d["attack_dice"].pop("1")),
    ("moogh.cards_missing", lambda d: d["angle"].pop("TOP")),
    ("moogh.cards_missing", lambda d: d["characters"].pop("white")),
    ("moogh.cards_missing", lambda d: d["characters"]["white"].pop("hurt")),
    ("moogh.cards_missing", lambda d: d["start"].pop("red")),
    ("moogh.cards_missing", lambda d: d["board"].pop("wall")),
    ("moogh.cards_unknown", put("treasure", value={})),
    ("moogh.cards_unknown", put("save", "7", value=3)),
    ("moogh.cards_unknown", put("characters", "blue", value={"fit": [], "hurt": []})),
    ("moogh.cards_type", put("front", value=[])),
    ("moogh.cards_type", put("obstacles", value={})),
    ("moogh.cards_number", put("save", "2", value=7)),
    ("moogh.cards_number", put("save", "2", value=True)),
    ("moogh.cards_number", put("save", "2", value="3")),
    ("moogh.cards_number", put("arrows", "3", value=3)),
    ("moogh.cards_number", put("angle", "FL", value=-1)),
    ("moogh.cards_number", put("board", "cols", value=0)),
    ("moogh.cards_columns", put("back", "5", value=["S", "TA", "M2"])),
    ("moogh.cards_beast_action", put("front", "1", value=["M4", "T", "M1", "A1"])),
    ("moogh.cards_beast_action", put("front", "1", value=["M1**", "T", "M1", "A1"])),
    ("moogh.cards_printed", put("front", "3", value=["A1", "M1", "A1", "S"])),
    ("moogh.cards_printed", put("back", "3", value=["T", "TA", "M2", "A1"])),
    ("moogh.cards_two_spaces", put("attack_dice", "1", value=["FL"])),
    ("moogh.cards_two_spaces", put("attack_dice", "1", value=["FL", "FL"])),
    ("moogh.cards_space", put("attack_dice", "1", value=["FL", "TOP"])),
    ("moogh.cards_turn_icon", put("turn_icon", "LB", value="up")),
    ("moogh.cards_no_arrow", put("characters", "red", "fit", value=[])),
    ("moogh.cards_pair", put("characters", "red", "fit", value=[["M1"]])),
    ("moogh.cards_action", put("characters", "red", "fit", value=[["M1", "Sing"]])),
    ("moogh.cards_side", put("board", "wall", value="up")),
    ("moogh.cards_side", put("board", "beast", "facing", value="up")),
    ("moogh.cards_beast", put("board", "beast", "cells", value=[[3, 2], [4, 2], [3, 3], [5, 3]])),
    ("moogh.cards_beast", put("board", "beast", "cells", value=[[3, 2]])),
    ("moogh.cards_off_board", put("obstacles", value=[[8, 0]])),
    ("moogh.cards_off_board", put("start", "red", value=[7])),
    ("moogh.cards_taken", put("obstacles", value=[[7, 1]])),
    ("moogh.cards_taken", put("start", "red", value=[3, 3])),
    ("moogh.cards_taken", put("start_solo", "red", value=[0, 4])),
]


@pytest.mark.parametrize(("rule", "change"), FAULTS)
def test_a_card_set_that_breaks_a_constraint_is_refused_with_what_and_where(rule: str, change: Change) -> None:
    data = copy.deepcopy(dict(cards.default().data))
    change(data)
    with pytest.raises(RulesError) as error:
        cards.from_data(data)
    assert error.value.refusal.rule == rule
    assert dict(error.value.refusal.values)["where"]


def test_a_setup_with_a_wrong_card_set_is_refused_too() -> None:
    with pytest.raises(RulesError) as error:
        RULES.new(Setup(("a",), {}, {"cards": {"save": {}}}))
    assert error.value.refusal.rule == "moogh.cards_missing"


def test_every_table_of_the_default_set_says_where_it_comes_from() -> None:
    marks = cards.default().provenance
    for table in printed.TABLES:
        assert table in marks or all(f"{table}.{man}" in marks for man in printed.MEN)
    assert marks["front"] == "invented" and marks["arrows"] == "rulebook"


def test_a_users_file_overrides_single_keys_and_marks_them(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[save]\nprovenance = "owner"\n6 = 6\n[characters.red]\nhurt = [["M1", "M2"]]\n[obstacles]\ncells = []\n'
    )
    mine = cards.load(file)
    assert mine.save == {**cards.default().save, 6: 6}
    assert mine.pairs["red"] == (cards.default().pairs["red"][0], (("M1", "M2"),))
    assert mine.obstacles == frozenset()
    assert mine.provenance["save.6"] == "owner" and mine.provenance["save"] == "invented"
    assert mine.digest != cards.default().digest


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[save", "moogh.cards_unreadable"),
        ("[treasure]\nx = 1\n", "moogh.cards_unknown"),
        ("save = 3\n", "moogh.cards_type"),
        ("[obstacles]\nstones = []\n", "moogh.cards_missing"),
        ('[save]\nprovenance = "rumour"\n6 = 6\n', "moogh.cards_provenance"),
        ("[save]\n6 = 9\n", "moogh.cards_number"),
    ],
)
def test_nonsense_in_a_users_file_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(RulesError) as error:
        cards.load(file)
    assert error.value.refusal.rule == rule


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RulesError) as error:
        cards.load(tmp_path / "none.toml")
    assert dict(error.value.refusal.values)["file"] == "none.toml"
