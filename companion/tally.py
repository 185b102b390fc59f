"""The count of a demo: what was right, asked and wrong, and what else happened."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from statistics import median

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """What was right, asked and wrong, measured against the simulated world."""

    right: int = 0
    asked: int = 0
    wrong: int = 0
    ended: int = 0
    """Games played to their end."""
    illegal: dict[str, int] = field(default_factory=dict)
    takebacks: int = 0
    mishaps: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    shown_s: list[float] = field(default_factory=list)
    """How long after the table came to rest each turn was shown, in frame time; `asked_s`: a question about it."""
    asked_s: list[float] = field(default_factory=list)

    def fault(self, what: str) -> None:
        """Notes one wrong verdict."""
        self.wrong += 1
        self.faults.append(what)
        _log.warning("wrong: %s", what)

    @property
    def asides(self) -> str:
        """What else happened: illegal acts that were named with their rule, takebacks, mishaps."""
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(self.illegal.items()))
        mishaps = ", ".join(f"{name} {count}" for name, count in sorted(self.mishaps.items()))
        return (
            f"games played to their end {self.ended}, "
            f"illegal acts named {sum(self.illegal.values())} ({rules or 'none'}), takebacks {self.takebacks}, "
            f"mishaps: {mishaps or 'none'}"
        )

    @property
    def delays(self) -> str:
        """How long after the table came to rest turns were shown, and questions about them."""
        told = [
            f"{what} median {median(times):.1f} s, at most {max(times):.1f} s"
            for what, times in (("turns", self.shown_s), ("questions", self.asked_s))
            if times
        ]
        return f"shown after rest: {'; '.join(told) or 'none'}"

    def happened(self, name: str) -> None:
        """Counts one mishap."""
        self.mishaps[name] = self.mishaps.get(name, 0) + 1

    @property
    def line(self) -> str:
        """The summary line."""
        return f"turns right {self.right} asked {self.asked} wrong {self.wrong}"
