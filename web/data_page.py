"""A page to edit a game's data, checked as it is typed and saved as TOML; what the data is, only the game knows."""

from __future__ import annotations

import json
from collections.abc import Mapping

from flask import Flask, Response, abort, g, render_template, request

from companion.games.contract import Json, Message, RulesError
from companion.games.data_form import CONFIRMED, DataForm, Filled, Group, Part, Row
from companion.words import say
from web import guard
from web.guard import Refused
from web.room import Visitor
from web.screens import ui_words

MOST_BOXES = 120
LONGEST_TEXT = 40


def add_data_pages(app: Flask, forms: Mapping[str, DataForm]) -> None:
    """Adds `/data/<game>` and its two questions to a dashboard. Nothing is kept here: the browser holds it."""

    def form_of(game: str) -> DataForm:
        if game not in forms:
            abort(404)
        return forms[game]

    @app.get("/data/<game>")
    def data_page(game: str) -> Response:
        form, visitor = form_of(game), _visitor()
        words = ui_words(visitor.lang)
        title = say(form.title, visitor.lang)
        boot: Json = {
            "words": words,
            "game": game,
            "groups": [_group(group, visitor.lang) for group in form.groups],
            "confirmed": list(CONFIRMED),
            **_filled(form.filled()),
        }
        text = json.dumps(boot, ensure_ascii=False).replace("<", "\\u003c")
        html = render_template("data.html", w=words, title=title, lang=visitor.lang, boot=text)
        return Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})

    @app.post("/api/data/<game>/check")
    def check(game: str) -> Response:
        form, lang = form_of(game), _visitor().lang
        filled = _typed(form, guard.parse(request.get_data()))
        found = form.faults(filled)
        faults = [{"key": f.places[0] if f.places else "", "words": say(f.message, lang)} for f in found]
        return _json({"ok": True, "faults": faults, "text": "" if found else form.text(filled)})

    @app.post("/api/data/<game>/open")
    def open_text(game: str) -> Response:
        text = guard.parse(request.get_data()).get("text")
        if not isinstance(text, str):
            raise Refused(400, Message("web.bad_json"))
        try:
            return _json({"ok": True, **_filled(form_of(game).filled(text))})
        except RulesError as error:
            raise Refused(409, error.refusal.message) from error


def _visitor() -> Visitor:
    visitor: Visitor = g.visitor
    return visitor


def _typed(form: DataForm, data: Mapping[str, Json]) -> Filled:
    """What a browser has sent, if it has just the form's rows and boxes; raises Refused otherwise."""
    values, marks = data.get("values"), data.get("marks")
    rows = {row.key: row for group in form.groups for row in group.rows}
    if not isinstance(values, dict) or not isinstance(marks, dict) or not values.keys() == marks.keys() == rows.keys():
        raise Refused(400, Message("web.bad_json"))
    for key, texts in values.items():
        row = rows[key]
        if not isinstance(texts, list) or len(texts) > MOST_BOXES or not all(_short(text) for text in texts):
            raise Refused(400, Message("web.bad_json"))
        if len(texts) % len(row.parts) if row.grows else len(texts) != len(row.parts):
            raise Refused(400, Message("web.bad_json"))
    if not all(_short(mark) for mark in marks.values()):
        raise Refused(400, Message("web.bad_json"))
    return Filled({key: tuple(texts) for key, texts in values.items()}, marks)


def _short(text: Json) -> bool:
    return isinstance(text, str) and len(text) <= LONGEST_TEXT


def _filled(filled: Filled) -> dict[str, Json]:
    return {"values": {key: list(texts) for key, texts in filled.values.items()}, "marks": dict(filled.marks)}


def _group(group: Group, lang: str) -> Json:
    return {"words": say(group.words, lang), "rows": [row_json(row, lang) for row in group.rows]}


def row_json(row: Row, lang: str) -> Json:
    """A row of boxes in the words of one language."""
    return {
        "key": row.key,
        "words": say(row.words, lang),
        "grows": row.grows,
        "parts": [_part(part, lang) for part in row.parts],
    }


def _part(part: Part, lang: str) -> Json:
    return {
        "words": say(part.words, lang) if part.words else "",
        "choices": [[value, say(words, lang)] for value, words in part.choices],
        "low": part.low,
        "high": part.high,
    }


def _json(data: Json) -> Response:
    text = json.dumps(data, ensure_ascii=False)
    return Response(text, mimetype="application/json", headers={"Cache-Control": "no-store"})
