"""Which cell of a printed board holds which token: discs by colour, plain or printed, and tokens with a white rim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from calibration.palette import NAMED_RGB
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.pictures import as_bgr
from vision.reading import Fact, Reading
from vision.registration import Pose, Registration, board_corners_px
from vision.sampling import Floats, Stencil, logs, middle, spread_of
from vision.token_colours import Palette, distances

Bools = NDArray[np.bool_]

STEP_MM = 2.3
REACH = 1.3
"""Samples go this many token radii out: the token and a little of the board around it."""

RINGS = (0.38, 0.66, 0.92)
"""Outer radii (in token radii) of the rings whose median colour is compared with the printed board's."""

NOISE = (0.02, 0.02, 0.05)
"""Least spread of red-green, blue-green and brightness (log units) taken for the printed board's own."""

MANY = 16
"""Cells of one look from which a slope over the board can be told from what lies on some of them."""

PRESENT = 6.0
"""Spreads from the board's own look at which a cell as surely holds something as nothing."""

WHITE = ((0.02, 0.08), (0.65, 0.1))
"""Mean and standard deviation of the share of white in the middle of a mole's disc and of a busy tile's."""

DOUBTFUL = (0.14, 0.42)
"""Shares of white between those of the two kinds, which say little."""

ODD = 9.0
"""Spreads from the others of its kind at which a spot between cells is not the board."""

MOSTLY = 0.5
"""Share of parts that may be white above which a token may be a busy tile."""

PALE = (0.35, 0.05)
"""Difference in hue from a token's own (share of its strength), and in log brightness, of parts that may be white."""

MIDDLE = 0.62
"""Radius (in token radii) of that middle."""

PLAIN, DARKEST = 0.02, -2.6
"""Spread of log brightness over a board below which no print is seen, and brightness below which it is too dark."""

BURNT = 250
"""Level from which a sample is at the top of the sensor's range."""

BRIGHT, BRIGHTER, BRIGHTEST = -0.3, 0.15, -0.12
"""Log brightness against the picture's white, and against the board there, from which a pale sample counts as white;
from the last one up it does on any board."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """All cells of one picture: samples (cells, points, 3) as red-green, blue-green and brightness in log units, the
    same of the spots between cells (spots, 3; NaN outside the picture), the share of each cell's samples
    at the top of the sensor's range, and which cells lie inside the picture."""

    samples: Floats
    between: Floats
    burnt: Floats
    inside: Bools


