"""What is in doubt: since when, what it is in words, and when it is asked."""

from __future__ import annotations

from companion.draft import Draft, place_of
from companion.games.contract import Message
from vision.reading import Reading

ASK_S = 1.0
"""Doubts that last so long are asked; missed turns and takebacks of final turns are believed after it."""

SAY_S, HIDDEN_S = 0.6, 5.0
"""What is covered while something is to be judged is named after the first time, and asked about after the second: a
hand may hide the reason."""

ASKED_PLACES = 3
"""More unreadable places than this are not asked one by one: somebody has to clear the view."""


def confirmed(draft: Draft, key: str, at_s: float, need_s: float) -> bool:
    """True when the same verdict has stood for `need_s`; else notes since when it stands."""
    doubt = draft.match.doubt
    if need_s <= 0.0:
        return True
    if doubt is not None and doubt[0] == key and doubt[1] <= at_s:
        return at_s - doubt[1] >= need_s
    draft.add("doubted", key=key, since_s=at_s)
    return False


def unread_places(reading: Reading, keys: list[str]) -> list[Message]:
    """What cannot be read, one sentence a reason, each with its places."""
    places: dict[str, list[str]] = {}
    for key in keys:
        fact = reading.facts.get(key)
        reason = (fact.reason if fact is not None else "") or "unclear"
        if place_of(key) not in places.setdefault(reason, []):
            places[reason].append(place_of(key))
    return [
        Message("table.cannot_read", (("place", ", ".join(sorted(found))), ("reason", f"@vision.reason.{reason}")))
        for reason, found in sorted(places.items())
    ]
