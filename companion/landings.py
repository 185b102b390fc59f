"""Where a turn's pieces came to rest, in millimetres on the table: measured facts beside the turn in the journal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from companion.draft import Draft
from companion.games.contract import Look
from companion.match import Event
from companion.sight import BARE, DOUBTFUL, said_by
from vision.reading import SURE_LEAD, Reading

Landing = tuple[float, float]
"""x and y in mm, as the board spec counts."""

NUDGED_MM, SPREAD = 5.0, 3.0
"""A piece lies where it lay within this distance and so many of its places' standard deviations."""


def note_landings(draft: Draft, reading: Reading, keys: Iterable[str], so_far: int) -> None:
    """Adds where the free-lying pieces of these changed facts rest, if the events since `so_far` made a turn of them.
    A piece is told only where it is surely the one that the fact names, and where it is in mm. Where the events ask a
    question, what it is about lies where the likeliest piece does, and has landed there if the answer says so; where
    some piece is not surely known, the answer settles every fact that is in doubt, as long as they all lie so."""
    kinds = {event.kind for event in draft.events[so_far:]}
    if kinds & {"provisional", "turn"}:
        _landed(draft, {key.partition(":")[2]: at for key in keys for at in _places(reading, key, sure=True)})
    elif "asked" in kinds and draft.match.question is not None:
        doubtful = {key for choice in draft.match.question.choices for key in choice.facts}
        lying = {key.partition(":")[2]: _places(reading, key, sure=False) for key in sorted(doubtful)}
        places = {name: found[0] for name, found in lying.items() if len(found) == 1}
        unclear = unclear_places(reading)
        doubts = {k: said_by(reading.facts[k]) for k in draft.match.rules.look(draft.match.now) if k in reading.facts}
        saw = {k: said for k, said in doubts.items() if DOUBTFUL in said} if unclear else {}
        if places or unclear:
            draft.add("lying", places=places, unclear=unclear, saw=saw)


def settled_landings(draft: Draft, lying: Mapping[str, Sequence[float]], facts: Look) -> None:
    """Adds where the pieces landed of which an answer has told these facts, as far as it is known where they lay."""
    names = [key.partition(":")[2] for key, value in sorted(facts.items()) if value not in BARE]
    _landed(draft, {name: list(lying[name]) for name in names if name in lying})


def unclear_places(reading: Reading) -> list[list[float]]:
    """Where those lie of the free-lying pieces that are not surely one that the facts name: x, y and the uncertainty in
    mm."""
    places = []
    for piece in reading.pieces:
        fact = piece.facts.get(piece.kind)
        if piece.unit != "mm" or fact is None:
            continue
        if not fact.sure(SURE_LEAD) or f"{piece.kind}:{fact.best}" not in reading.facts:
            places.append([round(piece.xy[0], 1), round(piece.xy[1], 1), round(piece.sigma, 1)])
    return places


def moved(before: Iterable[Sequence[float]], reading: Reading) -> bool:
    """Whether a piece that is not surely known lies where none of these (x, y, uncertainty in mm) lay."""
    known = list(before)

    def same(one: Sequence[float], other: Sequence[float]) -> bool:
        return math.dist(one[:2], other[:2]) <= NUDGED_MM + SPREAD * math.hypot(one[2], other[2])

    return not all(any(same(place, old) for old in known) for place in unclear_places(reading))


def _landed(draft: Draft, places: Mapping[str, list[float]]) -> None:
    if places:
        number = draft.match.turns + (draft.match.provisional is not None)
        draft.add("landed", number=number, places=dict(places))


def _places(reading: Reading, key: str, sure: bool) -> list[list[float]]:
    """Where the pieces lie that are surely, or likelier than any other known one, what a fact names."""
    kind, _, name = key.partition(":")
    found = []
    for piece in reading.pieces:
        fact = piece.facts.get(kind)
        if piece.unit != "mm" or fact is None:
            continue
        known = [value for value, _ in fact.ranked if f"{kind}:{value}" in reading.facts]
        if (fact.best == name and fact.sure(SURE_LEAD)) if sure else known[:1] == [name]:
            found.append([round(piece.xy[0], 1), round(piece.xy[1], 1), round(piece.sigma, 1)])
    return found


def landings(events: Iterable[Event]) -> dict[str, list[Landing]]:
    """Where each piece landed in the turns that still stand, in order."""
    found: dict[int, dict[str, Landing]] = {}
    turns = 0
    for event in events:
        if event.kind == "turn":
            turns += 1
        elif event.kind in ("undone", "withdrawn"):
            turns = event.data["to"] if event.kind == "undone" else turns
            found = {number: places for number, places in found.items() if number <= turns}
        elif event.kind == "landed":
            told = {name: (float(at[0]), float(at[1])) for name, at in event.data["places"].items()}
            found[event.data["number"]] = {**found.get(event.data["number"], {}), **told}
    every: dict[str, list[Landing]] = {}
    for number in sorted(found):
        for name, place in found[number].items():
            every.setdefault(name, []).append(place)
    return every
