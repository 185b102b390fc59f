"""A simulated board with tokens on its cells: plain and printed discs, white tiles with a coloured ring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np

from calibration.profile import Board
from devices.contract import Image
from devices.simulated.materials import noise
from devices.simulated.solids import Floats, Ints, Paint, Solid
from devices.simulated.tokens_print import Colour, Sheet, Shot, ShotOptions, marker_sheets, paper, px, shoot
from devices.simulated.tray import upright

INKS: Mapping[str, Colour] = {
    "red": (0.05, 0.04, 0.62),
    "blue": (0.55, 0.10, 0.06),
    "green": (0.10, 0.36, 0.05),
    "yellow": (0.05, 0.55, 0.80),
    "white": (0.78, 0.80, 0.80),
}
"""Paint of tokens, linear BGR."""

GROUNDS: tuple[tuple[Colour, Colour], ...] = (
    ((0.10, 0.35, 0.12), (0.12, 0.42, 0.16)),
    ((0.16, 0.30, 0.38), (0.20, 0.38, 0.46)),
    ((0.42, 0.46, 0.48), (0.50, 0.54, 0.56)),
)
"""Two shades of a board's cells: meadow, sand, stone."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenScene:
    """A picture of a board with tokens and the board's corners (4, 2) in it, in the spec's order."""

    image: Image
    corners_px: Floats


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """What a scene may look like: `printed` discs bear a picture, `jitter_mm` is how far tokens lie off their cells'
    middles, `shift_mm` moves single tokens on purpose, `markers` lie about the board."""

    printed: bool = False
    jitter_mm: float = 1.2
    shift_mm: Mapping[str, tuple[float, float]] | None = None
    markers: bool = True
    shot: ShotOptions = field(default_factory=lambda: ShotOptions(tilt_deg=(0.0, 20.0)))


def token_scene(
    rng: np.random.Generator,
    board: Board,
    colours: tuple[str, ...],
    look: Mapping[str, str],
    options: TokenOptions = TokenOptions(),
) -> TokenScene:
    """The picture of a board on which `look` (`cell:<place>` -> `-`, `mole<n>`, `busy<n>`) lies."""
    moved = options.shift_mm or {}
    solids = []
    for key, value in look.items():
        place = key.removeprefix("cell:")
        if value == "-":
            continue
        x, y = board.places_mm[place]
        dx, dy = moved.get(place, tuple(rng.uniform(-options.jitter_mm, options.jitter_mm, 2)))
        spot, turn_deg = (x + dx, y + dy), float(rng.uniform(0, 360))
        solids.append(token(board, value, colours, spot, turn_deg, options.printed))
    sheets = [board_sheet(rng, board)]
    shown = np.array(board.corners_mm)
    if options.markers and board.markers is not None:
        sheets += marker_sheets(board.markers)
        shown = np.concatenate([shown, *(np.array(c)[:, :2] for c in board.markers.corners_mm.values())])
    (left, low), (right, high) = shown.min(axis=0) - 12, shown.max(axis=0) + 12
    shot: Shot = shoot(rng, sheets, solids, (left, low, right, high), options.shot)
    corners = shot.camera.project(np.array([(x, y, 0.0) for x, y in board.corners_mm]))
    return TokenScene(shot.image, corners)


def token(
    board: Board, value: str, colours: tuple[str, ...], spot: tuple[float, float], turn_deg: float, printed: bool
) -> Solid:
    """The token `mole<n>` or `busy<n>` in player n's colour, lying on the board about `spot`."""
    radius = board.sizes_mm["token_radius"]
    ink = INKS[colours[int(value[4:]) - 1]]
    paint = _busy(ink, radius) if value.startswith("busy") else _mole(ink, radius, printed)
    centre = np.array([*spot, 1.5 + board.sizes_mm["board_height"]], np.float32)
    return Solid((radius, radius, 1.5), upright(4, turn_deg), centre, paint, round_mm=radius)


def board_sheet(rng: np.random.Generator, board: Board) -> Sheet:
    """The printed board: a dark sheet, two shades of cells, caves as dark holes, tunnels as grey rings."""
    corners = np.array(board.corners_mm)
    (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    sheet = paper(right - left, high - low, (0.06, 0.08, 0.07))
    shades = GROUNDS[int(rng.integers(len(GROUNDS)))]
    groups = board.grid.get("groups", {})
    pitch = float(board.grid["pitch_mm"])
    for number, (place, (x, y)) in enumerate(board.places_mm.items()):
        u, v = x - left, high - y
        (x0, y0), (x1, y1) = px(u - pitch / 2, v - pitch / 2), px(u + pitch / 2, v + pitch / 2)
        sheet[y0:y1, x0:x1] = shades[(number + round(y / pitch)) % 2]
        middle = px(u, v)
        if place in groups.get("cave", ()):
            cv2.circle(sheet, middle, px(pitch * 0.4)[0], (0.05, 0.07, 0.16), -1, cv2.LINE_AA)
            cv2.circle(sheet, middle, px(pitch * 0.3)[0], (0.03, 0.03, 0.04), -1, cv2.LINE_AA)
        elif place in groups.get("tunnel", ()):
            cv2.circle(sheet, middle, px(pitch * 0.3)[0], (0.40, 0.36, 0.38), px(2.6)[0], cv2.LINE_AA)
    rough = cv2.resize(noise(rng, 256, 5), sheet.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return Sheet(np.asarray(sheet * (1 + 0.05 * rough[..., None]), np.float32), (float(left), float(high)))


def _mole(ink: Colour, radius: float, printed: bool) -> Paint:
    body = np.array(ink, np.float32)

    def paint(p: Floats, faces: Ints) -> tuple[Floats, Floats, Floats]:
        albedo = np.tile(body, (len(p), 1))
        if printed:
            inner = (np.hypot(p[:, 0], p[:, 1] * 1.3) < 0.34 * radius) & (faces == 4)
            albedo[inner] = (0.05, 0.05, 0.06)
            nose = (np.hypot(p[:, 0] - 0.3 * radius, p[:, 1]) < 0.1 * radius) & (faces == 4)
            albedo[nose] = (0.35, 0.45, 0.75)
        return albedo, np.zeros_like(p), np.full(len(p), 0.1, np.float32)

    return paint


def _busy(ink: Colour, radius: float) -> Paint:
    body = np.array(ink, np.float32)

    def paint(p: Floats, faces: Ints) -> tuple[Floats, Floats, Floats]:
        albedo = np.full((len(p), 3), 0.8, np.float32)
        away = np.hypot(p[:, 0], p[:, 1]) / radius
        albedo[(away > 0.52) & (away < 0.8) & (faces == 4)] = body
        stroke = (np.abs(p[:, 1]) < 0.07 * radius) & (np.abs(p[:, 0]) < 0.25 * radius) & (faces == 4)
        albedo[stroke] = 0.05
        return albedo, np.zeros_like(p), np.full(len(p), 0.1, np.float32)

    return paint
