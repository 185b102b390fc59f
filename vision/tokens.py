"""Which cell of a printed board holds which token: discs by colour, plain or printed, and tokens with a white rim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.palette import NAMED_RGB
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.marker_search import Pose
from vision.pictures import as_bgr
from vision.reading import SURE_LEAD, Fact, Reading
from vision.registration import Registration, board_corners_px
from vision.sampling import Bools, Floats, middle
from vision.token_cells import PRESENT, UNSURE, CellBoard, Cells, no_print
from vision.token_colours import Palette, distances
from vision.unchanged import Unchanged

WHITE = ((0.05, 0.1), (0.8, 0.12))
"""Mean and standard deviation of the share of white in the middle of a mole's disc and of a busy tile's."""

DOUBTFUL = (0.3, 0.42)
"""Shares of white between those of the two kinds, which say little."""

MOSTLY = 0.4
"""Share of parts that may be white above which a token may be a busy tile."""

PALE = (0.35, 0.05)
"""Difference in hue from a token's own (share of its strength), and in log brightness, of parts that may be white."""

FAINT = 0.35
"""Strength of a token's most colourful parts below which its other parts cannot be told from white."""

MIDDLE = 0.45
"""Radius (in token radii) of that middle."""

BRIGHT, BRIGHTER, BRIGHTEST = -0.25, 0.15, -0.07
"""Log brightness against white under the light there, and against the board there, from which a pale sample counts as
white; from the last one up it does on any board."""

SHOWN = 0.85
"""Quantile of a cell's samples that shows the white of a busy tile, which covers a quarter of it."""


FEW_TOKENS, AT_HOME = 6, 0.8
"""Tokens, and share of them that lie nearest to their players' own corners, from which a board's sides are told."""


