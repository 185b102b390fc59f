"""Whether a look that no legal turn leads to may still become one by further acts, nothing of it being undone.

The camera does not see in which order acts were made, so acts count as fitting when some order of them is legal: two
tiles may be turned before the pawn that earns the bonus is moved, or a pawn be put down before the tile is turned that
joins its way. A pawn in the hand, or fallen, has still to be put down.
"""

from __future__ import annotations

from companion.games.moguli.board import ALL, BIT, STRAIGHT, TURNED, doors_in
from companion.games.moguli.judge import exchanged
from companion.games.moguli.looks import Change
from companion.games.moguli.mover import Mover
from companion.games.moguli.moves import movable, pawn_moves
from companion.games.moguli.state import EXCHANGE, State


def can_go_on(before: State, diff: Change) -> bool:
    """Whether further acts can make a legal turn of the change. To be asked only where no legal turn leads to it."""
    player = before.to_move
    left, came = diff.left[player], diff.came[player]
    if diff.replaced or diff.left[1 - player] or diff.came[1 - player]:
        return False
    if len(diff.turned) > 2 or any(before.locked & BIT[tile] for tile, _ in diff.turned):
        return False
    if left.bit_count() > 1 or came.bit_count() > left.bit_count():
        return False
    if came:
        return len(diff.turned) < 2 and _rotation_helps(before, diff, left.bit_length() - 1, came.bit_length() - 1)
    # A pawn in the hand can be put back on its door; of fewer than two rotations every turn can still be made, and a
    # tile still be turned further.
    return len(diff.turned) < 2 or _bonus_to_come(before, diff)


def _rotation_helps(before: State, diff: Change, start: int, end: int) -> bool:
    """Whether one more rotation makes the pawn move that is seen legal, or makes it earn the bonus that is seen."""
    allowed = dict(movable(before)).get(start, 0)
    mover = Mover(before, start, end, allowed)
    if mover.legal and not diff.turned:
        return True  # actions are compulsory: a rotation of any tile is missing
    seen = {tile for tile, _ in diff.turned}
    for tile in doors_in(mover.touched & ALL & ~before.locked):
        code = before.tiles[tile]
        for quarters in (1,) if STRAIGHT[code] else (1, 2, 3):
            legal, earns = mover.after(tile, TURNED[code][quarters])
            if tile not in seen and (earns if seen else legal):
                return True
    return False


def _bonus_to_come(before: State, diff: Change) -> bool:
    """Whether some pawn move earns the bonus that two turned tiles need: as the tiles lay, or after either of them."""
    ways = [list(before.tiles)]
    for tile, code in diff.turned:
        tiles = list(before.tiles)
        tiles[tile] = code
        ways.append(tiles)
    return any(bonus for tiles in ways for _, _, bonus, _, _ in pawn_moves(before, tiles))


def exchange_goes_on(before: State, diff: Change, player: int) -> bool:
    """Whether an exchange of the starting row is half done: every tile lies as before it or as after it."""
    if any(diff.left) or any(diff.came):
        return False
    return any(
        all(seen in pair for seen, *pair in zip(diff.tiles, before.tiles, after, strict=True))
        for after in (exchanged(before.tiles, player, row) for row in EXCHANGE if row)
    )
