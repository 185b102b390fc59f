"""Boards of Die Maulwurfshöhle: what the two built-in ones are, and what the loader refuses, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from companion.games.contract import RulesError, Setup
from companion.games.maulwurf import RULES
from companion.games.maulwurf.layout import BUILT_IN, built_in, from_data, load, to_data, xy

SMALL: dict[str, Any] = {
    "name": "small",
    "cells": [f"0..10,{y}" for y in range(11)],
    "corners": ["0,10", "10,10", "10,0", "0,0"],
    "starts": [
        ["0..4,10", "0,6", "0,7", "0,8", "0,9"],
        ["6..10,10", "10,6", "10,7", "10,8", "10,9"],
        ["6..10,0", "10,1", "10,2", "10,3", "10,4"],
        ["0..4,0", "0,1", "0,2", "0,3", "0,4"],
    ],
    "caves": ["5,5", "7,7"],
    "tunnels": ["3,3", "3,7", "7,3"],
}


def test_diamond181_has_the_counted_cells_caves_and_tunnels() -> None:
    board = built_in("diamond181")
    assert (len(board.cells), len(board.caves), len(board.tunnels)) == (181, 9, 32)
    assert all(abs(x) + abs(y) <= 9 for x, y in map(xy, board.cells))
    assert {xy(c) for c in board.caves} == {(x, y) for x in (-2, 0, 2) for y in (-2, 0, 2)}
    assert all(x % 2 == 0 and y % 2 == 0 for x, y in map(xy, board.tunnels))
    starts = [cell for start in board.starts for cell in start]
    assert sorted(starts) == sorted(c for c in board.cells if sum(map(abs, xy(c))) == 9)
    assert board.provenance["cells"] == "inferred" and board.adjacent_tunnels == ()


def test_square13_has_the_invented_tunnels_and_says_which_touch() -> None:
    board = built_in("square13")
    assert (len(board.cells), len(board.caves), len(board.tunnels)) == (169, 9, 32)
    assert set(board.provenance.values()) == {"invented"}
    assert ("1,3", "2,2") in board.adjacent_tunnels


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_layout_written_out_reads_back_the_same(name: str) -> None:
    assert from_data(to_data(built_in(name))) == built_in(name)


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda data: data.update({key: value})


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "starts overlap": (lambda d: d["starts"][0].append("0,9"), "layout_starts_overlap", "0,9"),
    "start on a tunnel": (lambda d: d["tunnels"].append("2,10"), "layout_start_taken", "2,10"),
    "start on a cave": (lambda d: d["caves"].append("10,8"), "layout_start_taken", "10,8"),
    "cave at the edge": (lambda d: d["caves"].append("5,10"), "layout_cave_at_edge", "5,10"),
    "cave beside a tunnel": (lambda d: d["tunnels"].append("5,6"), "layout_cave_beside", "5,5"),
    "cave beside a cave": (lambda d: d["caves"].append("5,4"), "layout_cave_beside", "5,5"),
    "tunnel is a cave": (lambda d: d["tunnels"].append("7,7"), "layout_tunnel_is_cave", "7,7"),
    "corner is no cell": (_set("corners", ["11,11", "10,10", "10,0", "0,0"]), "layout_corner_no_cell", "11,11"),
    "eight start cells": (lambda d: d["starts"][2].pop(), "layout_few_starts", "10,0"),
    "ten start cells": (lambda d: d["starts"][2].append("9,1"), "layout_many_starts", "10,0"),
    "one tunnel": (_set("tunnels", ["3,3"]), "layout_few_tunnels", "3,3"),
    "no tunnel": (_set("tunnels", []), "layout_few_tunnels", ""),
    "three corners": (_set("corners", ["0,10", "10,10", "10,0"]), "layout_corners", "0,10"),
    "tunnel is no cell": (lambda d: d["tunnels"].append("20,3"), "layout_no_cell", "20,3"),
    "a cell twice": (lambda d: d["cells"].append("4,4"), "layout_cell_twice", "4,4"),
    "no cell name": (_set("caves", ["five"]), "layout_unreadable", ""),
    "a run backwards": (_set("tunnels", ["7..3,3"]), "layout_unreadable", ""),
    "no name": (_set("name", ""), "layout_unreadable", ""),
    "no starts": (_set("starts", None), "layout_unreadable", ""),
}


@pytest.mark.parametrize("what", FAULTS)
def test_the_loader_refuses_nonsense_with_its_reason_and_place(what: str) -> None:
    change, rule, place = FAULTS[what]
    data = {
        key: [list(v) if isinstance(v, list) else v for v in x] if isinstance(x, list) else x
        for key, x in SMALL.items()
    }
    change(data)
    with pytest.raises(RulesError) as caught:
        from_data(data)
    assert caught.value.refusal.rule == f"maulwurf.{rule}"
    assert place in caught.value.refusal.places or not place


def test_touching_tunnels_are_a_warning_only() -> None:
    board = from_data({**SMALL, "tunnels": ["3,3", "3,4", "2,2"]})
    assert board.adjacent_tunnels == (("2,2", "3,3"), ("3,3", "3,4"))


TOML = """
name = "own"
version = 1
[cells]
provenance = "invented"
at = ["0..10,0", "0..10,1", "0..10,2", "0..10,3", "0..10,4", "0..10,5",
      "0..10,6", "0..10,7", "0..10,8", "0..10,9", "0..10,10"]
[corners]
provenance = "invented"
at = ["0,10", "10,10", "10,0", "0,0"]
[starts]
provenance = "rulebook"
first = ["0..4,10", "0,6", "0,7", "0,8", "0,9"]
second = ["6..10,10", "10,6", "10,7", "10,8", "10,9"]
third = ["6..10,0", "10,1", "10,2", "10,3", "10,4"]
fourth = ["0..4,0", "0,1", "0,2", "0,3", "0,4"]
[caves]
provenance = "invented"
provenance_of = { at = "source" }
at = ["5,5", "7,7"]
[tunnels]
provenance = "invented"
at = ["3,3", "3,7", "7,3"]
"""


def test_a_users_own_file_gives_a_playable_board_that_the_state_carries() -> None:
    board = load(TOML)
    assert board.provenance["caves.at"] == "source" and board.provenance["caves"] == "invented"
    state = RULES.new(Setup(("Ada", "Ben"), {}, {"layout": to_data(board)}))
    assert state.layout == board and state.layout.digest == board.digest
    assert RULES.from_json(RULES.to_json(state)) == state
    assert RULES.parse_position(RULES.position_text(state)) == state


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('provenance = "rulebook"', 'provenance = "hearsay"'),
        ('{ at = "source" }', '{ cells = "source" }'),
        ("version = 1", "version = 2"),
        ("[caves]", "[holes]"),
        ("[tunnels]", "[tunnels"),
    ],
)
def test_a_faulty_file_is_refused_as_unreadable(old: str, new: str) -> None:
    assert old in TOML
    with pytest.raises(RulesError) as caught:
        load(TOML.replace(old, new))
    assert caught.value.refusal.rule == "maulwurf.layout_unreadable"


def test_a_record_played_on_another_board_of_the_same_name_is_refused() -> None:
    data = RULES.to_json(RULES.new(Setup(("Ada", "Ben"))))
    with pytest.raises(RulesError) as caught:
        RULES.from_json({**data, "layout_digest": "0" * 16})
    assert caught.value.refusal.rule == "maulwurf.layout_changed"
