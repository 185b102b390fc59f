"""A match as JSON and as a line of text, and back."""

from __future__ import annotations

import json
from typing import Any

from companion.games.contract import Json, Refusal, RulesError
from companion.games.moogui import catalogue
from companion.games.moogui.setup import options
from companion.games.moogui.state import OUT, PHASES, UNSURE, Alliance, Game, Offer, Readings, Rule, State, Tie

VERSION = 1


def to_json(state: State) -> dict[str, Json]:
    """The state as JSON with a version."""
    rule = state.rule
    return {
        "game": "moogui",
        "version": VERSION,
        "catalogue": catalogue.to_data(rule.models),
        "model_of": dict(rule.model_of),
        "players": rule.players,
        "options": {"mode": rule.mode, "order": rule.order, "target": rule.target},
        "owners": dict(state.owners),
        "phase": state.phase,
        "games": state.games,
        "points": list(state.points),
        "last": [state.last[0], list(state.last[1])] if state.last else None,
        "leftover": dict(state.leftover),
        **({"picked": list(state.picked)} if state.picked else {}),
        "ended": state.ended,
        "now": _game_json(state.game) if state.game else None,
    }


def _game_json(game: Game) -> dict[str, Json]:
    tie = game.tie
    return {
        "lineup": [list(pair) for pair in game.lineup],
        "groups": [list(group) for group in game.groups],
        "order": list(game.order),
        "turn": game.turn,
        "readings": dict(game.readings),
        "taken_back": list(game.taken_back),
        "rethrown": list(game.rethrown),
        "thrown": [list(pair) for pair in game.thrown],
        "alliances": [[a.player, a.ally, a.sentinel] for a in game.alliances],
        "offers": [[o.player, o.ally, o.sentinel, o.by] for o in game.offers],
        "tie": [tie.round, list(tie.tied), dict(tie.readings)] if tie else None,
        "winner": game.winner,
        "pool": list(game.pool),
    }


def from_json(data: Json) -> State:
    """The state of `to_json`; raises RulesError on a later version or on anything that is no state."""
    if not isinstance(data, dict) or data.get("game") != "moogui":
        raise bad_json("game")
    if data.get("version") != VERSION:
        raise RulesError(
            Refusal("moogui.bad_version", values=(("got", str(data.get("version"))), ("known", VERSION))),
            f"Moogui state of version {data.get('version')!r}; this companion reads {VERSION}",
        )
    try:
        return _checked(_read(data))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, RulesError):
            raise
        raise bad_json(str(error)) from error


def _read(data: dict[str, Any]) -> State:
    told = data["options"]
    for option in options():
        if told[option.name] not in option.choices:
            raise bad_json(f"{option.name} = {told[option.name]!r}")
    rule = Rule(
        models=catalogue.from_data(data["catalogue"]),
        model_of=tuple(sorted((str(piece), str(model)) for piece, model in data["model_of"].items())),
        players=int(data["players"]),
        mode=told["mode"],
        order=told["order"],
        target=told["target"],
    )
    last = data["last"]
    return State(
        rule=rule,
        owners=tuple(sorted((str(piece), _player(rule, who)) for piece, who in data["owners"].items())),
        phase=data["phase"],
        games=int(data["games"]),
        points=tuple(int(n) for n in data["points"]),
        last=(int(last[0]), tuple(map(str, last[1]))) if last else None,
        game=_read_game(rule, data["now"]) if data["now"] else None,
        leftover=_readings(rule, data["leftover"]),
        picked=tuple(map(str, data.get("picked", ()))),
        ended=str(data["ended"]),
    )


def _read_game(rule: Rule, data: dict[str, Any]) -> Game:
    tie = data["tie"]
    return Game(
        lineup=tuple((_player(rule, who), str(piece)) for who, piece in data["lineup"]),
        groups=tuple(tuple(_player(rule, who) for who in group) for group in data["groups"]),
        order=tuple(_player(rule, who) for who in data["order"]),
        turn=int(data["turn"]),
        readings=_readings(rule, data["readings"]),
        taken_back=tuple(map(str, data["taken_back"])),
        rethrown=tuple(map(str, data["rethrown"])),
        thrown=tuple((_player(rule, who), str(piece)) for who, piece in data["thrown"]),
        alliances=tuple(Alliance(_player(rule, a), _player(rule, b), str(piece)) for a, b, piece in data["alliances"]),
        offers=tuple(
            Offer(_player(rule, a), _player(rule, b), str(piece), _player(rule, by))
            for a, b, piece, by in data["offers"]
        ),
        tie=Tie(int(tie[0]), tuple(_player(rule, who) for who in tie[1]), _readings(rule, tie[2])) if tie else None,
        winner=int(data["winner"]),
        pool=tuple(map(str, data["pool"])),
    )


