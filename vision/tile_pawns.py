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

SPREAD = np.array([0.035, 0.045, 0.22])
"""Least spread of one material's colour between places: red and blue against green, and brightness (log units)."""

PAWN_SPREAD = np.array([0.08, 0.12, 0.3])
"""How pawns of one colour may differ from one another: glass picks up its surroundings. Where several are seen, their
own spread counts, but not less than half of this."""


@dataclass(frozen=True, slots=True, eq=False)
class Pawn:
    """One player's pawn: its opponent log colour relative to the door, (3,), and the spread of it, (3,)."""

    colour: Array
    spread: Array


@dataclass(frozen=True, slots=True, eq=False)
class PawnColours:
    """Opponent log colours (log red/green, log blue/green, log green): of a free door at the height of a pawn's middle,
    `door` (3,) with its spread, and of its top, `top` with its spread; and each player's pawn relative to `door` (None
    while unknown). Relations survive a change of light."""

    door: Array
    spread: Array
    top: Array
    top_spread: Array
    pawns: tuple[Pawn | None, Pawn | None]


@dataclass(frozen=True, slots=True, eq=False)
class PawnLook:
    """What each place shows: the colour above the door (T, 3), samples of the door's top (T, 37, 3), and whether all
    of it is inside the picture (T)."""

    colour: Array
    tops: Floats
    seen: Bools


def look_at_pawns(
    picture: Image, camera: Camera, poses: Array, sizes_mm: Mapping[str, float], light: Floats
) -> PawnLook:
    """Colours at the height of a pawn's middle and at the door's top, on tiles at `poses` (T, 3); `light` (3) is taken
    off the log colours."""
    stone, inside = DISC.colours(picture, camera, poses, sizes_mm["pawn_centre_height"])
    top, top_inside = DISC.colours(picture, camera, poses, sizes_mm["door_height"])
    return PawnLook(
        np.asarray(np.median(opponent(logs(stone) - light), axis=1), dtype=np.float64),
        opponent(logs(top) - light),
        np.asarray(inside.all(axis=1) & top_inside.all(axis=1)),
    )


def _door_share(look: PawnLook, top: Array, spread: Array) -> Array:
    """Share (T) of each door's top that looks like a door."""
    off = (look.tops - top.astype(np.float32)) / (2.5 * spread).astype(np.float32)
    return np.asarray((off[..., 0] ** 2 + off[..., 1] ** 2 + 0.4 * off[..., 2] ** 2 < 1.0).mean(axis=1))


def opponent(log_bgr: Floats) -> Floats:
    """(log red/green, log blue/green, log green) of log colours (..., 3) in BGR order."""
    blue, green, red = log_bgr[..., 0], log_bgr[..., 1], log_bgr[..., 2]
    return np.stack([red - green, blue - green, green], axis=-1)


def opponent_of_lab(lab: Lab) -> Array:
    """The same of a palette colour, against white."""
    return np.asarray(opponent(np.log((lab_to_bgr(lab) + LOG_OFFSET) / (255.0 + LOG_OFFSET)).astype(np.float32)), float)


def learn_colours(
    look: PawnLook,
    trusted: Bools,
    palette: Mapping[str, Lab],
    white: Array,
    rows: Array,
    known: tuple[Pawn | None, Pawn | None] = (None, None),
) -> PawnColours:
    """Door and pawn colours from the places that can be trusted.

    Whose colour is whose comes from `known` pawns, else from `palette` (`pawn1`, `pawn2`) against `white` (3), the
    opponent log colour of something white in this light; else the two groups on rows 1 and 7 (`rows`, T) are taken for
    the first and second player's, as at the start of a game.
    """
    usable = trusted & look.seen
    if usable.sum() < 8:
        usable = look.seen if look.seen.any() else np.ones(len(rows), dtype=bool)
    middles = np.median(look.tops[usable], axis=1)
    top = np.median(middles, axis=0).astype(np.float64)
    top_spread = np.maximum(SPREAD, 1.4826 * np.median(np.abs(middles - top), axis=0))
    door = np.median(look.colour[usable], axis=0)
    spread = np.maximum(SPREAD, 1.4826 * np.median(np.abs(look.colour[usable] - door), axis=0))
    near = usable & (_distance(look.colour, door, spread) < 3.0)
    if near.sum() >= 5:
        door = np.median(look.colour[near], axis=0)
        spread = np.maximum(SPREAD, look.colour[near].std(axis=0))
    share = _door_share(look, top, top_spread)
    strangers = usable & (_distance(look.colour, door, spread) > 3.0) & (share < 0.4)
    found = look.colour[strangers] - door
    first, second = known
    if first is not None and second is not None:
        pawns = _owners(_groups(found), (first.colour, second.colour))
    elif "pawn1" in palette and "pawn2" in palette:
        named = (opponent_of_lab(palette["pawn1"]) + white - door, opponent_of_lab(palette["pawn2"]) + white - door)
        pawns = _owners(_groups(found), named)
    else:
        near_side, far_side = found[rows[strangers] == rows.min()], found[rows[strangers] == rows.max()]
        at_start = min(len(near_side), len(far_side)) >= 4 and len(found) <= len(near_side) + len(far_side) + 1
        pawns = (pawn_of(near_side), pawn_of(far_side)) if at_start else (None, None)
    return PawnColours(door, spread, top, top_spread, pawns)


