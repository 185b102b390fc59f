"""Pip dice anywhere in a picture: where each lies, its upper face, or that it leans; unsure where it is unsure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.pictures import as_bgr
from vision.pips import (
    STRIDE,
    Floats,
    Found,
    Net,
    Pyramid,
    log_softmax,
    net_bytes,
    normal,
    peaks,
    square_map,
    thinned,
    unpacked,
)
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Registration

VALUES = ("1", "2", "3", "4", "5", "6")
JUDGE_PX = 56
JUDGE_REACH = 1.7
"""Side of the judge's crop over the mean side of the die's box."""
UNIT_PX = 14.0
"""Box side that the finder calls one."""
COCKED, NONE = 6, 7
"""The judge's classes after the values 1..6."""
LEAST_HEAT = 0.25
KEPT = math.log(0.9)
"""A place that is no die more likely than this is passed over."""
DARK = 12.0
COARSE_PX = 520
"""The first search runs on the picture reduced to at most this long side; smaller dice are sought on finer levels."""
FINE_ENOUGH_PX = 11.0
"""When the smallest die of a search measures less than this on its finest level, the next finer one is searched too."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the judge says of one place: log-probabilities of the values 1..6, leaning, no die; the corrected box; and
    the upright edge from base to top in units of the box's side, in picture axes."""

    place: Found
    logs: Floats
    up: tuple[float, float]


def found(pyramid: Pyramid, finder: Net) -> list[Found]:
    """Places that the finder takes for dice, over all levels that are needed."""
    long_side = max(pyramid.level(0).shape[:2])
    first = max(0, math.ceil(math.log2(long_side / COARSE_PX)))
    places: list[Found] = []
    level = first
    while long_side / 2**level >= 32:
        places += _on_level(pyramid, finder, level)
        level += 1
    places = thinned(places, 0.45)
    level = first
    while level > 0 and (not places or min(f.side for f in places) < FINE_ENOUGH_PX * 2**level):
        level -= 1
        if max(pyramid.level(level).shape[:2]) > 2 * 1100:
            break
        places = thinned(places + _on_level(pyramid, finder, level), 0.45)
    return places


def _on_level(pyramid: Pyramid, finder: Net, level: int) -> list[Found]:
    image = pyramid.level(level)
    h, w = image.shape[:2]
    ph, pw = -h % 8, -w % 8
    if ph or pw:
        image = np.asarray(cv2.copyMakeBorder(image, 0, ph, 0, pw, cv2.BORDER_REPLICATE), np.uint8)
    out = unpacked(finder(normal([image]))[0])
    heat = np.asarray(1 / (1 + np.exp(-out[0])), np.float32)
    f = float(2**level)
    found = []
    for r, c in zip(*peaks(heat, LEAST_HEAT), strict=True):
        x, y = ((c + out[1, r, c]) * STRIDE + 1.5, (r + out[2, r, c]) * STRIDE + 1.5)
        bw, bh = (float(UNIT_PX * np.exp(np.clip(v, -2, 2))) for v in out[3:5, r, c])
        if 5.0 <= (bw + bh) / 2 <= 34.0 and -2 <= x <= w + 2 and -2 <= y <= h + 2:
            found.append(
                Found((float(x) + 0.5) * f - 0.5, (float(y) + 0.5) * f - 0.5, bw * f, bh * f, float(heat[r, c]))
            )
    return found


class DiceEyes:
    """Finds and judges dice in a picture; px only. The networks are those of `vision/models`."""

    def __init__(self) -> None:
        self._finder = Net(net_bytes("dice_finder"))
        self._judge = Net(net_bytes("dice_judge"))

    def look(self, image: Image) -> list[Verdict]:
        """All that might be dice, best first."""
        pyramid = Pyramid(image)
        return self.judged(pyramid, found(pyramid, self._finder))

    def judged(self, pyramid: Pyramid, places: Sequence[Found]) -> list[Verdict]:
        """A verdict on each place: looked at twice, the second time squared up anew and turned."""
        if not places:
            return []
        first = self._pass(pyramid, places, 0.0)
        again = self._pass(pyramid, [v.place for v in first], 135.0)
        return [
            Verdict(b.place, log_softmax(np.asarray((a.logs + b.logs) / 2, np.float32)), b.up)
            for a, b in zip(first, again, strict=True)
        ]

    def _pass(self, pyramid: Pyramid, places: Sequence[Found], turn: float) -> list[Verdict]:
        patches, maps = [], []
        for p in places:
            reach = p.side * JUDGE_REACH
            m = square_map(p.cx, p.cy, reach, turn, JUDGE_PX)
            patches.append(pyramid.patch(m, (JUDGE_PX, JUDGE_PX), reach / JUDGE_PX))
            maps.append(m)
        out = self._judge(normal(patches))
        logs = log_softmax(out[:, :8])
        verdicts = []
        for p, m, row, log in zip(places, maps, out, logs, strict=True):
            back = cv2.invertAffineTransform(m)
            at = back @ np.array([(JUDGE_PX - 1) / 2 + row[8] * JUDGE_PX, (JUDGE_PX - 1) / 2 + row[9] * JUDGE_PX, 1])
            grow = float(np.exp(np.clip(row[10], -0.4, 0.4)))
            spin = m[:, :2] / np.linalg.norm(m[0, :2])
            up = spin.T @ row[11:13]
            place = Found(float(at[0]), float(at[1]), p.width * grow, p.height * grow, p.score)
            verdicts.append(Verdict(place, log, (float(up[0]), float(up[1]))))
        return verdicts


