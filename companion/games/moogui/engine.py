"""The rules of a Moogui match: what each input does, and why it is refused.

Every `_on_...` function checks first and changes nothing when it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from companion.games.contract import Refusal
from companion.games.moogui import scoring
from companion.games.moogui.alliances import on_offer, on_sentinel, on_sign
from companion.games.moogui.refusals import figure, no, player
from companion.games.moogui.state import (
    OUT,
    Clear,
    Decide,
    EndTurn,
    Finish,
    Game,
    Offer,
    OrderThrow,
    Readings,
    Shield,
    Sign,
    Split,
    StartGame,
    State,
    Throw,
    ThrowSentinel,
    Tie,
    TieThrow,
    Turn,
)
from companion.games.moogui.throws import in_arena, read_again, wrong_readings

FEWEST, MOST = 2, 4
"""Players of one game."""


def apply(state: State, turn: Turn) -> State | Refusal:
    """The state after the input, or why it is refused."""
    after = _applied(state, turn)
    if isinstance(after, Refusal) or not after.picked:
        return after
    thrown = {piece for piece, _ in getattr(turn, "readings", ())}
    there = {**dict(after.leftover), **dict(after.lying)}
    kept = tuple(piece for piece in after.picked if there.get(piece) == OUT and piece not in thrown)
    return replace(after, picked=kept)


def _applied(state: State, turn: Turn) -> State | Refusal:
    if state.phase == "over":
        return no("moogui.match_over")
    if isinstance(turn, StartGame):
        return _on_start(state, turn)
    if isinstance(turn, Clear):
        return _on_clear(state, turn)
    if isinstance(turn, Finish):
        if state.game is not None:
            return no("moogui.game_in_progress")
        return replace(state, phase="over", ended="finished")
    game = state.game
    if game is None:
        return no("moogui.no_game")
    if state.unsure and not isinstance(turn, Decide):
        return no("moogui.unsure_pending", *state.unsure, figure=figure(state, state.unsure[0]))
    needed, handler = _HANDLERS[type(turn)]
    if needed and state.phase not in needed:
        return no("moogui.wrong_phase", phase=f"@moogui.phase_{state.phase}", wanted=f"@moogui.phase_{needed[0]}")
    answer: State | Refusal = handler(state, game, turn)
    return answer


def _on_clear(state: State, turn: Clear) -> State | Refusal:
    """Figures that lay there from before are picked up; of those of the game only what is out."""
    there, lying, picked = dict(state.leftover), dict(state.lying), list(state.picked)
    for piece in turn.pieces or tuple(there):
        if there.pop(piece, None) is not None:
            continue
        if lying.get(piece) != OUT or piece in picked:
            return no("moogui.taken_too_early", piece, figure=figure(state, piece), held="@moogui.reading_absent")
        picked.append(piece)
    if not turn.pieces and not state.leftover:
        return no("moogui.nothing_to_clear")
    return replace(state, leftover=tuple(there.items()), picked=tuple(sorted(picked)))


# --- start and order --------------------------------------------------------------------------------------------


def _on_start(state: State, turn: StartGame) -> State | Refusal:
    """R-12: everybody declares one own character before the order throw."""
    if state.game is not None:
        return no("moogui.game_in_progress")
    people = [who for who, _ in turn.lineup]
    if not FEWEST <= len(people) <= MOST:
        return no("moogui.player_count", got=len(people), fewest=FEWEST, most=MOST)
    if len(set(people)) != len(people):
        return no("moogui.duplicate_player")
    owners = dict(state.owners)
    for who, piece in turn.lineup:
        if not 0 <= who < state.rule.players:
            return no("moogui.unknown_player", got=who + 1)
        if not piece:
            return no("moogui.characters_incomplete", player=player(who))
        model = state.rule.model(piece)
        if model is None:
            return no("moogui.unknown_figure", piece, got=piece)
        if not model.character:
            return no("moogui.not_a_character", piece, figure=figure(state, piece))
        if owners[piece] != who:
            return no("moogui.not_owner", piece, player=player(who), figure=figure(state, piece))
    game = Game(lineup=turn.lineup, groups=(tuple(sorted(people)),))
    return replace(state, phase="order", game=game)


def _on_order(state: State, game: Game, turn: OrderThrow) -> State | Refusal:
    """R-3, R-14: farthest first; figures equal within the uncertainty, by chaining, throw again."""
    told = dict(turn.distances)
    if len(told) != len(turn.distances):
        return no("moogui.duplicate_player")
    index = next((n for n, group in enumerate(game.groups) if len(group) > 1 and set(group) == set(told)), None)
    if index is None:
        return no("moogui.order_group", got=len(told))
    if turn.uncertainty_mm < 0 or any(mm is not None and mm < 0 for mm in told.values()):
        return no("moogui.bad_distance")
    wrong = wrong_readings(state, turn.readings, {game.character(who) for who in told}) if turn.readings else None
    if wrong:
        return wrong
    groups = _grouped(told, turn.uncertainty_mm)
    if state.rule.order == "nearest_first":
        groups.reverse()
    settled = (*game.groups[:index], *groups, *game.groups[index + 1 :])
    game = replace(game, groups=settled)
    leftover = turn.readings or state.leftover
    if any(len(group) > 1 for group in settled):
        return replace(state, game=game, leftover=leftover)
    return replace(state, phase="throwing", game=replace(game, order=tuple(g[0] for g in settled)), leftover=leftover)


def _grouped(told: dict[int, float | None], uncertainty_mm: float) -> list[tuple[int, ...]]:
    """Groups of equals, farthest first; out is farther than everything, and two out are equal."""
    ranked = sorted(told, key=lambda who: (told[who] is not None, -(told[who] or 0.0), who))
    groups = [[ranked[0]]]
    for before, who in pairwise(ranked):
        a, b = told[before], told[who]
        equal = a is b if a is None or b is None else a - b <= uncertainty_mm
        if equal:
            groups[-1].append(who)
        else:
            groups.append([who])
    return [tuple(sorted(group)) for group in groups]


# --- throwing ---------------------------------------------------------------------------------------------------


def _on_throw(state: State, game: Game, turn: Throw) -> State | Refusal:
    """A character is thrown, once; R-11: it ends the turn of the one before."""
    if turn.player not in game.order:
        return no("moogui.unknown_player", got=turn.player + 1)
    has_thrown = game.character(game.current) in dict(game.readings)
    if turn.player == game.current:
        if turn.figure != game.character(turn.player):
            return no(
                "moogui.not_your_character", turn.figure, player=player(turn.player), figure=figure(state, turn.figure)
            )
        if has_thrown:
            return no("moogui.already_thrown", turn.figure, player=player(turn.player))
    else:
        following = game.order[game.turn + 1] if game.turn + 1 < len(game.order) else None
        if not has_thrown or turn.player != following:
            return no("moogui.not_your_turn", turn.figure, player=player(turn.player), awaited=player(game.current))
        if turn.figure != game.character(turn.player):
            return no(
                "moogui.not_your_character", turn.figure, player=player(turn.player), figure=figure(state, turn.figure)
            )
        game = _next_turn(game)
    wrong = wrong_readings(state, turn.readings, {*in_arena(game), turn.figure})
    if wrong:
        return wrong
    return replace(state, game=read_again(game, turn.readings), leftover=())


def _next_turn(game: Game) -> Game:
    """The turn passes; what its player was still being offered is void."""
    offers = tuple(offer for offer in game.offers if offer.player != game.current)
    return replace(game, turn=game.turn + 1, offers=offers)


def _on_end(state: State, game: Game, turn: EndTurn) -> State | Refusal:
    """The chance of a Sentinel passes; after the last turn the shields are decided."""
    if turn.player != game.current:
        return no("moogui.not_your_turn", player=player(turn.player), awaited=player(game.current))
    if game.character(turn.player) not in dict(game.readings):
        return no("moogui.character_first", game.character(turn.player), player=player(turn.player))
    if game.turn + 1 < len(game.order):
        return replace(state, game=_next_turn(game))
    return _shields(state, game)


def _on_decide(state: State, game: Game, turn: Decide) -> State | Refusal:
    """R-2: the table says what the picture could not."""
    if turn.figure not in state.unsure:
        return no("moogui.figure_not_unsure", turn.figure, figure=figure(state, turn.figure))
    model = state.rule.model(turn.figure)
    if model is None or turn.reading not in model.readings:
        return no("moogui.bad_reading", turn.figure, figure=figure(state, turn.figure), got=turn.reading)
    if state.phase == "tiebreak" and game.tie is not None:
        tie = replace(game.tie, readings=_with(game.tie.readings, turn))
        return goes_on(replace(state, game=replace(game, tie=tie)))
    return goes_on(replace(state, game=replace(game, readings=_with(game.readings, turn))))


def goes_on(state: State) -> State:
    """What follows once readings were settled: shields are looked for again, a full round of a tie-break ends."""
    game = state.game
    if game is None or state.unsure:
        return state
    if state.phase == "shields":
        return _shields(state, game)
    return _tie_goes_on(state, game, game.tie) if state.phase == "tiebreak" and game.tie is not None else state


def _with(readings: Readings, turn: Decide) -> Readings:
    return tuple((piece, turn.reading if piece == turn.figure else reading) for piece, reading in readings)


# --- shields, tie-break, end ------------------------------------------------------------------------------------


def _shields(state: State, game: Game) -> State:
    """The next shield to decide, or the end of the game proper."""
    if scoring.pending_shield(state.rule, game) is not None:
        return replace(state, phase="shields", game=game)
    best = scoring.leaders(state.rule, game)
    if len(best) < 2:
        return _won(state, game, best[0] if best else -1)
    return replace(state, phase="tiebreak", leftover=_left(game), game=replace(game, tie=Tie(1, best)))


def _left(game: Game) -> Readings:
    """What lies there when the game proper is over, beside the arena included."""
    return tuple(pair for pair in game.readings if pair[0] not in game.taken_back)


def _on_shield(state: State, game: Game, turn: Shield) -> State | Refusal:
    """R-4, R-13: taken back, or thrown again once; the earliest in order of play decides first."""
    if turn.player not in game.order:
        return no("moogui.unknown_player", got=turn.player + 1)
    piece = game.character(turn.player)
    if scoring.standing(state.rule, game, turn.player)[0] != "shield":
        return no("moogui.not_in_shield", piece, player=player(turn.player), figure=figure(state, piece))
    first = scoring.pending_shield(state.rule, game)
    if first is not None and turn.player != first:
        return no("moogui.not_your_turn", piece, player=player(turn.player), awaited=player(first))
    if not turn.again:
        if turn.readings:
            return no("moogui.readings_extra", turn.readings[0][0], figure=figure(state, turn.readings[0][0]))
        return _shields(state, replace(game, taken_back=(*game.taken_back, piece)))
    if piece in game.rethrown:
        return no("moogui.rethrow_used", piece, figure=figure(state, piece))
    wrong = wrong_readings(state, turn.readings, set(in_arena(game)))
    if wrong:
        return wrong
    return goes_on(replace(state, game=read_again(replace(game, rethrown=(*game.rethrown, piece)), turn.readings)))


def _on_tie(state: State, game: Game, turn: TieThrow) -> State | Refusal:
    """R-5: in order of play, in a cleared arena, characters only."""
    tie = game.tie
    assert tie is not None, "a tie-break has a round"
    if turn.player not in game.order:
        return no("moogui.unknown_player", got=turn.player + 1)
    awaited = tie_thrower(game, tie)
    if turn.player != awaited:
        return no("moogui.not_your_turn", player=player(turn.player), awaited=player(awaited))
    lying = {piece for piece, reading in tie.readings if reading != OUT}
    wrong = wrong_readings(state, turn.readings, {*lying, game.character(turn.player)})
    if wrong:
        return wrong
    tie = replace(tie, readings=tuple(sorted({**dict(tie.readings), **dict(turn.readings)}.items())))
    return goes_on(replace(state, game=replace(game, tie=tie), leftover=()))


def tie_thrower(game: Game, tie: Tie) -> int:
    """Who throws next in this round."""
    thrown = dict(tie.readings)
    return next((who for who in tie.tied if game.character(who) not in thrown), tie.tied[-1])


def _tie_goes_on(state: State, game: Game, tie: Tie) -> State:
    if len(tie.readings) < len(tie.tied):
        return state
    best = scoring.tie_best(state.rule, game, tie.tied, tie.readings)
    if len(best) == 1:
        return _won(replace(state, leftover=tie.readings), game, best[0])
    return replace(state, leftover=tie.readings, game=replace(game, tie=Tie(tie.round + 1, best)))


def _won(state: State, game: Game, winner: int) -> State:
    """The game has a winner, or nobody has won."""
    if state.phase != "tiebreak":
        state = replace(state, leftover=_left(game))
    if state.rule.mode == "training":
        return _training_ends(state, winner)
    pool = scoring.lost(state, game, winner)
    if winner >= 0 and pool and scoring.sharer(state, game, winner) is not None:
        return replace(state, phase="split", game=replace(game, winner=winner, pool=pool))
    return _competition_ends(state, winner, tuple((piece, winner) for piece in pool))


def _training_ends(state: State, winner: int) -> State:
    """One point a game won; everyone keeps the figures; the first to reach the target is the grand winner."""
    points = tuple(have + (who == winner) for who, have in enumerate(state.points))
    state = replace(state, phase="idle", game=None, games=state.games + 1, points=points, last=(winner, ()))
    if winner >= 0 and points[winner] >= state.rule.target:
        return replace(state, phase="over", ended="grand_winner")
    return state


def _competition_ends(state: State, winner: int, moves: tuple[tuple[str, int], ...]) -> State:
    """The lost figures change hands; with one owner of characters left no game can follow."""
    moved = dict(moves)
    owners = tuple((piece, moved.get(piece, owner)) for piece, owner in state.owners)
    state = replace(
        state,
        phase="idle",
        game=None,
        games=state.games + 1,
        owners=owners,
        last=(winner, tuple(sorted(moved))),
    )
    return state if len(able_players(state)) >= FEWEST else replace(state, phase="over", ended="one_owner")


def able_players(state: State) -> tuple[int, ...]:
    """The players who own a character and so can play a game."""
    characters = {piece for piece, _ in state.owners if (model := state.rule.model(piece)) and model.character}
    return tuple(sorted({owner for piece, owner in state.owners if piece in characters}))


def _on_split(state: State, game: Game, turn: Split) -> State | Refusal:
    """R-9: both get the same, the Sentinel's owner the odd one; which is agreed at the table, or dealt."""
    ally = scoring.sharer(state, game, game.winner)
    assert ally is not None, "only an alliance shares"
    shares = turn.shares or scoring.dealt(state, game.pool, game.winner, ally)
    got = [who for _, who in shares]
    fair = got.count(ally) == (len(game.pool) + 1) // 2 and got.count(game.winner) == len(game.pool) // 2
    if not fair or tuple(sorted(piece for piece, _ in shares)) != game.pool:
        half = (("more", (len(game.pool) + 1) // 2), ("fewer", len(game.pool) // 2))
        return no("moogui.bad_split", *game.pool, ally=player(ally), winner=player(game.winner), **dict(half))
    return _competition_ends(state, game.winner, shares)


_HANDLERS: dict[type, tuple[tuple[str, ...], Callable[[State, Game, Any], State | Refusal]]] = {
    OrderThrow: (("order",), _on_order),
    Throw: (("throwing",), _on_throw),
    Offer: (("order", "throwing"), on_offer),
    Sign: (("order", "throwing"), on_sign),
    ThrowSentinel: (("throwing",), on_sentinel),
    EndTurn: (("throwing",), _on_end),
    Decide: ((), _on_decide),
    Shield: (("shields",), _on_shield),
    TieThrow: (("tiebreak",), _on_tie),
    Split: (("split",), _on_split),
}
"""For each input the phases in which it may come (empty: any) and what it does."""
