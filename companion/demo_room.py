"""The room of a demo: one simulated table, and around it the program's own devices and eyes, in simulated time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from calibration.profile import Board, TableProfile
from companion.box import press
from companion.bulletin import Bulletin
from companion.demo_clock import DemoClock
from companion.eyes import Eyes
from companion.eyes_thread import report_camera
from companion.mishaps import undone
from companion.registry import GameEntry
from companion.service import Service
from devices.contract import Condition, Frame
from devices.faults import Fault, Running
from devices.gpio import MockWires, load_pins, mock_factory, open_buttons, open_lights
from devices.gpio_buttons import GpioButtons
from devices.gpio_lights import GpioLights
from devices.simulated.contract import SimulatedTable
from devices.simulated.disturbances import Bump, Event
from devices.simulated.faults import open_faulty
from devices.supervised import Kept

FRAME_S = 0.1
"""Simulated time between the pictures that the program gets."""

AIM_S = 3.0
"""After so long people believe the screen that the camera must be aimed anew."""


class Stopped(Exception):
    """Somebody ended the demo."""


class Disturbed(Exception):
    """Somebody at the page has begun a game of their own."""


class Room:
    """A table is laid in it with `lay`; everything else is possible from then on. `speed` None never sleeps.

    `match_id` names the match that is played here: when the service has another one, `tick` raises Disturbed. `on_tick`
    is called before every picture, `on_seen` with every picture that was read; `stopped` makes `tick` raise Stopped.
    """

    def __init__(
        self,
        game: GameEntry,
        service: Service,
        bulletin: Bulletin,
        speed: float | None,
        scenario: Sequence[Fault],
        board: Board,
    ) -> None:
        self._game, self._service, self._bulletin, self._speed = game, service, bulletin, speed
        self.board = board
        self.clock = DemoClock()
        self.faults = Running(self.clock, scenario)
        self._table: SimulatedTable | None = None
        self._camera: Kept | None = None
        self._told: Condition | None = None
        self._unheard: list[str] = []
        self._buttons: GpioButtons | None = None
        self._lights: GpioLights | None = None
        self._eyes: Eyes | None = None
        self._knocks: list[Bump] = []
        self._lost_ticks = 0
        self._mute: frozenset[str] = frozenset()
        self.match_id = ""
        self.stopped = False
        self.on_tick: Callable[[], None] = lambda: None
        self.on_seen: Callable[[Frame], None] = lambda frame: None

    def lay(self, look: Mapping[str, str], seed: int) -> None:
        """A new table that looks so, with new devices and new eyes."""
        factory = mock_factory()
        pins = load_pins()["buttons"]
        wires = MockWires(factory, pins, bounces=2)

        def press_wire(button: str, down: bool) -> None:
            """Buttons with a pin are wired to it; those of a third and fourth player are on a box."""
            if button in pins:
                wires(button, down)
            elif down:
                self._unheard.append(button)

        table = self._table = self._game.load_table()(look, self.board, seed, press_wire=press_wire)
        self._knocks = []
        self.clock.follow(table)
        self._camera = Kept(lambda: open_faulty(table.stage.camera, self.faults), "sim://table", table.stage)
        self._buttons = open_buttons("gpio-mock://", table.stage, factory)
        self._lights = open_lights("gpio-mock://", table.stage, factory)
        self._service.light(self._lights)
        self._eyes = Eyes(
            TableProfile(self.board, camera="sim://table"),
            self._game.load_reader(),
            self._service,
            settler=self._game.load_rest(),
            bulletin=None if self._speed is None else self._bulletin,
        )
        self._service.has_buttons(True)
        self._service.watch(self._eyes)

    @property
    def table(self) -> SimulatedTable:
        """The table that was laid last."""
        assert self._table is not None
        return self._table

    @property
    def shown(self) -> frozenset[str]:
        """The facts that can be seen on this table; not those of which the screen says that nothing shows them."""
        return frozenset(self.table.look()) - self._mute

    @property
    def busy(self) -> bool:
        """True while hands are at work."""
        return self._table is not None and self._table.stage.busy

    @property
    def moving(self) -> bool:
        """True while hands or thrown things are on their way."""
        return self._table is not None and self._table.stage.moving

    @property
    def blind(self) -> bool:
        """True while a fault keeps the program from seeing or recording; players wait until its words are gone."""
        return (self._camera is not None and not self._camera.fit) or self._service.disk_trouble

    @property
    def seen(self) -> bool:
        """True while the table is at rest and the program's last reading shows it."""
        return self._eyes is not None and self._eyes.current

    def tick(self) -> None:
        """Lets one frame's time pass and gives the picture to the eyes. Raises Stopped or Disturbed."""
        self.on_tick()
        if self.stopped:
            raise Stopped
        if self.match_id and self._service.match.id != self.match_id:
            raise Disturbed
        began_s = time.perf_counter()
        assert self._camera is not None and self._eyes is not None
        assert self._buttons is not None and self._lights is not None
        self.table.stage.advance(FRAME_S)
        while (pressed := self._buttons.read(0.0)) is not None:
            self._unheard.append(pressed.button)
        while self._unheard and not self._service.disk_trouble:
            press(self._service, self._unheard[0])
            if not self._service.disk_trouble:  # else nothing was recorded, and the player presses again later
                self._unheard.pop(0)
        self._lights.tick()
        frame = self._camera.read(0.0)
        if self._camera.condition != self._told:
            self._told = self._camera.condition
            report_camera(self._service, "sim://table", self._told)
        if frame is not None:
            seen = self._eyes.look(frame, self._camera.fit)
            if seen is not None:
                facts = seen.reading.facts.items()
                self._mute = frozenset(k for k, f in facts if f.blank and not f.hidden and not f.reason)
                self._camera.accept()
                self.on_seen(frame)
                self._service.hear(seen)
        elif not self._camera.fit:
            self._eyes.gone()
        if self._speed is not None:
            time.sleep(max(0.0, FRAME_S / self._speed - (time.perf_counter() - began_s)))

    def rest(self, seconds: float) -> None:
        """Lets time pass."""
        for _ in range(round(seconds / FRAME_S)):
            self.tick()

    def disturb(self, event: Event) -> None:
        """Something goes wrong around the table."""
        if isinstance(event, Bump):
            self._knocks.append(event)
        self.table.stage.disturb(event)

    def aimed(self) -> bool:
        """Turns a knocked camera back when the screen says for a while that markers or places have left its picture;
        whether that was done just now. To be asked once a tick."""
        judgement = self._service.match.judgement
        unread = [value for m in (judgement.details if judgement else ()) for _, value in m.values]
        lost = "@vision.reason.out_of_picture" in unread
        lost |= any(
            t.words.id in ("vision.few_markers", "vision.place_out_of_picture")
            for t in self._bulletin.snapshot().troubles
        )
        self._lost_ticks = self._lost_ticks + 1 if lost else 0
        if self._lost_ticks * FRAME_S < AIM_S or not self._knocks:
            return False
        self._lost_ticks = 0
        self.table.stage.disturb(undone(self._knocks.pop()))
        return True
