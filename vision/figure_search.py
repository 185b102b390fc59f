"""Where figures may lie within what covers the floor: a coarse scan of places, then descent to the best of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from devices.contract import Image
from vision.arena import STEP_MM, Floor
from vision.figure_faces import Figure, Look, Solid, Templates, templates
from vision.figure_fit import (
    LYING,
    NOISE,
    STANDING,
    Prints,
    View,
    descend,
    exposure,
    frames,
    kinship,
    levelled,
    prints,
    rows,
    samples,
)
from vision.sampling import Floats

SCAN_MM, SCAN_BLUR_MM = 4.0, 1.4
"""Spacing of a figure's sample points for searching, and the blur of what they are compared with."""
SETTLE_MM, SETTLE_BLUR_MM = 2.6, 0.9
"""The same for finding the place to a fraction of a millimetre."""
READ_MM, READ_BLURS_MM = 1.8, (0.35, 0.9)
"""The same for reading: a sharp picture, a soft one."""
GRAIN = 0.1
"""Independent looks per mm^2 of a patch at REFERENCE px/mm: far fewer than pixels, since what a template lacks (glare,
wear, a bent edge) spoils neighbouring pixels alike."""
REFERENCE = 1.3
GRID_MM, TURN_DEG = 4.0, 15.0
"""Steps of the scan."""
LEADS, FACES_TRIED, TRIES = 6, 3, 3
"""Descents from the scan's best for either rest, of them from one place, and how many are read while none fits."""
PLAINLY = {LYING: 0.88, STANDING: 0.86}
"""Likeness from which the likeliest place of the scan needs none."""
UPRIGHT = 0.2
"""By how much more than the likeliest lying place the likeliest standing one must fit to be looked at first."""
CLEAR = {LYING: 0.84, STANDING: 0.75}
"""Likeness from which a place needs no rival."""
COVER = 0.75
"""Share of a silhouette that must be covered: a white label on a white floor is not seen as covered."""
HOPE = 0.15
"""Likeness from which a descent is worth repeating."""
GLOW, GLOW_SHARES = 12.0, (0.1, 0.2, 0.32, 0.48, 0.7, 1.0, 1.25)
"""Levels by which the floor beside a figure must outshine the floor around for a veil to be looked for (a lamp's mirror
image that lies on the figure too), and what shares of that are tried."""
PLAIN = 0.94
"""Likeness from which no veil is looked for."""
VEILED = 4.0
"""How much a look that needs a veil is less likely (nats)."""
RING_MM = 30.0
"""Width of the floor beside a figure that tells how it glows there."""
CROP_PX = 6
CAMERA_PX = 0.9
"""Blur of a camera's picture in px."""


Prepared: TypeAlias = tuple[Prints, Floats, list[Floats]]
"""Sample points, the levelled looks (H, N, 3), and each patch's looks as rows of length one (H, 3 n)."""
_BESIDE = np.stack(
    np.meshgrid(np.arange(-4.5, 5.0, 1.5), np.arange(-4.5, 5.0, 1.5), (-0.09, 0.0, 0.09)), axis=-1
).reshape(-1, 3)
"""Steps aside of an unclear fit, mm and rad."""
_NUDGES = np.array([(0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)], dtype=float) * (
    2.5,
    2.5,
    0.09,
)
"""Steps aside, larger, from which an unclear fit descends again with its own face: it may have stuck on the way."""


class Wardrobe:
    """The templates of the enrolled figures, made when first needed."""

    def __init__(self, figures: Sequence[Figure], solid: Solid) -> None:
        self.figures, self.solid = tuple(figures), solid

    def prepare(self) -> None:
        """Makes all templates now."""
        for made in (self.scan, self.settle, self.read):
            assert made

    @cached_property
    def _scan(self) -> Templates:
        return templates(self.figures, self.solid, SCAN_MM, SCAN_BLUR_MM)

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Every look, in the order of the templates."""
        return self._scan.looks

    @cached_property
    def scan(self) -> Prepared:
        """For searching."""
        return _prepared(self._scan)

    @cached_property
    def settle(self) -> Prepared:
        """For finding the place."""
        return _prepared(templates(self.figures, self.solid, SETTLE_MM, SETTLE_BLUR_MM))

    @cached_property
    def read(self) -> tuple[Prints, tuple[Floats, ...], Floats]:
        """Points for reading and each patch's looks (B, 3, H, n), with their sums of squares (B, 3, H, 4); B blurs."""
        sets = []
        for blur in READ_BLURS_MM:
            made, known = _joined(templates(self.figures, self.solid, READ_MM, blur))
            sets.append(known.transpose(2, 0, 1))
        looks = np.stack(sets)
        sizes = (looks * looks) @ (made.mean.T * made.counts) + np.float32(1.0)
        return made, tuple(np.ascontiguousarray(looks[..., part]) for part in made.slices), sizes


