"""What this machine can do: reading against decoding, stillness, explanations, simulated frames, memory.

All times are CPU time of one thread; ratios are to decoding the same 1080p JPEG. Nothing here is a test.
"""

from __future__ import annotations

import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from companion.bench import free_pieces, placed_pieces
from companion.bench.eyes import eyes, frames_of, growth, simulated
from companion.bench.wires import wires
from companion.games.contract import Json, Setup
from companion.registry import game
from devices.contract import Frame
from vision.arena_states import ArenaWatch

GAME = "moguli"


def main(json_path: Path | None = None, frames: Path | None = None) -> int:
    """Measures, prints a table and writes JSON; 0 when it could measure. `frames`: a folder of pictures with truth on
    which reading is measured too."""
    cv2.setNumThreads(1)
    figures: dict[str, Json] = {"machine": machine()}
    for measure in (eyes, pieces, arena, explanations, simulated, growth, memory, wires, engines):
        began_s = time.perf_counter()
        figures.update(measure())
        print(f"# {measure.__name__} took {time.perf_counter() - began_s:.0f} s", file=sys.stderr, flush=True)
    if frames is not None:
        figures.update(frames_of(frames))
    for name, value in figures.items():
        print(f"{name}: {value}")
    if json_path is not None:
        json_path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def machine() -> str:
    """The machine in one line: processor, cores, system, Python, OpenCV."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    cpu = found.group(1) if found else platform.processor() or platform.machine()
    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, OpenCV {cv2.__version__}"
    )


def _cpu_s(work: Callable[[], Any], times: int = 5) -> float:
    """The median CPU time of several runs."""
    taken = []
    for _ in range(times):
        began_s = time.process_time()
        work()
        taken.append(time.process_time() - began_s)
    return statistics.median(taken)


def _start(seed: int) -> tuple[Any, Any]:
    entry = game(GAME)
    engine = entry.load_rules()
    return engine, engine.new(Setup(("1", "2"), {}, entry.deal_start(random.Random(seed))))


def arena() -> dict[str, Json]:
    """Following an arena's states at 1280 x 720 and 30 frames a second, a frame, as ratios to decoding its JPEG: at
    rest, and with an arm and a thing in motion."""
    rng = np.random.default_rng(0)
    floor = cv2.resize(rng.integers(90, 150, (24, 40, 3), dtype=np.uint8), (1280, 720), interpolation=cv2.INTER_CUBIC)
    pictures = []
    for step in range(30):
        canvas = np.asarray(cv2.add(floor, np.full_like(floor, step % 3)), dtype=np.uint8)
        cv2.rectangle(canvas, (380, 60), (980, 660), (60, 70, 200), 8)
        cv2.rectangle(canvas, (600, 300), (645, 324), (40, 40, 190), -1)
        if step >= 15:
            cv2.line(canvas, (0, 500), (350 + 10 * step, 420), (130, 160, 215), 70)
            cv2.circle(canvas, (900 - 12 * step, 200), 16, (190, 60, 40), -1)
        pictures.append(np.asarray(canvas, dtype=np.uint8))
    jpeg = cv2.imencode(".jpg", pictures[0], [cv2.IMWRITE_JPEG_QUALITY, 92])[1]
    decode_s = _cpu_s(lambda: cv2.imdecode(jpeg, cv2.IMREAD_COLOR), 15)
    ratios = []
    for part in (pictures[:15], pictures[15:]):
        watch, numbers = ArenaWatch(), iter(range(10**6))
        for picture in pictures[:15]:
            watch.watch(Frame(picture, k := next(numbers), k / 30, "bench"))
        began_s = time.process_time()
        for _ in range(3):
            for picture in part:
                watch.watch(Frame(picture, k := next(numbers), k / 30, "bench"))
        ratios.append((time.process_time() - began_s) / (3 * len(part)) / decode_s)
    return {"arena_rest_ratio": round(ratios[0], 3), "arena_motion_ratio": round(ratios[1], 3)}


def pieces() -> dict[str, Json]:
    """The figures of free and of placed pieces."""
    return {**free_pieces.free_pieces(), **placed_pieces.figures()}


def explanations() -> dict[str, Json]:
    """Milliseconds to explain what is seen: legal turns, and looks with a few facts changed at random."""
    engine, state = _start(0)
    chance = random.Random(0)
    choose = game(GAME).load_choose()
    legal, illegal = [], []
    for _ in range(30):
        turn = choose(state, chance)
        after = engine.apply(state, turn)
        look = dict(engine.look(after))
        legal.append(_cpu_s(lambda s=state, k=look: engine.explain(s, k), 1))  # type: ignore[misc]
        places = chance.sample(sorted(k for k in look if k.startswith("path:")), 2)
        look[places[0]], look[places[1]] = look[places[1]], look[places[0]]
        illegal.append(_cpu_s(lambda s=state, k=look: engine.explain(s, k), 1))  # type: ignore[misc]
        if engine.outcome(after) is not None:
            break
        state = after
    return {
        "explain_legal_ms_median": round(1000 * statistics.median(legal), 2),
        "explain_legal_ms_worst": round(1000 * max(legal), 2),
        "explain_other_ms_median": round(1000 * statistics.median(illegal), 2),
        "explain_other_ms_worst": round(1000 * max(illegal), 2),
    }


def memory(seconds: float = 20.0) -> dict[str, Json]:
    """Megabytes (sum of PSS of all its processes) of a running demo with its dashboard."""
    command = [sys.executable, "-m", "companion", "demo", "--port", "0", "--no-browser", "--seed", "1", "--speed", "4"]
    demo = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(seconds)
        if demo.poll() is not None:
            return {"demo_pss_mb": None}
        return {"demo_pss_mb": round(_pss_mb(demo.pid), 1)}
    finally:
        demo.terminate()
        demo.wait(10)


def _pss_mb(pid: int) -> float:
    total = 0
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    for each in (str(pid), *children):
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{each}/smaps_rollup").read_text(encoding="utf-8"), re.M)
        total += int(found.group(1)) if found else 0
    return total / 1024


def engines() -> dict[str, Json]:
    """The figures of the rules engines, where they have any."""
    try:
        module = import_module("companion.bench.rules")
    except ImportError:
        return {}
    figures: dict[str, Json] = module.figures()
    return figures
