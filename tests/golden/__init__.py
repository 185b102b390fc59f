"""Golden cases: worked positions and games in JSON, run by `python -m tests.golden FILE...`.

A file is handed to the adapter module of its prefix: `moguli_explain.json` to `tests.golden.moguli`. An adapter has
one function, `cases(data, name) -> Iterator[Case]`, which turns a file's JSON into cases; translating the file's
formats and reason codes into the engine's is its whole work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to check: its kind (`positions`, `turns`), the id it has in the file, and `check`, which returns None
    when the engine agrees and one line about the first difference when it does not. A check may raise: that counts as
    failed too."""

    kind: str
    id: str
    check: Callable[[], str | None]


class Adapter(Protocol):
    """What a module of this package has to offer."""

    def cases(self, data: Any, name: str) -> Iterator[Case]:
        """The cases in `data`, the parsed JSON of the file called `name` (`moguli.json`)."""
