"""One serial device found by its identity, whatever its port is called; lines in, lines out, nothing lost or doubled.

The thread of a link moves bytes and keeps the connection; what the lines mean is for the devices built on it
(`devices.serial_box`). Protocol: docs/serial-protocol.md.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from devices.contract import Condition
from devices.firmware.wire import VERSION, Inbox, Outbox, encode
from devices.serial_port import PORT_ERRORS, Port, candidate_ports
from devices.wire_health import WireHealth

HELLO_S = 2.5  # opening resets many boards; they need about two seconds to answer
HELLO_AGAIN_S = 0.4
TWIN_S = 0.3
PING_S = 1.0
SILENT_S = 1.6
NEW_PORT_S = 0.5
OVERFLOW_S = 10.0
AGAIN_MS = 120
BACK_OFF_S = (0.1, 0.2, 0.4, 0.5)


@dataclass(frozen=True, slots=True)
class About:
    """What a device says of itself: protocol version, identity (unique, from its chip), name, what it can do, a word
    that changes with every boot, and the number of the first event that it will send."""

    version: int
    identity: str
    name: str
    capabilities: tuple[str, ...]
    boot: str
    first_event: int


@dataclass(frozen=True, slots=True)
class WireEvent:
    """One acknowledged line from the device: kind, arguments, and monotonic time of arrival in seconds."""

    kind: str
    arguments: tuple[str, ...]
    time_s: float


def parse_about(words: list[str]) -> About | None:
    """The `IAM` line's content, or None when it is not one or lacks something."""
    if len(words) != 7 or words[0] != "IAM" or not (words[1].isdigit() and words[6].isdigit()):
        return None
    return About(int(words[1]), words[2], words[3], tuple(words[4].split(",")), words[5], int(words[6]))


