"""Die Maulwurfshöhle as `Rules`: the contract's questions, answered by layout, turns, notation and explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from companion.games.contract import (
    Awaiting,
    Declaration,
    Explanation,
    Json,
    Look,
    Message,
    Option,
    Outcome,
    Refusal,
    RulesError,
    Setup,
)
from companion.games.maulwurf import explain as explaining
from companion.games.maulwurf import notation, turns
from companion.games.maulwurf.layout import MOLES, Act, Layout
from companion.games.maulwurf.state import (
    BUSY,
    BUSY_TILES,
    CODES,
    EMPTY,
    LOOKS,
    OPTIONS,
    State,
    Turn,
    end_of,
    fingerprint,
)

Options = Mapping[str, str | int | bool]


class MaulwurfRules:
    """The rules of Die Maulwurfshöhle; see `companion.games.contract.Rules` for what each answer means."""

    name = "maulwurf"
    min_players = 2
    max_players = 4

    def options(self) -> tuple[Option, ...]:
        """Board, starting player, whether a pusher may end in a cave (R-2), what a forced dig leaves (R-4)."""
        return OPTIONS

    def new(self, setup: Setup) -> State:
        """Nine moles at each player's corner. `setup.start`: None or `{"seats": [0, 2], "layout": {...}}`."""
        players = len(setup.players)
        if not self.min_players <= players <= self.max_players:
            notation.refuse("bad_players", f"{players} players; two to four can play", players=str(players))
        chosen = _options(setup.options)
        start = {} if setup.start is None else setup.start
        if not isinstance(start, dict) or start.keys() - {"seats", "layout"}:
            notation.refuse(
                "bad_start", f"start must be an object with seats and layout, not {start!r}", text=str(start)
            )
        layout = notation.layout_of(start["layout"] if "layout" in start else chosen["layout"])
        seats = start.get("seats", [0, 2] if players == 2 else list(range(players)))
        if not isinstance(seats, list) or not all(isinstance(s, int) and not isinstance(s, bool) for s in seats):
            notation.refuse("bad_seats", f"seats {seats!r} must be a list of corners", text=str(seats))
        notation.check_seats(tuple(seats))
        if len(seats) != players:
            notation.refuse(
                "seats_and_players", f"{players} players but seats {seats}", players=str(players), text=str(seats)
            )
        first = int(chosen["first"])
        if first > players:
            notation.refuse("no_player", f"player {first} cannot begin: there are {players}", player=str(first))
        board = bytearray(len(layout.cells))
        for corner in seats:
            for c in layout.tables.starts[corner]:
                board[c] = corner + 1
        return State(
            layout=layout,
            seats=tuple(seats),
            board=bytes(board),
            to_move=seats[first - 1],
            push_enters_cave=bool(chosen["push_enters_cave"]),
            then_move=chosen["forced_dig"] == "then_move",
        )

    def start_from_look(self, look: Look, options: Options, given: Json = None) -> Json | tuple[Refusal, ...]:
        """The seats whose nine moles lie at their corners, or every cell that is not as at a start."""
        chosen, fixed = _options(options), dict(given or {})
        layout = notation.layout_of(fixed.get("layout", chosen["layout"]))
        try:
            board = _board(layout, look, bytes(len(layout.cells)))
        except RulesError as error:  # another layout lies on the table
            return (error.refusal,)
        held = [sum(board[c] == corner + 1 for c in start) for corner, start in enumerate(layout.tables.starts)]
        seats = [corner for corner, moles in enumerate(held) if 2 * moles >= MOLES]
        wanted = {c: corner + 1 for corner in seats for c in layout.tables.starts[corner]}
        wrong = []
        for c, code in enumerate(board):
            want = wanted.get(c, EMPTY)
            if code != want:
                rule = "start_missing" if want else "start_extra"
                values = (("cell", layout.cells[c]), ("color", f"@maulwurf.color{want or (code - 1) % BUSY + 1}"))
                wrong.append(Refusal(f"maulwurf.{rule}", (layout.cells[c],), values))
        if len(seats) < self.min_players:
            wrong.insert(0, Refusal("maulwurf.start_few_seats", layout.corners, (("players", len(seats)),)))
        elif len(seats) == 2 and seats[1] - seats[0] != 2:
            corners = tuple(layout.corners[s] for s in seats)
            wrong.insert(0, Refusal("maulwurf.not_opposite", corners, (("text", " ".join(corners)),)))
        return tuple(wrong) or {**fixed, "seats": seats}

    def to_act(self, state: State) -> Awaiting:
        """The player to move; the words say when a mole must dig."""
        if state.over is not None:
            return Awaiting("over", (), Message("game.over"))
        player = state.seats.index(state.to_move)
        word = "expect_dig" if _must_dig(state) else "expect_turn"
        return Awaiting("turn", (player,), Message(f"maulwurf.{word}", (("player", f"#{player}"),)))

    def legal(self, state: State) -> list[Turn]:
        """All legal turns on the board; resigning and agreeing a draw are declarations and not among them."""
        return turns.legal(state)

    def apply(self, state: State, turn: Turn) -> State | Refusal:
        """The state when the next turn begins, or the rule that forbids the turn."""
        return turns.apply(state, turn)

    def outcome(self, state: State) -> Outcome | None:
        """Two busy tiles out, the last one left, or one of three kinds of draw."""
        if state.over is None:
            return None
        if state.over.winner is None:
            return Outcome((), Message(f"maulwurf.over_{state.over.why}"))
        player = state.seats.index(state.over.winner)
        return Outcome((player,), Message(f"maulwurf.over_{state.over.why}", (("player", f"#{player}"),)))

    def text(self, turn: Turn) -> str:
        """`0,3>0,4 0,4~8,0`: a step and its dig; `>>` is a push."""
        return notation.text(turn)

    def parse(self, text: str) -> Turn:
        """The turn of such a text."""
        return notation.parse(text)

    def position_text(self, state: State) -> str:
        """The position in one line; what `past` remembers is left out."""
        return notation.position_text(state)

    def parse_position(self, text: str) -> State:
        """The position of such a line."""
        return notation.parse_position(text)

    def to_json(self, state: State) -> Json:
        """The state as JSON."""
        return notation.to_json(state)

    def from_json(self, data: Json) -> State:
        """The state of such JSON."""
        return notation.from_json(data)

    def look(self, state: State) -> Look:
        """`cell:<x>,<y>` -> `-`, `mole1`..`mole4`, `busy1`..`busy4`, numbered by the corners in the layout's order."""
        return explaining.look_of(state.layout.tables.keys, state.board)

    def reveals(self, state: State, turn: Turn) -> bool:
        """Never: all lies open."""
        return False

    def trace(self, state: State, turn: Turn) -> Look:
        """The cells that differ after a legal turn; empty for an illegal one."""
        after = turns.apply(state, turn)
        if isinstance(after, Refusal):
            return {}
        pairs = zip(state.layout.tables.keys, state.board, after.board, strict=True)
        return {key: LOOKS[new] for key, old, new in pairs if new != old}

    def explain(self, before: State, seen: Look) -> Explanation[State, Turn]:
        """The turns that lead to `seen`; a cell that `seen` does not name is taken as unchanged."""
        return explaining.explain(before, _board(before.layout, seen, before.board))

    def with_look(self, state: State, facts: Look) -> State | Refusal:
        """The position with some cells corrected. Moles may only be lost or found where a busy tile came or went."""
        board = _board(state.layout, facts, state.board)
        cells, is_cave, is_tunnel = state.layout.cells, state.layout.tables.is_cave, state.layout.tables.is_tunnel
        touched = [c for c in range(len(board)) if board[c] != state.board[c]]
        if off := [cells[c] for c in touched if board[c] > BUSY and not is_cave[c]]:
            return Refusal("maulwurf.busy_off_cave", tuple(off), (("cells", " ".join(off)),))
        came, went = 0, 0
        for corner in range(BUSY):
            change = board.count(corner + 1 + BUSY) - state.busy(corner)
            came, went = came + max(change, 0), went + max(-change, 0)
        for corner in range(BUSY):
            color = ("color", f"@maulwurf.color{corner + 1}")
            change = board.count(corner + 1) - state.moles(corner)
            places = tuple(cells[c] for c in touched if corner + 1 in (board[c], state.board[c]))
            if corner not in state.seats and any(board[c] in (corner + 1, corner + 1 + BUSY) for c in touched):
                return Refusal("maulwurf.no_such_color", places, (color,))
            if board.count(corner + 1 + BUSY) > BUSY_TILES:
                return Refusal("maulwurf.too_many_busy", places, (color,))
            came, went = came + min(change, 0), went - max(change, 0)
            if came < 0:
                return Refusal("maulwurf.mole_missing", places, (color, ("cells", " ".join(places))))
            if went < 0 or board.count(corner + 1) > MOLES:
                return Refusal("maulwurf.mole_extra", places, (color, ("cells", " ".join(places))))
        kept = tuple(c for c in state.pending if is_tunnel[c] and board[c] == state.board[c])
        after = replace(state, board=board, pending=kept, passes=0, over=None)
        return replace(after, over=end_of(after))

    def declarations(self, state: State, player: int) -> tuple[Declaration[Turn], ...]:
        """Passing when nothing else is possible, resigning (R-9), a draw that all agree to (R-12)."""
        if state.over is not None or not 0 <= player < len(state.seats) or state.seats[player] in state.resigned:
            return ()
        found: list[Declaration[Turn]] = [
            Declaration(Message("game.resign"), (Act("resign", str(player)),)),
            Declaration(Message("game.offer_draw"), turns.DRAW, needs_consent=True),
        ]
        if state.seats[player] == state.to_move and turns.legal(state) == [turns.PASS]:
            found.insert(0, Declaration(Message("maulwurf.pass"), turns.PASS))
        return tuple(found)

    def describe(self, state: State, turn: Turn) -> Message:
        """The turn in words: what moved where, and the busy tile that it brought."""
        player = f"#{state.seats.index(state.to_move)}"
        act = turn[0]
        if act.kind == "resign":
            return Message("maulwurf.did_resign", (("player", f"#{act.start}"),))
        if act.kind in ("pass", "draw"):
            return Message(f"maulwurf.did_{act.kind}", (("player", player),))
        after = turns.apply(state, turn)
        rings = isinstance(after, State) and any(
            new > BUSY and new != old for new, old in zip(after.board, state.board, strict=True)
        )
        values = [("player", player), ("busy", "@maulwurf.and_busy" if rings else "")]
        word = "_".join(a.kind for a in turn)
        if word not in ("step", "push", "dig", "step_dig", "push_dig"):
            return Message("maulwurf.did_many", (*values, ("text", notation.text(turn))))
        if len(turn) == 2:
            values.append(("last", turn[1].to))
        return Message(f"maulwurf.did_{word}", (*values, ("start", act.start), ("to", act.to)))

    def notes(self, state: State) -> tuple[Message, ...]:
        """Moles that must dig or that wait because no entrance is free, no legal turn, a repeated position."""
        if state.over is not None:
            return ()
        player = ("player", f"#{state.seats.index(state.to_move)}")
        found = []
        own = [state.layout.cells[c] for c in state.pending if state.board[c] == state.to_move + 1]
        if own:
            word = "note_must_dig" if _must_dig(state) else "note_cannot_dig"
            found.append(Message(f"maulwurf.{word}", (player, ("cells", " ".join(own)))))
        if turns.legal(state) == [turns.PASS]:
            found.append(Message("maulwurf.note_pass", (player,)))
        if times := Counter(state.past)[fingerprint(state)]:
            found.append(Message("maulwurf.note_repeated", (("times", times + 1),)))
        return tuple(found)

    def view(self, state: State, player: int | None) -> Json:
        """The board for the drawing template, the same for everybody: nothing is hidden in this game.

        `cells` lists `at`, `x`, `y`, `kind` (field, cave, tunnel), `look`, `pending`, and `corner` (0..3) for corners.
        """
        layout, tables = state.layout, state.layout.tables
        cells = []
        for c, at in enumerate(layout.cells):
            x, _, y = at.partition(",")
            kind = "cave" if tables.is_cave[c] else "tunnel" if tables.is_tunnel[c] else "field"
            cell = {"at": at, "x": int(x), "y": int(y), "kind": kind, "look": LOOKS[state.board[c]]}
            cell["pending"] = c in state.pending
            if at in layout.corners:
                cell["corner"] = layout.corners.index(at)
            cells.append(cell)
        return {
            "game": self.name,
            "layout": layout.name,
            "cells": cells,
            "players": [
                {
                    "seat": s,
                    "color": s + 1,
                    "moles": state.moles(s),
                    "busy_out": state.busy(s),
                    "resigned": s in state.resigned,
                }
                for s in state.seats
            ],
            "to_move": None if state.over else state.seats.index(state.to_move),
        }


