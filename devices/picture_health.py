"""Whether a camera's pictures can be trusted: frozen, black, torn, mirrored, moved, another camera's, of changed light.

Every picture is compared, much reduced, with the one before it and with the looks that were found good. A hand or a
shadow covers less than half of the picture, so what most of the picture says (medians) is about the camera or the lamp.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Condition, Frame, Image

FROZEN_S = 1.2
"""Pictures that are equal to the last bit for so long come from no living sensor: noise changes every one."""
SLOW_WINDOW_S, SLOW_COUNT, QUICK_COUNT = 1.5, 3, 6
"""Slow: no more than SLOW_COUNT pictures in the window; quick enough again: QUICK_COUNT."""
BLACK_LEVEL = 8.0
SAY_S, CLEAR_S = 0.5, 0.8
"""A finding counts after it has lasted so long, and is over after it has been gone for so long."""
TORN_S = 1.0
"""Two torn pictures within so long are no accident."""
COLOUR, SWING, BAND = 0.13, 0.12, 0.045
"""Natural logarithms of brightness ratios: between channels, up and down in time, from row to row."""
GARISH = 0.35
"""A colour cast beyond this turns one pawn's colour into another's; nothing is judged by it."""
USUAL_S, DOUBTED_S = 12.0, 30.0
"""A colour cast that has stayed the same for so long is the light from now on: a lamp was changed. What keeps pictures
from being judged (a garish cast, a mirrored picture) may instead have been the case with the first picture, and the
known look is given up after the second time."""
MOVED_PX = 0.5
"""Shift, in reduced pixels, from which a camera counts as moved."""
ALIKE, STRANGE = 0.6, 0.4
"""Correlation with a known look above which a picture is the same view, and below which it is another."""
SURE = 0.4
"""Height of the correlation peak from which a shift is one, and no accident of two different pictures."""
LOOKS = 4
_WIDTH, _HEIGHT = 160, 90
_COLUMNS, _ROWS = 32, 18

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with the pictures: the name of the trouble, values for its words, and whether a picture with it
    may still be judged."""

    name: str
    values: tuple[tuple[str, str | int | float], ...] = ()
    fit: bool = False

    def condition(self, url: str) -> Condition:
        """The finding in words to come."""
        return Condition(False, f"devices.camera_{self.name}", (("url", url), *self.values))


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """A picture reduced: grey and smooth (for place), and the logarithm of a coarse colour grid (for light)."""

    grey: Floats
    grid: Floats


