"""The reader of a board of turning tiles: path, triangle and pawn of every place, cheap where nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.overlay import draw_tiles
from vision.pictures import as_bgr
from vision.reading import Fact, Reading
from vision.registration import Pose, Registration, board_corners_px
from vision.sampling import LOG_OFFSET, Bools, Floats, Indices, middle, square_stencil
from vision.tile_layout import PATHS
from vision.tile_pawns import PAWNS, Pawn, pawn_of
from vision.tile_reading import Evidence, Layout, Learned, covered, look_again, study

Anys = NDArray[Any]
Maps = tuple[Anys, Anys]

SIZES = ("tile", "tile_height", "door_diameter", "door_height", "pawn_radius", "pawn_centre_height")

PROBE_COUNT = 19
PROBE = square_stencil(3.0, PROBE_COUNT)
"""Samples of a tile by which a change is noticed: 19 x 19, 3 mm apart."""
CHANGED_LEVELS = 16.0
"""Grey levels by which a sample must differ from before, light taken out."""
CHANGED_SAMPLES = 5
"""Changed samples (of 361) that make a tile worth reading again: 1.4 % of it."""
RELEARN_SHARE = 0.6
"""When more of the tiles than this have changed at once, the light or the board has: everything is learned anew."""
RELEARN_S = 60.0
"""A table at rest is studied afresh after so much frame time: old facts are checked again."""


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """The last pictures' evidence. `maps` are remap coordinates of PROBE, `probe` (3, T, 361) the samples at which each
    tile's evidence was taken and `tolerance` (T, 361) how much each may vary, `corners` the board in the picture."""

    camera: Camera
    learned: Learned
    evidence: Evidence
    maps: Maps
    probe: Floats
    tolerance: Floats
    corners: tuple[tuple[float, float], ...]
    studied_s: float
    facts: Mapping[str, Fact]