class TokenReader:
    """Reads `cell:<place>` as `-`, `mole<n>` or `busy<n>`: a disc, or a white-rimmed disc, of player n's colour.

    `colours` names the players' colours in their order; without them they are the board spec's (`grid.colours`), and a
    colour `mole<n>` of the profile's palette goes before either. The exact hues are found in the picture, and followed
    from then on through `agree`.
    """

    def __init__(self, profile: TableProfile, colours: Sequence[str] = ()) -> None:
        """Raises VisionError for a colour name that is not known or a board without cells."""
        board = profile.board
        colours = colours or [str(c) for c in board.grid.get("colours", ())]
        unknown = [c for c in colours if c not in NAMED_RGB]
        if unknown or not colours:
            raise VisionError(f"unknown colours {unknown}: known are {', '.join(sorted(NAMED_RGB))}")
        if not board.places_mm:
            raise VisionError(f"the board spec of {board.game!r} has no places")
        self._profile = profile
        self._registration = Registration(profile)
        own = (profile.palette.get(f"mole{n}") for n in range(1, len(colours) + 1))
        self._palette = Palette([c if lab is None else lab for c, lab in zip(colours, own, strict=True)])
        self._places = list(board.places_mm)
        self._keys = [f"cell:{place}" for place in self._places]
        self._poses = np.array([(x, y, 0.0) for x, y in board.places_mm.values()])
        groups = {place: name for name, places in board.grid.get("groups", {}).items() for place in places}
        self._groups = [
            np.array([groups.get(p, "") == name for p in self._places]) for name in ["", *sorted(set(groups.values()))]
        ]
        radius = board.sizes_mm["token_radius"]
        steps = np.arange(-radius * REACH, radius * REACH + 0.1, STEP_MM)
        points = np.array([(x, y) for x in steps for y in steps if np.hypot(x, y) <= radius * REACH])
        self._points = points / radius
        self._distance = np.hypot(*self._points.T)
        self._stencil = Stencil(points)
        self._heights_mm = (board.sizes_mm["token_height"], board.sizes_mm["board_height"])
        self._rings = [(self._distance >= a) & (self._distance < b) for a, b in pairwise((0.0, *RINGS))]
        self._within = self._distance < RINGS[-1]
        self._spots, self._kinds, self._beside = _spots(self._poses)
        self._basis = _quadratic(self._poses, self._poses)
        self._spot_basis = _quadratic(self._spots, self._poses)
        self._values = ("-", *(f"{kind}{n + 1}" for kind in ("mole", "busy") for n in range(len(colours))))
        self._seen: dict[str, Floats] = {}

    def read(self, frame: Frame) -> Reading:
        """The reading of one picture; troubles instead of facts when it shows no board."""
        picture = as_bgr(frame.bgr)
        pose = None if picture is None else self._registration.locate(picture)
        if picture is None or pose is None:
            trouble = "vision.bad_picture" if picture is None else "vision.no_board"
            return Reading(frame.number, frame.time_s, troubles=(trouble,))
        cells = self._sample(picture, pose)
        troubles = _flat(cells)
        return Reading(
            frame_number=frame.number,
            time_s=frame.time_s,
            facts={} if troubles else self._facts(cells),
            troubles=troubles,
            board_px=board_corners_px(self._profile, pose.camera),
            residual_mm=pose.residual_mm,
        )

    def agree(self, look: Mapping[str, str]) -> None:
        """Follows the light: the agreed tokens' colours in the picture read last become the players' colours."""
        for place, colour in self._seen.items():
            value = look.get(f"cell:{place}", "-")
            if value.startswith("mole"):
                self._palette.learn(int(value[4:]) - 1, colour)

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with each token's cell ringed: by kind and player in words, `?` where unsure."""
        out = image.copy()
        if not reading.board_found:
            return out
        flat = np.array(self._profile.board.corners_mm, dtype=np.float32)
        homography = cv2.getPerspectiveTransform(flat, np.array(reading.board_px, dtype=np.float32))
        spots = cv2.perspectiveTransform(self._poses[:, None, :2], homography).reshape(-1, 2)
        radius = max(3, int(np.linalg.norm(spots[0] - spots[1]) * 0.4))
        for place, (x, y) in zip(self._places, spots, strict=True):
            fact = reading.facts.get(f"cell:{place}")
            if fact is None or (fact.sure(3.0) and fact.best == "-"):
                continue
            label = fact.best[0] + fact.best[-1] if fact.sure(3.0) else "?"
            spot = (int(x), int(y))
            cv2.circle(out, spot, radius, (255, 255, 255), 2)
            cv2.putText(out, label, (spot[0] - radius, spot[1] - radius), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 255, 255))
        return out

    def _sample(self, picture: Image, pose: Pose) -> _Cells:
        colours, inside = self._stencil.colours(picture, pose.camera, self._poses, self._heights_mm[0])
        spots, seen = _CROSS.colours(picture, pose.camera, self._spots, self._heights_mm[1])
        top = np.maximum(np.maximum(colours[..., 0], colours[..., 1]), colours[..., 2])
        burnt = np.count_nonzero(top >= BURNT, axis=1).astype(np.float32) / np.float32(top.shape[1])
        between = _opponent(spots).mean(axis=1)
        between[~seen.all(axis=1)] = np.nan
        return _Cells(_opponent(colours), between, burnt, inside.mean(axis=1) > 0.97)

    def _facts(self, cells: _Cells) -> dict[str, Fact]:
        board, between = self._light_field(cells)
        relative = cells.samples - board[:, None]
        rings = np.stack([middle(relative[:, ring], axis=1) for ring in self._rings], axis=1)
        strange = np.zeros(len(self._places), dtype=np.float32)
        lean = np.zeros(len(self._places), dtype=np.float32)
        for group in self._groups:
            off = self._beside_usual(rings[group], group)
            # The 40 % that are most alike stand for the empty ones: up to half of the cells may hold something.
            at = int(0.4 * (len(off) - 1))
            spread = np.maximum(np.partition(np.abs(off), at, axis=0)[at] / 0.524, NOISE)
            score = off / spread
            strange[group] = np.sqrt(np.mean(np.sum(score[..., :2] ** 2, axis=2) + 0.3 * score[..., 2] ** 2, axis=1))
            # Sample by sample: where what is not the board as it is printed there has its middle.
            taken = group & (strange > PRESENT / 2)
            if taken.any():
                # Some forty cells say well enough how the print looks.
                like = relative[group][:: max(1, int(group.sum()) // 40), :, :2]
                away = np.abs(relative[taken][..., :2] - middle(like, axis=0)).max(axis=2)
                alien = (away > 4 * NOISE[0]).astype(np.float32)
                reach = np.hypot(*(alien @ self._points.astype(np.float32)).T)
                lean[taken] = reach / np.maximum(alien.sum(axis=1), 10)
        taken = strange > PRESENT / 2
        hue, white, pale = self._colours(cells.samples, taken, board[:, 2])
        self._palette.fit(hue[taken & (white < 0.3)])
        self._seen = {p: hue[i] for i, p in enumerate(self._places) if taken[i]}
        odd = self._odd(between)
        (covered, touched), loose = self._covered(odd), self._beside_token(odd, taken)
        scores, foreign = self._scores(strange, hue, white, pale)
        sure = strange > PRESENT
        reasons = np.select(
            [
                ~cells.inside,
                covered | touched | (sure & foreign),
                sure & (cells.burnt > 0.6),
                (sure & (lean > 0.5)) | loose,
                # Something odd, but no token that is known.
                (strange > 0.75 * PRESENT) & (scores.argmax(axis=1) == 0),
            ],
            ["out_of_picture", "hand", "glare", "askew", "unclear"],
            "",
        )
        scores[(reasons != "") & ~covered] *= 0.1
        hidden = ~cells.inside | covered | (sure & foreign)
        rows = zip(self._keys, scores.round(1).tolist(), hidden.tolist(), reasons.tolist(), strict=True)
        # Most cells look alike: equal facts are made once.
        made: dict[tuple[object, ...], Fact] = {}
        facts = {}
        for key, row, hid, why in rows:
            look = (*row, hid, why)
            if look not in made:
                made[look] = Fact(self._values, tuple(row), hid, why)
            facts[key] = made[look]
        return facts

    def _scores(self, strange: Floats, hue: Floats, white: Floats, pale: Floats) -> tuple[Floats, Bools]:
        """Log-likelihoods (cells, values), 0 for the best; and which cells' hue is no player's."""
        far = distances(hue, self._palette)
        empty = -0.5 * np.minimum(strange, 2 * PRESENT) ** 2
        something = -0.5 * np.maximum(0.0, 2 * PRESENT - strange) ** 2
        colour = -0.5 * np.minimum(far, 6.0) ** 2
        columns = [empty[:, None]]
        doubtful = ((white > DOUBTFUL[0]) & (white < DOUBTFUL[1])) | ((white <= DOUBTFUL[0]) & (pale > MOSTLY))
        for typical, spread in WHITE:
            shape = -0.5 * np.minimum(((white - typical) / spread) ** 2, 40.0)
            shape[doubtful] *= 0.2
            columns.append((something + shape)[:, None] + colour)
        scores = np.concatenate(columns, axis=1)
        return np.maximum(scores - scores.max(axis=1, keepdims=True), -30.0), far.min(axis=1) > 4.0

    def _beside_usual(self, rings: Floats, group: Bools) -> Floats:
        """How far each cell's rings (cells, rings, 3) are off those of its like: off their median, and where they are
        many also off a slope over the board (a printed ring lies aside where the registration is a little off)."""
        off = rings - middle(rings, axis=0)
        if len(rings) < MANY:
            return np.asarray(off, dtype=np.float32)
        flat = off.reshape(len(off), -1).astype(np.float64)
        basis = self._basis[group][:, :3]
        weight = np.ones(len(flat))
        for _ in range(4):
            rest = flat - basis @ _weighted_fit(basis, flat, weight)
            size = np.sqrt((rest * rest).sum(axis=1))
            weight = 1 / (1 + (size / max(1.5 * _lower_part(size), 1e-6)) ** 4)
        return np.asarray(rest.reshape(off.shape), dtype=np.float32)

    def _light_field(self, cells: _Cells) -> tuple[Floats, Floats]:
        """Colour and brightness (cells, 3) of the plain board under this light: a quadratic over the board, fitted to
        the plain cells with those that hold something weighed out; and how far the spots between cells are off it."""
        centre = middle(cells.samples[:, self._within], axis=1).astype(np.float64)
        basis = self._basis
        plain = self._groups[0].astype(np.float64)
        weight = plain
        fit: Array = np.zeros((basis.shape[1], 3))
        for _ in range(7):
            fit = _weighted_fit(basis, centre, weight)
            off = np.abs(centre - basis @ fit).max(axis=1)
            spread = max(float(spread_of(off[plain > 0], axis=0)), 0.02)
            weight = plain / (1 + (off / (2 * spread)) ** 4)
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

    def _covered(self, odd: Bools) -> tuple[Bools, Bools]:
        """Cells with half of their crossings odd (something larger than a token lies there), and those with one of them
        and two sides odd."""
        crossing = self._beside[:, self._kinds == 0]
        count, strange = crossing.sum(axis=1), crossing @ odd[self._kinds == 0].astype(np.intp)
        sides = self._beside[:, self._kinds > 0] @ odd[self._kinds > 0].astype(np.intp)
        return np.asarray((strange > 1) & (2 * strange >= count)), np.asarray((strange > 0) & (sides > 1))

    def _beside_token(self, odd: Bools, taken: Bools) -> Bools:
        """Cells that seem empty though something lies between them and others that seem so too."""
        loose = odd & (taken.astype(np.intp) @ self._beside == 0)
        return np.asarray((self._beside[:, loose].sum(axis=1) > 0) & ~taken)

    def _colours(self, samples: Floats, taken: Bools, ground: Floats) -> tuple[Floats, Floats, Floats]:
        """Hue (cells, 2) of each token's most colourful parts, the share of white in its middle (cells,), and the share
        there that is as bright as those parts and of another hue: white, maybe, under a light that is not known."""
        hue = np.zeros((len(samples), 2), dtype=np.float32)
        white, pale = np.zeros((2, len(samples)), dtype=np.float32)
        disc = samples[taken][:, self._within]
        if not disc.size:
            return hue, white, pale
        chroma = disc[..., :2] - self._white_point(disc)
        strength = np.linalg.norm(chroma, axis=2)
        weight = strength >= np.quantile(strength, 0.6, axis=1, keepdims=True)
        hue[taken] = (chroma * weight[..., None]).sum(axis=1) / weight.sum(axis=1, keepdims=True)
        inner = self._distance[self._within] < MIDDLE
        bright = disc[..., 2] > np.clip(ground[taken] + BRIGHTER, BRIGHT, BRIGHTEST)[:, None]
        white[taken] = ((strength < 0.22) & bright)[:, inner].mean(axis=1)
        strong = (disc[..., 2] * weight).sum(axis=1) / weight.sum(axis=1)
        own = hue[taken]
        other = np.linalg.norm(chroma - own[:, None], axis=2) > (PALE[0] * np.linalg.norm(own, axis=1) + 0.05)[:, None]
        light = disc[..., 2] > np.maximum(strong + PALE[1], BRIGHT)[:, None]
        pale[taken] = (other & light)[:, inner].mean(axis=1)
        return hue, white, pale

    def _white_point(self, tokens: Floats) -> Floats:
        """Hue of white under this light: of the brightest things on the board, if any is nearly colourless."""
        bright = tokens[tokens[..., 2] > BRIGHT / 2] if tokens.size else tokens.reshape(-1, 3)
        pale = bright[np.linalg.norm(bright[:, :2], axis=1) < 0.35]
        # A handful of bright samples may be glare; white rims bring hundreds.
        return np.median(pale[:, :2], axis=0) if len(pale) >= 60 else np.zeros(2, dtype=np.float32)


_CROSS = Stencil(np.array([(0.0, 0.0), (1.2, 0.8), (-0.8, 1.2), (-0.4, -1.3)]))


def _flat(cells: _Cells) -> tuple[str, ...]:
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


def _weighted_fit(basis: Array, values: Array, weight: Array) -> Array:
    """Coefficients (terms, channels) of the least squares fit of values (N, channels) by the basis (N, terms)."""
    weighted = basis * weight[:, None]
    # The small addend keeps a board with few plain cells solvable.
    return np.asarray(np.linalg.solve(weighted.T @ basis + 1e-6 * np.eye(basis.shape[1]), weighted.T @ values))


def _lower_part(sizes: Array) -> float:
    """The value that 40 % of the sizes (N,) do not pass."""
    return float(np.partition(sizes, int(0.4 * (len(sizes) - 1)))[int(0.4 * (len(sizes) - 1))])


def _quadratic(at: Array, over: Array) -> Array:
    """Terms (N, 6) of a quadratic in the places `at`, scaled by the extent of `over`."""
    x, y = (at[:, :2] / np.abs(over[:, :2]).max()).T
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
