"""The eyes: camera, stillness and reader in a row; what they see goes to the service as evidence.

`look` takes one frame and is all there is to it; `EyesThread` feeds it from a real camera, tests and fast simulations
call it themselves.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import cv2

from calibration.profile import TableProfile
from companion.bulletin import Bulletin, Device
from companion.evidence import Author, Seen
from companion.games.contract import Look, Message
from companion.service import Service
from companion.words import knows
from devices.contract import DeviceError, Frame, Source
from vision.contract import Reader
from vision.reading import Reading
from vision.settler import Settler

AGAIN_S = 0.3
"""Time between readings while the match wants another one."""

IDLE_S = 10.0
"""A table at rest is read again after so long, so that old facts are checked."""

TROUBLE_S = 1.5
"""A picture without a board is trouble when it lasts so long; a hand may cover a marker for a moment."""

PICTURE_S = 1.0
"""How often a picture without a new reading is shown."""

SILENT_S = 3.0
"""A camera that gives no picture for so long is gone."""

RETRY_S = (1.0, 2.0, 5.0, 10.0)
_log = logging.getLogger(__name__)


class Eyes:
    """Frame in, evidence out; remembers what the service wants. `look` is for one thread, the rest for any."""

    def __init__(
        self,
        profile: TableProfile,
        reader_of: Callable[[TableProfile], Reader],
        service: Service,
        *,
        settler: Settler | None = None,
        bulletin: Bulletin | None = None,
        side_known: bool | None = None,
    ) -> None:
        self._profile, self._reader_of, self._service, self._bulletin = profile, reader_of, service, bulletin
        self._reader = reader_of(profile)
        self._settler = settler or Settler()
        self._author = Author("camera", profile.camera or "camera")
        tapped = bool(profile.corners_px) or profile.board.markers is None
        self._side_known = not tapped if side_known is None else side_known
        self._lock = threading.Lock()
        self._want = True
        self._agreed: tuple[int, Look] | None = None
        self._corner: str | None = None
        self._latest_s = 0.0
        self._read_s = -IDLE_S
        self._shown_s = -PICTURE_S
        self._reading: Reading | None = None
        self._bad_since_s: float | None = None
        self._open = False
        self._rested = False
        self.readings = 0

    @property
    def working(self) -> bool:
        """True while pictures come and the board is in them."""
        return self._open and self._bad_since_s is None and self._reading is not None

    @property
    def current(self) -> bool:
        """True while the table is at rest and the last reading shows it."""
        return self.working and self._rested

    @property
    def latest_s(self) -> float:
        """Frame time of the newest picture."""
        return self._latest_s

    @property
    def corners(self) -> tuple[str, ...]:
        """The corners among which the first player's left one must be named; empty when that is known."""
        return () if self._side_known else self._profile.board.corner_names

    def want(self, soon: bool) -> None:
        """Whether to read again although nothing moved."""
        self._want = soon

    def agree(self, frame_number: int, look: Look) -> None:
        """Passes on what the table agreed on, if that picture is still the one read last."""
        with self._lock:
            self._agreed = (frame_number, look)

    def turn_board(self, corner: str) -> None:
        """From the next picture on, this tapped corner counts as the first one of the board spec."""
        with self._lock:
            self._corner = corner

    def gone(self) -> None:
        """Notes that no pictures come any more."""
        self._open = False

    def look(self, frame: Frame) -> Seen | None:
        """The evidence of this picture, if it was worth a reading and its board was found; also shows it."""
        self._hear_service()
        self._open = True
        self._latest_s = frame.time_s
        stillness = self._settler.feed(frame)
        since_s = frame.time_s - self._read_s
        again_s = AGAIN_S if self._want or self._bad_since_s is not None else IDLE_S
        seen = None
        if stillness.fresh or (stillness.state == "still" and not 0.0 <= since_s < again_s):
            seen = self._read(frame)
        self._rested = stillness.state == "still" and (seen is not None or self._rested)
        if self._bulletin is not None and (seen is not None or frame.time_s - self._shown_s >= PICTURE_S):
            self._show(frame)
        return seen

    def _hear_service(self) -> None:
        with self._lock:
            agreed, corner = self._agreed, self._corner
            self._agreed = self._corner = None
        if agreed is not None and self._reading is not None and agreed[0] == self._reading.frame_number:
            self._reader.agree(agreed[1])
        if corner is not None and self._profile.corners_px and corner in self._profile.board.corner_names:
            first = self._profile.board.corner_names.index(corner)
            corners = self._profile.corners_px
            self._profile = replace(self._profile, corners_px=corners[first:] + corners[:first])
            self._reader = self._reader_of(self._profile)
            self._side_known, self._want, self._read_s = True, True, -IDLE_S

    def _read(self, frame: Frame) -> Seen | None:
        reading = self._reader.read(frame)
        self._reading, self._read_s = reading, frame.time_s
        self.readings += 1
        if not reading.board_found or not reading.facts:
            if self._bad_since_s is None:
                self._bad_since_s = frame.time_s
            if frame.time_s - self._bad_since_s >= TROUBLE_S or not self.readings:
                self._report(reading.troubles[0] if reading.troubles else "vision.no_board")
            return None
        self._bad_since_s = None
        if reading.troubles:
            self._report(reading.troubles[0])
            return None
        self._report(None)
        return Seen(reading, f"f{frame.number}", self._author)

    def _report(self, trouble: str | None) -> None:
        words = None if trouble is None else Message(trouble if knows(trouble) else "vision.other", (("id", trouble),))
        state = words or Message("companion.board_seen")
        device = Device("board", self._profile.camera, words is None, state)
        self._service.report(device, "board", words)

    def _show(self, frame: Frame) -> None:
        self._shown_s = frame.time_s
        image = frame.bgr if self._reading is None else self._reader.draw(frame.bgr, self._reading)
        height, width = image.shape[:2]
        if width > 1280:
            image = cv2.resize(image, (1280, round(height * 1280 / width)), interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
        done, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
        if done and self._bulletin is not None:
            self._bulletin.publish_picture(jpeg.tobytes())


class EyesThread:
    """Feeds the eyes from a camera, opens it again when it is gone, and says so while it lasts."""

    def __init__(self, eyes: Eyes, service: Service, url: str, opener: Callable[[str], Source[Frame]]) -> None:
        self._eyes, self._service, self._url, self._opener = eyes, service, url, opener
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="eyes", daemon=True)

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def stop(self) -> None:
        """Ends; returns when the camera is closed."""
        self._stop.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        tries = 0
        while not self._stop.is_set():
            try:
                camera = self._opener(self._url)
            except DeviceError as error:
                self._lost("companion.camera_missing", error)
            else:
                try:
                    if self._watch(camera):
                        tries = 0
                except DeviceError as error:
                    self._lost("companion.camera_gone", error)
                except Exception as error:
                    _log.exception("the eyes failed on a picture")
                    self._lost("companion.eyes_failed", error)
                finally:
                    camera.close()
            self._stop.wait(RETRY_S[min(tries, len(RETRY_S) - 1)])
            tries += 1

    def _watch(self, camera: Source[Frame]) -> bool:
        last_s, any_frame = time.monotonic(), False
        while not self._stop.is_set():
            frame = camera.read(0.5)
            now_s = time.monotonic()
            if frame is None:
                if now_s - last_s > SILENT_S:
                    self._lost("companion.camera_silent", None)
                    return any_frame
                continue
            if not any_frame:
                any_frame = True
                self._service.report(
                    Device("camera", self._url, True, Message("companion.camera_works")), "camera", None
                )
            last_s = now_s
            seen = self._eyes.look(frame)
            if seen is not None:
                self._service.hear(seen)
        return any_frame

    def _lost(self, message_id: str, error: Exception | None) -> None:
        self._eyes.gone()
        values: Mapping[str, str] = {"url": self._url, "error": str(error or "")}
        words = Message(message_id, tuple(values.items()))
        self._service.report(Device("camera", self._url, False, words), "camera", words)
