"""Dominoes anywhere in a picture: every tile with both halves, face-down tiles, and the line they form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.dominoes_line import line_facts
from vision.pictures import as_bgr
from vision.pips import STRIDE, Floats, Net, Pyramid, log_softmax, net_bytes, normal, normal_view, peaks, unpacked
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Registration

VALUES = ("0", "1", "2", "3", "4", "5", "6")
FACE_DOWN, OTHER = 7, 8
"""The judge's classes after the values 0..6."""
UNIT_PX = 28.0
"""Tile length that the finder calls one."""
SQUARER_PX = (64, 40)
SQUARER_REACH = 1.35
"""Width of the squarer's crop over the length of the tile."""
HALF_PX = 40
MARGIN = 0.15
"""What a half's crop shows around the half, as a share of its side."""
LEAST_HEAT = 0.36
COARSE_PX = 680
FINE_ENOUGH_PX = 18.0
MAYBE = 0.4
SHARPNESS = 2.0
"""The judge of halves is trained with smoothed labels and is therefore too modest; odds are raised to this power."""
KEPT = 0.1
"""A place that is a tile less likely than this is passed over."""
DARK = 12.0
Known = tuple[tuple[float, float], float, float]
"""Where a tile lay before: its middle (x, y) and its length in mm, its direction in degrees."""
THICK_MM = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Where a tile may lie: its upper face's corners (4, 2) px (left and right of the first half's end, then of the
    second's, going round) and the probability that a tile lies exactly so."""

    quad: Floats
    tile: float

    @property
    def middle(self) -> Floats:
        """Centre of the upper face in px."""
        return np.asarray(self.quad.mean(axis=0), np.float32)

    @property
    def length(self) -> float:
        """Length of the upper face in px."""
        return float(np.linalg.norm(self.quad[2] + self.quad[3] - self.quad[0] - self.quad[1])) / 2

    @property
    def angle_deg(self) -> float:
        """Direction in the picture from the first half to the second, clockwise from +x."""
        along = self.quad[2] + self.quad[3] - self.quad[0] - self.quad[1]
        return math.degrees(math.atan2(float(along[1]), float(along[0])))


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """A tile and, for each half, the log-probabilities of 0..6, face down, something else."""

    spot: Spot
    halves: Floats


def squarer_map(cx: float, cy: float, length: float, angle_deg: float) -> Floats:
    """The 2x3 matrix that brings a tile of `length` px, lying at `angle_deg` about (cx, cy), level into the crop."""
    s = SQUARER_PX[0] / (SQUARER_REACH * length)
    c, n = s * np.cos(np.radians(angle_deg)), s * np.sin(np.radians(angle_deg))
    x, y = (SQUARER_PX[0] - 1) / 2, (SQUARER_PX[1] - 1) / 2
    return np.array([[c, n, x - c * cx - n * cy], [-n, c, y + n * cx - c * cy]], np.float32)


def half_maps(quad: Floats) -> tuple[Floats, Floats]:
    """The 3x3 matrices that bring the two halves of a tile (4, 2), bar to the right, into square crops."""
    side = HALF_PX / (1 + 2 * MARGIN)
    low = MARGIN * side - 0.5
    high, far = low + side, low + 2 * side
    target = np.array([[low, low], [low, high], [far, high], [far, low]], np.float32)
    q = np.ascontiguousarray(quad, np.float32)
    one = cv2.getPerspectiveTransform(q, target)
    two = cv2.getPerspectiveTransform(np.ascontiguousarray(q[[2, 3, 0, 1]]), target)
    return np.asarray(one, np.float32), np.asarray(two, np.float32)


