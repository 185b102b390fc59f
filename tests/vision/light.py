"""A picture as another light would have made it: for tests that a light may leave things unread, never misread."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from devices.contract import Image

GAMMA = 2.2


def dim(picture: Image, rng: np.random.Generator) -> Image:
    """Under a weak warm bulb: an eighth to a third of the light, little blue, the sensor's noise."""
    light = _linear(picture) * rng.uniform(0.12, 0.3) * np.array([rng.uniform(0.45, 0.75), 0.85, 1.15])
    return _picture(light + rng.normal(0, 1, light.shape) * np.sqrt(light * 4e-4 + 4e-6))


def slanted(picture: Image, rng: np.random.Generator) -> Image:
    """Beside a window: up to nine times the light at one side as at the other, and a shadow's soft edge."""
    height, width = picture.shape[:2]
    way = rng.uniform(0, 2 * np.pi)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32) / np.array([height, width])[:, None, None] - 0.5
    fall = np.exp(2.2 * (x * np.cos(way) + y * np.sin(way)))
    shadow = (y * np.cos(way) - x * np.sin(way) > rng.uniform(-0.15, 0.15)).astype(np.float32)
    fall = fall * (1 - 0.5 * cv2.GaussianBlur(shadow, (0, 0), 12))
    return _picture(_linear(picture) * fall[..., None] * np.array([rng.uniform(0.8, 1.3), 1.0, rng.uniform(0.8, 1.3)]))


def burnt(picture: Image, rng: np.random.Generator) -> Image:
    """Exposed too long: half as bright again to more than twice."""
    return _picture(_linear(picture) * rng.uniform(1.5, 2.2))


LIGHTS: dict[str, Callable[[Image, np.random.Generator], Image]] = {"dim": dim, "slanted": slanted, "burnt": burnt}


def _linear(picture: Image) -> np.ndarray:
    return np.asarray((picture / 255.0) ** GAMMA)


def _picture(light: np.ndarray) -> Image:
    return np.asarray((np.clip(light, 0, 1) ** (1 / GAMMA) * 255).round(), dtype=np.uint8)
