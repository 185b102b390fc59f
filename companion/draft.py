"""A step in the making: events are added one by one, and the match is always what they have made of it so far."""

from __future__ import annotations

from collections.abc import Iterable

from companion.evidence import Author
from companion.fold import apply
from companion.games.contract import Json, Look, Message, Refusal
from companion.match import Event, Match, as_json
from companion.sight import COVERED, plain
from companion.words import knows


class Draft:
    """The match and the new events of one step, all by one author and about one picture."""

    def __init__(self, match: Match, author: Author, picture: str = "") -> None:
        self.match, self.author, self.picture = match, author, picture
        self.events: list[Event] = []

    def add(self, event_kind: str, /, **data: Json) -> None:
        """Adds one event and applies it."""
        event = Event(event_kind, data, self.author, self.picture)
        self.match = apply(self.match, event)
        self.events.append(event)

    def judged(
        self,
        kind: str,
        words: Message,
        details: Iterable[Message] = (),
        places: Iterable[str] = (),
        facts: Look | None = None,
    ) -> None:
        """Adds a judgement unless the same one stands already; `facts` are those that differ from the position."""
        now = self.match.judgement
        details, places, facts = tuple(details), tuple(places), dict(facts or {})
        table = {**self.match.rules.look(self.match.now), **facts} if self.match.states else {}
        old = (now.kind, now.words, now.details, now.places, dict(self.match.table)) if now else None
        if self.match.recheck or old != (kind, words, details, places, table):
            self.add(
                "judged",
                kind=kind,
                words=as_json(words),
                details=[as_json(m) for m in details],
                places=list(places),
                facts=facts,
            )

    def ask(self, words: Message, choices: list[dict[str, Json]], places: Iterable[str], saw: Look) -> None:
        """Opens a question unless the same one is open; `choices` as `choice` makes them."""
        open_now = self.match.question
        if open_now is not None and [(c.kind, list(c.turns), c.number, dict(c.facts)) for c in open_now.choices] == [
            (c["kind"], [tuple(t) for t in c["turns"]], c["number"], c["facts"]) for c in choices
        ]:
            return
        number = self.match.questions + 1
        self.add(
            "asked",
            id=f"q{number}",
            words=as_json(words),
            choices=choices,
            places=list(places),
            saw=dict(saw),
            presses=len(self.match.pressed),
        )
        seen = {k: plain(v) for k, v in saw.items() if k in self.match.table and v != COVERED}
        self.judged("question", words, (), places, seen)


def choice(value: str, words: Message, kind: str, **data: Json) -> dict[str, Json]:
    """One answer of a question as JSON."""
    blank: dict[str, Json] = {"turns": [], "number": 0, "facts": {}, "details": [], "places": []}
    return {**blank, "value": value, "words": as_json(words), "kind": kind, **data}


def place_of(key: str) -> str:
    """The place of a fact key: `path:b3` -> `b3`."""
    return key.partition(":")[2]


def fact_words(game: str, key: str, value: str) -> Message:
    """What a fact says, in words: the game's own sentence for the value, or the bare value."""
    kind, _, place = key.partition(":")
    own = f"{game}.fact.{kind}.{value}"
    return Message("table.fact", (("place", place), ("what", f"@{own}" if knows(own) else f"{kind} {value}")))


def refusal_json(refusals: Iterable[Refusal]) -> list[Json]:
    """Refusals as the JSON of their messages."""
    return [as_json(r.message) for r in refusals]


def refusal_words(refusals: tuple[Refusal, ...]) -> tuple[Message, tuple[Message, ...]]:
    """The rule that matters most and the others, in words; a plain sentence when no rule is named."""
    if not refusals:
        return Message("table.no_legal_turn"), ()
    return refusals[0].message, tuple(r.message for r in refusals[1:])
