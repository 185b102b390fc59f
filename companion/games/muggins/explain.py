"""What the table shows in Muggins, and which acts lead from one look to another.

Facts: `line:<n>` for n from -27 to 27, counted from the opening tile at 0, positive to the right: `6-4` with the left
half first, or `-`; `count:boneyard`, the number of tiles in it; `hand:<player>`, a hand that is shown: `0-1 3-5` in
ascending order, `none` when it is empty, `-` when nothing is shown. Which end is left is a matter of agreement: a line
seen from the other side, or counted from another tile, is recognised by its tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from companion.games.contract import Explanation, Look, Message, Refusal, Story
from companion.games.muggins.notation import refuse
from companion.games.muggins.play import DEAL, DRAW, apply
from companion.games.muggins.state import Act, State, Turn
from companion.games.muggins.tiles import IN_SET, SET, Line, Tile, mirrored, tile_of

REACH = len(SET) - 1
LINE_KEYS = tuple(f"line:{k}" for k in range(-REACH, REACH + 1))
BONEYARD = "count:boneyard"
EMPTY = "-"


def look(state: State) -> dict[str, str]:
    """The whole look of a state: always the same keys for the same number of players."""
    facts = dict.fromkeys(LINE_KEYS, EMPTY)
    for k, (a, b) in enumerate(state.line):
        facts[f"line:{k - state.opened}"] = f"{a}-{b}"
    facts[BONEYARD] = str(state.left)
    for p in range(state.players):
        hand = state.shown[p] if state.shown and state.holds(p) else None
        facts[f"hand:{p}"] = EMPTY if hand is None else hand_text(hand)
    return facts


def hand_text(hand: tuple[Tile, ...]) -> str:
    """A shown hand as a fact's value."""
    return " ".join(f"{a}-{b}" for a, b in sorted(hand)) or "none"


def explain(before: State, seen: Look) -> Explanation[State, Turn]:
    """The acts that lead from `before` to what is seen; facts that `seen` does not name are taken as unchanged."""
    now = look(before)
    for key in seen:
        if key.partition(":")[0] in ("line", "count", "hand") and key not in now:
            refuse("bad_look", f"{key!r} is no fact of this game", key=key, value=seen[key])
    facts = {**now, **{key: value for key, value in seen.items() if key in now}}
    turn = _turn(before, now, facts)
    if isinstance(turn, Refusal):
        return Explanation(refusals=(turn,))
    after = apply(before, turn)
    if isinstance(after, Refusal):
        return Explanation(refusals=(after,))
    unseen = sum(act.kind == "pass" for act in turn)
    warnings: tuple[Message, ...] = ()
    if after.drew and after.phase == "play":
        warnings = (Message("muggins.drawn_not_placed", (("player", f"#{before.to_move}"),)),)
    return Explanation((Story(turn, after, _player(before, turn), unseen),), (), warnings)


def _player(before: State, turn: Turn) -> int:
    shown = turn[0].player
    return shown if turn[0].kind == "show" and shown is not None else before.to_move


def _turn(before: State, now: Mapping[str, str], facts: Mapping[str, str]) -> Turn | Refusal:
    """The turn that a person would read out of the difference, legal or not; or why there is none."""
    hands = [p for p in range(before.players) if facts[f"hand:{p}"] not in (EMPTY, now[f"hand:{p}"])]
    drawn = before.left - _count(facts[BONEYARD])
    placed = {int(k.partition(":")[2]): _halves(k, facts[k]) for k in LINE_KEYS if facts[k] != EMPTY}
    if hands and before.phase == "show":
        return tuple(_shown(p, facts[f"hand:{p}"]) for p in hands)
    if before.phase == "deal":
        return _dealt(before, placed)
    if drawn < 0:
        return Refusal("muggins.boneyard_grew", (), (("seen", before.left - drawn), ("left", before.left)))
    draws = (DRAW,) * drawn if before.secret else tuple(Act("draw", t) for t in before.boneyard[:drawn])
    added = _added(before, placed)
    if isinstance(added, Refusal):
        return added
    if added:
        return (*draws, *added)
    return draws or (Act("pass"),)


def _dealt(before: State, placed: dict[int, tuple[int, int]]) -> Turn | Refusal:
    """Between rounds: the line is cleared, perhaps the next starter has opened already."""
    if not before.secret:
        return Refusal("muggins.expects_deal")
    line = tuple(placed[k] for k in sorted(placed))
    if not line and before.line:
        return (DEAL,)
    if len(line) == 1 and tile_of(*line[0]) != tile_of(*before.line[0]):
        return (DEAL, Act("open", tile_of(*line[0])))
    same = line in (before.line, mirrored(before.line))
    return Refusal("muggins.nothing_changed" if same else "muggins.expects_deal")


def _added(before: State, placed: dict[int, tuple[int, int]]) -> Turn | Refusal:
    """The placement that makes the line seen out of the line before; none when it is as before."""
    line, places = before.line, sorted(placed)
    if places and places[-1] - places[0] >= len(places):
        gap = next(k for k in range(places[0], places[-1]) if k not in placed)
        return Refusal("muggins.gap", (str(gap),))
    seen = tuple(placed[k] for k in places)
    start = _found(before, places, seen)
    if start is None:
        changed = [str(k - before.opened) for k, tile in enumerate(line) if placed.get(k - before.opened) != tile]
        return Refusal("muggins.line_changed", tuple(changed))
    at, seen = start
    left, right = seen[:at], seen[at + len(line) :]
    if len(left) + len(right) > 1:
        extra = [
            *range(-before.opened - len(left), -before.opened),
            *range(len(line) - before.opened, len(line) - before.opened + len(right)),
        ]
        return Refusal("muggins.one_a_turn", tuple(str(k) for k in extra), (("player", f"#{before.to_move}"),))
    if not line and seen:
        return (Act("open", tile_of(*seen[0])),)
    return tuple(Act("place", tile_of(*t), end) for end, tiles in (("L", left), ("R", right)) for t in tiles)


