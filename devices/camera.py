"""Cameras by URL.

    file:///path            a picture, a folder of pictures, a video; ?rate=10 ?loop=1
    v4l2:///dev/video0      a USB camera; v4l2://by-id/NAME finds it again at any port; ?size=1280x720&fps=30
                            exposure, white balance and focus are held once settled, unless ?lock=0
    picam://0               a Pi camera through the system's picamera2; ?size=1280x720
    rtsp://..., http://...  a network camera (RTSP, or a stream of JPEGs)

`sim://` tables are objects, made by whoever simulates, and hand out their camera themselves.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

import cv2
import numpy as np

from devices.capture import Capture, CaptureSource
from devices.clock import SYSTEM_CLOCK
from devices.contract import BadAddressError, Clock, DeviceError, DeviceGone, Frame, Source
from devices.files import FileSource
from devices.usb_controls import load_kept, lock, save_kept

OPEN_TIMEOUT_MS, READ_TIMEOUT_MS = 4000, 3000
BY_ID = Path("/dev/v4l/by-id")
KEPT = Path.home() / ".local" / "share" / "tabletop-companion" / "cameras.json"
"""Settings of USB cameras, by URL; delete the file to let them be found anew."""
_MJPG = cv2.VideoWriter.fourcc(*"MJPG")
_OWN_KEYS = frozenset({"size", "fps", "rate", "loop", "lock"})
_log = logging.getLogger(__name__)


def open_camera(url: str, clock: Clock = SYSTEM_CLOCK) -> Source[Frame]:
    """The camera at `url`. Raises BadAddressError for an address that cannot be understood or names nothing, DeviceGone
    for a camera that is not there now (trying again later may help), DeviceError for missing software."""
    parts = urlsplit(url)
    options = {k: v[-1] for k, v in parse_qs(parts.query).items()}
    if parts.scheme == "file":
        path = Path(unquote(parts.netloc + parts.path))
        return FileSource(path, url, clock, _number(url, options, "rate"), options.get("loop", "0") not in ("", "0"))
    opener = _OPENERS.get(parts.scheme)
    if opener is None:
        known = ", ".join(f"{s}://" for s in ("file", *_OPENERS))
        raise BadAddressError(f"{url!r} is no address of a camera; known kinds: {known}")
    capture = opener(url, unquote(parts.netloc + parts.path), options)
    settled = _locker(url, capture) if parts.scheme == "v4l2" and options.get("lock", "1") != "0" else None
    return CaptureSource(capture, url, clock, settled=settled)


def _locker(url: str, capture: Any) -> Callable[[], None]:
    """Holds a USB camera's automatics at the values kept for it, or at those that it has settled on."""

    def settled() -> None:
        file = KEPT
        kept = load_kept(file).get(url)
        done = lock(capture, kept)
        if done.refused or not done.steady:
            _log.warning("%s does not hold %s; its picture may wander", url, ", ".join(done.refused) or "still")
        if kept is None and done.values and not done.refused and done.steady:
            save_kept(file, url, done.values)

    return settled


def find_v4l2(url: str, name: str, by_id: Path = BY_ID) -> int:
    """The number N of the /dev/videoN that `name` (`by-id/...` or a device path) means now."""
    if name.startswith("by-id/"):
        wanted = name.removeprefix("by-id/")
        found = sorted(by_id.glob("*-video-index0")) if by_id.is_dir() else []
        # index1 and up of the same camera carry no pictures
        node = next((p for p in found if p.name in (wanted, f"{wanted}-video-index0")), None)
        if node is None:
            there = ", ".join(p.name for p in found) or "none"
            raise DeviceGone(f"{url}: this camera is not plugged in; cameras found: {there}")
    else:
        node = Path(name)
        if not node.exists():
            raise DeviceGone(f"{url}: there is no {node}; plug the camera in, or name it by-id")
    number = node.resolve().name.removeprefix("video")
    if not number.isdigit():
        raise BadAddressError(f"{url!r}: {node} is no video device; use v4l2:///dev/videoN or v4l2://by-id/NAME")
    return int(number)


def _v4l2(url: str, name: str, options: Mapping[str, str]) -> Capture:
    os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2")  # seconds; OpenCV reads it at the first capture
    capture = cv2.VideoCapture(find_v4l2(url, name), cv2.CAP_V4L2)
    if not capture.isOpened():
        raise DeviceGone(
            f"{url}: the camera cannot be opened; another program may use it, or the group video is missing"
        )
    width, height = _size(url, options)
    capture.set(cv2.CAP_PROP_FOURCC, _MJPG)  # first: it decides which sizes and rates exist
    capture.set(cv2.CAP_PROP_FRAME_WIDTH, width)
    capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height)
    capture.set(cv2.CAP_PROP_FPS, _number(url, options, "fps") or 30.0)
    if int(capture.get(cv2.CAP_PROP_FOURCC)) == _MJPG and capture.set(cv2.CAP_PROP_CONVERT_RGB, 0):
        return JpegCapture(capture)
    return capture


