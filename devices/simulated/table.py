"""The simulated Moguli table: one physical world behind a camera and buttons, moved on by simulated time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from calibration.profile import Board, TableProfile
from devices.simulated.acts import Act, acts_for, effect_of
from devices.simulated.art import STYLES, TABLES
from devices.simulated.choreography import Choreographer
from devices.simulated.disturbances import Scenario
from devices.simulated.hand import PEOPLE
from devices.simulated.lights import Light, light_over
from devices.simulated.optics import CameraModel, view_of
from devices.simulated.painter import Painter
from devices.simulated.scene import Scene
from devices.simulated.stage import PressWire, Stage, shown
from devices.simulated.world import NEAT, Manner, world_of

LIT = ("diffuse", "window", "lamp")


class MoguliTable:
    """A Moguli set on a table under a camera, as `devices.simulated.contract.SimulatedTable` promises.

    `look` says how it looks at the start; what it does not name is bare. The same arguments give the same frames at
    the same simulated times. `style`, `table` and `light` are names in STYLES, TABLES and LIGHTS; None lets the seed
    choose. `scenario` lists disturbances by their time after the start. `press_wire` is called with a button's name
    and True or False when a finger goes down or up on it.
    """

    def __init__(
        self,
        look: Mapping[str, str],
        board: Board,
        seed: int = 0,
        *,
        style: str | None = None,
        table: str | None = None,
        light: str | Light | None = None,
        camera: CameraModel | None = None,
        manner: Manner = NEAT,
        scenario: Scenario = (),
        press_wire: PressWire | None = None,
        start_s: float = 0.0,
    ) -> None:
        rng = np.random.default_rng([seed, 70])
        style = style or str(rng.choice(list(STYLES)))
        table = table or str(rng.choice(TABLES))
        kind = light_over(light, LIT, rng)
        self.board, self.manner, self.camera_model = board, manner, camera or CameraModel()
        self._cells = tuple(board.places_mm)
        self._world = world_of(look, self._cells, rng, manner)
        self._planned = self._world.look(self._cells)
        first, second = rng.permutation(len(PEOPLE))[:2]
        choreographer = Choreographer(board, self._world, rng, (PEOPLE[first], PEOPLE[second]))
        view = view_of(self.camera_model, shown(board))
        painter = Painter(board, STYLES[style], table, seed)
        self._scene = Scene(painter, view, kind, self.camera_model.blur_px, self.camera_model.vignetting)
        self.stage = Stage(
            self._world,
            self._world.copy(),
            self._scene,
            choreographer,
            view,
            kind,
            self.camera_model,
            seed,
            scenario=scenario,
            press_wire=press_wire,
            start_s=start_s,
        )

    def perform(self, changes: Mapping[str, str]) -> None:
        """Queues the acts that make the table look so at these facts, in the order of the mapping; raises ValueError
        for a fact that this table does not have or a value that it cannot take."""
        for act in acts_for(changes, self._planned):
            self.stage.act(act, self.manner)
        self._planned.update(changes)
        for cell in self._cells:
            if self._planned[f"path:{cell}"] == "-":
                self._planned[f"triangle:{cell}"] = "-"

    def act(self, acts: Iterable[Act], manner: Manner | None = None) -> None:
        """Queues single acts (`devices.simulated.acts`), done in `manner`; the table's own when None."""
        for act in acts:
            self.stage.act(act, manner or self.manner)
            self._planned.update(effect_of(act, self._planned))

    def look(self) -> Mapping[str, str]:
        """The truth: how the table looks now. A tile or pawn in a hand is missing from its place."""
        return self._world.look(self._cells)

    def profile(self) -> TableProfile:
        """What set-up at a real table would know: board, lens and the corners that a person would tap."""
        corners = self.stage.view.project([(x, y, 0.0) for x, y in self.board.corners_mm])
        tapped = tuple((float(x), float(y)) for x, y in corners)
        return TableProfile(self.board, tapped, self.stage.view.lens, camera="sim://table")