class DominoEyes:
    """Finds and judges tiles in a picture; px only. The networks are those of `vision/models`."""

    def __init__(self) -> None:
        self._finder = Net(net_bytes("domino_finder"))
        self._squarer = Net(net_bytes("domino_squarer"))
        self._judge = Net(net_bytes("domino_halves"))

    def look(self, image: Image, known: Sequence[tuple[float, float, float, float, float]] = ()) -> list[Verdict]:
        """All that might be tiles; also looked for at `known` places, as `found` gives them."""
        pyramid = Pyramid(image)
        spots = self.squared(pyramid, [*self.found(pyramid), *known])
        return self.judged(pyramid, spots)

    def found(self, pyramid: Pyramid) -> list[tuple[float, float, float, float, float]]:
        """(cx, cy, length, angle in degrees, score) of every place that the finder takes for a tile."""
        long_side = max(pyramid.level(0).shape[:2])
        first = max(0, math.ceil(math.log2(long_side / COARSE_PX)))
        found: list[tuple[float, float, float, float, float]] = []
        for level in range(first, first + 8):
            if long_side / 2**level < 32:
                break
            found += self._on_level(pyramid, level)
        found = _thinned(found)
        level = first
        while level > 0 and (not found or min(f[2] for f in found) < FINE_ENOUGH_PX * 2**level):
            level -= 1
            if max(pyramid.level(level).shape[:2]) > 2200:
                break
            found = _thinned(found + self._on_level(pyramid, level))
        return found

    def _on_level(self, pyramid: Pyramid, level: int) -> list[tuple[float, float, float, float, float]]:
        image = pyramid.level(level)
        h, w = image.shape[:2]
        ph, pw = -h % 8, -w % 8
        if ph or pw:
            image = np.asarray(cv2.copyMakeBorder(image, 0, ph, 0, pw, cv2.BORDER_REPLICATE), np.uint8)
        out = unpacked(self._finder(normal_view(image))[0])
        heat = np.asarray(1 / (1 + np.exp(-out[0])), np.float32)
        f = float(2**level)
        found = []
        for r, c in zip(*peaks(heat, LEAST_HEAT), strict=True):
            x, y = float((c + out[1, r, c]) * STRIDE + 1.5), float((r + out[2, r, c]) * STRIDE + 1.5)
            angle = math.degrees(math.atan2(out[4, r, c], out[3, r, c])) / 2
            length = float(UNIT_PX * np.exp(np.clip(out[5, r, c], -2, 2)))
            if 11.0 <= length <= 75.0 and -2 <= x <= w + 2 and -2 <= y <= h + 2:
                found.append(((x + 0.5) * f - 0.5, (y + 0.5) * f - 0.5, length * f, angle, float(heat[r, c])))
        return found

    def squared(self, pyramid: Pyramid, places: Sequence[tuple[float, float, float, float, float]]) -> list[Spot]:
        """The exact corners of what lies at these places; what may be a tile is squared up twice."""
        first = [s for s in self._square(pyramid, [p[:4] for p in places]) if s.tile > MAYBE]
        second = self._square(pyramid, [(float(s.middle[0]), float(s.middle[1]), s.length, s.angle_deg) for s in first])
        return _distinct([s for s in second if s.tile > MAYBE])

    def _square(self, pyramid: Pyramid, places: Sequence[tuple[float, float, float, float]]) -> list[Spot]:
        if not places:
            return []
        patches, backs = [], []
        for cx, cy, length, angle in places:
            m = squarer_map(cx, cy, length, angle)
            patches.append(pyramid.patch(m, SQUARER_PX, SQUARER_REACH * length / SQUARER_PX[0]))
            backs.append(cv2.invertAffineTransform(m))
        out = self._squarer(normal(patches))
        middle = (np.array(SQUARER_PX, np.float32) - 1) / 2
        spots = []
        for row, back in zip(out, backs, strict=True):
            q = row[1:9].reshape(4, 2) * SQUARER_PX[0] + middle
            spots.append(Spot(np.asarray(q @ back[:, :2].T + back[:, 2], np.float32), float(1 / (1 + np.exp(-row[0])))))
        return spots

    def judged(self, pyramid: Pyramid, spots: Sequence[Spot]) -> list[Verdict]:
        """What both halves of each spot show."""
        if not spots:
            return []
        patches = []
        for s in spots:
            shrink = s.length / 2 * (1 + 2 * MARGIN) / HALF_PX
            for m in half_maps(s.quad):
                patches.append(pyramid.patch(m, (HALF_PX, HALF_PX), shrink))
        logs = log_softmax(self._judge(normal(patches))).reshape(len(spots), 2, 9)
        return [Verdict(s, np.asarray(h, np.float32)) for s, h in zip(spots, logs, strict=True)]


def _thinned(
    found: Sequence[tuple[float, float, float, float, float]],
) -> list[tuple[float, float, float, float, float]]:
    """The strongest of those that say the same: nearly one place, size and direction."""
    kept: list[tuple[float, float, float, float, float]] = []
    for f in sorted(found, key=lambda f: -f[4]):
        if not any(
            math.hypot(f[0] - k[0], f[1] - k[1]) < 0.2 * max(f[2], k[2])
            and max(f[2], k[2]) < 1.35 * min(f[2], k[2])
            and _turned(f[3], k[3]) < 25
            for k in kept
        ):
            kept.append(f)
    return kept


