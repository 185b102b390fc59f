"""A whole device over the protocol: buttons, dice and a timer around one `Box`. Knows no pins.

Runs under MicroPython and CPython alike; `main` feeds it from a Pico's pins, a simulator from a script.
"""

from devices.firmware.box import Box
from devices.firmware.debounce import Button
from devices.firmware.die import Die
from devices.firmware.timer import Timer

TYPE_CHECKING = False  # MicroPython has no typing module; a checker takes this name for true
if TYPE_CHECKING:
    from collections.abc import Callable


SETTLE_MS, HELD_MS, STUCK_MS = 25, 1500, 20000


class Panel:
    """Edges, accelerations and bytes in; bytes and light signals out. Times are milliseconds of one steady clock."""

    def __init__(
        self, identity: str, name: str, boot: str, buttons: list[str], dice: list[str], show: "Callable[[str], None]"
    ) -> None:
        self.buttons = {b: Button(SETTLE_MS, HELD_MS, STUCK_MS) for b in buttons}
        self.dice = {d: Die(d) for d in dice}
        self.timer = Timer("turn")
        self._show = show
        self._now_ms = 0
        abilities = ["lights", "timer"] + (["buttons"] if buttons else []) + (["dice"] if dice else [])
        self.box = Box(identity, name, ",".join(abilities), boot, self._obey, self._state)

    def level(self, button: str, closed: bool, now_ms: int) -> None:
        """How a button's contact is when the device starts: one that is closed then gives no press."""
        self.buttons[button] = Button(SETTLE_MS, HELD_MS, STUCK_MS, closed, now_ms)

    def edge(self, button: str, closed: bool, at_ms: int) -> None:
        """A button's contact has closed or opened."""
        self._tell(button, self.buttons[button].edge(closed, at_ms))

    def accelerate(self, die: str, xyz_mg: tuple[int, int, int], now_ms: int) -> None:
        """A sample of a die's accelerometer in thousandths of g."""
        if self.dice[die].feed(xyz_mg, now_ms):
            self.box.event(*self.dice[die].line())

    def feed(self, data: bytes, now_ms: int) -> None:
        """Bytes from the host."""
        self._now_ms = now_ms
        self.box.feed(data, now_ms)

    def poll(self, now_ms: int) -> bytes:
        """Bytes for the host; to be called at least every few milliseconds."""
        self._now_ms = now_ms
        for name, button in self.buttons.items():
            self._tell(name, button.poll(now_ms))
        return self.box.poll(now_ms)

    def _tell(self, name: str, events: list[tuple[str, float]]) -> None:
        for event, _ in events:
            self.box.event("BTN", name, event)

    def _obey(self, kind: str, arguments: list[str]) -> None:
        if kind == "LIGHT" and arguments:
            self._show(arguments[0])
        elif kind == "TIMER" and len(arguments) == 2 and arguments[0] == self.timer.name:
            self.timer.command(arguments[1], self._now_ms)
            self.box.event(*self.timer.line(self._now_ms))

    def _state(self) -> list[tuple[str, ...]]:
        return [d.line() for d in self.dice.values()] + [self.timer.line(self._now_ms)]
