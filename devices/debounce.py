"""From the raw edges of several buttons to clean presses; pure, so that any train of edges can be tried."""

from __future__ import annotations

from collections import deque

from devices.contract import Press
from devices.firmware.debounce import Button

SETTLE_S = 0.025
"""A level counts when it has lasted so long; worn switches bounce for 5 to 20 ms."""
HELD_S = 1.5
STUCK_S = 1.8
"""A button held longer than this is reported as stuck; it gives no further press until it is let go."""

AT_START_S = 1.0
"""One that is closed so long from the start on is taken for wired the other way round, until it was open for OPEN_S."""
OPEN_S = 2.0

WORN_EDGES, WORN_S = 24, 1.0
"""So many edges within so long come from a worn contact; a new one bounces up to ten times."""

SAID_S = 2.0
"""So long a ghost and a worn contact are told after the last sign of them."""


class Debouncer:
    """One state machine a button (`devices.firmware.debounce`, the same as on a Pico). Times are seconds."""

    def __init__(self, settle_s: float = SETTLE_S, stuck_s: float = STUCK_S) -> None:
        self._settle_s, self._stuck_s = settle_s, stuck_s
        self._buttons: dict[str, Button] = {}
        self._presses: list[Press] = []
        self._closed_at_start: dict[str, float] = {}
        self._edges: dict[str, deque[float]] = {}
        self._worn_s: dict[str, float] = {}
        self._ghost_s: dict[str, float] = {}

    def edge(self, button: str, down: bool, time_s: float) -> None:
        """The contact closed or opened; repeats of the present level are ignored, and a time before the last edge's
        counts as that one's. A button's first call tells the level that it begins with."""
        state = self._buttons.get(button)
        if state is None:
            self._buttons[button] = Button(self._settle_s, HELD_S, self._stuck_s, down, time_s)
            self._edges[button] = deque(maxlen=WORN_EDGES)
            if down:
                self._closed_at_start[button] = time_s
            return
        if down != state.raw:
            edges = self._edges[button]
            edges.append(time_s)
            if len(edges) == WORN_EDGES and time_s - edges[0] <= WORN_S:
                self._worn_s[button] = time_s
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

    def forget(self, button: str) -> None:
        """Begins anew with a button: its next edge tells the level that it begins with."""
        for known in (self._buttons, self._closed_at_start, self._edges, self._worn_s, self._ghost_s):
            known.pop(button, None)

    def faults(self, now_s: float) -> dict[str, str]:
        """What is wrong with which button: `inverted` (closed from the start on, as one is that opens when pressed),
        `stuck`, `bounces` (a worn contact), `ghost` (something touched its wire)."""
        found = {}
        for name, button in self._buttons.items():
            since_s = self._closed_at_start.get(name)
            if since_s is not None and not button.raw and now_s - button.raw_since >= OPEN_S:
                del self._closed_at_start[name]
                since_s = None
            if since_s is not None and now_s - since_s >= AT_START_S:
                found[name] = "inverted"
            elif button.down and now_s - button.down_since >= self._stuck_s:
                found[name] = "stuck"
            elif now_s - self._worn_s.get(name, -SAID_S) < SAID_S:
                found[name] = "bounces"
            elif now_s - self._ghost_s.get(name, -SAID_S) < SAID_S:
                found[name] = "ghost"
        return found

    def _note(self, button: str, events: list[tuple[str, float]]) -> None:
        self._presses += [Press(button, at_s) for event, at_s in events if event == "press"]
        for event, at_s in events:
            if event == "ghost":
                self._ghost_s[button] = at_s
