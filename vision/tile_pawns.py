"""Which doors carry a pawn, and whose: two cues that must agree, the colour above the door and the door itself.

Most doors are free, so the common colour of all 35 places is the door's, whatever its material and the light. A pawn
is what differs from it and matches one of two colours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array, Camera
from calibration.palette import Lab, lab_to_bgr
from devices.contract import Image
from vision.sampling import Bools, Floats, Stencil, log_of, middle, spread_of

PAWNS = ("-", "1", "2")


SPOTS = tuple((x, y) for y in (-3.6, -1.2, 1.2, 3.6) for x in (-3.6, -1.2, 1.2, 3.6) if abs(x) + abs(y) < 6.0)
"""Middles of the twelve spots of a disc about a door's axis, each the mean of four samples."""
DISC = Stencil(np.array([(x + dx, y + dy) for x, y in SPOTS for dx in (-0.6, 0.6) for dy in (-0.6, 0.6)]))

SPREAD = np.array([0.035, 0.045, 0.22])
"""Least spread of one material's colour between places: red and blue against green, and brightness (log units)."""

CLIPPED = 249.0
"""A channel above this level is burnt out: what is there may be any amount brighter."""

SHEEN = 0.45
"""The most that a sheen makes a door brighter (log units)."""

VEILED = 0.3
"""Share of what doors show that is burnt out from which no pawn is believed."""

GROUP_SCALE = np.array([0.12, 0.15, 0.45])
"""Colours closer than this belong to one player's pawns."""

APART = 1.8
"""In these, how far apart two players' pawns lie at least: of black and white ones only the brightness differs, by more
than light differs from row 1 to row 7."""

SEVERAL = 3
"""So many of each colour are pawns, whatever their colours are called."""

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
    while unknown). Relations survive a change of light. `white`: the same of something white in this light.
    `burnt_out`: doors are as bright as the picture can show, so that nothing can be told from them; `highlights`: the
    share of what doors show that is burnt out."""

    door: Array
    spread: Array
    top: Array
    top_spread: Array
    pawns: tuple[Pawn | None, Pawn | None]
    white: Array
    burnt_out: bool
    highlights: float


@dataclass(frozen=True, slots=True, eq=False)
class PawnLook:
    """What each place shows: the colour above the door (T, 3), spots of the door's top (T, 12, 3), whether all of it is
    inside the picture (T), and the share of the spots above the door that are burnt out (T)."""

    colour: Array
    tops: Floats
    seen: Bools
    clipped: Array


def look_at_pawns(
    picture: Image, camera: Camera, poses: Array, sizes_mm: Mapping[str, float], light: Floats
) -> PawnLook:
    """Colours at the height of a pawn's middle and at the door's top, on tiles at `poses` (T, 3); `light` (3) is taken
    off the log colours."""
    count = len(poses)
    heights = np.repeat([sizes_mm["pawn_centre_height"], sizes_mm["door_height"]], count)
    both, inside = DISC.colours(picture, camera, np.concatenate([poses, poses]), heights)
    fours = cv2.reduce(both.reshape(-1, 4, 3), 1, cv2.REDUCE_AVG, dtype=cv2.CV_32F)
    spots = np.asarray(fours, dtype=np.float32).reshape(2, count, len(SPOTS), 3)
    clipped = np.zeros(count)
    if spots[0].max(initial=0.0) > CLIPPED:
        clipped = ((spots[0] > CLIPPED).sum(axis=-1) >= 2).mean(axis=1)
    materials = opponent(log_of(spots) - light)
    seen: Bools = np.asarray(inside.all(axis=1))
    return PawnLook(middle(materials[0], 1).astype(np.float64), materials[1], seen[:count] & seen[count:], clipped)


_CHROMA_FIRST = np.array([1.0, 1.0, math.sqrt(0.4)])
"""Brightness tells less about a door than its colour."""


def _door_share(off: NDArray[Any], spread: Array) -> Array:
    """Share (T) of each door's top that looks like a door, of which its spots are so far `off` (T, 12, 3)."""
    off = off * (_CHROMA_FIRST / (2.5 * spread)).astype(off.dtype)
    off *= off
    like = off @ _ONES.astype(off.dtype) < 1.0
    return np.asarray(like.sum(axis=1) / like.shape[1])


def _off_door(colours: NDArray[Any], door: Array, white: Array) -> NDArray[Any]:
    """By how much colours (..., 3) differ from a door's; a sheen on it, which adds white light, is no difference."""
    door = door.astype(colours.dtype)
    off: NDArray[Any] = colours - door
    # Where a door looks brighter, it is lit more brightly, or reflects the light's own colour, or both.
    level = door[..., 2:] + np.minimum(np.maximum(off[..., 2:], 0.0), SHEEN)
    own = door[..., :2] + level
    own_light = np.exp(door[..., 2:])
    added = (np.exp(level) - own_light) * np.exp(white[:2]).astype(colours.dtype)
    # The channel as the sensor shows it, no more than white, relative to a door that is lit as brightly.
    plain = np.minimum(-own, 0.0)
    sheen = np.log(np.minimum(added + own_light * np.exp(door[..., :2]), 1.0)) - own
    chroma = off[..., :2]
    chroma -= np.minimum(np.maximum(chroma, np.minimum(plain, sheen)), np.maximum(sheen, 0.0))
    return off


