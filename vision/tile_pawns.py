"""Which doors carry a pawn, and whose: two cues that must agree, the colour above the door and the door itself.

Most doors are free, so the common colour of all 35 places is the door's, whatever its material and the light. A pawn
is what differs from it and matches one of two colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array, Camera
from calibration.palette import Lab, lab_to_bgr
from devices.contract import Image
from vision.sampling import LOG_OFFSET, Bools, Floats, Stencil, logs

PAWNS = ("-", "1", "2")


def _disc(radius_mm: float) -> Stencil:
    steps = np.linspace(-radius_mm, radius_mm, 7)
    return Stencil(np.array([(x, y) for y in steps for x in steps if x * x + y * y <= radius_mm**2 * 1.01]))


DISC = _disc(5.0)

SPREAD = np.array([0.05, 0.06, 0.25])
"""Least spread of one material's colour between places: red and blue against green, and brightness (log units)."""

PAWN_SPREAD = np.array([0.08, 0.12, 0.3])
"""How pawns of one colour differ from one another in a picture: glass picks up its surroundings."""


@dataclass(frozen=True, slots=True, eq=False)
class PawnColours:
    """Opponent log colours (log red/green, log blue/green, log green) of a free door, (3,) with its spread (3,), and
    of each player's pawn relative to the door ((3,) each, None while unknown). Relations survive a change of light."""

    door: Array
    spread: Array
    pawns: tuple[Array | None, Array | None]


@dataclass(frozen=True, slots=True, eq=False)
class PawnLook:
    """What each place shows: colour above the door (T, 3), share of the door's top that looks like a door (T), and
    whether anything was inside the picture (T)."""

    colour: Array
    door_share: Array
    door_colour: Array
    seen: Bools


def look_at_pawns(picture: Image, camera: Camera, poses: Array, sizes_mm: Mapping[str, float]) -> PawnLook:
    """Colours at the height of a pawn's middle and at the door's top, on tiles at `poses` (T, 3)."""
    stone, inside = DISC.colours(picture, camera, poses, sizes_mm["pawn_centre_height"])
    top, top_inside = DISC.colours(picture, camera, poses, sizes_mm["door_height"])
    colour = np.median(opponent(logs(stone)), axis=1)
    tops = opponent(logs(top))
    middle = np.median(np.median(tops, axis=1), axis=0)
    spread = np.maximum(SPREAD, 1.4826 * np.median(np.abs(np.median(tops, axis=1) - middle), axis=0))
    like = np.sum(((tops - middle) / (2.5 * spread)) ** 2 * np.array([1.0, 1.0, 0.4]), axis=-1) < 1.0
    return PawnLook(
        np.asarray(colour, dtype=np.float64),
        np.asarray(like.mean(axis=1), dtype=np.float64),
        np.asarray(np.median(tops, axis=1), dtype=np.float64),
        np.asarray(inside.all(axis=1) & top_inside.all(axis=1)),
    )


def opponent(log_bgr: Floats) -> Floats:
    """(log red/green, log blue/green, log green) of log colours (..., 3) in BGR order."""
    blue, green, red = log_bgr[..., 0], log_bgr[..., 1], log_bgr[..., 2]
    return np.stack([red - green, blue - green, green], axis=-1)


def opponent_of_lab(lab: Lab) -> Array:
    """The same of a palette colour, against white."""
    return np.asarray(opponent(np.log((lab_to_bgr(lab) + LOG_OFFSET) / (255.0 + LOG_OFFSET)).astype(np.float32)), float)


def learn_colours(look: PawnLook, trusted: Bools, palette: Mapping[str, Lab], white: Array, rows: Array) -> PawnColours:
    """Door and pawn colours from the places that can be trusted.

    `palette` may name `pawn1` and `pawn2`; `white` (3) is the opponent log colour of something white in this light.
    Without a palette the two groups on rows 1 and 7 (`rows`, T) are taken for the first and second player's.
    """
    usable = trusted & look.seen
    if usable.sum() < 8:
        usable = look.seen if look.seen.any() else np.ones(len(rows), dtype=bool)
    door = np.median(look.colour[usable], axis=0)
    spread = np.maximum(SPREAD, 1.4826 * np.median(np.abs(look.colour[usable] - door), axis=0))
    near = usable & (_distance(look.colour, door, spread) < 3.0)
    if near.sum() >= 5:
        door = np.median(look.colour[near], axis=0)
        spread = np.maximum(SPREAD, look.colour[near].std(axis=0))
    strangers = usable & (_distance(look.colour, door, spread) > 3.0) & (look.door_share < 0.4)
    found = look.colour[strangers] - door
    if "pawn1" in palette and "pawn2" in palette:
        named = (opponent_of_lab(palette["pawn1"]), opponent_of_lab(palette["pawn2"]))
        pawns = _owners(_groups(found), named, white - door)
    else:
        first, second = found[rows[strangers] == rows.min()], found[rows[strangers] == rows.max()]
        at_start = len(first) >= 4 and len(second) >= 4 and len(found) <= len(first) + len(second) + 1
        pawns = (np.median(first, axis=0), np.median(second, axis=0)) if at_start else (None, None)
    return PawnColours(door, spread, pawns)


