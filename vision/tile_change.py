"""Which tiles look otherwise than they did, whatever the light has become; and whether a change would stand out."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from devices.contract import Image
from vision.sampling import LOG_OFFSET, Bools, Floats, middle, planes_of
from vision.tile_evidence import Evidence
from vision.tile_layout import PROBE
from vision.tile_view import CHANGED_LEVELS, Maps, maps_of

CHANGED_SAMPLES = 3
"""Changed samples (of 225) that make a tile worth reading again: 1.3 % of it."""

LEAST_LEVELS, BLIND_LEVELS = 6.0, 48.0
"""What noise and JPEG make of nothing, in levels of any picture; and the levels, in the light of the picture before, by
which a line or a pawn differs from a bare tile: where noise is more than that, a change would not be noticed."""
BURNT, BURNT_SHARE = 252, 0.5
"""Level from which a sample is burnt out, and share of burnt-out samples beyond which a change would not be noticed."""

FEW = 12
"""Every so many samples of each tile are enough for a median."""


def maps_at(camera: Camera, poses: Array, height_mm: float) -> Maps:
    """Where in the picture the probes of tiles at `poses` fall."""
    return maps_of(*PROBE.pixels(camera, poses, height_mm))


def probed(picture: Image, evidence: Evidence) -> Image:
    """The 8-bit colours (T, 225, 3) of the samples of these tiles' probes."""
    spots, parts = evidence["spots"], evidence["parts"]
    found = cv2.remap(picture, spots, parts, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found, dtype=np.uint8)


def relit(probe: Image, gain: Floats) -> Image:
    """The same samples (T, N, 3) in a light so many times as bright (BGR)."""
    table = np.zeros((3, 4), dtype=np.float32)
    table.flat[::5] = gain
    table[:, 3] = LOG_OFFSET * (gain - 1.0)
    return np.asarray(cv2.transform(probe, table), dtype=np.uint8)


def compared(now: Image, before: Evidence) -> tuple[Floats, float, Bools, str]:
    """How many times as bright the board is as before (median, BGR), the levels up to which a difference is noise,
    which tiles have changed, and the trouble for which a change could not be noticed (empty: it could)."""
    were, offset = before["probe"], np.float32(LOG_OFFSET)
    ratios = (now[:, ::FEW] + offset) / (were[:, ::FEW] + offset)
    gain = np.minimum(np.maximum(middle(ratios.reshape(-1, 3), 0), 0.05), 5.0).astype(np.float32)
    expected = relit(were, gain)
    off = _difference(now, expected)
    noise, dim = _noise(off), min(1.0, float(gain.max()))
    return gain, noise, _over(off, before["tolerance"], noise, dim), _blindness(expected, noise, dim)


def changed_tiles(now: Image, before: Evidence, gain: Floats, noise: float) -> Bools:
    """Which of these tiles have changed, in a light so many times as bright (BGR). The `noise` is that of the whole
    board: all of these may have changed."""
    off = _difference(now, relit(before["probe"], gain))
    return _over(off, before["tolerance"], noise, min(1.0, float(gain.max())))


def _difference(now: Image, before: Image) -> Image:
    """By how many levels each sample (T, N) differs in the channel that differs most."""
    blue, green, red = planes_of(np.asarray(cv2.absdiff(now, before), dtype=np.uint8))
    return np.asarray(cv2.max(cv2.max(blue, green), red), dtype=np.uint8)


def _noise(off: Image) -> float:
    """The levels beyond which a difference is no noise."""
    return max(LEAST_LEVELS, 6.0 * float(middle(off[:, ::FEW].ravel(), 0)))


def _over(off: Image, tolerance: Image, noise: float, dim: float) -> Bools:
    """Which tiles differ by more than they may: less in a dimmer light, in which everything differs less."""
    limit = tolerance if dim == 1.0 else np.asarray(cv2.convertScaleAbs(tolerance, alpha=dim), dtype=np.uint8)
    if noise > CHANGED_LEVELS * dim:
        limit = np.maximum(limit, np.uint8(min(noise, 255.0)))
    over = cv2.threshold(cv2.subtract(off, limit), 0, 1, cv2.THRESH_BINARY)[1]
    return np.asarray(cv2.reduce(over, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S)).ravel() >= CHANGED_SAMPLES


def _blindness(expected: Image, noise: float, dim: float) -> str:
    """Why what changed would not stand out in this picture: noise would hide it in the dark, or white burnt out."""
    burnt = cv2.inRange(expected, (BURNT, BURNT, BURNT), (255, 255, 255))
    if cv2.countNonZero(burnt) > BURNT_SHARE * burnt.size:
        return "vision.too_bright"
    if noise <= BLIND_LEVELS * dim:
        return ""
    return "vision.too_dark" if dim < 0.5 else "vision.unclear"
