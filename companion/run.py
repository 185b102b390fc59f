"""A real table: opens the devices of a configuration, keeps them alive, and says what is wrong with them."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

from calibration.profile import Board, CalibrationError, TableProfile, load_board, load_profile
from companion.box import BoxThread
from companion.bulletin import Bulletin, Device
from companion.buttons import ButtonsThread, report_part
from companion.channel import Task
from companion.commands import Corners
from companion.config import Config
from companion.dice import DiceThread
from companion.enrolment import Enrolment
from companion.evidence import Evidence
from companion.games.contract import Message
from companion.process import EyesProcess
from companion.registry import game
from companion.service import Service
from devices.contract import DeviceError
from devices.gpio import open_buttons, open_lights

CORNERS_FILE = "corners.json"
IN_PLAY = ("start_check", "playing")
_log = logging.getLogger(__name__)

TRAY = Board("tray", "invented", (), (), {}, {}, None)
TRAY_READER = "vision.dice_tray:TrayReader"


class Table:
    """The devices around one service; `start` never fails: what does not work is reported and tried again."""

    def __init__(
        self,
        config: Config,
        service: Service,
        bulletin: Bulletin,
        data: Path,
        frames: Path | None = None,
        enrolment: Enrolment | None = None,
    ) -> None:
        self._config, self._service, self._bulletin, self._data = config, service, bulletin, data
        self._frames, self._enrolment = frames, enrolment
        self._eyes: EyesProcess | None = None
        self._tray: EyesProcess | None = None
        self._buttons: ButtonsThread | None = None
        self._box: BoxThread | None = None
        self._dice: BoxThread | DiceThread | None = None
        self._figures = ""
        self._figures_changed = False

    def start(self) -> None:
        """Opens what the configuration names."""
        config = self._config
        if config.lights:
            self._open_lights(config.lights)
        if config.buttons:
            self._buttons = ButtonsThread(self._service, config.buttons, open_buttons)
            self._buttons.start()
        if config.box:
            self._box = BoxThread(self._service, config.box, self._data, lights=not config.lights)
            self._box.start()
        if config.dice.startswith("serial:"):
            self._dice = BoxThread(self._service, config.dice, self._data, lights=False, name="dice")
        elif config.dice:
            self._dice = DiceThread(self._service, config.dice)
        if self._dice is not None:
            self._dice.start()
        if config.tray:
            tray = Task(TableProfile(TRAY, camera=config.tray), TRAY_READER, config.tray, remembers=False)
            self._tray = EyesProcess(tray, BesideTable(self._service), Bulletin())
            self._tray.start()
        if config.camera:
            entry = game(config.game)
            entry.load_reader()  # a game without eyes is told at once, not by a child that ends
            tapped = kept_corners(self._data, config.camera)
            profile = self._profile()
            self._figures = profile.figures
            task = Task(
                profile,
                entry.reader,
                config.camera,
                tapped=tapped,
                frames=str(self._frames or ""),
                rest=entry.rest,
            )
            keep = partial(keep_corners, self._data, config.camera)
            self._eyes = EyesProcess(task, self._service, self._bulletin, keep=keep)
            if self._enrolment is not None:
                self._enrolment.photograph = self._eyes.photograph
                self._enrolment.changed = self._learn_figures
            self._service.watch(self._eyes)
            self._service.on_opened = self._look_at_game
            self._eyes.start()

    def stop(self) -> None:
        """Closes everything."""
        for thread in (self._eyes, self._tray, self._buttons, self._box, self._dice):
            if thread is not None:
                thread.stop()

    def _learn_figures(self) -> None:
        """Eyes that know the figures that are enrolled now; while a game is played they keep those that it began with,
        and learn the others when the next one begins."""
        self._figures_changed = True
        if self._service.match.phase not in IN_PLAY:
            self._renew(self._profile())

    def _look_at_game(self) -> None:
        """Eyes by the spec of the board that is played on now, and of the figures, where they know others."""
        profile = self._profile()
        other = self._eyes is not None and self._eyes.variant != profile.board.variant
        if other or profile.figures != self._figures or (profile.figures and self._figures_changed):
            self._renew(profile)

    def _renew(self, profile: TableProfile) -> None:
        if self._eyes is not None:
            self._figures, self._figures_changed = profile.figures, False
            self._eyes.renew(profile)

    def _profile(self) -> TableProfile:
        """The table's profile, of the board that the game is played on, with the figures that are enrolled."""
        profile, enrolment, match = self._saved_profile(), self._enrolment, self._service.match
        if match.game == self._config.game:
            board = game(match.game).load_board(match.setup.options)
            if board.variant != profile.board.variant:
                profile = replace(profile, board=board, corners_px=())
        if enrolment is None or enrolment.catalogue is None:
            return profile
        if match.phase in IN_PLAY and not enrolment.plays(match.setup.start):
            return profile  # it began before any figure was enrolled
        return replace(profile, figures=str(enrolment.folder))

    def _saved_profile(self) -> TableProfile:
        """The saved profile; the shipped board spec when there is none or it cannot be used (which is said)."""
        config = self._config
        if config.profile:
            try:
                return load_profile(Path(config.profile))
            except CalibrationError as error:
                self._service.report(None, "profile", Message("companion.profile_unusable", (("error", str(error)),)))
        return TableProfile(load_board(config.game), camera=config.camera)

    def _open_lights(self, url: str) -> None:
        try:
            lights = open_lights(url)
            self._service.light(lights)
            self._service.report(Device("lights", url, True, Message("companion.lights_work")), "lights", None)
            for name, condition in lights.conditions().items():
                report_part(self._service, f"light {name}", condition)
        except DeviceError as error:
            words = Message("companion.lights_missing", (("url", url), ("error", str(error))))
            self._service.report(Device("lights", url, False, words), "lights", words)


class BesideTable:
    """Hears a camera over a dice tray for the service: what it says of itself is told apart from the table's camera."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def hear(self, evidence: Evidence) -> None:
        """Dice are dice, wherever they are seen."""
        self._service.hear(evidence)

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """The same under a name of its own; that a tray is seen is not worth a line."""
        shown = None if device is None or (device.name == "board" and device.ok) else device
        mine = None if shown is None else replace(shown, name=f"tray {shown.name}")
        self._service.report(mine, f"tray {name}", trouble)


def kept_corners(data: Path, camera: str) -> Corners:
    """The corners tapped in this camera's picture when the program ran before; none when there are none."""
    try:
        kept = json.loads((data / CORNERS_FILE).read_text())[camera]
        return tuple((float(x), float(y)) for x, y in kept)
    except (OSError, ValueError, TypeError, KeyError):
        return ()


def keep_corners(data: Path, camera: str, points: Corners) -> None:
    """Writes the corners down for the next start; a disk that cannot take them costs no more than tapping again."""
    part = data / f"{CORNERS_FILE}.part"
    try:
        part.write_text(json.dumps({camera: points}))
        part.replace(data / CORNERS_FILE)
    except OSError as error:
        _log.warning("the tapped corners could not be kept: %s", error)
