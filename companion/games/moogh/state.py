"""What a game of MOOGH is at one instant, what can be put into it, and both as JSON and as text.

The engine is an agenda: a stack of tasks (tuples of plain data, the last one is next). A task either does its work or
waits for an input; an input is a `Roll` or a `Choice`, or a `Walk`, which is a move told at once.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from typing import Any

from companion.games.contract import Json, Message, Refusal, RulesError
from companion.games.moogh import cards as card_sets
from companion.games.moogh.cards import CardSet
from companion.games.moogh.geometry import FACINGS, NEAR, Cell
from companion.games.moogh.printed import MEN, SOLO

VERSION = 1
BEAST = "moogh"
TABLE = "table"
"""Who gives an input that belongs to no tribesman: the beast's side, or everybody together."""

At = Cell | str
"""Where a tribesman is: a board cell, `grab:LF`, `top` or `dead`."""
Task = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision of `who` about `what` (`arrow`, `action`, `step`, `turn`, `fly`...); cells are written `3,1`."""

    who: str
    what: str
    value: str


@dataclass(frozen=True, slots=True)
class Roll:
    """One die that `who` rolled for the purpose `why` (`hit`, `save:attack`, `attack_die`...), 1..6."""

    who: str
    why: str
    value: int


@dataclass(frozen=True, slots=True)
class Walk:
    """A whole move told at once, as a camera sees it: the action (M1, M2) and the cells stepped on, in order."""

    who: str
    action: str
    cells: tuple[Cell, ...]


Turn = Choice | Roll | Walk


@dataclass(frozen=True, slots=True)
class Rule:
    """What stays the same for a whole game: cards, house rules, teams, and which player has whom.

    `seats` maps each tribesman, and `moogh` when somebody steers the beast, to a player; `teams` maps each to A or B.
    """

    cards: CardSet
    seats: tuple[tuple[str, int], ...]
    teams: tuple[tuple[str, str], ...]
    players: int
    diag_moves: bool = True
    stab_from_corners: bool = False
    pvp: bool = False
    moogh_control: bool = False
    start_column: int = 1
    solo_single_beast: bool = False
    secret_actions: bool = False

    @property
    def solo(self) -> bool:
        """True when only red and green hunt."""
        return len(self.teams) == len(SOLO)

    def seat(self, who: str) -> tuple[int, ...]:
        """The players who may give `who`'s inputs; everybody for the beast that nobody steers."""
        chosen = tuple(player for name, player in self.seats if name == who)
        return chosen or tuple(range(self.players))


@dataclass(frozen=True, slots=True)
class Man:
    """One tribesman: where he is and how often he was injured (2 = dead)."""

    name: str
    at: At
    hurt: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """One instant of a game. `phase` is 1..4 (cavemen, beast, cavemen, beast); `balance` is positive for team A;
    `chosen` are this phase's arrows; `attempted` and `attacker` speak of the preceding caveman phase; `over` is the
    reason and the winner (A, B, draw or empty). `causes` keeps, for each fact of the table, what set it last, and
    `told` what followed from the last input, in words; both are history, so states may be equal without them."""

    rule: Rule
    round: int
    phase: int
    origin: Cell
    facing: int
    health: int
    level: int
    side: str
    column: int
    balance: int
    men: tuple[Man, ...]
    chosen: tuple[tuple[str, tuple[str, str]], ...] = ()
    attempted: bool = False
    attacker: str = ""
    agenda: tuple[Task, ...] = ()
    over: tuple[str, str] | None = None
    causes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    told: tuple[Message, ...] = field(default=(), compare=False)

    def man(self, name: str) -> Man:
        """The tribesman of this name; KeyError when he does not play."""
        for man in self.men:
            if man.name == name:
                return man
        raise KeyError(name)


# --- notation ---------------------------------------------------------------------------------------------------

_CELL = re.compile(r"-?\d{1,2},-?\d{1,2}\Z")
_WORD = re.compile(r"[A-Za-z_]+\Z")


def cell_text(cell: Cell) -> str:
    """`3,1`: column, row."""
    return f"{cell[0]},{cell[1]}"


def at_text(at: At) -> str:
    """A place of a tribesman as the look and the notation write it."""
    return at if isinstance(at, str) else cell_text(at)


