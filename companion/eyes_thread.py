"""The eyes at a real camera: opened again whenever it is gone, and what it lacks said while it lasts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from companion.bulletin import Device
from companion.eyes import Eyes, Hearer
from companion.games.contract import Message
from devices.capture import Told
from devices.contract import Condition, Frame, Source
from devices.supervised import Supervised

WAIT_S = 0.25
"""How long one wait for a picture lasts."""

_log = logging.getLogger(__name__)


class EyesThread:
    """Feeds the eyes from a camera that is opened again whenever it is gone, and says what it lacks while it lasts.

    `run` does it in the caller's thread until `stop`; `beat` is called after every look or short wait for a picture.
    """

    def __init__(
        self,
        eyes: Eyes,
        service: Hearer,
        url: str,
        opener: Callable[[str], Source[Frame]],
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self._eyes, self._service, self._url, self._opener, self._beat = eyes, service, url, opener, beat
        self._told: Condition | None = None
        self._failed = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.run, name="eyes", daemon=True)

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def stop(self) -> None:
        """Ends; returns when the camera is closed."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(10.0)

    def run(self) -> None:
        """Looks until `stop`."""
        anywhere = self._eyes.finds_board_anywhere
        camera = Supervised(self._opened, self._url, anywhere=anywhere)
        try:
            while not self._stop.is_set():
                frame = camera.read(WAIT_S)
                self._say(camera.condition)
                if camera.away:
                    self._eyes.gone()
                if frame is not None:
                    self._look(frame, camera)
                self._beat()
        finally:
            camera.close()

    def _opened(self) -> Source[Frame]:
        source = self._opener(self._url)
        self._eyes.fed = isinstance(source, Told)
        if isinstance(source, Told):
            source.on_frame = self._eyes.remember
        return source

    def _look(self, frame: Frame, camera: Supervised) -> None:
        try:
            seen = self._eyes.look(frame, camera.fit)
        except Exception as error:
            _log.exception("the eyes failed on a picture")
            self._eyes.gone()
            words = Message("companion.eyes_failed", (("url", self._url), ("error", str(error))))
            self._service.report(Device("eyes", self._url, False, words), "eyes", words)
            self._failed = True
            self._stop.wait(1.0)
            return
        if self._failed:
            self._failed = False
            self._service.report(None, "eyes", None)
        if seen is not None:
            if self._eyes.finds_board_anywhere:
                camera.accept()
            self._service.hear(seen)

    def _say(self, condition: Condition) -> None:
        if condition == self._told:
            return
        self._told = condition
        report_camera(self._service, self._url, condition)


def report_camera(service: Hearer, url: str, condition: Condition) -> None:
    """Tells how the camera is: on the health panel, and as a trouble while something is wrong."""
    words = Message(condition.message, condition.values)
    service.report(Device("camera", url, condition.ok, words), "camera", None if condition.ok else words)
