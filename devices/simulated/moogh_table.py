"""The simulated table of MOOGH: cubes, the beast's big die, the action card with its rage die, the point card."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calibration.profile import Board
from devices.simulated.carrying import Carry, Handling, Hands, Laid, Relay
from devices.simulated.disturbances import Scenario
from devices.simulated.lights import Light, light_over
from devices.simulated.materials import laid, texture
from devices.simulated.moogh import (
    CUBE_INKS,
    MooghOptions,
    action_sheet,
    cube_solid,
    die_solid,
    ground_sheet,
    point_sheet,
)
from devices.simulated.optics import CameraModel, view_of
from devices.simulated.solid_scene import HeldSolid, SolidScene
from devices.simulated.solids import Solid
from devices.simulated.stage import PressWire, Stage, shown
from devices.simulated.tokens_print import Sheet
from devices.simulated.world import NEAT, Manner

CAMERA = CameraModel(
    height_mm=800.0, tilt_deg=10.0, azimuth_deg=270.0, margin=0.07, distortion=(0.0, 0.0, 0.0, 0.0, 0.0)
)
LIT = ("diffuse", "window", "tube")
SEEN = ("beast:origin", "die:health", "die:rage", "rage:cell", "card:side", "die:points")
PLACES = {"health": ("beast:origin", "die:health"), "rage": ("rage:cell", "die:rage"), "points": ("die:points",)}
"""Each die and the facts that it shows, joined by a bar in what it says."""


class MooghTable:
    """MOOGH's pieces, as `devices.simulated.contract.SimulatedTable` promises.

    `look` says how it looks at the start; the beast's facing has no piece that a camera knows and so no fact here. A
    cube that is not on a cell is off the table. The same arguments give the same frames at the same simulated times.
    """

    def __init__(
        self,
        look: Mapping[str, str],
        board: Board,
        seed: int = 0,
        *,
        light: str | Light | None = None,
        camera: CameraModel = CAMERA,
        manner: Manner = NEAT,
        scenario: Scenario = (),
        press_wire: PressWire | None = None,
    ) -> None:
        rng = np.random.default_rng([seed, 73])
        kind = light_over(light, LIT, rng)
        self.board, self.manner, self._rng = board, manner, rng
        bodies = ((0.06, 0.20, 0.06), (0.08, 0.18, 0.30), (0.30, 0.08, 0.06))
        self._body = bodies[int(rng.integers(len(bodies)))]
        self._keys = tuple(k for k in look if k in SEEN or k.removeprefix("cube:") in CUBE_INKS)
        self._planned = {key: look[key] for key in self._keys}
        turn = float(rng.normal(0, 3))
        options = MooghOptions(action_turn_deg=turn)
        self._sides = {side: action_sheet(rng, board, side, options) for side in ("front", "back")}
        self._points = point_sheet(rng, board, options)
        self._world = Laid(sheets={"ground": ground_sheet(rng, board), "action": self._sides[look["card:side"]]})
        self._world.sheets["points"], self._world.shows["action"] = self._points, look["card:side"]
        self._world.lay_markers(board)
        for name, facts in PLACES.items():
            self._world.put(name, self._die(name), "|".join(look[f] for f in facts))
        for key in self._keys:
            if key.startswith("cube:") and "," in look[key]:
                self._world.put(key, self._cube(key, look[key]), look[key])
        self._off = {k: v for k, v in self._planned.items() if k.startswith("cube:")}
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
        """Queues the acts that make the table look so at these facts, by hand; what has no piece here is left aside."""
        known = {k: v for k, v in changes.items() if k in self._planned and self._planned[k] != v}
        flipped = "card:side" in known
        self._planned.update(known)
        if flipped:
            self.stage.act(Carry("rage"), self.manner)
            side = known["card:side"]
            self.stage.act(Relay("action", self._sides[side], side), self.manner)
        for name, facts in PLACES.items():
            if any(f in known for f in facts) or (name == "rage" and flipped):
                said = "|".join(self._planned[f] for f in facts)
                source = None if name == "rage" and flipped else name
                self.stage.act(Carry(source, name, self._die(name), said), self.manner)
        cubes = [k for k in known if k.startswith("cube:")]
        for key in cubes:  # all are taken up first, so that none is put where another stands
            if key in self._world.solids and len(cubes) > 1:
                self.stage.act(Carry(key), self.manner)
        for key in cubes:
            self._off[key] = known[key]
            source = key if key in self._world.solids and len(cubes) == 1 else None
            if "," in known[key]:
                self.stage.act(Carry(source, key, self._cube(key, known[key]), known[key]), self.manner)
            elif source is not None:
                self.stage.act(Carry(source), self.manner)

    def look(self) -> Mapping[str, str]:
        """The truth: what every piece shows now. A cube that stands on no cell is where it was last carried."""
        shows = self._world.shows
        found = {"card:side": shows["action"]}
        for name, facts in PLACES.items():
            found |= dict(zip(facts, shows.get(name, "|" * (len(facts) - 1)).split("|"), strict=True))
        for key, value in self._off.items():
            found[key] = shows.get(key, value)
        return found

    def _cube(self, key: str, cell: str) -> Solid:
        off = self.manner.stand(self._rng)
        return cube_solid(self.board, key.removeprefix("cube:"), cell, off, float(self._rng.uniform(0, 90)))

    def _die(self, name: str) -> Solid:
        """A die where it belongs by the planned look."""
        look, sizes, lift = self._planned, self.board.sizes_mm, self.board.sizes_mm["card_height"]
        yaw = float(self._rng.uniform(0, 360))
        if name == "health":
            column, row = (int(v) for v in look["beast:origin"].split(","))
            pitch, deep = float(self.board.grid["pitch_mm"]), int(self.board.grid["deep"])
            spot = self._near((column + 1) * pitch, (deep - row - 1) * pitch, 1.0)
            square = float(self._rng.choice([0, 90])) + float(self._rng.normal(0, 3))
            return die_solid(max(1, int(look["die:health"])), sizes["health_die"], spot, lift, square, self._body, 0.8)
        if name == "rage":
            row, column = (int(v) for v in look["rage:cell"].split("."))
            spec = self.board.grid["action_card"]
            spot = self._on(self._sides[look["card:side"]], spec["columns_mm"][column], spec["rows_mm"][row - 1], 0.8)
            return die_solid(int(look["die:rage"]), sizes["rage_die"], spot, lift, yaw, (0.04, 0.03, 0.55), 0.8)
        value = look["die:points"]
        x, y = self.board.grid["point_card"]["slots_mm"][value[0]]
        pips = int(value[1:]) if value != "0" else int(self._rng.integers(1, 7))
        spot = self._on(self._points, x, y, 1.2)
        return die_solid(pips, sizes["point_die"], spot, lift, yaw, (0.75, 0.78, 0.78), 0.03)

    def _near(self, x: float, y: float, sigma: float) -> tuple[float, float]:
        dx, dy = np.clip(self._rng.normal(0, sigma, 2), -2 * sigma, 2 * sigma)
        return x + float(dx), y + float(dy)

    def _on(self, sheet: Sheet, x: float, y: float, sigma: float) -> tuple[float, float]:
        return sheet.at(*self._near(x, y, sigma))
