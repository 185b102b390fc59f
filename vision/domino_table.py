"""The line on a domino table tile by tile, followed from one picture to the next, and hands that are shown beside it.

What lies on the table is told apart by where it lies: a tile of the agreed line is looked for at its own place; a new
tile belongs to the line when it touches one of its open ends; tiles in a player's strip are that player's hand. All
other tiles (the boneyard, a tile on its way) say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.boneyard import Box, Count, count
from vision.contract import VisionError
from vision.domino_ground import Ground
from vision.dominoes import VALUES, DominoReader
from vision.dominoes_line import JOINT, contacts, length
from vision.pictures import as_bgr
from vision.reading import Fact, Piece, Reading
from vision.registration import board_corners_px

REACH = 27
"""So many places the line has on either side of the tile that was laid first."""

SAME_PLACE = 0.35
"""A tile lies where one lay before when it is nearer than this share of its length."""

SAME_TURN_DEG = 25.0

GONE, GONE_SURELY = 8.0, 12.0
"""Lead with which a place is bare whose ground can be seen again; and where the tile that lay there was clearly another
thing than the ground."""

WAS_THERE, TOUCHES, SIZED = 8.0, 5.0, 3.0
"""What it says for a tile, in nats, that the table has agreed on one just there, that it lies up against an open end of
the line, and that it measures what the set's tiles do: so few of the things and places that are none."""

FACELESS = 6.5
"""Lead of a double blank over nothing where a tile without pips continues the line: it may be one turned face down."""

MOST = 4.0
"""So much of that counts for the numbers of a tile: what was taken for one may still be read wrongly."""

BESIDE = 0.57
"""From one tile of a hand to the next, as a share of a tile's length, where they are pushed together."""

SIZE_SHARE, HAND_SIZE_SHARE = 0.08, 0.2
"""By how much of its length a tile may seem longer or shorter; and one in the strip of a hand, where only tiles lie."""

MORE_MM2 = 300.0
"""When more of a hand's strip than this is neither bare nor one of its tiles, there is another one: a quarter of it."""

ONE_MORE = 12.0
"""Lead (nats) of a number of tiles over each one more or less."""

MOST_TILES = 28

KEPT_VALUES = 7
"""So many values of a tile are told, the likeliest."""

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Laid:
    """A tile of the line: where its middle is, the direction from its left half to its right one, its length; with
    what lead its place is bare when the ground is seen there."""

    xy: tuple[float, float]
    angle_deg: float
    length: float
    value: str = ""
    gone: float = GONE


@dataclass(frozen=True, slots=True)
class _Found:
    """A tile seen at a place of the line; `left` says whether its first half is the line's left one, `fits` how much
    its place alone says for a tile (nats)."""

    piece: Piece
    left: bool
    fits: float
    crosswise: bool = False


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
        self._line: dict[int, _Laid] = {}
        self._seen: dict[int, _Found] = {}
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
            laid += _next_places(self._line[n], self._line.get(n + inner))
        for piece in self._shown:
            laid += _neighbours(piece)
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
        facts |= self._hand_facts(left_out)
        if self._yard:
            backs = [p for p in yard if p.facts["kind"].best == "domino" and self._sized(p, HAND_SIZE_SHARE)]
            image = as_bgr(frame.bgr)
            self._count = None if image is None else count(image, camera, self._yard, backs, self._tile_mm)
            facts["count:boneyard"] = self._counted()
        troubles = tuple(t for t in reading.troubles if t != "vision.no_dominoes")
        corners = board_corners_px(self._profile, camera)
        return replace(reading, facts=facts, troubles=troubles, board_px=corners)

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
                gone = GONE_SURELY if self._ground.clearly_other(found.piece.xy) else GONE
                self._line[n] = _Laid(found.piece.xy, angle, length(found.piece), look[f"line:{n}"], gone)

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with every tile's outline and its numbers."""
        return self._tiles.draw(image, reading)

    def _line_facts(self, faces: Sequence[Piece], faceless: Sequence[Piece]) -> tuple[dict[str, Fact], set[int]]:
        """The facts of all places of the line, and which of the tiles with faces are its tiles. Those without pips
        count only where the line was or goes on."""
        facts = {f"line:{n}": _BARE for n in range(-REACH, REACH + 1)}
        found: dict[int, _Found] = {}
        missing: dict[int, _Laid] = {}
        used: set[int] = set()
        pieces = [*faces, *faceless]
        for n, laid in self._line.items():
            at = _nearest(pieces, laid, used)
            if at is None:
                missing[n] = laid
                continue
            used.add(at)
            piece = pieces[at]
            found[n] = _Found(piece, math.cos(math.radians(piece.angle_deg - laid.angle_deg)) > 0, WAS_THERE)
        loose = [i for i, p in enumerate(faces) if i not in used and self._zone(p) is None]
        if (
            len(missing) > max(1, len(loose))
            and not found
            and self._cleared(missing.values(), [faces[i] for i in loose])
        ):
            # For a new round, of which the first tile may lie already.
            facts |= {f"line:{n}": Fact((laid.value, "-"), (-laid.gone, 0.0)) for n, laid in missing.items()}
            missing = {}
        if not missing and not found:
            first = self._first(faces)
            if first is not None:
                found[0] = _Found(pieces[first], math.cos(math.radians(pieces[first].angle_deg)) >= -1e-3, 0.0)
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

    def _cleared(self, line: Collection[_Laid], loose: Sequence[Piece]) -> bool:
        """Whether the table is seen bare wherever a tile of the line lay, or another tile over it."""
        return all(self._ground.bare(t.xy) or any(math.dist(p.xy, t.xy) < t.length for p in loose) for t in line)

    def _first(self, pieces: Sequence[Piece]) -> int | None:
        """The tile that opens a line: the one nearest to the table's middle that lies in nobody's strip."""
        free = [(math.hypot(*p.xy), i) for i, p in enumerate(pieces) if self._zone(p) is None]
        return min(free)[1] if free else None

    def _grow(self, pieces: Sequence[Piece], found: dict[int, _Found], used: set[int]) -> None:
        """Adds tiles that touch the line's open ends, again and again."""
        while True:
            best: tuple[float, int, int, _Found] | None = None
            for right in (True, False):
                n = max(found) if right else min(found)
                inner = found.get(n - 1 if right else n + 1)
                for i, piece in enumerate(pieces):
                    if i in used:
                        continue
                    joined = _joined(found[n], inner, piece, right)
                    if joined is not None and (best is None or joined[0] < best[0]):
                        best = (joined[0], i, n + 1 if right else n - 1, joined[1])
            if best is None:
                return
            _, i, n, tile = best
            used.add(i)
            found[n] = tile

    def _missing(self, laid: _Laid, loose: bool) -> Fact:
        """A tile of the line is not seen at its place: pushed aside when another lies loose, gone when the bare ground
        is seen there, else something covers it."""
        values = (laid.value, "-")
        if loose:
            return Fact(values, (0.0, 0.0), hidden=True, reason="askew")
        if self._ground.bare(laid.xy):
            return Fact(values, (-laid.gone, 0.0))
        return Fact(values, (0.0, 0.0), hidden=True, reason="hand")

    def _hand_facts(self, left_out: Collection[str | None]) -> dict[str, Fact]:
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
            facts[f"hand:{name}"] = fact
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


