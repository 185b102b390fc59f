"""Which legal turns lead from a state to what is seen, the unseen acts included.

The camera sees tiles and pawns, not the order of acts, a half turn of a straight, a rotation taken back by the bonus
or a move that returns to its door (R-6). All legal turns to one look leave the same tiles and pawns; their next states
differ only in which tiles are locked. So stories are collected by lock mask, the one with the fewest unseen acts (then
the first by text) each.
"""

from __future__ import annotations

from dataclasses import replace

from companion.games.contract import Explanation, Look, Story
from companion.games.moguli.board import ALL, BIT, NAMES, STRAIGHT, TURNED, doors_in
from companion.games.moguli.faults import exchange_faults, faults
from companion.games.moguli.judge import exchanged, judge, settle
from companion.games.moguli.looks import Change, change
from companion.games.moguli.mover import Mover
from companion.games.moguli.moves import movable, must_move
from companion.games.moguli.notation import turn_text
from companion.games.moguli.state import BONUS, EXCHANGE, ROTATE, State, Turn
from companion.games.moguli.unfinished import can_go_on, exchange_goes_on

MoguliExplanation = Explanation[State, Turn]
BY_TEXT = (2, 1, 3)
"""Quarter turns in the order in which their texts sort: +180, +90, -90."""


class Stories:
    """The best turn for each lock mask found so far."""

    def __init__(self, visible: int) -> None:
        self._visible = visible
        self._best: dict[int, tuple[int, str, Turn, bool]] = {}

    def add(self, locks: int, turn: Turn, moved: bool) -> None:
        """Keeps the turn if no better one has its locks."""
        known = self._best.get(locks)
        unseen = len(turn) - self._visible
        if known is None or unseen <= known[0]:
            entry = (unseen, turn_text(turn), turn, moved)
            if known is None or entry[:2] < known[:2]:
                self._best[locks] = entry

    def stories(self, before: State, seen: Change) -> tuple[Story[State, Turn], ...]:
        """All of them, fewest unseen acts first, then by text."""
        if not self._best:
            return ()
        moved = any(entry[3] for entry in self._best.values())
        after = settle(before, seen.tiles, seen.pawns, 0, moved)
        player = before.to_move
        ordered = sorted((entry[0], entry[1], locks) for locks, entry in self._best.items())
        return tuple(
            Story(self._best[locks][2], replace(after, locked=locks) if locks else after, player, unseen)
            for unseen, _, locks in ordered
        )


def explain(before: State, seen: Look) -> MoguliExplanation:
    """Every legal story of what is seen, or the rules in the way; see `contract.Rules.explain`."""
    diff = change(before, seen)
    if before.over is not None:
        return Explanation() if diff.nothing else Explanation(refusals=faults(before, diff))
    if before.setup is not None:
        return _explain_exchange(before, diff, before.setup)
    stories = legal_stories(before, diff)
    if stories:
        return Explanation(stories=stories)
    refusals = faults(before, diff)
    unfinished = can_go_on(before, diff)
    warnings = tuple(refusal.message for refusal in refusals if refusal.rule == "moguli.rotation_ends_duty")
    return Explanation(refusals=refusals, warnings=warnings if unfinished else (), unfinished=unfinished)


def _explain_exchange(before: State, diff: Change, player: int) -> MoguliExplanation:
    if not (any(diff.left) or any(diff.came)):
        found: list[tuple[int, str, Turn]] = []
        for row, act in EXCHANGE.items():
            if exchanged(before.tiles, player, row) == diff.tiles:
                found.append((int(bool(row) and diff.nothing), act, (act,)))
        stories = []
        for unseen, _, turn in sorted(found)[:1]:
            after = judge(before, turn)
            assert isinstance(after, State)
            stories.append(Story(turn, after, player, unseen))
        if stories:
            return Explanation(stories=tuple(stories))
    return Explanation(
        refusals=exchange_faults(before, diff, player), unfinished=exchange_goes_on(before, diff, player)
    )


def legal_stories(before: State, diff: Change) -> tuple[Story[State, Turn], ...]:
    """The legal stories alone."""
    player = before.to_move
    left, came = diff.left[player], diff.came[player]
    moved = bool(left)
    if diff.replaced or len(diff.turned) > 2 or diff.left[1 - player] or diff.came[1 - player]:
        return ()
    if left.bit_count() > 1 or left.bit_count() != came.bit_count():
        return ()
    if any(before.locked & BIT[tile] for tile, _ in diff.turned):
        return ()
    found = Stories(len(diff.turned) + moved)
    allowed = movable(before)
    if moved:
        start, end = left.bit_length() - 1, came.bit_length() - 1
        for door, ends in allowed:
            if door == start:
                _move_stories(before, diff, Mover(before, start, end, ends), found)
    else:
        if len(diff.turned) < 2 and not must_move(before):
            _still_stories(before, diff, found)
        for door, ends in allowed:
            if ends & BIT[door]:
                _move_stories(before, diff, Mover(before, door, door, ends), found)
    return found.stories(before, diff)


