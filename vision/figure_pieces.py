"""From what lies on an arena's floor to pieces: which figure, which face is up, in or out of the line, how surely."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Array
from calibration.profile import TableProfile
from vision.arena import Arena, Floor
from vision.figure_faces import FACES, Figure, Solid
from vision.figure_fit import LYING, STANDING, frames
from vision.figure_places import corners
from vision.figure_search import Fit, evidence, weights
from vision.figure_wardrobe import Wardrobe
from vision.marker_search import Pose
from vision.reading import Fact, Piece

UNKNOWN = "unknown"
"""The figure's name when it is none of the enrolled ones (or nothing that could be read)."""
ENDS = ("top", "bottom")
STRANGE = {LYING: (0.83, 0.79), STANDING: (0.82, 0.70)}
"""Likeness at which an enrolled figure and a stranger are even: without, and with another figure's light to compare."""
SHARPER = 0.05
"""By how much more that is in a picture of FINE_PX or more."""
BEHIND = {LYING: (0.065, 0.065), STANDING: (0.16, 0.08)}
"""How far a figure may fall behind the others of its picture before a stranger is as likely: in a coarse picture, in a
fine one."""
COARSE_PX, FINE_PX = 1.4, 2.0
"""Pixels a mm of what is called a coarse and a fine picture here."""
LIGHT_SPREAD, LIGHT_MOST = 0.035, 12.0
"""How much the colour of light differs (log) between figures of one picture; the most it may count against a look."""
BLIND_MM, LENS_MM = 0.9, 0.4
"""What the place of the floor is uncertain by where the lens is not calibrated, and where it is."""
LINE_BLEED_MM, LINE_READ_MM = 0.6, 0.7
"""The line's outer edge is seen so far inside its place (the floor's light bleeds into it), and to this exactness."""
CLIPS, OVEREXPOSED = (0.15, 0.35), 0.35
"""The shares of pixels as light as can be on a figure from which, and at which wholly, its colours are only half known;
what that counts for then."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A thing on the floor: its fit where a prism fits, the cells that it covers, whether it all lies in the picture,
    and the share of its pixels that are as light as can be."""

    fit: Fit | None
    cells_mm: Array
    whole: bool
    clipped: float = 0.0


_Other = tuple[int, Array, float]
"""Another figure of the picture: its number, the tint of light on it, its likeness."""


