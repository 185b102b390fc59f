"""Figures thrown into an arena: which, which face is up, where they touch the floor, in or out of the line."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.arena import STEP_MM, Arena, Floor, Mask, covered
from vision.contract import VisionError
from vision.figure_faces import FACES, Figure, Solid, check
from vision.figure_fit import LYING, STANDING, View, frames, view_at
from vision.figure_places import corners
from vision.figure_proof import strip
from vision.figure_search import Fit, evidence, scan, weights
from vision.figure_wardrobe import Wardrobe
from vision.marker_search import Pose
from vision.pictures import as_bgr
from vision.reading import SURE_LEAD, Fact, Piece, Reading
from vision.registration import Registration, board_corners_px
from vision.unchanged import Unchanged

UNKNOWN = "unknown"
"""The figure's name when it is none of the enrolled ones (or nothing that could be read)."""
ENDS = ("top", "bottom")
SMALLEST_MM2 = 220.0
"""Covered floor below which nothing of a figure's size can lie (an end is 500 mm^2)."""
REST_MM2, BODY_MM2 = 200.0, 900.0
"""Beside a figure another is looked for where this much covered floor is no shadow, or so much is covered at all (what
no shadow explains counts twice)."""
WIDER = 1.02
"""A thing that no prism explains is looked at again with what is covered beside it, if that makes it so much larger."""
SHADE_MM2 = 90.0
"""Something as large as a figure of which less than this is more than dark is taken for a shadow."""
EDGE_CELLS, OUTLINE_CELLS = 12, 50
"""Sharp cells below which what no prism explains is light, and from which it is something although it is no more than
dark: of a figure one sees some sixty at least, of shadows and what is left of the line fewer than forty."""
OWN_EDGE = 9
"""Cells across about a figure's cells of which the sharp ones are its own outline."""
FITTED = 0.5
"""Likeness from which a prism's place is believed, whatever it may be."""
MOST = 12
"""Pieces looked for in one picture."""
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
CLIPPED, CLIPS = 250, (0.15, 0.35)
"""Level from which a pixel may be any lighter; the shares of such pixels on a figure from which, and at which wholly,
its colours are only half known: what they say then counts by OVEREXPOSED."""
OVEREXPOSED = 0.35
DARK = 14.0
"""Mean level below which a picture is too dark to judge."""


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A thing on the floor: its fit where a prism fits, the cells that it covers, its view, whether it lies wholly in
    the picture, and the share of its pixels that are as light as can be."""

    fit: Fit | None
    cells_mm: Array
    view: View
    whole: bool
    clipped: float = 0.0


_Other = tuple[int, Array, float]
"""Another figure of the picture: its number, the tint of light on it, its likeness."""


class FigureReader:
    """Reads the figures in and about an arena; see vision.contract.Reader."""

    def __init__(self, profile: TableProfile, figures: Sequence[Figure]) -> None:
        """`figures` are the enrolled ones; raises VisionError when one of them, or the profile, cannot work.

        `overlooks` tells of the last picture whether a figure in it could have been overlooked: on a boldly patterned
        floor, or among more things than are looked at.
        """
        check(figures)
        sizes = profile.board.sizes_mm
        self._solid = Solid(sizes.get("figure_length", 45.0), sizes.get("figure_across_flats", 24.0))
        if not (5.0 <= self._solid.across_flats <= self._solid.length <= 200.0):
            raise VisionError(f"no figure is {self._solid.length} mm long and {self._solid.across_flats} mm across")
        self._profile, self._figures = profile, tuple(figures)
        self._registration = Registration(profile)
        self._arena = Arena(profile)
        self._wardrobe = Wardrobe(figures, self._solid)
        self._before: tuple[Fit, ...] = ()
        self._pose: Pose | None = None
        self._unchanged = Unchanged()
        self._last: tuple[Camera, tuple[Piece, ...]] | None = None
        self.overlooks = False

    def prepare(self) -> None:
        """Makes the templates now (a fraction of a second), so that the first reading is as quick as any."""
        if self._figures:
            self._wardrobe.prepare()

    def read(self, frame: Frame) -> Reading:
        """The reading: one piece a figure or other thing.

        Facts of a piece: `figure` (names and `unknown`), `face` (`1`..`6`, `top`, `bottom`: the one that is up),
        `state` (`power`, `shield`, `immune`), `in` (`yes`, `no`: its footprint touches the square within the line's
        outer edge), `touching` (`yes`, `no`: it touches the line). With one value each, in mm: `line` (how far the
        footprint lies outside the line's outer edge, below nought inside), `distance` (from the arena's centre to the
        figure's centre on the floor). `outline` is the footprint in mm.
        """
        picture = as_bgr(frame.bgr)
        blank = Reading(frame.number, frame.time_s)
        if picture is None:
            return replace(blank, troubles=("vision.bad_picture",))
        pose = self._registration.locate(picture)
        if pose is None:
            dark = float(picture[::8, ::8].mean()) < DARK
            return replace(blank, troubles=("vision.too_dark" if dark else "vision.no_board",))
        if self._last is None or self._last[0] is not pose.camera:
            self._unchanged.forget()
        elif self._unchanged.same("floor", picture):
            return self._told(frame, pose, self._last[1])
        if pose.moved:
            self._before = ()
        self._pose = pose
        floor = self._arena.floor(picture, pose.camera)
        found = self._found(picture, floor, pose)
        self.overlooks = floor.busy or len(found) >= MOST
        known = [
            (i, light, f.fit.mean_likeness)
            for i, f in enumerate(found)
            if f.fit is not None and (light := _light(f.fit)) is not None
        ]
        ground = self._ground(pose, floor)
        pieces = []
        for i, thing in enumerate(found):
            others = [k for k in known if k[0] != i]
            pieces.append(self._piece(thing, others, ground))
        self._last = pose.camera, tuple(pieces)
        self._keep(picture, pose.camera, found)
        return self._told(frame, pose, self._last[1])

    def _keep(self, picture: Image, camera: Camera, found: list[_Found]) -> None:
        """Remembers the look of the floor and of every figure that was read anew."""
        fits = tuple(f.fit for f in found if f.fit is not None)
        for gone in set(self._before) - set(fits):
            self._unchanged.forget(gone)
        for fit in set(fits) - set(self._before):
            self._unchanged.keep(fit, picture, camera.project(corners(fit.rest, fit.place, self._solid)))
        self._before = fits
        low, high = self._arena.floor_low, self._arena.floor_high
        edge = [(x, y, 0.0) for x in (low[0], high[0]) for y in (low[1], high[1])]
        self._unchanged.keep("floor", picture, camera.project(np.array(edge)))

    def _told(self, frame: Frame, pose: Pose, pieces: tuple[Piece, ...]) -> Reading:
        troubles = ["vision.board_moved"] if pose.moved else []
        named = [p.facts["figure"].best for p in pieces if p.facts["figure"].sure(SURE_LEAD)]
        if any(named.count(name) > 1 for name in named if name != UNKNOWN):
            troubles.append("vision.equal_figures")
        return Reading(
            frame.number,
            frame.time_s,
            pieces=pieces,
            board_px=board_corners_px(self._profile, pose.camera),
            residual_mm=pose.residual_mm,
            troubles=tuple(troubles),
        )

    def agree(self, look: Mapping[str, str]) -> None:
        """Nothing is learned from what was agreed: what a picture shows is all that counts."""

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with footprints, names and faces drawn where they were read, and under it the proofs:
        see `vision.figure_proof.strip`."""
        seen = as_bgr(image)
        if seen is None or not reading.board_found:
            return image.copy()
        picture = seen.copy()
        board = np.array(self._profile.board.corners_mm, dtype=np.float32)
        to_px = cv2.getPerspectiveTransform(board, np.array(reading.board_px, dtype=np.float32))
        for piece in reading.pieces:
            figure = piece.facts["figure"]
            sure = figure.sure(SURE_LEAD) and figure.best != UNKNOWN
            colour = (90, 200, 60) if sure else (40, 170, 255)
            outline = np.array(piece.outline or [piece.xy], dtype=np.float32).reshape(-1, 1, 2)
            shape = np.rint(cv2.perspectiveTransform(outline, to_px)).astype(np.int32)
            cv2.polylines(picture, [shape], True, colour, 2, cv2.LINE_AA)
            said = f"{figure.best} {piece.facts['face'].best}" if sure else "?"
            at = tuple(int(v) for v in shape.reshape(-1, 2).min(axis=0) - 6)
            cv2.putText(picture, said, at, cv2.FONT_HERSHEY_SIMPLEX, 0.6, colour, 2, cv2.LINE_AA)
        named = {f.name: f for f in self._figures}
        below = None if self._pose is None else strip(seen, self._pose.camera, reading.pieces, self._solid, named)
        return picture if below is None else np.concatenate([picture, below])

    def _found(self, picture: Image, floor: Floor, pose: Pose) -> list[_Found]:
        found: list[_Found] = []
        still = {fit: self._unchanged.same(fit, picture) for fit in self._before}
        reach = np.ones((2 * round(self._solid.length / STEP_MM) + 1,) * 2, np.uint8)
        edges, taken = floor.edges.copy(), np.zeros_like(floor.solid)
        for mask in covered(floor, SMALLEST_MM2):
            # A figure as pale as the floor shows in parts: what one explains of another is not looked at again.
            left = _opened(mask & (1 - taken)) if np.any(mask & taken) else mask
            first = left is mask
            while len(found) < MOST:
                sizes = [cv2.countNonZero(m) * STEP_MM**2 for m in (left, left & floor.solid)]
                # A figure without colour on a floor of its own shade may look like a mere shadow: once it is tried.
                if not first and (sizes[0] < SMALLEST_MM2 or not (sizes[1] > REST_MM2 or sum(sizes) > BODY_MM2)):
                    break
                first = False
                points = floor.points(left)
                view = view_at(pose.camera, points.mean(axis=0))
                wide = left | (np.asarray(cv2.dilate(left, reach), dtype=np.uint8) & floor.paper)
                fit = self._fit(picture, view, floor, wide, floor.points(wide), still)
                if fit is None or fit.mean_likeness < FITTED:
                    # White sides on a pale floor leave gaps: perhaps it is one thing with what is covered beside it.
                    whole_mask = _filled(wide, (floor.solid | floor.dark) & (1 - taken), floor, reach) & (1 - taken)
                    if cv2.countNonZero(whole_mask) > WIDER * cv2.countNonZero(wide):
                        other = self._fit(picture, view, floor, whole_mask, floor.points(whole_mask), {})
                        fit = other if other is not None and self._explains(other, view, floor, left, taken) else fit
                if fit is None or fit.mean_likeness < FITTED:
                    # Never passed over in silence: what is not all shadow is something, and so is what has an outline.
                    body_too = sizes[1] >= (SHADE_MM2 if sizes[0] >= BODY_MM2 / 2 else SMALLEST_MM2)
                    if _sharp(left, edges) >= (EDGE_CELLS if body_too else OUTLINE_CELLS):
                        found.append(_Found(None, points, view, _whole(left, floor)))
                    break
                body = corners(fit.rest, fit.place, self._solid)
                own = floor.inside(view.to_floor(body))
                whole = bool(np.all(_within(view.project(body), picture)))
                found.append(_Found(fit, floor.points(own), view, whole, _clipped(picture, view.project(body))))
                edges[cv2.dilate(own, np.ones((OWN_EDGE,) * 2, np.uint8)) > 0] = 0
                taken |= np.asarray(cv2.dilate(own, np.ones((3, 3), np.uint8)), dtype=np.uint8)
                left = _opened(left & (1 - taken))
        return found

    def _explains(self, fit: Fit, view: View, floor: Floor, left: Mask, taken: Mask) -> bool:
        """Whether the fit covers a good part of what is left, and next to nothing that is explained already."""
        own = floor.inside(view.to_floor(corners(fit.rest, fit.place, self._solid)))
        shared, anew = cv2.countNonZero(own & taken), cv2.countNonZero(own & left)
        return 2 * anew >= cv2.countNonZero(left) and 4 * shared <= cv2.countNonZero(own)

    def _fit(
        self, picture: Image, view: View, floor: Floor, left: Mask, points: Array, still: Mapping[Fit, bool]
    ) -> Fit | None:
        if not self._figures:
            return None
        return scan(picture, view, floor, left, points, self._wardrobe, still)

    def _ground(self, pose: Pose, floor: Floor) -> float:
        """Standard deviation in mm of a point of the floor: what the lens, the markers and the line itself say."""
        base = LENS_MM if self._profile.lens is not None else BLIND_MM
        strain = max((abs(off + LINE_BLEED_MM) for off in floor.line_mm), default=0.0)
        return math.hypot(base, 1.2 * pose.residual_mm, max(0.0, strain - LINE_READ_MM))

    def _piece(self, thing: _Found, others: list[_Other], ground: float) -> Piece:
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

    def _stranger(self, thing: _Found, ground: float) -> Piece:
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


def _sharp(mask: Mask, edges: Mask) -> int:
    """How many of these cells, and those beside them, are sharp: a lamp's mirror image, a spot of light, a shadow have
    soft edges."""
    return cv2.countNonZero(np.asarray(cv2.dilate(mask, np.ones((3, 3), np.uint8)), dtype=np.uint8) & edges)


def _whole(mask: Mask, floor: Floor) -> bool:
    """Whether all that covers these cells, and the floor about it, lies in the picture and within the map."""
    about = np.asarray(cv2.dilate(mask, np.ones((5, 5), np.uint8)), dtype=np.uint8)
    at_border = any(part.any() for part in (about[0], about[-1], about[:, 0], about[:, -1]))
    return not at_border and not np.any(about > floor.seen)


def _clipped(picture: Image, body: Array) -> float:
    """The share of the pixels of a body, given by its corners (N, 2), of which a channel is as light as can be."""
    low = np.clip(np.floor(body.min(axis=0)), 0, None).astype(int)
    high = np.clip(np.ceil(body.max(axis=0)) + 1, 0, picture.shape[1::-1]).astype(int)
    if np.any(high - low < 1):
        return 0.0
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), dtype=np.uint8)
    hull = cv2.convexHull((body - low).astype(np.float32))
    cv2.fillConvexPoly(mask, np.rint(hull).astype(np.int32), 1)
    light = picture[low[1] : high[1], low[0] : high[0]].max(axis=2) >= CLIPPED
    return float(light[mask > 0].mean()) if mask.any() else 0.0


def _filled(mask: Mask, covered_cells: Mask, floor: Floor, reach: Mask) -> Mask:
    """The hull of a mask and of all that is covered within reach of it."""
    near = np.asarray(cv2.dilate(mask, reach), dtype=np.uint8) & covered_cells
    return floor.inside(floor.points(_opened(near) | mask))


def _opened(mask: Mask) -> Mask:
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), dtype=np.uint8)


def _within(pixels: Array, picture: Image) -> Array:
    height, width = picture.shape[:2]
    x, y = pixels[..., 0], pixels[..., 1]
    return np.asarray((x >= 1) & (y >= 1) & (x <= width - 2) & (y <= height - 2))


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
