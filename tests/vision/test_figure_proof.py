"""The proof under the picture: the crop of what is up looks like the enrolled picture, lying and standing."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.figure_prints import printable
from calibration.profile import TableProfile, load_board
from devices.contract import Frame
from devices.simulated.arena import ArenaLook, FigureArt, Lying, camera_over, paint
from vision.figure_faces import Figure, Solid
from vision.figure_proof import FACE_PX, crop, enrolled, strip
from vision.figure_table import FigureTableReader
from vision.figure_table import enrolled as figure_of

BOARD = load_board("moogui")
PRINTS = {p.name: p for p in printable(BOARD)}
FIGURES: dict[str, Figure] = {name: figure_of(p) for name, p in PRINTS.items()}
SOLID = Solid(45.0, 24.0)
CAMERA = camera_over(BOARD, 1920, 1440, 18.0, -90.0, 3.0, 880.0)


def lying(name: str, up: str, xy: tuple[float, float], turn: float) -> Lying:
    figure = PRINTS[name]
    assert figure.top is not None and figure.bottom is not None
    return Lying(FigureArt(name, figure.faces, figure.top, figure.bottom), up, xy, turn)


@pytest.mark.parametrize("turn", [0.0, 100.0, -140.0])
def test_the_crop_looks_like_the_enrolled_picture(turn: float) -> None:
    figures = [lying("ari", "3", (180.0, 200.0), turn), lying("glim", "top", (400.0, 400.0), turn)]
    picture = paint(BOARD, CAMERA, figures, ArenaLook())
    reader = FigureTableReader(TableProfile(BOARD))
    reading = reader.read(Frame(picture, 1, 0.0, "test"))
    by_name = {p.facts["figure"].best: p for p in reading.pieces}
    assert by_name.keys() == {"ari", "glim"}
    seen, known = crop(picture, CAMERA, by_name["ari"], SOLID), enrolled(by_name["ari"], FIGURES)
    assert known is not None
    assert seen.shape == known.shape == (FACE_PX[1], FACE_PX[0], 3)
    other = cv2.resize(FIGURES["ari"].faces[3], FACE_PX, interpolation=cv2.INTER_AREA)
    assert like(seen, known) > 0.75
    assert like(seen, known) > like(seen, np.asarray(other, dtype=np.uint8)) + 0.1
    drawn = reader.draw(picture, reading)
    assert drawn.shape[0] > picture.shape[0]
    assert drawn.shape[1:] == picture.shape[1:]


def like(
    a: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], b: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
) -> float:
    """Correlation of two pictures' grey levels."""
    x, y = (cv2.GaussianBlur(cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), (0, 0), 2.0).ravel().astype(float) for p in (a, b))
    return float(np.corrcoef(x, y)[0, 1])


def test_nothing_that_is_known_gives_no_strip() -> None:
    picture = paint(BOARD, CAMERA, [], ArenaLook())
    reader = FigureTableReader(TableProfile(BOARD))
    reading = reader.read(Frame(picture, 1, 0.0, "test"))
    assert strip(picture, CAMERA, reading.pieces, SOLID, FIGURES) is None
    assert reader.draw(picture, reading).shape == picture.shape
