"""From two looks of the board to the turns between them, or to the rule that stands in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from companion.games.contract import Explanation, Refusal, Story
from companion.games.maulwurf.layout import Act
from companion.games.maulwurf.notation import text
from companion.games.maulwurf.state import BUSY, BUSY_TILES, EMPTY, LOOKS, State, Turn, following
from companion.games.maulwurf.turns import PASS, after_acts, apply, closed_caves, legal, place_busy, room, shift

UNFINISHED = frozenset(("maulwurf.must_dig", "maulwurf.busy_due", "maulwurf.then_move", "maulwurf.dig_on"))
"""Refusals of a turn that is legal so far and only lacks its dig, its busy tile, or the rest of `then_move`."""


@dataclass(frozen=True, slots=True)
class _Played:
    """A turn that may be played, and the board after its own acts."""

    turn: Turn
    board: bytes


def explain(state: State, seen: bytes) -> Explanation[State, Turn]:
    """All legal turns of the player to move that lead from `state` to a board that looks like `seen`, one for each
    different next state; else the rules in the way, the one that matters most first."""
    if state.over is not None:
        return Explanation(refusals=(Refusal("maulwurf.game_over"),))
    best: dict[State, Story[State, Turn]] = {}
    for turn in turns_to(state, seen):
        after = apply(state, turn)
        if isinstance(after, State):
            story = Story(turn, after, state.seats.index(state.to_move), _unseen(state, seen, turn))
            known = best.get(after)
            if known is None or _rank(story) < _rank(known):
                best[after] = story
    if best:
        return Explanation(stories=tuple(sorted(best.values(), key=_rank)))
    refusals = _refusals(state, seen)
    return Explanation(refusals=refusals, unfinished=refusals[0].rule in UNFINISHED)


def _rank(story: Story[State, Turn]) -> tuple[int, str]:
    return story.unseen, text(story.turn)


def _unseen(state: State, seen: bytes, turn: Turn) -> int:
    index = state.layout.tables.index
    changed = {c for c, (a, b) in enumerate(zip(state.board, seen, strict=True)) if a != b}
    return sum(act.kind == "pass" or not changed & {index[act.start], index[act.to]} for act in turn)


def turns_to(state: State, seen: bytes) -> list[Turn]:
    """Every legal turn of the player to move after which the board looks like `seen`, busy tiles included."""
    found = [p.turn for p in _played(state, seen) if place_busy(state, p.board) == seen]
    if not found and seen == state.board and legal(state) == [PASS]:
        return [PASS]
    return found


def _played(state: State, seen: bytes) -> Iterator[_Played]:
    """The legal turns that can lead to `seen`: a mover's start ends up empty, its last cell holds its mole.

    Only these are tried: nothing comes back to the cell that a mover left (R-10), and nothing happens to a mole outside
    the caves once it stands.
    """
    tables = state.layout.tables
    me = state.to_move + 1
    own = [c for c in state.pending if state.board[c] == me]
    if own and any(not state.board[t] for t in tables.tunnels):
        if state.then_move:
            yield from _dug(state, seen, state.board, own, {}, ())
            return
        for p in own:
            for t, act in tables.digs[p].items():
                if seen[t] == me and not state.board[t]:
                    after = bytearray(state.board)
                    after[p], after[t] = EMPTY, me
                    yield _Played((act,), bytes(after))
        return
    yield from _moved(state, seen, state.board, {}, ())


def _dug(
    state: State, seen: bytes, board: bytes, pending: list[int], left: dict[int, int], done: Turn
) -> Iterator[_Played]:
    tables = state.layout.tables
    me = state.to_move + 1
    free = [t for t in tables.tunnels if not board[t]]
    if pending and free:
        # An empty target is left again by the one mover of the turn, so at most one dig may go to such a cell.
        empty_allowed = not any(not seen[t] for t in left)
        for p in pending:
            for t in free:
                if seen[t] or empty_allowed:
                    after = bytearray(board)
                    after[p], after[t] = EMPTY, me
                    others = [c for c in pending if c != p]
                    yield from _dug(state, seen, bytes(after), others, {**left, t: p}, (*done, tables.digs[p][t]))
        return
    yield from _moved(state, seen, board, left, done)
    if done and isinstance(after_acts(state, done), bytes):
        yield _Played(done, board)


def _moved(state: State, seen: bytes, board: bytes, left: dict[int, int], done: Turn) -> Iterator[_Played]:
    """Steps and pushes whose start is empty in `seen`, with the dig that must follow."""
    tables = state.layout.tables
    me = state.to_move + 1
    free = [t for t in tables.tunnels if not board[t]]
    for s in [c for c, code in enumerate(board) if code == me and not seen[c]]:
        if tables.is_cave[s]:
            continue
        for near, beyond, step, push in tables.rays[s]:
            if not board[near]:
                if tables.is_cave[near]:
                    continue
                act, end = step, near
            else:
                end = room(board, near, beyond)
                if end < 0 or (tables.is_cave[near] and not state.push_enters_cave):
                    continue
                act = push
            after = bytearray(board)
            if act is step:
                after[s], after[near] = EMPTY, me
            else:
                shift(state, after, set(), [s, near, *beyond[: beyond.index(end) + 1]])
            targets = [t for t in free if t != near and t != end and t != left.get(s)] if tables.is_tunnel[near] else []
            if not targets:
                yield _Played((*done, act), bytes(after))
            for t in targets:
                if seen[t] == me:
                    dug = bytearray(after)
                    dug[near], dug[t] = EMPTY, me
                    yield _Played((*done, act, tables.digs[near][t]), bytes(dug))


def _refusals(state: State, seen: bytes) -> tuple[Refusal, ...]:
    """Which rules make a look impossible, from the most telling question to the least."""
    cells = state.layout.cells
    changed = [c for c, (a, b) in enumerate(zip(state.board, seen, strict=True)) if a != b]
    if not changed:
        return (Refusal("maulwurf.nothing_moved"),)
    for ask in (_busy_due, _dug_so_far, _one_mole, _line, _busy_wrong, _two_turns, _lost):
        if found := ask(state, seen, changed):
            return found
    names = tuple(cells[c] for c in changed)
    return (Refusal("maulwurf.no_single_turn", names, (("cells", " ".join(names)),)),)


def _busy_due(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """A legal turn after which a busy tile has not been put down yet."""
    cells = state.layout.cells
    for played in _played(state, seen):
        due = place_busy(state, played.board)
        missing = [c for c, (a, b) in enumerate(zip(due, seen, strict=True)) if a != b]
        if missing and all(due[c] > BUSY and seen[c] in (EMPTY, played.board[c]) for c in missing):
            names = tuple(cells[c] for c in missing)
            color = f"@maulwurf.color{due[missing[0]] - BUSY}"
            return (Refusal("maulwurf.busy_due", names, (("cells", " ".join(names)), ("color", color))),)
    return ()


def _dug_so_far(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """Under `then_move`: forced digs have been made, but not all of them, or not the move after them."""
    own = [c for c in state.pending if state.board[c] == state.to_move + 1]
    if not state.then_move or not own:
        return ()
    for done, waiting in sorted(_some_digs(state, seen, state.board, own, ()), key=lambda d: len(d[0])):
        refusal = apply(state, done)
        if isinstance(refusal, Refusal):
            names = tuple(state.layout.cells[c] for c in waiting)
            more = Refusal("maulwurf.dig_on", names, (("cells", " ".join(names)),))
            return (more if refusal.rule == "maulwurf.must_dig_first" else refusal,)
    return ()


def _some_digs(
    state: State, seen: bytes, board: bytes, pending: list[int], done: Turn
) -> Iterator[tuple[Turn, list[int]]]:
    """Orders of forced digs after which the board looks like `seen`, with the moles that still wait."""
    me = state.to_move + 1
    if done and board == seen:
        yield done, pending
        return
    for p in pending:
        for t, act in state.layout.tables.digs[p].items():
            if seen[t] == me and not board[t]:
                after = bytearray(board)
                after[p], after[t] = EMPTY, me
                yield from _some_digs(state, seen, bytes(after), [c for c in pending if c != p], (*done, act))


def _one_mole(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """One mole, and nothing else, has gone from one cell to an empty one: the rule that forbids this step or dig."""
    if len(changed) != 2:
        return ()
    tables, cells, board = state.layout.tables, state.layout.cells, state.board
    a, b = changed if board[changed[0]] else changed[::-1]
    if not board[a] or seen[a] or board[b] or seen[b] != board[a]:
        return ()
    if board[a] > BUSY:
        return (Refusal("maulwurf.busy_stays", (cells[a], cells[b]), (("start", cells[a]),)),)
    step = (Act("step", cells[a], cells[b]),)
    adjacent = any(r.near == b for r in tables.rays[a])
    if board[a] != state.to_move + 1:
        return _of_turn(state, step)
    turns: list[Turn] = []
    if tables.is_tunnel[a] and tables.is_tunnel[b]:
        turns.append((tables.digs[a][b],))
    if adjacent:
        turns.insert(0, step)
    elif tables.is_tunnel[b]:
        turns += [
            (r.step, tables.digs[r.near][b])
            for r in tables.rays[a]
            if tables.is_tunnel[r.near] and not board[r.near] and r.near != b
        ]
    return _of_turn(state, (turns or [step])[0])


def _line(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """A line was pushed that must not be pushed: into a busy tile, over the edge, by the wrong mole, from a cave."""
    tables, board = state.layout.tables, state.board
    for s in [c for c in changed if EMPTY < board[c] <= BUSY and not seen[c]]:
        for ray in tables.rays[s]:
            if not board[ray.near]:
                continue
            line = [s, ray.near]
            for c in ray.beyond:
                line.append(c)
                if not board[c]:
                    break
            after = bytearray(board)
            over_edge = bool(board[line[-1]])
            for c, before in zip(line[1:], line, strict=False):
                after[c] = board[before]
            after[s] = EMPTY
            if over_edge:
                if _fell_off(state, after, seen, line, [c for c in changed if c not in line]):
                    return _of_turn(state, (ray.push,))
            elif (tail := _dug_on(state, after, seen, ray.near, board[s])) is not None:
                return _of_turn(state, (ray.push, *tail))
    return ()


def _fell_off(state: State, after: bytearray, seen: bytes, line: list[int], elsewhere: list[int]) -> bool:
    """True when the line was pushed over the edge and its last tile is gone or was put somewhere else."""
    if any(after[c] != seen[c] for c in line):
        return False
    put = [c for c in elsewhere if not state.board[c] and seen[c] == state.board[line[-1]]]
    return not elsewhere or (len(elsewhere) == 1 and len(put) == 1)


def _dug_on(state: State, after: bytearray, seen: bytes, landed: int, mole: int) -> Turn | None:
    """No acts when the boards are alike; the dig by which the mole that landed has gone on; else None."""
    if bytes(after) == seen or place_busy(state, after) == seen:
        return ()
    if state.layout.tables.is_tunnel[landed]:
        for t, dig in state.layout.tables.digs[landed].items():
            if seen[t] == mole and not after[t]:
                dug = bytearray(after)
                dug[landed], dug[t] = EMPTY, mole
                if bytes(dug) == seen:
                    return (dig,)
    return None


def _of_turn(state: State, turn: Turn) -> tuple[Refusal, ...]:
    after = apply(state, turn)
    return (after,) if isinstance(after, Refusal) else ()


def _busy_wrong(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """A busy tile lies where none is due, or is gone."""
    cells, found = state.layout.cells, []
    for c in changed:
        values = (("cell", cells[c]), ("start", cells[c]))
        if state.board[c] > BUSY:
            found.append(Refusal("maulwurf.busy_stays", (cells[c],), values))
        elif seen[c] > BUSY:
            if not state.layout.tables.is_cave[c]:
                found.append(Refusal("maulwurf.busy_off_cave", (cells[c],), (("cells", cells[c]),)))
            elif c not in closed_caves(state.layout, seen[:c] + b"\0" + seen[c + 1 :], seen[c] - BUSY - 1):
                found.append(Refusal("maulwurf.busy_too_early", (cells[c],), values))
            elif seen.count(seen[c]) > BUSY_TILES:
                found.append(Refusal("maulwurf.too_many_busy", (cells[c],), (("color", _color(seen[c])),)))
    return tuple(found)


def _color(code: int) -> str:
    return f"@maulwurf.color{code - BUSY if code > BUSY else code}"


def _two_turns(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """Two turns at once: two of the player's own moles moved, or the next player has moved already too."""
    index, cells = state.layout.tables.index, state.layout.cells
    names = tuple(cells[c] for c in changed)
    movers = [c for c in changed if EMPTY < state.board[c] <= BUSY and not seen[c]]
    if len(movers) < 2:
        return ()
    for played in _played(state, seen):
        touched = {index[cell] for act in played.turn for cell in (act.start, act.to)}
        if any(played.board[c] != seen[c] for c in touched):
            continue
        after = apply(state, played.turn)
        if not isinstance(after, State):
            continue
        again = replace(after, to_move=state.to_move, over=None)
        if turns_to(again, seen):
            return (Refusal("maulwurf.two_moves", names, (("cells", " ".join(names)),)),)
        nobody = following(state.seats, state.to_move, state.resigned) == state.to_move
        if after.over is None and not nobody and turns_to(after, seen):
            return (Refusal("maulwurf.two_turns", names, (("player", f"#{state.seats.index(after.to_move)}"),)),)
    return ()


def _lost(state: State, seen: bytes, changed: list[int]) -> tuple[Refusal, ...]:
    """Moles that are missing or too many, by colour."""
    cells, found = state.layout.cells, []
    for code in range(1, BUSY + 1):
        before, now = state.board.count(code), seen.count(code)
        if now < before:
            places = tuple(cells[c] for c in changed if state.board[c] == code)
            found.append(
                Refusal("maulwurf.mole_missing", places, (("color", _color(code)), ("cells", " ".join(places))))
            )
        elif now > before:
            places = tuple(cells[c] for c in changed if seen[c] == code)
            found.append(Refusal("maulwurf.mole_extra", places, (("color", _color(code)), ("cells", " ".join(places)))))
    return tuple(found)


def look_of(layout_keys: tuple[str, ...], board: bytes) -> dict[str, str]:
    """The look of a board: one fact a cell."""
    return {key: LOOKS[code] for key, code in zip(layout_keys, board, strict=True)}