def _prepared(made: Templates) -> Prepared:
    points, known = _joined(made)
    return points, levelled(known, points), rows(known, points)


def _joined(made: Templates) -> tuple[Prints, Floats]:
    return prints(made.points), np.asarray(np.concatenate(made.patches, axis=1) * 255.0, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A prism at a place: its rest, (x mm, y mm, angle rad), for every look how well it explains the picture (natural
    log, against contrast left unexplained), the light each look asks for (H, 3), each look's likeness patch by patch
    (H, 4), and the patches' exposure in mm^2 (4)."""

    rest: str
    place: Array
    levels: Array
    light: Floats
    likeness: Array
    exposure: Array
    scale: float

    @property
    def best(self) -> int:
        """Number of the best look."""
        return int(np.argmax(self.levels))

    @property
    def mean_likeness(self) -> float:
        """Likeness of the best look over all patches, 0..1."""
        counts = weights(self.exposure, self.scale)
        level = float(self.levels.max())
        return float(np.sqrt(max(0.0, 1.02 - np.exp(-2.0 * level / max(float(counts.sum()), 1e-9)))))

    @property
    def clear(self) -> bool:
        """True when the best look fits so well that no other place need be tried."""
        return self.mean_likeness >= CLEAR[self.rest]


def weights(shown: Array, scale: float) -> Array:
    """Independent looks at patches of this exposure in mm^2, at `scale` px/mm."""
    return np.asarray(shown * (GRAIN * min(max(scale / REFERENCE, 0.3), 2.0)))


def evidence(alike: Array, counts: Array) -> Array:
    """Log-likelihood (...) from likeness (..., 4) of patches with so many independent looks (4)."""
    return np.asarray(-0.5 * (np.log(1.02 - np.clip(alike, 0.0, 1.0) ** 2) @ counts))


def scan(
    picture: Image,
    view: View,
    floor: Floor,
    mask: NDArray[np.uint8],
    points: Array,
    wardrobe: Wardrobe,
    before: Mapping[Fit, bool],
) -> Fit | None:
    """The figure that explains best what lies there, None when no prism fits into `mask` (cells of the flat map that
    are covered) about the covered `points` (N, 2) in mm at floor height.

    Where a fit of `before` (those of the picture before) still fits clearly, it is the answer without a search; where
    the picture there looks as it did (True), without another look.
    """
    solid = wardrobe.solid
    there = []
    for old, still in before.items():
        body = corners(old.rest, old.place, solid)
        if _covered(floor, mask, view, body.mean(axis=0) + 0.7 * (body - body.mean(axis=0))).mean() > COVER:
            if still:
                return old
            there.append(old)
    sharp, near = _cut(picture, view, points)
    fair = _softened(sharp, SETTLE_BLUR_MM, view.scale)
    winner: Fit | None = None
    for old in there:
        fit = settle(sharp, fair, near, old.rest, old.place, old.best, wardrobe)
        fit = _unveiled(sharp, near, floor, fit, wardrobe)
        winner = _better(winner, fit)
        if winner.clear:
            return winner
    soft = _softened(sharp, SCAN_BLUR_MM, view.scale)
    # The likeliest place of all is nearly always right; only where it does not fit plainly are others worth their time.
    rests: dict[str, _Scanned] = {}
    tried: dict[str, float] = {}
    for rest in (LYING, STANDING):
        rests[rest] = _scanned(soft, near, rest, _candidates(rest, view, floor, mask, points, solid), wardrobe)
        if rests[rest].mean > 0.0:
            fit = _tried(sharp, fair, near, rest, *rests[rest].best, wardrobe)
            if fit.mean_likeness >= PLAINLY[rest]:
                return _unveiled(sharp, near, floor, fit, wardrobe)
            tried[rest] = fit.mean_likeness
    # What lies is looked for first: where it is found, nothing stands.
    stands = tried.get(STANDING, 0.0) > tried.get(LYING, 0.0) + UPRIGHT
    for rest in (STANDING, LYING) if stands else (LYING, STANDING):
        if not len(rests[rest].places):
            continue
        leads = _leads(soft, near, rest, rests[rest], wardrobe)
        for mean, place, look in leads[:TRIES]:
            if mean < 0.7 * leads[0][0]:
                break
            fit = settle(sharp, fair, near, rest, place, look, wardrobe)
            winner = _better(winner, fit)
            if winner.clear:
                return _unveiled(sharp, near, floor, winner, wardrobe)
        if winner is not None and winner.rest == rest and winner.mean_likeness >= HOPE:
            winner = _better(winner, _beside(sharp, fair, near, winner, wardrobe))
            winner = _unveiled(sharp, near, floor, winner, wardrobe)
            if winner.clear:
                return winner
    return winner


@dataclass(frozen=True, slots=True, eq=False)
class _Scanned:
    """Places (P, 3) of one rest and how alike each is to every look (P, H); the likeliest place with its look, and its
    likeness over all that is seen of it, nought where there are no places."""

    places: Array
    levels: Floats
    best: tuple[Array, int]
    mean: float


def _scanned(picture: Image, view: View, rest: str, places: Array, wardrobe: Wardrobe) -> _Scanned:
    if not len(places):
        return _Scanned(places, np.zeros((0, 0), dtype=np.float32), (np.zeros(3), 0), 0.0)
    levels = _alike(picture, view, rest, places, wardrobe.scan, wardrobe.solid)
    i, look = divmod(int(levels.argmax()), levels.shape[1])
    shown = exposure(*frames(rest, places[i : i + 1], wardrobe.solid), wardrobe.solid, view.eye).sum()
    return _Scanned(places, levels, (places[i], look), float(levels[i, look] / max(shown, 1.0)))


def _unveiled(picture: Image, view: View, floor: Floor, fit: Fit, wardrobe: Wardrobe) -> Fit:
    """The fit read without the veil of light that lies on it, where its floor glows and it is not plain as it is."""
    if fit.mean_likeness >= PLAIN:
        return fit
    own = floor.inside(silhouette_mm(fit.rest, fit.place, view, wardrobe.solid))
    reach = round(RING_MM / STEP_MM)
    ring = (cv2.dilate(own, np.ones((2 * reach + 1,) * 2, np.uint8)) > 0) & (own == 0) & (floor.seen > 0)
    glow = float(np.percentile(floor.glow[ring], 90)) if ring.any() else 0.0
    if glow < GLOW:
        return fit
    best = fit
    for veil in np.minimum(np.array(GLOW_SHARES) * glow, 255.0).astype(np.uint8):
        bare = np.asarray(np.maximum(picture, veil) - veil, dtype=np.uint8)
        found = _read(bare, view, fit.rest, fit.place, wardrobe)
        best = _better(best, replace(found, levels=found.levels - VEILED))
    return best


def _better(a: Fit | None, b: Fit) -> Fit:
    return b if a is None or b.levels.max() > a.levels.max() else a


def _leads(
    picture: Image, view: View, rest: str, scanned: _Scanned, wardrobe: Wardrobe
) -> list[tuple[float, Array, int]]:
    """Mean likeness, place and look of the best few places of one rest after a descent in the blurred picture."""
    solid = wardrobe.solid
    places, levels = scanned.places, scanned.levels
    chosen: list[int] = []
    looks: list[int] = []
    near_by = np.zeros((len(places), LEADS), dtype=bool)
    open_ = levels.copy()
    while len(chosen) < LEADS:
        i, look = (int(n) for n in np.unravel_index(np.argmax(open_), levels.shape))
        if not np.isfinite(open_[i, look]):
            break
        near = _near(places, places[i])
        near_by[:, len(chosen)] = near
        chosen.append(i)
        looks.append(look)
        # Another face at the same place pulls the descent elsewhere: a few faces are worth a try.
        open_[near, look] = -np.inf
        open_[near_by.sum(axis=1) >= FACES_TRIED] = -np.inf
    places, which = places[chosen], np.array(looks)
    made, known, _ = wardrobe.scan
    for steps in (3, 2):
        for _ in range(steps):
            places = descend(picture, view, rest, places, known[which], made, solid)
        levels = _alike(picture, view, rest, places, wardrobe.scan, solid)
        which = levels.argmax(axis=1)
    shown = exposure(*frames(rest, places, solid), solid, view.eye).sum(axis=1)
    means = levels.max(axis=1) / np.maximum(shown, 1.0)
    return [(float(means[i]), places[i], int(which[i])) for i in np.argsort(-means)]


def _beside(sharp: Image, fair: Image, view: View, fit: Fit, wardrobe: Wardrobe) -> Fit:
    """The best fit near one that is not clear: a descent that began with a neighbour's face may end a face aside."""
    places = fit.place + _BESIDE
    levels = _alike(fair, view, fit.rest, places, wardrobe.settle, wardrobe.solid)
    best = fit
    for _ in range(2):
        i, look = (int(n) for n in np.unravel_index(np.argmax(levels), levels.shape))
        best = _better(best, settle(sharp, fair, view, fit.rest, places[i], look, wardrobe))
        if best.clear:
            break
        levels[:, look] = -np.inf
    for nudge in _NUDGES:
        if best.clear:
            break
        best = _better(best, settle(sharp, fair, view, fit.rest, best.place + nudge, best.best, wardrobe))
    return best


def _tried(sharp: Image, fair: Image, view: View, rest: str, place: Array, look: int, wardrobe: Wardrobe) -> Fit:
    """The same as `settle`, and where another look than the one it began with is seen there, once more with that."""
    fit = settle(sharp, fair, view, rest, place, look, wardrobe)
    if fit.best == look or fit.mean_likeness < HOPE:
        return fit
    return _better(fit, settle(sharp, fair, view, rest, fit.place, fit.best, wardrobe))


def settle(sharp: Image, fair: Image, view: View, rest: str, place: Array, look: int, wardrobe: Wardrobe) -> Fit:
    """The fit of the place to which `look` descends from `place` in the fairly blurred picture, read in the sharp."""
    solid = wardrobe.solid
    made, known, _ = wardrobe.settle
    places = place[None]
    for _ in range(8):
        before = places
        places = descend(fair, view, rest, places, known[look][None], made, solid)
        if np.abs(places - before).max() < 0.12:
            break
    return _read(sharp, view, rest, places[0], wardrobe)


def _read(sharp: Image, view: View, rest: str, place: Array, wardrobe: Wardrobe) -> Fit:
    """The fit at just this place."""
    made, known, sizes = wardrobe.read
    centres, bases = frames(rest, place[None], wardrobe.solid)
    shown = exposure(centres, bases, wardrobe.solid, view.eye)[0]
    counts = weights(shown, view.scale)
    seen = samples(sharp, view, centres, bases, made.points)[0]
    alike, light = kinship(seen, known, sizes, made, counts > 0.0)
    levels = evidence(alike.astype(np.float64), counts)
    blur = int(levels.max(axis=1).argmax())
    front = light[blur, :, :, int(np.argmax(shown))].T
    return Fit(rest, place, levels[blur], front, alike[blur].astype(np.float64), shown, view.scale)


def silhouette_mm(rest: str, place: Array, view: View, solid: Solid) -> Array:
    """Where the prism's twelve corners (12, 2) are seen on the floor, in mm."""
    return view.to_floor(corners(rest, place, solid))


def corners(rest: str, place: Array, solid: Solid) -> Array:
    """The prism's twelve corners (12, 3) in mm: the far end's six, then the near end's."""
    centres, bases = frames(rest, place[None], solid)
    turns = np.radians(30.0 + 60.0 * np.arange(6))
    ring = np.column_stack([np.cos(turns), np.sin(turns)]) * solid.face_width
    local = [np.column_stack([np.full(6, end * solid.length / 2), ring]) for end in (-1, 1)]
    return np.asarray(np.concatenate(local) @ bases[0] + centres[0])


_LYING_BODY = np.array(
    [(s, b, c) for s in (-0.4, 0.0, 0.4) for b, c in ((0.9, -0.3), (0.9, 0.3), (0.0, -0.7), (0.0, 0.7))]
)
_STANDING_BODY = np.array(
    [(s, b, c) for s in (-0.3, 0.1, 0.5) for b, c in ((0.7, 0.0), (0.0, -0.7), (0.0, 0.7), (-0.7, 0.0))]
)


def _candidates(rest: str, view: View, floor: Floor, mask: NDArray[np.uint8], points: Array, solid: Solid) -> Array:
    """Places on a grid whose silhouette is covered."""
    height = solid.across_flats if rest == LYING else solid.length
    shrink = (view.eye[2] - height) / view.eye[2]
    tops = view.eye[:2] + (points - view.eye[:2]) * shrink
    low, high = tops.min(axis=0), tops.max(axis=0)
    xs, ys = (np.arange(a, b + GRID_MM, GRID_MM) for a, b in zip(low, high, strict=True))
    spots = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    covered = _covered(floor, mask, view, np.column_stack([spots, np.full(len(spots), height)])) > 0
    spots = spots[covered]
    towards = np.arctan2(*(view.eye[:2] - points.mean(axis=0))[::-1])
    if rest == LYING:
        angles = towards + np.radians(np.arange(-90.0 + TURN_DEG / 2, 90.0, TURN_DEG))
        body = _LYING_BODY
    else:
        angles = towards + np.radians([-15.0, 15.0])
        body = _STANDING_BODY
    if not len(spots):
        return np.empty((0, 3))
    places = np.column_stack([np.repeat(spots, len(angles), axis=0), np.tile(angles, len(spots))])
    inner = body * (solid.length, solid.apothem, solid.apothem)
    _, bases = frames(rest, places[: len(angles)], solid)
    turned = (inner @ bases).reshape(-1, 3)
    height = solid.apothem if rest == LYING else solid.length / 2
    # Where a point of the body is seen on the floor grows with the spot as with the point itself.
    stretch = view.eye[2] / (view.eye[2] - height - turned[:, 2])
    aside = (view.eye[:2] + (turned[:, :2] - view.eye[:2]) * stretch[:, None] - floor.low_mm) / STEP_MM
    column, row = (
        np.rint(spots[:, axis, None] * (stretch / STEP_MM) + aside[:, axis]).astype(np.intp) for axis in (0, 1)
    )
    column, row = np.clip(column, 0, mask.shape[1] - 1), np.clip(row, 0, mask.shape[0] - 1)
    seen = mask.ravel()[row * mask.shape[1] + column].reshape(len(places), len(body))
    return np.asarray(places[np.count_nonzero(seen, axis=1) >= COVER * len(body)])


def _covered(floor: Floor, mask: NDArray[np.uint8], view: View, solid_points: Array) -> NDArray[np.uint8]:
    columns, rows = floor.cells(view.to_floor(solid_points))
    return np.asarray(mask[rows, columns])


def _softened(picture: Image, blur_mm: float, scale: float) -> Image:
    """The picture blurred as the templates of this blur are, less what the camera has already blurred."""
    sigma = math.sqrt(max((blur_mm * scale) ** 2 - CAMERA_PX**2, 0.0))
    return picture if sigma < 0.4 else np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), dtype=np.uint8)


