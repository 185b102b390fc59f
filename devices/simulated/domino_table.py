"""The simulated table of Muggins: a line that winds over the table tile by tile, and hands pushed into view."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibration.profile import Board
from devices.simulated.carrying import Carry, Handling, Hands, Laid, Sweep
from devices.simulated.disturbances import Scenario
from devices.simulated.dominoes import LONG_MM, SHORT_MM, make_tiles, tile_solid
from devices.simulated.lights import Light, light_over
from devices.simulated.materials import laid, texture
from devices.simulated.optics import CameraModel, view_of
from devices.simulated.solid_scene import HeldSolid, SolidScene
from devices.simulated.stage import PressWire, Stage, shown
from devices.simulated.world import NEAT, Manner

CAMERA = CameraModel(
    height_mm=1100.0, tilt_deg=10.0, azimuth_deg=270.0, margin=0.05, distortion=(0.0, 0.0, 0.0, 0.0, 0.0)
)
LIT = ("diffuse", "window", "lamp", "tube")
EDGE_MM = 372.0
"""How far to either side the line runs before it bends."""
DOWN_TILES = 2
"""How many tiles a bend takes to the next row."""
GAP_MM = 0.7
YARD, YARD_MM = "count:boneyard", 52.0
"""The fact of how many tiles lie face down in the boneyard, and from one of them to the next."""
PITCH_MM = 28.0
"""From one tile of a shown hand to the next."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a line's end has come to: the point that the next tile touches, the way on (degrees), the way of the row
    before the bend, tiles laid since the bend, and whether the last tile lies crosswise."""

    at_mm: tuple[float, float]
    heading_deg: float
    row_deg: float
    down: int = 0
    cross: bool = False


class DominoTable:
    """Dominoes on a free table, as `devices.simulated.contract.SimulatedTable` promises.

    `look` names the line (`line:0` -> `6-4`) and shown hands (`hand:0` -> `0-1 3-5`) at the start; what it does not
    name is bare, and the boneyard lies in the spec's areas for it only where its number (`count:boneyard`) is named.
    Hands that are not in view have no facts here. The same arguments give
    the same frames at the same simulated times; `light` None lets the seed choose.
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
        rng = np.random.default_rng([seed, 72])
        kind = light_over(light, LIT, rng)
        self.board, self.manner, self._rng = board, manner, rng
        self._make = make_tiles(rng)
        self._world = Laid()
        self._world.lay_markers(board)
        self._zones = {f"hand:{name}": zone for name, zone in board.grid["hands_mm"].items()}
        self._yard = [tuple(float(v) for v in area) for area in board.grid.get("boneyard", {}).get("areas_mm", ())]
        self._keys = tuple(
            key for key in look if key.startswith("line:") or key in self._zones or (key == YARD and self._yard)
        )
        self._planned = dict.fromkeys(self._keys, "-")
        self._ends: dict[int, tuple[End, End]] = {}
        view = view_of(camera, shown(board))
        ground = laid(texture(rng), float(rng.uniform(0.6, 1.5)), float(rng.uniform(0, 360)))
        scene = SolidScene(ground, (0.0, 0.0), view, kind, camera.blur_px, camera.vignetting)
        for act in self._acts({key: look[key] for key in self._keys if look[key] != "-"}):
            for name, solid, shows in act.here if isinstance(act, Sweep) else ((act.target, act.solid, act.shows),):
                assert solid is not None
                self._world.put(name, solid, shows)
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
        """Queues the acts that make the table look so at these facts, by hand; facts that cannot be seen here are left
        aside. Raises ValueError for a value that no domino shows."""
        for act in self._acts({k: v for k, v in changes.items() if k in self._planned}):
            self.stage.act(act, self.manner)

    def look(self) -> Mapping[str, str]:
        """The truth: the line and the shown hands as they lie now, without what is in a hand over the table."""
        found = {key: self._world.shows.get(key, "-") for key in self._keys if key.startswith("line:")}
        for zone in self._zones:
            if zone in self._planned:
                tiles = [shows for name, shows in self._world.shows.items() if name.startswith(f"{zone}/")]
                found[zone] = " ".join(sorted(tiles)) or "-"
        if YARD in self._planned:
            found[YARD] = str(sum(name.startswith("boneyard/") for name in self._world.solids))
        return found

    def _acts(self, changes: Mapping[str, str]) -> list[Carry | Sweep]:
        """The acts for these changes: what goes is taken first, from the line's ends inwards; then what comes is laid,
        outwards."""
        acts: list[Carry | Sweep] = []
        line = {int(k[5:]): v for k, v in changes.items() if k.startswith("line:") and v != self._planned[k]}
        for place in sorted(line, key=abs, reverse=True):
            key = f"line:{place}"
            if self._planned[key] != "-":
                acts.append(Carry(key))
                self._ends.pop(place, None)
        for place in sorted((n for n in line if line[n] != "-"), key=abs):
            acts.append(self._laid(place, _halves(line[place])))
        for zone in self._zones:
            if zone in changes and changes[zone] != self._planned[zone]:
                acts += self._hand(zone, changes[zone])
        if YARD in changes:
            acts += self._boneyard(int(changes[YARD]))
        self._planned.update(changes)
        return acts

    def _boneyard(self, number: int) -> list[Carry | Sweep]:
        """Tiles are drawn one by one, the last one first; more of them come at once, shuffled and pushed into place."""
        before = int(self._planned[YARD]) if self._planned[YARD] != "-" else 0
        if number <= before:
            return [Carry(f"boneyard/{k}") for k in range(before - 1, number - 1, -1)]
        middles = [
            ((left + right) / 2, (low + high) / 2 + YARD_MM * (k - 3))
            for left, low, right, high in self._yard
            for k in range(7)
        ]
        if number > len(middles):
            raise ValueError(f"the boneyard has room for {len(middles)} tiles, not for {number}")
        here = []
        for k, (x, y) in enumerate(middles[:number]):
            spot = (x + float(self._rng.normal(0, 1.2)), y + float(self._rng.normal(0, 2.5)))
            turn = float(self._rng.normal(0, 5.0))
            here.append((f"boneyard/{k}", tile_solid(self._make, None, spot, turn), ""))
        return [Sweep(tuple(f"boneyard/{k}" for k in range(before)), tuple(here))]

    def _laid(self, place: int, halves: tuple[int, int]) -> Carry:
        """The act that lays a tile at the line's place, where the tile next to it ends."""
        key, (a, b) = f"line:{place}", halves
        if place == 0 or not self._ends:
            turn_deg = float(self._rng.normal(0, 2)) + (90.0 if a == b else 0.0)
            half = (SHORT_MM if a == b else LONG_MM) / 2
            self._ends = {place: (End((-half, 0.0), 180.0, 180.0, 9, a == b), End((half, 0.0), 0.0, 0.0, 9, a == b))}
            return Carry(None, key, tile_solid(self._make, halves, (0.0, 0.0), turn_deg), f"{a}-{b}")
        right = place > max(self._ends)
        if not right and place >= min(self._ends):
            raise ValueError(f"nothing can be laid in the middle of the line, at {key}")
        before = self._ends[max(self._ends) if right else min(self._ends)][1 if right else 0]
        end, middle, angle = self._next(before, a == b, -90.0 if right else 90.0)
        ends = (end, end)
        self._ends[place] = ends
        # The first half of a tile lies towards the line's left: on the right side nearest to the line.
        turn = angle if right else angle + 180.0
        slip = self.manner.stand(self._rng)
        spot = (middle[0] + 0.4 * slip[0], middle[1] + 0.4 * slip[1])
        turn += float(self._rng.normal(0, self.manner.tile_deg))
        return Carry(None, key, tile_solid(self._make, halves, spot, turn), f"{a}-{b}")

    def _next(self, end: End, double: bool, down_deg: float) -> tuple[End, tuple[float, float], float]:
        """The end after one more tile, the tile's middle, and its direction away from the line."""
        heading, row, down = end.heading_deg, end.row_deg, end.down
        bend = 0.0
        sideways = abs(math.cos(math.radians(heading))) > 0.5
        if sideways and end.at_mm[0] * math.cos(math.radians(heading)) > EDGE_MM - LONG_MM:
            bend, down = (down_deg - heading + 180.0) % 360.0 - 180.0, 0
        elif not sideways and down >= DOWN_TILES:
            back = (row + 180.0) % 360.0
            bend, row, down = (back - heading + 180.0) % 360.0 - 180.0, back, 9
        if bend and end.cross:
            bend, down, row = 0.0, end.down, end.row_deg  # a line does not bend at a tile that lies crosswise
        cross = double and not bend and sideways
        old, way = math.radians(heading), math.radians(heading + bend)
        d = np.array([math.cos(way), math.sin(way)])
        at = np.array(end.at_mm)
        if bend:
            at = at - np.array([math.cos(old), math.sin(old)]) * SHORT_MM / 2 + d * SHORT_MM / 2
        length = SHORT_MM if cross else LONG_MM
        middle = at + d * (length / 2 + GAP_MM)
        after = at + d * (length + GAP_MM)
        new = End((float(after[0]), float(after[1])), heading + bend, row, down + 1, cross)
        return new, (float(middle[0]), float(middle[1])), heading + bend + (90.0 if cross else 0.0)

    def _hand(self, zone: str, value: str) -> list[Carry]:
        """A hand is pushed into view, or taken away."""
        old = self._planned[zone]
        acts = [Carry(f"{zone}/{k}") for k in range(0 if old in ("-", "none") else len(old.split()))]
        tiles = [] if value in ("-", "none") else value.split()
        left, low, _, high = (float(v) for v in self._zones[zone])
        for k, tile in enumerate(tiles):
            spot = (left + PITCH_MM * (k + 0.7) + float(self._rng.normal(0, 0.6)), (low + high) / 2)
            turn = 90.0 + float(self._rng.normal(0, 1.5)) + (180.0 if self._rng.uniform() < 0.5 else 0.0)
            acts.append(Carry(None, f"{zone}/{k}", tile_solid(self._make, _halves(tile), spot, turn), tile))
        return acts


def _halves(value: str) -> tuple[int, int]:
    a, dash, b = value.partition("-")
    if not dash or len(a) != 1 or len(b) != 1 or a not in "0123456" or b not in "0123456":
        raise ValueError(f"no domino shows {value!r}")
    return int(a), int(b)
