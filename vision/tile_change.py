"""Which tiles look otherwise than they did, whatever the light has become; and whether a change would stand out."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.contract import Image
from vision.sampling import LOG_OFFSET, Bools, Floats, middle
from vision.tile_reading import Evidence
from vision.tile_view import CHANGED_LEVELS

Maps = tuple[NDArray[Any], NDArray[Any]]

CHANGED_SAMPLES = 3
"""Changed samples (of 225) that make a tile worth reading again: 1.3 % of it."""
LEAST_LEVELS, BLIND_LEVELS = 6.0, 48.0
"""What noise and JPEG make of nothing, in levels of any picture; and the levels, in the light of the picture before, by
which a line or a pawn differs from a bare tile: where noise is more than that, a change would not be noticed."""
BURNT, BURNT_SHARE = 252.0, 0.5
"""Level from which a sample is burnt out, and share of burnt-out samples beyond which a change would not be noticed."""


def probe_of(picture: Image, maps: Maps) -> Image:
    """The 8-bit colours (T, 225, 3) of the probe's samples."""
    found = cv2.remap(picture, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found, dtype=np.uint8)


def relit(probe: Image, gain: Floats) -> Image:
    """The same samples (T, N, 3) in a light so many times as bright (BGR)."""
    table = (_LEVELS + LOG_OFFSET) * gain - LOG_OFFSET
    table = np.minimum(np.maximum(np.rint(table), 0.0), 255.0).astype(np.uint8).reshape(256, 1, 3)
    return np.asarray(cv2.LUT(probe, table), dtype=np.uint8)


_LEVELS = np.arange(256, dtype=np.float32)[:, None]


def compared(now: Image, before: Evidence) -> tuple[Floats, Bools, str]:
    """How much brighter the board is than before (log of the median ratio, BGR), which tiles have changed, and the
    trouble for which a change could not be noticed (empty: it could)."""
    some, were = (_few(each) + np.float32(LOG_OFFSET) for each in (now, before.probe))
    gain = np.minimum(np.maximum(middle(some / were, 0), 0.05), 5.0).astype(np.float32)
    expected = relit(before.probe, gain)
    off = _difference(now, expected)
    return np.log(gain), _over(off, before.tolerance, gain), _blindness(off, expected, gain)


def changed_tiles(now: Image, before: Evidence, gain: Floats) -> Bools:
    """Which tiles have changed, in a light so many times as bright (BGR)."""
    return _over(_difference(now, relit(before.probe, gain)), before.tolerance, gain)


def _difference(now: Image, before: Image) -> Image:
    """By how many levels each sample (T, N) differs in the channel that differs most."""
    blue, green, red = cv2.split(cv2.absdiff(now, before))
    return np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.uint8)


def _noise(off: Image) -> float:
    """The levels beyond which a difference is no noise."""
    return max(LEAST_LEVELS, 6.0 * float(middle(_few(off), 0)))


def _over(off: Image, tolerance: Image, gain: Floats) -> Bools:
    """Which tiles differ by more than they may: less in a dimmer light, in which everything differs less."""
    dim, noise = min(1.0, float(gain.max())), _noise(off)
    limit = tolerance if dim == 1.0 else np.asarray(cv2.convertScaleAbs(tolerance, alpha=dim), dtype=np.uint8)
    if noise > CHANGED_LEVELS * dim:
        limit = np.maximum(limit, np.uint8(min(noise, 255.0)))
    over = cv2.threshold(cv2.subtract(off, limit), 0, 1, cv2.THRESH_BINARY)[1]
    return np.asarray(cv2.reduce(over, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S)).ravel() >= CHANGED_SAMPLES


def _blindness(off: Image, expected: Image, gain: Floats) -> str:
    """Why what changed would not stand out in this picture: noise would hide it in the dark, or white burnt out."""
    if float((_few(expected).min(axis=-1) >= BURNT).mean()) > BURNT_SHARE:
        return "vision.too_bright"
    dim = min(1.0, float(gain.max()))
    if _noise(off) <= BLIND_LEVELS * dim:
        return ""
    return "vision.too_dark" if dim < 0.5 else "vision.unclear"


def _few(probe: NDArray[Any]) -> Floats:
    """Some samples of each tile (T, 225, ...), all in a row: enough for a median."""
    return np.asarray(probe[:, ::12].reshape(-1, *probe.shape[2:]), dtype=np.float32)
