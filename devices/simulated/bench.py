"""How fast simulated frames are made, measured on one core in processor time."""

from __future__ import annotations

import time
from collections.abc import Callable

import cv2

from calibration.profile import load_board
from devices.simulated.acts import Hover, TurnTile
from devices.simulated.disturbances import Bump
from devices.simulated.optics import CameraModel
from devices.simulated.table import MoguliTable

START = {
    **{f"path:{c}{r}": ("NE", "ES", "SW", "NW")[(i + r) % 4] for i, c in enumerate("abcde") for r in range(1, 8)},
    **{f"pawn:{c}{r}": p for c in "abcde" for r, p in ((1, "1"), (7, "2"))},
}


def measure(width: int = 1280, height: int = 720, frames: int = 60) -> dict[str, float]:
    """Frames per second of processor time of this thread: `still` (nothing moves), `hand` (only a hand moves),
    `turn` (a hand turns a tile), `redrawn` (everything is painted again); `decode_ms` is the time to decode one of
    these pictures from JPEG, for comparison. Sets OpenCV to one thread while it measures."""
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        return _measure(CameraModel(width=width, height=height), frames)
    finally:
        cv2.setNumThreads(threads)


def _measure(camera: CameraModel, frames: int) -> dict[str, float]:
    table = MoguliTable(START, load_board("moguli"), 1, light="window", camera=camera)
    tick = 1 / camera.fps
    picture = table.stage.frame(0).bgr
    _, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 90])
    result = {"still": _rate(table, tick, frames)}
    table.act([Hover("c4", frames * tick)])
    table.stage.advance(0.2)
    result["hand"] = _rate(table, tick, frames)
    table.stage.advance(5.0)
    table.act([TurnTile("c4", 1)] * 20)
    table.stage.advance(0.2)
    result["turn"] = _rate(table, tick, frames)
    table.stage.advance(60.0)
    table.stage.disturb(Bump(shake_s=frames * tick + 1))
    table.stage.advance(tick)
    result["redrawn"] = _rate(table, tick, frames)
    result["decode_ms"] = 1000 * min(_seconds(lambda: cv2.imdecode(jpeg, cv2.IMREAD_COLOR)) for _ in range(20))
    return result


def _rate(table: MoguliTable, tick: float, frames: int) -> float:
    spent = 0.0
    for number in range(frames):
        table.stage.advance(tick)
        spent += _seconds(lambda n=number: table.stage.frame(n))  # type: ignore[misc]
    return frames / spent


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
