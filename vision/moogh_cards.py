"""Cards that lie anywhere on the table: found by their outline, told apart and turned upright by their print."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from devices.contract import Image
from vision.pictures import grey, halved
from vision.sampling import Floats, logs

PLAN_PX_MM = 1.0
_FAR_MM = 400.0
"""Cards are looked for so far beyond the board."""
_PASSES = ((31, 7), (13, 5), (31, 3))
"""Window (px) and step (levels) of the thresholds that bring out an outline: quick ones first."""
_SIZE_MM = 5.0
"""An outline of a card is taken so much too large or too small: it has two sides, and a die may lie over it."""
_WORD_PX_MM = 2.0
_SHIFT_PX = 3
"""Words are looked for so far from where they should be."""
_FIT, _SPREAD = 0.55, 0.02
"""Mean correlation of all words from which a side counts as seen, and its spread about another side's."""
_CLEAR_FIT = 0.75
"""Mean correlation from which the other way up is not tried."""


_TAKEN = 0.08
"""Standard deviation of log brightness within a slot from which something may lie there."""


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A card's place: `origin_mm` its upper left corner on the table, `right` and `down` unit vectors of its print."""

    origin_mm: Array
    right: Array
    down: Array
    size_mm: tuple[float, float]

    @property
    def corners_mm(self) -> Array:
        """Upper left, upper right, lower right, lower left corner (4, 2)."""
        w, h = self.size_mm
        return np.array([self.at(p) for p in ((0, 0), (w, 0), (w, h), (0, h))])

    def at(self, point: Sequence[float]) -> Array:
        """The table point (2,) of a point in mm from the card's upper left corner."""
        return np.asarray(self.origin_mm + self.right * point[0] + self.down * point[1])

    def inside(self, point_mm: Sequence[float]) -> tuple[float, float]:
        """A table point as mm right of and below the card's upper left corner."""
        off = np.asarray(point_mm) - self.origin_mm
        return float(off @ self.right), float(off @ self.down)

    def turned(self) -> Card:
        """The same rectangle read from the other side of the table."""
        w, h = self.size_mm
        return Card(self.at((w, h)), -self.right, -self.down, self.size_mm)


@dataclass(frozen=True, slots=True, eq=False)
class ActionCard:
    """The action card: its place, log-likelihoods of front and back, how well its words fit (mean correlation), and the
    correlation of each word (rows, columns with the row heads first), and whether that is clear enough to be sure."""

    card: Card
    sides: tuple[float, float]
    fit: float
    words: Floats
    clear: bool


@dataclass(frozen=True, slots=True, eq=False)
class PointCard:
    """The point card: its place, by how much (natural log odds) this way up is likelier than the other, and the slots
    (names of the spec) that do not look empty."""

    card: Card
    lead: float
    taken: tuple[str, ...]


def find_cards(
    picture: Image, camera: Camera, sizes_mm: Sequence[tuple[float, float]], board_mm: Array, height_mm: float
) -> list[list[Card]]:
    """For each size the rectangles of that size on the table (both ways up are the same here), likeliest first.
    `board_mm` (4, 2) is where no card lies."""
    low, high = _visible(picture, camera, board_mm)
    size = np.maximum(np.ceil((high - low) * PLAN_PX_MM), 1).astype(int)
    if size.min() < 32:
        return [[] for _ in sizes_mm]
    plan = _plan(picture, camera, low, high, size, height_mm)
    found: list[list[tuple[float, Card]]] = [[] for _ in sizes_mm]
    for window, step in _PASSES:
        dark = cv2.adaptiveThreshold(plan, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, step)
        outlines, _ = cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        for outline in outlines:
            _, _, wide, tall = cv2.boundingRect(outline)
            if min(wide, tall) < 25 * PLAN_PX_MM or max(wide, tall) > 200 * PLAN_PX_MM:
                continue
            for kind, sides in enumerate(sizes_mm):
                rated = _rectangle(np.asarray(outline), sides, low, float(size[1]))
                if rated is not None and not _within(board_mm, rated[1]):
                    found[kind].append(rated)
        if all(found):
            break
    return [_different(sorted(cards, key=lambda c: c[0])) for cards in found]


def _visible(picture: Image, camera: Camera, board_mm: Array) -> tuple[Array, Array]:
    """Lower and upper corner in mm of the part of the table that is in the picture and near the board."""
    height, width = picture.shape[:2]
    rim = [(x, y) for x in (0, (width - 1) / 2, width - 1) for y in (0, (height - 1) / 2, height - 1)]
    seen = camera.to_plane(np.array(rim, dtype=np.float64))
    low = np.maximum(seen.min(axis=0), board_mm.min(axis=0) - _FAR_MM)
    high = np.minimum(seen.max(axis=0), board_mm.max(axis=0) + _FAR_MM)
    return low, high


