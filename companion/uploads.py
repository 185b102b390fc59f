"""Pictures that people send: what they are and how large, known from their first bytes before anything is decoded."""

from __future__ import annotations

import struct

import cv2
import numpy as np

from companion.games.contract import Message
from devices.contract import Image

MOST_MEGAPIXELS = 16
LEAST_PX = 240


def decoded(data: bytes) -> Image | Message:
    """The picture (BGR) of a JPEG or PNG of at most MOST_MEGAPIXELS, or in words why it cannot be taken."""
    size = _size(data)
    if size is None:
        return Message("enrol.no_picture")
    width, height = size
    if width * height > MOST_MEGAPIXELS * 1_000_000:
        megapixels = round(width * height / 1e6)
        return Message("enrol.too_large", (("megapixels", megapixels), ("most", MOST_MEGAPIXELS)))
    if min(width, height) < LEAST_PX:
        return Message("enrol.too_small", (("width", width), ("height", height), ("least", LEAST_PX)))
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return Message("enrol.no_picture") if picture is None else np.asarray(picture, np.uint8)


def _size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG (its IHDR) or a JPEG (its first start-of-frame segment); None for anything else."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        kind = data[at + 1]
        if kind == 0xFF:  # fill
            at += 1
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        else:
            at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None
