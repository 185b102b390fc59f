"""A simulated domino table: a line with bends and crosswise doubles, or scattered tiles; with its truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from devices.contract import Image
from devices.simulated.materials import PIPS, PipInk, colour, laid, marbled, plain, solid_colour, texture
from devices.simulated.solids import Camera, Floats, Ints, Paint, Scene, Solid, develop, look_at, render
from devices.simulated.tray import lights, upright

LONG_MM, SHORT_MM, THICK_MM = 48.0, 24.0, 8.0
UP = 4


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: `halves` (the first towards its local -x), None where it lies face down; centre and direction of its
    long axis (from the first to the second half, counter-clockwise from +x)."""

    halves: tuple[int, int] | None
    centre_mm: tuple[float, float]
    angle_deg: float


@dataclass(frozen=True, slots=True, eq=False)
class DominoTruth:
    """Tiles, their upper faces' corners in px (n, 4, 2: left and right of the first half's end, then of the second's,
    going round), and the line: indices in order from its start (empty when nothing lies in line)."""

    tiles: tuple[Tile, ...]
    corners_px: Floats
    line: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TileMake:
    """How one set of tiles is made; `ink` per value, lengths in mm."""

    body: Callable[[Floats], Floats]
    back: Floats
    ink: tuple[Floats, ...]
    bar: Floats
    radius_mm: float
    pitch_mm: tuple[float, float]
    hollow: float
    bar_mm: tuple[float, float]
    spinner: Floats | None
    gloss: float
    round_mm: float
    six_across: bool


@dataclass(frozen=True, slots=True)
class DominoOptions:
    """What may happen in a random scene."""

    tiles: tuple[int, int] = (1, 12)
    line: float = 0.6
    face_down: float = 0.08
    strangers: float = 0.4
    tilt_deg: tuple[float, float] = (0.0, 35.0)
    tile_px: tuple[float, float] = (45.0, 110.0)
    blur_px: tuple[float, float] = (0.2, 1.2)
    noise: tuple[float, float] = (0.0, 8.0)
    harsh: float = 0.4
    size_px: tuple[int, int] = (384, 384)


@dataclass(slots=True, eq=False)
class _Lay:
    tiles: list[Tile] = field(default_factory=list)
    line: list[int] = field(default_factory=list)

    def free(self, tile: Tile, reach: float, slack: float = 0.97) -> bool:
        x, y = tile.centre_mm
        if max(abs(x), abs(y)) > reach:
            return False
        mine = (tile.centre_mm, (LONG_MM * slack, SHORT_MM * slack), tile.angle_deg)
        for other in self.tiles:
            theirs = (other.centre_mm, (LONG_MM * slack, SHORT_MM * slack), other.angle_deg)
            if cv2.rotatedRectangleIntersection(mine, theirs)[0] != cv2.INTERSECT_NONE:
                return False
        return True


def make_tiles(rng: np.random.Generator) -> TileMake:
    """A random make of tiles: ivory, white, black, coloured or wooden, with painted or hollow pips."""
    kind = rng.uniform()
    if kind < 0.6:
        base = np.array([0.55, 0.75, 0.85], np.float32) ** np.float32(rng.uniform(0.2, 1.3))
    elif kind < 0.8:
        base = colour(rng, (0.0, 0.4), (0.08, 0.3))
    else:
        base = colour(rng, (0.2, 0.9), (0.35, 1.0))
    dark_body = float(base.mean()) < 0.15
    first = _ink(rng, base, dark_body)
    inks = tuple(_ink(rng, base, dark_body, True) for _ in range(7)) if rng.uniform() < 0.45 else (first,) * 7
    body = solid_colour(base)
    if rng.uniform() < 0.2:
        body = marbled(
            rng, base, np.asarray(base * np.float32(rng.uniform(0.7, 0.95)), np.float32), float(rng.uniform(10, 60))
        )
    return TileMake(
        body=body,
        back=base if rng.uniform() < 0.6 else colour(rng, (0, 0.8), (0.05, 0.9)),
        ink=inks,
        bar=first if rng.uniform() < 0.7 else np.asarray(base * np.float32(0.25), np.float32),
        radius_mm=float(rng.uniform(1.5, 2.6)),
        pitch_mm=(float(rng.uniform(5.5, 7.6)), float(rng.uniform(5.5, 7.6))),
        hollow=float(rng.choice([0.0, 0.5, 1.0, 1.4])),
        bar_mm=(float(rng.uniform(0.3, 1.5)), float(rng.uniform(7.5, 12.0))),
        spinner=np.array([0.2, 0.5, 0.7], np.float32) if rng.uniform() < 0.3 else None,
        gloss=float(rng.choice([0.0, 0.4, 0.8])),
        round_mm=float(rng.choice([0.0, 1.0, 2.5, 4.0])),
        six_across=bool(rng.uniform() < 0.15),
    )


