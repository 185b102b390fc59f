"""The line on a domino table tile by tile, followed from one picture to the next, and hands that are shown beside it.

What lies on the table is told apart by where it lies: a tile of the agreed line is looked for at its own place; a new
tile belongs to the line when it touches one of its open ends; tiles in a player's strip are that player's hand. All
other tiles (the boneyard, a tile on its way) say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibration.geometry import Camera
from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.boneyard import Box, Count, count
from vision.contract import VisionError
from vision.domino_ground import Ground
from vision.domino_places import (
    GONE,
    WAS_THERE,
    Found,
    Laid,
    joined,
    nearest,
    neighbours,
    next_places,
)
from vision.dominoes import VALUES, DominoReader
from vision.dominoes_line import length
from vision.pictures import as_bgr
from vision.reading import Fact, Piece, Reading
from vision.registration import board_corners_px

REACH = 27
"""So many places the line has on either side of the tile that was laid first."""

SIZED = 3.0
"""What it says for a tile, in nats, that it measures what the set's tiles do: few of the things that are none do."""

FACELESS = 6.5
"""Lead of a double blank over nothing where a tile without pips continues the line: it may be one turned face down."""

MOST = 4.0
"""So much of that counts for the numbers of a tile: what was taken for one may still be read wrongly."""

SIZE_SHARE, HAND_SIZE_SHARE = 0.08, 0.2
"""By how much of its length a tile may seem longer or shorter; and one in the strip of a hand, where only tiles lie."""

MORE_MM2 = 300.0
"""When more of a hand's strip than this is neither bare nor one of its tiles, there is another one: a quarter of it."""

ONE_MORE = 12.0
"""Lead (nats) of a number of tiles over each one more or less."""

MOST_TILES = 28

KEPT_VALUES = 7
"""So many values of a tile are told, the likeliest."""


