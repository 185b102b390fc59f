"""Pip dice anywhere in a picture: where each lies, its upper face, or that it leans; unsure where it is unsure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.dice_eyes import DiceEyes
from vision.dice_leaning import AT_RIM, BOX_EDGES, leaning, oddly, support, upright, usual_uprights
from vision.dice_places import COCKED, EVEN, NONE, Verdict
from vision.pictures import as_bgr
from vision.pips import Floats, Found, log_softmax
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Registration, printed
from vision.tray_rim import crossings, floor_sides, is_tray

VALUES = ("1", "2", "3", "4", "5", "6")
KEPT = math.log(0.9)
"""A place that is no die more likely than this is passed over."""
DARK = 12.0
SHARPNESS, KIND_SHARPNESS = 3.5, 2.2
"""The judges learn from pictures much worse than real ones and are therefore too modest: the odds of one value against
another are raised to the first power, those of a value against leaning and against no die, where they err more often,
to the second. Chosen on simulated pictures and photographs not trained on."""
DOUBT = math.log(0.02)
"""Where no die with a value may lean with more than this probability, no rim can change what is said."""
ALONE = 1.5
"""A die about which nothing but floor is seen leans less likely by this (natural log odds), where no rim is known."""


class DiceReader:
    """Reads every die in a picture. Without a profile places are in px; with one (markers, tapped corners or a tray's
    rim) in mm, dice of `edge_mm` assumed."""

    def __init__(self, profile: TableProfile | None = None, edge_mm: float = 16.0) -> None:
        self._eyes = DiceEyes()
        self._profile = profile
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
        covers = None if self._profile is None or self._camera is None else printed(self._profile, self._camera)
        verdicts = self._eyes.look(image, covers, None if self._camera is None else self._usual_px)
        edges = self._uprights(verdicts)
        verdicts = [leaning(v, up) for v, up in zip(verdicts, edges, strict=True)]
        places = [v.place for v in verdicts if v.logs[NONE] < KEPT]
        if any(v.logs[COCKED] > DOUBT and v.logs[:6].max() > EVEN for v in verdicts):
            supports = self._supports(places, image)
            if not supports and self._camera is not None:
                # No rim is seen, maybe for the light alone: what is beside a die whose edge looks odd may be one.
                askew = [not v.alone and up is not None and oddly(v, up) for v, up in zip(verdicts, edges, strict=True)]
                supports = {v.place: AT_RIM for v, odd in zip(verdicts, askew, strict=True) if odd}
            verdicts = [leaning(v, None, supports.get(v.place, 0.0) or (-ALONE if v.alone else 0.0)) for v in verdicts]
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

    def _usual_px(self, place: Found) -> float:
        """The side of the box of a die that lies at this place of a known table."""
        assert self._camera is not None
        ends = np.array([(place.cx, place.cy), (place.cx + 1, place.cy), (place.cx, place.cy + 1)])
        here, right, down = self._camera.to_plane(ends, self._edge_mm / 2)
        (a, b), (c, d) = right - here, down - here
        return BOX_EDGES * self._edge_mm / math.sqrt(max(abs(float(a * d - b * c)), 1e-9))

    def _uprights(self, verdicts: Sequence[Verdict]) -> list[Floats | None]:
        camera = self._camera
        if camera is not None:
            return [upright(v.place, camera, self._edge_mm) for v in verdicts]
        return usual_uprights(verdicts)

    def _supports(self, places: Sequence[Found], image: Image) -> dict[Found, float]:
        """What each place says for leaning: on a table whose corners are the tray's own, else by the floor of a tray
        that is seen in the picture; nothing where neither is."""
        if not places:
            return {}
        middles = np.array([(p.cx, p.cy) for p in places])
        profile = self._profile
        if self._camera is not None and profile is not None and (profile.corners_px or is_tray(profile.board)):
            spots = self._camera.to_plane(middles, self._edge_mm / 2)
            rim = np.array(profile.board.corners_mm)
            edges = [self._edge_mm] * len(places)
        else:
            sides = floor_sides(image)
            if sides is None:
                return {}
            spots, rim = middles, crossings(sides)
            edges = [p.side / BOX_EDGES for p in places]
        return {p: support(i, spots, rim, edges[i]) for i, p in enumerate(places)}

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
    flat = np.logaddexp.reduce(logs[:6].astype(np.float64))
    kinds = np.array([flat, logs[COCKED], logs[NONE]], np.float32)
    die, leans, none = np.exp(log_softmax(kinds * np.float32(KIND_SHARPNESS)).astype(np.float64))
    shares = np.exp(log_softmax(np.asarray(logs[:6] * SHARPNESS, np.float32)).astype(np.float64))
    values = np.maximum(shares * die + (leans + none) / 6, 1e-12)
    upright, leans = max(float(die), 1e-12), max(float(leans), 1e-12)
    there, other = max(1.0 - float(none), 1e-12), max(float(none), 1e-12)
    reason = "cocked" if leans > upright else "unclear" if values.max() < 0.9 else ""
    return {
        "value": Fact(VALUES, tuple(float(v) for v in np.log(values)), reason=reason),
        "cocked": Fact(("no", "yes"), (math.log(upright), math.log(leans))),
        "kind": Fact(("die", "other"), (math.log(there), math.log(other))),
    }
