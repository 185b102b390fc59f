"""A simulated dice tray (or bare table): dice of many makes at rest, cocked dice, strangers, a hand; with its truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np

from devices.contract import Image
from devices.simulated.materials import (
    PipInk,
    colour,
    covered,
    die_paint,
    laid,
    marbled,
    plain,
    solid_colour,
    texture,
)
from devices.simulated.solids import Camera, Floats, Light, Paint, Scene, Solid, develop, look_at, render

FACES = (3, 4, 2, 5, 1, 6)
"""Values on +x -x +y -y +z -z: opposite sides make seven."""


@dataclass(frozen=True, slots=True, eq=False)
class Die:
    """One die and its truth: `value` is None when it is cocked; `tilt_deg` how far its upper face is from level."""

    solid: Solid
    value: int | None
    tilt_deg: float
    edge_mm: float

    @property
    def cocked(self) -> bool:
        """True when it leans."""
        return self.value is None


@dataclass(frozen=True, slots=True, eq=False)
class TrayTruth:
    """What lies there: per die its value (None when cocked), its outline's box in px and its centre on the table."""

    values: tuple[int | None, ...]
    boxes_px: Floats
    centres_mm: Floats
    up_px: Floats
    """Per die the projection of its upright edge, from its base to its top, in units of the box's mean side."""
    floor_mm: Floats
    floor_px: Floats
    """The corners of the tray's floor (4, 2), in mm and in px (also where the rim hides them); none without a tray."""
    rim_mm: float
    """How high the tray's rim stands above its floor."""


@dataclass(frozen=True, slots=True)
class TrayOptions:
    """What may happen in a random scene: how many dice, shares of cocked dice, trays, strangers and hands, the range
    of the camera's tilt and of the picture's quality."""

    dice: tuple[int, int] = (1, 8)
    cocked: float = 0.12
    tray: float = 0.5
    strangers: float = 0.5
    hand: float = 0.05
    tilt_deg: tuple[float, float] = (0.0, 40.0)
    die_px: tuple[float, float] = (20.0, 60.0)
    blur_px: tuple[float, float] = (0.2, 1.1)
    noise: tuple[float, float] = (0.0, 8.0)
    harsh: float = 0.4
    size_px: tuple[int, int] = (384, 384)


@dataclass(frozen=True, slots=True, eq=False)
class DieMake:
    """How one kind of die is made: ball that rounds it, its paint, and the values on +x -x +y -y +z -z."""

    ball_mm: float
    paint: Paint
    faces: tuple[int, int, int, int, int, int]


@dataclass(slots=True, eq=False)
class _Build:
    solids: list[Solid] = field(default_factory=list)
    dice: list[Die] = field(default_factory=list)
    feet: list[tuple[tuple[float, float], tuple[float, float], float]] = field(default_factory=list)
    floor: list[tuple[float, float, float]] = field(default_factory=list)
    rim_mm: float = 0.0


def upright(face: int, yaw_deg: float, tilt_deg: float = 0.0, about_deg: float = 0.0) -> Floats:
    """Rotation that brings `face` (0..5) up, turned by `yaw_deg`, then tilted about the level axis at `about_deg`."""
    axis, sign = face // 2, 1.0 if face % 2 == 0 else -1.0
    up = np.eye(3)[axis] * sign
    side = np.eye(3)[(axis + 1) % 3]
    base = np.stack([side, np.cross(up, side), up])
    a, t, k = np.radians(yaw_deg), np.radians(tilt_deg), np.radians(about_deg)
    yaw = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    n = np.array([np.cos(k), np.sin(k), 0.0])
    cross = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    lean = np.eye(3) + np.sin(t) * cross + (1 - np.cos(t)) * cross @ cross
    return np.asarray(lean @ yaw @ base, np.float32)


