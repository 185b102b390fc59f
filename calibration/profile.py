"""What a table is and how one camera sees it: board spec, markers, lens, corners, colours; saved as TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import tomli_w

VERSION = 1
Point = tuple[float, float]
Corners3 = tuple[tuple[float, float, float], ...]


class CalibrationError(Exception):
    """A board spec or profile that cannot be used; the message names the file, the key and the cure."""


@dataclass(frozen=True, slots=True)
class Markers:
    """Square markers on the table: OpenCV dictionary name and, per id, the four corners of the black square in mm
    (x, y, z), in OpenCV's order (top-left, top-right, bottom-right, bottom-left of the upright marker)."""

    dictionary: str
    corners_mm: Mapping[int, Corners3]


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera's inner geometry, OpenCV's model: focal lengths and centre in px for a picture of `width` x `height`,
    `distortion` = k1, k2, p1, p2, k3. Pixel (0, 0) is the centre of the top-left pixel."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Board:
    """A board spec. `corners_mm` are its four corners in the plane of the table, in the order of `corner_names`;
    `places_mm` the centre of every place; `sizes_mm` named lengths of pieces; `grid` whatever else the game's spec
    file says of its grid; `variant` which of the game's boards it is, empty for the usual one."""

    game: str
    provenance: str
    corner_names: tuple[str, ...]
    corners_mm: tuple[Point, ...]
    places_mm: Mapping[str, Point]
    sizes_mm: Mapping[str, float]
    markers: Markers | None
    grid: Mapping[str, Any] = field(default_factory=dict)
    variant: str = ""


@dataclass(frozen=True, slots=True)
class TableProfile:
    """A board as one camera sees it. `corners_px`: the four board corners tapped by a person (corner order of the
    board), or empty where markers serve. `palette`: named colours as (L, a, b) floats of OpenCV's 8-bit Lab, e.g.
    `pawn1`, `pawn2`, `mole1`; empty until learned at the start position. `figures`: the folder of enrolled figures
    (calibration.figure_prints), empty for the printable ones."""

    board: Board
    corners_px: tuple[Point, ...] = ()
    lens: Lens | None = None
    palette: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    camera: str = ""
    figures: str = ""

    def with_corners(self, corners_px: tuple[Point, ...]) -> TableProfile:
        """The same table with tapped corners."""
        return replace(self, corners_px=corners_px)


def square_marker(centre_mm: Point, size_mm: float, height_mm: float = 0.0) -> Corners3:
    """Corners of an upright marker (its top towards +y) about `centre_mm`, in OpenCV's order."""
    (x, y), h = centre_mm, size_mm / 2
    return ((x - h, y + h, height_mm), (x + h, y + h, height_mm), (x + h, y - h, height_mm), (x - h, y - h, height_mm))


def load_board(game: str, path: Path | None = None, variant: str = "") -> Board:
    """The board spec of `game`, from `path` or the one that ships (of that `variant`); raises CalibrationError naming
    file and key."""
    name = f"{game}_{variant}" if variant else game
    source = path if path is not None else resources.files("calibration") / "boards" / f"{name}.toml"
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CalibrationError(f"there is no board spec for {name}: {source} does not exist") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CalibrationError(f"cannot read the board spec {source}: {error}") from error
    try:
        return _board(game, variant, data)
    except (KeyError, TypeError, ValueError) as error:
        raise CalibrationError(f"the board spec {source} lacks or garbles {error}") from error


def _board(game: str, variant: str, data: Mapping[str, Any]) -> Board:
    markers = None
    if "markers" in data:
        spec = data["markers"]
        markers = Markers(
            dictionary=str(spec["dictionary"]),
            corners_mm={
                int(key): square_marker((float(c[0]), float(c[1])), float(spec["size_mm"]), float(spec["height_mm"]))
                for key, c in spec["centres_mm"].items()
            },
        )
    corners = tuple((float(x), float(y)) for x, y in data["corners_mm"])
    if len(corners) != 4:
        raise ValueError(f"corners_mm: four corners are needed, got {len(corners)}")
    return Board(
        game=game,
        provenance=str(data["provenance"]),
        corner_names=tuple(data["corners"]),
        corners_mm=corners,
        places_mm=_places(data),
        sizes_mm={k: float(v) for k, v in data.get("sizes_mm", {}).items()},
        markers=markers,
        grid=dict(data.get("grid", {})),
        variant=variant,
    )


