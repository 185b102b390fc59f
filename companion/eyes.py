"""The eyes: stillness and reader in a row; what they see goes to the service as evidence.

`look` takes one frame and is all there is to it; `companion.eyes_thread` feeds it from a real camera, tests and fast
simulations call it themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import cv2

from calibration.profile import Board, Point, TableProfile
from companion.bulletin import Device
from companion.commands import Corners
from companion.evidence import Author, Seen
from companion.footage import Footage, Keep, write_picture
from companion.games.contract import Look, Message
from companion.words import knows
from devices.contract import Frame, Image
from vision.contract import Reader
from vision.reading import Fact, Reading
from vision.settler import Settler, Stillness

AGAIN_S = 0.3
"""Time between readings while the match wants another one."""

IDLE_S = 10.0
"""A table at rest is read again after so long, so that old facts are checked."""

TROUBLE_S = 1.5
"""A picture without a board is trouble when it lasts so long; a hand may cover a marker for a moment."""

PICTURE_S = 1.0
"""How often a picture without a new reading is shown."""

SHAKEN_SHARE = 0.17
"""When more of the picture than this changes at once, camera or board have been knocked, or the light has changed."""

STILL_NATS = 1.0
"""A hidden place whose likelihoods have changed by less than this looks as it did."""

COVERED_S = 30.0
"""So long the eyes count as working although the board cannot be seen: something is before the lens and will go."""

LEAST_CORNER = 0.005
"""Twice the area, as a part of the picture, of the least triangle that three corners of a board may make."""


class Hearer(Protocol):
    """Who is told what is seen and how the devices are; the service, or its stand-in in another process."""

    def hear(self, evidence: Seen) -> None:
        """Evidence, without waiting for what comes of it."""

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """A device's state and what is wrong with it."""


class RestWatch(Protocol):
    """What tells rest from motion; `vision.settler.Settler`, or a watch that knows more of one kind of table."""

    def feed(self, frame: Frame) -> Stillness:
        """The state after this frame."""


@runtime_checkable
class Telling(RestWatch, Protocol):
    """A watch that can also say what is going on."""

    @property
    def device(self) -> str:
        """What is watched, a name on the health panel."""

    @property
    def told(self) -> str:
        """The catalogue id of what goes on now."""


class Gallery(Protocol):
    """Where the annotated pictures go."""

    def publish_picture(self, jpeg: bytes) -> None:
        """Replaces the picture shown."""