def _cut(picture: Image, view: View, points: Array) -> tuple[Image, View]:
    """The part of the picture about covered floor points, and its view."""
    edge = np.array([points.min(axis=0) - 10.0, points.max(axis=0) + 10.0])
    box = view.project(np.array([(x, y, 0.0) for x in edge[:, 0] for y in edge[:, 1]]))
    low = np.maximum(np.floor(box.min(axis=0)).astype(int) - CROP_PX, 0)
    high = np.minimum(np.ceil(box.max(axis=0)).astype(int) + CROP_PX, (picture.shape[1], picture.shape[0]))
    high = np.maximum(high, low + 1)
    low = np.minimum(low, np.array([picture.shape[1], picture.shape[0]]) - 1)
    return picture[low[1] : high[1], low[0] : high[0]], view.moved(low.astype(float))


def _alike(picture: Image, view: View, rest: str, places: Array, prepared: Prepared, solid: Solid) -> Floats:
    """How alike (P, H) each place is to every look: the patches' correlations, weighed by what is seen of them."""
    made, _, known = prepared
    centres, bases = frames(rest, places, solid)
    shown = exposure(centres, bases, solid, view.eye).astype(np.float32)
    seen = samples(picture, view, centres, bases, made.points)
    # The known looks have no mean, so that the seen ones need lose theirs in their length alone.
    means = made.mean @ seen
    power = (made.mean @ (seen * seen) - means * means).sum(axis=2) * made.counts
    noise = 3.0 * made.counts * np.float32((255 * NOISE) ** 2)
    share = shown / np.sqrt(np.maximum(power, np.float32(0.0)) + noise)
    result = np.zeros((len(places), len(known[0])), dtype=np.float32)
    for i, part in enumerate(made.slices):
        if share[:, i].any():
            result += (seen[:, part].reshape(len(places), -1) @ known[i].T) * share[:, i : i + 1]
    return result


def _near(places: Array, place: Array) -> NDArray[np.bool_]:
    """Which places (P, 3) are the same as one within a few steps of the scan."""
    turn = np.abs((places[:, 2] - place[2] + np.pi) % (2 * np.pi) - np.pi)
    return np.asarray((np.hypot(places[:, 0] - place[0], places[:, 1] - place[1]) < 1.8 * GRID_MM) & (turn < 0.5))