class PictureHealth:
    """Feed it every frame of one camera; it says the worst of what is wrong, or None."""

    def __init__(self) -> None:
        self._looks: list[_Look] = []
        self._size: tuple[int, int] | None = None
        self._before: Image | None = None
        self._before_grey: Floats | None = None
        self._same_since_s: float | None = None
        self._gains: deque[tuple[float, float]] = deque()
        self._wave: NDArray[np.float64] = np.zeros(_ROWS - 2)
        self._torn: deque[float] = deque(maxlen=8)
        self._shift: tuple[float, float] = (0.0, 0.0)
        self._steady_s = 0.0
        self._cast: tuple[NDArray[np.float64], float] | None = None
        self._reopened = False
        self._said: dict[str, tuple[Finding, float, float]] = {}
        self.repeated = False
        """True when the newest picture is the one before it again, and so no news."""

    def reopened(self) -> None:
        """The camera was opened again: it may be another one, or stand elsewhere, or have another size."""
        self._reopened = bool(self._looks)
        self._before = self._before_grey = self._same_since_s = self._cast = None
        self._gains.clear()
        self._said = {}

    def accept(self) -> None:
        """The board was found in the newest picture: if it seemed a strange one, it is a known look from now on."""
        strange = self._reopened or {"swapped", "size"} & self._said.keys()
        if strange and self._before is not None and not {"black", "torn", "frozen", "mirrored"} & self._said.keys():
            self._learn(_look(self._before))
            self._size = self._before.shape[:2]
            self._reopened = False
            for name in ("swapped", "moved", "size"):
                self._said.pop(name, None)

    def feed(self, frame: Frame) -> Finding | None:
        """The worst finding that has lasted long enough, by frame time; order of the frames is order of time."""
        now_s, picture = frame.time_s, frame.bgr
        found = self._found(picture, now_s)
        if "torn" in found:
            self._torn.append(now_s)
        for name, finding in found.items():
            known = self._said.get(name)
            self._said[name] = (finding, now_s if known is None else known[1], now_s)
        self._said = {n: s for n, s in self._said.items() if now_s - s[2] <= CLEAR_S}
        # Torn pictures come between whole ones, so they are counted; frozen ones have lasted already.
        often = sum(now_s - t <= TORN_S for t in self._torn) >= 2
        lasting = {
            n: s[0]
            for n, s in self._said.items()
            if (often if n == "torn" else s[2] - s[1] >= SAY_S or n in ("frozen", "size"))
        }
        worst = next((lasting[name] for name in _ORDER if name in lasting), None)
        if all(finding.fit for finding in found.values()):
            return worst
        # What is not said yet is not judged by either.
        return Finding("") if worst is None else replace(worst, fit=False)

    def _found(self, picture: Image, now_s: float) -> dict[str, Finding]:
        same = (
            self._before is not None
            and self._before.shape == picture.shape
            and np.array_equal(self._before[::16, ::16], picture[::16, ::16])
            and np.array_equal(self._before, picture)
        )
        self._before, self.repeated = picture, bool(same)
        black = bool(picture[::16, ::16].mean() < BLACK_LEVEL)
        if same and self._same_since_s is None:
            self._same_since_s = now_s
        elif not same:
            self._same_since_s = None
        if black:
            self._gains.clear()
            return {"black": Finding("black")}
        if self._same_since_s is not None and now_s - self._same_since_s >= FROZEN_S:
            return {"frozen": Finding("frozen")}
        size = (picture.shape[0], picture.shape[1])
        if self._size is None or (self._reopened and self._size != size):
            self._size = size
        elif self._size != size:
            seen, wanted = f"{size[1]} x {size[0]}", f"{self._size[1]} x {self._size[0]}"
            return {"size": Finding("size", (("size", seen), ("wanted", wanted)))}
        return self._compared(_look(picture), picture, now_s)

    def _compared(self, look: _Look, picture: Image, now_s: float) -> dict[str, Finding]:
        before, self._before_grey = self._before_grey, look.grey
        torn = _cut_off(picture)
        if not self._looks:
            if torn:
                return {"torn": Finding("torn")}
            self._learn(look)
            return {}
        known = max(self._looks, key=lambda k: _correlation(k.grey, look.grey))
        alike = _correlation(known.grey, look.grey)
        if not torn and _mirrored(self._looks, look):
            if now_s - self._said.get("mirrored", (None, now_s))[1] < DOUBTED_S:
                return {"mirrored": Finding("mirrored")}
            self._looks = [look]
            return {}
        moved = {} if torn else self._moved(known, look, now_s)
        if moved:
            return moved
        garbage = alike < STRANGE and before is not None and _correlation(before, look.grey) < ALIKE
        if torn or garbage or _torn_below(known, look):
            return {"torn": Finding("torn")}
        if self._reopened and alike >= ALIKE:
            self._reopened = False
        if alike < (ALIKE if self._reopened else STRANGE):
            return {"swapped": Finding("swapped", fit=True)}
        found = self._lit(known, look, now_s)
        if not found and not self._said:
            known.grid[:] += 0.02 * (look.grid - known.grid)
            known.grey[:] += 0.02 * (look.grey - known.grey)
        return found

    def _moved(self, known: _Look, look: _Look, now_s: float) -> dict[str, Finding]:
        # OpenCV multiplies the window into the very arrays that it is given.
        (x, y), response = cv2.phaseCorrelate(known.grey.copy(), look.grey.copy(), _window())
        if response < SURE or max(abs(x), abs(y)) < MOVED_PX:
            self._shift, self._steady_s = (0.0, 0.0), now_s
            return {}
        if max(abs(x - self._shift[0]), abs(y - self._shift[1])) > MOVED_PX / 2:
            self._shift, self._steady_s = (x, y), now_s
        elif now_s - self._steady_s >= 1.0:
            self._learn(look)
            return {}
        return {"moved": Finding("moved", fit=True)}

    def _lit(self, known: _Look, look: _Look, now_s: float) -> dict[str, Finding]:
        """What has changed in light and colour; the view is the same."""
        ratio = look.grid - known.grid
        usable = (look.grid > np.log(16.0)) & (look.grid < np.log(248.0))
        if usable.mean() < 0.3:
            return {}
        masked = np.where(usable, ratio, np.nan)
        with np.errstate(all="ignore"):
            gains = np.array([_median(masked[..., c]) for c in range(3)])
        gain = float(np.median(gains))
        self._gains.append((now_s, gain))
        while now_s - self._gains[0][0] > 2.0:
            self._gains.popleft()
        found: dict[str, Finding] = {}
        rows = np.array([_median(masked[r, :, 1]) for r in range(_ROWS)])
        # Bands are waves over the rows that wander from picture to picture; hands and shadows make one step.
        wave = rows[1:-1] - (rows[:-2] + rows[2:]) / 2
        turns = int((np.sign(wave[1:]) != np.sign(wave[:-1])).sum())
        wandering, self._wave = float(np.std(wave - self._wave)), wave
        # One picture in bands may be a hand that passes.
        known_flicker = self._said.get("flicker")
        flickers = known_flicker is not None and now_s - known_flicker[1] >= SAY_S
        if min(float(np.std(wave)), wandering) > BAND and turns >= _ROWS // 3:
            found["flicker"] = Finding("flicker", fit=True)
            if flickers:
                self._gains.clear()
        elif self._alternates():
            found["flicker"] = Finding("flicker", fit=True)
        elif not flickers and _reversal([g for _, g in self._gains]) > SWING:
            found["exposure"] = Finding("exposure", fit=True)
        cast = float(gains.max() - gains.min())
        if cast <= COLOUR:
            self._cast = None
        elif self._usual(gains - gain, cast, now_s):
            known.grid[:] = look.grid
        else:
            found["colour"] = Finding("colour", fit=cast < GARISH)
        return found

    def _usual(self, colour: NDArray[np.float64], cast: float, now_s: float) -> bool:
        """Whether this colour of the light (log gains of the channels) has stayed for so long that it is the usual."""
        if self._cast is None or float(np.abs(colour - self._cast[0]).max()) > COLOUR / 2:
            self._cast = (colour, now_s)
        return now_s - self._cast[1] >= (USUAL_S if cast < GARISH else DOUBTED_S)

    def _alternates(self) -> bool:
        """True when brightness jumps up and down from picture to picture."""
        steps = np.diff([g for _, g in list(self._gains)[-8:]])
        if len(steps) < 5:
            return False
        turns = (np.sign(steps[1:]) != np.sign(steps[:-1])).mean()
        return bool(np.median(np.abs(steps)) > 0.05 and turns > 0.6)

    def _learn(self, look: _Look) -> None:
        self._looks = [*self._looks[-(LOOKS - 1) :], _Look(look.grey.copy(), look.grid.copy())]
        self._shift = (0.0, 0.0)
        self._gains.clear()


