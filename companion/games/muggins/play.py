"""What may be done in a match of Muggins, and the state after it or the rule that forbids it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from companion.games.contract import Refusal
from companion.games.muggins.state import Act, Over, RoundEnd, State, Turn, unseen
from companion.games.muggins.tiles import (
    DEALT,
    IN_SET,
    SET,
    STROKE,
    Tile,
    cost,
    end_sum,
    ends,
    extend,
    fits,
    pips,
    points,
    tile_of,
)

DRAW, PASS, DEAL, END = Act("draw"), Act("pass"), Act("deal"), Act("end")


def legal(state: State) -> list[Turn]:
    """The legal acts, one a turn. At the table every tile that may be in the hand counts.

    An open deal and a hand to be shown cannot be listed: one example stands for each. Lots come as every single player
    and every tie of those who draw.
    """
    if state.phase == "play":
        return [(act,) for act in _plays(state)]
    if state.phase == "deal":
        return [(DEAL if state.secret else dealt(state.players, SET),)]
    if state.phase == "lot":
        sizes = range(1, len(state.lots) + 1)
        return [(Act("lot", players=group),) for size in sizes for group in combinations(state.lots, size)]
    if state.phase == "show":
        free = tuple(unseen(state))
        waiting = [p for p, hand in enumerate(state.shown) if hand is None]
        return [(Act("show", player=p, tiles=free[: state.counts[p]]),) for p in waiting]
    return []


def dealt(players: int, shuffled: tuple[Tile, ...]) -> Act:
    """The open deal of 28 tiles in shuffled order: hands first, the rest is the boneyard, drawn from the front."""
    n = DEALT[players]
    hands = tuple(shuffled[p * n : (p + 1) * n] for p in range(players))
    return Act("deal", hands=hands, tiles=shuffled[players * n :])


def _plays(state: State) -> list[Act]:
    line = state.line
    if state.drawn is not None and fits(state.drawn, line):
        tiles = [state.drawn]
    elif state.secret:
        others = {t for p, known in enumerate(state.known) if p != state.to_move for t in known}
        gone = others | {tile_of(a, b) for a, b in line}
        tiles = [t for t in SET if t not in gone] if state.drawn is None else []
    else:
        tiles = list(state.hands[state.to_move])
    if not line:
        return [Act("open", tile) for tile in tiles]
    left, right = ends(line)
    acts = [Act("place", tile, end) for tile in tiles for end, number in (("L", left), ("R", right)) if number in tile]
    if any(fits(t, line) for t in state.certain(state.to_move)):
        return acts
    if state.left:
        acts.append(DRAW if state.secret else Act("draw", state.boneyard[0]))
    else:
        acts.append(PASS)
    return acts


def apply(state: State, turn: Turn) -> State | Refusal:
    """The state after a turn's acts, or why one of them is illegal."""
    if not turn:
        return _no("no_act")
    ended = False
    for act in turn:
        if ended and act.kind != "show":
            return _no("one_a_turn")
        after = _act(state, act)
        if isinstance(after, Refusal):
            return after
        ended = act.kind in ("open", "place", "pass", "end")
        state = after
    return state


def _act(state: State, act: Act) -> State | Refusal:
    if state.phase == "over":
        return _no("match_over")
    if act.kind == "adjust":
        return _adjust(state, act)
    if act.kind == "end":
        return _end(state)
    if act.kind == "know":
        return _know(state, act)
    phase = "play" if act.kind in ("open", "place", "draw", "pass") else act.kind
    if phase != state.phase:
        return _no(f"expects_{state.phase}")
    if act.kind == "deal":
        return _deal(state, act)
    if act.kind == "lot":
        return _lot(state, act)
    if act.kind == "show":
        return _show(state, act)
    if act.kind == "draw":
        return _draw(state, act)
    return _pass(state) if act.kind == "pass" else _place(state, act)


