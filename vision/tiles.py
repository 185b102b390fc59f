"""The reader of a board of turning tiles: path, triangle and pawn of every place, cheap where nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.overlay import draw_tiles
from vision.pictures import as_bgr, colourless, fault_of
from vision.reading import SURE_LEAD, Fact, Reading
from vision.registration import Pose, Registration, board_corners_px
from vision.sampling import Bools, Floats, Indices
from vision.tile_change import Maps, changed_tiles, compared, probe_of, relit
from vision.tile_layout import PATHS, PROBE
from vision.tile_pawns import PAWNS, Pawn, PawnLook, pawn_of
from vision.tile_reading import Evidence, Learned, covered, lead, look_again, study
from vision.tile_view import Layout

Anys = NDArray[Any]
SIZES = ("tile", "tile_height", "door_diameter", "door_height", "pawn_radius", "pawn_centre_height")

UNREAD_SHARE = 0.4
"""When more of the tiles than this are open to view and yet unclear, something is wrong with the whole picture."""
WHOLE = 0.97
"""A tile of which less is inside the picture is not read: what is cut off may be what it shows."""
RELEARN_SHARE = 0.6
"""When more of the tiles than this have changed at once, the light or the board has: everything is learned anew."""
RELEARN_S = 60.0
"""A table at rest is studied afresh after so much frame time: old facts are checked again."""
RELEARN_DOUBTFUL_S = 2.0
"""The same while something seems to lie over it, which may be no more than another light, or while much is unclear."""


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """The last pictures' evidence. `maps` are remap coordinates of its probes (None until they are needed), `corners`
    the board in the picture, `unread` the share of tiles that lie open to view and are yet unclear. `agreed` is the
    evidence of the last picture that the table agreed on, `same` (T) the places that show nothing else since. All
    probes are kept in the light of the picture that was studied. `blind`: the trouble for which the last picture could
    not show a change."""

    camera: Camera
    learned: Learned
    evidence: Evidence
    maps: Maps | None
    corners: tuple[tuple[float, float], ...]
    studied_s: float
    facts: Mapping[str, Fact]
    agreed: Evidence
    same: Bools
    unread: float
    blind: str = ""


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
        if colourless(picture):
            return replace(blank, troubles=(fault_of(picture) or "vision.no_colour",))
        pose = self._registration.locate(picture)
        if pose is None:
            return replace(blank, troubles=(fault_of(picture) or self._registration.trouble,))
        memory = self._updated(picture, pose, frame.time_s)
        self._memory = memory
        if memory is None:
            corners = board_corners_px(self._profile, pose.camera)
            return replace(blank, board_px=corners, residual_mm=pose.residual_mm, troubles=("vision.no_tiles",))
        trouble = ""
        if pose.moved:
            trouble = "vision.board_moved"
        elif memory.blind:
            trouble = memory.blind
        elif memory.unread > UNREAD_SHARE:
            trouble = fault_of(picture) or "vision.unclear"
        facts = memory.facts
        if trouble == "vision.blurred":
            facts = {k: f if f.reason or f.sure(SURE_LEAD) else replace(f, reason="blur") for k, f in facts.items()}
        return replace(
            blank,
            facts=facts,
            board_px=memory.corners,
            residual_mm=pose.residual_mm,
            troubles=(trouble,) if trouble else (),
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
        self._memory = replace(self._memory, agreed=evidence, same=self._as_agreed(evidence, look))
        if None in colours.pawns:
            learned = replace(self._memory.learned, colours=replace(colours, pawns=self._pawns))
            self._memory = replace(self._memory, learned=learned)

    def _as_agreed(self, evidence: Evidence, look: Mapping[str, str]) -> Bools:
        """Which places show clearly what the table has agreed on."""
        names = np.array(PATHS)[evidence.paths.argmax(axis=1)], np.array(PAWNS)[evidence.pawns.argmax(axis=1)]
        paths = np.array([look.get(f"path:{c}", "") for c in self._cells]) == names[0]
        pawns = np.array([look.get(f"pawn:{c}", "") for c in self._cells]) == names[1]
        clear = (lead(evidence.paths) >= SURE_LEAD) & (lead(evidence.pawns) >= SURE_LEAD)
        return np.asarray(paths & pawns & clear & ~evidence.behind & ~evidence.askew)

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the reading drawn over it."""
        board = self._profile.board
        pitch = float(board.grid.get("pitch_mm", board.sizes_mm["tile"]))
        return draw_tiles(image, reading, dict(board.places_mm), board.corners_mm, pitch)

    def _updated(self, picture: Image, pose: Pose, time_s: float) -> _Memory | None:
        if self._memory is None or pose.moved:
            return self._studied(picture, pose, time_s)
        memory = self._followed(picture, pose, time_s, self._memory)
        doubtful = bool(memory.blind) or memory.unread > UNREAD_SHARE or bool(memory.evidence.behind.any())
        if 0 <= time_s - memory.studied_s < (RELEARN_DOUBTFUL_S if doubtful else RELEARN_S):
            return memory
        anew = self._studied(picture, pose, time_s)
        return anew if anew is not None and _better(anew, memory) else replace(memory, studied_s=time_s)

    def _followed(self, picture: Image, pose: Pose, time_s: float, memory: _Memory) -> _Memory:
        """The memory with those places read again that have changed."""
        if pose.camera is not memory.camera:
            corners = board_corners_px(self._profile, pose.camera)
            memory = replace(memory, camera=pose.camera, maps=None, corners=corners)
        if memory.maps is None:
            memory = replace(memory, maps=self._maps(memory.camera, memory.evidence.poses))
        assert memory.maps is not None
        light, changed, blind = compared(probe_of(picture, memory.maps), memory.evidence)
        if blind != memory.blind:
            memory = replace(memory, blind=blind)
        if blind:
            return memory
        # Pawns that could not be told apart may have come into view.
        unknown = None in memory.learned.colours.pawns and bool(changed.any())
        # What could not be read in that picture, or in its light, may be clear in this one.
        again = changed | _unclear(memory.evidence)
        if np.count_nonzero(again) <= RELEARN_SHARE * len(changed):
            changed = again
        which = np.flatnonzero(changed)
        if not len(which):
            return memory
        if unknown or len(which) > RELEARN_SHARE * len(changed):
            anew = self._studied(picture, pose, time_s)
            if anew is not None and (unknown or _better(anew, memory)):
                return anew
            memory = replace(memory, studied_s=time_s)
        evidence, same = memory.evidence, memory.same & ~changed
        restored = self._restored(picture, memory, which, light)
        if restored is not None:
            evidence = _merged(evidence, restored)
            same[restored.which] = True
            which = np.setdiff1d(which, restored.which)
        if len(which):
            hand = bool(memory.evidence.behind.any())
            part = look_again(picture, pose.camera, self._layout, which, memory.learned, light, hand)
            evidence = _merged(evidence, replace(part, probe=relit(part.probe, np.exp(-light))))
        behind = covered(evidence.coloured, evidence.dark, evidence.paths, self._layout) & ~same
        other = np.flatnonzero(changed | (behind != memory.evidence.behind))
        evidence = replace(evidence, behind=behind)
        facts = {**memory.facts, **self._facts(evidence, other)}
        return replace(memory, evidence=evidence, maps=None, facts=facts, same=same, unread=_unread(evidence))

    def _restored(self, picture: Image, memory: _Memory, which: Indices, light: Floats) -> Evidence | None:
        """The agreed evidence of those places that look again as they did then: a hand has gone."""
        agreed = memory.agreed
        some = which[(~agreed.behind & ~agreed.askew & (lead(agreed.paths) >= SURE_LEAD) & ~memory.same)[which]]
        if not len(some):
            return None
        before = _rows(agreed, some)
        now = probe_of(picture, self._maps(memory.camera, before.poses))
        changed = changed_tiles(now, before, np.exp(light))
        return None if changed.all() else _rows(before, np.flatnonzero(~changed))

    def _maps(self, camera: Camera, poses: Array) -> Maps:
        """Where in the picture the probes of tiles at `poses` fall, as cv2.remap takes it."""
        pixels = PROBE.pixels(camera, poses, self._layout.sizes_mm["tile_height"])
        fixed, parts = cv2.convertMaps(*pixels, cv2.CV_16SC2)
        return np.asarray(fixed), np.asarray(parts)

    def _studied(self, picture: Image, pose: Pose, time_s: float) -> _Memory | None:
        result = study(picture, pose.camera, self._layout, self._pawns)
        if result is None:
            return None
        learned, evidence = result
        if None not in learned.colours.pawns:
            self._pawns = learned.colours.pawns
        corners = board_corners_px(self._profile, pose.camera)
        facts = self._facts(evidence, evidence.which)
        return _Memory(
            pose.camera,
            learned,
            evidence,
            None,
            corners,
            time_s,
            facts,
            evidence,
            np.zeros(len(facts) // 3, bool),
            _unread(evidence),
        )

    def _facts(self, evidence: Evidence, which: Indices) -> dict[str, Fact]:
        facts: dict[str, Fact] = {}
        kinds = (
            ("path", PATHS, evidence.paths),
            ("triangle", ("no", "yes"), evidence.triangles),
            ("pawn", PAWNS, evidence.pawns),
        )
        told = [(kind, values, rows.tolist(), (lead(rows) >= SURE_LEAD).tolist()) for kind, values, rows in kinds]
        stands = (evidence.pawns.argmax(axis=1) > 0).tolist()
        for i in which.tolist():
            cell = self._cells[i]
            hidden, reason = bool(evidence.behind[i]), ""
            if evidence.inside[i] < WHOLE:
                hidden, reason = True, "out_of_picture"
            elif hidden:
                reason = "hand"
            elif evidence.askew[i]:
                hidden, reason = True, "askew"
            else:
                reason = str(evidence.reasons[i])
            for kind, values, rows, sure in told:
                why = "" if sure[i] and not hidden else reason or "unclear"
                if why == "unclear" and kind == "triangle" and stands[i]:
                    why = ""  # a pawn stands over it, as it may
                facts[f"{kind}:{cell}"] = Fact(values, tuple(rows[i]), hidden, why)
        return facts


def _unread(evidence: Evidence) -> float:
    """The share of tiles that lie open to view and whose path is yet unclear."""
    unclear = lead(evidence.paths) < SURE_LEAD
    unclear &= ~evidence.behind & (evidence.inside >= WHOLE)
    return float(np.count_nonzero(unclear)) / len(unclear)


def _unclear(evidence: Evidence) -> Bools:
    """The tiles that lie open to view and yet could not be read for certain."""
    unclear = np.minimum(lead(evidence.paths), lead(evidence.pawns)) < SURE_LEAD
    return np.asarray(unclear & ~evidence.behind & ~evidence.askew)


def _better(anew: _Memory, memory: _Memory) -> bool:
    """Whether a new study is worth more than what is known: one made beside a hand must show more tiles than before."""
    if anew.unread > max(memory.unread, UNREAD_SHARE / 4):
        return False
    clear = [np.count_nonzero(~e.behind & (lead(e.paths) >= SURE_LEAD)) for e in (anew.evidence, memory.evidence)]
    return bool(clear[0] > clear[1]) or not anew.evidence.behind.any()


_LOOK_FIELDS = tuple(f.name for f in fields(PawnLook))
_FIELDS = tuple(f.name for f in fields(Evidence) if f.name not in ("which", "pawn_look"))


def _merged(whole: Evidence, part: Evidence) -> Evidence:
    """All tiles' evidence with that of some of them replaced."""
    which = part.which
    looks = (_placed(getattr(whole.pawn_look, n), getattr(part.pawn_look, n), which) for n in _LOOK_FIELDS)
    merged = {n: _placed(getattr(whole, n), getattr(part, n), which) for n in _FIELDS}
    return Evidence(which=whole.which, pawn_look=PawnLook(*looks), **merged)


def _rows(whole: Evidence, which: Indices) -> Evidence:
    """The evidence of some of the tiles."""
    look = PawnLook(*(getattr(whole.pawn_look, n)[which] for n in _LOOK_FIELDS))
    return Evidence(which=whole.which[which], pawn_look=look, **{n: getattr(whole, n)[which] for n in _FIELDS})


def _placed(old: Anys, new: Anys, which: Indices) -> Anys:
    out = old.copy()
    out[which] = new
    return out
