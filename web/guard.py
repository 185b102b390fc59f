"""The door: which hosts, origins, bodies and commands are let in; everything else gets a clear refusal."""

from __future__ import annotations

import ipaddress
import json
import socket
from collections.abc import Callable, Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Protocol
from urllib.parse import urlsplit

from companion.commands import COMMANDS
from companion.games.contract import Json, Message

MAX_BODY = 64 * 1024
HEADER = "X-Companion"
"""A request that changes something must carry this header: a foreign page cannot send it without being asked."""


class Refused(Exception):
    """A request that is not let in: HTTP status and words."""

    def __init__(self, status: int, message: Message) -> None:
        super().__init__(message.id)
        self.status, self.message = status, message


def own_names(extra: Iterable[str] = ()) -> frozenset[str]:
    """The names under which this machine is reached: localhost, its host name, its `.local` name, and `extra`."""
    name = socket.gethostname().lower()
    return frozenset({"localhost", name, f"{name.split('.')[0]}.local", *(e.lower() for e in extra)})


def host_name(header: str) -> str:
    """The host of a Host header without port and brackets, lower case; empty when it is malformed."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def trusted_host(header: str, names: frozenset[str]) -> bool:
    """True for a numeric address or one of our names.

    The check stops DNS rebinding, where a foreign *name* is pointed at this machine; a page reached under a numeric
    address was loaded from that address, so numbers need no list that a new lease would make wrong.
    """
    host = host_name(header)
    if host in names:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Headers(Protocol):
    """Request headers: those of Flask, or a plain dict under the usual capitals."""

    def get(self, key: str, default: str, /) -> str:
        """The header's value, or the default."""

    def __contains__(self, key: Any, /) -> bool: ...


def same_origin(headers: Headers) -> bool:
    """True unless the browser says that the request comes from another site's page."""
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    if "Origin" not in headers:
        return True
    try:
        origin = urlsplit(headers.get("Origin", "")).netloc
    except ValueError:
        return False
    return origin.lower() == headers.get("Host", "").lower()


def at_table(client: str, server: str, forwarded: bool) -> bool:
    """True when the browser runs on the table's own machine; never for a request that a proxy passed on."""
    if forwarded:
        return False
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or client == server


def cookie_name(host_header: str) -> str:
    """The cookie's name; it holds the port, because browsers share cookies between ports of one host."""
    try:
        return f"companion_{urlsplit(f'//{host_header}').port or 80}"
    except ValueError:
        return "companion_80"


def cookie_of(header: str, name: str) -> str | None:
    """The value of one cookie in a Cookie header."""
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return None
    return morsel.value if morsel else None


def parse(body: bytes) -> dict[str, Json]:
    """The JSON object of a request body; raises Refused for anything else."""

    def no_constant(name: str) -> None:
        raise ValueError(name)

    try:
        data = json.loads(body, parse_constant=no_constant)
        json.dumps(data, ensure_ascii=False).encode()  # half a surrogate pair can be neither kept nor sent on
    except (ValueError, RecursionError) as error:
        raise Refused(400, Message("web.bad_json")) from error
    if not isinstance(data, dict):
        raise Refused(400, Message("web.bad_json"))
    return data


def _text(limit: int) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, str) and bool(x.strip()) and len(x) <= limit


def _number(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 100_000


def _facts(x: Any) -> bool:
    short = _text(40)
    return isinstance(x, dict) and 0 < len(x) <= 500 and all(short(k) and short(v) for k, v in x.items())


def _players(x: Any) -> bool:
    return isinstance(x, list) and 0 < len(x) <= 12 and all(_text(40)(name) for name in x)


def _options(x: Any) -> bool:
    return isinstance(x, dict) and len(x) <= 50 and all(isinstance(v, str | int | bool) for v in x.values())


def _points(x: Any) -> bool:
    """Four points, or none, as parts of a picture's width and height."""
    return (
        isinstance(x, list)
        and len(x) in (0, 4)
        and all(isinstance(p, list) and len(p) == 2 and all(_part(part) for part in p) for p in x)
    )


def _part(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and 0 <= x <= 1


def _anything(x: Any) -> bool:
    return True


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "game": _text(40),
    "players": _players,
    "options": _options,
    "start": _anything,
    "corner": _text(40),
    "number": _number,
    "points": _points,
    "question": _text(200),
    "value": _text(400),
    "facts": _facts,
    "text": _text(400),
}
_MAY_MISS = frozenset({"options", "start"})


def checked(data: Mapping[str, Json]) -> tuple[str, dict[str, Json], int | None]:
    """Command, arguments and the player it is for, of `{"command": ..., "args": {...}, "player": n}`.

    Raises Refused (400) for an unknown command, unknown, missing or misshapen arguments.
    """
    name, args, player = data.get("command"), data.get("args", {}), data.get("player")
    command = COMMANDS.get(name) if isinstance(name, str) else None
    if command is None:
        raise Refused(400, Message("web.unknown_command", (("command", str(name)[:40]),)))
    if not isinstance(args, dict) or not (player is None or (_number(player) and player < 12)):
        raise Refused(400, Message("web.bad_json"))
    for arg in args.keys() - set(command.args):
        raise Refused(400, Message("web.bad_argument", (("argument", arg[:40]), ("command", command.name))))
    for arg in command.args:
        if (arg not in args and arg not in _MAY_MISS) or (arg in args and not _SHAPES[arg](args[arg])):
            raise Refused(400, Message("web.bad_argument", (("argument", arg), ("command", command.name))))
    return command.name, args, player