class DominoTableReader:
    """Reads `line:<n>` (places counted from the tile laid first, positive to the right: `6-4`, or `-`) and `hand:<p>`
    (`0-1 3-5` in ascending order, or `-`) of a table whose spec names the strips of hands (`grid.hands_mm`), and where
    it names the boneyard's areas (`grid.boneyard.areas_mm`) `count:boneyard`, the number of tiles there.

    That number says something only once it was found to be what the table knows, and while nothing else lies there: a
    cloth or a back on which tiles cannot be counted makes it a fact without any lead. Right is towards +x of the table
    at the tile laid first. Facts that no camera can see here are left out.
    """

    def __init__(self, profile: TableProfile) -> None:
        """Raises VisionError for a table without strips for hands."""
        zones = profile.board.grid.get("hands_mm")
        if not isinstance(zones, Mapping):
            raise VisionError(f"the board spec of {profile.board.game!r} has no grid.hands_mm")
        self._profile = profile
        self._zones = {str(k): (float(a), float(b), float(c), float(d)) for k, (a, b, c, d) in zones.items()}
        self._long_mm = profile.board.sizes_mm["tile_long"]
        self._tiles = DominoReader(profile)
        self._line: dict[int, Laid] = {}
        self._seen: dict[int, Found] = {}
        self._shown: list[Piece] = []
        self._ground = Ground(profile.board)
        sizes, yard = profile.board.sizes_mm, profile.board.grid.get("boneyard", {})
        self._yard: tuple[Box, ...] = tuple((a, b, c, d) for a, b, c, d in yard.get("areas_mm", ()))
        self._tile_mm = (sizes["tile_long"], sizes["tile_short"], sizes["tile_height"])
        self._count: Count | None = None
        self._countable = False

    def read(self, frame: Frame) -> Reading:
        """The reading of one picture; troubles instead of facts when the table is not in it."""
        laid = list(self._line.values())
        for n, inner in ((max(self._line), -1), (min(self._line), 1)) if self._line else ():
            laid += next_places(self._line[n], self._line.get(n + inner))
        for piece in self._shown:
            laid += neighbours(piece)
        reading = self._tiles.read(frame, [(tile.xy, tile.length, tile.angle_deg) for tile in laid])
        camera = self._tiles.camera
        if camera is None:
            return replace(reading, facts={}, pieces=())
        self._ground.look(frame.bgr, camera)
        yard = [p for p in reading.pieces if any(a <= p.xy[0] <= c and b <= p.xy[1] <= d for a, b, c, d in self._yard)]
        share = {id(p): SIZE_SHARE if self._zone(p) is None else HAND_SIZE_SHARE for p in reading.pieces}
        faces = [p for p in reading.pieces if p not in yard and p.facts["face"].best == "up"]
        pieces = [p for p in faces if self._sized(p, share[id(p)])]
        left_out = {self._zone(p) for p in reading.pieces if p not in pieces}
        facts, used = self._line_facts(
            pieces, [_faceless(p) for p in reading.pieces if p not in yard and self._bare(p)]
        )
        self._ground.keep([p.xy for p in reading.pieces])
        self._shown = [p for i, p in enumerate(pieces) if i not in used and self._zone(p) is not None]
        unseen = self._unseen(camera, frame.bgr.shape)
        facts |= self._hand_facts(left_out, unseen)
        if self._yard:
            backs = [p for p in yard if p.facts["kind"].best == "domino" and self._sized(p, HAND_SIZE_SHARE)]
            image = as_bgr(frame.bgr)
            self._count = None if image is None else count(image, camera, self._yard, backs, self._tile_mm)
            facts["count:boneyard"] = self._counted()
        troubles = tuple(t for t in reading.troubles if t != "vision.no_dominoes")
        corners = board_corners_px(self._profile, camera)
        notices = ("vision.place_out_of_picture",) if unseen else ()
        return replace(reading, facts=facts, troubles=troubles, notices=notices, board_px=corners)

    def agree(self, look: Mapping[str, str]) -> None:
        """Remembers where the agreed line lies, as it was read last, and whether the boneyard can be counted."""
        if self._count is not None and self._count.whole and "count:boneyard" in look:
            self._countable = str(self._count.tiles) == look["count:boneyard"]
        places = {int(k[5:]) for k, v in look.items() if k.startswith("line:") and v != "-"}
        if not places & self._line.keys() or not places:
            self._line = {}
        self._line = {n: laid for n, laid in self._line.items() if n in places}
        for n, found in self._seen.items():
            if n in places and look[f"line:{n}"] in (v for v, _ in _value(found).ranked[:1]):
                angle = found.piece.angle_deg if found.left else found.piece.angle_deg + 180.0
                apart = self._ground.apart(found.piece.xy) or 0.0
                self._line[n] = Laid(found.piece.xy, angle, length(found.piece), look[f"line:{n}"], apart)

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with every tile's outline and its numbers."""
        return self._tiles.draw(image, reading)

    def _line_facts(self, faces: Sequence[Piece], faceless: Sequence[Piece]) -> tuple[dict[str, Fact], set[int]]:
        """The facts of all places of the line, and which of the tiles with faces are its tiles. Those without pips
        count only where the line was or goes on."""
        facts = {f"line:{n}": _BARE for n in range(-REACH, REACH + 1)}
        found: dict[int, Found] = {}
        missing: dict[int, Laid] = {}
        used: set[int] = set()
        pieces = [*faces, *faceless]
        for n, laid in self._line.items():
            at = nearest(pieces, laid, used)
            if at is None:
                missing[n] = laid
                continue
            used.add(at)
            piece = pieces[at]
            found[n] = Found(piece, math.cos(math.radians(piece.angle_deg - laid.angle_deg)) > 0, WAS_THERE)
        loose = [i for i, p in enumerate(faces) if i not in used and self._zone(p) is None]
        if (
            len(missing) > max(1, len(loose))
            and not found
            and self._cleared(missing.values(), [faces[i] for i in loose])
        ):
            # For a new round, of which the first tile may lie already.
            facts |= {f"line:{n}": Fact((laid.value, "-"), (-GONE, 0.0)) for n, laid in missing.items()}
            missing = {}
        if not missing and not found:
            first = self._first(faces)
            if first is not None:
                found[0] = Found(pieces[first], math.cos(math.radians(pieces[first].angle_deg)) >= -1e-3, 0.0)
                used.add(first)
        if found:
            self._grow(pieces, found, used)
        loose = [i for i in loose if i not in used]
        facts |= {f"line:{n}": self._missing(laid, bool(loose)) for n, laid in missing.items()}
        if loose and found and not missing:
            # It may be meant for either end.
            facts |= {f"line:{n}": _ASKEW for n in (min(found) - 1, max(found) + 1) if abs(n) <= REACH}
        self._seen = found
        facts |= {f"line:{n}": _value(tile) for n, tile in found.items() if abs(n) <= REACH}
        return facts, used

    def _cleared(self, line: Collection[Laid], loose: Sequence[Piece]) -> bool:
        """Whether the table is seen bare wherever a tile of the line lay, or another tile over it."""
        return all(self._ground.bare(t.xy) or any(math.dist(p.xy, t.xy) < t.length for p in loose) for t in line)

    def _first(self, pieces: Sequence[Piece]) -> int | None:
        """The tile that opens a line: the one nearest to the table's middle that lies in nobody's strip."""
        free = [(math.hypot(*p.xy), i) for i, p in enumerate(pieces) if self._zone(p) is None]
        return min(free)[1] if free else None

    def _grow(self, pieces: Sequence[Piece], found: dict[int, Found], used: set[int]) -> None:
        """Adds tiles that touch the line's open ends, again and again."""
        while True:
            best: tuple[float, int, int, Found] | None = None
            for right in (True, False):
                n = max(found) if right else min(found)
                inner = found.get(n - 1 if right else n + 1)
                for i, piece in enumerate(pieces):
                    if i in used:
                        continue
                    touching = joined(found[n], inner, piece, right)
                    if touching is not None and (best is None or touching[0] < best[0]):
                        best = (touching[0], i, n + 1 if right else n - 1, touching[1])
            if best is None:
                return
            _, i, n, tile = best
            used.add(i)
            found[n] = tile

    def _missing(self, laid: Laid, loose: bool) -> Fact:
        """A tile of the line is not seen at its place: pushed aside when another lies loose, gone when the bare ground
        is seen there, else something covers it."""
        values = (laid.value, "-")
        if loose:
            return Fact(values, (0.0, 0.0), hidden=True, reason="askew")
        if self._ground.bare(laid.xy):
            return Fact(values, (-laid.gone(self._ground.apart(laid.xy)), 0.0))
        return Fact(values, (0.0, 0.0), hidden=True, reason="hand")

    def _unseen(self, camera: Camera, shape: Sequence[int]) -> set[str]:
        """The strips of which an end's middle is out of the picture: a hand shown there may not be seen."""
        unseen = set()
        for name, (a, b, c, d) in self._zones.items():
            ends = camera.project(np.array([(a, (b + d) / 2, 0.0), (c, (b + d) / 2, 0.0)]))
            if not ((ends >= 0) & (ends < (shape[1], shape[0]))).all():
                unseen.add(name)
        return unseen

    def _hand_facts(self, left_out: Collection[str | None], unseen: Collection[str]) -> dict[str, Fact]:
        """The hands in their strips; one beside which lies what was `left_out` of it, or something that was not even
        seen as a tile, is not known as a whole."""
        hands: dict[str, list[Piece]] = {name: [] for name in self._zones}
        for piece in self._shown:
            hands[self._zone(piece) or ""].append(piece)
        facts = {}
        for name, tiles in hands.items():
            fact = _hand(tiles)
            if tiles:
                more = self._ground.covered_mm2(self._zones[name], [p.outline for p in tiles]) >= MORE_MM2
                fact = replace(fact, hidden=True, reason="unclear") if more or name in left_out else fact
            facts[f"hand:{name}"] = replace(fact, hidden=True, reason="out_of_picture") if name in unseen else fact
        return facts

    def _counted(self) -> Fact:
        """The number of tiles in the boneyard; all alike where it cannot be known."""
        values = tuple(str(n) for n in range(MOST_TILES + 1))
        seen = self._count
        if seen is None or not (seen.whole and self._countable):
            return Fact(values, (0.0,) * len(values))
        return Fact(values, tuple(max(-ONE_MORE * abs(n - seen.tiles), -2 * ONE_MORE) for n in range(len(values))))

    def _sized(self, piece: Piece, share: float) -> bool:
        """Whether a thing is as long as the set's tiles, to within a share of it."""
        return abs(length(piece) / self._long_mm - 1) < share

    def _bare(self, piece: Piece) -> bool:
        """Whether a thing is a tile on which no pips are seen."""
        known = piece.facts["kind"].best == "domino" and self._sized(piece, SIZE_SHARE)
        return known and piece.facts["face"].best != "up" and self._zone(piece) is None

    def _zone(self, piece: Piece) -> str | None:
        x, y = piece.xy
        inside = (n for n, (a, b, c, d) in self._zones.items() if a <= x <= c and b <= y <= d)
        return next(inside, None)


