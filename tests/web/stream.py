"""A bare viewer of the live stream: a socket and the events it has got."""

from __future__ import annotations

import json
import socket
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


class Stream:
    """Connects to `/events`; `next` gives the next event as (name, data, id)."""

    def __init__(self, url: str, timeout_s: float = 20.0, **headers: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname and parts.port
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout_s)
        lines = [f"GET /events HTTP/1.1\r\nHost: {parts.netloc}\r\n"]
        lines += [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        self.socket.sendall("".join([*lines, "\r\n"]).encode("latin-1"))
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers: dict[str, str] = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.lower()] = value.strip()
        self._text = b""

    def _chunk(self) -> bool:
        size = int(self.file.readline().strip() or b"0", 16)
        self._text += self.file.read(size)
        self.file.readline()
        return size > 0

    def next(self) -> tuple[str, str, str] | None:
        """The next event, or None at the end of the stream; raises TimeoutError when nothing comes."""
        while b"\n\n" not in self._text:
            if not self._chunk():
                return None
        event, _, self._text = self._text.partition(b"\n\n")
        fields = dict(line.split(": ", 1) for line in event.decode("utf-8").split("\n"))
        return fields["event"], fields["data"], fields.get("id", "")

    def until(self, name: str) -> tuple[str, str]:
        """Data and id of the next event of this name."""
        while True:
            event = self.next()
            assert event is not None, f"the stream ended before {name!r}"
            if event[0] == name:
                return event[1], event[2]

    def state(self) -> dict[str, Any]:
        """The next state."""
        state: dict[str, Any] = json.loads(self.until("state")[0])
        return state

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
