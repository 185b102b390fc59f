"""One suite for every kind of camera: what `Source` and `Frame` promise."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest

from calibration.profile import load_board
from companion.doctor import this_machine
from companion.inventory import devices
from devices.camera import open_camera
from devices.capture import CaptureSource, DeviceStalled
from devices.clock import SYSTEM_CLOCK
from devices.contract import BadAddressError, DeviceGone, Frame, Source
from devices.simulated.bench import START
from devices.simulated.optics import CameraModel
from devices.simulated.table import MoguliTable
from devices.supervised import Supervised
from tests.devices.fakes import FakeCapture, HandClock

PATIENCE_S = 20.0


@dataclass
class Wire:
    """A camera under test and its wire: `come` makes one new picture arrive, `unplug` takes the camera away."""

    source: Source[Frame]
    come: Callable[[], None]
    unplug: Callable[[], None] | None
    ends: bool = True
    burst: bool = True


def picture(value: int) -> np.ndarray:
    return np.full((48, 64, 3), value, np.uint8)


def file_wire(folder: Path) -> Iterator[Wire]:
    for i in range(40):
        cv2.imwrite(str(folder / f"{i:03d}.png"), picture(i))
    clock = HandClock()
    source = open_camera(f"file://{folder}?rate=10", clock)
    yield Wire(source, lambda: clock.sleep_s(0.1), lambda: clock.sleep_s(60.0) or _skip_last(source))
    source.close()


def _skip_last(source: Source[Frame]) -> None:
    source.read(0.0)  # the last picture; after it the recording is over


def simulated_wire(folder: Path) -> Iterator[Wire]:
    table = MoguliTable(START, load_board("moguli"), 1, camera=CameraModel(width=320, height=180))
    camera = table.stage.camera()
    yield Wire(camera, lambda: table.stage.advance(1 / 30), None)
    camera.close()


def capture_wire(folder: Path) -> Iterator[Wire]:
    capture = FakeCapture()
    source = CaptureSource(capture, "v4l2:///dev/video0", SYSTEM_CLOCK)
    yield Wire(source, _giver(capture), capture.unplug)
    capture.unplug()
    source.close()
    until(lambda: capture.released == 1)


def v4l2_wire(folder: Path) -> Iterator[Wire]:
    node = folder / "video2"
    node.touch()
    capture = FakeV4l2()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cv2, "VideoCapture", lambda *arguments: capture)
        source = open_camera(f"v4l2://{node}?lock=0")
    assert capture.taken[0] == cv2.CAP_PROP_FOURCC
    yield Wire(source, _giver(capture), capture.unplug)
    capture.unplug()
    source.close()


class FakeV4l2(FakeCapture):
    """Takes properties as a driver does; MJPG must come before the size."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[int] = []

    def isOpened(self) -> bool:  # noqa: N802
        return True

    def get(self, prop: int) -> float:
        return 0.0

    def set(self, prop: int, value: float) -> bool:
        self.taken.append(prop)
        return True


def picam_wire(folder: Path) -> Iterator[Wire]:
    library = FakePicamera2()
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "picamera2", library)
        source = open_camera("picam://0?size=64x48")
    assert library.made[0].configured["main"] == {"size": (64, 48), "format": "RGB888"}
    capture = library.made[0].capture
    yield Wire(source, _giver(capture), capture.unplug)
    capture.unplug()
    source.close()


class FakePicamera2(ModuleType):
    """In the shape of the module `picamera2` with its one class; reading an unplugged camera raises."""

    def __init__(self) -> None:
        super().__init__("picamera2")
        self.made: list[FakePicamera2.Picamera2] = []
        module = self

        class Picamera2:
            def __init__(self, number: int) -> None:
                self.capture, self.configured = FakeCapture(), {}
                module.made.append(self)

            def create_video_configuration(self, **streams: object) -> dict[str, object]:
                return streams

            def configure(self, streams: dict[str, object]) -> None:
                self.configured = streams

            def start(self) -> None: ...
            def stop(self) -> None: ...

            def capture_array(self, name: str) -> object:
                done, image = self.capture.read()
                if not done:
                    raise RuntimeError("Camera frontend has timed out")
                return image

            def close(self) -> None:
                self.capture.release()

        self.Picamera2 = Picamera2


def supervised_wire(folder: Path) -> Iterator[Wire]:
    capture = FakeCapture()
    source = Supervised(lambda: CaptureSource(capture, "v4l2:///dev/video0", SYSTEM_CLOCK), "v4l2:///dev/video0")
    yield Wire(source, _giver(capture), capture.unplug, ends=False, burst=False)
    capture.unplug()
    source.close()


