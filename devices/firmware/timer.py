"""A turn timer that counts down. Runs under MicroPython and CPython alike."""


class Timer:
    """Remaining time of one named timer, in milliseconds; goes below zero when overrun."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.running = False
        self._left_ms = 0
        self._started_ms = 0

    def command(self, argument: str, now_ms: int) -> None:
        """`stop`, or the milliseconds to start with; anything else changes nothing."""
        if argument == "stop":
            self._left_ms = self.left_ms(now_ms)
            self.running = False
        elif argument.isdigit():
            self._left_ms = int(argument)
            self._started_ms = now_ms
            self.running = True

    def left_ms(self, now_ms: int) -> int:
        """Milliseconds left at `now_ms`."""
        return self._left_ms - (now_ms - self._started_ms if self.running else 0)

    def line(self, now_ms: int) -> tuple[str, ...]:
        """The timer's event line: `TIMER <name> run|stop <milliseconds left>`."""
        return ("TIMER", self.name, "run" if self.running else "stop", str(self.left_ms(now_ms)))
