"""Training pictures: simulated scenes (kept in a cache folder) and the labelled photographs of one folder."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from devices.contract import Image
from devices.simulated.dominoes import DominoOptions, domino_scene
from devices.simulated.materials import texture
from devices.simulated.tray import TrayOptions, tray_scene
from vision.dice_places import COCKED
from vision.pips import Floats

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class DiceExample:
    """One picture: boxes (n, 4) px, classes (n,), upright vectors (n, 2; NaN where unknown), and its name."""

    image: Image
    boxes: Floats
    classes: tuple[int, ...]
    ups: Floats
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class DominoExample:
    """One picture: upper-face corners (n, 4, 2) px and per tile its halves (None where face down)."""

    image: Image
    corners: Floats
    halves: tuple[tuple[int, int] | None, ...]


def simulated_die_scene(index: int) -> DiceExample:
    """Scene `index`; every twentieth holds no dice; every other one shows them large, sharp and from far aside."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([77, index])
    options = TrayOptions(dice=(2, 11), hand=0.0, cocked=0.15, tilt_deg=(0, 35))
    if index % 2:
        options = replace(options, die_px=(28, 96), tilt_deg=(0, 48), blur_px=(0.2, 0.7), noise=(0.0, 5.0))
    if index % 20 == 0:
        options = TrayOptions(dice=(0, 0), hand=0.5, strangers=1.0)
    image, truth = tray_scene(rng, options)
    classes = tuple(COCKED if v is None else v - 1 for v in truth.values)
    return DiceExample(image, truth.boxes_px, classes, truth.up_px, f"simulated {index}")


def simulated_domino_scene(index: int) -> DominoExample:
    """Scene `index`; every twentieth holds no tiles."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([78, index])
    options = DominoOptions(tiles=(2, 13))
    if index % 20 == 0:
        options = DominoOptions(tiles=(0, 0), strangers=1.0, line=0.0)
    image, truth = domino_scene(rng, options)
    return DominoExample(image, truth.corners_px, tuple(t.halves for t in truth.tiles))


def stranger_scene(index: int) -> DiceExample:
    """A picture of what is no die: square markers, discs, rings and pip-like dots on a random table."""
    rng = np.random.default_rng([79, index])
    image = np.clip(255 * texture(rng, 384) ** (1 / 2.2), 0, 255).astype(np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(int(rng.choice([cv2.aruco.DICT_4X4_50, cv2.aruco.DICT_6X6_50])))
    for _ in range(int(rng.integers(3, 9))):
        side, quiet = int(rng.integers(20, 90)), int(rng.integers(1, 10))
        marker = cv2.aruco.generateImageMarker(dictionary, int(rng.integers(0, 50)), 60, borderBits=1)
        ink, paper = rng.integers(0, 70), rng.integers(150, 256, 3)
        patch = np.where(np.pad(marker, 3 * quiet, constant_values=255)[..., None], paper, ink)
        if rng.uniform() < 0.4:
            patch = np.full((60, 60, 3), rng.integers(0, 256, 3))
            for _ in range(int(rng.integers(1, 4))):
                shade = tuple(int(v) for v in rng.integers(0, 256, 3))
                patch = cv2.circle(patch.astype(np.uint8), (30, 30), int(rng.integers(12, 30)), shade, -1, cv2.LINE_AA)
        size = patch.shape[0]
        m = cv2.getRotationMatrix2D((size / 2, size / 2), float(rng.uniform(0, 360)), side / size)
        m[:, 2] += rng.uniform(0, 384, 2) - size / 2
        m = np.asarray(m * np.array([1.0, rng.uniform(0.7, 1.0), 1.0]), np.float64)
        warped = cv2.warpAffine(patch.astype(np.uint8), m, (384, 384), flags=cv2.INTER_AREA)
        mask = cv2.warpAffine(np.full((size, size), 255, np.uint8), m, (384, 384))
        image = np.where(mask[..., None] > 127, warped, image).astype(np.uint8)
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.4, 1.2))), np.uint8)
    return DiceExample(image, np.zeros((0, 4), np.float32), (), np.zeros((0, 2), np.float32), f"strangers {index}")


def without_tiles(example: DiceExample) -> DominoExample:
    """A picture of dice or strangers as one of no dominoes."""
    return DominoExample(example.image, np.zeros((0, 4, 2), np.float32), ())


def scenes(make: Callable[[int], T], count: int, cache: Path) -> list[T]:
    """Scenes 0..count-1, made by two processes or taken from the cache folder."""
    path = cache / f"{make.__name__}_{count}.pkl"
    if path.exists():
        kept: list[T] = pickle.loads(path.read_bytes())
        return kept
    with ProcessPoolExecutor(2) as pool:
        made = list(pool.map(make, range(count), chunksize=20))
    cache.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(made))
    return made


def photographs(folder: Path) -> list[DiceExample]:
    """The labelled photographs of a folder with `labels.json` (`dice`, `boxes`), in the order of their names."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    out = []
    for name in sorted(k for k in labels if not k.startswith("_")):
        image = cv2.imread(str(folder / name), cv2.IMREAD_COLOR)
        if image is not None:
            values, boxes = labels[name]["dice"], np.array(labels[name]["boxes"], np.float32).reshape(-1, 4)
            ups = np.full((len(boxes), 2), np.nan, np.float32)
            out.append(DiceExample(np.asarray(image, np.uint8), boxes, tuple(v - 1 for v in values), ups, name))
    return out
