"""The eyes for dominoes: a network finds places on levels of a picture, others square up and judge what lies there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from devices.contract import Image
from vision.domino_choice import FACE_DOWN, LIKELY, Spot, Verdict, alike, apart, overlap, sizes, tile_chance, wholes
from vision.domino_halves import beyond_six, halves
from vision.domino_neighbours import Place, neighbours, of_material
from vision.domino_pips import agree
from vision.domino_squares import square
from vision.pips import STRIDE, Floats, Net, Pyramid, log_softmax, net_bytes, normal, normal_view, peaks, unpacked
from vision.registration import Covers

UNIT_PX = 28.0
"""Tile length that the finder calls one."""
LEAST_HEAT = 0.36
COARSE_PX, SMALLEST_VIEW_PX = 680, 32
"""The first search runs on the picture reduced to at most the first long side; larger tiles are sought on coarser
views, down to the second, smaller ones on finer views."""
LARGE_PX = 45.0
"""Where clear tiles measure less than this in the first search there are none that it cannot see for their size: those
of a set are alike."""
NEAR, USUAL = 0.6, 0.3
"""Of places of which the middles are nearer than the first (in lengths) the strongest is looked at before the others;
so are those of which the length is nearer to the usual than the second (natural log)."""
FINE_ENOUGH_PX = 18.0
"""While the smallest likely tile measures less than this on the finest level searched, the next finer one is too."""
FINEST_PX = 2200
MAYBE = 0.4
GLANCE, GLANCE_NONE = math.log(0.8), 0.005
"""No half of a tile that is clear at a glance is less likely than the first in either look to show what it seems to; a
place less likely than the second to hold a tile holds none."""
SAME = 0.2
"""Nothing else lies where a clear tile's middle is nearer than this (in its lengths)."""
NEVER = np.array([-5.0] * 8 + [-6.5], np.float32)
MOST_TILE = 0.9994
"""However clear a tile is, no other number, nothing else than a tile, is less likely than the first (natural log), and
a tile not likelier than the second: those who weigh readings against each other count on doubt being left."""
WITNESS = 3.0
"""Where the pips, looked up by hand, lie as both halves say, these are likelier by this (natural log odds)."""
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