class TileReader:
    """Reads `path:<cell>` (NE NS NW ES EW SW), `triangle:<cell>` (yes no) and `pawn:<cell>` (- 1 2)."""

    def __init__(self, profile: TableProfile) -> None:
        """Raises VisionError when the profile has no places, no sizes, or neither markers nor tapped corners."""
        board = profile.board
        missing = [name for name in SIZES if name not in board.sizes_mm]
        if missing or len(board.places_mm) < 4:
            raise VisionError(f"the profile cannot serve a tile board: it lacks {', '.join(missing) or 'places'}")
        self._profile = profile
        self._registration = Registration(profile)
        self._cells = tuple(board.places_mm)
        centres = np.array([(*board.places_mm[c], 0.0) for c in self._cells])
        columns, rows = (np.unique(centres[:, a].round(3), return_inverse=True)[1] for a in (0, 1))
        self._layout = Layout(
            centres,
            dict(board.sizes_mm),
            np.stack([rows, columns], axis=1),
            (int(rows.max()) + 1, int(columns.max()) + 1),
            dict(profile.palette),
        )
        self._memory: _Memory | None = None
        self._pawns: tuple[Pawn | None, Pawn | None] = (None, None)

    def read(self, frame: Frame) -> Reading:
        """The reading of a picture of any size and content; a bad picture gives a reading whose `troubles` say why."""
        blank = Reading(frame_number=frame.number, time_s=frame.time_s)
        picture = as_bgr(frame.bgr)
        if picture is None:
            return replace(blank, troubles=("vision.bad_picture",))
        pose = self._registration.locate(picture)
        if pose is None:
            dark = float(picture[::8, ::8].mean()) < 12.0
            return replace(blank, troubles=("vision.too_dark" if dark else self._registration.trouble,))
        memory = self._updated(picture, pose, frame.time_s)
        self._memory = memory
        if memory is None:
            corners = board_corners_px(self._profile, pose.camera)
            return replace(blank, board_px=corners, residual_mm=pose.residual_mm, troubles=("vision.no_tiles",))
        troubles = ("vision.board_moved",) if pose.moved else ()
        return replace(
            blank, facts=memory.facts, board_px=memory.corners, residual_mm=pose.residual_mm, troubles=troubles
        )

    def agree(self, look: Mapping[str, str]) -> None:
        """Takes the facts agreed on for the picture read last: the pawns' colours follow what the table says."""
        if self._memory is None:
            return
        evidence, colours = self._memory.evidence, self._memory.learned.colours
        open_ = ~evidence.behind & evidence.pawn_look.seen & (evidence.pawns.argmax(axis=1) > 0)
        found: list[Pawn | None] = []
        for player, before in zip(PAWNS[1:], self._pawns, strict=True):
            mine = np.array([look.get(f"pawn:{c}") == player for c in self._cells]) & open_
            found.append(pawn_of(evidence.pawn_look.colour[mine] - colours.door) if mine.any() else before)
        self._pawns = (found[0], found[1])
        if None in colours.pawns:
            learned = replace(self._memory.learned, colours=replace(colours, pawns=self._pawns))
            self._memory = replace(self._memory, learned=learned)

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the reading drawn over it."""
        board = self._profile.board
        pitch = float(board.grid.get("pitch_mm", board.sizes_mm["tile"]))
        return draw_tiles(image, reading, dict(board.places_mm), board.corners_mm, pitch)

    def _updated(self, picture: Image, pose: Pose, time_s: float) -> _Memory | None:
        memory = self._memory
        if memory is None or pose.moved or not 0 <= time_s - memory.studied_s < RELEARN_S:
            return self._studied(picture, pose, time_s)
        if pose.camera is not memory.camera:
            memory = self._followed(memory, pose.camera)
        now = _probe(picture, memory.maps)
        light, changed = _compared(now, memory.probe, memory.tolerance)
        which = np.flatnonzero(changed)
        if not len(which):
            return memory
        if len(which) > RELEARN_SHARE * len(changed):
            return self._studied(picture, pose, time_s)
        hand = bool(memory.evidence.behind.any())
        part = look_again(picture, pose.camera, self._layout, which, memory.learned, light, hand)
        evidence = _merged(memory.evidence, part)
        behind = covered(evidence.coloured, evidence.dark, evidence.paths, self._layout)
        evidence = replace(evidence, behind=behind)
        maps = self._maps(pose.camera, evidence)
        probe, tolerance = memory.probe.copy(), memory.tolerance.copy()
        probe[:, which] = _probe(picture, (maps[0][which], maps[1][which])) * np.exp(-light)[:, None, None]
        tolerance[which] = _tolerance(probe[:, which])
        facts = self._facts(evidence)
        return replace(memory, evidence=evidence, maps=maps, probe=probe, tolerance=tolerance, facts=facts)

    def _followed(self, memory: _Memory, camera: Camera) -> _Memory:
        """The same memory under a camera that has crept a little."""
        corners = board_corners_px(self._profile, camera)
        return replace(memory, camera=camera, maps=self._maps(camera, memory.evidence), corners=corners)

    def _maps(self, camera: Camera, evidence: Evidence) -> Maps:
        pixels = PROBE.pixels(camera, evidence.poses, self._layout.sizes_mm["tile_height"])
        fixed, parts = cv2.convertMaps(*pixels, cv2.CV_16SC2)
        return np.asarray(fixed), np.asarray(parts)

    def _studied(self, picture: Image, pose: Pose, time_s: float) -> _Memory | None:
        result = study(picture, pose.camera, self._layout, self._pawns)
        if result is None:
            return None
        learned, evidence = result
        if None not in learned.colours.pawns:
            self._pawns = learned.colours.pawns
        maps = self._maps(pose.camera, evidence)
        probe = _probe(picture, maps)
        corners = board_corners_px(self._profile, pose.camera)
        facts = self._facts(evidence)
        return _Memory(pose.camera, learned, evidence, maps, probe, _tolerance(probe), corners, time_s, facts)

    def _facts(self, evidence: Evidence) -> dict[str, Fact]:
        facts: dict[str, Fact] = {}
        kinds = (
            ("path", PATHS, evidence.paths.tolist()),
            ("triangle", ("no", "yes"), evidence.triangles.tolist()),
            ("pawn", PAWNS, evidence.pawns.tolist()),
        )
        for i, cell in enumerate(self._cells):
            hidden, reason = bool(evidence.behind[i]), ""
            if evidence.inside[i] < 0.8:
                hidden, reason = True, "out_of_picture"
            elif hidden:
                reason = "hand"
            elif evidence.askew[i]:
                hidden, reason = True, "askew"
            for kind, values, rows in kinds:
                facts[f"{kind}:{cell}"] = Fact(values, tuple(rows[i]), hidden, reason)
        return facts


def _probe(picture: Image, maps: Maps) -> Floats:
    """Levels (3, T, 361) of the probe's samples, raised by LOG_OFFSET."""
    found = cv2.remap(picture, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(np.asarray(found).transpose(2, 0, 1) + np.float32(LOG_OFFSET), dtype=np.float32)


def _tolerance(probe: Floats) -> Floats:
    """By how many levels each sample (T, 361) may differ without having changed: more where the print is lively, so
    that a camera that creeps by a fraction of a pixel changes nothing."""
    plane = probe[1].reshape(-1, PROBE_COUNT)
    lively = cv2.dilate(plane, np.ones((3, 3))) - cv2.erode(plane, np.ones((3, 3)))
    return np.asarray(CHANGED_LEVELS + 0.4 * lively.reshape(probe.shape[1:]), dtype=np.float32)


def _compared(now: Floats, before: Floats, tolerance: Floats) -> tuple[Floats, Bools]:
    """How much brighter the board is than before (log of the median ratio, BGR), and which tiles have changed."""
    gain = np.clip(middle((now[:, :, ::12] / before[:, :, ::12]).reshape(3, -1), 1), 0.2, 5.0).astype(np.float32)
    blue, green, red = (np.abs(n - b * g) for n, b, g in zip(now, before, gain, strict=True))
    off = np.maximum(np.maximum(blue, green), red)
    noise = 6.0 * float(middle(off[:, ::12].ravel(), 0))
    limit = tolerance if noise <= CHANGED_LEVELS else np.maximum(tolerance, np.float32(noise))
    return np.log(gain), np.asarray(np.count_nonzero(off > limit, axis=1) >= CHANGED_SAMPLES)


def _merged(whole: Evidence, part: Evidence) -> Evidence:
    """All tiles' evidence with that of some of them replaced."""
    merged = {}
    for field in fields(whole):
        old, new = getattr(whole, field.name), getattr(part, field.name)
        if field.name == "pawn_look":
            merged[field.name] = type(old)(
                *(_placed(getattr(old, f.name), getattr(new, f.name), part.which) for f in fields(old))
            )
        elif field.name != "which":
            merged[field.name] = _placed(old, new, part.which)
    return Evidence(which=whole.which, **merged)


def _placed(old: Anys, new: Anys, which: Indices) -> Anys:
    out = old.copy()
    out[which] = new
    return out
