"""What the pages and the live stream share: bulletin, commands, seats, screens and how the table is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from companion.bulletin import Bulletin
from companion.commands import Reply
from companion.evidence import Author
from companion.games.contract import Json, Option
from companion.words import LANGUAGES
from web.guard import Headers, at_table, cookie_name, cookie_of
from web.screens import Screens
from web.seats import Seats

LANGUAGE_COOKIE = "companion_language"


class Submit(Protocol):
    """Gives a command to the service and waits for its reply; raises nothing for a command that cannot be done."""

    def __call__(self, command: str, args: Mapping[str, Json], author: Author) -> Reply:
        """The reply: done or not, and why not."""


class Offer(Protocol):
    """A game that may be begun: its name, how many play and its options (every game's `Rules` is one)."""

    @property
    def name(self) -> str:
        """The game's name."""

    @property
    def min_players(self) -> int:
        """Fewest players."""

    @property
    def max_players(self) -> int:
        """Most players."""

    def options(self) -> tuple[Option, ...]:
        """The game's house rules."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """One browser: its id (empty: no cookie yet), whether it runs on the table's machine, its language."""

    browser: str
    at_table: bool
    lang: str


@dataclass(slots=True)
class Room:
    """Shared by the Flask pages and the live stream; `join_url` is the address for phones, empty on loopback."""

    bulletin: Bulletin
    submit: Submit
    seats: Seats
    names: frozenset[str]
    offers: tuple[Offer, ...] = ()
    language: str | None = None
    join_url: str = ""
    screens: Screens = field(default_factory=Screens)

    def visitor(self, headers: Headers, client: str, server: str) -> Visitor:
        """Who is asking; `headers` is case-insensitive or has the usual capitals."""
        cookies = headers.get("Cookie", "")
        forwarded = any(h in headers for h in ("X-Forwarded-For", "Forwarded", "X-Real-Ip"))
        chosen = cookie_of(cookies, LANGUAGE_COOKIE) or self.language
        return Visitor(
            self.seats.browser(cookie_of(cookies, cookie_name(headers.get("Host", "")))),
            at_table(client, server, forwarded),
            chosen if chosen in LANGUAGES else preferred(headers.get("Accept-Language", "")),
        )

    def seating(self, visitor: Visitor) -> dict[str, Json]:
        """The seats as one browser sees them: which are taken, which are its own, for whom it may act."""
        players = len(self.bulletin.snapshot().players)
        held = {p: b for p, b in self.seats.held().items() if p < players}
        return {
            "taken": sorted(held),
            "mine": sorted(p for p, b in held.items() if visitor.browser and b == visitor.browser),
            "may": sorted(self.seats.speaks_for(visitor.browser, visitor.at_table, players)),
            "at_table": visitor.at_table,
            "free_for_all": players == 0,
        }


def preferred(accept: str, languages: Sequence[str] = LANGUAGES) -> str:
    """The first language of an Accept-Language header that we speak (browsers list the best first), else English."""
    for entry in accept.split(","):
        code = entry.split(";")[0].strip().lower().split("-")[0]
        if code in languages:
            return code
    return "en"