def _giver(capture: FakeCapture) -> Callable[[], None]:
    count = iter(range(1000))

    def come() -> None:
        capture.give(next(count))
        until(lambda: capture.drained)

    return come


def network_wire(folder: Path) -> Iterator[Wire]:
    server = MjpegServer()
    source = open_camera(f"http://127.0.0.1:{server.port}/video")
    yield Wire(source, lambda: until(server.sent_another()), server.close, burst=False)
    source.close()
    server.close()


class MjpegServer:
    """The least of a network camera: a stream of JPEGs over HTTP, 25 a second."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.sent = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def sent_another(self) -> Callable[[], bool]:
        before = self.sent
        return lambda: self.sent >= before + 2

    def close(self) -> None:
        self._ended.set()
        self._listener.close()
        self._thread.join(5.0)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                with peer:
                    self._stream(peer)

    def _stream(self, peer: socket.socket) -> None:
        head = b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=x\r\n\r\n"
        with suppress(OSError):
            peer.recv(4096)
            peer.sendall(head)
            while not self._ended.wait(0.04):
                jpeg = cv2.imencode(".jpg", picture(self.sent % 250))[1].tobytes()
                peer.sendall(b"--x\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%s\r\n" % (len(jpeg), jpeg))
                self.sent += 1


def until(done: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end_s, "nothing happened"
        time.sleep(0.002)


KINDS = {
    "file": file_wire,
    "simulated": simulated_wire,
    "capture": capture_wire,
    "v4l2": v4l2_wire,
    "picam": picam_wire,
    "supervised": supervised_wire,
    "network": network_wire,
}


def hardware_wire(folder: Path) -> Iterator[Wire]:
    """The first camera that is plugged in; `pytest -m hardware`."""
    url = next((item.url for item in devices(this_machine(), []) if item.url.startswith(("v4l2", "picam"))), "")
    if not url:
        pytest.skip("no camera is plugged in")
    source = open_camera(url)
    yield Wire(source, lambda: time.sleep(0.2), None, burst=False)
    source.close()


@pytest.fixture(params=[*KINDS, pytest.param("hardware", marks=pytest.mark.hardware)])
def wire(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Wire]:
    yield from {**KINDS, "hardware": hardware_wire}[request.param](tmp_path)


def next_frame(wire: Wire) -> Frame:
    for _ in range(200):
        wire.come()
        frame = wire.source.read(1.0)
        if frame is not None:
            return frame
    raise AssertionError("no frame came")


def test_frames_are_colour_pictures_and_read_only(wire: Wire) -> None:
    frame = next_frame(wire)
    assert frame.bgr.dtype == np.uint8 and frame.bgr.ndim == 3 and frame.bgr.shape[2] == 3
    assert not frame.bgr.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        frame.bgr[0, 0, 0] = 1
    assert frame.source


def test_numbers_rise_and_times_do_not_fall(wire: Wire) -> None:
    frames = [next_frame(wire) for _ in range(4)]
    assert all(a.number < b.number and a.time_s <= b.time_s for a, b in pairwise(frames))


def test_only_the_newest_frame_is_given_and_given_once(wire: Wire) -> None:
    if not wire.burst:
        pytest.skip("this wire has a thread of its own that cannot be stopped between pictures")
    first = next_frame(wire)
    for _ in range(5):
        wire.come()
    newest = None
    end_s = time.monotonic() + PATIENCE_S
    while newest is None or newest.number < first.number + 5:
        assert time.monotonic() < end_s
        newest = wire.source.read(1.0) or newest
    assert newest.number == first.number + 5
    assert wire.source.read(0.0) is None


def test_a_read_returns_when_its_time_is_over(wire: Wire) -> None:
    next_frame(wire)
    began_s = time.monotonic()
    for _ in range(3):
        wire.source.read(0.05)
    assert time.monotonic() - began_s < PATIENCE_S


def test_close_may_be_repeated_and_ends_reading(wire: Wire) -> None:
    wire.source.close()
    wire.source.close()
    with pytest.raises(DeviceGone):
        wire.source.read(0.0)


def test_an_unplugged_camera_is_gone(wire: Wire) -> None:
    if wire.unplug is None:
        pytest.skip("a simulated camera hangs on no cable, and nobody pulls a real one in a test")
    next_frame(wire)
    wire.unplug()
    if not wire.ends:
        assert isinstance(wire.source, Supervised)
        supervised = wire.source
        until(lambda: supervised.condition.message == "devices.camera_gone")
        assert supervised.read(0.05) is None and not supervised.condition.ok
        return
    end_s = time.monotonic() + PATIENCE_S
    with pytest.raises(DeviceGone) as caught:
        while time.monotonic() < end_s:
            wire.source.read(0.5)
    assert "://" in str(caught.value)


def test_a_silent_camera_is_called_stalled() -> None:
    clock, capture = HandClock(), FakeCapture()
    source = CaptureSource(capture, "v4l2:///dev/video0", clock, stall_s=3.0)
    capture.give(1)
    until(lambda: source.read(0.1) is not None)
    clock.sleep_s(2.9)
    assert source.read(0.0) is None
    clock.sleep_s(0.2)
    with pytest.raises(DeviceStalled, match="no picture for 3 seconds"):
        source.read(0.0)
    capture.unplug()
    source.close()


@pytest.mark.parametrize("broken", [None, np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), "half"])
def test_half_and_grey_pictures_are_passed_over(broken: object) -> None:
    capture = FakeCapture()
    source = CaptureSource(capture, "v4l2:///dev/video0", SYSTEM_CLOCK)
    capture.give_raw(broken)
    capture.give(7)
    frame = source.read(PATIENCE_S)
    assert frame is not None and frame.bgr[0, 0, 0] == 7
    capture.unplug()
    source.close()


def test_a_capture_that_raises_is_gone_with_its_words() -> None:
    class Raising(FakeCapture):
        def read(self) -> tuple[bool, object]:
            raise cv2.error("usb went away")

    source = CaptureSource(Raising(), "v4l2:///dev/video0", SYSTEM_CLOCK)
    with pytest.raises(DeviceGone, match="usb went away"):
        source.read(PATIENCE_S)
    source.close()


def test_a_supervised_camera_comes_back_and_counts_on() -> None:
    captures = [FakeCapture(), FakeCapture()]
    opened: list[FakeCapture] = []

    def opener() -> Source[Frame]:
        if len(opened) == 1:
            opened.append(captures[0])
            raise DeviceGone("v4l2:///dev/video0: not plugged in")
        capture = captures[min(len(opened), 1)]
        opened.append(capture)
        return CaptureSource(capture, "v4l2:///dev/video0", SYSTEM_CLOCK)

    camera = Supervised(opener, "v4l2:///dev/video0", pauses_s=(0.01, 0.02))
    captures[0].give(1)
    first = camera.read(PATIENCE_S)
    assert first is not None and camera.condition.ok
    captures[0].unplug()
    captures[1].give(2)
    second = camera.read(PATIENCE_S)
    assert second is not None and second.number > first.number and second.bgr[0, 0, 0] == 2
    assert len(opened) == 3 and camera.condition.message == "devices.camera_works"
    captures[1].unplug()
    camera.close()


def test_an_old_frame_is_not_given_out() -> None:
    clock, capture = HandClock(), FakeCapture()
    camera = Supervised(lambda: CaptureSource(capture, "x://", clock), "x://", clock)
    capture.give(1)
    until(lambda: camera.condition.ok)
    clock.sleep_s(1.5)
    assert camera.read(0.2) is None
    capture.unplug()
    camera.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file:///no/such/picture.jpg", "there is no /no/such/picture.jpg"),
        ("ftp://somewhere", "known kinds"),
        ("", "known kinds"),
        ("v4l2:///dev/null?size=big", "null is no video device"),
        ("http://127.0.0.1:9/?size=1x", "no stream answers"),
    ],
)
def test_a_bad_address_is_quoted_and_explained(url: str, says: str) -> None:
    with pytest.raises((BadAddressError, DeviceGone), match=says) as caught:
        open_camera(url)
    assert url in str(caught.value)


def test_a_picture_is_shown_for_ever_and_a_broken_one_refused(tmp_path: Path) -> None:
    clock = HandClock()
    cv2.imwrite(str(tmp_path / "still ü.png"), picture(9))
    source = open_camera(f"file://{tmp_path}/still ü.png", clock)
    assert [source.read(1.0) is not None for _ in range(30)] == [True] * 30
    (tmp_path / "torn.jpg").write_bytes(b"\xff\xd8 no more")
    with pytest.raises(BadAddressError, match="no picture that can be decoded"):
        open_camera(f"file://{tmp_path}/torn.jpg")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadAddressError, match="holds no pictures"):
        open_camera(f"file://{tmp_path}/empty")


def test_a_video_is_replayed_at_its_rate(tmp_path: Path) -> None:
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 20.0, (64, 48))
    for i in range(20):
        writer.write(picture(i * 10))
    writer.release()
    clock = HandClock()
    source = open_camera(f"file://{path}", clock)
    shades = []
    for _ in range(5):
        frame = source.read(1.0)
        assert frame is not None
        shades.append(int(frame.bgr.mean()))
        clock.sleep_s(0.15)
    assert shades == pytest.approx([0, 30, 60, 90, 120], abs=4)
    source.close()
