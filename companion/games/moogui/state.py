"""What a Moogui match is at one instant, and what can be put into it.

A reading says how a figure rests: a face number `1`, `2`, ..., `immune`, `out` or `unsure`. A piece is one physical
figure; its model is in the catalogue. Players are indices; two to four of those at the table play each game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from companion.games.moogui.catalogue import Model

Readings = tuple[tuple[str, str], ...]
"""(piece, reading) pairs in the order of the pieces' ids."""

OUT, IMMUNE, UNSURE, ABSENT = "out", "immune", "unsure", "-"
PHASES = ("idle", "order", "throwing", "shields", "tiebreak", "split", "over")


@dataclass(frozen=True, slots=True)
class StartGame:
    """R-12: who plays with which character, in any order."""

    lineup: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class OrderThrow:
    """Distances from the arena's centre in mm (None: out) of all members of one group, their common uncertainty in mm,
    and how the figures lie now, where that was seen."""

    distances: tuple[tuple[int, float | None], ...]
    uncertainty_mm: float
    readings: Readings = ()


@dataclass(frozen=True, slots=True)
class Throw:
    """A character is thrown; `readings` are those of all figures in the arena after it."""

    player: int
    figure: str
    readings: Readings


@dataclass(frozen=True, slots=True)
class Offer:
    """One signature (`by`) under an alliance; the other one completes it."""

    player: int
    ally: int
    sentinel: str
    by: int


@dataclass(frozen=True, slots=True)
class Sign:
    """Both sign an alliance at once: the ally will throw this Sentinel for the player."""

    player: int
    ally: int
    sentinel: str
    signed_by: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ThrowSentinel:
    """A Sentinel is thrown for a player, by its owner."""

    player: int
    thrower: int
    figure: str
    readings: Readings


@dataclass(frozen=True, slots=True)
class EndTurn:
    """R-11: the explicit end of a turn."""

    player: int


@dataclass(frozen=True, slots=True)
class Decide:
    """The table settles an unsure reading."""

    figure: str
    reading: str


@dataclass(frozen=True, slots=True)
class Shield:
    """What becomes of a shield: taken back, or thrown again with the readings after it."""

    player: int
    again: bool
    readings: Readings = ()


@dataclass(frozen=True, slots=True)
class TieThrow:
    """A throw of a tie-break; `readings` of the tie-break figures thrown so far in this round."""

    player: int
    readings: Readings


@dataclass(frozen=True, slots=True)
class Split:
    """Who gets which lost figure after a won alliance; empty: dealt in turn (R-9)."""

    shares: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Clear:
    """What still lay there from before has been picked up: these pieces, or (empty) all of them; or these figures of
    the game, which are out."""

    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """The match ends here by agreement, between two games."""


Turn = (
    StartGame
    | OrderThrow
    | Throw
    | Offer
    | Sign
    | ThrowSentinel
    | EndTurn
    | Decide
    | Shield
    | TieThrow
    | Split
    | Clear
    | Finish
)


@dataclass(frozen=True, slots=True)
class Rule:
    """What stays the same for a whole match."""

    models: tuple[Model, ...]
    model_of: tuple[tuple[str, str], ...]
    players: int
    mode: str = "training"
    order: str = "farthest_first"
    target: int = 3
    _by_piece: Mapping[str, Model] = field(init=False, compare=False, repr=False)
    _sentinels: Mapping[str, tuple[str, ...]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Finds each piece's model once; KeyError when it has none."""
        models = {model.id: model for model in self.models}
        by_piece = {piece: models[model] for piece, model in self.model_of}
        sentinels: dict[str, tuple[str, ...]] = {}
        for piece, model in by_piece.items():
            if not model.character:
                sentinels[model.continent] = (*sentinels.get(model.continent, ()), piece)
        object.__setattr__(self, "_by_piece", by_piece)
        object.__setattr__(self, "_sentinels", sentinels)

    def model(self, piece: str) -> Model | None:
        """The model of a piece, or None when there is no such piece."""
        return self._by_piece.get(piece)

    def sentinels(self, continent: str) -> tuple[str, ...]:
        """All Sentinels of a continent, by piece id."""
        return self._sentinels.get(continent, ())


@dataclass(frozen=True, slots=True)
class Alliance:
    """An ally throws this Sentinel for a player."""

    player: int
    ally: int
    sentinel: str


@dataclass(frozen=True, slots=True)
class Tie:
    """A tie-break: its round from 1, who throws in order of play, and how their figures lie."""

    round: int
    tied: tuple[int, ...]
    readings: Readings = ()


@dataclass(frozen=True, slots=True)
class Game:
    """One game being played.

    `groups` are the order throw's groups in order of play, those of one settled; `turn` counts through `order`;
    `readings` are the latest of all figures thrown in the game proper, `out` included; `thrown` are the Sentinels:
    (for whom, piece); `pool` is what an alliance has to share.
    """

    lineup: tuple[tuple[int, str], ...]
    groups: tuple[tuple[int, ...], ...]
    order: tuple[int, ...] = ()
    turn: int = 0
    readings: Readings = ()
    taken_back: tuple[str, ...] = ()
    rethrown: tuple[str, ...] = ()
    thrown: tuple[tuple[int, str], ...] = ()
    alliances: tuple[Alliance, ...] = ()
    offers: tuple[Offer, ...] = ()
    tie: Tie | None = None
    winner: int = -1
    pool: tuple[str, ...] = ()

    def character(self, player: int) -> str:
        """The piece that a player of this game throws."""
        return next(piece for who, piece in self.lineup if who == player)

    @property
    def current(self) -> int:
        """The player whose turn it is in the throwing phase."""
        return self.order[self.turn]


@dataclass(frozen=True, slots=True)
class State:
    """One instant of a match. `owners` is the ledger, one owner a piece; `leftover` is what still lies in the arena
    from before and does not count; `picked` the figures that are out and have been picked up; `last` is the winner (-1:
    nobody) and the figures that changed hands in the game before; `ended` says why the match is over."""

    rule: Rule
    owners: tuple[tuple[str, int], ...]
    phase: str = "idle"
    games: int = 0
    points: tuple[int, ...] = ()
    last: tuple[int, tuple[str, ...]] | None = None
    game: Game | None = None
    leftover: Readings = ()
    picked: tuple[str, ...] = ()
    ended: str = ""

    def owner(self, piece: str) -> int:
        """Whose piece it is."""
        return next(owner for known, owner in self.owners if known == piece)

    @property
    def unsure(self) -> tuple[str, ...]:
        """The figures whose reading the table has to settle before anything else."""
        return tuple(piece for piece, reading in self.lying if reading == UNSURE)

    @property
    def in_the_way(self) -> tuple[str, ...]:
        """What lies in the arena from before and has to be picked up before the next throw."""
        return tuple(piece for piece, reading in self.leftover if reading != OUT)

    @property
    def lying(self) -> Readings:
        """The figures that count now as they lie: of the game proper, or of the tie-break."""
        game = self.game
        if game is None or self.phase not in ("throwing", "shields", "tiebreak"):
            return ()
        if self.phase == "tiebreak":
            return game.tie.readings if game.tie else ()
        return tuple(pair for pair in game.readings if pair[0] not in game.taken_back)
