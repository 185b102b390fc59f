"""The simulated table of Die Maulwurfshöhle: moles and busy tiles on a printed board, moved by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calibration.profile import Board
from devices.simulated.carrying import Carry, Handling, Hands, Laid, moves
from devices.simulated.disturbances import Scenario
from devices.simulated.lights import Light, light_over
from devices.simulated.materials import laid, texture
from devices.simulated.optics import CameraModel, view_of
from devices.simulated.solid_scene import HeldSolid, SolidScene
from devices.simulated.solids import Solid
from devices.simulated.stage import PressWire, Stage, shown
from devices.simulated.tokens import board_sheet, token
from devices.simulated.world import NEAT, Manner

CAMERA = CameraModel(
    height_mm=1000.0, tilt_deg=12.0, azimuth_deg=270.0, margin=0.09, distortion=(0.0, 0.0, 0.0, 0.0, 0.0)
)
LIT = ("diffuse", "window", "lamp", "tube", "dim")


class TokenTable:
    """Tokens on a board's cells, as `devices.simulated.contract.SimulatedTable` promises.

    `look` says what lies on each cell at the start (`cell:0,3` -> `mole1`, `busy2`, `-`); what it does not name is
    bare. The same arguments give the same frames at the same simulated times. `light` is a name in LIGHTS; None lets
    the seed choose, as it does whether moles bear a print.
    """

    def __init__(
        self,
        look: Mapping[str, str],
        board: Board,
        seed: int = 0,
        *,
        colours: tuple[str, ...] | None = None,
        light: str | Light | None = None,
        camera: CameraModel = CAMERA,
        manner: Manner = NEAT,
        scenario: Scenario = (),
        press_wire: PressWire | None = None,
    ) -> None:
        rng = np.random.default_rng([seed, 71])
        kind = light_over(light, LIT, rng)
        self.board, self.manner, self._rng = board, manner, rng
        self._colours = colours or tuple(str(c) for c in board.grid["colours"])
        self._printed = bool(rng.uniform() < 0.5)
        self._world = Laid()
        self._world.sheets["board"] = board_sheet(rng, board)
        self._world.lay_markers(board)
        self._keys = tuple(f"cell:{place}" for place in board.places_mm)
        self._planned = {key: look.get(key, "-") for key in self._keys}
        for key, value in self._planned.items():
            if value != "-":
                self._world.put(key, self._token(key, value), value)
        view = view_of(camera, shown(board))
        ground = laid(texture(rng), float(rng.uniform(0.6, 1.5)), float(rng.uniform(0, 360)))
        middle = np.mean(board.corners_mm, axis=0)
        centre = (float(middle[0]), float(middle[1]))
        scene = SolidScene(ground, centre, view, kind, camera.blur_px, camera.vignetting)
        self.stage: Stage[Laid, Handling, HeldSolid] = Stage(
            self._world,
            self._world.copy(),
            scene,
            Hands(board, self._world, rng),
            view,
            kind,
            camera,
            seed,
            scenario=scenario,
            press_wire=press_wire,
        )

    def perform(self, changes: Mapping[str, str]) -> None:
        """Queues the acts that make the table look so at these cells, by hand; raises ValueError for a cell that this
        table does not have or a thing that cannot lie there."""
        for key, value in changes.items():
            if key not in self._planned or (value != "-" and value[:4] not in ("mole", "busy")):
                raise ValueError(f"no token board shows {value!r} at {key!r}")
        for source, target in moves(changes, self._planned):
            if target is None:
                self.stage.act(Carry(source), self.manner)
            else:
                solid = self._token(target, changes[target])
                self.stage.act(Carry(source, target, solid, changes[target]), self.manner)
        self._planned.update(changes)

    def look(self) -> Mapping[str, str]:
        """The truth: what lies on each cell now. A token in a hand is missing from its cell."""
        return {key: self._world.shows.get(key, "-") for key in self._keys}

    def _token(self, key: str, value: str) -> Solid:
        """A token about the middle of its cell."""
        x, y = self.board.places_mm[key.partition(":")[2]]
        dx, dy = self.manner.stand(self._rng)
        turn_deg = float(self._rng.uniform(0, 360))
        return token(self.board, value, self._colours, (x + dx, y + dy), turn_deg, self._printed)
