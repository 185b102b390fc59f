"""What every simulated table is made of: simulated time, queued acts, hands, disturbances and a camera over one world.

The table itself knows its pieces; a stage only lets time pass over them and takes the pictures.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from calibration.profile import Board, Corners3
from devices.contract import DeviceGone, Frame, Image
from devices.simulated.choreography import Carried, Phase
from devices.simulated.disturbances import (
    EXPOSURE_LAG_S,
    Conditions,
    Event,
    LampSwitch,
    RestingHand,
    Scenario,
    Surroundings,
    over,
)
from devices.simulated.hand import HandAt
from devices.simulated.lights import Light
from devices.simulated.optics import CameraModel, View
from devices.simulated.painter import PAPER_MM
from devices.simulated.sensor import Sensor, exposure_for
from devices.simulated.sprites import Box
from devices.simulated.world import Manner

PRESS_S = 0.14
"""How long a finger stays on a button."""

PressWire = Callable[[str, bool], None]
"""What a finger does to a button's wire: its name, down or up."""

A = TypeVar("A")
A_contra = TypeVar("A_contra", contravariant=True)
H = TypeVar("H", bound=Carried)
H_contra = TypeVar("H_contra", bound=Carried, contravariant=True)
W = TypeVar("W")
W_contra = TypeVar("W_contra", contravariant=True)


class Scenery(Protocol[W_contra, H_contra]):
    """The lit picture of a world, kept from one call to the next."""

    @property
    def frame(self) -> Box:
        """The whole picture's box."""

    def look_from(self, view: View) -> None:
        """Moves the camera."""

    def light_by(self, light: Light) -> None:
        """Changes the light."""

    def resting(self, world: W_contra) -> Image:
        """The lit picture of everything that rests; not to be changed."""

    def picture(self, world: W_contra, held: H_contra | None, hands: tuple[HandAt, ...]) -> Image:
        """A new picture: what rests, what is held, and hands over it."""


class Director(Protocol[A_contra, H]):
    """How hands do what is to be done to a world."""

    def phases(self, act: A_contra, manner: Manner) -> Iterator[Phase[H]]:
        """The phases of an act; each is planned when the one before has ended."""

    def rest(self, event: RestingHand, age_s: float) -> HandAt:
        """Where a resting hand is, `age_s` seconds after it set out."""


