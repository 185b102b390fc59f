"""A table that plays by itself: simulated players act on a simulated table, and the program referees what it sees.

The players know the rules and the table's truth, the program only what comes through camera and buttons. Everything
that it says is compared with the truth and counted.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from calibration.profile import TableProfile, load_board
from companion.box import press
from companion.bulletin import Bulletin
from companion.demo_clock import DemoClock
from companion.evidence import Author, Rolled
from companion.eyes import Eyes, report_camera
from companion.games.contract import Look, Refusal, Setup, roll_stories
from companion.match import Choice
from companion.mischief import illegal_act
from companion.mishaps import CARELESS, Careless, Schedule, bump, careless, light_change, undone
from companion.registry import GameEntry
from companion.service import Service
from devices.contract import Condition, Frame
from devices.faults import Fault, Running
from devices.gpio import MockWires, load_pins, mock_factory, open_buttons, open_lights
from devices.gpio_buttons import GpioButtons
from devices.gpio_lights import GpioLights
from devices.simulated.contract import DisturbedTable, SimulatedTable, TroubledTable
from devices.simulated.disturbances import Bump, Covered, LampSwitch
from devices.simulated.faults import open_faulty
from devices.supervised import Kept

NAMES = ("Ada", "Bea", "Carl", "Dora", "Emil", "Frida")
FRAME_S = 0.1
"""Simulated time between the pictures that the program gets."""

PATIENCE_S = 20.0
"""Simulated time within which a finished turn must be on the record."""

AIM_S = 3.0
"""After so long people believe the screen that the camera must be aimed anew."""

THINK_S = 0.5
"""A button is not pressed again sooner, where nothing is done on the table in between."""

SIDES = 6
"""Of the players' dice."""

ROLL_S = 2.5
"""A die is not thrown sooner after the one before."""

PLANT_TRIES = 40
"""How many illegal acts are tried to find one against a rule that has not been broken yet."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """What was right, asked and wrong, measured against the simulated world."""

    right: int = 0
    asked: int = 0
    wrong: int = 0
    illegal: dict[str, int] = field(default_factory=dict)
    takebacks: int = 0
    mishaps: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        """Notes one wrong verdict."""
        self.wrong += 1
        self.faults.append(what)
        _log.warning("wrong: %s", what)

    @property
    def asides(self) -> str:
        """What else happened: illegal acts that were named with their rule, takebacks, mishaps."""
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(self.illegal.items()))
        mishaps = ", ".join(f"{name} {count}" for name, count in sorted(self.mishaps.items()))
        return (
            f"illegal acts named {sum(self.illegal.values())} ({rules or 'none'}), takebacks {self.takebacks}, "
            f"mishaps: {mishaps or 'none'}"
        )

    def happened(self, name: str) -> None:
        """Counts one mishap."""
        self.mishaps[name] = self.mishaps.get(name, 0) + 1

    @property
    def line(self) -> str:
        """The summary line."""
        return f"turns right {self.right} asked {self.asked} wrong {self.wrong}"


class Stopped(Exception):
    """Somebody ended the demo."""


class Disturbed(Exception):
    """Somebody at the page has begun a game of their own."""


class Unready(Exception):
    """The program did not accept the table for a new game."""


@dataclass(frozen=True, slots=True)
class TableClock:
    """A simulated table's time as a clock for its devices."""

    table: SimulatedTable

    def now_s(self) -> float:
        """Simulated time in seconds."""
        return self.table.now_s()

    def sleep_s(self, seconds: float) -> None:
        """Lets simulated time pass."""
        self.table.advance(seconds)


