"""A board found without markers or tapped corners: by its outline, believed only where its own print lies within.

What is known of each print comes from the board spec: an arena has its line (`grid.wall`), a board of cells its caves
(`grid.groups`; a diamond also the bare sheet about it), a hunting ground its rocks (`grid.obstacles`),
a tray (`grid.tray`) its rim.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from calibration.geometry import Array, camera_from_plane
from calibration.profile import Board, Lens, Point
from devices.contract import Image
from vision.outlines import quadrangles, sharpened
from vision.pictures import shrunk
from vision.sampling import Floats, logs, middle
from vision.tray_rim import find_floor, is_tray

LONG_SIDE_PX = 960
"""Size at which outlines are looked for."""
MISFIT = 0.02
"""By how much of the board's size its corners may lie off those of a rectangle seen by a camera."""
CONTRAST = 0.10
"""Difference (log units) from which a line, a cave or a rock is told from what is about it."""
ARENA_SHARE = 0.12
"""Share of the picture that an arena fills at least: in a smaller one no figure could be read, and squares are many."""
SIDE_SHARE = 0.6
"""Part of each side of an arena along which its line must be seen (figures and hands may lie over the rest)."""
ALIKE = 0.6
"""Cosine between the looks of the line along different sides from which it is one line."""
LEAST_SCORE = 3.0
"""Spreads of the other cells by which caves or rocks must differ from them."""
MORE = 2.0
"""How many times further from the plain cells caves must be than most of these are."""
LEFT_SCORE = 0.6
"""Score that a print keeps under pieces, hands and bad light: that of one which lies half a cell beside is lower."""
AHEAD = 1.3
"""How many times better one way up must be than the other where the print tells them apart."""
ROCKS_ALIKE = 0.5
"""By how much of their contrast rocks may differ from each other."""
CLEARLY = 1.5
"""How many times more than beyond any other side must differ from the floor what is taken for the wall."""
UNEVEN = 0.15
"""How different (log units) opposite sides of a usual cell may be at most."""
ROUNDS, ASIDE = 4, 0.5
"""Steps in which corners are moved until cells are even, and how far (pitches) they may be moved in all."""
_GRID = np.stack(np.meshgrid(np.linspace(-0.2, 0.2, 3), np.linspace(-0.2, 0.2, 3)), axis=-1).reshape(-1, 2)

Judge = Callable[[Image, Array], float]
"""How surely (0: not at all, from 1 on: yes) the print lies in a picture under a homography from mm to px."""


def can_find(board: Board) -> bool:
    """True when something is known of this board's print, or it is a tray with a rim."""
    return _judge(board) is not None or is_tray(board)


def find_board(picture: Image, board: Board, lens: Lens | None = None) -> tuple[Point, Point, Point, Point] | None:
    """The pixels of the board's four corners in the spec's order, or None when no such board is surely there.

    Where the print looks the same from several sides, the first corner is the one at the picture's lower left.
    """
    if is_tray(board):
        return find_floor(picture, board, lens)
    judge = _judge(board)
    if judge is None or min(picture.shape[:2]) < 48:
        return None
    small = shrunk(picture, LONG_SIDE_PX)
    scale = picture.shape[1] / small.shape[1]
    corners_mm = np.array(board.corners_mm)
    found: list[tuple[float, Array]] = []
    for quad in quadrangles(small):
        for corners in _ways(quad, corners_mm):
            if _seen_by_a_camera(corners, corners_mm, small, lens):
                score = judge(small, _to_px(corners_mm, corners))
                if score >= 1.0 and ("pitch_mm" not in board.grid or _unevenness(small, corners, board) < UNEVEN):
                    found.append((score, corners))
    if not found:
        return None
    if "pitch_mm" in board.grid:
        # Of several that show the print, the one whose cells lie best; the earlier one where they lie alike.
        best = min(found, key=lambda f: round(_unevenness(small, f[1], board), 2))[1]
    else:
        best = max(found, key=lambda f: round(f[0], 1))[1]
        best = np.roll(best, -_wall(small, best, board), axis=0)
    corners = sharpened(picture, (best + 0.5) * scale - 0.5, reach_px=2.5 * scale + 1.0)
    if _has_caves(board):
        corners = _centred(picture, corners, board)
    a, b, c, d = ((float(x), float(y)) for x, y in corners)
    return a, b, c, d