def _found(before: State, places: list[int], seen: Line) -> tuple[int, Line] | None:
    """Where the agreed line begins in the line seen, turned the way it was agreed; None when it is not in there.

    The places as reported count first; only when they do not agree the tiles themselves are searched, from either end.
    """
    line = before.line
    if not line:
        return 0, seen
    at = -before.opened - (places[0] if places else 0)
    if at >= 0 and seen[at : at + len(line)] == line:
        return at, seen
    for turned in (seen, mirrored(seen)):
        for at in range(len(turned) - len(line), -1, -1):
            if turned[at : at + len(line)] == line:
                return at, turned
    return None


def _halves(key: str, value: str) -> tuple[int, int]:
    a, dash, b = value.partition("-")
    if not dash or not a.isdigit() or not b.isdigit():
        refuse("bad_look", f"{key}: {value!r} is no tile like 6-4", key=key, value=value)
    if tile_of(int(a), int(b)) not in IN_SET:
        refuse("no_such_tile", f"{key}: {value!r} is no tile of the double-six set", tile=value)
    return int(a), int(b)


def _count(value: str) -> int:
    if not value.isdigit() or int(value) > len(SET):
        refuse("bad_look", f"{BONEYARD}: {value!r} is no number of tiles", key=BONEYARD, value=value)
    return int(value)


def hand_of(key: str, value: str) -> tuple[Tile, ...]:
    """The tiles of a `hand:` fact; raises RulesError."""
    if value in (EMPTY, "none"):
        return ()
    return tuple(tile_of(*_halves(key, part)) for part in value.split())


def _shown(player: int, value: str) -> Act:
    return Act("show", player=player, tiles=hand_of(f"hand:{player}", value))


def with_look(state: State, facts: Look) -> State | Refusal:
    """The state after a person has corrected tiles of the line, the boneyard's number, or a hand that was shown.

    A tile put in another's place swaps with it wherever that one is known to be; a boneyard that holds fewer tiles than
    was thought means that the player to move has drawn them.
    """
    now = look(state)
    for key in facts:
        if key not in now:
            refuse("bad_look", f"{key!r} is no fact of this game", key=key, value=facts[key])
    after = state
    for p in range(state.players):
        value = facts.get(f"hand:{p}", now[f"hand:{p}"])
        if value == now[f"hand:{p}"]:
            continue
        if after.phase != "show":
            return Refusal(f"muggins.expects_{after.phase}")
        after = replace(after, shown=tuple(None if k == p else hand for k, hand in enumerate(after.shown)))
        if value != EMPTY:
            shown = apply(after, (_shown(p, value),))
            if isinstance(shown, Refusal):
                return shown
            after = shown
    merged = {**now, **facts}
    moved = state.left - _count(merged[BONEYARD])
    if moved:
        if not state.secret or state.phase != "play" or state.counts[state.to_move] + moved < 0:
            return Refusal("muggins.not_28", (), (("tiles", len(SET) + moved),))
        counts = tuple(c + moved * (p == state.to_move) for p, c in enumerate(state.counts))
        log = after.log + ((state.to_move, DRAW),) * max(moved, 0)
        after = replace(after, counts=counts, hidden=state.hidden - moved, drew=True, drawn=None, log=log)
    return _with_line(after, merged)


def _with_line(state: State, facts: Mapping[str, str]) -> State | Refusal:
    places = [k for k in range(-REACH, REACH + 1) if facts[f"line:{k}"] != EMPTY]
    line = tuple(_halves(f"line:{k}", facts[f"line:{k}"]) for k in places)
    if line == state.line and (not places or places[0] == -state.opened):
        return state
    if len(line) != len(state.line) or (places and places != list(range(-state.opened, len(line) - state.opened))):
        return Refusal(
            "muggins.not_28", tuple(str(k) for k in places), (("tiles", len(SET) + len(line) - len(state.line)),)
        )
    for k, ((_, b), (c, _)) in enumerate(pairwise(line)):
        if b != c:
            return Refusal("muggins.line_does_not_join", (str(k + 1 - state.opened),), (("left", b), ("right", c)))
    tiles = [tile_of(*t) for t in line]
    if len(set(tiles)) < len(tiles):
        twice = next(t for t in tiles if tiles.count(t) > 1)
        at = [str(k - state.opened) for k, t in enumerate(tiles) if t == twice]
        return Refusal("muggins.tile_twice", tuple(at), (("tile", f"[{twice[0]}|{twice[1]}]"),))
    before = [tile_of(*t) for t in state.line]
    swap = dict(zip(sorted(set(tiles) - set(before)), sorted(set(before) - set(tiles)), strict=True))
    swap |= {old: new for new, old in zip(swap, swap.values(), strict=True)}

    def put(hand: tuple[Tile, ...]) -> tuple[Tile, ...]:
        return tuple(swap.get(t, t) for t in hand)

    return replace(
        state,
        line=line,
        hands=tuple(put(h) for h in state.hands),
        boneyard=put(state.boneyard),
        known=tuple(tuple(t for t in h if t not in tiles) for h in state.known),
        log=tuple((p, act._replace(tile=swap.get(act.tile, act.tile)) if act.tile else act) for p, act in state.log),
    )