def _place(state: State, act: Act) -> State | Refusal:
    tile, line, player = act.tile, state.line, state.to_move
    if tile is None or tile not in IN_SET:
        return _no("no_such_tile", tile=_name(tile) if tile else "-")
    if any(tile_of(a, b) == tile for a, b in line):
        at = next(k for k, (a, b) in enumerate(line) if tile_of(a, b) == tile) - state.opened
        return _no("already_on_line", (str(at),), tile=_name(tile))
    if act.kind == "open" and line:
        return _no("opened_already", tile=_name(tile))
    if act.kind == "place" and not line:
        return _no("not_opened", tile=_name(tile))
    if not state.secret and tile not in state.hands[player]:
        return _no("not_in_hand", tile=_name(tile), player=f"#{player}")
    longer = (tile,) if not line else extend(line, tile, act.end)
    if longer is None:
        left, right = ends(line)
        at = -state.opened if act.end == "L" else len(line) - 1 - state.opened
        return _no("does_not_fit", (str(at),), tile=_name(tile), left=left, right=right)
    if state.drawn is not None and tile != state.drawn and (state.secret or fits(state.drawn, line)):
        return _no("not_drawn_last", tile=_name(tile), drawn=_name(state.drawn))
    after = replace(
        _without(state, player, tile),
        line=longer,
        opened=state.opened + (act.end == "L" and bool(line)),
        scores=_plus(state.scores, player, points(longer)),
        passes=0,
    )
    after = _logged(after, player, act)
    if after.scores[player] >= state.target:
        return replace(after, phase="over", over=Over(player, "target"), drew=False, drawn=None)
    if after.holds(player) == 0:
        return _round_over(after, player)
    return _next(after)


def _without(state: State, player: int, tile: Tile) -> State:
    """The state with a tile gone from a hand."""
    if state.secret:
        known = tuple(tuple(t for t in hand if t != tile) for hand in state.known)
        return replace(state, counts=_plus(state.counts, player, -1), known=known)
    hands = list(state.hands)
    hands[player] = tuple(t for t in hands[player] if t != tile)
    return replace(state, hands=tuple(hands))


def _draw(state: State, act: Act) -> State | Refusal:
    player, line = state.to_move, state.line
    if not line:
        return _no("draw_before_opening")
    if not state.left:
        return _no("draw_from_empty")
    for tile in state.certain(player):
        if fits(tile, line):
            return _no("must_play", tile=_name(tile), player=f"#{player}")
    if not state.secret:
        first = state.boneyard[0]
        if act.tile not in (None, first):
            return _no("not_next_in_boneyard", tile=_name(act.tile))
        hands = list(state.hands)
        hands[player] = (*hands[player], first)
        drawn = first if fits(first, line) else None
        return replace(state, hands=tuple(hands), boneyard=state.boneyard[1:], drew=True, drawn=drawn)
    if act.tile is not None and (act.tile not in IN_SET or act.tile not in unseen(state)):
        return _no("known_elsewhere", tile=_name(act.tile))
    known = list(state.known)
    if act.tile is not None:
        known[player] = tuple(sorted((*known[player], act.tile)))
    after = replace(
        state,
        counts=_plus(state.counts, player, 1),
        hidden=state.hidden - 1,
        known=tuple(known),
        drew=True,
        drawn=act.tile,
    )
    return _logged(after, player, act)


def _pass(state: State) -> State | Refusal:
    player = state.to_move
    if not state.line:
        return _no("not_opened", tile="-")
    if state.left:
        return _no("pass_with_boneyard", left=state.left)
    for tile in state.certain(player):
        if fits(tile, state.line):
            return _no("must_play", tile=_name(tile), player=f"#{player}")
    after = _logged(replace(state, passes=state.passes + 1), player, PASS)
    return _round_over(after, None) if after.passes == state.players else _next(after)


def _next(state: State) -> State:
    return replace(state, to_move=(state.to_move + 1) % state.players, drew=False, drawn=None)


def _round_over(state: State, out: int | None) -> State:
    """The round has ended: hands count at once in open play, at the table once they are shown."""
    state = replace(state, starter=out, drew=False, drawn=None)
    if state.secret:
        shown = tuple(() if count == 0 else None for count in state.counts)
        return replace(state, phase="show", shown=shown)
    return _counted(state, state.hands)


def _counted(state: State, hands: tuple[tuple[Tile, ...], ...]) -> State:
    costs = tuple(cost(hand) for hand in hands)
    return replace(
        state,
        phase="deal",
        scores=tuple(score - lost for score, lost in zip(state.scores, costs, strict=True)),
        last=RoundEnd(state.starter, tuple(pips(hand) for hand in hands), costs),
    )


