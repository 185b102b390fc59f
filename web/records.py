"""The page of what all matches come to: the game's own tables, and a map of where each piece has landed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from flask import Flask, Response, g, render_template

from companion.games.contract import Message
from companion.games.sheets import Sheet
from companion.words import say
from web.room import Visitor
from web.screens import game_title, ui_words

MARGIN = 0.25
"""Part of the board's size that is shown around it: what lies outside lies there."""
MOST_POINTS = 400
"""The newest landings that a map shows."""


class Page(Protocol):
    """What one game's matches come to; see `companion.record_book.Page`."""

    @property
    def game(self) -> str:
        """Its name."""

    @property
    def matches(self) -> int:
        """How many."""

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Its tables."""

    @property
    def corners_mm(self) -> tuple[tuple[float, float], ...]:
        """The board's corners; none where nothing has landed."""

    @property
    def landings(self) -> tuple[tuple[str, tuple[tuple[float, float], ...]], ...]:
        """By piece, where it landed."""


class Book(Protocol):
    """The record book."""

    def pages(self) -> Sequence[Page]:
        """One a game."""


def add_records(app: Flask, book: Book) -> None:
    """Adds `/records` to a dashboard; everybody may read it."""

    @app.get("/records")
    def records() -> Response:
        visitor: Visitor = g.visitor
        lang = visitor.lang
        pages = [_page(page, lang) for page in book.pages()]
        html = render_template("records.html", w=ui_words(lang), lang=lang, pages=pages)
        return Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})


def _page(page: Page, lang: str) -> dict[str, Any]:
    def told(cell: Any) -> str:
        return say(cell, lang) if isinstance(cell, Message) else str(cell)

    sheets = [
        {
            "title": told(sheet.title),
            "columns": [told(c) for c in sheet.columns],
            "rows": [[told(c) for c in row] for row in sheet.rows],
            "note": told(sheet.note) if sheet.note else "",
        }
        for sheet in page.sheets
    ]
    maps = [
        {
            "name": name,
            "svg": landing_map(page.corners_mm, places),
            "words": say(Message("web.records_landed", _counted(page.corners_mm, places)), lang),
        }
        for name, places in page.landings
    ]
    count = say(Message("web.records_matches", (("count", page.matches),)), lang)
    return {"title": game_title(page.game, lang), "count": count, "sheets": sheets, "maps": maps}


def landing_map(corners_mm: Sequence[tuple[float, float]], places: Sequence[tuple[float, float]]) -> str:
    """An SVG of the board seen from above, its first player's side below: a dot for each landing, older ones fainter,
    the newest ringed; those whose middle is beyond the board's edge in another colour and shape."""
    xs, ys = [x for x, _ in corners_mm], [y for _, y in corners_mm]
    left, top, wide, high = min(xs), max(ys), max(xs) - min(xs), max(ys) - min(ys)
    edge = MARGIN * max(wide, high)
    size = max(wide, high) / 55

    def at(x: float, y: float) -> tuple[float, float]:
        # What has rolled far away stays at the picture's border.
        u = min(max(x - left, -edge + size), wide + edge - size)
        v = min(max(top - y, -edge + size), high + edge - size)
        return round(u, 1), round(v, 1)

    box = f"{-edge:.0f} {-edge:.0f} {wide + 2 * edge:.0f} {high + 2 * edge:.0f}"
    outline = " ".join(f"{u:.1f},{v:.1f}" for u, v in (at(x, y) for x, y in corners_mm))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" aria-hidden="true">',
        f'<polygon class="edge" points="{outline}"/>',
        f'<path class="centre" d="M{wide / 2 - size:.1f} {high / 2:.1f}h{2 * size:.1f}'
        f'M{wide / 2:.1f} {high / 2 - size:.1f}v{2 * size:.1f}"/>',
    ]
    shown = list(places)[-MOST_POINTS:]
    for n, (x, y) in enumerate(shown, 1):
        u, v = at(x, y)
        opacity = 0.3 + 0.6 * n / len(shown)
        last = " last" if n == len(shown) else ""
        if _inside(corners_mm, x, y):
            shape = f'<circle class="in{last}" cx="{u}" cy="{v}" r="{size:.1f}"'
        else:
            d = f"M{u} {v - size:.1f}l{size:.1f} {2 * size:.1f}h{-2 * size:.1f}z"
            shape = f'<path class="out{last}" d="{d}"'
        parts.append(f'{shape} opacity="{opacity:.2f}"/>')
    return "".join(parts) + "</svg>"


def _counted(
    corners_mm: Sequence[tuple[float, float]], places: Sequence[tuple[float, float]]
) -> tuple[tuple[str, str | int | float], ...]:
    inside = [place for place in places if _inside(corners_mm, *place)]
    middle = [sum(c[i] for c in corners_mm) / len(corners_mm) for i in (0, 1)]
    far = [((x - middle[0]) ** 2 + (y - middle[1]) ** 2) ** 0.5 for x, y in inside]
    mean = round(sum(far) / len(far)) if far else "-"
    return (("count", len(places)), ("outside", len(places) - len(inside)), ("far", mean))


def _inside(corners_mm: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    """True when a point lies within the convex outline."""
    turns = [
        (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
        for a, b in zip(corners_mm, [*corners_mm[1:], corners_mm[0]], strict=True)
    ]
    return all(t >= 0 for t in turns) or all(t <= 0 for t in turns)