def _nearest(pieces: Sequence[Piece], laid: _Laid, used: set[int]) -> int | None:
    near = [
        (math.dist(p.xy, laid.xy), i)
        for i, p in enumerate(pieces)
        if i not in used and abs((p.angle_deg - laid.angle_deg + 90) % 180 - 90) < SAME_TURN_DEG
    ]
    return min(near)[1] if near and min(near)[0] < SAME_PLACE * laid.length else None


def _next_places(end: _Laid, inner: _Laid | None) -> list[_Laid]:
    """Where the next tile may lie at an end: straight on, crosswise, or to either side."""
    way = math.radians(end.angle_deg)
    along = np.array([math.cos(way), math.sin(way)])
    across = np.array([-along[1], along[0]])
    outs: list[tuple[Points, Points, float]] = []
    if inner is None:
        outs = [(s * v, w, half) for v, w, half in ((along, across, 0.5), (across, along, 0.25)) for s in (1.0, -1.0)]
    else:
        off = np.array(end.xy) - np.array(inner.xy)
        lengthwise = abs(float(off @ along)) >= abs(float(off @ across))
        v, w, half = (along, across, 0.5) if lengthwise else (across, along, 0.25)
        outs = [(v if float(off @ v) > 0 else -v, w, half)]
    places = []
    for out, side, half in outs:
        edge = np.array(end.xy) + out * half * end.length
        places += [(edge + out * end.length / 2, out), (edge + out * end.length / 4, side)]
        if half == 0.5:
            inside = edge - out * end.length / 4
            places += [(inside + s * side * end.length * 0.75, side) for s in (1.0, -1.0)]
    return [
        _Laid((float(xy[0]), float(xy[1])), math.degrees(math.atan2(axis[1], axis[0])), end.length)
        for xy, axis in places
    ]


def _neighbours(piece: Piece) -> list[_Laid]:
    """A tile of a shown hand, and where others may lie beside it."""
    way, long = math.radians(piece.angle_deg + 90.0), length(piece)
    steps = (0.0, BESIDE * long, -BESIDE * long)
    x, y = piece.xy
    return [_Laid((x + s * math.cos(way), y + s * math.sin(way)), piece.angle_deg, long) for s in steps]


def _joined(end: _Found, inner: _Found | None, piece: Piece, right: bool) -> tuple[float, _Found] | None:
    """The gap (share of a tile's length) and how a tile would continue the line at an end; None where it does not
    touch an open side of it."""
    reach = (length(end.piece) + length(piece)) / 2
    if math.dist(end.piece.xy, piece.xy) > 1.25 * reach:
        return None
    double = end.piece.facts["left"].best == end.piece.facts["right"].best
    outer = "right" if end.left == right else "left"
    ways = []
    for side, point in contacts(end.piece):
        if inner is None:
            pass
        elif not double:
            if side != outer:
                continue
        elif float(np.linalg.norm(point - np.array(inner.piece.xy))) < math.dist(end.piece.xy, inner.piece.xy) - 1:
            continue
        for other, touch in contacts(piece):
            if side == other == "middle":
                continue
            gap = float(np.linalg.norm(point - touch)) / reach
            if gap < JOINT:
                ways.append((gap, side, other))
    if not ways:
        return None
    gap, side, other = min(ways)
    if inner is None:  # the only tile so far: which end is meant follows from the side that is touched
        ahead = _ahead(end, side, piece)
        if ahead != right:
            return None
    if other == "middle":
        return gap, _Found(piece, True, TOUCHES, crosswise=True)
    # The inner half is towards the line: its left half on the right side.
    return gap, _Found(piece, (other == "left") == right, TOUCHES)


def _ahead(end: _Found, side: str, piece: Piece) -> bool:
    """Whether a tile that touches the only one lies at its right end."""
    double = end.piece.facts["left"].best == end.piece.facts["right"].best
    if side == "middle" or double:
        return piece.xy[0] >= end.piece.xy[0]
    return (side == "right") == end.left


def _value(tile: _Found) -> Fact:
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
    shown = [_value(_Found(p, True, 0.0)) for p in tiles]
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
