"""Which games there are, and where each one's parts live; parts are imported only when they are asked for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from calibration.profile import Board, TableProfile
from companion.games.contract import Look, Rules
from devices.simulated.contract import SimulatedTable
from vision.contract import Reader


class UnknownGameError(Exception):
    """A game name that the registry does not hold, or a part that a game does not have; says what there is."""


Chooser = Callable[[Any, random.Random], Any]
"""A simulated player: the turn that it makes in this state; all its chance comes from the generator."""


Dealer = Callable[[random.Random], Any]
"""Chance's part of a beginning: a `Setup.start` as JSON."""


class TableFactory(Protocol):
    """Makes a simulated table on which the pieces lie as `look` says; `seed` decides jitter, light and noise."""

    def __call__(
        self, look: Look, board: Board, seed: int = 0, *, press_wire: Callable[[str, bool], None] | None = None
    ) -> SimulatedTable:
        """The table, at simulated time 0; fingers on its buttons go through `press_wire` (name, down or up)."""


@dataclass(frozen=True, slots=True)
class GameEntry:
    """One game's parts as dotted names (`module:attribute`); an empty name means that the part does not exist yet.

    `rules`: the `Rules` object. `choose`: a `Chooser`. `deal`: a `Dealer`, where a start is dealt. `reader`: a `Reader`
    class that takes a `TableProfile`. `table`: a `TableFactory`. (The board's drawing is found by `web` by the name.)
    """

    name: str
    rules: str
    choose: str = ""
    deal: str = ""
    reader: str = ""
    table: str = ""

    @property
    def has_table(self) -> bool:
        """True when the whole chain exists: eyes that read this game's table, and a simulated one."""
        return bool(self.reader and self.table)

    def load_rules(self) -> Rules[Any, Any]:
        """The game's rules."""
        rules: Rules[Any, Any] = self._part("rules")
        return rules

    def load_choose(self) -> Chooser:
        """The game's simulated player; one that takes any legal turn where the game has none of its own."""
        if not self.choose:
            rules = self.load_rules()
            return lambda state, chance: chance.choice(list(rules.legal(state)))
        choose: Chooser = self._part("choose")
        return choose

    def deal_start(self, chance: random.Random) -> Any:
        """A dealt `Setup.start`; None for a game whose start is fixed."""
        return self._part("deal")(chance) if self.deal else None

    def load_reader(self) -> Callable[[TableProfile], Reader]:
        """The factory of the game's eyes."""
        reader: Callable[[TableProfile], Reader] = self._part("reader")
        return reader

    def load_table(self) -> TableFactory:
        """The factory of the game's simulated table."""
        table: TableFactory = self._part("table")
        return table

    def _part(self, part: str) -> Any:
        dotted: str = getattr(self, part)
        if not dotted:
            raise UnknownGameError(f"{self.name} has no {part} yet")
        module, _, attribute = dotted.partition(":")
        return getattr(import_module(module), attribute)


GAMES: Mapping[str, GameEntry] = {
    entry.name: entry
    for entry in (
        GameEntry(
            name="moguli",
            rules="companion.games.moguli:RULES",
            choose="companion.games.moguli.players:choose",
            deal="companion.games.moguli.start:deal",
            reader="vision.tiles:TileReader",
            table="devices.simulated.table:MoguliTable",
        ),
        GameEntry(
            name="maulwurf",
            rules="companion.games.maulwurf.rules:RULES",
            choose="companion.games.maulwurf.players:choose",
        ),
        GameEntry(
            name="muggins",
            rules="companion.games.muggins.rules:RULES",
            choose="companion.games.muggins.players:choose",
        ),
        GameEntry(
            name="moogui",
            rules="companion.games.moogui.rules:RULES",
            choose="companion.games.moogui.players:choose",
        ),
        GameEntry(
            name="moogh",
            rules="companion.games.moogh.rules:RULES",
            choose="companion.games.moogh.players:choose",
        ),
        GameEntry(name="maulwurf", rules="companion.games.maulwurf:RULES", choose="companion.games.maulwurf:choose"),
        GameEntry(name="muggins", rules="companion.games.muggins:RULES", choose="companion.games.muggins:choose"),
    )
}


def game(name: str) -> GameEntry:
    """The entry of a game; raises UnknownGameError that lists the known ones."""
    if name not in GAMES:
        raise UnknownGameError(f"there is no game {name!r}; known games: {', '.join(sorted(GAMES))}")
    return GAMES[name]
