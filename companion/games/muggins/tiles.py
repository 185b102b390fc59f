"""The double-six set, a line of tiles with its two ends, and the arithmetic of scores."""

from __future__ import annotations

Tile = tuple[int, int]
"""A tile with its lower half first, except in a line, where the left half comes first."""
Line = tuple[Tile, ...]

SET: tuple[Tile, ...] = tuple((a, b) for a in range(7) for b in range(a, 7))
IN_SET = frozenset(SET)
DEALT = {2: 7, 3: 5, 4: 5}
TARGET = {2: 250, 3: 200, 4: 200}
STROKE, MARK = 5, 50


def tile_of(half: int, other: int) -> Tile:
    """The tile with these two halves, the lower first."""
    return (half, other) if half <= other else (other, half)


def ends(line: Line) -> tuple[int, int]:
    """The numbers at the left and at the right end of a line that is not empty."""
    return line[0][0], line[-1][1]


def fits(tile: Tile, line: Line) -> bool:
    """True when the tile can be placed at an end, or opens."""
    return not line or line[0][0] in tile or line[-1][1] in tile


def extend(line: Line, tile: Tile, end: str) -> Line | None:
    """The line with the tile joined to its end "L" or "R"; None when no half of it is equal there."""
    if end == "L":
        number = line[0][0]
        outer = tile[0] if tile[1] == number else tile[1] if tile[0] == number else None
        return None if outer is None else ((outer, number), *line)
    number = line[-1][1]
    outer = tile[1] if tile[0] == number else tile[0] if tile[1] == number else None
    return None if outer is None else (*line, (number, outer))


def end_sum(line: Line) -> int:
    """The sum of the two outer ends: a double at an end counts both halves; a lone tile both of its halves once."""
    if len(line) == 1:
        return line[0][0] + line[0][1]
    (a, b), (c, d) = line[0], line[-1]
    return (a + b if a == b else a) + (c + d if c == d else d)


def points(line: Line) -> int:
    """What the placement that made this line scores: a positive multiple of five scores itself, all else nothing."""
    total = end_sum(line)
    return total if total % 5 == 0 else 0


def pips(hand: tuple[Tile, ...]) -> int:
    """The sum of all halves."""
    return sum(a + b for a, b in hand)


def cost(hand: tuple[Tile, ...]) -> int:
    """What a hand left over costs its owner: its pips to the nearest multiple of five, remainders 1 and 2 down."""
    return (pips(hand) + 2) // 5 * 5


def tally(score: int) -> tuple[int, int]:
    """A score as the paper marks show it: fifties (a large X with four small ones) and strokes of five.

    A score below zero has the marks of its amount; the sheet writes a minus before them.
    """
    return abs(score) // MARK, abs(score) % MARK // STROKE


def mirrored(line: Line) -> Line:
    """The same line seen from the other side of the table."""
    return tuple((b, a) for a, b in reversed(line))