def parse_cell(text: str) -> Cell | None:
    """The cell of `3,1`, or None when the text is no cell."""
    if not _CELL.match(text):
        return None
    column, row = text.split(",")
    return int(column), int(row)


def turn_text(turn: Turn) -> str:
    """One line: `red action Aim`, `red roll hit 4`, `red walk M2 2,1 3,1`."""
    match turn:
        case Choice():
            return f"{turn.who} {turn.what} {turn.value}"
        case Roll():
            return f"{turn.who} roll {turn.why} {turn.value}"
        case Walk():
            return " ".join([turn.who, "walk", turn.action, *map(cell_text, turn.cells)])


def parse_turn(text: str) -> Turn:
    """The turn of a line; raises RulesError quoting it."""
    words = text.split()
    if len(words) < 3 or words[0] not in (*MEN, BEAST, TABLE):
        raise _bad_text(text)
    who, what = words[0], words[1]
    if what == "roll":
        if len(words) != 4 or words[3] not in ("1", "2", "3", "4", "5", "6"):
            raise _bad_text(text)
        return Roll(who, words[2], int(words[3]))
    if what == "walk":
        cells = [parse_cell(word) for word in words[3:]]
        known = tuple(cell for cell in cells if cell is not None)
        if words[2] not in ("M1", "M2") or not known or len(known) != len(cells):
            raise _bad_text(text)
        return Walk(who, words[2], known)
    if len(words) != 3 or not _WORD.match(what):
        raise _bad_text(text)
    return Choice(who, what, words[2])


def _bad_text(text: str) -> RulesError:
    return RulesError(Refusal("moogh.bad_text", values=(("text", text),)), f"no turn of MOOGH: {text!r}")


# --- JSON and position text -------------------------------------------------------------------------------------

_OPTIONS = tuple(f.name for f in fields(Rule) if f.name not in ("cards", "seats", "teams", "players"))


def to_json(state: State) -> dict[str, Json]:
    """The state as JSON; the default card set is only named by its digest."""
    rule = state.rule
    return {
        "game": "moogh",
        "version": VERSION,
        "cards": None if rule.cards.marked == card_sets.default().marked else rule.cards.marked,
        "cards_digest": rule.cards.digest,
        "seats": dict(rule.seats),
        "teams": dict(rule.teams),
        "players": rule.players,
        "options": {name: getattr(rule, name) for name in _OPTIONS},
        "round": state.round,
        "phase": state.phase,
        "origin": list(state.origin),
        "facing": FACINGS[state.facing],
        "health": state.health,
        "rage": [state.level, state.side, state.column],
        "balance": state.balance,
        "men": {man.name: [at_text(man.at), man.hurt] for man in state.men},
        "chosen": {name: list(pair) for name, pair in state.chosen},
        "attempted": state.attempted,
        "attacker": state.attacker,
        "agenda": _listed(state.agenda),
        "over": list(state.over) if state.over else None,
        "causes": dict(state.causes),
        "told": [[message.id, [list(value) for value in message.values]] for message in state.told],
    }


def from_json(data: Json) -> State:
    """The state of `to_json`; raises RulesError on a later version or on anything that is no state."""
    if not isinstance(data, dict) or data.get("game") != "moogh":
        raise _bad_json("game")
    if data.get("version") != VERSION:
        raise RulesError(
            Refusal("moogh.bad_version", values=(("got", str(data.get("version"))), ("known", VERSION))),
            f"MOOGH state of version {data.get('version')!r}; this companion reads {VERSION}",
        )
    try:
        return _read(data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, RulesError):
            raise
        raise _bad_json(str(error)) from error