def lies_here(picture: Image, board: Board, corners_px: Array) -> bool:
    """Whether the print of a board that `can_find` knows lies between these corners (4, 2 px): not where more speaks
    against it than hands, pieces and bad light do."""
    judge = _judge(board)
    if judge is None:
        return True
    corners = np.asarray(corners_px, dtype=np.float64)
    if judge(picture, _to_px(np.array(board.corners_mm), corners)) < LEFT_SCORE:
        return False
    return "pitch_mm" not in board.grid or _unevenness(picture, corners, board) < UNEVEN


def off_mm(board: Board, found_mm: Array) -> float:
    """How far the corner that is off most, of those found (4, 2), lies from its place; where the print looks the same
    from all sides, any corner may be the first."""
    ways = 4 if _has_caves(board) else 1
    corners = np.array(board.corners_mm)
    return min(float(np.linalg.norm(np.roll(found_mm, n, axis=0) - corners, axis=1).max()) for n in range(ways))


def _judge(board: Board) -> Judge | None:
    grid = board.grid
    if "wall" in grid:
        return lambda picture, to_px: _line(picture, to_px, board)
    if _has_caves(board):
        return lambda picture, to_px: _caves(picture, to_px, board)
    if grid.get("obstacles") and "wide" in grid:
        return lambda picture, to_px: _rocks(picture, to_px, board)
    return None


def _has_caves(board: Board) -> bool:
    return bool(board.places_mm and board.grid.get("groups", {}).get("cave"))


def _ways(quad: Array, corners_mm: Array) -> list[Array]:
    """The corners (4, 2) of a quadrangle in the order of the board's, each way round the board may lie; first the one
    that has its first corner at the picture's lower left."""
    turn = _area(quad) * _area(corners_mm)
    # Millimetres count upwards and pixels downwards: seen from above, the board goes the other way round.
    ring = quad if turn < 0 else quad[::-1]
    first = int(np.argmin(ring[:, 0] - ring[:, 1]))
    return [np.roll(ring, -first - n, axis=0) for n in range(4)]


def _area(corners: Array) -> float:
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _seen_by_a_camera(corners: Array, corners_mm: Array, picture: Image, lens: Lens | None) -> bool:
    """True when a camera can see a board of these sides so."""
    height, width = picture.shape[:2]
    camera = camera_from_plane(corners_mm, corners, width, height, lens)
    if camera is None:
        return False
    off = camera.project(np.column_stack([corners_mm, np.zeros(4)])) - corners
    size = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean())
    return bool(np.abs(off).max() < MISFIT * size)


def _to_px(corners_mm: Array, corners: Array) -> Array:
    return np.asarray(cv2.getPerspectiveTransform(corners_mm.astype(np.float32), corners.astype(np.float32)))


def _centred(picture: Image, corners: Array, board: Board) -> Array:
    """The corners (4, 2) moved so that what is printed about the middle of each cell is the same on opposite sides:
    cells, rings, caves and grid lines all are, while an outline may be that of a shadow or of the sheet's thickness."""
    pitch = float(board.grid["pitch_mm"])
    corners_mm = np.array(board.corners_mm)
    start = corners
    for reach in (0.62, 0.45):
        spots = _mirrored(board, reach)

        def uneven(at: Array, spots: Array = spots) -> Array:
            return _uneven(picture, at, corners_mm, spots)

        px_mm = float(np.linalg.norm(corners[0] - corners[1]) / np.linalg.norm(corners_mm[0] - corners_mm[1]))
        for _ in range(ROUNDS):
            rest = uneven(corners)
            size = np.sqrt((rest**2).mean(axis=1))
            # What lies on a cell is seldom even.
            weight = 1 / (1 + (size / max(1.2 * float(np.median(size)), 1e-6)) ** 2)
            slopes = np.empty((*rest.shape, 8))
            for n in range(8):
                nudge = np.zeros(8)
                nudge[n] = 0.04 * pitch * px_mm
                up, down = (uneven(corners + sign * nudge.reshape(4, 2)) for sign in (1, -1))
                slopes[..., n] = (up - down) / (2 * nudge[n])
            flat = (slopes * weight[:, None, None]).reshape(-1, 8)
            normal = flat.T @ slopes.reshape(-1, 8)
            normal += np.eye(8) * 1e-3 * float(np.trace(normal)) / 8
            step = -np.linalg.solve(normal, flat.T @ rest.ravel()).reshape(4, 2)
            corners = corners + np.clip(step, -0.2 * pitch * px_mm, 0.2 * pitch * px_mm)
    return corners if np.linalg.norm(corners - start, axis=1).max() < ASIDE * pitch * px_mm else start


def _unevenness(picture: Image, corners: Array, board: Board) -> float:
    """How different (log units) opposite sides of a usual cell are."""
    rest = _uneven(picture, corners, np.array(board.corners_mm), _mirrored(board, 0.45))
    return float(np.median(np.sqrt((rest**2).mean(axis=1))))


