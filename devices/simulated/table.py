"""The simulated Moguli table: one physical world behind a camera and buttons, moved on by simulated time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.profile import Board, TableProfile
from devices.contract import DeviceGone, Frame
from devices.simulated.acts import Act, acts_for, effect_of
from devices.simulated.art import STYLES, TABLES
from devices.simulated.choreography import Choreographer, Phase
from devices.simulated.disturbances import (
    EXPOSURE_LAG_S,
    Conditions,
    Event,
    LampSwitch,
    Scenario,
    Surroundings,
    over,
)
from devices.simulated.hand import PEOPLE
from devices.simulated.lights import LIGHTS, Light
from devices.simulated.optics import CameraModel, View, view_of
from devices.simulated.painter import PAPER_MM, Painter
from devices.simulated.scene import Held, Scene
from devices.simulated.sensor import Sensor, exposure_for
from devices.simulated.world import NEAT, Manner, world_of

PRESS_S = 0.14
"""How long a finger stays on a button."""

PressWire = Callable[[str, bool], None]
"""What a finger does to a button's wire: its name, down or up."""


@dataclass(frozen=True, slots=True)
class _Press:
    button: str


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
        kind = light if light is not None else str(rng.choice(["diffuse", "window", "lamp"]))
        if isinstance(kind, str):
            kind = replace(LIGHTS[kind], azimuth_deg=float(rng.uniform(0, 360)))
        self.board, self.manner, self.camera_model = board, manner, camera or CameraModel()
        self._rng = rng
        self._cells = tuple(board.places_mm)
        self._world = world_of(look, self._cells, rng, manner)
        self._planned = self._world.look(self._cells)
        first, second = rng.permutation(len(PEOPLE))[:2]
        self._choreographer = Choreographer(board, self._world, rng, (PEOPLE[first], PEOPLE[second]))
        view = view_of(self.camera_model, _shown(board))
        painter = Painter(board, STYLES[style], table, seed)
        self._scene = Scene(painter, view, kind, self.camera_model.blur_px, self.camera_model.vignetting)
        self._around = Surroundings(view, kind)
        self._events = deque(sorted(((start_s + at, event) for at, event in scenario), key=lambda e: e[0]))
        self._sensor = Sensor(self.camera_model, seed)
        self._start = self._world.copy()
        self._gains: tuple[float, float, float] | None = None
        self._press_wire = press_wire
        self._queue: deque[tuple[Act, Manner] | _Press] = deque()
        self._phases: Iterator[Phase] = iter(())
        self._phase: Phase | None = None
        self._left_s = 0.0
        self._pressed: tuple[str, float] | None = None
        self._now_s = start_s

    def camera(self) -> SimulatedCamera:
        """A camera over this table; several may look at once."""
        return SimulatedCamera(self)

    def perform(self, changes: Mapping[str, str]) -> None:
        """Queues the acts that make the table look so at these facts, in the order of the mapping; raises ValueError
        for a fact that this table does not have or a value that it cannot take."""
        self._queue.extend((act, self.manner) for act in acts_for(changes, self._planned))
        self._planned.update(changes)
        for cell in self._cells:
            if self._planned[f"path:{cell}"] == "-":
                self._planned[f"triangle:{cell}"] = "-"

    def act(self, acts: Iterable[Act], manner: Manner | None = None) -> None:
        """Queues single acts (`devices.simulated.acts`), done in `manner`; the table's own when None."""
        for act in acts:
            self._queue.append((act, manner or self.manner))
            self._planned.update(effect_of(act, self._planned))

    def press(self, button: str) -> None:
        """Queues a press of a button after the acts queued so far."""
        self._queue.append(_Press(button))

    def advance(self, seconds: float) -> None:
        """Lets simulated time pass: hands move, acts begin and end, buttons go down and up."""
        end_s = self._now_s + seconds
        while self._events and self._events[0][0] <= end_s:
            at_s, event = self._events.popleft()
            self._act_until(max(at_s, self._now_s))
            self.disturb(event)
        self._act_until(end_s)

    def disturb(self, event: Event) -> None:
        """A disturbance begins now."""
        if isinstance(event, LampSwitch):
            before = self._exposure(self._around.at(self._now_s))
            self._around.begin(event, self._now_s)
            self._scene.light_by(self._around.light)
            self._gains = (before, exposure_for(self._scene.resting(self._world), self._around.light), self._now_s)
        else:
            self._around.begin(event, self._now_s)

    def _act_until(self, end_s: float) -> None:
        while True:
            self._start_next()
            left = end_s - self._now_s
            step = min(left, self._left_s) if self._busy_now else left
            self._now_s += step
            if not self._busy_now:
                break
            self._left_s -= step
            if self._left_s > 1e-9:
                break
            self._finish()
        self._now_s = end_s

    def now_s(self) -> float:
        """Simulated monotonic time in seconds."""
        return self._now_s

    def sleep_s(self, seconds: float) -> None:
        """The same as `advance`, so that the table is a clock too."""
        self.advance(seconds)

    @property
    def busy(self) -> bool:
        """True while queued acts are not finished or a hand is over the table."""
        return self._busy_now or bool(self._queue) or self._around.at(self._now_s).resting != ()

    def look(self) -> Mapping[str, str]:
        """The truth: how the table looks now. A tile or pawn in a hand is missing from its place."""
        return self._world.look(self._cells)

    @property
    def view(self) -> View:
        """How the camera stands and sees now."""
        return self._around.at(self._now_s).view

    def profile(self) -> TableProfile:
        """What set-up at a real table would know: board, lens and the corners that a person would tap."""
        corners = self.view.project([(x, y, 0.0) for x, y in self.board.corners_mm])
        tapped = tuple((float(x), float(y)) for x, y in corners)
        return TableProfile(self.board, tapped, self.view.lens, camera="sim://table")

    def frame(self, number: int) -> Frame:
        """The picture at the present simulated time."""
        now = self._around.at(self._now_s)
        self._scene.look_from(now.view)
        hands = [self._choreographer.rest(event, age) for event, age in now.resting]
        held: Held | None = None
        if self._phase is not None:
            hand, held = self._phase.at(1 - self._left_s / max(self._phase.seconds, 1e-9))
            hands.append(hand)
        gain = self._exposure(now) * now.gain
        lit = self._scene.picture(self._world, held, tuple(hands))
        over(lit, now.view, self._scene.frame, now)
        bgr = self._sensor.expose(lit, now.light, gain, number, now.cast)
        bgr.flags.writeable = False
        return Frame(bgr, number, self._now_s, "sim://table")

    def _exposure(self, now: Conditions) -> float:
        """The gain that the automatic exposure has come to (a locked one stays as it was set at the start)."""
        if self._gains is None:
            first = exposure_for(self._scene.resting(self._start), self._around.light)
            self._gains = (first, first, self._now_s)
        before, wanted, since_s = self._gains
        if not self.camera_model.auto_exposure:
            return before
        share = math.exp(-(self._now_s - since_s) / EXPOSURE_LAG_S)
        return wanted * math.pow(before / wanted, share) * self._around.light.level / now.light.level

    @property
    def _busy_now(self) -> bool:
        return self._phase is not None or self._pressed is not None

    def _start_next(self) -> None:
        """Makes the next phase or press the present one, when there is none."""
        while not self._busy_now:
            phase = next(self._phases, None)
            if phase is not None:
                self._phase, self._left_s = phase, phase.seconds
            elif not self._queue:
                return
            else:
                item = self._queue.popleft()
                if isinstance(item, _Press):
                    self._pressed, self._left_s = (item.button, self._now_s), PRESS_S
                    self._wire(item.button, True)
                else:
                    self._phases = self._choreographer.phases(*item)

    def _finish(self) -> None:
        if self._phase is not None:
            phase, self._phase = self._phase, None
            if phase.then is not None:
                phase.then()
        elif self._pressed is not None:
            (button, _), self._pressed = self._pressed, None
            self._wire(button, False)

    def _wire(self, button: str, down: bool) -> None:
        if self._press_wire is not None:
            self._press_wire(button, down)


