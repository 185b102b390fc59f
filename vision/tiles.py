"""The reader of a board of turning tiles: path, triangle and pawn of every place, cheap where nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.marker_search import Pose
from vision.overlay import draw_tiles
from vision.pictures import as_bgr, colourless, fault_of
from vision.reading import SURE_LEAD, Fact, Reading
from vision.registration import Registration, board_corners_px
from vision.sampling import Bools, Floats, Indices
from vision.tile_change import changed_tiles, compared, maps_at, probed, relit
from vision.tile_doubt import REASONS
from vision.tile_evidence import Evidence, lead, merged, moved, some_of
from vision.tile_gate import CORNER
from vision.tile_layout import PATHS
from vision.tile_pawns import PAWNS, Pawn, pawn_of
from vision.tile_reading import Learned, covered, look_again, study
from vision.tile_view import Layout

SIZES = ("tile", "tile_height", "door_diameter", "door_height", "pawn_radius", "pawn_centre_height")

UNREAD_SHARE = 0.4
"""When more of the tiles than this are open to view and yet unclear, something is wrong with the whole picture."""
LOST_SHARE = 0.6
"""When more than this is hidden or unclear, the board may lie elsewhere: what seems clear is not believed either."""
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
    """The last pictures' evidence. `corners` is the board in the picture, `unread` the share of tiles that lie open to
    view and are yet unclear. `agreed` is the evidence of the last picture that the table agreed on, `same` (T) the
    places that show nothing else since. All probes are kept in the light of the picture that was studied. `blind`: the
    trouble for which the last picture could not show a change."""

    camera: Camera
    learned: Learned
    evidence: Evidence
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
        self._height_mm = board.sizes_mm["tile_height"]
        self._memory: _Memory | None = None
        self._pawns: tuple[Pawn | None, Pawn | None] = (None, None)
        self._stood = (0, 0)

    def read(self, frame: Frame) -> Reading:
        """The reading of a picture of any size and content; a bad picture gives a reading whose `troubles` say why."""
        picture = as_bgr(frame.bgr)
        if picture is None:
            return _without_facts(frame, "vision.bad_picture")
        if colourless(picture):
            return _without_facts(frame, fault_of(picture) or "vision.no_colour")
        pose = self._registration.locate(picture)
        if pose is None:
            return _without_facts(frame, fault_of(picture) or self._registration.trouble)
        self._memory = memory = self._updated(picture, pose, frame.time_s)
        if memory is None:
            corners = board_corners_px(self._profile, pose.camera)
            return replace(_without_facts(frame, "vision.no_tiles"), board_px=corners, residual_mm=pose.residual_mm)
        trouble = ""
        if pose.moved:
            trouble = "vision.board_moved"
        elif memory.blind:
            trouble = memory.blind
        elif memory.unread > UNREAD_SHARE:
            trouble = fault_of(picture) or "vision.unclear"
        facts = memory.facts
        if _lost(memory.evidence) > LOST_SHARE:
            trouble = trouble or fault_of(picture) or "vision.mostly_hidden"
            facts = {k: f if f.hidden else _disbelieved(f) for k, f in facts.items()}
        if trouble == "vision.blurred":
            facts = {k: f if f.reason or f.sure(SURE_LEAD) else replace(f, reason="blur") for k, f in facts.items()}
        troubles = (trouble,) if trouble else ()
        return Reading(frame.number, frame.time_s, facts, (), memory.corners, pose.residual_mm, troubles)

    def agree(self, look: Mapping[str, str]) -> None:
        """Takes the facts agreed on for the picture read last: the pawns' colours follow what the table says."""
        if self._memory is None:
            return
        evidence, colours = self._memory.evidence, self._memory.learned.colours
        open_ = ~evidence["behind"] & evidence["pawn_seen"] & (evidence["pawns"].argmax(axis=1) > 0)
        values = list(look.values())
        self._stood = (values.count("1"), values.count("2"))
        found: list[Pawn | None] = []
        for player, before in zip(PAWNS[1:], self._pawns, strict=True):
            mine = np.array([look.get(f"pawn:{c}") == player for c in self._cells]) & open_
            found.append(pawn_of(evidence["pawn_colour"][mine] - colours.door) if mine.any() else before)
        self._pawns = (found[0], found[1])
        self._memory = replace(self._memory, agreed=evidence, same=self._as_agreed(evidence, look))
        if None in colours.pawns:
            learned = replace(self._memory.learned, colours=replace(colours, pawns=self._pawns))
            self._memory = replace(self._memory, learned=learned)

    def _as_agreed(self, evidence: Evidence, look: Mapping[str, str]) -> Bools:
        """Which places show clearly what the table has agreed on."""
        names = np.array(PATHS)[evidence["paths"].argmax(axis=1)], np.array(PAWNS)[evidence["pawns"].argmax(axis=1)]
        paths = np.array([look.get(f"path:{c}", "") for c in self._cells]) == names[0]
        pawns = np.array([look.get(f"pawn:{c}", "") for c in self._cells]) == names[1]
        return np.asarray(paths & pawns & evidence["certain"] & ~evidence["behind"] & ~evidence["askew"])

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the reading drawn over it."""
        board = self._profile.board
        pitch = float(board.grid.get("pitch_mm", board.sizes_mm["tile"]))
        return draw_tiles(image, reading, dict(board.places_mm), board.corners_mm, pitch)

    def _updated(self, picture: Image, pose: Pose, time_s: float) -> _Memory | None:
        if self._memory is None or pose.moved:
            return self._studied(picture, pose, time_s)
        memory = self._followed(picture, pose, time_s, self._memory)
        doubtful = bool(memory.blind) or memory.unread > UNREAD_SHARE or bool(memory.evidence["behind"].any())
        if 0 <= time_s - memory.studied_s < (RELEARN_DOUBTFUL_S if doubtful else RELEARN_S):
            return memory
        anew = self._studied(picture, pose, time_s)
        return anew if anew is not None and _better(anew, memory) else replace(memory, studied_s=time_s)

    def _followed(self, picture: Image, pose: Pose, time_s: float, memory: _Memory) -> _Memory:
        """The memory with those places read again that have changed."""
        before = memory.evidence
        if pose.camera is not memory.camera:
            before = moved(before, maps_at(pose.camera, before["pose"], self._height_mm))
            corners = board_corners_px(self._profile, pose.camera)
            memory = replace(memory, camera=pose.camera, corners=corners, evidence=before)
        gain, noise, other, blind = compared(probed(picture, before), before)
        if blind != memory.blind:
            memory = replace(memory, blind=blind)
        if blind:
            return memory
        # Pawns that could not be told apart may have come into view.
        unknown = None in memory.learned.colours.pawns and bool(other.any())
        # What could not be read in that picture, or in its light, may be clear in this one.
        again = other | ~(before["certain"] | before["behind"] | before["askew"])
        if np.count_nonzero(again) <= RELEARN_SHARE * len(other):
            other = again
        which = np.flatnonzero(other)
        if not len(which):
            return memory
        if unknown or len(which) > RELEARN_SHARE * len(other):
            anew = self._studied(picture, pose, time_s)
            if anew is not None and (unknown or _better(anew, memory)):
                return anew
            memory = replace(memory, studied_s=time_s)
        evidence, same = before, memory.same & ~other
        as_then = self._restored(picture, memory, which, gain, noise)
        if as_then is not None:
            places, rows = as_then
            evidence = merged(evidence, rows, places)
            same[places] = True
            which = np.setdiff1d(which, places)
        if len(which):
            light, hand = np.log(gain), bool(before["behind"].any())
            part = look_again(picture, pose.camera, self._layout, which, memory.learned, light, hand)
            part["probe"] = relit(part["probe"], 1.0 / gain)
            evidence = merged(evidence, part, which)
        behind = covered(evidence["coloured"], evidence["dark"], evidence["clear"], self._layout) & ~same
        evidence["behind"], evidence["loose"] = behind, _loose(evidence, self._stood)
        told = np.flatnonzero(other | (behind != before["behind"]) | (evidence["loose"] != before["loose"]))
        facts = {**memory.facts, **self._facts(evidence, told)}
        return replace(memory, evidence=evidence, facts=facts, same=same, unread=_unread(evidence))

    def _restored(
        self, picture: Image, memory: _Memory, which: Indices, gain: Floats, noise: float
    ) -> tuple[Indices, Evidence] | None:
        """Those of the places that look again as they did when they were agreed on, with the evidence of then: a hand
        has gone."""
        agreed = memory.agreed
        some = which[(~agreed["behind"] & ~agreed["askew"] & agreed["clear"] & ~memory.same)[which]]
        if not len(some):
            return None
        before = some_of(agreed, some)
        before = moved(before, maps_at(memory.camera, before["pose"], self._height_mm))
        same = ~changed_tiles(probed(picture, before), before, gain, noise)
        return (some[same], some_of(before, same)) if same.any() else None

    def _studied(self, picture: Image, pose: Pose, time_s: float) -> _Memory | None:
        result = study(picture, pose.camera, self._layout, self._pawns)
        if result is None:
            return None
        learned, evidence = result
        if None not in learned.colours.pawns:
            self._pawns = learned.colours.pawns
        corners = board_corners_px(self._profile, pose.camera)
        evidence["loose"] = _loose(evidence, self._stood)
        facts = self._facts(evidence, np.arange(len(evidence)))
        nowhere = np.zeros(len(evidence), dtype=bool)
        return _Memory(pose.camera, learned, evidence, corners, time_s, facts, evidence, nowhere, _unread(evidence))

    def _facts(self, evidence: Evidence, which: Indices) -> dict[str, Fact]:
        facts: dict[str, Fact] = {}
        rows = some_of(evidence, which)
        told = []
        for kind, values, name in _KINDS:
            found = rows[name]
            told.append((kind, values, found.tolist(), (lead(found) >= SURE_LEAD).tolist()))
        stands = (rows["pawns"].argmax(axis=1) > 0).tolist()
        behind, askew, whole = (
            rows["behind"].tolist(),
            (rows["askew"] | rows["loose"]).tolist(),
            (rows["inside"] >= WHOLE).tolist(),
        )
        for i, (place, wrong) in enumerate(zip(which.tolist(), rows["reason"].tolist(), strict=True)):
            hidden, reason = True, REASONS[wrong]
            if not whole[i]:
                reason = "out_of_picture"
            elif behind[i]:
                reason = "hand"
            elif askew[i]:
                reason = "askew"
            else:
                hidden = False
            for kind, values, found, sure in told:
                why = "" if sure[i] and not hidden else reason or "unclear"
                if why == "unclear" and kind == "triangle" and stands[i]:
                    why = ""  # a pawn stands over it, as it may
                facts[f"{kind}:{self._cells[place]}"] = Fact(values, tuple(found[i]), hidden, why)
        return facts


_KINDS = (("path", PATHS, "paths"), ("triangle", ("no", "yes"), "triangles"), ("pawn", PAWNS, "pawns"))
"""Kinds of facts, what each may be, and its column of the evidence."""


def _without_facts(frame: Frame, trouble: str) -> Reading:
    return Reading(frame_number=frame.number, time_s=frame.time_s, troubles=(trouble,))


def _unread(evidence: Evidence) -> float:
    """The share of tiles that lie open to view and whose path is yet unclear."""
    unclear = ~(evidence["clear"] | evidence["behind"]) & (evidence["inside"] >= WHOLE)
    return float(np.count_nonzero(unclear)) / len(unclear)


def _disbelieved(fact: Fact) -> Fact:
    """The same fact with nothing said for any value."""
    return replace(fact, log_likelihoods=(0.0,) * len(fact.values), reason=fact.reason or "unclear")


def _lost(evidence: Evidence) -> float:
    """The share of tiles that are hidden, or whose path is unclear."""
    return float(np.count_nonzero(evidence["behind"] | ~evidence["clear"])) / len(evidence)


def _loose(evidence: Evidence, stood: tuple[int, int]) -> Bools:
    """The tiles on which a pawn may lie that stands on no door any more: those with a few blocks that are nothing else,
    while fewer pawns stand than had `stood`. Where none is missing, or a hand may hold it, so little is no sign."""
    stands = evidence["pawns"].argmax(axis=1)
    enough = all(np.count_nonzero(stands == n) >= count for n, count in enumerate(stood, 1))
    if enough or evidence["behind"].any():
        return np.zeros(len(evidence), dtype=bool)
    return np.asarray((evidence["coloured"].sum(axis=(1, 2)) >= CORNER) & (stands == 0))


def _better(anew: _Memory, memory: _Memory) -> bool:
    """Whether a new study is worth more than what is known: one made beside a hand must show more tiles than before."""
    if anew.unread > max(memory.unread, UNREAD_SHARE / 4):
        return False
    clear = [np.count_nonzero(e["clear"] & ~e["behind"]) for e in (anew.evidence, memory.evidence)]
    return bool(clear[0] > clear[1]) or not anew.evidence["behind"].any()
