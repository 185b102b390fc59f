"""The beast's phases: the rage die runs over the action card, and each space it enters is done before the next."""

from __future__ import annotations

from companion.games.moogh.cavemen import PHASES, to_cell
from companion.games.moogh.geometry import (
    AROUND,
    STEP,
    Cell,
    from_centre,
    outward,
    place,
    quarters,
    ray,
)
from companion.games.moogh.state import BEAST, Task, cell_text
from companion.games.moogh.waits import Waits, choice, roll
from companion.games.moogh.work import Work


def run_end_phase(w: Work, _task: Task) -> None:
    """The next phase begins; after the fourth the next round."""
    w.agenda.pop()
    if w.phase in PHASES and not (w.phase == 1 and w.rule.solo_single_beast and w.rule.solo):
        w.phase += 1
        w.chosen = {}
        w.push(("beast",), ("end_phase",))
        return
    w.phase += 2 if w.phase == 1 else 1
    if w.phase > 4:
        w.phase, w.round = 1, w.round + 1
    w.push(("phase",))


def run_beast(w: Work, _task: Task) -> None:
    """Rage falls when nobody tried to hurt the beast; then the die moves as many columns as the arrows say."""
    w.agenda.pop()
    if not w.attempted:
        w.tell("no_attempt")
        w.rage(-1)
    columns = w.cards.arrows[w.level]
    w.push(("die_way", columns) if w.rule.moogh_control else ("columns", columns, 1))


def ask_die_way(_w: Work, _task: Task) -> Waits:
    """R-24: the beast's player chooses the way for this phase."""
    return choice("die_way", BEAST, "right", "left")


def take_die_way(w: Work, task: Task, _who: str, value: str) -> None:
    """The way is chosen."""
    w.agenda.pop()
    w.push(("columns", task[1], 1 if value == "right" else -1))


def run_columns(w: Work, task: Task) -> None:
    """One space further; past the edge the card flips and the die enters from its other end."""
    _, left, way = task
    w.agenda.pop()
    if left == 0:
        return
    w.column += way
    if not 1 <= w.column <= w.cards.columns:
        w.side = "back" if w.side == "front" else "front"
        w.column = 1 if way > 0 else w.cards.columns
        w.tell("flip", side=f"@moogh.side_{w.side}")
    action = w.cards.rows[w.side][w.level][w.column - 1]
    plain = action.removesuffix("*")
    w.tell("space", row=w.level, column=w.column, action=f"@moogh.beast_{plain}")
    mini: list[Task] = [("mini",)] if action != plain else []  # after the action
    w.push(_task_of(plain), *mini, ("columns", left - 1, way))


def _task_of(action: str) -> Task:
    match action[0], action[1:]:
        case "M", steps:
            return ("tread", int(steps), 1)
        case "B", steps:
            return ("tread", int(steps), -1)
        case "A", times:
            return ("attack", int(times))
        case "S", _:
            return ("shake",)
        case _, "A":
            return ("turn_on_attacker",)
    return ("turn",)


# --- trampling --------------------------------------------------------------------------------------------------


def run_tread(w: Work, task: Task) -> None:
    """R-17: one step of the beast, then those now under it are pushed, its left side first."""
    _, left, sign = task
    w.agenda.pop()
    way = w.facing if sign > 0 else (w.facing + 2) % 4
    cells = w.lane(w.origin, way)
    if left == 0:
        return
    if any(w.blocked(cell) for cell in cells):
        w.tell("blocked")
        return
    w.origin = (w.origin[0] + STEP[way][0], w.origin[1] + STEP[way][1])
    w.tell("steps", cell=cell_text(w.origin))
    if w.gone():
        w.over = ("escaped", "")
        return
    near = cells if sign > 0 else cells[::-1]  # of the beast, not of the way: its own left side comes first
    under = [man for cell in near if (man := w.standing_on(cell))]
    w.push(*(("pushed", man, way) for man in under), ("tread", left - 1, sign))


def run_pushed(w: Work, task: Task) -> None:
    """R-4: to the nearer side, else the other, else ahead, else the nearest free space; then he saves."""
    _, man, way = task
    w.agenda.pop()
    cell = w.at[man]
    if isinstance(cell, str):
        return
    left = _beside(w, cell, (w.facing - 1) % 4)
    right = _beside(w, cell, (w.facing + 1) % 4)
    sides = sorted((left, right), key=lambda c: abs(c[0] - cell[0]) + abs(c[1] - cell[1]))
    ahead = (cell[0] + STEP[way][0], cell[1] + STEP[way][1])
    w.put(man, next((c for c in (*sides, ahead) if w.free(c)), None) or w.nearest_free(cell))
    w.push(("save", man, "trample"))


def _beside(w: Work, cell: Cell, way: int) -> Cell:
    """The first cell outside the beast in this direction."""
    for at in ray(cell, STEP[way], 2):
        if not (0 <= at[0] - w.origin[0] <= 1 and 0 <= at[1] - w.origin[1] <= 1):
            return at
    raise AssertionError("a beast is two cells wide")


# --- attacking and shaking --------------------------------------------------------------------------------------


def ask_attack(_w: Work, task: Task) -> Waits | None:
    """A die for each attack."""
    return roll("attack_die", BEAST) if task[1] else None


def take_attack(w: Work, task: Task, _who: str, value: int) -> None:
    """Those standing or holding on in the two spaces save; the top is safe."""
    w.agenda.pop()
    spaces = w.cards.attack_dice[value]
    w.tell("attacks", first=spaces[0], second=spaces[1])
    hit = tuple(man for man in w.living() if w.space_of(man) in spaces)
    w.push(("saves", hit), ("attack", task[1] - 1))


