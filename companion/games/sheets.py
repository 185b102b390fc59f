"""What many matches of a game come to, as tables that a page can show without knowing the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from companion.games.contract import Message

Cell = Message | str | int | float
"""Words to come, a name as it is, or a number."""


@dataclass(frozen=True, slots=True)
class Played:
    """One match: its id, the players' names, and its final turns with the state before and after each."""

    match: str
    players: tuple[str, ...]
    steps: Sequence[tuple[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: its title, column headings, rows, and what must be known to read it."""

    title: Message
    columns: tuple[Message | str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: Message | None = None
