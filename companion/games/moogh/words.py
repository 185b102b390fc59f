"""What the game says: catalogue ids with the values to put into them."""

from __future__ import annotations

from companion.games.contract import Awaiting, Message, Outcome
from companion.games.moogh import engine
from companion.games.moogh.cavemen import arrows
from companion.games.moogh.look import roll_word
from companion.games.moogh.state import Choice, Roll, State, Turn, Walk, cell_text
from companion.games.moogh.waits import Waits
from companion.games.moogh.work import Work

DIE_SHOWS = 6
"""The point die cannot show more."""


def awaiting(state: State) -> Awaiting:
    """What the game waits for, who may give it, and the least roll that succeeds."""
    if state.over is not None:
        return Awaiting("over", (), Message(f"moogh.end_{state.over[0]}", _balance(state)))
    now = engine.waits(state)
    assert now is not None, "a settled state waits or is over"
    players = tuple(sorted({player for who, _ in now.by for player in state.rule.seat(who)}))
    return Awaiting(now.kind, players, _ask(now, now.who))


def _ask(now: Waits, who: str) -> Message:
    word = "ask_" + now.what.replace(":", "_")
    if now.what == "hit" and not 2 <= now.need <= 6:
        word = "ask_hit_surely" if now.need < 2 else "ask_hit_never"
    values: tuple[tuple[str, str | int | float], ...] = (("who", name(who)),)
    return Message(f"moogh.{word}", (*values, ("need", now.need)) if now.need else values)


def outcome(state: State) -> Outcome | None:
    """Who won; nobody when the beast got away or everybody is dead."""
    if state.over is None:
        return None
    reason, winner = state.over
    winners = sorted({seat for who, seat in state.rule.seats if dict(state.rule.teams).get(who) == winner})
    word = reason if winner in ("", "A", "B") else "draw"
    return Outcome(tuple(winners), Message(f"moogh.end_{word}", _balance(state)))


def _balance(state: State) -> tuple[tuple[str, str | int | float], ...]:
    reason, winner = state.over or ("", "")
    if reason != "beast_dead" or winner == "draw":
        return ()
    men = [name(man) for man, team in state.rule.teams if team == winner]
    return (("first", men[0]), ("second", men[-1]), ("points", abs(state.balance)))


def announce(state: State, turn: Turn) -> Message:
    """The input in words that everybody may hear: a secret arrow is only said to be chosen."""
    if isinstance(turn, Choice) and turn.what == "arrow" and state.rule.secret_actions:
        return Message("moogh.said_secret", (("who", name(turn.who)),))
    return describe(state, turn)


def describe(state: State, turn: Turn) -> Message:
    """The input in words, said of the state before it."""
    who = ("who", name(turn.who))
    match turn:
        case Roll():
            return Message("moogh.said_roll", (who, ("pips", turn.value), ("why", roll_word(turn))))
        case Walk():
            return Message("moogh.said_step", (who, ("cell", cell_text(turn.cells[-1]))))
    value = turn.value
    if turn.what == "arrow":
        pairs = arrows(Work(state), turn.who) if turn.who in dict(state.rule.teams) else ()
        if value.isdigit() and int(value) < len(pairs):
            first, second = pairs[int(value)]
            return Message(
                "moogh.said_arrow", (who, ("first", f"@moogh.action_{first}"), ("second", f"@moogh.action_{second}"))
            )
    if turn.what == "give_up":
        return Message("moogh.give_up")
    if turn.what == "step" and value == "stop":
        return Message("moogh.said_stop", (who,))
    if turn.what in ("step", "pushed_to", "drop_to"):
        return Message("moogh.said_step", (who, ("cell", value)))
    if turn.what == "action":
        return Message("moogh.said_action", (who, ("action", f"@moogh.action_{value}")))
    if turn.what == "target":
        return Message("moogh.said_target", (who, ("target", name(value))))
    if turn.what == "fly":
        return Message("moogh.said_fly", (who, ("space", value)))
    return Message("moogh.said_choice", (who, ("choice", f"@moogh.choose_{value}")))


def notes(state: State) -> tuple[Message, ...]:
    """Who else must roll, what followed from the last input, a score that one die cannot show (R-7), how to speak."""
    now = engine.waits(state)
    others = [_ask(now, who) for who, _ in now.by[1:]] if now is not None and now.kind == "roll" else []
    found = [*others, *state.told]
    if abs(state.balance) > DIE_SHOWS:
        found.append(Message("moogh.second_die", (("points", abs(state.balance)),)))
    if state.rule.secret_actions and state.over is None and state.phase in (1, 3):
        found.append(Message("moogh.protolanguage"))
    if state.round == 1 and state.phase == 1 and state.rule.cards.invented:
        found.append(Message("moogh.cards_invented"))
    return tuple(found)


def name(who: str) -> str:
    """The catalogue id of a tribesman's (or the beast's) name, as a value."""
    return f"@moogh.{who}"
