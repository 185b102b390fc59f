"""Moguli's state and turns: frozen plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from companion.games.contract import Message, Option, Refusal, RulesError
from companion.games.moguli.board import BIT, DOORS, HOME, NAMES

OPTIONS: tuple[Option, ...] = (
    Option("cylinder", (False, True), False),
    Option("new_starting_row", (False, True), False),
    Option("ability", ("turn", "position"), "turn"),
    Option("compulsory_actions", (False, True), False),
)


@dataclass(frozen=True, slots=True)
class Options:
    """The house rules of one game: the two variants, how *can* is measured (R-8), whether both actions are compulsory
    (R-10)."""

    cylinder: bool = False
    new_starting_row: bool = False
    ability: str = "turn"
    compulsory_actions: bool = False


@dataclass(frozen=True, slots=True)
class Over:
    """How the game ended: the winning player (None: a draw) and `why`: four, both_four, blocked, resigned, agreed."""

    winner: int | None
    why: str


@dataclass(frozen=True, slots=True)
class State:
    """A position before a turn.

    `tiles` are 35 codes by door; `pawns` a mask for each player; `locked` the tiles that the opponent rotated on the
    turn just before; `blocked_run` turns in a row whose player could not move a pawn; `last_turn` when the first player
    has four pawns over there and the second plays the last turn; `setup` the player whose exchange of the starting row
    is due; `over` once it has ended. `odd` is what was implausible about the tiles at the start, in words.
    """

    tiles: tuple[int, ...]
    pawns: tuple[int, int]
    to_move: int = 0
    locked: int = 0
    blocked_run: int = 0
    last_turn: bool = False
    options: Options = Options()
    setup: int | None = None
    over: Over | None = None
    odd: tuple[Message, ...] = field(default=(), compare=False, repr=False)


class Act(NamedTuple):
    """What one act of a turn is.

    `kind` "R" and "B": the rotation and the bonus rotation of tile `place` by `arg` quarter turns clockwise (1, 2, 3);
    "M": the pawn move from door `place` to door `arg`; "X": the exchange of the own starting row with row `arg` (0:
    declined); "resign" of player `arg` (-1: the one to move); "draw", agreed. `place` is -1 where there is none.
    """

    kind: str
    place: int
    arg: int


Turn = tuple[str, ...]
"""Acts in their order, each in its notation (`R b3+90`); the empty turn does nothing. Plain strings, because lists of a
hundred thousand turns are made and the garbage collector need not look into them."""

ANGLES = {1: "+90", 2: "+180", 3: "-90"}
"""Quarter turns clockwise -> how they are written."""
EXCHANGE_ROWS = (3, 4, 5)

ROTATE: tuple[dict[int, str], ...] = tuple({q: f"R {name}{angle}" for q, angle in ANGLES.items()} for name in NAMES)
BONUS: tuple[dict[int, str], ...] = tuple({q: f"B {name}{angle}" for q, angle in ANGLES.items()} for name in NAMES)
MOVE: tuple[tuple[str, ...], ...] = tuple(tuple(f"M {start}-{end}" for end in NAMES) for start in NAMES)
"""`ROTATE[tile][quarters]`, `BONUS[tile][quarters]`, `MOVE[from][to]`: the acts by doors."""
EXCHANGE: dict[int, str] = {0: "X-", **{row: f"X{row}" for row in EXCHANGE_ROWS}}
RESIGN: dict[int, str] = {-1: "resign", 0: "resign 1", 1: "resign 2"}
DRAW = "draw"

ACTS: dict[str, Act] = {
    **{ROTATE[tile][q]: Act("R", tile, q) for tile in range(DOORS) for q in ANGLES},
    **{BONUS[tile][q]: Act("B", tile, q) for tile in range(DOORS) for q in ANGLES},
    **{MOVE[start][end]: Act("M", start, end) for start in range(DOORS) for end in range(DOORS)},
    **{text: Act("X", -1, row) for row, text in EXCHANGE.items()},
    **{text: Act("resign", -1, player) for player, text in RESIGN.items()},
    DRAW: Act("draw", -1, 0),
}
"""Every act there is, by its notation."""

PAWNS = 5
"""How many pawns a side has."""
START_PAWNS: tuple[int, int] = HOME


def options_from(chosen: Mapping[str, str | int | bool]) -> Options:
    """The options chosen, defaults filled in; raises RulesError on an unknown name or a value it cannot take."""
    values: dict[str, str | int | bool] = {option.name: option.default for option in OPTIONS}
    choices = {option.name: option.choices for option in OPTIONS}
    for name, value in chosen.items():
        if name not in choices:
            known = ", ".join(choices)
            raise RulesError(
                Refusal("moguli.bad_option", values=(("name", name), ("known", known))),
                f"no option {name!r}; there are {known}",
            )
        if not any(type(value) is type(choice) and value == choice for choice in choices[name]):
            allowed = ", ".join(str(choice) for choice in choices[name])
            raise RulesError(
                Refusal(
                    "moguli.bad_option_value", values=(("name", name), ("value", str(value)), ("allowed", allowed))
                ),
                f"option {name!r} cannot be {value!r}; it can be {allowed}",
            )
        values[name] = value
    return Options(
        cylinder=bool(values["cylinder"]),
        new_starting_row=bool(values["new_starting_row"]),
        ability=str(values["ability"]),
        compulsory_actions=bool(values["compulsory_actions"]),
    )


def free_doors(state: State, player: int) -> int:
    """free(P): how many doors of the player's own starting row no pawn of either side stands on."""
    return 5 - ((state.pawns[0] | state.pawns[1]) & HOME[player]).bit_count()


def owner(state: State, door: int) -> int | None:
    """The player whose pawn stands on the door, or None."""
    if state.pawns[0] & BIT[door]:
        return 0
    return 1 if state.pawns[1] & BIT[door] else None
