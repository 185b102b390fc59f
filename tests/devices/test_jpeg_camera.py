"""A USB camera that sends JPEG: the bytes are kept beside the picture, and every picture is told of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from devices.camera import JpegCapture, open_camera
from devices.clock import SYSTEM_CLOCK
from devices.contract import Frame
from tests.devices.fakes import FakeCapture
from tests.devices.test_contract import FakeV4l2, until

PICTURE = np.random.default_rng(1).integers(0, 255, (48, 64, 3), dtype=np.uint8)
SENT = cv2.imencode(".jpg", PICTURE, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].reshape(1, -1)


class Mjpg(FakeV4l2):
    """Agrees to send MJPG, and to hand it out as it is."""

    def get(self, prop: int) -> float:
        return float(cv2.VideoWriter.fourcc(*"MJPG")) if prop == cv2.CAP_PROP_FOURCC else 0.0


def opened(monkeypatch: pytest.MonkeyPatch, folder: Path, capture: FakeCapture) -> Any:
    (folder / "video2").touch()
    monkeypatch.setattr(cv2, "VideoCapture", lambda *arguments: capture)
    return open_camera(f"v4l2://{folder / 'video2'}?lock=0", SYSTEM_CLOCK)


def test_the_picture_is_what_the_jpeg_shows_and_its_bytes_come_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    capture = Mjpg()
    source = opened(monkeypatch, tmp_path, capture)
    assert cv2.CAP_PROP_CONVERT_RGB in capture.taken
    told: list[Frame] = []
    source.on_frame = told.append
    capture.give_raw(SENT)
    frame = source.read(5.0)
    assert frame.jpeg == SENT.tobytes()
    assert np.array_equal(frame.bgr, cv2.imdecode(SENT, cv2.IMREAD_COLOR))
    for _ in range(3):  # nobody takes these
        capture.give_raw(SENT)
    until(lambda: len(told) == 4)
    assert [f.number for f in told] == [1, 2, 3, 4]
    capture.unplug()
    source.close()


def test_a_damaged_jpeg_is_no_picture_and_the_next_one_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    capture = Mjpg()
    source = opened(monkeypatch, tmp_path, capture)
    capture.give_raw(np.zeros((1, 500), np.uint8))
    capture.give_raw(np.zeros((1, 0), np.uint8))
    capture.give_raw(SENT)
    frame = source.read(5.0)
    assert frame.number == 1 and frame.jpeg
    capture.unplug()
    source.close()


def test_a_camera_that_decodes_itself_has_no_jpeg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    capture = FakeV4l2()
    source = opened(monkeypatch, tmp_path, capture)
    assert cv2.CAP_PROP_CONVERT_RGB not in capture.taken
    capture.give(7)
    assert source.read(5.0).jpeg == b""
    capture.unplug()
    source.close()


def test_a_plain_picture_passes_through() -> None:
    capture = FakeCapture()
    capture.give_raw(PICTURE)
    wrapped = JpegCapture(capture)
    done, picture = wrapped.read()
    assert done and picture is PICTURE and wrapped.jpeg == b""
