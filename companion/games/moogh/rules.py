"""MOOGH as the contract wants it: the questions of referee, dashboard, replay and simulation, answered."""

from __future__ import annotations

from collections.abc import Mapping

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
from companion.games.moogh import correction, engine, look, setup, words
from companion.games.moogh import state as states
from companion.games.moogh.geometry import FACINGS
from companion.games.moogh.state import Choice, Roll, State, Turn

PHASE_OF_SECRETS = ("arrow",)
SIDES = 6
"""Of every die in the game."""


class MooghRules:
    """The rules of MOOGH; see `companion.games.contract.Rules` for what each question means."""

    name = "moogh"
    min_players = 1
    max_players = 5

    def options(self) -> tuple[Option, ...]:
        """The house rules."""
        return setup.options()

    def new(self, setup_: Setup) -> State:
        """The state before the first input; see `setup.new` for `start`."""
        return setup.new(setup_)

    def start_from_look(
        self, look_: Look, options: Mapping[str, str | int | bool], given: Json = None
    ) -> Json | tuple[Refusal, ...]:
        """The given start when the table lies as its card set (or the default one) says, else every difference."""
        return setup.start_from_look(look_, options, given)

    def to_act(self, state: State) -> Awaiting:
        """Who rolls or chooses next, with the least roll that succeeds."""
        return words.awaiting(state)

    def legal(self, state: State) -> tuple[Turn, ...]:
        """All inputs that are legal now, dice included."""
        return tuple(look.listed(state))

    def apply(self, state: State, turn: Turn) -> State | Refusal:
        """The state after the input and after all that follows without one."""
        return engine.apply(state, turn)

    def rolled(self, state: State, faces: int, value: int) -> tuple[Story[State, Turn], ...]:
        """The awaited roll with this value, once for each who may have rolled it; only six-sided dice count."""
        now = engine.waits(state)
        if now is None or now.kind != "roll" or faces != SIDES:
            return ()
        rolls = [Roll(who, now.what, value) for who, _ in now.by]
        afters = [(roll, engine.apply(state, roll)) for roll in rolls]
        return tuple(
            Story(roll, after, state.rule.seat(roll.who)[0]) for roll, after in afters if not isinstance(after, Refusal)
        )

    def outcome(self, state: State) -> Outcome | None:
        """Dead beast: the team with more points (R-8: equal is a draw); escaped or all dead: nobody."""
        return words.outcome(state)

    def text(self, turn: Turn) -> str:
        """One line."""
        return states.turn_text(turn)

    def parse(self, text: str) -> Turn:
        """The input of a line."""
        return states.parse_turn(text)

    def position_text(self, state: State) -> str:
        """One line, readable up to the fifth bar."""
        return states.position_text(state)

    def parse_position(self, text: str) -> State:
        """The state of a line."""
        return _sound(states.parse_position(text))

    def to_json(self, state: State) -> Json:
        """The state as JSON."""
        return states.to_json(state)

    def from_json(self, data: Json) -> State:
        """The state of its JSON."""
        return _sound(states.from_json(data))

    def look(self, state: State) -> Look:
        """The whole table, see `look.look` for the facts."""
        return look.look(state)

    def reveals(self, state: State, turn: Turn) -> bool:
        """A roll; an arrow too where they are chosen in secret, since the last one turns all over."""
        secret = state.rule.secret_actions and isinstance(turn, Choice) and turn.what in PHASE_OF_SECRETS
        return isinstance(turn, Roll) or secret

    def trace(self, state: State, turn: Turn) -> Look:
        """The facts that differ after the input; nothing for one that is refused."""
        after = engine.apply(state, turn)
        if isinstance(after, Refusal):
            return {}
        before = look.look(state)
        return {fact: value for fact, value in look.look(after).items() if before[fact] != value}

    def explain(self, before: State, seen: Look) -> Explanation[State, Turn]:
        """Which inputs lead to what is seen, or which fact differs and what set it."""
        return look.explain(before, seen)

    def with_look(self, state: State, facts: Look) -> State | Refusal:
        """The state with these facts put right by hand."""
        return correction.with_look(state, facts)

    def declarations(self, state: State, player: int) -> tuple[Declaration[Turn], ...]:
        """A button for every input that this player may give now, and giving up, to which all must agree."""
        if state.over is not None:
            return ()
        own = [turn for turn in look.listed(state) if player in state.rule.seat(turn.who)]
        said = [Declaration(words.describe(state, turn), turn) for turn in own]
        return (*said, Declaration(Message("moogh.give_up"), engine.GIVE_UP, needs_consent=state.rule.players > 1))

    def describe(self, state: State, turn: Turn) -> Message:
        """The input in words; a secret arrow is not told."""
        return words.announce(state, turn)

    def notes(self, state: State) -> tuple[Message, ...]:
        """What followed from the last input, step by step, and what the table should know."""
        return words.notes(state)

    def veiled(self, before: State, turn: Turn, now: State, player: int | None) -> bool:
        """A secret arrow, for all but its owner, until the last one of its phase has been chosen."""
        if not before.rule.secret_actions or not isinstance(turn, Choice) or turn.what not in PHASE_OF_SECRETS:
            return False
        waits = engine.waits(now)
        choosing = waits is not None and waits.what in PHASE_OF_SECRETS
        same = (before.round, before.phase) == (now.round, now.phase)
        own = player is not None and player in before.rule.seat(turn.who)
        return choosing and same and not own

    def view(self, state: State, player: int | None) -> Json:
        """The board for the drawing template; while arrows are chosen in secret, only one's own."""
        rule = state.rule
        now = engine.waits(state)
        hidden = rule.secret_actions and now is not None and now.what in PHASE_OF_SECRETS
        return {
            "board": dict(rule.cards.data),
            "provenance": setup.card_marks(rule.cards),
            "look": dict(look.look(state)),
            "round": state.round,
            "phase": state.phase,
            "facing": FACINGS[state.facing],
            "balance": state.balance,
            "hurt": {man.name: man.hurt for man in state.men},
            "teams": dict(rule.teams),
            "seats": dict(rule.seats),
            "chosen": {
                who: list(pair) if not hidden or (player is not None and player in rule.seat(who)) else None
                for who, pair in state.chosen
            },
            "awaits": None
            if now is None
            else {"kind": now.kind, "what": now.what, "need": now.need, "by": dict(now.by)},
            "over": list(state.over) if state.over else None,
        }


def _sound(state: State) -> State:
    """The state, once its agenda is known to be one that the engine can go on with."""
    try:
        if state.over is None and engine.waits(state) is None:
            raise ValueError("nothing is awaited")
        words.awaiting(state)
        for turn in look.listed(state):
            engine.apply(state, turn)
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
        what = (("what", f"agenda: {error}"),)
        raise RulesError(Refusal("moogh.bad_json", values=what), f"no state of MOOGH: agenda: {error}") from error
    return state


RULES = MooghRules()
"""The rules object of the registry."""
