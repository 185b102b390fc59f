"""Drawing templates: what the dashboard asks of each game's board, and how it finds the one of a game by its name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol, cast

from companion.bulletin import Mark
from companion.games.contract import Json, Message


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that a fact can take: its words and a small SVG picture of it (may be empty)."""

    value: str
    words: Message
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fact that a person may set by hand (`path`, `pawn`): its words and its values.

    `turn` maps each value to the one a quarter turn clockwise, for things that are turned. `nothing` is the value of a
    place without the piece, for pieces that are carried from place to place; empty for what stays where it is.
    """

    kind: str
    words: Message
    choices: tuple[Choice, ...]
    turn: Mapping[str, str] = field(default_factory=dict)
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The board as text: column headings, and rows of a heading with one list of messages a cell; `places` are the
    cells' places row by row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Message, ...], ...]], ...]
    places: tuple[tuple[str, ...], ...]


class Board(Protocol):
    """One game's drawing template: a module `web.boards.<game>` with these functions. Nothing here knows rules."""

    def draw(self, view: Json, marks: Sequence[Mark]) -> str:
        """The board as one SVG element, bare when the view is None.

        Places are groups of class `place` with `data-place`; pieces are groups in them with `data-piece` (a kind).
        """

    def chip(self, view: Json, player: int) -> str:
        """A small SVG of the pieces of this player (index), for the list of players; the view may be None."""

    def kinds(self) -> tuple[Kind, ...]:
        """What may be set by hand at a place, in the order in which to show it."""

    def facts(self, view: Json) -> Mapping[str, str]:
        """The view's facts that may be set by hand, `<kind>:<place>` -> value."""

    def edited(self, view: Json, facts: Mapping[str, str]) -> Json:
        """The view with these facts changed, for a preview; unknown keys are ignored."""

    def table(self, view: Json) -> Table:
        """The board in words for those who cannot see it."""


@cache
def board_of(game: str) -> Board | None:
    """The drawing template of a game, or None when there is none (then the page works without a board picture)."""
    if not game.isidentifier():
        return None
    try:
        return cast(Board, importlib.import_module(f"{__name__}.{game}"))
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{game}":
            raise
        return None
