"""Which rule stands in the way of what is seen: the one that a player would name, with its places.

Asked only for a look that no legal turn leads to. What can be told without knowing what was meant comes first: pieces
that came or went, a pawn of the other side, two pawns, a locked tile, three tiles. Only then the one pawn that moved is
tried in every way in which its move could have been meant (before or after each rotation), and the refusal of the try
that came nearest to a legal move is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.contract import Refusal
from companion.games.moguli.board import BIT, NAMES, names_in
from companion.games.moguli.judge import HOME_ROW, judge_move, missing_act
from companion.games.moguli.looks import Change
from companion.games.moguli.state import State

NEAREST = (
    "moguli.no_underground",
    "moguli.no_pass_under",
    "moguli.door_occupied",
    "moguli.no_path",
    "moguli.two_free_doors",
    "moguli.obliged_other",
)
"""Refusals of a pawn move, the one nearest to a legal move first."""


def faults(before: State, diff: Change) -> tuple[Refusal, ...]:
    """The rules that the change breaks, the one that matters most first; at least one."""
    if before.over is not None:
        return (Refusal("moguli.game_over", _changed(diff)),)
    pieces = tuple(_pieces(diff))
    if pieces:
        return pieces
    return tuple(_acts(before, diff))


def _changed(diff: Change) -> tuple[str, ...]:
    mask = sum(BIT[tile] for tile, _ in diff.turned) + sum(BIT[tile] for tile in diff.replaced)
    for player in range(2):
        mask |= diff.left[player] | diff.came[player]
    return names_in(mask)


def _pieces(diff: Change) -> Iterator[Refusal]:
    """Tiles that are no longer the same tile, pawns that have gone or come."""
    if diff.replaced:
        places = tuple(NAMES[tile] for tile in diff.replaced)
        yield Refusal("moguli.tile_changed", places, (("places", ", ".join(places)),))
    for player in range(2):
        left, came = diff.left[player], diff.came[player]
        more = came.bit_count() - left.bit_count()
        if more:
            places = names_in(came if more > 0 else left)
            rule = "moguli.pawn_added" if more > 0 else "moguli.pawn_gone"
            values = (("player", f"#{player}"), ("count", abs(more)), ("places", ", ".join(places)))
            yield Refusal(rule, places, values)


def _acts(before: State, diff: Change) -> Iterator[Refusal]:
    player = before.to_move
    foe = 1 - player
    if diff.left[foe]:
        places = (*names_in(diff.left[foe]), *names_in(diff.came[foe]))
        start, end = names_in(diff.left[foe])[0], names_in(diff.came[foe])[0]
        yield Refusal("moguli.not_your_pawn", places, (("start", start), ("end", end), ("player", f"#{foe}")))
    left, came = diff.left[player], diff.came[player]
    if left.bit_count() > 1:
        starts = names_in(left)
        yield Refusal(
            "moguli.two_moves",
            (*starts, *names_in(came)),
            (("count", len(starts)), ("starts", ", ".join(starts))),
        )
    locked = tuple(NAMES[tile] for tile, _ in diff.turned if before.locked & BIT[tile])
    for name in locked:
        yield Refusal("moguli.locked", (name,), (("tile", name),))
    turned = tuple(NAMES[tile] for tile, _ in diff.turned)
    if len(turned) > 2:
        yield Refusal("moguli.three_rotations", turned, (("count", len(turned)), ("tiles", ", ".join(turned))))
    if left.bit_count() == 1:
        yield from _move(before, diff, left.bit_length() - 1, came.bit_length() - 1)
    elif len(turned) == 2 and not locked:
        yield _no_bonus(turned)
    if not left or (before.options.compulsory_actions and not turned):
        missing = missing_act(before, diff.tiles, bool(left), bool(turned))
        if missing is not None:
            yield missing


def _no_bonus(turned: tuple[str, ...]) -> Refusal:
    return Refusal("moguli.no_bonus", turned, (("tile", " + ".join(turned)),))


def _move(before: State, diff: Change, start: int, end: int) -> Iterator[Refusal]:
    """The one own pawn that moved: its nearest refusal, or the bonus rotation that it did not earn."""
    turned = tuple(NAMES[tile] for tile, _ in diff.turned)
    tries = [judge_move(before, tiles, start, end) for tiles in _meant(before, diff)]
    refusals = [refusal for refusal, _ in tries if refusal is not None]
    if len(refusals) < len(tries):
        if len(turned) == 2 and not any(before.locked & BIT[tile] for tile, _ in diff.turned):
            yield _no_bonus(turned)
        return
    if len(turned) == 2:
        refusal, earns = judge_move(before, diff.tiles, start, end)
        if refusal is None:
            yield Refusal("moguli.bonus_last", turned, (("tiles", ", ".join(turned)),)) if earns else _no_bonus(turned)
            return
    yield min(refusals, key=lambda refusal: NEAREST.index(refusal.rule))


def _meant(before: State, diff: Change) -> Iterator[tuple[int, ...]]:
    """The tiles as they may have lain when the pawn was moved: none turned yet, or one."""
    yield before.tiles
    for tile, code in diff.turned:
        tiles = list(before.tiles)
        tiles[tile] = code
        yield tuple(tiles)


def exchange_faults(before: State, diff: Change, player: int) -> tuple[Refusal, ...]:
    """What is wrong with a table on which the exchange of the starting row is due."""
    found = []
    pawns = diff.left[0] | diff.left[1] | diff.came[0] | diff.came[1]
    row = HOME_ROW[player]
    if pawns:
        places = names_in(pawns)
        found.append(Refusal("moguli.exchange_pawns", places, (("places", ", ".join(places)),)))
    if diff.tiles != before.tiles or not found:
        mask = sum(BIT[tile] for tile in (*diff.replaced, *(tile for tile, _ in diff.turned)))
        found.append(Refusal("moguli.exchange_rows", names_in(mask), (("player", f"#{player}"), ("row", row))))
    return tuple(found)
