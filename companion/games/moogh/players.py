"""Simulated players: one that does anything, and one that goes for the beast and looks one action ahead.

Both answer every input that the game waits for, dice included; all chance comes from the generator.
"""

from __future__ import annotations

import random as randoms

from companion.games.moogh.cavemen import STABS, arrows, need_to_hit
from companion.games.moogh.geometry import NEAR, Cell, distance, place
from companion.games.moogh.look import explain, listed, look
from companion.games.moogh.state import Choice, State, Turn, cell_text, parse_cell
from companion.games.moogh.work import Work

_WORTH = {"DS": 5.0, "Stab": 4.0, "Aim": 4.5, "Throw": 3.5, "Climb": 2.5, "Grab": 1.5, "Sedate": 1.0, "AS": 0.5}


def choose_any(state: State, random: randoms.Random) -> Turn:
    """Any legal input with equal chance; IndexError when the game is over."""
    return random.choice(listed(state))


def choose(state: State, random: randoms.Random) -> Turn:
    """A sensible input: hit when it is likely, climb when near, else come nearer; dice by chance."""
    turns = listed(state)
    if not isinstance(turns[0], Choice):
        return random.choice(turns)
    w = Work(state)
    return max(turns, key=lambda turn: (_worth(w, turn), random.random()))


def _worth(w: Work, turn: Turn) -> float:
    if not isinstance(turn, Choice):
        return 0.0
    cell = parse_cell(turn.value)
    if turn.what == "arrow":
        pair = arrows(w, turn.who)[int(turn.value)]
        return sum(_action_worth(w, turn.who, action) for action in pair)
    if turn.what == "action":
        return 0.01 if turn.value == "end" else -1.0 if turn.value == "let_go" else _able_worth(w, turn.who, turn.value)
    if turn.what == "step":
        goal = cell or w.cell_of(turn.who)
        return _cell_worth(w, goal) if goal else 0.0
    if turn.what == "turn":
        return 1.0 if turn.value != "none" and w.free_steps(w.facing) > w.cards.cols else 0.0
    return 0.0


def _able_worth(w: Work, who: str, action: str) -> float:
    """What an action that is possible now is worth; moving only when there is nothing to gain from staying."""
    if action in ("M1", "M2"):
        here = w.cell_of(who)
        near = here is not None and distance(w.origin, here) == 1
        return 0.0 if w.at[who] == "top" or w.holding(who) or near else 6.0
    chance = max(0.0, min(1.0, (7 - need_to_hit(w, who, action)) / 6)) if action in (*STABS, "Throw") else 1.0
    return _WORTH[action] * chance


def _action_worth(w: Work, who: str, action: str) -> float:
    """What an action on an arrow promises from where he is, a move before it included."""
    reach = w.reach(who)
    if reach is None:
        return 0.0
    if action in ("M1", "M2"):
        return 1.0 + int(action[1]) if reach > 1 else 0.2
    if action in STABS and reach <= 1:
        return 2 * _able_worth(w, who, action) if w.can_stab(who) else 1.0
    if action == "Throw" and w.at[who] == "top":
        return 0.0
    return _WORTH[action] if reach <= 2 else 0.1


def _cell_worth(w: Work, cell: Cell) -> float:
    """Nearer to the beast is better, then the space with the smaller angle."""
    spaces = {place(w.origin, w.facing, space): w.cards.angle[space] for space in NEAR}
    return -float(distance(w.origin, cell)) + (0.5 - 0.1 * spaces[cell] if cell in spaces else 0.0)


def illegal(state: State, random: randoms.Random) -> tuple[dict[str, str], str] | None:
    """A table that the game does not allow, and the rule: a die turned or moved, a cube of somebody else's or onto a
    rock."""
    held, w = look(state), Work(state)
    standing = [man for man, at in w.at.items() if not isinstance(at, str)]
    kind = random.choice(("health", "points", "rage", "cube"))
    if kind == "health":
        fact, values = "die:health", [str(n) for n in range(1, 7)]
    elif kind == "points":
        fact, values = "die:points", [f"{team}{n}" for team in "AB" for n in (1, 2, 3)]
    elif kind == "rage":
        fact, values = "rage:cell", [f"{row}.{column}" for row in range(1, 7) for column in range(1, 5)]
    elif standing:
        fact = f"cube:{random.choice(standing)}"
        values = [f"{c},{r}" for c in range(w.cards.cols) for r in range(w.cards.rows_count)]
        taken = {cell_text(at) for at in w.at.values() if not isinstance(at, str)}
        rocks = {cell_text(cell) for cell in w.cards.obstacles}
        values = [v for v in values if v not in taken | rocks and not w.solid(parse_cell(v) or (0, 0))]
    else:
        return None
    values = [v for v in values if v != held[fact]]
    changes = {fact: random.choice(values)}
    if kind == "rage":
        changes["die:rage"] = changes[fact][0]
    found = explain(state, {**held, **changes})
    return None if found.stories else ({k: v for k, v in changes.items() if held[k] != v}, found.refusals[0].rule)


PLAYERS = {"random": choose_any, "sensible": choose}
"""The players by name."""
