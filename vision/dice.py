"""Pip dice anywhere in a picture: where each lies, its upper face, or that it leans; unsure where it is unsure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.die_outline import alone, outlined
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
    normal_view,
    peaks,
    square_map,
    thinned,
    unpacked,
)
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Covers, Registration, printed
from vision.tray_rim import crossings, floor_sides, is_tray

VALUES = ("1", "2", "3", "4", "5", "6")
JUDGE_PX = 56
JUDGE_REACH = 1.7
"""Side of the judge's crop over the mean side of the die's box."""
UNIT_PX = 14.0
"""Box side that the finder calls one."""
COCKED, NONE = 6, 7
"""The judge's classes after the values 1..6."""
LEAST_HEAT, FAINT_HEAT = 0.35, 0.12
"""Where the finder sees a die, and where it may have overlooked one that others touch."""
EVEN, LIKELY, PLAIN, CLEAR = (math.log(p) for p in (0.5, 0.7, 0.95, 0.98))
SMALLEST_LEVEL_PX = 40
FINEST_PX = 2200
PIP_SHARE = 0.3
"""No pip is larger than this share of its die's box."""
PART, ASIDE = (0.45, 0.8), 0.15
"""Sides of a heap's dice in sides of the heap, and how far at least from its middle they lie."""
USUAL, APART, MOST_OVERLOOKED = 0.35, (0.72, 1.5), 4
"""A die that was overlooked is of the usual size (natural log), at such distances from the nearest (usual sides); no
more places are looked at."""
KEPT = math.log(0.9)
"""A place that is no die more likely than this is passed over."""
DARK = 12.0
BOX_EDGES = 1.27
SHARPNESS, KIND_SHARPNESS = 3.5, 2.2
"""The judges learn from pictures much worse than real ones and are therefore too modest: the odds of one value against
another are raised to the first power, those of a value against leaning and against no die, where they err more often,
to the second. Chosen on simulated pictures and photographs not trained on."""
COARSE_PX = 520
"""The first search runs on the picture reduced to at most this long side; smaller dice are sought on finer levels."""
FINE_ENOUGH_PX = 11.0
"""When the smallest die of a search measures less than this on its finest level, the next finer one is searched too."""
LEANS_FROM, LEANS_RATE, LEANS_AT_MOST = 0.18, 14.0, 2.0
"""An upright edge that is off by the first (in sides of the box) speaks neither way; what it is further off speaks for
leaning at the second (natural log odds a side), what it is nearer for lying flat; never by more than the third. Fitted
to simulated dice."""
FREE_OF_DICE, FREE_OF_RIM, FREE = 1.9, 1.4, 3.0
"""A die whose middle is further than so many edges from all others and from the rim has nothing to lean on: leaning is
less likely by the third (natural log odds; the places may be wrong)."""
DOUBT = math.log(0.02)
"""Where no die with a value may lean with more than this probability, no rim can change what is said."""
SLIGHT, ALONE = math.log(0.004), 1.5
"""A die that may lean with more than the first probability, but about which nothing but floor is seen, leans less
likely by the second (natural log odds), where no rim is known."""
RIM_EDGES, AT_RIM = 0.9, 1.5
"""A die nearer to the rim than so many edges touches it: leaning is more likely by the second."""
OUTLINED, BARE = 0.5, 8.0
"""Where fewer rays than this share cross an outline there is no die, with the second as natural log odds."""
ODD_FROM, ODD_RATE, ODD_AT_MOST = 0.75, 6.0, 8.0
"""A place larger or smaller than the usual die by more than the first (natural log of sides; dice of one game differ by
a half) is no die, by the second (natural log odds a unit); never by more than the third."""
MORE_TURNS = (45.0, 90.0, 180.0, 225.0, 270.0, 315.0)
"""How a place in doubt is turned (degrees) for further looks."""
Sizes = Callable[[Found], float]
"""Tells the side (px) of the box of a die at a place."""
OTHERS = 2
"""So many other dice tell how the upright edge of a die that lies flat points, where no camera is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the judge says of one place: log-probabilities of the values 1..6, leaning, no die; the corrected box; and
    the upright edge from base to top in units of the box's side, in picture axes."""

    place: Found
    logs: Floats
    up: tuple[float, float]
    alone: bool = False
    """Whether it lies alone on plain floor."""


def found(pyramid: Pyramid, finder: Net, level: int) -> list[Found]:
    """Places that the finder takes for dice on one level of the pyramid (full-size px)."""
    return strong(seen(pyramid, finder, level))


