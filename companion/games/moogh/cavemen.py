"""The cavemen's phases: choosing arrows, acting, hitting, grabbing, moving.

Each task has an `ask` (what it waits for, None when it can go on by itself), and either `run` (go on by itself) or
`take` (with the value that came). Tasks are tuples whose first item is the task's name.
"""

from __future__ import annotations

from companion.games.moogh.geometry import Cell, footprint, on_left, place
from companion.games.moogh.state import Task, cell_text, parse_cell
from companion.games.moogh.waits import Waits, choice, roll
from companion.games.moogh.work import Work

CHIEFS = ("red", "brown")
PHASES = {1: ("red", "white"), 3: ("brown", "green")}
"""Who acts in a caveman phase, the chief first."""
NEEDED = {"grab": 4, "climb": 3, "sedate": 4, "attract_scare": 4, "pvp_hit": 4}
STABS = ("Stab", "Aim", "DS")


def begin_phase(w: Work, _task: Task) -> None:
    """A caveman phase begins; without living tribesmen it is a phase all the same (R-21)."""
    w.agenda.pop()
    w.chosen = {}
    if not (w.phase == 3 and w.rule.solo_single_beast and w.rule.solo):
        w.attempted, w.attacker = False, ""
    w.push(("arrows",), ("end_phase",))


def ask_arrows(w: Work, _task: Task) -> Waits | None:
    """R-10: both choose before the chief resolves, in any order."""
    waiting = [man for man in PHASES[w.phase] if w.at.get(man, "dead") != "dead" and man not in w.chosen]
    if not waiting:
        return None
    return Waits("choice", "arrow", tuple((man, tuple(map(str, range(len(arrows(w, man)))))) for man in waiting))


def arrows(w: Work, man: str) -> tuple[tuple[str, str], ...]:
    """The arrows on the side of his card that lies up."""
    return w.cards.pairs[man][min(w.hurt[man], 1)]


def take_arrow(w: Work, _task: Task, who: str, value: str) -> None:
    """One has chosen."""
    w.chosen[who] = arrows(w, who)[int(value)]


def run_arrows(w: Work, _task: Task) -> None:
    """All have chosen: the chief acts first."""
    w.agenda.pop()
    w.push(*(("act", man, w.chosen[man], False) for man in PHASES[w.phase] if man in w.chosen))


def ask_act(w: Work, task: Task) -> Waits | None:
    """What he may do now: one of the actions left, let go, or end. None when he is done (or dead)."""
    _, man, left, _ = task
    if w.at[man] == "dead" or (not left and not w.holding(man)):
        return None
    able = [action for action in dict.fromkeys(left) if can_do(w, task, action)]
    return choice("action", man, *able, *(["let_go"] if w.holding(man) else []), "end")


def run_act(w: Work, _task: Task) -> None:
    """His turn is over."""
    w.agenda.pop()


def can_do(w: Work, task: Task, action: str) -> bool:
    """True when this action is possible where he is."""
    _, man, _, grabbed = task
    at, held, space = w.at[man], w.holding(man), w.space_of(man)
    near = space is not None and not space.startswith("C") and space != "TOP"
    match action:
        case "M1" | "M2":
            if at == "top":
                return bool(w.around())
            return held is not None or (not isinstance(at, str) and bool(w.steps(at)))
        case "Stab" | "Aim" | "DS":
            return w.can_stab(man) or bool(w.victims(man, action))
        case "Throw":
            return can_throw(w, man) or bool(w.victims(man, action))
        case "Grab":
            return not grabbed if held else near  # the second grab comes in a later turn
        case "Climb":
            return near
        case "Sedate":
            return in_reach(w, man)
        case _:
            return at != "top" and in_reach(w, man)  # no Attract or Scare from the top


def in_reach(w: Work, man: str) -> bool:
    """True within two spaces of the beast, or on it."""
    reach = w.reach(man)
    return reach is not None and reach <= 2


def can_throw(w: Work, man: str) -> bool:
    """True when a throw can reach the beast; never from its top (R-13)."""
    cell = w.cell_of(man)
    return cell is not None and in_reach(w, man) and w.throw_line(cell, footprint(w.origin))


def take_act(w: Work, task: Task, _who: str, value: str) -> None:
    """One action begins, or he lets go, or ends his turn."""
    _, man, left, grabbed = task
    w.agenda.pop()
    if value == "end":
        return
    if value == "let_go":
        w.push(("drop", man, w.cell_of(man)), ("act", man, left, grabbed))
        return
    rest = list(left)
    rest.remove(value)
    then: Task = ("act", man, tuple(rest), grabbed or (value == "Grab" and not w.holding(man)))
    if value in ("M1", "M2"):
        steps: Task = ("steps", man, int(value[1]), w.holding(man) is not None)
        drops = [("drop", man, w.cell_of(man))] if w.holding(man) else []  # a move lets go first
        w.push(*drops, steps, then)
    elif value in (*STABS, "Throw"):
        first: Task = ("target", man, value) if w.victims(man, value) else ("hit", man, value, 0)
        w.push(first, then)
    else:
        w.push((value, man), then)


