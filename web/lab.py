"""The lab page of a simulated table: faults begun and ended by a click, for whoever sits at the table's own machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from flask import Flask, Response, g, render_template, request

from companion.games.contract import Json, Message
from companion.words import say
from web import guard
from web.guard import Refused
from web.room import Visitor

LONGEST_S = 600


class Lab(Protocol):
    """The faults of a simulated table."""

    @property
    def kinds(self) -> Sequence[str]:
        """The names of all faults that can be begun; `faults.<name>` are their words."""

    def switch(self, kind: str, seconds: float) -> None:
        """Ends the fault of this kind, and begins it anew when `seconds` is above 0."""

    def running(self) -> Sequence[str]:
        """The names of the faults that run now."""


def add_lab(app: Flask, table: Lab) -> None:
    """Adds `/lab` and `/api/lab` to a dashboard; only a simulated table has faults to play with."""
    kinds = list(table.kinds)

    @app.get("/lab")
    def lab() -> Response:
        visitor = _at_table()
        names = {name: _words(f"faults.{name}", visitor) for name in kinds}
        keys = ("title", "intro", "seconds", "begin", "end", "running", "none", "back")
        words = {key: _words(f"faults.{key}", visitor) for key in keys}
        boot = json.dumps({"words": words, "kinds": names}, ensure_ascii=False).replace("<", "\\u003c")
        html = render_template("lab.html", lab=words, kinds=names, lang=visitor.lang, boot=boot)
        return Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})

    @app.get("/api/lab")
    def now() -> Response:
        _at_table()
        return _json({"running": list(table.running())})

    @app.post("/api/lab")
    def change() -> Response:
        _at_table()
        data = guard.parse(request.get_data())
        kind, seconds = data.get("kind"), data.get("seconds", 0)
        if kind not in kinds:
            raise Refused(400, Message("faults.unknown", (("kind", str(kind)[:40]),)))
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST_S:
            raise Refused(400, Message("faults.bad"))
        table.switch(str(kind), float(seconds))
        return _json({"ok": True, "running": list(table.running())})


def _at_table() -> Visitor:
    visitor: Visitor = g.visitor
    if not visitor.at_table:
        raise Refused(403, Message("web.status.403"))
    return visitor


def _words(key: str, visitor: Visitor) -> str:
    return say(Message(key), visitor.lang)


def _json(data: Json) -> Response:
    text = json.dumps(data, ensure_ascii=False)
    return Response(text, mimetype="application/json", headers={"Cache-Control": "no-store"})
