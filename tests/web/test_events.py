"""The live stream and the server, over real sockets."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from companion.games.contract import Message
from tests.web.fake import FakeService, jpeg
from tests.web.stream import Stream
from web.guard import MAX_BODY
from web.server import Server, WebError


def wait_for(true: Callable[[], bool], within_s: float = 20.0) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def ask(server: Server, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes, str]:
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)
    connection.request(method, path, body or None, {"X-Companion": "1", **headers})
    response = connection.getresponse()
    result = response.status, response.read(), response.headers.get("Set-Cookie", "")
    connection.close()
    return result


def test_a_viewer_gets_everything_at_once_with_the_number_as_id(server: Server, service: FakeService) -> None:
    with Stream(server.url) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = {}
        for _ in range(5):
            event = stream.next()
            assert event is not None
            events[event[0]] = event
        assert set(events) == {"seats", "record", "board", "state", "frame"}
        assert events["state"][2] == str(service.number)
        assert events["board"][1].startswith("<svg")


def test_two_viewers_see_the_same_turn_each_in_its_language(server: Server, service: FakeService) -> None:
    with Stream(server.url) as one, Stream(server.url, Accept_Language="de") as two:
        one.state(), two.state()
        service.publish(verdict=Message("web.paused"))
        assert one.state()["verdict"] == "Paused: nothing is judged"
        seen = two.state()
        assert seen["number"] == service.number
        assert seen["verdict"] not in ("", None, "Paused: nothing is judged")
        assert server.hub.viewers == 2
    wait_for(lambda: server.hub.viewers == 0)


def test_what_did_not_change_is_not_sent_again(server: Server, service: FakeService) -> None:
    with Stream(server.url) as stream:
        stream.until("frame")
        service.publish(verdict=Message("web.paused"))
        names = []
        while "frame" not in names:
            event = stream.next()
            assert event is not None
            names.append(event[0])
            if event[0] == "state":
                service.bulletin.publish_picture(jpeg(9))
        assert names == ["state", "frame"]


def test_reconnecting_gives_the_newest_whole_screen_whatever_was_missed(server: Server, service: FakeService) -> None:
    with Stream(server.url) as stream:
        _, first = stream.until("state")
    for _ in range(3):
        service.publish()
    for last in (first, "999999", "nonsense", ""):
        with Stream(server.url, Last_Event_ID=last) as again:
            again.until("board")
            assert again.until("state")[1] == str(service.number)


def test_many_changes_are_shown_as_the_newest_only(server: Server, service: FakeService) -> None:
    with Stream(server.url) as stream:
        stream.state()
        began = time.monotonic()
        numbers = []
        stop = threading.Event()

        def hurry() -> None:
            while not stop.wait(0.005):
                service.publish()

        thread = threading.Thread(target=hurry)
        thread.start()
        while time.monotonic() - began < 2.0:
            numbers.append(stream.state()["number"])
        took_s = time.monotonic() - began
        stop.set()
        thread.join()
        newest = numbers[-1]
        while newest != service.number:
            newest = stream.state()["number"]
        assert len(numbers) <= 5 * took_s + 2
        assert numbers == sorted(set(numbers))


def test_a_viewer_that_reads_nothing_is_dropped_and_holds_nobody_up(service: FakeService) -> None:
    with Server(service.bulletin, service.submit, port=0) as server:
        server.hub.spacing_s, server.hub.send_timeout_s = 0.0, 0.5
        slow = Stream(server.url)
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        big = tuple(Message("web.paused") for _ in range(3000))
        with Stream(server.url) as quick:
            quick.state()
            end = time.monotonic() + 30
            while server.hub.dropped == 0 and time.monotonic() < end:
                service.publish(details=big)
                assert quick.state()["number"] == service.number
            assert server.hub.dropped == 1
            wait_for(lambda: server.hub.viewers == 1)
        slow.close()


def test_a_silent_table_pings(service: FakeService) -> None:
    with Server(service.bulletin, service.submit, port=0) as server:
        server.hub.ping_s = 0.2
        with Stream(server.url) as stream:
            stream.until("ping")
            stream.until("ping")


def test_seats_are_told_to_everybody(server: Server, service: FakeService) -> None:
    _, _, cookie = ask(server, "GET", "/")
    cookie = cookie.split(";")[0]
    with Stream(server.url, Cookie=cookie) as mine, Stream(server.url) as other:
        assert json.loads(mine.until("seats")[0])["mine"] == []
        other.until("seats")
        status, _, _ = ask(server, "POST", "/api/seat", b'{"player": 0, "act": "take"}', Cookie=cookie)
        assert status == 200
        assert json.loads(mine.until("seats")[0])["mine"] == [0]
        assert json.loads(other.until("seats")[0])["taken"] == [0]


def test_stopping_ends_the_streams_with_a_word_and_quickly(service: FakeService) -> None:
    server = Server(service.bulletin, service.submit, port=0)
    server.start()
    streams = [Stream(server.url) for _ in range(5)]
    for stream in streams:
        stream.state()
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 8
    for stream in streams:
        stream.until("bye")
        assert stream.next() is None
        stream.close()
    server.stop()
    assert not [t for t in threading.enumerate() if t.name == "web"]


def test_the_stream_has_the_same_door_as_the_pages(server: Server) -> None:
    with Stream(server.url.replace("127.0.0.1", "localhost")) as stream:
        assert stream.status == 200
    status, body, _ = ask(server, "GET", "/events", Host="evil.example")
    assert status == 400
    assert "evil.example" in json.loads(body)["words"]
    assert ask(server, "POST", "/events", b"{}")[0] == 405


def test_too_many_viewers_are_told_so(server: Server) -> None:
    server.hub.max_viewers = 1
    with Stream(server.url) as stream:
        stream.state()
        status, body, _ = ask(server, "GET", "/events")
        assert status == 503
        assert json.loads(body)["words"].startswith("Too many viewers")


def test_a_port_in_use_is_named_with_what_to_do(server: Server, service: FakeService) -> None:
    second = Server(service.bulletin, service.submit, port=server.port)
    with pytest.raises(WebError) as caught:
        second.start()
    assert str(server.port) in str(caught.value)
    assert "--port" in str(caught.value)
    second.stop()


def test_a_foreign_address_is_named_with_what_to_do(service: FakeService) -> None:
    for host, port in (("192.0.2.77", 0), ("no such host", 0), ("127.0.0.1", 70000)):
        with pytest.raises(WebError) as caught:
            Server(service.bulletin, service.submit, host=host, port=port).start()
        assert host in str(caught.value)


def test_reachable_from_elsewhere_means_an_address_to_join(service: FakeService, server: Server) -> None:
    assert server.join_url == ""
    with Server(service.bulletin, service.submit, host="0.0.0.0", port=0) as open_server:
        assert urlsplit(open_server.join_url).port == open_server.port
        assert ask(open_server, "GET", "/join.svg")[0] == 200
        assert urlsplit(open_server.url).hostname == "127.0.0.1"


def test_clients_that_never_finish_a_request_hold_nobody_up(server: Server) -> None:
    parts = urlsplit(server.url)
    hanging = []
    for _ in range(40):
        lazy = socket.create_connection((str(parts.hostname), int(parts.port or 0)), 20)
        lazy.sendall(f"POST /api/command HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: 50\r\n\r\n{{".encode())
        hanging.append(lazy)
    assert ask(server, "GET", "/")[0] == 200
    for lazy in hanging:
        lazy.close()


def test_bodies_in_chunks_are_read_and_bounded(server: Server, service: FakeService) -> None:
    parts = urlsplit(server.url)

    def post(parts_of_body: list[bytes]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)
        headers = {"X-Companion": "1", "Transfer-Encoding": "chunked"}
        connection.request("POST", "/api/command", iter(parts_of_body), headers, encode_chunked=True)
        response = connection.getresponse()
        result = response.status, response.read()
        connection.close()
        return result

    assert post([b'{"command":', b' "pause"}'])[0] == 200
    assert service.given[-1][0] == "pause"
    status, body = post([b"x" * 1000 for _ in range(MAX_BODY // 1000 + 2)])
    assert status == 413
    assert json.loads(body)["ok"] is False
    assert ask(server, "GET", "/?q=%ff")[0] == 200


def test_seats_last_over_a_restart_of_the_server(service: FakeService, tmp_path: Path) -> None:
    with Server(service.bulletin, service.submit, port=0, data=tmp_path) as first:
        port = first.port
        cookie = ask(first, "GET", "/")[2].split(";")[0]
        assert ask(first, "POST", "/api/seat", b'{"player": 1, "act": "take"}', Cookie=cookie)[0] == 200
    with Server(service.bulletin, service.submit, port=port, data=tmp_path) as second:
        seats = json.loads(ask(second, "GET", "/api/state", Cookie=cookie)[1])["seats"]
        assert seats["mine"] == [1]
