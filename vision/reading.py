"""What the eyes report: for every fact on the table the log-likelihood of each value it could have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

FLAT = 2.5
"""A fact whose values all lie within so many nats says nothing worth a doubt."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact and how well each possible value explains the picture.

    `values` and `log_likelihoods` run in parallel; natural logarithms, only their differences mean something, and they
    are calibrated: exp of a difference is the odds of the two values given equal priors. `hidden` says that something
    (a hand, a sleeve) lies between the camera and the fact, so that nothing may be concluded from it. `reason` says
    why a fact is hidden or weak (`hand`, `glare`, `dark`, `blur`, `askew`, `out_of_picture`, `unclear`), else it is
    empty: a blank fact without a reason is one that nothing on the table shows (what is printed under a piece).
    """

    values: tuple[str, ...]
    log_likelihoods: tuple[float, ...]
    hidden: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError unless both tuples have the same length of at least one and all numbers are finite."""
        if not self.values or len(self.values) != len(self.log_likelihoods):
            raise ValueError(f"a fact needs one log-likelihood a value, got {self.values!r}, {self.log_likelihoods!r}")
        if not math.isfinite(sum(self.log_likelihoods)):
            raise ValueError(f"log-likelihoods must be finite, got {self.log_likelihoods!r} for {self.values!r}")

    @property
    def ranked(self) -> tuple[tuple[str, float], ...]:
        """(value, log-likelihood) pairs, best first."""
        return tuple(sorted(zip(self.values, self.log_likelihoods, strict=True), key=lambda p: -p[1]))

    @property
    def best(self) -> str:
        """The value that explains the picture best."""
        return self.values[max(range(len(self.values)), key=self.log_likelihoods.__getitem__)]

    @property
    def lead(self) -> float:
        """By how much the best value leads the runner-up (natural log odds); infinite for a single value."""
        top = self.ranked
        return top[0][1] - top[1][1] if len(top) > 1 else math.inf

    @property
    def blank(self) -> bool:
        """True when nothing can be concluded: it is hidden, or all its values are nearly as likely."""
        return self.hidden or (len(self.values) > 1 and max(self.log_likelihoods) - min(self.log_likelihoods) < FLAT)

    @property
    def probability(self) -> float:
        """Probability of the best value under equal priors, 0..1."""
        peak = max(self.log_likelihoods)
        return 1.0 / sum(math.exp(x - peak) for x in self.log_likelihoods)

    def log_likelihood(self, value: str) -> float:
        """Log-likelihood of `value`; minus infinity for a value that the fact does not know."""
        for known, x in zip(self.values, self.log_likelihoods, strict=True):
            if known == value:
                return x
        return -math.inf

    def sure(self, lead: float) -> bool:
        """True when the fact is not hidden and its best value leads by at least `lead`."""
        return not self.hidden and self.lead >= lead


SURE_LEAD = math.log(999.0)
"""Lead from which a fact counts as stated: 99.9 % under equal priors. Below it the fact is asked, not told."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One free-lying thing (die, domino, figure): what it is, where, and how sure.

    `xy` is its centre in mm on the table (or px when `unit` is "px"), `sigma` the standard deviation of each
    coordinate, `angle_deg` its direction counter-clockwise from +x, `outline` its contact outline in the same unit.
    `facts` holds what it shows, keyed by kind (`value`, `cocked`, `left`, `right`, `figure`, `face`, `state`).
    """

    kind: str
    xy: tuple[float, float]
    sigma: float
    facts: Mapping[str, Fact]
    angle_deg: float = 0.0
    outline: tuple[tuple[float, float], ...] = ()
    unit: str = "mm"


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything one settled picture says.

    `facts` is keyed `<kind>:<place>` (`path:a1`, `pawn:c4`); `pieces` lists what lies freely. `board_px` are the four
    board corners in the picture (in the board spec's corner order, pixel (0, 0) is the centre of the top-left pixel),
    empty when the board was not found; `residual_mm` is the registration's root-mean-square error on the table.
    `troubles` are message ids about the picture as a whole (`vision.no_board`, `vision.too_dark`), `notices` of what
    the table should know though the picture can be judged. `still` names blank facts whose part of the picture looks as
    it did when the table was last agreed on: nothing was done there.
    """

    frame_number: int
    time_s: float
    facts: Mapping[str, Fact] = field(default_factory=dict)
    pieces: tuple[Piece, ...] = ()
    board_px: tuple[tuple[float, float], ...] = ()
    residual_mm: float = 0.0
    troubles: tuple[str, ...] = ()
    still: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()

    @property
    def board_found(self) -> bool:
        """True when the board's place in the picture is known."""
        return len(self.board_px) == 4
