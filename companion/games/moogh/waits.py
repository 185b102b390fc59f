"""What a task waits for: a choice among listed values, or a die with the least value that succeeds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waits:
    """`kind` is "choice" or "roll", `what` its subject or purpose, `by` who may give which values; `need` is the least
    roll that succeeds, 0 where every value means something of its own."""

    kind: str
    what: str
    by: tuple[tuple[str, tuple[str, ...]], ...]
    need: int = 0

    @property
    def who(self) -> str:
        """The first of those who are waited for."""
        return self.by[0][0]


def choice(what: str, who: str, *values: str) -> Waits:
    """One of these values from one person."""
    return Waits("choice", what, ((who, values),))


def roll(why: str, who: str, need: int = 0) -> Waits:
    """One die."""
    return Waits("roll", why, ((who, ("1", "2", "3", "4", "5", "6")),), need)
