"""From the raw edges of buttons to clean presses; pure, so that any train of edges can be tried."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from devices.contract import Press

SETTLE_S = 0.025
"""A level counts when it has lasted so long; worn switches bounce for 5 to 20 ms."""
STUCK_S = 20.0
"""A button held longer than this is reported as stuck; it gives no further press until it is let go."""


@dataclass(slots=True)
class _State:
    raw: bool
    raw_since_s: float
    held: bool
    held_since_s: float
    begun_s: float | None = None


class Debouncer:
    """One state machine a button. The presses depend only on the edges and their times, not on when it is asked.

    A button that is down when it is first seen gives no press until it has been let go.
    """

    def __init__(self, settle_s: float = SETTLE_S, stuck_s: float = STUCK_S) -> None:
        self._settle_s, self._stuck_s = settle_s, stuck_s
        self._states: dict[str, _State] = {}
        self._presses: list[Press] = []

    def edge(self, button: str, down: bool, time_s: float) -> None:
        """The contact closed or opened; repeats of the present level are ignored, and a time before the last edge's
        counts as that one's."""
        state = self._states.get(button)
        if state is None:
            self._states[button] = _State(down, time_s, down, time_s)
            return
        time_s = max(time_s, state.raw_since_s)
        self._settle(button, state, time_s)
        if down == state.raw:
            return
        state.raw, state.raw_since_s = down, time_s
        if down and not state.held and state.begun_s is None:
            state.begun_s = time_s

    def level(self, button: str) -> bool | None:
        """The last raw level heard of, None for a button never seen."""
        state = self._states.get(button)
        return None if state is None else state.raw

    def presses(self, now_s: float) -> list[Press]:
        """The clean presses up to now that have not been given out, oldest first, each with the time of the first
        contact."""
        for button, state in self._states.items():
            self._settle(button, state, now_s)
        ready, self._presses = sorted(self._presses, key=lambda p: p.time_s), []
        return ready

    def next_s(self) -> float | None:
        """When a level will have lasted long enough to count, if no edge comes before; None when nothing is open."""
        open_ = [s.raw_since_s + self._settle_s for s in self._states.values() if s.raw != s.held]
        return min(open_, default=None)

    def stuck(self, now_s: float) -> Iterable[str]:
        """Buttons that have been down for suspiciously long."""
        return [b for b, s in self._states.items() if s.held and now_s - s.held_since_s >= self._stuck_s]

    def _settle(self, button: str, state: _State, now_s: float) -> None:
        """Takes over a raw level that has lasted long enough by now."""
        if now_s - state.raw_since_s < self._settle_s:
            return
        if state.raw != state.held:
            state.held, state.held_since_s = state.raw, state.raw_since_s
            if state.held:
                begun = state.begun_s if state.begun_s is not None else state.raw_since_s
                self._presses.append(Press(button, begun))
        state.begun_s = None
