"""A match of Muggins: frozen plain data for open play (all hands known) and for the table (hands secret)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from companion.games.contract import Option
from companion.games.muggins.tiles import IN_SET, Line, Tile, tile_of

OPTIONS: tuple[Option, ...] = (Option("hands", ("secret", "open"), "secret"),)


class Act(NamedTuple):
    """One act, by `kind`:

    `open` and `place` (`tile`, `end` "L" or "R"), `draw` (`tile` if it is known), `pass`;
    `lot` (`players` that came out highest: one begins, several draw again);
    `deal` (with `hands` and `tiles`, the boneyard in drawing order, when all is open);
    `show` (`player`'s hand `tiles` at the end; without `player` the boneyard that is left);
    `know` (`tiles` seen in `player`'s hand), `adjust` (`player`'s score by `points`), `end` (the match, by agreement).
    """

    kind: str
    tile: Tile | None = None
    end: str = ""
    player: int | None = None
    players: tuple[int, ...] = ()
    tiles: tuple[Tile, ...] = ()
    hands: tuple[tuple[Tile, ...], ...] = ()
    points: int = 0


Turn = tuple[Act, ...]
"""Acts of one player's turn in order: single ones, draws with the placement after them, several hands shown."""

Entry = tuple[int, Act]
"""A player and what they did: open, place, draw, pass or know."""


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """How a round ended: `out` the player who emptied the hand (None: blocked), each hand's pips and what it cost."""

    out: int | None
    pips: tuple[int, ...]
    costs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """How the match ended: the winner (None: equal leaders) and `why`: target or agreed."""

    winner: int | None
    why: str


@dataclass(frozen=True, slots=True)
class State:
    """Where a match stands.

    `phase`: deal (the line is cleared, tiles are dealt), lot (the starter is drawn among `lots`), play, show (secret
    hands are shown after a round), over. `line` lies as last seen until the next deal; `opened` is the opening tile's
    place in it. Open play knows `hands` and `boneyard` (drawn from the front). At the table only `counts` of tiles and
    `hidden` tiles in the boneyard are known, besides `known` (tiles seen in a hand), `shown` hands, `rest` (the
    boneyard if shown) and `log`, the round so far. `drew`: the player to move has drawn in this turn; `drawn`: the tile
    that must be placed now. `starter` begins the next round (None: by lot). `last` is how the last round ended.
    """

    players: int
    target: int
    secret: bool
    scores: tuple[int, ...]
    phase: str = "lot"
    to_move: int = 0
    line: Line = ()
    opened: int = 0
    hands: tuple[tuple[Tile, ...], ...] = ()
    boneyard: tuple[Tile, ...] = ()
    counts: tuple[int, ...] = ()
    hidden: int = 0
    drew: bool = False
    drawn: Tile | None = None
    passes: int = 0
    lots: tuple[int, ...] = ()
    known: tuple[tuple[Tile, ...], ...] = ()
    shown: tuple[tuple[Tile, ...] | None, ...] = ()
    rest: tuple[Tile, ...] | None = None
    log: tuple[Entry, ...] = ()
    round: int = 1
    starter: int | None = None
    last: RoundEnd | None = None
    over: Over | None = None

    @property
    def left(self) -> int:
        """How many tiles the boneyard holds."""
        return self.hidden if self.secret else len(self.boneyard)

    def holds(self, player: int) -> int:
        """How many tiles a player has in hand."""
        return self.counts[player] if self.secret else len(self.hands[player])

    def certain(self, player: int) -> tuple[Tile, ...]:
        """The tiles that are known to be in a player's hand."""
        if not self.secret:
            return self.hands[player]
        return self.known[player] if self.known else ()


def unseen(state: State) -> list[Tile]:
    """The tiles of which nobody knows where they are, in the set's order; only hands can be secret."""
    gone = {tile_of(a, b) for a, b in state.line}
    gone.update(*state.known, *(hand for hand in state.shown if hand), state.rest or ())
    return sorted(IN_SET - gone)
