"""Texts and JSON of Muggins: turns and positions, with the checks that a position from outside must pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NoReturn

from companion.games.contract import Json, Refusal, RulesError
from companion.games.muggins.state import Act, Entry, Over, RoundEnd, State, Turn
from companion.games.muggins.tiles import IN_SET, SET, TARGET, Line, Tile, tile_of

VERSION = 1
PHASES = ("deal", "lot", "play", "show", "over")
EXTRAS = (
    *("secret", "phase", "opened", "drew", "passes", "lots", "known", "shown"),
    *("rest", "round", "starter", "last", "over", "log"),
)
_TILE = re.compile(r"[0-6][0-6]")
_ENDS = {"left": "L", "right": "R"}
_WORDS = {"L": "left", "R": "right"}


def text(turn: Turn) -> str:
    """A turn in one line, acts parted by `; `: `open 14`, `left 11`, `right 44`, `draw` (`draw 36` when it is known),
    `pass`, `lot 2`, `lot 1 3` (tied), `deal` (`deal 01,23 / 45 / .. | 66` when open), `show 2 01 35`, `show rest 00`,
    `know 1 16`, `adjust 2 -10`, `end`. Players count from 1."""
    return "; ".join(_act_text(act) for act in turn)


def _act_text(act: Act) -> str:
    tiles = " ".join(_digits(t) for t in act.tiles) or "-"
    if act.kind == "place" and act.tile:
        return f"{_WORDS[act.end]} {_digits(act.tile)}"
    if act.kind in ("open", "draw") and act.tile:
        return f"{act.kind} {_digits(act.tile)}"
    if act.kind == "lot":
        return "lot " + " ".join(str(p + 1) for p in act.players)
    if act.kind == "deal" and act.hands:
        return f"deal {' / '.join(_list(h) for h in act.hands)} | {_list(act.tiles)}"
    if act.kind == "show" and act.player is None:
        return f"show rest {tiles}"
    if act.kind in ("show", "know"):
        return f"{act.kind} {(act.player or 0) + 1} {tiles}"
    if act.kind == "adjust":
        return f"adjust {(act.player or 0) + 1} {act.points:+d}"
    return act.kind


def parse(line: str) -> Turn:
    """The turn of such a line; raises RulesError quoting what cannot be read."""
    return tuple(_parse_act(part.strip(), line) for part in line.split(";"))


def _parse_act(part: str, line: str) -> Act:
    word, _, rest = part.partition(" ")
    rest = rest.strip()
    if part in ("draw", "pass", "deal", "end"):
        return Act(part)
    if word in _ENDS and _TILE.fullmatch(rest):
        return Act("place", _tile(rest), _ENDS[word])
    if word in ("open", "draw") and _TILE.fullmatch(rest):
        return Act(word, _tile(rest))
    if word == "lot" and re.fullmatch(r"[1-4]( [1-4])*", rest):
        return Act("lot", players=tuple(int(p) - 1 for p in rest.split()))
    if word == "deal" and "|" in rest:
        hands, _, boneyard = rest.partition("|")
        return Act("deal", hands=tuple(_tiles(h) for h in hands.split("/")), tiles=_tiles(boneyard))
    if word in ("show", "know"):
        who, _, shown = rest.partition(" ")
        if who in ("1", "2", "3", "4") or (who, word) == ("rest", "show"):
            player = None if who == "rest" else int(who) - 1
            return Act(word, player=player, tiles=_tiles(",".join(shown.split())))
    if word == "adjust" and (match := re.fullmatch(r"([1-4]) ([+-]\d{1,4})", rest)):
        return Act("adjust", player=int(match[1]) - 1, points=int(match[2]))
    return refuse("bad_text", f"{part!r} in {line!r} is no act like open 14, left 11, draw or pass", text=part)


def position_text(state: State) -> str:
    """A position in one line: line | hands (or their sizes) | boneyard (or its size) | scores | to move | target, and
    where they apply the rest as `name=value` (see `_extras`). Players count from 0."""
    secret = state.secret
    parts = [
        ",".join(f"{a}{b}" for a, b in state.line) or "-",
        " / ".join(str(c) for c in state.counts) if secret else " / ".join(_list(h) for h in state.hands),
        str(state.hidden) if secret else _list(state.boneyard),
        " ".join(str(s) for s in state.scores),
        str(state.to_move),
        str(state.target),
    ]
    extras = _extras(state)
    return " | ".join([*parts, *([extras] if extras else [])])


def _extras(state: State) -> str:
    found: dict[str, str] = {}
    if state.secret:
        found["secret"] = "yes"
    if state.phase != "play":
        found["phase"] = state.phase
    if state.opened:
        found["opened"] = str(state.opened)
    if state.drew:
        found["drew"] = _digits(state.drawn) if state.drawn else "yes"
    if state.passes:
        found["passes"] = str(state.passes)
    if state.lots:
        found["lots"] = ",".join(str(p) for p in state.lots)
    if any(state.known):
        found["known"] = "/".join(_list(h) for h in state.known)
    if state.shown:
        found["shown"] = "/".join("?" if h is None else _list(h) for h in state.shown)
    if state.rest is not None:
        found["rest"] = _list(state.rest)
    if state.round != 1:
        found["round"] = str(state.round)
    if state.starter is not None:
        found["starter"] = str(state.starter)
    if state.last is not None:
        out = "-" if state.last.out is None else str(state.last.out)
        found["last"] = ":".join([out, *(",".join(map(str, v)) for v in (state.last.pips, state.last.costs))])
    if state.over is not None:
        found["over"] = f"{state.over.why}:{'-' if state.over.winner is None else state.over.winner}"
    if state.log:
        found["log"] = ";".join(f"{p}:{_act_text(act).replace(' ', '.')}" for p, act in state.log)
    return " ".join(f"{name}={value}" for name, value in found.items())


def parse_position(line: str) -> State:
    """The position of such a line; raises RulesError that says what is wrong."""
    parts = [p.strip() for p in line.split("|")]
    if len(parts) not in (6, 7):
        refuse("bad_position", f"a position has six or seven parts between |, not {len(parts)}: {line!r}", text=line)
    extra = dict(token.partition("=")[::2] for token in (parts[6].split() if len(parts) == 7 else ()))
    if unknown := [name for name in extra if name not in EXTRAS]:
        refuse("bad_position", f"unknown part {unknown[0]!r} in {line!r}", text=unknown[0])
    secret = extra.get("secret") == "yes"
    hands = [h.strip() for h in parts[1].split("/")]
    known = [list(_pairs(_tiles(h))) for h in extra["known"].split("/")] if "known" in extra else [[]] * len(hands)
    last = extra["last"].split(":") if "last" in extra else None
    why, _, winner = extra.get("over", "").partition(":")
    if last is not None and len(last) != 3:
        refuse("bad_position", f"last={extra['last']!r} must be out:pips:costs", text="last")
    drew = extra.get("drew")
    shown = extra["shown"].split("/") if "shown" in extra else []
    data: dict[str, Json] = {
        "version": VERSION,
        "secret": secret,
        "target": _number(parts[5]),
        "scores": [_number(s) for s in parts[3].split()],
        "phase": extra.get("phase", "play"),
        "to_move": _number(parts[4]),
        "line": _halves(parts[0]),
        "opened": _number(extra.get("opened", "0")),
        "hands": [] if secret else [_pairs(_tiles(h)) for h in hands],
        "boneyard": [] if secret else _pairs(_tiles(parts[2])),
        "counts": [_number(h) for h in hands] if secret else [],
        "hidden": _number(parts[2]) if secret else 0,
        "drew": drew is not None,
        "drawn": None if drew in (None, "yes") else list(_tile(str(drew))),
        "passes": _number(extra.get("passes", "0")),
        "lots": [_number(p) for p in extra["lots"].split(",")] if "lots" in extra else [],
        "known": known if secret else [],
        "shown": [None if h == "?" else _pairs(_tiles(h)) for h in shown],
        "rest": _pairs(_tiles(extra["rest"])) if "rest" in extra else None,
        "log": [_log_text(e) for e in extra["log"].split(";")] if "log" in extra else [],
        "round": _number(extra.get("round", "1")),
        "starter": _number(extra["starter"]) if "starter" in extra else None,
        "last": None
        if last is None
        else {
            "out": None if last[0] == "-" else _number(last[0]),
            "pips": [_number(v) for v in last[1].split(",")],
            "costs": [_number(v) for v in last[2].split(",")],
        },
        "over": {"winner": None if winner == "-" else _number(winner), "why": why} if why else None,
    }
    return from_json(data)


def to_json(state: State) -> Json:
    """The state as JSON: tiles as pairs, the log as `[player, act text]`."""
    over, last = state.over, state.last
    return {
        "version": VERSION,
        "secret": state.secret,
        "target": state.target,
        "scores": list(state.scores),
        "phase": state.phase,
        "to_move": state.to_move,
        "line": _pairs(state.line),
        "opened": state.opened,
        "hands": [_pairs(h) for h in state.hands],
        "boneyard": _pairs(state.boneyard),
        "counts": list(state.counts),
        "hidden": state.hidden,
        "drew": state.drew,
        "drawn": None if state.drawn is None else list(state.drawn),
        "passes": state.passes,
        "lots": list(state.lots),
        "known": [_pairs(h) for h in state.known],
        "shown": [None if h is None else _pairs(h) for h in state.shown],
        "rest": None if state.rest is None else _pairs(state.rest),
        "log": [[p, _act_text(act)] for p, act in state.log],
        "round": state.round,
        "starter": state.starter,
        "last": None if last is None else {"out": last.out, "pips": list(last.pips), "costs": list(last.costs)},
        "over": None if over is None else {"winner": over.winner, "why": over.why},
    }


def from_json(data: Json) -> State:
    """The state; raises RulesError for nonsense, for what breaks conservation and for a later version."""
    if not isinstance(data, dict):
        refuse("bad_position", f"a position is a JSON object, not {type(data).__name__}", text=type(data).__name__)
    if data.get("version") != VERSION:
        found = str(data.get("version"))
        refuse("bad_version", f"version {found}; this program reads {VERSION}", found=found)
    try:
        last, over = data["last"], data["over"]
        state = State(
            players=len(data["scores"]),
            target=_int(data["target"]),
            secret=_bool(data["secret"]),
            scores=_ints(data["scores"]),
            phase=data["phase"],
            to_move=_int(data["to_move"]),
            line=_line(data["line"]),
            opened=_int(data["opened"]),
            hands=tuple(_hand(h) for h in data["hands"]),
            boneyard=_hand(data["boneyard"]),
            counts=_ints(data["counts"]),
            hidden=_int(data["hidden"]),
            drew=_bool(data["drew"]),
            drawn=None if data["drawn"] is None else _hand([data["drawn"]])[0],
            passes=_int(data["passes"]),
            lots=_ints(data["lots"]),
            known=tuple(_hand(h) for h in data["known"]),
            shown=tuple(None if h is None else _hand(h) for h in data["shown"]),
            rest=None if data["rest"] is None else _hand(data["rest"]),
            log=tuple(_entry(e) for e in data["log"]),
            round=_int(data["round"]),
            starter=None if data["starter"] is None else _int(data["starter"]),
            last=None if last is None else RoundEnd(last["out"], _ints(last["pips"]), _ints(last["costs"])),
            over=None if over is None else Over(over["winner"], over["why"]),
        )
    except RulesError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        refuse("bad_position", f"the position cannot be read at {error}", text=str(error))
    check(state)
    return state


def check(state: State) -> None:
    """Raises RulesError when a position breaks what every position keeps: 28 different tiles, a line that joins,
    players who exist, scores in fives."""
    n = state.players
    if n not in TARGET:
        refuse("bad_players", f"{n} players; two to four can play", players=str(n))
    if state.phase not in PHASES:
        refuse("bad_position", f"phase {state.phase!r}, known: {', '.join(PHASES)}", text=str(state.phase))
    ids = [state.to_move, *state.lots, *(p for p, _ in state.log)]
    named = (state.starter, state.last.out if state.last else None, state.over.winner if state.over else None)
    ids += [p for p in named if p is not None]
    if any(isinstance(p, bool) or not isinstance(p, int) or not 0 <= p < n for p in ids):
        refuse("bad_position", f"a player of {ids} does not exist: there are {n}", text="player")
    if state.target <= 0 or any(score % 5 for score in state.scores):
        refuse("bad_position", f"scores {state.scores} and target {state.target} must be in fives", text="scores")
    if (state.phase == "over") != (state.over is not None):
        refuse("bad_position", f"phase {state.phase} does not go with over {state.over}", text="over")
    if not 0 <= state.passes <= n or not 0 <= state.opened < max(1, len(state.line)) or state.round < 1:
        refuse("bad_position", "passes, opened or round is out of range", text="passes")
    for k, ((_, b), (c, _)) in enumerate(pairwise(state.line)):
        if b != c:
            at = str(k + 1 - state.opened)
            refuse(
                "line_does_not_join",
                f"the line does not join at place {at}: {b} and {c}",
                (at,),
                left=str(b),
                right=str(c),
            )
    in_line = [tile_of(a, b) for a, b in state.line]
    in_hands = [t for hand in (state.known if state.secret else state.hands) for t in hand]
    everything = in_line + in_hands + ([] if state.secret else list(state.boneyard))
    if twice := sorted({t for t in everything if everything.count(t) > 1}):
        refuse("tile_twice", f"the tile {twice[0]} is there twice", tile=f"[{twice[0][0]}|{twice[0][1]}]")
    groups = (state.counts, state.known) if state.secret else (state.hands,)
    if any(len(group) != n for group in groups) or (state.shown and len(state.shown) != n):
        refuse("bad_position", f"hands are not those of {n} players", text="hands")
    if state.secret:
        total = len(in_line) + sum(state.counts) + state.hidden
        if min(state.counts) < 0 or state.hidden < 0:
            refuse("bad_position", "a number of tiles is below zero", text="counts")
    else:
        total = len(everything)
    started = state.secret or state.phase != "deal" or state.last is not None
    if total != (len(SET) if started else 0):
        refuse("not_28", f"{total} tiles in all, not {len(SET)}", tiles=str(total))


def refuse(rule: str, said: str, /, places: Iterable[str] = (), **values: str) -> NoReturn:
    """Raises RulesError with the rule `muggins.<rule>`."""
    raise RulesError(Refusal(f"muggins.{rule}", tuple(places), tuple(values.items())), said)


def _digits(tile: Tile) -> str:
    return f"{tile[0]}{tile[1]}"


def _list(tiles: Iterable[Tile]) -> str:
    return ",".join(_digits(t) for t in tiles) or "-"


def _pairs(tiles: Iterable[Tile]) -> list[list[int]]:
    return [list(t) for t in tiles]


def _tile(digits: str) -> Tile:
    if not _TILE.fullmatch(digits):
        refuse("no_such_tile", f"{digits!r} is no tile from 00 to 66", tile=digits)
    return tile_of(int(digits[0]), int(digits[1]))


def _tiles(text: str) -> tuple[Tile, ...]:
    text = text.strip()
    return () if text in ("", "-") else tuple(_tile(t.strip()) for t in text.split(","))


def _halves(text: str) -> list[list[int]]:
    if text == "-":
        return []
    for digits in text.split(","):
        _tile(digits)
    return [[int(d[0]), int(d[1])] for d in text.split(",")]


def _number(text: str) -> int:
    if not re.fullmatch(r"-?\d{1,5}", text):
        refuse("bad_position", f"{text!r} must be a whole number", text=text)
    return int(text)


def _log_text(entry: str) -> Json:
    player, _, act = entry.partition(":")
    return [_number(player), act.replace(".", " ")]


def _entry(entry: Json) -> Entry:
    player, act = entry
    (parsed,) = parse(act)
    if parsed.kind not in ("open", "place", "draw", "pass", "know"):
        refuse("bad_position", f"{act!r} is no part of a round's log", text=str(act))
    return _int(player), parsed


def _line(data: Json) -> Line:
    _hand([sorted(t) for t in data])
    return tuple((t[0], t[1]) for t in data)


def _hand(data: Json) -> tuple[Tile, ...]:
    tiles = []
    for tile in data:
        a, b = tile
        if (a, b) not in IN_SET:
            refuse("no_such_tile", f"{tile!r} is no tile from [0, 0] to [6, 6]", tile=str(tile))
        tiles.append((int(a), int(b)))
    return tuple(tiles)


def _int(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r}, which is no whole number")
    return value


def _ints(values: Json) -> tuple[int, ...]:
    return tuple(_int(v) for v in values)


def _bool(value: Json) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r}, which is neither true nor false")
    return value


def options(given: Mapping[str, str | int | bool]) -> bool:
    """Whether hands are secret, from a setup's options; raises RulesError for others."""
    for name, value in given.items():
        if name != "hands" or value not in ("secret", "open"):
            refuse("bad_option", f"there is no option {name!r} with {value!r}", name=name, value=str(value))
    return given.get("hands", "secret") == "secret"
