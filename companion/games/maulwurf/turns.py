"""What a player may do: all legal turns of a position, and the state after one turn or the rule that forbids it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from companion.games.contract import Refusal
from companion.games.maulwurf.layout import Act, Layout
from companion.games.maulwurf.state import (
    BUSY,
    BUSY_TILES,
    EMPTY,
    Over,
    State,
    Turn,
    end_of,
    fingerprint,
    following,
    resign,
)

PASS: Turn = (Act("pass"),)
DRAW: Turn = (Act("draw"),)

Left = Mapping[int, frozenset[int]]
"""For a mole standing on a cell: the entrances that it left in this turn, to which it must not dig back (R-10)."""


def legal(state: State) -> list[Turn]:
    """All legal turns of the player to move: every dig target and every order of digs; a pass only when nothing else is
    possible (R-8); none when the game is over."""
    if state.over is not None:
        return []
    own = [c for c in state.pending if state.board[c] == state.to_move + 1]
    turns: list[Turn]
    if not own:
        turns = _moves(state, state.board, {})
    elif state.then_move:
        turns = _digs_then_move(state, state.board, own, {}, ())
    else:
        tables = state.layout.tables
        free = [t for t in tables.tunnels if not state.board[t]]
        turns = [(dig[t],) for p in own for dig in (tables.digs[p],) for t in free] or _moves(state, state.board, {})
    return turns or [PASS]


def _moves(state: State, board: bytes, left: Left) -> list[Turn]:
    """All steps and pushes on a board, each with every dig that must follow."""
    tables = state.layout.tables
    is_cave, is_tunnel, digs = tables.is_cave, tables.is_tunnel, tables.digs
    me, enters = state.to_move + 1, state.push_enters_cave
    free = [t for t in tables.tunnels if not board[t]]
    turns: list[Turn] = []
    for s in (c for c, code in enumerate(board) if code == me):
        if is_cave[s]:
            continue
        barred = left.get(s, ())
        for near, beyond, step, push in tables.rays[s]:
            if not board[near]:
                if is_cave[near]:
                    continue
                act, end = step, near
            else:
                if is_cave[near] and not enters:
                    continue
                end = room(board, near, beyond)
                if end < 0:
                    continue
                act = push
            if not is_tunnel[near]:
                turns.append((act,))
                continue
            dig = digs[near]
            if barred:
                follow = [(act, dig[t]) for t in free if t != near and t != end and t not in barred]
            else:
                follow = [(act, dig[t]) for t in free if t != near and t != end]
            turns += follow or [(act,)]
    return turns


def room(board: bytes | bytearray, near: int, beyond: tuple[int, ...]) -> int:
    """The cell into which the last tile of the line that begins at `near` is pushed; -1 when the line reaches over the
    edge or holds a busy tile."""
    if board[near] > BUSY:
        return -1
    for c in beyond:
        code = board[c]
        if not code:
            return c
        if code > BUSY:
            return -1
    return -1


def _digs_then_move(state: State, board: bytes, pending: list[int], left: Left, done: Turn) -> list[Turn]:
    """All turns under `then_move`: every pending mole digs, in any order, as long as one can, then one moves."""
    tables = state.layout.tables
    me = state.to_move + 1
    free = [t for t in tables.tunnels if not board[t]]
    turns: list[Turn] = []
    for p in pending if free else ():
        for t in free:
            after = bytearray(board)
            after[p], after[t] = EMPTY, me
            others = [c for c in pending if c != p]
            left_by_it = {**left, t: frozenset((p,))}
            turns += _digs_then_move(state, bytes(after), others, left_by_it, (*done, tables.digs[p][t]))
    if turns:
        return turns
    moves = _moves(state, board, left)
    return [done + move for move in moves] if moves else [done] if done else []


def apply(state: State, turn: Turn) -> State | Refusal:
    """The state when the next turn begins, busy tiles placed; or why the turn is illegal."""
    if state.over is not None:
        return _no("game_over")
    if not turn:
        return _no("no_act")
    if turn[0].kind in ("pass", "resign", "draw"):
        return _declared(state, turn)
    board = bytearray(state.board)
    pending = set(state.pending)
    refusal = _play(state, turn, board, pending)
    if refusal is not None:
        return refusal
    return _next(state, place_busy(state, board), pending, passes=0)


def after_acts(state: State, turn: Turn) -> bytes | Refusal:
    """The board after a turn's own acts, before any busy tile is placed; or why the turn is illegal."""
    board = bytearray(state.board)
    return _play(state, turn, board, set(state.pending)) or bytes(board)


