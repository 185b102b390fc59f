"""The simulated arena: what is performed comes about by throws and hands, is read as it lies, and is repeatable."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from devices.simulated.arena import Lying
from devices.simulated.arena_table import ArenaTable
from devices.simulated.contract import TroubledTable
from devices.simulated.disturbances import PlayerShadow
from devices.simulated.figures import Flight, solid_of
from devices.simulated.solids import Solid
from vision.arena_states import ArenaWatch
from vision.figure_table import FigureTableReader
from vision.reading import SURE_LEAD

BOARD = load_board("moogui")
BARE = {f"figure:{name}": "-" for name in ("ari", "bruma", "ibex")}


def make(seed: int = 1, **more: object) -> ArenaTable:
    return ArenaTable(BARE, BOARD, seed, **{"light": "diffuse", **more})  # type: ignore[arg-type]


def finish(table: ArenaTable) -> None:
    for _ in range(400):
        if not table.stage.busy:
            return
        table.stage.advance(0.1)
    raise AssertionError("the throw never ended")


def test_the_table_keeps_its_seams() -> None:
    table = make()
    assert not isinstance(table, TroubledTable)
    with pytest.raises(ValueError, match="no arena shows"):
        table.perform({"figure:ari": "7"})
    with pytest.raises(ValueError, match="no arena shows"):
        table.perform({"figure:nobody": "1"})


def test_throws_knocks_and_hands_make_the_look() -> None:
    table = make()
    for changes in (
        {"figure:ari": "3"},
        {"figure:ari": "5", "figure:bruma": "out"},
        {"figure:bruma": "2"},
        {"figure:ari": "-", "figure:ibex": "immune"},
    ):
        before = dict(table.look())
        table.perform(changes)
        finish(table)
        assert table.look() == {**before, **changes}


def test_a_thrown_figure_rests_as_far_from_the_centre_as_is_asked() -> None:
    table = make()
    table.perform({"figure:ari": "3", "figure:bruma": "1", "distance:ari": "210.5", "distance:bruma": "60"})
    finish(table)
    for name, far in (("ari", 210.5), ("bruma", 60.0)):
        x, y = table.place(name) or (0.0, 0.0)
        assert np.hypot(x - 300, y - 300) == pytest.approx(far, abs=0.1)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_lies_there_is_read(seed: int) -> None:
    table, reader = make(seed), FigureTableReader(TableProfile(BOARD))
    reader.read(table.stage.frame(0))
    for changes in ({"figure:ari": "4"}, {"figure:bruma": "out", "figure:ari": "6"}, {"figure:ibex": "immune"}):
        table.perform(changes)
        finish(table)
        facts = reader.read(table.stage.frame(1)).facts
        for key, value in table.look().items():
            assert facts[key].best == value or not facts[key].sure(SURE_LEAD), (key, value, facts[key])


def test_the_states_follow_the_throws() -> None:
    table, watch = make(3), ArenaWatch()
    seen: list[str] = []

    def let(seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            table.stage.advance(0.1)
            state = watch.watch(table.stage.frame(round(10 * table.stage.now_s())))
            if not seen or seen[-1] != state.name:
                seen.append(state.name)

    let(1.5)
    assert seen[-1] == "ready"
    table.stage.disturb(PlayerShadow(2.0, (200.0, 100.0)))
    let(3.0)
    assert set(seen) <= {"hand_in", "cleared", "ready", "empty"}
    table.perform({"figure:ari": "2"})
    let(3.0)
    assert seen[-2:] == ["thrown", "settled"]
    table.perform({"figure:ari": "-"})
    let(4.0)
    assert "taking_out" in seen
    assert seen[-2:] == ["cleared", "ready"]


def test_the_same_seed_gives_the_same_frames() -> None:
    one, other = make(4), make(4)
    for table in (one, other):
        table.perform({"figure:ari": "2"})
        table.stage.advance(0.7)
    assert np.array_equal(one.stage.frame(5).bgr, other.stage.frame(5).bgr)


def test_nothing_flies_through_the_floor_and_all_comes_to_rest() -> None:
    table = make()
    end = solid_of(Lying(table._art["ari"], "2", (200.0, 150.0), 30.0), table._painted("ari"))
    flight = Flight(end, ((300.0, -400.0), (200.0, 150.0)), (1.0, 0.3, 0.2), 1.5)
    for share in np.linspace(0, 1, 40):
        solid = flight.at(float(share))
        assert solid is not None
        assert lowest(solid) > -0.01
    assert flight.at(1.0) is end
    assert lowest(end) == pytest.approx(0.0, abs=0.01)


def lowest(solid: Solid) -> float:
    half, radius, _ = solid.half_mm
    turns = np.radians(30.0 + 60.0 * np.arange(6))
    ring = np.column_stack([-np.sin(turns), np.cos(turns)]) * radius
    corners = np.concatenate([np.column_stack([np.full(6, s * half), ring]) for s in (-1, 1)])
    return float((corners @ solid.rotation.T + solid.centre_mm)[:, 2].min())


def test_no_figure_comes_to_rest_in_the_wall() -> None:
    wall_mm = max(y for _, y in BOARD.corners_mm) + BOARD.sizes_mm["wall_gap"]
    highest = 0.0
    for seed in range(25):
        table = ArenaTable({"figure:ari": "-"}, BOARD, seed)
        table.perform({"figure:ari": "2", "distance:ari": "310"})
        table.stage.advance(3.0)
        place = table.place("ari")
        assert place is not None and math.dist(place, (300.0, 300.0)) == pytest.approx(310.0, abs=0.1)
        highest = max(highest, place[1])
    assert highest < wall_mm - BOARD.sizes_mm["figure_across_flats"] / 2
