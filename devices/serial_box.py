"""What a serial device's lines mean: presses, dice, timers in; light signals out."""

from __future__ import annotations

import time

from devices.contract import SIGNALS, BadAddressError, Condition, DeviceGone, DieReport, Press, TimerReport
from devices.serial_link import About, SerialLink, WireEvent
from devices.serial_port import candidate_ports

BoxEvent = Press | DieReport | TimerReport
NONSENSE_S = 2.0
"""So long after its last line of nonsense a device is said to talk it."""
FACES = frozenset({4, 6, 8, 10, 12, 20})
PHASES = ("rolling", "cocked")
BUTTON_STATES = ("press", "release", "held", "stuck", "ghost")


class SerialBox:
    """A `Source` of presses, die reports and timer reports, and `Lights`, over one link."""

    def __init__(self, link: SerialLink) -> None:
        self.rejected = 0
        self._link = link
        self._nonsense = ("", -NONSENSE_S)
        self._held: dict[str, str] = {}
        self._open = True

    @property
    def condition(self) -> Condition:
        """How the device is; one that talks nonsense, or has a button that stays down, is not well though connected."""
        condition = self._link.condition
        line, at_s = self._nonsense
        if condition.ok and time.monotonic() - at_s < NONSENSE_S:
            return Condition(False, "serial.nonsense", (("line", line), ("count", self.rejected)))
        boot = self.about.boot if self.about is not None else ""
        held = [button for button, since in self._held.items() if since == boot]
        if condition.ok and held:
            return Condition(False, "devices.button_stuck", (("button", held[0]),))
        return condition

    @property
    def working(self) -> bool:
        """True while the device is connected, well or not."""
        return self._link.serving

    @property
    def about(self) -> About | None:
        """What the device has said of itself; None before it has been met."""
        return self._link.about

    def read(self, timeout_s: float) -> BoxEvent | None:
        """The next event, or None when none came in time; what makes no sense is counted, never repaired. Raises
        DeviceGone after `close`; a device that is away is waited for."""
        if not self._open:
            raise DeviceGone("the serial device has been closed; open it again")
        event = self._link.read(timeout_s)
        if event is None:
            return None
        meant = understand(event)
        if event.kind == "BTN" and len(event.arguments) == 2 and event.arguments[1] in BUTTON_STATES:
            self._note_button(*event.arguments)
        elif meant is None:
            self.rejected += 1
            self._nonsense = (" ".join((event.kind, *event.arguments)), event.time_s)
        return meant

    def _note_button(self, button: str, state: str) -> None:
        """Keeps which buttons are held down, and since which boot: after another one their release is never told."""
        if state in ("held", "stuck"):
            self._held[button] = self.about.boot if self.about is not None else ""
        else:
            self._held.pop(button, None)

    def show(self, signal: str) -> None:
        """Shows `signal`, one of SIGNALS, on the device's lights; raises ValueError for any other word, DeviceGone
        after `close`."""
        if signal not in SIGNALS:
            raise ValueError(f"{signal!r} is no light signal; known are {', '.join(SIGNALS)}")
        if not self._open:
            raise DeviceGone("the serial device has been closed; open it again")
        self._link.send("LIGHT", signal)

    def start_timer(self, timer: str, milliseconds: int) -> None:
        """Starts the turn timer with this much time left."""
        self._link.send("TIMER", timer, str(milliseconds))

    def stop_timer(self, timer: str) -> None:
        """Stops the turn timer where it is."""
        self._link.send("TIMER", timer, "stop")

    def close(self) -> None:
        """Closes the link; may be called any number of times."""
        self._open = False
        self._link.close()


def understand(event: WireEvent) -> BoxEvent | None:
    """The event as a report, or None when it is none of ours or its values are out of range."""
    kind, words, fresh = event.kind, event.arguments, True
    if kind == "NOW" and words:
        kind, words, fresh = words[0], words[1:], False
    if kind == "BTN" and len(words) == 2 and words[1] == "press" and fresh:
        return Press(words[0], event.time_s)
    if kind == "DIE" and len(words) >= 3:
        return _die(words, event.time_s, fresh)
    if kind == "TIMER" and len(words) == 3 and words[1] in ("run", "stop"):
        return _timer(words, event.time_s)
    return None


def _die(words: tuple[str, ...], time_s: float, fresh: bool) -> DieReport | None:
    die, phase, faces = words[:3]
    if not faces.isdigit() or int(faces) not in FACES:
        return None
    if phase in PHASES and len(words) == 3:
        return DieReport(die, phase, int(faces), None, time_s, fresh)
    if phase == "settled" and len(words) == 4 and words[3].isdigit() and 1 <= int(words[3]) <= int(faces):
        return DieReport(die, phase, int(faces), int(words[3]), time_s, fresh)
    return None


def _timer(words: tuple[str, ...], time_s: float) -> TimerReport | None:
    remaining = words[2]
    if not remaining.removeprefix("-").isdigit() or len(remaining) > 9:
        return None
    return TimerReport(words[0], int(remaining), words[1] == "run", time_s)


def open_box(url: str, identity: str = "") -> SerialBox:
    """The device at `serial://any` (wherever one answers), `serial://by-id/NAME`, `serial:///dev/...` or
    `serial://socket/HOST:PORT`; it is looked for until it answers. `identity` is the one to insist on, empty for any.

    Raises BadAddressError for another form.
    """
    place = url.removeprefix("serial://")
    if place == url or not place:
        raise BadAddressError(
            f"{url!r} is no serial address: write serial://any, serial://by-id/NAME or serial:///dev/…"
        )
    if place == "any":
        return SerialBox(SerialLink(candidate_ports, identity))
    if place.startswith("by-id/"):
        port = f"/dev/serial/{place}"
    elif place.startswith("socket/"):
        port = f"socket://{place.removeprefix('socket/')}"
    elif place.startswith("/"):
        port = place
    else:
        raise BadAddressError(f"{url!r} names no port: write serial://any, serial://by-id/NAME or serial:///dev/…")
    return SerialBox(SerialLink(lambda: [port], identity))
