"""Moguli behind the contract that every game speaks; all work is done by the modules beside this one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
    Setup,
)
from companion.games.moguli import explain, looks, notation, record, start, turns, words
from companion.games.moguli.judge import judge
from companion.games.moguli.state import OPTIONS, State, Turn


class MoguliRules:
    """`contract.Rules` for Moguli: players 0 (row 1) and 1 (row 7); see the contract for what each answer means."""

    name = "moguli"
    min_players = 2
    max_players = 2

    def options(self) -> tuple[Option, ...]:
        """Cylinder, new starting row, ability, compulsory actions."""
        return OPTIONS

    def new(self, setup: Setup) -> State:
        """The state before the first turn; `setup.start` is `{"tiles": {"a1": ["NE", true], ...}}`."""
        return start.new(setup)

    def start_from_look(
        self, look: Look, options: Mapping[str, str | int | bool], given: Json = None
    ) -> Json | tuple[Refusal, ...]:
        """The start, or how the pawns do not stand as they must."""
        found = start.start_from_look(look)
        return found if isinstance(found, tuple) else {**found, **(given or {})}

    def to_act(self, state: State) -> Awaiting:
        """A turn, the choice of a starting row, or nothing any more."""
        return words.to_act(state)

    def legal(self, state: State) -> Iterable[Turn]:
        """One turn for each different next state."""
        return turns.legal_turns(state)

    def apply(self, state: State, turn: Turn) -> State | Refusal:
        """The state after the turn, or the rule it breaks."""
        return judge(state, turn)

    def outcome(self, state: State) -> Outcome | None:
        """How it ended, or None."""
        return words.outcome(state)

    def text(self, turn: Turn) -> str:
        """`R b3+90, M c1-d4, B b3-90`."""
        return notation.turn_text(turn)

    def parse(self, text: str) -> Turn:
        """The turn of a notation line."""
        return notation.parse_turn(text)

    def position_text(self, state: State) -> str:
        """Tiles, pawns, player to move, locks and the rest in one line."""
        return notation.position_text(state)

    def parse_position(self, text: str) -> State:
        """The state of a position line."""
        return notation.parse_position(text)

    def to_json(self, state: State) -> Json:
        """The state as JSON."""
        return record.to_json(state)

    def from_json(self, data: Json) -> State:
        """The state of its JSON."""
        return record.from_json(data)

    def look(self, state: State) -> Look:
        """All 105 facts."""
        return looks.look_of(state)

    def reveals(self, state: State, turn: Turn) -> bool:
        """Never: all lies open."""
        return False

    def trace(self, state: State, turn: Turn) -> Look:
        """The facts that a legal turn changes; none for an illegal one."""
        after = judge(state, turn)
        if isinstance(after, Refusal):
            return {}
        before = looks.look_of(state)
        return {key: value for key, value in looks.look_of(after).items() if before[key] != value}

    def explain(self, before: State, seen: Look) -> Explanation[State, Turn]:
        """The legal stories of a look, or the rules in the way."""
        return explain.explain(before, seen)

    def with_look(self, state: State, facts: Look) -> State | Refusal:
        """The state with facts corrected by hand."""
        return record.with_look(state, facts)

    def declarations(self, state: State, player: int) -> tuple[Declaration[Turn], ...]:
        """Resign, offer a draw, choose a starting row, a move that returns to its door."""
        return words.declarations(state, player)

    def describe(self, state: State, turn: Turn) -> Message:
        """The turn in words."""
        return words.describe(state, turn)

    def notes(self, state: State) -> tuple[Message, ...]:
        """Duty, inability, series of blocked turns, last turn."""
        return words.notes(state)

    def view(self, state: State, player: int | None) -> Json:
        """The board; nothing in Moguli is secret."""
        return record.view(state)


RULES = MoguliRules()