class FigureJudge:
    """What things on the floor are, and where, as far as the picture tells."""

    def __init__(
        self, profile: TableProfile, figures: Sequence[Figure], solid: Solid, wardrobe: Wardrobe, arena: Arena
    ) -> None:
        """`wardrobe` holds the looks of these `figures`, which all measure as `solid`."""
        self._profile, self._figures, self._solid = profile, tuple(figures), solid
        self._wardrobe, self._arena = wardrobe, arena

    def pieces(self, found: Sequence[Found], pose: Pose, floor: Floor) -> tuple[Piece, ...]:
        """A piece for each thing, in order; see `vision.figures.FigureReader.read` for its facts."""
        known = [
            (i, light, f.fit.mean_likeness)
            for i, f in enumerate(found)
            if f.fit is not None and (light := _light(f.fit)) is not None
        ]
        ground = self._ground(pose, floor)
        return tuple(self._piece(thing, [k for k in known if k[0] != i], ground) for i, thing in enumerate(found))

    def _ground(self, pose: Pose, floor: Floor) -> float:
        """Standard deviation in mm of a point of the floor: what the lens, the markers and the line itself say."""
        base = LENS_MM if self._profile.lens is not None else BLIND_MM
        strain = max((abs(off + LINE_BLEED_MM) for off in floor.line_mm), default=0.0)
        return math.hypot(base, 1.2 * pose.residual_mm, max(0.0, strain - LINE_READ_MM))

    def _piece(self, thing: Found, others: list[_Other], ground: float) -> Piece:
        if thing.fit is None:
            return self._stranger(thing, ground)
        fit = thing.fit
        reason = "" if thing.whole else "out_of_picture"
        names, faces, states = self._facts(fit, others, reason, thing.clipped)
        sigma = math.hypot(ground, 0.5 if fit.clear else 1.0 + 8.0 * max(0.0, 0.8 - fit.mean_likeness))
        outline = self._footprint(fit)
        facts = {"figure": names, "face": faces, "state": states, **self._where(outline, fit.place[:2], sigma, reason)}
        turned = self._wardrobe.looks[fit.best].turned and fit.rest == LYING
        angle = math.degrees(float(fit.place[2])) + (180.0 if turned else 0.0)
        xy = (float(fit.place[0]), float(fit.place[1]))
        spots = tuple((float(x), float(y)) for x, y in outline)
        return Piece("figure", xy, sigma, facts, angle_deg=(angle + 180.0) % 360.0 - 180.0, outline=spots)

    def _stranger(self, thing: Found, ground: float) -> Piece:
        """Something that no prism explains: unknown, and only as sure of its place as its blob is."""
        middle = thing.cells_mm.mean(axis=0)
        hull = cv2.convexHull(thing.cells_mm.astype(np.float32)).reshape(-1, 2).astype(np.float64)
        names = (*(f.name for f in self._figures), UNKNOWN)
        reason = "unclear" if thing.whole else "out_of_picture"
        facts = {
            "figure": Fact(names, (*(-12.0,) * len(self._figures), 0.0), reason="" if thing.whole else reason),
            "face": Fact(_faces(), (0.0,) * len(_faces()), True, reason),
            "state": Fact(("power", "shield", "immune"), (0.0,) * 3, True, reason),
            # A thing's height throws its picture outwards by up to its height: only a blob well inside is surely in.
            **self._where(hull, middle, math.hypot(ground, 8.0), "" if thing.whole else reason),
        }
        spots = tuple((float(x), float(y)) for x, y in hull)
        return Piece("figure", (float(middle[0]), float(middle[1])), math.hypot(ground, 8.0), facts, outline=spots)

    def _facts(self, fit: Fit, others: list[_Other], reason: str, clipped: float) -> tuple[Fact, Fact, Fact]:
        levels = fit.levels
        fine = min(max((fit.scale - COARSE_PX) / (FINE_PX - COARSE_PX), 0.0), 1.0)
        even = STRANGE[fit.rest][1 if others else 0] + SHARPER * fine
        low, high = CLIPS
        blinding = min(max((clipped - low) / (high - low), 0.0), 1.0)
        if others:
            off = _tint(fit.light.astype(np.float64)) - _median(np.array([light for _, light, _ in others]))
            against = np.minimum(0.5 * np.sum((off / LIGHT_SPREAD) ** 2, axis=1), LIGHT_MOST)
            # Of light that blinds the camera the colour is not known.
            levels = levels - (1.0 - blinding) * against
            coarse_drop, fine_drop = BEHIND[fit.rest]
            usual = statistics.median(like for _, _, like in others)
            even = max(even, usual - coarse_drop + (coarse_drop - fine_drop) * fine)
        counts = weights(fit.exposure, fit.scale)
        stranger = float(evidence(np.full(4, even), counts))
        # Looks follow each other figure by figure, face by face, either end near.
        each = levels.reshape(len(self._figures), FACES, 2)
        best = each.max(axis=(1, 2))
        weight = 1.0 - (1.0 - OVEREXPOSED) * blinding
        rated = (*(weight * best).tolist(), weight * stranger)
        names = Fact((*(f.name for f in self._figures), UNKNOWN), rated, bool(reason), reason)
        chosen = int(np.argmax(best))
        floor_level = float(levels.min()) - 30.0
        shown = dict.fromkeys(_faces(), floor_level)
        if fit.rest == LYING:
            shown.update(zip(_faces(), each[chosen].max(axis=1).tolist(), strict=False))
        else:
            shown.update(zip(ENDS, each[chosen].max(axis=0).tolist(), strict=True))
        # A face of a figure that is none of ours means nothing.
        strange = names.best == UNKNOWN
        hidden, why = bool(reason) or strange, reason or ("unclear" if strange else "")
        faces = Fact(tuple(shown), tuple(shown.values()), hidden, why)
        kinds = {"power": floor_level, "shield": floor_level, "immune": floor_level}
        for key, level in shown.items():
            kind = "immune" if key in ENDS else self._figures[chosen].states[int(key) - 1]
            kinds[kind] = max(kinds.get(kind, floor_level), level)
        return names, faces, Fact(tuple(kinds), tuple(kinds.values()), hidden, why)

    def _footprint(self, fit: Fit) -> Array:
        """The contact area on the floor (N, 2) in mm: a face of the prism, or its end."""
        if fit.rest != LYING:
            return corners(fit.rest, fit.place, self._solid)[:6, :2]
        _, bases = frames(fit.rest, fit.place[None], self._solid)
        along, across = bases[0, 0, :2] * self._solid.length / 2, bases[0, 2, :2] * self._solid.face_width / 2
        middle = fit.place[:2]
        return np.array(
            [middle + along + across, middle - along + across, middle - along - across, middle + along - across]
        )

    def _where(self, outline: Array, middle: Array, sigma: float, reason: str) -> dict[str, Fact]:
        low, high = self._arena.low, self._arena.high
        line = self._profile.board.sizes_mm.get("line", 10.0)
        outside = _gap(outline, low, high)
        inner = _depth(outline, low + line, high - line)
        distance = float(np.hypot(*(middle - (low + high) / 2)))
        on = min(-outside, inner) if outside <= 0 else -outside
        hidden = bool(reason)
        return {
            "in": Fact(("yes", "no"), (_log_cdf(-outside / sigma), _log_cdf(outside / sigma)), hidden, reason),
            "touching": Fact(("yes", "no"), (_log_cdf(on / sigma), _log_cdf(-on / sigma)), hidden, reason),
            "distance": Fact((f"{distance:.1f}",), (0.0,), hidden, reason),
            "line": Fact((f"{outside:.1f}",), (0.0,), hidden, reason),
        }


