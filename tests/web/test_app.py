"""The pages and the JSON interface, through Flask's test client."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.bulletin import Bulletin, Snapshot
from companion.commands import COMMANDS, Reply
from companion.evidence import Author
from companion.games.contract import Json, Message
from companion.words import say
from tests.web.fake import FakeService, Offer, jpeg
from web.app import create_app
from web.guard import MAX_BODY, at_table
from web.seats import AWAY_S, Seats

HERE = {"REMOTE_ADDR": "127.0.0.1", "SERVER_NAME": "127.0.0.1"}
PHONE = {"REMOTE_ADDR": "192.168.7.20", "SERVER_NAME": "192.168.7.5"}


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def app(service: FakeService) -> Flask:
    return create_app(service.bulletin, service.submit, offers=[Offer()], join_url="http://192.168.7.5:8000/")


def browser(app: Flask, where: Mapping[str, str] = HERE) -> FlaskClient:
    client = app.test_client()
    client.environ_base.update(where)
    assert client.get("/", base_url=base(where)).status_code == 200
    return client


def base(where: Mapping[str, str]) -> str:
    return f"http://{where['SERVER_NAME']}:8000"


def post(client: FlaskClient, path: str, data: Json, **headers: str) -> Any:
    return client.post(
        path,
        data=data if isinstance(data, bytes) else json.dumps(data),
        headers={"X-Companion": "1", "Content-Type": "application/json", **headers},
        base_url=base(client.environ_base),
    )


def command(client: FlaskClient, name: str, args: Json = None, **more: Json) -> Any:
    return post(client, "/api/command", {"command": name, "args": args or {}, **more})


def test_page_holds_no_game_and_no_inline_script(app: Flask) -> None:
    response = browser(app).get("/", base_url=base(HERE))
    html = response.get_data(as_text=True)
    assert "'self'" in response.headers["Content-Security-Policy"]
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    for script in re.findall(r"<script[^>]*>", html):
        assert "src=" in script or 'type="application/json"' in script
    assert not re.search(r'(?:src|href)="https?://(?!192\.168\.7\.5)', html), "everything comes from the table itself"


def test_common_parts_know_no_game() -> None:
    web = Path(__file__).parents[2] / "web"
    common = [p for p in web.rglob("*") if p.suffix in {".py", ".js", ".css", ".html"} and p.name != "moguli.py"]
    assert len(common) > 15
    for path in common:
        assert "moguli" not in path.read_text(encoding="utf-8").lower(), path


def test_state_is_in_words_of_the_browsers_language(app: Flask, service: FakeService) -> None:
    client = browser(app)
    state = client.get("/api/state", base_url=base(HERE)).get_json()
    assert state["state"]["headline"] == "Anna: your turn"
    assert state["state"]["facts"]["pawn:a1"] == "1"
    assert state["seats"]["at_table"] is True
    assert post(client, "/api/language", {"language": "fi"}).status_code == 200
    assert '<html lang="fi"' in client.get("/", base_url=base(HERE)).get_data(as_text=True)


def test_the_browsers_own_language_counts_when_the_table_has_none(app: Flask, service: FakeService) -> None:
    client = app.test_client()
    page = client.get("/", headers={"Accept-Language": "xx,de-AT;q=0.9,en;q=0.8"}).get_data(as_text=True)
    assert '<html lang="de"' in page
    table = create_app(service.bulletin, service.submit, language="es").test_client()
    assert '<html lang="es"' in table.get("/", headers={"Accept-Language": "de"}).get_data(as_text=True)


# ---- commands and their authors


def test_the_tables_own_browser_speaks_for_the_table_while_nobody_sits(app: Flask, service: FakeService) -> None:
    assert command(browser(app), "done").status_code == 409  # the fake refuses: no turn yet
    assert service.given[-1][0] == "done"
    assert service.given[-1][2].kind == "seat"
    assert service.given[-1][2].player is None


def test_a_phone_without_a_seat_only_watches(app: Flask, service: FakeService) -> None:
    phone = browser(app, PHONE)
    response = command(phone, "takeback")
    assert response.status_code == 403
    assert response.get_json() == {"ok": False, "words": "You are watching. Take a seat first."}
    assert service.given == []


def test_a_seat_speaks_for_its_player_only(app: Flask, service: FakeService) -> None:
    phone, other = browser(app, PHONE), browser(app, PHONE)
    assert post(phone, "/api/seat", {"player": 1, "act": "take"}).get_json()["seats"]["mine"] == [1]
    command(phone, "done")
    assert service.given[-1][2].player == 1
    assert command(phone, "done", player=0).status_code == 403
    assert post(other, "/api/seat", {"player": 1, "act": "take"}).status_code == 409
    assert post(other, "/api/seat", {"player": 1, "act": "leave"}).status_code == 409
    assert post(phone, "/api/seat", {"player": 1, "act": "leave"}).status_code == 200
    assert post(other, "/api/seat", {"player": 1, "act": "take"}).status_code == 200


def test_the_table_speaks_for_the_seats_that_nobody_took(app: Flask, service: FakeService) -> None:
    phone, table = browser(app, PHONE), browser(app)
    post(phone, "/api/seat", {"player": 1, "act": "take"})
    command(table, "done")
    assert service.given[-1][2].player == 0
    assert command(table, "done", player=1).status_code == 403
    post(phone, "/api/seat", {"player": 0, "act": "take"})
    assert command(table, "done").status_code == 403
    assert post(table, "/api/seat", {"player": 0, "act": "leave"}).status_code == 200, "one who has gone can be freed"
    command(phone, "done")
    assert service.given[-1][2].player == 1


def test_two_players_may_share_one_phone(app: Flask, service: FakeService) -> None:
    phone = browser(app, PHONE)
    for player in (0, 1):
        post(phone, "/api/seat", {"player": player, "act": "take"})
    command(phone, "pause")
    assert service.given[-1][2].player is None


def test_anybody_may_begin_the_first_game(app: Flask, service: FakeService) -> None:
    service.bulletin.publish({None: Snapshot(number=99)})
    begin = {"game": "moguli", "players": ["Iris", "Otto"], "options": {"cylinder": True}, "start": "table"}
    assert command(browser(app, PHONE), "new_game", begin).status_code == 200
    assert service.bulletin.snapshot().players == ("Iris", "Otto")


def test_a_proxys_visitor_is_not_at_the_table(app: Flask) -> None:
    client = browser(app)
    seats = client.get("/api/state", base_url=base(HERE), headers={"X-Forwarded-For": "203.0.113.9"}).get_json()[
        "seats"
    ]
    assert seats["at_table"] is False
    assert seats["may"] == []


def test_seats_survive_a_restart_and_a_broken_file(service: FakeService, tmp_path: Path) -> None:
    file = tmp_path / "seats.json"
    app = create_app(service.bulletin, service.submit, seats_file=file)
    phone = browser(app, PHONE)
    post(phone, "/api/seat", {"player": 0, "act": "take"})
    cookie = phone.get_cookie("companion_8000", domain=PHONE["SERVER_NAME"])
    assert cookie is not None

    def again() -> list[int]:
        later = create_app(service.bulletin, service.submit, seats_file=file).test_client()
        later.environ_base.update(PHONE)
        later.set_cookie("companion_8000", cookie.value, domain=PHONE["SERVER_NAME"])
        return list(later.get("/api/state", base_url=base(PHONE)).get_json()["seats"]["mine"])

    assert file.stat().st_mode & 0o077 == 0
    assert again() == [0]
    file.write_text("{ half a file")
    assert again() == []


def test_a_forged_cookie_is_nobody(app: Flask, service: FakeService) -> None:
    phone = browser(app, PHONE)
    post(phone, "/api/seat", {"player": 0, "act": "take"})
    cookie = phone.get_cookie("companion_8000", domain=PHONE["SERVER_NAME"])
    assert cookie is not None
    thief = app.test_client()
    thief.environ_base.update(PHONE)
    name = cookie.value.split(".")[0]
    thief.set_cookie("companion_8000", f"{name}.AAAA", domain=PHONE["SERVER_NAME"])
    assert command(thief, "done").status_code == 403
    assert cookie.http_only
    assert cookie.same_site == "Lax"


@pytest.mark.parametrize(
    ("client", "server", "forwarded", "here"),
    [
        ("127.0.0.1", "127.0.0.1", False, True),
        ("::1", "::1", False, True),
        ("::ffff:127.0.0.1", "::", False, True),
        ("192.168.7.5", "192.168.7.5", False, True),  # the table's own browser under its network address
        ("192.168.7.20", "192.168.7.5", False, False),
        ("127.0.0.1", "127.0.0.1", True, False),
        ("", "", False, False),
        ("unix", "unix", False, False),
    ],
)
def test_who_is_at_the_table(client: str, server: str, forwarded: bool, here: bool) -> None:
    assert at_table(client, server, forwarded) is here


def test_a_seat_whose_browser_is_away_may_be_taken() -> None:
    now_s = [0.0]
    seats = Seats(clock=lambda: now_s[0])
    first, second = (seats.browser(seats.issue()) for _ in range(2))
    assert seats.take(0, first) is None
    now_s[0] = AWAY_S - 1
    assert seats.take(0, second) == Message("web.seat_taken", (("player", "#0"),))
    seats.heard(first)
    now_s[0] = AWAY_S + 1
    assert seats.take(0, second) is not None, "it was heard of again"
    now_s[0] = 2 * AWAY_S
    assert seats.take(0, second) is None
    assert seats.viewer(second, 2) == 0
    assert seats.viewer(first, 2) is None


# ---- the door


def test_a_foreign_page_cannot_post(app: Flask, service: FakeService) -> None:
    client = browser(app)
    body = json.dumps({"command": "takeback"})
    assert client.post("/api/command", data=body, base_url=base(HERE)).status_code == 403
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "null"},
        {"Origin": "http://[::"},
    ):
        assert post(client, "/api/command", {"command": "takeback"}, **headers).status_code == 403
    assert service.given == []
    assert post(client, "/api/command", {"command": "pause"}, Origin=base(HERE)).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("localhost", 200),
        ("192.168.7.5", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("[bad", 400),
    ],
)
def test_only_our_own_names_and_numbers_are_hosts(app: Flask, host: str, status: int) -> None:
    assert app.test_client().get("/api/state", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"takeback"',
        b"\xff\xfe",
        b'{"command": "takeback", "args": NaN}',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"command": 7}',
        b'{"command": "format_disk"}',
        b'{"command": "takeback", "args": []}',
        b'{"command": "takeback", "args": {"extra": 1}}',
        b'{"command": "takeback", "player": "0"}',
        b'{"command": "undo_to"}',
        b'{"command": "undo_to", "args": {"number": -1}}',
        b'{"command": "undo_to", "args": {"number": true}}',
        b'{"command": "set_facts", "args": {"facts": {}}}',
        b'{"command": "set_facts", "args": {"facts": {"path:a1": 5}}}',
        b'{"command": "declare", "args": {"text": "   "}}',
        b'{"command": "declare", "args": {"text": "\\ud800"}}',
        b'{"command": "new_game", "args": {"game": "moguli", "players": ["Anna", "\\udc80"]}}',
        b'{"command": "new_game", "args": {"game": "moguli", "players": "Anna"}}',
    ],
)
def test_nonsense_is_refused_in_words_and_nothing_breaks(app: Flask, service: FakeService, body: bytes) -> None:
    client = browser(app)
    response = post(client, "/api/command", body)
    assert response.status_code == 400
    assert response.get_json()["ok"] is False
    assert response.get_json()["words"]
    assert service.given == []
    assert command(client, "pause").status_code == 200


def test_a_huge_body_is_too_much(app: Flask, service: FakeService) -> None:
    response = post(browser(app), "/api/command", b'{"command": "' + b"x" * MAX_BODY + b'"}')
    assert response.status_code == 413
    assert response.get_json()["words"] == "That is too much at once."


def test_a_failing_service_is_said_and_not_shown(service: FakeService) -> None:
    def fail(command: str, args: Mapping[str, Json], author: Author) -> Reply:
        raise RuntimeError("disk at /secret/place is full")

    client = browser(create_app(service.bulletin, fail))
    response = command(client, "takeback")
    assert response.status_code == 500
    assert "secret" not in response.get_data(as_text=True)
    assert client.get("/", base_url=base(HERE)).status_code == 200


def test_unknown_pages_are_said_in_words(app: Flask) -> None:
    client = browser(app)
    for path, status in (("/nowhere", 404), ("/api/command", 405), ("/picture.jpg", 404), ("/static/../app.py", 404)):
        response = client.get(path, base_url=base(HERE))
        assert response.status_code == status
        assert response.get_json()["words"]


@pytest.mark.parametrize(
    "accepted",
    [
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
        "application/signed-exchange;v=b3;q=0.7",
    ],
)
def test_a_browser_that_opens_an_unknown_address_gets_a_page_with_the_way_back(app: Flask, accepted: str) -> None:
    client = browser(app)
    accept = {"Accept": accepted, "Accept-Language": "fi"}
    for path in ("/nowhere", "/people", "/data/nothing", "/picture.jpg"):
        response = client.get(path, base_url=base(HERE), headers=accept)
        assert response.status_code == 404 and response.mimetype == "text/html"
        html = response.get_data(as_text=True)
        assert say(Message("web.status.404"), "fi") in html and 'href="/"' in html


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
ARGUMENTS = st.sampled_from(sorted({a for c in COMMANDS.values() for a in c.args}))


ARRIVED: list[tuple[str, Mapping[str, Json]]] = []


def note(command: str, args: Mapping[str, Json], author: Author) -> Reply:
    ARRIVED.append((command, args))
    return Reply(True)


NOTING = browser(create_app(Bulletin(), note))


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(COMMANDS)) | st.text(max_size=10),
    args=st.dictionaries(ARGUMENTS, ANY, max_size=4) | ANY,
    player=ANY,
)
def test_whatever_a_browser_sends_only_whole_commands_arrive(name: str, args: Json, player: Json) -> None:
    ARRIVED.clear()
    response = post(NOTING, "/api/command", {"command": name, "args": args, "player": player})
    assert response.status_code in (200, 400, 403)
    assert bool(ARRIVED) == (response.status_code == 200)
    for got, got_args in ARRIVED:
        assert got in COMMANDS
        assert set(got_args) <= set(COMMANDS[got].args)


# ---- pictures


def test_the_camera_picture_is_sent_once(app: Flask, service: FakeService) -> None:
    client = browser(app)
    service.bulletin.publish_picture(jpeg(10))
    first = client.get("/picture.jpg", base_url=base(HERE))
    assert first.data == jpeg(10)
    same = client.get("/picture.jpg", base_url=base(HERE), headers={"If-None-Match": first.headers["ETag"]})
    assert (same.status_code, same.data) == (304, b"")
    service.bulletin.publish_picture(jpeg(200))
    new = client.get("/picture.jpg", base_url=base(HERE), headers={"If-None-Match": first.headers["ETag"]})
    assert (new.status_code, new.data) == (200, jpeg(200))


def test_the_board_is_drawn_once_for_everybody(app: Flask, service: FakeService) -> None:
    screens = app.extensions["room"].screens
    threads = [threading.Thread(target=lambda: browser(app).get("/board.svg", base_url=base(HERE))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert screens.drawn == 1
    service.publish(verdict=Message("game.over"))  # other words, same picture
    browser(app).get("/api/state", base_url=base(HERE))
    assert screens.drawn == 1
    service.submit("set_facts", {"facts": {"path:b3": "SW", "pawn:b3": "1"}}, Author("seat", "x"))
    browser(app).get("/board.svg", base_url=base(HERE))
    assert screens.drawn == 2


def test_a_preview_shows_the_change_and_changes_nothing(app: Flask, service: FakeService) -> None:
    client = browser(app)
    before = client.get("/board.svg", base_url=base(HERE)).data
    preview = post(client, "/api/preview", {"facts": {"pawn:a1": "-", "pawn:c4": "1", "path:zz": "<script>"}})
    assert b'data-piece="pawn" data-place="c4"' in preview.data
    assert b'data-piece="pawn" data-place="a1"' not in preview.data
    assert b"<script>" not in preview.data
    assert client.get("/board.svg", base_url=base(HERE)).data == before
    assert service.given == []


def test_secrets_go_to_their_seat_only(app: Flask, service: FakeService) -> None:
    shown = service.snap
    service.bulletin.publish({None: shown, 1: replace(shown, notes=(Message("game.over"),))})
    phone, other = browser(app, PHONE), browser(app, PHONE)
    post(phone, "/api/seat", {"player": 1, "act": "take"})
    notes = [c.get("/api/state", base_url=base(PHONE)).get_json()["state"]["notes"] for c in (phone, other)]
    assert notes == [["The game is over."], []]
