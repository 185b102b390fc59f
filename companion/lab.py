"""The faults of a simulated table as the lab page wants them: names and switches."""

from __future__ import annotations

from dataclasses import dataclass

from devices.faults import FAULTS, Running

PLACES = ("camera", "clock", "disk")
"""Faults of the eyes' process have no place here: a simulated table shares the program's."""


@dataclass(frozen=True, slots=True)
class FaultLab:
    """Switches for running faults."""

    faults: Running

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of all faults that can be begun."""
        return tuple(kind.name for kind in FAULTS.values() if kind.place in PLACES)

    def switch(self, kind: str, seconds: float) -> None:
        """Ends the fault of this kind, and begins it anew when `seconds` is above 0."""
        self.faults.end(kind)
        if seconds > 0:
            self.faults.begin(kind, seconds)

    def running(self) -> tuple[str, ...]:
        """The names of the faults that run now."""
        return tuple(fault.kind for fault in self.faults.now())