def _plan(picture: Image, camera: Camera, low: Array, high: Array, size: Array, height_mm: float) -> Image:
    """The table from above (north up), each pixel's strongest channel: coloured print is light in it, a line dark."""
    (x0, y0), (x1, y1) = low, high
    corners = np.array([(x0, y1, height_mm), (x1, y1, height_mm), (x1, y0, height_mm), (x0, y0, height_mm)])
    wide, tall = (int(v) for v in size)
    square = np.array([(0, 0), (wide - 1, 0), (wide - 1, tall - 1), (0, tall - 1)], np.float32)
    pixels = camera.project(corners).astype(np.float32)
    # A fine picture is made smaller first, and of what is left only one channel is laid flat.
    along = float(np.linalg.norm(pixels[0] - pixels[1])) / wide
    down = float(np.linalg.norm(pixels[0] - pixels[3])) / tall
    # Halving is quick; any other factor is not.
    times = int(math.log2(max(max(along, down) + 0.3, 1.0)))
    small = halved(picture, times)
    pixels = ((pixels + 0.5) / 2**times - 0.5).astype(np.float32)
    blue, green, red = cv2.split(small)
    strongest = cv2.max(cv2.max(blue, green), red)
    to_px = cv2.getPerspectiveTransform(square, pixels)
    plan = cv2.warpPerspective(
        strongest, to_px, (wide, tall), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(plan, dtype=np.uint8)


def _rectangle(outline: Array, sides: tuple[float, float], low: Array, tall: float) -> tuple[float, Card] | None:
    """How far an outline is from a card of these sides, and that card; None when it is none."""
    (cx, cy), (a, b), turn = cv2.minAreaRect(outline)
    width, height = sides
    if (a < b) != (width < height):
        a, b, turn = b, a, turn + 90.0
    off = max(abs(a / PLAN_PX_MM - width), abs(b / PLAN_PX_MM - height))
    if off > _SIZE_MM or a * b <= 0 or cv2.contourArea(outline) < 0.75 * a * b:
        return None
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    right, down = np.array([c, -s]), np.array([-s, -c])
    middle = np.array([(cx + 0.5) / PLAN_PX_MM + low[0], (tall - cy - 0.5) / PLAN_PX_MM + low[1]])
    return off, Card(middle - right * width / 2 - down * height / 2, right, down, sides)


def _within(board_mm: Array, card: Card) -> bool:
    middle = card.corners_mm.mean(axis=0)
    return bool(np.all(middle > board_mm.min(axis=0)) and np.all(middle < board_mm.max(axis=0)))


def _different(cards: Sequence[tuple[float, Card]]) -> list[Card]:
    """The cards without the second outline of the same one."""
    kept: list[Card] = []
    for _, card in cards:
        middle = card.corners_mm.mean(axis=0)
        if all(np.linalg.norm(k.corners_mm.mean(axis=0) - middle) > 10.0 for k in kept):
            kept.append(card)
    return kept


def rectified(picture: Image, camera: Camera, card: Card, px_mm: float, height_mm: float) -> Image:
    """The card alone, upright, `px_mm` px a mm."""
    wide, tall = (round(v * px_mm) for v in card.size_mm)
    corners = np.column_stack([card.corners_mm, np.full(4, height_mm)])
    square = np.array([(0, 0), (wide, 0), (wide, tall), (0, tall)], np.float32) - np.float32(0.5)
    to_px = cv2.getPerspectiveTransform(square, camera.project(corners).astype(np.float32))
    found = cv2.warpPerspective(
        picture, to_px, (wide, tall), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(found, dtype=np.uint8)


class ActionPrint:
    """What is printed on either side of the action card; tells the sides apart by their words."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        """`spec`: the `action_card` table of a board spec."""
        self._half = int(float(spec["cell_mm"]) / 2 * _WORD_PX_MM) - 1
        self._middles = [
            [(round(float(x) * _WORD_PX_MM), round(float(y) * _WORD_PX_MM)) for x in spec["columns_mm"]]
            for y in spec["rows_mm"]
        ]
        self._sides = [
            [[head, *line.split()] for head, line in zip(spec["heads"], spec[side], strict=True)]
            for side in ("front", "back")
        ]
        words = {w for side in self._sides for row in side for w in row}
        self._patterns = {w: _word(w, 2 * self._half + 1) for w in words}

    def read(self, picture: Image, camera: Camera, card: Card, height_mm: float) -> ActionCard:
        """This card as an action card, the way up and the side that its words say."""
        flat = grey(rectified(picture, camera, card, _WORD_PX_MM, height_mm))
        views = [[self._fits(flat, side) for side in self._sides]]
        means = [[_shared(fits) for fits in views[0]]]
        if max(means[0]) < _CLEAR_FIT:
            around: Image = np.ascontiguousarray(flat[::-1, ::-1])
            views.append([self._fits(around, side) for side in self._sides])
            means.append([_shared(fits) for fits in views[1]])
        turned = int(np.argmax([max(m) for m in means]))
        front, back = means[turned]
        fit = max(front, back)
        others = [m for n, pair in enumerate(means) for m in pair if n != turned]
        clear = fit >= _FIT and all(fit - m > 2 * _SPREAD for m in others)
        worth = (1.0 if clear else 0.1) / _SPREAD
        words = views[turned][0 if front >= back else 1]
        return ActionCard(
            card.turned() if turned else card, ((front - fit) * worth, (back - fit) * worth), fit, words, clear
        )

    def _fits(self, flat: Image, side: Sequence[Sequence[str]]) -> Floats:
        """Correlation (rows, columns) of each printed word with what is seen there."""
        reach, fits = self._half, []
        for row, middles in zip(side, self._middles, strict=True):
            for word, (x, y) in zip(row, middles, strict=True):
                cell = flat[y - reach : y + reach + 1, x - reach : x + reach + 1]
                match = cv2.matchTemplate(cell, self._patterns[word], cv2.TM_CCOEFF_NORMED)
                fits.append(float(match.max()))
        return np.array(fits, dtype=np.float32).reshape(len(side), -1)


def _shared(fits: Floats) -> float:
    """Mean correlation of the action words, those two that fit worst left aside (a die lies on the card)."""
    actions = np.sort(fits[:, 1:].ravel())
    return float(actions[2:].mean())


def _word(word: str, side: int) -> Image:
    """A word as print, dark on light, in a patch smaller than `side` by the shift allowed for."""
    fine = 4
    canvas = np.full((side * fine, side * fine), 255, np.uint8)
    font, scale, stroke = cv2.FONT_HERSHEY_SIMPLEX, 0.15 * _WORD_PX_MM * fine, round(1.7 * _WORD_PX_MM)
    (wide, tall), _ = cv2.getTextSize(word, font, scale, stroke)
    cv2.putText(
        canvas, word, ((side * fine - wide) // 2, (side * fine + tall) // 2), font, scale, 0, stroke, cv2.LINE_AA
    )
    small = cv2.GaussianBlur(cv2.resize(canvas, (side, side), interpolation=cv2.INTER_AREA), (3, 3), 0)
    return np.ascontiguousarray(small[_SHIFT_PX:-_SHIFT_PX, _SHIFT_PX:-_SHIFT_PX])


def read_point_card(picture: Image, camera: Camera, card: Card, spec: Mapping[str, Any], height_mm: float) -> PointCard:
    """This card as a point card, the way up that its colours say: two teams side by side above, nobody's part below."""
    flat = logs(rectified(picture, camera, card, 1.0, height_mm))
    hue = np.stack([flat[..., 2] - flat[..., 1], flat[..., 0] - flat[..., 1]], axis=-1)
    height, width = hue.shape[:2]
    strip = height - int(spec["nobody_from_mm"]) - 4
    near, far = slice(3, 3 + strip), slice(height - 3 - strip, height - 3)
    left, right = slice(3, width // 2 - 3), slice(width // 2 + 3, width - 3)
    apart = [
        float(np.linalg.norm(np.median(hue[rows, left], axis=(0, 1)) - np.median(hue[rows, right], axis=(0, 1))))
        for rows in (near, far)
    ]
    lead = (apart[0] - apart[1]) / 0.02
    if lead < 0:
        card, flat = card.turned(), flat[::-1, ::-1]
    light = flat.mean(axis=2, dtype=np.float32)
    reach = int(float(spec["slot_mm"]) / 2) - 2
    taken = []
    for name, (x, y) in spec["slots_mm"].items():
        inside = light[round(y) - reach : round(y) + reach + 1, round(x) - reach : round(x) + reach + 1]
        if float(inside.std()) > _TAKEN:
            taken.append(str(name))
    return PointCard(card, abs(lead), tuple(taken))
