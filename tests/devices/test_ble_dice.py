"""Bluetooth dice: bytes as their makers describe them, and a stand-in in the shape of bleak that brings them."""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.dice import DiceThread
from companion.games.contract import Message
from devices.ble_dice import BleDice, open_dice
from devices.ble_parse import GODICE_NOTIFY, Battery, godice, pixels
from devices.contract import BadAddressError, DeviceError, DeviceGone, DieReport
from tests.devices.test_contract import until

AXES = {1: (-64, 0, 0), 2: (0, 0, 64), 3: (0, 64, 0), 4: (0, -64, 0), 5: (0, 0, -64), 6: (64, 0, 0)}
"""Of the maker's table for the six-sided shell."""
COMPANY = 0xFFFF


def stable(value: int, kind: bytes = b"S") -> bytes:
    return kind + struct.pack(">bbb", *AXES[value])


def advertised(state: int, face: int, lights: int = 21) -> bytes:
    return bytes([lights, 3, state, face, 0x80 | 77])


def told(report: DieReport | Battery | None) -> tuple[str, int | None, bool]:
    assert isinstance(report, DieReport)
    return report.phase, report.value, report.fresh


@pytest.mark.parametrize("value", range(1, 7))
def test_the_faces_of_a_godice(value: int) -> None:
    assert told(godice("d", stable(value), 1.0)) == ("settled", value, True)
    assert told(godice("d", stable(value, b"MS"), 1.0)) == ("settled", value, False)
    assert told(godice("d", stable(value, b"FS"), 1.0)) == ("settled", value, False)
    assert told(godice("d", stable(value, b"TS"), 1.0)) == ("cocked", None, True)


def test_the_rest_of_what_a_godice_says() -> None:
    assert told(godice("d", b"R", 1.0)) == ("rolling", None, True)
    assert godice("d", b"Bat\x58", 1.0) == Battery("d", 88)
    assert godice("d", b"Col\x01", 1.0) is None
    assert told(godice("d", b"S" + struct.pack(">bbb", 45, 45, 3), 1.0)) == ("cocked", None, True)


@given(st.binary(max_size=8))
def test_any_bytes_of_a_die_are_survived_and_no_value_is_out_of_range(data: bytes) -> None:
    for report in (godice("d", data, 0.0), pixels("d", data, 0.0)):
        if isinstance(report, DieReport):
            assert report.phase in ("rolling", "cocked", "settled")
            assert (report.value in range(1, 7)) == (report.phase == "settled")


@pytest.mark.parametrize("lights", [6, 21])
@pytest.mark.parametrize("face", range(6))
def test_the_states_of_pixels(face: int, lights: int) -> None:
    assert told(pixels("p", advertised(1, face, lights), 1.0)) == ("settled", face + 1, True)
    assert told(pixels("p", advertised(5, face, lights), 1.0)) == ("settled", face + 1, False)
    assert told(pixels("p", advertised(3, face, lights), 1.0)) == ("rolling", None, True)
    assert told(pixels("p", advertised(2, face, lights), 1.0)) == ("rolling", None, True)
    assert told(pixels("p", advertised(4, face, lights), 1.0)) == ("cocked", None, True)


@pytest.mark.parametrize("data", [advertised(0, 1), advertised(1, 6), advertised(1, 3, lights=20), b"", b"\x15" * 4])
def test_other_pixels_and_nonsense_say_nothing(data: bytes) -> None:
    assert pixels("p", data, 0.0) is None


