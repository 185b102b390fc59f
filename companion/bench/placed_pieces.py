"""What reading tokens, five figures and MOOGH's table costs at 1080p, as ratios to decoding the same JPEG.

`cold`: a reader that has seen nothing (figures' templates are made, as at start-up). `changed`: the board is known and
one piece has changed since. `settled`: nothing has changed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import cv2
import numpy as np

from calibration.figure_prints import printable
from calibration.profile import TableProfile, load_board
from companion.games.contract import Json
from devices.contract import Frame, Image
from devices.simulated.arena import ArenaLook, FigureArt, Lying, camera_over, paint
from devices.simulated.moogh import MooghOptions, moogh_scene, random_look
from devices.simulated.tokens import TokenOptions, token_scene
from devices.simulated.tokens_print import ShotOptions
from vision.contract import Reader
from vision.figure_table import FigureTableReader
from vision.moogh import MooghReader
from vision.tokens import TokenReader

SIZE_PX = (1920, 1080)
RUNS = 5


def figures() -> dict[str, Json]:
    """All ratios, one thread."""
    shot = ShotOptions(size_px=SIZE_PX, tilt_deg=(15.0, 15.0), heading_deg=270.0)
    return {
        **_ratios("tokens", lambda: TokenReader(TableProfile(load_board("maulwurf"))), _tokens(shot)),
        **_ratios("five_figures", _arena_reader, _arena()),
        **_ratios("moogh", lambda: MooghReader(TableProfile(load_board("moogh"))), _moogh(shot)),
    }


def _tokens(shot: ShotOptions) -> list[Image]:
    board = load_board("maulwurf")
    places = list(board.places_mm)
    look = {f"cell:{place}": "-" for place in places}
    for n in range(36):
        look[f"cell:{places[5 * n]}"] = f"mole{n % 4 + 1}"
    moved = {**look, f"cell:{places[0]}": "-", f"cell:{places[1]}": "mole1"}
    colours = tuple(str(c) for c in board.grid["colours"])
    options = TokenOptions(shot=shot)
    return [token_scene(np.random.default_rng(4), board, colours, each, options).image for each in (look, moved)]


def _moogh(shot: ShotOptions) -> list[Image]:
    board = load_board("moogh")
    look = random_look(np.random.default_rng(4), board)
    taken = {v for k, v in look.items() if k.startswith("cube:")}
    free = next(cell for cell in ("0,0", "7,5", "0,5", "7,0") if cell not in taken)
    moved = {**look, "cube:red": free}
    options = MooghOptions(shot=shot)
    return [moogh_scene(np.random.default_rng(4), board, each, options).image for each in (look, moved)]


def _arena() -> list[Image]:
    board = load_board("moogui")
    camera = camera_over(board, *SIZE_PX, 20.0, -90.0, 2.0, 880.0)
    spots = ((120.0, 150.0), (300.0, 330.0), (450.0, 420.0), (480.0, 120.0), (200.0, 470.0))
    lying = []
    for number, (figure, xy) in enumerate(zip(printable(board), spots, strict=False)):
        assert figure.top is not None and figure.bottom is not None
        art = FigureArt(figure.name, figure.faces, figure.top, figure.bottom)
        lying.append(Lying(art, "top" if number == 2 else str(number + 1), xy, 55.0 * number))
    return [paint(board, camera, each, ArenaLook(seed=n)) for n, each in enumerate((lying[:4], lying))]


def _arena_reader() -> FigureTableReader:
    reader = FigureTableReader(TableProfile(load_board("moogui")))
    reader.prepare()
    return reader


def _ratios(name: str, made: Callable[[], Reader], pictures: Sequence[Image]) -> dict[str, Json]:
    """Ratios of reading the last picture, the one before it being what had changed."""
    before, jpeg = (cv2.imencode(".jpg", p, [cv2.IMWRITE_JPEG_QUALITY, 92])[1] for p in pictures)
    frame = Frame(np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), np.uint8), 2, 2.0, "bench")
    first = Frame(np.asarray(cv2.imdecode(before, cv2.IMREAD_COLOR), np.uint8), 1, 1.0, "bench")
    decode_s: list[float] = []
    taken: dict[str, list[float]] = {"cold": [], "changed": [], "settled": []}
    for _ in range(RUNS):
        watching = made()
        watching.read(first)
        for how, reader in (("cold", made()), ("changed", watching), ("settled", watching)):
            # Taken in turn, so that what else the machine does weighs on both alike.
            start = time.thread_time()
            cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
            middle = time.thread_time()
            reader.read(frame)
            decode_s.append(middle - start)
            taken[how].append(time.thread_time() - middle)
    unit = statistics.median(decode_s)
    return {f"read_{name}_{how}_ratio": round(statistics.median(times) / unit, 3) for how, times in taken.items()}
