"""What goes wrong at a simulated table, and when: careless acts, illegal turns, takebacks, lamps, bumps, covered lens.

Per hundred turns a fixed number of each, at turns that chance chooses. What cannot happen in its turn (a pawn beside
its door, where no pawn is moved) waits for the next turn in which it can.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from companion.games.contract import Look
from devices.simulated.acts import Act, Hover, MovePawn, Nudge
from devices.simulated.disturbances import Bump, Event, LampSwitch, LightDrift

BLOCK = 100
CARELESS = ("askew", "beside", "half", "hesitant")
BEFORE = {"illegal": 10, "changed_mind": 3, "taken_back": 2, "put_back": 1, "put_back_two": 1, "light": 3, "bump": 2}
WITHIN = {**dict.fromkeys(CARELESS, 6), "missed": 2, "missed_two": 1}
"""How often in BLOCK turns: before a turn, and in it. Of the turns missed by a covered camera two come at once."""
LAST_TURN = 92
"""After this turn of a block nothing begins, so that everything has its chance to happen in it."""
LAMPS = ("diffuse", "window", "tube", "dim")


class Schedule:
    """What is due, turn by turn."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._turn = 0
        self._due: dict[int, list[str]] = {}
        self._waiting: list[str] = []

    def next_turn(self) -> None:
        """Another turn begins; what is due in it is waiting from now on."""
        if self._turn % BLOCK == 0:
            for name, count in {**BEFORE, **WITHIN}.items():
                for _ in range(count):
                    self._due.setdefault(self._turn + self._chance.randrange(LAST_TURN), []).append(name)
        self._waiting += self._due.pop(self._turn, [])
        self._turn += 1

    def before(self) -> list[str]:
        """What is to happen before this turn."""
        return [name for name in self._waiting if name in BEFORE]

    def within(self) -> list[str]:
        """What may happen in this turn, the longest waiting first."""
        return [name for name in self._waiting if name in WITHIN]

    def done(self, name: str) -> None:
        """It has happened."""
        self._waiting.remove(name)


@dataclass(frozen=True, slots=True)
class Careless:
    """A turn made carelessly: `first` facts brought about and `acts` done, then a pause, then `mend` and `last` facts.
    `may_end` when somebody may press the button although it is not mended."""

    first: Look
    acts: tuple[Act, ...]
    mend: tuple[Act, ...]
    last: Look
    may_end: bool


def careless(kind: str, trace: Look, before: Look, chance: random.Random) -> Careless | None:
    """How a turn that changes the table by `trace` is made carelessly; None where it cannot be made so."""
    tiles = [key for key in trace if key.startswith("path:")]
    ends = [key for key, value in trace.items() if key.startswith("pawn:") and value != "-"]
    starts = [key for key, value in trace.items() if key.startswith("pawn:") and value == "-"]
    if kind == "askew" and (tiles or ends):
        cell = chance.choice(tiles or ends).partition(":")[2]
        turn, shift = chance.choice((-1, 1)) * chance.uniform(9, 25), (chance.uniform(-2, 2), chance.uniform(-2, 2))
        back = (-shift[0], -shift[1])
        return Careless(trace, (Nudge(cell, turn, shift),), (Nudge(cell, -turn, back),), {}, True)
    if kind == "beside" and len(ends) == len(starts) == 1:
        start, end, player = starts[0].partition(":")[2], ends[0].partition(":")[2], trace[ends[0]]
        between = chance.random() < 0.3
        far, angle = (
            (29.5, chance.randrange(4) * math.pi / 2) if between else (chance.uniform(12, 20), chance.uniform(0, 6))
        )
        off = (far * math.cos(angle), far * math.sin(angle))
        beside, mend = MovePawn(player, start, end, off), MovePawn(player, end, end)
        return Careless({key: trace[key] for key in tiles}, (beside,), (mend,), {}, not between)
    if kind == "half" and len(tiles) + len(ends) > 1:
        parts = [[key] for key in tiles] + [[*starts, *ends]]
        keys = chance.choice([part for part in parts if part])
        return Careless(_part(trace, keys), (), (), _part(trace, [k for k in trace if k not in keys]), False)
    if kind == "hesitant" and tiles:
        key = chance.choice(tiles)
        bends = [path for path in ("NE", "ES", "SW", "NW") if path not in (before[key], trace[key])]
        first = {key: chance.choice(bends)} if before[key] not in ("NS", "EW") else {key: trace[key]}
        return Careless(first, (Hover(key.partition(":")[2], 1.5),), (), trace, False)
    return None


def _part(trace: Look, keys: list[str]) -> dict[str, str]:
    return {key: value for key, value in trace.items() if key in keys}


def light_change(chance: random.Random) -> Event:
    """Another lamp at once, or daylight that comes or goes within seconds."""
    if chance.random() < 0.6:
        return LampSwitch(chance.choice(LAMPS))
    warm = chance.uniform(0.85, 1.15)
    return LightDrift(chance.uniform(2, 8), chance.choice((0.6, 1.5)), (warm, 1.0, 1 / warm))


def bump(chance: random.Random) -> Bump:
    """A knock against the camera."""
    x, y = (chance.choice((-1, 1)) * chance.uniform(4, 14) for _ in range(2))
    a, b, c = (chance.uniform(-1.2, 1.2) for _ in range(3))
    return Bump((x, y, 0.0), (a, b, c))


def undone(knock: Bump) -> Bump:
    """The hand that turns the camera back."""
    (x, y, z), (a, b, c) = knock.shift_mm, knock.turn_deg
    return Bump((-x, -y, -z), (-a, -b, -c))
