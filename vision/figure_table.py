"""The arena as the game's looks write it: each enrolled figure's reading, and how far from the centre it lies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from calibration.figure_prints import FACES, FigurePrint, load_figures, printable
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.figure_faces import Figure
from vision.figure_pieces import ENDS, UNKNOWN
from vision.figures import FigureReader
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.sampling import Floats

ABSENT, IMMUNE, OUT = "-", "immune", "out"
VALUES = (*(str(n) for n in range(1, FACES + 1)), IMMUNE, OUT, ABSENT)
LEAST = -24.0
"""Log-likelihood below which nothing is told apart."""
LEAST_SHARE = math.exp(2 * LEAST)
"""The least probability that is counted with."""
AROUND = 2.0
"""Standard deviations of the places that are told as their uncertainty."""
BUSY, STRANGE, ALIKE = 4.0, 3.0, 0.5
"""A figure that is not seen leads by no more than this in being absent: where it could be overlooked; while something
unknown lies there; if it is the one that an unknown prism looks most like."""
NEARLY = 5.0
"""Log probability up to which a figure that is perhaps this one still tells how far it lies; what is unknown does so
for the one that it looks most like. Where it matters the game asks what it is."""
UNREAD = 6.0
"""The most that the faces of such a prism say against each other."""
STAIN_MM = 25.0
"""What was there from the beginning, before any figure, is no figure: a stain. It stays so within this distance of its
place, while its surroundings, PATCH_MM wide and seen PATCH_PX small, look so that they correlate by STAINED."""
PATCH_MM, PATCH_PX, STAINED = 70.0, 28, 0.9


class FigureTableReader:
    """Reads `figure:<name>` (`1`..`6`, `immune`, `out`, `-`), and for those that are likely there `distance:<name>` (mm
    from the centre, or `out`) and `uncertainty:arena` (mm), for every figure of the profile; see
    vision.contract.Reader. What else lies there is in the reading's `pieces`."""

    def __init__(self, profile: TableProfile) -> None:
        """The figures are those of the profile's folder, or the printable ones of its board spec. Raises
        CalibrationError or VisionError when they cannot be read or used."""
        prints = load_figures(Path(profile.figures)) if profile.figures else printable(profile.board)
        self._names = tuple(p.name for p in prints)
        self._reader = FigureReader(profile, [enrolled(p) for p in prints])
        self._board = profile.board
        self._stains: tuple[tuple[tuple[float, float], Floats], ...] | None = None

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
            about = [(p.xy, self._patch(frame.bgr, reading, p.xy)) for p in reading.pieces]
            self._stains = tuple(about) if bare else ()
        pieces = [p for p in reading.pieces if not self._stain(p, frame.bgr, reading)]
        strange = any(p.facts["figure"].best == UNKNOWN for p in pieces)
        notices = ("vision.unknown_figure",) if strange else ()
        return replace(reading, facts=table_facts(pieces, self._names, self._reader.overlooks), notices=notices)

    def _stain(self, piece: Piece, picture: Image, reading: Reading) -> bool:
        if piece.facts["figure"].best != UNKNOWN:
            return False
        return any(
            math.dist(piece.xy, xy) < STAIN_MM and float(np.mean(self._patch(picture, reading, xy) * before)) > STAINED
            for xy, before in self._stains or ()
        )

    def _patch(self, picture: Image, reading: Reading, xy: tuple[float, float]) -> Floats:
        """The floor about a spot, laid flat, of mean nought and spread one whatever the light."""
        half, end = PATCH_MM / 2, PATCH_PX - 1
        square = np.array([(-half, half), (half, half), (half, -half), (-half, -half)]) + xy
        to_px = cv2.getPerspectiveTransform(
            np.array(self._board.corners_mm, dtype=np.float32), np.array(reading.board_px, dtype=np.float32)
        )
        pixels = cv2.perspectiveTransform(square.astype(np.float32).reshape(-1, 1, 2), to_px).reshape(-1, 2)
        flat = np.array([(0, 0), (end, 0), (end, end), (0, end)], dtype=np.float32)
        seen = cv2.warpPerspective(picture, cv2.getPerspectiveTransform(pixels, flat), (PATCH_PX, PATCH_PX))
        grey = np.asarray(seen, dtype=np.float32).reshape(PATCH_PX, PATCH_PX, -1).mean(axis=2)
        level = grey - grey.mean()
        return np.asarray(level / max(float(level.std()), 1.0), dtype=np.float32)

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


