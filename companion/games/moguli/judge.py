"""Judging a turn: the state after it, or the rule that it breaks."""

from __future__ import annotations

from dataclasses import replace

from companion.games.contract import Refusal
from companion.games.moguli.board import BIT, CROSS, HOME, NAMES, TURNED, names_in
from companion.games.moguli.moves import (
    can_in_turn,
    is_obliged,
    movable,
    must_move,
    pawn_moves,
    reach,
)
from companion.games.moguli.routes import no_route
from companion.games.moguli.state import ACTS, Over, State, Turn, free_doors, owner

HOME_ROW = (1, 7)
FOUR = 4
BLOCKED_TURNS = 3


def judge(state: State, turn: Turn) -> State | Refusal:
    """The state after the turn, or why it is illegal (the first act that breaks a rule, or what is missing)."""
    if state.over is not None:
        return Refusal("moguli.game_over")
    unknown = [act for act in turn if act not in ACTS]
    if unknown:
        return Refusal("moguli.no_such_act", values=(("act", str(unknown[0])),))
    kind, _, number = ACTS[turn[0]] if turn else ("", -1, 0)
    if kind in ("resign", "draw", "X") and len(turn) > 1:
        return Refusal("moguli.one_declaration")
    if kind == "resign":
        return replace(state, over=Over(1 - (awaited(state) if number < 0 else number), "resigned"))
    if kind == "draw":
        return replace(state, over=Over(None, "agreed"))
    if state.setup is not None:
        return _exchange(state, state.setup, turn)
    if any(ACTS[act].kind not in "RMB" for act in turn):
        return Refusal("moguli.exchange_only_before")
    return _acts(state, turn)


def awaited(state: State) -> int:
    """The player from whom something is awaited: in the setup whose exchange is due, else the one to move."""
    return state.to_move if state.setup is None else state.setup


def exchanged(tiles: tuple[int, ...], player: int, row: int) -> tuple[int, ...]:
    """The tiles after the player's starting row and row `row` (1..7; 0: none) changed places."""
    if not row:
        return tiles
    own, other = 5 * (HOME_ROW[player] - 1), 5 * (row - 1)
    changed = list(tiles)
    changed[own : own + 5], changed[other : other + 5] = tiles[other : other + 5], tiles[own : own + 5]
    return tuple(changed)


def _exchange(state: State, player: int, turn: Turn) -> State | Refusal:
    if len(turn) != 1 or ACTS[turn[0]].kind != "X":
        return Refusal("moguli.exchange_first", values=(("player", f"#{player}"), ("row", HOME_ROW[player])))
    tiles = exchanged(state.tiles, player, ACTS[turn[0]].arg)
    return replace(state, tiles=tiles, setup=1 if player == 0 else None)


def _acts(state: State, turn: Turn) -> State | Refusal:
    """The acts in their order; what a rotation and a move may do is judged when they are made."""
    player = state.to_move
    tiles = list(state.tiles)
    pawns = list(state.pawns)
    locks = 0
    first = ""
    moved = earned = ended = False
    for act in turn:
        kind, place, arg = ACTS[act]
        name = NAMES[place]
        if ended:
            return Refusal("moguli.bonus_last", (name,), (("tiles", name),))
        if kind == "M":
            if moved:
                places = (name, NAMES[arg])
                first_start = next(NAMES[ACTS[other].place] for other in turn if ACTS[other].kind == "M")
                starts = f"{first_start}, {name}"
                return Refusal("moguli.two_moves", places, (("count", 2), ("starts", starts)))
            refusal, earned = judge_move(state, tuple(tiles), place, arg)
            if refusal is not None:
                return refusal
            moved = True
            pawns[player] = pawns[player] & ~BIT[place] | BIT[arg]
            continue
        if kind == "R" and first:
            return Refusal("moguli.two_rotations", (first, name), (("first", first), ("second", name)))
        if kind == "B":
            if not earned:
                return Refusal("moguli.no_bonus", (name,), (("tile", name),))
            ended = True
        else:
            first = name
        if state.locked & BIT[place]:
            return Refusal("moguli.locked", (name,), (("tile", name),))
        tiles[place] = TURNED[tiles[place]][arg]
        locks |= BIT[place]
    missing = missing_act(state, tuple(tiles), moved, bool(first))
    if missing is not None:
        return missing
    return settle(state, tuple(tiles), (pawns[0], pawns[1]), locks, moved)