class Stage(Generic[W, A, H]):
    """One world under a camera, moved on by simulated time; the same arguments give the same frames.

    `start` is the world to which the automatic exposure was set. `scenario` lists disturbances by their time after
    the start. `press_wire` is called with a button's name and True or False when a finger goes down or up on it.
    """

    def __init__(
        self,
        world: W,
        start: W,
        scene: Scenery[W, H],
        director: Director[A, H],
        view: View,
        light: Light,
        camera: CameraModel,
        seed: int,
        *,
        scenario: Scenario = (),
        press_wire: PressWire | None = None,
        start_s: float = 0.0,
    ) -> None:
        self.camera_model = camera
        self._world, self._start, self._scene, self._director = world, start, scene, director
        self._around = Surroundings(view, light)
        self._events = deque(sorted(((start_s + at, event) for at, event in scenario), key=lambda e: e[0]))
        self._sensor = Sensor(camera, seed)
        self._gains: tuple[float, float, float] | None = None
        self._press_wire = press_wire
        self._queue: deque[tuple[A, Manner] | str] = deque()
        self._phases: Iterator[Phase[H]] = iter(())
        self._phase: Phase[H] | None = None
        self._left_s = 0.0
        self._pressed: str | None = None
        self._now_s = start_s
        self.rested_s = start_s
        """When what was moved last came to rest: the last hand had left, the last thing thrown lay still."""

    def act(self, act: A, manner: Manner) -> None:
        """Queues an act."""
        self._queue.append((act, manner))

    def press(self, button: str) -> None:
        """Queues a press of a button after the acts queued so far."""
        self._queue.append(button)

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
            light = self._around.light
            self._scene.light_by(light)
            self._gains = (before, exposure_for(self._scene.resting(self._world), light), self._now_s)
        else:
            self._around.begin(event, self._now_s)

    def now_s(self) -> float:
        """Simulated monotonic time in seconds; only `advance` lets it pass, so that a run at full speed and one in real
        time show the same frames."""
        return self._now_s

    def sleep_s(self, seconds: float) -> None:
        """The same as `advance`, so that a stage is the clock of the devices around it."""
        self.advance(seconds)

    @property
    def busy(self) -> bool:
        """True while queued acts are not finished or a hand is over the table."""
        return self._busy_now or bool(self._queue) or self._around.at(self._now_s).resting != ()

    @property
    def moving(self) -> bool:
        """True while an act goes on or is still to come."""
        return self._phase is not None or any(not isinstance(item, str) for item in self._queue)

    @property
    def view(self) -> View:
        """How the camera stands and sees now."""
        return self._around.at(self._now_s).view

    def frame(self, number: int) -> Frame:
        """The picture at the present simulated time."""
        now = self._around.at(self._now_s)
        self._scene.look_from(now.view)
        hands = [self._director.rest(event, age) for event, age in now.resting]
        held: H | None = None
        if self._phase is not None:
            hand, held = self._phase.at(1 - self._left_s / max(self._phase.seconds, 1e-9))
            hands.append(hand)
        gain = self._exposure(now) * now.gain
        lit = self._scene.picture(self._world, held, tuple(hands))
        over(lit, now.view, self._scene.frame, now)
        bgr = self._sensor.expose(lit, now.light, gain, number, now.cast)
        bgr.flags.writeable = False
        return Frame(bgr, number, self._now_s, "sim://table")

    def camera(self) -> SimulatedCamera:
        """A camera over this table; several may look at once."""
        return SimulatedCamera(self.now_s, self.frame, self.camera_model.fps)

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
                if isinstance(item, str):
                    self._pressed, self._left_s = item, PRESS_S
                    self._wire(item, True)
                else:
                    self._phases = self._director.phases(*item)

    def _finish(self) -> None:
        if self._phase is not None:
            phase, self._phase = self._phase, None
            self.rested_s = self._now_s
            if phase.then is not None:
                phase.then()
        elif self._pressed is not None:
            button, self._pressed = self._pressed, None
            self._wire(button, False)

    def _wire(self, button: str, down: bool) -> None:
        if self._press_wire is not None:
            self._press_wire(button, down)


class SimulatedCamera:
    """The camera over a simulated table: a `Source` of frames at the model's rate of simulated time."""

    def __init__(self, now_s: Callable[[], float], frame: Callable[[int], Frame], fps: float) -> None:
        self._now_s, self._frame, self._fps = now_s, frame, fps
        self._last = -1
        self._open = True

    def read(self, timeout_s: float) -> Frame | None:
        """The world as it is now; None when simulated time has not come to a new frame (it passes only by `advance`).
        Raises DeviceGone after `close`."""
        if not self._open:
            raise DeviceGone("sim://table: this camera has been closed; open it again")
        number = int(self._now_s() * self._fps + 1e-6)
        if number <= self._last:
            return None
        self._last = number
        return self._frame(number)

    def close(self) -> None:
        """Ends the camera; the table stays."""
        self._open = False


def shown(board: Board) -> list[tuple[float, float, float]]:
    """What a camera is aimed at: the board and the paper around its markers, points in mm."""
    points = [(x, y, 0.0) for x, y in board.corners_mm]
    for corners in board.markers.corners_mm.values() if board.markers is not None else ():
        points += _paper(corners)
    return points


def _paper(corners: Corners3) -> list[tuple[float, float, float]]:
    x, y = (sum(c[axis] for c in corners) / 4 for axis in (0, 1))
    side = math.dist(corners[0], corners[1])
    share = max(PAPER_MM / side, 1.0)
    return [(x + (cx - x) * share, y + (cy - y) * share, 0.0) for cx, cy, _ in corners]
