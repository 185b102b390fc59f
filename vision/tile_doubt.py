"""How far tiles may be believed where the light is bad: burnt out, veiled by a reflection, or unclear all over.

Every cue compares the picture with itself: lines of the same board must stand out alike, and print that is burnt out
on one tile must not be so on the next. What fails is not read otherwise; it is believed less, until it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Array
from devices.contract import Image
from vision.sampling import Floats, Indices, middle
from vision.tile_arms import LEAST_SHARE, Arms

BURNT_LEVEL = 250
"""Two channels of a sample at or above this level: burnt out."""

UNCLEAR = (0.16, 0.20)
"""Spread of the scores of bare arms: from the first on belief falls, from the second on nothing is believed."""

BURNT_TILE, BURNT_BOARD = (0.10, 0.20), (0.20, 0.32)
"""The same for the burnt-out share of a tile beyond the board's usual, and of the board."""

FAINT, BRIGHT = (0.90, 0.70), (1.40, 1.55)
"""The same for the strength of a tile's plainest line, and for its grey level, where 1 is usual. Both together are a
reflection that veils the tile; one alone may be a worn print or a lamp."""

GARISH = (1.42, 1.55)
"""The same for a line that stands out more than is usual: the others are veiled."""

DARK_LEVEL = 14.0
"""Mean grey level of a tile below which it counts as dark."""


REASONS = ("", "unclear", "glare", "dark")
"""What may be wrong with the light on a tile, as facts name it."""


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """How the tiles are lit: the burnt-out share of each (T) and its mean grey level (T)."""

    burnt: Array
    level: Array


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Factors (T) from 0 to 1 for what a tile's path, and its other facts, may be worth, and why they are low (T, as
    indices of REASONS)."""

    path: Array
    others: Array
    reasons: Indices


def light_of(planes: Image) -> Light:
    """The light on tiles from the channels of their 8-bit samples (3, T, N)."""
    blue, green, red = planes
    second = cv2.max(cv2.min(blue, green), cv2.min(cv2.max(blue, green), red))
    burnt = cv2.threshold(second, BURNT_LEVEL - 1, 1.0, cv2.THRESH_BINARY)[1]
    return Light(_row_means(burnt), _row_means(green))


def _row_means(values: NDArray[Any]) -> Array:
    means = cv2.reduce(values, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S)
    return np.asarray(np.asarray(means).ravel() / values.shape[1], dtype=np.float64)


def belief(scores: Floats, share: Floats, arms: Arms, light: Light, usual: Light) -> Belief:
    """How far tiles may be believed, from the scores of their arms (T, 4), the seen share of each (T, 4), their light
    and the `usual` one of the board's middling tile."""
    judged = share > LEAST_SHARE
    plainest = np.where(judged, scores, 0.0).max(axis=1)
    plainest[judged.sum(axis=1) < 3] = 1.0
    clear = _falling(arms.sigma, UNCLEAR) * _falling(usual.burnt, BURNT_BOARD)
    excess = light.burnt - usual.burnt
    burnt = _falling(excess, BURNT_TILE)
    level = light.level / np.maximum(usual.level, 1.0)
    open_ = np.maximum(1.0 - _falling(plainest, (FAINT[1], FAINT[0])), _falling(level, BRIGHT))
    path = clear * burnt
    others = path * open_ * _falling(plainest, GARISH)
    glare = (excess > BURNT_TILE[0]) | (usual.burnt > BURNT_BOARD[0]) | (open_ < 1.0)
    reasons = np.where(glare, REASONS.index("glare"), others < 1.0)
    reasons[light.level < DARK_LEVEL] = REASONS.index("dark")
    return Belief(path, others, reasons)


def usual_light(light: Light) -> Light:
    """The light on the board's middling tile (arrays of one)."""
    return Light(middle(light.burnt, 0).reshape(1), middle(light.level, 0).reshape(1))


def brightened(light: Light, gain: float) -> Light:
    """The same under a light so many times as bright."""
    return Light(light.burnt, light.level * gain)


def believed(log_likelihoods: Array, factor: Array) -> Array:
    """Log-likelihoods (T, N) drawn together by factors (T)."""
    if factor.min(initial=1.0) >= 1.0:
        return log_likelihoods
    best = log_likelihoods.max(axis=1, keepdims=True)
    return np.asarray(best + (log_likelihoods - best) * factor[:, None])


def _falling(values: Array | float, limits: tuple[float, float]) -> Array:
    """1 up to the first limit, 0 from the second on."""
    return np.asarray(np.minimum(np.maximum((limits[1] - values) / (limits[1] - limits[0]), 0.0), 1.0))
