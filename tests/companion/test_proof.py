"""The proof of a score in words: sure of what, what else, where and how exactly; nothing for facts of places."""

from __future__ import annotations

import math

from companion.games.contract import Message
from companion.proof import proofs
from companion.words import LANGUAGES, say
from vision.reading import Fact, Piece, Reading


def reading(line_mm: float, lead: float = 3.0, sigma: float = 1.2) -> Reading:
    facts = {
        "figure": Fact(("ari", "unknown"), (0.0, -20.0)),
        "distance": Fact(("212.4",), (0.0,)),
        "line": Fact((str(line_mm),), (0.0,)),
    }
    shown = Fact(("4", "5", "out"), (0.0, -lead, -9.0))
    piece = Piece("figure", (100.0, 120.0), sigma, facts)
    return Reading(1, 0.0, {"figure:ari": shown, "path:a1": Fact(("NE", "NS"), (0.0, -9.0))}, (piece,))


def test_how_sure_what_else_and_where() -> None:
    (words,) = proofs("moogui", reading(-43.2), ["figure:ari"])
    values = dict(words.values)
    assert words.id == "table.proof"
    assert (values["what"], values["other"]) == ("@moogui.fact.figure.4", "@moogui.fact.figure.5")
    assert values["share"] == math.floor(1000 / (1 + math.exp(-3) + math.exp(-9))) / 10
    assert (values["line"], values["side"], values["far"], values["sigma"]) == (43, "@table.inside", 212, 3)


def test_outside_is_said_and_nothing_is_called_certain() -> None:
    (words,) = proofs("moogui", reading(12.0, lead=60.0), ["figure:ari"])
    values = dict(words.values)
    assert values["side"] == "@table.outside"
    assert values["share"] == 99.9


def test_facts_of_places_and_things_not_seen_have_none() -> None:
    assert proofs("moguli", reading(1.0), ["path:a1", "figure:bruma", "pawn:c1"]) == ()


def test_every_language_says_it() -> None:
    words = proofs("moogui", reading(-43.2), ["figure:ari"])[0]
    said = {say(words, lang) for lang in LANGUAGES}
    assert len(said) == len(LANGUAGES)
    assert all("43" in s and "212" in s and "{" not in s and "@" not in s for s in said)
    assert isinstance(words, Message)
