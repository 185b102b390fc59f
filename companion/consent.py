"""Taking back final turns: when the others at the table have to agree, and how they are asked."""

from __future__ import annotations

from companion.draft import Draft
from companion.games.contract import Message
from companion.match import Match, as_json

UNDO = ("free", "chance", "always")
"""The table's setting: turns are taken back at once, or only with consent where they brought chance or something hidden
to light, or always only with consent."""


def needs_consent(match: Match, number: int) -> bool:
    """Whether the table's setting asks for everybody's consent before the turns after `number` are taken back."""
    if match.undo != "chance":
        return match.undo == "always"
    rules = match.rules
    again = range(match.upto(number), len(match.entries))
    return any(
        (entry := match.entries[k]).text
        and not entry.refused
        and rules.reveals(match.states[k], rules.parse(entry.text))
        for k in again
    )


def offer_undo(draft: Draft, number: int, player: int) -> None:
    """Asks all others whether the turns after `number` may be taken back; `player` -1: nobody in particular asks."""
    offer = draft.match.offer
    if offer is not None and (offer.number, offer.player) == (number, player):
        return
    asked: tuple[tuple[str, str | int | float], ...] = (("number", number + 1),)
    words = Message("table.offer_undo_seen", asked)
    if player >= 0:
        words = Message("table.offer_undo", (("player", f"#{player}"), *asked))
    draft.add("offered", player=player, words=as_json(words), text="", number=number)
