"""Moguli in text: turns (`R b3+90, M c1-d4, B b3-90`) and positions (one line).

A turn's acts are parted by `, `: `R` and `B` with a tile and the angle clockwise seen from above (+90, +180, -90; a
printed +270 is read as -90), `M` with two doors, `X4` or `X-` for the exchange of the starting row, `resign 2` (or
`resign`, the player to move), `draw`; `-` is a turn in which nothing is done.

A position is rows 7 to 1 parted by `/`, each tile `b` or `s` (capital with the triangle) and its rotation; `1:` and
`2:` with the pawns' doors; player to move; locked tiles; blocked run; `L` in the last turn; flags `c` cylinder, `p`
ability "position", `m` compulsory actions. What is not usual follows: `rows` (variant new starting row), `setup=1`
(whose exchange is due), `over=2,four` (0: draw).
"""

from __future__ import annotations

import re
from typing import NoReturn

from companion.games.contract import Refusal, RulesError
from companion.games.moguli.board import (
    BIT,
    INDEX,
    NAMES,
    ROWS,
    STRAIGHT,
    TRIANGLE,
    code_from_rotation,
    names_in,
    rotation_of,
)
from companion.games.moguli.state import ACTS, BONUS, PAWNS, ROTATE, Options, Over, State, Turn

_SPIN = re.compile(r"([RB]) ?([a-e][1-7]) ?([+-]\d+)")
_QUARTERS = {"+90": 1, "+180": 2, "-90": 3, "+270": 3, "-180": 2, "-270": 1}
WHYS = ("four", "both_four", "blocked", "resigned", "agreed")


def turn_text(turn: Turn) -> str:
    """One line of notation that `parse_turn` reads back."""
    return ", ".join(turn) or "-"


def parse_turn(text: str) -> Turn:
    """The turn of a notation line; raises RulesError quoting the part that cannot be read."""
    stripped = text.strip()
    if stripped == "-":
        return ()
    return tuple(_parse_act(part.strip(), text) for part in stripped.split(","))


def _parse_act(part: str, text: str) -> str:
    if part in ACTS:
        return part
    found = _SPIN.fullmatch(part)
    if found and found[3] in _QUARTERS:
        table = ROTATE if found[1] == "R" else BONUS
        return table[INDEX[found[2]]][_QUARTERS[found[3]]]
    raise RulesError(
        Refusal("moguli.bad_turn_text", values=(("part", part), ("text", text))),
        f"cannot read {part!r} in the turn {text!r}; a turn looks like 'R b3+90, M c1-d4, B b3-90', '-', 'X4', 'draw'",
    )


def position_text(state: State) -> str:
    """The state as one line of text that `parse_position` reads back."""
    words = [
        tiles_text(state.tiles),
        *(f"{player + 1}:{','.join(sorted(names_in(state.pawns[player]))) or '-'}" for player in range(2)),
        str(state.to_move + 1),
        ",".join(sorted(names_in(state.locked))) or "-",
        str(state.blocked_run),
        "L" if state.last_turn else "-",
        _flags(state.options) or "-",
    ]
    if state.options.new_starting_row:
        words.append("rows")
    if state.setup is not None:
        words.append(f"setup={state.setup + 1}")
    if state.over is not None:
        winner = 0 if state.over.winner is None else state.over.winner + 1
        words.append(f"over={winner},{state.over.why}")
    return " ".join(words)


def _flags(options: Options) -> str:
    return (
        ("c" if options.cylinder else "")
        + ("p" if options.ability == "position" else "")
        + ("m" if options.compulsory_actions else "")
    )


def tiles_text(tiles: tuple[int, ...]) -> str:
    """The tiles, rows 7 to 1 parted by `/`."""
    words = []
    for code in tiles:
        letter = "s" if STRAIGHT[code] else "b"
        words.append((letter.upper() if TRIANGLE[code] else letter) + str(rotation_of(code)))
    return "/".join("".join(words[5 * row : 5 * row + 5]) for row in reversed(range(ROWS)))


