"""Which games there are, and where each one's parts live; parts are imported only when they are asked for."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from calibration.profile import Board, TableProfile, load_board
from companion.eyes import RestWatch
from companion.games.contract import DataUsed, Look, Message, Rules
from companion.games.data_form import DataForm
from companion.games.figure_form import FigureForm
from companion.games.sheets import Played, Sheet
from devices.simulated.contract import SimulatedTable
from vision.contract import Reader


class UnknownGameError(Exception):
    """A game name that the registry does not hold, or a part that a game does not have; says what there is."""


Chooser = Callable[[Any, random.Random], Any]
"""A simulated player: the turn that it makes in this state; all its chance comes from the generator."""


Dealer = Callable[[random.Random, Any], Any]
"""Chance's part of a beginning: a `Setup.start` as JSON, of the data that is given (`DataUsed.start`)."""


Hinter = Callable[[Any], tuple[Any, Message]]
"""A good turn for the player to move, and why."""


Planter = Callable[[Any, random.Random], "tuple[Look, str] | None"]
"""An illegal act in this state as changed facts, and the rule that it breaks; None where none can be built."""


DataLoader = Callable[[Path | None, Mapping[str, str | int | bool]], DataUsed]
"""The game's data: a user's own file, or None for what comes with the program, by the setup's options."""


class TableFactory(Protocol):
    """Makes a simulated table on which the pieces lie as `look` says; `seed` decides jitter, light and noise."""

    def __call__(
        self, look: Look, board: Board, seed: int = 0, *, press_wire: Callable[[str, bool], None] | None = None
    ) -> SimulatedTable:
        """The table, at simulated time 0; fingers on its buttons go through `press_wire` (name, down or up)."""


# What to do without a part that a user may ask for.
_WITHOUT = {
    "reader": "cannot be read by a camera yet; leave `camera` out of the configuration and play by hand",
    "table": "has no simulated table yet; name another game with --game, or play by hand with `companion run`",
}


@dataclass(frozen=True, slots=True)
class GameEntry:
    """One game's parts as dotted names (`module:attribute`); an empty name means that the part does not exist yet.

    `rules`: the `Rules` object. `choose`: a `Chooser`, or a class of such for players with a memory. `hint`: a
    `Hinter`. `illegal`: a `Planter`. `deal`: a `Dealer`, where a start is dealt. `data`: a `DataLoader`; `data_file`
    the user's own file for it; `form` makes a `DataForm` of that file or None. `figures`: a `FigureForm`, where figures
    are enrolled. `board`: the option that says on which of the game's boards it is played, where there are
    several. `reader`: a `Reader` class that takes a `TableProfile`. `table`: a `TableFactory`. (The board is drawn
    by `web`, by the name.)
    """

    name: str
    rules: str
    choose: str = ""
    hint: str = ""
    illegal: str = ""
    deal: str = ""
    data: str = ""
    data_file: Path | None = None
    form: str = ""
    figures: str = ""
    board: str = ""
    reader: str = ""
    rest: str = ""
    measured: str = ""
    report: str = ""
    sheets: str = ""
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
        choose: Chooser | type[Chooser] = self._part("choose")
        return choose() if isinstance(choose, type) else choose

    def load_hint(self) -> Hinter | None:
        """Who gives hints; None where nobody can."""
        return self._part("hint") if self.hint else None

    def load_illegal(self) -> Planter | None:
        """Who plants illegal acts; None where nobody can."""
        return self._part("illegal") if self.illegal else None

    def data_used(self, options: Mapping[str, str | int | bool] | None = None) -> DataUsed | None:
        """The data that a game with these options is played with; None for a game that has none. Raises RulesError
        that says what is wrong with the user's file."""
        if not self.data:
            if self.data_file is not None:
                raise UnknownGameError(f"{self.name} is played without any data file")
            return None
        used: DataUsed = self._part("data")(self.data_file, options or {})
        return used

    def load_figures(self) -> FigureForm | None:
        """What is asked of a figure that is enrolled; None for a game without such figures."""
        form: FigureForm | None = self._part("figures") if self.figures else None
        return form

    def load_form(self) -> DataForm | None:
        """The game's data as a form; None for a game whose data nobody edits on a page."""
        form: DataForm | None = self._part("form")(self.data_file) if self.form else None
        return form

    def deal_start(self, chance: random.Random) -> Any:
        """A dealt `Setup.start`, with the user's own data in it; None for a game whose start is fixed."""
        used = self.data_used()
        given = dict(used.start) if used is not None else {}
        return self._part("deal")(chance, given) if self.deal else given or None

    def load_board(self, options: Mapping[str, str | int | bool]) -> Board:
        """The spec of the board on which a game with these options is played."""
        if not self.board:
            return load_board(self.name)
        usual = next(o.default for o in self.load_rules().options() if o.name == self.board)
        wanted = options.get(self.board, usual)
        return load_board(self.name, variant="" if wanted == usual else str(wanted))

    def load_reader(self) -> Callable[[TableProfile], Reader]:
        """The factory of the game's eyes."""
        reader: Callable[[TableProfile], Reader] = self._part("reader")
        return reader

    def load_rest(self) -> RestWatch | None:
        """A new watch that tells rest from motion; None where the usual one will do."""
        return self._part("rest")() if self.rest else None

    def load_report(self) -> Callable[[Iterable[tuple[Any, Any, Any]]], tuple[Message, ...]]:
        """The statistics of a match's turns in words."""
        report: Callable[[Iterable[tuple[Any, Any, Any]]], tuple[Message, ...]] = self._part("report")
        return report

    def load_sheets(self) -> Callable[[Sequence[Played]], tuple[Sheet, ...]]:
        """What a game's matches come to, as tables; none for a game that has nothing to tell."""
        sheets: Callable[[Sequence[Played]], tuple[Sheet, ...]] = (
            self._part("sheets") if self.sheets else lambda played: ()
        )
        return sheets

    def load_measured(self) -> Callable[[Any, Any], Look]:
        """What the eyes would measure of a turn besides the game's facts."""
        measured: Callable[[Any, Any], Look] = self._part("measured") if self.measured else lambda state, turn: {}
        return measured

    def load_table(self) -> TableFactory:
        """The factory of the game's simulated table."""
        table: TableFactory = self._part("table")
        return table

    def _part(self, part: str) -> Any:
        dotted: str = getattr(self, part)
        if not dotted:
            raise UnknownGameError(f"{self.name} {_WITHOUT.get(part, f'has no {part} yet')}")
        module, _, attribute = dotted.partition(":")
        return getattr(import_module(module), attribute)


