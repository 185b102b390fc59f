"""How figures look, flat: the printable ones of the board spec, and those that a person has enrolled in a folder."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tomli_w
from numpy.typing import NDArray

from calibration.profile import Board, CalibrationError

Picture = NDArray[np.uint8]
FACES = 6
PX_MM = 10.0
"""Pixels a mm of the printable faces."""
INDEX = "figures.toml"
"""The file of a folder of enrolled figures: a table a figure with `faces` (six picture files, in the order in which the
faces follow each other counter-clockwise seen from the top end), `shield` (face number or 0), `top`, `bottom`."""


@dataclass(frozen=True, slots=True, eq=False)
class FigurePrint:
    """A figure's flat pictures (BGR): six faces, each with the top end at its right-hand edge; square pictures of both
    ends, None where there is none; `shield` is the number (1..6) of the shield face, 0 for none."""

    name: str
    faces: tuple[Picture, ...]
    shield: int = 0
    top: Picture | None = None
    bottom: Picture | None = None


def printable(board: Board) -> tuple[FigurePrint, ...]:
    """The made-up figures that the board spec describes (`grid.figures`: what stands on faces 1..6, 0 the shield)."""
    length, across = board.sizes_mm["figure_length"], board.sizes_mm["figure_across_flats"]
    listed: Mapping[str, Any] = board.grid.get("figures", {})
    made = []
    for number, (name, powers) in enumerate(listed.items()):
        if len(powers) != FACES:
            raise CalibrationError(f"the board spec of {board.game}, figures.{name}: six faces are needed")
        body = _body(number, len(listed))
        width = across / math.sqrt(3.0)
        faces = tuple(_face(body, int(power), number, n, length, width) for n, power in enumerate(powers, 1))
        shield = powers.index(0) + 1 if 0 in powers else 0
        ends = [_end(body, number, top, 2 * across / math.sqrt(3.0)) for top in (True, False)]
        made.append(FigurePrint(name, faces, shield, *ends))
    return tuple(made)


def load_figures(folder: Path) -> tuple[FigurePrint, ...]:
    """The figures enrolled in a folder; raises CalibrationError that names the file and what is wrong with it."""
    index = folder / INDEX
    try:
        data = tomllib.loads(index.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CalibrationError(f"cannot read the enrolled figures {index}: {error}; enrol them again") from error
    figures = []
    for name, table in data.items():
        try:
            faces = tuple(_picture(folder / str(file)) for file in table["faces"])
            ends = [_picture(folder / str(table[end])) if table.get(end) else None for end in ("top", "bottom")]
            figures.append(FigurePrint(name, faces, int(table.get("shield", 0)), *ends))
        except (KeyError, TypeError, ValueError) as error:
            raise CalibrationError(f"{index}, {name}: lacks or garbles {error}; enrol this figure again") from error
    return tuple(figures)


def save_figure(folder: Path, figure: FigurePrint) -> None:
    """Puts a figure into a folder of enrolled ones, in place of one of the same name; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / INDEX
    data = tomllib.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    names = {str(n): picture for n, picture in enumerate(figure.faces, 1)}
    names |= {end: p for end, p in (("top", figure.top), ("bottom", figure.bottom)) if p is not None}
    for key, picture in names.items():
        done, png = cv2.imencode(".png", picture)
        if not done:
            raise OSError(f"cannot write the picture {key} of figure {figure.name!r}")
        (folder / f"{figure.name}_{key}.png").write_bytes(png.tobytes())
    files = {key: f"{figure.name}_{key}.png" for key in names}
    table: dict[str, Any] = {"faces": [files[str(n + 1)] for n in range(len(figure.faces))], "shield": figure.shield}
    data[figure.name] = table | {end: files[end] for end in ("top", "bottom") if end in files}
    part = index.with_suffix(".part")
    part.write_text(tomli_w.dumps(data), encoding="utf-8")
    part.replace(index)


def drop_figure(folder: Path, name: str) -> None:
    """Takes a figure out of a folder of enrolled ones; raises OSError."""
    index = folder / INDEX
    data = tomllib.loads(index.read_text(encoding="utf-8"))
    data.pop(name, None)
    part = index.with_suffix(".part")
    part.write_text(tomli_w.dumps(data), encoding="utf-8")
    part.replace(index)
    for key in (*map(str, range(1, FACES + 1)), "top", "bottom"):
        (folder / f"{name}_{key}.png").unlink(missing_ok=True)


