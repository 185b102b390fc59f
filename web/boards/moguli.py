"""Moguli's board as SVG and as text: 5 x 7 tiles with paths, triangles, doors and pawns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.bulletin import Mark
from companion.games.contract import Json, Message
from web.boards import Choice, Kind, Table
from web.boards.marks import draw_marks

COLUMNS = "abcde"
ROWS = range(7, 0, -1)
PATHS = ("NE", "ES", "SW", "NW", "NS", "EW")
TURNED = {"NE": "ES", "ES": "SW", "SW": "NW", "NW": "NE", "NS": "EW", "EW": "NS"}
EMPTY = "-"
PAWNS = ("1", "2")

TILE = 60  # drawing units; the whole board is LEFT + 5 tiles + RIGHT wide
LEFT, RIGHT, TOP, BOTTOM = 38, 14, 14, 30
WIDTH, HEIGHT = LEFT + 5 * TILE + RIGHT, TOP + 7 * TILE + BOTTOM
_EDGE = {"N": (30, 1), "E": (59, 30), "S": (30, 59), "W": (1, 30)}
_FACE, _FACE_EDGE, _WOOD, _INK = "#efe0c2", "#b99b6b", "#4a3424", "#2b3a4a"
_STONE = {1: ("#ffffff", "#3a3a3a"), 2: ("#1f4fbf", "#0c2050")}


def draw(view: Json, marks: Sequence[Mark]) -> str:
    """The board as one SVG element, seen by the first player: row 1 below, column a on the left.

    The path below ground (dotted) is drawn where it differs from the one above: on tiles without a triangle.
    """
    view = view or {"tiles": {}, "pawns": {}}
    tiles, pawns, locked = view["tiles"], view["pawns"], set(view.get("locked", ()))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="board">',
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="12" fill="{_WOOD}"/>',
        *_coordinates(view),
    ]
    for place, (x, y) in _PLACES.items():
        tile = tiles.get(place)
        parts.append(f'<g class="place" data-place="{place}" transform="translate({x} {y})">')
        parts.append(_tile(tile) if tile else _BARE)
        parts.append(_LOCK if place in locked else "")
        parts.append(_pawn(int(pawns[place]), place) if place in pawns else "")
        parts.append("</g>")
    parts.append(draw_marks(marks, _PLACES, TILE))
    return "".join(parts) + "</svg>"


_PLACES = {
    f"{column}{row}": (LEFT + i * TILE, TOP + (7 - row) * TILE) for row in ROWS for i, column in enumerate(COLUMNS)
}


def _coordinates(view: Json) -> list[str]:
    text = 'fill="#f3e3c3" font-size="14" font-weight="600" text-anchor="middle" font-family="system-ui, sans-serif"'
    out = [f'<g {text} aria-hidden="true">']
    out += [f'<text x="{LEFT + i * TILE + 30}" y="{HEIGHT - 10}">{c}</text>' for i, c in enumerate(COLUMNS)]
    out += [f'<text x="{LEFT - 12}" y="{TOP + (7 - row) * TILE + 35}">{row}</text>' for row in ROWS]
    out.append("</g>")
    # An arrow at the starting row of the player to move: shape and place say it, not the colour alone.
    row = {1: 1, 2: 7}.get(view.get("to_move"))
    if row and not view.get("over"):
        y = TOP + (7 - row) * TILE
        fill = _STONE[view["to_move"]][0]
        out.append(f'<path d="M7 {y + 20}l9 10l-9 10z" fill="{fill}" stroke="#f3e3c3" stroke-width="1.5"/>')
    if view.get("cylinder"):
        arrow = 'fill="none" stroke="#f3e3c3" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
        for row in ROWS:
            y = TOP + (7 - row) * TILE + 30
            out.append(f'<path d="M{WIDTH - 8} {y - 5}l5 5l-5 5" {arrow}/>')
    return out


def _tile(tile: Json) -> str:
    path = tile["path"]
    out = [f'<rect x="1" y="1" width="58" height="58" rx="4" fill="{_FACE}" stroke="{_FACE_EDGE}"/>']
    if not tile.get("triangle"):
        under = "".join(side for side in "NESW" if side not in path)
        line = 'fill="none" stroke="#a98a5b" stroke-width="3" stroke-dasharray="1 6" stroke-linecap="round"'
        out.append(f'<path d="{_line(under, 8)}" {line}/>')
    line = 'fill="none" stroke-linejoin="round"'
    out.append(f'<path d="{_line(path)}" {line} stroke="{_INK}" stroke-width="13"/>')
    out.append(f'<path d="{_line(path)}" {line} stroke="#f7efdf" stroke-width="4"/>')
    if tile.get("triangle"):
        out.append(_triangle(path))
    out.append('<circle cx="30" cy="30" r="9" fill="#c8934f" stroke="#5d3d1b" stroke-width="2"/>')
    return "".join(out)


def _line(path: str, inset: int = 0) -> str:
    (x0, y0), (x1, y1) = (_EDGE[side] for side in path)
    if inset:
        x0, y0, x1, y1 = (v + (inset if v < 30 else -inset if v > 30 else 0) for v in (x0, y0, x1, y1))
    return f"M{x0} {y0}L30 30L{x1} {y1}"


def _triangle(path: str) -> str:
    """The mark in the corner that the path encloses (beside a straight: in its first quarter)."""
    right = "E" in path
    up = "N" in path
    x, y = (45 if right else 15), (15 if up else 45)
    dx, dy = (7 if right else -7), (-7 if up else 7)
    return (
        f'<path d="M{x + dx} {y + dy}L{x - dx} {y + dy}L{x + dx} {y - dy}z" fill="#b3402a" stroke="#5f1c10" '
        'stroke-width="1.5" stroke-linejoin="round"/>'
    )


def _pawn(player: int, place: str = "") -> str:
    """A stone: white with a dark ring for the first player, blue with a light diamond for the second."""
    fill, edge = _STONE[player]
    data = f' data-piece="pawn" data-place="{place}"' if place else ""
    glyph = (
        f'<circle cx="30" cy="29" r="8" fill="none" stroke="{edge}" stroke-width="3"/>'
        if player == 1
        else '<path d="M30 19.5l7 9.5l-7 9.5l-7-9.5z" fill="#ffffff"/>'
    )
    return (
        f'<g class="piece"{data}><ellipse cx="31" cy="33" rx="17" ry="16" fill="#000" opacity=".28"/>'
        f'<circle cx="30" cy="29" r="16.5" fill="{fill}" stroke="{edge}" stroke-width="2.5"/>{glyph}</g>'
    )


_BARE = '<rect x="1" y="1" width="58" height="58" rx="4" fill="#5d4533" stroke="#7d624a" stroke-dasharray="4 4"/>'
_LOCK = (
    '<g class="lock" fill="none" stroke="#5d3d1b" stroke-width="2"><rect x="5" y="49" width="9" height="7" rx="1.5" '
    'fill="#5d3d1b"/><path d="M6.5 49v-2.5a3 3 0 0 1 6 0v2.5"/></g>'
)


def chip(_view: Json, player: int) -> str:
    """A small picture of a player's stone."""
    return f'<svg viewBox="10 9 42 42" class="chip" aria-hidden="true">{_pawn(player + 1)}</svg>'