class DominoEyes:
    """Finds and judges tiles in a picture; px only. The networks are those of `vision/models`."""

    def __init__(self) -> None:
        self._finder = Net(net_bytes("domino_finder"))
        self._quick = Net(net_bytes("domino_glance"))
        self._squarer = Net(net_bytes("domino_squarer"))
        self._judge = Net(net_bytes("domino_halves"))

    def look(self, image: Image, known: Sequence[Place] = (), covers: Covers | None = None) -> list[Verdict]:
        """All that might be tiles; also looked for at `known` places, and nowhere that `covers` says to be covered by
        something else."""
        pyramid = Pyramid(image)
        long_side = max(image.shape[:2])
        shrink = first = 2.0 ** max(0, math.ceil(math.log2(long_side / COARSE_PX)))
        fine = self._seen(pyramid, first, covers)
        verdicts = self.read(pyramid, [*_thinned(fine), *known], [])
        clear = [v.spot.length for v in verdicts if v.clear]
        if len(clear) < 2 or max(clear) > LARGE_PX * first:
            shrinks = [first * 2**k for k in range(1, 8) if long_side >= SMALLEST_VIEW_PX * first * 2**k]
            coarse = [p for s in shrinks for p in self._seen(pyramid, s, covers)]
            verdicts += self.read(pyramid, [p for p in _thinned([*fine, *coarse]) if p not in fine], verdicts)
        while shrink > 1:
            sides = [v.spot.length for v in alike([v for v in verdicts if tile_chance(v) > LIKELY], None)]
            if long_side > FINEST_PX * shrink / 2 or min(sides, default=0) >= FINE_ENOUGH_PX * shrink:
                break
            shrink /= 2
            verdicts += self.read(pyramid, _thinned(self._seen(pyramid, shrink, covers)), verdicts)
        for more in (wholes, *[_next_in_line(pyramid)] * ROUNDS):
            places = [p for p in more(verdicts) if covers is None or not covers(p[:2])]
            new = self.read(pyramid, places, verdicts)
            verdicts += new
            if more is not wholes and not any(tile_chance(v) > LIKELY for v in new):
                break
        return verdicts

    def read(self, pyramid: Pyramid, places: Sequence[Place], known: Sequence[Verdict]) -> list[Verdict]:
        """What lies at these places: at a glance where that is clear, after a closer look where it is not, and nothing
        where the tiles that are clear leave no room."""
        clear: list[Verdict] = []
        unclear: list[tuple[Place, Spot]] = []
        left = _free(places, known)
        usual = float(np.median([p[2] for p in left])) if left else 0.0
        while left:
            # First the strongest of those that lie on each other, of the usual size: where they are clear, the others
            # need no glance.
            wave = _strongest([p for p in left if abs(math.log(p[2] / usual)) < USUAL] or left)
            found, rest = self._glance(pyramid, wave)
            clear, unclear = [*clear, *found], [*unclear, *rest]
            left = _free([p for p in left if p not in wave], clear)
            left = _possible(pyramid, [(p, _spot(p)) for p in left], clear)
        clear_ones = [*(v for v in known if v.clear), *clear]
        possible = _possible(pyramid, unclear, clear_ones)
        return [*clear, *self.judged(pyramid, self.squared(pyramid, _free(possible, clear)))]

    def _glance(self, pyramid: Pyramid, places: Sequence[Place]) -> tuple[list[Verdict], list[tuple[Place, Spot]]]:
        """The tiles that are clear at a glance, and the places that are not, with what seems to lie there.

        A tile is clear where the glance is sure and its pips, looked up by hand, agree. What may be clear then is
        looked at once more, squared up anew and from the other end.
        """
        spots, shown = self._shown(pyramid, [p[:4] for p in places])
        unclear = [(p, s) for p, s in zip(places, spots, strict=True) if s.tile > GLANCE_NONE]
        likely = {
            s: h
            for s, h in zip(spots, shown, strict=True)
            if s.tile > MAYBE and h.max(axis=1).min() > GLANCE and h.argmax(axis=1).max() < FACE_DOWN
        }
        promising = _distinct(list(likely))
        clear = _clear(pyramid, promising, [likely[s] for s in promising])
        left = [s for s in promising if not any(s.quad is v.spot.quad for v in clear)]
        again, turned = self._shown(pyramid, [(*s.middle, s.length, s.angle_deg + 180) for s in left])
        second, both = [], []
        for one, two, other in zip(left, again, turned, strict=True):
            tile = 1 / (1 + math.exp(-(_log_odds(one.tile) + _log_odds(two.tile)) / 2))
            second.append(Spot(np.asarray(two.quad[[2, 3, 0, 1]], np.float32), tile))
            both.append(log_softmax((likely[one] + other[::-1]) / 2))
        return [*clear, *_clear(pyramid, second, both)], unclear

    def _shown(
        self, pyramid: Pyramid, places: Sequence[tuple[float, float, float, float]]
    ) -> tuple[list[Spot], Floats]:
        """What a glance at each place shows: its corners, and the log-probabilities (n, 2, 8) of 0..6 and face down."""
        spots, logits = square(self._quick, pyramid, places)
        return spots, log_softmax(logits.reshape(-1, 2, 8))

    def _seen(self, pyramid: Pyramid, shrink: float, covers: Covers | None) -> list[Place]:
        """Places that the finder takes for tiles in the picture reduced `shrink` times."""
        image = pyramid.level(round(math.log2(shrink)))
        h, w = image.shape[:2]
        ph, pw = -h % 8, -w % 8
        if ph or pw:
            image = np.asarray(cv2.copyMakeBorder(image, 0, ph, 0, pw, cv2.BORDER_REPLICATE), np.uint8)
        out = unpacked(self._finder(normal_view(image))[0])
        heat = np.asarray(1 / (1 + np.exp(-out[0])), np.float32)
        found = []
        for r, c in zip(*peaks(heat, LEAST_HEAT), strict=True):
            x, y = float((c + out[1, r, c]) * STRIDE + 1.5), float((r + out[2, r, c]) * STRIDE + 1.5)
            angle = math.degrees(math.atan2(out[4, r, c], out[3, r, c])) / 2
            length = float(UNIT_PX * np.exp(np.clip(out[5, r, c], -2, 2)))
            if 11.0 <= length <= 75.0 and -2 <= x <= w + 2 and -2 <= y <= h + 2:
                at = ((x + 0.5) * shrink - 0.5, (y + 0.5) * shrink - 0.5)
                if covers is None or not covers(at):
                    found.append((*at, length * shrink, angle, float(heat[r, c])))
        return found

    def squared(self, pyramid: Pyramid, places: Sequence[Place]) -> list[Spot]:
        """The exact corners of what lies at these places; what may be a tile is squared up anew until it stays put."""
        spots = square(self._squarer, pyramid, [p[:4] for p in places])[0]
        first = [(s, _lies(s, p)) for s, p in zip(spots, places, strict=True)]
        settled = [s for s, lies in first if lies and s.tile > SURELY]
        moving = _distinct([s for s, lies in first if s.tile > MAYBE and not (lies and s.tile > SURELY)], 2.0)
        for _ in range(ROUNDS):
            again = square(self._squarer, pyramid, [(*s.middle, s.length, s.angle_deg) for s in moving])[0]
            pairs = [(old, new) for old, new in zip(moving, again, strict=True) if new.tile > MAYBE]
            settled += [new for old, new in pairs if math.dist(old.middle, new.middle) < PUT * new.length]
            moving = [new for old, new in pairs if math.dist(old.middle, new.middle) >= PUT * new.length]
        return self._surer(pyramid, _distinct([*settled, *moving]))

    def _surer(self, pyramid: Pyramid, spots: Sequence[Spot]) -> list[Spot]:
        """The spots, those in doubt looked at from the other end too, and from a little nearer and further off."""
        doubtful = [i for i, s in enumerate(spots) if s.tile < SURE_TILE]
        ways = [(i, turn, grow) for i in doubtful for turn, grow in MORE_LOOKS]
        places = [(*spots[i].middle, spots[i].length * grow, spots[i].angle_deg + turn) for i, turn, grow in ways]
        more = square(self._squarer, pyramid, places)[0]
        out = list(spots)
        for k, i in enumerate(doubtful):
            looks = [spots[i], *more[k * len(MORE_LOOKS) : (k + 1) * len(MORE_LOOKS)]]
            odds = float(np.mean([_log_odds(s.tile) for s in looks]))
            out[i] = replace(spots[i], tile=1 / (1 + math.exp(-odds)))
        return out

    def judged(self, pyramid: Pyramid, spots: Sequence[Spot]) -> list[Verdict]:
        """What both halves of each spot show; those in doubt are looked at again, mirrored, nearer and further off."""
        if not spots:
            return []
        patches = [patch for s in spots for patch in halves(pyramid, s, 1.0)]
        logs = log_softmax(self._judge(normal(patches)))
        doubtful = [i for i, row in enumerate(logs) if row.max() < CLEAR]
        if doubtful:
            more = [halves(pyramid, spots[i // 2], grow)[i % 2] for grow in NEARER for i in doubtful]
            looks = [*(patches[i][::-1] for i in doubtful), *more, *(m[::-1] for m in more)]
            again = log_softmax(self._judge(normal(looks))).reshape(-1, len(doubtful), logs.shape[1])
            logs[doubtful] = log_softmax((logs[doubtful] + again.sum(axis=0)) / (1 + len(again)))
        for row, patch in zip(logs, patches, strict=True):
            if row.argmax() in (5, 6) and beyond_six(patch, int(row.argmax())):
                row[:7] = np.logaddexp.reduce(row[:7]) - math.log(7)
        logs = logs.reshape(len(spots), 2, 9)
        plain = agree(pyramid, spots, logs.argmax(axis=2)) & [s.tile > SURELY for s in spots]
        best = logs[plain].max(axis=2, keepdims=True)
        logs[plain] = _doubted(log_softmax(np.asarray(logs[plain] + WITNESS * (logs[plain] == best), np.float32)))
        return [Verdict(s, np.asarray(h, np.float32)) for s, h in zip(spots, logs, strict=True)]


def _strongest(places: Sequence[Place]) -> list[Place]:
    """The strongest of those of which the middles are near each other."""
    kept: list[Place] = []
    for p in sorted(places, key=lambda p: -p[4]):
        if not any(math.dist(p[:2], k[:2]) < NEAR * max(p[2], k[2]) for k in kept):
            kept.append(p)
    return kept


def _thinned(found: Sequence[Place]) -> list[Place]:
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


def _free(places: Sequence[Place], verdicts: Sequence[Verdict]) -> list[Place]:
    """The places where tiles that are clear at a glance leave room: not those that lie on one, middle on middle, and
    not those that lie on two."""
    tiles = [v.spot for v in verdicts if v.clear]

    def taken(place: Place) -> bool:
        if any(math.dist(place[:2], t.middle) < SAME * t.length for t in tiles):
            return True
        spot = _spot(place)
        return sum(overlap(spot, t) for t in tiles) > 1

    return [p for p in places if not taken(p)]


def _spot(place: Place) -> Spot:
    """A place as the finder gives it, as a face."""
    cx, cy, length, angle = place[:4]
    x, y = length / 2 * math.cos(math.radians(angle)), length / 2 * math.sin(math.radians(angle))
    corners = [(-x + y / 2, -y - x / 2), (-x - y / 2, -y + x / 2), (x - y / 2, y + x / 2), (x + y / 2, y - x / 2)]
    return Spot(np.array(corners, np.float32) + np.array((cx, cy), np.float32), 0.0)


def _possible(pyramid: Pyramid, unclear: Sequence[tuple[Place, Spot]], clear: Sequence[Verdict]) -> list[Place]:
    """The places where a tile of the clear ones' size may lie, or a half of one: that has their colour too."""
    size = sizes([s for _, s in unclear], clear)
    parts = [s for (_, s), of in zip(unclear, size, strict=True) if of == "half"]
    alike = set()
    if parts:
        like = of_material(pyramid, [v.spot for v in clear], np.array([s.quad for s in parts]))
        alike = {s for s, yes in zip(parts, like, strict=True) if yes}
    return [p for (p, s), of in zip(unclear, size, strict=True) if of == "whole" or s in alike]


def _doubted(logs: Floats) -> Floats:
    """The log-probabilities (..., 9) with the least of doubt that is always left."""
    return log_softmax(np.maximum(logs, NEVER))


def _clear(pyramid: Pyramid, spots: Sequence[Spot], shown: Sequence[Floats]) -> list[Verdict]:
    """Those of the tiles that show without doubt what the log-probabilities (2, 8) say of their halves."""
    sure = [
        i
        for i, (s, h) in enumerate(zip(spots, shown, strict=True))
        if s.tile > SURE_TILE and h.max(axis=1).min() > CLEAR
    ]
    values = np.array([shown[i].argmax(axis=1) for i in sure], np.intp).reshape(-1, 2)
    plain = agree(pyramid, [spots[i] for i in sure], values)
    return [
        Verdict(
            replace(spots[i], tile=min(spots[i].tile, MOST_TILE)),
            _doubted(np.pad(shown[i], ((0, 0), (0, 1)), constant_values=-20.0)),
            True,
        )
        for i, yes in zip(sure, plain, strict=True)
        if yes
    ]


def _log_odds(chance: float) -> float:
    return math.log(max(chance, 1e-6) / max(1 - chance, 1e-6))


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
