"""Dominoes anywhere in a picture: every tile with both halves, face-down tiles, and the line they form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.domino_choice import FACE_DOWN, LIKELY, THICK_MM, Spot, Verdict, alike, apart, tile_chance, wholes
from vision.domino_neighbours import Place, neighbours
from vision.dominoes_line import line_facts
from vision.pictures import as_bgr
from vision.pips import STRIDE, Floats, Net, Pyramid, log_softmax, net_bytes, normal, normal_view, peaks, unpacked
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Covers, Registration, printed

VALUES = ("0", "1", "2", "3", "4", "5", "6")
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
"""While the smallest likely tile measures less than this on the finest level searched, the next finer one is too."""
FINEST_PX = 2200
MAYBE = 0.4
SHARPNESS = 2.0
"""The judge of halves is trained with smoothed labels and is therefore too modest; odds are raised to this power."""
ROUNDS, PUT = 3, 0.03
"""A spot is squared up anew at most so often, until it moves by less than the second (in tile lengths)."""
SURE_TILE, MORE_LOOKS = 0.99, ((180.0, 1.0), (0.0, 1.05), (180.0, 0.95))
"""Where a spot is less likely to be a tile than the first it is looked at again so: turned (degrees), its length taken
so many times as long."""
CLEAR, NEARER = math.log(0.98), (0.97, 1.04)
"""A half whose likeliest value is less likely than the first is looked at again, its tile taken so many times as
large."""
SURELY, SAME_LENGTH, SAME_DEG = 0.95, 0.05, 3.0
"""A spot is not squared up anew that is likelier than the first to be a tile, and of which length (natural log) and
direction are what the finder said."""
KEPT = 0.1
"""A place that is a tile less likely than this is passed over."""
DARK = 12.0
PIP_LINE, CORNERS = (0.25, 0.5, 0.75), (0.25, 0.75)
"""Where along a half a line of three pips lies, and the pips of a four: parts of its side."""
PLAIN_LEVELS = 20.0
"""Grey levels between pips and their tile from which pips can be told from none."""
Known = tuple[tuple[float, float], float, float]
"""Where a tile lay before: its middle (x, y) and its length in mm, its direction in degrees."""


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

    def look(self, image: Image, known: Sequence[Place] = (), covers: Covers | None = None) -> list[Verdict]:
        """All that might be tiles; also looked for at `known` places, and nowhere that `covers` says to be covered by
        something else."""
        pyramid = Pyramid(image)
        long_side = max(image.shape[:2])
        first = max(0, math.ceil(math.log2(long_side / COARSE_PX)))
        coarse = [
            p
            for k in range(first, first + 8)
            if k == first or long_side / 2**k >= 32
            for p in self._on_level(pyramid, k, covers)
        ]
        verdicts = self.judged(pyramid, self.squared(pyramid, [*_thinned(coarse), *known]))
        for level in range(first - 1, -1, -1):
            sides = [v.spot.length for v in alike([v for v in verdicts if tile_chance(v) > LIKELY], None)]
            if max(pyramid.level(level).shape[:2]) > FINEST_PX or min(sides, default=0) >= FINE_ENOUGH_PX * 2 ** (
                level + 1
            ):
                break
            finer = _thinned(self._on_level(pyramid, level, covers))
            verdicts += self.judged(pyramid, self.squared(pyramid, finer))
        for more in (wholes, *[_next_in_line(pyramid)] * ROUNDS):
            places = [p for p in more(verdicts) if covers is None or not covers(p[:2])]
            new = self.judged(pyramid, self.squared(pyramid, places))
            verdicts += new
            if more is not wholes and not any(tile_chance(v) > LIKELY for v in new):
                break
        return verdicts

    def _on_level(self, pyramid: Pyramid, level: int, covers: Covers | None) -> list[Place]:
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
                at = ((x + 0.5) * f - 0.5, (y + 0.5) * f - 0.5)
                if covers is None or not covers(at):
                    found.append((*at, length * f, angle, float(heat[r, c])))
        return found

    def squared(self, pyramid: Pyramid, places: Sequence[Place]) -> list[Spot]:
        """The exact corners of what lies at these places; what may be a tile is squared up anew until it stays put."""
        first = [(s, _lies(s, p)) for s, p in zip(self._square(pyramid, [p[:4] for p in places]), places, strict=True)]
        settled = [s for s, lies in first if lies and s.tile > SURELY]
        moving = _distinct([s for s, lies in first if s.tile > MAYBE and not (lies and s.tile > SURELY)], 2.0)
        for _ in range(ROUNDS):
            again = self._square(pyramid, [(*s.middle, s.length, s.angle_deg) for s in moving])
            pairs = [(old, new) for old, new in zip(moving, again, strict=True) if new.tile > MAYBE]
            settled += [new for old, new in pairs if math.dist(old.middle, new.middle) < PUT * new.length]
            moving = [new for old, new in pairs if math.dist(old.middle, new.middle) >= PUT * new.length]
        return self._surer(pyramid, _distinct([*settled, *moving]))

    def _surer(self, pyramid: Pyramid, spots: Sequence[Spot]) -> list[Spot]:
        """The spots, those in doubt looked at from the other end too, and from a little nearer and further off."""
        doubtful = [i for i, s in enumerate(spots) if s.tile < SURE_TILE]
        ways = [(i, turn, grow) for i in doubtful for turn, grow in MORE_LOOKS]
        more = self._square(
            pyramid, [(*spots[i].middle, spots[i].length * grow, spots[i].angle_deg + turn) for i, turn, grow in ways]
        )
        out = list(spots)
        for k, i in enumerate(doubtful):
            looks = [spots[i], *more[k * len(MORE_LOOKS) : (k + 1) * len(MORE_LOOKS)]]
            odds = float(np.mean([math.log(max(s.tile, 1e-6) / max(1 - s.tile, 1e-6)) for s in looks]))
            out[i] = replace(spots[i], tile=1 / (1 + math.exp(-odds)))
        return out

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
        """What both halves of each spot show; those in doubt are looked at again, mirrored, nearer and further off."""
        if not spots:
            return []
        patches = [patch for s in spots for patch in _halves(pyramid, s, 1.0)]
        logs = log_softmax(self._judge(normal(patches)))
        doubtful = [i for i, row in enumerate(logs) if row.max() < CLEAR]
        if doubtful:
            more = [_halves(pyramid, spots[i // 2], grow)[i % 2] for grow in NEARER for i in doubtful]
            looks = [*(patches[i][::-1] for i in doubtful), *more, *(m[::-1] for m in more)]
            again = log_softmax(self._judge(normal(looks))).reshape(-1, len(doubtful), logs.shape[1])
            logs[doubtful] = log_softmax((logs[doubtful] + again.sum(axis=0)) / (1 + len(again)))
        for row, patch in zip(logs, patches, strict=True):
            if row.argmax() in (5, 6) and beyond_six(patch, int(row.argmax())):
                row[:7] = np.logaddexp.reduce(row[:7]) - math.log(7)
        logs = logs.reshape(len(spots), 2, 9)
        return [Verdict(s, np.asarray(h, np.float32)) for s, h in zip(spots, logs, strict=True)]


def _halves(pyramid: Pyramid, spot: Spot, grow: float) -> list[Image]:
    """The crops (40 x 40 BGR) of both halves of a tile whose face is taken `grow` times as large."""
    quad = np.asarray((spot.quad - spot.middle) * grow + spot.middle, np.float32)
    shrink = spot.length * grow / 2 * (1 + 2 * MARGIN) / HALF_PX
    return [pyramid.patch(m, (HALF_PX, HALF_PX), shrink) for m in half_maps(quad)]


def beyond_six(patch: Image, value: int) -> bool:
    """True when a half's crop (40 x 40 BGR) that passes for a five or a six has pips where those have none: a tile of
    a larger set (seven to nine), of which the judge of halves knows nothing."""
    colours = cv2.blur(np.asarray(patch, np.float32), (3, 3))
    rim = round(MARGIN * HALF_PX / (1 + 2 * MARGIN))
    face = np.median(colours[rim:-rim, rim:-rim].reshape(-1, 3), axis=0)  # pips cover less than half of any tile
    levels = np.asarray(np.abs(colours - face).max(axis=2), np.float32)
    ways = [_pips_between(each) for each in (levels, levels.T)]
    return any(ways[0][::2] + ways[1][::2]) if value == 5 else all(any(way) for way in ways)


def _pips_between(levels: Floats) -> list[bool]:
    """Whether there are pips between the two lines of a six that lie along this crop, at each place of a line; from how
    far each pixel is from the tile's own colour."""
    side = HALF_PX / (1 + 2 * MARGIN)

    def at(xs: Sequence[float], ys: Sequence[float]) -> Floats:
        columns, rows = (np.rint(MARGIN * side + side * np.array(each)).astype(int) for each in (xs, ys))
        return np.asarray(levels[np.ix_(rows, columns)], np.float32)

    # Makers put their pips a little nearer together or farther apart.
    levels = np.asarray(cv2.dilate(levels, np.ones((3, 3), np.uint8)), np.float32)
    pips = float(np.median(at(CORNERS, CORNERS)))
    return [bool(pips > PLAIN_LEVELS and x > 0.5 * pips) for x in at(PIP_LINE, (0.5,)).ravel()]


