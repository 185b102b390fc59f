"""The proof of a reading as a picture: each figure's upper face as seen, above the enrolled one it was taken for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from calibration.geometry import Array, Camera
from devices.contract import Image
from vision.figure_faces import Figure, Solid
from vision.reading import Piece

FACE_PX, MARGIN_PX, TEXT_PX = (180, 56), 6, 34
"""Size of a flat face, the space about it, and the height of two lines under it."""
GROUND, INK = (32, 30, 28), (235, 235, 235)


def upper_corners_mm(piece: Piece, solid: Solid) -> Array:
    """The corners (4, 3) of the side that is up, as its picture is read: top left, top right, bottom right, bottom
    left; the top end of a lying figure is at the right."""
    turn = math.radians(piece.angle_deg)
    ahead, left = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
    middle = np.array(piece.xy)
    if piece.facts["face"].best.isdigit():
        right, up, high = ahead * solid.length / 2, left * solid.face_width / 2, solid.across_flats
    else:
        right, up, high = -left * solid.face_width, ahead * solid.face_width, solid.length
    flat = [middle - right + up, middle + right + up, middle + right - up, middle - right - up]
    return np.column_stack([np.array(flat), np.full(4, high)])


def crop(picture: Image, camera: Camera, piece: Piece, solid: Solid) -> Image:
    """The side that is up, cut out of the picture and laid flat."""
    size = FACE_PX if piece.facts["face"].best.isdigit() else (FACE_PX[1], FACE_PX[1])
    pixels = camera.project(upper_corners_mm(piece, solid)).astype(np.float32)
    flat = np.array([(0, 0), (size[0], 0), size, (0, size[1])], dtype=np.float32) - np.float32(0.5)
    warp = cv2.getPerspectiveTransform(pixels, flat)
    return np.asarray(cv2.warpPerspective(picture, warp, size, flags=cv2.INTER_LINEAR), dtype=np.uint8)


def enrolled(piece: Piece, figures: Mapping[str, Figure]) -> Image | None:
    """The enrolled picture of the side that was read; None for a stranger or an end without a picture."""
    figure, face = figures.get(piece.facts["figure"].best), piece.facts["face"].best
    if figure is None:
        return None
    if face.isdigit():
        return np.asarray(
            cv2.resize(figure.faces[int(face) - 1], FACE_PX, interpolation=cv2.INTER_AREA), dtype=np.uint8
        )
    end = figure.top if face == "top" else figure.bottom
    if end is None:
        return None
    return np.asarray(cv2.resize(end, (FACE_PX[1], FACE_PX[1]), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def strip(
    picture: Image, camera: Camera, pieces: Sequence[Piece], solid: Solid, figures: Mapping[str, Figure]
) -> Image | None:
    """The proofs of all figures in a row, as wide as the picture; None when there is none to show.

    Under the two pictures: the name, the face and its probability, the runner-up and its; then the millimetres by
    which the footprint lies outside (+) or inside (-) the line, those to the centre, and twice their deviation.
    """
    wide = FACE_PX[0] + 2 * MARGIN_PX
    shown = [(p, known) for p in pieces if (known := enrolled(p, figures)) is not None][: picture.shape[1] // wide]
    if not shown:
        return None
    high = 2 * FACE_PX[1] + 3 * MARGIN_PX + TEXT_PX
    row = np.full((high, picture.shape[1], 3), GROUND, dtype=np.uint8)
    for number, (piece, known) in enumerate(shown):
        x = number * wide + MARGIN_PX
        for image, y in ((crop(picture, camera, piece, solid), MARGIN_PX), (known, FACE_PX[1] + 2 * MARGIN_PX)):
            row[y : y + image.shape[0], x : x + image.shape[1]] = image
        for line, said in enumerate(_said(piece)):
            at = (x, high - TEXT_PX + 12 + 16 * line)
            cv2.putText(row, said, at, cv2.FONT_HERSHEY_SIMPLEX, 0.4, INK, 1, cv2.LINE_AA)
    return row


def _said(piece: Piece) -> tuple[str, str]:
    face = piece.facts["face"]
    (best, peak), (other, second) = face.ranked[:2]
    share = math.floor(1000 * min(face.probability, 0.9999)) / 10
    rest = 100 * face.probability * math.exp(max(second - peak, -50.0))
    where = (
        f"{float(piece.facts['line'].best):+.0f} | {float(piece.facts['distance'].best):.0f}  +-{2 * piece.sigma:.1f}"
    )
    return f"{piece.facts['figure'].best} {best} {share}%  {other} {rest:.1f}%", where
