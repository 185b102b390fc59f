"""From the raw edges of several buttons to clean presses; pure, so that any train of edges can be tried."""

from __future__ import annotations

from collections.abc import Iterable

from devices.contract import Press
from devices.firmware.debounce import Button

SETTLE_S = 0.025
"""A level counts when it has lasted so long; worn switches bounce for 5 to 20 ms."""
HELD_S = 1.5
STUCK_S = 20.0
"""A button held longer than this is reported as stuck; it gives no further press until it is let go."""


class Debouncer:
    """One state machine a button (`devices.firmware.debounce`, the same as on a Pico). Times are seconds."""

    def __init__(self, settle_s: float = SETTLE_S, stuck_s: float = STUCK_S) -> None:
        self._settle_s, self._stuck_s = settle_s, stuck_s
        self._buttons: dict[str, Button] = {}
        self._presses: list[Press] = []

    def edge(self, button: str, down: bool, time_s: float) -> None:
        """The contact closed or opened; repeats of the present level are ignored, and a time before the last edge's
        counts as that one's. A button's first call tells the level that it begins with."""
        state = self._buttons.get(button)
        if state is None:
            self._buttons[button] = Button(self._settle_s, HELD_S, self._stuck_s, down, time_s)
        else:
            self._note(button, state.edge(down, time_s))

    def level(self, button: str) -> bool | None:
        """The last raw level heard of, None for a button never seen."""
        state = self._buttons.get(button)
        return None if state is None else state.raw

    def presses(self, now_s: float) -> list[Press]:
        """The clean presses up to now that have not been given out, oldest first, each with the time of the first
        contact."""
        for button, state in self._buttons.items():
            self._note(button, state.poll(now_s))
        ready, self._presses = sorted(self._presses, key=lambda p: p.time_s), []
        return ready

    def next_s(self) -> float | None:
        """When a level will have lasted long enough to count, if no edge comes before; None when nothing is open."""
        return min((b.raw_since + self._settle_s for b in self._buttons.values() if b.raw != b.down), default=None)

    def stuck(self, now_s: float) -> Iterable[str]:
        """Buttons that have been down for suspiciously long."""
        return [n for n, b in self._buttons.items() if b.down and now_s - b.down_since >= self._stuck_s]

    def _note(self, button: str, events: list[tuple[str, float]]) -> None:
        self._presses += [Press(button, at_s) for event, at_s in events if event == "press"]
