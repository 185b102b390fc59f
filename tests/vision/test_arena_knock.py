"""A camera that is knocked just before or during a throw: the floor is followed, and the throw settles as ever."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.profile import load_board
from devices.simulated.arena_table import FLIGHT_S, ArenaTable
from devices.simulated.disturbances import Bump, RestingHand
from vision.arena_knock import gone_to, moved
from vision.arena_states import ArenaState, ArenaWatch

BOARD = load_board("moogui")
EMPTY = {"figure:ari": "-", "figure:bruma": "-"}
STEP_S = 0.1
SHOWN_S = 1.0
"""So long after the figures rest at the latest a throw is to be read, the knock included."""


def watched(table: ArenaTable, watch: ArenaWatch, seconds: float) -> list[ArenaState]:
    camera, states = table.stage.camera(), []
    for _ in range(round(seconds / STEP_S)):
        table.stage.advance(STEP_S)
        frame = camera.read(0.0)
        if frame is not None:
            states.append(watch.watch(frame))
    return states


@pytest.mark.parametrize(
    ("light", "bump", "after_s"),
    [
        ("diffuse", Bump((6.0, -5.0, 0.0), (0.5, -0.4, 0.6)), 0.8),
        ("window", Bump((-13.0, 9.0, 0.0), (-1.1, 1.0, 1.1)), 0.1),
        ("dim", Bump((10.0, 12.0, 0.0), (1.2, 0.9, -1.2)), 0.1),
        ("tube", Bump((-5.0, -14.0, 0.0), (0.7, -1.2, 1.0)), 0.8),
    ],
)
def test_a_knock_about_a_throw_does_not_keep_it_from_settling(light: str, bump: Bump, after_s: float) -> None:
    table, watch = ArenaTable(EMPTY, BOARD, 3, light=light), ArenaWatch()
    assert watched(table, watch, 2.0)[-1].name == "ready"
    table.perform({"figure:ari": "3", "figure:bruma": "out"})
    watched(table, watch, after_s)
    table.stage.disturb(bump)
    watched(table, watch, FLIGHT_S - after_s)
    states = watched(table, watch, SHOWN_S)
    assert any(state.fresh for state in states) and states[-1].name == "settled"


def test_a_hand_that_rests_over_the_arena_is_still_one() -> None:
    table, watch = ArenaTable(EMPTY, BOARD, 3, light="diffuse"), ArenaWatch()
    watched(table, watch, 2.0)
    table.stage.disturb(RestingHand("", 5.0))
    states = watched(table, watch, 4.0)[10:]
    assert not any(state.resting for state in states)


def test_a_picture_is_laid_back_where_it_came_from() -> None:
    rng = np.random.default_rng(5)
    floor = np.zeros((144, 192), np.float32)
    for _ in range(12):
        y, x = rng.integers(20, 110), rng.integers(20, 150)
        floor[y : y + 12, x : x + 20] = rng.uniform(-1, 1)
    now = np.roll(floor, (3, -5), axis=(0, 1))
    way = gone_to(floor, now)
    assert way is not None
    assert np.allclose(way[:, 2], [5.0, -3.0], atol=0.2)
    assert float(np.abs(moved(floor, way, now) - now).mean()) < 0.01