class DiceReader:
    """Reads every die in a picture. Without a profile places are in px; with one (markers or tapped corners) in mm,
    dice of `edge_mm` assumed."""

    def __init__(self, profile: TableProfile | None = None, edge_mm: float = 16.0) -> None:
        self._eyes = DiceEyes()
        self._registration = None if profile is None else Registration(profile)
        self._edge_mm = edge_mm
        self._camera: Camera | None = None

    def read(self, frame: Frame) -> Reading:
        """The dice of one picture as pieces; `troubles` say why there are none."""
        blank = Reading(frame.number, frame.time_s)
        image = as_bgr(frame.bgr)
        if image is None:
            return replace(blank, troubles=("vision.bad_picture",))
        pose = None if self._registration is None else self._registration.locate(image)
        self._camera = None if pose is None else pose.camera
        troubles = [] if self._registration is None or pose is not None else ["vision.no_board"]
        verdicts = self._eyes.look(image)
        pieces = tuple(self._piece(v) for v in verdicts if v.logs[NONE] < KEPT)
        if not pieces:
            troubles.append("vision.too_dark" if float(image.mean()) < DARK else "vision.no_dice")
        return replace(blank, pieces=pieces, troubles=tuple(troubles))

    def agree(self, look: Mapping[str, str]) -> None:
        """Nothing is learned at the table: dice come in all colours and none stays where it was."""

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy with every die's outline and value; a question mark where it is unsure, "cocked" where it leans."""
        out = np.array(image, np.uint8)
        for p in reading.pieces:
            outline = np.array(p.outline)
            if p.unit == "mm":
                if self._camera is None:
                    continue
                outline = self._camera.project(np.column_stack([outline, np.full(len(outline), self._edge_mm / 2)]))
            value, leans = p.facts["value"], p.facts["cocked"].best == "yes"
            text = value.best if value.sure(SURE_LEAD) else "cocked" if leans else "?"
            colour = (60, 200, 60) if value.sure(SURE_LEAD) else (0, 170, 255)
            ring = np.round(outline).astype(np.int32)
            cv2.polylines(out, [ring], True, colour, 2, cv2.LINE_AA)
            at = (int(ring[:, 0].min()), int(ring[:, 1].min()) - 4)
            cv2.putText(out, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.7, colour, 2, cv2.LINE_AA)
        return out

    def _piece(self, verdict: Verdict) -> Piece:
        place = verdict.place
        half = place.side / 2
        points = np.array([(0, 0), (-half, -half), (half, -half), (half, half), (-half, half)])
        points += np.array([place.cx, place.cy])
        unit, sigma = "px", 0.04 * place.side
        if self._camera is not None:
            px = place.side
            points = self._camera.to_plane(points, self._edge_mm / 2)
            unit, sigma = "mm", sigma * float(np.linalg.norm(points[2] - points[1])) / px
        xy = [(float(x), float(y)) for x, y in points]
        return Piece("die", xy[0], sigma, facts_of(verdict.logs), 0.0, tuple(xy[1:]), unit)


def facts_of(logs: Floats) -> dict[str, Fact]:
    """The facts of a place: `value` (1..6), `cocked` (no, yes), `kind` (die, other). What speaks for leaning or for no
    die speaks for no value, so that the value's lead shrinks with it."""
    p = np.exp(logs.astype(np.float64))
    values = np.maximum(p[:6] + (p[COCKED] + p[NONE]) / 6, 1e-12)
    upright, leaning = max(float(p[:6].sum()), 1e-12), max(float(p[COCKED]), 1e-12)
    die, other = max(1.0 - float(p[NONE]), 1e-12), max(float(p[NONE]), 1e-12)
    reason = "cocked" if leaning > upright else "unclear" if values.max() < 0.9 else ""
    return {
        "value": Fact(VALUES, tuple(float(v) for v in np.log(values)), reason=reason),
        "cocked": Fact(("no", "yes"), (math.log(upright), math.log(leaning))),
        "kind": Fact(("die", "other"), (math.log(die), math.log(other))),
    }
