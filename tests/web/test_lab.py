"""The lab page: faults of a simulated table by a click, at the table's own machine only."""

from __future__ import annotations

import pytest
from flask import Flask

from companion.lab import FaultLab
from devices.faults import Running
from tests.devices.fakes import HandClock
from tests.web.fake import FakeService
from tests.web.test_app import HERE, PHONE, base, browser
from web.app import create_app
from web.lab import add_lab

HEADERS = {"X-Companion": "1"}


@pytest.fixture
def running() -> Running:
    return Running(HandClock())


@pytest.fixture
def app(running: Running) -> Flask:
    service = FakeService()
    made = create_app(service.bulletin, service.submit)
    add_lab(made, FaultLab(running))
    return made


def test_a_click_begins_a_fault_and_another_ends_it(app: Flask, running: Running) -> None:
    client = browser(app)
    sent = {"kind": "camera.black", "seconds": 8}
    reply = client.post("/api/lab", json=sent, headers=HEADERS, base_url=base(HERE))
    assert reply.get_json() == {"ok": True, "running": ["camera.black"]}
    assert running.of("camera.black") is not None
    client.post("/api/lab", json={"kind": "camera.black", "seconds": 0}, headers=HEADERS, base_url=base(HERE))
    assert running.now() == ()
    assert client.get("/api/lab", base_url=base(HERE)).get_json() == {"running": []}


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_page_names_every_fault(app: Flask, lang: str) -> None:
    client = browser(app)
    client.set_cookie("companion_language", lang, domain="127.0.0.1")
    html = client.get("/lab", base_url=base(HERE)).get_data(as_text=True)
    assert ("Kamera: schwarzes Bild" if lang == "de" else "Camera: black picture") in html
    assert 'href="/lab"' in client.get("/", base_url=base(HERE)).get_data(as_text=True)
    assert "process.crash" not in html and "[faults" not in html


@pytest.mark.parametrize(
    "sent",
    [
        {"kind": "camera.rabbit", "seconds": 5},
        {"kind": "process.crash", "seconds": 5},
        {"kind": "camera.black", "seconds": 1e9},
        {"kind": "camera.black", "seconds": True},
        {"kind": "camera.black", "seconds": "x"},
        {},
    ],
)
def test_nonsense_is_refused(app: Flask, running: Running, sent: dict[str, object]) -> None:
    reply = browser(app).post("/api/lab", json=sent, headers=HEADERS, base_url=base(HERE))
    assert reply.status_code == 400 and reply.get_json()["words"] and running.now() == ()


def test_phones_and_foreign_pages_may_not(app: Flask, running: Running) -> None:
    phone = browser(app, PHONE)
    sent = {"kind": "camera.black", "seconds": 5}
    assert phone.get("/lab", base_url=base(PHONE)).status_code == 403
    assert phone.post("/api/lab", json=sent, headers=HEADERS, base_url=base(PHONE)).status_code == 403
    assert browser(app).post("/api/lab", json=sent, base_url=base(HERE)).status_code == 403
    assert running.now() == ()


def test_a_real_table_has_no_lab() -> None:
    service = FakeService()
    client = browser(create_app(service.bulletin, service.submit))
    assert client.get("/lab", base_url=base(HERE)).status_code == 404
    assert 'href="/lab"' not in client.get("/", base_url=base(HERE)).get_data(as_text=True)
