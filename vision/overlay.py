"""A reading drawn over its picture: the last, optional stage."""

from __future__ import annotations

import cv2
import numpy as np

from devices.contract import Image
from vision.pictures import as_bgr
from vision.reading import SURE_LEAD, Fact, Reading

SURE, UNSURE, HIDDEN = (90, 200, 60), (40, 170, 255), (150, 150, 150)
"""BGR colours of what is stated, asked and hidden."""

_ARMS = {"N": (0.0, 1.0), "E": (1.0, 0.0), "S": (0.0, -1.0), "W": (-1.0, 0.0)}


def draw_tiles(
    image: Image,
    reading: Reading,
    centres_mm: dict[str, tuple[float, float]],
    corners_mm: tuple[tuple[float, float], ...],
    pitch_mm: float,
) -> Image:
    """A copy of the picture (BGR) with paths, triangles and pawns of a tile board drawn where they were read."""
    picture = as_bgr(image)
    if picture is None:
        return image.copy()
    picture = picture.copy()
    if not reading.board_found:
        return picture
    board = np.array(corners_mm, dtype=np.float32)
    to_px = cv2.getPerspectiveTransform(board, np.array(reading.board_px, dtype=np.float32))
    thick = max(1, round(max(picture.shape[:2]) / 640))
    outline = np.round(np.array(reading.board_px)).astype(np.int32)
    cv2.polylines(picture, [outline.reshape(-1, 1, 2)], True, SURE, thick, cv2.LINE_AA)

    def at(x: float, y: float) -> tuple[int, int]:
        u, v, w = to_px @ np.array([x, y, 1.0])
        return (round(float(np.clip(u / w, -1e4, 1e4))), round(float(np.clip(v / w, -1e4, 1e4))))

    for cell, (x, y) in centres_mm.items():
        path, triangle, pawn = (reading.facts.get(f"{kind}:{cell}") for kind in ("path", "triangle", "pawn"))
        if path is not None:
            for side in path.best:
                dx, dy = _ARMS[side]
                end = at(x + dx * pitch_mm * 0.47, y + dy * pitch_mm * 0.47)
                cv2.line(picture, at(x, y), end, _colour(path), thick, cv2.LINE_AA)
        if triangle is not None and (triangle.best == "yes" or not triangle.sure(SURE_LEAD)):
            sides = path.best if path is not None else "NE"
            dx = sum(_ARMS[s][0] for s in sides) or 1.0
            dy = sum(_ARMS[s][1] for s in sides) or 1.0
            cv2.circle(picture, at(x + dx * pitch_mm * 0.2, y + dy * pitch_mm * 0.2), 3 * thick, _colour(triangle), -1)
        if pawn is not None and (pawn.best != "-" or not pawn.sure(SURE_LEAD)):
            cv2.circle(picture, at(x, y), 8 * thick, _colour(pawn), 2 * thick, cv2.LINE_AA)
            cv2.putText(picture, pawn.best, at(x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.5 * thick, _colour(pawn), thick)
    return picture


def _colour(fact: Fact) -> tuple[int, int, int]:
    if fact.hidden:
        return HIDDEN
    return SURE if fact.sure(SURE_LEAD) else UNSURE
