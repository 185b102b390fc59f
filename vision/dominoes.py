"""Dominoes anywhere in a picture: every tile with both halves, face-down tiles, and the line they form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.domino_choice import FACE_DOWN, THICK_MM, Spot, Verdict, alike, apart, tile_chance
from vision.domino_eyes import DominoEyes
from vision.domino_neighbours import Place
from vision.dominoes_line import line_facts
from vision.pictures import as_bgr
from vision.pips import log_softmax
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Registration, printed

VALUES = ("0", "1", "2", "3", "4", "5", "6")
SHARPNESS = 2.0
"""The judge of halves is trained with smoothed labels and is therefore too modest; odds are raised to this power."""
KEPT = 0.1
"""A place that is a tile less likely than this is passed over."""
DARK = 12.0
BEYOND, NIGHT = 0.75, 16.0
"""How far beyond a line's end it is looked (tile lengths), and the level that the brightest there must reach."""
Known = tuple[tuple[float, float], float, float]
"""Where a tile lay before: its middle (x, y) and its length in mm, its direction in degrees."""


class DominoReader:
    """Reads every tile in a picture and the line they form. Without a profile places are in px; with one (markers or
    tapped corners) in mm."""

    def __init__(self, profile: TableProfile | None = None) -> None:
        self._eyes = DominoEyes()
        self._profile = profile
        self._registration = None if profile is None else Registration(profile)
        self._camera: Camera | None = None

    @property
    def camera(self) -> Camera | None:
        """Where the picture read last was taken from; None where that is not known."""
        return self._camera

    def read(self, frame: Frame, known_mm: Sequence[Known] = ()) -> Reading:
        """The tiles of one picture as pieces (in line order where they form a line), and the line's facts; `troubles`
        say why there are none. Tiles are also looked for at `known_mm`, where they lay before."""
        blank = Reading(frame.number, frame.time_s)
        image = as_bgr(frame.bgr)
        if image is None:
            return replace(blank, troubles=("vision.bad_picture",))
        pose = None if self._registration is None else self._registration.locate(image)
        self._camera = None if pose is None else pose.camera
        troubles = [] if self._registration is None or pose is not None else ["vision.no_board"]
        covers = None if self._profile is None or self._camera is None else printed(self._profile, self._camera)
        verdicts = [v for v in self._eyes.look(image, self._known_px(known_mm), covers) if tile_chance(v) > KEPT]
        verdicts = apart(alike(verdicts, self._camera))
        pieces = tuple(self._piece(v) for v in verdicts)
        if not pieces:
            troubles.append("vision.too_dark" if float(image.mean()) < DARK else "vision.no_dominoes")

        def seen(end: int, inner: int) -> bool:
            return _seen_beyond(image, verdicts[end].spot, verdicts[inner].spot)

        return replace(blank, pieces=pieces, facts=line_facts(pieces, seen), troubles=tuple(troubles))

    def agree(self, look: Mapping[str, str]) -> None:
        """Nothing is learned at the table: every make of tile is read alike."""

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy with every tile's outline and its numbers; a question mark for a half that is unsure."""
        out = np.array(image, np.uint8)
        for p in reading.pieces:
            outline = np.array(p.outline)
            if p.unit == "mm":
                if self._camera is None:
                    continue
                outline = self._camera.project(np.column_stack([outline, np.full(len(outline), THICK_MM)]))
            cv2.polylines(out, [np.round(outline).astype(np.int32)], True, (60, 200, 60), 2, cv2.LINE_AA)
            down = p.facts["face"]
            for key, share in (("left", 0.75), ("right", 0.25)):
                fact = p.facts[key]
                at = (outline[0] + outline[1]) / 2 * share + (outline[2] + outline[3]) / 2 * (1 - share)
                text = "-" if down.best == "down" else fact.best if fact.sure(SURE_LEAD) else "?"
                place = (round(float(at[0])) - 8, round(float(at[1])) + 8)
                cv2.putText(out, text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 230), 2, cv2.LINE_AA)
        return out

    def _known_px(self, known_mm: Sequence[Known]) -> list[Place]:
        """Places on the table as the finder gives them."""
        if self._camera is None:
            return []
        out = []
        for (x, y), long_mm, angle_deg in known_mm:
            way = np.array([math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))]) * long_mm / 2
            ends = self._camera.project(
                np.array([(x - way[0], y - way[1], THICK_MM), (x + way[0], y + way[1], THICK_MM)])
            )
            (ax, ay), (bx, by) = ((float(a), float(b)) for a, b in ends)
            turn = math.degrees(math.atan2(by - ay, bx - ax))
            out.append(((ax + bx) / 2, (ay + by) / 2, math.hypot(bx - ax, by - ay), turn, 1.0))
        return out

    def _piece(self, verdict: Verdict) -> Piece:
        quad = verdict.spot.quad.astype(np.float64)
        unit, sigma = "px", 0.02 * verdict.spot.length
        if self._camera is not None:
            quad = self._camera.to_plane(quad, THICK_MM)
            unit, sigma = "mm", 1.0
        middle, along = quad.mean(axis=0), quad[2] + quad[3] - quad[0] - quad[1]
        turn = math.degrees(math.atan2(along[1], along[0]))
        outline = tuple((float(x), float(y)) for x, y in quad)
        return Piece("domino", (float(middle[0]), float(middle[1])), sigma, facts_of(verdict), turn, outline, unit)


def _seen_beyond(image: Image, end: Spot, inner: Spot) -> bool:
    """Whether a tile would be seen beyond the end of a line: not in the dark (nor out of the picture)."""
    (x, y), (from_x, from_y) = end.middle, inner.middle
    far = BEYOND * end.length / max(math.dist(end.middle, inner.middle), 1e-6)
    x, y, half = x + (x - from_x) * far, y + (y - from_y) * far, end.length / 4
    rows, columns = (slice(max(0, round(v - half)), max(0, round(v + half))) for v in (y, x))
    part = image[rows, columns]
    return part.size > 0 and bool(np.percentile(part.max(axis=2), 95) >= NIGHT)


def facts_of(verdict: Verdict) -> dict[str, Fact]:
    """The facts of a tile: `left` and `right` (0..6; left is the end at the outline's first two corners), `face` (up,
    down) and `kind` (domino, other). What speaks against a tile face up shrinks the halves' leads."""
    sharp = np.asarray(verdict.halves * SHARPNESS, np.float32)
    verdict = replace(verdict, halves=log_softmax(sharp))
    there = tile_chance(verdict)
    down = min(float(np.exp(verdict.halves[:, FACE_DOWN].max())), 1 - 1e-9)
    facts = {}
    for key, row in zip(("left", "right"), np.exp(verdict.halves.astype(np.float64)), strict=True):
        doubt = 1 - there * (1 - float(row[FACE_DOWN]))
        values = np.maximum(row[:7] * there + doubt / 7 * 0.5, 1e-12)
        reason = "face_down" if down > 0.5 else "unclear" if values.max() < 0.9 else ""
        facts[key] = Fact(VALUES, tuple(float(x) for x in np.log(values / values.sum())), reason=reason)
    facts["face"] = Fact(("up", "down"), (math.log(max(1 - down, 1e-9)), math.log(max(down, 1e-9))))
    facts["kind"] = Fact(("domino", "other"), (math.log(max(there, 1e-9)), math.log(max(1 - there, 1e-9))))
    return facts
