"""The engine: runs the agenda until it waits, says what for, and takes what comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from companion.games.contract import Refusal
from companion.games.moogh import beast, cavemen
from companion.games.moogh.state import Choice, Roll, State, Task, Turn, Walk, cell_text, parse_cell
from companion.games.moogh.waits import Waits
from companion.games.moogh.work import Work

ASK: dict[str, Callable[[Work, Task], Waits | None]] = {
    "arrows": cavemen.ask_arrows,
    "act": cavemen.ask_act,
    "steps": cavemen.ask_steps,
    "drop": cavemen.ask_drop,
    "target": cavemen.ask_target,
    "hit": cavemen.ask_hit,
    "pvp_hit": cavemen.ask_pvp_hit,
    "Grab": cavemen.ask_grab,
    "Climb": cavemen.ask_climb,
    "Sedate": cavemen.ask_sedate,
    "AS": cavemen.ask_attract,
    "lure": cavemen.ask_lure,
    "save": cavemen.ask_save,
    "die_way": beast.ask_die_way,
    "attack": beast.ask_attack,
    "saves": beast.ask_saves,
    "flung": beast.ask_flung,
    "fly": beast.ask_fly,
    "flight": beast.ask_flight,
    "drop_to": beast.ask_drop_to,
    "turn": beast.ask_turn,
}
"""What a task waits for; a task without a line here never waits."""

RUN: dict[str, Callable[[Work, Task], None]] = {
    "phase": cavemen.begin_phase,
    "arrows": cavemen.run_arrows,
    "act": cavemen.run_act,
    "steps": cavemen.run_pop,
    "drop": cavemen.run_drop,
    "save": cavemen.run_pop,
    "end_phase": beast.run_end_phase,
    "beast": beast.run_beast,
    "columns": beast.run_columns,
    "tread": beast.run_tread,
    "pushed": beast.run_pushed,
    "attack": cavemen.run_pop,
    "saves": cavemen.run_pop,
    "flung": cavemen.run_pop,
    "shake": beast.run_shake,
    "mini": beast.run_mini,
    "drop_to": beast.run_drop_to,
    "turn": beast.run_turn,
    "turn_on_attacker": beast.run_turn_on_attacker,
}
"""How a task goes on by itself when it waits for nothing."""

TAKE: dict[str, Callable[[Work, Task, str, Any], None]] = {
    "arrows": cavemen.take_arrow,
    "act": cavemen.take_act,
    "steps": cavemen.take_steps,
    "drop": cavemen.take_pushed_to,
    "target": cavemen.take_target,
    "hit": cavemen.take_hit,
    "pvp_hit": cavemen.take_pvp_hit,
    "Grab": cavemen.take_grab,
    "Climb": cavemen.take_climb,
    "Sedate": cavemen.take_sedate,
    "AS": cavemen.take_attract,
    "lure": cavemen.take_lure,
    "save": cavemen.take_save,
    "die_way": beast.take_die_way,
    "attack": beast.take_attack,
    "saves": beast.take_saves,
    "flung": beast.take_flung,
    "fly": beast.take_fly,
    "flight": beast.take_flight,
    "drop_to": beast.take_drop_to,
    "turn": beast.take_turn,
}
"""What a task does with the value that came (dice as numbers, choices as text)."""


def settle(w: Work) -> None:
    """Runs the agenda until a task waits or the game is over; then the agenda is empty."""
    while w.over is None and asked(w) is None:
        task = w.agenda[-1]
        RUN[task[0]](w, task)
    if w.over is not None:
        w.agenda.clear()


def asked(w: Work) -> Waits | None:
    """What the task on top waits for, or None."""
    task = w.agenda[-1]
    ask = ASK.get(task[0])
    return ask(w, task) if ask else None


def waits(state: State) -> Waits | None:
    """What the game waits for; None when it is over."""
    return asked(Work(state)) if state.over is None else None


def apply(state: State, turn: Turn) -> State | Refusal:
    """The state after the turn and after everything that follows by itself, or why it is refused."""
    if turn == GIVE_UP:
        return _given_up(state)
    if isinstance(turn, Walk):
        return _walk(state, turn)
    w = Work(state)
    refusal = _take(w, turn)
    if refusal is not None:
        return refusal
    w.note(state, turn)
    return w.freeze()


GIVE_UP = Choice("table", "give_up", "yes")
"""All players stop the hunt; the beast wins."""


def _given_up(state: State) -> State | Refusal:
    if state.over is not None:
        return Refusal("moogh.over")
    w = Work(state)
    w.over = ("given_up", "")
    w.agenda.clear()
    return w.freeze()


def _take(w: Work, turn: Choice | Roll) -> Refusal | None:
    if w.over is not None:
        return Refusal("moogh.over")
    now = asked(w)
    assert now is not None, "a settled state waits or is over"
    refusal = _refusal(w, now, turn)
    if refusal is not None:
        return refusal
    task = w.agenda[-1]
    TAKE[task[0]](w, task, turn.who, turn.value)
    settle(w)
    return None


def _refusal(w: Work, now: Waits, turn: Choice | Roll) -> Refusal | None:
    """Why the input does not answer what is waited for."""
    kind, subject = ("roll", turn.why) if isinstance(turn, Roll) else ("choice", turn.what)
    names = dict(now.by)
    if turn.who not in names:
        return _no("moogh.not_your_turn", who=_name(turn.who), awaited=_name(now.who))
    if (kind, subject) != (now.kind, now.what):
        return _no("moogh.not_awaited", who=_name(turn.who), got=_subject(kind, subject), awaited=_subject(*_key(now)))
    if str(turn.value) in names[turn.who]:
        return None
    if isinstance(turn, Roll):
        return _no("moogh.no_such_pips", got=turn.value)
    return _why_not(w, turn)


def _why_not(w: Work, turn: Choice) -> Refusal:
    """The rule behind a value that is not among the choices."""
    value, who = turn.value, turn.who
    if turn.what in ("step", "pushed_to", "drop_to"):
        return why_no_step(w, who, value)
    if turn.what == "action":
        task = w.agenda[-1]
        if value not in task[2]:
            rule = "moogh.not_holding" if value == "let_go" else "moogh.not_on_the_arrow"
            return _no(rule, who=_name(who), action=_action(value))
        return _no(_ACTION_RULES.get(value, "moogh.too_far"), who=_name(who), action=_action(value))
    if turn.what == "target":
        return _no("moogh.no_target", who=_name(who), got=_name(value))
    return _no("moogh.no_such_choice", got=value, what=_subject("choice", turn.what))


_ACTION_RULES = {
    "M1": "moogh.nowhere_to_go",
    "M2": "moogh.nowhere_to_go",
    "Stab": "moogh.stab_adjacent",
    "DS": "moogh.stab_adjacent",
    "Aim": "moogh.stab_adjacent",
    "Grab": "moogh.grab_adjacent",
    "Climb": "moogh.climb_adjacent",
    "Throw": "moogh.throw_line",
}


def why_no_step(w: Work, who: str, value: str) -> Refusal:
    """Why a tribesman cannot go to this cell."""
    cell = parse_cell(value)
    if cell is None:
        return _no("moogh.no_such_choice", got=value, what=_subject("choice", "step"))
    if not w.on_board(cell):
        rule = "moogh.off_the_board"
    elif cell in w.cards.obstacles:
        rule = "moogh.onto_an_obstacle"
    elif w.solid(cell):
        rule = "moogh.onto_the_beast"
    elif w.standing_on(cell) is not None:
        rule = "moogh.onto_a_tribesman"
    else:
        rule = "moogh.not_adjacent"
    return Refusal(rule, (cell_text(cell),), (("who", _name(who)), ("cell", cell_text(cell))))


def _walk(state: State, turn: Walk) -> State | Refusal:
    """A move told at once is the same as its action and its steps."""
    w = Work(state)
    steps: list[Choice] = [Choice(turn.who, "step", cell_text(cell)) for cell in turn.cells]
    for part in [Choice(turn.who, "action", turn.action), *steps]:
        refusal = _take(w, part)
        if refusal is not None:
            return refusal
    if w.over is None and w.agenda[-1][0] == "steps" and w.agenda[-1][1] == turn.who:
        _take(w, Choice(turn.who, "step", "stop"))
    w.note(state, turn)
    return w.freeze()


def _key(now: Waits) -> tuple[str, str]:
    return now.kind, now.what


def _name(who: str) -> str:
    return f"@moogh.{who}"


def _action(value: str) -> str:
    return f"@moogh.action_{value}"


def _subject(kind: str, subject: str) -> str:
    """The words for what is rolled or chosen; `save:attack` has an underscore there."""
    return f"@moogh.{kind}_{subject.replace(':', '_')}"


def _no(rule: str, **values: str | int) -> Refusal:
    return Refusal(rule, values=tuple(values.items()))
