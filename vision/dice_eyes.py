"""The eyes for pip dice: a network finds places on levels of a picture, others judge what lies there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from devices.contract import Image
from vision.dice_places import (
    CLEAR,
    COCKED,
    EVEN,
    LIKELY,
    NONE,
    Verdict,
    apart,
    bare,
    of_size,
    overlooked,
    sized,
    within,
)
from vision.die_outline import alone, outlined
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
from vision.registration import Covers

JUDGE_PX = 56
JUDGE_REACH = 1.7
"""Side of the judge's crop over the mean side of the die's box."""
UNIT_PX = 14.0
"""Box side that the finder calls one."""
LEAST_HEAT, FAINT_HEAT = 0.35, 0.12
"""Where the finder sees a die, and where it may have overlooked one that others touch."""
SMALLEST_LEVEL_PX = 40
FINEST_PX = 2200
COARSE_PX = 520
"""The first search runs on the picture reduced to at most this long side; smaller dice are sought on finer levels."""
FINE_ENOUGH_PX = 11.0
"""When the smallest die of a search measures less than this on its finest level, the next finer one is searched too."""
OUTLINED = 0.5
"""Where fewer rays than this share cross an outline there is no die."""
SLIGHT = math.log(0.004)
"""About a die that may lean with more than this probability it is looked whether anything but floor is there."""
MORE_TURNS = (45.0, 90.0, 180.0, 225.0, 270.0, 315.0)
"""How a place in doubt is turned (degrees) for further looks."""
Sizes = Callable[[Found], float]
"""Tells the side (px) of the box of a die at a place."""


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
            places = [p for p in strong(here) if not within(p, verdicts)]
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
        return [bare(v) if v.logs[:6].max() > EVEN and outlined(pyramid, v.place) < OUTLINED else v for v in verdicts]

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
