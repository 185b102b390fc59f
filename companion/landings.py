"""Where a turn's pieces came to rest, in millimetres on the table: measured facts beside the turn in the journal."""

from __future__ import annotations

from collections.abc import Iterable

from companion.draft import Draft
from companion.match import Event
from vision.reading import SURE_LEAD, Reading

Landing = tuple[float, float]
"""x and y in mm, as the board spec counts."""


def note_landings(draft: Draft, reading: Reading, keys: Iterable[str], so_far: int) -> None:
    """Adds where the free-lying pieces of these changed facts rest, if the events since `so_far` made a turn of them.
    A piece is told only where it is surely the one that the fact names, and where it is in mm."""
    if not any(event.kind in ("provisional", "turn") for event in draft.events[so_far:]):
        return
    places: dict[str, list[float]] = {}
    for key in keys:
        kind, _, name = key.partition(":")
        for piece in reading.pieces:
            fact = piece.facts.get(kind)
            if piece.unit == "mm" and fact is not None and fact.best == name and fact.sure(SURE_LEAD):
                places[name] = [round(piece.xy[0], 1), round(piece.xy[1], 1), round(piece.sigma, 1)]
    if places:
        number = draft.match.turns + (draft.match.provisional is not None)
        draft.add("landed", number=number, places=places)


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