def seen(pyramid: Pyramid, finder: Net, level: int) -> Floats:
    """What the finder sees on one level of the pyramid, however faintly: (n, 5) middle and size of its box in full-size
    px, and how strongly (0..1)."""
    image = pyramid.level(level)
    h, w = image.shape[:2]
    ph, pw = -h % 8, -w % 8
    if ph or pw:
        image = np.asarray(cv2.copyMakeBorder(image, 0, ph, 0, pw, cv2.BORDER_REPLICATE), np.uint8)
    out = unpacked(finder(normal_view(image))[0])
    heat = np.asarray(1 / (1 + np.exp(-out[0])), np.float32)
    r, c = peaks(heat, FAINT_HEAT)
    x, y = (c + out[1, r, c]) * STRIDE + 1.5, (r + out[2, r, c]) * STRIDE + 1.5
    wide, high = UNIT_PX * np.exp(np.clip(out[3:5, r, c], -2, 2))
    side = (wide + high) / 2
    fits = (side >= 5.0) & (side <= 34.0) & (x >= -2) & (x <= w + 2) & (y >= -2) & (y <= h + 2)
    f = float(2**level)
    places = np.stack([(x + 0.5) * f - 0.5, (y + 0.5) * f - 0.5, wide * f, high * f, heat[r, c]], axis=1)
    return np.asarray(places[fits], np.float32)


def strong(places: Floats) -> list[Found]:
    """Those of the places (n, 5) that are seen strongly enough, one at each spot."""
    return thinned([Found(*row) for row in places[places[:, 4] >= LEAST_HEAT].tolist()], 0.45, 1.8)


def _together(looks: Sequence[Verdict]) -> Verdict:
    """The mean of several looks at one place (geometric, so that one that objects counts), at the place of the second:
    that was squared up anew."""
    logs, ups = np.mean([v.logs for v in looks], axis=0), np.mean([v.up for v in looks], axis=0)
    return Verdict(looks[1].place, log_softmax(np.asarray(logs, np.float32)), (float(ups[0]), float(ups[1])))