def pawn_of(members: Array) -> Pawn:
    """One player's pawn from the colours of some of them relative to the door (N, 3)."""
    spread = 1.5 * members.std(axis=0) if len(members) > 1 else PAWN_SPREAD
    return Pawn(np.median(members, axis=0), np.clip(spread, PAWN_SPREAD / 2, 1.5 * PAWN_SPREAD))


def _groups(found: Array) -> list[Pawn]:
    """The one or two tight groups among these colours (N, 3); strays belong to none."""
    scale = np.array([0.12, 0.15, 0.45])
    groups: list[tuple[int, Pawn]] = []
    left = found
    while len(left) and len(groups) < 2:
        distance = np.linalg.norm((left[:, None] - left[None]) / scale, axis=-1)
        seed = int((distance < 1.5).sum(axis=1).argmax())
        close = distance[seed] < 1.5
        groups.append((int(close.sum()), pawn_of(left[close])))
        left = left[distance[seed] >= 2.5]
    # A lone stray beside a real group is more often a finger than the last pawn of its colour.
    return [pawn for size, pawn in groups if size > 1 or len(groups) == 1 or groups[0][0] < 4 or len(found) < 8]


def _owners(groups: list[Pawn], named: tuple[Array, Array]) -> tuple[Pawn | None, Pawn | None]:
    """Which group is whose: two by how they differ from each other (which no light changes), one by its name."""
    weights = np.array([1.0, 1.0, 0.4])
    if len(groups) == 2:
        seen, meant = (groups[0].colour - groups[1].colour) * weights, (named[0] - named[1]) * weights
        straight, crossed = float(np.linalg.norm(seen - meant)), float(np.linalg.norm(seen + meant))
        if abs(straight - crossed) < 0.3:
            return None, None
        return (groups[0], groups[1]) if straight < crossed else (groups[1], groups[0])
    if not groups:
        return Pawn(named[0], 1.5 * PAWN_SPREAD), Pawn(named[1], 1.5 * PAWN_SPREAD)
    costs = [float(np.linalg.norm((groups[0].colour - e) * weights)) for e in named]
    if abs(costs[0] - costs[1]) < 0.25:
        return None, None
    mine = int(costs[1] < costs[0])
    other = Pawn(groups[0].colour + named[1 - mine] - named[mine], 1.5 * PAWN_SPREAD)
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
            far_off = _distance(look.colour, colours.door + pawn.colour, pawn.spread)
            mine.append(np.exp(-0.5 * np.clip(far_off - 1.0, 0.0, 30.0) ** 2))
    colour = np.log(np.stack([empty, *mine], axis=1) + np.exp(-8.0))
    share = _door_share(look, colours.top, colours.top_spread)
    visible = np.exp(-0.5 * ((share - 1.0) / 0.35) ** 2)
    gone = np.exp(-0.5 * (np.clip(share - 0.15, 0.0, 1.0) / 0.2) ** 2)
    door = np.log(np.stack([visible, gone, gone], axis=1) + np.exp(-5.0))
    return np.asarray(np.where(look.seen[:, None], colour + door, 0.0), dtype=np.float64)
