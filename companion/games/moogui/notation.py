"""Turns as one line of text. Players are `p1`, `p2`, ...; readings `ada=4`; distances in mm."""

from __future__ import annotations

import re
from collections.abc import Callable

from companion.games.contract import Refusal, RulesError
from companion.games.moogui.catalogue import ID
from companion.games.moogui.state import (
    Clear,
    Decide,
    EndTurn,
    Finish,
    Offer,
    OrderThrow,
    Readings,
    Shield,
    Sign,
    Split,
    StartGame,
    Throw,
    ThrowSentinel,
    TieThrow,
    Turn,
)

_READING = re.compile(r"([1-9]\d?|immune|out|unsure)\Z")
_PLAYER = re.compile(r"p([1-9]\d?)\Z")
_NUMBER = re.compile(r"\d{1,6}(\.\d{1,3})?\Z")


def text(turn: Turn) -> str:
    """`start p1=ada p2=bob`, `order p1=300 p2=out ~5`, `throw p1 ada ada=4`, `sentinel p1 by p2 snow ada=4 snow=6`."""
    match turn:
        case StartGame(lineup):
            return _line("start", *(f"{_p(player)}={piece}" for player, piece in lineup))
        case OrderThrow(distances, uncertainty, readings):
            told = [f"{_p(player)}={'out' if mm is None else _mm(mm)}" for player, mm in distances]
            return _line("order", *told, f"~{_mm(uncertainty)}", *_written(readings))
        case Throw(player, figure, readings):
            return _line("throw", _p(player), figure, *_written(readings))
        case Offer(player, ally, sentinel, by):
            return _line("offer", _p(player), _p(ally), sentinel, "by", _p(by))
        case Sign(player, ally, sentinel, signed_by):
            return _line("sign", _p(player), _p(ally), sentinel, "by", *map(_p, signed_by))
        case ThrowSentinel(player, thrower, figure, readings):
            return _line("sentinel", _p(player), "by", _p(thrower), figure, *_written(readings))
        case EndTurn(player):
            return _line("end", _p(player))
        case Decide(figure, reading):
            return _line("decide", f"{figure}={reading}")
        case Shield(player, again, readings):
            return _line("shield", _p(player), "again" if again else "back", *_written(readings))
        case TieThrow(player, readings):
            return _line("tie", _p(player), *_written(readings))
        case Split(shares):
            return _line("split", *(f"{piece}={_p(player)}" for piece, player in shares))
        case Clear(pieces):
            return _line("clear", *pieces)
        case Finish():
            return "finish"


def parse(line: str) -> Turn:
    """The turn of a line; raises RulesError quoting it."""
    words = line.split()
    try:
        return _PARSERS[words[0]](words[1:])
    except (KeyError, IndexError, ValueError) as error:
        raise RulesError(
            Refusal("moogui.bad_text", values=(("text", line),)), f"no turn of Moogui: {line!r}"
        ) from error


def readings_of(pairs: dict[str, str]) -> Readings:
    """Readings in their canonical order."""
    return tuple(sorted(pairs.items()))


def _order(words: list[str]) -> Turn:
    mark = next((n for n, word in enumerate(words) if word.startswith("~")), 0)
    _must(mark > 0)
    pairs = [_pair(word) for word in words[:mark]]
    distances = tuple((_player(who), None if mm == "out" else _number(mm)) for who, mm in pairs)
    return OrderThrow(distances, _number(words[mark][1:]), _read(words[mark + 1 :]))


def _sign(words: list[str]) -> Turn:
    player, ally, sentinel, by, *who = words
    _must(by == "by" and bool(who))
    return Sign(_player(player), _player(ally), _piece(sentinel), tuple(map(_player, who)))


def _offer(words: list[str]) -> Turn:
    player, ally, sentinel, by, who = words
    _must(by == "by")
    return Offer(_player(player), _player(ally), _piece(sentinel), _player(who))


def _sentinel(words: list[str]) -> Turn:
    _must(words[1] == "by")
    return ThrowSentinel(_player(words[0]), _player(words[2]), _piece(words[3]), _read(words[4:]))


def _shield(words: list[str]) -> Turn:
    _must(words[1] in ("again", "back"))
    return Shield(_player(words[0]), words[1] == "again", _read(words[2:]))


def _decide(words: list[str]) -> Turn:
    (pair,) = _read(words)
    return Decide(*pair)


def _start(words: list[str]) -> Turn:
    _must(bool(words))
    return StartGame(tuple((_player(who), _piece(piece)) for who, piece in map(_pair, words)))


def _end(words: list[str]) -> Turn:
    (who,) = words
    return EndTurn(_player(who))


def _finish(words: list[str]) -> Turn:
    _must(not words)
    return Finish()


_PARSERS: dict[str, Callable[[list[str]], Turn]] = {
    "start": _start,
    "order": _order,
    "throw": lambda words: Throw(_player(words[0]), _piece(words[1]), _read(words[2:])),
    "offer": _offer,
    "sign": _sign,
    "sentinel": _sentinel,
    "end": _end,
    "decide": _decide,
    "shield": _shield,
    "tie": lambda words: TieThrow(_player(words[0]), _read(words[1:])),
    "split": lambda words: Split(tuple((_piece(piece), _player(who)) for piece, who in map(_pair, words))),
    "clear": lambda words: Clear(tuple(map(_piece, words))),
    "finish": _finish,
}


def _line(*words: str) -> str:
    return " ".join(words)


def _p(player: int) -> str:
    return f"p{player + 1}"


def _mm(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _written(readings: Readings) -> list[str]:
    return [f"{piece}={reading}" for piece, reading in readings]


def _player(word: str) -> int:
    found = _PLAYER.match(word)
    if not found:
        raise ValueError(word)
    return int(found[1]) - 1


def _piece(word: str) -> str:
    _must(ID.match(word) is not None)
    return word


def _number(word: str) -> float:
    _must(_NUMBER.match(word) is not None)
    return float(word)


def _pair(word: str) -> tuple[str, str]:
    left, equals, right = word.partition("=")
    _must(bool(left and equals and right))
    return left, right


def _read(words: list[str]) -> Readings:
    pairs = [_pair(word) for word in words]
    _must(all(_READING.match(reading) for _, reading in pairs))
    _must(len({_piece(piece) for piece, _ in pairs}) == len(pairs))
    return readings_of(dict(pairs))


def _must(holds: bool) -> None:
    if not holds:
        raise ValueError("malformed")
