"""The arena as the game's looks write it: each enrolled figure's reading, and how far from the centre it lies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from calibration.figure_prints import FACES, FigurePrint, load_figures, printable
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.figure_faces import Figure
from vision.figures import ENDS, UNKNOWN, FigureReader
from vision.reading import SURE_LEAD, Fact, Piece, Reading

ABSENT, IMMUNE, OUT = "-", "immune", "out"
VALUES = (*(str(n) for n in range(1, FACES + 1)), IMMUNE, OUT, ABSENT)
LEAST = -24.0
"""Log-likelihood below which nothing is told apart."""
AROUND = 2.0
"""Standard deviations of the places that are told as their uncertainty."""
STRANGE = 4.0
"""While something unknown lies there, a figure that is not seen leads by no more than this in being absent."""
STAIN_MM = 25.0
"""What was there from the beginning, before any figure, is no figure: a stain, a lamp's mirror image. It stays so
within this distance of its place."""


class FigureTableReader:
    """Reads `figure:<name>` (`1`..`6`, `immune`, `out`, `-`), and for those that are surely there `distance:<name>` (mm
    from the centre, or `out`) and `uncertainty:arena` (mm), for every figure of the profile; see
    vision.contract.Reader. What else lies there is in the reading's `pieces`."""

    def __init__(self, profile: TableProfile) -> None:
        """The figures are those of the profile's folder, or the printable ones of its board spec. Raises
        CalibrationError or VisionError when they cannot be read or used."""
        prints = load_figures(Path(profile.figures)) if profile.figures else printable(profile.board)
        self._names = tuple(p.name for p in prints)
        self._reader = FigureReader(profile, [enrolled(p) for p in prints])
        self._stains: tuple[tuple[float, float], ...] | None = None

    def prepare(self) -> None:
        """Makes the templates now (a fraction of a second), so that the first reading is as quick as any."""
        self._reader.prepare()

    def read(self, frame: Frame) -> Reading:
        """The reading of one picture; facts only when the arena was found."""
        reading = self._reader.read(frame)
        if not reading.board_found:
            return reading
        if self._stains is None:
            bare = all(p.facts["figure"].best == UNKNOWN for p in reading.pieces)
            self._stains = tuple(p.xy for p in reading.pieces) if bare else ()
        pieces = [p for p in reading.pieces if not self._stain(p)]
        return replace(reading, facts=table_facts(pieces, self._names))

    def _stain(self, piece: Piece) -> bool:
        near = any(math.dist(piece.xy, stain) < STAIN_MM for stain in self._stains or ())
        return near and piece.facts["figure"].best == UNKNOWN

    def agree(self, look: Mapping[str, str]) -> None:
        """Nothing is learned from what was agreed: what a picture shows is all that counts."""
        self._reader.agree(look)

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with footprints, names and faces drawn where they were read."""
        return self._reader.draw(image, reading)


def enrolled(figure: FigurePrint) -> Figure:
    """The same figure as the reader takes it."""
    states = tuple("shield" if n == figure.shield else "power" for n in range(1, len(figure.faces) + 1))
    return Figure(figure.name, figure.faces, states, figure.top, figure.bottom)


def table_facts(pieces: Sequence[Piece], names: Sequence[str]) -> dict[str, Fact]:
    """The facts of the figures called `names`, of the pieces that were read."""
    facts: dict[str, Fact] = {}
    strange = any(p.facts["figure"].best == UNKNOWN or p.facts["figure"].hidden for p in pieces)
    doubt = 0.0
    for name in names:
        rated = sorted(((_log_share(p.facts["figure"], [name]), n) for n, p in enumerate(pieces)), reverse=True)
        if not rated:
            facts[f"figure:{name}"] = Fact(VALUES, (*(LEAST,) * (len(VALUES) - 1), 0.0))
            continue
        here, at = rated[0]
        piece = pieces[at]
        others = [v for v in piece.facts["figure"].values if v != name]
        absent = max(_log_share(piece.facts["figure"], others), LEAST)
        fact = _figure(piece, here, absent)
        if strange and fact.best == ABSENT:
            scale = min(1.0, STRANGE / max(fact.lead, 1e-6))
            fact = replace(fact, log_likelihoods=tuple(x * scale for x in fact.log_likelihoods))
        facts[f"figure:{name}"] = fact
        if piece.facts["figure"].sure(SURE_LEAD) and piece.facts["figure"].best == name:
            out = piece.facts["in"].sure(SURE_LEAD) and piece.facts["in"].best == "no"
            facts[f"distance:{name}"] = Fact((OUT,), (0.0,)) if out else piece.facts["distance"]
            doubt = max(doubt, AROUND * piece.sigma)
    if doubt:
        facts["uncertainty:arena"] = Fact((f"{doubt:.1f}",), (0.0,))
    return facts


def _figure(piece: Piece, here: float, absent: float) -> Fact:
    """What a piece says of the figure that it is with log probability `here`."""
    faces, where = piece.facts["face"], piece.facts["in"]
    inside, outside = (max(_log_share(where, [v]), LEAST) for v in ("yes", "no"))
    rated = [_log_share(faces, [str(n)]) + inside for n in range(1, FACES + 1)]
    rated += [_log_share(faces, ENDS) + inside, outside]
    levels = [max(here + x, 2 * LEAST) for x in rated]
    peak = max(*levels, absent)
    unclear = piece.facts["figure"].hidden or (where.hidden and here > absent)
    reason = piece.facts["figure"].reason or (where.reason if where.hidden else "")
    scores = tuple(max(x - peak, LEAST) for x in (*levels, absent))
    return Fact(VALUES, scores, hidden=unclear, reason=reason)


def _log_share(fact: Fact, values: Iterable[str]) -> float:
    """Log probability that the fact is one of these values."""
    peak = max(fact.log_likelihoods)
    weights = {v: math.exp(x - peak) for v, x in zip(fact.values, fact.log_likelihoods, strict=True)}
    return math.log(max(sum(weights.get(v, 0.0) for v in values) / sum(weights.values()), math.exp(2 * LEAST)))