def _read(data: dict[str, Any]) -> State:
    cards = card_sets.default() if data["cards"] is None else card_sets.from_data(data["cards"])
    if cards.digest != data["cards_digest"]:
        raise _bad_json("cards_digest")
    options = data["options"]
    if set(options) != set(_OPTIONS):
        raise _bad_json("options")
    rule = Rule(
        cards=cards,
        seats=tuple((str(name), int(seat)) for name, seat in data["seats"].items()),
        teams=tuple((str(name), str(team)) for name, team in data["teams"].items()),
        players=int(data["players"]),
        **options,
    )
    names = [name for name in MEN if name in data["men"]]
    if names != [name for name in MEN if name in dict(rule.teams)] or len(names) != len(data["men"]):
        raise _bad_json("men")
    level, side, column = data["rage"]
    state = State(
        rule=rule,
        round=_within("round", data["round"], 1, 10**6),
        phase=_within("phase", data["phase"], 1, 4),
        origin=_pair(data["origin"]),
        facing=FACINGS.index(data["facing"]),
        health=_within("health", data["health"], 0, 6),
        level=_within("rage", level, 1, 6),
        side=_side(side),
        column=_within("rage", column, 0, cards.columns),
        balance=_within("balance", data["balance"], -99, 99),
        men=tuple(Man(name, _at(data["men"][name][0]), _within(name, data["men"][name][1], 0, 2)) for name in names),
        chosen=tuple((name, _two(pair)) for name, pair in data["chosen"].items()),
        attempted=bool(data["attempted"]),
        attacker=str(data["attacker"]),
        agenda=tuple(_tupled(task) for task in data["agenda"]),
        over=(str(data["over"][0]), str(data["over"][1])) if data["over"] else None,
        causes=tuple((str(key), str(value)) for key, value in data["causes"].items()),
        told=tuple(Message(str(word), tuple((str(k), v) for k, v in values)) for word, values in data["told"]),
    )
    stands: dict[Cell, str] = {}
    for man in state.men:
        if not isinstance(man.at, str):
            if man.at in stands:
                cell, who, other = cell_text(man.at), man.name, stands[man.at]
                values = (("who", f"@moogh.{who}"), ("other", f"@moogh.{other}"), ("cell", cell))
                raise RulesError(
                    Refusal("moogh.two_on_a_space", (cell,), values), f"{who} and {other} both stand on {cell}"
                )
            stands[man.at] = man.name
    if any((man.hurt == 2) != (man.at == "dead") for man in state.men):
        raise _bad_json("men")
    return state


def position_text(state: State) -> str:
    """One line: round.phase | beast | rage | balance | tribesmen | the rest as compact JSON."""
    data = to_json(state)
    men = " ".join(f"{man.name}={at_text(man.at)}/{man.hurt}" for man in state.men)
    beast = f"{cell_text(state.origin)} {FACINGS[state.facing]} {state.health}"
    rage = f"{state.level} {state.side} {state.column}"
    head = f"{state.round}.{state.phase} | {beast} | {rage} | {state.balance:+d} | {men}"
    for told in ("game", "round", "phase", "origin", "facing", "health", "rage", "balance", "men"):
        del data[told]
    return f"{head} | {json.dumps(data, separators=(',', ':'))}"


def parse_position(text: str) -> State:
    """The state of a position line; raises RulesError that quotes what is wrong."""
    parts = text.strip().split(" | ", 5)
    try:
        when, beast, rage, balance, men, rest = parts
        number, phase = when.split(".")
        origin, facing, health = beast.split()
        level, side, column = rage.split()
        data = json.loads(rest)
        if not isinstance(data, dict):
            raise ValueError(rest)
        told = {name: place.split("/") for name, place in (word.split("=") for word in men.split())}
        data |= {
            "game": "moogh",
            "round": int(number),
            "phase": int(phase),
            "origin": [int(n) for n in origin.split(",")],
            "facing": facing,
            "health": int(health),
            "rage": [int(level), side, int(column)],
            "balance": int(balance),
            "men": {name: [at, int(hurt)] for name, (at, hurt) in told.items()},
        }
    except ValueError as error:
        raise RulesError(
            Refusal("moogh.bad_position", values=(("text", text[:80]),)), f"no position of MOOGH: {text!r}"
        ) from error
    return from_json(data)


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _tupled(value: Any) -> Any:
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


def _pair(value: Any) -> Cell:
    x, y = value
    return int(x), int(y)


def _two(value: Any) -> tuple[str, str]:
    first, second = value
    return str(first), str(second)


def _at(text: Any) -> At:
    cell = parse_cell(text)
    if cell is not None:
        return cell
    if text in ("top", "dead") or (text.startswith("grab:") and text[5:] in NEAR):
        return str(text)
    raise _bad_json(f"place {text!r}")


def _within(name: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _bad_json(f"{name} = {value!r}")
    return value


def _side(value: Any) -> str:
    if value not in ("front", "back"):
        raise _bad_json(f"side = {value!r}")
    return str(value)


def _bad_json(what: str) -> RulesError:
    return RulesError(Refusal("moogh.bad_json", values=(("what", what),)), f"no state of MOOGH: {what}")
