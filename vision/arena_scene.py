"""What one frame says of an arena: what moves, what came through its edge, what lies there; a few milliseconds a frame.

Compared are logarithms of a small picture, so that brightness of any size is an addend. Of a difference count its
colour, and its brightness only where that changes sharply: the soft shadow of somebody who walks by does neither.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Frame, Image
from vision.arena_knock import gone_to, moved
from vision.pictures import as_bgr
from vision.sampling import Floats, middle

Mask = NDArray[np.uint8]
Box = tuple[slice, slice]

LONG_SIDE_PX = 192
"""About what the longer side of the compared pictures measures."""
COLOUR, SHARP = 0.12, 0.14
"""Log differences that count: of colour, and of brightness against its surroundings."""
SHADE = 0.2
"""What a shadow may change of the colour, in shares of what it changes of the brightness."""
SHIFT = 0.5
"""What a camera that trembles may change, in shares of how much a pixel differs from its neighbours."""
BRIGHT, BLACK = 0.15, 0.7
"""Log differences of brightness that no shadow makes: brighter than the picture as a whole has become, and too dark."""
SOFT = 0.1
"""New log differences to the neighbours below which a part is light, not a thing."""
OFFSET = 64.0
"""Added to a level before its logarithm is taken: in the dark, colour is mostly noise and the codec's bleeding."""
WINDOW_PX = 11
"""Side of the surroundings: wider than a figure, narrower than the edge of a soft shadow."""
BEFORE_S = 0.1
"""Motion is looked for against a picture at least so old."""
MOVES_PX = 4
"""Pixels in motion (specks left out) below which nothing moves."""
THING = 0.0004
"""Share of the arena that the smallest thing covers: a quarter of a figure."""
ARM = 0.006
"""Share of the arena from which something at its edge is an arm even when it does not move."""
WHOLE = 0.45
"""When more of the arena than this differs, the light or the camera has changed and the empty floor is unknown."""
CONTOUR, CONTOURS_PX, BLIND = 0.06, 60, 0.3
"""From what a tremble may change on a pixel is part of a contour; where the floor has so many of them and a picture has
less than this share of them, something covers the lens or the light is out."""
GONE = 0.6
"""A thing has gone when this share of its place looks like the floor again."""
NEWS = 0.3
"""A change of a thing's size or place by this share of it is news."""
TRY_S, FOLLOWED = 0.25, 0.5
"""What lies still across the arena's edge is compared so often with a floor that has moved in the picture, and is one
when of what differs no more than this share is left then."""
LEARN_S = 20.0
"""Time constant with which the floor's look is followed while nothing moves."""
CLOSER = np.float32(1.5)
"""What a tremble may change there, as a multiple of what it may elsewhere: it is more pixels."""
FIXED = 4
"""How many places with sharp edges of the floor tell whether the camera trembles."""
RIM_PX = 2
FINER = 3
"""Things at rest are looked at so many times closer, for a figure that rocks moves less than a pixel of all this."""
_LOG = np.log((np.arange(256) + OFFSET) / (255.0 + OFFSET)).astype(np.float32)
_SPLIT = np.array([[-1, 1, 0], [0, 1, -1], [1 / 3, 1 / 3, 1 / 3]], dtype=np.float32)
_SQUARE = np.ones((3, 3), np.uint8)


@dataclass(frozen=True, slots=True)
class Glimpse:
    """One frame's measures at `time_s`.

    `moving`: something in the arena moves; `loose`: something moves that does not hang on the edge. `hand`: something
    has come through the edge. `lying`: how many things lie free and still. `gone`: something that lay there at the
    last rest lies there no more, and is not covered. `news`: what is seen differs from the last rest. `strange`: so
    much differs that the floor is not known, or nothing of the arena is seen (then `hand` too). `share`: part of the
    arena that moves.
    """

    time_s: float
    moving: bool = False
    loose: bool = False
    hand: bool = False
    lying: int = 0
    gone: bool = False
    news: bool = False
    strange: bool = False
    share: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """A small picture: `logs` (H, W, 3): two differences of colour and the brightness; `edges` (H, W): what its own
    neighbours differ by, in shares that a tremble may cause."""

    logs: Floats
    edges: Floats


