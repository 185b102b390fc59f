"""What a solid scene casts anew when something changes or is held is all that looks otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.profile import load_board
from devices.simulated.arena import Lying
from devices.simulated.arena_table import ArenaTable
from devices.simulated.figures import solid_of
from devices.simulated.solid_scene import HeldSolid

BOARD = load_board("moogui")


@pytest.mark.parametrize("light", ["lamp", "window"])
def test_the_shadow_of_a_held_piece_is_cast_wholly(light: str) -> None:
    table = ArenaTable({"figure:ari": "-"}, BOARD, 3, light=light)
    scene, world = table.stage._scene, table._world
    held = solid_of(Lying(table._art["ari"], "3", (90.0, 470.0), 70.0, lift_mm=90.0), table._painted("ari"))
    seen = scene.picture(world, HeldSolid(held), ())
    whole = scene._cast(scene.frame, world, (held,))  # type: ignore[attr-defined]
    off = np.abs(seen.astype(int) - whole).max(axis=2)
    assert np.count_nonzero(off > 2) == 0
