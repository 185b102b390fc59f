"""Pips looked up by hand: a tile's own numbers agree, all others do not, whatever the tile's make and place."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.domino_choice import Spot
from vision.domino_pips import agree
from vision.pips import Pyramid

SIDE = 60
PLACES = {
    0: (),
    1: (4,),
    2: (0, 8),
    3: (2, 4, 6),
    4: (0, 2, 6, 8),
    5: (0, 2, 4, 6, 8),
    6: (0, 2, 3, 5, 6, 8),
    7: (0, 2, 3, 4, 5, 6, 8),
}


def tile(left: int, right: int, face: int, pips: int, turn_deg: float) -> tuple[Pyramid, Spot]:
    """A tile drawn flat, then turned; and where its face lies."""
    image = np.full((240, 240, 3), 90, np.uint8)
    corner = np.array([60.0, 90.0])
    cv2.rectangle(image, (60, 90), (60 + 2 * SIDE, 90 + SIDE), (face,) * 3, -1)
    for half, value in enumerate((left, right)):
        for k in PLACES[value]:
            x, y = corner + SIDE * np.array([half + 0.25 * (k % 3 + 1), 0.25 * (k // 3 + 1)])
            cv2.circle(image, (round(float(x)), round(float(y))), 6, (pips,) * 3, -1, cv2.LINE_AA)
    m = cv2.getRotationMatrix2D((120, 120), turn_deg, 1)
    quad = np.array([[0, 0], [0, SIDE], [2 * SIDE, SIDE], [2 * SIDE, 0]], np.float64) + corner
    turned = cv2.warpAffine(image, m, (240, 240), borderMode=cv2.BORDER_REPLICATE)
    return Pyramid(np.asarray(turned, np.uint8)), Spot((quad @ m[:, :2].T + m[:, 2]).astype(np.float32), 0.99)


@pytest.mark.parametrize("turn_deg", (0.0, 33.0, 200.0))
@pytest.mark.parametrize("face,pips", ((230, 30), (25, 220)))
def test_only_the_numbers_that_a_tile_shows_agree(face: int, pips: int, turn_deg: float) -> None:
    for left in range(7):
        right = (left * 3 + 1) % 7
        pyramid, spot = tile(left, right, face, pips, turn_deg)
        for a in range(7):
            for b in range(7):
                assert agree(pyramid, [spot], np.array([[a, b]]))[0] == ((a, b) == (left, right)), (left, right, a, b)


def test_a_tile_of_a_larger_set_a_faint_one_and_one_face_down_never_agree() -> None:
    for pyramid, spot in (tile(7, 6, 230, 30, 10.0), tile(4, 6, 130, 115, 10.0)):
        assert not any(agree(pyramid, [spot], np.array([[a, b]]))[0] for a in range(1, 8) for b in range(8))
    pyramid, spot = tile(0, 0, 230, 30, 0.0)
    assert not agree(pyramid, [spot], np.array([[7, 7]]))[0]
    assert not len(agree(pyramid, [], np.zeros((0, 2), np.intp)))
