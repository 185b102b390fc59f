"""A position of Die Maulwurfshöhle: frozen plain data, and what follows from it without a turn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from companion.games.contract import Option
from companion.games.maulwurf.layout import BUILT_IN, Act, Layout

OPTIONS: tuple[Option, ...] = (
    Option("layout", BUILT_IN, "diamond181"),
    Option("first", (1, 2, 3, 4), 1),
    Option("push_enters_cave", (True, False), True),
    Option("forced_dig", ("is_the_move", "then_move"), "is_the_move"),
)

Turn = tuple[Act, ...]

EMPTY = 0
LOOKS = ("-", "mole1", "mole2", "mole3", "mole4", "busy1", "busy2", "busy3", "busy4")
"""What a cell's code looks like: 0 empty, 1..4 a mole of corner 0..3, 5..8 a busy tile of corner 0..3."""
CODES = {look: code for code, look in enumerate(LOOKS)}
BUSY = 4
"""Added to a mole's code it gives the busy tile's; every code above it is a busy tile."""
BUSY_TILES = 2
RING = 4


@dataclass(frozen=True, slots=True)
class Over:
    """How it ended: the winning corner, or None for a draw, and `why`: two_busy, all_passed, nobody_can_win, agreed or
    last_one_left."""

    winner: int | None
    why: str


@dataclass(frozen=True, slots=True)
class State:
    """A position when a turn begins.

    Players are named by their corner's place in the layout (0..3); `seats` are the corners in play order. `board` holds
    one code a cell (see LOOKS); `pending` the indices of cells, ascending, on which a mole was passively pushed onto
    an entrance and has not dug yet; `passes` how many players in a row have passed; `past` fingerprints of earlier
    positions since the last busy tile, for the hint about repetition only (no part of a state's identity).
    """

    layout: Layout
    seats: tuple[int, ...]
    board: bytes
    pending: tuple[int, ...] = ()
    to_move: int = 0
    passes: int = 0
    resigned: tuple[int, ...] = ()
    push_enters_cave: bool = True
    then_move: bool = False
    over: Over | None = None
    past: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def active(self) -> tuple[int, ...]:
        """The corners that have not resigned, in play order."""
        return tuple(s for s in self.seats if s not in self.resigned)

    def moles(self, corner: int) -> int:
        """How many moles of a corner are on the board."""
        return self.board.count(corner + 1)

    def busy(self, corner: int) -> int:
        """How many busy tiles of a corner are on the board."""
        return self.board.count(corner + 1 + BUSY)


def following(seats: tuple[int, ...], corner: int, resigned: Iterable[int]) -> int:
    """The next corner clockwise that has not resigned (itself when it is the only one)."""
    k = seats.index(corner)
    for other in (*seats[k + 1 :], *seats[:k]):
        if other not in resigned:
            return other
    return corner


def end_of(state: State) -> Over | None:
    """How a position has ended by itself: two busy tiles, the last one left (R-9), nobody who could still win (R-12),
    everybody passed (R-8); None while it goes on. An agreed draw cannot be told from a position."""
    active = state.active
    for corner in active:
        if state.busy(corner) >= BUSY_TILES:
            return Over(corner, "two_busy")
    if len(active) == 1:
        return Over(active[0], "last_one_left")
    if all(state.moles(corner) < RING for corner in active):
        return Over(None, "nobody_can_win")
    if state.passes >= len(active):
        return Over(None, "all_passed")
    return None


def resign(state: State, corner: int) -> State:
    """The state after a player who is still in has resigned: skipped, pieces stay, pending marks lapse (R-9)."""
    seats, k = state.seats, state.seats.index(state.to_move)
    in_order = [s for s in (*seats[k:], *seats[:k]) if s not in state.resigned]
    passed = in_order[len(in_order) - state.passes :] if state.passes else []
    resigned = tuple(sorted((*state.resigned, corner)))
    after = replace(
        state,
        resigned=resigned,
        pending=tuple(c for c in state.pending if state.board[c] != corner + 1),
        passes=state.passes - (corner in passed),
        to_move=following(seats, corner, resigned) if corner == state.to_move else state.to_move,
    )
    return replace(after, over=end_of(after))


def fingerprint(state: State) -> str:
    """Sixteen hex digits that name a position as the repetition hint sees it (board, marks, whose turn)."""
    text = b"%b|%b|%d" % (state.board, bytes(state.pending), state.to_move)
    return hashlib.blake2b(text, digest_size=8).hexdigest()
