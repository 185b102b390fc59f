"""Which cells of a printed board hold something: each compared with its like, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from calibration.profile import Board
from devices.contract import Image
from vision.marker_search import Pose
from vision.sampling import Bools, Floats, Stencil, logs, middle, solved, spread_of

STEP_MM = 2.3
REACH = 1.3
"""Samples go this many token radii out: the token and a little of the board around it."""

RINGS = (0.38, 0.66, 0.92)
"""Outer radii (in token radii) of the rings whose median colour is compared with the printed board's."""

NOISE = (0.02, 0.02, 0.05)
"""Least spread of red-green, blue-green and brightness (log units) taken for the printed board's own."""

SPOT_MM = 3.0
"""How far from a spot between cells what its samples see may lie: a sample, and the bleeding of colour there."""

MANY = 16
"""Cells of one look from which a slope over the board can be told from what lies on some of them."""

VARIED = 2.0
"""A rarer look varies up to this many times as much from cell to cell as the plain one does under the same light."""

CROWDED = 0.6
"""Share of the cells of one look that may hold something: above it those that are most alike need not be empty."""

ALIKE = 3
"""So many cells of a rare look that are alike, and not like the others, may be the empty ones."""

ALIEN = 4.0
"""Spreads from its like at which one sample is not the board."""

GOES_ON = 0.5
"""Part of its own difference from the board by which what lies on a cell may differ from what lies beside it."""
HAND_CELLS = 4
"""Fewer covered cells than this are no hand."""
ENCLOSED = 3
"""A cell that meets so many covered ones lies under the same hand."""
ASTRAY = 0.3
"""Part of a token that must be seen about a spot between cells for something to lie there."""

LEAST_SPREAD = np.array([0.012, 0.012, 0.02])
"""Spreads (red-green, blue-green, brightness; log units) below which no printed board is trusted to lie."""
PRESENT = 6.0
"""Spreads from the board's own look at which a cell as surely holds something as nothing."""

UNSURE = 0.75 * PRESENT
"""Spreads from which a cell is not taken for empty without a doubt."""

ODD = 9.0
"""Spreads from the others of its kind at which a spot between cells is not the board."""

PLAIN, DARKEST = 0.02, -2.6
"""Spread of log brightness over a board below which no print is seen, and brightness below which it is too dark."""

BURNT = 250
"""Level from which a sample is at the top of the sensor's range."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """All cells of one picture: samples (cells, points, 3) as red-green, blue-green and brightness in log units, the
    same of the spots between cells (spots, 3; NaN outside the picture), the share of each cell's samples
    at the top of the sensor's range, which cells lie inside the picture, and how far (cells, 2) in mm on the board a
    token's upper side is seen off the cell."""

    samples: Floats
    between: Floats
    burnt: Floats
    inside: Bools
    leaning: Array


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """What is there on the cells (N,) of one picture. `strange`: spreads from the look of an empty cell; `lean`: how
    far (in token radii) what is there has its middle off the cell's; `covered`: a hand or so lies there, `touched`:
    perhaps; `loose`: empty, with something beside it that is on no cell; `crowded`: which of its like hold something
    and which are empty cannot be told; `ground`: colour and brightness (N, 3) of the plain board under this light."""

    strange: Floats
    lean: Floats
    covered: Bools
    touched: Bools
    loose: Bools
    crowded: Bools
    ground: Floats