_BARE = Fact(("-",), (0.0,))
_BLANK = Fact(("0",), (0.0,))
_ASKEW = Fact(("-",), (0.0,), hidden=True, reason="askew")


def _faceless(piece: Piece) -> Piece:
    """A tile on which no pips are seen, as the double blank that it is if it is one of the line."""
    return replace(piece, facts={**piece.facts, "left": _BLANK, "right": _BLANK})


def _value(tile: Found) -> Fact:
    """What a tile of the line shows, left half first."""
    if tile.piece.facts["left"] is _BLANK:
        return Fact(("0-0", "-"), (0.0, -FACELESS if tile.fits < WAS_THERE else -GONE), reason="unclear")
    one, two = (tile.piece.facts[k] for k in (("left", "right") if tile.left else ("right", "left")))
    sure = min(tile.fits + SIZED, MOST)
    scored = [(x + y, f"{a}-{b}") for a, x in _logs(one, sure) for b, y in _logs(two, sure)]
    scored.sort(reverse=True)
    reason = one.reason or two.reason
    share = 1.0
    if tile.crosswise and one.best != two.best:
        # A tile laid crosswise that is no double: which half touches the line cannot be said.
        reason, share = "askew", 0.1
    top = scored[:KEPT_VALUES]
    here = tile.piece.facts["kind"]
    bare = min(0.0, here.log_likelihood("other") - here.log_likelihood("domino")) - tile.fits - SIZED
    values = (*(v for _, v in top), "-")
    logs = (*((x - top[0][0]) * share for x, _ in top), bare)
    return Fact(values, logs, reason=reason if reason != "face_down" else "unclear")


