"""Ray-cast pictures of boxes (dice, dominoes, rims) on a table; the optics of the simulated dice tray and domino table.

World frame: millimetres, z up, the table is the plane z = 0. Colours are linear BGR, 0..1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image

Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
Paint = Callable[[Floats, Ints], tuple[Floats, Floats, Floats]]
"""Local points (n, 3) mm and faces (n,) 0..5 = +x -x +y -y +z -z to albedo (n, 3), normal offset (n, 3), gloss (n,)."""

_FAR = np.float32(1e9)


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pin-hole camera: x_cam = rotation @ x_world + translation_mm; pixel (0, 0) is the top-left pixel's centre."""

    width: int
    height: int
    focal_px: float
    centre_px: tuple[float, float]
    rotation: Floats
    translation_mm: Floats

    @property
    def position_mm(self) -> Floats:
        """Where the camera's eye is, shape (3,)."""
        return np.asarray(-self.rotation.T @ self.translation_mm, np.float32)

    def project(self, points_mm: NDArray[np.floating]) -> Floats:
        """Pixels (n, 2) of world points (n, 3)."""
        cam = np.asarray(points_mm, np.float64) @ self.rotation.T.astype(np.float64) + self.translation_mm
        return np.asarray(cam[:, :2] / cam[:, 2:] * self.focal_px + np.array(self.centre_px), np.float32)

    def window(self, x0: float, y0: float, scale: float, width: int, height: int) -> Camera:
        """The camera that sees only the window whose top-left corner is at (x0, y0) px, enlarged by `scale`."""
        cx, cy = ((self.centre_px[0] + 0.5 - x0) * scale - 0.5, (self.centre_px[1] + 0.5 - y0) * scale - 0.5)
        return Camera(width, height, self.focal_px * scale, (cx, cy), self.rotation, self.translation_mm)

    def rays(self) -> Floats:
        """Unit directions in the world, shape (height, width, 3)."""
        u = (np.arange(self.width, dtype=np.float32) - self.centre_px[0]) / self.focal_px
        v = (np.arange(self.height, dtype=np.float32) - self.centre_px[1]) / self.focal_px
        d = np.empty((self.height, self.width, 3), np.float32)
        d[..., 0], d[..., 1], d[..., 2] = u[None, :], v[:, None], 1.0
        d /= np.linalg.norm(d, axis=2, keepdims=True)
        return np.asarray(d @ self.rotation.astype(np.float32), np.float32)