def _ink(rng: np.random.Generator, base: Floats, dark_body: bool, hue: bool = False) -> Floats:
    for _ in range(40):
        if hue and rng.uniform() < 0.8:
            ink = colour(rng, (0.3, 1.0), (0.15, 0.95))
        else:
            ink = colour(rng, (0, 0.2), (0.8, 1.0)) if dark_body else colour(rng, (0, 0.6), (0.01, 0.15))
        if np.abs(np.sqrt(ink) - np.sqrt(base)).max() > 0.28:
            break
    return ink


def tile_paint(make: TileMake, halves: tuple[int, int] | None) -> Paint:
    """The paint of a tile: pips and bar on its +z face; a face-down tile (None) shows its back there."""

    def paint(p: Floats, face: Ints) -> tuple[Floats, Floats, Floats]:
        albedo, dent = make.body(p).copy(), np.zeros_like(p)
        gloss = np.full(len(p), make.gloss, np.float32)
        top = np.flatnonzero(face == UP)
        if halves is None:
            albedo[top] = make.back
            return albedo, dent, gloss
        x, y = np.abs(p[top, 0]), np.abs(p[top, 1])
        albedo[top[(x < make.bar_mm[0]) & (y < make.bar_mm[1])]] = make.bar
        if make.spinner is not None:
            albedo[top[p[top, 0] ** 2 + p[top, 1] ** 2 < 2.2]] = make.spinner
        for value, middle in zip(halves, (-LONG_MM / 4, LONG_MM / 4), strict=True):
            spots = np.array(PIPS[value], np.float32).reshape(-1, 2)
            if value != 6 or not make.six_across:
                spots = spots[:, ::-1]
            spots = spots * np.array(make.pitch_mm, np.float32) + np.array([middle, 0], np.float32)
            ink = PipInk(make.ink[value], make.radius_mm, make.pitch_mm[0], make.hollow)
            ink.mark(albedo, dent, p, top, 0, 1, spots)
        return albedo, dent, gloss

    return paint


def tile_solid(
    make: TileMake, halves: tuple[int, int] | None, centre_mm: tuple[float, float], angle_deg: float
) -> Solid:
    """A tile lying on the table, its long axis (from the first to the second half) at this angle."""
    half = (LONG_MM / 2, SHORT_MM / 2, THICK_MM / 2)
    centre = np.array([*centre_mm, THICK_MM / 2], np.float32)
    return Solid(half, upright(UP, angle_deg), centre, tile_paint(make, halves), round_mm=make.round_mm)


def lay_line(rng: np.random.Generator, count: int, reach: float) -> _Lay:
    """A legal line of up to `count` tiles of one set: joined numbers match, doubles mostly crosswise, a few bends."""
    lay = _Lay()
    stock = [(a, b) for a in range(7) for b in range(a, 7)]
    rng.shuffle(stock)
    heading = float(rng.uniform(0, 360))
    at = np.array([-np.cos(np.radians(heading)), -np.sin(np.radians(heading))]) * reach * 0.8
    at = at + rng.normal(0, reach * 0.1, 2)
    end = int(rng.integers(0, 7))
    for _ in range(count):
        fits = [t for t in stock if end in t]
        if not fits:
            break
        doubles = [t for t in fits if t[0] == t[1]]
        a, b = doubles[0] if doubles and rng.uniform() < 0.6 else fits[0]
        halves = (a, b) if a == end else (b, a)
        turn = float(rng.choice([-90, 90])) if lay.tiles and rng.uniform() < 0.15 else 0.0
        for bend in (turn, 90.0, -90.0):
            cross = a == b and rng.uniform() < 0.9
            way = np.radians(heading + bend)
            d = np.array([np.cos(way), np.sin(way)])
            origin = at
            if bend != 0.0:
                back = np.array([np.cos(np.radians(heading)), np.sin(np.radians(heading))])
                origin = at - back * SHORT_MM / 2 + d * SHORT_MM / 2
                last = lay.tiles[-1] if lay.tiles else None
                if last is not None and abs((last.angle_deg - heading) % 180 - 90) < 45:
                    origin = at - back * SHORT_MM / 2 + d * LONG_MM / 2
            length = SHORT_MM if cross else LONG_MM
            gap = float(rng.uniform(0.1, 1.2))
            middle = origin + d * (length / 2 + gap)
            angle = heading + bend + (90 if cross else 0)
            slip = rng.normal(0, 0.4, 2)
            tile = Tile(
                halves, (float(middle[0] + slip[0]), float(middle[1] + slip[1])), angle + float(rng.normal(0, 0.9))
            )
            if lay.free(tile, reach, 0.95):
                heading += bend
                at = origin + d * (length + gap)
                lay.line.append(len(lay.tiles))
                lay.tiles.append(tile)
                stock.remove((a, b))
                end = halves[1]
                break
        else:
            break

    return lay


