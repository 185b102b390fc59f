"""`companion doctor`: looks over the machine and says in plain words what is wrong and what to do about it."""

from __future__ import annotations

import grp
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from companion.games.contract import Message
from devices.clock import SYSTEM_CLOCK
from devices.contract import Clock, DeviceError, Frame, Source
from devices.house import FolderDisk, disk_condition

GROUPS = {"video": "/dev/video*", "gpio": "/dev/gpiochip*", "dialout": "/dev/tty[AU][CS][MB]*"}
"""Groups that may use a device, and the files that show that such a device is there."""
HOT_C, TOO_HOT_C = 70.0, 80.0
"""A Raspberry Pi slows down from 80 degrees on."""
LOOK_S, FIRST_S, LEAST_RATE = 2.0, 8.0, 4.0
Grade = Literal["well", "note", "ill"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: `well`, worth a `note`, or `ill` (a game would suffer), in words that say what to do."""

    grade: Grade
    words: Message


@dataclass(frozen=True, slots=True)
class Machine:
    """How the machine is asked, so that a test can answer: `root` of its files, `run` (a program's output, None when
    there is no such program or it fails), the names of this user's `groups`."""

    root: Path
    run: Callable[[list[str]], str | None]
    groups: Callable[[], set[str]]

    def files(self, pattern: str) -> list[Path]:
        """The existing files of an absolute pattern, in order."""
        return sorted(self.root.glob(pattern.lstrip("/")))

    def text(self, path: str) -> str | None:
        """A file's text; None when it cannot be read."""
        try:
            return (self.root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None


def this_machine() -> Machine:
    """The machine on which this runs."""
    return Machine(Path("/"), _output, _groups)


def examine(
    machine: Machine,
    data: Path,
    host: str,
    port: int,
    camera: str = "",
    opener: Callable[[str], Source[Frame]] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[Finding]:
    """All findings, one after another; a camera is opened (by `opener`) when its URL is given."""
    yield from _membership(machine)
    yield _voltage(machine)
    yield _heat(machine)
    yield _disk(data)
    yield _time(machine)
    yield _port(host, port)
    if camera and opener is not None:
        yield _camera(camera, opener, clock)


def _membership(machine: Machine) -> Iterator[Finding]:
    mine = machine.groups()
    missing = [name for name, pattern in GROUPS.items() if machine.files(pattern) and name not in mine]
    for name in missing if "root" not in mine else []:
        yield Finding("ill", Message("doctor.group_missing", (("group", name),)))
    if not missing or "root" in mine:
        yield Finding("well", Message("doctor.groups_well"))


def _voltage(machine: Machine) -> Finding:
    """Bits of `vcgencmd get_throttled` (Raspberry Pi documentation): 0 under-voltage now, 16 since the start; 1, 2, 3
    and 17, 18, 19 slowed down."""
    found = re.search(r"throttled=(0x[0-9a-fA-F]+)", machine.run(["vcgencmd", "get_throttled"]) or "")
    if found is None:
        return Finding("note", Message("doctor.voltage_unknown"))
    bits = int(found.group(1), 16)
    if bits & 0x1:
        return Finding("ill", Message("doctor.voltage_low"))
    if bits & 0x10000:
        return Finding("ill", Message("doctor.voltage_was_low"))
    if bits & 0xE:
        return Finding("ill", Message("doctor.slowed"))
    if bits & 0xE0000:
        return Finding("note", Message("doctor.was_slowed"))
    return Finding("well", Message("doctor.voltage_well"))


def _heat(machine: Machine) -> Finding:
    degrees = []
    for zone in machine.files("/sys/class/thermal/thermal_zone*/temp"):
        text = (machine.text(str(zone.relative_to(machine.root))) or "").strip()
        if text.lstrip("-").isdigit():
            degrees.append(int(text) / 1000)
    if not degrees:
        return Finding("note", Message("doctor.heat_unknown"))
    value = (("degrees", round(max(degrees))),)
    if max(degrees) >= TOO_HOT_C:
        return Finding("ill", Message("doctor.too_hot", value))
    return Finding("note" if max(degrees) >= HOT_C else "well", Message("doctor.heat", value))


def _disk(data: Path) -> Finding:
    folder = data
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    condition = disk_condition(FolderDisk(folder))
    if condition.ok and not os.access(folder, os.W_OK):
        return Finding("ill", Message("doctor.folder_forbidden", (("folder", str(folder)),)))
    return Finding("well" if condition.ok else "ill", Message(condition.message, condition.values))


def _time(machine: Machine) -> Finding:
    if machine.files("/run/systemd/timesync/synchronized"):
        return Finding("well", Message("doctor.time_well"))
    said = machine.run(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
    if said is None:
        return Finding("note", Message("doctor.time_unknown"))
    return (
        Finding("well", Message("doctor.time_well"))
        if said.strip() == "yes"
        else Finding("note", Message("doctor.time_unset"))
    )


def _port(host: str, port: int) -> Finding:
    value = (("port", port),)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return Finding("ill", Message("doctor.port_taken", value))
    return Finding("well", Message("doctor.port_free", value))


def _camera(url: str, opener: Callable[[str], Source[Frame]], clock: Clock) -> Finding:
    """Opens the camera and measures how many pictures it gives a second."""
    try:
        source = opener(url)
    except DeviceError as error:
        return Finding("ill", Message("devices.camera_missing", (("url", url), ("error", str(error)))))
    began_s, first, last = clock.now_s(), None, None
    try:
        while last is None or first is None or last.time_s - first.time_s < LOOK_S:
            if (first is None and clock.now_s() - began_s > FIRST_S) or clock.now_s() - began_s > FIRST_S + LOOK_S:
                break
            frame = source.read(0.5)
            if frame is not None:
                first, last = first or frame, frame
    except DeviceError as error:
        return Finding("ill", Message("devices.camera_gone", (("url", url), ("error", str(error)))))
    finally:
        source.close()
    if first is None or last is None or last.time_s <= first.time_s:
        return Finding("ill", Message("devices.camera_stalled", (("url", url), ("error", ""))))
    rate = (last.number - first.number) / (last.time_s - first.time_s)
    if rate < LEAST_RATE:
        return Finding("ill", Message("devices.camera_slow", (("url", url), ("rate", round(rate, 1)))))
    return Finding("well", Message("devices.camera_works_at", (("url", url), ("rate", round(rate)))))


def _output(command: list[str]) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5.0, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _groups() -> set[str]:
    names = {"root"} if os.geteuid() == 0 else set()
    for number in os.getgroups():
        try:
            names.add(grp.getgrgid(number).gr_name)
        except KeyError:  # a group without a name is none of ours
            continue
    return names
