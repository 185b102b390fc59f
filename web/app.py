"""The pages and the JSON interface: `create_app(bulletin, submit)` gives the Flask application."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import segno
from flask import Flask, Response, abort, g, render_template, request
from werkzeug.exceptions import HTTPException

from companion.bulletin import Bulletin, Mark
from companion.games.contract import Json, Message
from companion.games.data_form import DataForm
from companion.words import LANGUAGES, knows, say
from web import guard
from web.boards import board_of
from web.data_page import add_data_pages
from web.guard import Refused
from web.room import LANGUAGE_COOKIE, Offer, Room, Submit, Visitor
from web.screens import game_title, kit_of, option_words, ui_words
from web.seats import Seats

LANGUAGE_NAMES = {"en": "English", "es": "Español", "fi": "Suomi", "de": "Deutsch", "fr": "Français"}
YEAR_S = 365 * 24 * 3600
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self'"
)

_log = logging.getLogger(__name__)


def create_app(
    bulletin: Bulletin,
    submit: Submit,
    *,
    language: str | None = None,
    offers: Sequence[Offer] = (),
    seats_file: Path | None = None,
    join_url: str = "",
    names: Iterable[str] = (),
    forms: Mapping[str, DataForm] | None = None,
) -> Flask:
    """The dashboard over a bulletin; commands of its browsers go to `submit`.

    `language` is the table's (None: each browser's own); a browser's choice goes before it. `offers` are the games for
    the new-game form. `seats_file` lets seats survive a restart. `join_url` is shown as QR code. `names` are further
    host names under which the table is reached. `forms`: by game, the data that a page may edit. The live
    stream `/events` is not here: see `web.events`, `web.server`.
    """
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = guard.MAX_BODY
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    room = Room(bulletin, submit, Seats(seats_file), guard.own_names(names), tuple(offers), language, join_url=join_url)
    app.extensions["room"] = room
    _add_door(app, room)
    _add_pages(app, room, frozenset(forms or {}))
    _add_api(app, room)
    add_data_pages(app, forms or {})
    return app


def _visitor() -> Visitor:
    visitor: Visitor = g.visitor
    return visitor


def _json(data: Json, status: int = 200) -> Response:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Response(text, status, mimetype="application/json", headers={"Cache-Control": "no-store"})


def _add_door(app: Flask, room: Room) -> None:
    @app.before_request
    def check() -> None:
        g.visitor = room.visitor(request.headers, request.remote_addr or "", request.environ.get("SERVER_NAME", ""))
        if not guard.trusted_host(request.headers.get("Host", ""), room.names):
            raise Refused(400, Message("web.unknown_host", (("host", guard.host_name(request.host)[:80]),)))
        if request.method == "POST" and not (guard.HEADER in request.headers and guard.same_origin(request.headers)):
            raise Refused(403, Message("web.foreign_page"))

    @app.after_request
    def secure(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        return response

    def refusal(status: int, message: Message) -> Response:
        lang = _visitor().lang if "visitor" in g else "en"
        words = say(message, lang, room.bulletin.snapshot().players)
        # Only a browser that opens an address names HTML; a script, a picture, or a tool takes anything.
        if "text/html" in request.accept_mimetypes.values():
            html = render_template("refusal.html", w=ui_words(lang), lang=lang, words=words)
            return Response(html, status, mimetype="text/html", headers={"Cache-Control": "no-store"})
        return _json({"ok": False, "words": words}, status)

    @app.errorhandler(Refused)
    def refused(error: Refused) -> Response:
        return refusal(error.status, error.message)

    @app.errorhandler(HTTPException)
    def failed(error: HTTPException) -> Response:
        status = error.code or 500
        key = f"web.status.{status}"
        return refusal(status, Message(key) if knows(key) else Message("web.status.other", (("status", status),)))

    @app.errorhandler(Exception)
    def broken(error: Exception) -> Response:
        _log.exception("a request to %s failed", request.path, exc_info=error)
        return refusal(500, Message("web.status.500"))


def _add_pages(app: Flask, room: Room, edited: frozenset[str]) -> None:
    def page(tv: bool) -> Response:
        visitor = _visitor()
        words = ui_words(visitor.lang)
        boot = {
            "words": words,
            "lang": visitor.lang,
            "tv": tv,
            "offers": [{**_offer(o, visitor.lang), "data": o.name in edited} for o in room.offers],
        }
        html = render_template(
            "page.html",
            w=words,
            lang=visitor.lang,
            languages={code: LANGUAGE_NAMES[code] for code in LANGUAGES},
            tv=tv,
            lab=say(Message("faults.title"), visitor.lang) if "lab" in app.view_functions else "",
            enrolling="people" in app.view_functions,
            recording="records" in app.view_functions,
            join_url=room.join_url,
            boot=json.dumps(boot, ensure_ascii=False).replace("<", "\\u003c"),
        )
        response = Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})
        if not visitor.browser:
            name = guard.cookie_name(request.headers.get("Host", ""))
            response.set_cookie(name, room.seats.issue(), max_age=YEAR_S, httponly=True, samesite="Lax")
        return response

    @app.get("/")
    def index() -> Response:
        return page(tv=False)

    @app.get("/tv")
    def tv() -> Response:
        return page(tv=True)

    @app.get("/picture.jpg")
    def picture() -> Response:
        number, jpeg = room.bulletin.picture()
        if not jpeg:
            abort(404)
        response = Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-cache"})
        response.set_etag(str(number))
        response.make_conditional(request)
        return response

    @app.get("/join.svg")
    def join() -> Response:
        if not room.join_url:
            abort(404)
        out = io.BytesIO()
        segno.make(room.join_url, error="m").save(out, kind="svg", scale=8, border=2, dark="#111", light="#fff")
        return Response(out.getvalue(), mimetype="image/svg+xml", headers={"Cache-Control": "no-cache"})


def _offer(offer: Offer, lang: str) -> dict[str, Json]:
    options = []
    for option in offer.options():
        choices = [option_words(offer.name, option.name, value, lang) for value in option.choices]
        options.append(
            {"name": option.name, "words": choices[0]["words"], "default": option.default, "choices": choices}
        )
    return {
        "name": offer.name,
        "title": game_title(offer.name, lang),
        "min_players": offer.min_players,
        "max_players": offer.max_players,
        "options": options,
    }


def _add_api(app: Flask, room: Room) -> None:
    @app.get("/api/state")
    def state() -> Response:
        visitor = _visitor()
        players = len(room.bulletin.snapshot().players)
        viewer = room.seats.viewer(visitor.browser, players)
        screen = room.screens.screen(room.bulletin.snapshot(viewer), viewer, visitor.lang)
        text = f'{{"state":{screen.state},"record":{screen.record},"seats":{json.dumps(room.seating(visitor))}}}'
        return Response(text, mimetype="application/json", headers={"Cache-Control": "no-store"})

    @app.get("/board.svg")
    def board() -> Response:
        snapshot = room.bulletin.snapshot()
        svg = room.screens.svg(snapshot)
        if not svg:
            abort(404)
        response = Response(svg, mimetype="image/svg+xml", headers={"Cache-Control": "no-cache"})
        response.set_etag(f"{snapshot.match_id}-{snapshot.number}")
        response.make_conditional(request)
        return response

    @app.get("/api/kit/<game>")
    def kit(game: str) -> Response:
        template = board_of(game) if game == room.bulletin.snapshot().game else None
        return _json(kit_of(template, _visitor().lang) if template else [])

    @app.post("/api/command")
    def command() -> tuple[Response, int] | Response:
        visitor, snapshot = _visitor(), room.bulletin.snapshot()
        name, args, player = guard.checked(guard.parse(request.get_data()))
        author = room.seats.author(visitor.browser, visitor.at_table, len(snapshot.players), snapshot.to_act, player)
        if author is None:
            raise Refused(403, Message("web.take_a_seat" if player is None else "web.not_your_seat"))
        reply = room.submit(name, args, author)
        words = say(reply.words, visitor.lang, snapshot.players) if reply.words else None
        return _json({"ok": reply.ok, "words": words}, 200 if reply.ok else 409)

    @app.post("/api/preview")
    def preview() -> Response:
        data, snapshot = guard.parse(request.get_data()), room.bulletin.snapshot()
        facts, template = data.get("facts"), board_of(snapshot.game)
        if template is None or snapshot.view is None or not isinstance(facts, dict):
            raise Refused(400, Message("web.bad_json"))
        known = {str(k): str(v) for k, v in facts.items() if str(k) in template.facts(snapshot.view)}
        marks = tuple(Mark(place, "draft") for place in sorted({key.partition(":")[2] for key in known}))
        svg = template.draw(template.edited(snapshot.view, known), marks)
        return Response(svg, mimetype="image/svg+xml", headers={"Cache-Control": "no-store"})

    @app.post("/api/seat")
    def seat() -> Response:
        visitor, data = _visitor(), guard.parse(request.get_data())
        players = len(room.bulletin.snapshot().players)
        player, act = data.get("player"), data.get("act")
        if not isinstance(player, int) or isinstance(player, bool) or not 0 <= player < players:
            raise Refused(400, Message("web.no_such_seat"))
        if act == "take":
            why = room.seats.take(player, visitor.browser)
        elif act == "leave":
            why = room.seats.leave(player, visitor.browser, visitor.at_table)
        else:
            raise Refused(400, Message("web.bad_json"))
        if why:
            raise Refused(409, why)
        return _json({"ok": True, "words": None, "seats": room.seating(visitor)})

    @app.post("/api/language")
    def choose_language() -> Response:
        lang = guard.parse(request.get_data()).get("language")
        if lang not in LANGUAGES:
            raise Refused(400, Message("web.bad_json"))
        response = _json({"ok": True, "words": None})
        response.set_cookie(LANGUAGE_COOKIE, lang, max_age=YEAR_S, httponly=True, samesite="Lax")
        return response
