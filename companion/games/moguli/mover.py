"""One pawn move under question, at once or after a rotation."""

from __future__ import annotations

from companion.games.moguli.board import BIT, CROSS
from companion.games.moguli.moves import reach
from companion.games.moguli.state import MOVE, State


class Mover:
    """One pawn move under question, and what single rotations make of it."""

    def __init__(self, state: State, start: int, end: int, allowed: int) -> None:
        self._state = state
        self._start = start
        self._allowed = bool(allowed & BIT[end])
        self._end = BIT[end]
        self._foes = state.pawns[1 - state.to_move]
        self._others = (self._foes | state.pawns[state.to_move]) ^ BIT[start]
        self._cross = CROSS[state.options.cylinder]
        self.act = MOVE[start][end]
        self.legal, self.earns, self.touched = self._try(state.tiles)

    def _try(self, tiles: tuple[int, ...] | list[int]) -> tuple[bool, bool, int]:
        if not self._allowed:
            return False, False, 0
        ends, bonus, touched = reach(tiles, self._start, self._others, self._foes, self._cross)
        return bool(ends & self._end), bool(bonus & self._end), touched

    def after(self, tile: int, code: int) -> tuple[bool, bool]:
        """Whether the move is legal, and earns the bonus, once `tile` shows `code`."""
        if not self.touched & BIT[tile]:
            return self.legal, self.earns
        tiles = list(self._state.tiles)
        tiles[tile] = code
        legal, earns, _ = self._try(tiles)
        return legal, earns