def sized(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts with what their size says: dice that lie together are of about one size, and what is several times
    smaller or larger than the clear ones is rather a pip, a print or a knob."""
    clear = [v.place.side for v in verdicts if v.logs[:6].max() > CLEAR]
    if len(clear) < 2:
        return list(verdicts)
    usual = float(np.median(clear))
    return [of_size(v, usual) for v in verdicts]


def of_size(verdict: Verdict, usual_px: float) -> Verdict:
    """The verdict with what its size says where dice are usually that large."""
    logs = verdict.logs.copy()
    logs[NONE] += min(max(abs(math.log(verdict.place.side / usual_px)) - ODD_FROM, 0.0) * ODD_RATE, ODD_AT_MOST)
    return replace(verdict, logs=log_softmax(logs))


def _bare(verdict: Verdict) -> Verdict:
    """The verdict on a place without an outline: pips alone make no die."""
    logs = verdict.logs.copy()
    logs[NONE] += BARE
    return replace(verdict, logs=log_softmax(logs))


def _within(place: Found, verdicts: Sequence[Verdict]) -> bool:
    """True for a place on a die whose value is already clear: a pip, a corner, or the same die again. A smaller die
    aside of its middle may show that it is a heap."""
    return any(
        _off(place, v.place) < 0.45 * v.place.side
        and v.logs[:6].max() > CLEAR
        and not (PART[0] < place.side / v.place.side < PART[1] and _off(place, v.place) > ASIDE * v.place.side)
        for v in verdicts
    )


def _off(one: Found, two: Found) -> float:
    return math.hypot(one.cx - two.cx, one.cy - two.cy)


def overlooked(faint: Floats, verdicts: Sequence[Verdict]) -> list[Found]:
    """Of places (n, 5) where the finder sees little those where a die of the usual size would touch two others: dice
    that others touch on all sides have hardly any outline."""
    dice = np.array([(v.place.cx, v.place.cy) for v in verdicts if v.logs[NONE] < EVEN])
    clear = [v.place.side for v in verdicts if v.logs[:6].max() > CLEAR]
    if len(clear) < 2:
        return []
    usual = float(np.median(clear))
    fits = faint[np.abs(np.log((faint[:, 2] + faint[:, 3]) / 2 / usual)) < USUAL]
    far = np.linalg.norm(fits[:, None, :2] - dice, axis=2) / usual
    near = fits[(far.min(axis=1, initial=np.inf) > APART[0]) & (np.count_nonzero(far < APART[1], axis=1) > 1)]
    return thinned([Found(*row) for row in near.tolist()], 0.45, 1.8)[:MOST_OVERLOOKED]


def apart(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The likeliest dice of those that lie on each other.

    No die lies in another: what holds a die that shows two pips or more is no die but a tray or a heap; what then still
    lies on a much larger die and looks like an ace is one of its pips.
    """
    possible = [v for v in verdicts if v.logs[NONE] < EVEN]
    heaps = [v for v in possible if any(_heap(v, k) for k in possible) or _pair(v, possible)]
    left = [v for v in verdicts if not any(v is h for h in heaps)]
    dice = [v for v in left if v.logs[NONE] < EVEN]
    kept: list[Verdict] = []
    for v in sorted(left, key=lambda v: float(v.logs[NONE])):
        pip = any(_holds(k.place, v.place) for k in dice)
        if not pip and not any(_same(v.place, k.place) for k in kept):
            kept.append(v)
    return kept


def _heap(large: Verdict, small: Verdict) -> bool:
    """True when the small one is a die of two pips or more and lies in the large one, so that this is none. A pip with
    its gleam may look like a two: what is no larger than a pip of a likely die must plainly be one."""
    pip = small.place.side < PIP_SHARE * large.place.side and large.logs[:6].max() > EVEN
    two, more = small.logs[1] > (PLAIN if pip else LIKELY), small.logs[2:6].max() > LIKELY
    return _holds(large.place, small.place) and bool(two or more)


def _pair(large: Verdict, possible: Sequence[Verdict]) -> bool:
    """True when two plain dice beside each other lie in the large one, which is a heap then."""
    parts = [
        v.place
        for v in possible
        if v.logs[:6].max() > PLAIN
        and PART[0] < v.place.side / large.place.side < PART[1]
        and _off(v.place, large.place) < 0.5 * large.place.side
    ]
    return any(_off(a, b) > 0.3 * (a.side + b.side) for a, b in itertools.combinations(parts, 2))


def _holds(large: Found, small: Found) -> bool:
    """True when the small place lies in the large one and is less than half its size."""
    reach = 0.5 * large.side
    return small.side < 0.5 * large.side and max(abs(small.cx - large.cx), abs(small.cy - large.cy)) < reach


def _same(one: Found, two: Found) -> bool:
    """True for two places of about one size whose middles are nearer than those of touching dice can be."""
    return _off(one, two) < 0.42 * max(one.side, two.side)


class DiceEyes:
    """Finds and judges dice in a picture; px only. The networks are those of `vision/models`."""

    def __init__(self) -> None:
        self._finder = Net(net_bytes("dice_finder"))
        self._judge = Net(net_bytes("dice_judge"))
        # Trained on worse crops: its errors are others.
        self._second = Net(net_bytes("dice_second"))

    def look(self, image: Image, covers: Covers | None = None, usual_px: Sizes | None = None) -> list[Verdict]:
        """All that might be dice, likeliest first; large ones are sought first, so that no pip of theirs is asked.
        Nothing is looked for where `covers` says that something else lies; `usual_px` says how large a die is where."""
        pyramid = Pyramid(image)
        long_side = max(image.shape[:2])
        first = max(0, math.ceil(math.log2(long_side / COARSE_PX)))
        last = max(first, math.floor(math.log2(long_side / SMALLEST_LEVEL_PX)))
        verdicts: list[Verdict] = []
        faint: list[Floats] = []
        for level in range(last, -1, -1):
            sides = [v.place.side for v in verdicts if v.logs[NONE] < EVEN]
            if level < first and sides and min(sides) > FINE_ENOUGH_PX * 2 ** (level + 1):
                break
            if level < first and max(pyramid.level(level).shape[:2]) > FINEST_PX:
                break
            here = seen(pyramid, self._finder, level)
            faint.append(here[here[:, 4] < LEAST_HEAT])
            places = [p for p in strong(here) if not _within(p, verdicts)]
            judged = self.judged(pyramid, [p for p in places if covers is None or not covers((p.cx, p.cy))])
            if usual_px is not None:
                judged = [of_size(v, usual_px(v.place)) for v in judged]
            verdicts = apart([*verdicts, *judged])
        places = overlooked(np.concatenate(faint), verdicts)
        more = self.judged(pyramid, [p for p in places if covers is None or not covers((p.cx, p.cy))])
        verdicts = apart([*verdicts, *(v for v in more if v.logs[:6].max() > LIKELY)])
        return [
            replace(v, alone=True) if v.logs[COCKED] > SLIGHT and alone(pyramid, v.place) else v
            for v in sized(verdicts)
        ]

    def judged(self, pyramid: Pyramid, places: Sequence[Found]) -> list[Verdict]:
        """A verdict on each place: looked at twice, the second time squared up anew and turned; what is doubtful then,
        from more sides by a second judge."""
        if not places:
            return []
        first = self._pass(pyramid, places, [0.0] * len(places))
        again = self._pass(pyramid, [v.place for v in first], [135.0] * len(places))
        verdicts = [_together(looks) for looks in zip(first, again, strict=True)]
        unsure = [i for i, v in enumerate(verdicts) if v.logs.max() < CLEAR and v.logs[NONE] < EVEN]
        turns = [turn for turn in MORE_TURNS for _ in unsure]
        more = self._pass(pyramid, [verdicts[i].place for i in unsure] * len(MORE_TURNS), turns, self._second)
        for k, i in enumerate(unsure):
            verdicts[i] = _together([first[i], again[i], *more[k :: len(unsure)]])
        return [_bare(v) if v.logs[:6].max() > EVEN and outlined(pyramid, v.place) < OUTLINED else v for v in verdicts]

    def _pass(
        self, pyramid: Pyramid, places: Sequence[Found], turns: Sequence[float], judge: Net | None = None
    ) -> list[Verdict]:
        if not places:
            return []
        patches, maps = [], []
        for p, turn in zip(places, turns, strict=True):
            reach = p.side * JUDGE_REACH
            m = square_map(p.cx, p.cy, reach, turn, JUDGE_PX)
            patches.append(pyramid.patch(m, (JUDGE_PX, JUDGE_PX), reach / JUDGE_PX))
            maps.append(m)
        out = (judge or self._judge)(normal(patches))
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
        verdicts = [leaning(v, self._upright(v, verdicts)) for v in verdicts]
        places = [v.place for v in verdicts if v.logs[NONE] < KEPT]
        if any(v.logs[COCKED] > DOUBT and v.logs[:6].max() > EVEN for v in verdicts):
            supports = self._supports(places, image)
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

    def _upright(self, verdict: Verdict, verdicts: Sequence[Verdict]) -> Floats | None:
        if self._camera is not None:
            return upright(verdict.place, self._camera, self._edge_mm)
        return usual_upright([v for v in verdicts if v is not verdict and v.logs[NONE] < EVEN])

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


def upright(place: Found, camera: Camera, edge_mm: float) -> Floats:
    """How the upright edge of a die that lies flat there looks to this camera, in sides of the box: it points away from
    the point under the camera, by a known share of the die."""
    foot = camera.to_plane(np.array([[place.cx, place.cy]]), edge_mm / 2)[0]
    ends = camera.project(np.array([[*foot, 0.0], [*foot, edge_mm], [foot[0] + edge_mm, foot[1], 0.0]]))
    share = (ends[1] - ends[0]) / max(float(np.linalg.norm(ends[2] - ends[0])), 1e-6)
    # A square's box is 1.27 of its edge wide, averaged over its directions; the upright edge adds to it.
    return np.asarray(share / (BOX_EDGES + 0.6 * float(np.linalg.norm(share))), np.float32)


def usual_upright(others: Sequence[Verdict]) -> Floats | None:
    """How the upright edges of the picture's other dice point: their geometric median, each as likely as it lies flat.

    None where too few others are seen to say so. Upright edges of one picture are all but parallel.
    """
    if len(others) < OTHERS:
        return None
    ups = np.array([v.up for v in others], np.float64)
    flat = np.exp([v.logs[:6] for v in others]).sum(axis=1) + 1e-6
    middle = flat @ ups / flat.sum()
    for _ in range(15):
        near = flat / np.maximum(np.hypot(*(ups - middle).T), 0.03)
        middle = near @ ups / near.sum()
    return np.asarray(middle, np.float32)


def support(which: int, spots_mm: NDArray[np.float64], rim_mm: NDArray[np.float64], edge_mm: float) -> float:
    """How much likelier than usual a die leans (natural log odds): more at the rim, less where it is far from all that
    it might lean on. `spots_mm` (N, 2) are the dice's middles, `rim_mm` (4, 2) the corners of the tray's floor."""
    here = spots_mm[which]
    inside = cv2.pointPolygonTest(rim_mm.astype(np.float32), (float(here[0]), float(here[1])), True) / edge_mm
    alone = np.count_nonzero(np.linalg.norm(spots_mm - here, axis=1) < FREE_OF_DICE * edge_mm) == 1
    return AT_RIM if 0 < inside < RIM_EDGES else -FREE if inside > FREE_OF_RIM and alone else 0.0


def leaning(verdict: Verdict, expected: Floats | None, support: float = 0.0) -> Verdict:
    """The verdict with what the upright edge says, given how that of a die that lies flat looks there (None where that
    is not known), and with what its place says for leaning (natural log odds)."""
    logs = verdict.logs.copy()
    logs[COCKED] += support
    if expected is not None:
        off = float(np.hypot(*(np.array(verdict.up) - expected)))
        logs[COCKED] += np.clip((off - LEANS_FROM) * LEANS_RATE, -LEANS_AT_MOST, LEANS_AT_MOST)
    return replace(verdict, logs=log_softmax(logs))


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