def table_facts(pieces: Sequence[Piece], names: Sequence[str], overlooks: bool = False) -> dict[str, Fact]:
    """The facts of the figures called `names`, of the pieces that were read; `overlooks` when there may be more."""
    facts: dict[str, Fact] = {}
    strange = [p for p in pieces if p.facts["figure"].best == UNKNOWN or p.facts["figure"].hidden]
    shares = [_shares(p.facts["figure"]) for p in pieces]
    shown = [_shown(p) for p in pieces]
    doubt = 0.0
    for name in names:
        rated = sorted(((_log_sum(shares[n], [name]), n) for n in range(len(pieces))), reverse=True)
        if not rated:
            facts[f"figure:{name}"] = Fact(VALUES, (*(-BUSY if overlooks else LEAST,) * (len(VALUES) - 1), 0.0))
            continue
        here, at = rated[0]
        piece = pieces[at]
        absent = max(_log_sum(shares[at], [v for v in shares[at] if v != name]), LEAST)
        fact = _figure(piece, shown[at], here, absent)
        like = None
        if (strange or overlooks) and fact.best == ABSENT:
            like = _likeness(name, strange)
            fact = _perhaps(fact, name, like) if like is not None else _weaker(fact, STRANGE if strange else BUSY)
        facts[f"figure:{name}"] = fact
        if here > -NEARLY or like is not None:
            piece = like or piece
            out = piece.facts["in"].sure(SURE_LEAD) and piece.facts["in"].best == "no"
            facts[f"distance:{name}"] = Fact((OUT,), (0.0,)) if out else piece.facts["distance"]
            doubt = max(doubt, AROUND * piece.sigma)
    if doubt:
        facts["uncertainty:arena"] = Fact((f"{doubt:.1f}",), (0.0,))
    return facts


def _shown(piece: Piece) -> list[float]:
    """Log probabilities of what a piece shows if it is a figure: each face, an end, that it is out."""
    faces, where = _shares(piece.facts["face"]), _shares(piece.facts["in"])
    inside, outside = (max(_log_sum(where, [v]), LEAST) for v in ("yes", "no"))
    rated = [_log_sum(faces, [str(n)]) + inside for n in range(1, FACES + 1)]
    return [*rated, _log_sum(faces, ENDS) + inside, outside]


def _figure(piece: Piece, shown: Sequence[float], here: float, absent: float) -> Fact:
    """What a piece that shows so says of the figure that it is with log probability `here`."""
    where = piece.facts["in"]
    levels = [max(here + x, 2 * LEAST) for x in shown]
    peak = max(*levels, absent)
    unclear = piece.facts["figure"].hidden or (where.hidden and here > absent)
    reason = piece.facts["figure"].reason or (where.reason if where.hidden else "")
    scores = tuple(max(x - peak, LEAST) for x in (*levels, absent))
    return Fact(VALUES, scores, hidden=unclear, reason=reason)


def _likeness(name: str, strange: Sequence[Piece]) -> Piece | None:
    """The unknown thing with faces that looks more like this figure than like any other; None where there is none."""
    for piece in strange:
        figure = piece.facts["figure"]
        named = [(x, v) for v, x in zip(figure.values, figure.log_likelihoods, strict=True) if v != UNKNOWN]
        if name == max(named)[1] and piece.facts["face"].lead > 0.0:
            return piece
    return None


def _perhaps(fact: Fact, name: str, piece: Piece) -> Fact:
    """The fact of a figure that is not seen, while this unknown thing may be it."""
    shown = _figure(replace(piece, facts={**piece.facts, "figure": Fact((name,), (0.0,))}), _shown(piece), 0.0, LEAST)
    lead = min(fact.lead, ALIKE)
    levels = [max(x, -UNREAD) - lead for x in shown.log_likelihoods[:-1]]
    return Fact(VALUES, (*levels, 0.0), fact.hidden, fact.reason)


def _weaker(fact: Fact, most: float) -> Fact:
    """The same fact with a lead of `most` at most."""
    scale = min(1.0, most / max(fact.lead, 1e-6))
    return replace(fact, log_likelihoods=tuple(x * scale for x in fact.log_likelihoods))


def _shares(fact: Fact) -> dict[str, float]:
    """The probability of each value."""
    peak = max(fact.log_likelihoods)
    weights = [math.exp(x - peak) for x in fact.log_likelihoods]
    total = sum(weights)
    return {v: weight / total for v, weight in zip(fact.values, weights, strict=True)}


def _log_sum(shares: Mapping[str, float], values: Iterable[str]) -> float:
    """Log probability of being one of these values."""
    return math.log(max(sum(shares.get(v, 0.0) for v in values), LEAST_SHARE))
