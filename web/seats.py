"""Seats: which browser speaks for which player, kept by a signed cookie and a small file."""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from itsdangerous import BadSignature, Signer

from companion.bulletin import Viewer
from companion.evidence import Author
from companion.games.contract import Message

AWAY_S = 120.0
"""A seat whose browser has not been heard of for so long may be taken by another one."""
MAX_BROWSERS = 10_000

_log = logging.getLogger(__name__)


class Seats:
    """Who sits where. Thread-safe; survives a restart when it has a file.

    A browser may hold several seats (two players share one phone). A browser at the table's own machine also speaks
    for every seat that nobody has taken, so that a family with one laptop never sees a log-in.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._clock, self._lock = file, clock, threading.Lock()
        self._held: dict[int, str] = {}
        self._heard_s: dict[str, float] = {}
        self._listeners: list[Callable[[], None]] = []
        secret = self._load() or secrets.token_hex(32)
        self._secret = secret
        self._signer = Signer(secret, salt="companion-browser")
        self._store()

    def _load(self) -> str:
        if self._file is None or not self._file.exists():
            return ""
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            self._held = {int(player): str(browser) for player, browser in data["seats"].items()}
            return str(data["secret"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s cannot be read (%s); seats must be taken again", self._file, error)
            self._held = {}
            return ""

    def _store(self) -> None:
        if self._file is None:
            return
        text = json.dumps({"secret": self._secret, "seats": self._held})
        new = self._file.with_suffix(".new")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
                f.write(text)
            new.replace(self._file)
        except OSError as error:
            _log.warning("seats could not be saved in %s: %s", self._file, error)

    def listen(self, wake: Callable[[], None]) -> None:
        """Calls `wake` after every change of seats."""
        self._listeners.append(wake)

    def issue(self) -> str:
        """A cookie value for a browser that has none."""
        return self._signer.sign(secrets.token_urlsafe(12)).decode("ascii")

    def browser(self, cookie: str | None) -> str:
        """The browser's id, empty for none or a forged cookie; notes that it was heard of."""
        try:
            name = self._signer.unsign(cookie or "").decode("ascii")
        except (BadSignature, UnicodeError):
            return ""
        self.heard(name)
        return name

    def heard(self, browser: str) -> None:
        """Notes that this browser is still there."""
        with self._lock:
            if len(self._heard_s) > MAX_BROWSERS:
                holders = set(self._held.values())
                self._heard_s = {b: t for b, t in self._heard_s.items() if b in holders}
            self._heard_s[browser] = self._clock()

    def held(self) -> dict[int, str]:
        """Player index -> browser id, for the seats that are taken."""
        with self._lock:
            return dict(self._held)

    def _away(self, browser: str) -> bool:
        return self._clock() - self._heard_s.get(browser, -AWAY_S) >= AWAY_S

    def take(self, player: int, browser: str) -> Message | None:
        """Gives the seat to the browser; otherwise says why not."""
        with self._lock:
            holder = self._held.get(player, "")
            if not browser:
                return Message("web.no_cookie")
            if holder and holder != browser and not self._away(holder):
                return Message("web.seat_taken", (("player", f"#{player}"),))
            self._held[player] = browser
            self._store()
        self._changed()
        return None

    def leave(self, player: int, browser: str, at_table: bool) -> Message | None:
        """Frees the seat: its own browser may, and the table's machine for one who has gone; else says why not."""
        with self._lock:
            if self._held.get(player) != browser and not at_table:
                return Message("web.not_your_seat")
            self._held.pop(player, None)
            self._store()
        self._changed()
        return None

    def _changed(self) -> None:
        for wake in tuple(self._listeners):
            wake()

    def speaks_for(self, browser: str, at_table: bool, players: int) -> frozenset[int]:
        """The players whose turns this browser may give."""
        with self._lock:
            held = {p: b for p, b in self._held.items() if p < players}
        mine = {p for p, b in held.items() if browser and b == browser}
        return frozenset(mine | (set(range(players)) - held.keys() if at_table else set()))

    def viewer(self, browser: str, players: int) -> Viewer:
        """Whose secrets it may see: those of its only seat; with none or several it sees what everybody sees."""
        with self._lock:
            mine = [p for p, b in self._held.items() if browser and b == browser and p < players]
        return mine[0] if len(mine) == 1 else None

    def author(
        self, browser: str, at_table: bool, players: int, to_act: Iterable[int], wanted: int | None
    ) -> Author | None:
        """Who gives a command of this browser, or None for a spectator.

        `wanted` names the player it is for; without it: everybody for one who speaks for all, the only seat, or the
        one of several whose turn it is. Before a game there is nobody to speak for: then anybody may begin one.
        """
        name = browser or "table"
        if players == 0:
            return Author("seat", name)
        may = self.speaks_for(browser, at_table, players)
        if not may or (wanted is not None and wanted not in may):
            return None
        if wanted is not None:
            return Author("seat", name, wanted)
        if len(may) == players:
            return Author("seat", name)
        turn = sorted(may & set(to_act)) or sorted(may)
        return Author("seat", name, turn[0])
