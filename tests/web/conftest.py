"""A stand-in service on a real server on a free port, and a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.web.browsers import launched
from tests.web.fake import FakeService, Offer
from web.server import Server


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def server(service: FakeService) -> Iterator[Server]:
    with Server(service.bulletin, service.submit, port=0, offers=[Offer()]) as server:
        yield server


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with launched() as browser:
        from playwright.sync_api import expect

        expect.set_options(timeout=20_000)  # on a busy machine a page takes its time
        yield browser


Opener = Callable[..., Any]


@pytest.fixture
def opened(chromium: Any) -> Iterator[Opener]:
    """Opens an address in a browser of its own and waits for the table; errors on the page fail the test."""
    contexts, errors = [], []

    def open_page(url: str, width: int = 1366, height: int = 768, **settings: Any) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, **{"locale": "en-US", "reduced_motion": "reduce", **settings}
        )
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        page.wait_for_selector("body:not([data-phase=loading])")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
