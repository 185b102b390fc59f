"""A camera of its own over a dice tray: every die as a piece, and nothing to register."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calibration.profile import TableProfile
from devices.contract import Frame, Image
from vision.dice import DiceReader
from vision.reading import Reading


class TrayReader:
    """Reads the dice of a picture that shows a tray and nothing else; an empty tray is no trouble."""

    def __init__(self, profile: TableProfile) -> None:
        """Nothing of the profile is needed: values are read without a table, places are in px."""
        self._dice = DiceReader()

    def read(self, frame: Frame) -> Reading:
        """The dice as pieces, no facts; the picture itself counts as the board."""
        reading = self._dice.read(frame)
        height, width = frame.bgr.shape[:2]
        corners = ((0.0, 0.0), (float(width), 0.0), (float(width), float(height)), (0.0, float(height)))
        troubles = tuple(t for t in reading.troubles if t != "vision.no_dice")
        return replace(reading, board_px=corners, troubles=troubles)

    def agree(self, look: Mapping[str, str]) -> None:
        """Nothing is learned from what the table agrees on."""

    def draw(self, image: Image, reading: Reading) -> Image:
        """A copy of the picture with the dice drawn over it."""
        return self._dice.draw(image, reading)
