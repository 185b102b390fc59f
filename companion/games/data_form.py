"""A game's data as a form: boxes to type in, checked and marked with where each value comes from, so that a page can
show it without knowing the game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from companion.games.contract import Message, Refusal

CONFIRMED = ("rulebook", "source", "owner")
"""Marks of values that somebody has read where they are printed; the others (inferred, invented) are to be compared."""


@dataclass(frozen=True, slots=True)
class Part:
    """One box: one of `choices` (value, words), or where there are none a whole number from `low` to `high`; `words`
    name it where a row has several of different kinds."""

    choices: tuple[tuple[str, Message], ...] = ()
    low: int = 0
    high: int = 0
    words: Message | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One value with a mark of its own, typed into one or several boxes; `grows` when all `parts` together may be
    repeated, as often as the owner's cards need."""

    key: str
    words: Message
    parts: tuple[Part, ...]
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong together: one side of a card."""

    words: Message
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """What stands in the form: for each row's key the texts of its boxes, and where the value comes from."""

    values: Mapping[str, tuple[str, ...]]
    marks: Mapping[str, str]


class DataForm(Protocol):
    """One game's data as a form; keeps nothing."""

    title: Message
    groups: tuple[Group, ...]

    def filled(self, text: str | None = None) -> Filled:
        """The form with the values of a TOML text (None: of the data that is played with) over those that come with
        the program; raises RulesError that says what is wrong with it."""

    def faults(self, filled: Filled) -> tuple[Refusal, ...]:
        """Everything that stands against these values; `places` is the key of the row to mark, if one is meant."""

    def text(self, filled: Filled) -> str:
        """Faultless values as the TOML text that `filled` and the program's own loader read back, marks included."""
