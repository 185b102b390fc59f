"""Which dice a camera has seen rolled: those that surely show a value where no such die lay before."""

from __future__ import annotations

import math

from companion.evidence import Author, Rolled, Seen
from vision.reading import SURE_LEAD, Piece

SAME_PLACE = 0.35
"""A die within so much of its edge from where one with its value lay has not been rolled; and one that was thrown and
came to rest just so is entered by hand."""


class Tray:
    """Remembers the dice that lie there; one reading after the other. What the first one shows is no roll."""

    def __init__(self) -> None:
        self._lying: tuple[Piece, ...] | None = None

    def rolled(self, seen: Seen) -> list[Rolled]:
        """The rolls that this reading shows, from left to right. A die that leans or is unclear is none yet; one that a
        hand had covered is none again."""
        dice = [piece for piece in seen.reading.pieces if piece.kind == "die"]
        sure = [die for die in dice if _sure(die)]
        lying = self._lying
        if lying is None:
            self._lying = tuple(sure)
            return []
        new = [die for die in sure if not any(_near(die, old) and _value(die) == _value(old) for old in lying)]
        unclear = [old for old in lying if any(not _sure(die) and _near(die, old) for die in dice)]
        gone = [old for old in lying if not any(_near(die, old) for die in dice)]
        # While fewer dice are seen than there are, the missing ones may lie where they lay, under a hand.
        self._lying = (*sure, *unclear, *gone[: max(0, len(lying) - len(dice))])
        author = Author("camera", seen.author.name)
        return [
            Rolled("", int(_value(die)), author, 6, seen.reading.time_s, seen.picture)
            for die in sorted(new, key=lambda die: die.xy)
        ]


def _sure(die: Piece) -> bool:
    return die.facts["value"].sure(SURE_LEAD) and die.facts["value"].best.isdigit()


def _value(die: Piece) -> str:
    return die.facts["value"].best


def _near(die: Piece, old: Piece) -> bool:
    edge = math.dist(old.outline[0], old.outline[1]) if len(old.outline) > 1 else 0.0
    return math.dist(die.xy, old.xy) <= max(SAME_PLACE * edge, 3.0 * die.sigma)
