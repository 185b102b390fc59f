"""Training pictures: simulated scenes (kept in a cache folder) and the labelled photographs of one folder."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from devices.contract import Image
from devices.simulated.dominoes import DominoOptions, domino_scene
from devices.simulated.tray import TrayOptions, tray_scene
from vision.dice import COCKED
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
    """Scene `index`; every twentieth holds no dice."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng([77, index])
    options = TrayOptions(dice=(2, 11), hand=0.0, cocked=0.15, tilt_deg=(0, 35))
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
