"""A state as it looks on the table, and what differs between a state and a look."""

from __future__ import annotations

from dataclasses import dataclass

from companion.games.contract import Look, Refusal, RulesError
from companion.games.moguli.board import (
    BIT,
    DOORS,
    NAMES,
    PATH,
    PATH_KEY,
    PATHS,
    PAWN_KEY,
    STRAIGHT,
    TRIANGLE,
    TRIANGLE_KEY,
    TRIANGLE_WORD,
)
from companion.games.moguli.state import State

_CODES: dict[tuple[str, str], int] = {
    (path, word): 2 * number + triangle
    for number, path in enumerate(PATHS)
    for triangle, word in enumerate(TRIANGLE_WORD)
}


def look_of(state: State) -> dict[str, str]:
    """How the whole table looks: 35 `path:`, 35 `triangle:` and 35 `pawn:` facts."""
    return table_look(state.tiles, state.pawns)


def table_look(tiles: tuple[int, ...], pawns: tuple[int, int]) -> dict[str, str]:
    """The look of a table with these tile codes and pawns."""
    first, second = pawns
    look: dict[str, str] = {}
    for door, code in enumerate(tiles):
        look[PATH_KEY[door]] = PATH[code]
        look[TRIANGLE_KEY[door]] = TRIANGLE_WORD[TRIANGLE[code]]
        bit = BIT[door]
        look[PAWN_KEY[door]] = "1" if first & bit else "2" if second & bit else "-"
    return look


def read_look(look: Look) -> tuple[tuple[int, ...], tuple[int, int]]:
    """Tile codes and pawn masks of a whole look; raises RulesError on a fact that is missing or has another value."""
    codes = []
    pawns = [0, 0, 0]
    numbers = {"-": 0, "1": 1, "2": 2}
    try:
        for door in range(DOORS):
            codes.append(_CODES[look[PATH_KEY[door]], look[TRIANGLE_KEY[door]]])
            pawns[numbers[look[PAWN_KEY[door]]]] |= BIT[door]
    except KeyError:
        key, value = _unreadable(look, door)
        raise RulesError(
            Refusal("moguli.bad_look", (NAMES[door],), (("key", key), ("value", value))),
            f"a look cannot have {key} = {value!r}",
        ) from None
    return tuple(codes), (pawns[1], pawns[2])


def _unreadable(look: Look, door: int) -> tuple[str, str]:
    for key, known in ((PATH_KEY[door], PATHS), (TRIANGLE_KEY[door], TRIANGLE_WORD), (PAWN_KEY[door], ("-", "1", "2"))):
        if look.get(key) not in known:
            return key, str(look.get(key, ""))
    return "", ""


@dataclass(frozen=True, slots=True)
class Change:
    """What differs: `turned` tiles (door, code seen) that only turned; `replaced` tiles whose triangle or kind changed;
    for each player the doors that lost (`left`) and got (`came`) one of their pawns, as masks."""

    tiles: tuple[int, ...]
    pawns: tuple[int, int]
    turned: tuple[tuple[int, int], ...]
    replaced: tuple[int, ...]
    left: tuple[int, int]
    came: tuple[int, int]

    @property
    def nothing(self) -> bool:
        """Whether the table looks as before."""
        return not (self.turned or self.replaced or any(self.left) or any(self.came))


def change(before: State, seen: Look) -> Change:
    """What differs between the state and the look; raises RulesError on a look that cannot be read."""
    tiles, pawns = read_look(seen)
    turned = []
    replaced = []
    if tiles != before.tiles:
        for door, (old, new) in enumerate(zip(before.tiles, tiles, strict=True)):
            if old == new:
                continue
            if TRIANGLE[old] == TRIANGLE[new] and STRAIGHT[old] == STRAIGHT[new]:
                turned.append((door, new))
            else:
                replaced.append(door)
    return Change(
        tiles,
        pawns,
        tuple(turned),
        tuple(replaced),
        (before.pawns[0] & ~pawns[0], before.pawns[1] & ~pawns[1]),
        (pawns[0] & ~before.pawns[0], pawns[1] & ~before.pawns[1]),
    )
