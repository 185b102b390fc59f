"""The contract every game speaks, so that referee, dashboard, replay and simulation need not know the game.

A state is frozen plain data. Chance and hidden things are inputs: a roll, a draw or a deal arrives as (part of) a
turn. No clock, no input or output. What a state looks like on the table is a `Look`: a mapping from fact keys
`<kind>:<place>` (`path:a1`, `pawn:c4`) to values, the same keys and values that the eyes report in a
`vision.reading.Reading`; rules and eyes share this vocabulary and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

Json = Any
"""What `json.dumps` takes: None, bool, int, float, str, lists and string-keyed dicts of these."""

Look = Mapping[str, str]
"""Fact key -> value. A whole look describes the whole table; a partial one only what it names."""

S = TypeVar("S")
T = TypeVar("T")
S_contra = TypeVar("S_contra", contravariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Message:
    """Words to come: a catalogue id (`moguli.two_free_doors`, `game.to_move`) and the values to put into it.

    Values are strings or numbers; a value that is itself a catalogue id is written `@id`, a player's name `#0`, `#1`.
    """

    id: str
    values: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a turn (or a setup, a position, a text) is refused: data, never an exception inside the rules.

    `rule` is `<game>.<word>` and names a catalogue sentence citing the ruling; `places` are the places to mark on the
    board (`b3`, `c1`), `values` fill the sentence.
    """

    rule: str
    places: tuple[str, ...] = ()
    values: tuple[tuple[str, str | int | float], ...] = ()

    @property
    def message(self) -> Message:
        """The same as words to come."""
        return Message(self.rule, self.values)


class RulesError(ValueError):
    """A text, JSON, setup or position that cannot be accepted; `refusal` says what, where and why."""

    def __init__(self, refusal: Refusal, text: str) -> None:
        super().__init__(text)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Option:
    """One house rule of a game's setup: its name, the values it may take and the default; words under
    `<game>.option.<name>` and `<game>.option.<name>.<value>`."""

    name: str
    choices: tuple[str | int | bool, ...]
    default: str | int | bool


@dataclass(frozen=True, slots=True)
class Setup:
    """How a game begins: seats in play order, chosen options, and `start`, the game's own JSON for what chance or the
    table decided (tiles as they lie, deals, lots); empty for a game whose start is fixed."""

    players: tuple[str, ...]
    options: Mapping[str, str | int | bool] = field(default_factory=dict)
    start: Json = None


