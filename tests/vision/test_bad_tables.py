"""What goes wrong on the tables of dominoes and of MOOGH is named or left open, never taken for a turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from companion.games.contract import Setup
from companion.games.maulwurf.rules import RULES as MAULWURF
from companion.games.moogh.rules import RULES as MOOGH
from devices.simulated.domino_table import DominoTable
from devices.simulated.dominoes import PIPS
from devices.simulated.materials import PipInk, die_paint, solid_colour
from devices.simulated.moogh_table import MooghTable
from devices.simulated.token_table import TokenTable
from tests.vision.test_worked_cases import Played, muggins
from vision.moogh import MooghReader
from vision.reading import SURE_LEAD
from vision.tokens import TokenReader


def moogh(seed: int = 3) -> Played:
    state = MOOGH.new(Setup(("A", "B"), {}))
    board = load_board("moogh")
    table = MooghTable(MOOGH.look(state), board, seed, light="diffuse")
    return Played(MOOGH, state, table, MooghReader(TableProfile(board)))


def test_a_second_tile_of_the_same_kind_is_named_or_asked_about() -> None:
    game = muggins(1)
    game.lay("open 14")
    game.table.perform({"line:1": "4-1"})
    verdict = game.look()
    assert verdict.kind in ("illegal", "unsure")
    assert verdict.tale.refusals[0].rule == "muggins.already_on_line"


@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize(
    ("line", "laid", "places"),
    [
        (("open 46", "right 16"), {"line:-1": "5-4", "line:2": "1-3"}, ("-1", "2")),
        (("open 46", "right 16"), {"line:2": "1-3", "line:3": "3-3"}, ("2", "3")),
        (("open 22",), {"line:-1": "5-2", "line:1": "2-6"}, ("-1", "1")),
    ],
)
def test_two_tiles_laid_at_once_are_named_with_their_rule_and_places(
    line: tuple[str, ...], laid: dict[str, str], places: tuple[str, ...], seed: int
) -> None:
    game = muggins(seed)
    for turn in line:
        game.lay(turn)
    game.table.perform(laid)
    verdict = game.look()
    assert verdict.kind == "illegal", verdict
    refusal = verdict.tale.refusals[0]
    assert (refusal.rule, refusal.places) == ("muggins.one_a_turn", places)


def test_tiles_pushed_apart_are_no_turn_and_nothing_is_lost() -> None:
    game = muggins(1)
    for turn in ("open 14", "right 46", "left 13"):
        game.lay(turn)
    solids = game.table._world.solids  # type: ignore[attr-defined]
    moved = solids["line:1"]
    off = np.array([45.0, 60.0, 0.0], np.float32)
    solids["line:1"] = replace(moved, centre_mm=moved.centre_mm + off)
    assert game.look().kind == "unchanged"
    solids["line:1"] = moved
    assert game.look().kind == "unchanged"


def test_an_action_card_turned_by_mistake_is_named_with_both_sides() -> None:
    game = moogh()
    game.table.perform({"card:side": "back"})
    verdict = game.look()
    assert verdict.kind == "illegal"
    values = dict(verdict.tale.refusals[0].values)
    assert (verdict.tale.refusals[0].rule, values["seen"], values["held"]) == ("moogh.differs", "back", "front")


def test_a_cube_fallen_off_the_board_is_named() -> None:
    game = moogh()
    game.table.perform({"cube:red": "dead"})
    verdict = game.look()
    assert verdict.kind == "illegal"
    values = dict(verdict.tale.refusals[0].values)
    assert (values["seen"], values["held"]) == ("@moogh.off_the_cells", "7,1")


def test_dice_that_are_not_there_say_nothing() -> None:
    game = moogh()
    for die in ("health", "rage", "points"):
        game.table._world.solids.pop(die)  # type: ignore[attr-defined]
    verdict = game.look()
    assert verdict.kind in ("unchanged", "unsure")


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize(("die", "fact"), [("health", "die:health"), ("rage", "die:rage"), ("points", "die:points")])
def test_a_die_that_shows_nothing_says_nothing_and_nothing_is_lost(die: str, fact: str, seed: int) -> None:
    game = moogh(seed)
    truth = dict(game.rules.look(game.state))
    game.reader.agree(truth)
    solids = game.table._world.solids  # type: ignore[attr-defined]
    whole, body = solids[die], np.array((0.30, 0.08, 0.06), np.float32)
    pips = PipInk(np.full(3, 0.8, np.float32), 0.1, 0.25)
    blank = die_paint(solid_colour(body), pips, (0,) * 6, (0,) * 6, 0.2)
    solids[die] = replace(whole, paint=blank)
    verdict = game.look()
    assert verdict.kind in ("unchanged", "unsure")
    frame = game.table.stage.frame(60)
    reading = game.reader.read(frame)
    seen = reading.facts[fact]
    # Whose slot the point die lies at is seen without its pips, and it is nobody's.
    assert (die, seen.best) == ("points", "0") or not seen.sure(SURE_LEAD)
    assert all(f.best == truth[k] or not f.sure(SURE_LEAD) for k, f in reading.facts.items() if k in truth)
    solids[die] = whole
    assert game.look().kind == "unchanged"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mole_on_a_corner_between_cells_is_no_turn_until_it_stands_in_one(seed: int) -> None:
    state, board = MAULWURF.new(Setup(("A", "B"), {})), load_board("maulwurf")
    table = TokenTable(MAULWURF.look(state), board, seed, light="diffuse")
    game = Played(MAULWURF, state, table, TokenReader(TableProfile(board)))
    game.reader.agree(MAULWURF.look(state))
    turn = next(t for t in MAULWURF.legal(state) if len(MAULWURF.trace(state, t)) == 2)
    trace = MAULWURF.trace(state, turn)
    start, end = sorted(trace, key=lambda key: trace[key] != "-")
    solids = table._world.solids
    mole = solids[start]
    x, y = board.places_mm[end.partition(":")[2]]
    columns = sorted({place[0] for place in board.places_mm.values()})
    half = (columns[1] - columns[0]) / 2
    for side in (1.0, -1.0):
        at = np.array([x + side * half, y + half, mole.centre_mm[2]], np.float32)
        solids[start] = replace(mole, centre_mm=at)
        assert game.look().kind != "accepted"
    solids[start] = mole
    assert game.look().kind == "unchanged"
    table.perform(trace)
    verdict = game.look()
    assert verdict.kind == "accepted" and verdict.tale.stories[0].turn == turn


@pytest.mark.parametrize("value", [7, 8, 9])
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_a_tile_of_a_double_nine_set_is_asked_about_and_never_read_as_another(
    seed: int, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    missing: dict[int, tuple[tuple[int, int], ...]] = {7: ((0, -1), (0, 1)), 8: ((0, 0),), 9: ()}
    monkeypatch.setitem(PIPS, value, tuple(p for p in every if p not in missing[value]))
    game = muggins(seed)
    game.lay("open 46")
    table = game.table
    assert isinstance(table, DominoTable)
    monkeypatch.setattr(table, "_make", replace(table._make, ink=(*table._make.ink, *(table._make.ink[6],) * 3)))
    act = table._laid(1, (6, value))
    table._world.put(act.target, act.solid, "x")
    verdict = game.look()
    assert verdict.kind == "unsure"
    frame = table.stage.frame(50)
    laid = game.reader.read(frame).facts["line:1"]
    assert laid.reason == "unclear" and not laid.sure(SURE_LEAD)
    assert {text.split("-")[0] for text, score in laid.ranked if score > -SURE_LEAD} == {"6"}, "its six is a six"