def make_die(rng: np.random.Generator, edge_mm: float) -> DieMake:
    """A random make of die for an edge length."""
    half = edge_mm / 2
    kind = rng.uniform()
    if kind < 0.35:
        body = colour(rng, (0.0, 0.2), (0.8, 1.0))
    elif kind < 0.5:
        body = colour(rng, (0.0, 0.5), (0.08, 0.3))
    else:
        body = colour(rng, (0.5, 1.0), (0.35, 1.0))
    for _ in range(30):
        ink = colour(rng, (0.0, 0.15), (0.85, 1.0)) if rng.uniform() < 0.45 else colour(rng, (0.0, 1.0), (0.02, 0.15))
        if rng.uniform() < 0.25:
            ink = colour(rng, (0.5, 1.0), (0.4, 1.0))
        apart = np.abs(np.sqrt(ink) - np.sqrt(body))
        if apart.max() > 0.3:
            break
    at = solid_colour(body)
    if rng.uniform() < 0.25:
        other = body * np.float32(rng.uniform(0.4, 1.3)) if rng.uniform() < 0.5 else colour(rng, (0.2, 1.0), (0.1, 0.7))
        if np.abs(np.sqrt(ink) - np.sqrt(other)).max() > 0.3:
            at = marbled(rng, body, np.asarray(other, np.float32), edge_mm * float(rng.uniform(1, 5)))
    pips = PipInk(
        ink,
        half * float(rng.uniform(0.15, 0.25)),
        half * float(rng.uniform(0.46, 0.6)),
        float(rng.choice([0.0, 0.5, 1.0])),
    )
    faces = FACES if rng.uniform() < 0.5 else (4, 3, 2, 5, 1, 6)
    flips = tuple(int(v) for v in rng.integers(0, 2, 6))
    paint = die_paint(
        at, pips, faces, flips, float(rng.choice([0.0, 0.3, 0.7, 0.9])), float(rng.choice([1.0, 1.0, 1.5]))
    )
    return DieMake(half * float(rng.uniform(1.33, 1.72)), paint, faces)


def lights(rng: np.random.Generator, harsh: bool) -> tuple[list[Light], Floats]:
    """Random room light: one lamp or a bundle (a window, a soft sky), and the ambient share."""
    tint = 1 + 0.15 * rng.uniform(-1, 1) * np.array([1, 0, -1], np.float32)
    azimuth, height = rng.uniform(0, 360), rng.uniform(25, 75) if harsh else rng.uniform(45, 88)
    spread = rng.uniform(0.02, 0.08) if harsh else rng.uniform(0.15, 0.5)
    a, e = np.radians(azimuth), np.radians(height)
    middle = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    count = 3 if harsh else 4
    shine = float(rng.choice([0.0, 0.5, 2.0, 6.0]))
    strength = rng.uniform(0.5, 0.9)
    out = []
    for _ in range(count):
        d = middle + rng.normal(0, spread, 3)
        d[2] = max(d[2], 0.25)
        out.append(_light(d, tint * strength / count, shine))
    sky = rng.uniform(0.1, 0.35) if harsh else rng.uniform(0.3, 0.6)
    for k in range(3):
        d = np.array([np.cos(k * 2.1 + a), np.sin(k * 2.1 + a), 1.3])
        out.append(_light(d, np.ones(3) * sky / 3, 0.0))
    return out, np.full(3, rng.uniform(0.08, 0.3), np.float32)


def _light(towards: np.ndarray, tint: np.ndarray, shine: float) -> Light:
    unit = towards / np.linalg.norm(towards)
    return Light(np.asarray(unit, np.float32), np.asarray(tint, np.float32), shine)


