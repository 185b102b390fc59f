"""The simulated arena: figures thrown, knocked, taken out, under a camera; it knows how they lie, and no rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from calibration.figure_prints import printable
from calibration.profile import Board
from devices.simulated.arena import FigureArt, Lying
from devices.simulated.carrying import Laid
from devices.simulated.choreography import GRIP_MM, HIGH_MM, MovingHand, Phase
from devices.simulated.disturbances import RestingHand, Scenario
from devices.simulated.figures import Flight, art_of, paint_of, solid_of
from devices.simulated.hand import PEOPLE, HandAt
from devices.simulated.lights import Light, light_over
from devices.simulated.materials import colour, laid, noise
from devices.simulated.optics import CameraModel, view_of
from devices.simulated.solid_scene import HeldSolid, SolidScene
from devices.simulated.solids import Floats, Paint
from devices.simulated.stage import PressWire, Stage, shown
from devices.simulated.tokens_print import Sheet, paper
from devices.simulated.world import NEAT, Manner

CAMERA = CameraModel(
    width=1440, height=1080, height_mm=1250.0, tilt_deg=14.0, azimuth_deg=270.0, distortion=(0.0, 0.0, 0.0, 0.0, 0.0)
)
LIT = ("diffuse", "window", "lamp", "tube", "dim")
ABSENT, OUT, IMMUNE = "-", "out", "immune"
FLIGHT_S = 1.3
"""How long a throw takes from the first picture in which it can be seen to rest."""
AWAY_MM = 330.0
"""How far outside the arena a hand waits."""
INSIDE_MM, OUTSIDE_MM = 45.0, (24.0, 62.0)
"""How far from the line's outer edge figures' centres usually lie that are in, and that are out."""
CLOSE, CLOSE_MM = 0.03, 3.0
"""Share of throws that end within so few mm of touching the line's outer edge or not."""
APART_MM = 75.0
"""Figures' centres lie at least so far apart."""
TRIES = 200
Xy = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Throw:
    """Figures fly and roll to where they then rest and show `shows`, all within `seconds`."""

    flights: Mapping[str, Flight]
    shows: Mapping[str, str]
    seconds: float = FLIGHT_S