GAMES: Mapping[str, GameEntry] = {
    entry.name: entry
    for entry in (
        GameEntry(
            name="moguli",
            rules="companion.games.moguli:RULES",
            choose="companion.games.moguli.players:choose",
            hint="companion.games.moguli.players:hint",
            illegal="companion.games.moguli.players:illegal",
            deal="companion.games.moguli.start:dealt",
            data="companion.games.moguli.start:used",
            reader="vision.tiles:TileReader",
            table="devices.simulated.table:MoguliTable",
        ),
        GameEntry(
            name="maulwurf",
            rules="companion.games.maulwurf.rules:RULES",
            choose="companion.games.maulwurf.players:choose",
            data="companion.games.maulwurf.layout:used",
            board="layout",
            reader="vision.tokens:TokenReader",
            table="devices.simulated.token_table:TokenTable",
        ),
        GameEntry(
            name="muggins",
            rules="companion.games.muggins.rules:RULES",
            choose="companion.games.muggins.players:TablePlayers",
            illegal="companion.games.muggins.players:illegal",
            reader="vision.domino_table:DominoTableReader",
            table="devices.simulated.domino_table:DominoTable",
        ),
        GameEntry(
            name="moogui",
            rules="companion.games.moogui.rules:RULES",
            choose="companion.games.moogui.players:choose",
            illegal="companion.games.moogui.players:illegal",
            data="companion.games.moogui.catalogue:used",
            figures="companion.games.moogui.enrolling:FORM",
            reader="vision.figure_table:FigureTableReader",
            rest="vision.arena_states:ArenaWatch",
            measured="companion.games.moogui.look:measured",
            report="companion.games.moogui.statistics:report",
            sheets="companion.games.moogui.record_sheets:sheets",
            table="devices.simulated.arena_table:ArenaTable",
        ),
        GameEntry(
            name="moogh",
            rules="companion.games.moogh.rules:RULES",
            choose="companion.games.moogh.players:choose",
            illegal="companion.games.moogh.players:illegal",
            data="companion.games.moogh.cards:used",
            form="companion.games.moogh.form:CardForm",
            reader="vision.moogh:MooghReader",
            table="devices.simulated.moogh_table:MooghTable",
        ),
    )
}


def game(name: str) -> GameEntry:
    """The entry of a game; raises UnknownGameError that lists the known ones."""
    if name not in GAMES:
        raise UnknownGameError(f"there is no game {name!r}; known games: {', '.join(sorted(GAMES))}")
    return GAMES[name]


def rules_of(name: str) -> Rules[Any, Any]:
    """The rules of a game; LookupError for an unknown one, as a match expects."""
    return GAMES[name].load_rules()


def games_with(name: str, data_file: Path | None) -> Mapping[str, GameEntry]:
    """All games, the named one with the user's own data file, which is read once to know that it can be used."""
    entry = replace(game(name), data_file=data_file)
    entry.data_used()
    return {**GAMES, name: entry}
