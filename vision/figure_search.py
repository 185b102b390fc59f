"""Which figure lies within what covers the floor: a coarse scan of places, then descent to the best of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from devices.contract import Image
from vision.arena import STEP_MM, Floor
from vision.figure_faces import Solid
from vision.figure_fit import (
    LYING,
    NOISE,
    STANDING,
    View,
    descend,
    exposure,
    frames,
    kinship,
    samples,
)
from vision.figure_places import candidates, cut_out, is_covered, same_place, silhouette_mm, softened
from vision.figure_wardrobe import SCAN_BLUR_MM, SETTLE_BLUR_MM, Prepared, Wardrobe
from vision.sampling import Floats

GRAIN = 0.1
"""Independent looks per mm^2 of a patch at REFERENCE px/mm: far fewer than pixels, since what a template lacks (glare,
wear, a bent edge) spoils neighbouring pixels alike."""
REFERENCE = 1.3
LEADS, FACES_TRIED, TRIES = 6, 3, 3
"""Descents from the scan's best for either rest, of them from one place, and how many are read while none fits."""
PLAINLY = {LYING: 0.88, STANDING: 0.86}
"""Likeness from which the likeliest place of the scan needs none."""
UPRIGHT = 0.2
"""By how much more than the likeliest lying place the likeliest standing one must fit to be looked at first."""
CLEAR = {LYING: 0.84, STANDING: 0.75}
"""Likeness from which a place needs no rival."""
HOPE = 0.15
"""Likeness from which a descent is worth repeating."""
GLOW, GLOW_SHARES = 12.0, (0.1, 0.2, 0.32, 0.48, 0.7, 1.0, 1.25)
"""Levels by which the floor beside a figure must outshine the floor around for a veil to be looked for (a lamp's mirror
image that lies on the figure too), and what shares of that are tried."""
PLAIN = 0.94
"""Likeness from which no veil is looked for."""
VEILED = 4.0
"""How much a look that needs a veil is less likely (nats)."""
FAR_MM = 60.0
"""No figure is seen on the floor farther from where it lies."""
RING_MM = 30.0
"""Width of the floor beside a figure that tells how it glows there."""


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
    low, high = points.min(axis=0) - FAR_MM, points.max(axis=0) + FAR_MM
    for old, still in before.items():
        if np.any(old.place[:2] < low) or np.any(old.place[:2] > high):
            continue
        if is_covered(old.rest, old.place, view, floor, mask, solid):
            if still:
                return old
            there.append(old)
    sharp, near = cut_out(picture, view, points)
    fair = softened(sharp, SETTLE_BLUR_MM, view.scale)
    winner: Fit | None = None
    for old in there:
        fit = settle(sharp, fair, near, old.rest, old.place, old.best, wardrobe)
        fit = _unveiled(sharp, near, floor, fit, wardrobe)
        winner = _better(winner, fit)
        if winner.clear:
            return winner
    soft = softened(sharp, SCAN_BLUR_MM, view.scale)
    # The likeliest place of all is nearly always right; only where it does not fit plainly are others worth their time.
    rests: dict[str, _Scanned] = {}
    tried: dict[str, float] = {}
    for rest in (LYING, STANDING):
        rests[rest] = _scanned(soft, near, rest, candidates(rest, view, floor, mask, points, solid), wardrobe)
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
        near = same_place(places, places[i])
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
