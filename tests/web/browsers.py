"""Real Chromium for browser tests: found on the system, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def chromium() -> str:
    """Chromium's path; skips the test without it, fails it where the full set of tests is expected."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found:
        return found
    why = "Chromium is missing: make system (or: sudo apt install chromium)"
    if os.environ.get("COMPANION_SHARED"):
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def launched() -> Iterator[Any]:
    """A headless Chromium."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