_ORDER = ("frozen", "black", "torn", "size", "mirrored", "swapped", "moved", "flicker", "exposure", "colour")


class Rate:
    """Pictures a second as measured, and whether that is too slow for a game; `gap_s` is the last time between two."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()
        self._began_s: float | None = None
        self.gap_s = 0.0
        self.slow = False

    def clear(self) -> None:
        """The camera was opened again."""
        self._counts.clear()
        self._began_s, self.slow, self.gap_s = None, False, 0.0

    def feed(self, frame: Frame, now_s: float) -> None:
        """A frame came; its number tells how many the camera gave, also those that nobody took."""
        if self._began_s is None:
            self._began_s = now_s
        if self._counts:
            self.gap_s = now_s - self._counts[-1][0]
        self._counts.append((now_s, frame.number))

    def per_s(self, now_s: float) -> float | None:
        """The rate over the last window; None until a window has passed."""
        if self._began_s is None or now_s - self._began_s < SLOW_WINDOW_S:
            return None
        while len(self._counts) > 1 and now_s - self._counts[1][0] > SLOW_WINDOW_S:
            self._counts.popleft()
        came = self._counts[-1][1] - self._counts[0][1]
        rate = came / max(SLOW_WINDOW_S, now_s - self._counts[0][0])
        count = rate * SLOW_WINDOW_S
        self.slow = count < QUICK_COUNT if self.slow else count <= SLOW_COUNT
        return rate


def _look(picture: Image) -> _Look:
    step = max(1, min(picture.shape[0] // _HEIGHT, picture.shape[1] // _WIDTH))
    # About the middle, so that a picture and its mirrored one are reduced alike.
    y, x = ((side - 1) % step // 2 for side in picture.shape[:2])
    few = np.ascontiguousarray(picture[y::step, x::step])
    small = cv2.resize(few, (_WIDTH, _HEIGHT), interpolation=cv2.INTER_AREA)
    grey = cv2.GaussianBlur(small[..., 1].astype(np.float32), (5, 5), 0)
    grid = cv2.resize(small, (_COLUMNS, _ROWS), interpolation=cv2.INTER_AREA).astype(np.float32)
    return _Look(np.asarray(grey, np.float32), np.log(grid + 4.0))


def _correlation(a: Floats, b: Floats) -> float:
    """Correlation of two pictures of one size, -1..1; 0 when one of them shows nothing."""
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / norm if norm > 1.0 else 0.0


def _mirrored(looks: list[_Look], look: _Look) -> bool:
    """True when the mirrored picture fits one of the known looks clearly better than the picture itself fits any, also
    than it fits that one when shifted; of a table, which is symmetrical, only details tell."""
    now = _details(look.grey)
    turned = np.ascontiguousarray(now[:, ::-1])
    known = [_details(each.grey) for each in looks]
    fits = [_correlation(each, turned) for each in known]
    best = max(fits)
    if best <= 0.7 or 1 - best >= 0.7 * (1 - max(_correlation(each, now) for each in known)):
        return False
    like = known[fits.index(best)]
    peaks = [cv2.phaseCorrelate(like.copy(), each.copy(), _window())[1] for each in (turned, now)]
    return peaks[0] > peaks[1]


def _details(grey: Floats) -> Floats:
    return np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), 5.0), np.float32)


def _cut_off(picture: Image) -> bool:
    """True when the lower part is one flat colour and the rest is not: the data ended too early."""
    rows = picture[:: max(1, picture.shape[0] // _HEIGHT), ::8].astype(np.float32)
    spread = rows.std(axis=1).max(axis=1)
    flat = 0
    for value in spread[::-1]:
        if value > 1.0:
            break
        flat += 1
    return (
        flat >= 0.15 * len(spread)
        and flat < 0.97 * len(spread)
        and float(np.median(spread[: len(spread) - flat])) > 4.0
    )


def _torn_below(known: _Look, look: _Look) -> bool:
    """True when from some row downwards nearly nothing is as it was, and above it everything is."""
    ratio = (look.grid - known.grid)[..., 1]
    wrong = np.abs(ratio - np.median(ratio[: _ROWS // 4])) > 0.3
    share = wrong.mean(axis=1)
    bad = 0
    for value in share[::-1]:
        if value < 0.7:
            break
        bad += 1
    return 0.12 * _ROWS <= bad <= 0.9 * _ROWS and float(share[: _ROWS - bad].mean()) < 0.3


def _median(values: NDArray[np.float32]) -> float:
    kept = values[~np.isnan(values)]
    return float(np.median(kept)) if len(kept) else 0.0


def _reversal(gains: list[float]) -> float:
    """The largest swing that is followed by one back: the smaller of both, over all turning points."""
    best, low, high, rise, fall = 0.0, gains[0], gains[0], 0.0, 0.0
    for value in gains:
        low, high = min(low, value), max(high, value)
        rise, fall = max(rise, value - low), max(fall, high - value)
        best = max(best, min(rise, high - value), min(fall, value - low))
    return best


def _window() -> Floats:
    global _HANN
    if _HANN is None:
        _HANN = np.asarray(cv2.createHanningWindow((_WIDTH, _HEIGHT), cv2.CV_32F), np.float32)
    return _HANN


_HANN: Floats | None = None
