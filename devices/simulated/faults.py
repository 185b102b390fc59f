"""A camera with faults: the frames of a source, spoilt as the running faults say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from devices.capture import GARBLED_S, DeviceGarbled
from devices.contract import DeviceGone, Frame, Image, Source
from devices.faults import Fault, Running

WALK_S = 2.5
"""Period of a walking exposure."""


def open_faulty(opener: Callable[[], Source[Frame]], faults: Running) -> Source[Frame]:
    """Opens a camera with faults; raises DeviceGone while it is unplugged."""
    if faults.of("camera.unplugged") is not None:
        raise DeviceGone("sim://table: the camera is not plugged in")
    return FaultyCamera(opener(), faults)


class FaultyCamera:
    """A `Source` of frames in the shape of the one behind it, with the faults of a camera."""

    def __init__(self, source: Source[Frame], faults: Running) -> None:
        self._source, self._faults = source, faults
        self._given = 0
        self._given_s = -math.inf
        self._held: Image | None = None
        self._spoilt_since_s: float | None = None
        self._swapped = faults.of("camera.swapped") is not None
        self._shift = self._shift_before = (0.0, 0.0)
        self._bumps: list[Fault] = []
        self._rng = np.random.default_rng(1)

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame with what is wrong with it; None or DeviceGone as the faults will have it."""
        if self._faults.of("camera.unplugged") is not None:
            raise DeviceGone("sim://table: the camera was unplugged")
        if (self._faults.of("camera.swapped") is not None) != self._swapped:
            raise DeviceGone("sim://table: the camera was unplugged")
        frame = self._source.read(timeout_s)
        if frame is None or self._faults.of("camera.silent") is not None:
            return None
        slow = self._faults.of("camera.slow")
        if slow is not None and frame.time_s - self._given_s < slow.strength:
            return None
        picture = self._spoilt(frame)
        if picture is None:
            return None
        self._given += 1
        self._given_s = frame.time_s
        late = self._faults.of("camera.late")
        time_s = frame.time_s if late is None else frame.time_s - late.strength
        picture.flags.writeable = False
        return replace(frame, bgr=picture, number=self._given, time_s=time_s, jpeg=b"")

    def close(self) -> None:
        """Closes the camera behind."""
        self._source.close()

    def _spoilt(self, frame: Frame) -> Image | None:
        """The picture as the faulty camera gives it; None for one that cannot be decoded."""
        if self._faults.of("camera.frozen") is not None:
            if self._held is None:
                self._held = frame.bgr
            return self._held.copy()
        self._held = None
        picture = self._bumped(frame.bgr)  # where the camera looks comes before what it makes of it
        for running in self._faults.now():
            work = _WORKS.get(running.kind)
            if work is not None:
                picture = work(picture, running, self._faults.age_s(running))
        garbled = self._faults.of("camera.garbled")
        if garbled is None:
            self._spoilt_since_s = None
            return picture.copy() if picture is frame.bgr else picture
        return self._garbled(picture, garbled, frame.time_s)

    def _bumped(self, picture: Image) -> Image:
        """The picture of a camera that was knocked: it swings while the fault runs, and stays shifted after it; every
        knock goes another way."""
        running = self._faults.of("camera.bump")
        if running is not None:
            if running not in self._bumps:
                self._bumps.append(running)
                self._shift_before = self._shift
            age_s, way = self._faults.age_s(running), 2.4 * len(self._bumps)
            swing = running.strength * (1 - math.exp(-3 * age_s) * math.cos(2 * math.pi * 3 * age_s))
            x, y = self._shift_before
            self._shift = (x + swing * math.cos(way), y + swing * math.sin(way))
        if self._shift == (0.0, 0.0):
            return picture
        height, width = picture.shape[:2]
        move = np.array([[1, 0, self._shift[0]], [0, 1, self._shift[1]]], np.float32)
        moved = cv2.warpAffine(picture, move, (width, height), borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(moved, np.uint8)

    def _garbled(self, picture: Image, running: Fault, time_s: float) -> Image | None:
        _, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 85])
        data = jpeg.ravel().copy()
        count = max(1, int(len(data) * running.strength))
        places = self._rng.integers(700, len(data), count)  # after the tables: what a bad cable does to a long stream
        data[places] = self._rng.integers(0, 256, count)
        decoded = cv2.imdecode(data, cv2.IMREAD_COLOR)
        if decoded is not None and decoded.shape == picture.shape:
            self._spoilt_since_s = None
            return np.asarray(decoded, np.uint8)
        if self._spoilt_since_s is None:
            self._spoilt_since_s = time_s
        if time_s - self._spoilt_since_s > GARBLED_S:
            raise DeviceGarbled("sim://table: no whole picture")
        return None


def _black(picture: Image, running: Fault, age_s: float) -> Image:
    return np.asarray(picture % 3, np.uint8)


def _size(picture: Image, running: Fault, age_s: float) -> Image:
    scale = running.strength
    return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


def _colour(picture: Image, running: Fault, age_s: float) -> Image:
    return _scaled(picture, (1 + running.strength, 1.0, 1 - running.strength))


def _exposure(picture: Image, running: Fault, age_s: float) -> Image:
    gain = 1 + running.strength * math.sin(2 * math.pi * age_s / WALK_S)
    return _scaled(picture, (gain, gain, gain))


def _flicker(picture: Image, running: Fault, age_s: float) -> Image:
    rows = np.arange(picture.shape[0]) / picture.shape[0]
    bands = 1 + running.strength * np.sin(2 * np.pi * (4.5 * rows + 3.7 * age_s))
    return np.asarray(np.clip(picture * bands[:, None, None], 0, 255), np.uint8)


def _half(picture: Image, running: Fault, age_s: float) -> Image:
    torn = picture.copy()
    torn[int(picture.shape[0] * 0.55) :] = 128
    return torn


def _mirrored(picture: Image, running: Fault, age_s: float) -> Image:
    return np.ascontiguousarray(picture[:, ::-1])


def _swapped(picture: Image, running: Fault, age_s: float) -> Image:
    """Another camera's picture: a corner of a room, with this camera's noise."""
    rng = np.random.default_rng(77)
    rough = rng.integers(30, 220, (9, 16, 3)).astype(np.uint8)
    room = cv2.resize(rough, (picture.shape[1], picture.shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.addWeighted(room, 0.95, picture, 0.05, 0), np.uint8)


def _scaled(picture: Image, bgr: tuple[float, float, float]) -> Image:
    table = np.clip(np.arange(256)[:, None] * np.array(bgr), 0, 255).astype(np.uint8).reshape(256, 1, 3)
    return np.asarray(cv2.LUT(picture, table), np.uint8)


_WORKS: dict[str, Callable[[Image, Fault, float], Image]] = {
    "camera.black": _black,
    "camera.size": _size,
    "camera.colour": _colour,
    "camera.exposure": _exposure,
    "camera.flicker": _flicker,
    "camera.half": _half,
    "camera.mirrored": _mirrored,
    "camera.swapped": _swapped,
}