def _groups(found: Array) -> list[Array]:
    """The middles of the one or two tight groups among these colours (N, 3); strays belong to none."""
    scale = np.array([0.12, 0.15, 0.45])
    groups: list[tuple[int, Array]] = []
    left = found
    while len(left) and len(groups) < 2:
        distance = np.linalg.norm((left[:, None] - left[None]) / scale, axis=-1)
        seed = int((distance < 1.5).sum(axis=1).argmax())
        close = distance[seed] < 1.5
        groups.append((int(close.sum()), np.median(left[close], axis=0)))
        left = left[distance[seed] >= 2.5]
    # A lone stray beside a real group is more often a finger than the last pawn of its colour.
    return [middle for size, middle in groups if size > 1 or len(groups) == 1 or groups[0][0] < 4 or len(found) < 8]


def _owners(groups: list[Array], named: tuple[Array, Array], white: Array) -> tuple[Array | None, Array | None]:
    """Which group is whose: two by how they differ from each other (which no light changes), one by its name."""
    weights = np.array([1.0, 1.0, 0.4])
    if len(groups) == 2:
        seen, meant = (groups[0] - groups[1]) * weights, (named[0] - named[1]) * weights
        straight, crossed = float(np.linalg.norm(seen - meant)), float(np.linalg.norm(seen + meant))
        if abs(straight - crossed) < 0.3:
            return None, None
        return (groups[0], groups[1]) if straight < crossed else (groups[1], groups[0])
    expected = [name + white for name in named]
    if not groups:
        return expected[0], expected[1]
    costs = [float(np.linalg.norm((groups[0] - e) * weights)) for e in expected]
    if abs(costs[0] - costs[1]) < 0.25:
        return None, None
    mine = int(costs[1] < costs[0])
    other = groups[0] + named[1 - mine] - named[mine]
    return (other, groups[0]) if mine else (groups[0], other)


def _distance(colours: Array, centre: Array, spread: Array) -> Array:
    deviation = np.abs((colours - centre) / spread)
    # Shade and highlights change brightness freely; it alone never decides.
    deviation[..., 2] = np.minimum(deviation[..., 2], 2.5)
    return np.asarray(np.sqrt(np.sum(deviation**2, axis=-1)))


def pawn_log_likelihoods(look: PawnLook, colours: PawnColours) -> Array:
    """Log-likelihood (T, 3) of `-`, `1` and `2`: the sum of the two cues, each worth at most about 5."""
    far = _distance(look.colour, colours.door, colours.spread)
    empty = np.exp(-0.5 * (np.clip(far - 1.0, 0.0, 30.0) / 1.3) ** 2)
    mine = []
    for pawn in colours.pawns:
        if pawn is None:
            # Not known whose colour is whose: anything that is clearly no door may be either's.
            mine.append(np.exp(-0.5 * np.clip(5.0 - far, 0.0, 5.0) ** 2))
        else:
            mine.append(np.exp(-0.5 * np.minimum(_distance(look.colour, colours.door + pawn, PAWN_SPREAD), 30.0) ** 2))
    colour = np.log(np.stack([empty, *mine], axis=1) + np.exp(-8.0))
    visible = np.exp(-0.5 * ((look.door_share - 1.0) / 0.35) ** 2)
    gone = np.exp(-0.5 * (np.clip(look.door_share - 0.15, 0.0, 1.0) / 0.2) ** 2)
    door = np.log(np.stack([visible, gone, gone], axis=1) + np.exp(-5.0))
    return np.asarray(np.where(look.seen[:, None], colour + door, 0.0), dtype=np.float64)
