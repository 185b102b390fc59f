"""The doctor and the list of devices: a made-up machine is described in plain words, with a remedy and an exit code."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.cli import main
from companion.doctor import Finding, Machine, examine
from companion.games.contract import Message
from companion.inventory import Item, devices, serial_device, usb_cameras
from companion.words import LANGUAGES, say
from devices.camera import open_camera
from devices.contract import DeviceGone, Frame, Source
from devices.serial_link import SerialLink
from tests.devices.fakes import HandClock


def machine(root: Path, answers: dict[str, str] | None = None, groups: set[str] | None = None) -> Machine:
    return Machine(
        root, lambda command: (answers or {}).get(command[0]), lambda: groups if groups is not None else set()
    )


def file(root: Path, path: str, text: str = "") -> Path:
    made = root / path.lstrip("/")
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(text)
    return made


def found(made: Machine, tmp_path: Path) -> dict[str, Finding]:
    return {f.words.id: f for f in examine(made, tmp_path, "127.0.0.1", 0)}


@pytest.mark.parametrize(
    ("bits", "says", "grade"),
    [
        ("0x0", "doctor.voltage_well", "well"),
        ("0x1", "doctor.voltage_low", "ill"),
        ("0x50005", "doctor.voltage_low", "ill"),
        ("0x10000", "doctor.voltage_was_low", "ill"),
        ("0x4", "doctor.slowed", "ill"),
        ("0x40000", "doctor.was_slowed", "note"),
        ("rabbit", "doctor.voltage_unknown", "note"),
    ],
)
def test_voltage(tmp_path: Path, bits: str, says: str, grade: str) -> None:
    assert found(machine(tmp_path, {"vcgencmd": f"throttled={bits}\n"}), tmp_path)[says].grade == grade


def test_a_missing_group_is_named_with_its_command_only_where_a_device_is(tmp_path: Path) -> None:
    file(tmp_path, "/dev/video0")
    file(tmp_path, "/dev/ttyACM0")
    missing = [f for f in examine(machine(tmp_path, groups={"dialout"}), tmp_path, "127.0.0.1", 0) if f.grade == "ill"]
    assert [say(f.words) for f in missing] == [
        "You may not use the group video's devices. Run: sudo usermod -aG video $USER, then log in again."
    ]
    assert "doctor.groups_well" in found(machine(tmp_path, groups={"dialout", "video"}), tmp_path)
    assert "doctor.groups_well" in found(machine(tmp_path, groups={"root"}), tmp_path)


@pytest.mark.parametrize(
    ("milli", "says", "grade"),
    [("45123", "doctor.heat", "well"), ("72000", "doctor.heat", "note"), ("84000", "doctor.too_hot", "ill")],
)
def test_heat(tmp_path: Path, milli: str, says: str, grade: str) -> None:
    file(tmp_path, "/sys/class/thermal/thermal_zone0/temp", milli)
    assert found(machine(tmp_path), tmp_path)[says].grade == grade


def test_a_clock_that_the_network_does_not_set_is_noted(tmp_path: Path) -> None:
    assert found(machine(tmp_path, {"timedatectl": "no\n"}), tmp_path)["doctor.time_unset"].grade == "note"
    assert "doctor.time_unknown" in found(machine(tmp_path), tmp_path)
    file(tmp_path, "/run/systemd/timesync/synchronized")
    assert "doctor.time_well" in found(machine(tmp_path), tmp_path)


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ill = [f for f in examine(machine(tmp_path), tmp_path, "127.0.0.1", port) if f.grade == "ill"]
    assert [f.words.id for f in ill] == ["doctor.port_taken"]


class Camera:
    """Gives `rate` pictures a second of a clock that moves with each read, or none."""

    def __init__(self, clock: HandClock, rate: float) -> None:
        self.clock, self.rate, self.number, self.closed = clock, rate, 0, False

    def read(self, timeout_s: float) -> Frame | None:
        self.clock.sleep_s(min(timeout_s, 1 / self.rate) if self.rate else timeout_s)
        if not self.rate:
            return None
        self.number += 1
        return Frame(np.zeros((20, 20, 3), np.uint8), self.number, self.clock.now_s(), "x://")

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("rate", "says"), [(25.0, "devices.camera_works_at"), (2.0, "devices.camera_slow"), (0.0, "devices.camera_stalled")]
)
def test_a_camera_is_measured_and_let_go(tmp_path: Path, rate: float, says: str) -> None:
    clock = HandClock()
    camera = Camera(clock, rate)
    last = list(examine(machine(tmp_path), tmp_path, "127.0.0.1", 0, "x://", lambda url: camera, clock))[-1]
    assert last.words.id == says and camera.closed
    if rate == 25.0:
        assert dict(last.words.values)["rate"] == 25


def test_a_camera_that_is_not_there_is_said(tmp_path: Path) -> None:
    def opener(url: str) -> Source[Frame]:
        raise DeviceGone("not plugged in")

    last = list(examine(machine(tmp_path), tmp_path, "127.0.0.1", 0, "x://", opener))[-1]
    assert last.grade == "ill" and last.words.id == "devices.camera_missing"


def test_usb_cameras_are_listed_by_their_names(tmp_path: Path) -> None:
    video = file(tmp_path, "/dev/video0")
    file(tmp_path, "/dev/video1")
    file(tmp_path, "/dev/video7")
    file(tmp_path, "/dev/video20")
    file(tmp_path, "/sys/class/video4linux/video1/index", "1\n")
    file(tmp_path, "/sys/class/video4linux/video7/name", "Old webcam\n")
    file(tmp_path, "/sys/class/video4linux/video20/name", "pispbe-input\n")
    names = tmp_path / "dev/v4l/by-id"
    names.mkdir(parents=True)
    (names / "usb-Good_Cam_C920_1234-video-index0").symlink_to(video)
    (names / "usb-Good_Cam_C920_1234-video-index1").symlink_to(tmp_path / "dev/video1")
    items = usb_cameras(machine(tmp_path))
    assert [i.url for i in items] == ["v4l2://by-id/usb-Good_Cam_C920_1234", "v4l2:///dev/video7"]
    assert "Old webcam" in say(items[1].words) and "number changes" in say(items[1].words)


def test_pi_cameras_and_pins_are_listed(tmp_path: Path) -> None:
    file(tmp_path, "/dev/media0")
    file(tmp_path, "/dev/gpiochip0")
    file(tmp_path, "/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    infos = [{"Num": 0, "Model": "imx708", "Id": "/base/axi/i2c"}, {"Num": 1, "Model": "C920", "Id": "/base/usb@1"}]
    urls = [i.url for i in devices(machine(tmp_path), [], cameras=lambda: infos)]
    assert urls == ["picam://0", "gpio://"]

    def broken() -> list[object]:
        raise RuntimeError("ABI")

    items = list(devices(machine(tmp_path), [], cameras=broken))
    assert [i.words.id for i in items if not i.ok] == ["doctor.pi_camera_broken"]


def test_a_bare_machine_says_that_nothing_is_there(tmp_path: Path) -> None:
    assert list(devices(machine(tmp_path), [])) == [Item("", False, Message("doctor.nothing"))]


def test_a_serial_port_that_cannot_be_opened_and_one_that_is_mute(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import pty

    monkeypatch.setattr("companion.inventory.ANSWER_S", 0.8)
    assert serial_device("/dev/no-such-port").words.id == "doctor.serial_closed"
    ours, theirs = pty.openpty()
    try:
        assert serial_device(os.ttyname(theirs)).words.id == "doctor.serial_mute"
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_serial_device_tells_its_name_and_address() -> None:
    class About:
        name, identity, capabilities = "Button box", "e6614", ("BTN", "LIGHT")

    class Link:
        about, condition = About(), None

        def read(self, timeout_s: float) -> None: ...
        def close(self) -> None: ...

    link_of: Callable[[str], SerialLink] = lambda port: Link()  # type: ignore[assignment,return-value]  # noqa: E731
    item = serial_device("/dev/serial/by-id/usb-Pico_E6614-if00", link_of)
    assert item.ok and item.url == "serial://by-id/usb-Pico_E6614-if00" and "Button box" in say(item.words)


def test_the_commands_end_with_their_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "table.png"
    cv2.imwrite(str(picture), np.full((48, 64, 3), 90, np.uint8))
    code = main(["doctor", "--data", str(tmp_path), "--port", "0", "--camera", f"file://{picture}?rate=20"])
    out = capsys.readouterr().out
    assert re.search(r"^ok The camera file://.* works and gives (19|20|21) pictures a second", out, re.M)
    assert (code == 0) == ("Everything is well." in out) and (code == 1) == ("!!" in out)
    assert main(["doctor", "--data", str(tmp_path), "--port", "0", "--camera", "file:///no/such.png"]) == 1
    assert "!! No camera at" in capsys.readouterr().out
    assert main(["devices"]) in (0, 1)
    assert capsys.readouterr().out


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_finding_has_words(tmp_path: Path, lang: str) -> None:
    for finding in examine(machine(tmp_path), tmp_path, "127.0.0.1", 0, "file:///none", open_camera):
        assert "[" not in say(finding.words, lang)
