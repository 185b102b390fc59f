"""The reader of a board of turning tiles: path, triangle and pawn of every place, from one picture at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.geometry import Array
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.overlay import draw_tiles
from vision.pictures import as_bgr
from vision.reading import Fact, Reading
from vision.registration import Pose, Registration, board_corners_px
from vision.sampling import Bools, Floats, logs
from vision.tile_arms import Arms, Ink, coarse_look, learn_arms, learn_ink, path_log_likelihoods, score_arms
from vision.tile_layout import GRID, PATHS, covered_by_pieces
from vision.tile_pawns import (
    PAWNS,
    PawnColours,
    learn_colours,
    look_at_pawns,
    opponent,
    pawn_log_likelihoods,
)
from vision.tile_triangle import Triangle, learn_triangle, score_corners, triangle_log_likelihoods

SLIP = 1e-4
"""Share of scores that follow no model: caps what one cue can be worth."""

FAR_MM, FAR_RAD = 5.0, np.radians(7.0)
"""A tile lying further off than this is not read but asked to be straightened."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What the reader knows of this table's art and light."""

    ink: Ink
    arms: Arms
    triangle: Triangle
    colours: PawnColours


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One picture's evidence: tile poses (T, 3), log colours (T, 1521, 3), which samples are seen, log-likelihoods."""

    poses: Array
    tiles: Floats
    seen: Bools
    paths: Array
    triangles: Array
    pawns: Array
    askew: Bools


class TileReader:
    """Reads `path:<cell>` (NE NS NW ES EW SW), `triangle:<cell>` (yes no) and `pawn:<cell>` (- 1 2)."""

    def __init__(self, profile: TableProfile) -> None:
        """Raises VisionError when the profile has no places, no sizes, or neither markers nor tapped corners."""
        board = profile.board
        missing = {"tile", "tile_height", "door_diameter", "door_height", "pawn_radius", "pawn_centre_height"} - set(
            board.sizes_mm
        )
        if missing or len(board.places_mm) < 4:
            raise VisionError(
                f"the profile cannot serve a tile board: it lacks {', '.join(sorted(missing)) or 'places'}"
            )
        self._profile = profile
        self._registration = Registration(profile)
        self._cells = tuple(board.places_mm)
        self._centres = np.array([(*board.places_mm[c], 0.0) for c in self._cells])
        self._rows = self._centres[:, 1].round(3)
        self._sizes = dict(board.sizes_mm)
        self._learned: Learned | None = None

    def read(self, frame: Frame) -> Reading:
        """The reading of a picture of any size and content; a bad picture gives a reading whose `troubles` say why."""
        blank = Reading(frame_number=frame.number, time_s=frame.time_s)
        picture = as_bgr(frame.bgr)
        if picture is None:
            return replace(blank, troubles=("vision.bad_picture",))
        pose = self._registration.locate(picture)
        if pose is None:
            dark = float(picture[::8, ::8].mean()) < 12.0
            return replace(blank, troubles=("vision.too_dark" if dark else "vision.no_board",))
        corners = board_corners_px(self._profile, pose.camera)
        placed = replace(blank, board_px=corners, residual_mm=pose.residual_mm)
        look = self._look(picture, pose)
        if look is None:
            return replace(placed, troubles=("vision.no_tiles",))
        troubles = ("vision.board_moved",) if pose.moved else ()
        return replace(placed, facts=self._facts(look), troubles=troubles)

    def agree(self, look: Mapping[str, str]) -> None:
        """Takes the facts agreed on for the picture read last as the truth of it."""

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the reading drawn over it."""
        board = self._profile.board
        pitch = float(board.grid.get("pitch_mm", self._sizes["tile"]))
        return draw_tiles(image, reading, dict(board.places_mm), board.corners_mm, pitch)

    def _look(self, picture: Image, pose: Pose) -> Look | None:
        camera = pose.camera
        colours, inside = GRID.colours(picture, camera, self._centres, self._sizes["tile_height"])
        tiles = logs(colours)
        learned = learn_ink(tiles)
        if learned is None:
            return None
        ink, first = learned
        poses = self._centres + first.offsets
        pawn_look = look_at_pawns(picture, camera, poses, self._sizes)
        everywhere = np.ones(len(self._cells), dtype=bool)
        pawn_colours = learn_colours(pawn_look, everywhere, self._profile.palette, _white(tiles), self._rows)
        pawns = pawn_log_likelihoods(pawn_look, pawn_colours)
        standing = pawns.argmax(axis=1) > 0
        hidden = covered_by_pieces(camera, self._centres, self._sizes, standing)
        first = coarse_look(tiles, ink, inside & ~hidden)
        poses = self._centres + first.offsets
        colours, inside = GRID.colours(picture, camera, poses, self._sizes["tile_height"])
        tiles = logs(colours)
        seen = inside & ~covered_by_pieces(camera, poses, self._sizes, standing)
        inked = tiles @ ink.weights
        arms = learn_arms(inked, seen, first.arms)
        scores, share = score_arms(inked, seen, arms)
        paths = path_log_likelihoods(scores, share, arms.sigma, SLIP)
        best = [PATHS[i] for i in paths.argmax(axis=1)]
        trusted = paths.max(axis=1) - np.partition(paths, -2, axis=1)[:, -2] > 5.0
        triangle = learn_triangle(tiles, seen, best, trusted)
        corner, corner_share = score_corners(tiles, seen, triangle)
        triangles = triangle_log_likelihoods(corner, corner_share, best, triangle.sigma, SLIP)
        self._learned = Learned(ink, arms, triangle, pawn_colours)
        askew = (np.hypot(first.offsets[:, 0], first.offsets[:, 1]) > FAR_MM) | (np.abs(first.offsets[:, 2]) > FAR_RAD)
        return Look(poses, tiles, seen, paths, triangles, pawns, askew)

    def _facts(self, look: Look) -> dict[str, Fact]:
        facts: dict[str, Fact] = {}
        for i, cell in enumerate(self._cells):
            reason = "askew" if look.askew[i] else ""
            for kind, values, likelihoods in (
                ("path", PATHS, look.paths[i]),
                ("triangle", ("no", "yes"), look.triangles[i]),
                ("pawn", PAWNS, look.pawns[i]),
            ):
                facts[f"{kind}:{cell}"] = Fact(values, tuple(float(x) for x in likelihoods), False, reason)
        return facts


def _white(tiles: Floats) -> Array:
    """Opponent log colour of the brightest things on the board: print, or pawns, near enough to white in this light."""
    flat = tiles.reshape(-1, 3)
    bright = flat[:, 1] >= np.percentile(flat[:, 1], 98)
    return np.asarray(np.median(opponent(flat[bright]), axis=0), dtype=np.float64)