_OPPONENT = np.array([[0.0, 1.0, 0.0], [-1.0, -1.0, 1.0], [1.0, 0.0, 0.0]], dtype=np.float32)


def opponent(log_bgr: Floats) -> Floats:
    """(log red/green, log blue/green, log green) of log colours (..., 3) in BGR order."""
    return np.asarray(log_bgr @ _OPPONENT)


@lru_cache(16)
def opponent_of_lab(lab: Lab) -> Array:
    """The same of a palette colour, against white."""
    return np.asarray(opponent(log_of(lab_to_bgr(lab).astype(np.float32))), dtype=np.float64)


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
    middles = middle(look.tops[usable], 1)
    top = middle(middles, 0).astype(np.float64)
    top_spread = np.maximum(SPREAD, spread_of(middles - top, 0))
    door = middle(look.colour[usable], 0)
    spread = np.maximum(SPREAD, spread_of(look.colour[usable] - door, 0))
    near = usable & (_distance(look.colour, door, spread) < 3.0)
    if near.sum() >= 5:
        door = middle(look.colour[near], 0)
        spread = np.maximum(SPREAD, look.colour[near].std(axis=0))
    share = _door_share(_off_door(look.tops, top, white), top_spread)
    strangers = usable & (_length_of(_off_door(look.colour, door, white), spread) > 3.0) & (share < 0.4)
    found = look.colour[strangers] - door
    first, second = known
    if first is not None and second is not None:
        pawns = _owners(_groups(found), (first.colour, second.colour))
    elif "pawn1" in palette and "pawn2" in palette:
        named = (opponent_of_lab(palette["pawn1"]) + white - door, opponent_of_lab(palette["pawn2"]) + white - door)
        pawns = _owners(_groups(found), named)
    else:
        pawns = _at_start(found, rows[strangers] == rows.min(), rows[strangers] == rows.max())
    burnt_out = float((look.clipped[usable] > 0.5).mean()) > 0.4
    highlights = float(look.clipped[near].mean()) if near.any() else 1.0
    return PawnColours(door, spread, top, top_spread, pawns, white, burnt_out, highlights)


def pawn_of(members: Array) -> Pawn:
    """One player's pawn from the colours of some of them relative to the door (N, 3)."""
    spread = 1.5 * members.std(axis=0) if len(members) > 1 else PAWN_SPREAD
    ordered = np.sort(members, axis=0)
    median = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return Pawn(median, np.minimum(np.maximum(spread, PAWN_SPREAD / 2), 1.5 * PAWN_SPREAD))


def _at_start(found: Array, near_side: Bools, far_side: Bools) -> tuple[Pawn | None, Pawn | None]:
    """The players' pawns where each stands in force on its own starting row and hardly anywhere else."""
    sides = []
    for mine in (near_side, far_side):
        groups = _groups(found[mine])
        if not groups or groups[0][0] < 4:
            return None, None
        sides.append(groups[0][1])
    elsewhere = found[~near_side & ~far_side]
    strays = sum(int((np.linalg.norm((elsewhere - s.colour) / GROUP_SCALE, axis=1) < 1.5).sum()) for s in sides)
    apart = float(np.linalg.norm((sides[0].colour - sides[1].colour) / GROUP_SCALE))
    return (sides[0], sides[1]) if strays <= 1 and apart > APART else (None, None)


def _groups(found: Array) -> list[tuple[int, Pawn]]:
    """The tight groups among these colours (N, 3), at most four, with their sizes, largest first."""
    groups: list[tuple[int, Pawn]] = []
    left = found
    while len(left) and len(groups) < 4:
        apart = (left[:, None] - left[None]) / GROUP_SCALE
        distance = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
        seed = int((distance < 1.5).sum(axis=1).argmax())
        close = distance[seed] < 1.5
        groups.append((int(close.sum()), pawn_of(left[close])))
        left = left[distance[seed] >= 2.5]
    return groups


