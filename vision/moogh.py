"""MOOGH's whole table: cubes by colour and cell, the beast's die, the action card and the point card with theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.contract import VisionError
from vision.marker_search import Pose
from vision.moogh_board import HUES, Cube, Ground, GroundSpec, read_ground
from vision.moogh_cards import ActionCard, ActionPrint, Card, PointCard, find_cards, read_point_card, rectified
from vision.moogh_dice import VALUES, Face, read_face
from vision.pictures import as_bgr, grey
from vision.reading import SURE_LEAD, Fact, Reading
from vision.registration import Registration, board_corners_px
from vision.sampling import Floats
from vision.unchanged import Unchanged

OFF_BOARD = ("top", "dead", "under", *(f"grab:{s}" for s in ("FL", "FR", "LF", "LB", "RF", "RB", "BL", "BR")))
"""Where a tribesman may be whose cube stands on no cell."""

_SLOPE = 2.5
"""Log-likelihood that a place loses with each mm beyond the part of it that is surely its own."""
_CELL_MM, _ORIGIN_MM, _RAGE_MM, _SLOT_MM = 7.0, 7.0, 4.2, 7.0
"""Half sides of that part for a cube, the beast, the rage die and the point die."""
_MANY = 4
"""Cells under something unknown from which it is taken for a hand."""
_FOLLOW = 0.3
"""Share of the newest agreed hue in a cube's."""
_CLOSE = 0.1
"""Correlation by which a second die's face may fit worse than the best; print fits worse."""
_FLOOR = -30.0


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What one picture shows."""

    ground: Ground
    action: ActionCard | None
    rage: tuple[Face, ...]
    points: PointCard | None
    scores: tuple[tuple[str, Face], ...]


class MooghReader:
    """Reads `cube:<colour>`, `beast:origin`, `die:health`, `card:side`, `rage:cell` (`row.column`), `die:rage` and
    `die:points` (`A2`, `B1`, `0`); values as the game's looks write them.

    The cards may lie anywhere beside the board and either way round. A cube that stands on no cell has all the places
    off the board alike as its values.
    """

    def __init__(self, profile: TableProfile) -> None:
        """Raises VisionError for a board spec that lacks the board's cells or the cards."""
        grid, sizes = profile.board.grid, profile.board.sizes_mm
        try:
            self._spec = GroundSpec(
                wide=int(grid["wide"]),
                deep=int(grid["deep"]),
                pitch_mm=float(grid["pitch_mm"]),
                board_mm=sizes["board_height"],
                cube_mm=sizes["cube"],
                die_mm=sizes["health_die"],
            )
            self._action, self._points = grid["action_card"], grid["point_card"]
            self._print = ActionPrint(self._action)
            self._card_sizes = [(float(c["size_mm"][0]), float(c["size_mm"][1])) for c in (self._action, self._points)]
            self._card_mm = sizes["card_height"]
            self._rage_mm, self._score_mm = sizes["rage_die"], sizes["point_die"]
        except KeyError as error:
            raise VisionError(f"the board spec of {profile.board.game!r} lacks {error}") from error
        self._profile = profile
        self._board: Array = np.array(profile.board.corners_mm)
        self._registration = Registration(profile)
        self._told: Mapping[str, Fact] = {}
        self._hues: dict[str, tuple[float, float]] = dict(HUES)
        self._cells = [f"{c},{r}" for r in range(self._spec.deep) for c in range(self._spec.wide)]
        self._last: dict[str, Cube] = {}
        self._unchanged = Unchanged()
        self._cards: tuple[Card, Card, Image] | None = None
        self._drawn: tuple[Camera, _Seen] | None = None

    def read(self, frame: Frame) -> Reading:
        """The reading of one picture; troubles instead of facts when it shows no board."""
        picture = as_bgr(frame.bgr)
        pose = None if picture is None else self._registration.locate(picture)
        if picture is None or pose is None:
            self._drawn = None
            trouble = "vision.bad_picture" if picture is None else "vision.no_board"
            return Reading(frame.number, frame.time_s, troubles=(trouble,))
        seen = self._look(picture, pose)
        self._drawn = None if seen is None else (pose.camera, seen)
        facts: dict[str, Fact] = {}
        if seen is not None:
            facts = self._told = {**self._beast(seen.ground), **self._card_facts(seen), **self._cubes(seen.ground)}
        return Reading(
            frame_number=frame.number,
            time_s=frame.time_s,
            facts=facts,
            board_px=board_corners_px(self._profile, pose.camera),
            residual_mm=pose.residual_mm,
            troubles=() if seen is not None else ("vision.board_astray",),
        )

    def agree(self, look: Mapping[str, str]) -> None:
        """Follows the light: the agreed cubes' hues in the picture read last become the tribesmen's."""
        if any(not f.sure(SURE_LEAD) for k, f in self._told.items() if k.startswith("cube:") and k in look):
            # With better hues more may be seen.
            self._unchanged.forget("ground")
        for name, cube in self._last.items():
            if name in self._hues and look.get(f"cube:{name}") == self._nearest_cell(cube):
                old = np.array(self._hues[name])
                new = (1 - _FOLLOW) * old + _FOLLOW * np.array(cube.hue)
                self._hues[name] = (float(new[0]), float(new[1]))

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the cards, dice and cubes outlined and what they show; `?` where unsure."""
        out = image.copy()
        if not reading.board_found or self._drawn is None:
            return out
        camera, seen = self._drawn
        for paper, key in ((seen.action, "card:side"), (seen.points, "")):
            if paper is not None:
                self._outline(out, camera, paper.card.corners_mm, self._card_mm, _label(reading, key))
        for face, side, key in (
            (seen.ground.beast, self._spec.die_mm, "die:health"),
            (seen.rage[0] if seen.rage else None, self._rage_mm, "die:rage"),
            (seen.scores[0][1] if seen.scores else None, self._score_mm, "die:points"),
        ):
            if face is not None:
                self._outline(out, camera, _square(face.xy_mm, side), side, _label(reading, key))
        for name, cube in self._last.items():
            square = _square(cube.xy_mm, self._spec.cube_mm)
            self._outline(out, camera, square, self._spec.cube_mm, _label(reading, f"cube:{name}"))
        return out

    def _outline(self, out: Image, camera: Camera, corners: Array, height_mm: float, label: str) -> None:
        pixels = camera.project(np.column_stack([corners, np.full(len(corners), height_mm)])).round().astype(np.int32)
        cv2.polylines(out, [pixels], True, (255, 255, 255), 2)
        cv2.putText(
            out, label, (int(pixels[0][0]), int(pixels[0][1]) - 4), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 255, 255), 1
        )

    def _look(self, picture: Image, pose: Pose) -> _Seen | None:
        """What the picture shows, None of a board that lies astray; what looks as it did when it was read last is not
        read again."""
        camera = pose.camera
        before = self._drawn[1] if self._drawn is not None and self._drawn[0] is camera else None
        if before is None:
            self._unchanged.forget()
        ground = self._ground(picture, pose, None if before is None else before.ground)
        if ground is None:
            return None
        kept = [before is not None and self._unchanged.same(name, picture) for name in ("action", "points")]
        if before is not None and all(kept):
            return _Seen(ground, before.action, before.rage, before.points, before.scores)
        action, points = self._found_cards(picture, camera)
        rage = () if action is None else self._rage_dice(picture, camera, action)
        scores = () if points is None else self._score_dice(picture, camera, points)
        self._keep("action", picture, camera, None if action is None else action.card, self._rage_mm)
        self._keep("points", picture, camera, None if points is None else points.card, self._score_mm)
        return _Seen(ground, action, rage, points, scores)

    def _ground(self, picture: Image, pose: Pose, before: Ground | None) -> Ground | None:
        """What stands on the board, None where it is not in its place."""
        camera = pose.camera
        if before is not None and self._unchanged.same("ground", picture):
            return before
        if self._registration.astray(picture, pose):
            return None
        same = before is not None and before.beast is not None and self._unchanged.same("beast", picture)
        ground = read_ground(picture, camera, self._spec, self._hues, before.beast if before and same else None)
        rim = self._spec.pitch_mm
        low, high = self._board.min(axis=0) - rim, self._board.max(axis=0) + rim
        self._unchanged.keep("ground", picture, _block_px(camera, low, high, self._spec.die_mm))
        if ground.beast is not None:
            middle, half = np.array(ground.beast.xy_mm), self._spec.die_mm * 0.75
            self._unchanged.keep("beast", picture, _block_px(camera, middle - half, middle + half, self._spec.die_mm))
        return ground

    def _keep(self, name: str, picture: Image, camera: Camera, card: Card | None, die_mm: float) -> None:
        if card is None:
            self._unchanged.forget(name)
            return
        corners = card.corners_mm
        block = _block_px(camera, corners.min(axis=0), corners.max(axis=0), self._card_mm + die_mm)
        self._unchanged.keep(name, picture, block)

    def _found_cards(self, picture: Image, camera: Camera) -> tuple[ActionCard | None, PointCard | None]:
        """The cards where they were, if they still lie there; else looked for."""
        if self._cards is not None:
            card, other, patch = self._cards
            known = self._print.read(picture, camera, card, self._card_mm)
            if known.clear and _still(picture, camera, other, self._card_mm, patch):
                return known, read_point_card(picture, camera, other, self._points, self._card_mm)
        self._cards = None
        found = find_cards(picture, camera, self._card_sizes, self._board, self._card_mm)
        actions = [self._print.read(picture, camera, card, self._card_mm) for card in found[0]]
        points = [read_point_card(picture, camera, card, self._points, self._card_mm) for card in found[1]]
        action = max(actions, key=lambda a: a.fit) if actions else None
        point = max(points, key=lambda p: p.lead) if points else None
        if action is not None and point is not None:
            self._cards = action.card, point.card, _patch(picture, camera, point.card, self._card_mm)
        return action, point

    def _rage_dice(self, picture: Image, camera: Camera, action: ActionCard) -> tuple[Face, ...]:
        """Dice on the action card, best first: they lie where the print is not to be read."""
        words = action.words
        usual = float(np.median(words))
        columns = words.shape[1]
        order = [divmod(int(k), columns) for k in np.argsort(words.ravel())[:3]]
        faces = []
        for row, column in order:
            if words[row, column] > usual - 0.2:
                break
            middle = action.card.at((self._action["columns_mm"][column], self._action["rows_mm"][row]))
            face = self._face(picture, camera, middle, self._rage_mm, 6.5)
            if face is not None:
                faces.append(face)
        return _apart(faces, self._rage_mm)

    def _score_dice(self, picture: Image, camera: Camera, points: PointCard) -> tuple[tuple[str, Face], ...]:
        """Dice on the point card with the slot that each lies at, best first."""
        faces = []
        for slot in points.taken:
            middle = self._points["slots_mm"][slot]
            face = self._face(picture, camera, points.card.at(middle), self._score_mm, 7.5)
            if face is not None:
                faces.append((slot, face))
        kept = _apart([f for _, f in faces], self._score_mm)
        return tuple((slot, face) for face in kept for slot, other in faces if other is face)

    def _face(self, picture: Image, camera: Camera, middle: Array, side_mm: float, reach_mm: float) -> Face | None:
        top = self._card_mm + side_mm
        return read_face(picture, camera, (float(middle[0]), float(middle[1])), top, side_mm, reach_mm)

    def _beast(self, ground: Ground) -> dict[str, Fact]:
        health = ("0", *VALUES)
        pitch = self._spec.pitch_mm
        origins = [(c, r) for r in range(-1, self._spec.deep) for c in range(-1, self._spec.wide)]
        names = tuple(f"{c},{r}" for c, r in origins)
        face = ground.beast
        if face is None or not face.shown:
            return {
                "die:health": Fact(health, (0.0,) * len(health), reason="unclear"),
                "beast:origin": Fact(names, (0.0,) * len(names), reason="unclear"),
            }
        middles = [((c + 1) * pitch, (self._spec.deep - r - 1) * pitch) for c, r in origins]
        return {
            "die:health": Fact(health, (_FLOOR, *face.scores)),
            "beast:origin": _placed(names, _by_distance(face.xy_mm, middles, _ORIGIN_MM)),
        }

    def _card_facts(self, seen: _Seen) -> dict[str, Fact]:
        action, points = seen.action, seen.points
        row_names = [str(r + 1) for r in range(len(self._action["rows_mm"]))]
        cells = [f"{r}.{c}" for r in row_names for c in range(len(self._action["columns_mm"]))]
        scores = ("0", *(f"{team}{v}" for team in "AB" for v in VALUES))
        facts = {
            "card:side": _unclear(("front", "back")),
            "rage:cell": _unclear(cells),
            "die:rage": _unclear(VALUES),
            "die:points": _unclear(scores),
        }
        if action is not None:
            facts["card:side"] = Fact(("front", "back"), action.sides, reason="" if action.clear else "unclear")
            if action.clear and seen.rage:
                face = seen.rage[0]
                worth = 0.1 if len(seen.rage) > 1 or not face.shown else 1.0
                middles = [(x, y) for y in self._action["rows_mm"] for x in self._action["columns_mm"]]
                where = _by_distance(action.card.inside(face.xy_mm), middles, _RAGE_MM)
                facts["rage:cell"] = _placed(cells, where * worth)
                facts["die:rage"] = Fact(
                    VALUES, tuple(s * worth for s in face.scores), reason="" if worth == 1.0 else "unclear"
                )
        if points is not None and points.lead >= SURE_LEAD and seen.scores:
            face = seen.scores[0][1]
            worth = 0.1 if len(seen.scores) > 1 or not face.shown else 1.0
            slots = self._points["slots_mm"]
            lies = _by_distance(points.card.inside(face.xy_mm), list(slots.values()), _SLOT_MM)
            slot = dict(zip(slots, lies.tolist(), strict=True))
            pips = dict(zip(VALUES, face.scores, strict=True))
            rated = [slot[name[0]] + (pips[name[1:]] if name != "0" else 0.0) for name in scores]
            facts["die:points"] = _placed(scores, np.array(rated, dtype=np.float32) * worth)
        return facts

    def _cubes(self, ground: Ground) -> dict[str, Fact]:
        """A fact a colour: near a cube that is seen; else in no cell that could be seen."""
        facts = {}
        self._last = {}
        hand = int(np.count_nonzero(ground.strange)) >= _MANY
        pitch, deep = self._spec.pitch_mm, self._spec.deep
        middles = [((c + 0.5) * pitch, (deep - r - 0.5) * pitch) for r in range(deep) for c in range(self._spec.wide)]
        # No cube stands in the cells that the beast itself stands in.
        under = np.zeros(len(middles), dtype=bool)
        if ground.beast is not None and ground.beast.shown:
            off = np.abs(np.array(middles) - np.array(ground.beast.xy_mm)).max(axis=1)
            under = off < self._spec.die_mm / 2 - self._spec.cube_mm / 4
        unseen = (ground.behind | ground.strange).ravel()
        values = (*self._cells, *OFF_BOARD)
        for name, cubes in ground.cubes.items():
            if cubes:
                best = max(c.fill for c in cubes)
                rated = [_by_distance(c.xy_mm, middles, _CELL_MM) - 40.0 * (best - c.fill) for c in cubes]
                cells = np.max(rated, axis=0)
                elsewhere = -24.0 if best >= 0.8 else -4.0
                self._last[name] = cubes[0]
                scores = np.concatenate([np.maximum(cells, elsewhere - 6.0), np.full(len(OFF_BOARD), elsewhere)])
                facts[f"cube:{name}"] = _placed(values, scores)
                continue
            cells = np.where(unseen, 0.0, -18.0 * (1.0 - ground.traces[name].ravel()))
            cells[under] = _FLOOR
            scores = np.concatenate([cells, np.zeros(len(OFF_BOARD))])
            fact = _placed(values, scores)
            facts[f"cube:{name}"] = Fact(fact.values, fact.log_likelihoods, hidden=hand, reason="hand" if hand else "")
        return facts

    def _nearest_cell(self, cube: Cube) -> str:
        column = int(cube.xy_mm[0] // self._spec.pitch_mm)
        row = int((self._spec.deep * self._spec.pitch_mm - cube.xy_mm[1]) // self._spec.pitch_mm)
        return f"{column},{row}"


def _apart(faces: Sequence[Face], side_mm: float) -> tuple[Face, ...]:
    """The faces that are different dice, best first: those that show pips nearly as well as the best."""
    kept: list[Face] = []
    for face in sorted(faces, key=lambda f: -f.fit):
        far = all(np.hypot(face.xy_mm[0] - k.xy_mm[0], face.xy_mm[1] - k.xy_mm[1]) > side_mm for k in kept)
        if not kept or (face.shown and far and face.fit > kept[0].fit - _CLOSE):
            kept.append(face)
    return tuple(kept)


def _by_distance(at: Sequence[float], middles: Sequence[Sequence[float]], own_mm: float) -> Floats:
    """Log-likelihood of each place that something lies `at`: nothing lost within `own_mm` of its middle each way."""
    off = np.abs(np.asarray(middles, dtype=np.float64) - np.asarray(at)).max(axis=1)
    return np.asarray(-_SLOPE * np.maximum(off - own_mm, 0.0), dtype=np.float32)


def _placed(values: Sequence[str], scores: Floats) -> Fact:
    """A fact of these scores, the best one made 0; askew when two places are nearly as likely."""
    level = np.maximum(scores - scores.max(), _FLOOR)
    fact = Fact(tuple(values), tuple(float(s) for s in level))
    return fact if fact.lead >= SURE_LEAD else Fact(fact.values, fact.log_likelihoods, reason="askew")


def _unclear(values: Sequence[str]) -> Fact:
    return Fact(tuple(values), (0.0,) * len(values), reason="unclear")


def _patch(picture: Image, camera: Camera, card: Card, height_mm: float) -> Image:
    return grey(rectified(picture, camera, card, 1.0, height_mm))


def _still(picture: Image, camera: Camera, card: Card, height_mm: float, before: Image) -> bool:
    """True when a card looks as it did and has not slipped by a mm."""
    now = _patch(picture, camera, card, height_mm)
    match = cv2.matchTemplate(now, np.ascontiguousarray(before[3:-3, 3:-3]), cv2.TM_CCOEFF_NORMED)
    row, column = (int(v) for v in np.unravel_index(int(np.argmax(match)), match.shape))
    return float(match.max()) > 0.8 and max(abs(row - 3), abs(column - 3)) <= 1


def _block_px(camera: Camera, low: Array, high: Array, tall_mm: float) -> Array:
    """The pixels (8, 2) of the corners of an upright block on the table."""
    spots = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0.0, tall_mm)]
    return camera.project(np.array(spots))


def _square(xy_mm: Sequence[float], side_mm: float) -> Array:
    half = side_mm / 2
    return np.array([(xy_mm[0] + a * half, xy_mm[1] + b * half) for a, b in ((-1, 1), (1, 1), (1, -1), (-1, -1))])


def _label(reading: Reading, key: str) -> str:
    fact = reading.facts.get(key)
    return "" if fact is None else fact.best if fact.sure(SURE_LEAD) else "?"
