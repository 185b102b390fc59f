"""A drawn tile board for tests: its own art (dark single lines on pale tiles), flat colours, exact geometry."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.geometry import Camera
from calibration.profile import Board, TableProfile, load_board
from devices.contract import Frame, Image

PATHS = ("NE", "NS", "NW", "ES", "EW", "SW")
AIMS = {"N": (0.0, 1.0), "E": (1.0, 0.0), "S": (0.0, -1.0), "W": (-1.0, 0.0)}
TABLE, TILE, LINE, DOOR = (70, 60, 52), (180, 200, 205), (60, 40, 30), (70, 120, 170)
PAWNS = {"1": (235, 235, 235), "2": (60, 50, 190)}
BOARD: Board = replace(load_board("moguli"))


def camera(
    roll_deg: float = 0.0, tilt_deg: float = 20.0, width: int = 1280, height: int = 720, far: float = 1.0
) -> Camera:
    """A camera above the middle of the board, turned by `roll_deg` about its view."""
    focal = 1.1 * width
    matrix = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1.0]])
    tilt, roll = np.radians(tilt_deg), np.radians(roll_deg)
    down = np.diag([1.0, -1.0, -1.0])
    lean = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    turn = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1.0]])
    rotation = turn @ lean @ down
    middle = np.array([147.5, 206.5, 0.0])
    # Far enough for the whole mat, however the board is turned.
    distance = 1350.0 * far * focal / (1.1 * 1280) * (1280 / width) * (16 / 9) / (width / height)
    return Camera(matrix, np.zeros(5), rotation, np.array([0, 0, distance]) - rotation @ middle, width, height)


def look(seed: int, pawns: int = 5) -> dict[str, str]:
    """A random look: any paths, half of the tiles with a triangle, some pawns of either side."""
    chance = random.Random(seed)
    cells = list(BOARD.places_mm)
    facts = {f"path:{c}": chance.choice(PATHS) for c in cells}
    facts |= {f"triangle:{c}": chance.choice(("no", "yes")) for c in cells}
    facts |= {f"pawn:{c}": "-" for c in cells}
    for n, cell in enumerate(chance.sample(cells, 2 * pawns)):
        facts[f"pawn:{cell}"] = "12"[n % 2]
    return facts


@dataclass(frozen=True)
class Sloppy:
    """How far tiles may lie off: mm and degrees."""

    mm: float = 0.0
    deg: float = 0.0


def picture(
    facts: Mapping[str, str],
    view: Camera,
    *,
    sloppy: Sloppy = Sloppy(),
    seed: int = 0,
    noise: float = 3.0,
    markers: bool = True,
) -> Image:
    """The board as the camera sees it, uint8 BGR."""
    rng = np.random.default_rng(seed)
    image = np.full((view.height, view.width, 3), TABLE, dtype=np.uint8)
    if markers:
        _draw_markers(image, view)
    for cell, (x, y) in BOARD.places_mm.items():
        dx, dy = rng.uniform(-sloppy.mm, sloppy.mm, 2)
        angle = np.radians(rng.uniform(-sloppy.deg, sloppy.deg))
        _draw_tile(image, view, (x + dx, y + dy, angle), facts, cell, rng.integers(-6, 7))
    for cell, (x, y) in BOARD.places_mm.items():
        for height in (3.0, 5.0, 8.0):
            _disc(image, view, (x, y, height), 8.0, DOOR)
        owner = facts[f"pawn:{cell}"]
        if owner != "-":
            for height in (11.0, 14.6, 18.0):
                _disc(image, view, (x, y, height), 9.0 if height == 14.6 else 7.6, PAWNS[owner])
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), 0.7), dtype=np.uint8)
    return np.clip(image + rng.normal(0, noise, image.shape), 0, 255).astype(np.uint8)


def frame(image: Image, number: int = 0, time_s: float = 0.0) -> Frame:
    return Frame(image, number, time_s, "test://drawn")


def profile(**changes: object) -> TableProfile:
    """The profile of the drawn table: markers of the shipped spec, pawns by name."""
    from calibration.palette import named

    made = TableProfile(BOARD, palette={"pawn1": named("white"), "pawn2": named("red")})
    return replace(made, **changes)  # type: ignore[arg-type]


def hand(image: Image, view: Camera, at_mm: tuple[float, float], radius_mm: float = 60.0) -> Image:
    """The same picture with a hand over it: a fist at `at_mm` and its arm towards -x."""
    covered = image.copy()
    fist = view.project(np.array([[*at_mm, 30.0], [at_mm[0] - 1500, at_mm[1] - 100, 90.0]]))
    scale = (
        np.linalg.norm(np.diff(view.project(np.array([[*at_mm, 30.0], [at_mm[0] + 10, at_mm[1], 30.0]])), axis=0)) / 10
    )
    skin = (120, 150, 205)
    (x0, y0), (x1, y1) = np.round(fist).astype(int)
    cv2.line(covered, (x0, y0), (x1, y1), skin, round(70 * scale), cv2.LINE_AA)
    cv2.circle(covered, (x0, y0), round(radius_mm * scale), skin, -1, cv2.LINE_AA)
    return covered


def _draw_markers(image: Image, view: Camera) -> None:
    assert BOARD.markers is not None
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, BOARD.markers.dictionary))
    for marker, corners in BOARD.markers.corners_mm.items():
        tile = np.full((240, 240), 255, dtype=np.uint8)
        tile[40:200, 40:200] = cv2.aruco.generateImageMarker(dictionary, marker, 160)
        solid = np.array(corners)
        middle = solid.mean(axis=0)
        paper = view.project(middle + (solid - middle) * 1.5).astype(np.float32)
        square = np.array([[0, 0], [240, 0], [240, 240], [0, 240]], dtype=np.float32) - 0.5
        to_px = cv2.getPerspectiveTransform(square, paper.astype(np.float32))
        size = (view.width, view.height)
        drawn = cv2.warpPerspective(tile, to_px, size, flags=cv2.INTER_AREA)
        mask = cv2.warpPerspective(np.full_like(tile, 255), to_px, size)
        image[mask > 127] = drawn[mask > 127][:, None]


def _draw_tile(image, view, pose, facts, cell, tint) -> None:  # type: ignore[no-untyped-def]
    x, y, angle = pose
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def fill(points: list[tuple[float, float]], colour: tuple[int, ...]) -> None:
        flat = np.array(points) @ turn.T + (x, y)
        pixels = view.project(np.column_stack([flat, np.full(len(flat), 2.0)]))
        cv2.fillPoly(image, [np.round(pixels * 16).astype(np.int32)], colour, cv2.LINE_AA, shift=4)

    fill([(-29, -29), (29, -29), (29, 29), (-29, 29)], tuple(int(c) + int(tint) for c in TILE))
    path = facts[f"path:{cell}"]
    for side in path:
        ax, ay = AIMS[side]
        sx, sy = -ay * 2.5, ax * 2.5
        fill([(sx, sy), (-sx, -sy), (ax * 29 - sx, ay * 29 - sy), (ax * 29 + sx, ay * 29 + sy)], LINE)
    if facts[f"triangle:{cell}"] == "yes":
        (ax, ay), (bx, by) = (AIMS[s] for s in path) if set(path) not in ({"N", "S"}, {"E", "W"}) else ((0, 1), (1, 0))
        spot = [(9.0, 9.0), (17.0, 9.0), (9.0, 17.0)]
        fill([(ax * u + bx * v, ay * u + by * v) for u, v in spot], LINE)


def _disc(image: Image, view: Camera, at: tuple[float, float, float], radius: float, colour: tuple[int, ...]) -> None:
    turn = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    ring = np.column_stack([at[0] + radius * np.cos(turn), at[1] + radius * np.sin(turn), np.full(32, at[2])])
    cv2.fillPoly(image, [np.round(view.project(ring) * 16).astype(np.int32)], colour, cv2.LINE_AA, shift=4)
