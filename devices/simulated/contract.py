"""What every simulated table promises: one physical world behind the wires, driven by looks, not by rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from devices.simulated.acts import Act
from devices.simulated.stage import Stage
from devices.simulated.world import Manner


class SimulatedTable(Protocol):
    """One world with a clock of its own. Facts use the keys and values of the game's looks (`path:b3`, `pawn:c1`).

    Acts are queued and take simulated time: the hand comes in, changes things, goes out. All tables have the same
    `stage`: time, cameras, buttons, and what goes wrong around the table.
    """

    @property
    def stage(self) -> Stage[Any, Any, Any]:
        """The table's time, cameras, buttons and disturbances."""

    def perform(self, changes: Mapping[str, str]) -> None:
        """Queues the physical acts that make the table look so at these facts (turn a tile, move a pawn), by hand."""

    def look(self) -> Mapping[str, str]:
        """The truth: how the table looks, to the last fact."""


@runtime_checkable
class TroubledTable(SimulatedTable, Protocol):
    """A table of tiles and pawns on which also acts can be done carelessly: see `devices.simulated.acts`."""

    def act(self, acts: Iterable[Act], manner: Manner | None = None) -> None:
        """Queues single acts, careless and unfinished ones too, done in `manner` (the table's own when None)."""
