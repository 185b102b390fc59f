"""`companion devices`: what is plugged in, who it says it is, and which address to write in the configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from companion.doctor import Machine
from companion.games.contract import Message
from devices.camera import pi_cameras
from devices.clock import SYSTEM_CLOCK
from devices.gpio import open_wires
from devices.press_check import PressCheck, pin_map
from devices.serial_link import SerialLink

ANSWER_S = 3.5
"""Opening a port resets many boards; they need about two seconds to answer."""


@dataclass(frozen=True, slots=True)
class Item:
    """One device: the address to write in the configuration (or empty), whether it can be used as it is, in words."""

    url: str
    ok: bool
    words: Message


def devices(
    machine: Machine,
    ports: Iterable[str],
    link_of: Callable[[str], SerialLink] | None = None,
    cameras: Callable[[], list[Any]] = pi_cameras,
) -> Iterator[Item]:
    """All devices that can be found; `ports` are asked who they are."""
    found = [*usb_cameras(machine), *_pi(machine, cameras), *_pins(machine)]
    yield from found
    some = bool(found)
    for port in ports:
        some = True
        yield serial_device(port, link_of)
    if not some:
        yield Item("", False, Message("doctor.nothing"))


def press_each(url: str, tell: Callable[[Message], None], write: Callable[[str], None], wired: Any = None) -> int:
    """Asks for each button at this address, tells how it is wired, and writes a pin map when the known one is wrong; 0
    when all were found. `wired`: (pin factory, clock) instead of the machine's own. Raises DeviceError."""
    wires, factory, lights = open_wires(url, wired[0] if wired else None)
    check = PressCheck(wires, factory, wired[1] if wired else SYSTEM_CLOCK)
    for condition in check.run(lambda name: tell(Message("devices.press_ask", (("button", name),)))):
        tell(Message(condition.message, condition.values))
    if any(check.found.get(name, wire) != wire for name, wire in wires.items()):
        tell(Message("devices.press_map"))
        for line in pin_map({**wires, **check.found}, lights):
            write(line)
    return 0 if check.found.keys() == wires.keys() else 1


def usb_cameras(machine: Machine) -> list[Item]:
    """USB cameras by their stable names; those without one by number, with a warning."""
    items, named = [], set()
    for link in machine.files("/dev/v4l/by-id/*-video-index0"):
        named.add(link.resolve().name)
        name = link.name.removesuffix("-video-index0")
        items.append(Item(f"v4l2://by-id/{name}", True, Message("doctor.camera", (("name", name.replace("_", " ")),))))
    for node in machine.files("/dev/video*"):
        name = (machine.text(f"/sys/class/video4linux/{node.name}/name") or "").strip()
        index = (machine.text(f"/sys/class/video4linux/{node.name}/index") or "0").strip()
        # Nodes above index 0 carry no pictures; a Pi's own ISP and codec nodes are no cameras.
        inner = any(word in name.lower() for word in ("bcm2835", "pispbe", "rp1-cfe", "hevc", "unicam"))
        if node.name in named or index != "0" or inner:
            continue
        words = Message("doctor.camera_by_number", (("name", name or node.name),))
        items.append(Item(f"v4l2:///dev/{node.name}", True, words))
    return items


def serial_device(port: str, link_of: Callable[[str], SerialLink] | None = None) -> Item:
    """Who answers at a serial port."""
    link = link_of(port) if link_of is not None else SerialLink(lambda: [port])
    try:
        end_s = time.monotonic() + ANSWER_S
        while link.about is None and time.monotonic() < end_s:
            link.read(0.1)
        about, condition = link.about, link.condition
    finally:
        link.close()
    if about is not None:
        values = (("name", about.name), ("identity", about.identity), ("what", ", ".join(about.capabilities)))
        return Item(_serial_url(port), True, Message("doctor.serial", values))
    if condition.message == "serial.cannot_open":
        return Item(port, False, Message("doctor.serial_closed", (("port", port),)))
    return Item(port, False, Message("doctor.serial_mute", (("port", port),)))


def _serial_url(port: str) -> str:
    return f"serial://{port.replace('/dev/serial/by-id/', 'by-id/')}"


def _pi(machine: Machine, cameras: Callable[[], list[Any]]) -> list[Item]:
    if not machine.files("/dev/media*"):
        return []
    try:
        infos = cameras()
    except Exception:  # libcamera raises what it likes when its parts do not fit together
        return [Item("", False, Message("doctor.pi_camera_broken"))]
    return [
        Item(
            f"picam://{info.get('Num', number)}",
            True,
            Message("doctor.camera", (("name", str(info.get("Model", "?"))),)),
        )
        for number, info in enumerate(infos)
        if "usb" not in str(info.get("Id", "")).lower()
    ]


def _pins(machine: Machine) -> list[Item]:
    model = (machine.text("/proc/device-tree/model") or "").strip("\0 \n")
    if not machine.files("/dev/gpiochip*") or "raspberry" not in model.lower():
        return []
    return [Item("gpio://", True, Message("doctor.pins", (("name", model),)))]