def _faces() -> tuple[str, ...]:
    return (*(str(k + 1) for k in range(FACES)), *ENDS)


def _median(rows: Array) -> Array:
    """The median (N) of rows (R, N); of so few numpy's own costs more than sorting them."""
    ordered = np.sort(rows, axis=0)
    return np.asarray((ordered[(len(rows) - 1) // 2] + ordered[len(rows) // 2]) / 2.0)


def _tint(light: Array) -> Array:
    """Colour of light (..., 3) as logarithms without its brightness."""
    logs = np.log(np.maximum(light, 1e-3))
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True), dtype=np.float64)


def _light(fit: Fit | None) -> Array | None:
    """The tint of light on a figure that is read well enough to tell it."""
    if fit is None or fit.rest != LYING or fit.mean_likeness < STRANGE[LYING][1]:
        return None
    return _tint(np.asarray(fit.light[fit.best], dtype=np.float64))


def _gap(outline: Array, low: Array, high: Array) -> float:
    """How far a convex outline lies outside the rectangle; below nought: how deep it reaches in."""
    box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    edges = np.concatenate([outline[1:], outline[:1]]) - outline
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    # Whichever way round the outline runs, its own middle lies inside.
    normals *= np.sign(((outline - outline.mean(axis=0)) * normals).sum(axis=1, keepdims=True))
    normals /= np.maximum(np.sqrt((normals * normals).sum(axis=1, keepdims=True)), 1e-9)
    depths = (normals @ box.T) - (normals * outline).sum(axis=1, keepdims=True)
    # Separating axes: exact when they touch or overlap, a lower bound by a corner, which is what a referee needs.
    beside = np.maximum(low - outline.max(axis=0), outline.min(axis=0) - high)
    return float(max(beside.max(), depths.min(axis=1).max()))


def _depth(outline: Array, low: Array, high: Array) -> float:
    """How far the outline reaches beyond the rectangle; below nought: its distance within."""
    return float(np.max(np.concatenate([low - outline, outline - high], axis=1)))


def _log_cdf(z: float) -> float:
    """log of the normal distribution function, kept finite."""
    z = max(-8.0, min(8.0, z))
    return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