def _declared(state: State, turn: Turn) -> State | Refusal:
    act = turn[0]
    if len(turn) > 1:
        return _no("one_turn")
    if act.kind == "draw":
        return replace(state, over=Over(None, "agreed"))
    if act.kind == "resign":
        if not act.start.isdigit() or int(act.start) >= len(state.seats):
            return _no("no_player", (), player=act.start)
        corner = state.seats[int(act.start)]
        if corner in state.resigned:
            return _no("already_resigned", (), player=f"#{act.start}")
        return resign(state, corner)
    if legal(state) != [PASS]:
        return _no("pass_with_a_turn")
    return _next(state, state.board, set(state.pending), state.passes + 1)


def _next(state: State, board: bytes, pending: set[int], passes: int) -> State:
    to_move = following(state.seats, state.to_move, state.resigned)
    new_busy = any(board.count(code) != state.board.count(code) for code in range(BUSY + 1, 2 * BUSY + 1))
    past = () if new_busy else (*state.past, fingerprint(state))
    marks = tuple(sorted(pending))
    after = replace(state, board=board, pending=marks, passes=passes, to_move=to_move, past=past, over=None)
    return replace(after, over=end_of(after))


def place_busy(state: State, board: bytes | bytearray) -> bytes:
    """The board with the busy tiles that a finished turn brings: the mover's caves first, then clockwise, each player's
    in the layout's order (R-6, R-7); a mole in such a cave is taken; nothing more once a player has both out."""
    after = bytearray(board)
    k = state.seats.index(state.to_move)
    for corner in (*state.seats[k:], *state.seats[:k]):
        if corner in state.resigned:
            continue
        for cave in closed_caves(state.layout, after, corner):
            out = after.count(corner + 1 + BUSY)
            if out < BUSY_TILES:
                after[cave] = corner + 1 + BUSY
                out += 1
            if out >= BUSY_TILES:
                return bytes(after)
    return bytes(after)


def closed_caves(layout: Layout, board: bytes | bytearray, corner: int) -> list[int]:
    """The caves without a busy tile whose four orthogonal neighbours all hold moles of `corner`."""
    mole = corner + 1
    return [
        cave
        for cave, (a, b, c, d) in layout.tables.rings
        if board[a] == mole and board[b] == mole and board[c] == mole and board[d] == mole and board[cave] <= BUSY
    ]


def _play(state: State, turn: Turn, board: bytearray, pending: set[int]) -> Refusal | None:
    """Plays a turn's acts on `board` and `pending`; the first thing that is illegal, or None."""
    tables = state.layout.tables
    for act in turn:
        for cell in (act.start, act.to):
            if cell not in tables.index:
                return _no("no_such_cell", (), cell=cell)
    me = state.to_move + 1
    own = {c for c in pending if board[c] == me}
    left: dict[int, frozenset[int]] = {}
    k = 0
    while own and any(not board[t] for t in tables.tunnels):
        if k == len(turn) or turn[k].kind != "dig":
            waiting = sorted(state.layout.cells[c] for c in own)
            return _no("must_dig_first", waiting, cells=" ".join(waiting))
        start, to = tables.index[turn[k].start], tables.index[turn[k].to]
        if start not in own:
            waiting = sorted(state.layout.cells[c] for c in own)
            return _no("not_pending", (turn[k].start,), start=turn[k].start, cells=" ".join(waiting))
        refusal = _dig(state, board, start, to, frozenset())
        if refusal is not None:
            return refusal
        own.discard(start)
        pending.discard(start)
        left[to] = frozenset((start,))
        k += 1
        if not state.then_move:
            return None if k == len(turn) else _no("dig_is_the_turn", (turn[k].start,), start=turn[k].start)
    if k == len(turn):
        return _no("then_move") if _moves(state, bytes(board), left) else None
    landed = _move(state, turn[k], board, pending)
    if isinstance(landed, Refusal):
        return landed
    barred = left.get(tables.index[turn[k].start], frozenset())
    if tables.is_tunnel[tables.index[turn[k].start]]:
        barred |= {tables.index[turn[k].start]}
    k += 1
    if tables.is_tunnel[landed] and any(not board[t] and t not in barred for t in tables.tunnels):
        cell = state.layout.cells[landed]
        if k == len(turn) or turn[k].kind != "dig" or turn[k].start != cell:
            return _no("must_dig", (cell,), cell=cell)
        refusal = _dig(state, board, landed, tables.index[turn[k].to], barred)
        if refusal is not None:
            return refusal
        k += 1
    if k == len(turn):
        return None
    if turn[k].kind == "dig":
        return _no("no_dig", (turn[k].start,), start=turn[k].start)
    return _no("one_turn", (turn[k].start,))


