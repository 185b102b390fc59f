"""Which hue is which player's: named colours fitted to what the picture shows, then followed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.palette import NAMED_RGB, Lab, lab_to_bgr
from vision.sampling import LOG_OFFSET, Floats, middle

SPREAD = 0.14
"""Standard deviation of a token's hue (log units) about its player's, within one picture, at a strength of 0.8."""

FOLLOW = 0.3
"""Share of the newest agreed hue in a learned one."""

STRANGE = 2.5
"""Standard deviations from all known hues from which a token makes the hues be fitted anew."""

_STRENGTHS = np.linspace(0.45, 1.25, 6, dtype=np.float32)
_GRID = np.linspace(-0.36, 0.36, 7, dtype=np.float32)
_SHIFTS = np.array([(a, b) for a in _GRID for b in _GRID], dtype=np.float32)
_FINER: Floats = (_SHIFTS / 6).astype(np.float32)


class Palette:
    """The players' hues (players, 2) as red-green and blue-green in log units against white."""

    def __init__(self, colours: Sequence[str | Lab]) -> None:
        self._named = np.array([named_hue(c) for c in colours])
        self._learned = np.full_like(self._named, np.nan)
        self._fit: Floats | None = None
        self.hues: Floats = self._named

    def fit(self, seen: Floats) -> None:
        """Fits the named hues to those seen (tokens, 2): one strength and one shift for all, as light and haze act."""
        known = ~np.isnan(self._learned[:, 0])
        if known.all():
            self.hues = self._learned.copy()
            return
        if len(seen) and (self._fit is None or float(distances(seen, self).min(axis=1).max()) > STRANGE):
            self._fit = self._fitted(seen)
        self.hues = self._named if self._fit is None or not len(seen) else self._settled(seen, self._fit)
        self.hues = np.where(known[:, None], self._learned, self.hues)

    def learn(self, player: int, hue: Floats) -> None:
        """Takes over an agreed token's hue."""
        before = self._learned[player]
        self._learned[player] = hue if np.isnan(before[0]) else (1 - FOLLOW) * before + FOLLOW * hue

    def _fitted(self, seen: Floats) -> Floats:
        tries = [
            _best_shift(seen, np.float32(strength) * self._named, _SHIFTS, float(strength)) for strength in _STRENGTHS
        ]
        _, coarse, strength = min(tries, key=lambda t: t[0])
        return _best_shift(seen, coarse, _FINER, strength)[1]

    def _settled(self, seen: Floats, fitted: Floats) -> Floats:
        """The fitted hues moved to the middle of the tokens that are nearest to each."""
        nearest = np.argmin(np.linalg.norm(seen[:, None] - fitted[None], axis=2), axis=1)
        moved = [
            middle(seen[nearest == n], axis=0) if np.count_nonzero(nearest == n) >= 2 else hue
            for n, hue in enumerate(fitted)
        ]
        return np.asarray(moved, dtype=np.float32)


def _best_shift(seen: Floats, hues: Floats, shifts: Floats, strength: float) -> tuple[float, Floats, float]:
    """(cost, hues, strength) of the shift under which each seen hue lies nearest to one of the players' hues."""
    shifted = hues[None] + shifts[:, None]
    gap = (seen[None, :, None, 0] - shifted[:, None, :, 0]) ** 2 + (
        seen[None, :, None, 1] - shifted[:, None, :, 1]
    ) ** 2
    cost = np.minimum(gap.min(axis=2) / (2 * SPREAD**2), 12.0).sum(axis=1)
    # White is near no hue at all, and colours are about as strong as their names say.
    cost = cost + np.sum(shifts**2, axis=1) / (2 * 0.15**2) + (strength - 0.85) ** 2 / (2 * 0.3**2)
    at = int(np.argmin(cost))
    return float(cost[at]), shifted[at], strength


def distances(hues: Floats, palette: Palette) -> Floats:
    """Standard deviations (things, players) between hues (things, 2) and each player's: in direction, which shading and
    haze leave alone, and in strength, which they change."""
    strength = np.maximum(np.linalg.norm(hues, axis=1), 1e-3)[:, None]
    lengths = np.maximum(np.linalg.norm(palette.hues, axis=1), 1e-3)[None]
    turn = np.arccos(np.clip(hues @ palette.hues.T / (lengths * strength), -1.0, 1.0))
    return np.asarray(np.hypot(turn / np.hypot(0.1, 0.09 / strength), np.log(strength / lengths) / 0.4))


def named_hue(colour: str | Lab) -> Floats:
    """Red-green and blue-green in log units under plain white light of a colour by name, or of one in OpenCV's Lab."""
    rgb = NAMED_RGB[colour] if isinstance(colour, str) else lab_to_bgr(colour)[::-1]
    red, green, blue = (np.log((v + LOG_OFFSET) / (255 + LOG_OFFSET)) for v in rgb)
    return np.array([red - green, blue - green], dtype=np.float32)
