"""Figures thrown into an arena: which, which face is up, where they touch the floor, in or out of the line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.arena import STEP_MM, Arena, Floor, covered
from vision.arena_paper import Mask
from vision.contract import VisionError
from vision.figure_faces import Figure, Solid, check
from vision.figure_fit import View, view_at
from vision.figure_pieces import UNKNOWN, FigureJudge, Found
from vision.figure_places import corners
from vision.figure_proof import strip
from vision.figure_search import Fit, scan
from vision.figure_wardrobe import Wardrobe
from vision.marker_search import Pose
from vision.pictures import as_bgr
from vision.reading import SURE_LEAD, Piece, Reading
from vision.registration import Registration, board_corners_px
from vision.unchanged import Unchanged

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
CLIPPED = 250
"""Level from which a pixel may be any lighter."""
DARK = 14.0
"""Mean level below which a picture is too dark to judge."""


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
        self._judge = FigureJudge(profile, self._figures, self._solid, self._wardrobe, self._arena)
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
        pieces = self._judge.pieces(found, pose, floor)
        self._last = pose.camera, pieces
        self._keep(picture, pose.camera, found)
        return self._told(frame, pose, self._last[1])

    def _keep(self, picture: Image, camera: Camera, found: list[Found]) -> None:
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

    def _found(self, picture: Image, floor: Floor, pose: Pose) -> list[Found]:
        found: list[Found] = []
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
                wide = _with_paper(left, floor, reach)
                fit = self._fit(picture, view, floor, wide, points if wide is left else floor.points(wide), still)
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
                        found.append(Found(None, points, _whole(left, floor)))
                    break
                body = corners(fit.rest, fit.place, self._solid)
                own = floor.inside(view.to_floor(body))
                whole = bool(np.all(_within(view.project(body), picture)))
                found.append(Found(fit, floor.points(own), whole, _clipped(picture, view.project(body))))
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
    below = np.asarray(cv2.inRange(picture[low[1] : high[1], low[0] : high[0]], (0, 0, 0), (CLIPPED - 1,) * 3))
    pixels = cv2.countNonZero(mask)
    return 1.0 - cv2.countNonZero(below & mask) / pixels if pixels else 0.0


def _with_paper(mask: Mask, floor: Floor, reach: Mask) -> Mask:
    """The mask and what of the markers' paper lies within reach of it; the mask itself where none does."""
    x, y, wide, high = cv2.boundingRect(mask)
    far = reach.shape[0] // 2
    about = (slice(max(y - far, 0), y + high + far), slice(max(x - far, 0), x + wide + far))
    if not floor.paper[about].any():
        return mask
    return mask | (np.asarray(cv2.dilate(mask, reach), dtype=np.uint8) & floor.paper)


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