def scatter(rng: np.random.Generator, count: int, reach: float, face_down: float, lay: _Lay) -> None:
    """Adds up to `count` tiles at random, some touching an earlier one, some face down."""
    for _ in range(count):
        halves = None if rng.uniform() < face_down else (int(rng.integers(0, 7)), int(rng.integers(0, 7)))
        for _ in range(15):
            angle = float(rng.uniform(0, 360))
            x, y = (float(v) for v in rng.uniform(-reach, reach, 2))
            if lay.tiles and rng.uniform() < 0.5:
                near = lay.tiles[int(rng.integers(len(lay.tiles)))]
                angle = near.angle_deg + float(rng.choice([0, 90, 180])) + float(rng.normal(0, 2))
                way = rng.uniform(0, 2 * np.pi)
                for step in np.arange(20, 60, 1.0):
                    x, y = (near.centre_mm[0] + step * np.cos(way), near.centre_mm[1] + step * np.sin(way))
                    if lay.free(Tile(halves, (x, y), angle), reach, 1.0):
                        break
            tile = Tile(halves, (float(x), float(y)), angle)
            if lay.free(tile, reach, 1.0):
                lay.tiles.append(tile)
                break


def domino_scene(rng: np.random.Generator, options: DominoOptions = DominoOptions()) -> tuple[Image, DominoTruth]:
    """A random picture of dominoes and its truth."""
    width, height = options.size_px
    mm_a_px = LONG_MM / float(np.exp(rng.uniform(*np.log(options.tile_px))))
    reach = min(width, height) * mm_a_px / 2 * 0.86
    count = int(rng.integers(options.tiles[0], options.tiles[1] + 1))
    lay = lay_line(rng, count, reach) if rng.uniform() < options.line else _Lay()
    if not lay.tiles or rng.uniform() < 0.2:
        scatter(rng, count, reach, options.face_down, lay)
    tilt = float(rng.uniform(*options.tilt_deg))
    distance = width * mm_a_px * float(rng.uniform(1.0, 2.2))
    turn, move = look_at((0.0, 0.0), distance, tilt, rng.uniform(0, 360), rng.uniform(0, 360))
    camera = Camera(width, height, distance / mm_a_px, ((width - 1) / 2, (height - 1) / 2), turn, move)
    return _shot(rng, options, lay, camera, reach)


def _shot(
    rng: np.random.Generator, options: DominoOptions, lay: _Lay, camera: Camera, reach: float
) -> tuple[Image, DominoTruth]:
    make = make_tiles(rng)
    solids, corners = [], []
    for tile in lay.tiles:
        solid = tile_solid(make, tile.halves, tile.centre_mm, tile.angle_deg)
        solids.append(solid)
        local = np.array([[-1, -1, 1], [-1, 1, 1], [1, 1, 1], [1, -1, 1]], np.float32)
        local = local * np.array(solid.half_mm, np.float32)
        corners.append(camera.project(local @ solid.rotation.T + solid.centre_mm))
    if rng.uniform() < options.strangers:
        _strangers(rng, solids, lay, reach)
    lamps, ambient = lights(rng, bool(rng.uniform() < options.harsh))
    ground = laid(texture(rng), float(rng.uniform(0.4, 2.0)), float(rng.uniform(0, 360)))
    linear = render(Scene(solids, lamps, ground, ambient), camera)
    gains = tuple(float(v) for v in 1 + rng.uniform(-0.15, 0.15, 3))
    exposure = float(np.exp(rng.uniform(np.log(0.3), np.log(1.6)))) * (0.2 if rng.uniform() < 0.1 else 1.0)
    image = develop(
        linear,
        rng,
        exposure,
        (gains[0], gains[1], gains[2]),
        rng.uniform(*options.blur_px),
        rng.uniform(*options.noise),
    )
    return image, DominoTruth(
        tuple(lay.tiles), np.asarray(corners, np.float32).reshape(len(corners), 4, 2), tuple(lay.line)
    )


def _strangers(rng: np.random.Generator, solids: list[Solid], lay: _Lay, reach: float) -> None:
    """Coins, cards and bars that are no tiles."""
    for _ in range(int(rng.integers(1, 4))):
        x, y = (float(v) for v in rng.uniform(-reach, reach, 2))
        size = (float(rng.uniform(8, 40)), float(rng.uniform(6, 30)), float(rng.uniform(0.5, 4)))
        ball = size[0] if rng.uniform() < 0.4 else float("inf")
        far = max(size[:2]) + LONG_MM / 2
        if all(np.hypot(x - t.centre_mm[0], y - t.centre_mm[1]) > far for t in lay.tiles):
            skin = plain(colour(rng, (0, 0.8), (0.05, 1.0)), 0.4)
            centre = np.array([x, y, size[2]], np.float32)
            solids.append(Solid(size, upright(UP, float(rng.uniform(0, 360))), centre, skin, ball))