class Demo:
    """Simulated players at a simulated table, in simulated time; `speed` None never sleeps."""

    def __init__(
        self,
        game: GameEntry,
        service: Service,
        bulletin: Bulletin,
        seed: int,
        speed: float | None,
        scenario: Sequence[Fault] = (),
    ) -> None:
        self.game, self.service, self.bulletin = game, service, bulletin
        self.rules = game.load_rules()
        self.board = load_board(game.name)
        self.tally = Tally()
        self._choose, self._plant = game.load_choose(), game.load_illegal()
        self._measured = game.load_measured()
        self._speed = speed
        self._chance = random.Random(seed)
        self._schedule = Schedule(random.Random(f"mishaps {seed}"))
        self._fingers, self._teller = Author("button", "simulated"), Author("seat", "simulated")
        self.clock = DemoClock()
        self.faults = Running(self.clock, scenario)
        self._table: SimulatedTable | None = None
        self._camera: Kept | None = None
        self._told: Condition | None = None
        self._unheard: list[str] = []
        self._buttons: GpioButtons | None = None
        self._lights: GpioLights | None = None
        self._eyes: Eyes | None = None
        self._state: Any = None
        self._goal: Any = None
        self._states: list[Any] = []
        self._mine = ""
        self._knocks: list[Bump] = []
        self._lost_ticks = 0
        self.stopped = False
        self.on_tick: Callable[[], None] = lambda: None
        self.on_seen: Callable[[Frame], None] = lambda frame: None

    def run(self, turns: int | None = None) -> Tally:
        """Plays until `turns` turns are made in all (None: until stopped)."""
        try:
            while turns is None or self._made < turns:
                try:
                    self._begin()
                    while self.service.match.phase == "playing" and (turns is None or self._made < turns):
                        self._mischief()
                        if self.service.match.phase == "playing":
                            self._turns()
                    if turns is None:
                        self._rest(5.0)
                except Disturbed:
                    self._wait_for_the_guest()
                except Unready as error:
                    self.tally.fault(str(error))
        except Stopped:
            pass
        return self.tally

    @property
    def _made(self) -> int:
        return self.tally.right + self.tally.wrong

    def _tick(self) -> None:
        """Lets one frame's time pass and gives the picture to the eyes."""
        self.on_tick()
        if self.stopped:
            raise Stopped
        if self._mine and self.service.match.id != self._mine:
            raise Disturbed
        began_s = time.perf_counter()
        assert self._table is not None and self._camera is not None and self._eyes is not None
        assert self._buttons is not None and self._lights is not None
        self._table.advance(FRAME_S)
        while (pressed := self._buttons.read(0.0)) is not None:
            self._unheard.append(pressed.button)
        while self._unheard and not self.service.disk_trouble:
            press(self.service, self._unheard[0])
            if not self.service.disk_trouble:  # else nothing was recorded, and the player presses again later
                self._unheard.pop(0)
        self._lights.tick()
        frame = self._camera.read(0.0)
        if self._camera.condition != self._told:
            self._told = self._camera.condition
            report_camera(self.service, "sim://table", self._told)
        if frame is not None:
            seen = self._eyes.look(frame, self._camera.fit)
            if seen is not None:
                self._camera.accept()
                self.on_seen(frame)
                self.service.hear(seen)
        elif not self._camera.fit:
            self._eyes.gone()
        if self._speed is not None:
            time.sleep(max(0.0, FRAME_S / self._speed - (time.perf_counter() - began_s)))

    def _rest(self, seconds: float) -> None:
        for _ in range(round(seconds / FRAME_S)):
            self._tick()

    def _until(self, done: Callable[[], bool], patience_s: float) -> bool:
        """Lets time pass until `done`; False when it did not come to it within the patience. Answers questions."""
        for _ in range(round(patience_s / FRAME_S)):
            while self.service.match.paused or self._blind:
                self._tick()
            if done():
                return True
            question = self.service.match.question
            if question is not None and not self._busy and self._eyes is not None and self._eyes.current:
                self._answer()
            self._aim()
            self._tick()
        return done()

    def _aim(self) -> None:
        """Turns a knocked camera back when the screen says for a while that markers have left its picture."""
        lost = any(t.words.id == "vision.few_markers" for t in self.bulletin.snapshot().troubles)
        self._lost_ticks = self._lost_ticks + 1 if lost else 0
        if self._lost_ticks * FRAME_S >= AIM_S and self._knocks and isinstance(self._table, DisturbedTable):
            self._lost_ticks = 0
            self._table.disturb(undone(self._knocks.pop()))
            self.tally.happened("camera aimed")

    @property
    def _blind(self) -> bool:
        """True while a fault keeps the program from seeing or recording; players wait until its words are gone."""
        return (self._camera is not None and not self._camera.fit) or self.service.disk_trouble

    @property
    def _busy(self) -> bool:
        return self._table is not None and self._table.busy

    def _begin(self) -> None:
        """Lays the table for a new game and lets the program check the start; raises Unready when it will not do."""
        self._mine = ""
        options = {o.name: o.default for o in self.rules.options()}
        count = max(self.rules.min_players, min(2, self.rules.max_players))
        start = self.game.deal_start(self._chance)
        self._state = self.rules.new(Setup(NAMES[:count], options, start))
        self._knocks = []
        self._states = [self._state]
        look = self.rules.look(self._state)
        seed = self._chance.randrange(2**31)
        factory = mock_factory()
        wires = MockWires(factory, load_pins()["buttons"], bounces=2)
        self._table = self.game.load_table()(look, self.board, seed, press_wire=wires)
        table = self._table
        self.clock.follow(table)
        self._camera = Kept(lambda: open_faulty(table.camera, self.faults), "sim://table", TableClock(table))
        self._buttons = open_buttons("gpio-mock://", TableClock(self._table), factory)
        self._lights = open_lights("gpio-mock://", TableClock(self._table), factory)
        self.service.light(self._lights)
        profile = TableProfile(self.board, camera="sim://table")
        self._eyes = Eyes(
            profile, self.game.load_reader(), self.service, settler=self.game.load_rest(), bulletin=self._pictures
        )
        self.service.has_buttons(True)
        self.service.watch(self._eyes)
        self._rest(1.0)
        args = {"game": self.game.name, "players": list(NAMES[:count]), "options": options, "start": "table"}
        self.service.submit("new_game", args, self._fingers)
        self._mine = self.service.match.id
        if not self._until(lambda: self.service.match.check.ready, PATIENCE_S / 2):
            self._clear_view()
        if not self._until(lambda: self.service.match.check.ready, PATIENCE_S):
            differences = [m.id for m in self.service.match.check.differences]
            raise Unready(f"the start was not recognised: {differences}")
        self._table.press("done1")
        self._until(lambda: self.service.match.phase == "playing", PATIENCE_S)
        if self.service.match.phase != "playing" or self.service.match.agreed != self._state:
            raise Unready("the game began from another position than the table's")

    def _clear_view(self) -> None:
        """Does what the program says when it cannot read places: moves the lamp that is mirrored in them."""
        unread = any(m.id == "table.cannot_read" for m in self.service.match.check.differences)
        if unread and isinstance(self._table, DisturbedTable):
            self._table.disturb(LampSwitch("diffuse"))
            self.tally.happened("lamp moved")

    @property
    def _pictures(self) -> Bulletin | None:
        return None if self._speed is None else self.bulletin

    def _wait_for_the_guest(self) -> None:
        """Lets time pass while somebody plays a game of their own with the program."""
        theirs, self._mine = self.service.match.id, ""
        while self.service.match.id == theirs and self.service.match.phase in ("start_check", "playing"):
            self._tick()

    def _mischief(self) -> None:
        """What is due before this turn: illegal acts, takebacks, lamps, a bump."""
        self._schedule.next_turn()
        acts: dict[str, Callable[[], bool]] = {
            "illegal": self._illegal,
            "changed_mind": self._changed_mind,
            "taken_back": self._taken_back,
            "put_back": lambda: self._put_back(1),
            "put_back_two": lambda: self._put_back(2),
            "light": lambda: self._disturbed("light"),
            "bump": lambda: self._disturbed("bump"),
        }
        for name in self._schedule.before():
            if self.service.match.phase == "playing" and acts[name]():
                self._schedule.done(name)

    def _disturbed(self, name: str) -> bool:
        if isinstance(self._table, DisturbedTable):
            event = bump(self._chance) if name == "bump" else light_change(self._chance)
            if isinstance(event, Bump):
                self._knocks.append(event)
            self._table.disturb(event)
            self.tally.happened(name)
            self._rest(self._chance.uniform(0.0, 2.0))
        return True

    def _planted(self) -> tuple[Mapping[str, str], str] | None:
        """An illegal act and the rule that it breaks, one that has not been broken yet where there is such."""
        if self._plant is None:
            earlier = self._states[-2] if len(self._states) > 1 else None
            return illegal_act(self.rules, self._state, earlier, self._chance)
        found = [self._plant(self._state, self._chance) for _ in range(PLANT_TRIES)]
        known = self.tally.illegal
        return min((act for act in found if act is not None), key=lambda act: known.get(act[1], 0), default=None)

    def _illegal(self) -> bool:
        """Something illegal, ended with the done-button; it must be named with its rule, and is then put back."""
        assert self._table is not None
        act = self._planted()
        if act is None:
            return False
        changes, rule = act
        before = self.rules.look(self._state)
        self._goal = None
        self._table.perform(changes)
        self._table.press(f"done{self.rules.to_act(self._state).players[0] + 1}")
        self._until(lambda: not self._busy and self._said == "illegal", PATIENCE_S)
        judgement = self.service.match.judgement
        named = judgement.words.id if judgement is not None and judgement.kind == "illegal" else self._said
        if named == rule:
            self.tally.illegal[rule] = self.tally.illegal.get(rule, 0) + 1
        else:
            self.tally.fault(f"the illegal act {changes} breaks {rule}; the program says {named}")
        self._table.perform({key: before[key] for key in changes})
        self._settle(f"after {rule}")
        return True

    def _changed_mind(self) -> bool:
        """A turn is made and put back by hand before it is ended."""
        assert self._table is not None
        turn, after, declared = self._pick(self._state)
        before = self.rules.look(self._state)
        trace = dict(self.rules.trace(self._state, turn))
        if declared or not trace or self.rules.reveals(self._state, turn):
            return False  # nobody puts a throw back
        self._goal = after
        self._table.perform(trace)
        self._until(lambda: not self._busy and self.service.match.provisional is not None, PATIENCE_S)
        self._table.perform({key: before[key] for key in trace})
        self.tally.takebacks += 1
        self._goal = None
        self._settle("after a turn put back")
        return True

    def _taken_back(self) -> bool:
        """The last final turn is taken back by button, and the table put as it was."""
        assert self._table is not None
        if len(self._states) < 2 or self._brought_to_light(1):
            return False
        now, before = self.rules.look(self._state), self.rules.look(self._states[-2])
        self._states.pop()
        self._state, self._goal = self._states[-1], None
        self._table.press("takeback")
        self._table.perform({key: value for key, value in before.items() if now[key] != value})
        self.tally.takebacks += 1
        self._settle("after a takeback by button")
        return True

    def _put_back(self, turns: int) -> bool:
        """The last final turns are taken back by hand alone: the table is put as it was before them."""
        assert self._table is not None
        looks = [self.rules.look(state) for state in self._states[-turns - 1 :]]
        if len(looks) <= turns or any(one == other for one, other in pairwise(looks)) or self._brought_to_light(turns):
            return False
        if self.rules.explain(self._state, looks[0]).stories:
            return False  # it would look like another turn
        del self._states[-turns:]
        self._state = self._goal = self._states[-1]
        self._table.perform({key: value for key, value in looks[0].items() if looks[-1][key] != value})
        self.tally.takebacks += 1
        self._settle(f"after {turns} turns put back by hand")
        return True

    @property
    def _said(self) -> str:
        judgement = self.service.match.judgement
        return judgement.kind if judgement is not None else ""

    def _settle(self, when: str) -> None:
        """Waits until the program has the true position again; that it does not is a fault."""

        def true() -> bool:
            match = self.service.match
            quiet = match.provisional is None and match.lag is None and match.doubt is None
            return not self._busy and quiet and match.agreed == self._state and self._said not in ("illegal", "open")

        if not self._until(true, PATIENCE_S):
            self.tally.fault(f"{when}: the program has another position, it says {self._said}")
            self._set_right()

    def _turns(self) -> None:
        """One turn of the player to move, or two where the camera misses both; careless where that is due."""
        assert self._table is not None
        turn, after, declared = self._pick(self._state)
        if isinstance(self._table, DisturbedTable) and not declared:
            for name in self._schedule.within():
                if name == "missed_two":
                    following = self._pick(after) if self.rules.outcome(after) is None else None
                    if following is None or following[2] or not self._unseen_together(after, following[0]):
                        continue
                    self._missed(self._table, [(turn, after), following[:2]])
                elif name == "missed":
                    self._missed(self._table, [(turn, after)])
                elif isinstance(self._table, TroubledTable):
                    trace = self.rules.trace(self._state, turn)
                    how = careless(name, trace, self.rules.look(self._state), self._chance)
                    if how is None:
                        continue
                    self._carelessly(self._table, turn, after, how)
                else:
                    continue
                self._schedule.done(name)
                self.tally.happened("careless" if name in CARELESS else name)
                return
        self._turn(turn, after, declared)

    def _turn(self, turn: Any, after: Any, declared: bool) -> None:
        """One turn, by hand, ended with the done-button."""
        assert self._table is not None
        player = self._player
        self._goal = after
        before = self.service.match.turns
        if declared and self.rules.to_act(self._state).kind != "turn":
            self._tell(turn, after)
            return
        trace = self.rules.trace(self._state, turn)
        self._table.perform({**trace, **self._measured(self._state, turn)})
        if not trace:
            self._rest(THINK_S)
        if declared:
            self._until(lambda: not self._busy and self.service.match.doubt is None, PATIENCE_S)
            self._rest(1.5)
            author = Author("seat", f"player {player + 1}", player)
            self.service.submit("declare", {"text": self.rules.text(turn)}, author)
        if not declared or self.service.match.turns == before:
            self._table.press(f"done{player + 1}")
        self._judged(before, [(turn, after)])

    def _tell(self, turn: Any, after: Any) -> None:
        """A choice or a roll: it is told, then the players put the table as the program says."""
        assert self._table is not None
        before = self.service.match.turns
        trace = self.rules.trace(self._state, turn)
        value = self._rolled(self._state, turn)
        if value is not None:
            self._rest(ROLL_S)
        if value is not None and len(roll_stories(self.rules, self._state, SIDES, value)) == 1:
            die = Author("die", "simulated")
            self.service.hear(Rolled("die", value, die, SIDES, self._table.now_s()))
        else:
            reply = self.service.submit("declare", {"text": self.rules.text(turn)}, self._teller)
            if not reply.ok:
                _log.warning("%s was refused: %s", self.rules.text(turn), reply.words)
        self._table.perform(trace)
        self._until(lambda: not self._busy and self.service.match.lag is None, PATIENCE_S)
        self._judged(before, [(turn, after)])

    def _rolled(self, state: Any, turn: Any) -> int | None:
        """What a die shows for this turn to be made; None for a turn that no die makes."""
        shown = range(1, SIDES + 1)
        return next((v for v in shown if any(s.turn == turn for s in roll_stories(self.rules, state, SIDES, v))), None)

    def _carelessly(self, table: TroubledTable, turn: Any, after: Any, how: Careless) -> None:
        """A turn that is mended only after a while, or when the program complains; nobody may call it illegal."""
        self._goal = after
        before, button = self.service.match.turns, f"done{self._player + 1}"
        table.perform(how.first)
        table.act(how.acts)
        ended = how.may_end and self._chance.random() < 0.4
        if ended:
            table.press(button)
        complaints = ("unfinished", "illegal", "question")
        pause_s = self._chance.uniform(1.0, 3.0)
        self._until(lambda: not self._busy, PATIENCE_S)
        if ended:
            self._until(lambda: self._said in complaints or self.service.match.turns != before, pause_s)
        else:
            self._rest(pause_s)
        if self._said == "illegal":
            judgement = self.service.match.judgement
            said = judgement.words.id if judgement is not None else ""
            self.tally.fault(f"turn {before + 1}, {self.rules.text(turn)}, not finished, was called illegal: {said}")
        table.act(how.mend)
        table.perform(how.last)
        self._until(lambda: not self._busy, PATIENCE_S)
        if self.service.match.turns == before and not self.service.match.pressed:
            table.press(button)
        self._judged(before, [(turn, after)])

    def _missed(self, table: DisturbedTable, turns: list[tuple[Any, Any]]) -> None:
        """Turns made and ended while something covers the lens."""
        before, state = self.service.match.turns, self._state
        table.disturb(Covered(2.0 + 7.0 * len(turns)))
        self._rest(0.4)
        for turn, after in turns:
            table.perform({**self.rules.trace(state, turn), **self._measured(state, turn)})
            table.press(f"done{self.rules.to_act(state).players[0] + 1}")
            state = after
        self._goal = state
        self._rest(2.0 + 7.0 * len(turns))
        self._judged(before, turns)

    @property
    def _player(self) -> int:
        return self.rules.to_act(self._state).players[0]

    def _judged(self, before: int, turns: list[tuple[Any, Any]]) -> None:
        """Waits until the turns are on the record, and counts whether they are right."""
        wanted, after = before + len(turns), turns[-1][1]
        what = f"turn {before + 1}, {'; '.join(self.rules.text(turn) for turn, _ in turns)}"
        self._until(lambda: not self._busy and self.service.match.turns >= wanted, PATIENCE_S)
        match = self.service.match
        if match.turns == wanted and match.agreed == after:
            self.tally.right += len(turns)
        elif match.turns != before:
            self.tally.fault(f"{what} was recorded as {'; '.join(e.text for e in match.entries[before:])}")
        else:
            judgement = match.judgement
            said = (judgement.words.id, judgement.places) if judgement else "nothing"
            self.tally.fault(f"{what} is not on the record: the program says {said}")
        self._states += [state for _, state in turns]
        self._state = after
        if match.agreed != after:
            self._set_right()

    def _pick(self, state: Any) -> tuple[Any, Any, bool]:
        """A turn, the state after it, and whether it must be declared because a camera cannot tell it from another."""
        for attempt in range(8):
            turn = self._choose(state, self._chance)
            after = self.rules.apply(state, turn)
            assert not isinstance(after, Refusal)
            measured = self._measured(state, turn)
            seen = {**measured, **self._visible(state, after)}
            stories = self.rules.explain(state, seen).stories
            plain = bool(stories) and stories[0].after == after
            kind, before = self.rules.to_act(state).kind, self.rules.look(state)
            changed = [key for key, value in seen.items() if before.get(key) != value]
            if kind != "turn":  # a choice or a roll of which nothing is to be seen, or a die is to be read
                plain = plain and bool(changed) and self._rolled(state, turn) is None
            if (
                kind == "choice" and not measured
            ):  # made by putting one piece; what follows from it is done when it was told
                plain = plain and len(changed) == 1
            if plain or attempt == 7:
                break
        return turn, after, not plain

    def _unseen_together(self, after: Any, following: Any) -> bool:
        """Whether a turn may follow unseen: no throw, and not by the same player, whose second press would count as
        one with the first."""
        other = self.rules.outcome(after) is None and self.rules.to_act(after).players[0] != self._player
        return other and not self.rules.reveals(after, following)

    def _visible(self, before: Any, after: Any) -> Look:
        """How the table looks to a camera after a turn: what cannot be seen on it stays as it was known."""
        assert self._table is not None
        shown = self._table.look()
        known, new = self.rules.look(before), self.rules.look(after)
        return {key: value if key in shown else known[key] for key, value in new.items()}

    def _brought_to_light(self, turns: int) -> bool:
        """Whether one of the last turns revealed something, so that it cannot be taken back without consent."""
        match = self.service.match
        last = [(match.states[i], e) for i, e in enumerate(match.entries) if e.text][-turns:]
        return any(self.rules.reveals(state, self.rules.parse(entry.text)) for state, entry in last)

    def _answer(self) -> None:
        """Answers the open question from the world's truth; a question that does not offer it is wrong."""
        question = self.service.match.question
        assert question is not None and self._table is not None
        self.tally.asked += 1
        _log.info("asked: %s", [(c.kind, c.words.id, c.turns, dict(c.facts)) for c in question.choices])
        truth = self._table.look()
        fitting = [c for c in question.choices if self._fits(c, truth)]
        if not fitting:
            offered = [c.words.id for c in question.choices]
            self.tally.fault(f"a question did not offer the truth: {offered}")
        value = (fitting or list(question.choices))[0].value
        self.service.submit("answer", {"question": question.id, "value": value}, self._fingers)

    def _fits(self, choice: Choice, truth: Look) -> bool:
        match = self.service.match
        if choice.kind == "fact":
            return all(truth.get(k, v) == v for k, v in choice.facts.items())
        if choice.value == "other":
            return False
        look = {**match.rules.look(match.now), **choice.facts}
        return all(truth.get(k, v) == v for k, v in look.items()) and self._same_turns(choice)

    def _same_turns(self, choice: Choice) -> bool:
        """Whether the turns of an answer lead to the true position, not only to the same look."""
        state = self.service.match.agreed
        for _, text in choice.turns:
            state = self.rules.apply(state, self.rules.parse(text))
        return not choice.turns or state == self._goal

    def _set_right(self) -> None:
        """After a wrong verdict: tells the program the truth, so that the next turn is judged from it."""
        rules, player = self.rules, Author("program", "demo")
        if self.service.match.provisional is not None:
            self.service.submit("takeback", {}, player)
        match = self.service.match
        now = rules.look(match.agreed)
        differing = {k: v for k, v in rules.look(self._state).items() if now.get(k) != v}
        if differing:
            self.service.submit("correct", {"facts": differing}, player)
        self._state = self.service.match.agreed
