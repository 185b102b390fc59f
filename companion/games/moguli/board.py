"""Moguli's board as numbers: doors 0..34 (`a1` = 0, `b1` = 1, ... `e7` = 34), tiles as twelve codes, lookup tables.

A tile's code is all that the rules and the eyes can tell of it: which two sides its surface path joins and whether it
has the triangle. A straight tile's two halves look and work alike, so its rotation is kept modulo two by itself.
A *port* is one side of one door's tile, `4 * door + side`; sides are N, E, S, W = 0..3. Sets of doors are bit masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

COLUMNS = "abcde"
ROWS = 7
DOORS = 35
SIDES = "NESW"

NAMES: tuple[str, ...] = tuple(f"{column}{row}" for row in range(1, ROWS + 1) for column in COLUMNS)
INDEX: dict[str, int] = {name: door for door, name in enumerate(NAMES)}
BIT: tuple[int, ...] = tuple(1 << door for door in range(DOORS))
ALL = (1 << DOORS) - 1
ROW_MASK: tuple[int, ...] = tuple(0b11111 << 5 * row for row in range(ROWS))
HOME: tuple[int, int] = (ROW_MASK[0], ROW_MASK[6])
"""Own starting row of player 0 (row 1) and player 1 (row 7)."""

PATHS: tuple[str, ...] = ("NE", "NS", "NW", "ES", "EW", "SW")
"""Surface paths: the two sides joined, in the order N E S W. A code is `2 * path + triangle`."""
CODES = 12
PATH: tuple[str, ...] = tuple(PATHS[code >> 1] for code in range(CODES))
TRIANGLE: tuple[bool, ...] = tuple(bool(code & 1) for code in range(CODES))
STRAIGHT: tuple[bool, ...] = tuple(PATH[code] in ("NS", "EW") for code in range(CODES))

BENDS: tuple[str, ...] = ("NE", "ES", "SW", "NW")
"""A bend's path by its rotation in quarter turns clockwise."""
STRAIGHTS: tuple[str, ...] = ("NS", "EW")


def code_of(path: str, triangle: bool) -> int:
    """The code of a tile with this surface path (`"NE"`) and triangle; KeyError-free: ValueError on another path."""
    return 2 * PATHS.index(path) + triangle


def code_from_rotation(straight: bool, triangle: bool, rotation: int) -> int:
    """The code of a tile by kind and rotation in quarter turns clockwise (bend at 0 joins N-E, straight N-S)."""
    return code_of(STRAIGHTS[rotation % 2] if straight else BENDS[rotation % 4], triangle)


def rotation_of(code: int) -> int:
    """The rotation in quarter turns: 0..3 of a bend, 0..1 of a straight."""
    return (STRAIGHTS if STRAIGHT[code] else BENDS).index(PATH[code])


TURNED: tuple[tuple[int, ...], ...] = tuple(
    tuple(code_from_rotation(STRAIGHT[code], TRIANGLE[code], rotation_of(code) + quarters) for quarters in range(4))
    for code in range(CODES)
)
"""`TURNED[code][quarters]`: the code after so many quarter turns clockwise."""


def _surface(code: int) -> tuple[int, int]:
    path = PATH[code]
    return SIDES.index(path[0]), SIDES.index(path[1])


def _underground(code: int) -> tuple[int, int]:
    """With a triangle the surface's two sides, without it the other two."""
    above = _surface(code)
    if TRIANGLE[code]:
        return above
    first, second = (side for side in range(4) if side not in above)
    return first, second


def _ends(sides: tuple[tuple[int, int], ...]) -> tuple[tuple[tuple[int, int], ...], ...]:
    return tuple(tuple((4 * door + first, 4 * door + second) for door in range(DOORS)) for first, second in sides)


def _exits(sides: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    table = []
    for first, second in sides:
        other = {first: second, second: first}
        table.append(tuple(4 * (port >> 2) + other.get(port & 3, -(10**6)) for port in range(4 * DOORS)))
    return tuple(tuple(max(port, -1) for port in row) for row in table)


_ABOVE = tuple(_surface(code) for code in range(CODES))
_BELOW = tuple(_underground(code) for code in range(CODES))

SURFACE_ENDS = _ends(_ABOVE)
"""`SURFACE_ENDS[code][door]`: the two ports at which the surface path of a tile with this code leaves the tile."""
UNDERGROUND_ENDS = _ends(_BELOW)
SURFACE_EXIT = _exits(_ABOVE)
"""`SURFACE_EXIT[code][port]`: entering by this port, the port at which the path leaves again; -1 when none enters."""
UNDERGROUND_EXIT = _exits(_BELOW)


def _cross(cylinder: bool) -> tuple[int, ...]:
    across = []
    for port in range(4 * DOORS):
        row, column = divmod(port >> 2, 5)
        side = port & 3
        row += (1, 0, -1, 0)[side]
        column += (0, 1, 0, -1)[side]
        if cylinder:
            column %= 5
        inside = 0 <= row < ROWS and 0 <= column < 5
        across.append(4 * (5 * row + column) + (side + 2) % 4 if inside else -1)
    return tuple(across)


CROSS: tuple[tuple[int, ...], tuple[int, ...]] = (_cross(False), _cross(True))
"""`CROSS[cylinder][port]`: the neighbour's port that touches this one; -1 at the edge of the board."""

PATH_KEY: tuple[str, ...] = tuple(f"path:{name}" for name in NAMES)
TRIANGLE_KEY: tuple[str, ...] = tuple(f"triangle:{name}" for name in NAMES)
PAWN_KEY: tuple[str, ...] = tuple(f"pawn:{name}" for name in NAMES)
TRIANGLE_WORD: tuple[str, str] = ("no", "yes")


def doors_in(mask: int) -> Iterator[int]:
    """The doors of a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def names_in(mask: int) -> tuple[str, ...]:
    """The names of a mask's doors in the order of `NAMES`."""
    return tuple(NAMES[door] for door in doors_in(mask))


def mask_of(doors: Iterable[int]) -> int:
    """The mask with these doors."""
    mask = 0
    for door in doors:
        mask |= BIT[door]
    return mask


def row_of(door: int) -> int:
    """The row number, 1..7."""
    return door // 5 + 1