@dataclass(frozen=True, slots=True, eq=False)
class _Light:
    """The hue (2,) of the plain board and of white in one picture."""

    board: Floats
    white: Floats


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
        self._board = CellBoard(board)
        self._values = ("-", *(f"{kind}{n + 1}" for kind in ("mole", "busy") for n in range(len(colours))))
        self._side_known = False
        self._seen: dict[str, Floats] = {}
        self._light: _Light | None = None
        self._agreed: _Light | None = None
        self._empty: dict[int, Floats] = {}
        self._judged: tuple[Cells, Floats] | None = None
        self._unchanged = Unchanged()
        self._told: tuple[Camera, dict[str, Fact]] | None = None

    def read(self, frame: Frame) -> Reading:
        """The reading of one picture; troubles instead of facts when it shows no board."""
        picture = as_bgr(frame.bgr)
        pose = None if picture is None else self._registration.locate(picture)
        if picture is None or pose is None:
            trouble = "vision.bad_picture" if picture is None else "vision.no_board"
            return Reading(frame.number, frame.time_s, troubles=(trouble,))
        facts, troubles = self._looked_at(picture, pose)
        if facts and self._registration.found_by_print and not self._side_known:
            quarters = self._quarters(facts)
            if quarters is None:
                facts, troubles = {}, ("vision.side_unknown",)
            elif quarters:
                self._registration.turn(quarters)
                pose = self._registration.locate(picture) or pose
                facts, troubles = self._looked_at(picture, pose)
            self._side_known = quarters is not None
        return Reading(
            frame_number=frame.number,
            time_s=frame.time_s,
            facts=facts,
            troubles=troubles,
            board_px=board_corners_px(self._profile, pose.camera),
            residual_mm=pose.residual_mm,
        )

    def _looked_at(self, picture: Image, pose: Pose) -> tuple[dict[str, Fact], tuple[str, ...]]:
        """The facts, or what is wrong with the picture; those told before where the board looks as it did."""
        if self._told is not None and self._told[0] is pose.camera and self._unchanged.same("board", picture):
            return self._told[1], ()
        self._told = None
        if self._registration.astray(picture, pose):
            return {}, ("vision.board_astray",)
        cells = self._board.sample(picture, pose)
        troubles = no_print(cells)
        if troubles:
            return {}, troubles
        self._told = pose.camera, self._facts(cells)
        self._unchanged.keep("board", picture, np.array(board_corners_px(self._profile, pose.camera)))
        return self._told[1], ()

    def _quarters(self, facts: Mapping[str, Fact]) -> int | None:
        """By how many quarters a board whose print looks the same from all sides must be turned so that the players'
        tokens lie at their own corners, as at the start; None when that cannot be told."""
        board = self._profile.board
        starts = np.array([board.places_mm[p] for p in board.grid.get("starts", ())])
        told = [
            (board.places_mm[place], int(fact.best[4:]) - 1)
            for place, fact in zip(self._places, facts.values(), strict=True)
            if fact.sure(SURE_LEAD) and fact.best.startswith("mole")
        ]
        if len(told) < FEW_TOKENS or not len(starts):
            return None
        spots, owners = np.array([spot for spot, _ in told]), np.array([owner for _, owner in told])
        shares = []
        for _ in range(4):
            shares.append(float(np.mean(np.argmax(spots @ starts.T, axis=1) == owners)))
            # The next corner as the first one: everything lies a quarter further back.
            spots = np.stack([spots[:, 1], -spots[:, 0]], axis=1)
        best = int(np.argmax(shares))
        return best if shares[best] >= AT_HOME and sorted(shares)[-2] < 1 - AT_HOME else None

    def agree(self, look: Mapping[str, str]) -> None:
        """Follows the light: the agreed tokens' colours in the picture read last become the players' colours, and from
        the board's own colour in it every later change of the light is told."""
        if self._told is None or not look:
            return
        self._agreed = self._light
        if self._judged is not None:
            facts = self._told[1]
            bare = [look.get(key) == "-" == facts[key].best and facts[key].sure(SURE_LEAD) for key in self._keys]
            self._empty |= self._board.empty(*self._judged, np.array(bare))
        for place, colour in self._seen.items():
            value = look.get(f"cell:{place}", "-")
            if value.startswith("mole"):
                self._palette.learn(int(value[4:]) - 1, colour)
        if not all(f.sure(SURE_LEAD) for f in self._told[1].values()):
            # What is known now may clear up what was not.
            self._unchanged.forget()

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with each token's cell ringed: by kind and player in words, `?` where unsure."""
        out = image.copy()
        if not reading.board_found:
            return out
        flat = np.array(self._profile.board.corners_mm, dtype=np.float32)
        homography = cv2.getPerspectiveTransform(flat, np.array(reading.board_px, dtype=np.float32))
        spots = cv2.perspectiveTransform(self._board.poses[:, None, :2], homography).reshape(-1, 2)
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

    def _facts(self, cells: Cells) -> dict[str, Fact]:
        there = self._board.judge(cells, self._empty)
        self._judged = cells, there.ground
        strange, taken = there.strange, there.strange > PRESENT / 2
        hue, white, pale = self._colours(cells.samples, taken, there.ground)
        self._palette.fit(hue[taken & (white < 0.3)])
        self._seen = {p: hue[i] for i, p in enumerate(self._places) if taken[i]}
        covered, touched = there.covered, there.touched
        scores, foreign = self._scores(strange, hue, white, pale)
        sure = strange > PRESENT
        # The rim of a hand bites into a token as a busy tile's notch does, and a finger's tip is round.
        rim = self._board.rim(covered, strange > UNSURE)
        reasons = np.select(
            [
                ~cells.inside,
                covered | touched | rim | (sure & foreign),
                sure & (cells.burnt > 0.6),
                (sure & (there.lean > 0.5)) | there.loose,
                # Something odd, but no token that is known.
                there.crowded | ((strange > UNSURE) & (scores.argmax(axis=1) == 0)),
            ],
            ["out_of_picture", "hand", "glare", "askew", "unclear"],
            "",
        )
        scores[(reasons != "") & ~covered] *= 0.1
        hidden = ~cells.inside | covered | rim | (sure & foreign)
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
        doubtful = (
            (np.linalg.norm(hue, axis=1) < FAINT)
            | ((white > DOUBTFUL[0]) & (white < DOUBTFUL[1]))
            | ((white <= DOUBTFUL[0]) & (pale > MOSTLY))
        )
        for typical, spread in WHITE:
            # Half strict, half lenient: prints have pale parts, and a ring blurs into the white that it surrounds.
            shape = -0.5 * np.minimum((((white + pale) / 2 - typical) / spread) ** 2, 40.0)
            shape[doubtful] *= 0.2
            columns.append((something + shape)[:, None] + colour)
        scores = np.concatenate(columns, axis=1)
        return np.maximum(scores - scores.max(axis=1, keepdims=True), -30.0), far.min(axis=1) > 4.0

    def _colours(self, samples: Floats, taken: Bools, ground: Floats) -> tuple[Floats, Floats, Floats]:
        """Hue (cells, 2) of each token's most colourful parts, the share of white in its middle (cells,), and the share
        there that is as bright as those parts and of another hue: white, maybe, under a light that is not known."""
        hue = np.zeros((len(samples), 2), dtype=np.float32)
        white, pale = np.zeros((2, len(samples)), dtype=np.float32)
        disc = samples[taken][:, self._board.within]
        if not disc.size:
            return hue, white, pale
        board = ground[taken, 2]
        glow = board + _white_above_board(samples[:, self._board.within, 2] - ground[:, None, 2])
        glow = np.minimum(glow, 0.0)
        self._light = self._light_of(disc[disc[..., 2] > (glow + BRIGHT / 2)[:, None]], ground[:, :2].mean(axis=0))
        chroma = disc[..., :2] - self._light.white
        strength = np.linalg.norm(chroma, axis=2)
        most = math.ceil(0.6 * (strength.shape[1] - 1))
        weight = strength >= np.partition(strength, most, axis=1)[:, most, None]
        hue[taken] = (chroma * weight[..., None]).sum(axis=1) / weight.sum(axis=1, keepdims=True)
        inner = self._board.distance[self._board.within] < MIDDLE
        bright = disc[..., 2] > np.clip(board + BRIGHTER, glow + BRIGHT, glow + BRIGHTEST)[:, None]
        white[taken] = ((strength < 0.22) & bright)[:, inner].mean(axis=1)
        strong = (disc[..., 2] * weight).sum(axis=1) / weight.sum(axis=1)
        own = hue[taken]
        other = np.linalg.norm(chroma - own[:, None], axis=2) > (PALE[0] * np.linalg.norm(own, axis=1) + 0.05)[:, None]
        light = disc[..., 2] > np.maximum(strong + PALE[1], glow + BRIGHT)[:, None]
        pale[taken] = (other & light)[:, inner].mean(axis=1)
        return hue, white, pale

    def _light_of(self, bright: Floats, board: Floats) -> _Light:
        """The hue of white under this light: of the brightest samples (N, 3), if any is nearly colourless; that of
        the agreed picture, moved as far as the board's own hue has moved since, where there was one."""
        expected, near = np.zeros(2, dtype=np.float32), 0.35
        if self._agreed is not None:
            expected, near = self._agreed.white + board - self._agreed.board, 0.12
        pale = bright[np.linalg.norm(bright[:, :2] - expected, axis=1) < near]
        # A handful of bright samples may be glare; white rims bring hundreds.
        white = middle(pale[:, :2], 0) if len(pale) >= 60 else expected
        return _Light(board, np.asarray(white, dtype=np.float32))


def _white_above_board(brightness: Floats) -> float:
    """How much brighter (log units) than the board there the whitest cell is, from all cells' samples (cells, points)
    against the board: a dim picture has the same white above its board as a bright one."""
    most = math.ceil(SHOWN * (brightness.shape[1] - 1))
    return float(np.partition(brightness, most, axis=1)[:, most].max())
