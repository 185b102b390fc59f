"""A doubted turn in real Chromium: eyes in their child process, the real service, the player, the table's decision."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from companion.evidence import Author
from tests.faults.test_process import Bench
from tests.web.conftest import Opener
from web.server import Server

pytestmark = pytest.mark.browser


@pytest.fixture
def seeing(tmp_path: Path) -> Iterator[tuple[Bench, Server]]:
    bench = Bench(tmp_path)
    server = Server(bench.bulletin, bench.service.submit, port=0, data=tmp_path)
    server.add_clips(bench.clips)
    with server:
        yield bench, server
    bench.close()


def contests(bench: Bench) -> list[tuple[int, str, int]]:
    return [(c.number, c.decided, c.decider) for c in bench.service.match.contests]


def decided(bench: Bench, how: str) -> None:
    began_s = time.monotonic()
    while [c[1] for c in contests(bench)] != [how]:
        assert time.monotonic() - began_s < 20.0, contests(bench)
        time.sleep(0.05)


def watched(page: Any) -> Any:
    dialog = page.locator("#replay")
    expect(dialog).to_be_visible()
    expect(dialog).to_have_attribute("data-ready", "yes")
    return dialog


def test_one_tap_shows_the_seconds_and_the_table_decides(seeing: tuple[Bench, Server], opened: Opener) -> None:
    bench, server = seeing
    bench.begin()
    page, guest = opened(server.url), opened(server.url + "tv")
    bench.turn()
    page.locator("#doubt").get_by_role("button", name="Doubt it").click()
    dialog = watched(page)
    expect(dialog.locator("#replay-title")).to_have_text("Turn 1 once more")
    slider, image, state = page.locator("#replay-at"), dialog.locator("img"), page.locator("#replay-state")
    last = int(slider.get_attribute("max") or 0)
    assert last > 10
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("node => node.naturalWidth") == 160
    page.locator("#replay-speed").select_option("0.1")
    slider.evaluate("(node, at) => { node.value = at; node.dispatchEvent(new Event('input')); }", str(last // 2))
    expect(state).to_contain_text(f"picture {last // 2 + 1} of {last + 1}")
    page.locator("#replay-on").click()
    expect(state).to_contain_text(f"picture {last // 2 + 2} of")
    page.locator("#replay-back").click()
    page.locator("#replay-back").click()
    expect(state).to_contain_text(f"picture {last // 2} of")
    page.locator("#replay-speed").select_option("1")
    page.locator("#replay-play").click()  # plays on to the end by itself
    expect(state).to_contain_text(f"picture {last + 1} of {last + 1}")
    expect(page.locator("#replay-play")).to_have_text("Play")
    expect(page.locator("#replay-doubt")).to_have_text("Doubted by the table. The table decides.")
    page.get_by_role("button", name="It stands").click()
    expect(dialog).to_be_hidden()
    decided(bench, "stands")
    expect(page.locator("#record")).to_contain_text("Doubted; it stands")
    expect(guest.locator("#record")).to_contain_text("Doubted; it stands")
    page.locator("#record .replay").click()  # everybody may look again, nothing is left to decide
    watched(page)
    expect(page.locator("#replay-decide")).to_be_hidden()
    page.locator("#replay-close").click()


def test_a_doubted_turn_is_taken_back_from_the_player(seeing: tuple[Bench, Server], opened: Opener) -> None:
    bench, server = seeing
    bench.begin()
    page = opened(server.url, 390, 844)
    bench.turn()
    page.locator("#record summary").click()
    page.locator("#record").get_by_role("button", name="Doubt it").click()
    watched(page)
    page.locator("#replay-takeback").click()
    expect(page.locator("#replay")).to_be_hidden()
    expect(page.locator("#record")).to_contain_text("No turn has been played yet.")
    assert contests(bench) == []
    kinds = [row.event.kind for row in bench.journal.rows(bench.service.match.id)]
    assert kinds.index("contested") < kinds.index("undone")


def test_a_spectator_sees_the_doubt_and_may_look(seeing: tuple[Bench, Server], opened: Opener) -> None:
    bench, server = seeing
    bench.begin()
    bench.turn()
    bench.service.submit("doubt", {"number": 1}, Author("seat", "table"))
    page = opened(server.url, extra_http_headers={"X-Forwarded-For": "192.0.2.7"})  # not from the table's own machine
    expect(page.locator("#doubt .doubt")).to_have_count(0)
    page.locator("#doubt .replay").click()
    watched(page)
    expect(page.locator("#replay-decide")).to_be_hidden()