class Scene:
    """Measures frame after frame; remembers the empty floor and what lay there at the last rest."""

    def __init__(self, outline_px: Sequence[tuple[float, float]] = ()) -> None:
        """`outline_px` is what counts as arena in the picture, in full pixels; all of the picture when empty."""
        self._outline = tuple(outline_px)
        self._step = 0
        self._mask: Mask | None = None
        self._rim: Mask | None = None
        self._area, self._least = 1, 4
        self._floor: _View | None = None
        self._recent: deque[tuple[float, _View, Image]] = deque()
        self._rest: Mask | None = None
        self._lay: tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.intp]] | None = None
        self._covered: Mask | None = None
        self._blinded = False
        self._learned_s = 0.0
        self._tried_s = -TRY_S

    def look(self, frame: Frame) -> Glimpse:
        """The measures of this frame; a picture that is none counts as all in motion."""
        picture = as_bgr(frame.bgr)
        if picture is None:
            return Glimpse(frame.time_s, moving=True, strange=True, share=1.0)
        now = self._view(picture)
        if self._floor is None or self._mask is None or now.logs.shape != self._floor.logs.shape:
            self._begin(now, frame.time_s, picture)
            return Glimpse(frame.time_s, strange=True, share=1.0)
        before = self._before(frame.time_s)
        self._recent.append((frame.time_s, now, picture))
        self._blinded = self._blind(now)
        if self._blinded:  # whatever is seen now, it is not the floor
            return Glimpse(frame.time_s, hand=True, strange=True)
        motion = _specks_off(_differs(now, before)) & self._mask
        count = cv2.countNonZero(motion)
        covered = _specks_off(_differs(now, self._floor, BRIGHT)) & self._mask
        self._covered = covered
        strange = cv2.countNonZero(covered) > WHOLE * self._area
        arms, things = self._parts(now, covered, motion)
        if count < MOVES_PX and cv2.countNonZero(arms) and self._followed(now, covered, frame.time_s):
            covered = self._covered = _specks_off(_differs(now, self._floor, BRIGHT)) & self._mask
            arms, things = self._parts(now, covered, motion)
        rocks = count < MOVES_PX and any(self._rocks(box, picture) for box in things)
        if rocks:  # unless what cannot move does so too: then the camera trembles
            rocks = not any(self._rocks(box, picture) for box in self._fixed(covered))
        loose = motion & (1 - np.asarray(cv2.dilate(arms, np.ones((7, 7), np.uint8)), dtype=np.uint8))
        glimpse = Glimpse(
            frame.time_s,
            moving=count >= MOVES_PX or rocks,
            loose=cv2.countNonZero(loose) >= MOVES_PX or rocks,
            hand=cv2.countNonZero(arms) > 0,
            lying=len(things),
            gone=self._gone(covered, arms),
            news=self._news(covered, arms),
            strange=strange,
            share=count / self._area,
        )
        if not glimpse.moving:
            self._learn(now, covered, frame.time_s)
        return glimpse

    def within(self, outline_px: Sequence[tuple[float, float]]) -> None:
        """From now on only this outline counts as arena."""
        self._outline = tuple(outline_px)
        if self._floor is not None:
            self._cut(self._floor.edges.shape)

    def rested(self) -> None:
        """What is seen now is at rest: what lies there is remembered."""
        if self._covered is not None:
            self._remember(self._covered.copy())

    def forget(self) -> None:
        """The floor is what is seen now, whatever lies there."""
        if self._recent and not self._blinded:
            self._floor = _own(self._recent[-1][1])
            self._remember(np.zeros_like(self._mask) if self._mask is not None else None)

    def _blind(self, now: _View) -> bool:
        """Whether the contours of the floor (its line, markers, print) are not to be seen anywhere."""
        assert self._floor is not None and self._mask is not None
        known, seen = (cv2.countNonZero((v.edges > CONTOUR) & self._mask) for v in (self._floor, now))
        return known >= CONTOURS_PX and seen < BLIND * known

    def _followed(self, now: _View, covered: Mask, time_s: float) -> bool:
        """Whether what seems to be over the arena is the floor of a camera that was knocked; it is followed then."""
        assert self._floor is not None and self._mask is not None
        if time_s - self._tried_s < TRY_S:
            return False
        self._tried_s = time_s
        floor = self._floor
        way = gone_to(floor.edges, now.edges)
        if way is None:
            return False
        there = _View(moved(floor.logs, way, now.logs), moved(floor.edges, way, now.edges))
        left = cv2.countNonZero(_specks_off(_differs(now, there, BRIGHT)) & self._mask)
        if left > FOLLOWED * cv2.countNonZero(covered):
            return False
        self._floor = there
        if self._rest is not None:
            lay = moved(self._rest.astype(np.float32), way, np.zeros_like(now.edges))
            self._remember(np.asarray(lay > 0.5, dtype=np.uint8))
        return True

    def _begin(self, now: _View, time_s: float, picture: Image) -> None:
        self._floor = _own(now)
        self._remember(None)
        self._recent.clear()
        self._recent.append((time_s, now, picture))
        self._learned_s = time_s
        self._cut(now.edges.shape)

    def _cut(self, shape: tuple[int, ...]) -> None:
        """Makes the masks of the arena and of its edge."""
        self._mask = np.zeros(shape, dtype=np.uint8)
        if self._outline:
            spots = np.rint(np.array(self._outline) / self._step).astype(np.int32)
            cv2.fillConvexPoly(self._mask, cv2.convexHull(spots), 1)
        else:
            self._mask[:] = 1
        for border in (self._mask[:RIM_PX], self._mask[-RIM_PX:], self._mask[:, :RIM_PX], self._mask[:, -RIM_PX:]):
            border[:] = 0  # what a trembling camera brings into the picture has not come into the arena
        inner = cv2.erode(self._mask, np.ones((2 * RIM_PX + 1,) * 2, np.uint8), borderValue=0)
        self._rim = self._mask & (1 - np.asarray(inner, dtype=np.uint8))
        self._area = max(cv2.countNonZero(self._mask), 1)
        self._least = max(round(THING * self._area), 4)

    def _view(self, picture: Image) -> _View:
        self._step = max(1, round(max(picture.shape[:2]) / LONG_SIDE_PX))
        return _view(picture, self._step)

    def _fixed(self, covered: Mask) -> Iterator[Box]:
        """Boxes about the sharpest edges of the bare floor."""
        assert self._floor is not None
        edges = np.where(cv2.dilate(covered, np.ones((9, 9), np.uint8)) > 0, np.float32(0.0), self._floor.edges)
        height, width = edges.shape
        for _ in range(FIXED):
            row, column = divmod(int(edges.argmax()), width)
            box = (slice(max(row - 6, 0), min(row + 6, height)), slice(max(column - 6, 0), min(column + 6, width)))
            edges[box] = 0.0
            yield box

    def _rocks(self, box: Box, picture: Image) -> bool:
        """Whether the thing in this box of the small picture moves when looked at closely."""
        earlier = self._recent[0][2]
        if earlier.shape != picture.shape:
            return False
        full = tuple(slice(part.start * self._step, part.stop * self._step) for part in box)
        now, before = (_view(image[full], max(1, self._step // FINER)) for image in (picture, earlier))
        found = _differs(now, _View(before.logs, CLOSER * before.edges))
        return cv2.countNonZero(_specks_off(found)) >= MOVES_PX

    def _before(self, time_s: float) -> _View:
        """The picture of BEFORE_S ago or the one nearest to it."""
        while len(self._recent) > 1 and self._recent[1][0] <= time_s - BEFORE_S:
            self._recent.popleft()
        return self._recent[0][1]

    def _parts(self, now: _View, covered: Mask, motion: Mask) -> tuple[Mask, list[Box]]:
        """What has come through the edge, as one mask, and the boxes of what else lies still on the floor.

        A part where something has gone from what was taken for the floor becomes floor, in `covered` too."""
        assert self._rim is not None and self._floor is not None
        joined = np.asarray(cv2.morphologyEx(covered, cv2.MORPH_CLOSE, _SQUARE), dtype=np.uint8)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8, ltype=cv2.CV_16U)
        at_rim = np.bincount(labels[self._rim > 0], minlength=count)
        moved = np.bincount(labels[motion > 0], minlength=count)
        arms, things = np.zeros_like(covered), list[Box]()
        for part in range(1, count):
            x, y, width, height, area = (int(v) for v in stats[part])
            if area < self._least:
                continue
            box = (slice(max(y - 2, 0), y + height + 2), slice(max(x - 2, 0), x + width + 2))
            mask = np.asarray(labels[box] == part, dtype=np.uint8)
            if _vanished(mask, now.edges[box], self._floor.edges[box], moved[part] > 0):
                if not moved[part]:
                    wide = cv2.dilate(mask, np.ones((5, 5), np.uint8)) > 0
                    for known, seen in ((self._floor.logs, now.logs), (self._floor.edges, now.edges)):
                        known[box][wide] = seen[box][wide]
                covered[box][mask > 0] = 0
            elif at_rim[part] and (moved[part] >= MOVES_PX or area > ARM * self._area):
                arms[box] |= mask
            elif not moved[part]:
                things.append(box)
        return arms, things

    def _remember(self, rest: Mask | None) -> None:
        """Notes what lies at rest: the cells, which thing each belongs to, and how many cells each thing has."""
        self._rest, self._lay = rest, None
        if rest is not None:
            count, labels = cv2.connectedComponents(rest, connectivity=8, ltype=cv2.CV_16U)
            cells = np.flatnonzero(labels)
            things = np.asarray(labels, dtype=np.uint16).ravel()[cells]
            sizes = np.bincount(things, minlength=count)
            large = sizes[things] >= self._least
            self._lay = cells[large], things[large], sizes

    def _gone(self, covered: Mask, arms: Mask) -> bool:
        if self._lay is None or not self._lay[0].size:
            return False
        cells, things, sizes = self._lay
        hidden = covered | np.asarray(cv2.dilate(arms, _SQUARE), dtype=np.uint8)
        bare = np.bincount(things[hidden.ravel()[cells] == 0], minlength=len(sizes))
        return bool(np.any(bare > GONE * sizes))

    def _news(self, covered: Mask, arms: Mask) -> bool:
        if self._rest is None:
            return True
        off = (covered != self._rest) & (arms == 0)
        grown = cv2.medianBlur(off.astype(np.uint8), 3)
        return cv2.countNonZero(grown) > NEWS * 4 * self._least

    def _learn(self, now: _View, covered: Mask, time_s: float) -> None:
        """The bare floor's look follows the light."""
        assert self._floor is not None
        since_s, self._learned_s = time_s - self._learned_s, time_s
        share = float(np.clip(since_s / LEARN_S, 0.0, 0.5))
        bare = np.asarray(cv2.dilate(covered, np.ones((7, 7), np.uint8)) == 0, dtype=np.uint8)
        cv2.accumulateWeighted(now.logs, self._floor.logs, share, bare)
        cv2.accumulateWeighted(now.edges, self._floor.edges, share, bare)


def _view(picture: Image, step: int) -> _View:
    small = cv2.blur(np.ascontiguousarray(picture[step // 2 :: step, step // 2 :: step]), (3, 3))
    logs = np.asarray(cv2.transform(cv2.LUT(small, _LOG), _SPLIT), dtype=np.float32)
    return _View(logs, _edges(logs))


def _differs(now: _View, before: _View, bright: float = BLACK) -> Mask:
    """Where two pictures differ (1), light divided out and soft shadows left out; `bright`: from what log difference
    on something counts that only has become brighter (a shadow that leaves does that too)."""
    red, blue, level = _parts_of(now.logs - before.logs)
    usual = [float(middle(np.ascontiguousarray(part[::6, ::6]).ravel(), 0)) for part in (red, blue, level)]
    bare = np.zeros_like(level)
    tint = cv2.max(cv2.absdiff(red, bare + np.float32(usual[0])), cv2.absdiff(blue, bare + np.float32(usual[1])))
    tint = cv2.scaleAdd(cv2.absdiff(level, bare), -SHADE, tint)
    sharp = cv2.absdiff(level, cv2.blur(level, (WINDOW_PX, WINDOW_PX)))
    lit = cv2.absdiff(level, bare + np.float32(usual[2] + (bright - BLACK) / 2))
    most = cv2.max(tint - np.float32(COLOUR), sharp - np.float32(SHARP))
    most = cv2.max(most, lit - np.float32((bright + BLACK) / 2))
    return np.asarray(most > before.edges, dtype=np.uint8)


def _parts_of(image: Floats) -> tuple[Floats, Floats, Floats]:
    """The three channels of a picture, each by itself; `cv2.split` takes longer."""
    red, blue, level = np.ascontiguousarray(image.transpose(2, 0, 1))
    return red, blue, level


def _specks_off(mask: Mask) -> Mask:
    return np.asarray(cv2.medianBlur(mask, 3), dtype=np.uint8)


def _edges(logs: Floats) -> Floats:
    steep = np.asarray(cv2.morphologyEx(logs, cv2.MORPH_GRADIENT, _SQUARE), dtype=np.float32)
    red, blue, level = _parts_of(steep)
    return np.asarray(cv2.max(cv2.max(red, blue), level) * np.float32(SHIFT), dtype=np.float32)


def _own(view: _View) -> _View:
    return _View(view.logs.copy(), view.edges.copy())


def _vanished(mask: Mask, now: Floats, floor: Floats, moves: bool) -> bool:
    """True when a changed part is nothing that lies there.

    No edge in it is new (it is only lit otherwise); or, where nothing moves, its outline is less of an edge than in
    what was taken for the floor: something has gone from there, nothing has come.
    """
    wide = cv2.dilate(mask, _SQUARE)
    news = float(np.max(now[wide > 0] - floor[wide > 0]))
    band = (wide - cv2.erode(mask, _SQUARE, borderValue=0)) > 0
    return news < SOFT * SHIFT or (not moves and float(now[band].mean()) < 0.7 * float(floor[band].mean()))
