"""The device's end of the protocol: hello, heartbeat, events until acknowledged, commands. Knows no pins.

Runs under MicroPython and CPython alike. The owner feeds it bytes and time, and writes what `poll` returns.
"""

from devices.firmware.wire import VERSION, Inbox, Lines, Outbox, encode

TYPE_CHECKING = False  # MicroPython has no typing module; a checker takes this name for true
if TYPE_CHECKING:
    from collections.abc import Callable

BEAT_MS = 500
HOST_GONE_MS = 3500
AGAIN_MS = 120
CAPACITY = 64


class Box:
    """One device: buttons, dice, lights, a timer, whatever `capabilities` names.

    `obey(kind, arguments)` is called once for each command of the host (`LIGHT accepted`, `TIMER turn 60000`), and with
    `LIGHT trouble` when the host has fallen silent. `state()` returns what holds now as (kind, *arguments) lines
    (`DIE a settled 6 4`); the host asks for it with `ASK` and gets each line behind the word `NOW`, so that it is never
    taken for something that has just happened.
    """

    def __init__(
        self,
        identity: str,
        name: str,
        capabilities: str,
        boot: str,
        obey: "Callable[[str, list[str]], None]",
        state: "Callable[[], list[tuple[str, ...]]]",
    ) -> None:
        self._about = (str(VERSION), identity, name, capabilities)
        self._boot = boot
        self._obey = obey
        self._state = state
        self._lines = Lines()
        self._commands = Inbox()
        self._outbox = Outbox(CAPACITY, AGAIN_MS)
        self._answers = b""
        self._beat_ms: int | None = None
        self._heard_ms: int | None = None
        self._greeted = False

    def event(self, kind: str, *arguments: str) -> None:
        """Queues an event (`BTN done1 press`, `DIE a settled 6 4`) until the host has acknowledged it."""
        self._outbox.put(kind, *arguments)

    def feed(self, data: bytes, now_ms: int) -> None:
        """Takes what the host sent."""
        for sequence, words in self._lines.feed(data):
            self._heard_ms = now_ms
            self._take(sequence, words[0], words[1:])

    def poll(self, now_ms: int) -> bytes:
        """What must be written now: answers, the heartbeat, events that are new or not yet acknowledged."""
        if self._greeted and self._heard_ms is not None and now_ms - self._heard_ms > HOST_GONE_MS:
            self._greeted = False
            self._obey("LIGHT", ["trouble"])
        out, self._answers = self._answers, b""
        if self._beat_ms is None or now_ms - self._beat_ms >= BEAT_MS:
            self._beat_ms = now_ms
            out += encode(0, "BEAT", self._boot, str(self._outbox.lost))
        return out + self._outbox.due(now_ms) if self._greeted else out

    def _take(self, sequence: int, kind: str, arguments: list[str]) -> None:
        if kind == "HELLO" and len(arguments) == 2 and arguments[1].isdigit():
            self._commands.expect(int(arguments[1]))
            self._greeted = False
            self._answers += encode(0, "IAM", *(self._about + (self._boot, str(self._outbox.oldest))))
        elif kind == "PING" and arguments:
            # Only a host that has read this boot's IAM knows which event to expect: none is sent before.
            if arguments[0] == self._boot and not self._greeted:
                self._greeted = True
                self._outbox.resend()
        elif kind == "ACK" and arguments and arguments[0].isdigit():
            self._outbox.acknowledged(int(arguments[0]))
        elif sequence:
            new = self._commands.is_new(sequence)
            self._answers += encode(0, "ACK", str(self._commands.last))
            if new and kind == "ASK":
                for line in self._state():
                    self._outbox.put("NOW", *line)
            elif new:
                self._obey(kind, arguments)
