"""Registering people and figures in real Chromium, on the real server; who may, and what is refused in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from companion.enrolment import Enrolment
from companion.games.moogui.enrolling import FORM
from tests.companion.test_enrolment import ART, flat, jpeg, made
from tests.web.conftest import Opener
from tests.web.fake import FakeService, Offer
from web.server import Server

pytestmark = pytest.mark.browser


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Enrolment, Server]]:
    flat(monkeypatch)
    service, known = FakeService(playing=False), made(tmp_path / "enrolled")
    server = Server(service.bulletin, service.submit, port=0, offers=[Offer()])
    server.add_enrolment(known)
    with server:
        yield known, server


@pytest.fixture
def photographs(tmp_path: Path) -> list[Path]:
    files = []
    for number, face in enumerate(ART[0].faces, 1):
        file = tmp_path / f"{number}.jpg"
        file.write_bytes(jpeg(np.asarray(cv2.resize(np.asarray(face), (900, 277)), np.uint8)))
        files.append(file)
    return files


def opened_people(opened: Opener, server: Server, width: int = 1366, **settings: Any) -> Any:
    page = opened(server.url, width, 800, **settings)
    page.goto(server.url + "people")
    expect(page.locator("#people-list li").first).to_be_visible()
    return page


def test_a_person_and_a_figure_are_registered(
    table: tuple[Enrolment, Server], photographs: list[Path], opened: Opener, tmp_path: Path
) -> None:
    known, server = table
    page = opened(server.url)
    page.get_by_role("link", name="People and figures").click()
    page.locator("#person").fill("Ada")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#people-list")).to_contain_text("Ada")
    page.locator("#person").fill("ada")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#said")).to_contain_text("the same name")

    page.locator("#photo-1").get_by_role("button", name="Take now").click()
    expect(page.locator("#photo-1 .why")).to_contain_text("camera gives no picture")
    nonsense = tmp_path / "nonsense.jpg"
    nonsense.write_bytes(b"no picture")
    page.locator("#file-1").set_input_files(nonsense)
    expect(page.locator("#photo-1 .why")).to_contain_text("no picture that can be read")
    for number, file in enumerate(photographs, 1):
        page.locator(f"#file-{number}").set_input_files(file)
        expect(page.locator(f"#photo-{number} img")).to_be_visible()
    expect(page.locator("#photo-1 .why")).to_have_text("")

    page.locator("#figure-name").fill("Ari")
    page.locator("#figure-owner").select_option("Ada")
    page.get_by_role("button", name="Register the figure").click()
    expect(page.locator("#said")).to_contain_text("shield")  # a Moogui without one
    for i, power in enumerate((10, 20, 30, 40, 50)):
        page.locator(f"#field-powers-{i}").fill(str(power))
    page.locator("#field-shield-0").select_option("6")
    page.locator("#field-attack-0").select_option("5")
    page.get_by_role("button", name="Register the figure").click()
    expect(page.locator("#figure-list")).to_contain_text("Ari")
    expect(page.locator("#figure-list")).to_contain_text("can be told apart")
    expect(page.locator("#figure-list select")).to_have_value("Ada")
    assert [(f.name, f.owner) for f in known.figures] == [("Ari", "Ada")]
    page.locator("#figure-list select").select_option("")
    expect(page.locator("#figure-list select")).to_have_value("")
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Remove: Ari").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#figure-list")).to_contain_text("No figure is registered yet")


def test_a_photograph_of_24_megapixels_is_made_smaller_by_the_page(
    table: tuple[Enrolment, Server], opened: Opener, tmp_path: Path
) -> None:
    known, server = table
    large = tmp_path / "large.jpg"
    large.write_bytes(jpeg(np.full((4000, 6000, 3), 120, np.uint8)))
    page = opened_people(opened, server, 390)
    page.locator("#file-2").set_input_files(large)
    expect(page.locator("#photo-2 img")).to_be_visible()
    assert known.taken == (2,)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_what_comes_past_the_page_is_refused_in_words(table: tuple[Enrolment, Server], opened: Opener) -> None:
    _, server = table
    page = opened_people(opened, server)
    head = {"X-Companion": "1"}

    def post(what: str, **body: Any) -> tuple[int, str]:
        answer = page.request.post(f"{server.url}api/enrol/{what}", headers=head, **body)
        return answer.status, answer.json()["words"]

    large = jpeg(np.zeros((4000, 6000, 3), np.uint8))
    assert post("photo/1", data=large)[0] == 409 and "24 megapixels" in post("photo/1", data=large)[1]
    assert post("photo/1", data=bytes(25 * 2**20))[0] == 413
    assert post("person", data=bytes(70_000))[0] == 413
    assert post("photo/9", data=jpeg(np.zeros((300, 400, 3), np.uint8)))[0] == 409
    values: dict[str, Any] = {row.key: ["0"] * len(row.parts) for row in FORM.rows}
    for bad in ({}, {**values, "powers": ["1"]}, {**values, "kind": [7]}, {**values, "more": []}):
        assert post("figure", data={"name": "x", "owner": "", "values": bad})[0] == 400
    for name in "ABCDEFGH":
        assert post("person", data={"name": name})[0] == 200
    assert "At most 8" in post("person", data={"name": "I"})[1]


def test_who_only_watches_registers_nobody(tmp_path: Path, opened: Opener) -> None:
    service, known = FakeService(), made(tmp_path)
    server = Server(service.bulletin, service.submit, port=0)
    server.add_enrolment(known)
    with server:
        page = opened(server.url, extra_http_headers={"X-Forwarded-For": "192.0.2.7"})
        page.goto(server.url + "people")
        page.locator("#person").fill("Eve")
        page.get_by_role("button", name="Add").click()
        expect(page.locator("#said")).to_contain_text("Take a seat first")
    assert known.people == ()


def test_registered_people_are_offered_for_a_new_game(table: tuple[Enrolment, Server], opened: Opener) -> None:
    known, server = table
    for name in ("Ada", "Bea"):
        assert known.add_person(name) is None
    page = opened(server.url)
    page.locator("#acts").get_by_role("button", name="New game").click()
    expect(page.locator("#player-0")).to_have_value("Ada")
    expect(page.locator("#player-1")).to_have_value("Bea")
    assert page.locator("#known-people option").evaluate_all("all => all.map((o) => o.value)") == ["Ada", "Bea"]