def _logs(fact: Fact, sure: float) -> list[tuple[str, float]]:
    """A half's values. What all of them have in common is the doubt whether a tile lies there at all; of that the rest
    is left which the tile's place has not answered (`sure`, nats)."""
    chances = {v: math.exp(fact.log_likelihood(v)) for v in VALUES}
    doubt = min(chances.values()) * (1 - math.exp(-sure))
    return [(v, math.log(max(x - doubt, 1e-9))) for v, x in chances.items()]


def _hand(tiles: Sequence[Piece]) -> Fact:
    """A shown hand: the likeliest tiles, and the likeliest others of it."""
    if not tiles:
        return _BARE
    shown = [_value(Found(p, True, 0.0)) for p in tiles]
    best = [f.ranked[0] for f in shown]
    options = [(0.0, _hand_text([v for v, _ in best]))]
    for i, fact in enumerate(shown):
        others = [(v, x) for v, x in fact.ranked[1:4] if v != "-" and v != best[i][0]]
        for v, x in others:
            values = [v if k == i else value for k, (value, _) in enumerate(best)]
            options.append((x - best[i][1], _hand_text(values)))
        lost = [value for k, (value, _) in enumerate(best) if k != i]
        options.append((fact.log_likelihood("-") - best[i][1], _hand_text(lost)))
    ranked: dict[str, float] = {}
    for x, text in sorted(options, reverse=True)[: 4 * KEPT_VALUES]:
        ranked.setdefault(text, x)
    return Fact(tuple(ranked), tuple(ranked.values()))


def _hand_text(values: Sequence[str]) -> str:
    pairs = sorted(tuple(sorted(v.split("-"))) for v in values)
    return " ".join("-".join(p) for p in pairs) or "-"
