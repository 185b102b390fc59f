"""The board of Die Maulwurfshöhle as SVG and as text: fields, caves, tunnel entrances, moles and busy tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from companion.bulletin import Mark
from companion.games.contract import Json, Message
from web.boards import Choice, Kind, Table
from web.boards.marks import draw_marks

EMPTY = "-"
LOOKS = (EMPTY, *(f"{piece}{n}" for piece in ("mole", "busy") for n in range(1, 5)))
CELL, EDGE = 30, 16
_COLOURS = {1: ("#c0392b", "#4d0f08"), 2: ("#2471a3", "#0b2d45"), 3: ("#2e8b57", "#0d3a20"), 4: ("#e0b400", "#5c4a00")}
"""The shipped board spec's, so that the picture looks like the table."""
_SHAPES = {  # so that colours need not be told apart: a ring, a cross, a triangle, bars
    1: '<circle r="4" fill="none" stroke="#fff" stroke-width="2"/>',
    2: '<path d="M-4-4l8 8M4-4l-8 8" stroke="#fff" stroke-width="2"/>',
    3: '<path d="M0-5l5 8h-10z" fill="none" stroke="#fff" stroke-width="2"/>',
    4: '<path d="M-3-5v10M3-5v10" stroke="#222" stroke-width="2"/>',
}


def draw(view: Json, marks: Sequence[Mark]) -> str:
    """The board as one SVG element, y upwards; bare when the view is None."""
    cells = view["cells"] if view else []
    places = _places(cells)
    width = max((x for x, _ in places.values()), default=0) + CELL + EDGE
    height = max((y for _, y in places.values()), default=0) + CELL + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="board">',
        f'<rect width="{width}" height="{height}" rx="12" fill="#3f5b34"/>',
    ]
    for cell in cells:
        x, y = places[cell["at"]]
        parts.append(f'<g class="place" data-place="{cell["at"]}" transform="translate({x} {y})">{_ground(cell)}')
        parts.append(f"{_piece(cell['look'], cell['at'])}</g>")
    parts.append(draw_marks(marks, places, CELL))
    return "".join(parts) + "</svg>"


def _places(cells: Json) -> dict[str, tuple[int, int]]:
    left, top = min((c["x"] for c in cells), default=0), max((c["y"] for c in cells), default=0)
    return {c["at"]: (EDGE + CELL * (c["x"] - left), EDGE + CELL * (top - c["y"])) for c in cells}


def _ground(cell: Json) -> str:
    fill = {"cave": "#5d4533", "tunnel": "#b8b09c"}.get(cell["kind"], "#9cbf7d")
    parts = [f'<rect x="1" y="1" width="28" height="28" rx="4" fill="{fill}" stroke="#2c4023"/>']
    if cell["kind"] == "tunnel":
        parts.append('<ellipse cx="15" cy="15" rx="9" ry="7" fill="#4a4436"/>')
    if cell["kind"] == "cave":
        parts.append('<path d="M5 25a10 12 0 0 1 20 0z" fill="#2b1d13"/>')
    if "corner" in cell:
        parts.append(f'<path d="M2 2h8l-8 8z" fill="{_COLOURS[cell["corner"] + 1][0]}"/>')
    if cell["pending"]:
        parts.append('<path d="M15 1v7m-4-4l4 4l4-4" fill="none" stroke="#111" stroke-width="2.5"/>')
    return "".join(parts)


def _piece(look: str, at: str = "") -> str:
    if look == EMPTY:
        return ""
    colour = int(look[-1])
    fill, edge = _COLOURS[colour]
    data = f' data-piece="cell" data-place="{at}"' if at else ""
    body = (
        f'<circle r="11" fill="{fill}" stroke="{edge}" stroke-width="2"/>'
        if look.startswith("mole")
        else f'<rect x="-12" y="-12" width="24" height="24" fill="{fill}" stroke="#111" stroke-width="3"/>'
    )
    return f'<g class="piece"{data} transform="translate(15 15)">{body}{_SHAPES[colour]}</g>'


def chip(view: Json, player: int) -> str:
    """A mole of the player's colour, which is that of the corner where they sit."""
    colour = view["players"][player]["color"] if view else player % 4 + 1
    return f'<svg viewBox="2 2 26 26" class="chip" aria-hidden="true">{_piece(f"mole{colour}")}</svg>'


def kinds() -> tuple[Kind, ...]:
    """What lies on a cell."""
    icons = (f'<svg viewBox="0 0 30 30" aria-hidden="true">{_piece(look)}</svg>' for look in LOOKS)
    choices = tuple(Choice(look, _words(look), icon) for look, icon in zip(LOOKS, icons, strict=True))
    return (Kind("cell", Message("maulwurf.board.cell"), choices, nothing=EMPTY),)


def _words(look: str) -> Message:
    if look == EMPTY:
        return Message("maulwurf.board.empty")
    return Message(f"maulwurf.board.{look[:-1]}", (("color", f"@maulwurf.color{look[-1]}"),))


def facts(view: Json) -> Mapping[str, str]:
    """`cell:<x,y>` of every cell."""
    return {f"cell:{cell['at']}": cell["look"] for cell in view["cells"]}


def edited(view: Json, facts: Mapping[str, str]) -> Json:
    """The view with these facts."""
    cells = [
        {**cell, "look": value if (value := facts.get(f"cell:{cell['at']}", "")) in LOOKS else cell["look"]}
        for cell in view["cells"]
    ]
    return {**view, "cells": cells}


def table(view: Json) -> Table:
    """One cell a place, row by row from above; places that are no cells of the board are left empty."""
    cells = sorted(view["cells"], key=lambda c: (-c["y"], c["x"]))
    columns = sorted({c["x"] for c in cells})
    rows, places = [], []
    for y, group in groupby(cells, key=lambda c: c["y"]):
        at = {c["x"]: c for c in group}
        rows.append((str(y), tuple(_cell_words(at[x]) if x in at else () for x in columns)))
        places.append(tuple(at[x]["at"] if x in at else "" for x in columns))
    return Table(tuple(map(str, columns)), tuple(rows), tuple(places))


def _cell_words(cell: Json) -> tuple[Message, ...]:
    words = [_words(cell["look"])]
    if cell["kind"] != "field":
        words.append(Message(f"maulwurf.board.{cell['kind']}"))
    if cell["pending"]:
        words.append(Message("maulwurf.board.pending"))
    return tuple(words)
