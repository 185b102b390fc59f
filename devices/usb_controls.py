"""Locks a USB camera's exposure, gain, white balance and focus once they have settled, and proves that it obeyed.

An automatic camera changes its picture under the reader's eyes: a hand makes the board brighter, a pawn changes its
colour. So the camera may settle, then everything is held; what it says of itself is read back, and the pictures before
and after are compared, because some cameras promise and do not keep (V4L2 controls: kernel documentation, "Camera
Control Reference"). Settings are kept per camera, so that it looks tomorrow as it does today.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np

AUTO_EXPOSURE, MANUAL_EXPOSURE = 3.0, 1.0
"""Raw V4L2 menu values (V4L2_EXPOSURE_APERTURE_PRIORITY, V4L2_EXPOSURE_MANUAL), as OpenCV takes them."""
OBEYS, SAME_LIGHT, SAME_COLOUR = 0.1, 0.2, 0.08
"""A value read back may differ by this part; brightness and the ratio of colours in the picture by these logarithms."""
_log = logging.getLogger(__name__)

LOCKED = {
    "exposure": cv2.CAP_PROP_EXPOSURE,
    "gain": cv2.CAP_PROP_GAIN,
    "white_balance": cv2.CAP_PROP_WB_TEMPERATURE,
    "focus": cv2.CAP_PROP_FOCUS,
}
SWITCHES = {
    "exposure": (cv2.CAP_PROP_AUTO_EXPOSURE, AUTO_EXPOSURE, MANUAL_EXPOSURE),
    "white_balance": (cv2.CAP_PROP_AUTO_WB, 1.0, 0.0),
    "focus": (cv2.CAP_PROP_AUTOFOCUS, 1.0, 0.0),
}


class Controls(Protocol):
    """What is needed of `cv2.VideoCapture`."""

    def read(self) -> tuple[bool, Any]:
        """The next picture."""

    def get(self, prop: int) -> float:
        """A property's value; 0 or -1 for one that the camera does not have."""

    def set(self, prop: int, value: float) -> bool:
        """Sets a property; True when the driver took it."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What came of it: the values held by name, and the names of what the camera did not obey (empty: all is held).
    `steady` is False when the picture changed although nothing should have."""

    values: dict[str, float]
    refused: tuple[str, ...]
    steady: bool


def lock(capture: Controls, kept: dict[str, float] | None = None, frames: int = 10) -> Lock:
    """Holds everything at the values of `kept`, or at those which the automatics have settled on.

    To be called when the camera has settled (`devices.capture.SETTLE_S` after its first picture), by the thread that
    reads it; takes `2 * frames` pictures. A control that the camera does not have is left out.
    """
    before = _look(capture, frames)
    values, refused = {}, []
    for name, prop in LOCKED.items():
        found = capture.get(prop)
        if found in (0.0, -1.0) and name != "gain":
            continue
        wanted = (kept or {}).get(name, found)
        if name in SWITCHES:
            switch, automatic, manual = SWITCHES[name]
            capture.set(switch, automatic)  # some cameras take manual values only after a change of mode
            capture.set(switch, manual)
        taken = capture.set(prop, wanted)
        now = capture.get(prop)
        switched = name not in SWITCHES or capture.get(SWITCHES[name][0]) == SWITCHES[name][2]
        if not taken and name == "gain":
            continue
        if taken and switched and abs(now - wanted) <= OBEYS * max(abs(wanted), 1.0):
            values[name] = wanted
        else:
            refused.append(name)
    after = _look(capture, frames)
    steady = before is None or after is None or kept is not None or _alike(before, after)
    return Lock(values, tuple(refused), steady)


def unlock(capture: Controls) -> None:
    """Gives everything back to the camera's automatics."""
    for switch, automatic, _ in SWITCHES.values():
        capture.set(switch, automatic)


def load_kept(file: Path) -> dict[str, dict[str, float]]:
    """Kept values by camera; empty when there are none that can be read (they are found anew)."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return {str(url): {str(k): float(v) for k, v in values.items()} for url, values in data.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        _log.warning("the kept camera settings %s cannot be read: %s", file, error)
        return {}


def save_kept(file: Path, url: str, values: dict[str, float]) -> None:
    """Keeps one camera's values, in one step; a full disk loses them, never the game."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps({**load_kept(file), url: values}, indent=1), encoding="utf-8")
        part.replace(file)
    except OSError as error:
        _log.warning("the camera settings cannot be kept in %s: %s", file, error)


def _look(capture: Controls, frames: int) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Mean blue, green and red of the last of some pictures; None when none came."""
    mean = None
    for _ in range(frames):
        done, picture = capture.read()
        if done and isinstance(picture, np.ndarray) and picture.ndim == 3:
            mean = np.asarray(picture[::8, ::8].reshape(-1, picture.shape[2]).mean(axis=0), np.float64)
    return mean


def _alike(before: np.ndarray[Any, np.dtype[np.float64]], after: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    change = np.log((after + 2.0) / (before + 2.0))
    return bool(abs(change.mean()) < SAME_LIGHT and np.ptp(change) < SAME_COLOUR)
