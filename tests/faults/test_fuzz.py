"""Anything may come out of a camera: no exception escapes the frame path, nothing hangs, nothing is made of garbage."""

from __future__ import annotations

import functools
import time
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from calibration.profile import TableProfile, load_board
from companion.eyes import Eyes
from companion.games.contract import Message
from devices.capture import CaptureSource
from devices.clock import SYSTEM_CLOCK
from devices.contract import DeviceGone, Frame, Source
from devices.faults import FAULTS, Running
from devices.simulated.bench import START
from devices.simulated.faults import open_faulty
from devices.simulated.optics import CameraModel
from devices.simulated.table import MoguliTable
from devices.supervised import Kept
from tests.devices.fakes import HandClock
from vision.tiles import TileReader

HANG_S = 2.0
SPEED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@functools.cache
def photograph() -> bytes:
    """A JPEG of a simulated table."""
    table = MoguliTable(START, load_board("moguli"), 1, camera=CameraModel(width=320, height=180))
    return cv2.imencode(".jpg", table.stage.frame(0).bgr)[1].tobytes()


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Bytes of a camera: a good JPEG with some of it changed, cut off, put in twice; or any bytes at all."""
    data = bytearray(photograph())
    if draw(st.booleans()):
        return draw(st.binary(max_size=4000))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data) - 1))
        kind = draw(st.sampled_from(["flip", "cut", "insert", "zero"]))
        if kind == "flip":
            data[at] ^= draw(st.integers(1, 255))
        elif kind == "cut":
            del data[max(at, 2) :]
        elif kind == "insert":
            data[at:at] = draw(st.binary(min_size=1, max_size=64))
        else:
            data[at : at + 200] = bytes(min(200, len(data) - at))
    return bytes(data)


ODD = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=3),
    st.just(np.zeros((0, 0, 3), np.uint8)),
    st.just(np.zeros((4, 4, 3), np.float64)),
    st.just(np.zeros((64, 64), np.uint8)),
    st.just(np.zeros((64, 64, 4), np.uint8)),
    st.just(np.zeros((1, 2000, 3), np.uint8)),
    st.just(np.full((64, 64, 3), 255, np.uint8)),
)


class Tape:
    """In the shape of cv2.VideoCapture: decodes streams, hands out odd things, then ends."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def read(self) -> tuple[bool, Any]:
        if not self.items:
            return False, None
        item = self.items.pop(0)
        if isinstance(item, bytes):
            data = np.frombuffer(item, np.uint8)
            return True, cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        return True, item

    def release(self) -> None: ...


class Ear:
    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.troubles: list[Message | None] = []

    def hear(self, evidence: Any) -> None:
        self.seen.append(evidence)

    def report(self, device: Any, name: str, trouble: Message | None) -> None:
        self.troubles.append(trouble)

    def publish_picture(self, jpeg: bytes) -> None: ...


@SPEED
@given(st.lists(st.one_of(streams(), ODD), max_size=8))
def test_any_bytes_pass_the_camera_and_the_watch(items: list[Any]) -> None:
    began_s = time.monotonic()
    clock = HandClock()
    camera = Kept(lambda: CaptureSource(Tape(list(items)), "x://camera", clock), "x://camera", clock)
    for _ in range(20):
        clock.sleep_s(0.05)
        frame = camera.read(0.01)
        assert frame is None or (frame.bgr.dtype == np.uint8 and frame.bgr.ndim == 3)
        if camera.condition.message == "devices.camera_gone":
            break
    camera.close()
    assert time.monotonic() - began_s < HANG_S + 0.5 * len(items)


@pytest.mark.parametrize("seed", [1])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(streams(), min_size=1, max_size=3))
def test_any_picture_passes_the_eyes(seed: int, items: list[bytes]) -> None:
    ear = Ear()
    eyes = Eyes(TableProfile(load_board("moguli")), TileReader, ear, bulletin=ear)
    number = 0
    for item in items:
        data = np.frombuffer(item, np.uint8)
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        if picture is None:
            continue
        image = np.asarray(picture, np.uint8)
        image.flags.writeable = False
        for _ in range(8):  # at rest for long enough to be read
            number += 1
            began_s = time.monotonic()
            eyes.look(Frame(image, number, number * 0.1, "x://"))
            assert time.monotonic() - began_s < HANG_S


@settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([k for k in FAULTS if k.startswith("camera.")]),
            st.floats(0.1, 3.0),
            st.floats(0.0, 2.0),
            st.floats(0.0, 1.0),
        ),
        max_size=6,
    )
)
def test_faults_of_any_strength_upon_each_other_raise_nothing(plan: list[tuple[str, float, float, float]]) -> None:
    table = MoguliTable(START, load_board("moguli"), 1, camera=CameraModel(width=320, height=180))
    faults = Running(table.stage)
    camera = Kept(lambda: open_faulty(table.stage.camera, faults), "sim://table", table.stage)
    for kind, seconds, wait_s, strength in plan:
        faults.begin(kind, seconds, max(strength, 0.06) if kind == "camera.size" else strength)
        for _ in range(round(wait_s / 0.1)):
            table.stage.advance(0.1)
            camera.read(0.0)
    for _ in range(170):  # longer than a colour of light takes to become the usual one
        table.stage.advance(0.2)
        camera.read(0.0)
    camera.accept()  # as the eyes do when they find the board: the first pictures may have been another camera's
    for _ in range(30):
        table.stage.advance(0.1)
        camera.read(0.0)
    assert camera.condition.ok


def test_a_read_that_hangs_for_ever_costs_the_caller_no_more_than_its_timeout() -> None:
    class Hanging(Tape):
        def read(self) -> tuple[bool, Any]:
            time.sleep(3.0)
            return False, None

    opened: Source[Frame] = CaptureSource(Hanging([]), "x://", SYSTEM_CLOCK)
    began_s = time.monotonic()
    assert opened.read(0.2) is None
    assert time.monotonic() - began_s < HANG_S
    began_s = time.monotonic()
    opened.close()
    assert time.monotonic() - began_s < HANG_S + 1.0
    with pytest.raises(DeviceGone):
        opened.read(0.0)
