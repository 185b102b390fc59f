"""What reading six dice or fourteen dominoes costs at 1080p, as ratios to decoding the same JPEG."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import cv2
import numpy as np

from companion.games.contract import Json
from devices.contract import Frame, Image
from devices.simulated.dominoes import DominoOptions, domino_scene
from devices.simulated.tray import TrayOptions, tray_scene
from vision.dice import DiceReader
from vision.dominoes import DominoReader

SIZE_PX = (1920, 1080)
DICE = TrayOptions(
    dice=(6, 6), cocked=0.0, tray=1.0, die_px=(75, 75), tilt_deg=(15, 15), hand=0.0, strangers=0.0, size_px=SIZE_PX
)
TILES = DominoOptions(
    tiles=(14, 14), line=1.0, face_down=0.0, strangers=0.0, tile_px=(150, 150), tilt_deg=(15, 15), size_px=SIZE_PX
)
BRIGHT = 70
"""Mean level from which a picture is as bright as a camera's automatic exposure makes it."""


def free_pieces() -> dict[str, Json]:
    """Ratios of reading to decoding, one thread."""
    dice = _bright(lambda rng: tray_scene(rng, DICE)[0])
    tiles = _bright(lambda rng: domino_scene(rng, TILES)[0])
    return {
        "read_six_dice_ratio": _ratio(dice, DiceReader().read),
        "read_fourteen_dominoes_ratio": _ratio(tiles, DominoReader().read),
    }


def _bright(make: Callable[[np.random.Generator], Image]) -> Image:
    """The first simulated picture that is bright enough."""
    return next(image for seed in count() if (image := make(np.random.default_rng(seed))).mean() > BRIGHT)


def _ratio(image: Image, read: Callable[[Frame], Any]) -> float:
    jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 92])[1]
    picture = np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), np.uint8)
    frame = Frame(picture, 1, 1.0, "bench")
    decode_s, read_s = [], []
    for _ in range(9):
        # Taken in turn, so that what else the machine does weighs on both alike.
        start = time.thread_time()
        cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
        middle = time.thread_time()
        read(frame)
        decode_s.append(middle - start)
        read_s.append(time.thread_time() - middle)
    return round(statistics.median(read_s) / statistics.median(decode_s), 3)
