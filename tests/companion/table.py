"""A table to play on in tests: readings drawn from looks, a match that is stepped, and what it has heard."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from companion.commands import Reply
from companion.evidence import Author, Chose, Seen
from companion.fold import fold
from companion.games.contract import Look, Refusal, Rules, Setup
from companion.match import Event, Match
from companion.registry import GAMES
from companion.step import step
from vision.reading import Fact, Reading

CAMERA = Author("camera", "test")
PLAYERS = (Author("seat", "a", 0), Author("seat", "b", 1))
VALUES = {"path": ("NE", "NS", "NW", "ES", "EW", "SW"), "triangle": ("no", "yes"), "pawn": ("-", "1", "2")}
LEAD = 15.0
CORNERS = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0))


def games(name: str) -> Rules[Any, Any]:
    """The rules by name, as the match wants them."""
    return GAMES[name].load_rules()


def reading_of(
    look: Look,
    time_s: float,
    weak: Mapping[str, Mapping[str, float]] | None = None,
    hidden: Iterable[str] = (),
    dazzled: Iterable[str] = (),
) -> Reading:
    """A clear reading of a look; `weak` gives some facts other log-likelihoods, `hidden` hides some, and of `dazzled`
    ones nothing can be told although nothing lies over them."""
    facts = {}
    hidden, dazzled = set(hidden), set(dazzled)
    for key, value in look.items():
        values = VALUES[key.split(":")[0]]
        scores = (weak or {}).get(key) or {v: 0.0 if v == value or key in dazzled else -LEAD for v in values}
        facts[key] = Fact(tuple(scores), tuple(scores.values()), key in hidden, "glare" if key in dazzled else "")
    return Reading(round(time_s * 10), time_s, facts, board_px=CORNERS)


class TestTable:
    """A match at a table of which the test decides how it looks; time passes a second a reading."""

    __test__ = False

    def __init__(self, seed: int = 0, done_expected: bool = False, **options: str | int | bool) -> None:
        entry = GAMES["moguli"]
        self.rules = entry.load_rules()
        self.choose = entry.load_choose()
        self.chance = random.Random(seed)
        self.match = Match(games)
        self.events: list[Event] = []
        self.time_s = 0.0
        start = entry.deal_start(self.chance)
        given = {o.name: options.get(o.name, o.default) for o in self.rules.options()}
        self.state = self.rules.new(Setup(("Ada", "Bea"), given, start))
        args = {"game": "moguli", "players": ["Ada", "Bea"], "options": options, "start": "table", "id": "m"}
        assert self.say("new_game", done_expected=done_expected, **args).ok
        self.see()
        assert self.say("accept_start").ok
        assert self.match.agreed == self.state

    def say(self, command: str, by: int | None = None, **args: Any) -> Reply:
        """Gives a command as player `by` (None: somebody at the table)."""
        author = Author("seat", "table") if by is None else PLAYERS[by]
        done = step(self.match, Chose(command, author, args))
        self._keep(done.match, done.events)
        return done.reply

    def done(self, by: int | None = None) -> Reply:
        """Presses the done-button; a camera is there."""
        return self.say("done", by, at_s=self.time_s)

    def see(self, look: Look | None = None, times: int = 1, step_s: float = 1.0, **unclear: Any) -> None:
        """Shows the table to the match, `times` readings `step_s` apart."""
        for _ in range(times):
            self.time_s += step_s
            reading = reading_of(look if look is not None else self.rules.look(self.state), self.time_s, **unclear)
            done = step(self.match, Seen(reading, "", CAMERA))
            self._keep(done.match, done.events)

    def _keep(self, match: Match, events: tuple[Event, ...]) -> None:
        self.match = match
        self.events += events

    def look(self, **facts: str) -> dict[str, str]:
        """The look of the present state with some facts changed (`path_a1="NE"`)."""
        return {**self.rules.look(self.state), **{k.replace("_", ":"): v for k, v in facts.items()}}

    def turn(self, text: str | None = None) -> Any:
        """Lets the player to move make a turn (a random one that a camera can tell) and returns the turn."""
        for _ in range(50):
            turn = self.rules.parse(text) if text is not None else self.choose(self.state, self.chance)
            after = self.rules.apply(self.state, turn)
            assert not isinstance(after, Refusal), after
            if text is not None or self._plain(after):
                break
        self.state = after
        return turn

    def _plain(self, after: Any) -> bool:
        stories = self.rules.explain(self.state, self.rules.look(after)).stories
        return (
            bool(stories)
            and stories[0].after == after
            and not stories[0].unseen
            and self.rules.look(after) != self.rules.look(self.state)
        )

    def play(self, turns: int) -> None:
        """Plays turns that are seen and ended by button."""
        for _ in range(turns):
            if self.rules.outcome(self.state) is not None:
                return
            player = self.rules.to_act(self.state).players[0]
            self.turn()
            self.see()
            self.done(player)
            self.see()

    def opening(self) -> None:
        """Plays until the player to move may do anything: rotate alone, move alone, or nothing."""
        for _ in range(60):
            if self._free():
                return
            self.play(1)
        raise AssertionError("no free position in 60 turns")

    def _free(self) -> bool:
        return all(self.texts(*kinds) for kinds in (("R",), ("M",), ("M", "R")))

    def texts(self, *kinds: str) -> list[str]:
        """The notation of all legal turns made of these kinds of acts that a camera can tell."""
        texts = [self.rules.text(turn) for turn in self.rules.legal(self.state)]
        fitting = [t for t in texts if [act.split()[0] for act in t.split(", ")] == list(kinds)]
        return [t for t in fitting if self._plain(self.rules.apply(self.state, self.rules.parse(t)))]

    @property
    def kind(self) -> str:
        """The kind of the newest judgement."""
        return self.match.judgement.kind if self.match.judgement else ""

    def refolded(self) -> Match:
        """The match rebuilt from all its events."""
        return fold(self.events, games)
