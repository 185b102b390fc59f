"""The arena of Moogui as SVG and as text: every figure as it lies, by owner; where in the arena it lies is not kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from companion.bulletin import Mark
from companion.games.contract import Json, Message
from web.boards import Choice, Kind, Table
from web.boards.marks import draw_marks

ABSENT, OUT = "-", "out"
FACES = 20
VALUES = (ABSENT, *(str(n) for n in range(1, FACES + 1)), "immune", OUT, "unsure")
FIGURE, A_ROW, EDGE = 74, 6, 20
_OWNERS = ("#8e44ad", "#1f77b4", "#c0392b", "#1e8449", "#b9770e", "#566573", "#117a65", "#7b241c")


def draw(view: Json, marks: Sequence[Mark]) -> str:
    """All figures as one SVG element: those in the arena stand in its light part, the others below."""
    look = _look(view)
    inside = [piece for piece, value in look.items() if value not in (ABSENT, OUT)]
    beside = [piece for piece in look if piece not in inside]
    upper = max(1, -(-len(inside) // A_ROW))
    lower = max(1, -(-len(beside) // A_ROW))
    width, edge_y = 2 * EDGE + A_ROW * FIGURE, EDGE + upper * FIGURE + 10
    height = edge_y + lower * FIGURE + EDGE
    places = {p: (EDGE + FIGURE * (n % A_ROW), EDGE + FIGURE * (n // A_ROW)) for n, p in enumerate(inside)}
    places |= {p: (EDGE + FIGURE * (n % A_ROW), edge_y + 6 + FIGURE * (n // A_ROW)) for n, p in enumerate(beside)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="board">',
        f'<rect width="{width}" height="{height}" rx="12" fill="#4a4036"/>',
        f'<rect x="6" y="6" width="{width - 12}" height="{edge_y - 6}" rx="40" fill="#d9c9a3" stroke="#7d6a45" '
        'stroke-width="5"/>',
    ]
    for piece, (x, y) in places.items():
        parts.append(f'<g class="place" data-place="{escape(piece)}" transform="translate({x} {y})">')
        parts.append(_figure(view, piece, look[piece]) + "</g>")
    parts.append(draw_marks(marks, places, FIGURE))
    return "".join(parts) + "</svg>"


def _look(view: Json) -> dict[str, str]:
    held = view["look"] if view else {}
    return {key.removeprefix("figure:"): value for key, value in held.items() if key.startswith("figure:")}


def _figure(view: Json, piece: str, value: str) -> str:
    owner = view["owners"].get(piece, 0)
    model: dict[str, Json] = next((m for m in view["catalogue"] if m["id"] == view["model_of"].get(piece)), {})
    sentinel = model.get("kind") == "sentinel"
    ink = "#f3e3c3" if value in (ABSENT, OUT) else "#2b2016"
    dim = ' opacity=".55"' if value in (ABSENT, OUT) else ""
    shape = (
        '<path d="M37 8l24 14v24l-24 14l-24-14v-24z" '
        if sentinel
        else '<rect x="12" y="8" width="50" height="50" rx="14" '
    )
    text = 'text-anchor="middle" font-family="system-ui, sans-serif" fill="#fff"'
    data = f' data-piece="figure" data-place="{escape(piece)}"'
    return (
        f'<g class="piece"{data}{dim}>{shape}fill="{_OWNERS[owner % len(_OWNERS)]}" stroke="#1c1712" '
        f'stroke-width="2"/><text x="37" y="40" font-size="19" font-weight="700" {text}>{_sign(model, value)}</text>'
        f'<text x="37" y="71" font-size="11" {text.replace("#fff", ink)}>{owner + 1} {escape(piece)}</text></g>'
    )


def _sign(model: Json, value: str) -> str:
    """The power that lies up, or a sign: a shield, an unharmed figure, one that is out, a doubt."""
    if value.isdigit():
        powers = model.get("powers", [])
        power = powers[int(value) - 1] if 0 < int(value) <= len(powers) else value
        return "⛨" if power is None else str(power)
    return {"immune": "★", OUT: "✕", "unsure": "?"}.get(value, "")


def chip(_view: Json, player: int) -> str:
    """The player's colour and number."""
    text = 'text-anchor="middle" font-family="system-ui, sans-serif" font-size="16" font-weight="700" fill="#fff"'
    body = f'<rect width="30" height="30" rx="8" fill="{_OWNERS[player % len(_OWNERS)]}"/>'
    number = f'<text x="15" y="21" {text}>{player + 1}</text>'
    return f'<svg viewBox="0 0 30 30" class="chip" aria-hidden="true">{body}{number}</svg>'


def kinds() -> tuple[Kind, ...]:
    """How a figure lies."""
    return (Kind("figure", Message("moogui.board.figure"), tuple(Choice(value, _words(value)) for value in VALUES)),)


def _words(value: str) -> Message:
    if value.isdigit():
        return Message("moogui.board.face", (("face", int(value)),))
    return Message("moogui.reading_absent" if value == ABSENT else f"moogui.reading_{value}")


def facts(view: Json) -> Mapping[str, str]:
    """`figure:<piece>` of every piece."""
    return dict(view["look"])


def edited(view: Json, facts: Mapping[str, str]) -> Json:
    """The view with these facts."""
    known = view["look"]
    return {**view, "look": {**known, **{k: v for k, v in facts.items() if k in known and v in VALUES}}}


def table(view: Json) -> Table:
    """One row a figure: whose it is and how it lies."""
    look = _look(view)
    rows = tuple(
        (piece, ((Message("moogui.board.owner", (("player", f"#{view['owners'][piece]}"),)),), (_words(value),)))
        for piece, value in look.items()
    )
    return Table(("", ""), rows, tuple((piece, piece) for piece in look))