def _owners(groups: list[tuple[int, Pawn]], named: tuple[Array, Array]) -> tuple[Pawn | None, Pawn | None]:
    """Which group is whose: two by how they differ from each other (which no light changes), one by its name."""
    weights = np.array([1.0, 1.0, 0.4])
    pairs = []
    for n, first in groups:
        for m, second in groups:
            if first is not second:
                off = first.colour - second.colour - named[0] + named[1]
                far = first.colour + second.colour - named[0] - named[1]
                # A lone stray beside real groups is more often a finger than the last pawn of its colour.
                stray = 0.2 * (n == 1) + 0.2 * (m == 1)
                cost = _length(off * weights) + 0.25 * _length(far * weights) + stray
                pairs.append((cost, first, second, min(n, m)))
    pairs.sort(key=lambda pair: pair[0])
    apart = _length((named[0] - named[1]) * weights)
    if pairs:
        cost, first, second, fewer = pairs[0]
        swapped = next((p[0] for p in pairs[1:] if p[1] is second and p[2] is first), math.inf)
        # A strong colour may lie far beyond its name, and still be the one of the two that its name is nearer to.
        if cost < 0.75 * apart or (fewer >= SEVERAL and swapped - cost > apart):
            return (first, second) if swapped - cost > 0.3 else (None, None)
    if not groups:
        return Pawn(named[0], 1.5 * PAWN_SPREAD), Pawn(named[1], 1.5 * PAWN_SPREAD)
    largest = groups[0][1]
    costs = [_length((largest.colour - e) * weights) for e in named]
    if abs(costs[0] - costs[1]) < 0.25 or min(costs) > 0.75 * apart:
        return None, None
    mine = int(costs[1] < costs[0])
    other = Pawn(largest.colour + named[1 - mine] - named[mine], 1.5 * PAWN_SPREAD)
    return (other, largest) if mine else (largest, other)


def _length(vector: Array) -> float:
    return math.sqrt(float(vector @ vector))


def _at_most_white(colour: Array) -> Array:
    """An opponent log colour as the sensor shows it: no channel above white."""
    green = min(float(colour[2]), 0.0)
    red, blue = min(float(colour[0] + colour[2]), 0.0), min(float(colour[1] + colour[2]), 0.0)
    return np.array([red - green, blue - green, green])


def _distance(colours: Array, centre: Array, spread: Array, brightness: float = 2.5) -> Array:
    return _length_of(colours - centre, spread, brightness)


def _length_of(off: Array, spread: Array, brightness: float = 2.5) -> Array:
    deviation = off / spread
    deviation *= deviation
    # Shade and highlights change brightness freely; it counts only up to a limit.
    deviation[..., 2] = np.minimum(deviation[..., 2], brightness * brightness)
    return np.asarray(np.sqrt(deviation @ _ONES))


_ONES = np.ones(3)


def pawn_log_likelihoods(look: PawnLook, colours: PawnColours) -> Array:
    """Log-likelihood (T, 3) of `-`, `1` and `2`: the sum of the two cues, each worth at most about 5."""
    if colours.burnt_out:
        return np.zeros((len(look.colour), len(PAWNS)))
    shown = np.concatenate([look.colour[:, None], look.tops], axis=1)
    door_off = _off_door(shown, np.array([colours.door, *[colours.top] * len(SPOTS)]), colours.white)
    far, share = _length_of(door_off[:, 0], colours.spread), _door_share(door_off[:, 1:], colours.top_spread)
    # By how many spreads the colour above the door, and the door, differ from what each value would show.
    off = np.empty((2, len(far), len(PAWNS)))
    off[0, :, 0] = np.maximum(far - 1.0, 0.0) / 1.3
    off[1, :, 0] = (share - 1.0) / 0.3
    off[1, :, 1:] = (np.maximum(share - 0.15, 0.0) / 0.2)[:, None]
    for player, pawn in enumerate(colours.pawns, 1):
        if pawn is None:
            # Not known whose colour is whose: anything that is clearly no door may be either's.
            off[0, :, player] = np.maximum(5.0 - far, 0.0)
        else:
            expected = _at_most_white(colours.door + pawn.colour)
            off[0, :, player] = np.maximum(_distance(look.colour, expected, pawn.spread, 5.0) - 1.0, 0.0)
    seen = np.exp(-0.5 * off * off)
    if look.clipped.max(initial=0.0) > 0.5:
        # Burnt out, everything looks alike: the less, the darker doors are otherwise.
        common = min(1.0, 0.02 + 10.0 * colours.highlights)
        darkest = colours.door[2] + min(0.0, colours.door[0], colours.door[1])
        highlight = np.where(look.clipped > 0.5, common * math.exp(min(16.0 * darkest, -1.0)), 0.0)
        seen = np.maximum(seen, highlight[:, None])
    seen += _FLOORS
    # Where doors are burnt out, pawns are veiled.
    found = np.log(seen).sum(axis=0) * max(0.0, 1.0 - colours.highlights / VEILED)
    found[~look.seen] = 0.0
    return np.asarray(found, dtype=np.float64)


_FLOORS = np.exp([-8.0, -5.0]).reshape(2, 1, 1)
"""Likelihoods that colour and door keep for what does not fit."""
