"""The table of MOOGH as SVG and as text: board, obstacles, beast, tribesmen, and its dice and cards in a row below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.bulletin import Mark
from companion.games.contract import Json, Message
from web.boards import Choice, Kind, Table
from web.boards.marks import draw_marks

MEN = ("red", "white", "brown", "green")
FACINGS = ("north", "east", "south", "west")
SPACES = ("FL", "FR", "LF", "LB", "RF", "RB", "BL", "BR", "CFL", "CFR", "CBL", "CBR")
"""The spaces around the beast, looking along its back."""
COLS, ROWS = 8, 6
CELL, EDGE = 52, 22
_FILL = {"red": "#c0392b", "white": "#f4f4f4", "brown": "#7b4a24", "green": "#2e8b57"}
_INK = {"red": "#fff", "white": "#111", "brown": "#fff", "green": "#fff"}
_FACTS = ("die:health", "die:rage", "rage:cell", "card:side", "die:points", "beast:origin", "beast:facing")


def draw(view: Json, marks: Sequence[Mark]) -> str:
    """The table as one SVG element, north above; bare when the view is None."""
    look = view["look"] if view else {}
    board = view["board"]["board"] if view else {"cols": COLS, "rows": ROWS}
    cols, rows = board["cols"], board["rows"]
    width, height = 2 * EDGE + max(cols, 8) * CELL, 2 * EDGE + (rows + 2) * CELL
    cells = {f"{x},{y}": (EDGE + CELL * x, EDGE + CELL * y) for y in range(rows) for x in range(cols)}
    strip = EDGE + rows * CELL + CELL // 2
    places = dict(cells)
    places |= {key.partition(":")[2]: (EDGE + CELL * n, strip) for n, key in enumerate(_FACTS)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="board">',
        f'<rect width="{width}" height="{height}" rx="12" fill="#5b5348"/>',
    ]
    blocked = {f"{x},{y}" for x, y in view["board"]["obstacles"]} if view else set()
    for at, (x, y) in cells.items():
        fill = "#6e675c" if at in blocked else "#c9bfa5"
        parts.append(f'<rect x="{x + 1}" y="{y + 1}" width="50" height="50" rx="5" fill="{fill}"/>')
        if at in blocked:
            parts.append(f'<path d="M{x + 8} {y + 42}l12-26l10 12l8-8l8 22z" fill="#3c372f"/>')
    if view:
        parts.append(_beast(look))
        for n, man in enumerate(m for m in MEN if f"cube:{m}" in look):
            x, y = _spot(look, look[f"cube:{man}"], n, (EDGE + CELL * 7, strip))
            places[man] = (x, y)
            parts.append(f'<g class="place" data-place="{man}" transform="translate({x} {y})">')
            parts.append(_cube(man, look[f"cube:{man}"] == "dead", placed=True) + "</g>")
        for key in _FACTS:
            place = key.partition(":")[2]
            x, y = places[place]
            parts.append(
                f'<g class="place" data-place="{place}" transform="translate({x} {y})">{_box(key, look[key])}</g>'
            )
    parts.append(draw_marks(marks, places, CELL))
    return "".join(parts) + "</svg>"


def _beast(look: Mapping[str, str]) -> str:
    x, y = (EDGE + CELL * int(n) for n in look["beast:origin"].split(","))
    turn = 90 * FACINGS.index(look["beast:facing"])
    arrow = f'<path d="M0-44l14 18h-28z" fill="#f6d55c" transform="translate({x + CELL} {y + CELL}) rotate({turn})"/>'
    text = 'text-anchor="middle" font-family="system-ui, sans-serif" font-size="30" font-weight="700" fill="#fff"'
    return (
        f'<rect x="{x + 4}" y="{y + 4}" width="{2 * CELL - 8}" height="{2 * CELL - 8}" rx="16" fill="#4b2a63" '
        f'stroke="#1d0f28" stroke-width="3"/>{arrow}<text x="{x + CELL}" y="{y + CELL + 11}" {text}>'
        f"{look['die:health']}</text>"
    )


def _spot(look: Mapping[str, str], at: str, number: int, aside: tuple[int, int]) -> tuple[int, int]:
    """Where a cube is drawn: on its cell, at the beast's edge, on top of it, or aside when he is dead or is about to be
    pushed from under the beast."""
    if "," in at:
        x, y = (int(n) for n in at.split(","))
        return EDGE + CELL * x, EDGE + CELL * y
    if at in ("dead", "under"):
        return aside[0], aside[1] - 6 + 4 * number
    x, y = (EDGE + CELL * int(n) + CELL // 2 for n in look["beast:origin"].split(","))
    if at == "top":
        return x + 12 * (number - 1), y + 16
    dx, dy = _ways(at.removeprefix("grab:"))
    for _ in range(FACINGS.index(look["beast:facing"])):
        dx, dy = -dy, dx
    return x + round(36 * dx), y + round(36 * dy)


def _ways(space: str) -> tuple[float, float]:
    """From the beast's middle to a space around it, while it faces north."""
    side = {"F": (0.0, -1.0), "B": (0.0, 1.0), "L": (-1.0, 0.0), "R": (1.0, 0.0)}
    first, second = side.get(space[-2:-1], (0.0, 0.0)), side.get(space[-1:], (0.0, 0.0))
    return first[0] + 0.5 * second[0], first[1] + 0.5 * second[1]