class FakeBleak:
    """In the shape of the module bleak: a scanner that hears what the test sends, clients that notify."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.callback: Callable[[Any, Any], None] | None = None
        self.clients: list[Any] = []
        self.fails = 0
        self.started = threading.Event()
        outer = self

        class BleakScanner:
            def __init__(self, callback: Callable[[Any, Any], None]) -> None:
                outer.callback = callback

            async def __aenter__(self) -> BleakScanner:
                if outer.fails:
                    outer.fails -= 1
                    raise OSError("the radio is off")
                outer.loop = asyncio.get_running_loop()
                outer.started.set()
                return self

            async def __aexit__(self, *error: object) -> None:
                outer.callback = None

        class BleakClient:
            def __init__(self, device: Any, disconnected_callback: Callable[[Any], None]) -> None:
                self.device, self.gone = device, disconnected_callback
                self.notify: Callable[[Any, bytearray], None] | None = None
                outer.clients.append(self)

            async def connect(self) -> None:
                if self.device.address == "far":
                    raise TimeoutError

            async def start_notify(self, uuid: str, callback: Callable[[Any, bytearray], None]) -> None:
                assert uuid == GODICE_NOTIFY
                self.notify = callback

            async def disconnect(self) -> None:
                self.notify = None

        self.BleakScanner, self.BleakClient = BleakScanner, BleakClient

    def advertise(self, name: str, address: str = "aa", data: bytes = b"") -> None:
        assert self.started.wait(5.0) and self.loop is not None
        device = SimpleNamespace(name=name, address=address)
        heard = SimpleNamespace(local_name=name, manufacturer_data={COMPANY: data} if data else {})
        self.loop.call_soon_threadsafe(lambda: self.callback and self.callback(device, heard))

    def notify(self, data: bytes) -> None:
        assert self.loop is not None
        client = self.clients[-1]
        self.loop.call_soon_threadsafe(lambda: client.notify(None, bytearray(data)))

    def drop(self) -> None:
        assert self.loop is not None
        client = self.clients[-1]
        self.loop.call_soon_threadsafe(lambda: client.gone(client))


@pytest.fixture
def bleak() -> FakeBleak:
    return FakeBleak()


@pytest.fixture
def dice(bleak: FakeBleak) -> Iterator[BleDice]:
    dice = BleDice(bleak, retry_s=0.02)
    yield dice
    dice.close()


def reports(dice: BleDice, seconds: float = 0.2) -> list[tuple[str, int | None, bool]]:
    got = []
    while (report := dice.read(seconds)) is not None:
        got.append(told(report))
    return got


def test_a_godice_is_connected_heard_and_found_again(bleak: FakeBleak, dice: BleDice) -> None:
    assert dice.condition.message == "ble.searching"
    for _ in range(3):
        bleak.advertise("GoDice_1A2B3C_R_v03")
    until(lambda: dice.condition.message == "ble.ready" and bleak.clients[-1].notify is not None)
    assert len(bleak.clients) == 1
    for data in (b"R", stable(5), stable(5), b"Bat\x05"):
        bleak.notify(data)
    assert reports(dice) == [("rolling", None, True), ("settled", 5, True), ("settled", 5, True)]
    assert dice.condition.message == "ble.battery"
    bleak.notify(b"Bat\x50")
    until(lambda: dice.condition.ok)
    bleak.drop()
    until(lambda: dice.condition.message == "ble.searching")
    bleak.advertise("GoDice_1A2B3C_R_v03")
    until(lambda: len(bleak.clients) == 2 and bleak.clients[-1].notify is not None)
    bleak.notify(stable(2))
    assert reports(dice) == [("settled", 2, True)]


def test_a_godice_out_of_reach_is_tried_again(bleak: FakeBleak, dice: BleDice) -> None:
    bleak.advertise("GoDice_9_B_v03", "far")
    until(lambda: len(bleak.clients) == 1)

    def again() -> bool:
        bleak.advertise("GoDice_9_B_v03", "far")
        return len(bleak.clients) > 1

    until(again)
    assert not dice.condition.ok


def test_pixels_are_read_from_what_they_advertise_without_a_connection(bleak: FakeBleak, dice: BleDice) -> None:
    for state, face in ((1, 3), (1, 3), (3, 0), (3, 2), (1, 5), (1, 5), (2, 5), (3, 5), (1, 5), (5, 5), (4, 0)):
        bleak.advertise("Pixel", data=advertised(state, face))
    assert reports(dice) == [
        ("settled", 4, False),  # it lay there before it was met
        ("rolling", None, True),
        ("settled", 6, True),
        ("rolling", None, True),
        ("settled", 6, True),
        ("cocked", None, True),
    ]
    assert bleak.clients == []


def test_a_radio_that_is_off_is_said_and_tried_again(bleak: FakeBleak) -> None:
    bleak.fails = 3
    dice = BleDice(bleak, retry_s=0.2)
    until(lambda: dice.condition.message == "ble.adapter")
    assert dict(dice.condition.values)["error"] == "the radio is off"
    until(lambda: dice.condition.message == "ble.searching")
    dice.close()
    dice.close()
    with pytest.raises(DeviceGone):
        dice.read(0.0)


def test_a_bad_address_and_a_missing_library_say_what_to_do() -> None:
    def missing() -> Any:
        raise ImportError("no bleak")

    with pytest.raises(BadAddressError, match="ble://any"):
        open_dice("ble://die")
    with pytest.raises(DeviceError, match=r"tabletop-companion\[ble\]"):
        open_dice("ble://any", missing)


class Listener:
    """What a service hears."""

    def __init__(self) -> None:
        self.rolls: list[tuple[str, int]] = []
        self.troubles: dict[str, str] = {}

    def hear(self, roll: Any) -> None:
        self.rolls.append((roll.die, roll.value))

    def report(self, device: object, name: str, trouble: Message | None) -> None:
        self.troubles[name] = trouble.id if trouble else ""


def test_rolls_reach_the_game(bleak: FakeBleak) -> None:
    service = Listener()
    thread = DiceThread(service, "ble://any", lambda url: BleDice(bleak))  # type: ignore[arg-type]
    thread.start()
    until(lambda: service.troubles.get("dice") == "ble.searching")
    for state, face in ((5, 0), (3, 0), (4, 0), (3, 0), (1, 2), (5, 2)):
        bleak.advertise("Pixel", data=advertised(state, face))
    until(lambda: service.rolls == [("Pixel", 3)])
    until(lambda: service.troubles == {"dice": "", "die Pixel": ""})
    thread.stop()
    unusable = DiceThread(service, "ble://nowhere")  # type: ignore[arg-type]
    unusable.start()
    until(lambda: service.troubles["dice"] == "ble.unusable")
    unusable.stop()