def _mirrored(board: Board, reach: float) -> Array:
    """Points (cells, 2 n, 2) in mm about the middles of all cells, the second half opposite to the first."""
    middles, pitch = _middles(board)
    steps = np.linspace(-reach, reach, 7) * pitch
    half = np.array([(x, y) for y in steps for x in steps if (y, x) > (0, 0)])
    return np.concatenate([middles[:, None] + half, middles[:, None] - half], axis=1)


def _uneven(picture: Image, corners: Array, corners_mm: Array, spots: Array) -> Array:
    """Differences (cells, 3 n) of the colours at opposite points."""
    both = _colours(picture, _to_px(corners_mm, corners), spots.reshape(-1, 2)).reshape(*spots.shape[:2], 3)
    one, other = np.split(both, 2, axis=1)
    return np.asarray((one - other).reshape(len(spots), -1), dtype=np.float64)


def _middles(board: Board) -> tuple[Array, float]:
    """The middles (N, 2) of a board's cells in mm and their pitch."""
    grid, pitch = board.grid, float(board.grid["pitch_mm"])
    if board.places_mm:
        return np.array(list(board.places_mm.values())), pitch
    cells = [(c, r) for r in range(int(grid["deep"])) for c in range(int(grid["wide"]))]
    return np.array([((c + 0.5) * pitch, (int(grid["deep"]) - r - 0.5) * pitch) for c, r in cells]), pitch


