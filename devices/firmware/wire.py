"""The line protocol, both ends: `$<sequence> <KIND> <arguments>*<CRC-32>` and a newline. Spec: docs/serial-protocol.md.

Runs under MicroPython and CPython alike, so only what both know is used here.
"""

import binascii

VERSION = 1
MAX_LINE = 120
SEQUENCES = 65536
WINDOW = 16
_FORBIDDEN = (" ", "*", "$", "\r", "\n")


def encode(sequence: int, kind: str, *arguments: str) -> bytes:
    """The line as bytes; raises ValueError for a word that the protocol cannot carry or a line over MAX_LINE bytes."""
    words = (kind,) + arguments
    for word in words:
        if not word or any(c in word for c in _FORBIDDEN) or any(not 32 < ord(c) < 127 for c in word):
            raise ValueError("a word must be printable ASCII without blank, * and $: " + repr(word))
    body = (str(sequence % SEQUENCES) + " " + " ".join(words)).encode()
    line = b"$" + body + b"*" + checksum(body) + b"\n"
    if len(line) > MAX_LINE:
        raise ValueError("the line is longer than " + str(MAX_LINE) + " bytes: " + repr(line))
    return line


def checksum(body: bytes) -> bytes:
    """CRC-32 (the one of zip and PNG) of the bytes between `$` and `*`, as eight upper-case hexadecimal digits."""
    return ("%08X" % (binascii.crc32(body) & 0xFFFFFFFF)).encode()


class Lines:
    """Bytes in, whole lines out. Whatever is not a whole, undamaged line is counted and dropped: as `noise` when it
    holds unprintable bytes, as `wrong` when only its checksum can be false, else as one of the `halves`."""

    def __init__(self) -> None:
        self.noise = 0
        self.halves = 0
        self.wrong = 0
        self._rest = b""

    @property
    def damaged(self) -> int:
        """How much was dropped in all."""
        return self.noise + self.halves + self.wrong

    @property
    def begun(self) -> bool:
        """True while the beginning of a line waits for its end."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[tuple[int, list[str]]]:
        """(sequence, words) of each line completed by `data`; words[0] is the kind. Never raises."""
        parts = (self._rest + data).split(b"\n")
        self._rest = parts.pop()
        if len(self._rest) > MAX_LINE:
            # Nothing that long can still become a line; keep only what may be the beginning of one.
            start = self._rest.rfind(b"$")
            self._drop(self._rest)
            self._rest = self._rest[start:] if 0 <= len(self._rest) - start <= MAX_LINE and start >= 0 else b""
        lines = []
        for part in parts:
            parsed = _parse(part)
            if parsed is not None:
                lines.append(parsed)
                part = part[: part.rfind(b"$")]
            if part.strip():
                self._drop(part)
        return lines

    def _drop(self, junk: bytes) -> None:
        if any(byte < 32 or byte > 126 for byte in junk.strip()):
            self.noise += 1
        elif b"*" in junk:
            self.wrong += 1
        else:
            self.halves += 1


def _parse(line: bytes) -> tuple[int, list[str]] | None:
    # A half line may stand before a whole one: the last `$` begins the line that ends here.
    start = line.rfind(b"$")
    line = line[start + 1 :].rstrip(b"\r") if start >= 0 else b""
    body, star, crc = line[:-9], line[-9:-8], line[-8:]
    if star != b"*" or len(line) + 2 > MAX_LINE or checksum(body) != crc:
        return None
    try:
        words = body.decode().split(" ")
    except (UnicodeError, ValueError):
        return None
    number = words[0]
    if len(words) < 2 or not all(words) or not number or any(c not in "0123456789" for c in number):
        return None
    sequence = int(number) if len(number) <= 5 else SEQUENCES
    return (sequence, words[1:]) if sequence < SEQUENCES else None


class _Waiting:
    def __init__(self, sequence: int, line: bytes) -> None:
        self.sequence = sequence
        self.line = line
        self.sent_ms: int | None = None


class Outbox:
    """Numbered lines, sent in order and again until acknowledged (go back N); when full it refuses and counts.

    Numbers run from 1 to 65535 and begin anew; 0 is for lines that need no acknowledgement. Times are milliseconds of
    any steady clock.
    """

    def __init__(self, capacity: int, again_ms: int) -> None:
        self.lost = 0
        self._capacity = capacity
        self._again_ms = again_ms
        self._next = 1
        self._waiting: list[_Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def oldest(self) -> int:
        """The number that the other side must expect: of the first line that waits, or of the next to come."""
        return self._waiting[0].sequence if self._waiting else self._next

    def put(self, kind: str, *arguments: str) -> bool:
        """Queues a line; False (and counted in `lost`) when the queue is full."""
        line = encode(self._next, kind, *arguments)
        if len(self._waiting) >= self._capacity:
            self.lost += 1
            return False
        self._waiting.append(_Waiting(self._next, line))
        self._next = self._next % (SEQUENCES - 1) + 1
        return True

    def acknowledged(self, sequence: int) -> None:
        """The other side has it and all before it."""
        for at, item in enumerate(self._waiting):
            if item.sequence == sequence:
                self._waiting = self._waiting[at + 1 :]
                return

    def due(self, now_ms: int) -> bytes:
        """What must be sent now: new lines within the window, and the whole window again when its first is overdue."""
        window = self._waiting[:WINDOW]
        if window and window[0].sent_ms is not None and now_ms - window[0].sent_ms >= self._again_ms:
            self.resend()
        out = b""
        for item in window:
            if item.sent_ms is None:
                item.sent_ms = now_ms
                out += item.line
        return out

    def resend(self) -> None:
        """Everything that still waits is due at once."""
        for item in self._waiting:
            item.sent_ms = None


class Inbox:
    """Takes numbered lines in order, each once."""

    def __init__(self) -> None:
        self._expected = 1

    def expect(self, sequence: int) -> None:
        """The next new line will have this number."""
        self._expected = sequence

    def is_new(self, sequence: int) -> bool:
        """True for the expected line, which is then taken; False for one that was taken before or comes too early."""
        if sequence != self._expected:
            return False
        self._expected = sequence % (SEQUENCES - 1) + 1
        return True

    @property
    def last(self) -> int:
        """Number of the line taken last (to acknowledge), 0 before the first."""
        return (self._expected - 2) % (SEQUENCES - 1) + 1
