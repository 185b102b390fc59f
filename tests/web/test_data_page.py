"""A game's data as a page: checked as it is typed, refused with the reason, saved as a file that the program reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import expect

from companion.games.contract import Message, Refusal, RulesError
from companion.games.data_form import Filled, Group, Part, Row
from companion.games.moogh import cards
from companion.games.moogh.form import CardForm
from tests.web.conftest import Opener
from tests.web.fake import FakeService, Offer
from tests.web.test_app import HERE, base, browser
from web.app import create_app
from web.server import Server

HEADERS = {"X-Companion": "1"}


class ToyForm:
    """One number, at most 6, and a list of sides."""

    title = Message("game.resign")
    groups = (
        Group(
            Message("game.resign"),
            (
                Row("size", Message("game.resign"), (Part(low=1, high=6),)),
                Row(
                    "ways",
                    Message("game.resign"),
                    (Part((("<l>", Message("game.resign")),)), Part(low=0, high=9)),
                    True,
                ),
            ),
        ),
    )

    def filled(self, text: str | None = None) -> Filled:
        if text == "bad":
            raise RulesError(Refusal("web.bad_json"), "bad")
        return Filled({"size": (text or "3",), "ways": ("<l>", "1")}, {"size": "invented", "ways": "owner"})

    def faults(self, filled: Filled) -> tuple[Refusal, ...]:
        return () if filled.values["size"] in (("3",), ("4",)) else (Refusal("web.bad_json", ("size",)),)

    def text(self, filled: Filled) -> str:
        return f"size = {filled.values['size'][0]}  # {filled.marks['size']}\n"


@pytest.fixture
def app() -> Flask:
    service = FakeService()
    return create_app(service.bulletin, service.submit, offers=[Offer()], forms={"toy": ToyForm()})


def ask(app: Flask, what: str, data: object) -> Any:
    return browser(app).post(f"/api/data/toy/{what}", json=data, headers=HEADERS, base_url=base(HERE))


def test_the_page_holds_the_form_and_closes_no_script(app: Flask) -> None:
    html = browser(app).get("/data/toy", base_url=base(HERE)).get_data(as_text=True)
    assert '"size"' in html and "<l>" not in html and "\\u003cl>" in html


def test_faultless_values_come_back_as_a_file_and_others_as_their_faults(app: Flask) -> None:
    sent = {"values": {"size": ["4"], "ways": []}, "marks": {"size": "owner", "ways": "owner"}}
    assert ask(app, "check", sent).get_json() == {"ok": True, "faults": [], "text": "size = 4  # owner\n"}
    reply = ask(app, "check", {**sent, "values": {"size": ["9"], "ways": []}}).get_json()
    assert reply["text"] == "" and [fault["key"] for fault in reply["faults"]] == ["size"]


def test_a_file_is_opened_or_refused_with_the_reason(app: Flask) -> None:
    assert ask(app, "open", {"text": "4"}).get_json()["values"]["size"] == ["4"]
    refused = ask(app, "open", {"text": "bad"})
    assert refused.status_code == 409 and refused.get_json()["words"]
    assert ask(app, "open", {"text": 3}).status_code == 400


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"values": {"size": ["4"]}, "marks": {"size": "owner"}},
        {"values": {"size": ["4"], "ways": [], "more": []}, "marks": {"size": "", "ways": "", "more": ""}},
        {"values": {"size": [], "ways": []}, "marks": {"size": "", "ways": ""}},
        {"values": {"size": ["4", "4"], "ways": []}, "marks": {"size": "", "ways": ""}},
        {"values": {"size": [4], "ways": []}, "marks": {"size": "", "ways": ""}},
        {"values": {"size": ["4" * 50], "ways": []}, "marks": {"size": "", "ways": ""}},
        {"values": {"size": ["4"], "ways": ["<l>"]}, "marks": {"size": "", "ways": ""}},
        {"values": {"size": ["4"], "ways": ["<l>", "1"] * 100}, "marks": {"size": "", "ways": ""}},
        {"values": {"size": ["4"], "ways": []}, "marks": {"size": {}, "ways": ""}},
    ],
)
def test_what_is_no_form_is_refused(app: Flask, sent: object) -> None:
    reply = ask(app, "check", sent)
    assert reply.status_code == 400 and reply.get_json()["words"]


def test_a_game_without_a_form_has_no_page(app: Flask) -> None:
    client = browser(app)
    assert client.get("/data/other", base_url=base(HERE)).status_code == 404
    assert client.post("/api/data/other/check", json={}, headers=HEADERS, base_url=base(HERE)).status_code == 404
    assert client.post("/api/data/toy/check", json={}, base_url=base(HERE)).status_code == 403


@pytest.fixture
def address(service: FakeService) -> Any:
    """The page of the card set, on a real server."""
    offers = [Offer(), Offer("moogh")]
    with Server(service.bulletin, service.submit, port=0, offers=offers, forms={"moogh": CardForm()}) as server:
        yield f"{server.url}data/moogh"


def box(page: Any, row: str, n: int) -> Any:
    return page.locator(f"[id='row-{row}'] .boxes :is(select, input)").nth(n)


@pytest.mark.browser
def test_cards_are_compared_changed_checked_and_saved(address: str, opened: Opener, tmp_path: Path) -> None:
    page = opened(address)
    expect(page.locator("#good")).to_have_text("The game can be played with this.")
    expect(page.locator("#left")).to_have_text("68 of 68 values are not compared yet.")
    expect(page.locator("[id='row-front.2'] .badge")).to_have_text("invented")

    box(page, "front.2", 1).select_option("M2*")  # changed: the owner's
    page.locator("[id='row-save.4']").get_by_label("so on mine").check()  # compared and found to be so
    expect(page.locator("[id='row-front.2'] .badge")).to_have_text("yours")
    expect(page.locator("#left")).to_have_text("66 of 68 values are not compared yet.")

    box(page, "save.2", 0).fill("9")  # checked as it is typed, with the place and the reason
    expect(page.locator("#good")).to_have_text("Not possible so (1):")
    expect(page.locator("[id='row-save.2'] .row-faults")).to_contain_text("must be a whole number from 1 to 6")
    expect(page.locator("#save")).to_be_disabled()
    box(page, "save.2", 0).fill("2")
    expect(page.locator("#save")).to_be_enabled()

    page.get_by_role("button", name="Rage 5: One more").first.click()  # another column makes the rows unequal
    expect(page.locator("#good")).to_contain_text("Not possible so")
    page.get_by_role("button", name="Rage 5: One less").first.click()
    expect(page.locator("#save")).to_be_enabled()
    page.reload()  # nothing typed is lost
    expect(page.locator("#left")).to_have_text("64 of 68 values are not compared yet.")
    expect(box(page, "front.2", 1)).to_have_value("M2*")
    expect(page.locator("#save")).to_be_enabled()
    with page.expect_download() as download:
        page.locator("#save").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    mine = cards.load(file)
    assert file.name == "moogh.toml" and mine.rows["front"][2] == ("T", "M2*", "A1", "M1") and mine.save[2] == 2
    assert mine.mark("front.2") == mine.mark("save.4") == "owner" and mine.mark("save.5") == "invented"

    page.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("#left")).to_have_text("68 of 68 values are not compared yet.")
    page.locator("#load").set_input_files(file)
    expect(page.locator("#left")).to_have_text("64 of 68 values are not compared yet.")
    expect(box(page, "save.2", 0)).to_have_value("2")


@pytest.mark.browser
def test_a_group_is_confirmed_at_once_and_a_wrong_file_is_named(address: str, opened: Opener, tmp_path: Path) -> None:
    page = opened(address, 390, 844, locale="de-DE")
    page.get_by_role("button", name="Alle diese sind bei mir auch so").first.click()
    expect(page.locator("#left")).to_have_text("62 von 68 Werten sind noch nicht verglichen.")
    file = tmp_path / "wrong.toml"
    file.write_text("[save]\n6 = 9\n")
    page.locator("#load").set_input_files(file)
    expect(page.locator("#said")).to_contain_text("save.6")
    expect(page.locator("#left")).to_have_text("62 von 68 Werten sind noch nicht verglichen.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_used_by_everybody(address: str, opened: Opener, scheme: str) -> None:
    page = opened(address, color_scheme=scheme)
    box(page, "save.2", 0).fill("9")
    expect(page.locator(".row-faults li")).to_have_count(1)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.browser
def test_the_way_there_is_in_the_form_for_a_new_game(address: str, opened: Opener, service: FakeService) -> None:
    page = opened(address.removesuffix("data/moogh"))
    page.locator("#open-new-game").click()
    if page.locator("#ask").is_visible():
        page.locator("#ask").get_by_role("button", name="Yes").click()
    expect(page.get_by_role("link", name="Edit the cards to match yours")).to_have_count(0)
    page.locator("#game-name").select_option("moogh")
    page.get_by_role("link", name="Edit the cards to match yours").click()
    expect(page.locator("h1")).to_have_text("Cards of MOOGH")