def _checked(state: State) -> State:
    """The state, once it holds together: every piece owned once, the phase and the game fit."""
    rule, game = state.rule, state.game
    known = {model.id for model in rule.models}
    if {piece for piece, _ in state.owners} != {piece for piece, _ in rule.model_of}:
        raise bad_json("owners")
    if any(model not in known for _, model in rule.model_of):
        raise bad_json("model_of")
    if state.phase not in PHASES or (game is None) != (state.phase in ("idle", "over")):
        raise bad_json(f"phase = {state.phase!r}")
    if len(state.points) != rule.players:
        raise bad_json("points")
    there = {**dict(state.leftover), **dict(state.lying)}
    if any(there.get(piece) != OUT for piece in state.picked):
        raise bad_json("picked")
    if game is None:
        return state
    people = {who for who, _ in game.lineup}
    settled = state.phase == "order" or (set(game.order) == people and len(game.order) == len(people))
    if not settled or not 0 <= game.turn < max(1, len(game.order)):
        raise bad_json("order")
    if {who for group in game.groups for who in group} != people:
        raise bad_json("groups")
    if (state.phase == "tiebreak") != (game.tie is not None and game.winner < 0):
        raise bad_json("tie")
    played = {piece for _, piece in (*game.lineup, *game.thrown)}
    if not {piece for piece, _ in game.readings} <= played or not set(game.pool) <= played:
        raise bad_json("readings")
    if not {piece for _, piece in game.thrown} <= {piece for piece, _ in game.readings}:
        raise bad_json("thrown")
    all_thrown = {piece for _, piece in game.lineup} <= {piece for piece, _ in game.readings}
    if state.phase in ("shields", "tiebreak", "split") and not all_thrown:
        raise bad_json("readings")
    if state.phase == "split" and (game.winner not in people or not game.pool):
        raise bad_json("pool")
    return state


def _readings(rule: Rule, data: dict[str, Any]) -> Readings:
    for piece, reading in data.items():
        model = rule.model(piece)
        if model is None or (reading != UNSURE and reading not in model.readings):
            raise bad_json(f"{piece} = {reading!r}")
    return tuple(sorted(data.items()))


def _player(rule: Rule, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < rule.players:
        raise bad_json(f"player {value!r}")
    return value


def position_text(state: State) -> str:
    """One line: mode, games, points | phase | order of play and turn | readings | the rest as compact JSON."""
    data = to_json(state)
    now: Any = data["now"] or {}
    points = ",".join(map(str, data.pop("points")))
    head = [f"{state.rule.mode} {data.pop('games')} {points}", data.pop("phase")]
    order = ">".join(f"p{who + 1}" for who in now.pop("order", [])) or "-"
    head.append(f"{order} {now.pop('turn', 0)}")
    head.append(" ".join(f"{piece}={reading}" for piece, reading in now.pop("readings", {}).items()) or "-")
    del data["game"], data["options"]["mode"]
    return " | ".join([*head, json.dumps(data, separators=(",", ":"))])


def parse_position(text: str) -> State:
    """The state of a position line; raises RulesError that quotes it."""
    try:
        match_, phase, when, lying, rest = text.strip().split(" | ", 4)
        mode, games, points = match_.split()
        order, turn = when.split()
        data = json.loads(rest)
        data["options"]["mode"] = mode
        data |= {"game": "moogui", "games": int(games), "points": [int(n) for n in points.split(",")], "phase": phase}
        if data["now"] is not None:
            players = [] if order == "-" else [int(word.removeprefix("p")) - 1 for word in order.split(">")]
            readings = {} if lying == "-" else dict(word.split("=", 1) for word in lying.split())
            data["now"] |= {"order": players, "turn": int(turn), "readings": readings}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        values = (("text", text[:80]),)
        raise RulesError(Refusal("moogui.bad_position", values=values), f"no position of Moogui: {text!r}") from error
    return from_json(data)


def bad_json(what: str) -> RulesError:
    """The error for JSON that is no state."""
    return RulesError(Refusal("moogui.bad_json", values=(("what", what),)), f"no state of Moogui: {what}")
