"""Positions of Moguli for tests, written as what differs from a plain board.

The plain board is 35 straights with the triangle lying east-west: every row is one line on the surface and below, and
no row is joined to another, so that every move can be worked out by looking.
"""

from __future__ import annotations

from typing import Any

from companion.games.contract import Explanation, Look, Refusal
from companion.games.moguli import RULES
from companion.games.moguli.state import State, Turn


def at(
    first: str,
    second: str,
    to_move: int = 1,
    *,
    tiles: dict[str, str] | None = None,
    locked: str = "-",
    run: int = 0,
    last: bool = False,
    flags: str = "-",
    more: str = "",
) -> State:
    """The position with the players' pawns, other tiles (`{"e1": "B0"}`) and whatever else is not usual."""
    rows = []
    for row in range(7, 0, -1):
        rows.append("".join((tiles or {}).get(f"{column}{row}", "S1") for column in "abcde"))
    line = (
        f"{'/'.join(rows)} 1:{first or '-'} 2:{second or '-'} {to_move} {locked} {run} {'L' if last else '-'} {flags}"
    )
    return RULES.parse_position(f"{line} {more}".strip())


def play(state: State, text: str) -> State:
    """The state after a legal turn."""
    after = RULES.apply(state, RULES.parse(text))
    assert isinstance(after, State), f"{text}: {after}"
    return after


def refused(state: State, text: str) -> str:
    """The rule that a turn breaks, without the game's name."""
    answer = RULES.apply(state, RULES.parse(text))
    assert isinstance(answer, Refusal), f"{text} is legal"
    return answer.rule.removeprefix("moguli.")


def listed(state: State) -> set[str]:
    """Texts of the merged list."""
    return {RULES.text(turn) for turn in RULES.legal(state)}


def pawns(state: State) -> dict[str, int]:
    """Door -> player number."""
    found: dict[str, int] = RULES.view(state, None)["pawns"]
    return found


def locks(state: State) -> list[str]:
    """The locked tiles."""
    found: list[str] = RULES.view(state, None)["locked"]
    return found


def seen(state: State, **changes: str) -> dict[str, str]:
    """The look of the state with doors or tiles changed: `a1="-"`, `a1="2"`, `a1="NS"`, `a1="triangle no"`."""
    look = dict(RULES.look(state))
    for place, value in changes.items():
        kind = "pawn" if value in ("-", "1", "2") else "triangle" if value.startswith("triangle ") else "path"
        key = f"{kind}:{place}"
        assert key in look and look[key] != value.removeprefix("triangle "), f"{key} is {value} already"
        look[key] = value.removeprefix("triangle ")
    return look


def explained(state: State, look: Look) -> Explanation[State, Turn]:
    """What the engine makes of a look."""
    return RULES.explain(state, look)


def named(state: State, **changes: str) -> tuple[str, tuple[str, ...]]:
    """Rule and places of the first refusal of a look that no legal turn leads to."""
    answer: Any = explained(state, seen(state, **changes))
    assert not answer.stories, RULES.text(answer.stories[0].turn)
    return answer.refusals[0].rule.removeprefix("moguli."), answer.refusals[0].places
