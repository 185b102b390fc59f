"""The live stream `/events` as a native ASGI function: every viewer gets the newest screen, never a backlog.

Events: `state` (whole, `id:` is the snapshot's number), `record` and `board` when they changed, `seats` when they
changed for this browser, `frame` with the number of a new camera picture, `ping` every 15 s, `bye` at shutdown. A
reconnecting viewer gets everything again, whatever its Last-Event-ID: the newest whole screen closes any gap.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from companion.games.contract import Message
from companion.words import say
from web import guard
from web.room import Room, Visitor

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

SPACING_S = 0.2
"""Shortest time between two pushes to one viewer: what changes faster is seen as its newest state only."""
PING_S = 15.0
PICTURE_S = 0.5
SEND_TIMEOUT_S = 10.0
"""A viewer that takes nothing for so long is dropped; its browser connects again when it wakes up."""
MAX_VIEWERS = 800

_log = logging.getLogger(__name__)


class Headers(dict[str, str]):
    """ASGI headers under their usual capitals (`Accept-Language`); of a repeated one the last counts."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(
            ("-".join(part.capitalize() for part in name.decode("latin-1").split("-")), value.decode("latin-1"))
            for name, value in scope["headers"]
        )


class Hub:
    """All viewers of one table. Runs in one event loop; `wake` and `close` may be called from any thread."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.spacing_s, self.ping_s, self.send_timeout_s = SPACING_S, PING_S, SEND_TIMEOUT_S
        self.max_viewers = MAX_VIEWERS
        self._viewers: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._picture = 0
        self.dropped = 0

    @property
    def viewers(self) -> int:
        """How many streams are open."""
        return len(self._viewers)

    @contextlib.asynccontextmanager
    async def running(self) -> Any:
        """Listens to the bulletin, the seats and the camera picture while the context is open."""
        self._loop = asyncio.get_running_loop()
        self._room.seats.listen(self.wake)
        stop = self._room.bulletin.listen(self.wake)
        ticker = asyncio.create_task(self._watch_picture())
        try:
            yield
        finally:
            stop()
            ticker.cancel()
            self._loop = None

    def wake(self) -> None:
        """Has every viewer look for something new."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop closed between the two lines: nobody is left to wake
                loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """Ends all streams."""
        self._closed = True
        self.wake()

    def _wake(self) -> None:
        for viewer in self._viewers:
            viewer.set()

    async def _watch_picture(self) -> None:
        while True:
            await asyncio.sleep(PICTURE_S)
            number, _ = self._room.bulletin.picture()
            if number != self._picture:
                self._picture = number
                self._wake()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one `GET /events` until the viewer goes, is too slow, or the server closes."""
        headers = Headers(scope)
        if not guard.trusted_host(headers.get("Host", ""), self._room.names):
            return await refuse(send, 400, Message("web.unknown_host", (("host", headers.get("Host", "")[:80]),)))
        if scope["method"] != "GET":
            return await refuse(send, 405, Message("web.status.405"))
        if self._closed or len(self._viewers) >= self.max_viewers:
            return await refuse(send, 503, Message("web.too_many_viewers"))
        client, server = scope.get("client") or ("", 0), scope.get("server") or ("", 0)
        visitor = self._room.visitor(headers, str(client[0]), str(server[0]))
        news = asyncio.Event()
        self._viewers.add(news)
        gone = asyncio.create_task(_gone(receive, news))
        try:
            await self._stream(visitor, news, gone, send)
        except TimeoutError:
            self.dropped += 1
            _log.info("a viewer at %s took nothing for %g s and was dropped", client[0], self.send_timeout_s)
        finally:
            self._viewers.discard(news)
            gone.cancel()

    async def _stream(self, visitor: Visitor, news: asyncio.Event, gone: asyncio.Task[None], send: Send) -> None:
        async def put(message: dict[str, Any]) -> None:
            await asyncio.wait_for(send(message), self.send_timeout_s)

        loop = asyncio.get_running_loop()
        await put({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        sent: dict[str, object] = {}
        next_s, heard_s = 0.0, loop.time()
        while not (gone.done() or self._closed):
            news.clear()
            chunk = self._changes(visitor, sent)
            if not chunk and loop.time() - heard_s >= self.ping_s:
                self._room.seats.heard(visitor.browser)
                chunk = "event: ping\ndata: \n\n"
            if chunk:
                await put({"type": "http.response.body", "body": chunk.encode("utf-8"), "more_body": True})
                heard_s = loop.time()
                next_s = heard_s + self.spacing_s
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), max(0.0, heard_s + self.ping_s - loop.time()))
            if not (gone.done() or self._closed):
                await asyncio.sleep(max(0.0, next_s - loop.time()))
        if not gone.done():
            await put({"type": "http.response.body", "body": b"event: bye\ndata: \n\n", "more_body": False})

    def _changes(self, visitor: Visitor, sent: dict[str, object]) -> str:
        """The events for what this viewer has not got yet; notes in `sent` that it has."""
        room = self._room
        viewer = room.seats.viewer(visitor.browser, len(room.bulletin.snapshot().players))
        screen = room.screens.screen(room.bulletin.snapshot(viewer), viewer, visitor.lang)
        picture, _ = room.bulletin.picture()
        out = []
        for name, key, data in (
            ("seats", "", json.dumps(room.seating(visitor))),
            ("record", "", screen.record),
            ("board", "", screen.board),
            ("state", f"id: {screen.number}\n", screen.state),
            ("frame", "", str(picture)),
        ):
            if sent.get(name) != data:
                sent[name] = data
                out.append(f"event: {name}\n{key}data: {data}\n\n")
        return "".join(out)


_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


async def _gone(receive: Receive, news: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    news.set()


async def refuse(send: Send, status: int, message: Message) -> None:
    """Answers a request with a status and words, as the pages do."""
    body = json.dumps({"ok": False, "words": say(message)}).encode("utf-8")
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii"))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