def _show(state: State, act: Act) -> State | Refusal:
    if any(tile not in IN_SET for tile in act.tiles):
        bad = next(tile for tile in act.tiles if tile not in IN_SET)
        return _no("no_such_tile", tile=_name(bad))
    if act.player is None:
        return replace(state, rest=act.tiles)
    if not 0 <= act.player < state.players:
        return _no("no_player", player=act.player + 1)
    shown = list(state.shown)
    shown[act.player] = act.tiles
    after = replace(state, shown=tuple(shown))
    hands = tuple(hand for hand in shown if hand is not None)
    return _counted(after, hands) if len(hands) == state.players else after


def _deal(state: State, act: Act) -> State | Refusal:
    n = DEALT[state.players]
    if state.secret:
        if act != DEAL:
            return _no("deal_is_secret")
        after = replace(
            state,
            counts=(n,) * state.players,
            hidden=len(SET) - n * state.players,
            known=((),) * state.players,
            shown=(),
            rest=None,
            log=(),
        )
    else:
        everything = [*act.tiles, *(t for hand in act.hands for t in hand)]
        if len(act.hands) != state.players or any(len(hand) != n for hand in act.hands):
            return _no("deal_sizes", tiles=n)
        if sorted(everything) != sorted(SET):
            return _no("deal_not_the_set")
        after = replace(state, hands=act.hands, boneyard=act.tiles)
    again = state.last is not None
    after = replace(after, line=(), opened=0, passes=0, round=state.round + again)
    if state.starter is None:
        return replace(after, phase="lot", lots=tuple(range(state.players)))
    return replace(after, phase="play", to_move=state.starter, lots=())


def _lot(state: State, act: Act) -> State | Refusal:
    if not act.players or tuple(sorted(set(act.players))) != act.players or not set(act.players) <= set(state.lots):
        return _no("lot_among", players=" ".join(f"{p + 1}" for p in state.lots))
    if len(act.players) > 1:
        return replace(state, lots=act.players)
    return replace(state, phase="play", to_move=act.players[0], starter=act.players[0], lots=())


def _know(state: State, act: Act) -> State | Refusal:
    if not state.secret or state.phase != "play":
        return _no("know_only_secret")
    if act.player is None or not 0 <= act.player < state.players:
        return _no("no_player", player=(act.player or 0) + 1)
    free = {*unseen(state), *state.known[act.player]}
    for tile in act.tiles:
        if tile not in free:
            return _no("known_elsewhere", tile=_name(tile))
    known = list(state.known)
    known[act.player] = tuple(sorted({*known[act.player], *act.tiles}))
    if len(known[act.player]) > state.counts[act.player]:
        return _no("more_than_held", player=f"#{act.player}", tiles=state.counts[act.player])
    return _logged(replace(state, known=tuple(known)), act.player, act)


def _adjust(state: State, act: Act) -> State | Refusal:
    """The table's own correction of a score (R-4); who reaches the target by it has won."""
    if act.player is None or not 0 <= act.player < state.players:
        return _no("no_player", player=(act.player or 0) + 1)
    if act.points == 0 or act.points % STROKE:
        return _no("adjust_by_fives", points=act.points)
    after = replace(state, scores=_plus(state.scores, act.player, act.points))
    if after.scores[act.player] >= state.target:
        return replace(after, phase="over", over=Over(act.player, "target"))
    return after


def _end(state: State) -> State | Refusal:
    """The match ends between two rounds because the table agrees: the leader wins, equal leaders draw (R-6)."""
    if state.phase not in ("deal", "lot"):
        return _no("end_between_rounds")
    leaders = [p for p, score in enumerate(state.scores) if score == max(state.scores)]
    return replace(state, phase="over", over=Over(leaders[0] if len(leaders) == 1 else None, "agreed"))


def _logged(state: State, player: int, act: Act) -> State:
    return replace(state, log=(*state.log, (player, act))) if state.secret else state


def _plus(values: tuple[int, ...], at: int, more: int) -> tuple[int, ...]:
    return (*values[:at], values[at] + more, *values[at + 1 :])


def _name(tile: Tile | None) -> str:
    return "-" if tile is None else f"[{tile[0]}|{tile[1]}]"


def _no(rule: str, places: tuple[str, ...] = (), **values: str | int) -> Refusal:
    return Refusal(f"muggins.{rule}", places, tuple(values.items()))


def placement(state: State, act: Act) -> tuple[int, int]:
    """The sum of the ends and the points that a fitting placement brings; (0, 0) where it does not fit."""
    if act.tile is None:
        return 0, 0
    line = extend(state.line, act.tile, act.end) if state.line else (act.tile,)
    return (0, 0) if line is None else (end_sum(line), points(line))
