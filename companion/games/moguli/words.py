"""What Moguli says in words: what is awaited, what a turn was, what the player should know, what may be declared."""

from __future__ import annotations

from companion.games.contract import Awaiting, Declaration, Message, Outcome
from companion.games.moguli.board import BIT, HOME, NAMES, names_in
from companion.games.moguli.judge import HOME_ROW, awaited, missing_act
from companion.games.moguli.moves import can, can_in_turn, is_obliged, must_move, pawn_moves
from companion.games.moguli.state import ACTS, DRAW, EXCHANGE, MOVE, RESIGN, START_PAWNS, State, Turn, free_doors


def to_act(state: State) -> Awaiting:
    """What the game waits for: a turn, the choice of a starting row, or nothing any more."""
    ended = outcome(state)
    if ended is not None:
        return Awaiting("over", (), ended.reason)
    player = awaited(state)
    values = (("player", f"#{player}"), ("row", HOME_ROW[player]))
    if state.setup is not None:
        return Awaiting("choice", (player,), Message("moguli.choose_row", values))
    if state.last_turn:
        return Awaiting("turn", (player,), Message("moguli.last_turn", values))
    if must_move(state) and is_obliged(state):
        return Awaiting("turn", (player,), Message("moguli.clear_a_door", values))
    return Awaiting("turn", (player,), Message("game.to_move", (("player", f"#{player}"),)))


def outcome(state: State) -> Outcome | None:
    """How the game ended, or None."""
    over = state.over
    if over is None:
        return None
    winners = () if over.winner is None else (over.winner,)
    if over.why == "agreed" or over.why == "both_four":
        return Outcome(winners, Message(f"moguli.over.{over.why}"))
    if over.winner is None:
        return Outcome(winners, Message(f"moguli.over.{over.why}_draw"))
    values = (("winner", f"#{over.winner}"), ("loser", f"#{1 - over.winner}"))
    return Outcome(winners, Message(f"moguli.over.{over.why}", values))


def describe(state: State, turn: Turn) -> Message:
    """The turn in words, said of the state before it."""
    player = awaited(state)
    values: list[tuple[str, str | int | float]] = [("player", f"#{player}")]
    acts = [ACTS[act] for act in turn]
    kinds = "".join(act.kind for act in acts)
    if kinds == "X":
        row = acts[0].arg
        values += [("own", HOME_ROW[player]), ("row", row)]
        return Message("moguli.turn.X" if row else "moguli.turn.X-", tuple(values))
    if kinds == "resign":
        return Message("moguli.turn.resign", (("player", f"#{acts[0].arg if acts[0].arg >= 0 else player}"),))
    if kinds == "draw":
        return Message("moguli.turn.draw")
    for kind, place, arg in acts:
        if kind == "M":
            values += [("start", NAMES[place]), ("end", NAMES[arg])]
        else:
            name = "tile" if kind == "R" else "bonus"
            values += [(name, NAMES[place]), (f"{name}_angle", 90 * arg if arg < 3 else -90)]
    return Message(f"moguli.turn.{kinds or 'nothing'}", tuple(values))


def notes(state: State) -> tuple[Message, ...]:
    """What the player to move should know: a duty and why, being unable, a series of blocked turns, the last turn."""
    if state.over is not None or state.setup is not None:
        return ()
    player = state.to_move
    free = free_doors(state, player)
    pawns = ", ".join(names_in(state.pawns[player] & HOME[player]))
    values = (("player", f"#{player}"), ("row", HOME_ROW[player]), ("free", free), ("pawns", pawns))
    found = list(state.odd) if state.pawns == START_PAWNS and state.to_move == 0 and not state.locked else []
    if state.last_turn:
        found.append(Message("moguli.note.last_turn", values))
    if is_obliged(state):
        if can(state):
            found.append(Message("moguli.note.obliged", values))
        else:
            found.append(Message("moguli.note.obliged_unable", values))
    elif not can_in_turn(state):
        found.append(Message("moguli.note.unable", values))
    elif state.options.compulsory_actions:
        found.append(Message("moguli.note.compulsory", values))
    if state.blocked_run:
        found.append(Message("moguli.note.blocked", (("run", state.blocked_run), ("left", 3 - state.blocked_run))))
    return tuple(found)


def declarations(state: State, player: int) -> tuple[Declaration[Turn], ...]:
    """Resignation, an agreed draw, and in the setup the choice of a starting row."""
    if state.over is not None:
        return ()
    found: list[Declaration[Turn]] = []
    if state.setup == player:
        values = (("own", HOME_ROW[player]),)
        for row, act in EXCHANGE.items():
            words = Message("moguli.declare.exchange", (*values, ("row", row)))
            found.append(Declaration(words if row else Message("moguli.declare.keep", values), (act,)))
    elif state.setup is None and player == state.to_move:
        found.extend(_unseen(state))
    found.append(Declaration(Message("game.resign"), (RESIGN[player],)))
    found.append(Declaration(Message("game.offer_draw"), (DRAW,), needs_consent=True))
    return tuple(found)


def _unseen(state: State) -> list[Declaration[Turn]]:
    """Moves that end on the door they began on (R-6): a camera cannot see them."""
    found = []
    for door, ends, bonus, _, _ in pawn_moves(state):
        turn: Turn = (MOVE[door][door],)
        if ends & BIT[door] and missing_act(state, state.tiles, True, False) is None:
            rule = "moguli.declare.ring_bonus" if bonus & BIT[door] else "moguli.declare.ring"
            found.append(Declaration(Message(rule, (("door", NAMES[door]),)), turn))
    return found
