"""What the game says: catalogue ids with the values to put into them."""

from __future__ import annotations

from companion.games.contract import Awaiting, Message, Outcome
from companion.games.moogui import catalogue, scoring
from companion.games.moogui.engine import able_players, tie_thrower
from companion.games.moogui.refusals import figure, player
from companion.games.moogui.state import (
    IMMUNE,
    OUT,
    UNSURE,
    Clear,
    Decide,
    EndTurn,
    Game,
    Offer,
    OrderThrow,
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

Value = tuple[str, str | int | float]


def awaiting(state: State) -> Awaiting:
    """What is expected next and from whom."""
    game = state.game
    everybody = tuple(range(state.rule.players))
    if state.phase == "over":
        return Awaiting("over", (), _end(state))
    if game is None:
        return Awaiting("choice", able_players(state), _message("ask_start"))
    if state.unsure:
        return Awaiting("choice", everybody, _message("ask_decide", ("figure", figure(state, state.unsure[0]))))
    if state.phase == "order":
        group = next(group for group in game.groups if len(group) > 1)
        if len(group) == len(game.lineup):
            return Awaiting("roll", group, _message("ask_order"))
        names = (("first", player(group[0])), ("last", player(group[-1])))
        return Awaiting("roll", group, _message("ask_order_again", *names, ("count", len(group))))
    if state.phase == "tiebreak" and game.tie is not None:
        who = tie_thrower(game, game.tie)
        return Awaiting("roll", (who,), _message("ask_tie", _player(who), ("round", game.tie.round)))
    if state.phase == "split":
        who, ally = game.winner, scoring.sharer(state, game, game.winner)
        both = tuple(sorted({who, ally if ally is not None else who}))
        return Awaiting("choice", both, _message("ask_split", _player(who), ("ally", player(ally or 0))))
    if state.phase == "shields":
        who = scoring.pending_shield(state.rule, game) or 0
        word = "ask_take_back" if game.character(who) in game.rethrown else "ask_shield"
        return Awaiting("choice", (who,), _message(word, _player(who), _figure(state, game.character(who))))
    return _throwing(state, game)


def _throwing(state: State, game: Game) -> Awaiting:
    who = game.current
    if game.character(who) not in dict(game.readings):
        return Awaiting("roll", (who,), _message("ask_throw", _player(who), _figure(state, game.character(who))))
    after = game.order[game.turn + 1 : game.turn + 2]
    if not after:
        return Awaiting("turn", (who,), _message("ask_last_end", _player(who)))
    return Awaiting("turn", (who, *after), _message("ask_end", _player(who), ("next", player(after[0]))))


def outcome(state: State) -> Outcome | None:
    """The grand winner; the one who owns all characters; nobody when the match was ended by agreement."""
    if state.phase != "over":
        return None
    winners: tuple[int, ...] = ()
    if state.ended == "grand_winner":
        winners = tuple(who for who, points in enumerate(state.points) if points >= state.rule.target)
    elif state.ended == "one_owner":
        winners = able_players(state)
    return Outcome(winners, _end(state))


def _end(state: State) -> Message:
    if state.ended == "grand_winner":
        return _message(
            "end_grand_winner", _player(state.points.index(max(state.points))), ("points", max(state.points))
        )
    if state.ended == "one_owner":
        return _message("end_one_owner", *(_player(who) for who in able_players(state)[:1]))
    return _message("end_finished", ("games", state.games))


def describe(state: State, turn: Turn) -> Message:
    """The input in words, said of the state before it."""
    game = state.game
    match turn:
        case StartGame(lineup):
            return _message("said_start", ("count", len(lineup)))
        case OrderThrow(distances):
            return _message("said_order", ("count", len(distances)))
        case Throw(who, piece, readings) | ThrowSentinel(who, _, piece, readings):
            return _message(
                "said_throw", _player(_thrower(turn, who)), _figure(state, piece), _shows(state, piece, dict(readings))
            )
        case TieThrow(who, readings) | Shield(who, True, readings):
            piece = game.character(who) if game is not None and who in dict(game.lineup) else ""
            word = "said_tie" if isinstance(turn, TieThrow) else "said_again"
            return _message(word, _player(who), _figure(state, piece), _shows(state, piece, dict(readings)))
        case Shield(who):
            return _message("said_back", _player(who))
        case EndTurn(who):
            return _message("said_end", _player(who))
        case Offer(who, ally, sentinel, by):
            word = "said_accept" if _answers(game, turn) else "said_offer"
            other = ally if by == who else who
            return _message(word, _player(by), ("other", player(other)), _figure(state, sentinel))
        case Sign(who, ally, sentinel):
            return _message("said_sign", _player(who), ("ally", player(ally)), _figure(state, sentinel))
        case Decide(piece, reading):
            return _message("said_decide", _figure(state, piece), _shows(state, piece, {piece: reading}))
        case Split(shares):
            return _message("said_split" if shares else "said_dealt")
        case Clear():
            return _message("said_clear")
    return _message("said_finish")


def _answers(game: Game | None, turn: Offer) -> bool:
    """True when the other one has signed already."""
    return game is not None and any(
        (o.player, o.ally, o.sentinel) == (turn.player, turn.ally, turn.sentinel) and o.by != turn.by
        for o in game.offers
    )


def _thrower(turn: Throw | ThrowSentinel, who: int) -> int:
    return turn.thrower if isinstance(turn, ThrowSentinel) else who


def _shows(state: State, piece: str, readings: dict[str, str]) -> Value:
    """What a figure shows: its power as a number, or the words for shield, immunity, out, unsure."""
    reading, model = readings.get(piece, "absent"), state.rule.model(piece)
    power = model.power(reading) if model is not None and reading in model.readings else None
    if power is not None:
        return "shows", power
    if model is not None and model.shielded(reading):
        return "shows", "@moogui.reading_shield"
    return "shows", f"@moogui.reading_{reading}" if reading in (IMMUNE, OUT, UNSURE, "absent") else reading


def notes(state: State) -> tuple[Message, ...]:
    """The last result, figures to pick up, twins in one game, unusual figures, and how the scores stand."""
    found: list[Message] = []
    game = state.game
    if game is None:
        if state.last is not None:
            winner, lost = state.last
            won = _message("won", _player(winner), ("count", len(lost))) if winner >= 0 else _message("nobody_won")
            found.append(won)
        for _, model_id in sorted({(model, model) for _, model in state.rule.model_of}):
            found += [w for m in state.rule.models if m.id == model_id for w in catalogue.warnings(m)]
        return tuple(found)
    if state.phase in ("throwing", "tiebreak"):
        found += [_message("pick_up", _figure(state, piece)) for piece in state.in_the_way]
    models = [dict(state.rule.model_of)[piece] for _, piece in game.lineup]
    found += [
        _message("twins", ("figure", _name(state, twin))) for twin in sorted({m for m in models if models.count(m) > 1})
    ]
    for who in game.order:
        how, score = scoring.standing(state.rule, game, who)
        if score is not None:
            found.append(_message("stands", _player(who), ("score", score)))
        elif how != "not_thrown":
            found.append(_message("stands", _player(who), ("score", f"@moogui.reading_{how}")))
    return tuple(found)


def _name(state: State, model_id: str) -> str:
    return next(model.name for model in state.rule.models if model.id == model_id)


def _player(who: int) -> Value:
    return "player", player(who)


def _figure(state: State, piece: str) -> Value:
    return "figure", figure(state, piece)


def _message(word: str, *values: Value) -> Message:
    return Message(f"moogui.{word}", values)