def _network(url: str, name: str, options: Mapping[str, str]) -> Capture:
    parts = urlsplit(url)
    kept = "&".join(p for p in parts.query.split("&") if p and p.split("=")[0] not in _OWN_KEYS)
    address = urlunsplit((parts.scheme, parts.netloc, parts.path, kept, parts.fragment))
    timeouts = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPEN_TIMEOUT_MS, cv2.CAP_PROP_READ_TIMEOUT_MSEC, READ_TIMEOUT_MS]
    # Only as constructor parameters of this one back end are the timeouts obeyed.
    capture = cv2.VideoCapture(address, cv2.CAP_FFMPEG, timeouts)
    if not capture.isOpened():
        raise DeviceGone(f"{url}: no stream answers there; check the address and that the camera is on this network")
    return capture


class JpegCapture:
    """A USB camera that sends JPEG, of which the bytes are kept beside the picture; decoded here as OpenCV would."""

    def __init__(self, capture: Any) -> None:
        self._capture = capture
        self.jpeg = b""

    def read(self) -> tuple[bool, Any]:
        """As `cv2.VideoCapture.read`: whether a picture has come, and the picture (None when it cannot be decoded)."""
        done, sent = self._capture.read()
        self.jpeg = b""
        if not done or not isinstance(sent, np.ndarray) or sent.size != max(sent.shape):
            return done, sent
        picture = cv2.imdecode(sent.reshape(-1), cv2.IMREAD_COLOR) if sent.size else None
        if picture is not None:
            self.jpeg = sent.tobytes()
        return True, picture

    def get(self, prop: int) -> float:
        """A property of the camera."""
        return float(self._capture.get(prop))

    def set(self, prop: int, value: float) -> bool:
        """Sets a property of the camera; False when it does not take it."""
        return bool(self._capture.set(prop, value))

    def release(self) -> None:
        """Lets the camera go."""
        self._capture.release()


class _PiCapture:
    """A Pi camera in the shape of a capture object."""

    def __init__(self, camera: Any) -> None:
        self._camera = camera

    def read(self) -> tuple[bool, Any]:
        return True, self._camera.capture_array("main")

    def release(self) -> None:
        self._camera.stop()
        self._camera.close()


def _picam(url: str, name: str, options: Mapping[str, str]) -> Capture:
    try:
        from picamera2 import Picamera2
    except ImportError as error:
        raise DeviceError(
            f"{url}: the system's picamera2 is missing: sudo apt install python3-picamera2, and use a virtual "
            f"environment made with /usr/bin/python3 -m venv --system-site-packages ({error})"
        ) from error
    number = name.strip("/") or "0"
    if not number.isdigit():
        raise BadAddressError(f"{url!r}: a Pi camera is picam://0 or picam://1")
    try:
        camera = Picamera2(int(number))
        # The library's "RGB888" lies in memory as blue, green, red.
        main = {"size": _size(url, options), "format": "RGB888"}
        camera.configure(camera.create_video_configuration(main=main))
        camera.start()
    except Exception as error:  # libcamera raises RuntimeError, IndexError and others, all meaning: not there
        raise DeviceGone(f"{url}: the Pi camera does not start ({error}); check its ribbon cable") from error
    return _PiCapture(camera)


def pi_cameras() -> list[dict[str, Any]]:
    """What the system's picamera2 knows of its cameras (`Num`, `Model`, `Id`); empty without that library."""
    if find_spec("picamera2") is None:
        return []
    from picamera2 import Picamera2

    return list(Picamera2.global_camera_info())


_OPENERS: dict[str, Callable[[str, str, Mapping[str, str]], Capture]] = {
    "v4l2": _v4l2,
    "picam": _picam,
    "rtsp": _network,
    "http": _network,
    "https": _network,
}


def _size(url: str, options: Mapping[str, str]) -> tuple[int, int]:
    width, _, height = options.get("size", "1280x720").partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise BadAddressError(f"{url!r}: size must look like 1280x720")
    return int(width), int(height)


def _number(url: str, options: Mapping[str, str], key: str) -> float | None:
    if key not in options:
        return None
    try:
        value = float(options[key])
    except ValueError:
        value = 0.0
    if not 0 < value < 1000:
        raise BadAddressError(f"{url!r}: {key} must be a number above 0 and below 1000")
    return value