def tray_scene(rng: np.random.Generator, options: TrayOptions = TrayOptions()) -> tuple[Image, TrayTruth]:
    """A random picture of dice and its truth."""
    edge = 16.0
    width, height = options.size_px
    die_px = float(np.exp(rng.uniform(*np.log(options.die_px))))
    mm_a_px = edge * 1.35 / die_px
    reach = min(width, height) * mm_a_px / 2 * 0.92
    build = _Build()
    floor = 0.0
    ground = laid(texture(rng), float(rng.uniform(0.2, 1.2)), float(rng.uniform(0, 360)))
    rim = None
    if rng.uniform() < options.tray:
        rim, floor = _tray(rng, build, reach)
    _dice(rng, build, options, edge, reach if rim is None else rim, floor, rim is not None)
    if rng.uniform() < options.strangers:
        _strangers(rng, build, edge, reach)
    if rng.uniform() < options.hand:
        _hand(rng, build, reach)
    tilt = rng.uniform(*options.tilt_deg)
    distance = width * mm_a_px * float(rng.uniform(1.0, 2.2))
    turn, move = look_at(
        (float(rng.normal(0, 5)), float(rng.normal(0, 5))), distance, tilt, rng.uniform(0, 360), rng.uniform(0, 360)
    )
    camera = Camera(width, height, distance / mm_a_px, ((width - 1) / 2, (height - 1) / 2), turn, move)
    harsh = bool(rng.uniform() < options.harsh)
    lamps, ambient = lights(rng, harsh)
    linear = render(Scene(build.solids, lamps, ground, ambient), camera)
    gains = tuple(float(v) for v in 1 + rng.uniform(-0.15, 0.15, 3))
    exposure = float(np.exp(rng.uniform(np.log(0.35), np.log(1.7))))
    if rng.uniform() < 0.1:
        exposure *= 0.15
    image = develop(
        linear,
        rng,
        exposure,
        (gains[0], gains[1], gains[2]),
        rng.uniform(*options.blur_px),
        rng.uniform(*options.noise),
    )
    return image, _truth(build, camera)


def _truth(build: _Build, camera: Camera) -> TrayTruth:
    boxes, ups, centres = [], [], []
    dice = build.dice
    for die in dice:
        p = camera.project(_outline(die.solid))
        boxes.append(np.concatenate([p.min(axis=0), p.max(axis=0)]))
        foot = die.solid.centre_mm + np.array([0, 0, -die.edge_mm / 2], np.float32)
        if die.cocked:
            axis = np.abs(die.solid.rotation[2]).argmax()
            lean = die.solid.rotation[:, axis] * np.sign(die.solid.rotation[2, axis]) * die.edge_mm / 2
            foot, head = die.solid.centre_mm - lean, die.solid.centre_mm + lean
        else:
            head = die.solid.centre_mm + np.array([0, 0, die.edge_mm / 2], np.float32)
        ends = camera.project(np.stack([foot, head]))
        ups.append((ends[1] - ends[0]) / ((boxes[-1][2:] - boxes[-1][:2]).mean() + 1e-6))
        centres.append(die.solid.centre_mm)
    n = len(dice)
    return TrayTruth(
        tuple(d.value for d in dice),
        np.asarray(boxes, np.float32).reshape(n, 4),
        np.asarray(centres, np.float32).reshape(n, 3),
        np.asarray(ups, np.float32).reshape(n, 2),
        np.array(build.floor, np.float32).reshape(-1, 3)[:, :2],
        camera.project(np.array(build.floor, np.float32).reshape(-1, 3)),
        build.rim_mm,
    )


def _outline(solid: Solid) -> Floats:
    """Points on the rounded body's edges, for its box in the picture."""
    t = np.linspace(-1, 1, 9)
    points = [np.roll([a, b, c], k) for k in range(3) for a in t for b in (-1, 1) for c in (-1, 1)]
    local = np.array(points, np.float32) * np.array(solid.half_mm, np.float32)
    length = np.linalg.norm(local, axis=1, keepdims=True)
    local = local * np.minimum(1.0, solid.ball_mm / length)
    return np.asarray(local @ solid.rotation.T + solid.centre_mm, np.float32)