def kinds() -> tuple[Kind, ...]:
    """Path, triangle and pawn of a place."""

    def tile(path: str, triangle: bool = False) -> str:
        drawn = _tile({"path": path, "triangle": triangle})
        return f'<svg viewBox="0 0 60 60" aria-hidden="true">{drawn}</svg>'

    return (
        Kind(
            "path",
            Message("web.moguli.path"),
            tuple(Choice(p, Message(f"web.moguli.path.{p}"), tile(p)) for p in PATHS),
            TURNED,
        ),
        Kind(
            "triangle",
            Message("web.moguli.triangle"),
            tuple(
                Choice(value, Message(f"web.moguli.triangle.{value}"), tile("NE", value == "yes"))
                for value in ("yes", "no")
            ),
        ),
        Kind(
            "pawn",
            Message("web.moguli.pawn"),
            (
                Choice(EMPTY, Message("web.moguli.pawn.-")),
                *(Choice(p, Message(f"web.moguli.pawn.{p}"), chip(None, int(p) - 1)) for p in PAWNS),
            ),
            nothing=EMPTY,
        ),
    )


def facts(view: Json) -> Mapping[str, str]:
    """`path:a1`, `triangle:a1`, `pawn:a1` of all 35 places."""
    out: dict[str, str] = {}
    for place, tile in view["tiles"].items():
        out[f"path:{place}"] = tile["path"]
        out[f"triangle:{place}"] = "yes" if tile.get("triangle") else "no"
        out[f"pawn:{place}"] = str(view["pawns"].get(place, EMPTY))
    return out


def edited(view: Json, facts: Mapping[str, str]) -> Json:
    """The view with these facts."""
    tiles = {place: dict(tile) for place, tile in view["tiles"].items()}
    pawns = dict(view["pawns"])
    for key, value in facts.items():
        kind, _, place = key.partition(":")
        if place not in tiles:
            continue
        if kind == "path" and value in PATHS:
            tiles[place]["path"] = value
        elif kind == "triangle":
            tiles[place]["triangle"] = value == "yes"
        elif kind == "pawn":
            pawns.pop(place, None)
            if value in PAWNS:
                pawns[place] = int(value)
    return {**view, "tiles": tiles, "pawns": pawns}


def table(view: Json) -> Table:
    """One cell a place: its path, its triangle if it has one, its pawn if one stands there."""
    rows = []
    for row in ROWS:
        cells = []
        for column in COLUMNS:
            place = f"{column}{row}"
            tile = view["tiles"].get(place)
            words = [Message(f"web.moguli.path.{tile['path']}")] if tile else [Message("web.moguli.no_tile")]
            if tile and tile.get("triangle"):
                words.append(Message("web.moguli.with_triangle"))
            if place in view["pawns"]:
                words.append(Message(f"web.moguli.pawn.{view['pawns'][place]}"))
            if place in view.get("locked", ()):
                words.append(Message("web.moguli.locked"))
            cells.append(tuple(words))
        rows.append((str(row), tuple(cells)))
    return Table(tuple(COLUMNS), tuple(rows), tuple(tuple(f"{c}{row}" for c in COLUMNS) for row in ROWS))
