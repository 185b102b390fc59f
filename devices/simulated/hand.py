"""The hand that plays: painted once from above with arm and sleeve, then laid into every picture where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image
from devices.simulated.art import Bgr, noise
from devices.simulated.lights import Light
from devices.simulated.optics import View
from devices.simulated.sprites import Box, Sprite, as_image, box_of, thrice

Floats = NDArray[np.float64]
PX_PER_MM = 2.0
HALF_WIDTH_MM, FRONT_MM, BACK_MM = 75.0, 30.0, 640.0

# Bones of a right hand seen from above: (x, y, radius) to (x, y, radius), height of both ends; mm from the point
# between thumb and fingers, y towards the fingertips.
Bone = tuple[float, float, float, float, float, float, float]
PINCH: tuple[Bone, ...] = (
    (0, -650, 44, 0, -300, 36, 60), (0, -300, 36, -2, -165, 27, 60),
    (-4, -160, 27, -20, -88, 15, 58), (-2, -160, 27, 0, -82, 15, 60), (4, -160, 26, 17, -88, 14, 58),
    (8, -160, 24, 30, -100, 12, 54),
    (-20, -88, 12, -17, -42, 10, 52), (-17, -42, 10, -4, -3, 7.5, 36),
    (0, -82, 12, 5, -36, 10.5, 54), (5, -36, 10.5, 4, 2, 8, 36),
    (17, -88, 12, 23, -50, 10, 50), (23, -50, 10, 15, -20, 8, 34),
    (30, -100, 10, 38, -68, 9, 46), (38, -68, 9, 30, -42, 7.5, 32),
    (-18, -142, 19, -43, -98, 13, 50), (-43, -98, 13, -33, -48, 11, 44), (-33, -48, 11, -10, -9, 8.5, 34),
)  # fmt: skip
FLAT: tuple[Bone, ...] = (
    (0, -650, 44, 0, -270, 36, 40), (0, -270, 36, -2, -135, 28, 38),
    (-4, -130, 28, -22, -55, 15, 34), (-2, -130, 28, -4, -48, 15, 34), (4, -130, 27, 14, -54, 14, 34),
    (8, -130, 25, 30, -68, 12, 32),
    (-22, -55, 12, -27, 22, 7.5, 26), (-4, -48, 12, -5, 28, 8, 26), (14, -54, 12, 19, 18, 7.5, 26),
    (30, -68, 10, 42, -8, 7, 26),
    (-18, -115, 19, -52, -62, 12, 32), (-52, -62, 12, -64, -22, 9, 26),
)  # fmt: skip
POSES = {"pinch": PINCH, "flat": FLAT}


@dataclass(frozen=True, slots=True)
class Person:
    """Whose hand it is: skin and sleeve colours, how much of the forearm is bare (mm from the wrist)."""

    skin: Bgr = (122, 152, 206)
    sleeve: Bgr = (120, 70, 46)
    bare_mm: float = 95.0


PEOPLE: tuple[Person, ...] = (
    Person(), Person((62, 88, 140), (60, 128, 70), 60.0), Person((150, 178, 224), (50, 48, 168), 130.0),
    Person((42, 60, 96), (176, 172, 168), 80.0), Person((104, 132, 186), (44, 44, 48), 190.0),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HandAt:
    """Where a hand is: its gripping point (x, y, z in mm), the direction its arm comes from (degrees counter-clockwise
    from +x), its pose, a turn of the wrist in degrees, and whose it is."""

    x_mm: float
    y_mm: float
    z_mm: float
    from_deg: float
    pose: str = "pinch"
    twist_deg: float = 0.0
    person: Person = PEOPLE[0]


@lru_cache(maxsize=16)
def painted(pose: str, person: Person) -> tuple[Image, Image]:
    """Colour times cover and cover (h x w x 4) and a coarse soft shadow mask (a quarter of the size)."""
    width, height = round(2 * HALF_WIDTH_MM * PX_PER_MM), round((FRONT_MM + BACK_MM) * PX_PER_MM)
    xs = (np.arange(width, dtype=np.float32) + 0.5) / PX_PER_MM - HALF_WIDTH_MM
    ys = FRONT_MM - (np.arange(height, dtype=np.float32) + 0.5) / PX_PER_MM
    relief = np.full((height, width), -1.0, np.float32)
    rng = np.random.default_rng(7)
    wrist = POSES[pose][1][4]
    cuff = wrist - person.bare_mm
    for x0, y0, r0, x1, y1, r1, z in POSES[pose]:
        rows = np.nonzero((ys > min(y0, y1) - 60) & (ys < max(y0, y1) + 60))[0]
        if not len(rows):
            continue
        span = slice(rows[0], rows[-1] + 1)
        px, py = xs[None, :] - x0, ys[span, None] - y0
        dx, dy = x1 - x0, y1 - y0
        t = np.clip((px * dx + py * dy) / (dx * dx + dy * dy), 0, 1)
        radius = r0 + (r1 - r0) * t
        inside = radius**2 - (px - t * dx) ** 2 - (py - t * dy) ** 2
        bump = np.where(inside > 0, z + np.sqrt(np.maximum(inside, 0)), -1.0)
        np.maximum(relief[span], bump, out=relief[span])
    sleeve = np.broadcast_to(ys[:, None] < cuff + 3 * np.sin(xs[None, :] / 14), relief.shape)
    folds = noise(rng, height, width, 9 * PX_PER_MM, 4.0)
    surface = cv2.GaussianBlur(np.where(sleeve & (relief > 0), relief + 2.2 * folds, relief), (0, 0), 1.6)
    gx, gy = np.gradient(surface, axis=1) * PX_PER_MM, np.gradient(surface, axis=0) * PX_PER_MM
    lit = (1 + 0.25 * gx + 0.35 * gy) / np.sqrt(1 + gx**2 + gy**2)
    hollow = np.clip((cv2.GaussianBlur(surface, (0, 0), 7) - surface) / 14, 0, 0.5)
    shade = np.clip(0.52 + 0.46 * lit - hollow, 0.2, 1.12)[..., None]
    blotch = noise(rng, height, width, 12 * PX_PER_MM)[..., None] * np.array([0.2, 0.6, 1.0], np.float32) * 3
    weave = noise(rng, height, width, 1.2 * PX_PER_MM)[..., None] * 4
    colour = np.where(
        sleeve[..., None],
        np.array(person.sleeve, np.float32) + weave,
        np.array(person.skin, np.float32) + blotch,
    )
    cover = cv2.GaussianBlur((relief > 0).astype(np.float32), (0, 0), 0.8)
    paint = np.clip(colour * shade * cover[..., None], 0, 255)
    opaque = np.round(cover * 255)
    small = as_image(cv2.resize(as_image(opaque), None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA))
    return as_image(np.dstack([paint, opaque])), as_image(cv2.GaussianBlur(small, (0, 0), 4.0))


def hand_sprites(view: View, at: HandAt, frame: Box) -> Iterator[Sprite]:
    """The hand in the picture, piece by piece so that the empty corners around a slanting arm cost nothing."""
    painting, _ = painted(at.pose, at.person)
    corners = view.project(_corners(at, (at.z_mm + 12, at.z_mm + 105)))
    for box in _pieces(corners, frame):
        piece = _place(painting, corners, box)
        cover = as_image(cv2.extractChannel(piece, 3))
        if cover.any():
            paint = as_image(cv2.cvtColor(piece, cv2.COLOR_BGRA2BGR))
            yield Sprite(box, thrice(as_image(cv2.bitwise_not(cover))), paint)


def hand_shadow(view: View, light: Light, at: HandAt, frame: Box, centre_mm: tuple[float, float]) -> Sprite | None:
    """The hand's soft shadow on the table, or None when it falls outside; made at a quarter of the size."""
    mask = painted(at.pose, at.person)[1]
    away = light.away(np.array([(at.x_mm, at.y_mm)]), centre_mm)[0]
    corners = _corners(at, (2.0, 2.0))
    corners[:2, :2] += away * (at.z_mm + 25)
    corners[2:, :2] += away * (at.z_mm + 90)
    px = view.project(corners)
    tight = box_of(px).clipped(frame)
    if tight.empty:
        return None
    w, h = -(-(tight.x1 - tight.x0) // 4), -(-(tight.y1 - tight.y0) // 4)
    cast = _place(mask, (px - (tight.x0, tight.y0) + 0.5) / 4 - 0.5, Box(0, 0, w, h))
    depth = min(0.8, light.shadow * 1.25)
    keep = as_image(cv2.LUT(cast, np.round(255 - depth * np.arange(256)).astype(np.uint8)))
    keep = as_image(cv2.resize(keep, (w * 4, h * 4), interpolation=cv2.INTER_LINEAR))
    return Sprite(Box(tight.x0, tight.y0, tight.x0 + w * 4, tight.y0 + h * 4), thrice(keep), None)


def _pieces(corners_px: Floats, frame: Box) -> Iterator[Box]:
    """Boxes of a grid over the picture that meet the quadrangle with these corners."""
    whole = box_of(corners_px).clipped(frame)
    if whole.empty:
        return
    size = 128
    w, h = -(-(whole.x1 - whole.x0) // size), -(-(whole.y1 - whole.y0) // size)
    cells = np.zeros((h, w), np.uint8)
    points = np.round((corners_px - (whole.x0, whole.y0)) / size * 16 - 8).astype(np.int32)
    cv2.fillConvexPoly(cells, points, 255, cv2.LINE_8, 4)
    for row, column in np.argwhere(np.asarray(cv2.dilate(cells, np.ones((3, 3), np.uint8))) > 0):
        x, y = whole.x0 + int(column) * size, whole.y0 + int(row) * size
        yield Box(x, y, x + size, y + size).clipped(whole)


def _corners(at: HandAt, heights_mm: tuple[float, float]) -> Floats:
    """The painted rectangle's corners in space: its front at the first height, its far end at the second."""
    angle = np.radians(at.from_deg + at.twist_deg)
    back = np.array([np.cos(angle), np.sin(angle)])
    right = np.array([back[1], -back[0]]) * -1.0
    middle = np.array([at.x_mm, at.y_mm])
    front, far = middle - back * FRONT_MM, middle + back * BACK_MM
    flat = [front - right * HALF_WIDTH_MM, front + right * HALF_WIDTH_MM]
    flat += [far + right * HALF_WIDTH_MM, far - right * HALF_WIDTH_MM]
    z = [heights_mm[0], heights_mm[0], heights_mm[1], heights_mm[1]]
    return np.column_stack([np.array(flat), z])


def _place(patch: Image, corners_px: Floats, box: Box) -> Image:
    """The patch in the picture's part `box`, 0 around it."""
    h, w = patch.shape[:2]
    source = np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32)
    matrix = cv2.getPerspectiveTransform(source, (corners_px - (box.x0, box.y0)).astype(np.float32))
    return as_image(cv2.warpPerspective(patch, matrix, (box.x1 - box.x0, box.y1 - box.y0)))
