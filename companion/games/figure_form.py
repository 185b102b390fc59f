"""What a game must be told of a figure that somebody enrols, so that a page can ask it without knowing the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from companion.games.contract import Json, Refusal
from companion.games.data_form import Row


class FigureForm(Protocol):
    """One game's questions about a figure; keeps nothing."""

    faces: int
    rows: tuple[Row, ...]

    def table(self, figure: str, name: str, values: Mapping[str, tuple[str, ...]]) -> dict[str, Json] | Refusal:
        """The figure as a table of the game's data file, of the texts of each row's boxes; the first fault instead."""

    def states(self, table: Mapping[str, Json]) -> tuple[str, ...]:
        """What each face means when it is up: "power" or "shield"."""

    def character(self, table: Mapping[str, Json]) -> bool:
        """True for a figure with which somebody can play, False for one that only helps."""

    def start(self, models: Mapping[str, str], owners: Mapping[str, int]) -> Mapping[str, Json]:
        """What stands in `Setup.start` when these pieces (of these models) belong to these players (by index)."""
