"""Quadrangles in a picture: outlines of flat things, fitted so that what lies over part of a side does not count."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.geometry import Array
from devices.contract import Image
from vision.sampling import Floats

LEAST_SHARE = 0.02
"""Share of the picture that an outline encloses at least."""
MOST = 14
"""Outlines that are looked at, the largest first."""
FILLED = 0.75
"""Share of the quadrangle that the outline's own hull fills at least (something that juts out makes it larger)."""
SAME_PX = 4.0
"""Corners nearer than this are the same."""
POINTS = 64
"""Places along a side at which its edge is looked for."""
ON_LINE_PX, ON_LINE_SHARE = 1.2, 0.4
"""How near to a side its places must lie, and how many of them."""
PAIRS = 80
_CANNY = ((30, 90), (12, 40))
LINES, APART_PX, APART_DEG = 16, 8.0, 5.0
"""Straight lines that are paired to quadrangles, and how much two of them differ at least."""
ASKEW_DEG, BENT_DEG = 25.0, 45.0
"""How far opposite sides of a flat rectangle are off parallel in a picture, and neighbours at least off each other."""
ALONG = 0.5
"""Part of every side of a crossing of lines that lies on an edge."""


def quadrangles(picture: Image) -> list[Array]:
    """Convex quadrangles (4, 2) px that may be outlines of flat things, largest first; each fitted to its edges."""
    height, width = picture.shape[:2]
    found: list[tuple[float, Array]] = []
    smooth = cv2.GaussianBlur(picture, (0, 0), 1.2)
    for low, high in _CANNY:
        edges = np.zeros((height, width), dtype=np.uint8)
        for channel in cv2.split(cv2.cvtColor(smooth, cv2.COLOR_BGR2Lab)):
            edges |= np.asarray(cv2.Canny(channel, low, high), dtype=np.uint8)
        found += _crossed(edges)
        joined = cv2.dilate(edges, np.ones((3, 3), np.uint8))
        outlines, _ = cv2.findContours(joined, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        for outline in outlines:
            _, _, across, down = cv2.boundingRect(outline)
            if across * down < LEAST_SHARE * height * width:
                continue
            hull = cv2.convexHull(outline).reshape(-1, 2).astype(np.float64)
            quad = reduced(hull)
            if quad is None:
                continue
            area = abs(cv2.contourArea(quad.astype(np.float32)))
            if area < LEAST_SHARE * height * width or cv2.contourArea(hull.astype(np.float32)) < FILLED * area:
                continue
            found.append((area, quad))
    kept: list[Array] = []
    for _, quad in sorted(found, key=lambda f: -f[0]):
        if all(_far(quad, other) for other in kept):
            kept.append(quad)
        if len(kept) == MOST:
            break
    return [each for quad in kept for each in (sharpened(picture, quad, 9.0), quad)]


def _crossed(edges: Image) -> list[tuple[float, Array]]:
    """Areas and quadrangles of straight lines in an edge picture that cross, with edges along all four sides."""
    height, width = edges.shape
    seen = cv2.HoughLines(edges, 1.0, np.pi / 360, max(40, min(height, width) // 8))
    if seen is None:
        return []
    lines: list[tuple[float, float]] = []
    for rho, theta in np.asarray(seen).reshape(-1, np.asarray(seen).shape[-1])[:400, :2].astype(np.float64):
        if all(_unlike((float(rho), float(theta)), line) for line in lines):
            lines.append((float(rho), float(theta)))
        if len(lines) == LINES:
            break
    flat: Array = np.array([(np.cos(theta), np.sin(theta), -rho) for rho, theta in lines])
    turns = np.array([theta for _, theta in lines])
    pairs = [
        (i, j) for i in range(len(lines)) for j in range(i) if _between(turns[i], turns[j]) < np.radians(ASKEW_DEG)
    ]
    quads = [
        (i, k, j, m)
        for n, (i, j) in enumerate(pairs)
        for k, m in pairs[:n]
        if len({i, j, k, m}) == 4 and _between(turns[i], turns[k]) > np.radians(BENT_DEG)
    ]
    if not quads:
        return []
    sides: Array = flat[np.array(quads)]
    crossings: Array = np.cross(sides, np.roll(sides, -1, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        corners = np.nan_to_num(crossings[..., :2] / crossings[..., 2:], nan=-1e6, posinf=-1e6, neginf=-1e6)
    inside = np.all((corners > -4) & (corners < np.array([width, height]) + 4), axis=(1, 2))
    corners = corners[inside]
    x, y = corners[..., 0], corners[..., 1]
    area = np.abs(np.sum(x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y, axis=1)) / 2
    corners, area = corners[area > LEAST_SHARE * height * width], area[area > LEAST_SHARE * height * width]
    far = cv2.distanceTransform(255 - edges, cv2.DIST_L2, 3)
    t = (np.arange(40) + 0.5)[:, None] / 40
    spots = corners[:, :, None] * (1 - t) + np.roll(corners, -1, axis=1)[:, :, None] * t
    columns, rows = (np.clip(np.rint(spots[..., n]).astype(int), 0, (width, height)[n] - 1) for n in (0, 1))
    along = (far[rows, columns] < 2.0).mean(axis=2)
    good = np.flatnonzero(along.min(axis=1) > ALONG)
    good = good[np.argsort(-along[good].mean(axis=1))][:MOST]
    return [(float(area[n]), corners[n]) for n in good]


def _unlike(line: tuple[float, float], other: tuple[float, float]) -> bool:
    turn = _between(line[1], other[1])
    # A line turned by half a circle has the other sign.
    same = abs(line[1] - other[1]) < np.pi / 2
    return turn > np.radians(APART_DEG) or abs(line[0] - (other[0] if same else -other[0])) > APART_PX


def _between(turn: float, other: float) -> float:
    """Angle between two lines, 0..pi/2."""
    off = abs(turn - other) % np.pi
    return float(min(off, np.pi - off))


def sharpened(picture: Image, quad: Array, reach_px: float) -> Array:
    """The quadrangle (4, 2) with each side laid along the outermost clear edge within `reach_px` of it, where most of
    the side has one; sides that have none stay."""
    middle = quad.mean(axis=0)
    lines = []
    for a, b in zip(quad, np.roll(quad, -1, axis=0), strict=True):
        along = b - a
        length = max(float(np.linalg.norm(along)), 1e-6)
        normal = np.array([-along[1], along[0]]) / length
        if normal @ (middle - a) > 0:
            normal = -normal
        t, off = _edge(picture, a, along, normal, reach_px)
        line = straight(t, off)
        start, end = (0.0, 0.0) if line is None else (line[0], line[0] + line[1])
        p, q = a + normal * start, b + normal * end
        lines.append(through(p, q))
    corners = []
    for before, after in zip([lines[-1], *lines[:-1]], lines, strict=True):
        crossing: Array = np.cross(before, after)
        if abs(crossing[2]) < 1e-9:
            return quad
        corners.append(crossing[:2] / crossing[2])
    moved = np.array(corners)
    return moved if np.linalg.norm(moved - quad, axis=1).max() < 4.0 * reach_px else quad


def _edge(picture: Image, start: Array, along: Array, normal: Array, reach_px: float) -> tuple[Array, Array]:
    """Places (0..1) along a side where a clear edge runs, and how far outside (px) of the side it does."""
    steps = np.arange(-reach_px, reach_px + 0.25, 0.5)
    t = (np.arange(POINTS) + 0.5) / POINTS
    spots = (start + along * t[:, None])[:, None] + normal * steps[None, :, None]
    x, y = (spots[..., n].astype(np.float32) for n in (0, 1))
    seen = np.asarray(cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32)
    soft = np.asarray(cv2.GaussianBlur(seen, (5, 1), 1.0, borderType=cv2.BORDER_REPLICATE), dtype=np.float32)
    rise: Floats = np.abs(np.diff(soft, axis=1)).sum(axis=2)
    strong = np.maximum(rise.max(axis=1), 1e-6)
    clear = strong > max(3.0, 0.35 * float(np.median(strong)))
    # The outermost that is a peak and at least half as strong as the strongest.
    peak = np.ones_like(rise, dtype=bool)
    peak[:, 1:] &= rise[:, 1:] >= rise[:, :-1]
    peak[:, :-1] &= rise[:, :-1] >= rise[:, 1:]
    good = peak & (rise >= 0.5 * strong[:, None])
    at = rise.shape[1] - 1 - np.argmax(good[:, ::-1], axis=1)
    rows = np.arange(POINTS)
    left, here, right = (rise[rows, np.clip(at + n, 0, rise.shape[1] - 1)] for n in (-1, 0, 1))
    bend = left - 2 * here + right
    fine = np.where(np.abs(bend) > 1e-6, 0.5 * (left - right) / np.where(np.abs(bend) > 1e-6, bend, 1.0), 0.0)
    off = steps[0] + (at + np.clip(fine, -0.5, 0.5) + 0.5) * 0.5
    return t[clear], off[clear]


def straight(t: Array, off: Array) -> tuple[float, float] | None:
    """Offset at the start and slope of the straight line on which most of the places lie; None where few do."""
    if len(t) < POINTS * ON_LINE_SHARE:
        return None
    i, j = np.random.default_rng(0).integers(0, len(t), (2, PAIRS))
    apart = np.abs(t[i] - t[j]) >= 0.15
    if not apart.any():
        return None
    i, j = i[apart], j[apart]
    slopes = (off[j] - off[i]) / (t[j] - t[i])
    on = np.abs(off - off[i][:, None] - slopes[:, None] * (t - t[i][:, None])) < ON_LINE_PX
    best = on[on.sum(axis=1).argmax()]
    if np.count_nonzero(best) < POINTS * ON_LINE_SHARE:
        return None
    slope, start = np.polyfit(t[best], off[best], 1)
    return float(start), float(slope)


def reduced(hull: Array) -> Array | None:
    """The quadrangle of a convex outline's four longest sides; None when they do not make one."""
    if len(hull) < 4:
        return None
    near = cv2.approxPolyDP(hull.astype(np.float32).reshape(-1, 1, 2), 0.006 * _length(hull), True).reshape(-1, 2)
    if len(near) < 4:
        return None
    ring = near.astype(np.float64)
    sides = np.roll(ring, -1, axis=0) - ring
    longest = np.sort(np.argsort(-np.linalg.norm(sides, axis=1))[:4])
    corners = []
    for one, other in zip(longest, np.roll(longest, -1), strict=True):
        crossing: Array = np.cross(
            through(ring[one], ring[one] + sides[one]), through(ring[other], ring[other] + sides[other])
        )
        if abs(crossing[2]) < 1e-9:
            return None
        corners.append(crossing[:2] / crossing[2])
    quad = np.array(corners)
    size = np.ptp(hull, axis=0).max()
    inside = np.all(np.abs(quad - hull.mean(axis=0)) < 1.5 * size)
    return quad if inside and cv2.isContourConvex(np.rint(quad * 16).astype(np.int32)) else None


def through(p: Array, q: Array) -> Array:
    """The line (3,) through two points (2,) in homogeneous coordinates."""
    return np.asarray(np.cross(np.append(p, 1.0), np.append(q, 1.0)))


def _length(ring: Array) -> float:
    return float(np.linalg.norm(np.roll(ring, -1, axis=0) - ring, axis=1).sum())


def _far(quad: Array, other: Array) -> bool:
    """True when no order of the corners makes the two quadrangles the same."""
    rings = (np.roll(way, n, axis=0) for way in (quad, quad[::-1]) for n in range(4))
    return all(np.abs(ring - other).max() > SAME_PX for ring in rings)
