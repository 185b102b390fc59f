"""How the table looks: the facts that a camera can see, and what a difference means."""

from __future__ import annotations

from companion.games.contract import Explanation, Look, Refusal, Story
from companion.games.moogh.engine import apply, asked, why_no_step
from companion.games.moogh.geometry import FACINGS, Cell, footprint
from companion.games.moogh.state import Choice, Man, Roll, State, Turn, Walk, at_text, cell_text, parse_cell, turn_text
from companion.games.moogh.waits import Waits
from companion.games.moogh.work import Work

PIPS = 6
"""More than that no die shows; a second one is used then (R-7), of which the camera knows nothing."""

UNDER = "under"


def look(state: State) -> dict[str, str]:
    """The whole table: `cube:<colour>` a cell `3,1`, `grab:LF`, `top`, `dead`, or `under` the beast
    (trampled and not pushed aside yet, so that it can lie on no cell); `die:health` 0..6; `die:rage` 1..6;
    `rage:cell` row and column on the action card, `3.2`; `card:side` front or back; `die:points` `A2`, `B1` or `0`,
    never more than its six pips; `beast:origin` its north-west cell; `beast:facing` north, east, south or west."""
    team = "A" if state.balance > 0 else "B"
    return {
        "beast:origin": cell_text(state.origin),
        "beast:facing": FACINGS[state.facing],
        "die:health": str(state.health),
        "die:rage": str(state.level),
        "rage:cell": f"{state.level}.{state.column}",
        "card:side": state.side,
        "die:points": f"{team}{min(abs(state.balance), PIPS)}" if state.balance else "0",
        **{f"cube:{man.name}": _place(state, man) for man in state.men},
    }


def _place(state: State, man: Man) -> str:
    return UNDER if man.at in footprint(state.origin) else at_text(man.at)


def differences(state: State, seen: Look) -> dict[str, str]:
    """The facts that are seen with another value than the state holds; facts that were not seen are left out."""
    return {fact: seen[fact] for fact, value in look(state).items() if seen.get(fact, value) != value}


def listed(state: State) -> list[Turn]:
    """All inputs that are legal now."""
    if state.over is not None:
        return []
    now = asked(Work(state))
    return turns_of(now) if now else []


def turns_of(now: Waits) -> list[Turn]:
    """The inputs that answer what is waited for."""
    if now.kind == "roll":
        return [Roll(who, now.what, pips) for who, _ in now.by for pips in range(1, 7)]
    return [Choice(who, now.what, value) for who, values in now.by for value in values]


def explain(before: State, seen: Look) -> Explanation[State, Turn]:
    """The choices that lead to what is seen: those that are listed, and a whole move of the one to act.

    One that leaves no mark counts as unseen. No roll is read from what comes of it, since several would come to the
    same: where one is awaited, and the table looks as after it, the turn lacks only that it is told. When none fits,
    the refusals say which fact differs from the engine, with both values and the turn that set it last, or why a cube
    may not stand where it stands.
    """
    best: list[Story[State, Turn]] = []
    changed = differences(before, seen)
    rolls = [turn for turn in listed(before) if isinstance(turn, Roll)]
    if rolls and any(_leads_to(before, roll, seen) for roll in rolls):
        places = tuple(value for value in changed.values() if parse_cell(value)) or tuple(changed)
        why = (("who", f"@moogh.{rolls[0].who}"), ("why", roll_word(rolls[0])))
        return Explanation(refusals=(Refusal("moogh.roll_untold", places, why),), unfinished=True)
    for turn in () if rolls else (*listed(before), *_walks(before, changed)):
        after = apply(before, turn)
        if isinstance(after, Refusal) or differences(after, seen):
            continue
        unseen = 0 if changed else 1
        story = Story(turn, after, _player(before, turn.who), unseen)
        _keep_better(best, story)
    if best:
        stories = sorted(best, key=lambda s: (s.unseen, turn_text(s.turn)))
        return Explanation(stories=tuple(stories))
    return Explanation(refusals=tuple(_refusals(before, seen, changed)))


def _leads_to(before: State, turn: Turn, seen: Look) -> bool:
    after = apply(before, turn)
    return not isinstance(after, Refusal) and not differences(after, seen)


def roll_word(roll: Roll) -> str:
    """The catalogue id of what a roll is for, as a value."""
    return "@moogh.roll_" + roll.why.replace(":", "_")


def _keep_better(best: list[Story[State, Turn]], story: Story[State, Turn]) -> None:
    """Adds a story, or puts it in the place of a worse one that leads to the same state."""
    for place, known in enumerate(best):
        if known.after == story.after:
            if (story.unseen, turn_text(story.turn)) < (known.unseen, turn_text(known.turn)):
                best[place] = story
            return
    best.append(story)


def _player(state: State, who: str) -> int:
    return state.rule.seat(who)[0]


def _walks(state: State, changed: Look) -> list[Walk]:
    """Moves of one or two steps of the one to act that bring his cube where it is seen."""
    if state.over is not None or not state.agenda or state.agenda[-1][0] != "act":
        return []
    _, man, left, _ = state.agenda[-1]
    goal = parse_cell(changed.get(f"cube:{man}", ""))
    if goal is None or set(changed) != {f"cube:{man}"}:
        return []
    w = Work(state)
    here = w.cell_of(man)
    first = w.around() if w.at[man] == "top" else w.steps(here) if here else []
    walks = []
    for action in dict.fromkeys(action for action in left if action in ("M1", "M2")):
        if goal in first:
            walks.append(Walk(man, action, (goal,)))
        elif action == "M2":
            through = [cell for cell in first if _near(cell, goal)]
            walks += [Walk(man, action, (cell, goal)) for cell in through[:1]]
    return walks


def _near(a: Cell, b: Cell) -> bool:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1


def _refusals(state: State, seen: Look, changed: Look) -> list[Refusal]:
    """Why no input explains the table: cubes first, then dice and cards."""
    found = []
    w = Work(state)
    now = asked(w) if state.over is None else None
    held = look(state)
    causes = dict(state.causes)
    for fact, value in sorted(changed.items(), key=lambda item: not item[0].startswith("cube:")):
        kind, _, name = fact.partition(":")
        cell = parse_cell(value)
        if kind == "cube" and cell and now and now.what in ("action", "step", "pushed_to", "drop_to"):
            if name != now.who:
                who = (("who", f"@moogh.{name}"), ("awaited", f"@moogh.{now.who}"))
                found.append(Refusal("moogh.not_your_turn", (value,), who))
                continue
            if not w.free(cell) or now.what != "action" or _may_move(state):
                found.append(why_no_step(w, name, value))
                continue
        found.append(
            Refusal(
                "moogh.differs",
                (value,) if cell else (fact,),
                (
                    ("fact", "@moogh.fact_" + fact.replace(":", "_")),
                    ("seen", "@moogh.off_the_cells" if kind == "cube" and cell is None else value),
                    ("held", held[fact]),
                    ("cause", causes.get(fact, "@moogh.cause_start")),
                ),
            )
        )
    if not changed and not seen:
        found.append(Refusal("moogh.nothing_seen"))
    return found


def _may_move(state: State) -> bool:
    return any(action in ("M1", "M2") for action in state.agenda[-1][2])