def ask_saves(w: Work, task: Task) -> Waits | None:
    """Those hit save in any order: each save stands for itself."""
    pips = ("1", "2", "3", "4", "5", "6")
    by = tuple((man, pips) for man in task[1] if w.at[man] != "dead")
    return Waits("roll", "save:attack", by, w.cards.save[w.level]) if by else None


def take_saves(w: Work, task: Task, who: str, value: int) -> None:
    """One of them has saved, or is injured."""
    w.agenda[-1] = ("saves", tuple(man for man in task[1] if man != who))
    if value < w.cards.save[w.level]:
        w.injure(who)
    else:
        w.tell("safe", who=f"@moogh.{who}")


def run_shake(w: Work, _task: Task) -> None:
    """Those on top fly, in the order of R-18; those who hold on drop where they are."""
    w.agenda.pop()
    flying: list[Task] = [("flung", man) for man in w.at if w.at[man] == "top"]
    held = [(man, space) for man in w.at if (space := w.holding(man))]
    w.push(*flying, *(("drop", man, place(w.origin, w.facing, space)) for man, space in held))


def ask_flung(w: Work, task: Task) -> Waits | None:
    """The die that picks two directions."""
    return roll("shake_direction", task[1]) if w.at[task[1]] == "top" else None


def take_flung(w: Work, task: Task, _who: str, value: int) -> None:
    """Two directions to choose from."""
    w.agenda.pop()
    w.push(("fly", task[1], w.cards.attack_dice[value]))


def ask_fly(_w: Work, task: Task) -> Waits:
    """Which of the two."""
    return choice("fly", task[1], *task[2])


def take_fly(w: Work, task: Task, _who: str, value: str) -> None:
    """The way is chosen; how far is a die."""
    w.agenda.pop()
    w.push(("flight", task[1], value))


def ask_flight(_w: Work, task: Task) -> Waits:
    """The die that is halved."""
    return roll("shake_distance", task[1])


def take_flight(w: Work, task: Task, _who: str, value: int) -> None:
    """R-5, R-18: half the roll, at least the adjacent space; over others, stopped by an obstacle or the edge."""
    _, man, space = task
    w.agenda.pop()
    step = outward(w.facing, space)
    first = place(w.origin, w.facing, space)
    before = (first[0] - step[0], first[1] - step[1])
    landing = None
    for cell in ray(before, step, max(1, value // 2)):
        if w.solid(cell):
            break
        if w.free(cell):
            landing = cell
    w.put(man, landing or w.nearest_free(first))
    w.push(("save", man, "shake"))


def run_mini(w: Work, _task: Task) -> None:
    """Everybody on the beast saves or comes down."""
    w.agenda.pop()
    w.push(*(("save", man, "mini_shake") for man in w.at if w.at[man] == "top" or w.holding(man)))


def ask_drop_to(w: Work, task: Task) -> Waits | None:
    """A free space around the beast of his choice."""
    cells = w.around()
    return choice("drop_to", task[1], *map(cell_text, cells)) if cells else None


def take_drop_to(w: Work, task: Task, _who: str, value: str) -> None:
    """He comes down there."""
    w.agenda.pop()
    w.at[task[1]] = to_cell(value)


def run_drop_to(w: Work, task: Task) -> None:
    """No space around is free: the nearest free one of the board (R-14)."""
    w.agenda.pop()
    w.put(task[1], w.nearest_free(place(w.origin, w.facing, AROUND[0])))


# --- turning ----------------------------------------------------------------------------------------------------


def _ways(w: Work) -> list[int]:
    """The quarters (-1 left, 1 right) that Turn would take: the best sides when they beat ahead, both on a tie."""
    sides = {q: (w.facing + q) % 4 for q in (-1, 1)}
    free = {q: w.free_steps(way) for q, way in sides.items() if way != w.cards.wall}  # never to the wall
    best = max(free.values(), default=0)
    if best <= w.free_steps(w.facing):
        return []
    return [q for q, count in free.items() if count == best]


def ask_turn(w: Work, _task: Task) -> Waits | None:
    """R-24: on a tie the beast's player chooses; without one nobody is asked."""
    return choice("turn_way", BEAST, "left", "right") if w.rule.moogh_control and len(_ways(w)) == 2 else None


def take_turn(w: Work, _task: Task, _who: str, value: str) -> None:
    """The chosen way."""
    w.agenda.pop()
    w.turn_beast(-1 if value == "left" else 1)


def run_turn(w: Work, _task: Task) -> None:
    """The better side; equal sides: clockwise (R-6)."""
    w.agenda.pop()
    w.turn_beast([0, *_ways(w)][-1])


def run_turn_on_attacker(w: Work, _task: Task) -> None:
    """R-19: to the last attacker if he stands, else to the nearest standing tribesman, clockwise first."""
    w.agenda.pop()
    standing = {man: at for man, at in w.at.items() if not isinstance(at, str)}
    if not standing:
        return
    man = w.attacker if w.attacker in standing else min(standing, key=lambda m: _nearness(w, standing[m]))
    w.turn_beast(quarters(w.facing, from_centre(w.origin, standing[man])))


def _nearness(w: Work, cell: Cell) -> tuple[int, int]:
    x, y = from_centre(w.origin, cell)
    return x * x + y * y, quarters(w.facing, (x, y))