class Eyes:
    """Frame in, evidence out; remembers what the service wants. `look` is for one thread, the rest for any."""

    def __init__(
        self,
        profile: TableProfile,
        reader_of: Callable[[TableProfile], Reader],
        service: Hearer,
        *,
        settler: RestWatch | None = None,
        bulletin: Gallery | None = None,
        side_known: bool | None = None,
        remembers: bool = True,
    ) -> None:
        """`remembers`: clips of the last minute can be asked for, where pictures are shown at all."""
        self._profile, self._reader_of, self._service, self._bulletin = profile, reader_of, service, bulletin
        self._reader = reader_of(profile)
        self._settler: RestWatch = settler or Settler()
        self._author = Author("camera", profile.camera or "camera")
        tapped = bool(profile.corners_px) or profile.board.markers is None
        self._side_known = not tapped if side_known is None else side_known
        self._lock = threading.Lock()
        self._want = True
        self._agreed: tuple[int, Look] | None = None
        self._corner: str | None = None
        self._tapped: Corners | None = None
        self._photograph: Path | None = None
        self._given_profile = profile
        self._latest_s = 0.0
        self._read_s = -IDLE_S
        self._shown_s = -PICTURE_S
        self._reading: Reading | None = None
        self._calm: Mapping[str, Fact] = {}
        self._told = ""
        self._bad_since_s: float | None = None
        self._open = False
        self._notice: str | None = None
        self._rested = self._troubled = self._shaken = False
        self._footage = Footage() if remembers and bulletin is not None else None
        self.fed = False
        """True while the camera itself tells of every picture; else those that are looked at are remembered."""
        self.readings = 0

    @property
    def working(self) -> bool:
        """True while pictures come and the board is in them, or was a moment ago."""
        blind_s = 0.0 if self._bad_since_s is None else self._latest_s - self._bad_since_s
        return self._open and self._reading is not None and blind_s < COVERED_S

    @property
    def current(self) -> bool:
        """True while the table is at rest and the last reading shows it."""
        return self.working and self._rested and self._bad_since_s is None

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

    @property
    def corner_names(self) -> tuple[str, ...]:
        """The names of the board's corners, in the order in which they are tapped."""
        return self._profile.board.corner_names

    def tap(self, points: Corners) -> Message | None:
        """From the next picture on the board's corners lie at these parts of the picture's width and height, in the
        order of `corner_names` (none: where the profile says). Why they cannot be taken, in words."""
        why = refused_corners(self._profile.board, points)
        if why is None:
            with self._lock:
                self._tapped = points
        return why

    def remember(self, frame: Frame) -> None:
        """Notes a picture for a clip that somebody may ask for."""
        if self._footage is not None:
            self._footage.add(frame)

    def keep(self, keep: Keep) -> None:
        """Has a clip written of what is remembered."""
        if self._footage is not None:
            self._footage.keep(keep)

    def photograph(self, file: Path) -> None:
        """Has the next picture written to a file, as the camera gives it."""
        with self._lock:
            self._photograph = file

    def gone(self) -> None:
        """Notes that no pictures come any more."""
        self._open = False
        if self._footage is not None:
            self._footage.flush()

    @property
    def finds_board_anywhere(self) -> bool:
        """True when the board carries markers, so that a camera may stand anywhere; False with tapped corners."""
        return self._profile.board.markers is not None and not self._profile.corners_px

    def look(self, frame: Frame, fit: bool = True) -> Seen | None:
        """The evidence of this picture, if it was worth a reading and its board was found; also shows it. A picture
        that is not `fit` (frozen, torn, another camera's) is shown, but nothing is concluded from it."""
        self._hear_service(frame)
        if not self.fed:
            self.remember(frame)
        if not fit:
            self._open = self._rested = False
            if self._bulletin is not None and frame.time_s - self._shown_s >= PICTURE_S:
                self._shown_s = frame.time_s
                self._publish(frame.bgr)
            return None
        self._open = True
        self._latest_s = frame.time_s
        stillness = self._settler.feed(frame)
        if isinstance(self._settler, Telling) and self._settler.told != self._told:
            self._told = self._settler.told
            self._service.report(Device(self._settler.device, "", True, Message(self._told)), "watch", None)
        self._shaken = self._shaken or stillness.share > SHAKEN_SHARE
        since_s = frame.time_s - self._read_s
        again_s = AGAIN_S if self._want or self._bad_since_s is not None or self._troubled else IDLE_S
        seen = None
        if stillness.fresh or (stillness.state == "still" and not 0.0 <= since_s < again_s):
            seen = self._read(frame)
        elif self._shaken and not 0.0 <= since_s < AGAIN_S:
            self._read(frame)  # only to notice what has become of the board: a table in motion is not judged
        self._rested = stillness.state == "still" and (seen is not None or self._rested)
        if self._bulletin is not None and (seen is not None or frame.time_s - self._shown_s >= PICTURE_S):
            self._show(frame)
        return seen

    def _hear_service(self, frame: Frame) -> None:
        with self._lock:
            agreed, corner, tapped, photograph = self._agreed, self._corner, self._tapped, self._photograph
            self._agreed = self._corner = self._tapped = self._photograph = None
        if photograph is not None:
            write_picture(photograph, frame)
        if agreed is not None and self._reading is not None and agreed[0] == self._reading.frame_number:
            self._reader.agree(agreed[1])
            self._calm = self._reading.facts
        # The corners are where the board was last found: by its own print, or after a knock since they were tapped.
        corners = (() if self._reading is None else self._reading.board_px) or self._profile.corners_px
        if corner is not None and not self._side_known and corners and corner in self._profile.board.corner_names:
            first = self._profile.board.corner_names.index(corner)
            self._look_anew(replace(self._profile, corners_px=corners[first:] + corners[:first]))
        if tapped is not None:
            height, width = frame.bgr.shape[:2]
            corners_px = tuple((x * width, y * height) for x, y in tapped)
            self._look_anew(self._given_profile.with_corners(corners_px) if tapped else self._given_profile)

    def _look_anew(self, profile: TableProfile) -> None:
        """Reads by this profile from now on, of which it is known which corner is the first player's left one."""
        self._profile, self._reader = profile, self._reader_of(profile)
        self._side_known, self._want, self._read_s = True, True, -IDLE_S

    def _read(self, frame: Frame) -> Seen | None:
        reading = self._reader.read(frame)
        self._reading, self._read_s, self._troubled = reading, frame.time_s, bool(reading.troubles)
        self._shaken = False
        self.readings += 1
        if not reading.board_found or (self.corner_names and not reading.facts):
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
        notice = next(iter(reading.notices), None)
        if notice != self._notice:
            self._notice = notice
            self._service.report(None, "pieces", None if notice is None else _words(notice))
        still = frozenset(key for key, fact in reading.facts.items() if fact.blank and self._as_before(key, fact))
        return Seen(replace(reading, still=still), f"f{frame.number}", self._author)

    def _as_before(self, key: str, fact: Fact) -> bool:
        """Whether a blank fact's part of the picture looks as when the table was last agreed on."""
        old = self._calm.get(key)
        if old is None or not old.blank or old.values != fact.values:
            return False
        return all(abs(a - b) < STILL_NATS for a, b in zip(old.log_likelihoods, fact.log_likelihoods, strict=True))

    def _report(self, trouble: str | None) -> None:
        words = None if trouble is None else _words(trouble)
        state = words or Message("companion.board_seen")
        device = Device("board", self._profile.camera, words is None, state)
        self._service.report(device, "board", words)

    def _show(self, frame: Frame) -> None:
        self._shown_s = frame.time_s
        self._publish(frame.bgr if self._reading is None else self._reader.draw(frame.bgr, self._reading))

    def _publish(self, image: Image) -> None:
        height, width = image.shape[:2]
        if width > 1280:
            image = cv2.resize(image, (1280, round(height * 1280 / width)), interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
        done, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
        if done and self._bulletin is not None:
            self._bulletin.publish_picture(jpeg.tobytes())


def _words(told: str) -> Message:
    """What a reading tells, in words."""
    return Message(told if knows(told) else "vision.other", (("id", told),))


def refused_corners(board: Board, points: Corners) -> Message | None:
    """Why these parts of a picture cannot be the board's corners in their order; None when they can."""
    if not points:
        return None if board.markers is not None else Message("companion.corners_needed")
    if len(points) != 4 or not all(0 <= part <= 1 for point in points for part in point):
        return Message("companion.corners_four")
    areas = [_turn(*corners) for corners in zip(points, points[1:] + points[:1], points[2:] + points[:2], strict=True)]
    if min(abs(area) for area in areas) < LEAST_CORNER or len({area > 0 for area in areas}) > 1:
        return Message("companion.corners_crossed")
    # Millimetres count away from the first player and pixels downwards, so a board seen from above goes the other way.
    seen_from_above = (areas[0] > 0) != (_turn(*board.corners_mm[:3]) > 0)
    return None if seen_from_above else Message("companion.corners_backwards", (("first", board.corner_names[0]),))


def _turn(a: Point, b: Point, c: Point) -> float:
    """Twice the area of a triangle, with the sign of the way round it."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