def _must_dig(state: State) -> bool:
    """True when a mole of the player to move is pending and an entrance is free."""
    own = any(state.board[c] == state.to_move + 1 for c in state.pending)
    return own and any(not state.board[t] for t in state.layout.tables.tunnels)


def _options(given: Options) -> dict[str, str | int | bool]:
    chosen = {o.name: o.default for o in OPTIONS}
    for name, value in given.items():
        option = next((o for o in OPTIONS if o.name == name), None)
        if option is None:
            notation.refuse("bad_option", f"there is no option {name!r}", name=name, value=str(value))
        if not any(value == choice and type(value) is type(choice) for choice in option.choices):
            known = ", ".join(str(c) for c in option.choices)
            notation.refuse("bad_option", f"option {name}: {value!r} is none of {known}", name=name, value=str(value))
        chosen[name] = value
    return chosen


def _board(layout: Layout, look: Look, otherwise: bytes) -> bytes:
    """The board of a look; cells that it does not name stay as in `otherwise`; facts of other kinds are left aside."""
    board = bytearray(otherwise)
    for key, value in look.items():
        kind, _, cell = key.partition(":")
        if kind != "cell":
            continue
        if cell not in layout.tables.index:
            notation.refuse("no_such_cell", f"{cell!r} is no cell of {layout.name}", cell=cell)
        if value not in CODES:
            notation.refuse(
                "bad_look", f"{key}: {value!r} is none of {', '.join(LOOKS)}", (cell,), cell=cell, value=value
            )
        board[layout.tables.index[cell]] = CODES[value]
    return bytes(board)


RULES = MaulwurfRules()