@dataclass(frozen=True, slots=True)
class Take:
    """A hand comes and takes these figures out, one after the other."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Linger:
    """A hand comes over the arena, stays for `seconds` and goes without touching anything."""

    xy: Xy
    seconds: float


Deed = Throw | Take | Linger


@dataclass(frozen=True, slots=True)
class _InFlight(Phase[HeldSolid]):
    """A stretch of time without a hand, in which the world itself moves; `move` is told the share that has passed."""

    move: Callable[[float], None] = field(default=lambda share: None)

    def at(self, share: float) -> tuple[HandAt, HeldSolid | None]:
        """The world as it is then; the hand is far away."""
        self.move(share)
        return HandAt(*self.start, self.from_deg), None


class Throwers:
    """What people do at an arena, as phases over one world; they stand before it and beside it, never at the wall."""

    def __init__(self, board: Board, world: Laid, rng: np.random.Generator) -> None:
        self._world, self._rng = world, rng
        corners = np.array(board.corners_mm)
        (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
        x, y = float((left + right) / 2), float((low + high) / 2)
        self._seats = ((x, float(low) - AWAY_MM), (float(left) - AWAY_MM, y), (float(right) + AWAY_MM, y))
        self._person = PEOPLE[int(rng.integers(len(PEOPLE)))]

    def phases(self, act: Deed, manner: Manner) -> Iterator[Phase[HeldSolid]]:
        """The phases of a deed; each is planned when the one before has ended."""
        if isinstance(act, Throw):
            far = (self._seats[0][0], self._seats[0][1] - 3000.0, HIGH_MM)
            last = max(flight.ends for flight in act.flights.values())
            fly = partial(self._fly, act, last)
            yield _InFlight(act.seconds * last, far, far, -90.0, then=partial(self._land, act), move=fly)
        elif isinstance(act, Linger):
            hand = self._hand(act.xy, manner)
            yield hand.reach((*act.xy, 45.0))
            yield hand.go((*act.xy, 45.0), act.seconds)
            yield hand.leave()
        else:
            for name in act.names:
                solid = self._world.solids.get(name)
                if solid is None:
                    continue
                spot = (float(solid.centre_mm[0]), float(solid.centre_mm[1]))
                hand = self._hand(spot, manner)
                yield hand.reach((*spot, GRIP_MM + 10), partial(self._world.take, name))
                yield hand.leave(HeldSolid(solid))

    def rest(self, event: RestingHand, age_s: float) -> HandAt:
        """Where a resting hand is, `age_s` seconds after it set out."""
        (x, y), (seat_x, seat_y) = (self._seats[0][0], self._seats[1][1]), self._seats[(int(event.player) - 1) % 3]
        share = max(0.0, min(1.0, age_s / 0.5, (event.seconds - age_s) / 0.5))
        from_deg = math.degrees(math.atan2(seat_y - y, seat_x - x))
        spot = (seat_x + (x - seat_x) * share, seat_y + (y - seat_y) * share)
        return HandAt(*spot, 8.0, from_deg, "flat", person=self._person)

    def _fly(self, throw: Throw, last: float, share: float) -> None:
        for name, flight in throw.flights.items():
            solid = flight.at(share * last)
            if solid is not None:
                self._world.solids[name] = solid

    def _land(self, throw: Throw) -> None:
        for name, flight in throw.flights.items():
            self._world.put(name, flight.end, throw.shows[name])

    def _hand(self, spot: Xy, manner: Manner) -> MovingHand[HeldSolid]:
        x, y = min(self._seats, key=lambda seat: math.dist(seat, spot))
        x += float(self._rng.normal(0, 30))
        from_deg = math.degrees(math.atan2(y - spot[1], x - spot[0]))
        return MovingHand((x, y, HIGH_MM), from_deg, self._person, manner.pace)


class ArenaTable:
    """Figures in an arena, as `devices.simulated.contract.SimulatedTable` promises.

    Facts are `figure:<piece>`: the face that is up (`1`..`6`), `immune` (it stands), `out`, or `-` where it is not
    there. A piece whose name is a printed figure's, or that name with a number behind it (`ari_2`), has its prints.
    `perform` also takes `distance:<piece>` (mm from the centre): so far from it a thrown figure comes to rest.
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
        rng = np.random.default_rng([seed, 77])
        kind = light_over(light, LIT, rng)
        self.board, self.manner, self._rng = board, manner, rng
        sizes = board.sizes_mm
        self._art = {p.name: art_of(p, sizes["figure_length"], sizes["figure_across_flats"]) for p in printable(board)}
        self._paint: dict[str, Paint] = {}
        corners = np.array(board.corners_mm)
        self._low, self._high = corners.min(axis=0), corners.max(axis=0)
        self._wall_mm = float(self._high[1]) + (sizes["wall_gap"] if board.grid.get("wall") == "far" else math.inf)
        self._planned = {k: v for k, v in look.items() if k.startswith("figure:")}
        self._world = Laid()
        for number, sheet in enumerate(_line(board, rng)):
            self._world.sheets[f"line{number}"] = sheet
        self._world.lay_markers(board)
        self._spots: dict[str, Xy] = {}
        for key, value in self._planned.items():
            if value != ABSENT:
                name = key.removeprefix("figure:")
                self._world.put(name, solid_of(self._rests(name, value, None), self._painted(name)), value)
        apron = OUTSIDE_MM[1] + sizes["figure_length"]
        around = [(x, float(self._low[1]) - apron, 0.0) for x in (float(self._low[0]), float(self._high[0]))]
        view = view_of(camera, [*shown(board), *around])
        middle = corners.mean(axis=0)
        ground = laid(_floor(rng), float(rng.uniform(0.8, 1.5)), float(rng.uniform(0, 360)))
        centre = (float(middle[0]), float(middle[1]))
        self.stage: Stage[Laid, Deed, HeldSolid] = Stage(
            self._world,
            self._world.copy(),
            SolidScene(ground, centre, view, kind, camera.blur_px, camera.vignetting),
            Throwers(board, self._world, rng),
            view,
            kind,
            camera,
            seed,
            scenario=scenario,
            press_wire=press_wire,
        )

    def perform(self, changes: Mapping[str, str]) -> None:
        """Queues what makes the arena look so: figures that appear, or were out, are thrown; of others that change one
        is thrown and knocks the rest; what goes is taken out by hand. Raises ValueError for what cannot be shown."""
        wanted = {}
        for key, value in changes.items():
            if key.startswith(("distance:", "uncertainty:")):
                continue
            if key not in self._planned or not (value in (ABSENT, OUT, IMMUNE) or value in "123456"):
                raise ValueError(f"no arena shows {value!r} at {key!r}")
            if self._planned[key] != value:
                wanted[key.removeprefix("figure:")] = value
        gone = tuple(name for name, value in wanted.items() if value == ABSENT)
        if gone:
            self.stage.act(Take(gone), self.manner)
        landing = {name: value for name, value in wanted.items() if value != ABSENT}
        thrown = [n for n in landing if self._planned[f"figure:{n}"] in (ABSENT, OUT)] or list(landing)[:1]
        lying = tuple(n for n in thrown if self._planned[f"figure:{n}"] != ABSENT)
        if lying:
            self.stage.act(Take(lying), self.manner)
        for name in (*gone, *landing):
            self._spots.pop(name, None)
        if landing:
            flights = {}
            for number, name in enumerate(landing):
                distance = changes.get(f"distance:{name}")
                far = float(distance) if distance not in (None, OUT) else None
                flights[name] = self._flight(name, landing[name], far, name in thrown, number)
            self.stage.act(Throw(flights, landing), self.manner)
        self._planned.update({f"figure:{name}": value for name, value in wanted.items()})

    def linger(self, xy: Xy, seconds: float) -> None:
        """Queues a hand that comes over the arena, stays and goes."""
        self.stage.act(Linger(xy, seconds), self.manner)

    def look(self) -> Mapping[str, str]:
        """The truth: how each figure lies now. One in a hand or in flight is not there."""
        return {key: self._world.shows.get(key.removeprefix("figure:"), ABSENT) for key in self._planned}

    def place(self, name: str) -> Xy | None:
        """The truth: where a figure's centre is (mm), None when it is not there."""
        solid = self._world.solids.get(name)
        return None if solid is None else (float(solid.centre_mm[0]), float(solid.centre_mm[1]))

    def _flight(self, name: str, value: str, far_mm: float | None, thrown: bool, number: int) -> Flight:
        end = solid_of(self._rests(name, value, far_mm), self._painted(name))
        axis = tuple(float(v) for v in self._rng.normal(0, 1, 3))
        if thrown:
            start = (float(self._rng.uniform(0.3, 0.7)) * float(self._high[0]), float(self._low[1]) - 420.0)
            turns, begins = float(self._rng.uniform(1.2, 2.2)), 0.04 * number
        else:  # knocked by what comes flying
            old = self._world.solids[name].centre_mm
            start, turns, begins = (float(old[0]), float(old[1])), float(self._rng.uniform(0.4, 0.8)), 0.5
        middle = (np.array(start) + self._spots[name]) / 2 + self._rng.normal(0, 30, 2)
        path = (start, (float(middle[0]), float(middle[1])), self._spots[name])
        return Flight(end, path, (axis[0], axis[1], axis[2]), turns, begins, min(1.0, 0.85 + begins * 0.3))

    def _rests(self, name: str, value: str, far_mm: float | None) -> Lying:
        """A place for a figure that shows so, free of others; `far_mm`: so far from the centre."""
        art = self._art_of(name)
        up = value if value in "123456" else str(self._rng.choice(["top", "bottom"]))
        if value == OUT:
            up = str(self._rng.integers(1, 7))
        taken = [spot for other, spot in self._spots.items() if other != name]
        close = far_mm is None and self._rng.uniform() < CLOSE
        for _ in range(TRIES):
            turn = float(self._rng.uniform(-180, 180))
            spot = self._spot(value, far_mm)
            lying = Lying(art, up, spot, turn)
            if close and value != IMMUNE:
                lying = self._to_the_edge(lying, value == OUT)
            if self._fits(lying, value == OUT, close) and all(math.dist(lying.xy, t) >= APART_MM for t in taken):
                break
        self._spots[name] = lying.xy
        return lying

    def _spot(self, value: str, far_mm: float | None) -> Xy:
        (x0, y0), (x1, y1) = self._low, self._high
        if far_mm is not None and value != OUT:
            angle = float(self._rng.uniform(0, 2 * math.pi))
            return float(x0 + x1) / 2 + far_mm * math.cos(angle), float(y0 + y1) / 2 + far_mm * math.sin(angle)
        if value != OUT:
            x, y = self._rng.uniform((x0 + INSIDE_MM, y0 + INSIDE_MM), (x1 - INSIDE_MM, y1 - INSIDE_MM))
            return float(x), float(y)
        away, along = float(self._rng.uniform(*OUTSIDE_MM)), float(self._rng.uniform(0.15, 0.85))
        side = int(self._rng.integers(3))
        if side == 0:
            return float(x0 + along * (x1 - x0)), float(y0) - away
        return (float(x0) - away if side == 1 else float(x1) + away), float(y0 + along * (y1 - y0))

    def _to_the_edge(self, lying: Lying, out: bool) -> Lying:
        """The same figure moved sideways until its footprint nearly touches the left or right line, or nearly not."""
        feet = lying.footprint()
        left = self._rng.uniform() < 0.5
        edge = float(self._low[0] if left else self._high[0])
        near = float(feet[:, 0].max() if left else feet[:, 0].min())
        over = float(self._rng.uniform(0.5, CLOSE_MM)) * (-1 if out else 1)  # how far it reaches into the arena
        return replace(lying, xy=(lying.xy[0] + edge - near + (over if left else -over), lying.xy[1]))

    def _fits(self, lying: Lying, out: bool, close: bool) -> bool:
        """Whether the footprint is on the side of the line's edge where it is said to be, and not doubtfully so."""
        if float(lying.corners()[:, 1].max()) > self._wall_mm:
            return False
        feet = lying.footprint()
        inside = np.minimum(feet - self._low, self._high - feet).min(axis=1)
        within = float(inside.max())  # > 0: some of it touches the arena
        margin = 0.0 if close else 8.0
        return within < -margin if out else within > margin

    def _art_of(self, name: str) -> FigureArt:
        art = self._art.get(name) or self._art.get(name.rpartition("_")[0])
        if art is None:
            raise ValueError(f"no figure is printed for the piece {name!r}")
        return art

    def _painted(self, name: str) -> Paint:
        if name not in self._paint:
            self._paint[name] = paint_of(self._art_of(name))
        return self._paint[name]


