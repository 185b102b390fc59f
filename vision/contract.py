"""What every reader of a table promises; one file in `vision` per kind of piece implements it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from devices.contract import Frame, Image
from vision.reading import Reading


class VisionError(Exception):
    """Root of what vision raises: only for misuse (a profile that cannot work), never for a picture."""


class Reader(Protocol):
    """Picture to reading for one table; keeps what it has learned (pose, colours, accepted patches) between calls."""

    def read(self, frame: Frame) -> Reading:
        """The reading of a picture of any size and content; a bad picture gives a reading whose `troubles` say why."""

    def agree(self, look: Mapping[str, str]) -> None:
        """Tells the reader which facts (fact key -> value) the table has agreed on for the picture it read last, so
        that colours and templates follow the light and later changes can be noticed."""

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the reading drawn over it (the last, optional stage)."""
