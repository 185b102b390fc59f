"""What a round at the table proves against its players: faults with their evidence (R-4). The score never changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from companion.games.muggins.state import Entry
from companion.games.muggins.tiles import DEALT, IN_SET, SET, Line, Tile, ends, extend, fits, tile_of

Value = int | Tile


@dataclass(frozen=True, slots=True)
class Finding:
    """One proved fault: `at` the index of the act (knowledge is no act) and the `player`, None where none can be named;
    `fault` as in FAULTS; `evidence` by name: `tile`, `ends`, `expected`, `shown`, `times`, `boneyard`, `seen`."""

    at: int | None
    player: int | None
    fault: str
    evidence: tuple[tuple[str, Value], ...] = ()


FAULTS = (
    "out_of_turn",
    "does_not_fit",
    "already_on_line",
    "draw_before_opening",
    "draw_from_empty",
    "pass_with_boneyard",
    "not_drawn_last",
    "illegal_pass",
    "illegal_draw",
    "number_of_tiles",
    "shown_twice",
    "no_such_tile",
    "does_not_add_up",
)


@dataclass(slots=True)
class _Replay:
    """A round as it is followed, act by act; `passes` are those with an empty boneyard: (index, player, line)."""

    players: int
    to_move: int
    counts: list[int]
    boneyard: int
    known: list[set[Tile]]
    line: Line = ()
    drew: bool = False
    drawn: Tile | None = None
    held: set[Tile] = field(default_factory=set)
    passes: list[tuple[int, int, Line]] = field(default_factory=list)
    found: dict[Finding, None] = field(default_factory=dict)

    def fault(self, at: int | None, player: int | None, fault: str, **evidence: Value) -> None:
        self.found[Finding(at, player, fault, tuple(evidence.items()))] = None

    def next(self) -> None:
        self.to_move = (self.to_move + 1) % self.players
        self.drew, self.drawn = False, None


def findings(
    players: int,
    log: Sequence[Entry],
    starter: int | None = None,
    shown: Sequence[tuple[Tile, ...] | None] | None = None,
    rest: tuple[Tile, ...] | None = None,
) -> tuple[Finding, ...]:
    """All that a round's log proves, with the hands `shown` at its end and the boneyard's `rest`, if they were.

    A faulty placement counts as taken back: its tile is known to be in that hand from then on, and the turn goes on. A
    tile known, shown or played later that fitted when its owner passed with the boneyard empty proves the pass illegal;
    a tile known before a draw, that fitted then, proves the draw illegal.
    """
    first = starter if starter is not None else next((p for p, act in log if act.kind != "know"), 0)
    dealt = DEALT[players]
    now = _Replay(players, first, [dealt] * players, len(SET) - players * dealt, [set() for _ in range(players)])
    at = -1
    for player, act in log:
        if act.kind == "know":
            now.known[player].update(act.tiles)
            continue
        at += 1
        if player != now.to_move:
            now.fault(at, player, "out_of_turn", expected=now.to_move)
            if act.tile is not None and act.kind != "draw":
                now.known[player].add(act.tile)
        elif act.kind == "draw":
            _draw(now, at, act.tile)
        elif act.kind == "pass":
            _pass(now, at)
        elif act.tile is not None:
            _place(now, at, act.tile, act.end)
    if shown is not None:
        _show(now, shown, rest)
    return tuple(now.found)


def _place(now: _Replay, at: int, tile: Tile, end: str) -> None:
    player = now.to_move
    if any(tile_of(a, b) == tile for a, b in now.line):
        now.fault(at, player, "already_on_line", tile=tile)
        return
    line = extend(now.line, tile, end) if now.line else (tile,)
    if line is None:
        now.fault(at, player, "does_not_fit", ends=ends(now.line), tile=tile)
        now.known[player].add(tile)
        return
    if now.drew and (tile in now.held if now.drawn is None else tile != now.drawn):
        now.fault(at, player, "not_drawn_last", tile=tile)
        now.known[player].add(tile)
        return
    _was_held(now, player, tile)
    now.line = line
    now.counts[player] -= 1
    for known in now.known:
        known.discard(tile)
    now.next()


def _draw(now: _Replay, at: int, tile: Tile | None) -> None:
    player = now.to_move
    if not now.line:
        now.fault(at, player, "draw_before_opening")
        return
    if not now.boneyard:
        now.fault(at, player, "draw_from_empty")
        return
    for known in sorted(now.known[player]):
        if fits(known, now.line):
            now.fault(at, player, "illegal_draw", ends=ends(now.line), tile=known)
    now.held = set(now.known[player])
    now.drew, now.drawn = True, tile
    now.boneyard -= 1
    now.counts[player] += 1
    if tile is not None:
        now.known[player].add(tile)


def _pass(now: _Replay, at: int) -> None:
    player = now.to_move
    if now.boneyard or not now.line:
        now.fault(at, player, "pass_with_boneyard", boneyard=now.boneyard)
        return
    now.passes.append((at, player, now.line))
    for tile in sorted(now.known[player]):
        _was_held(now, player, tile)
    now.next()


def _was_held(now: _Replay, player: int, tile: Tile) -> None:
    """A tile that is in a hand now was there at each pass before: with the boneyard empty a hand only shrinks."""
    for at, passed, line in now.passes:
        if passed == player and fits(tile, line):
            now.fault(at, player, "illegal_pass", ends=ends(line), tile=tile)


def _show(now: _Replay, shown: Sequence[tuple[Tile, ...] | None], rest: tuple[Tile, ...] | None) -> None:
    seen = Counter(tile_of(a, b) for a, b in now.line)
    for player, hand in enumerate(shown):
        if hand is None:
            continue
        if len(hand) != now.counts[player]:
            now.fault(None, player, "number_of_tiles", expected=now.counts[player], shown=len(hand))
        for tile in hand:
            if tile not in IN_SET:
                now.fault(None, player, "no_such_tile", tile=tile)
                continue
            seen[tile] += 1
            _was_held(now, player, tile)
    for tile in rest or ():
        if tile in IN_SET:
            seen[tile] += 1
        else:
            now.fault(None, None, "no_such_tile", tile=tile)
    for tile, times in sorted(seen.items()):
        if times > 1:
            now.fault(None, None, "shown_twice", tile=tile, times=times)
    unseen = now.boneyard if rest is None else 0
    if all(hand is not None for hand in shown) and len(seen) + unseen != len(SET):
        now.fault(None, None, "does_not_add_up", boneyard=unseen, seen=len(seen))