def _turned(one_deg: float, two_deg: float) -> float:
    """Angle between two directions of tiles, 0..90 degrees."""
    return abs((one_deg - two_deg + 90) % 180 - 90)


def _distinct(spots: Sequence[Spot]) -> list[Spot]:
    """The likeliest of those whose corners all but coincide."""
    kept: list[Spot] = []
    for s in sorted(spots, key=lambda s: -s.tile):
        if not any(
            float(np.linalg.norm(s.middle - k.middle)) < 0.05 * k.length
            and _turned(s.angle_deg, k.angle_deg) < 6
            and max(s.length, k.length) < 1.08 * min(s.length, k.length)
            for k in kept
        ):
            kept.append(s)
    return kept


class DominoReader:
    """Reads every tile in a picture and the line they form. Without a profile places are in px; with one (markers or
    tapped corners) in mm."""

    def __init__(self, profile: TableProfile | None = None) -> None:
        self._eyes = DominoEyes()
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
        verdicts = [v for v in self._eyes.look(image, self._known_px(known_mm)) if tile_chance(v) > KEPT]
        pieces = tuple(self._piece(v) for v in apart(verdicts))
        if not pieces:
            troubles.append("vision.too_dark" if float(image.mean()) < DARK else "vision.no_dominoes")
        return replace(blank, pieces=pieces, facts=line_facts(pieces), troubles=tuple(troubles))

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

    def _known_px(self, known_mm: Sequence[Known]) -> list[tuple[float, float, float, float, float]]:
        """Places on the table as the finder gives them: (cx, cy, length, angle, score) in px."""
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


def tile_chance(verdict: Verdict) -> float:
    """Probability that a tile lies exactly there: what the squarer and both halves say together."""
    other = np.exp(verdict.halves[:, OTHER].astype(np.float64))
    return float(verdict.spot.tile * (1 - other[0]) * (1 - other[1]))


def apart(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those that may all be there at once, since no tile lies in another: the set with the greatest sum of log odds.

    Equal halves that touch look much like a tile of their own; among the tiles of a line such ghosts are outnumbered.
    """
    clash = [{j for j, w in enumerate(verdicts) if j != i and _overlap(v, w)} for i, v in enumerate(verdicts)]
    chances = [min(max(tile_chance(v), 1e-3), 0.998) for v in verdicts]
    weight = [math.log(c / (1 - c)) + 3.0 for c in chances]
    left, kept = set(range(len(verdicts))), []
    while left:
        group, edge = set(), {min(left)}
        while edge:
            group |= edge
            edge = set().union(*(clash[i] for i in edge)) - group
        kept += _heaviest(frozenset(group), clash, weight, {})
        left -= group
    return [verdicts[i] for i in sorted(kept, key=lambda i: -weight[i])]


def _overlap(one: Verdict, two: Verdict) -> bool:
    """True when the two faces share more than a third of half a tile."""
    reach = 0.6 * (one.spot.length + two.spot.length)
    if float(np.abs(one.spot.middle - two.spot.middle).max()) > reach:
        return False
    shared = cv2.intersectConvexConvex(cv2.convexHull(one.spot.quad), cv2.convexHull(two.spot.quad))[0]
    return bool(shared > 0.08 * min(one.spot.length, two.spot.length) ** 2)


def _heaviest(
    group: frozenset[int],
    clash: Sequence[set[int]],
    weight: Sequence[float],
    known: dict[frozenset[int], list[int]],
) -> list[int]:
    """The heaviest subset of `group` without a clash: exact, by branching; greedy once that would take too long."""
    if not group:
        return []
    if group in known:
        return known[group]
    busiest = max(group, key=lambda i: (len(clash[i] & group), weight[i]))
    if not clash[busiest] & group:
        return list(group)
    if len(known) > 3000:
        busiest = max(group, key=lambda i: weight[i])
        return [busiest, *_heaviest(group - clash[busiest] - {busiest}, clash, weight, known)]
    taken = [busiest, *_heaviest(group - clash[busiest] - {busiest}, clash, weight, known)]
    passed = _heaviest(group - {busiest}, clash, weight, known)
    best = max(taken, passed, key=lambda c: sum(weight[i] for i in c))
    known[group] = best
    return best


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
