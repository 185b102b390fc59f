"""Sentinels: one's own, or an ally's under an alliance that both have signed."""

from __future__ import annotations

from dataclasses import replace

from companion.games.contract import Refusal
from companion.games.moogui.refusals import figure, no, player
from companion.games.moogui.state import Alliance, Game, Offer, Sign, State, ThrowSentinel
from companion.games.moogui.throws import in_arena, read_again, wrong_readings


def on_offer(state: State, game: Game, turn: Offer) -> State | Refusal:
    """One signature; the second one makes the alliance."""
    refusal = _cannot_ally(state, game, turn.player, turn.ally, turn.sentinel)
    if refusal:
        return refusal
    if turn.by not in (turn.player, turn.ally):
        return no("moogui.alliance_unsigned", turn.sentinel, player=player(turn.player), ally=player(turn.ally))
    other = turn.ally if turn.by == turn.player else turn.player
    if replace(turn, by=other) in game.offers:
        return _allied(state, game, Alliance(turn.player, turn.ally, turn.sentinel))
    if turn in game.offers:
        return no("moogui.offered_already", turn.sentinel, player=player(other))
    return replace(state, game=replace(game, offers=tuple(sorted((*game.offers, turn), key=_key))))


def _key(offer: Offer) -> tuple[int, int, str, int]:
    return offer.player, offer.ally, offer.sentinel, offer.by


def on_sign(state: State, game: Game, turn: Sign) -> State | Refusal:
    """Both signatures at once."""
    refusal = _cannot_ally(state, game, turn.player, turn.ally, turn.sentinel)
    if refusal:
        return refusal
    if set(turn.signed_by) != {turn.player, turn.ally}:
        return no("moogui.alliance_unsigned", turn.sentinel, player=player(turn.player), ally=player(turn.ally))
    return _allied(state, game, Alliance(turn.player, turn.ally, turn.sentinel))


def _allied(state: State, game: Game, alliance: Alliance) -> State:
    """The alliance holds; other offers to the same player or of the same Sentinel are void."""
    offers = tuple(o for o in game.offers if o.player != alliance.player and o.sentinel != alliance.sentinel)
    return replace(state, game=replace(game, alliances=(*game.alliances, alliance), offers=offers))


def _cannot_ally(state: State, game: Game, who: int, ally: int, sentinel: str) -> Refusal | None:
    """R-16: until the end of the player's own turn, before a Sentinel is thrown, one a player, one Sentinel each."""
    people = [other for other, _ in game.lineup]
    if who not in people:
        return no("moogui.not_playing", player=player(who))
    if not 0 <= ally < state.rule.players:
        return no("moogui.unknown_player", got=ally + 1)
    if who == ally:
        return no("moogui.alliance_with_self", player=player(who))
    model = state.rule.model(sentinel)
    if model is None:
        return no("moogui.unknown_figure", sentinel, got=sentinel)
    if model.character:
        return no("moogui.not_a_sentinel", sentinel, figure=figure(state, sentinel))
    if state.owner(sentinel) != ally:
        return no("moogui.not_owner", sentinel, player=player(ally), figure=figure(state, sentinel))
    if not _same_continent(state, game, who, sentinel):
        return no("moogui.wrong_continent", sentinel, figure=figure(state, sentinel), player=player(who))
    if any(alliance.player == who for alliance in game.alliances):
        return no("moogui.alliance_exists", sentinel, player=player(who))
    if any(alliance.sentinel == sentinel for alliance in game.alliances):
        return no("moogui.sentinel_promised", sentinel, figure=figure(state, sentinel))
    if sentinel in dict(game.readings) or any(for_whom == who for for_whom, _ in game.thrown):
        return no("moogui.sentinel_thrown", sentinel, figure=figure(state, sentinel), player=player(who))
    if state.phase == "throwing" and game.order.index(who) < game.turn:
        return no("moogui.alliance_too_late", sentinel, player=player(who))
    return None


def on_sentinel(state: State, game: Game, turn: ThrowSentinel) -> State | Refusal:
    """R-7, R-15: once a game, in the own turn right after the character, whatever that shows."""
    refusal = _cannot_throw(state, game, turn.player, turn.thrower, turn.figure)
    if refusal:
        return refusal
    wrong = wrong_readings(state, turn.readings, {*in_arena(game), turn.figure})
    if wrong:
        return wrong
    game = read_again(game, turn.readings)
    return replace(state, game=replace(game, thrown=(*game.thrown, (turn.player, turn.figure))))


def _cannot_throw(state: State, game: Game, who: int, thrower: int, piece: str) -> Refusal | None:
    if who != game.current:
        return no("moogui.not_your_turn", piece, player=player(who), awaited=player(game.current))
    if game.character(who) not in dict(game.readings):
        return no("moogui.character_first", game.character(who), player=player(who))
    model = state.rule.model(piece)
    if model is None:
        return no("moogui.unknown_figure", piece, got=piece)
    if model.character:
        return no("moogui.not_a_sentinel", piece, figure=figure(state, piece))
    if any(for_whom == who for for_whom, _ in game.thrown) or piece in dict(game.readings):
        return no("moogui.sentinel_thrown", piece, figure=figure(state, piece), player=player(who))
    if state.owner(piece) != thrower:
        return no("moogui.not_owner", piece, player=player(thrower), figure=figure(state, piece))
    if not _same_continent(state, game, who, piece):
        return no("moogui.wrong_continent", piece, figure=figure(state, piece), player=player(who))
    if thrower != who and Alliance(who, thrower, piece) not in game.alliances:
        return no("moogui.no_alliance", piece, player=player(who), ally=player(thrower))
    if any(alliance.sentinel == piece and alliance.player != who for alliance in game.alliances):
        return no("moogui.sentinel_promised", piece, figure=figure(state, piece))
    return None


def _same_continent(state: State, game: Game, who: int, sentinel: str) -> bool:
    own, other = state.rule.model(game.character(who)), state.rule.model(sentinel)
    return own is not None and other is not None and own.continent == other.continent


def _sentinels_for(state: State, game: Game, who: int) -> list[tuple[str, int]]:
    """(Sentinel, owner) pairs of the continent of a player's character."""
    own = state.rule.model(game.character(who))
    return [(piece, state.owner(piece)) for piece in state.rule.sentinels(own.continent)] if own else []


def usable_sentinels(state: State, game: Game) -> list[tuple[int, str]]:
    """(thrower, Sentinel) pairs that the player whose turn it is may use now."""
    who = game.current
    sentinels = _sentinels_for(state, game, who)
    return [(owner, piece) for piece, owner in sentinels if _cannot_throw(state, game, who, owner, piece) is None]


def possible_alliances(state: State, game: Game) -> list[Alliance]:
    """Every alliance that could be signed now."""
    return [
        Alliance(who, owner, piece)
        for who, _ in game.lineup
        for piece, owner in _sentinels_for(state, game, who)
        if owner != who and _cannot_ally(state, game, who, owner, piece) is None
    ]
