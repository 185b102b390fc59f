"""What Moogui's matches come to: players, figures, how fairly each falls, and who owns which pieces after each game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from companion.games.contract import Message
from companion.games.moogui.state import IMMUNE, OUT, State
from companion.games.moogui.statistics import Record, fairness, gathered
from companion.games.sheets import Cell, Played, Sheet

MOST_LEDGERS, MOST_GAMES = 8, 40
"""The newest competitions that are shown, and of each the newest games."""
_COLUMNS = ("games", "wins", "throws", "score", "shield", "immune", "out", "far")
_FAIR = ("faces", "expected", "statistic", "degrees", "p")


def sheets(played: Sequence[Played]) -> tuple[Sheet, ...]:
    """All tables of these matches, oldest match first."""
    players: dict[str, Record] = {}
    figures: dict[str, Record] = {}
    faces: dict[str, int] = {}
    for match in played:
        found = gathered(match.steps)
        for who, record in found.players.items():
            _add(players.setdefault(match.players[who], Record()), record)
        for piece, record in found.figures.items():
            _add(figures.setdefault(piece, Record()), record)
            model = match.steps[0][0].rule.model(piece)
            faces[piece] = len(model.powers) if model is not None else 6
    if not players:
        return ()
    fair = tuple(_fair(piece, record, faces[piece]) for piece, record in sorted(figures.items()))
    return (
        Sheet(_word("players"), _heads("who", *_COLUMNS), _rows(players)),
        Sheet(_word("figures"), _heads("figure", *_COLUMNS), _rows(figures)),
        Sheet(_word("fairness"), _heads("figure", *_FAIR), fair, _word("fairness_note")),
        *_ledgers(played),
    )


def _ledgers(played: Sequence[Played]) -> Iterable[Sheet]:
    """Who owned what at the start of each competition and after each of its games, the newest competition first."""
    competitions = [m for m in played if m.steps and m.steps[0][0].rule.mode == "competition"]
    for match in reversed(competitions[-MOST_LEDGERS:]):
        rows = [_owned(match, match.steps[0][0], None)]
        rows += [_owned(match, after, after) for before, _, after in match.steps if after.games > before.games]
        title = Message("moogui.sheet_ledger", (("games", len(rows) - 1), ("match", match.match)))
        shown = rows if len(rows) <= MOST_GAMES + 1 else [rows[0], *rows[-MOST_GAMES:]]
        pieces = len(match.steps[0][0].owners)
        columns: tuple[Message | str, ...] = (_word("game"), _word("winner"), *match.players)
        yield Sheet(title, columns, tuple(shown), Message("moogui.sheet_ledger_note", (("pieces", pieces),)))


def _owned(match: Played, state: State, ended: State | None) -> tuple[Cell, ...]:
    """A row of the ledger: the game's number, its winner, and everybody's pieces with their number."""
    winner: Cell = "-"
    if ended is not None and ended.last is not None and ended.last[0] >= 0:
        winner = match.players[ended.last[0]]
    owned: list[Cell] = []
    for who in range(len(match.players)):
        pieces = [piece for piece, owner in state.owners if owner == who]
        owned.append(f"{len(pieces)}: {', '.join(pieces)}" if pieces else "0")
    return (state.games if ended is not None else 0, winner, *owned)


def _fair(piece: str, record: Record, faces: int) -> tuple[Cell, ...]:
    fair = fairness(record.falls, faces)
    counts = ", ".join(map(str, fair.counts))
    if fair.p is None:
        return (piece, counts, round(fair.expected, 1), "-", fair.degrees, _word("too_few"))
    return (piece, counts, round(fair.expected, 1), round(fair.statistic, 2), fair.degrees, round(100 * fair.p, 1))


def _rows(records: Mapping[str, Record]) -> tuple[tuple[Cell, ...], ...]:
    return tuple((name, *_values(record)) for name, record in sorted(records.items()))


def _values(record: Record) -> tuple[Cell, ...]:
    score, far = record.mean_score, record.mean_distance_mm
    return (
        record.games,
        record.wins,
        record.throws,
        "-" if score is None else round(score, 1),
        round(100 * record.shields / record.throws) if record.throws else 0,
        round(100 * record.share(IMMUNE)),
        round(100 * record.share(OUT)),
        "-" if far is None else round(far),
    )


def _add(all_of_it: Record, record: Record) -> None:
    all_of_it.games += record.games
    all_of_it.wins += record.wins
    all_of_it.falls += record.falls
    all_of_it.scores += record.scores
    all_of_it.shields += record.shields
    all_of_it.distances_mm += record.distances_mm


def _word(key: str) -> Message:
    return Message(f"moogui.sheet_{key}")


def _heads(*keys: str) -> tuple[Message, ...]:
    return tuple(_word(key) for key in keys)
