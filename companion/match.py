"""One match as plain frozen data: the record, the agreed positions, the provisional turn, what is being asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from companion.evidence import Author
from companion.games.contract import Json, Look, Message, Outcome, Rules, Setup, Story

GamesByName = Callable[[str], Rules[Any, Any]]
Phase = Literal["setup", "start_check", "playing", "over"]
PROGRAM = Author("program", "service")
NO_SETUP = Setup(())


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: its kind, its JSON, who caused it, and the id of the picture that showed it."""

    kind: str
    data: Mapping[str, Json] = field(default_factory=dict)
    author: Author = PROGRAM
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the record: a final turn (`text` in notation, `words` said of the state before it, `by` how it
    became final) or, with an empty text, a correction of the agreed position (`facts`). `refused`: the rule it breaks
    since something before it was changed."""

    player: int
    text: str
    words: Message
    by: str = "done"
    facts: Look = field(default_factory=dict)
    corrected: bool = False
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The newest verdict in words: `kind` "accepted", "provisional", "withdrawn", "takeback", "corrected", "illegal",
    "open" (illegal as it stands, but the turn may go on), "question", "unfinished", "waiting" or
    "checked"; `places` to mark."""

    kind: str
    words: Message
    details: tuple[Message, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question and what it stands for: a kind of `referee.Tale` ("fact" for a plain value at the start
    check, "side" for a corner, "rolled" for a roll), its turns as (player, text), the number of turns a takeback leaves
    or of the turn that a roll is, the look."""

    value: str
    words: Message
    kind: str
    turns: tuple[tuple[int, str], ...] = ()
    number: int = 0
    facts: Look = field(default_factory=dict)
    details: tuple[Message, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """The open question; `saw` is what the camera alone says of the facts in doubt (see `Match.told`), `presses` how
    many turns had been ended by button when it was asked, `lying` where the pieces it is about lay: name -> x, y and
    their uncertainty in mm, `unclear` where those lay that are not surely known."""

    id: str
    words: Message
    choices: tuple[Choice, ...]
    places: tuple[str, ...] = ()
    saw: Look = field(default_factory=dict)
    presses: int = 0
    lying: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    unclear: tuple[tuple[float, ...], ...] = ()

    @property
    def about_roll(self) -> bool:
        """True when it is about a die, not about the table."""
        return any(c.kind == "rolled" for c in self.choices)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a player proposes and others must agree to: a declared turn (`text`) or an undo to turn `number`."""

    player: int
    words: Message
    text: str = ""
    number: int = -1
    agreed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Throw:
    """The newest roll of a die: what it shows, since when it rests (monotonic seconds), which kinds of source have told
    it (`Author.kind`), and the number of the turn that it is, or becomes when it is known whose it is."""

    faces: int
    value: int
    at_s: float
    sources: tuple[str, ...]
    turn: int


@dataclass(frozen=True, slots=True)
class Contest:
    """A turn that somebody doubts: its number, by which player (-1: the table), the name of its clip (empty: there are
    no pictures of it), and what the table has decided: "" (nothing yet), "stands" or "changed", and who said so."""

    number: int
    player: int
    clip: str = ""
    decided: str = ""
    decider: int = -1


@dataclass(frozen=True, slots=True)
class StartCheck:
    """The table before turn 1: the start that its look makes (None: no legal one yet), what is wrong, what was told."""

    start: Json = None
    ready: bool = False
    differences: tuple[Message, ...] = ()
    places: tuple[str, ...] = ()
    told: Look = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """Everything about one match. `states[i]` is the agreed position after `entries[:i]`.

    `setup.start` is, until the game begins, what of it is settled already (the board or cards that it is played with);
    `data` which data that is (name, hash, provenance). `undo`: what the players must agree to take back, see
    `companion.consent`; `hints`: whether they may ask for one.
    `table`: how the table looks by the last judgement; `lag`: how it still looks although the match has gone elsewhere
    (after an undo by button, until somebody has put it back); `told`: facts that a person has settled against the
    camera, with what the camera said (`companion.sight.DOUBTFUL` behind it where it was not sure); `unclear`: where the
    pieces lay that were not surely known when a person last settled such facts (x, y, uncertainty in mm); `doubt`: a
    verdict that waits for a second reading, and since when; `pressed`: the done-buttons pressed since the last final
    turn as (player, frame time in seconds); `throw`: the newest roll; `contests`: the turns that somebody doubts or has
    doubted, by number.
    """

    games: GamesByName = field(compare=False, repr=False)
    events: int = 0
    id: str = ""
    game: str = ""
    setup: Setup = NO_SETUP
    phase: Phase = "setup"
    paused: bool = False
    manual: bool = False
    done_expected: bool = False
    side: str = ""
    undo: str = "chance"
    hints: bool = False
    data: Mapping[str, Json] = field(default_factory=dict)
    check: StartCheck = StartCheck()
    entries: tuple[Entry, ...] = ()
    states: tuple[Any, ...] = ()
    provisional: Story[Any, Any] | None = None
    table: Look = field(default_factory=dict)
    lag: Look | None = None
    told: Look = field(default_factory=dict)
    unclear: tuple[tuple[float, ...], ...] = ()
    judgement: Judgement | None = None
    question: Asked | None = None
    questions: int = 0
    offer: Offer | None = None
    doubt: tuple[str, float] | None = None
    pressed: tuple[tuple[int, float], ...] = ()
    recheck: bool = False
    throw: Throw | None = None
    contests: tuple[Contest, ...] = ()

    @property
    def rules(self) -> Rules[Any, Any]:
        """The rules of this match's game."""
        return self.games(self.game)

    @property
    def agreed(self) -> Any:
        """The last agreed position."""
        return self.states[-1]

    @property
    def now(self) -> Any:
        """The position as shown: with the provisional turn."""
        return self.provisional.after if self.provisional else self.states[-1]

    @property
    def turns(self) -> int:
        """How many final turns the record holds."""
        return sum(bool(e.text) for e in self.entries)

    @property
    def roll_disputed(self) -> bool:
        """True while it is asked what a die showed whose roll stands in the record already: nothing else goes on."""
        asked = self.question is not None and self.question.about_roll
        return asked and self.throw is not None and self.turns >= self.throw.turn

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, by its agreed position."""
        return self.rules.outcome(self.agreed) if self.states else None

    def upto(self, number: int) -> int:
        """How many entries belong to the first `number` turns, corrections after the last of them included."""
        turns = 0
        for index, entry in enumerate(self.entries):
            turns += bool(entry.text)
            if turns > number:
                return index
        return len(self.entries)

    def earlier(self) -> tuple[tuple[int, Any], ...]:
        """The agreed positions before the present one as (number of turns, state), newest first."""
        return tuple((n, self.states[self.upto(n)]) for n in range(self.turns - 1, -1, -1))


def message(data: Json) -> Message:
    """The message of its JSON, `[id, [[name, value], ...]]`."""
    return Message(data[0], tuple((str(k), v) for k, v in data[1]))


def messages(data: Json) -> tuple[Message, ...]:
    """Several messages from their JSON."""
    return tuple(message(m) for m in data)


def as_json(words: Message) -> Json:
    """A message as JSON that `message` reads back."""
    return [words.id, [[k, v] for k, v in words.values]]
