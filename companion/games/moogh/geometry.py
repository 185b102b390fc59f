"""Where things are: cells, facings, and the spaces around the beast as seen from its own back.

A cell is (column, row), row 0 north; it may lie outside the board. A facing is 0 north, 1 east, 2 south, 3 west. The
beast covers 2 x 2 cells and `origin` is its north-west one.
"""

from __future__ import annotations

Cell = tuple[int, int]

FACINGS = ("north", "east", "south", "west")
STEP: tuple[Cell, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""One cell forward for each facing."""

NEAR = ("FL", "FR", "LF", "LB", "RF", "RB", "BL", "BR")
"""The orthogonally adjacent spaces."""
CORNERS = ("CFL", "CFR", "CBL", "CBR")
AROUND = NEAR + CORNERS
"""All spaces around the beast, in the order in which choices list them."""

_FACING_NORTH: dict[str, tuple[Cell, Cell]] = {
    # space: its place from the origin, and the direction that leads away from the beast there
    "FL": ((0, -1), (0, -1)),
    "FR": ((1, -1), (0, -1)),
    "LF": ((-1, 0), (-1, 0)),
    "LB": ((-1, 1), (-1, 0)),
    "RF": ((2, 0), (1, 0)),
    "RB": ((2, 1), (1, 0)),
    "BL": ((0, 2), (0, 1)),
    "BR": ((1, 2), (0, 1)),
    "CFL": ((-1, -1), (-1, -1)),
    "CFR": ((2, -1), (1, -1)),
    "CBL": ((-1, 2), (-1, 1)),
    "CBR": ((2, 2), (1, 1)),
}


def _turned(spaces: dict[str, tuple[Cell, Cell]]) -> dict[str, tuple[Cell, Cell]]:
    """The same spaces after a quarter turn clockwise about the middle of the 2 x 2 cells."""
    return {name: ((1 - y, x), (-v, u)) for name, ((x, y), (u, v)) in spaces.items()}


_BY_FACING = [_FACING_NORTH]
for _ in range(3):
    _BY_FACING.append(_turned(_BY_FACING[-1]))
_NAME_AT = [{offset: name for name, (offset, _) in spaces.items()} for spaces in _BY_FACING]


def footprint(origin: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """The four cells under the beast, row by row."""
    x, y = origin
    return (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)


def place(origin: Cell, facing: int, space: str) -> Cell:
    """The cell of a space around the beast; it may lie outside the board."""
    dx, dy = _BY_FACING[facing][space][0]
    return origin[0] + dx, origin[1] + dy


def outward(facing: int, space: str) -> Cell:
    """The step that leads from the beast through this space; diagonal for corners."""
    return _BY_FACING[facing][space][1]


def space_at(origin: Cell, facing: int, cell: Cell) -> str | None:
    """The name of the space that this cell is, or None when it is not around the beast."""
    return _NAME_AT[facing].get((cell[0] - origin[0], cell[1] - origin[1]))


def distance(origin: Cell, cell: Cell) -> int:
    """Spaces between the beast's cells and this one, diagonals counted: 1 = adjacent, 0 = under it."""
    x, y = cell[0] - origin[0], cell[1] - origin[1]
    return max(-x, x - 1, -y, y - 1, 0)


def from_centre(origin: Cell, cell: Cell) -> Cell:
    """From the beast's centre to the cell's centre in half cells (both always odd)."""
    return 2 * (cell[0] - origin[0]) - 1, 2 * (cell[1] - origin[1]) - 1


def on_left(origin: Cell, facing: int, cell: Cell) -> bool:
    """True when the cell lies left of the line from the beast's back to its front."""
    x, y = from_centre(origin, cell)
    ahead_x, ahead_y = STEP[facing]
    return x * ahead_y - y * ahead_x > 0


def towards(facing: int, vector: Cell) -> int:
    """The facing that looks along `vector` best; of an exact diagonal's two the smaller turn (R-19)."""
    best = max(range(4), key=lambda f: _along(f, vector))
    equal = [f for f in range(4) if _along(f, vector) == _along(best, vector)]
    return min(equal, key=lambda f: min((f - facing) % 4, (facing - f) % 4))


def quarters(facing: int, vector: Cell) -> int:
    """How many quarter turns clockwise (0..3) bring the beast to look along `vector`."""
    return (towards(facing, vector) - facing) % 4


def _along(facing: int, vector: Cell) -> int:
    return STEP[facing][0] * vector[0] + STEP[facing][1] * vector[1]


def ray(start: Cell, step: Cell, length: int) -> list[Cell]:
    """The cells 1..length steps from `start`."""
    return [(start[0] + step[0] * n, start[1] + step[1] * n) for n in range(1, length + 1)]


def neighbours(cell: Cell, diagonal: bool) -> list[Cell]:
    """The cells around this one, by row, then column; without the diagonal ones unless wanted."""
    x, y = cell
    around = [(x + dx, y + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
    return around if diagonal else [c for c in around if c[0] == x or c[1] == y]