@dataclass(frozen=True, slots=True)
class Awaiting:
    """What the game waits for: `kind` is "turn", "roll", "choice" or "over"; `players` (indices) who may give it;
    `message` what is expected next in words ("Green: roll to hit, 3 or more")."""

    kind: str
    players: tuple[int, ...]
    message: Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the game ended: winning players (empty: nobody, a draw or a common loss) and the reason in words."""

    winners: tuple[int, ...]
    reason: Message


@dataclass(frozen=True, slots=True)
class Story(Generic[S, T]):
    """One legal turn that explains what is seen: the turn, the state after it, and how many of its acts left no mark
    on the table (`unseen`). `player` made it. `open`: it may be the beginning of another turn, so that it is not final
    by itself even where it ends the game."""

    turn: T
    after: S
    player: int
    unseen: int = 0
    open: bool = False


@dataclass(frozen=True, slots=True)
class Explanation(Generic[S, T]):
    """What could have happened between a state and a look.

    `stories`: legal turns that lead exactly to the look, fewest unseen acts first, then by text; one per different
    next state (the best of its kind). Empty when none is legal; then `refusals` holds the rules in the way, the one
    that matters most first, each with its places. `unfinished`: nothing that is seen breaks a rule, the turn only lacks
    an act that the refusals name, and further acts can still make it legal. `warnings` are about a story that is legal
    so far but cannot be completed, or that the table should know.
    """

    stories: tuple[Story[S, T], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[Message, ...] = ()
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Declaration(Generic[T]):
    """Something a player may say instead of doing it on the table (resign, offer a draw, an unseen move): the button's
    words, the turn it stands for, and whether all other players must agree first."""

    message: Message
    turn: T
    needs_consent: bool = False


@dataclass(frozen=True, slots=True)
class DataUsed:
    """The data that a game is played with: a tile set, a board, cards, a catalogue of figures.

    `name` as people know it, `hash` of its contents, `provenance` by table or key (rulebook, source, inferred, invented
    or owner), and `start`: what must stand in `Setup.start` so that a record needs no file. `seen`: whether a
    camera that knows the boards which come with the program can read a table with this data."""

    name: str
    hash: str
    provenance: Mapping[str, str]
    start: Mapping[str, Json]
    seen: bool = True


class Rules(Protocol[S, T]):
    """The questions every game answers. Nothing raises for an illegal turn; malformed input raises RulesError."""

    name: str
    min_players: int
    max_players: int

    def options(self) -> tuple[Option, ...]:
        """The game's house rules with their defaults."""

    def new(self, setup: Setup) -> S:
        """The state before the first turn; raises RulesError on an unknown option, a wrong number of players, or a
        start that breaks the rules."""

    def start_from_look(
        self, look: Look, options: Mapping[str, str | int | bool], given: Json = None
    ) -> Json | tuple[Refusal, ...]:
        """The `Setup.start` of a table that looks so before turn 1, or every way in which it is no legal start
        (missing tile, pawn on a wrong place), each with its places. `given`: what of the start is settled already
        (`DataUsed.start`: a board, a card set); the answer holds it too."""

    def to_act(self, state: S) -> Awaiting:
        """What the game waits for and from whom."""

    def legal(self, state: S) -> Iterable[T]:
        """All legal turns, where they can be listed (throws and hidden draws cannot); empty exactly when over."""

    def apply(self, state: S, turn: T) -> S | Refusal:
        """The state after the turn, or why it is illegal. `state` itself never changes."""

    def outcome(self, state: S) -> Outcome | None:
        """How it ended, or None while it goes on."""

    def text(self, turn: T) -> str:
        """One line of notation; `parse(text(t)) == t`."""

    def parse(self, text: str) -> T:
        """The turn of a notation line; raises RulesError quoting the text."""

    def position_text(self, state: S) -> str:
        """The state as one line of text that `parse_position` reads back."""

    def parse_position(self, text: str) -> S:
        """The state of a position line; raises RulesError quoting what is wrong."""

    def to_json(self, state: S) -> Json:
        """The state as JSON with a `version`; `from_json` gives an equal state back."""

    def from_json(self, data: Json) -> S:
        """The state; raises RulesError on nonsense or a later version."""

    def look(self, state: S) -> Look:
        """How the whole table looks in this state."""

    def reveals(self, state: S, turn: T) -> bool:
        """Whether this turn, legal in this state, brings chance or something hidden to light (a roll, a draw, a deal, a
        shown hand), so that taking it back is more than moving pieces back."""

    def trace(self, state: S, turn: T) -> Look:
        """What a legal turn changes on the table: only the facts whose value differs afterwards."""

    def explain(self, before: S, seen: Look) -> Explanation[S, T]:
        """Which legal turns of the player to move lead from `before` to a table that looks like `seen` (a whole
        look), and if none, which rule stands in the way, at which places. A die that is told (`TakesRolls`) is no
        story: what a table shows of its effect says not what it showed."""

    def with_look(self, state: S, facts: Look) -> S | Refusal:
        """The state after a person has corrected these facts by hand (a tile's path, a pawn's place); everything else
        (whose turn, locks, series) stays. Conservation is checked: a refusal says what would be lost or doubled."""

    def declarations(self, state: S, player: int) -> tuple[Declaration[T], ...]:
        """What `player` may declare now (resign, agree a draw, an act that a camera cannot see)."""

    def describe(self, state: S, turn: T) -> Message:
        """The turn in words, said of the state before it."""

    def notes(self, state: S) -> tuple[Message, ...]:
        """What the player to move should know at the start of the turn (an obligation, a repeated position)."""

    def view(self, state: S, player: int | None) -> Json:
        """What may be shown to `player` (None: a spectator): the board for the drawing template, secrets left out."""


@runtime_checkable
class KeepsSecrets(Protocol[S_contra, T_contra]):
    """What a game with secret choices answers besides; `Rules` of a game without any lack it."""

    def veiled(self, before: S_contra, turn: T_contra, now: S_contra, player: int | None) -> bool:
        """Whether a turn that was made in the state `before` is, while the game stands at `now`, not to be told to
        `player` (None: a spectator)."""


@runtime_checkable
class TakesRolls(Protocol[S, T]):
    """What a game with dice answers besides; `Rules` of a game without dice lack it."""

    def rolled(self, state: S, faces: int, value: int) -> tuple[Story[S, T], ...]:
        """The turns that a die of so many faces showing `value` (1 to `faces`) may be now, one for each of those who
        may have rolled it; empty where no such roll is awaited."""


def roll_stories(rules: Rules[S, T], state: S, faces: int, value: int) -> tuple[Story[S, T], ...]:
    """What a rolled die may be in any game: `TakesRolls.rolled`, nothing where the game knows no dice."""
    return rules.rolled(state, faces, value) if isinstance(rules, TakesRolls) else ()