def _floor(rng: np.random.Generator) -> Floats:
    """A floor of one colour with some grain: card, cloth or wood. Figures are not thrown on a pattern."""
    base = colour(rng, (0.0, 0.5), (0.35, 0.85))
    grain = noise(rng, 384, 7, stretch=float(rng.choice([1.0, 1.0, 8.0])))
    return np.asarray(base * (1.0 + float(rng.uniform(0.02, 0.08)) * grain)[..., None], np.float32)


def _line(board: Board, rng: np.random.Generator) -> list[Sheet]:
    """The arena's line as four strips of one colour."""
    corners = np.array(board.corners_mm)
    (x0, y0), (x1, y1) = (tuple(float(v) for v in p) for p in (corners.min(axis=0), corners.max(axis=0)))
    wide = board.sizes_mm.get("line", 10.0)
    ink = colour(rng, (0.7, 1.0), (0.5, 0.9))
    shade = (float(ink[0]), float(ink[1]), float(ink[2]))
    across, along = paper(x1 - x0, wide, shade), paper(wide, y1 - y0, shade)
    return [
        Sheet(across, (x0, y1)),
        Sheet(across, (x0, y0 + wide)),
        Sheet(along, (x0, y1)),
        Sheet(along, (x1 - wide, y1)),
    ]
