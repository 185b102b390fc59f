"""The page's own sentences: all that are used exist, in every language, with the same values to fill in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.words import LANGUAGES, catalogue, placeholders

WEB = Path(__file__).parents[2] / "web"


def own(lang: str) -> dict[str, str]:
    return {key: text for key, text in catalogue(lang).items() if key.startswith("web.")}


def test_every_sentence_that_the_page_uses_exists() -> None:
    used = set()
    for path in WEB.rglob("*"):
        if path.suffix == ".js":
            used |= {f"web.{key}" for key in re.findall(r"""\bw\(["'](\w+)["']""", path.read_text(encoding="utf-8"))}
        elif path.suffix == ".html":
            used |= {f"web.{key}" for key in re.findall(r"\bw\.(\w+)", path.read_text(encoding="utf-8"))}
        elif path.suffix == ".py":
            used |= set(re.findall(r'"(web\.[\w.-]+)"', path.read_text(encoding="utf-8")))
    used = {key for key in used if not key.startswith(("web.boards", "web.server"))}
    assert len(used) > 80
    assert used <= own("en").keys()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_every_sentence(lang: str) -> None:
    english, other = own("en"), own(lang)
    assert other.keys() == english.keys()
    for key, text in other.items():
        assert placeholders(text) == placeholders(english[key]), key
        assert text.strip() == text != "", key
    if lang != "en":
        assert sum(text != english[key] for key, text in other.items()) > 0.8 * len(other)
