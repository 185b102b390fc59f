"""Tiles face down in their marked areas: counted where that can be done, never guessed; a draw is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from companion.games.contract import Refusal, Setup
from companion.games.muggins.rules import RULES
from devices.contract import Frame
from devices.simulated.domino_table import DominoTable
from devices.simulated.dominoes import tile_solid
from tests.vision.test_worked_cases import Played
from vision.domino_table import DominoTableReader

BOARD = load_board("muggins")
KEY = "count:boneyard"


def played(seed: int, light: str = "diffuse") -> Played:
    """A table of two players before the opening, its boneyard counted and agreed on."""
    state = RULES.new(Setup(("A", "B"), {}, {"starter": 0}))
    table = DominoTable(RULES.look(state), BOARD, seed, light=light)
    game = Played(RULES, state, table, DominoTableReader(TableProfile(BOARD)))
    game.look()
    game.reader.agree(RULES.look(state))
    return game


def counted(game: Played) -> str:
    """What the reading says of the boneyard; empty where it says nothing."""
    fact = game.reader.read(game.table.stage.frame(99)).facts[KEY]
    return "" if fact.blank else fact.best


@pytest.mark.parametrize("seed", range(40, 48))
def test_tile_by_tile_the_boneyard_is_counted_or_left_open(seed: int) -> None:
    game = played(seed, ("diffuse", "window", "lamp", "tube")[seed % 4])
    said = []
    for left in (13, 12, 9, 0):
        game.table.perform({KEY: str(left)})
        while game.table.stage.busy:
            game.table.stage.advance(0.2)
        assert game.table.look()[KEY] == str(left)
        said.append((counted(game), str(left)))
    assert all(seen in ("", truth) for seen, truth in said)


def test_a_draw_is_seen_and_grows_by_the_tile_that_is_then_placed() -> None:
    game = played(3)
    game.lay("open 24")
    game.table.perform({KEY: "13"})
    verdict = game.look()
    assert verdict.kind == "accepted" and RULES.text(verdict.tale.stories[0].turn) == "draw"
    game.table.perform({"line:1": "4-6"})
    verdict = game.look()
    assert verdict.kind == "accepted" and RULES.text(verdict.tale.stories[0].turn) == "draw; right 46"


def test_a_draw_told_by_button_agrees_with_the_table_or_is_asked_for() -> None:
    game = played(3)
    game.lay("open 24")
    after = RULES.apply(game.state, RULES.parse("draw"))
    assert not isinstance(after, Refusal)
    game.state = after
    verdict = game.look()  # told, but no tile is taken yet
    assert verdict.kind != "accepted" and verdict.tale.look[KEY] == "14"
    assert verdict.tale.refusals[0].rule == "muggins.boneyard_grew"
    game.table.perform({KEY: "13"})
    assert game.look().kind == "unchanged"


def test_a_boneyard_that_was_never_counted_right_says_nothing() -> None:
    """Two tiles are missing from the start: nobody may take that for draws later."""
    state = RULES.new(Setup(("A", "B"), {}, {"starter": 0}))
    table = DominoTable({**RULES.look(state), KEY: "12"}, BOARD, 3, light="diffuse")
    game = Played(RULES, state, table, DominoTableReader(TableProfile(BOARD)))
    assert game.look().kind == "unchanged"
    game.reader.agree(RULES.look(state))
    assert counted(game) == ""


def test_something_else_among_the_tiles_leaves_their_number_open() -> None:
    game = played(3)
    frame = game.table.stage.frame(7)
    picture = frame.bgr.copy()
    h, w = picture.shape[:2]
    picture[int(0.40 * h) : int(0.62 * h), int(0.02 * w) : int(0.16 * w)] = (110, 140, 200)
    fact = game.reader.read(Frame(picture, 8, 8.0, "")).facts[KEY]
    assert fact.blank


def test_a_tile_pushed_out_of_its_area_and_back_costs_nothing() -> None:
    game = played(3)
    solids = game.table._world.solids  # type: ignore[attr-defined]
    moved = solids["boneyard/3"]
    solids["boneyard/3"] = replace(moved, centre_mm=moved.centre_mm + np.array([90.0, 0.0, 0.0], np.float32))
    assert game.look().kind != "accepted"  # before the opening nobody draws
    solids["boneyard/3"] = moved
    assert game.look().kind == "unchanged"


def test_a_tile_lying_askew_in_its_area_is_still_one() -> None:
    game = played(3)
    solids = game.table._world.solids  # type: ignore[attr-defined]
    x, y, _ = (float(v) for v in solids["boneyard/3"].centre_mm)
    solids["boneyard/3"] = tile_solid(game.table._make, None, (x, y), 27.0)  # type: ignore[attr-defined]
    assert counted(game) in ("14", "")
