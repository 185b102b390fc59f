"""The server: Flask pages and the native live stream in one ASGI application under uvicorn, in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import uvicorn
from a2wsgi import WSGIMiddleware
from flask import Flask

from companion.bulletin import Bulletin
from companion.games.contract import Message
from companion.games.data_form import DataForm
from companion.words import say
from web import guard
from web.app import create_app
from web.clips import Shown, add_clips
from web.enrol import MOST_PHOTO, PHOTOS, Enrolled, add_enrolment
from web.events import Hub, Receive, Scope, Send, refuse
from web.lab import Lab, add_lab
from web.records import Book, add_records
from web.room import Offer, Room, Submit

WORKERS = 12
"""Threads for pages and commands; streams need none."""
BODY_TIMEOUT_S = 10.0


class WebError(Exception):
    """The dashboard cannot be served; `message` says why and what to do, in words to come."""

    def __init__(self, message: Message) -> None:
        super().__init__(say(message))
        self.message = message


class Site:
    """The ASGI application: `/events` native, everything else to Flask in a pool of threads.

    Bodies are read here, bounded in size and time, so that a client that never finishes sending holds no thread.
    """

    def __init__(self, app: Flask, hub: Hub) -> None:
        self._hub = hub
        self._wsgi = WSGIMiddleware(cast(Any, app.wsgi_app), workers=WORKERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the server's life from start to end."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000})
        elif scope["path"] == "/events":
            await self._hub(scope, receive, send)
        else:
            await self._page(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._hub.running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        self._wsgi.executor.shutdown(wait=False)
        await send({"type": "lifespan.shutdown.complete"})

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            most = MOST_PHOTO if scope["path"].startswith(PHOTOS) else guard.MAX_BODY
            body = await asyncio.wait_for(_body(receive, most), BODY_TIMEOUT_S)
        except TimeoutError:
            await refuse(send, 408, Message("web.status.408"))
            return
        if body is None:
            await refuse(send, 413, Message("web.status.413"))
            return
        if not scope["query_string"].isascii():
            await refuse(send, 400, Message("web.status.400"))
            return
        # One true length, whatever the client said or left open by sending in chunks.
        headers = [h for h in scope["headers"] if h[0] not in (b"content-length", b"transfer-encoding")]
        length = (b"content-length", str(len(body)).encode("ascii"))
        message = {"type": "http.request", "body": body, "more_body": False}

        async def whole() -> dict[str, object]:
            return message

        await self._wsgi(cast(Any, {**scope, "headers": [*headers, length]}), cast(Any, whole), cast(Any, send))


async def _body(receive: Receive, most: int) -> bytes | None:
    """The whole request body, or None when it is larger than allowed."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return bytes(body)


class Server:
    """The dashboard on a host and port; `start` returns when it answers, `stop` when every stream is closed.

    Port 0 takes a free one. `data` is the folder in which seats survive a restart (None: they do not). Raises WebError
    from `start` when the port or address cannot be had.
    """

    def __init__(
        self,
        bulletin: Bulletin,
        submit: Submit,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        language: str | None = None,
        offers: Sequence[Offer] = (),
        data: Path | None = None,
        names: Iterable[str] = (),
        forms: Mapping[str, DataForm] | None = None,
    ) -> None:
        self.host, self.port = host, port
        self._app = create_app(
            bulletin,
            submit,
            language=language,
            offers=offers,
            seats_file=data / "seats.json" if data else None,
            names=(*names, host),
            forms=forms,
        )
        self.room: Room = self._app.extensions["room"]
        self.hub = Hub(self.room)
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def add_lab(self, lab: Lab) -> None:
        """Adds the page on which faults of a simulated table are begun; to be called before `start`."""
        add_lab(self._app, lab)

    def add_enrolment(self, known: Enrolled) -> None:
        """Adds the page on which people and figures are registered; to be called before `start`."""
        add_enrolment(self._app, known)

    def add_records(self, book: Book) -> None:
        """Adds the page of what all matches come to; to be called before `start`."""
        add_records(self._app, book)

    def add_clips(self, clips: Shown) -> None:
        """Lets doubted turns be looked at again; to be called before `start`."""
        add_clips(self._app, clips)

    @property
    def url(self) -> str:
        """The address for a browser on this machine."""
        return _url("127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host, self.port)

    @property
    def join_url(self) -> str:
        """The address for phones on the same network; empty when only this machine can reach the page."""
        return self.room.join_url

    def start(self) -> None:
        """Binds the port and serves; returns when the first request would be answered."""
        sock = _bind(self.host, self.port)
        self.port = int(sock.getsockname()[1])
        if not _loopback(self.host):
            self.room.join_url = _url(_lan_address() if self.host in ("0.0.0.0", "::", "") else self.host, self.port)
        config = uvicorn.Config(
            cast(Any, Site(self._app, self.hub)),
            lifespan="on",
            log_config=None,
            log_level="critical",
            access_log=False,
            # A forwarded address is a claim; the table's own machine is known by its connection only.
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=3,
            ws="none",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([sock],), name="web", daemon=True)
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise WebError(Message("web.not_started"))
            self._thread.join(0.01)

    def stop(self) -> None:
        """Ends the streams, then the server; harmless when it does not run."""
        server, thread = self._server, self._thread
        if server is None or thread is None:
            return
        self.hub.close()
        server.should_exit = True
        thread.join(10.0)
        self._server = self._thread = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bind(host: str, port: int) -> socket.socket:
    try:
        if not 0 <= port <= 65535:
            raise OverflowError(port)
        family, kind, proto, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, proto)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            sock.bind(address)
            sock.listen(128)
        except OSError:
            sock.close()
            raise
    except (OSError, OverflowError) as error:
        values = (("host", host), ("port", str(port)))
        keys = {errno.EADDRINUSE: "web.port_in_use", errno.EACCES: "web.port_forbidden"}
        key = keys.get(getattr(error, "errno", None) or 0, "web.no_such_address")
        raise WebError(Message(key, values)) from error
    return sock


def _lan_address() -> str:
    """The address under which other machines reach this one: the source address of the way out (nothing is sent)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737)
            return str(probe.getsockname()[0])
        except OSError:
            return f"{socket.gethostname().split('.')[0]}.local"
