"""The buttons on pins in the game: presses become commands, and what is wrong with one is said while it lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from companion.box import press
from companion.bulletin import Device
from companion.games.contract import Message
from companion.service import Service
from devices.contract import Condition, DeviceError, Press, Source

RETRY_S = (1.0, 2.0, 5.0, 10.0)
"""Pauses between tries to open a box of buttons."""

POLL_S = 0.2


class Buttons(Source[Press], Protocol):
    """Buttons that also say how each of them is."""

    def conditions(self) -> Mapping[str, Condition]:
        """How each button is, by its name."""


class ButtonsThread:
    """Turns presses into commands: `done1` ends the first player's turn, `takeback` and `referee` are what they say."""

    def __init__(self, service: Service, url: str, opener: Callable[[str], Buttons]) -> None:
        self._service, self._url, self._opener = service, url, opener
        self._told: dict[str, Condition] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="buttons", daemon=True)

    def start(self) -> None:
        """Begins to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Ends; returns when the buttons are released."""
        self._stop.set()
        self._thread.join(10.0)

    def _run(self) -> None:
        tries = 0
        while not self._stop.is_set():
            try:
                buttons = self._opener(self._url)
            except DeviceError as error:
                self._lost(error)
            else:
                self._service.report(
                    Device("buttons", self._url, True, Message("companion.buttons_work")), "buttons", None
                )
                self._service.has_buttons(True)
                tries = 0
                try:
                    while not self._stop.is_set():
                        pressed = buttons.read(POLL_S)
                        self._tell(buttons.conditions())
                        if pressed is not None:
                            press(self._service, pressed.button)
                except DeviceError as error:
                    self._lost(error)
                finally:
                    buttons.close()
                    self._service.has_buttons(False)
            self._stop.wait(RETRY_S[min(tries, len(RETRY_S) - 1)])
            tries += 1

    def _tell(self, conditions: Mapping[str, Condition]) -> None:
        """Says what is wrong with a button, while it is."""
        for name, condition in conditions.items():
            if condition != self._told.get(name):
                self._told[name] = condition
                report_part(self._service, f"button {name}", condition)

    def _lost(self, error: DeviceError) -> None:
        words = Message("companion.buttons_missing", (("url", self._url), ("error", str(error))))
        self._service.report(Device("buttons", self._url, False, words), "buttons", words)


def report_part(service: Service, name: str, condition: Condition) -> None:
    """Tells what is wrong with one button or light, or that nothing is."""
    service.report(None, name, None if condition.ok else Message(condition.message, condition.values))