def judge_move(state: State, tiles: tuple[int, ...], start: int, end: int) -> tuple[Refusal | None, bool]:
    """Why the player to move may not move from `start` to `end` as these tiles lie (None: they may), and whether the
    move earns the bonus. Whose pawn it is comes first, then the duty, the two free doors, the way itself."""
    player = state.to_move
    whose = owner(state, start)
    values = (("start", NAMES[start]), ("end", NAMES[end]))
    if whose is None:
        return Refusal("moguli.no_pawn_there", (NAMES[start],), (("door", NAMES[start]),)), False
    if whose != player:
        return Refusal("moguli.not_your_pawn", (NAMES[start], NAMES[end]), (*values, ("player", f"#{whose}"))), False
    row = HOME_ROW[player]
    allowed = dict(movable(state)).get(start)
    if allowed is None:
        free = free_doors(state, player)
        return Refusal("moguli.obliged_other", (NAMES[start],), (*values, ("row", row), ("free", free))), False
    foes = state.pawns[1 - player]
    pawns = foes | state.pawns[player]
    others = pawns ^ BIT[start]
    if not allowed & BIT[end] and not others & BIT[end]:
        return two_free_doors(state, start, end), False
    ends, bonus, _ = reach(tiles, start, others, foes, CROSS[state.options.cylinder])
    if ends & BIT[end]:
        return None, bool(bonus & BIT[end])
    return no_route(tiles, start, end, pawns, state.options.cylinder), False


def two_free_doors(state: State, start: int, end: int) -> Refusal:
    """The refusal of a move that ends on the own starting row and leaves fewer than two doors free there."""
    player = state.to_move
    left = free_doors(state, player) - (not BIT[start] & HOME[player])
    values = (("start", NAMES[start]), ("end", NAMES[end]), ("row", HOME_ROW[player]), ("left", left))
    return Refusal("moguli.two_free_doors", (NAMES[start], NAMES[end]), values)


def missing_act(state: State, tiles: tuple[int, ...], moved: bool, rotated: bool) -> Refusal | None:
    """What a turn that ends here leaves out: the obliged move (R-9, R-15), a compulsory action (R-10); None: nothing.

    `tiles` as the turn's rotation left them.
    """
    if state.options.compulsory_actions and not rotated:
        return Refusal("moguli.rotation_missing")
    if moved or not must_move(state):
        return None
    player = state.to_move
    obliged = is_obliged(state)
    places = names_in(state.pawns[player] & HOME[player] if obliged else state.pawns[player])
    if rotated and not any(ends for _, ends, _, _, _ in pawn_moves(state, tiles)):
        turned = tuple(NAMES[door] for door in range(len(tiles)) if tiles[door] != state.tiles[door])
        return Refusal("moguli.rotation_ends_duty", (*turned, *places), (("tiles", ", ".join(turned)),))
    if not obliged:
        return Refusal("moguli.move_missing", places)
    return Refusal("moguli.obliged", places, (("row", HOME_ROW[player]), ("free", free_doors(state, player))))


def settle(state: State, tiles: tuple[int, ...], pawns: tuple[int, int], locks: int, moved: bool) -> State:
    """The state after a legal turn of the player to move that left these tiles, pawns and locked tiles."""
    player = state.to_move
    run = 0 if moved or can_in_turn(state) else state.blocked_run + 1
    here = (pawns[player] & HOME[1 - player]).bit_count() >= FOUR
    over: Over | None = None
    if state.last_turn:
        over = Over(None, "both_four") if here else Over(0, "four")
    elif here and player == 1:
        over = Over(1, "four")
    elif run >= BLOCKED_TURNS:
        first, second = ((pawns[p] & HOME[1 - p]).bit_count() for p in range(2))
        over = Over(None if first == second else int(second > first), "blocked")
    return State(
        tiles,
        pawns,
        1 - player,
        locks,
        run,
        state.last_turn or (here and player == 0),
        state.options,
        None,
        over,
    )
