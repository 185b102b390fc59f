"""Muggins as `Rules`: the contract's questions, answered by play, notation, explain and table."""

from __future__ import annotations

from collections.abc import Mapping

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
    Setup,
)
from companion.games.muggins import explain as explaining
from companion.games.muggins import notation, play
from companion.games.muggins.state import OPTIONS, Act, State, Turn
from companion.games.muggins.table import Finding, findings
from companion.games.muggins.tiles import DEALT, SET, TARGET, Tile, end_sum, ends, tally

Values = tuple[tuple[str, str | int | float], ...]


class MugginsRules:
    """The rules of Muggins; see `companion.games.contract.Rules` for what each answer means."""

    name = "muggins"
    min_players = 2
    max_players = 4

    def options(self) -> tuple[Option, ...]:
        """Whether hands are secret (the real table) or open (simulation, replay, a revealed round)."""
        return OPTIONS

    def new(self, setup: Setup) -> State:
        """A match at 0. `setup.start`: None, or `{"starter": 1}` when the lot has been drawn already (from 0)."""
        n = len(setup.players)
        if n not in TARGET:
            notation.refuse("bad_players", f"{n} players; two to four can play", players=str(n))
        secret = notation.options(setup.options)
        start = {} if setup.start is None else setup.start
        if not isinstance(start, dict) or start.keys() - {"starter"}:
            notation.refuse("bad_start", f"start must be an object with a starter, not {start!r}", text=str(start))
        starter = start.get("starter")
        if starter is not None and (isinstance(starter, bool) or starter not in range(n)):
            notation.refuse("bad_start", f"starter {starter!r} is none of {n} players", text=str(starter))
        empty = ((),) * n
        state = State(
            players=n,
            target=TARGET[n],
            secret=secret,
            scores=(0,) * n,
            phase="deal",
            hands=() if secret else empty,
            counts=(0,) * n if secret else (),
            known=empty if secret else (),
            starter=starter,
        )
        if not secret:
            return state
        # At the table tiles are dealt before the companion hears of anything: nothing to wait for.
        dealt = play.apply(state, (play.DEAL,))
        assert isinstance(dealt, State)
        return dealt

    def start_from_look(
        self, look: Look, options: Mapping[str, str | int | bool], given: Json = None
    ) -> Json | tuple[Refusal, ...]:
        """Always an empty start; every tile that lies in line before the opening is in the way."""
        notation.options(options)
        lying = [k for k in explaining.LINE_KEYS if look.get(k, explaining.EMPTY) != explaining.EMPTY]
        places = tuple(k.partition(":")[2] for k in lying)
        return (Refusal("muggins.line_not_empty", places),) if lying else {**(given or {})}

    def to_act(self, state: State) -> Awaiting:
        """The player to move, or a lot, a deal, hands to be shown."""
        everybody = tuple(range(state.players))
        player = ("player", f"#{state.to_move}")
        if state.phase == "over":
            return Awaiting("over", (), Message("game.over"))
        if state.phase == "lot":
            names = " ".join(f"{p + 1}" for p in state.lots)
            return Awaiting("roll", state.lots, Message("muggins.expect_lot", (("players", names),)))
        if state.phase == "deal":
            tiles = DEALT[state.players]
            return Awaiting("choice", everybody, Message("muggins.expect_deal", (("tiles", tiles),)))
        if state.phase == "show":
            waiting = tuple(p for p, hand in enumerate(state.shown) if hand is None)
            return Awaiting("choice", waiting, Message("muggins.expect_show", (("player", f"#{waiting[0]}"),)))
        if not state.line:
            return Awaiting("turn", (state.to_move,), Message("muggins.expect_open", (player,)))
        left, right = ends(state.line)
        word = "expect_drawn" if state.drew else "expect_play" if state.left else "expect_play_or_pass"
        values: Values = (player, ("left", left), ("right", right))
        return Awaiting("turn", (state.to_move,), Message(f"muggins.{word}", values))

    def legal(self, state: State) -> list[Turn]:
        """The legal acts, one a turn; one example stands for an open deal and for each hand to be shown."""
        return play.legal(state)

    def apply(self, state: State, turn: Turn) -> State | Refusal:
        """The state after the acts of a turn, or the rule that forbids one of them."""
        return play.apply(state, turn)

    def outcome(self, state: State) -> Outcome | None:
        """Who reached the target, or who led when the table agreed to end (R-6)."""
        if state.over is None:
            return None
        if state.over.winner is None:
            return Outcome((), Message("muggins.over_equal", (("points", max(state.scores)),)))
        winner = state.over.winner
        values: Values = (("player", f"#{winner}"), ("points", state.scores[winner]))
        return Outcome((winner,), Message(f"muggins.over_{state.over.why}", values))

    def text(self, turn: Turn) -> str:
        """`open 14`, `left 11`, `draw; draw; right 44`, `pass`."""
        return notation.text(turn)

    def parse(self, text: str) -> Turn:
        """The turn of such a text."""
        return notation.parse(text)

    def position_text(self, state: State) -> str:
        """The whole state in one line."""
        return notation.position_text(state)

    def parse_position(self, text: str) -> State:
        """The state of such a line."""
        return notation.parse_position(text)

    def to_json(self, state: State) -> Json:
        """The state as JSON."""
        return notation.to_json(state)

    def from_json(self, data: Json) -> State:
        """The state of such JSON."""
        return notation.from_json(data)

    def look(self, state: State) -> Look:
        """`line:<n>` from the opening tile, `count:boneyard`, `hand:<player>`; see `explain`."""
        return explaining.look(state)

    def reveals(self, state: State, turn: Turn) -> bool:
        """A lot, a deal, a tile drawn, a hand shown or seen."""
        return any(act.kind in ("lot", "deal", "draw", "show", "know") for act in turn)

    def trace(self, state: State, turn: Turn) -> Look:
        """The facts that differ after a legal turn; empty for an illegal one."""
        after = play.apply(state, turn)
        if isinstance(after, Refusal):
            return {}
        before = explaining.look(state)
        return {key: value for key, value in explaining.look(after).items() if value != before[key]}

    def explain(self, before: State, seen: Look) -> Explanation[State, Turn]:
        """Draws, a placement, a shown hand, or the cleared line that lead to `seen`."""
        return explaining.explain(before, seen)

    def with_look(self, state: State, facts: Look) -> State | Refusal:
        """The state with tiles of the line, the boneyard's number or a shown hand corrected."""
        return explaining.with_look(state, facts)

    def declarations(self, state: State, player: int) -> tuple[Declaration[Turn], ...]:
        """Draw, pass, the lot, the deal, and between rounds an end by agreement (R-6)."""
        if not 0 <= player < state.players:
            return ()
        found: list[Declaration[Turn]] = []
        if state.phase == "play" and player == state.to_move:
            for act, word in ((play.DRAW, "draw"), (play.PASS, "pass")):
                if isinstance(play.apply(state, (act,)), State):
                    found.append(Declaration(Message(f"muggins.{word}"), (act,)))
        if state.phase == "lot":
            for p in state.lots:
                words = Message("muggins.lot_falls_on", (("player", f"#{p}"),))
                found.append(Declaration(words, (Act("lot", players=(p,)),)))
        if state.phase == "deal" and state.secret:
            found.append(Declaration(Message("muggins.dealt"), (play.DEAL,)))
        if state.phase in ("deal", "lot"):
            found.append(Declaration(Message("muggins.end_match"), (play.END,), needs_consent=True))
        return tuple(found)

    def describe(self, state: State, turn: Turn) -> Message:
        """The turn in words, with the sum of the ends and what it scores; drawn tiles are not named."""
        act = turn[-1]
        player: Values = (("player", f"#{state.to_move}"),)
        draws = sum(a.kind == "draw" for a in turn)
        if act.kind in ("open", "place") and act.tile is not None:
            total, scored = play.placement(state if turn[0].kind != "deal" else _cleared(state), act)
            values: Values = (*player, ("tile", name(act.tile)), ("sum", total), ("points", scored))
            return Message(
                f"muggins.did_{'draw_and_' if draws else ''}place", (*values, ("tiles", draws)) if draws else values
            )
        if act.kind == "draw":
            return Message("muggins.did_draw", (*player, ("tiles", draws)))
        if act.kind == "lot":
            if len(act.players) > 1:
                return Message("muggins.did_lot_tie", (("players", " ".join(f"{p + 1}" for p in act.players)),))
            return Message("muggins.did_lot", (("player", f"#{act.players[0]}"),))
        if act.kind in ("show", "know"):
            tiles = " ".join(name(t) for t in act.tiles) or "-"
            if act.player is None:
                return Message("muggins.did_show_rest", (("tiles", tiles),))
            hidden = "?" if act.kind == "know" else tiles
            return Message(f"muggins.did_{act.kind}", (("player", f"#{act.player}"), ("tiles", hidden)))
        if act.kind == "adjust":
            return Message("muggins.did_adjust", (("player", f"#{act.player}"), ("points", f"{act.points:+d}")))
        return Message(f"muggins.did_{act.kind}", player if act.kind == "pass" else ())

    def notes(self, state: State) -> tuple[Message, ...]:
        """Between rounds how the last one ended and what was proved; in play that a known tile must be placed."""
        found: list[Message] = []
        if state.phase in ("deal", "lot") and state.last is not None:
            out = state.last.out
            found.append(
                Message("muggins.blocked") if out is None else Message("muggins.out", (("player", f"#{out}"),))
            )
            for p, (pips, cost) in enumerate(zip(state.last.pips, state.last.costs, strict=True)):
                if pips:
                    values: Values = (("player", f"#{p}"), ("pips", pips), ("cost", cost))
                    found.append(Message("muggins.hand_costs", values))
        if state.phase != "play":
            found += [fault_message(f) for f in self.findings(state)]
        elif state.secret and state.line:
            for tile in state.known[state.to_move]:
                if tile[0] in ends(state.line) or tile[1] in ends(state.line):
                    values = (("player", f"#{state.to_move}"), ("tile", name(tile)))
                    found.append(Message("muggins.note_known", values))
        return tuple(found)

    def findings(self, state: State) -> tuple[Finding, ...]:
        """What the round's log and the shown hands prove so far (table play; empty in open play)."""
        if not state.secret or not state.log:
            return ()
        whole = bool(state.shown) and None not in state.shown
        return findings(state.players, state.log, None, state.shown if whole else None, state.rest)

    def view(self, state: State, player: int | None) -> Json:
        """What may be shown: the line, the scores as digits and paper marks, numbers of tiles; `hand` only to its owner
        (open play, or tiles known at the table), all hands once a round has ended."""
        over = state.phase in ("deal", "show") and state.last is not None
        hands = list(state.shown) if state.secret and state.shown else list(state.hands) if over else []
        own = player is not None and 0 <= player < state.players
        return {
            "game": self.name,
            "phase": state.phase,
            "round": state.round,
            "line": [{"place": str(k - state.opened), "left": a, "right": b} for k, (a, b) in enumerate(state.line)],
            "ends": list(ends(state.line)) if state.line else [],
            "sum": end_sum(state.line) if state.line else None,
            "target": state.target,
            "boneyard": state.left,
            "players": [
                {
                    "score": score,
                    "fifties": tally(score)[0],
                    "strokes": tally(score)[1],
                    "below_zero": score < 0,
                    "tiles": state.holds(p),
                    "hand": _pairs(hands[p]) if hands else None,
                }
                for p, score in enumerate(state.scores)
            ],
            "hand": _pairs(state.certain(player)) if own and player is not None else None,
            "drawn": list(state.drawn) if state.drawn and own and player == state.to_move else None,
            "last": None
            if state.last is None
            else {"out": state.last.out, "pips": list(state.last.pips), "costs": list(state.last.costs)},
            "to_move": state.to_move if state.phase == "play" else None,
            "set": len(SET),
        }


def _pairs(tiles: tuple[Tile, ...] | None) -> Json:
    return None if tiles is None else [list(t) for t in tiles]


def _cleared(state: State) -> State:
    after = play.apply(state, (play.DEAL,))
    return after if isinstance(after, State) else state


def name(tile: Tile) -> str:
    """A tile as people write it."""
    return f"[{tile[0]}|{tile[1]}]"


def fault_message(finding: Finding) -> Message:
    """A proved fault in words, with its evidence and the number of the act."""
    values: dict[str, str | int | float] = {}
    if finding.player is not None:
        values["player"] = f"#{finding.player}"
    if finding.at is not None:
        values["at"] = finding.at + 1
    for key, value in finding.evidence:
        if key == "ends" and isinstance(value, tuple):
            values["left"], values["right"] = value
        elif key == "expected" and finding.fault == "out_of_turn":
            values[key] = f"#{value}"
        else:
            values[key] = name(value) if isinstance(value, tuple) else value
    return Message(f"muggins.fault_{finding.fault}", tuple(values.items()))


RULES = MugginsRules()
