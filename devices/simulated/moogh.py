"""MOOGH's table, simulated: hunting ground with cubes and the beast's die, action card and point card with theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np

from calibration.profile import Board
from devices.contract import Image
from devices.simulated.materials import PipInk, die_paint, noise, plain, solid_colour
from devices.simulated.solids import Floats, Solid
from devices.simulated.tokens_print import Colour, Sheet, ShotOptions, marker_sheets, paper, px, shoot
from devices.simulated.tray import upright

CUBE_INKS: Mapping[str, Colour] = {
    "red": (0.04, 0.03, 0.60),
    "green": (0.08, 0.36, 0.05),
    "brown": (0.05, 0.09, 0.16),
    "white": (0.80, 0.82, 0.82),
}
"""Paint of the cubes, linear BGR."""
_LINE: Colour = (0.05, 0.05, 0.06)
_ROCK: Colour = (0.09, 0.09, 0.09)
_FACES = (3, 4, 2, 5, 1, 6)


@dataclass(frozen=True, slots=True)
class MooghOptions:
    """What a scene may look like. `action_turn_deg` and `point_turn_deg` turn the cards from upright; `cube_shift_mm`
    moves single cubes on purpose; dice named in `missing` (`health`, `rage`, `points`) are left out; `markers` lie
    about the table; `blank_action` lays an action card without print."""

    action_turn_deg: float | None = None
    point_turn_deg: float | None = None
    cube_shift_mm: Mapping[str, tuple[float, float]] | None = None
    missing: tuple[str, ...] = ()
    markers: bool = True
    blank_action: bool = False
    shot: ShotOptions = field(default_factory=lambda: ShotOptions(tilt_deg=(0.0, 20.0), heading_deg=270.0))


@dataclass(frozen=True, slots=True, eq=False)
class MooghScene:
    """A picture of the table and the board's corners (4, 2) in it, in the spec's order."""

    image: Image
    corners_px: Floats


def moogh_scene(
    rng: np.random.Generator, board: Board, look: Mapping[str, str], options: MooghOptions = MooghOptions()
) -> MooghScene:
    """The picture of a table that looks so; cubes that stand on no cell are not there."""
    solids = _cubes(rng, board, look, options.cube_shift_mm or {})
    ground = ground_sheet(rng, board)
    action = action_sheet(rng, board, look["card:side"], options)
    points = point_sheet(rng, board, options)
    sheets = [ground, action, points]
    sizes, lift = board.sizes_mm, board.sizes_mm["card_height"]
    if "health" not in options.missing:
        column, row = (int(v) for v in look["beast:origin"].split(","))
        pitch, deep = float(board.grid["pitch_mm"]), int(board.grid["deep"])
        spot = ((column + 1) * pitch + float(rng.normal(0, 1)), (deep - row - 1) * pitch + float(rng.normal(0, 1)))
        body: Colour = ((0.06, 0.20, 0.06), (0.08, 0.18, 0.30), (0.30, 0.08, 0.06))[int(rng.integers(3))]
        yaw = float(rng.choice([0, 90])) + float(rng.normal(0, 3))
        solids.append(die_solid(int(look["die:health"]), sizes["health_die"], spot, lift, yaw, body, 0.8))
    if "rage" not in options.missing:
        row, column = (int(v) for v in look["rage:cell"].split("."))
        spec = board.grid["action_card"]
        x, y = spec["columns_mm"][column], spec["rows_mm"][row - 1]
        spot = action.at(x + float(rng.uniform(-1.3, 1.3)), y + float(rng.uniform(-1.3, 1.3)))
        yaw = float(rng.uniform(0, 360))
        solids.append(die_solid(int(look["die:rage"]), sizes["rage_die"], spot, lift, yaw, (0.04, 0.03, 0.55), 0.8))
    if "points" not in options.missing:
        value = look["die:points"]
        x, y = board.grid["point_card"]["slots_mm"][value[0]]
        spot = points.at(x + float(rng.uniform(-2, 2)), y + float(rng.uniform(-2, 2)))
        pips = int(value[1:]) if value != "0" else int(rng.integers(1, 7))
        solids.append(
            die_solid(pips, sizes["point_die"], spot, lift, float(rng.uniform(0, 360)), (0.75, 0.78, 0.78), 0.03)
        )
    shown = [*board.corners_mm, *_corners(action), *_corners(points)]
    if options.markers and board.markers is not None:
        sheets += marker_sheets(board.markers)
        shown += [(float(x), float(y)) for c in board.markers.corners_mm.values() for x, y, _ in c]
    (left, low), (right, high) = np.min(shown, axis=0) - 12, np.max(shown, axis=0) + 12
    shot = shoot(rng, sheets, solids, (left, low, right, high), options.shot)
    corners = shot.camera.project(np.array([(x, y, 0.0) for x, y in board.corners_mm]))
    return MooghScene(shot.image, corners)


def random_look(rng: np.random.Generator, board: Board) -> dict[str, str]:
    """A table on which everything lies properly; about one cube in six stands on no cell (`dead`)."""
    grid = board.grid
    wide, deep = int(grid["wide"]), int(grid["deep"])
    column, row = int(rng.integers(0, wide - 1)), int(rng.integers(0, deep - 1))
    beast = {f"{column + c},{row + r}" for c in (0, 1) for r in (0, 1)}
    free = [f"{c},{r}" for c in range(wide) for r in range(deep)]
    free = [c for c in free if c not in beast and c not in grid["obstacles"]]
    cells = [str(c) for c in rng.permutation(free)[:4]]
    points = int(rng.integers(0, 13))
    return {
        "beast:origin": f"{column},{row}",
        "die:health": str(rng.integers(1, 7)),
        "die:rage": str(rng.integers(1, 7)),
        "rage:cell": f"{rng.integers(1, 7)}.{rng.integers(0, 5)}",
        "card:side": str(rng.choice(["front", "back"])),
        "die:points": "0" if points == 12 else f"{'AB'[points // 6]}{points % 6 + 1}",
        **{f"cube:{n}": c if rng.uniform() > 0.16 else "dead" for n, c in zip(CUBE_INKS, cells, strict=True)},
    }


def die_solid(
    value: int, edge: float, spot: tuple[float, float], lift: float, yaw: float, body: Colour, ink: float
) -> Solid:
    """A die of this edge (mm) that shows `value`, lying `lift` above the table about `spot`."""
    pips = PipInk(np.full(3, ink, np.float32), edge * 0.1, edge * 0.25)
    paint = die_paint(solid_colour(np.array(body, np.float32)), pips, _FACES, (0, 0, 0, 0, 0, 0), 0.2)
    half = edge / 2
    spin = upright(_FACES.index(value), yaw)
    return Solid((half, half, half), spin, np.array([*spot, half + lift], np.float32), paint, ball_mm=half * 1.62)


def _cubes(
    rng: np.random.Generator, board: Board, look: Mapping[str, str], moved: Mapping[str, tuple[float, float]]
) -> list[Solid]:
    solids = []
    for name in CUBE_INKS:
        value = look.get(f"cube:{name}", "dead")
        if "," not in value:
            continue
        off = moved.get(name, tuple(rng.uniform(-2.5, 2.5, 2)))
        solids.append(cube_solid(board, name, value, off, float(rng.uniform(0, 90))))
    return solids


def cube_solid(board: Board, name: str, cell: str, off_mm: tuple[float, float], turn_deg: float) -> Solid:
    """A tribesman's cube on a cell, so far off its middle."""
    pitch, deep, half = float(board.grid["pitch_mm"]), int(board.grid["deep"]), board.sizes_mm["cube"] / 2
    column, row = (int(v) for v in cell.split(","))
    x, y = (column + 0.5) * pitch + off_mm[0], (deep - row - 0.5) * pitch + off_mm[1]
    centre = np.array([x, y, half + board.sizes_mm["board_height"]], np.float32)
    skin = plain(np.array(CUBE_INKS[name], np.float32), 0.1)
    return Solid((half, half, half), upright(4, turn_deg), centre, skin)


