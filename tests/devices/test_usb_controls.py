"""Holding a USB camera's automatics: settled values are held, read back, seen in the pixels, and kept per camera."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import devices.camera
from devices.camera import open_camera
from devices.capture import SETTLE_S
from devices.usb_controls import (
    AUTO_EXPOSURE,
    MANUAL_EXPOSURE,
    load_kept,
    lock,
    save_kept,
    unlock,
)
from tests.devices.fakes import HandClock
from tests.devices.test_contract import until

SETTLED = {"exposure": 312.0, "gain": 20.0, "white_balance": 4600.0, "focus": 35.0}
PROPS = {
    cv2.CAP_PROP_EXPOSURE: "exposure",
    cv2.CAP_PROP_GAIN: "gain",
    cv2.CAP_PROP_WB_TEMPERATURE: "white_balance",
    cv2.CAP_PROP_FOCUS: "focus",
}


class Webcam:
    """A UVC camera as OpenCV shows it: values can be set only in manual mode, and shape the picture."""

    def __init__(self, disobeys: str = "", lies: bool = False, has: tuple[str, ...] = tuple(SETTLED)) -> None:
        self.values = {name: SETTLED[name] for name in has}
        self.modes = {cv2.CAP_PROP_AUTO_EXPOSURE: AUTO_EXPOSURE, cv2.CAP_PROP_AUTO_WB: 1.0, cv2.CAP_PROP_AUTOFOCUS: 1.0}
        self.disobeys, self.lies = disobeys, lies
        self.given = 0
        self.on_read: Callable[[], None] = lambda: None
        self.released = False

    def isOpened(self) -> bool:  # noqa: N802
        return True

    def get(self, prop: int) -> float:
        if prop in self.modes:
            return self.modes[prop]
        return self.values.get(PROPS.get(prop, ""), 0.0)

    def set(self, prop: int, value: float) -> bool:
        if prop in self.modes:
            self.modes[prop] = value
            return True
        name = PROPS.get(prop, "")
        if name not in self.values:
            return name == ""
        automatic = {
            "exposure": cv2.CAP_PROP_AUTO_EXPOSURE,
            "white_balance": cv2.CAP_PROP_AUTO_WB,
            "focus": cv2.CAP_PROP_AUTOFOCUS,
        }
        manual = {"exposure": MANUAL_EXPOSURE}.get(name, 0.0)
        if name in automatic and self.modes[automatic[name]] != manual:
            return False
        if name != self.disobeys:
            self.values[name] = value
            return True
        self.values[name] = value * 2
        return True

    def read(self) -> tuple[bool, Any]:
        if self.released:
            return False, None
        self.on_read()
        self.given += 1
        manual = self.modes[cv2.CAP_PROP_AUTO_EXPOSURE] == MANUAL_EXPOSURE
        light = self.values.get("exposure", 312.0) / 312.0 * (2.2 if self.lies and manual else 1.0)
        warmth = self.values.get("white_balance", 4600.0) / 4600.0
        bgr = np.array([90 / warmth, 90, 90 * warmth]) * light
        noise = np.random.default_rng(self.given).normal(0, 2, (48, 64, 3))
        return True, np.clip(bgr + noise, 0, 255).astype(np.uint8)

    def release(self) -> None:
        self.released = True


def test_settled_values_are_held_and_read_back() -> None:
    camera = Webcam()
    done = lock(camera)
    assert done.values == SETTLED and done.refused == () and done.steady
    assert camera.modes[cv2.CAP_PROP_AUTO_EXPOSURE] == MANUAL_EXPOSURE and camera.modes[cv2.CAP_PROP_AUTO_WB] == 0.0
    unlock(camera)
    assert camera.modes[cv2.CAP_PROP_AUTO_EXPOSURE] == AUTO_EXPOSURE


def test_kept_values_come_back() -> None:
    camera = Webcam()
    kept = {**SETTLED, "exposure": 156.0}
    assert lock(camera, kept).values == kept
    assert camera.values["exposure"] == 156.0


def test_a_camera_that_does_not_obey_is_found_out() -> None:
    assert lock(Webcam(disobeys="white_balance")).refused == ("white_balance",)


def test_a_camera_that_says_it_obeys_but_shows_another_picture_is_found_out() -> None:
    done = lock(Webcam(lies=True))
    assert done.refused == () and not done.steady


def test_what_a_camera_does_not_have_is_left_out() -> None:
    done = lock(Webcam(has=("exposure",)))
    assert set(done.values) == {"exposure"} and done.refused == ()


def test_values_are_kept_per_camera(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "cameras.json"
    assert load_kept(file) == {}
    save_kept(file, "v4l2://a", {"exposure": 1.0})
    save_kept(file, "v4l2://b", {"exposure": 2.0})
    assert load_kept(file) == {"v4l2://a": {"exposure": 1.0}, "v4l2://b": {"exposure": 2.0}}
    file.write_text("[1")
    assert load_kept(file) == {}


def test_an_opened_camera_is_locked_when_it_has_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, camera = HandClock(), Webcam()
    camera.on_read = lambda: clock.sleep_s(0.1)
    node = tmp_path / "video3"
    node.touch()
    monkeypatch.setattr(cv2, "VideoCapture", lambda *a: camera)
    monkeypatch.setattr(devices.camera, "KEPT", tmp_path / "cameras.json")
    url = f"v4l2://{node}"
    began_s = clock.now_s()
    source = open_camera(url, clock)
    until(lambda: camera.modes[cv2.CAP_PROP_AUTO_EXPOSURE] == MANUAL_EXPOSURE)
    assert clock.now_s() - began_s >= SETTLE_S
    until(lambda: load_kept(tmp_path / "cameras.json") == {url: SETTLED})
    source.close()
    assert camera.released
