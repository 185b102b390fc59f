"""What the census counts: facts right, asked or wrong, how sure they were, and what reading cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import SURE_LEAD, Fact

RIGHT, ASKED, WRONG = "right", "asked", "wrong"
READS = ("cold", "tracked")
"""Names under which the cost of a whole reading is kept; `settler` is that of a frame without news."""

EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999)
"""Lower edges of the probability classes of the reliability table."""

T = TypeVar("T")


@dataclass
class Tally:
    """Counts of one or many folders; `count` and `fact` add to it, `merge` joins two, `as_json` is the report."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    stated: list[tuple[float, bool]] = field(default_factory=list)
    ratios: dict[str, list[float]] = field(default_factory=dict)
    pictures: int = 0
    notes: list[str] = field(default_factory=list)

    def count(self, kind: str, outcome: str, **where: Any) -> None:
        """Adds one thing of a kind as RIGHT, ASKED or WRONG; `where` (file, place, said, truth, probability) goes into
        the list of what was not right."""
        self.counts.setdefault(kind, Counter())[outcome] += 1
        if outcome != RIGHT:
            (self.wrong if outcome == WRONG else self.asked).append({"kind": kind, **where})

    def fact(self, kind: str, file: str, place: str, fact: Fact | None, truth: str) -> None:
        """Counts one fact of a reading: asked when absent, hidden or led by less than SURE_LEAD."""
        if fact is None:
            self.count(kind, ASKED, file=file, place=place, said="", truth=truth, probability=0.0)
            return
        holds = fact.best == truth
        sure = fact.sure(SURE_LEAD)
        if not fact.hidden:
            self.stated.append((fact.probability, holds))
        outcome = (RIGHT if holds else WRONG) if sure else ASKED
        self.count(
            kind, outcome, file=file, place=place, said=fact.best, truth=truth, probability=round(fact.probability, 6)
        )

    def merge(self, other: Tally) -> None:
        """Adds everything that `other` has counted."""
        for kind, outcomes in other.counts.items():
            self.counts.setdefault(kind, Counter()).update(outcomes)
        self.wrong += other.wrong
        self.asked += other.asked
        self.stated += other.stated
        for name, values in other.ratios.items():
            self.ratios.setdefault(name, []).extend(values)
        self.pictures += other.pictures
        self.notes += other.notes

    def as_json(self, folder: str) -> dict[str, Any]:
        """The report, as the census writes it with --json."""
        every = [r for name, values in self.ratios.items() if name in READS for r in values]
        return {
            "folder": folder,
            "pictures": self.pictures,
            "kinds": {k: {o: c[o] for o in (RIGHT, ASKED, WRONG)} for k, c in sorted(self.counts.items())},
            "wrong": self.wrong,
            "asked": self.asked,
            "reliability": reliability(self.stated),
            "sure": interval(self.stated, 0.99),
            "time_ratio": _spread(every),
            "time_ratios": {name: _spread(values) for name, values in sorted(self.ratios.items())},
            "notes": self.notes,
        }


def reliability(stated: Iterable[tuple[float, bool]]) -> list[dict[str, Any]]:
    """How many facts of each class of stated probability (lower edge `stated`) there were and held."""
    table = {edge: [0, 0] for edge in EDGES}
    for probability, holds in stated:
        row = table[max(e for e in EDGES if e <= probability)]
        row[0] += 1
        row[1] += holds
    return [{"stated": e, "n": n, "right": right} for e, (n, right) in table.items() if n]


def interval(stated: Iterable[tuple[float, bool]], least: float) -> dict[str, float]:
    """Of the facts stated at `least` or more: how many, how many held, and the 95 % interval of the share (Wilson)."""
    kept = [holds for probability, holds in stated if probability >= least]
    n, right = len(kept), sum(kept)
    if not n:
        return {"stated": least, "n": 0, "right": 0, "low": 0.0, "high": 1.0}
    z, share = 1.959964, right / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return {"stated": least, "n": n, "right": right, "low": round(centre - half, 5), "high": round(centre + half, 5)}


def _spread(values: list[float]) -> dict[str, float]:
    if not values:
        return {"median": 0.0, "p90": 0.0}
    return {"median": round(float(np.median(values)), 3), "p90": round(float(np.percentile(values, 90)), 3)}


def decoded(path: Path) -> tuple[NDArray[np.uint8] | None, float]:
    """The picture (BGR, read-only; None when it cannot be decoded) and the thread CPU seconds of its decoding."""
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    times = []
    picture = None
    for _ in range(3):
        start = thread_time()
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        times.append(thread_time() - start)
    if picture is None:
        return None, times[0]
    image = np.asarray(picture, dtype=np.uint8)
    image.flags.writeable = False
    return image, float(np.median(times))


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` returns and the thread CPU seconds that it took."""
    start = thread_time()
    result = work()
    return result, thread_time() - start
