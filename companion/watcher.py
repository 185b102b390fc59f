"""What the service wants of its eyes, wherever they run."""

from __future__ import annotations

from typing import Protocol

from companion.commands import Corners
from companion.footage import Keep
from companion.games.contract import Look, Message


class Watcher(Protocol):
    """What the service needs of the eyes; every method may be called from the service's thread at any time."""

    @property
    def working(self) -> bool:
        """True while pictures come and the board is in them."""

    @property
    def current(self) -> bool:
        """True while the table is at rest and the last reading shows it."""

    @property
    def latest_s(self) -> float:
        """Frame time of the newest picture."""

    @property
    def corners(self) -> tuple[str, ...]:
        """The board corners of which one must be named as the first player's left one; empty where markers tell."""

    @property
    def corner_names(self) -> tuple[str, ...]:
        """The names of the board's corners, in the order in which they are tapped."""

    def tap(self, points: Corners) -> Message | None:
        """The board's corners lie at these parts of the picture's width and height (none: where its markers say);
        why they cannot be taken, in words."""

    def want(self, soon: bool) -> None:
        """Whether a new reading is wanted although nothing moved."""

    def agree(self, frame_number: int, look: Look) -> None:
        """What the table has agreed on for the picture of that number."""

    def turn_board(self, corner: str) -> None:
        """From now on this corner is the first player's left one."""

    def keep(self, keep: Keep) -> None:
        """Has a clip of the last seconds written, of what is remembered of them."""