def _dig(state: State, board: bytearray, start: int, to: int, barred: frozenset[int]) -> Refusal | None:
    cells = state.layout.cells
    if not state.layout.tables.is_tunnel[to]:
        return _no("dig_to_no_entrance", (cells[to],), to=cells[to])
    if to == start or to in barred:
        return _no("dig_back", (cells[to],), to=cells[to])
    if board[to]:
        return _no("dig_to_taken", (cells[to],), to=cells[to])
    board[to], board[start] = board[start], EMPTY
    return None


def _move(state: State, act: Act, board: bytearray, pending: set[int]) -> int | Refusal:
    """Makes a step or a push on `board` and `pending`; the cell on which the mover lands, or why not."""
    tables, cells = state.layout.tables, state.layout.cells
    places = (act.start, act.to)
    start, to = tables.index[act.start], tables.index[act.to]
    code = board[start]
    if act.kind == "dig":
        return _no("no_dig", (act.start,), start=act.start)
    if act.kind not in ("step", "push"):
        return _no("one_turn")
    if code != state.to_move + 1:
        rule = "no_mole" if not code else "busy_stays" if code > BUSY else "not_your_mole"
        return _no(rule, (act.start,), start=act.start)
    if tables.is_cave[start]:
        return _no("stuck_in_cave", (act.start,), start=act.start)
    ray = next((r for r in tables.rays[start] if r.near == to), None)
    if ray is None:
        return _no("not_adjacent", places, start=act.start, to=act.to)
    if act.kind == "step":
        if tables.is_cave[to]:
            return _no("step_into_cave", places, start=act.start, to=act.to)
        if board[to]:
            return _no("step_onto_tile", places, start=act.start, to=act.to)
        board[start], board[to] = EMPTY, code
        pending.discard(start)
        return to
    if not board[to]:
        return _no("nothing_to_push", places, start=act.start, to=act.to)
    line = [to]
    for c in ray.beyond:
        if not board[c]:
            break
        line.append(c)
    names = tuple(cells[c] for c in line)
    if (busy := next((c for c in line if board[c] > BUSY), None)) is not None:
        return _no("push_moves_busy", (act.start, *names), start=act.start, busy=cells[busy])
    if len(line) > len(ray.beyond):
        return _no("push_over_edge", (act.start, *names), start=act.start, last=names[-1])
    if tables.is_cave[to] and not state.push_enters_cave:
        return _no("pusher_enters_cave", places, start=act.start, to=act.to)
    shift(state, board, pending, [start, *line, ray.beyond[len(line) - 1]])
    return to


def shift(state: State, board: bytearray, pending: set[int], line: list[int]) -> None:
    """Moves the tiles on `line` (the pusher first, the free cell last) by one; a mole passively pushed onto an entrance
    becomes pending unless its owner has resigned (R-9), every other mark on the line goes."""
    is_tunnel = state.layout.tables.is_tunnel
    codes = [board[c] for c in line[:-1]]
    pending.difference_update(line)
    board[line[0]] = EMPTY
    for c, code in zip(line[1:], codes, strict=True):
        board[c] = code
    for c, code in zip(line[2:], codes[1:], strict=True):
        if is_tunnel[c] and code - 1 not in state.resigned:
            pending.add(c)


def _no(rule: str, places: tuple[str, ...] | list[str] = (), **values: str) -> Refusal:
    return Refusal(f"maulwurf.{rule}", tuple(places), tuple(values.items()))
