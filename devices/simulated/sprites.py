"""Painted pieces of a picture with soft edges, and how they are laid over one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike

from devices.contract import Image

SHIFT = 4  # fractional bits of polygon corners in cv2's drawing


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of pixels: `x0 <= x < x1`, `y0 <= y < y1`."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def empty(self) -> bool:
        """True when there is no pixel inside."""
        return self.x0 >= self.x1 or self.y0 >= self.y1

    def clipped(self, other: Box) -> Box:
        """The part of the box inside `other`."""
        return Box(max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1))

    def joined(self, other: Box) -> Box:
        """The smallest box around both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def grown(self, px: int) -> Box:
        """The box with `px` more on every side."""
        return Box(self.x0 - px, self.y0 - px, self.x1 + px, self.y1 + px)

    def within(self, outer: Box) -> Box:
        """The same pixels counted from the top-left pixel of `outer`."""
        return Box(self.x0 - outer.x0, self.y0 - outer.y0, self.x1 - outer.x0, self.y1 - outer.y0)

    def of(self, image: Image) -> Image:
        """The view of this rectangle in `image` (whose origin is pixel (0, 0))."""
        return image[self.y0 : self.y1, self.x0 : self.x1]


def box_of(points_px: ArrayLike, margin: int = 2) -> Box:
    """The box around points, with `margin` pixels to spare."""
    points = np.asarray(points_px).reshape(-1, 2)
    (x0, y0), (x1, y1) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    right, bottom = math.ceil(x1) + margin + 1, math.ceil(y1) + margin + 1
    return Box(math.floor(x0) - margin, math.floor(y0) - margin, right, bottom)


@dataclass(frozen=True, slots=True, eq=False)
class Sprite:
    """A painted thing: `keep` (uint8, h x w x 3) is how much of the ground shows through, 255 all of it; `paint` (same
    shape, None: a mere shadow) is added after that, colour times cover."""

    box: Box
    keep: Image
    paint: Image | None


def lay(canvas: Image, origin: Box, sprite: Sprite) -> None:
    """Lays a sprite over `canvas`, the picture's part whose top-left pixel is that of `origin`; what falls outside is
    cut off."""
    part = sprite.box.clipped(origin)
    if part.empty:
        return
    local, inner = part.within(origin), part.within(sprite.box)
    ground = local.of(canvas)
    cv2.multiply(ground, inner.of(sprite.keep), ground, scale=1 / 255)
    if sprite.paint is not None:
        cv2.add(ground, inner.of(sprite.paint), ground)


def covering(box: Box, colour: Image, cover: Image) -> Sprite:
    """A sprite of a colour picture (h x w x 3) and a cover mask (h x w, 255 opaque)."""
    wide = thrice(cover)
    return Sprite(box, as_image(cv2.bitwise_not(wide)), as_image(cv2.multiply(colour, wide, scale=1 / 255)))


@lru_cache(maxsize=16)
def _sheet(colour: tuple[int, int, int], side: int) -> Image:
    return np.full((side, side, 3), colour, np.uint8)


def plain(box: Box, colour: tuple[int, int, int]) -> Image:
    """A new picture of the box's size (h x w x 3) in one colour; copying a kept one is far faster than filling."""
    h, w = box.y1 - box.y0, box.x1 - box.x0
    return _sheet(colour, 1 << max(h, w).bit_length())[:h, :w].copy()


def polygon_mask(box: Box, points_px: ArrayLike) -> Image:
    """A mask (h x w of the box) with 255 inside a convex polygon, soft at its edge."""
    mask = np.zeros((box.y1 - box.y0, box.x1 - box.x0), np.uint8)
    fill(mask, box, points_px, 255)
    return mask


def fill(image: Image, box: Box, points_px: ArrayLike, colour: int | tuple[int, int, int]) -> None:
    """Fills a convex polygon, given in pixels of the whole picture, in the part that `box` is."""
    points = (np.asarray(points_px).reshape(-1, 2) - (box.x0, box.y0)) * (1 << SHIFT)
    value = (colour,) if isinstance(colour, int) else colour
    cv2.fillConvexPoly(image, np.round(points).astype(np.int32), value, cv2.LINE_AA, SHIFT)


def warp(patch: Image, corners_px: ArrayLike, box: Box, onto: Image) -> None:
    """Draws `patch` on the picture's part `onto` with its corners (top-left, top-right, bottom-right, bottom-left) at
    `corners_px`; what lies outside of them stays."""
    h, w = patch.shape[:2]
    source = np.array([(-0.5, -0.5), (w - 0.5, -0.5), (w - 0.5, h - 0.5), (-0.5, h - 0.5)], np.float32)
    target = (np.asarray(corners_px).reshape(4, 2) - (box.x0, box.y0)).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(source, target)
    size = (box.x1 - box.x0, box.y1 - box.y0)
    cv2.warpPerspective(patch, matrix, size, onto, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)


def soft_shadow(outline_px: ArrayLike, depth: float, edge_px: float) -> Sprite:
    """A shadow in the shape of a convex outline, `depth` 0..1 dark, its edge `edge_px` wide."""
    box = box_of(outline_px, margin=int(1.5 * edge_px) + 2)
    return Sprite(box, shadow_mask(box, [outline_px], depth, edge_px), None)


def shadow_mask(box: Box, outlines_px: Sequence[ArrayLike], depth: float, edge_px: float) -> Image:
    """What the shadows of several convex outlines leave of the light in `box` (h x w x 3); where two overlap it is no
    darker than one."""
    sigma = max(edge_px / 2, 0.6)
    coarse = max(1, int(sigma / 1.1))  # a wide blur is made of few pixels and enlarged
    margin = 3 * sigma
    x0, y0 = (int((v - margin) // coarse) for v in (box.x0, box.y0))
    x1, y1 = (int((v + margin) // coarse) + 1 for v in (box.x1, box.y1))
    small = Box(x0, y0, x1, y1)
    mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
    for outline in outlines_px:
        fill(mask, small, (np.asarray(outline) + 0.5) / coarse - 0.5, 255)
    mask = as_image(cv2.GaussianBlur(mask, (7, 7), sigma / coarse))
    if coarse > 1:
        size = (mask.shape[1] * coarse, mask.shape[0] * coarse)
        mask = as_image(cv2.resize(mask, size, interpolation=cv2.INTER_LINEAR))
    x, y = box.x0 - x0 * coarse, box.y0 - y0 * coarse
    mask = np.ascontiguousarray(mask[y : y + box.y1 - box.y0, x : x + box.x1 - box.x0])
    table = np.round(255 * (1 - depth * np.arange(256) / 255)).astype(np.uint8)
    return thrice(as_image(cv2.LUT(mask, table)))


def as_image(array: Any) -> Image:
    """The same array under the type of a picture."""
    return np.asarray(array, dtype=np.uint8)


def thrice(grey: Image) -> Image:
    """A grey picture (h x w) as a colour picture (h x w x 3)."""
    return as_image(cv2.merge([grey, grey, grey]))