def _places(data: Mapping[str, Any]) -> dict[str, Point]:
    if "places_mm" in data:
        return {k: (float(x), float(y)) for k, (x, y) in data["places_mm"].items()}
    grid = data.get("grid", {})
    if "diamond" in grid:
        reach, pitch = int(grid["diamond"]), float(grid["pitch_mm"])
        steps = range(-reach, reach + 1)
        return {f"{u},{v}": (u * pitch, v * pitch) for u in steps for v in steps if abs(u) + abs(v) <= reach}
    if "square" in grid:
        side, pitch = int(grid["square"]), float(grid["pitch_mm"])
        middle = (side - 1) / 2
        return {f"{x},{y}": ((x - middle) * pitch, (y - middle) * pitch) for x in range(side) for y in range(side)}
    if "columns" not in grid:
        return {}
    pitch = float(grid["pitch_mm"])
    return {
        f"{column}{row + 1}": ((i + 0.5) * pitch, (row + 0.5) * pitch)
        for i, column in enumerate(grid["columns"])
        for row in range(int(grid["rows"]))
    }


def save_profile(profile: TableProfile, path: Path) -> None:
    """Writes the profile as TOML, in one step (a half-written file never replaces a good one)."""
    board = profile.board
    data: dict[str, Any] = {
        "version": VERSION,
        "game": board.game,
        "variant": board.variant,
        "camera": profile.camera,
        "figures": profile.figures,
        "corners_px": [list(p) for p in profile.corners_px],
        "palette": {k: list(v) for k, v in profile.palette.items()},
        "sizes_mm": dict(board.sizes_mm),
    }
    if board.markers is not None:
        data["markers"] = {
            "dictionary": board.markers.dictionary,
            "corners_mm": {str(k): [list(p) for p in v] for k, v in board.markers.corners_mm.items()},
        }
    if profile.lens is not None:
        lens = profile.lens
        data["lens"] = {
            "size_px": [lens.width, lens.height],
            "fx_fy_cx_cy": [lens.fx, lens.fy, lens.cx, lens.cy],
            "distortion": list(lens.distortion),
        }
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(tomli_w.dumps(data), encoding="utf-8")
    part.replace(path)


def load_profile(path: Path) -> TableProfile:
    """The profile saved at `path`; raises CalibrationError that names the file and says what to do."""
    cure = "delete it to start from the shipped board spec, or calibrate again"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CalibrationError(f"cannot read the table profile {path}: {error}; {cure}") from error
    if data.get("version") != VERSION:
        found = data.get("version")
        raise CalibrationError(f"the table profile {path} has version {found!r}, this program reads {VERSION}; {cure}")
    try:
        board = load_board(str(data["game"]), variant=str(data.get("variant", "")))
        if "markers" in data:
            spec = data["markers"]
            corners = {
                int(k): tuple((float(x), float(y), float(z)) for x, y, z in v) for k, v in spec["corners_mm"].items()
            }
            board = replace(board, markers=Markers(str(spec["dictionary"]), corners))
        board = replace(board, sizes_mm={**board.sizes_mm, **{k: float(v) for k, v in data["sizes_mm"].items()}})
        lens = None
        if "lens" in data:
            (w, h), (fx, fy, cx, cy), d = (data["lens"][k] for k in ("size_px", "fx_fy_cx_cy", "distortion"))
            k1, k2, p1, p2, k3 = (float(v) for v in d)
            lens = Lens(int(w), int(h), float(fx), float(fy), float(cx), float(cy), (k1, k2, p1, p2, k3))
        return TableProfile(
            board=board,
            corners_px=tuple((float(x), float(y)) for x, y in data["corners_px"]),
            lens=lens,
            palette={k: (float(v[0]), float(v[1]), float(v[2])) for k, v in data["palette"].items()},
            camera=str(data["camera"]),
            figures=str(data.get("figures", "")),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CalibrationError(f"the table profile {path} lacks or garbles {error}; {cure}") from error
