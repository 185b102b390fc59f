"""What crosses between the match and the eyes in their child process, and the socket that carries it.

The child speaks: `Beat` after every look or wait, `Seen` evidence, `Report` of a device, annotated pictures as bytes.
The match answers each beat with `Orders`, so that it never sends to a child that has stopped listening.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from multiprocessing.connection import Connection

from calibration.profile import TableProfile
from companion.bulletin import Device
from companion.commands import Corners
from companion.footage import Keep
from companion.games.contract import Look, Message


@dataclass(frozen=True, slots=True)
class Task:
    """What a child is to do: watch the camera at `url` with the reader (`module:attribute`) of this table.

    `opener` opens the camera (`module:attribute`). `side` names the corner that counts as the first player's left one,
    empty when nobody has named one. `tapped` are the board's corners as parts of the picture's width and height, in the
    board's own order; none where the profile tells where the board lies. `rest` (`module:attribute`, empty: the usual
    one) tells rest from motion. Raw frames of readings are kept in `frames` as
    JPEG, unless that is empty. `remembers`: whether clips of the last minute can be asked for.
    """

    profile: TableProfile
    reader: str
    url: str
    opener: str = "devices.camera:open_camera"
    side: str = ""
    tapped: Corners = ()
    frames: str = ""
    rest: str = ""
    remembers: bool = True


@dataclass(frozen=True, slots=True)
class Beat:
    """The child lives: what a `Watcher` must know of its eyes, and how many readings it has made."""

    working: bool
    current: bool
    latest_s: float
    corners: tuple[str, ...]
    readings: int


@dataclass(frozen=True, slots=True)
class Report:
    """A device's state as the child sees it, to be reported to the service."""

    device: Device | None
    name: str
    trouble: Message | None


@dataclass(frozen=True, slots=True)
class Orders:
    """The answer to a beat: whether a new reading is wanted; what was agreed on (frame number and look), which corner
    was named, which corners were tapped (none: the profile's own again), which clips to keep, where a photograph
    is to be put and whether to end, each
    told once."""

    want: bool
    agreed: tuple[int, Look] | None = None
    corner: str = ""
    tapped: Corners | None = None
    keep: tuple[Keep, ...] = ()
    photograph: str = ""
    end: bool = False


def channel() -> tuple[Connection, int]:
    """Our end, and the file descriptor of the child's end (which the caller closes once the child has it)."""
    ours, theirs = socket.socketpair()
    return Connection(ours.detach()), theirs.detach()
