"""The page on which people and figures of a table are registered, by whoever may act at it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from flask import Flask, Response, abort, g, render_template, request

from companion.games.contract import Json, Message
from companion.games.figure_form import FigureForm
from companion.words import say
from web import guard
from web.data_page import LONGEST_TEXT, row_json
from web.guard import Refused
from web.room import Room, Visitor
from web.screens import ui_words

PHOTOS = "/api/enrol/photo/"
MOST_PHOTO = 24 * 2**20
"""Bytes of an uploaded photograph; the page makes large ones smaller before it sends them."""


class Known(Protocol):
    """An enrolled figure."""

    @property
    def figure(self) -> str:
        """Its id."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def owner(self) -> str:
        """Whose it is; empty: nobody's."""

    @property
    def doubts(self) -> tuple[Message, ...]:
        """What cannot be told apart on it."""


class Enrolled(Protocol):
    """People and figures, kept elsewhere; what cannot be done is answered in words."""

    @property
    def form(self) -> FigureForm:
        """What is asked of a figure."""

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who is registered."""

    @property
    def figures(self) -> Sequence[Known]:
        """Every enrolled figure."""

    @property
    def taken(self) -> tuple[int, ...]:
        """The faces of the figure in the making that are there."""

    def face(self, number: int) -> bytes:
        """Such a face as PNG, or nothing."""

    def enrolled_face(self, figure: str, number: int) -> bytes:
        """A face of an enrolled figure as PNG, or nothing."""

    def add_person(self, given: str) -> Message | None:
        """Registers somebody."""

    def drop_person(self, name: str) -> Message | None:
        """Forgets somebody."""

    def give(self, figure: str, owner: str) -> Message | None:
        """Whose it is from now on."""

    def take(self, number: int, data: bytes) -> Message | None:
        """A photograph of a face."""

    def take_by_camera(self, number: int) -> Message | None:
        """The same by the table's camera."""

    def save(self, given: str, owner: str, values: Mapping[str, tuple[str, ...]]) -> Message | None:
        """Enrols the figure in the making."""

    def drop(self, figure: str) -> Message | None:
        """Forgets a figure."""


def add_enrolment(app: Flask, known: Enrolled) -> None:
    """Adds `/people` and what it asks for to a dashboard."""
    room: Room = app.extensions["room"]

    def visitor() -> Visitor:
        visitor: Visitor = g.visitor
        return visitor

    def may() -> None:
        seating = room.seating(visitor())
        if not (seating["may"] or (seating["free_for_all"])):
            raise Refused(403, Message("web.take_a_seat"))

    def state(why: Message | None = None) -> Response:
        lang = visitor().lang
        data: Json = {
            "ok": why is None,
            "words": None if why is None else say(why, lang),
            "people": list(known.people),
            "figures": [
                {"id": f.figure, "name": f.name, "owner": f.owner, "doubts": [say(m, lang) for m in f.doubts]}
                for f in known.figures
            ],
            "taken": list(known.taken),
        }
        text = json.dumps(data, ensure_ascii=False)
        status = 200 if why is None else 409
        return Response(text, status, mimetype="application/json", headers={"Cache-Control": "no-store"})

    @app.get("/people")
    def people() -> Response:
        lang = visitor().lang
        words = ui_words(lang)
        rows = [row_json(row, lang) for row in known.form.rows]
        boot = json.dumps({"words": words, "rows": rows, "faces": known.form.faces}, ensure_ascii=False)
        html = render_template("people.html", w=words, lang=lang, boot=boot.replace("<", "\\u003c"))
        return Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})

    @app.get("/api/enrol")
    def now() -> Response:
        return state()

    @app.get("/api/enrol/face/<int:number>.png")
    def face(number: int) -> Response:
        return _png(known.face(number))

    @app.get("/api/enrol/figure/<figure>/<int:number>.png")
    def enrolled_face(figure: str, number: int) -> Response:
        return _png(known.enrolled_face(figure, number))

    @app.post("/api/enrol/person")
    def person() -> Response:
        may()
        data = guard.parse(request.get_data())
        name = _text(data, "name")
        return state(known.drop_person(name) if data.get("drop") else known.add_person(name))

    @app.post("/api/enrol/give")
    def give() -> Response:
        may()
        data = guard.parse(request.get_data())
        return state(known.give(_text(data, "figure"), _text(data, "owner")))

    @app.post("/api/enrol/drop")
    def drop() -> Response:
        may()
        return state(known.drop(_text(guard.parse(request.get_data()), "figure")))

    @app.post(f"{PHOTOS}<int:number>")
    def photo(number: int) -> Response:
        may()
        request.max_content_length = MOST_PHOTO
        return state(known.take(number, request.get_data()))

    @app.post("/api/enrol/camera/<int:number>")
    def camera(number: int) -> Response:
        may()
        return state(known.take_by_camera(number))

    @app.post("/api/enrol/figure")
    def save() -> Response:
        may()
        data = guard.parse(request.get_data())
        values = data.get("values")
        rows = {row.key: row for row in known.form.rows}
        if not isinstance(values, dict) or values.keys() != rows.keys():
            raise Refused(400, Message("web.bad_json"))
        for key, texts in values.items():
            good = isinstance(texts, list) and len(texts) == len(rows[key].parts)
            if not good or not all(isinstance(t, str) and len(t) <= LONGEST_TEXT for t in texts):
                raise Refused(400, Message("web.bad_json"))
        told = {key: tuple(texts) for key, texts in values.items()}
        return state(known.save(_text(data, "name"), _text(data, "owner"), told))


def _text(data: Mapping[str, Json], key: str) -> str:
    text = data.get(key)
    if not isinstance(text, str) or len(text) > 200:
        raise Refused(400, Message("web.bad_json"))
    return text


def _png(data: bytes) -> Response:
    if not data:
        abort(404)
    return Response(data, mimetype="image/png", headers={"Cache-Control": "no-cache"})