def ground_sheet(rng: np.random.Generator, board: Board) -> Sheet:
    """The board: stone with grid lines, rocks, start rings, a wall along the north edge, the beast's footprints."""
    corners = np.array(board.corners_mm)
    (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    tint = np.array([1 + rng.uniform(-0.12, 0.12), 1.0, 1 + rng.uniform(-0.12, 0.12)]) * rng.uniform(0.22, 0.42)
    sheet = paper(right - left, high - low, (float(tint[0]), float(tint[1]), float(tint[2])))
    pitch = float(board.grid["pitch_mm"])
    wide, deep = int(board.grid["wide"]), int(board.grid["deep"])
    grey: Colour = (0.14, 0.14, 0.14)
    for c in range(1, wide):
        cv2.line(sheet, px(c * pitch, 0), px(c * pitch, deep * pitch), grey, 2, cv2.LINE_AA)
    for r in range(1, deep):
        cv2.line(sheet, px(0, r * pitch), px(wide * pitch, r * pitch), grey, 2, cv2.LINE_AA)
    cv2.rectangle(sheet, (0, 0), px(wide * pitch, 2.0), _ROCK, -1)
    for name in board.grid["obstacles"]:
        c, r = (int(v) for v in name.split(","))
        cv2.circle(sheet, px((c + 0.5) * pitch, (r + 0.5) * pitch), px(7.0)[0], _ROCK, -1, cv2.LINE_AA)
    for (c, r), ink in zip(((7, 1), (7, 4), (0, 1), (0, 4)), CUBE_INKS.values(), strict=True):
        cv2.circle(sheet, px((c + 0.5) * pitch, (r + 0.5) * pitch), px(6.0)[0], ink, 4, cv2.LINE_AA)
    rough = cv2.resize(noise(rng, 128, 5), sheet.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return Sheet(np.asarray(sheet * (1 + 0.08 * rough[..., None]), np.float32), (float(left), float(high)))


def action_sheet(rng: np.random.Generator, board: Board, side: str, options: MooghOptions) -> Sheet:
    """The action card with this side up."""
    spec = board.grid["action_card"]
    wide, high = (float(v) for v in spec["size_mm"])
    sheet = paper(wide, high, _cream(rng))
    _frame(sheet)
    if not options.blank_action:
        _centred(sheet, "MOOGH " + ("I" if side == "front" else "II"), 35.0, 7.5, 0.22)
        for r, y in enumerate(spec["rows_mm"]):
            words = [spec["heads"][r], *spec[side][r].split()]
            for c, (x, word) in enumerate(zip(spec["columns_mm"], words, strict=True)):
                half = float(spec["cell_mm"]) / 2
                shade: Colour = (0.75 - 0.09 * r, 0.82 - 0.07 * r, 0.86)
                if c:
                    cv2.rectangle(sheet, px(x - half, y - half), px(x + half, y + half), shade, -1)
                ink = _LINE if c else (0.10, 0.08, 0.55)
                cv2.rectangle(sheet, px(x - half, y - half), px(x + half, y + half), ink, 2, cv2.LINE_AA)
                _centred(sheet, word, x, y, 0.155)
    turn = float(rng.normal(0, 3)) if options.action_turn_deg is None else options.action_turn_deg
    return _laid_out(sheet, (216.0, 58.0), turn)


def point_sheet(rng: np.random.Generator, board: Board, options: MooghOptions) -> Sheet:
    """The point card."""
    spec = board.grid["point_card"]
    width, height = spec["size_mm"]
    sheet = paper(width, height, _cream(rng))
    below = px(float(spec["nobody_from_mm"]))[0]
    sheet[:below, : px(width / 2)[0]] = (0.10, 0.10, 0.45)
    sheet[:below, px(width / 2)[0] :] = (0.40, 0.16, 0.17)
    for x, y in spec["slots_mm"].values():
        half = float(spec["slot_mm"]) / 2
        cv2.rectangle(sheet, px(x - half, y - half), px(x + half, y + half), _LINE, 2, cv2.LINE_AA)
    _centred(sheet, "RED+GRN", width / 4, 6.0, 0.13)
    _centred(sheet, "BRN+WHT", width * 3 / 4, 6.0, 0.13)
    _frame(sheet)
    turn = float(rng.normal(0, 5)) if options.point_turn_deg is None else options.point_turn_deg
    return _laid_out(sheet, (304.0, 62.0), turn)


def _laid_out(albedo: Floats, middle_mm: tuple[float, float], turn_deg: float) -> Sheet:
    """A card whose middle lies there."""
    sheet = Sheet(albedo, (0.0, 0.0), turn_deg)
    x, y = sheet.at(sheet.size_mm[0] / 2, sheet.size_mm[1] / 2)
    return Sheet(albedo, (middle_mm[0] - x, middle_mm[1] - y), turn_deg)


def _corners(sheet: Sheet) -> list[tuple[float, float]]:
    w, h = sheet.size_mm
    return [sheet.at(x, y) for x, y in ((0, 0), (w, 0), (w, h), (0, h))]


def _cream(rng: np.random.Generator) -> Colour:
    level = float(rng.uniform(0.6, 0.8))
    return (level * float(rng.uniform(0.75, 1.05)), level, level * float(rng.uniform(0.95, 1.05)))


def _frame(sheet: Floats) -> None:
    high, wide = sheet.shape[:2]
    cv2.rectangle(sheet, (0, 0), (wide - 1, high - 1), (0.04, 0.04, 0.04), px(2.0)[0])


def _centred(sheet: Floats, text: str, x_mm: float, y_mm: float, size: float) -> None:
    """Text about a point; another typeface than the readers compare with."""
    font, scale = cv2.FONT_HERSHEY_COMPLEX, size * 4.0
    (wide, tall), _ = cv2.getTextSize(text, font, scale, 2)
    x, y = px(x_mm, y_mm)
    ink = np.zeros(sheet.shape[:2], np.uint8)
    cv2.putText(ink, text, (x - wide // 2, y + tall // 2), font, scale, 255, 2, cv2.LINE_AA)
    share = (ink.astype(np.float32) / 255)[..., None]
    sheet[:] = sheet * (1 - share) + np.array(_LINE, np.float32) * share
