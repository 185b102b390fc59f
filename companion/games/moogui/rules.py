"""Moogui as the contract wants it: the questions of referee, dashboard, replay and simulation, answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

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
from companion.games.moogui import catalogue, correction, engine, look, notation, saved, scoring, setup, words
from companion.games.moogui.alliances import possible_alliances
from companion.games.moogui.state import Clear, EndTurn, Finish, Offer, OrderThrow, Shield, Sign, State, Turn


class MooguiRules:
    """The rules of Moogui; see `companion.games.contract.Rules` for what each question means."""

    name = "moogui"
    min_players = setup.FEWEST_PEOPLE
    max_players = setup.MOST_PEOPLE

    def options(self) -> tuple[Option, ...]:
        """The house rules."""
        return setup.options()

    def new(self, setup_: Setup) -> State:
        """The state before the first game; see `setup.new` for `start`."""
        return setup.new(setup_)

    def start_from_look(
        self, look_: Look, options: Mapping[str, str | int | bool], given: Json = None
    ) -> Json | tuple[Refusal, ...]:
        """The given start while the arena is empty, else the figures to pick up."""
        found = setup.start_from_look(look_, options)
        return found if isinstance(found, tuple) else {**found, **(given or {})}

    def to_act(self, state: State) -> Awaiting:
        """Who throws or decides next."""
        return words.awaiting(state)

    def legal(self, state: State) -> tuple[Turn, ...]:
        """Every legal decision, and of throws those that leave the other figures as they lie."""
        return tuple(look.listed(state))

    def apply(self, state: State, turn: Turn) -> State | Refusal:
        """The state after the input."""
        return engine.apply(state, turn)

    def outcome(self, state: State) -> Outcome | None:
        """How the match ended."""
        return words.outcome(state)

    def text(self, turn: Turn) -> str:
        """One line."""
        return notation.text(turn)

    def parse(self, text: str) -> Turn:
        """The input of a line."""
        return notation.parse(text)

    def position_text(self, state: State) -> str:
        """One line, readable up to the fourth bar."""
        return saved.position_text(state)

    def parse_position(self, text: str) -> State:
        """The state of a line."""
        return saved.parse_position(text)

    def to_json(self, state: State) -> Json:
        """The state as JSON."""
        return saved.to_json(state)

    def from_json(self, data: Json) -> State:
        """The state of its JSON."""
        return saved.from_json(data)

    def look(self, state: State) -> Look:
        """Every piece as it lies, see `look.look` for the facts."""
        return look.look(state)

    def reveals(self, state: State, turn: Turn) -> bool:
        """A throw."""
        return look.is_throw(turn)

    def trace(self, state: State, turn: Turn) -> Look:
        """The facts that differ after the input; nothing for one that is refused."""
        after = engine.apply(state, turn)
        if isinstance(after, Refusal):
            return {}
        before = look.look(state)
        return {fact: value for fact, value in look.look(after).items() if before[fact] != value}

    def explain(self, before: State, seen: Look) -> Explanation[State, Turn]:
        """Which throws or decisions lead to what is seen, or which figure is in the way and why."""
        return look.explain(before, seen)

    def with_look(self, state: State, facts: Look) -> State | Refusal:
        """The state with these readings put right by hand."""
        return correction.with_look(state, facts)

    def declarations(self, state: State, player: int) -> tuple[Declaration[Turn], ...]:
        """What no camera sees: decisions, the end of the turn, a signature, and ending the match if all agree."""
        if state.phase == "over":
            return ()
        turns = [turn for turn in look.listed(state) if _by_hand(state, turn, player)]
        game = state.game
        if game is not None and state.phase in ("order", "throwing") and not state.unsure:
            offers = [
                Offer(a.player, a.ally, a.sentinel, player)
                for a in possible_alliances(state, game)
                if player in (a.player, a.ally)
            ]
            turns += [offer for offer in offers if not isinstance(engine.apply(state, offer), Refusal)]
        said = [Declaration(words.describe(state, turn), turn) for turn in turns]
        if game is None:
            said.append(Declaration(Message("moogui.said_finish"), Finish(), needs_consent=True))
        return tuple(said)

    def describe(self, state: State, turn: Turn) -> Message:
        """The input in words."""
        return words.describe(state, turn)

    def notes(self, state: State) -> tuple[Message, ...]:
        """The last result, what to pick up, and how the scores stand."""
        return words.notes(state)

    def view(self, state: State, player: int | None) -> Json:
        """Everything: nothing is secret in Moogui."""
        game = state.game
        return {
            "look": dict(look.look(state)),
            "catalogue": catalogue.to_data(state.rule.models),
            "model_of": dict(state.rule.model_of),
            "owners": dict(state.owners),
            "mode": state.rule.mode,
            "target": state.rule.target,
            "phase": state.phase,
            "games": state.games,
            "points": list(state.points),
            "unsure": list(state.unsure),
            "last": {"winner": state.last[0], "lost": list(state.last[1])} if state.last else None,
            "game": None if game is None else _shown(state),
        }


def _shown(state: State) -> dict[str, Json]:
    game = state.game
    assert game is not None, "only a game is shown"
    standing = {who: scoring.standing(state.rule, game, who) for who, _ in game.lineup}
    return {
        "characters": {str(who): piece for who, piece in game.lineup},
        "order": list(game.order),
        "current": game.current if game.order else None,
        "standing": {str(who): {"is": how, "score": score} for who, (how, score) in standing.items()},
        "leaders": list(scoring.leaders(state.rule, game)),
        "alliances": [asdict(alliance) for alliance in game.alliances],
        "tie": asdict(game.tie) if game.tie else None,
        "pool": list(game.pool),
    }


def _by_hand(state: State, turn: Turn, player: int) -> bool:
    """True for an input of the listed ones that this player tells rather than throws."""
    if look.is_throw(turn) or isinstance(turn, OrderThrow | Sign):
        return False
    if isinstance(turn, EndTurn | Shield):
        return turn.player == player
    return player in words.awaiting(state).players or isinstance(turn, Clear)


RULES = MooguiRules()
"""The rules object of the registry."""