def _cube(man: str, dead: bool = False, placed: bool = False) -> str:
    text = 'text-anchor="middle" font-family="system-ui, sans-serif" font-size="16" font-weight="700"'
    data = f' data-piece="cube" data-place="{man}"' if placed else ""
    dim = ' opacity=".5"' if dead else ""
    return (
        f'<g class="piece"{data}{dim}><rect x="13" y="13" width="26" height="26" rx="4" fill="{_FILL[man]}" '
        f'stroke="#111" stroke-width="2"/><text x="26" y="32" fill="{_INK[man]}" {text}>{man[0].upper()}</text></g>'
    )


def _box(key: str, value: str) -> str:
    sign = {"die:health": "♥", "die:rage": "⚡", "rage:cell": "▦", "card:side": "⇄", "die:points": "±"}.get(key, "◆")
    text = 'text-anchor="middle" font-family="system-ui, sans-serif" fill="#f3e3c3"'
    return (
        '<rect x="2" y="2" width="48" height="48" rx="8" fill="#39332b" stroke="#8d8371"/>'
        f'<text x="26" y="20" font-size="14" {text}>{sign}</text>'
        f'<text x="26" y="41" font-size="14" {text}>{value}</text>'
    )


def chip(view: Json, player: int) -> str:
    """The cubes of the tribesmen whom the player leads, or the beast of its player."""
    names = [who for who, seat in view["seats"].items() if seat == player] if view else [MEN[player % 4]]
    pieces = [_cube(who) if who in MEN else _beasts_die() for who in names]
    aside = 16
    drawn = "".join(f'<g transform="translate({aside * n} {aside * n})">{piece}</g>' for n, piece in enumerate(pieces))
    side = 30 + aside * max(len(pieces) - 1, 0)
    return f'<svg viewBox="11 11 {side} {side}" class="chip" aria-hidden="true">{drawn}</svg>'


def _beasts_die() -> str:
    pips = "".join(
        f'<circle cx="{26 + dx}" cy="{26 + dy}" r="3" fill="#fff"/>' for dx, dy in ((-6, -6), (0, 0), (6, 6))
    )
    body = '<rect x="13" y="13" width="26" height="26" rx="6" fill="#5a4632" stroke="#111" stroke-width="2"/>'
    return f"<g>{body}{pips}</g>"


def kinds() -> tuple[Kind, ...]:
    """Where a cube is, and what dice and cards show."""
    cells = [f"{x},{y}" for y in range(ROWS) for x in range(COLS)]
    values = {
        "cube": [*cells, *(f"grab:{space}" for space in SPACES), "top", "dead", "under"],
        "die": [*map(str, range(7)), *(f"{team}{n}" for team in "AB" for n in range(1, 13))],
        "rage": [f"{row}.{column}" for row in range(1, 7) for column in range(5)],
        "card": ["front", "back"],
        "beast": [*cells, *FACINGS],
    }
    return tuple(
        Kind(kind, Message(f"moogh.board.{kind}"), tuple(Choice(value, _words(value)) for value in shown))
        for kind, shown in values.items()
    )


def _words(value: str) -> Message:
    if value in ("top", "dead", "under", "front", "back", *FACINGS):
        return Message(f"moogh.board.{value}" if value not in FACINGS else f"moogh.{value}")
    if value.startswith("grab:"):
        return Message("moogh.board.grab", (("space", value[5:]),))
    return Message("moogh.board.value", (("value", value),))


def facts(view: Json) -> Mapping[str, str]:
    """Every fact of the table."""
    return dict(view["look"])


def edited(view: Json, facts: Mapping[str, str]) -> Json:
    """The view with these facts."""
    known = view["look"]
    return {**view, "look": {**known, **{k: v for k, v in facts.items() if k in known and _fits(k, v)}}}


def _fits(key: str, value: str) -> bool:
    """Whether a value of the kind can be this fact's."""
    kind = next(kind for kind in kinds() if kind.kind == key.partition(":")[0])
    if value not in {choice.value for choice in kind.choices}:
        return False
    if kind.kind == "beast":
        return (value in FACINGS) == (key == "beast:facing")
    if kind.kind == "die":
        return value.isdigit() and (value != "0" or key == "die:health") if key != "die:points" else value[0] in "AB0"
    return True


def table(view: Json) -> Table:
    """One row a fact: what it is and its value."""
    look = view["look"]
    rows = tuple(
        (str(n), ((Message("moogh.fact_" + key.replace(":", "_")),), (_words(value),)))
        for n, (key, value) in enumerate(look.items(), 1)
    )
    return Table(("", ""), rows, tuple((key.partition(":")[2],) * 2 for key in look))
