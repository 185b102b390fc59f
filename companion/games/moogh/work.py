"""A state taken apart for one turn: the agenda and the small acts that every rule is made of."""

from __future__ import annotations

from companion.games.contract import Message
from companion.games.moogh.geometry import (
    AROUND,
    CORNERS,
    FACINGS,
    STEP,
    Cell,
    distance,
    footprint,
    neighbours,
    place,
    space_at,
)
from companion.games.moogh.printed import MEN, SOLO
from companion.games.moogh.state import At, Man, Rule, State, Task, Turn, cell_text, turn_text

FAR = 10**6
"""More free steps than any board has: an open edge."""


class Work:
    """A mutable copy of a state; `freeze` gives the state back. The attributes mean what they mean in `State`."""

    def __init__(self, state: State) -> None:
        self.rule: Rule = state.rule
        self.cards = state.rule.cards
        self.round, self.phase = state.round, state.phase
        self.origin, self.facing, self.health = state.origin, state.facing, state.health
        self.level, self.side, self.column = state.level, state.side, state.column
        self.balance = state.balance
        self.at: dict[str, At] = {man.name: man.at for man in state.men}
        self.hurt: dict[str, int] = {man.name: man.hurt for man in state.men}
        self.chosen = dict(state.chosen)
        self.attempted, self.attacker = state.attempted, state.attacker
        self.agenda: list[Task] = list(state.agenda)
        self.over = state.over
        self.causes = dict(state.causes)
        self.told: list[Message] = []
        self.teams = dict(state.rule.teams)

    def freeze(self) -> State:
        """The state of now."""
        return State(
            rule=self.rule,
            round=self.round,
            phase=self.phase,
            origin=self.origin,
            facing=self.facing,
            health=self.health,
            level=self.level,
            side=self.side,
            column=self.column,
            balance=self.balance,
            men=tuple(Man(name, at, self.hurt[name]) for name, at in self.at.items()),
            chosen=tuple(self.chosen.items()),
            attempted=self.attempted,
            attacker=self.attacker,
            agenda=tuple(self.agenda),
            over=self.over,
            causes=tuple(self.causes.items()),
            told=tuple(self.told),
        )

    def push(self, *tasks: Task) -> None:
        """Puts tasks on the agenda so that the first of them comes next."""
        self.agenda.extend(reversed(tasks))

    def tell(self, word: str, **values: str | int) -> None:
        """Adds a sentence `moogh.tell_<word>` to what follows from this input."""
        self.told.append(Message(f"moogh.tell_{word}", tuple(values.items())))

    # --- who and where ------------------------------------------------------------------------------------------

    def living(self) -> list[str]:
        """The tribesmen alive, in the order of R-18."""
        return [man for man in self.at if self.at[man] != "dead"]

    def holding(self, man: str) -> str | None:
        """The space at which he holds on to the fur, or None."""
        at = self.at[man]
        return at[5:] if isinstance(at, str) and at.startswith("grab:") else None

    def cell_of(self, man: str) -> Cell | None:
        """Where he counts as standing (R-13: a grabber in his space); None on top or dead."""
        at = self.at[man]
        if not isinstance(at, str):
            return at
        held = self.holding(man)
        return place(self.origin, self.facing, held) if held else None

    def space_of(self, man: str) -> str | None:
        """The space around the beast that he is in, TOP on its back, None elsewhere."""
        at = self.at[man]
        if at == "top":
            return "TOP"
        cell = self.cell_of(man)
        return space_at(self.origin, self.facing, cell) if cell else None

    def reach(self, man: str) -> int | None:
        """How far he is from the beast's cells (0 on top); None when dead."""
        cell = self.cell_of(man)
        if cell is not None:
            return distance(self.origin, cell)
        return 0 if self.at[man] == "top" else None

    def standing_on(self, cell: Cell) -> str | None:
        """The tribesman whose token stands on this cell."""
        for man, at in self.at.items():
            if at == cell:
                return man
        return None

    def on_board(self, cell: Cell) -> bool:
        """True inside the board."""
        return 0 <= cell[0] < self.cards.cols and 0 <= cell[1] < self.cards.rows_count

    def solid(self, cell: Cell) -> bool:
        """True where no token may ever come to lie: outside the board, an obstacle, or under the beast."""
        return not self.on_board(cell) or cell in self.cards.obstacles or cell in footprint(self.origin)

    def free(self, cell: Cell) -> bool:
        """True when a token may be put there now."""
        return not self.solid(cell) and self.standing_on(cell) is None

    def steps(self, cell: Cell) -> list[Cell]:
        """The cells that one step leads to, by row, then column."""
        return [c for c in neighbours(cell, self.rule.diag_moves) if self.free(c)]

    def around(self) -> list[Cell]:
        """The free cells around the beast, in the order of the spaces."""
        cells = [place(self.origin, self.facing, space) for space in AROUND]
        return [cell for cell in cells if self.free(cell)]

    def nearest_free(self, cell: Cell) -> Cell:
        """R-14: the free cell with the least squared distance, then the smaller row, then the smaller column."""
        cells = [(x, y) for y in range(self.cards.rows_count) for x in range(self.cards.cols) if self.free((x, y))]
        return min(cells, key=lambda c: ((c[0] - cell[0]) ** 2 + (c[1] - cell[1]) ** 2, c[1], c[0]))

    def can_stab(self, man: str) -> bool:
        """R-1: from the adjacent spaces and the top; from corners only by option."""
        space = self.space_of(man)
        return space is not None and (space not in CORNERS or self.rule.stab_from_corners)

    def throw_line(self, start: Cell, goals: tuple[Cell, ...]) -> bool:
        """True when a straight line of at most two spaces without an obstacle leads from `start` into `goals`."""
        return any(self._line(start, step, goals) for step in neighbours((0, 0), True))

    def _line(self, start: Cell, step: Cell, goals: tuple[Cell, ...]) -> bool:
        for n in (1, 2):
            cell = (start[0] + step[0] * n, start[1] + step[1] * n)
            if cell in goals:
                return True
            if cell in self.cards.obstacles or cell in footprint(self.origin):
                return False
        return False

    def rivals(self, man: str) -> list[str]:
        """The living tribesmen of the other team."""
        return [m for m in self.living() if self.teams[m] != self.teams[man]]

    def victims(self, man: str, action: str) -> list[str]:
        """R-23: whom he may attack with this action; nobody unless PvP is on."""
        cell = self.cell_of(man)
        if not self.rule.pvp or cell is None:
            return []
        found = []
        for rival in self.rivals(man):
            at = self.cell_of(rival)
            if at is None:
                continue
            near = max(abs(at[0] - cell[0]), abs(at[1] - cell[1])) == 1
            if self.throw_line(cell, (at,)) if action == "Throw" else near:
                found.append(rival)
        return found

    # --- what happens -------------------------------------------------------------------------------------------

    def score(self, man: str, points: int) -> None:
        """Savage points for his team, at once."""
        self.balance += points if self.teams[man] == "A" else -points

    def rage(self, change: int) -> None:
        """The rage die moves up or down, inside 1..6; nothing is executed."""
        before, self.level = self.level, max(1, min(6, self.level + change))
        if self.level != before:
            self.tell("rage", level=self.level)

    def injure(self, man: str) -> None:
        """First the card flips, then he is dead; each gives his own team a point. The last death ends the game."""
        self.hurt[man] += 1
        self.score(man, 1)
        self.tell("dead" if self.hurt[man] == 2 else "injured", who=f"@moogh.{man}")
        if self.hurt[man] == 2:
            self.at[man] = "dead"
            if not self.living():
                self.over = ("all_dead", "")

    def turn_beast(self, quarters: int) -> None:
        """Turns the beast clockwise by quarters, with everybody who holds on to it."""
        self.facing = (self.facing + quarters) % 4
        self.tell("turns" if quarters % 4 else "stays", way=f"@moogh.{FACINGS[self.facing]}")

    def put(self, man: str, cell: Cell) -> None:
        """His token comes to lie on a cell."""
        self.at[man] = cell
        self.tell("lands", who=f"@moogh.{man}", cell=cell_text(cell))

    def blocked(self, cell: Cell) -> bool:
        """True when the beast cannot tread there: an obstacle, or beyond the wall. Open edges do not stop it."""
        if cell in self.cards.obstacles:
            return True
        x, y = cell
        return (y < 0, x >= self.cards.cols, y >= self.cards.rows_count, x < 0)[self.cards.wall]

    def gone(self) -> bool:
        """True when all four cells of the beast lie outside the board."""
        return not any(self.on_board(cell) for cell in footprint(self.origin))

    def lane(self, origin: Cell, way: int) -> tuple[Cell, Cell]:
        """The two cells that the beast at `origin` enters with one step in the direction `way`, its left one first."""
        x, y = origin
        return (
            ((x, y - 1), (x + 1, y - 1)),
            ((x + 2, y), (x + 2, y + 1)),
            ((x + 1, y + 2), (x, y + 2)),
            ((x - 1, y + 1), (x - 1, y)),
        )[way]

    def free_steps(self, way: int) -> int:
        """How many steps the beast could go that way, tribesmen not counted; FAR when it would leave the board."""
        origin, count = self.origin, 0
        while not any(self.blocked(cell) for cell in self.lane(origin, way)):
            origin = (origin[0] + STEP[way][0], origin[1] + STEP[way][1])
            count += 1
            if not any(self.on_board(cell) for cell in footprint(origin)):
                return FAR
        return count

    def note(self, before: State, turn: Turn) -> None:
        """Remembers which turn set the facts that differ from the state before."""
        for fact, changed in (
            ("die:health", self.health != before.health),
            ("die:rage", self.level != before.level),
            ("rage:cell", (self.level, self.column) != (before.level, before.column)),
            ("card:side", self.side != before.side),
            ("die:points", self.balance != before.balance),
            ("beast:origin", self.origin != before.origin),
            ("beast:facing", self.facing != before.facing),
            *((f"cube:{man.name}", self.at[man.name] != man.at) for man in before.men),
        ):
            if changed:
                self.causes[fact] = turn_text(turn)


def men_of(solo: bool) -> tuple[str, ...]:
    """The tribesmen that play, in the order of R-18."""
    return tuple(man for man in MEN if not solo or man in SOLO)
