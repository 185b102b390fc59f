"""The page of records: maps that show each landing once and on the right side of the edge, tables, no matches yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

from companion.games.contract import Message
from companion.games.sheets import Sheet
from companion.record_book import Page
from tests.companion.test_record_book import Table, book
from tests.web.conftest import Opener
from tests.web.fake import FakeService, Offer
from web.records import landing_map
from web.server import Server

SQUARE = ((0.0, 0.0), (600.0, 0.0), (600.0, 600.0), (0.0, 600.0))
FAR = st.floats(-2000.0, 2000.0)


@given(st.lists(st.tuples(FAR, FAR), min_size=1, max_size=40))
def test_every_landing_is_one_mark_within_the_picture(places: list[tuple[float, float]]) -> None:
    svg = landing_map(SQUARE, places)
    inside = sum(0 <= x <= 600 and 0 <= y <= 600 for x, y in places)
    assert len(re.findall(r'class="in', svg)) == inside
    assert len(re.findall(r'class="out', svg)) == len(places) - inside
    assert len(re.findall(r"last", svg)) == 1
    for u, v in re.findall(r'cx="([^"]+)" cy="([^"]+)"', svg) + re.findall(r'"M(\S+) (\S+)l', svg):
        assert -150 <= float(u) <= 750 and -150 <= float(v) <= 750


def test_the_first_players_side_is_below() -> None:
    svg = landing_map(SQUARE, [(100.0, 50.0)])
    assert 'cx="100.0" cy="550.0"' in svg


class Book:
    """A record book of one page."""

    def __init__(self, *pages: Page) -> None:
        self._pages = pages

    def pages(self) -> tuple[Page, ...]:
        return self._pages


@pytest.mark.browser
def test_the_page_tells_and_draws_what_was_played(tmp_path: Path, opened: Opener) -> None:
    table = Table(tmp_path, 3)
    table.play(2)
    (page,) = book(tmp_path).pages()
    odd = Sheet(Message("web.board"), ("<b>x</b>",), (("<script>1</script>", 3),))
    shown = Page(page.game, 1, (*page.sheets, odd), SQUARE, (("a<b", ((100.0, 100.0), (900.0, 300.0))),))
    service = FakeService(playing=False)
    server = Server(service.bulletin, service.submit, port=0, offers=[Offer()])
    server.add_records(Book(shown))
    with server:
        tab = opened(server.url, 390, 844)
        tab.goto(server.url + "records")
        expect(tab.locator("h2")).to_have_text("Moogui")
        expect(tab.get_by_role("heading", name="Ledger after 2 games")).to_be_visible()
        expect(tab.locator(".maps figcaption")).to_contain_text("landed 2 times, 1 of them outside")
        expect(tab.locator(".maps figcaption")).to_contain_text("283 mm from the centre")
        expect(tab.locator("main")).to_contain_text("<script>1</script>")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert Axe().run(tab).response["violations"] == []


@pytest.mark.browser
def test_before_the_first_match_that_is_said(opened: Opener) -> None:
    service = FakeService(playing=False)
    server = Server(service.bulletin, service.submit, port=0, offers=[Offer()])
    server.add_records(Book())
    with server:
        page = opened(server.url)
        page.get_by_role("link", name="Records").click()
        expect(page.locator("main")).to_contain_text("Nothing has been played")
