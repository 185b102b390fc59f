"""The child: camera, registration, stillness and reading, in a process that may break down without harm.

Raw frames stay here; readings, annotated pictures and health go to the match over the channel.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import cv2

from companion.bulletin import Device
from companion.channel import Beat, Orders, Report, Task
from companion.evidence import Seen
from companion.eyes import Eyes, RestWatch
from companion.eyes_thread import EyesThread
from companion.games.contract import Message
from companion.threads import one_matrix_thread
from devices.contract import Frame
from vision.contract import VisionError

_log = logging.getLogger(__name__)


class Parent:
    """The match's stand-in: hears and shows by sending."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._lock = threading.Lock()

    def send(self, message: Beat | Seen | Report | bytes) -> None:
        """Sends; an ended parent ends this process too."""
        try:
            with self._lock:
                self._line.send(message)
        except OSError:
            os._exit(0)

    def hear(self, evidence: Seen) -> None:
        """Evidence goes to the match."""
        self.send(evidence)

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """A device's state goes to the match."""
        self.send(Report(device, name, trouble))

    def publish_picture(self, jpeg: bytes) -> None:
        """An annotated picture goes to the bulletin."""
        self.send(jpeg)


def main(descriptor: int) -> None:
    """Works at the task that comes first over the channel until it is told to end, or its parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches both; the parent ends us in order
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s eyes %(name)s: %(message)s")
    cv2.setNumThreads(2)
    one_matrix_thread()
    line = Connection(descriptor)
    task = line.recv()
    assert isinstance(task, Task)
    parent = Parent(line)
    try:
        eyes: Eyes = (
            KeepingEyes(task, parent)
            if task.frames
            else Eyes(*_parts(task, parent), settler=_rest(task), bulletin=parent, remembers=task.remembers)
        )
    except VisionError as error:
        parent.report(None, "profile", Message("companion.profile_unusable", (("error", str(error)),)))
        _idle(line, parent)
    if task.tapped:
        eyes.tap(task.tapped)
    if task.side:
        eyes.turn_board(task.side)

    def beat() -> None:
        parent.send(Beat(eyes.working, eyes.current, eyes.latest_s, eyes.corners, eyes.readings))

    watch = EyesThread(eyes, parent, task.url, part(task.opener), beat)
    threading.Thread(target=_obey, args=(line, eyes, watch), name="orders", daemon=True).start()
    beat()
    watch.run()
    # Threads of a hanging camera library must not keep this process.
    sys.stdout.flush()
    os._exit(0)


def _idle(line: Connection, parent: Parent) -> NoReturn:
    """Lives without eyes, so that the reason stays on the screen, until the parent ends."""
    ended = False
    while not ended:
        parent.send(Beat(False, False, 0.0, (), 0))
        try:
            ended = line.poll(1.0) and line.recv().end
        except (EOFError, OSError):
            ended = True
    os._exit(0)


def _obey(line: Connection, eyes: Eyes, watch: EyesThread) -> None:
    """Carries out orders; when the parent is gone, so is this process."""
    while True:
        try:
            orders = line.recv()
        except (EOFError, OSError):
            os._exit(0)
        assert isinstance(orders, Orders)
        eyes.want(orders.want)
        if orders.agreed is not None:
            eyes.agree(*orders.agreed)
        if orders.tapped is not None:
            eyes.tap(orders.tapped)
        if orders.corner:
            eyes.turn_board(orders.corner)
        if orders.photograph:
            eyes.photograph(Path(orders.photograph))
        for keep in orders.keep:
            eyes.keep(keep)
        if orders.end:
            watch.stop()


def _parts(task: Task, parent: Parent) -> tuple[Any, Any, Parent]:
    return task.profile, part(task.reader), parent


def _rest(task: Task) -> RestWatch | None:
    return part(task.rest)() if task.rest else None


def part(dotted: str) -> Any:
    """The object that `module:attribute` names."""
    module, _, attribute = dotted.partition(":")
    return getattr(import_module(module), attribute)


class KeepingEyes(Eyes):
    """Eyes that keep the raw picture of every reading as JPEG."""

    def __init__(self, task: Task, parent: Parent) -> None:
        super().__init__(*_parts(task, parent), settler=_rest(task), bulletin=parent, remembers=task.remembers)
        self._folder = Path(task.frames)

    def look(self, frame: Frame, fit: bool = True) -> Seen | None:
        """As Eyes, and keeps the picture when it was worth a reading."""
        seen = super().look(frame, fit)
        if seen is not None:
            keep_frame(self._folder, frame)
        return seen


def keep_frame(folder: Path, frame: Frame) -> None:
    """Writes a frame under its time; a full disk loses pictures, never the game."""
    done, jpeg = cv2.imencode(".jpg", frame.bgr, [cv2.IMWRITE_JPEG_QUALITY, 95])
    if done:
        try:
            (folder / frame_name(frame.time_s)).write_bytes(jpeg.tobytes())
        except OSError as error:
            _log.warning("a picture could not be kept: %s", error)


def frame_name(time_s: float) -> str:
    """The file name of the frame taken at this time."""
    return f"{time_s:012.3f}.jpg"
