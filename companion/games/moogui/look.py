"""How the arena looks, which inputs are legal, and which of them explains what is seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

from companion.games.contract import Explanation, Look, Refusal, Story
from companion.games.moogui.alliances import possible_alliances, usable_sentinels
from companion.games.moogui.engine import MOST, able_players, apply, tie_thrower
from companion.games.moogui.notation import readings_of, text
from companion.games.moogui.refusals import figure, no
from companion.games.moogui.scoring import pending_shield, sharer
from companion.games.moogui.state import (
    ABSENT,
    IMMUNE,
    OUT,
    UNSURE,
    Clear,
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
from companion.games.moogui.throws import in_arena

UNCERTAINTY_MM = 10.0
"""Uncertainty of a distance when the eyes do not tell one (`uncertainty:arena`)."""
_SPACING_MM = 100.0


def look(state: State) -> dict[str, str]:
    """`figure:<piece>` for every piece: its face `1`..., `immune`, `out`, `unsure`, or `-` when it is not there.

    What lies from before and does not count (order throw, last game) is in the look until it is picked up. The eyes
    may add `distance:<piece>` (mm from the centre, or `out`) and `uncertainty:arena` (mm); an order throw is explained
    from them.
    """
    there = {**dict(state.leftover), **dict(state.lying), **dict.fromkeys(state.picked, ABSENT)}
    return {f"figure:{piece}": there.get(piece, ABSENT) for piece, _ in state.owners}


def measured(state: State, turn: Turn) -> dict[str, str]:
    """What the eyes measure of an order throw whose figures were seen."""
    game = state.game
    if not isinstance(turn, OrderThrow) or not turn.readings or game is None:
        return {}
    far = {game.character(who): OUT if mm is None else str(mm) for who, mm in turn.distances}
    return {f"distance:{piece}": mm for piece, mm in far.items()} | {"uncertainty:arena": str(turn.uncertainty_mm)}


def differences(state: State, seen: Look) -> dict[str, str]:
    """Piece -> what is seen where the state holds something else."""
    held = look(state)
    return {fact.removeprefix("figure:"): seen[fact] for fact, value in held.items() if seen.get(fact, value) != value}


# --- legal inputs -----------------------------------------------------------------------------------------------


def listed(state: State) -> list[Turn]:
    """The legal inputs: every decision, and of throws those that leave all other figures as they lie.

    While figures lie there from before, clearing is listed instead of throws (a throw that is told clears by itself).
    """
    game = state.game
    if state.phase == "over":
        return []
    clear: list[Turn] = [Clear()] if state.leftover else []
    if game is None:
        return [*_starts(state), *clear]
    if state.unsure:
        piece = state.unsure[0]
        model = state.rule.model(piece)
        return [*(Decide(piece, reading) for reading in (model.readings if model else ())), *clear]
    turns = _PHASES[state.phase](state, game)
    if not state.in_the_way:
        return [*clear, *turns]
    return [*clear, *(turn for turn in turns if not is_throw(turn))]


def _starts(state: State) -> Iterator[Turn]:
    """All who can play, four at most, each with any one of the own characters; where that is many, a pair of them."""
    characters: dict[int, list[str]] = {}
    for piece, owner in state.owners:
        model = state.rule.model(piece)
        if model is not None and model.character:
            characters.setdefault(owner, []).append(piece)
    people = able_players(state)
    first = tuple((who, characters[who][0]) for who in people[:MOST])
    yield StartGame(first)
    for place, (who, _) in enumerate(first):
        for piece in characters[who][1:]:
            yield StartGame((*first[:place], (who, piece), *first[place + 1 :]))
    for pair in combinations(people, 2):
        if len(people) > 2:
            yield StartGame(tuple((who, characters[who][0]) for who in pair))


def _orders(state: State, game: Game) -> Iterator[Turn]:
    group = next(group for group in game.groups if len(group) > 1)
    for order in permutations(group):
        far = tuple((who, _SPACING_MM * (len(order) - place)) for place, who in enumerate(order))
        yield OrderThrow(tuple(sorted(far)), UNCERTAINTY_MM)
    yield from _alliances(state, game)


def _alliances(state: State, game: Game) -> Iterator[Turn]:
    for a in possible_alliances(state, game):
        yield Sign(a.player, a.ally, a.sentinel, (a.player, a.ally))


def _throwing(state: State, game: Game) -> Iterator[Turn]:
    lying = dict(game.readings)
    still = {piece: lying[piece] for piece in in_arena(game)}
    who = game.current
    if game.character(who) not in lying:
        yield from (Throw(who, game.character(who), r) for r in _falls(state, game.character(who), still))
    else:
        yield EndTurn(who)
        for thrower, piece in usable_sentinels(state, game):
            yield from (ThrowSentinel(who, thrower, piece, r) for r in _falls(state, piece, still))
        if game.turn + 1 < len(game.order):
            after = game.order[game.turn + 1]
            yield from (Throw(after, game.character(after), r) for r in _falls(state, game.character(after), still))
    yield from _alliances(state, game)


def _falls(state: State, piece: str, still: dict[str, str]) -> Iterator[Readings]:
    model = state.rule.model(piece)
    around = readings_of({**still, piece: UNSURE})
    place = around.index((piece, UNSURE))
    for reading in (*model.readings, UNSURE) if model else ():
        yield (*around[:place], (piece, reading), *around[place + 1 :])


def _shields(state: State, game: Game) -> Iterator[Turn]:
    who = pending_shield(state.rule, game)
    if who is None:
        return
    piece = game.character(who)
    yield Shield(who, again=False)
    if piece not in game.rethrown:
        lying = dict(game.readings)
        still = {other: lying[other] for other in in_arena(game)}
        yield from (Shield(who, True, r) for r in _falls(state, piece, still))


def _tie(state: State, game: Game) -> Iterator[Turn]:
    if game.tie is None:
        return
    who = tie_thrower(game, game.tie)
    still = {piece: reading for piece, reading in game.tie.readings if reading != OUT}
    yield from (TieThrow(who, r) for r in _falls(state, game.character(who), still))


def _splits(state: State, game: Game) -> Iterator[Turn]:
    ally = sharer(state, game, game.winner)
    if ally is None:
        return
    yield Split()
    more = (len(game.pool) + 1) // 2
    for chosen in combinations(game.pool, more):
        yield Split(tuple((piece, ally if piece in chosen else game.winner) for piece in game.pool))


_PHASES = {"order": _orders, "throwing": _throwing, "shields": _shields, "tiebreak": _tie, "split": _splits}


# --- explaining -------------------------------------------------------------------------------------------------


def explain(before: State, seen: Look) -> Explanation[State, Turn]:
    """The inputs that lead to what is seen; throws are built from the readings, not listed.

    An input that leaves no mark counts as unseen. Without one the refusals say which figure is in the way and why.
    """
    changed = differences(before, seen)
    best: list[Story[State, Turn]] = []
    for turn in (
        *_built(before, seen, changed),
        *(turn for turn in listed(before) if not is_throw(turn) or not changed),
    ):
        after = apply(before, turn)
        if isinstance(after, Refusal) or differences(after, seen):
            continue
        unseen = 0 if changed else 1
        story = Story(turn, after, _who(before, turn), unseen, _may_go_on(before, turn))
        _keep_better(best, story)
    if best:
        return Explanation(stories=tuple(sorted(best, key=lambda s: (s.unseen, text(s.turn)))))
    waits = _order_waits(before, seen, changed)
    if waits is not None:
        return Explanation(refusals=(waits,), unfinished=True)
    return Explanation(refusals=tuple(_refusals(before, seen, changed)))


def _may_go_on(state: State, turn: Turn) -> bool:
    """Whether a shield that was picked up may still be thrown again."""
    game = state.game
    return isinstance(turn, Shield) and game is not None and game.character(turn.player) not in game.rethrown


def _keep_better(best: list[Story[State, Turn]], story: Story[State, Turn]) -> None:
    """Adds a story, or puts it in the place of a worse one that leads to the same state."""
    for place, known in enumerate(best):
        if known.after == story.after:
            if (story.unseen, text(story.turn)) < (known.unseen, text(known.turn)):
                best[place] = story
            return
    best.append(story)


def is_throw(turn: Turn) -> bool:
    """True for a throw that readings come with."""
    return isinstance(turn, OrderThrow | Throw | ThrowSentinel | TieThrow) or (isinstance(turn, Shield) and turn.again)


def _who(state: State, turn: Turn) -> int:
    match turn:
        case Throw(player) | TieThrow(player) | EndTurn(player) | Shield(player) | Sign(player):
            return player
        case ThrowSentinel(_, thrower):
            return thrower
        case Decide(piece):
            return state.owner(piece)
        case StartGame(lineup):
            return lineup[0][0]
        case OrderThrow(distances):
            return distances[0][0]
    return state.game.winner if state.game is not None and state.game.winner >= 0 else 0


def _built(state: State, seen: Look, changed: Look) -> Iterator[Turn]:
    """The throws that the readings could mean; a figure that lies from before must have been picked up first."""
    game, leftover = state.game, state.in_the_way
    there = dict(state.leftover)
    out = [piece for piece, reading in state.lying if reading == OUT]
    picked = tuple(piece for piece in (*there, *out) if changed.get(piece) == ABSENT)
    if picked and set(picked) != set(there):
        yield Clear(picked)
    if game is None or state.unsure:
        return
    match state.phase:
        case "order":
            yield from _seen_order(state, game, seen, changed)
        case "throwing" if changed:
            for who in game.order[game.turn : game.turn + 2]:
                piece = game.character(who)
                if piece not in dict(game.readings) and piece not in leftover and _there(seen, piece):
                    yield Throw(who, piece, _seen(seen, (*in_arena(game), piece)))
            for thrower, piece in usable_sentinels(state, game):
                if _there(seen, piece):
                    yield ThrowSentinel(game.current, thrower, piece, _seen(seen, (*in_arena(game), piece)))
        case "shields" if changed:
            who_next = pending_shield(state.rule, game)
            if who_next is not None:
                yield Shield(who_next, True, _seen(seen, in_arena(game)))
        case "tiebreak" if changed and game.tie is not None:
            who = tie_thrower(game, game.tie)
            lying = [piece for piece, reading in game.tie.readings if reading != OUT]
            if _there(seen, game.character(who)) and game.character(who) not in leftover:
                yield TieThrow(who, _seen(seen, (*lying, game.character(who))))


def _there(seen: Look, piece: str) -> bool:
    return seen.get(f"figure:{piece}", ABSENT) != ABSENT


def _seen(seen: Look, pieces: tuple[str, ...] | list[str]) -> Readings:
    """The seen readings of these figures; one that is not seen at all is missing, and the throw will be refused."""
    return readings_of({piece: seen[f"figure:{piece}"] for piece in pieces if _there(seen, piece)})


def _seen_order(state: State, game: Game, seen: Look, changed: Look) -> Iterator[Turn]:
    """The order throw of each group whose figures have been picked up since they lay there last."""
    leftover = dict(state.leftover)
    for group in game.groups:
        pieces = [game.character(who) for who in group]
        if set(pieces) & set(state.in_the_way) or all(p in leftover and p not in changed for p in pieces):
            continue
        distances = {who: seen.get(f"distance:{game.character(who)}") for who in group}
        if len(group) < 2 or None in distances.values():
            continue
        told = tuple((who, None if mm == OUT else float(mm)) for who, mm in sorted(distances.items()) if mm is not None)
        uncertainty = float(seen.get("uncertainty:arena", UNCERTAINTY_MM))
        fallen = {f"figure:{game.character(who)}": OUT for who, mm in told if mm is None}
        yield OrderThrow(told, uncertainty, _seen({**seen, **fallen}, [game.character(who) for who in group]))


def _order_waits(state: State, seen: Look, changed: Look) -> Refusal | None:
    """Which figures are still to be seen of an order throw of which others lie there already."""
    game = state.game
    if game is None or state.phase != "order" or state.in_the_way:
        return None
    for group in game.groups:
        pieces = [game.character(who) for who in group]
        if len(group) > 1 and changed and changed.keys() <= set(pieces):
            waited = [p for p in pieces if not _there(seen, p) or f"distance:{p}" not in seen]
            names = ", ".join(figure(state, piece) for piece in waited)
            return no("moogui.order_waits", *waited, figure=names) if waited else None
    return None


def _refusals(state: State, seen: Look, changed: Look) -> Iterator[Refusal]:
    """What is wrong with each figure that does not lie as it should."""
    held = look(state)
    game = state.game
    for turn in _built(state, seen, changed):
        answer = apply(state, turn)
        if isinstance(answer, Refusal):
            yield answer
    leftover = state.in_the_way
    if leftover and changed:
        yield from (
            no("moogui.pick_up", piece, figure=figure(state, piece)) for piece in leftover if _there(seen, piece)
        )
        return
    for piece, value in changed.items():
        name = figure(state, piece)
        if value == ABSENT:
            yield no("moogui.taken_too_early", piece, figure=name, held=_word(held[f"figure:{piece}"]))
        elif held[f"figure:{piece}"] == ABSENT:
            yield _not_awaited(state, game, piece, seen)
        else:
            values = {"seen": _word(value), "held": _word(held[f"figure:{piece}"])}
            yield no("moogui.moved_without_throw", piece, figure=name, **values)


def _not_awaited(state: State, game: Game | None, piece: str, seen: Look) -> Refusal:
    """Why a figure that nobody expects lies in the arena."""
    owner = state.owner(piece)
    model = state.rule.model(piece)
    if game is not None and state.phase == "throwing" and not state.unsure and model is not None:
        readings = _seen(seen, (*in_arena(game), piece))
        own = owner in game.order and piece == game.character(owner)
        turn: Turn = (
            Throw(owner, piece, readings)
            if own or model.character
            else ThrowSentinel(game.current, owner, piece, readings)
        )
        answer = apply(state, turn)
        if isinstance(answer, Refusal):
            return answer
    if state.unsure:
        return no("moogui.unsure_pending", *state.unsure, figure=figure(state, state.unsure[0]))
    return no("moogui.not_in_play", piece, figure=figure(state, piece))


def _word(reading: str) -> str:
    """A reading as a value: immune, out, unsure and absent by their words, anything else as it is."""
    if reading == ABSENT:
        return "@moogui.reading_absent"
    return f"@moogui.reading_{reading}" if reading in (IMMUNE, OUT, UNSURE) else reading