def _tray(rng: np.random.Generator, build: _Build, reach: float) -> tuple[float, float]:
    """Puts a tray down; returns half its inner width and the height of its floor."""
    half = reach * float(rng.uniform(0.5, 0.95))
    floor, wall, tall = 2.0, float(rng.uniform(3, 12)), float(rng.uniform(8, 25))
    build.floor += [(x * half, y * half, floor) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    build.rim_mm = tall - floor
    cloth = covered(laid(texture(rng), float(rng.uniform(0.1, 0.6)), float(rng.uniform(0, 360))))
    eye = np.eye(3, dtype=np.float32)
    build.solids.append(Solid((half, half, 1.0), eye, np.array([0, 0, 1.0], np.float32), cloth))
    wood = covered(laid(texture(rng), 0.5)) if rng.uniform() < 0.6 else plain(colour(rng, (0, 0.6), (0.05, 0.9)), 0.4)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        size = (wall / 2 if x else half + wall, wall / 2 if y else half + wall, tall / 2)
        centre = np.array([x * (half + wall / 2), y * (half + wall / 2), tall / 2], np.float32)
        build.solids.append(Solid(size, eye, centre, wood))
    return half, floor


def _dice(
    rng: np.random.Generator, build: _Build, options: TrayOptions, edge: float, reach: float, floor: float, rim: bool
) -> None:
    one_make = rng.uniform() < 0.4
    make = make_die(rng, edge)
    for _ in range(int(rng.integers(options.dice[0], options.dice[1] + 1))):
        size = edge * (float(rng.uniform(0.75, 1.3)) if rng.uniform() < 0.2 else 1.0)
        if not one_make or size != edge:
            make = make_die(rng, size)
        face, yaw = int(rng.integers(0, 6)), float(rng.uniform(0, 360))
        if rng.uniform() < options.cocked and (rim or build.dice):
            _lean(rng, build, make, face, size, reach, floor, rim)
            continue
        spot = _free(rng, build, size, yaw, reach)
        if spot is not None:
            _put(build, make, upright(face, yaw), size, spot, floor + size / 2, make.faces[face], 0.0)
            build.feet.append((spot, (size, size), yaw))


def _put(
    build: _Build,
    make: DieMake,
    rotation: Floats,
    size: float,
    spot: tuple[float, float],
    height: float,
    value: int | None,
    tilt_deg: float,
) -> None:
    centre = np.array([spot[0], spot[1], height], np.float32)
    solid = Solid((size / 2,) * 3, rotation, centre, make.paint, make.ball_mm)
    build.dice.append(Die(solid, value, tilt_deg, size))
    build.solids.append(solid)


def _free(rng: np.random.Generator, build: _Build, size: float, yaw: float, reach: float) -> tuple[float, float] | None:
    """A free place inside the reach: often touching an earlier die or the rim, else anywhere."""
    limit = reach - size * 0.5 * (abs(np.cos(np.radians(yaw))) + abs(np.sin(np.radians(yaw))))
    for _ in range(40):
        x, y = (float(v) for v in rng.uniform(-limit, limit, 2))
        if build.dice and rng.uniform() < 0.4:
            beside = build.dice[int(rng.integers(len(build.dice)))].solid.centre_mm
            away = rng.uniform(0, 2 * np.pi)
            for step in np.arange(0.8, 1.7, 0.02):
                x, y = (float(beside[0] + size * step * np.cos(away)), float(beside[1] + size * step * np.sin(away)))
                if not _overlaps(build, (x, y), size, yaw):
                    break
        elif rng.uniform() < 0.2:
            x = limit * float(rng.choice([-1, 1]))
        if max(abs(x), abs(y)) <= limit and not _overlaps(build, (x, y), size, yaw):
            return x, y
    return None


def _overlaps(build: _Build, spot: tuple[float, float], size: float, yaw: float) -> bool:
    me = (spot, (size, size), yaw)
    return any(cv2.rotatedRectangleIntersection(me, other)[0] != cv2.INTERSECT_NONE for other in build.feet)


def _lean(
    rng: np.random.Generator,
    build: _Build,
    make: DieMake,
    face: int,
    size: float,
    reach: float,
    floor: float,
    rim: bool,
) -> None:
    """A die that leans on the rim or on an earlier die: foot on the floor, one side raised."""
    tilt = float(rng.uniform(17, 42))
    side = float(rng.uniform(0, 360))
    if rim and (not build.dice or rng.uniform() < 0.7):
        side = 90.0 * float(rng.integers(0, 4))
        out = reach - size * float(rng.uniform(0.2, 0.72))
        along = float(rng.uniform(-0.8, 0.8)) * reach
        c, s = np.cos(np.radians(side)), np.sin(np.radians(side))
        spot = (float(c * out - s * along), float(s * out + c * along))
    else:
        beside = build.dice[int(rng.integers(len(build.dice)))].solid.centre_mm
        gap = size * float(rng.uniform(0.85, 1.1))
        spot = (
            float(beside[0] - gap * np.cos(np.radians(side))),
            float(beside[1] - gap * np.sin(np.radians(side))),
        )
    about = side + 90.0 * float(rng.choice([-1, 1])) + float(rng.normal(0, 8))
    yaw = about + (float(rng.normal(0, 5)) if rng.uniform() < 0.6 else float(rng.uniform(0, 90)))
    rotation = upright(face, yaw, tilt, about)
    lift = min(float(np.abs(rotation[2]).sum()) * size / 2, make.ball_mm) + float(rng.uniform(0, 4)) * (
        rng.uniform() < 0.5
    )
    if not _overlaps(build, spot, size * 0.6, yaw):
        _put(build, make, rotation, size, spot, floor + lift, None, tilt)
        build.feet.append((spot, (size, size), yaw))


def _strangers(rng: np.random.Generator, build: _Build, edge: float, reach: float) -> None:
    """Things that are no dice: coins, pens, books, bare cubes, small figures."""
    for _ in range(int(rng.integers(1, 5))):
        spot = rng.uniform(-reach, reach, 2)
        yaw = float(rng.uniform(0, 360))
        kind = rng.integers(0, 5)
        skin = plain(colour(rng, (0, 0.8), (0.05, 1.0)), float(rng.choice([0, 0.5])))
        if rng.uniform() < 0.3:
            skin = covered(laid(texture(rng, 128), float(rng.uniform(0.1, 0.6))), 0.2)
        size, ball = {
            0: ((edge * 0.7, edge * 0.7, 1.0), edge * float(rng.uniform(0.4, 0.7))),
            1: ((edge * float(rng.uniform(2, 5)), edge * 0.25, edge * 0.25), np.inf),
            2: ((edge * float(rng.uniform(1, 3)), edge * float(rng.uniform(1, 3)), 2.0), np.inf),
            3: ((edge * 0.5,) * 3, edge * float(rng.uniform(0.68, 0.88))),
            4: ((edge * 0.4, edge * 0.4, edge * 1.0), edge * 0.9),
        }[int(kind)]
        if _overlaps(build, (float(spot[0]), float(spot[1])), 2 * float(size[0]), yaw):
            continue
        centre = np.array([spot[0], spot[1], size[2] + 0.2 + 2.0], np.float32)
        build.solids.append(Solid(size, upright(4, yaw), centre, skin, float(ball)))


def _hand(rng: np.random.Generator, build: _Build, reach: float) -> None:
    """A forearm and fingers from one side, some way above the table."""
    away = float(rng.uniform(0, 360))
    skin = plain(np.array([0.25, 0.4, 0.75], np.float32) * np.float32(rng.uniform(0.3, 1.1)), 0.1)
    c, s = np.cos(np.radians(away)), np.sin(np.radians(away))
    start = reach * float(rng.uniform(0.3, 1.2))
    for k in range(-2, 3):
        middle = start + reach + float(rng.uniform(0, 10))
        centre = np.array([c * middle - s * k * 17, s * middle + c * k * 17, 45 + rng.uniform(-8, 8)], np.float32)
        build.solids.append(Solid((reach, 8, 8), upright(4, away + float(rng.normal(0, 4))), centre, skin, reach * 1.0))
