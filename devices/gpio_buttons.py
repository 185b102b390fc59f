"""Buttons on GPIO pins: raw edges from gpiozero, presses by our own debouncing, and what is wrong with each."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from gpiozero import Button, GPIOZeroError

from devices.clock import SYSTEM_CLOCK
from devices.contract import Clock, Condition, DeviceGone, Press
from devices.debounce import Debouncer
from devices.wiring import Wiring, bad_pin

STEP_S = 0.01
"""How finely a simulated clock is moved on while waiting for a press."""

AGAIN_S = 1.5
"""A pin that could not be used is tried again so often: another program may have let go of it."""


class GpioButtons:
    """A `Source` of clean presses. Presses are never dropped: several since the last read come one by one."""

    def __init__(self, pins: Mapping[str, Wiring], factory: Any, clock: Clock, url: str) -> None:
        self._clock, self._url = clock, url
        self._pins, self._factory = dict(pins), factory
        self._debouncer = Debouncer()
        self._edges: deque[tuple[str, bool, float]] = deque()
        self._ready: deque[Press] = deque()
        self._news = threading.Condition()
        self._buttons: dict[str, Button] = {}
        self._bad: dict[str, Condition] = {}
        self._tried_s = clock.now_s()
        self._open = True
        for name in pins:
            self._connect(name)

    def _connect(self, name: str) -> None:
        wire = self._pins[name]
        try:
            button = Button(wire.pin, pull_up=not wire.to_supply, bounce_time=None, pin_factory=self._factory)
        except (GPIOZeroError, OSError, ValueError) as error:
            self._bad[name] = bad_pin("devices.button_bad_pin", name, wire.pin, error)
            return
        self._bad.pop(name, None)
        self._buttons[name] = button
        self._debouncer.forget(name)
        self._debouncer.edge(name, bool(button.is_pressed) != wire.opens, self._clock.now_s())
        button.when_pressed = partial(self._heard, name, not wire.opens)
        button.when_released = partial(self._heard, name, wire.opens)

    @property
    def working(self) -> bool:
        """True when at least one button can be read."""
        return bool(self._buttons)

    def read(self, timeout_s: float) -> Press | None:
        """The oldest press not yet read, or None when there is none within `timeout_s`; DeviceGone after `close`."""
        deadline_s = self._clock.now_s() + timeout_s
        while True:
            if not self._open:
                raise DeviceGone(f"{self._url}: the buttons have been closed; open them again")
            now_s = self._clock.now_s()
            self._drain(now_s)
            if self._ready:
                return self._ready.popleft()
            if now_s >= deadline_s:
                return None
            self._wait(min(deadline_s, self._debouncer.next_s() or deadline_s) - now_s)

    def conditions(self) -> dict[str, Condition]:
        """How each button is: works, its pin cannot be used, or what its edges say of it."""
        faults = self._debouncer.faults(self._clock.now_s())
        fine = {
            name: Condition(name not in faults, f"devices.button_{faults.get(name, 'works')}", (("button", name),))
            for name in self._buttons
        }
        return {**fine, **self._bad}

    def close(self) -> None:
        """Releases the pins; may be called any number of times."""
        self._open = False
        for button in self._buttons.values():
            button.close()
        self._buttons.clear()
        with self._news:
            self._news.notify_all()

    def _heard(self, name: str, down: bool) -> None:
        """Called in the pin library's thread: only notes the edge."""
        self._edges.append((name, down, self._clock.now_s()))
        with self._news:
            self._news.notify_all()

    def _drain(self, now_s: float) -> None:
        if self._bad and now_s - self._tried_s >= AGAIN_S:
            self._tried_s = now_s
            for name in tuple(self._bad):
                self._connect(name)
        while self._edges:
            self._debouncer.edge(*self._edges.popleft())
        for name, button in self._buttons.items():  # an edge that the library lost shows in the level
            down = bool(button.is_pressed) != self._pins[name].opens
            if down != self._debouncer.level(name) and not self._edges:
                self._debouncer.edge(name, down, now_s)
        self._ready.extend(self._debouncer.presses(now_s))

    def _wait(self, seconds: float) -> None:
        if self._clock is not SYSTEM_CLOCK:
            self._clock.sleep_s(min(max(seconds, 1e-4), STEP_S))
            return
        with self._news:
            if not self._edges and self._open:
                self._news.wait(max(seconds, 0.001))
