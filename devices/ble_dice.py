"""Bluetooth dice (GoDice, Pixels) as a source of reports: one scanner for all, found again whenever they come near.

Needs the extra `ble` (bleak). Not yet tried with real dice; the tests replace bleak by a stand-in of the same shape.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from devices.ble_parse import GODICE_NAME, GODICE_NOTIFY, Battery, godice, pixels
from devices.contract import BadAddressError, Condition, DeviceError, DeviceGone, DieReport

RETRY_S = 2.0
"""Pause before the scanner is started again, and before a die that went away is connected again."""

LOW_PERCENT = 15


class BleDice:
    """A `Source` of die reports. The adapter belongs to a thread with an event loop of its own."""

    def __init__(self, bleak: Any, retry_s: float = RETRY_S) -> None:
        self._bleak, self._retry_s = bleak, retry_s
        self._reports: queue.SimpleQueue[DieReport] = queue.SimpleQueue()
        self._last: dict[str, tuple[str, int | None]] = {}
        self._clients: dict[str, Any] = {}
        self._busy: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen: set[str] = set()
        self._low: dict[str, int] = {}
        self._error = ""
        self._open = True
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="ble-dice", daemon=True)
        self._thread.start()

    @property
    def condition(self) -> Condition:
        """How the dice are, in words to come."""
        if self._error:
            return Condition(False, "ble.adapter", (("error", self._error),))
        if self._low:
            die, percent = min(self._low.items())
            return Condition(False, "ble.battery", (("die", die), ("percent", percent)))
        if not self._seen:
            return Condition(False, "ble.searching")
        return Condition(True, "ble.ready", (("count", len(self._seen)),))

    def read(self, timeout_s: float) -> DieReport | None:
        """The next report, or None when none came in time; DeviceGone after `close`."""
        if not self._open:
            raise DeviceGone("the Bluetooth dice have been closed; open them again")
        try:
            return self._reports.get(timeout=timeout_s) if timeout_s > 0 else self._reports.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """Lets go of the adapter; may be called any number of times."""
        if self._open:
            self._open = False
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5.0)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._scan())
        finally:
            self._loop.close()

    async def _scan(self) -> None:
        """Scans until it is closed; an adapter that fails is said and tried again."""
        while not self._stop.is_set():
            try:
                async with self._bleak.BleakScanner(self._heard):
                    self._error = ""
                    await self._stop.wait()
            except Exception as error:  # bleak and D-Bus raise many kinds, all meaning that there is no radio now
                self._error = str(error) or type(error).__name__
                await self._pause()
        for task in self._tasks:
            task.cancel()
        for client in list(self._clients.values()):
            try:
                await client.disconnect()
            except Exception:  # it is gone, or the radio is
                continue

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), self._retry_s)
        except TimeoutError:
            return

    def _heard(self, device: Any, advertisement: Any) -> None:
        """Called for every advertisement, in the loop's thread."""
        name = advertisement.local_name or device.name or ""
        if name.startswith(GODICE_NAME):
            if device.address not in self._clients and device.address not in self._busy:
                self._busy.add(device.address)
                task = self._loop.create_task(self._connect(device, name))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            return
        for data in advertisement.manufacturer_data.values():
            self._advertised(pixels(name or device.address, bytes(data), time.monotonic()))

    async def _connect(self, device: Any, name: str) -> None:
        def gone(client: Any) -> None:
            self._clients.pop(device.address, None)
            self._seen.discard(name)

        client = self._bleak.BleakClient(device, disconnected_callback=gone)
        try:
            await client.connect()
            self._clients[device.address] = client
            self._seen.add(name)
            await client.start_notify(
                GODICE_NOTIFY, lambda _, data: self._take(godice(name, bytes(data), time.monotonic()))
            )
        except Exception:  # out of reach again: its next advertisement is the next try
            gone(client)
            await self._pause()
        finally:
            self._busy.discard(device.address)

    def _take(self, said: DieReport | Battery | None) -> None:
        """Passes on a notification; each is about something that has just happened."""
        if isinstance(said, Battery):
            self._low.pop(said.die, None)
            if said.percent < LOW_PERCENT:
                self._low[said.die] = said.percent
        elif said is not None:
            self._reports.put(said)

    def _advertised(self, said: DieReport | None) -> None:
        """Passes on what is news; a die advertises the same many times a second. What it shows when it is met for the
        first time lay there before."""
        if said is None:
            return
        self._seen.add(said.die)
        state, before = (said.phase, said.value), self._last.get(said.die)
        self._last[said.die] = state
        if state != before:
            self._reports.put(said if before is not None else replace(said, fresh=False))


def _bleak() -> Any:
    import bleak

    return bleak


def open_dice(url: str, importer: Callable[[], Any] = _bleak) -> BleDice:
    """The Bluetooth dice that come near; raises BadAddressError for another URL than `ble://any`, and DeviceError when
    bleak is not installed."""
    if url != "ble://any":
        raise BadAddressError(f"{url!r} is no address of dice: write ble://any")
    try:
        bleak = importer()
    except ImportError as error:
        raise DeviceError(
            f"{url}: bleak is missing; install the program with its extra: pip install 'tabletop-companion[ble]'"
        ) from error
    return BleDice(bleak)
