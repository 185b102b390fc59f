"""Colours by name, and colours as the reader compares them: logarithms of blue, green and red against white."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from calibration.geometry import Array
from calibration.profile import CalibrationError

Lab = tuple[float, float, float]

NAMED_RGB: Mapping[str, tuple[int, int, int]] = {
    # What a person calls by this name under plain light: paint and glass of middling strength.
    "white": (235, 235, 235),
    "black": (40, 40, 40),
    "grey": (128, 128, 128),
    "red": (180, 45, 40),
    "orange": (220, 120, 40),
    "yellow": (225, 190, 50),
    "green": (50, 120, 60),
    "blue": (45, 70, 170),
    "purple": (110, 60, 140),
    "pink": (225, 140, 160),
    "brown": (110, 70, 45),
    "wood": (200, 160, 110),
}


def named(name: str) -> Lab:
    """The colour called `name`; raises CalibrationError listing the names there are."""
    rgb = NAMED_RGB.get(name.strip().lower())
    if rgb is None:
        raise CalibrationError(f"no colour is called {name!r}; known are {', '.join(sorted(NAMED_RGB))}")
    return bgr_to_lab(np.array(rgb[::-1], dtype=np.float64))


def lab_to_bgr(lab: Lab) -> Array:
    """Blue, green, red (3,) in 0..255 of an OpenCV 8-bit Lab colour."""
    pixel = np.clip(np.array([[lab]]), 0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_Lab2BGR), dtype=np.float64).reshape(3)


def bgr_to_lab(bgr: Array) -> Lab:
    """OpenCV's 8-bit Lab as floats of a blue, green, red colour (3,) in 0..255."""
    pixel = (np.clip(np.asarray(bgr, dtype=np.float64), 0, 255) / 255.0).astype(np.float32).reshape(1, 1, 3)
    lightness, a, b = (float(v) for v in cv2.cvtColor(pixel, cv2.COLOR_BGR2Lab)[0, 0])
    return (lightness * 255.0 / 100.0, a + 128.0, b + 128.0)
