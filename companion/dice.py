"""Bluetooth dice in the game: their rolls become evidence, and what is wrong with them is said while it lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable

from companion.box import hear_die
from companion.bulletin import Device
from companion.games.contract import Message
from companion.service import Service
from devices.ble_dice import BleDice, open_dice
from devices.contract import Condition, DeviceError

POLL_S = 0.2


class DiceThread:
    """Keeps the dice of one address in the game."""

    def __init__(self, service: Service, url: str, opener: Callable[[str], BleDice] = open_dice) -> None:
        self._service, self._url, self._opener = service, url, opener
        self._told: Condition | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dice", daemon=True)

    def start(self) -> None:
        """Begins to listen; dice that are not there are looked for all the time."""
        self._thread.start()

    def stop(self) -> None:
        """Ends; returns when the radio is free."""
        self._stop.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        try:
            dice = self._opener(self._url)
        except DeviceError as error:
            words = Message("ble.unusable", (("error", str(error)),))
            self._service.report(Device("dice", self._url, False, words), "dice", words)
            return
        try:
            while not self._stop.is_set():
                self._tell(dice.condition)
                report = dice.read(POLL_S)
                if report is not None and report.fresh:
                    hear_die(self._service, report)
        finally:
            dice.close()

    def _tell(self, condition: Condition) -> None:
        if condition != self._told:
            self._told = condition
            words = Message(condition.message, condition.values)
            self._service.report(
                Device("dice", self._url, condition.ok, words), "dice", None if condition.ok else words
            )
