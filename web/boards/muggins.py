"""The table of Muggins as SVG and as text: the line of dominoes, folded into rows, and the boneyard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.bulletin import Mark
from companion.games.contract import Json, Message
from web.boards import Choice, Kind, Table
from web.boards.marks import draw_marks

EMPTY = "-"
HIGHEST, FARTHEST, TILES = 6, 27, 28
A_ROW, TILE, EDGE = 8, 64, 18
_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    0: (),
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, 1), (-1, 1), (1, -1)),
    5: ((-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


def draw(view: Json, marks: Sequence[Mark]) -> str:
    """The line as one SVG element, read left to right and row by row; a free place at either end while one can grow."""
    shown = _line(view)
    rows = max(1, -(-len(shown) // A_ROW))
    width, height = 2 * EDGE + A_ROW * TILE, 2 * EDGE + (rows + 1) * TILE
    places = {str(place): (EDGE + TILE * (n % A_ROW), EDGE + TILE * (n // A_ROW)) for n, (place, _) in enumerate(shown)}
    places["boneyard"] = (EDGE, EDGE + TILE * rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="board">',
        f'<rect width="{width}" height="{height}" rx="12" fill="#2f5d50"/>',
    ]
    for place, value in shown:
        x, y = places[str(place)]
        parts.append(f'<g class="place" data-place="{place}" transform="translate({x} {y})">')
        parts.append(_domino(value, str(place)) + "</g>")
    x, y = places["boneyard"]
    left = view["boneyard"] if view else TILES
    parts.append(f'<g class="place" data-place="boneyard" transform="translate({x} {y})">{_pile(left)}</g>')
    parts.append(draw_marks(marks, places, TILE))
    return "".join(parts) + "</svg>"


def _line(view: Json) -> list[tuple[int, str]]:
    """The places from one end to the other as (place, `a-b` or `-`), with the free ones beside the ends."""
    if not view or not view["line"]:
        return [(0, EMPTY)]
    tiles = [(int(t["place"]), f"{t['left']}-{t['right']}" if t["left"] is not None else EMPTY) for t in view["line"]]
    first, last = tiles[0][0], tiles[-1][0]
    before = [(first - 1, EMPTY)] if first > -FARTHEST else []
    return [*before, *tiles, *([(last + 1, EMPTY)] if last < FARTHEST else [])]


def _domino(value: str, place: str = "") -> str:
    if value == EMPTY:
        return '<rect x="4" y="18" width="56" height="28" rx="5" fill="none" stroke="#9fc4b8" stroke-dasharray="4 4"/>'
    data = f' data-piece="line" data-place="{place}"' if place else ""
    body = '<rect x="4" y="18" width="56" height="28" rx="5" fill="#fbf6e9" stroke="#222" stroke-width="1.5"/>'
    halves = "".join(_half(int(n), 18 + 28 * k) for k, n in enumerate(value.split("-")))
    return f'<g class="piece"{data}>{body}<path d="M32 20v24" stroke="#222"/>{halves}</g>'


def _half(pips: int, x: int) -> str:
    return "".join(f'<circle cx="{x + 7 * dx}" cy="{32 + 7 * dy}" r="2.6" fill="#111"/>' for dx, dy in _PIPS[pips])


def _pile(tiles: int) -> str:
    back = '<rect x="8" y="16" width="40" height="24" rx="4" fill="#7a4b2a" stroke="#2a180b"/>'
    text = 'font-size="20" font-weight="600" fill="#f3e3c3" text-anchor="middle" font-family="system-ui, sans-serif"'
    return f'{back}<text x="28" y="35" {text}>{int(tiles)}</text>'


def chip(_view: Json, player: int) -> str:
    """A domino half with as many pips as the player's number."""
    half = f'<rect x="4" y="18" width="28" height="28" rx="5" fill="#fbf6e9" stroke="#222"/>{_half(player % 6 + 1, 18)}'
    return f'<svg viewBox="3 17 30 30" class="chip" aria-hidden="true">{half}</svg>'


def kinds() -> tuple[Kind, ...]:
    """The tile at a place of the line, and how many tiles the boneyard holds."""
    numbers = range(HIGHEST + 1)
    tiles = tuple(
        Choice(value, _words(value), f'<svg viewBox="0 14 64 36" aria-hidden="true">{_domino(value)}</svg>')
        for value in (EMPTY, *(f"{a}-{b}" for a in numbers for b in numbers))
    )
    counts = tuple(Choice(str(n), Message("muggins.board.tiles", (("count", n),))) for n in range(TILES + 1))
    return (
        Kind("line", Message("muggins.board.line"), tiles, nothing=EMPTY),
        Kind("count", Message("muggins.board.boneyard"), counts),
    )


def _words(value: str) -> Message:
    return Message("muggins.board.none") if value == EMPTY else Message("muggins.board.tile", (("tile", value),))


def facts(view: Json) -> Mapping[str, str]:
    """`line:<n>` of the tiles that lie and of the free places beside them, and `count:boneyard`."""
    return {**{f"line:{place}": value for place, value in _line(view)}, "count:boneyard": str(view["boneyard"])}


def edited(view: Json, facts: Mapping[str, str]) -> Json:
    """The view with these facts."""
    values = {kind.kind: {choice.value for choice in kind.choices} for kind in kinds()}
    known = dict(_line(view))
    for key, value in facts.items():
        kind, _, place = key.partition(":")
        if kind == "line" and value in values["line"] and place.lstrip("-").isdigit() and int(place) in known:
            known[int(place)] = value
    lying = [at for at, value in known.items() if value != EMPTY]
    line: list[Json] = []
    for at in range(min(lying), max(lying) + 1) if lying else ():
        a, _, b = known.get(at, EMPTY).partition("-")
        line.append({"place": str(at), "left": int(a) if a else None, "right": int(b) if b else None})
    count = facts.get("count:boneyard", "")
    return {**view, "line": line, "boneyard": int(count) if count in values["count"] else view["boneyard"]}


def table(view: Json) -> Table:
    """The line in rows, and the boneyard under it."""
    shown = _line(view)
    parts = [shown[k : k + A_ROW] for k in range(0, len(shown), A_ROW)]
    rows = [(f"{part[0][0]}", tuple((_words(value),) for _, value in part)) for part in parts]
    places = [tuple(str(place) for place, _ in part) for part in parts]
    rows.append(("", ((Message("muggins.board.left", (("count", view["boneyard"]),)),),)))
    return Table(tuple(str(n + 1) for n in range(A_ROW)), tuple(rows), (*places, ("boneyard",)))