# --- moving -----------------------------------------------------------------------------------------------------


def ask_steps(w: Work, task: Task) -> Waits | None:
    """Where the next step may lead; he may stop once he has moved."""
    _, man, left, moved = task
    at = w.at[man]
    if left == 0 or at == "dead":
        return None
    cells = w.around() if at == "top" else [] if isinstance(at, str) else w.steps(at)
    stop = ["stop"] if moved or not cells else []
    return choice("step", man, *map(cell_text, cells), *stop)


def take_steps(w: Work, task: Task, who: str, value: str) -> None:
    """One step, or no more."""
    w.agenda.pop()
    cell = parse_cell(value)
    if cell is not None:
        w.at[who] = cell
        w.push(("steps", who, task[2] - 1, True))


def ask_drop(w: Work, task: Task) -> Waits | None:
    """Somebody comes down on a cell; who stands there chooses where he is pushed to."""
    _, _, cell = task
    there = w.standing_on(cell)
    if there is None or w.solid(cell):
        return None
    cells = w.steps(cell)
    return choice("pushed_to", there, *map(cell_text, cells)) if cells else None


def take_pushed_to(w: Work, _task: Task, who: str, value: str) -> None:
    """The one below steps aside."""
    w.at[who] = to_cell(value)


def run_drop(w: Work, task: Task) -> None:
    """He stands on the board again, on the nearest free space where his own is none (R-14)."""
    _, man, cell = task
    w.agenda.pop()
    if w.solid(cell):
        cell = w.nearest_free(cell)
    there = w.standing_on(cell)
    if there is not None:
        w.put(there, w.nearest_free(cell))
    w.put(man, cell)


def to_cell(value: str) -> Cell:
    """The cell of a value that was among the choices."""
    cell = parse_cell(value)
    if cell is None:
        raise ValueError(value)
    return cell


# --- hitting ----------------------------------------------------------------------------------------------------


def ask_target(w: Work, task: Task) -> Waits:
    """R-23: the beast, where it can be hit, or a tribesman of the other team."""
    _, man, action = task
    beast = can_throw(w, man) if action == "Throw" else w.can_stab(man)
    return choice("target", man, *(["beast"] if beast else []), *w.victims(man, action))


def take_target(w: Work, task: Task, _who: str, value: str) -> None:
    """The blow goes there."""
    _, man, action = task
    w.agenda.pop()
    if value == "beast":
        w.push(("hit", man, action, 0))
    else:
        w.push(("pvp_hit", man, value, 2 if action == "DS" else 1, 0))


def ask_hit(w: Work, task: Task) -> Waits:
    """One die; the least that hits is told with it."""
    _, man, action, _ = task
    return roll("hit", man, need_to_hit(w, man, action))


def need_to_hit(w: Work, man: str, action: str) -> int:
    """The least roll that hits: rage, plus the angle (a throw: 1), minus 2 for Aim and 2 on top. May be out of 1..6."""
    space = w.space_of(man)
    against = 1 if action == "Throw" else w.cards.angle[space or "TOP"]
    return w.level + against - (2 if action == "Aim" else 0) - (2 if space == "TOP" else 0)


def take_hit(w: Work, task: Task, _who: str, value: int) -> None:
    """A die against the beast. R-2: Double Stab compares both with the same rage, unless the first one kills."""
    _, man, action, first = task
    hit = value >= need_to_hit(w, man, action)
    w.agenda.pop()
    if action == "DS" and first == 0 and not (hit and w.health == 1):
        w.push(("hit", man, action, value))
        return
    hits = int(hit) + int(first > 0 and first >= need_to_hit(w, man, action))
    space = w.space_of(man)
    bonus = 1 if space in ("TOP", "FL", "FR") else 0
    w.attempted, w.attacker = True, man
    w.tell("hits" if hits else "misses", who=f"@moogh.{man}", hits=hits)
    for _ in range(min(hits, w.health)):
        w.health -= 1
        w.score(man, (1 if w.health else 3) + bonus)
    w.rage(max(hits, 1))
    if w.health == 0:
        w.over = ("beast_dead", "A" if w.balance > 0 else "B" if w.balance < 0 else "draw")
    elif hits and action in STABS and space is not None and space in w.cards.turn_icon:
        w.turn_beast(-1 if w.cards.turn_icon[space] == "left" else 1)


