"""An arena to play at in tests: readings of figures that lie where the test says, and a match that is stepped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from companion.commands import Reply
from companion.evidence import Author, Chose, Seen
from companion.fold import fold
from companion.match import Event, Match
from companion.step import step
from tests.companion.table import CAMERA, CORNERS, games
from vision.figure_pieces import UNKNOWN
from vision.figure_table import table_facts
from vision.reading import Fact, Piece, Reading

NAMES = ("ari", "bruma", "ibex", "jaca")
"""Ada's and Bea's characters and their Sentinels: what is given out where nobody has brought figures."""
FACES = (*"123456", "top", "bottom")


def figure(name: str, shows: str, xy: tuple[float, float] = (300.0, 300.0), unread: float | None = None) -> Piece:
    """A figure that lies at `xy` mm and shows a face, or "immune", or "out". `unread`: by so many nats it looks more
    like something unknown than like the figure that it is."""
    face = "top" if shows == "immune" else "1" if shows == "out" else shows
    known = {other: 0.0 if other == name else -40.0 for other in NAMES} | {UNKNOWN: unread or -40.0}
    levels = tuple(known.values())
    facts = {
        "figure": Fact(tuple(known), levels),
        "face": Fact(FACES, tuple(0.0 if f == face else -30.0 for f in FACES), bool(unread)),
        "state": Fact(("power", "shield", "immune"), (0.0, 0.0, 0.0), True),
        "in": Fact(("yes", "no"), (-20.0, 0.0) if shows == "out" else (0.0, -20.0)),
        "distance": Fact((f"{((xy[0] - 300.0) ** 2 + (xy[1] - 300.0) ** 2) ** 0.5:.1f}",), (0.0,)),
    }
    return Piece("figure", xy, 1.0, facts)


class Arena:
    """A match of two at the arena, with done-buttons; time passes a second a reading."""

    def __init__(self, *lines: str, **options: str | int | bool) -> None:
        """The match is told these turns first."""
        self.match = Match(games)
        self.events: list[Event] = []
        self.time_s = 0.0
        args = {"game": "moogui", "players": ["Ada", "Bea"], "options": options, "start": "table", "id": "m"}
        assert self.say("new_game", done_expected=True, **args).ok
        self.see()
        assert self.say("accept_start").ok
        for line in lines:
            assert self.say("declare", text=line, at_s=self.time_s).ok, line

    def say(self, command: str, by: int | None = None, **args: Any) -> Reply:
        """Gives a command as player `by` (None: somebody at the table)."""
        done = step(self.match, Chose(command, Author("seat", str(by), by), args))
        self._keep(done.match, done.events)
        return done.reply

    def done(self, by: int) -> Reply:
        """Presses the done-button."""
        return self.say("done", by, at_s=self.time_s)

    def see(self, *pieces: Piece, times: int = 1) -> None:
        """Shows the arena with these pieces in it to the match."""
        for _ in range(times):
            self.time_s += 1.0
            reading = Reading(round(self.time_s * 10), self.time_s, pieces=pieces, board_px=CORNERS)
            reading = replace(reading, facts=table_facts(pieces, NAMES))
            done = step(self.match, Seen(reading, "", CAMERA))
            self._keep(done.match, done.events)

    def answer(self, facts: Mapping[str, str]) -> None:
        """Gives the open question the answer that says so of these facts, which it must offer."""
        question = self.match.question
        assert question is not None, self.match.judgement
        fitting = [c for c in question.choices if c.turns and facts.items() <= c.facts.items()]
        assert fitting, [dict(c.facts) for c in question.choices]
        assert self.say("answer", question=question.id, value=fitting[0].value).ok

    @property
    def kind(self) -> str:
        """The kind of the newest judgement."""
        return self.match.judgement.kind if self.match.judgement else ""

    @property
    def texts(self) -> list[str]:
        """The record."""
        return [entry.text for entry in self.match.entries]

    def refolded(self) -> Match:
        """The match rebuilt from all its events."""
        return fold(self.events, games)

    def _keep(self, match: Match, events: tuple[Event, ...]) -> None:
        self.match = match
        self.events += events