def _picture(file: Path) -> Picture:
    try:
        packed = np.frombuffer(file.read_bytes(), dtype=np.uint8)
    except OSError as error:
        raise CalibrationError(f"cannot read the face picture {file}: {error.strerror}") from error
    picture = cv2.imdecode(packed, cv2.IMREAD_COLOR) if len(packed) else None
    if picture is None:
        raise CalibrationError(f"{file} is no picture that can be read")
    return np.asarray(picture, dtype=np.uint8)


def _body(number: int, count: int) -> tuple[int, ...]:
    """A body colour (BGR) of its own: hues all round, in two depths."""
    hsv = np.array([[[round(180 * number / max(count, 1)) % 180, 215, (200, 135)[number % 2]]]], dtype=np.uint8)
    return tuple(int(v) for v in np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR))[0, 0])


def _face(body: tuple[int, ...], power: int, sign: int, number: int, length_mm: float, width_mm: float) -> Picture:
    """A pale field with the power, or a shield, and the figure's sign; at its left the face's number as three blocks,
    since powers such as 15 and 25 look alike from afar."""
    wide, high = round(length_mm * PX_MM), round(width_mm * PX_MM)
    picture = np.full((high, wide, 3), body, dtype=np.uint8)
    margin = high // 10
    cv2.rectangle(picture, (high // 4, margin), (wide - high // 4, high - margin), (238, 240, 240), -1)
    middle, ink = (wide * 2 // 5, high // 2), (24, 20, 20)
    for bit in range(3):
        low, tall = margin + bit * (high - 2 * margin) // 3, (high - 2 * margin) // 3
        if number >> bit & 1:
            cv2.rectangle(picture, (high // 4, low), (high // 4 + high // 3, low + tall), ink, -1)
    if power:
        font, thick = cv2.FONT_HERSHEY_DUPLEX, max(1, high // 12)
        size = cv2.getTextSize(str(power), font, high / 40.0, thick)[0]
        at = (middle[0] - size[0] // 2, middle[1] + size[1] // 2)
        cv2.putText(picture, str(power), at, font, high / 40.0, ink, thick, cv2.LINE_AA)
    else:
        outline = np.array([(-0.28, -0.34), (0.28, -0.34), (0.28, 0.05), (0.0, 0.36), (-0.28, 0.05)]) * high
        cv2.fillPoly(picture, [np.rint(outline + middle).astype(np.int32)], ink, cv2.LINE_AA)
    cv2.fillPoly(picture, [_star(sign, (wide - high * 2 // 3, high // 2), 0.35 * high)], body, cv2.LINE_AA)
    return picture


def _end(body: tuple[int, ...], sign: int, top: bool, width_mm: float) -> Picture:
    """The end: the figure's sign in a ring; the top end's is full, the bottom end's is barred."""
    size = round(width_mm * PX_MM)
    picture = np.full((size, size, 3), [int(0.8 * v) for v in body], dtype=np.uint8)
    middle, pale = (size // 2, size // 2), (238, 240, 240)
    cv2.circle(picture, middle, round(0.38 * size), pale, max(1, size // 16), cv2.LINE_AA)
    if top:
        cv2.fillPoly(picture, [_star(sign, middle, 0.27 * size)], pale, cv2.LINE_AA)
    else:
        half = round(0.25 * size)
        cv2.line(picture, (size // 2 - half, size // 2), (size // 2 + half, size // 2), pale, size // 10, cv2.LINE_AA)
    return picture


def _star(sign: int, middle: tuple[int, int], radius: float) -> NDArray[np.int32]:
    points, depth = 3 + sign % 4, (0.38, 0.6, 0.85)[sign // 4 % 3]
    turns = np.arange(2 * points) * np.pi / points
    reach = np.where(np.arange(2 * points) % 2, depth, 1.0) * radius
    spots = np.column_stack([np.sin(turns), -np.cos(turns)]) * reach[:, None] + middle
    return np.rint(spots).astype(np.int32)
