"""Edges in, presses out: one button's debounce state machine. Runs under MicroPython and CPython alike.

Times may be milliseconds or seconds, as long as all of one button's are the same and never run backwards.
"""


class Button:
    """A level counts when it has rested for `settle` without an edge; what never rests that long is a ghost.

    Contacts bounce on closing and on opening. The result depends on the edges and their times alone, not on when it is
    asked. A button that is closed from the start gives no press until it has been let go.
    """

    def __init__(self, settle: float, held: float, stuck: float, closed: bool = False, at: float = 0) -> None:
        self.raw = closed
        self.down = closed
        self.down_since = at
        self.raw_since = at
        self._settle = settle
        self._held = held
        self._stuck = stuck
        self._begun: float | None = None
        self._phase = "ignored" if closed else "up"

    def edge(self, closed: bool, at: float) -> list[tuple[str, float]]:
        """Takes an edge (a repeat of the present level is none) and returns what had settled before it, see `poll`."""
        at = max(at, self.raw_since)
        events = self.poll(at)
        if closed != self.raw:
            self.raw = closed
            self.raw_since = at
            if closed and not self.down and self._begun is None:
                self._begun = at
        return events

    def poll(self, now: float) -> list[tuple[str, float]]:
        """What has happened since the last call, in order, each with its time: `press` (that of the first contact),
        `release`, `held`, `stuck`; `ghost`: a contact, or a train of them, too short to be a press."""
        events = []
        if now - self.raw_since >= self._settle:
            if self.raw != self.down:
                self.down = self.raw
                self.down_since = self.raw_since
                if self.down:
                    events.append(("press", self.raw_since if self._begun is None else self._begun))
                else:
                    events.append(("release", self.raw_since))
                self._phase = "down" if self.down else "up"
            elif not self.down and self._begun is not None:
                events.append(("ghost", self._begun))
            self._begun = None
        if self._phase == "down" and now - self.down_since >= self._held:
            self._phase = "held"
            events.append(("held", self.down_since + self._held))
        if self._phase == "held" and now - self.down_since >= self._stuck:
            self._phase = "stuck"
            events.append(("stuck", self.down_since + self._stuck))
        return events