def look_at(
    target_mm: tuple[float, float], distance_mm: float, tilt_deg: float, heading_deg: float, roll_deg: float
) -> tuple[Floats, Floats]:
    """Rotation and translation of a camera that looks at a point of the table from `distance_mm`, tilted from the
    vertical by `tilt_deg` towards `heading_deg`, rolled about its axis by `roll_deg`."""
    tilt, heading = np.radians(tilt_deg), np.radians(heading_deg)
    back = np.array([np.sin(tilt) * np.cos(heading), np.sin(tilt) * np.sin(heading), np.cos(tilt)])
    right = np.array([-np.sin(heading), np.cos(heading), 0.0])
    down = np.cross(-back, right)
    roll = np.radians(roll_deg)
    x = np.cos(roll) * right + np.sin(roll) * down
    y = -np.sin(roll) * right + np.cos(roll) * down
    rotation = np.stack([x, y, -back])
    eye = np.array([target_mm[0], target_mm[1], 0.0]) + distance_mm * back
    return rotation.astype(np.float32), np.asarray(-rotation @ eye, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A box with half edges `half_mm`, its local axes the columns of `rotation`. Where `ball_mm` is finite the box is
    cut with a ball of that radius (rounded dice); where `round_mm` > 0 its vertical edges are rounded (tiles). Where
    `sides` > 0 it is a prism of so many sides about its x axis, side k's normal z turned by k shares of a full turn; to
    its paint the sides are faces 0, 1, ..., then come its ends, +x and -x; `half_mm` then holds half its length and, as
    y and z, the radius of its corners."""

    half_mm: tuple[float, float, float]
    rotation: Floats
    centre_mm: Floats
    paint: Paint
    ball_mm: float = float("inf")
    round_mm: float = 0.0
    sides: int = 0

    def corners_mm(self) -> Floats:
        """Its eight corners in the world, shape (8, 3), bit k of the index set where axis k is positive."""
        signs = np.array([[1 if i >> k & 1 else -1 for k in range(3)] for i in range(8)], np.float32)
        return np.asarray(signs * np.array(self.half_mm, np.float32) @ self.rotation.T + self.centre_mm, np.float32)

    def reach(self, origin: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Distances (n,) at which rays enter and leave; enter >= leave where they miss. `origin` is (3,) or (n, 3)."""
        o, d = self._local(origin, directions)
        inverse = 1.0 / np.where(np.abs(d) < 1e-9, np.float32(1e-9), d)
        half = np.array(self.half_mm, np.float32)
        a, b = (-half - o) * inverse, (half - o) * inverse
        enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
        if np.isfinite(self.ball_mm):
            middle = -(o * d).sum(axis=1)
            rest = np.float32(self.ball_mm**2) - (o * o).sum(axis=1) + middle * middle
            width = np.sqrt(np.maximum(rest, 0.0))
            enter = np.where(rest > 0, np.maximum(enter, middle - width), _FAR)
            leave = np.minimum(leave, middle + width)
        if self.sides:
            normals, apothem = self._prism()
            for normal in normals:
                along = d @ normal
                at = (apothem - o @ normal) / np.where(np.abs(along) < 1e-9, np.float32(1e-9), along)
                enter = np.where(along < 0, np.maximum(enter, at), enter)
                leave = np.where(along > 0, np.minimum(leave, at), leave)
        if self.round_mm > 0:
            p = np.abs(o[:, :2] + enter[:, None] * d[:, :2]) - (half[:2] - self.round_mm)
            cut = (p > 0).all(axis=1) & ((p * p).sum(axis=1) > self.round_mm**2)
            enter = np.where(cut, _FAR, enter)
        return np.asarray(enter, np.float32), np.asarray(leave, np.float32)

    def _local(self, origin: Floats, directions: Floats) -> tuple[Floats, Floats]:
        o = np.atleast_2d(origin - self.centre_mm) @ self.rotation
        return np.asarray(o, np.float32), np.asarray(np.atleast_2d(directions) @ self.rotation, np.float32)

    def _prism(self) -> tuple[Floats, float]:
        """The normals (sides, 3) of a prism's sides and their distance from its axis."""
        turns = 2 * np.pi / self.sides * np.arange(self.sides)
        normals = np.column_stack([np.zeros(self.sides), -np.sin(turns), np.cos(turns)]).astype(np.float32)
        return normals, self.half_mm[1] * float(np.cos(np.pi / self.sides))

    def surface(self, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Albedo (n, 3), unit normal in the world (n, 3) and gloss (n,) at world points (n, 3) of its surface."""
        p = np.asarray((points - self.centre_mm) @ self.rotation, np.float32)
        if self.sides:
            normals, apothem = self._prism()
            near = np.column_stack([p @ normals.T / apothem, p[:, :1] / self.half_mm[0], -p[:, :1] / self.half_mm[0]])
            faces = near.argmax(axis=1)
            ends = np.array([[1, 0, 0], [-1, 0, 0]], np.float32)
            albedo, dent, gloss = self.paint(p, np.asarray(faces, np.intp))
            normal = np.concatenate([normals, ends])[faces] + dent
            normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-9
            return albedo, np.asarray(normal @ self.rotation.T, np.float32), gloss
        share = p / np.array(self.half_mm, np.float32)
        axis = np.abs(share).argmax(axis=1)
        rows = np.arange(len(p))
        sign = np.sign(share[rows, axis])
        normal = np.zeros_like(p)
        normal[rows, axis] = sign
        if np.isfinite(self.ball_mm):
            radius = np.linalg.norm(p, axis=1)
            on_ball = radius > self.ball_mm * 0.999
            normal[on_ball] = p[on_ball] / radius[on_ball, None]
        else:
            edge = np.sort(np.abs(share), axis=1)[:, 1] > 0.965
            normal[edge] += 0.55 * np.sign(p[edge]) * (np.abs(share[edge]) > 0.965)
        albedo, dent, gloss = self.paint(p, np.asarray(2 * axis + (sign < 0), np.intp))
        normal = normal + dent
        normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-9
        return albedo, np.asarray(normal @ self.rotation.T, np.float32), gloss


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """Light of `colour` from the unit direction `towards` it; `shine` its share of mirror-like reflection."""

    towards: Floats
    colour: Floats
    shine: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Solids on a ground; `ground` maps world (n, 2) mm to albedo (n, 3)."""

    solids: Sequence[Solid]
    lights: Sequence[Light]
    ground: Callable[[Floats], Floats]
    ambient: Floats = field(default_factory=lambda: np.full(3, 0.15, np.float32))


def render(scene: Scene, camera: Camera) -> Floats:
    """Linear BGR picture, float32 (height, width, 3), of what the camera sees; no noise, no tone curve."""
    eye, rays = camera.position_mm, camera.rays().reshape(-1, 3)
    distance = np.where(rays[:, 2] < -1e-6, -eye[2] / np.minimum(rays[:, 2], -1e-6), _FAR).astype(np.float32)
    owner = np.full(len(rays), -1, np.intp)
    for index, solid in enumerate(scene.solids):
        near = _window(camera, solid)
        if not len(near):
            continue
        enter, leave = solid.reach(eye, rays[near])
        hit = (enter < leave) & (enter < distance[near]) & (enter > 0)
        distance[near[hit]] = enter[hit]
        owner[near[hit]] = index
    points = np.asarray(eye + np.minimum(distance, np.float32(1e5))[:, None] * rays, np.float32)
    albedo, normal, gloss = np.empty_like(points), np.zeros_like(points), np.zeros(len(points), np.float32)
    normal[:, 2] = 1.0
    bare = owner < 0
    albedo[bare] = scene.ground(points[bare, :2])
    for index, solid in enumerate(scene.solids):
        mine = np.flatnonzero(owner == index)
        if len(mine):
            albedo[mine], normal[mine], gloss[mine] = solid.surface(points[mine])
    out = albedo * scene.ambient * (0.7 + 0.3 * normal[:, 2:])
    for light in scene.lights:
        facing = np.maximum(normal @ light.towards, 0.0)
        lit = ~_shadowed(scene.solids, points, owner, light.towards)
        out += albedo * light.colour * (facing * lit)[:, None]
        shiny = np.flatnonzero((gloss > 0) & lit & (facing > 0))
        if light.shine and len(shiny):
            middle = light.towards - rays[shiny]
            middle /= np.linalg.norm(middle, axis=1, keepdims=True)
            peak = np.clip((middle * normal[shiny]).sum(axis=1), 0, 1) ** (20 + 180 * gloss[shiny])
            out[shiny] += (peak * gloss[shiny] * light.shine)[:, None] * light.colour
    return np.asarray(out.reshape(camera.height, camera.width, 3), np.float32)


def _window(camera: Camera, solid: Solid) -> Ints:
    """Flat indices of the pixels in which the solid can be seen."""
    p = camera.project(solid.corners_mm())
    x0, y0 = np.maximum(np.floor(p.min(axis=0)), 0).astype(int)
    x1, y1 = np.ceil(p.max(axis=0)).astype(int) + 1
    x1, y1 = min(x1, camera.width), min(y1, camera.height)
    if x0 >= x1 or y0 >= y1:
        return np.zeros(0, np.intp)
    return np.asarray((np.arange(y0, y1)[:, None] * camera.width + np.arange(x0, x1)[None, :]).ravel(), np.intp)


def _shadowed(solids: Sequence[Solid], points: Floats, owner: Ints, towards: Floats) -> NDArray[np.bool_]:
    """True (n,) where a solid other than the point's own lies on the way to the light."""
    dark = np.zeros(len(points), bool)
    along = np.stack([_across(towards, 0), _across(towards, 1)])
    # One axis after the other: the second one only where the first one left something.
    u, v = (np.asarray(points @ axis, np.float32) for axis in along)
    for index, solid in enumerate(solids):
        corners = solid.corners_mm() @ along.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        near = np.flatnonzero((u >= low[0]) & (u <= high[0]))
        near = near[(v[near] >= low[1]) & (v[near] <= high[1])]
        near = near[(owner[near] != index) & ~dark[near]]
        if len(near):
            enter, leave = solid.reach(points[near], towards[None, :])
            dark[near] = (enter < leave) & (leave > 1e-3) & (enter > -1e-3)
    return dark


def _across(direction: Floats, which: int) -> Floats:
    """One of two unit vectors that, with `direction`, span space at right angles."""
    helper = np.eye(3, dtype=np.float32)[int(np.abs(direction).argmin())]
    first = np.cross(direction, helper)
    first /= np.linalg.norm(first)
    return np.asarray(first if which == 0 else np.cross(direction, first), np.float32)


def develop(
    linear: Floats,
    rng: np.random.Generator,
    exposure: float = 1.0,
    gains: tuple[float, float, float] = (1.0, 1.0, 1.0),
    blur_px: float = 0.5,
    noise: float = 3.0,
) -> Image:
    """The 8-bit picture a camera makes of linear light: exposure, cast, blur, tone curve, noise (grey levels)."""
    out = linear * (exposure * np.array(gains, np.float32))
    if blur_px > 0.2:
        out = cv2.GaussianBlur(out, (0, 0), blur_px)
    out = np.clip(out, 0, 1.6)
    out = 255.0 * np.power(out / (1 + 0.25 * out**4) ** 0.25, 1 / 2.2)
    return np.clip(out + rng.normal(0, noise, out.shape), 0, 255).astype(np.uint8)