def ask_pvp_hit(_w: Work, task: Task) -> Waits:
    """R-23: a plain 4 or more."""
    return roll("pvp_hit", task[1], NEEDED["pvp_hit"])


def take_pvp_hit(w: Work, task: Task, _who: str, value: int) -> None:
    """A die against a tribesman; his saves come when all dice of the blow are rolled."""
    _, man, victim, dice, hits = task
    w.agenda.pop()
    hits += value >= NEEDED["pvp_hit"]
    if dice > 1:
        w.push(("pvp_hit", man, victim, dice - 1, hits))
    else:
        w.push(*[("save", victim, "pvp")] * hits)


# --- the other actions ------------------------------------------------------------------------------------------


def ask_grab(_w: Work, task: Task) -> Waits:
    """4 or more."""
    return roll("grab", task[1], NEEDED["grab"])


def take_grab(w: Work, task: Task, _who: str, value: int) -> None:
    """Holds on to the fur; the second success climbs on top, a failure keeps the hold (R-12)."""
    man = task[1]
    w.agenda.pop()
    if value >= NEEDED["grab"]:
        w.at[man] = "top" if w.holding(man) else f"grab:{w.space_of(man)}"
    w.tell("succeeds" if value >= NEEDED["grab"] else "fails", who=f"@moogh.{man}")


def ask_climb(_w: Work, task: Task) -> Waits:
    """3 or more."""
    return roll("climb", task[1], NEEDED["climb"])


def take_climb(w: Work, task: Task, _who: str, value: int) -> None:
    """Directly to the top."""
    w.agenda.pop()
    if value >= NEEDED["climb"]:
        w.at[task[1]] = "top"
    w.tell("succeeds" if value >= NEEDED["climb"] else "fails", who=f"@moogh.{task[1]}")


def ask_sedate(_w: Work, task: Task) -> Waits:
    """4 or more."""
    return roll("sedate", task[1], NEEDED["sedate"])


def take_sedate(w: Work, task: Task, _who: str, value: int) -> None:
    """Rage falls by two; this is no attempt (R-3)."""
    w.agenda.pop()
    w.tell("succeeds" if value >= NEEDED["sedate"] else "fails", who=f"@moogh.{task[1]}")
    if value >= NEEDED["sedate"]:
        w.rage(-2)


def ask_attract(_w: Work, task: Task) -> Waits:
    """4 or more."""
    return roll("attract_scare", task[1], NEEDED["attract_scare"])


def take_attract(w: Work, task: Task, _who: str, value: int) -> None:
    """On a success he may turn the beast."""
    w.agenda.pop()
    w.tell("succeeds" if value >= NEEDED["attract_scare"] else "fails", who=f"@moogh.{task[1]}")
    if value >= NEEDED["attract_scare"]:
        w.push(("lure", task[1]))


def ask_lure(_w: Work, task: Task) -> Waits:
    """Towards him, away from him, or not at all."""
    return choice("turn", task[1], "attract", "scare", "none")


def take_lure(w: Work, task: Task, _who: str, value: str) -> None:
    """The side of the centreline on which he is decides the way."""
    w.agenda.pop()
    cell = w.cell_of(task[1])
    if value != "none" and cell is not None:
        left = on_left(w.origin, w.facing, cell)
        w.turn_beast(-1 if left == (value == "attract") else 1)


# --- saving -----------------------------------------------------------------------------------------------------


def ask_save(w: Work, task: Task) -> Waits | None:
    """The save of the rage now; against a tribesman 5, or 3 when injured already. None for the dead."""
    _, man, why = task
    if w.at[man] == "dead" or (why == "mini_shake" and w.at[man] != "top" and not w.holding(man)):
        return None
    return roll(f"save:{why}", man, need_to_save(w, man, why))


def need_to_save(w: Work, man: str, why: str) -> int:
    """The least roll that saves."""
    if why == "pvp":
        return 3 if w.hurt[man] else 5
    return w.cards.save[w.level]


def take_save(w: Work, task: Task, _who: str, value: int) -> None:
    """A failed save injures; in a mini-shake he lets go or comes down instead (R-16)."""
    _, man, why = task
    safe = value >= need_to_save(w, man, why)
    w.agenda.pop()
    if safe:
        w.tell("safe", who=f"@moogh.{man}")
        return
    if why != "mini_shake":
        w.injure(man)
        return
    held = w.holding(man)
    w.push(("drop", man, place(w.origin, w.facing, held)) if held else ("drop_to", man))


def run_pop(w: Work, _task: Task) -> None:
    """Nothing is left to do here."""
    w.agenda.pop()
