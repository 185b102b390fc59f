"""What everyone may see now: the snapshot a kind of viewer gets, and the board on which the newest one hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from companion.games.contract import Json, Message


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to mark on the board picture: `role` is "last", "provisional", "illegal", "question" or "hint"."""

    place: str
    role: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One button under a question: the value sent back with the `answer` command and its words."""

    value: str
    words: Message


@dataclass(frozen=True, slots=True)
class Question:
    """The one open question: its id (sent back with the answer), words, answers (likeliest first), places; `clip`
    names the pictures of what it is about, empty where there are none."""

    id: str
    words: Message
    answers: tuple[Answer, ...]
    places: tuple[str, ...] = ()
    clip: str = ""


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One final turn of the record: its number from 1, the player, its notation and its words; `corrected` when a
    person changed it; `refused` is the rule it breaks after a correction before it, or empty; `doubt` says who has
    doubted it and what came of it, `doubted` that nothing has come of it yet, `clip` names its pictures."""

    number: int
    player: int
    text: str
    words: Message
    corrected: bool = False
    refused: str = ""
    doubt: Message | None = None
    doubted: bool = False
    clip: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong with a device, in words that say what to do; `since_s` in monotonic seconds."""

    device: str
    words: Message
    since_s: float


@dataclass(frozen=True, slots=True)
class Device:
    """One device's line on the health panel: its name, its URL, whether it works, a short state in words."""

    name: str
    url: str
    ok: bool
    words: Message


@dataclass(frozen=True, slots=True)
class Act:
    """A button that the dashboard shows to the players: the command and arguments that it submits, its words, for which
    player it is (None: anyone at the table), and whether it is possible now. `confirm` asks before it is sent."""

    command: str
    words: Message
    args: Mapping[str, Json] = field(default_factory=dict)
    player: int | None = None
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything one kind of viewer may know at one instant.

    `number` rises with every change. `phase` is "setup" (no game yet), "start_check", "playing", "paused" or "over".
    `view` is the game's own JSON for the drawing template (`Rules.view`), of the table as shown now (with the
    provisional turn), `agreed_view` of the last agreed position. `verdict` is the newest judgement in words (`signal`
    is the light that goes with it). `headline` says whose turn it is or how it ended. `corners` are the names of the
    board's corners where they may be tapped in the camera's picture, in the order in which they are asked for.
    """

    number: int
    game: str = ""
    match_id: str = ""
    phase: str = "setup"
    players: tuple[str, ...] = ()
    options: Mapping[str, str | int | bool] = field(default_factory=dict)
    to_act: tuple[int, ...] = ()
    headline: Message = Message("game.no_game")
    view: Json = None
    agreed_view: Json = None
    marks: tuple[Mark, ...] = ()
    signal: str = "off"
    verdict: Message | None = None
    details: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
    provisional: TurnLine | None = None
    question: Question | None = None
    record: tuple[TurnLine, ...] = ()
    acts: tuple[Act, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    devices: tuple[Device, ...] = ()
    picture: str = ""
    corners: tuple[str, ...] = ()
    manual: bool = False
    outcome: Message | None = None
    winners: tuple[int, ...] = ()


Viewer = int | None
"""A player's index, or None for a spectator."""


class Bulletin:
    """The newest snapshot for each viewer, the newest annotated camera picture, and who wants to hear of a change.

    Written by the service's one thread, read from any. `listen` callbacks run in the writer's thread and must only
    wake somebody up.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshots: dict[Viewer, Snapshot] = {None: Snapshot(number=0)}
        self._picture: tuple[int, bytes] = (0, b"")
        self._listeners: dict[int, Callable[[], None]] = {}
        self._next = 0

    def publish(self, snapshots: Mapping[Viewer, Snapshot]) -> None:
        """Replaces all snapshots at once (the spectator's under None is required) and wakes the listeners."""
        with self._lock:
            self._snapshots = dict(snapshots)
            listeners = tuple(self._listeners.values())
        for wake in listeners:
            wake()

    def publish_picture(self, jpeg: bytes) -> None:
        """Replaces the annotated camera picture (JPEG bytes) and raises its number."""
        with self._lock:
            self._picture = (self._picture[0] + 1, jpeg)

    def snapshot(self, viewer: Viewer = None) -> Snapshot:
        """The newest snapshot for this viewer; an unknown player sees what a spectator sees."""
        with self._lock:
            return self._snapshots.get(viewer, self._snapshots[None])

    def picture(self) -> tuple[int, bytes]:
        """Number and JPEG bytes of the newest annotated picture; (0, b"") before the first."""
        with self._lock:
            return self._picture

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Calls `wake` after every publish until the returned function is called."""
        with self._lock:
            key, self._next = self._next, self._next + 1
            self._listeners[key] = wake

        def stop() -> None:
            with self._lock:
                self._listeners.pop(key, None)

        return stop
