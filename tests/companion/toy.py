"""A sixth game, as small as one can be: in turn each player puts a token on a free cell of a small board, until one has
three in a row. It names itself nowhere outside of this file and its line in a registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from calibration.profile import Board, Markers, load_board, square_marker
from companion.games.contract import (
    Awaiting,
    Declaration,
    Explanation,
    Json,
    Look,
    Message,
    Option,
    Outcome,
    Refusal,
    RulesError,
    Setup,
    Story,
)

SIDE = 6
CELLS = tuple(f"{x},{y}" for x, y in product(range(SIDE), range(SIDE)))


@dataclass(frozen=True, slots=True)
class State:
    """What lies on each cell, `-`, `mole1` or `mole2`, and whose turn it is."""

    cells: tuple[str, ...] = ("-",) * len(CELLS)
    mover: int = 0


class ToyRules:
    """The rules of the toy; see `companion.games.contract.Rules`."""

    name = "toy"
    min_players = max_players = 2

    def options(self) -> tuple[Option, ...]:
        return ()

    def new(self, setup: Setup) -> State:
        return State()

    def start_from_look(self, look: Look, options: Mapping[str, Any], given: Json = None) -> Json:
        taken = tuple(c for c in CELLS if look[f"cell:{c}"] != "-")
        return (Refusal("toy.taken", taken),) if taken else {}

    def to_act(self, state: State) -> Awaiting:
        return Awaiting("turn", (state.mover,), Message("toy.put"))

    def legal(self, state: State) -> Iterable[str]:
        return [c for c, v in zip(CELLS, state.cells, strict=True) if v == "-"] if self.outcome(state) is None else []

    def apply(self, state: State, turn: str) -> State | Refusal:
        at = CELLS.index(turn)
        if state.cells[at] != "-":
            return Refusal("toy.taken", (turn,))
        cells = (*state.cells[:at], f"mole{state.mover + 1}", *state.cells[at + 1 :])
        return State(cells, 1 - state.mover)

    def outcome(self, state: State) -> Outcome | None:
        held = {tuple(map(int, c.split(","))): v for c, v in zip(CELLS, state.cells, strict=True) if v != "-"}
        for (x, y), value in held.items():
            for dx, dy in ((1, 0), (0, 1)):
                if all(held.get((x + k * dx, y + k * dy)) == value for k in range(3)):
                    return Outcome((int(value[4:]) - 1,), Message("toy.won"))
        return None if "-" in state.cells else Outcome((), Message("toy.full"))

    def text(self, turn: str) -> str:
        return turn

    def parse(self, text: str) -> str:
        if text not in CELLS:
            raise RulesError(Refusal("toy.no_cell"), f"no cell: {text}")
        return text

    def position_text(self, state: State) -> str:
        return " ".join((*state.cells, str(state.mover)))

    def parse_position(self, text: str) -> State:
        *cells, mover = text.split()
        return State(tuple(cells), int(mover))

    def to_json(self, state: State) -> Json:
        return {"version": 1, "position": self.position_text(state)}

    def from_json(self, data: Json) -> State:
        return self.parse_position(data["position"])

    def look(self, state: State) -> Look:
        return {f"cell:{c}": v for c, v in zip(CELLS, state.cells, strict=True)}

    def reveals(self, state: State, turn: str) -> bool:
        return False

    def trace(self, state: State, turn: str) -> Look:
        return {f"cell:{turn}": f"mole{state.mover + 1}"}

    def explain(self, before: State, seen: Look) -> Explanation[State, str]:
        changed = [c for c, v in zip(CELLS, before.cells, strict=True) if seen[f"cell:{c}"] != v]
        if len(changed) == 1 and seen[f"cell:{changed[0]}"] == f"mole{before.mover + 1}":
            after = self.apply(before, changed[0])
            if isinstance(after, State):
                return Explanation((Story(changed[0], after, before.mover),))
        return Explanation(refusals=(Refusal("toy.one_token", tuple(changed)),))

    def with_look(self, state: State, facts: Look) -> State | Refusal:
        look = {**self.look(state), **facts}
        return replace(state, cells=tuple(look[f"cell:{c}"] for c in CELLS))

    def declarations(self, state: State, player: int) -> tuple[Declaration[str], ...]:
        return ()

    def describe(self, state: State, turn: str) -> Message:
        return Message("toy.did_put", (("cell", turn),))

    def notes(self, state: State) -> tuple[Message, ...]:
        return ()

    def view(self, state: State, player: int | None) -> Json:
        return dict(self.look(state))


RULES = ToyRules()


def board() -> Board:
    """A small printed board of plain cells with markers about it."""
    pitch, wide = 30.0, SIDE * 30.0
    middles = {0: (-40.0, 20.0), 1: (wide + 40, 20.0), 2: (wide + 40, wide - 20), 3: (-40.0, wide - 20)}
    places = {c: ((int(c[0]) + 0.5) * pitch, (int(c[2]) + 0.5) * pitch) for c in CELLS}
    like = load_board("maulwurf")
    return replace(
        like,
        game="toy",
        corners_mm=((0.0, 0.0), (wide, 0.0), (wide, wide), (0.0, wide)),
        places_mm=places,
        markers=Markers("DICT_4X4_50", {n: square_marker(at, 40.0, 0.4) for n, at in middles.items()}),
        grid={"pitch_mm": pitch, "colours": ["red", "blue"]},
    )
