"""A serial device at the table: its presses become commands, its dice become evidence, its lights show the signal."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from companion.bulletin import Device
from companion.evidence import Author, Rolled
from companion.games.contract import Message
from companion.service import Service
from devices.contract import Condition, DeviceError, DieReport, Press
from devices.serial_box import BoxEvent, SerialBox, open_box

_log = logging.getLogger(__name__)

IDENTITY_FILE = "identity.txt"
POLL_S = 0.2


class BoxThread:
    """Keeps one serial device in the game; the identity of the first that answers is kept in the data folder, so that
    another device is never taken for it."""

    def __init__(self, service: Service, url: str, data: Path, lights: bool, name: str = "box") -> None:
        self._service, self._url, self._name = service, url, name
        self._file = data / f"{name}-{IDENTITY_FILE}"
        self._buttons = False
        self._lights = lights
        self._reported: Condition | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begins to look for the device; one that is missing is said and looked for all the time."""
        self._thread.start()

    def stop(self) -> None:
        """Ends; returns when the port is free."""
        self._stop.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        try:
            known = self._file.read_text(encoding="utf-8").strip() if self._file.exists() else ""
            box = open_box(self._url, known)
        except (DeviceError, OSError) as error:
            values = (("key", self._name), ("url", self._url), ("error", str(error)))
            words = Message("companion.box_unusable", values)
            self._service.report(Device(self._name, self._url, False, words), self._name, words)
            return
        if self._lights:
            self._service.light(box)
        try:
            while not self._stop.is_set():
                self._tell(box)
                event = box.read(POLL_S)
                if event is not None:
                    self._take(event)
        finally:
            box.close()

    def _tell(self, box: SerialBox) -> None:
        """Reports the device's condition when it has changed."""
        condition = box.condition
        if condition == self._reported:
            return
        self._reported = condition
        words = Message(condition.message, condition.values)
        device = Device(self._name, self._url, condition.ok, words)
        self._service.report(device, self._name, None if condition.ok else words)
        about = box.about
        buttons = box.working and about is not None and "buttons" in about.capabilities
        if buttons != self._buttons:  # a device without buttons says nothing of those of another
            self._buttons = buttons
            self._service.has_buttons(buttons)
        if condition.ok and about is not None and not self._file.exists():
            self._file.write_text(about.identity + "\n", encoding="utf-8")

    def _take(self, event: BoxEvent) -> None:
        if isinstance(event, Press):
            press(self._service, event.button)
        elif isinstance(event, DieReport) and event.fresh:
            hear_die(self._service, event)


def hear_die(service: Service, report: DieReport) -> None:
    """A settled die is evidence; a cocked one is said until it rolls again; a rolling one is nothing yet."""
    cocked = Message("rolls.cocked", (("die", report.die),)) if report.phase == "cocked" else None
    service.report(None, f"die {report.die}", cocked)
    if report.phase == "settled" and report.value is not None:
        author = Author("die", report.die)
        service.hear(Rolled(report.die, report.value, author, report.faces, report.time_s))


def press(service: Service, button: str) -> None:
    """What a pressed button means: `done1` ends the first player's turn, `takeback` and `referee` are what they say."""
    if button.startswith("done"):
        player = int(button[4:]) - 1 if button[4:].isdigit() else None
        service.submit("done", {}, Author("button", button, player))
    elif button in ("takeback", "referee"):
        service.submit(button, {}, Author("button", button))
    else:
        _log.warning("the button %s has no meaning", button)