class SimulatedCamera:
    """The camera over a simulated table: a `Source` of frames at the model's rate of simulated time."""

    def __init__(self, table: MoguliTable) -> None:
        self._table = table
        self._last = -1
        self._open = True

    def read(self, timeout_s: float) -> Frame | None:
        """The world as it is now; None when simulated time has not come to a new frame (it passes only by `advance`).
        Raises DeviceGone after `close`."""
        if not self._open:
            raise DeviceGone("sim://table: this camera has been closed; open it again")
        number = int(self._table.now_s() * self._table.camera_model.fps + 1e-6)
        if number <= self._last:
            return None
        self._last = number
        return self._table.frame(number)

    def close(self) -> None:
        """Ends the camera; the table stays."""
        self._open = False


def _shown(board: Board) -> list[tuple[float, float, float]]:
    """What the camera is aimed at: the board and the paper around its markers."""
    points = [(x, y, 0.0) for x, y in board.corners_mm]
    for corners in board.markers.corners_mm.values() if board.markers is not None else ():
        middle = np.mean(corners, axis=0)
        side = float(np.linalg.norm(np.subtract(corners[1], corners[0])))
        for corner in corners:
            x, y, _ = middle + (np.array(corner) - middle) * max(PAPER_MM / side, 1.0)
            points.append((float(x), float(y), 0.0))
    return points
