"""Edges in, presses out: one button's debounce state machine. Runs under MicroPython and CPython alike."""

SETTLE_MS = 15
HELD_MS = 1500
STUCK_MS = 15000


class Button:
    """Contacts bounce on closing and on opening, so a level counts only when it has rested for `settle_ms` without an
    edge; what never rests that long is a ghost and is not told. Times are milliseconds of any steady clock.
    """

    def __init__(self, settle_ms: int = SETTLE_MS) -> None:
        self.settle_ms = settle_ms
        self.state = "up"  # up, down, held, stuck
        self._level = False
        self._since_ms: int | None = None  # last edge, None before the first
        self._down_ms = 0

    def edge(self, closed: bool, at_ms: int) -> list[str]:
        """What follows from an edge at `at_ms`: what had settled before it, see `poll`."""
        events = self.poll(at_ms)
        if closed != self._level:
            self._level = closed
            self._since_ms = at_ms
        return events

    def poll(self, now_ms: int) -> list[str]:
        """The events since the last call, in order: `press`, `release`, `held`, `stuck`."""
        events = []
        settled = self._since_ms is not None and now_ms - self._since_ms >= self.settle_ms
        if settled and self._level and self.state == "up":
            self.state = "down"
            self._down_ms = self._since_ms or 0
            events.append("press")
        if settled and not self._level and self.state != "up":
            self.state = "up"
            events.append("release")
        if self.state == "down" and now_ms - self._down_ms >= HELD_MS:
            self.state = "held"
            events.append("held")
        if self.state == "held" and now_ms - self._down_ms >= STUCK_MS:
            self.state = "stuck"
            events.append("stuck")
        return events