class CellBoard:
    """The cells of one board spec: their samples, and what is there; keeps nothing from picture to picture."""

    def __init__(self, board: Board) -> None:
        """`board` has places, `token_radius`, `token_height` and `board_height`, and maybe `grid.groups`."""
        self.poses = np.array([(x, y, 0.0) for x, y in board.places_mm.values()])
        groups = {place: name for name, places in board.grid.get("groups", {}).items() for place in places}
        self._groups = [
            np.array([groups.get(p, "") == name for p in board.places_mm])
            for name in ["", *sorted(set(groups.values()))]
        ]
        radius = board.sizes_mm["token_radius"]
        steps = np.arange(-radius * REACH, radius * REACH + 0.1, STEP_MM)
        points = np.array([(x, y) for x in steps for y in steps if np.hypot(x, y) <= radius * REACH])
        self._points = points / radius
        self.distance = np.hypot(*self._points.T)
        self._stencil = Stencil(points)
        self._shade_mm = radius + SPOT_MM
        self._heights_mm = (board.sizes_mm["token_height"], board.sizes_mm["board_height"])
        self._rings = [(self.distance >= a) & (self.distance < b) for a, b in pairwise((0.0, *RINGS))]
        self.within = self.distance < RINGS[-1]
        self._spots, self._kinds, self._beside = _spots(self.poses)
        self._crossings, self._sides = _about(self.poses, self._spots, self._kinds, self._beside)
        self._about_spots = _within(self.poses[:, None, :2] + points, self._spots[:, :2], self._beside, radius)
        self._least = ASTRAY * np.pi * (radius / STEP_MM) ** 2
        self._near = self._beside @ self._beside.T > 0
        self._basis = _quadratic(self.poses, self.poses)
        self._spot_basis = _quadratic(self._spots, self.poses)

    def sample(self, picture: Image, pose: Pose) -> Cells:
        """The samples of one picture."""
        colours, inside = self._stencil.colours(picture, pose.camera, self.poses, self._heights_mm[0])
        spots, seen = _CROSS.colours(picture, pose.camera, self._spots, self._heights_mm[1])
        top = np.maximum(np.maximum(colours[..., 0], colours[..., 1]), colours[..., 2])
        burnt = np.count_nonzero(top >= BURNT, axis=1).astype(np.float32) / np.float32(top.shape[1])
        between = _opponent(spots).mean(axis=1)
        between[~seen.all(axis=1)] = np.nan
        eye = pose.camera.position_mm
        share = (self._heights_mm[0] - self._heights_mm[1]) / max(float(eye[2]) - self._heights_mm[0], 1.0)
        leaning = (self.poses[:, :2] - eye[:2]) * share
        return Cells(_opponent(colours), between, burnt, inside.mean(axis=1) > 0.97, leaning)

    def judge(self, cells: Cells, known: Mapping[int, Floats]) -> Presence:
        """What is there on each cell. `known`: how empty cells of few alike looked when they were agreed on (`empty`),
        for when too many of them hold something to tell."""
        ground, between = self._light_field(cells)
        relative = cells.samples - ground[:, None]
        rings = np.stack([middle(relative[:, ring], axis=1) for ring in self._rings], axis=1)
        strange = np.zeros(len(self.poses), dtype=np.float32)
        lean = np.zeros(len(self.poses), dtype=np.float32)
        crowded = np.zeros(len(self.poses), dtype=bool)
        alien = np.zeros((len(self.poses), len(self._points)), dtype=bool)
        widest = np.inf
        for number, group in enumerate(self._groups):
            off = self._beside_usual(rings[group], group)
            # The 40 % that are most alike stand for the empty ones: up to half of the cells may hold something.
            at = int(0.4 * (len(off) - 1))
            spread = np.clip(np.partition(np.abs(off), at, axis=0)[at] / 0.524, NOISE, widest)
            if group is self._groups[0]:
                # Of few cells nearly half may hold something, and would pass for the look's own variety.
                widest = VARIED * spread
            strange[group], crowded[group] = _rated(off / spread)
            # Sample by sample; some forty cells say well enough how the print looks.
            like = relative[group][:: max(1, int(group.sum()) // 40), :, :2]
            usual = middle(like, axis=0)
            if crowded[group].any() and number in known:
                look = known[number]
                off = rings[group] - np.stack([middle(look[ring], axis=0) for ring in self._rings])
                strange[group], crowded[group] = _rated(off / widest)[0], False
                usual = look[:, :2]
            away = np.abs(relative[group][..., :2] - usual)
            alien[group] = (away > ALIEN * np.maximum(spread_of(like - usual, axis=0), NOISE[0])).any(axis=2)
            # Where what is not the board as it is printed there has its middle.
            holds = strange[group] > PRESENT / 2
            foreign = alien[group][holds].astype(np.float32)
            reach = np.hypot(*(foreign @ self._points.astype(np.float32)).T)
            lean[np.flatnonzero(group)[holds]] = reach / np.maximum(foreign.sum(axis=1), 10)
        taken = strange > PRESENT / 2
        odd = self._odd(between)
        behind = self._behind(cells.leaning, taken)
        covered, touched = self._covered(odd, odd & ~behind)
        covered |= (strange > PRESENT) & self._goes_on(
            rings[:, 0, :2], np.where(behind[:, None], np.nan, between[:, :2])
        )
        return Presence(strange, lean, covered, touched, self._astray(alien, strange > UNSURE), crowded, ground)

    def empty(self, cells: Cells, ground: Floats, bare: Bools) -> dict[int, Floats]:
        """How those of few alike look, against the plain board under this light, that are `bare` (cells): number of the
        look -> (samples, 3)."""
        found = {}
        for number, group in enumerate(self._groups):
            some = np.flatnonzero(group & bare)
            if len(some) and int(group.sum()) < MANY:
                found[number] = np.asarray(middle(cells.samples[some] - ground[some, None], axis=0), dtype=np.float32)
        return found

    def _beside_usual(self, rings: Floats, group: Bools) -> Floats:
        """How far each cell's rings (cells, rings, 3) are off those of its like: of few, off the look that most of them
        have in common; of many, off their median and a slope over the board (a printed ring lies aside where the
        registration is a little off)."""
        if len(rings) < MANY:
            return np.asarray(rings - _commonest(rings), dtype=np.float32)
        off = rings - middle(rings, axis=0)
        flat = off.reshape(len(off), -1).astype(np.float64)
        basis = self._basis[group][:, :3]
        rest = flat
        for _ in range(4):
            size = np.sqrt((rest * rest).sum(axis=1))
            weight = 1 / (1 + (size / max(1.5 * _lower_part(size), 1e-6)) ** 4)
            rest = flat - basis @ _weighted_fit(basis, flat, weight)
        return np.asarray(rest.reshape(off.shape), dtype=np.float32)

    def _light_field(self, cells: Cells) -> tuple[Floats, Floats]:
        """Colour and brightness (cells, 3) of the plain board under this light: a quadratic over the board, fitted to
        the plain cells with those that hold something weighed out; and how far the spots between cells are off it."""
        centre = middle(cells.samples[:, self.within], axis=1).astype(np.float64)
        basis = self._basis
        plain = self._groups[0].astype(np.float64)
        off = np.abs(centre - middle(centre[plain > 0], axis=0))
        fit: Array = np.zeros((basis.shape[1], 3))
        # First a middle, then a slope, then a curve: tokens side by side at an edge would bend a curve towards them.
        for terms in (3, 3, 3, 6, 6, 6, 6):
            # Each channel by its own spread: what is only a little off in hue is much off where light varies more.
            spread = np.maximum(spread_of(off[plain > 0], axis=0), LEAST_SPREAD)
            fit = np.zeros((basis.shape[1], 3))
            weight = plain / (1 + ((off / spread).max(axis=1) / 2) ** 4)
            fit[:terms] = _weighted_fit(basis[:, :terms], centre, weight)
            off = np.abs(centre - basis @ fit)
        between = cells.between - self._spot_basis @ fit
        return (basis @ fit).astype(np.float32), between.astype(np.float32)

    def _odd(self, between: Floats) -> Bools:
        """Spots between cells that do not look as the others of their kind do. A shadow darkens but does not colour, so
        only the hue counts."""
        odd = np.ones(len(between), dtype=bool)
        for kind in range(3):
            alike = (self._kinds == kind) & ~np.isnan(between[:, 0])
            if alike.any():
                off = between[alike, :2] - middle(between[alike, :2], axis=0)
                odd[alike] = (np.abs(off) / np.maximum(spread_of(off, axis=0), NOISE[:2])).max(axis=1) > ODD
        return odd

    def _behind(self, leaning: Array, taken: Bools) -> Bools:
        """Spots between cells that are hidden by the tokens on these cells, seen aslant, and so tell nothing else."""
        steps = self._spots[None, :, :2] - (self.poses[taken, :2] + leaning[taken])[:, None]
        return np.asarray((np.einsum("csi,csi->cs", steps, steps) < self._shade_mm**2).any(axis=0))

    def _covered(self, odd: Bools, unexplained: Bools) -> tuple[Bools, Bools]:
        """Cells with half of their crossings odd (something larger than a token lies there: then it lies on the side
        between two of them too), and those with one of them odd and two sides that no token explains, or with all."""
        crossing, side = (np.append(odd, False)[each] for each in (self._crossings, self._sides))
        count, strange = (self._crossings >= 0).sum(axis=1), crossing.sum(axis=1)
        joined = (crossing & np.roll(crossing, -1, axis=1) & side).any(axis=1)
        across = (crossing[:, :2] & crossing[:, 2:]).any(axis=1)
        unexpected = np.append(unexplained, False)[self._sides]
        sides = np.where(strange == count, side.sum(axis=1), unexpected.sum(axis=1))
        covered = (strange > 1) & (2 * strange >= count) & (joined | across)
        return np.asarray(covered), np.asarray((strange > 0) & (sides > 1))

    def _goes_on(self, hue: Floats, between: Floats) -> Bools:
        """Cells whose own hue is also that of two of the crossings about them: a token ends before them, a hand does
        not. Both are told from the board's own hue."""
        about = np.concatenate([between, np.full((1, 2), np.nan, dtype=np.float32)])[self._crossings]
        size = np.linalg.norm(hue, axis=1)
        alike = np.linalg.norm(about - hue[:, None], axis=2) < GOES_ON * size[:, None]
        return np.asarray((alike.sum(axis=1) > 1) & (size > NOISE[0] * ODD / 2))

    def rim(self, covered: Bools, holds: Bools) -> Bools:
        """Cells at a hand's rim, of which too little is seen: those that meet a covered one, at a side or a corner, and
        seem to hold something, and those that meet several (a hand may look as the board does). None where no more are
        covered than dirt could."""
        if int(covered.sum()) < HAND_CELLS:
            return np.zeros(len(covered), dtype=bool)
        met = self._near[covered].sum(axis=0)
        return np.asarray(((met > 0) & holds | (met >= ENCLOSED)) & ~covered)

    def _astray(self, alien: Bools, taken: Bools) -> Bools:
        """Cells that seem empty though enough of a token is seen (`alien` samples of cells that seem so) about a spot
        between them and others."""
        spot, cell, point = self._about_spots
        seen = alien[cell, point] & ~taken[cell]
        there = np.bincount(spot[seen], minlength=len(self._spots)) > self._least
        return np.asarray((self._beside[:, there].sum(axis=1) > 0) & ~taken)


_CROSS = Stencil(np.array([(0.0, 0.0), (1.2, 0.8), (-0.8, 1.2), (-0.4, -1.3)]))


def no_print(cells: Cells) -> tuple[str, ...]:
    """What is wrong with a picture in which nothing is printed where the board should be."""
    light = cells.samples[..., 2]
    if float(light.std()) > PLAIN:
        return ()
    level = float(light.mean())
    return ("vision.too_dark" if level < DARKEST else "vision.too_bright" if level > -PLAIN else "vision.no_board",)


def _opponent(colours: Image) -> Floats:
    """Red-green, blue-green and brightness (..., 3) in log units of 8-bit BGR colours (N, M, 3)."""
    light = logs(colours)
    blue, green, red = light[..., 0], light[..., 1], light[..., 2]
    return np.stack([red - green, blue - green, (blue + green + red) / 3], axis=-1)


def _spots(poses: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """The points between cells (N, 3 as poses): where four meet (kind 0), and the middles of the sides of two that lie
    along x (1) or y (2); the kinds (N,); and which spots are whose (cells, N; 1 or 0)."""
    pitch = float(np.min(np.linalg.norm(poses[1:, :2] - poses[0, :2], axis=1)))
    meeting: dict[tuple[int, int], list[int]] = {}
    for cell, (x, y, _) in enumerate(poses):
        for sx in (-1, 0, 1):
            for sy in (-1, 0, 1):
                meeting.setdefault((round(2 * x / pitch) + sx, round(2 * y / pitch) + sy), []).append(cell)
    # A cell's own middle is met by one cell, a side's by two, a crossing by four.
    first = next(iter(poses))
    odd = (round(2 * first[0] / pitch) % 2, round(2 * first[1] / pitch) % 2)
    spots, kinds, owners = [], [], []
    for (kx, ky), cells in meeting.items():
        aside = (kx % 2 != odd[0], ky % 2 != odd[1])
        if len(cells) == 2 * sum(aside) and any(aside):
            spots.append((kx * pitch / 2, ky * pitch / 2, 0.0))
            kinds.append(0 if all(aside) else 1 if aside[0] else 2)
            owners.append(cells)
    beside = np.zeros((len(poses), len(spots)), dtype=np.intp)
    for n, cells in enumerate(owners):
        beside[cells, n] = 1
    return np.array(spots).reshape(-1, 3), np.array(kinds, dtype=np.intp), beside


def _about(
    poses: Array, spots: Array, kinds: NDArray[np.intp], beside: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of each cell's crossings and sides (N, 4 each; -1 where there is none), counter-clockwise: a crossing,
    then the side between it and the next."""
    result = np.full((2, len(poses), 4), -1, dtype=np.intp)
    for cell, spot in zip(*np.nonzero(beside), strict=True):
        x, y = spots[spot, :2] - poses[cell, :2]
        eighth = round(np.arctan2(y, x) / (np.pi / 4)) % 8
        # Crossings lie at 45, 135, 225 and 315 degrees, sides at 90, 180, 270 and 0.
        result[int(kinds[spot] > 0), cell, (eighth - 1) // 2 % 4] = spot
    return result[0], result[1]


def _within(
    samples: Array, spots: Array, beside: NDArray[np.intp], reach: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Which spots (S, 2) have which samples (cells, points, 2) of the cells beside them within reach: indices of spots,
    cells and points."""
    found = []
    for spot, at in enumerate(spots):
        owners = np.flatnonzero(beside[:, spot])
        cell, point = np.nonzero(np.linalg.norm(samples[owners] - at, axis=2) <= reach)
        found.append(np.stack([np.full(len(cell), spot), owners[cell], point]))
    spot, cell, point = np.concatenate(found, axis=1)
    return spot, cell, point


def _weighted_fit(basis: Array, values: Array, weight: Array) -> Array:
    """Coefficients (terms, channels) of the least squares fit of values (N, channels) by the basis (N, terms)."""
    weighted = basis * weight[:, None]
    # The small addend keeps a board with few plain cells solvable.
    return np.asarray(solved(weighted.T @ basis + 1e-6 * np.eye(basis.shape[1]), weighted.T @ values))


def _commonest(rings: Floats) -> Floats:
    """The median (rings, 3) of the 40 % of the cells (cells, rings, 3) that are most alike: empty ones are, tokens of
    several players are not, even where they lie on most of the cells."""
    flat = rings.reshape(len(rings), -1)
    apart = np.abs(flat[:, None] - flat[None]).mean(axis=2)
    like = int(0.4 * (len(rings) - 1))
    nearest = np.argpartition(apart, like, axis=1)[:, : like + 1]
    closest = int(np.argmin(np.take_along_axis(apart, nearest, axis=1).max(axis=1)))
    return middle(rings[nearest[closest]], axis=0)


def _rated(score: Floats) -> tuple[Floats, bool]:
    """How strange each of cells that should look alike is (N,), from scores (N, rings, 3) in spreads; and whether so
    many hold something that it cannot be told which."""
    squares = np.sum(score[..., :2] ** 2, axis=2) + 0.3 * score[..., 2] ** 2
    strange = np.asarray(np.sqrt(np.mean(squares, axis=1)), dtype=np.float32)
    return strange, _crowded(score, strange > PRESENT / 2)


def _crowded(score: Floats, taken: Bools) -> bool:
    """Whether those of few cells that seem to hold something (of scores (cells, rings, 3) in spreads) may be the empty
    ones: they are too many, or more alike than tokens of several players are."""
    if np.count_nonzero(taken) > CROWDED * len(taken):
        return True
    if len(taken) >= MANY:
        return False
    flat = score.reshape(len(score), -1)[taken]
    apart = np.sqrt(((flat[:, None] - flat[None]) ** 2).mean(axis=2))
    return bool((np.count_nonzero(apart < PRESENT / 2, axis=1) >= ALIKE).any())


def _lower_part(sizes: Array) -> float:
    """The value that 40 % of the sizes (N,) do not pass."""
    return float(np.partition(sizes, int(0.4 * (len(sizes) - 1)))[int(0.4 * (len(sizes) - 1))])


def _quadratic(at: Array, over: Array) -> Array:
    """Terms (N, 6) of a quadratic in the places `at`, scaled by the extent of `over`."""
    x, y = (at[:, :2] / np.abs(over[:, :2]).max()).T
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
