"""A table that plays by itself: simulated players act on a simulated table, and the program referees what it sees.

The players know the rules and the table's truth, the program only what comes through camera and buttons. Everything
that it says is compared with the truth and counted.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from companion.bulletin import Bulletin
from companion.demo_players import SIDES, Players
from companion.demo_room import FRAME_S, Disturbed, Room, Stopped
from companion.evidence import Author, Rolled
from companion.games.contract import Setup, roll_stories
from companion.mishaps import CARELESS, Careless, Schedule, bump, careless, light_change
from companion.registry import GameEntry
from companion.service import Service
from companion.tally import Tally
from devices.faults import Fault
from devices.simulated.contract import SimulatedTable, TroubledTable
from devices.simulated.disturbances import Covered, LampSwitch

NAMES = ("Ada", "Bea", "Carl", "Dora", "Emil", "Frida")
PATIENCE_S = 20.0
"""Simulated time within which a finished turn must be on the record."""

THINK_S = 0.5
"""A button is not pressed again sooner, where nothing is done on the table in between."""

ROLL_S = 2.5
"""A die is not thrown sooner after the one before."""

_log = logging.getLogger(__name__)


class Unready(Exception):
    """The program did not accept the table for a new game."""


class Demo:
    """Simulated players at a simulated table, in simulated time; `speed` None never sleeps. `players`: how many, as the
    game allows (None: two, or the fewest). `options`: the game's, where they are not its defaults."""

    def __init__(
        self,
        game: GameEntry,
        service: Service,
        bulletin: Bulletin,
        seed: int,
        speed: float | None,
        scenario: Sequence[Fault] = (),
        players: int | None = None,
        options: Mapping[str, str | int | bool] | None = None,
    ) -> None:
        self.game, self.service, self.bulletin = game, service, bulletin
        self.tally = Tally()
        self._chance = random.Random(seed)
        self._players = Players(game, self._chance)
        self.rules = self._players.rules
        self._options = {**{o.name: o.default for o in self.rules.options()}, **(options or {})}
        self.room = Room(game, service, bulletin, speed, scenario, game.load_board(self._options))
        self._count = players or max(self.rules.min_players, min(2, self.rules.max_players))
        self._schedule = Schedule(random.Random(f"mishaps {seed}"))
        self._fingers, self._teller = Author("button", "simulated"), Author("seat", "simulated")
        self._state: Any = None
        self._goal: Any = None
        self._states: list[Any] = []
        self._awaited_s: float | None = None

    def run(self, turns: int | None = None, games: int | None = None) -> Tally:
        """Plays until `turns` turns are made in all, or `games` games played to their end (neither: until stopped)."""
        try:
            while (turns is None or self._made < turns) and (games is None or self.tally.ended < games):
                try:
                    self._begin()
                    while self.service.match.phase == "playing" and (turns is None or self._made < turns):
                        self._mischief()
                        if self.service.match.phase == "playing":
                            self._turns()
                    self.tally.ended += self.service.match.phase == "over"
                    if turns is None and games is None:
                        self.room.rest(5.0)
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

    def _until(self, done: Callable[[], bool], patience_s: float) -> bool:
        """Lets time pass until `done`; False when it did not come to it within the patience, which nobody loses while
        something is still being done on the table. Answers questions."""
        left = round(patience_s / FRAME_S)
        while left > 0:
            left -= not self.room.busy
            while self.service.match.paused or self.room.blind:
                self._awaited_s = None
                self.room.tick()
            self._time_result()
            if done():
                return True
            question = self.service.match.question
            if question is not None and not self.room.busy and self.room.seen:
                self._answer()
            if self.room.aimed():
                self.tally.happened("camera aimed")
            self.room.tick()
        return done()

    def _time_result(self) -> None:
        """Notes how long after rest the awaited turn, or a question about it, was shown; once a turn."""
        match, stage = self.service.match, self.room.table.stage
        if self._awaited_s is None or stage.rested_s <= self._awaited_s or self.room.moving:
            return
        if match.question is not None or match.now == self._goal:
            times = self.tally.asked_s if match.question is not None else self.tally.shown_s
            times.append(stage.now_s() - stage.rested_s)
            self._awaited_s = None

    def _begin(self) -> None:
        """Lays the table for a new game and lets the program check the start; raises Unready when it will not do."""
        self.room.match_id = ""
        options, count = self._options, self._count
        start = self.game.deal_start(self._chance)
        self._state = self.rules.new(Setup(NAMES[:count], options, start))
        self._states = [self._state]
        self.room.lay(self.rules.look(self._state), self._chance.randrange(2**31))
        self.room.rest(1.0)
        args = {"game": self.game.name, "players": list(NAMES[:count]), "options": options, "start": "table"}
        self.service.submit("new_game", args, self._fingers)
        self.room.match_id = self.service.match.id
        if not self._until(lambda: self.service.match.check.ready, PATIENCE_S / 2):
            self._clear_view()
        if not self._until(lambda: self.service.match.check.ready, PATIENCE_S):
            differences = [m.id for m in self.service.match.check.differences]
            raise Unready(f"the start was not recognised: {differences}")
        self.room.table.stage.press("done1")
        self._until(lambda: self.service.match.phase == "playing", PATIENCE_S)
        if self.service.match.phase != "playing" or self.service.match.agreed != self._state:
            raise Unready("the game began from another position than the table's")

    def _clear_view(self) -> None:
        """Does what the program says when it cannot read places: moves the lamp that is mirrored in them."""
        unread = any(m.id == "table.cannot_read" for m in self.service.match.check.differences)
        if unread:
            self.room.disturb(LampSwitch("diffuse"))
            self.tally.happened("lamp moved")

    def _wait_for_the_guest(self) -> None:
        """Lets time pass while somebody plays a game of their own with the program."""
        theirs, self.room.match_id = self.service.match.id, ""
        while self.service.match.id == theirs and self.service.match.phase in ("start_check", "playing"):
            self.room.tick()

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
        self.room.disturb(bump(self._chance) if name == "bump" else light_change(self._chance))
        self.tally.happened(name)
        self.room.rest(self._chance.uniform(0.0, 2.0))
        return True

    def _illegal(self) -> bool:
        """Something illegal, ended with the done-button; it must be named with its rule, and is then put back."""
        earlier = self._states[-2] if len(self._states) > 1 else None
        act = self._players.planted(self._state, earlier, self.tally.illegal)
        if act is None:
            return False
        changes, rule = act
        before = self.rules.look(self._state)
        if {**before, **changes} in (self.rules.look(state) for state in self._states[:-1]):
            return False  # it would look like turns put back
        self._goal = None
        self.room.table.perform(changes)
        self.room.table.stage.press(f"done{self.rules.to_act(self._state).players[0] + 1}")
        self._until(lambda: not self.room.busy and self._said == "illegal", PATIENCE_S)
        judgement = self.service.match.judgement
        named = judgement.words.id if judgement is not None and judgement.kind == "illegal" else self._said
        if named == rule:
            self.tally.illegal[rule] = self.tally.illegal.get(rule, 0) + 1
        else:
            self.tally.fault(f"the illegal act {changes} breaks {rule}; the program says {named}")
        self.room.table.perform({key: before[key] for key in changes})
        self._settle(f"after {rule}")
        return True

    def _changed_mind(self) -> bool:
        """A turn is made and put back by hand before it is ended."""
        turn, after, declared = self._pick(self._state)
        before = self.rules.look(self._state)
        trace = dict(self.rules.trace(self._state, turn))
        if declared or not trace or self.rules.reveals(self._state, turn):
            return False  # nobody puts a throw back
        self._goal = after
        self.room.table.perform(trace)
        self._until(lambda: not self.room.busy and self.service.match.provisional is not None, PATIENCE_S)
        self.room.table.perform({key: before[key] for key in trace})
        self.tally.takebacks += 1
        self._goal = None
        self._settle("after a turn put back")
        return True

    def _taken_back(self) -> bool:
        """The last final turn is taken back by button, and the table put as it was."""
        if len(self._states) < 2 or self._brought_to_light(1):
            return False
        now, before = self.rules.look(self._state), self.rules.look(self._states[-2])
        self._states.pop()
        self._state, self._goal = self._states[-1], None
        self.room.table.stage.press("takeback")
        self.room.table.perform({key: value for key, value in before.items() if now[key] != value})
        self.tally.takebacks += 1
        self._settle("after a takeback by button")
        return True

    def _put_back(self, turns: int) -> bool:
        """The last final turns are taken back by hand alone: the table is put as it was before them."""
        looks = [self.rules.look(state) for state in self._states[-turns - 1 :]]
        if len(looks) <= turns or looks[0] == looks[-1] or any(one == other for one, other in pairwise(looks)):
            return False
        if self._brought_to_light(turns):
            return False
        explained = self.rules.explain(self._state, looks[0])
        if explained.stories or explained.unfinished:
            return False  # it would look like another turn, or the beginning of one
        del self._states[-turns:]
        self._state = self._goal = self._states[-1]
        self.room.table.perform({key: value for key, value in looks[0].items() if looks[-1][key] != value})
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
            return (
                not self.room.busy and quiet and match.agreed == self._state and self._said not in ("illegal", "open")
            )

        if not self._until(true, PATIENCE_S):
            self.tally.fault(f"{when}: the program has another position, it says {self._said}")
            self._set_right()

    def _turns(self) -> None:
        """One turn of the player to move, or two where the camera misses both; careless where that is due."""
        turn, after, declared = self._pick(self._state)
        if not declared:
            for name in self._schedule.within():
                if name == "missed_two":
                    following = self._pick(after) if self.rules.outcome(after) is None else None
                    if (
                        following is None
                        or following[2]
                        or not self._players.unseen_together(self._state, after, following[0])
                    ):
                        continue
                    self._missed(self.room.table, [(turn, after), following[:2]])
                elif name == "missed":
                    self._missed(self.room.table, [(turn, after)])
                elif isinstance(self.room.table, TroubledTable):
                    trace = self.rules.trace(self._state, turn)
                    how = careless(name, trace, self.rules.look(self._state), self._chance)
                    if how is None:
                        continue
                    self._carelessly(self.room.table, turn, after, how)
                else:
                    continue
                self._schedule.done(name)
                self.tally.happened("careless" if name in CARELESS else name)
                return
        self._turn(turn, after, declared)

    def _turn(self, turn: Any, after: Any, declared: bool) -> None:
        """One turn, by hand, ended with the done-button."""
        player = self._player
        self._goal = after
        before = self.service.match.turns
        if declared and self.rules.to_act(self._state).kind != "turn":
            self._tell(turn, after)
            return
        trace = self.rules.trace(self._state, turn)
        self._awaited_s = self.room.table.stage.now_s() if trace else None
        self.room.table.perform({**trace, **self._players.measured(self._state, turn)})
        if not trace:
            self.room.rest(THINK_S)
        if declared:
            self._until(lambda: not self.room.busy and self.service.match.doubt is None, PATIENCE_S)
            self.room.rest(1.5)
            author = Author("seat", f"player {player + 1}", player)
            self.service.submit("declare", {"text": self.rules.text(turn)}, author)
        if not declared or self.service.match.turns == before:
            self.room.table.stage.press(f"done{player + 1}")
        self._judged(before, [(turn, after)])

    def _tell(self, turn: Any, after: Any) -> None:
        """A choice or a roll: it is told, then the players put the table as the program says."""
        before = self.service.match.turns
        trace = self.rules.trace(self._state, turn)
        value = self._players.rolled(self._state, turn)
        if value is not None:
            self.room.rest(ROLL_S)
        if value is not None and len(roll_stories(self.rules, self._state, SIDES, value)) == 1:
            die = Author("die", "simulated")
            self.service.hear(Rolled("die", value, die, SIDES, self.room.table.stage.now_s()))
        else:
            reply = self.service.submit("declare", {"text": self.rules.text(turn)}, self._teller)
            if not reply.ok:
                _log.warning("%s was refused: %s", self.rules.text(turn), reply.words)
        self.room.table.perform(trace)
        self._until(lambda: not self.room.busy and self.service.match.lag is None, PATIENCE_S)
        self._judged(before, [(turn, after)])

    def _carelessly(self, table: TroubledTable, turn: Any, after: Any, how: Careless) -> None:
        """A turn that is mended only after a while, or when the program complains; nobody may call it illegal."""
        self._goal = after
        before, button = self.service.match.turns, f"done{self._player + 1}"
        table.perform(how.first)
        table.act(how.acts)
        ended = how.may_end and self._chance.random() < 0.4
        if ended:
            table.stage.press(button)
        complaints = ("unfinished", "illegal", "question")
        pause_s = self._chance.uniform(1.0, 3.0)
        self._until(lambda: not self.room.busy, PATIENCE_S)
        if ended:
            self._until(lambda: self._said in complaints or self.service.match.turns != before, pause_s)
        else:
            self.room.rest(pause_s)
        if self._said == "illegal":
            judgement = self.service.match.judgement
            said = judgement.words.id if judgement is not None else ""
            self.tally.fault(f"turn {before + 1}, {self.rules.text(turn)}, not finished, was called illegal: {said}")
        table.act(how.mend)
        table.perform(how.last)
        self._until(lambda: not self.room.busy, PATIENCE_S)
        if self.service.match.turns == before and not self.service.match.pressed:
            table.stage.press(button)
        self._judged(before, [(turn, after)])

    def _missed(self, table: SimulatedTable, turns: list[tuple[Any, Any]]) -> None:
        """Turns made and ended while something covers the lens."""
        before, state = self.service.match.turns, self._state
        table.stage.disturb(Covered(2.0 + 7.0 * len(turns)))
        self.room.rest(0.4)
        for turn, after in turns:
            table.perform({**self.rules.trace(state, turn), **self._players.measured(state, turn)})
            table.stage.press(f"done{self.rules.to_act(state).players[0] + 1}")
            state = after
        self._goal = state
        self.room.rest(2.0 + 7.0 * len(turns))
        self._judged(before, turns)

    @property
    def _player(self) -> int:
        return self.rules.to_act(self._state).players[0]

    def _judged(self, before: int, turns: list[tuple[Any, Any]]) -> None:
        """Waits until the turns are on the record, and counts whether they are right."""
        wanted, after = before + len(turns), turns[-1][1]
        what = f"turn {before + 1}, {'; '.join(self.rules.text(turn) for turn, _ in turns)}"
        self._until(lambda: not self.room.busy and self.service.match.turns >= wanted, PATIENCE_S)
        match = self.service.match
        if match.turns == wanted and match.agreed == after:
            self.tally.right += len(turns)
        elif match.turns != before:
            self.tally.fault(f"{what} was recorded as {'; '.join(e.text for e in match.entries[before:])}")
        else:
            judgement = match.judgement
            said = (judgement.words.id, judgement.places) if judgement else "nothing"
            self.tally.fault(f"{what} is not on the record: the program says {said}")
        self._awaited_s = None
        self._states += [state for _, state in turns]
        self._state = after
        if match.agreed != after:
            self._set_right()

    def _pick(self, state: Any) -> tuple[Any, Any, bool]:
        return self._players.pick(state, self.room.shown)

    def _brought_to_light(self, turns: int) -> bool:
        """Whether one of the last turns revealed something, so that it cannot be taken back without consent."""
        match = self.service.match
        last = [(match.states[i], e) for i, e in enumerate(match.entries) if e.text][-turns:]
        return any(self.rules.reveals(state, self.rules.parse(entry.text)) for state, entry in last)

    def _answer(self) -> None:
        """Answers the open question from the world's truth; a question that does not offer it is wrong."""
        question = self.service.match.question
        assert question is not None
        self.tally.asked += 1
        _log.info("asked: %s", [(c.kind, c.words.id, c.turns, dict(c.facts)) for c in question.choices])
        truth, match = self.room.table.look(), self.service.match
        fitting = [c for c in question.choices if self._players.hold_for_true(c, match, truth, self._goal)]
        if not fitting:
            offered = [c.words.id for c in question.choices]
            self.tally.fault(f"a question did not offer the truth: {offered}")
        otherwise = [c for c in question.choices if c.value == "other"]
        value = (fitting or otherwise or list(question.choices))[0].value
        self.service.submit("answer", {"question": question.id, "value": value}, self._fingers)

    def _set_right(self) -> None:
        """After a wrong verdict: tells the program the truth, so that the next turn is judged from it, and puts the
        table as the program then says, where it cannot be told."""
        rules, player = self.rules, Author("program", "demo")
        if self.service.match.provisional is not None:
            self.service.submit("takeback", {}, player)
        match = self.service.match
        now = rules.look(match.agreed)
        differing = {k: v for k, v in rules.look(self._state).items() if now.get(k) != v}
        if differing:
            self.service.submit("correct", {"facts": differing}, player)
        self._state = self._states[-1] = self._goal = self.service.match.agreed
        wanted = rules.look(self._state)
        astray = {k: wanted[k] for k, v in self.room.table.look().items() if wanted.get(k, v) != v}
        if astray:
            self.room.table.perform(astray)
            self._until(lambda: not self.room.busy, PATIENCE_S)