def _thinned(
    found: Sequence[Place],
) -> list[Place]:
    """The strongest of those that say the same: nearly one place, size and direction."""
    kept: list[Place] = []
    for f in sorted(found, key=lambda f: -f[4]):
        if not any(
            math.hypot(f[0] - k[0], f[1] - k[1]) < 0.2 * max(f[2], k[2])
            and max(f[2], k[2]) < 1.35 * min(f[2], k[2])
            and _turned(f[3], k[3]) < 25
            for k in kept
        ):
            kept.append(f)
    return kept


def _lies(spot: Spot, place: Place) -> bool:
    """True when the finder's place was so exact that squaring up anew would change nothing."""
    return (
        math.dist(spot.middle, place[:2]) < PUT * spot.length
        and abs(math.log(spot.length / place[2])) < SAME_LENGTH
        and _turned(spot.angle_deg, place[3]) < SAME_DEG
    )


def _turned(one_deg: float, two_deg: float) -> float:
    """Angle between two directions of tiles, 0..90 degrees."""
    return abs((one_deg - two_deg + 90) % 180 - 90)


def _distinct(spots: Sequence[Spot], loose: float = 1.0) -> list[Spot]:
    """The likeliest of those whose corners all but coincide (`loose` times as far apart as where all is settled)."""
    kept: list[Spot] = []
    for s in sorted(spots, key=lambda s: -s.tile):
        if not any(
            math.dist(s.middle, k.middle) < 0.05 * loose * k.length
            and _turned(s.angle_deg, k.angle_deg) < 6 * loose
            and max(s.length, k.length) < (1 + 0.08 * loose) * min(s.length, k.length)
            for k in kept
        ):
            kept.append(s)
    return kept


def _next_in_line(pyramid: Pyramid) -> Callable[[Sequence[Verdict]], list[Place]]:
    return lambda verdicts: neighbours(pyramid, apart(alike(verdicts, None)))


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
        pieces = tuple(self._piece(v) for v in apart(alike(verdicts, self._camera)))
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