def _colours(picture: Image, to_px: Array, spots_mm: Array) -> Floats:
    """Red-green, blue-green and brightness (N, 3) in log units at table points (N, 2)."""
    pixels = cv2.perspectiveTransform(spots_mm.astype(np.float32).reshape(-1, 1, 2), to_px).reshape(1, -1, 2)
    found = cv2.remap(picture, pixels[..., 0], pixels[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    light = logs(np.asarray(found, dtype=np.uint8))[0]
    blue, green, red = light.T
    return np.stack([red - green, blue - green, (blue + green + red) / 3], axis=-1)


def _line(picture: Image, to_px: Array, board: Board) -> float:
    """An arena's line runs just within all four sides, everywhere of the same look, and the floor is on both sides."""
    wide = board.sizes_mm.get("line", 10.0)
    outline = cv2.perspectiveTransform(np.array(board.corners_mm, dtype=np.float32).reshape(-1, 1, 2), to_px)
    if cv2.contourArea(outline) < ARENA_SHARE * picture.shape[0] * picture.shape[1]:
        return 0.0
    corners = np.array(board.corners_mm)
    low, high = corners.min(axis=0), corners.max(axis=0)
    along = np.linspace(0.06, 0.94, 40)
    looks, shares = [], []
    for axis in (0, 1):
        for edge, inward in ((low[1 - axis], 1.0), (high[1 - axis], -1.0)):
            bands = []
            for depths in ((-1.2, -0.7), (0.35, 0.65), (1.7, 2.2)):
                spots = np.empty((len(along), len(depths), 2))
                spots[..., axis] = (low[axis] + along * (high[axis] - low[axis]))[:, None]
                spots[..., 1 - axis] = edge + inward * wide * np.array(depths)
                bands.append(_colours(picture, to_px, spots.reshape(-1, 2)).reshape(len(along), -1, 3).mean(axis=1))
            outside, line, inside = bands
            look = np.median(line - inside, axis=0)
            size = float(np.linalg.norm(look))
            if size < CONTRAST:
                return 0.0
            # Each place must differ from both sides as the line does on the whole.
            stands_out = [((line - floor) @ look) / size > max(CONTRAST / 2, 0.4 * size) for floor in (outside, inside)]
            shares.append(float(np.mean(stands_out[0] & stands_out[1])))
            looks.append(look / size)
    cosines = [float(a @ b) for a in looks for b in looks]
    if min(shares) < SIDE_SHARE or min(cosines) < ALIKE:
        return 0.0
    return 1.0 + float(np.mean(shares))


def _wall(picture: Image, corners: Array, board: Board) -> int:
    """By how many corners to go on so that the wall is where the board spec has it: beyond one side something else than
    the floor is seen. Nought where that cannot be told."""
    corners_mm = np.array(board.corners_mm)
    middle = corners_mm.mean(axis=0)
    to_px = _to_px(corners_mm, corners)
    gap = board.sizes_mm.get("wall_gap", 8.0)
    sides = list(zip(corners_mm, np.roll(corners_mm, -1, axis=0), strict=True))
    names = [str(_named_side((a + b) / 2 - middle)) for a, b in sides]
    if board.grid["wall"] not in names:
        return 0
    apart = []
    for a, b in sides:
        out = (a + b) / 2 - middle
        out = out / np.linalg.norm(out)
        along = a + (b - a) * np.linspace(0.15, 0.85, 30)[:, None]
        depths = np.linspace(gap + 6.0, gap + 46.0, 5)
        strips = [
            _colours(picture, to_px, (along[:, None] + out * d[:, None]).reshape(-1, 2)) for d in (depths, -depths)
        ]
        apart.append(float(np.linalg.norm(np.median(strips[0], axis=0) - np.median(strips[1], axis=0))))
    first, second = np.argsort(apart)[::-1][:2]
    if apart[first] < CONTRAST or apart[first] < CLEARLY * apart[second]:
        return 0
    return (int(first) - names.index(str(board.grid["wall"]))) % 4


def _named_side(out: Array) -> str:
    x, y = out
    return ("right" if x > 0 else "left") if abs(x) > abs(y) else ("far" if y > 0 else "near")


def _cells(picture: Image, to_px: Array, middles: Array, pitch: float) -> Floats:
    """The look (N, 3) of the middle part of each cell."""
    spots = middles[:, None] + _GRID * pitch
    return np.asarray(middle(_colours(picture, to_px, spots.reshape(-1, 2)).reshape(len(middles), -1, 3), axis=1))


def _apart(cells: Floats, plain: Floats) -> Array:
    """How many spreads (N,) each cell is off the plain ones."""
    usual = np.median(plain, axis=0)
    spread = np.maximum(1.4826 * np.median(np.abs(plain - usual), axis=0), CONTRAST / 3)
    return np.asarray(np.sqrt(np.sum(((cells - usual) / spread) ** 2, axis=1)))


def _caves(picture: Image, to_px: Array, board: Board) -> float:
    """The caves differ from the plain cells, more than those from each other, and so does the sheet beyond a diamond's
    cells."""
    places = board.places_mm
    groups = board.grid["groups"]
    marked = {p for listed in groups.values() for p in listed}
    pitch = float(board.grid["pitch_mm"])
    cells = _cells(picture, to_px, np.array(list(places.values())), pitch)
    plain = np.array([p not in marked for p in places])
    caves = np.array([p in groups["cave"] for p in places])
    # Moles and hands may lie on some of them.
    off = float(np.quantile(_apart(cells[caves], cells[plain]), 0.3))
    usual = float(np.quantile(_apart(cells[plain], cells[plain]), 0.6))
    off = min(off, off * LEAST_SCORE / max(MORE * usual, 1e-6))
    if "diamond" not in board.grid:
        return off / LEAST_SCORE
    reach = int(board.grid["diamond"])
    beyond = [
        (su * u * pitch, sv * v * pitch)
        for u in range(3, reach)
        for v in range(3, reach)
        if u + v == reach + 3
        for su in (-1, 1)
        for sv in (-1, 1)
    ]
    sheet = _apart(_cells(picture, to_px, np.array(beyond), pitch), cells[plain])
    return min(off, float(np.quantile(sheet, 0.3))) / LEAST_SCORE


def _rocks(picture: Image, to_px: Array, board: Board) -> float:
    """A hunting ground's rocks differ from its other cells, and more so this way up than the other."""
    grid = board.grid
    wide, deep, pitch = int(grid["wide"]), int(grid["deep"]), float(grid["pitch_mm"])
    names = [(c, r) for r in range(deep) for c in range(wide)]
    middles = np.array([((c + 0.5) * pitch, (deep - r - 0.5) * pitch) for c, r in names])
    cells = _cells(picture, to_px, middles, pitch)
    rocks = {tuple(int(v) for v in str(cell).split(",")) for cell in grid["obstacles"]}
    turned = {(wide - 1 - c, deep - 1 - r) for c, r in rocks}
    plain = cells[[n for n, cell in enumerate(names) if cell not in rocks | turned]]
    here, there = (cells[[n for n, cell in enumerate(names) if cell in which]] for which in (rocks, turned))
    # One of them may be hidden under something; all others look alike.
    off = np.linalg.norm(here - np.median(here, axis=0), axis=1)
    contrast = float(np.linalg.norm(np.median(here, axis=0) - np.median(plain, axis=0)))
    if np.sort(off)[-2] > ROCKS_ALIKE * contrast or contrast < CONTRAST:
        return 0.0
    score, other = (float(np.sort(_apart(which, plain))[1]) for which in (here, there))
    return score / LEAST_SCORE if score > AHEAD * other else 0.0