def _bad(text: str, part: str, why: str) -> NoReturn:
    raise RulesError(
        Refusal("moguli.bad_position_text", values=(("part", part), ("text", text))),
        f"cannot read {part!r} in the position {text!r}: {why}",
    )


def parse_position(text: str) -> State:
    """The state of a position line; raises RulesError quoting what is wrong."""
    words = text.split()
    if len(words) < 8:
        _bad(text, text, f"it has {len(words)} words, a position has 8 or more")
    first, second = (_pawns(text, words[1 + player], player) for player in range(2))
    if first & second:
        _bad(text, words[2], f"two pawns on {', '.join(names_in(first & second))}")
    for word, mask in ((words[1], first), (words[2], second)):
        if mask.bit_count() > PAWNS:
            _bad(text, word, f"nobody has more than {PAWNS} pawns")
    if words[3] not in ("1", "2"):
        _bad(text, words[3], "the player to move is 1 or 2")
    if not words[5].isascii() or not words[5].isdigit():
        _bad(text, words[5], "the blocked run is a number")
    if words[6] not in ("L", "-"):
        _bad(text, words[6], "the last turn is marked L, any other -")
    if words[7] != "-" and (set(words[7]) - set("cpm") or len(set(words[7])) < len(words[7])):
        _bad(text, words[7], "the flags are of c, p, m, or -")
    setup, over, rows = _more(text, words[8:])
    return State(
        tiles=parse_tiles(words[0], text),
        pawns=(first, second),
        to_move=int(words[3]) - 1,
        locked=_doors(text, words[4], words[4]),
        blocked_run=int(words[5]),
        last_turn=words[6] == "L",
        options=Options("c" in words[7], rows, "position" if "p" in words[7] else "turn", "m" in words[7]),
        setup=setup,
        over=over,
    )


def _more(text: str, words: list[str]) -> tuple[int | None, Over | None, bool]:
    setup: int | None = None
    over: Over | None = None
    rows = False
    for word in words:
        if word == "rows":
            rows = True
        elif word in ("setup=1", "setup=2"):
            setup = int(word[-1]) - 1
        elif (found := re.fullmatch(r"over=([012]),(\w+)", word)) and found[2] in WHYS:
            over = Over(int(found[1]) - 1 if found[1] != "0" else None, found[2])
        else:
            _bad(text, word, "after the flags come only rows, setup=1, setup=2, over=WINNER,REASON")
    return setup, over, rows


def parse_tiles(word: str, text: str) -> tuple[int, ...]:
    """The 35 codes of `tiles_text`; raises RulesError quoting `text`, the line in which it stands."""
    rows = word.split("/")
    if len(rows) != ROWS:
        _bad(text, word, f"{len(rows)} rows, there are 7")
    codes: list[int] = []
    for row in reversed(rows):
        if not re.fullmatch(r"([bB][0-3]|[sS][01]){5}", row):
            _bad(text, row, "a row is five tiles like b0, B3, s1, S0")
        codes.extend(
            code_from_rotation(row[at] in "sS", row[at].isupper(), int(row[at + 1])) for at in range(0, len(row), 2)
        )
    return tuple(codes)


def _pawns(text: str, word: str, player: int) -> int:
    prefix = f"{player + 1}:"
    if not word.startswith(prefix):
        _bad(text, word, f"the pawns of player {player + 1} begin with {prefix}")
    return _doors(text, word, word.removeprefix(prefix))


def _doors(text: str, word: str, listed: str) -> int:
    mask = 0
    for name in () if listed == "-" else listed.split(","):
        if name not in INDEX or mask & BIT[INDEX[name]]:
            _bad(text, word, f"{name!r} is no door from {NAMES[0]} to {NAMES[-1]}, or stands there twice")
        mask |= BIT[INDEX[name]]
    return mask
