"""The only place where a match changes: `step(match, evidence)` gives the next match, its events and the reply."""

from __future__ import annotations

from typing import NamedTuple

from companion.commands import OK, Reply
from companion.draft import Draft
from companion.evidence import Chose, Evidence, Seen
from companion.judging import seen
from companion.match import Event, Match
from companion.ordering import chose
from companion.rolls import rolled


class Step(NamedTuple):
    """What one piece of evidence did: `match == fold` of all events so far; no events: nothing changed."""

    match: Match
    events: tuple[Event, ...]
    reply: Reply


def step(match: Match, evidence: Evidence) -> Step:
    """The match after the evidence. Never raises for anything that a person or a device can send."""
    picture = "" if isinstance(evidence, Chose) else evidence.picture
    draft = Draft(match, evidence.author, picture)
    if isinstance(evidence, Seen):
        seen(draft, evidence)
        reply = OK
    elif isinstance(evidence, Chose):
        reply = chose(draft, evidence)
        if not reply.ok and draft.match.events == match.events:
            return Step(match, (), reply)
    else:
        reply = rolled(draft, evidence)
    return Step(draft.match, tuple(draft.events), reply)
