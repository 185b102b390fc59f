"""Moogui's golden cases: each file is one match, an event a step; the state after each is compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from companion.games.contract import Refusal, Setup
from companion.games.moogui import scoring
from companion.games.moogui.engine import apply, tie_thrower
from companion.games.moogui.notation import readings_of
from companion.games.moogui.setup import new
from companion.games.moogui.state import (
    Decide,
    EndTurn,
    Game,
    OrderThrow,
    Readings,
    Shield,
    Sign,
    Split,
    StartGame,
    State,
    Throw,
    ThrowSentinel,
    TieThrow,
    Turn,
)
from tests.golden import Case

NOBODY = 99


class People:
    """Names of persons as player indices; somebody the match does not know gets an index that nobody has."""

    def __init__(self, data: Any) -> None:
        named = set(data["setup"]["owners"].values())
        for step in data["steps"]:
            if step["ok"]:
                named |= set(step["event"].get("players", ()))
        self.names = sorted(named)

    def index(self, name: str) -> int:
        """The player's index."""
        return self.names.index(name) if name in self.names else NOBODY

    def name(self, index: int) -> str | None:
        """The player's name; None for nobody (-1)."""
        return self.names[index] if index >= 0 else None


def cases(data: Any, name: str) -> Iterator[Case]:
    """One case a file: the whole match."""
    yield Case("matches", data.get("id", name), lambda: check(data))


def check(data: Any) -> str | None:
    """The first difference between the engine and the match."""
    setup, people = data["setup"], People(data)
    options = {**setup.get("options", {}), "mode": setup["mode"]}
    if "target" in setup:
        options["target"] = setup["target"]
    start = {
        "catalogue": setup["catalogue"],
        "model_of": setup["model_of"],
        "owners": {piece: people.index(owner) for piece, owner in setup["owners"].items()},
    }
    state = new(Setup(tuple(people.names), options, start))
    wrong = difference(state, people, data["start"])
    if wrong:
        return f"start: {wrong}"
    for number, step in enumerate(data["steps"]):
        turn = turn_of(step["event"], state, people)
        after = apply(state, turn) if turn is not None else Refusal("moogui.bad_text")
        if isinstance(after, State) != step["ok"]:
            return f"step {number} {step['event']}: {after if isinstance(after, Refusal) else 'accepted'}"
        state = after if isinstance(after, State) else state
        wrong = difference(state, people, step["state"])
        if wrong:
            return f"step {number} {step['event']}: {wrong}"
    return None


def turn_of(event: Any, state: State, people: People) -> Turn | None:
    """The engine's input for an event; None for one that the engine has no input for."""
    who = people.index(event.get("player", ""))
    readings = readings_in(event)
    match event["type"]:
        case "start_game":
            characters = event["characters"]
            return StartGame(tuple((people.index(p), characters.get(p, "")) for p in event["players"]))
        case "order_throw":
            told = event["distances"].items()
            distances = tuple((people.index(p), None if mm == "out" else mm) for p, mm in told)
            return OrderThrow(distances, event["uncertainty"])
        case "throw":
            return Throw(who, event["figure"], readings)
        case "sign_alliance":
            signed = tuple(people.index(p) for p in event["signed_by"])
            return Sign(who, people.index(event["ally"]), event["sentinel"], signed)
        case "throw_sentinel":
            return ThrowSentinel(who, people.index(event["thrower"]), event["figure"], readings)
        case "end_turn":
            return EndTurn(who)
        case "decide":
            return Decide(event["figure"], str(event["reading"]))
        case "shield_decision":
            return Shield(who, event["choice"] == "rethrow", readings)
        case "tiebreak_throw":
            return TieThrow(who, readings)
        case "split":
            shares = event.get("shares", {}).items()
            return Split(tuple(sorted((piece, people.index(p)) for p, pieces in shares for piece in pieces)))
    return None


def readings_in(event: Any) -> Readings:
    """The event's readings."""
    return readings_of({piece: str(reading) for piece, reading in event.get("readings", {}).items()})


def difference(state: State, people: People, wanted: Any) -> str | None:
    """The first part of the state that the engine sees differently."""
    got = told(state, people)
    for key, value in wanted.items():
        mine: Any = got.get(key)
        if key == "points":  # only the players with points need to be listed
            mine, value = ({who: n for who, n in points.items() if n} for points in (mine, value))
        if key == "last" and value and state.rule.mode == "training":  # nothing changes hands: only the winner counts
            mine, value = mine["winner"] if mine else None, value["winner"]
        if mine != value:
            return f"{key}: engine {mine}, golden {value}"
    return None


def told(state: State, people: People) -> dict[str, Any]:
    """The state in the form of the golden files."""
    grand = state.points.index(state.rule.target) if state.ended == "grand_winner" else -1
    both = {
        "phase": state.phase if state.phase != "over" or state.ended == "grand_winner" else "idle",
        "games": state.games,
        "grand_winner": people.name(grand),
        "last": {"winner": people.name(state.last[0]), "lost": list(state.last[1])} if state.last else None,
        "ledger": {piece: people.name(owner) for piece, owner in state.owners},
        "points": dict(zip(people.names, state.points, strict=True)),
    }
    return {**both, **of_game(state, state.game, people)} if state.game else both


def of_game(state: State, game: Game, people: People) -> dict[str, Any]:
    """What is told of the game being played."""
    rule = state.rule
    standing = {who: scoring.standing(rule, game, who) for who, _ in game.lineup}
    tie = game.tie
    return {
        "order": [people.name(who) for who in game.order] or None,
        "next": following(state, game, people),
        "unsure": sorted(state.unsure),
        "standing": {people.name(who): {"is": how, "score": score} for who, (how, score) in standing.items()},
        "leaders": [people.name(who) for who in scoring.leaders(rule, game)],
        "tied": [people.name(who) for who in tie.tied] if tie else None,
        "tiebreak_round": tie.round if tie else None,
        "pool": list(game.pool),
    }


def following(state: State, game: Game, people: People) -> Any:
    """Whose turn it is; in the order phase the groups that throw."""
    if state.phase == "order":
        return [[people.name(who) for who in group] for group in game.groups if len(group) > 1]
    if state.phase == "shields":
        first = scoring.pending_shield(state.rule, game)  # None while a re-throw is unsure
        return people.name(first if first is not None else state.owner(game.rethrown[-1]))
    if state.phase == "tiebreak" and game.tie:
        return people.name(tie_thrower(game, game.tie))
    return people.name(game.winner if state.phase == "split" else game.current)
