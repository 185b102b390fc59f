"""What seeing costs: whole readings and frames without news, as ratios to decoding the same JPEG, and its memory.

A settled read is the first reading of a table at rest after one turn: the board's place in the picture is known from
the reading before, one to four tiles have changed. Decoding and reading take turns, as in the product, so that both
find the processor's caches as the other left them.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.profile import TableProfile, load_board
from companion.games.contract import Json, Look, Setup
from companion.registry import game
from devices.contract import Frame, Image
from devices.simulated.bench import measure
from devices.simulated.optics import CameraModel
from devices.simulated.table import MoguliTable
from vision.settler import Settler

GAME = "moguli"
SEEDS, TIMES = 4, 9
FRAMES, WARM = 10_000, 2_000
"""Frames over which memory may not grow, and those after which it is full."""

Ratios = dict[str, list[float]]


def eyes() -> dict[str, Json]:
    """Ratios on simulated 1080p frames: `read_tracked_ratio` (a settled read), `read_again_ratio` (nothing has
    changed), `read_cold_ratio` (nothing is known), `no_news_ratio` (stillness alone)."""
    board = load_board(GAME)
    camera = replace(CameraModel(), width=1920, height=1080)
    ratios: Ratios = {}
    for seed in range(SEEDS):
        before, after = _looks(seed)
        pictures = []
        for look in (before, after):
            table = MoguliTable(look, board, seed, camera=camera)
            table.stage.advance(1.0)
            pictures.append(table.stage.frame(1).bgr)
        _measure(TableProfile(board), pictures, before, ratios)
    return {f"{name}_ratio": round(statistics.median(values), 3) for name, values in ratios.items()}


def frames_of(folder: Path) -> dict[str, Json]:
    """The same on the pictures with truth in a folder, as the census reads them."""
    from companion import census

    ratios: Ratios = {}
    for kind, place in census.folders(folder):
        for name, values in kind.read(place).ratios.items():
            ratios.setdefault(name, []).extend(values)
    names = {"tracked": "read_tracked", "again": "read_again", "cold": "read_cold", "settler": "no_news"}
    return {f"frames_{names[n]}_ratio": round(statistics.median(v), 3) for n, v in ratios.items() if n in names}


def _looks(seed: int) -> tuple[Look, Look]:
    """A table and the same after one turn."""
    entry = game(GAME)
    engine = entry.load_rules()
    state = engine.new(Setup(("1", "2"), {}, entry.deal_start(random.Random(seed))))
    turn = entry.load_choose()(state, random.Random(seed))
    return engine.look(state), engine.look(engine.apply(state, turn))


def _measure(profile: TableProfile, pictures: Sequence[Image], before: Look, ratios: Ratios) -> None:
    reader_of = game(GAME).load_reader()
    jpegs = [cv2.imencode(".jpg", p, [cv2.IMWRITE_JPEG_QUALITY, 92])[1] for p in pictures]
    spent: Ratios = {}

    def decoded(which: int) -> Frame:
        picture, took_s = _timed(lambda: cv2.imdecode(jpegs[which], cv2.IMREAD_COLOR))
        spent.setdefault("decode", []).append(took_s)
        return Frame(np.asarray(picture, dtype=np.uint8), which, float(which), "bench")

    settler = Settler()
    for number in range(TIMES):
        reader = reader_of(profile)
        first = decoded(0)
        spent.setdefault("read_cold", []).append(_timed(lambda r=reader, f=first: r.read(f))[1])  # type: ignore[misc]
        reader.agree(before)
        for name in ("read_tracked", "read_again"):
            later = decoded(1)
            spent.setdefault(name, []).append(_timed(lambda r=reader, f=later: r.read(f))[1])  # type: ignore[misc]
        quiet = replace(decoded(1), number=number, time_s=number / 30)
        spent.setdefault("no_news", []).append(_timed(lambda f=quiet: settler.feed(f))[1])  # type: ignore[misc]
    decode_s = statistics.median(spent.pop("decode"))
    for name, values in spent.items():
        ratios.setdefault(name, []).append(statistics.median(values) / decode_s)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` returns, and the CPU time of this thread."""
    began_s = time.thread_time()
    result = work()
    return result, time.thread_time() - began_s


def simulated() -> dict[str, Json]:
    """720p frames of the simulated table a second of CPU time: nothing moves, only a hand moves, a hand turns a tile,
    everything is redrawn."""
    return {f"simulated_fps_{name}": round(value, 1) for name, value in measure().items() if name != "decode_ms"}


def growth() -> dict[str, Json]:
    """Megabytes by which this process grows while the eyes look at 10,000 frames of a game in which a turn is made and
    taken back every two seconds (after 2,000 more that fill what is kept)."""
    board = load_board(GAME)
    before, after = _looks(0)
    pictures = []
    for look in (before, after):
        table = MoguliTable(look, board, 0)
        table.stage.advance(1.0)
        pictures += [table.stage.frame(number).bgr for number in range(2)]
    reader, settler = game(GAME).load_reader()(TableProfile(board)), Settler()
    full_mb = 0.0
    for number in range(WARM + FRAMES):
        turned = number // 60 % 2
        frame = Frame(pictures[2 * turned + number % 2], number, number / 30, "bench")
        if settler.feed(frame).fresh:
            reader.read(frame)
            reader.agree(after if turned else before)
        if number == WARM:
            full_mb = _resident_mb()
    return {"growth_mb": round(_resident_mb() - full_mb, 1)}


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * 4096 / 2**20
