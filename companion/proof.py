"""Why a value was believed, in words: how sure the eyes are, what else it could be, where the thing lies."""

from __future__ import annotations

import math
from collections.abc import Iterable

from companion.games.contract import Message
from companion.words import knows
from vision.reading import Fact, Piece, Reading

MOST_SURE = 0.9999
"""No share is told as higher than this."""


def proofs(game: str, reading: Reading, keys: Iterable[str]) -> tuple[Message, ...]:
    """One sentence for each of these facts that a free-lying piece shows; none for facts of places."""
    found = []
    for key in keys:
        kind, _, place = key.partition(":")
        piece = next((p for p in reading.pieces if kind in p.facts and p.facts[kind].best == place), None)
        fact = reading.facts.get(key)
        if fact is not None and piece is not None and "line" in piece.facts and "distance" in piece.facts:
            found.append(_proof(game, key, fact, piece))
    return tuple(found)


def _proof(game: str, key: str, fact: Fact, piece: Piece) -> Message:
    (best, _), (other, _) = fact.ranked[:2]
    line_mm = float(piece.facts["line"].best)
    share = math.floor(1000 * min(fact.probability, MOST_SURE)) / 10
    values: tuple[tuple[str, str | int | float], ...] = (
        ("place", key.partition(":")[2]),
        ("what", _named(game, key, best)),
        ("share", share),
        ("other", _named(game, key, other)),
        ("line", round(abs(line_mm))),
        ("side", "@table.outside" if line_mm > 0 else "@table.inside"),
        ("far", round(float(piece.facts["distance"].best))),
        ("sigma", math.ceil(2 * piece.sigma)),
    )
    return Message("table.proof", values)


def _named(game: str, key: str, value: str) -> str:
    own = f"{game}.fact.{key.partition(':')[0]}.{value}"
    return f"@{own}" if knows(own) else value