def _still_stories(before: State, diff: Change, found: Stories) -> None:
    """Turns without a pawn move: nothing, one rotation, the unseen half turn of a straight."""
    if diff.turned:
        ((tile, code),) = diff.turned
        found.add(BIT[tile], (ROTATE[tile][quarters(before, tile, code)],), False)
        return
    if not before.options.compulsory_actions:
        found.add(0, (), False)
    for tile in _straights(before):
        found.add(BIT[tile], (ROTATE[tile][2],), False)


def _move_stories(before: State, diff: Change, mover: Mover, found: Stories) -> None:
    """Turns with this pawn move that leave the tiles as seen."""
    move = mover.act
    if not diff.turned:
        if mover.legal and not before.options.compulsory_actions:
            found.add(0, (move,), True)
        for tile in doors_in(ALL & ~before.locked):
            _taken_back(before, tile, mover, found)
        if mover.earns:
            straights = _straights(before)
            for place, first in enumerate(straights):
                for second in straights[place + 1 :]:
                    found.add(BIT[first] | BIT[second], (move, ROTATE[first][2], BONUS[second][2]), True)
        return
    tile, code = diff.turned[0]
    turn = quarters(before, tile, code)
    if len(diff.turned) == 1:
        _one_tile(before, tile, code, mover, found)
        for other in _straights(before):
            if other != tile:
                _two_tiles(mover, (tile, turn, code), (other, 2, before.tiles[other]), found)
        return
    other, other_code = diff.turned[1]
    _two_tiles(mover, (tile, turn, code), (other, quarters(before, other, other_code), other_code), found)


def _one_tile(before: State, tile: int, code: int, mover: Mover, found: Stories) -> None:
    """One tile seen turned: by one rotation before or after the move, or by rotation and bonus together."""
    move, lock = mover.act, BIT[tile]
    turn = quarters(before, tile, code)
    if mover.legal:
        last = BONUS if mover.earns and not before.options.compulsory_actions else ROTATE
        found.add(lock, (move, last[tile][turn]), True)
        return
    if mover.after(tile, code)[0]:
        found.add(lock, (ROTATE[tile][turn], move), True)
        return
    if STRAIGHT[code]:
        return
    for first in BY_TEXT:
        rest = (turn - first) % 4
        if rest and mover.after(tile, TURNED[before.tiles[tile]][first])[1]:
            found.add(lock, (ROTATE[tile][first], move, BONUS[tile][rest]), True)


def _taken_back(before: State, tile: int, mover: Mover, found: Stories) -> None:
    """A tile that looks as before though it was rotated: a straight's half turn, or rotation and bonus (R-3)."""
    move, lock = mover.act, BIT[tile]
    code = before.tiles[tile]
    if STRAIGHT[code]:
        if mover.legal:
            last = BONUS if mover.earns and not before.options.compulsory_actions else ROTATE
            found.add(lock, (move, last[tile][2]), True)
        elif mover.after(tile, TURNED[code][1])[1]:
            found.add(lock, (ROTATE[tile][1], move, BONUS[tile][1]), True)
        return
    if mover.earns:
        found.add(lock, (move, ROTATE[tile][2], BONUS[tile][2]), True)
        return
    if mover.touched & lock:
        for first in BY_TEXT:
            if mover.after(tile, TURNED[code][first])[1]:
                found.add(lock, (ROTATE[tile][first], move, BONUS[tile][4 - first]), True)
                return


Spin = tuple[int, int, int]
"""A tile, its quarter turns, the code that it then shows."""


def _two_tiles(mover: Mover, one: Spin, other: Spin, found: Stories) -> None:
    """Rotation and bonus of two different tiles, in any order around the move."""
    move, locks = mover.act, BIT[one[0]] | BIT[other[0]]
    for first, last in ((one, other), (other, one)):
        rotation, bonus = ROTATE[first[0]][first[1]], BONUS[last[0]][last[1]]
        if mover.earns:
            found.add(locks, (move, rotation, bonus), True)
        elif mover.after(first[0], first[2])[1]:
            found.add(locks, (rotation, move, bonus), True)


def quarters(before: State, tile: int, code: int) -> int:
    """The quarter turns clockwise that make the tile show this code: of a straight's two the one that sorts first."""
    return TURNED[before.tiles[tile]].index(code)


def _straights(before: State) -> list[int]:
    """The straights that may be rotated, in the order in which their names sort."""
    straights = [tile for tile in doors_in(ALL & ~before.locked) if STRAIGHT[before.tiles[tile]]]
    return sorted(straights, key=NAMES.__getitem__)