class _Newcomer:
    """A port that has come while another is served, until it is known whether the same identity answers there."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self._since_s = time.monotonic()
        self._twin = False

    def answer(self, hello: bytes, identity: str) -> bool | None:
        """Whether it is a twin; None while that is not known. A twin that is gone is none any more."""
        self.port.write(hello)
        told = [parse_about(words) for _, words in self.port.read()]
        if any(about is not None and about.identity == identity for about in told):
            self._twin = True
        if self.port.gone:
            return False
        if self._twin or any(told):
            return self._twin
        return False if time.monotonic() - self._since_s > HELLO_S else None

    def close(self) -> None:
        self.port.close()


def _newcomer(urls: list[str]) -> _Newcomer | None:
    for url in urls:
        try:
            return _Newcomer(Port(url))
        except PORT_ERRORS:  # somebody else's
            continue
    return None


def _other_version(about: About) -> Condition:
    values = (("name", about.name), ("theirs", about.version), ("ours", VERSION))
    return Condition(False, "serial.version", values)


class SerialLink:
    """Keeps one device connected: searches it by identity, says hello, answers, pings, finds it again under any name.

    `ports` lists where to look, asked anew at each search. `identity` is the device to insist on; empty takes the
    first that answers and remembers it (`identity` attribute) from then on.
    """

    def __init__(self, ports: Callable[[], Iterable[str]] = candidate_ports, identity: str = "") -> None:
        self.identity = identity
        self.about: About | None = None
        self.damaged = 0
        self.lost = 0
        self._ports = ports
        self._inbox = Inbox()
        self._events: queue.SimpleQueue[WireEvent] = queue.SimpleQueue()
        self._outbox = Outbox(capacity=64, again_ms=AGAIN_MS)
        self._lock = threading.Lock()
        self._condition = Condition(False, "serial.searching")
        self._health = WireHealth()
        self._overflow_s = -OVERFLOW_S
        self._served: frozenset[str] = frozenset()
        self._newcomer: _Newcomer | None = None
        self.serving = False
        """True while the device is connected, well or not."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="serial-link", daemon=True)
        self._thread.start()

    @property
    def condition(self) -> Condition:
        """How the link is, in words to come."""
        about, condition, now_s = self.about, self._condition, time.monotonic()
        if about is None or not self.serving or not condition.ok:
            return condition
        if now_s - self._overflow_s < OVERFLOW_S:
            return Condition(False, "serial.overflow", (("count", self.lost),))
        return self._health.condition(about.name, now_s) or condition

    def read(self, timeout_s: float) -> WireEvent | None:
        """The next event in order, or None when none came within `timeout_s`."""
        try:
            return self._events.get(timeout=timeout_s) if timeout_s > 0 else self._events.get_nowait()
        except queue.Empty:
            return None

    def send(self, kind: str, *arguments: str) -> None:
        """Sends a command until the device acknowledges it; one that cannot go out now goes when the device is back."""
        with self._lock:
            self._outbox.put(kind, *arguments)

    def close(self) -> None:
        """Ends the link and frees the port; may be called any number of times."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        tries = 0
        while not self._stop.is_set():
            found = self._search()
            if found is None:
                self._stop.wait(BACK_OFF_S[min(tries, len(BACK_OFF_S) - 1)])
                tries += 1
                continue
            tries = 0
            port, about = found
            self._ready(about)
            self._health = WireHealth()
            self.serving = True
            ended = self._serve(port, about)
            self.serving = False
            self.damaged += port.lines.damaged
            port.close()
            if self._newcomer is not None:
                self._newcomer.close()
                self._newcomer = None
            if not self._stop.is_set():
                self._condition = ended
        self._condition = Condition(False, "serial.closed")

    def _hello(self) -> bytes:
        with self._lock:
            return encode(0, "HELLO", str(VERSION), str(self._outbox.oldest))

    def _search(self) -> tuple[Port, About] | None:
        """Asks every port that can be opened who it is; keeps the one looked for and closes the others."""
        ports = self._open_all()
        answers: dict[str, About] = {}
        started = time.monotonic()
        asked = -HELLO_AGAIN_S
        matched: float | None = None
        while ports and not self._stop.is_set():
            now = time.monotonic() - started
            if now - asked >= HELLO_AGAIN_S:
                asked = now
                for port in ports:
                    port.write(self._hello())
            for port in ports:
                for _, words in port.read():
                    about = parse_about(words)
                    if about is not None:
                        answers[port.url] = about
            ports = [p for p in ports if not p.gone]
            if matched is None and any(self._wanted(a) for a in answers.values()):
                matched = now
            everybody = all(p.url in answers for p in ports)
            if now > HELLO_S or (everybody and matched is not None) or (matched is not None and now - matched > TWIN_S):
                break
        return self._choose(ports, answers)

    def _open_all(self) -> list[Port]:
        ports, refused = [], ""
        for url in self._ports():
            try:
                ports.append(Port(url))
            except PORT_ERRORS as error:  # busy, no permission, vanished: another may still answer
                refused = f"{url}: {error}"
        if not ports and self._condition.message != "serial.lost":
            self._condition = (
                Condition(False, "serial.cannot_open", (("why", refused),))
                if refused
                else Condition(False, "serial.searching")
            )
        return ports

    def _wanted(self, about: About) -> bool:
        return about.identity == self.identity or not self.identity

    def _choose(self, ports: list[Port], answers: dict[str, About]) -> tuple[Port, About] | None:
        wanted = [p for p in ports if p.url in answers and self._wanted(answers[p.url])]
        identities = {answers[p.url].identity for p in wanted}
        chosen = None
        if len(wanted) > len(identities):
            self._condition = Condition(False, "serial.twins", (("identity", sorted(identities)[0]),))
        elif wanted:
            about = answers[wanted[0].url]
            if about.version != VERSION:
                self._condition = _other_version(about)
            else:
                chosen = wanted[0]
                self.identity = about.identity
        elif answers:
            stranger = next(iter(answers.values()))
            self._condition = Condition(False, "serial.stranger", (("name", stranger.name),))
        for port in ports:
            if port is not chosen:
                port.close()
        return (chosen, answers[chosen.url]) if chosen is not None else None

    def _ready(self, about: About) -> None:
        self._condition = Condition(True, "serial.ready", (("name", about.name),))

    def _serve(self, port: Port, about: About) -> Condition:
        """Serves the device until it is gone, silent or another; how it is then."""
        lost = Condition(False, "serial.lost", (("name", about.name),))
        heard = pinged = looked = time.monotonic()
        self._served = frozenset(self._ports())
        self._greet(port, about)
        while not self._stop.is_set() and not port.gone:
            lines = port.read()
            self._health.heard(port.lines, lines, time.monotonic())
            for sequence, words in lines:
                heard = time.monotonic()
                told = parse_about(words)
                if told is not None and told.identity != self.identity:
                    return lost
                if told is not None and told.version != VERSION:
                    return _other_version(told)
                if told is not None and told.boot != about.boot:
                    about = told
                    self._health.sign("restarted", heard)
                    self._greet(port, about)
                elif words[0] == "BEAT" and len(words) == 3 and words[1] != about.boot:
                    port.write(self._hello())  # it has booted: nothing numbered is exchanged before it has answered
                else:
                    self._take(port, sequence, words)
            now = time.monotonic()
            if now - heard > SILENT_S:
                return lost
            if now - looked >= NEW_PORT_S:
                looked = now
                self._watch_ports(about)
            if now - pinged >= PING_S:
                pinged = now
                port.write(encode(0, "PING", about.boot))
            with self._lock:
                due = self._outbox.due(int(now * 1000))
            port.write(due)
        return lost

    def _watch_ports(self, about: About) -> None:
        """Asks a port that has come since who it is: another device of the same identity is said while it is there."""
        ports = frozenset(self._ports())
        if self._newcomer is None:
            new = sorted(ports - self._served)[:1]
            self._served = (self._served & ports) | set(new)
            self._newcomer = _newcomer(new)
            return
        twin = self._newcomer.answer(self._hello(), self.identity)
        if twin is None:
            return
        if twin and self._newcomer.port.url in ports:
            self._condition = Condition(False, "serial.twins", (("identity", self.identity),))
            return
        self._newcomer.close()
        self._newcomer = None
        self._ready(about)

    def _greet(self, port: Port, about: About) -> None:
        """Agrees with a device that has just told who it is on what comes first, and asks what lies there now."""
        # The same boot may have been served before: what was taken then is not taken again.
        if self.about is None or self.about.boot != about.boot:
            self._inbox.expect(about.first_event)
        self.about = about
        with self._lock:
            self._outbox.resend()
            self._outbox.put("ASK")
        port.write(encode(0, "PING", about.boot))

    def _take(self, port: Port, sequence: int, words: list[str]) -> None:
        kind, arguments = words[0], words[1:]
        if sequence:
            if self._inbox.is_new(sequence):
                self._events.put(WireEvent(kind, tuple(arguments), time.monotonic()))
            port.write(encode(0, "ACK", str(self._inbox.last)))
        elif kind == "ACK" and arguments and arguments[0].isdigit():
            with self._lock:
                self._outbox.acknowledged(int(arguments[0]))
        elif kind == "BEAT" and len(arguments) == 2 and arguments[1].isdigit() and int(arguments[1]) > self.lost:
            self.lost = int(arguments[1])
            self._overflow_s = time.monotonic()
