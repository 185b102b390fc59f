"""What every simulated table promises: one physical world behind the wires, driven by looks, not by rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, runtime_checkable

from devices.contract import Frame, Source
from devices.simulated.acts import Act
from devices.simulated.disturbances import Event
from devices.simulated.world import Manner


class SimulatedTable(Protocol):
    """One world with a clock of its own. Facts use the keys and values of the game's looks (`path:b3`, `pawn:c1`).

    Acts are queued and take simulated time: the hand comes in, changes things, goes out. Time advances only by
    `advance`, so a run at full speed and one in real time show the same frames.
    """

    def camera(self) -> Source[Frame]:
        """The camera over this table; each read gives the world as it is at the current simulated time."""

    def perform(self, changes: Mapping[str, str]) -> None:
        """Queues the physical acts that make the table look so at these facts (turn a tile, move a pawn), by hand."""

    def press(self, button: str) -> None:
        """Queues a press of a button after the acts queued so far; it reaches the program through its real driver."""

    def advance(self, seconds: float) -> None:
        """Lets simulated time pass."""

    def now_s(self) -> float:
        """Simulated monotonic time in seconds."""

    @property
    def busy(self) -> bool:
        """True while queued acts are not finished or a hand is over the table."""

    def look(self) -> Mapping[str, str]:
        """The truth: how the table looks, to the last fact."""


@runtime_checkable
class DisturbedTable(SimulatedTable, Protocol):
    """A table around which things can also go wrong by script: see `devices.simulated.disturbances`."""

    def disturb(self, event: Event) -> None:
        """A disturbance begins now."""


@runtime_checkable
class TroubledTable(DisturbedTable, Protocol):
    """A table of tiles and pawns on which also acts can be done carelessly: see `devices.simulated.acts`."""

    def act(self, acts: Iterable[Act], manner: Manner | None = None) -> None:
        """Queues single acts, careless and unfinished ones too, done in `manner` (the table's own when None)."""
