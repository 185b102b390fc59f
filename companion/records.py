"""A match outside the journal: as JSON lines that are complete and can be replayed, and back.

The first line says what follows: format, version, game, players, options, the data played with, how many events. Then
one event a line, as it stands in the journal, with the position (`after`) wherever it changed; the last line closes the
record with its number of turns, the outcome, and the SHA-256 of all lines before it. Reading applies every event by the
rules again and compares every position, so a record that was cut, edited or written by other rules is refused with the
line at which it stops being true.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from companion.evidence import Author
from companion.fold import BrokenHistoryError, apply
from companion.games.contract import DataUsed, Json, RulesError
from companion.journal import Journal, Row
from companion.match import Event, GamesByName, Match
from companion.words import say

FORMAT = "tabletop-companion match"
VERSION = 1
IMPORTED = "imported"
"""The kind of the journal's own event in front of a match that came from a file; it is no part of the record."""

DataOf = Callable[[str, Mapping[str, Json]], DataUsed | None]


class RecordError(Exception):
    """A record that cannot be taken over, or a match that cannot be exported; says which line and why."""


@dataclass(frozen=True, slots=True)
class Record:
    """A verified record: the match that it makes, its events in order, and when each happened by the wall clock."""

    match: Match
    events: tuple[Event, ...]
    wall_s: tuple[float, ...]


def find(journal: Journal, name: str) -> tuple[Row, ...]:
    """The events of the match called so (`last`: the newest one; else its id or the beginning of it, if that is enough
    to tell); raises RecordError naming those there are."""
    ids = list(dict.fromkeys(row.match for row in journal.rows()))
    if not ids:
        raise RecordError("there is no match in this journal yet")
    wanted = ids[-1:] if name == "last" else [m for m in ids if m == name] or [m for m in ids if m.startswith(name)]
    if len(wanted) != 1:
        known = ", ".join(wanted[-8:] or ids[-8:])
        raise RecordError(f"there is {'more than one' if wanted else 'no'} match {name!r}; there are {known}")
    return tuple(row for row in journal.rows(wanted[0]) if row.event.kind != IMPORTED)


def lines(rows: Iterable[Row], games: GamesByName) -> Iterator[str]:
    """The record's lines, each with its line feed; raises RecordError when the events do not make a match."""
    rows = tuple(rows)
    match, digest, first = Match(games), hashlib.sha256(), rows[0].event.data
    head = {
        "format": FORMAT,
        "version": VERSION,
        "match": first["id"],
        "game": first["game"],
        "players": first["players"],
        "options": first["options"],
        "data": first.get("data", {}),
        "events": len(rows),
    }
    line = _dumps(head)
    digest.update(line.encode())
    yield line
    for number, row in enumerate(rows, 1):
        before, match = match, _applied(match, row.event, f"event {number}")
        data = _event_json(number, row)
        if match.states and match.states is not before.states:
            data["after"] = match.rules.position_text(match.agreed)
        line = _dumps(data)
        digest.update(line.encode())
        yield line
    yield _dumps({"end": True, **_ending(match), "sha256": digest.hexdigest()})


def read(text: str, games: GamesByName, data_of: DataOf | None = None) -> Record:
    """The record of such lines, replayed; raises RecordError with the line that is wrong, and what is wrong with it."""
    head, body, end = _parsed(text)
    used = _data_of(head, games, data_of)
    source = text.splitlines(keepends=True)
    match, digest = Match(games), hashlib.sha256(source[0].encode())
    events: list[Event] = []
    walls: list[float] = []
    for number, data in enumerate(body, 2):
        where = f"line {number}"
        try:
            event = _event(data)
            walls.append(float(data["wall_s"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise RecordError(f"{where}: is no event: {error}") from error
        if data.get("n") != number - 1:
            raise RecordError(f"{where}: event {data.get('n')!r} where event {number - 1} should be; lines are missing")
        if number == 2 and (event.kind != "opened" or _opening(event) != _opening_of(head)):
            raise RecordError(f"{where}: the match does not begin as the first line says")
        if number == 2 and used is not None and not event.data.get("given") and used.hash != head["data"].get("hash"):
            played = f"{head['data'].get('name')!r} {head['data'].get('hash')}"
            raise RecordError(f"line 1: played with {played}, but this program has {used.name!r} {used.hash}")
        if number > 2 and event.kind == "opened":
            raise RecordError(f"{where}: another match begins here")
        match = _applied(match, event, where)
        if "after" in data:
            now = match.rules.position_text(match.agreed) if match.states else ""
            if now != data["after"]:
                raise RecordError(f"{where}: {event.kind} leads to {now!r}, not to {data['after']!r}")
        digest.update(source[number - 1].encode())
        events.append(event)
    where = f"line {len(source)}"
    for key, value in _ending(match).items():
        if end.get(key) != value:
            raise RecordError(f"{where}: {key} is {end.get(key)!r}, but the events make it {value!r}")
    if end.get("sha256") != digest.hexdigest():
        raise RecordError(f"{where}: the lines before it are not those that were exported (their SHA-256 differs)")
    return Record(match, tuple(events), tuple(walls))


def take_over(journal: Journal, record: Record, source: str, go_on: bool = False) -> bool:
    """Writes a record into the journal, or returns False when it stands there already; raises RecordError when
    another match of the same id does. `go_on`: it becomes the match that the service continues."""
    match_id = record.match.id
    known = tuple(row.event for row in journal.rows(match_id) if row.event.kind != IMPORTED)
    if known == record.events:
        return False
    if known:
        raise RecordError(f"the journal holds another match {match_id} already; nothing was written")
    note = () if go_on else (Event(IMPORTED, {"from": source}, Author("program", "import")),)
    journal.append(match_id, (*note, *record.events), (*(record.wall_s[:1] if note else ()), *record.wall_s))
    return True


def text(rows: Iterable[Row], games: GamesByName, lang: str = "en") -> str:
    """The match for people to read: who, what, when, then the turns in the game's notation with their words."""
    rows = tuple(rows)
    match = Match(games)
    for row in rows:
        match = _applied(match, row.event, f"event {row.number}")
    options = " ".join(f"{key}={_plain(value)}" for key, value in match.setup.options.items())
    out = [
        f"Game: {match.game}",
        f"Match: {match.id}",
        f"Players: {', '.join(f'{n}. {name}' for n, name in enumerate(match.setup.players, 1))}",
        f"Options: {options or '-'}",
    ]
    if match.data:
        out.append(f"Data: {match.data['name']} {match.data['hash']}")
    if match.states:
        out += [f"Start: {match.rules.position_text(match.states[0])}", "", *_turns(match, lang), ""]
        out.append(f"Position: {match.rules.position_text(match.agreed)}")
    outcome = match.outcome
    result = "*" if outcome is None else say(outcome.reason, lang, match.setup.players)
    return "\n".join([*out, f"Result: {result}"]) + "\n"


def _turns(match: Match, lang: str) -> Iterator[str]:
    number = 0
    for entry in match.entries:
        if not entry.text:
            yield f"     ({' '.join(f'{key}={value}' for key, value in sorted(entry.facts.items()))})"
            continue
        number += 1
        who = match.setup.players[entry.player] if 0 <= entry.player < len(match.setup.players) else "-"
        marks = " (corrected)" if entry.corrected else ""
        marks += f" (refused: {entry.refused})" if entry.refused else ""
        words = say(entry.words, lang, match.setup.players)
        yield f"{number:3}. {who}: {entry.text or '-'}{marks}  ; {words}"


def _plain(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _applied(match: Match, event: Event, where: str) -> Match:
    try:
        return apply(match, event)
    except BrokenHistoryError as error:
        cause = error.__cause__
        why = say(cause.refusal.message) if isinstance(cause, RulesError) else str(cause or error)
        raise RecordError(f"{where}: {event.kind} {_brief(event)}is refused: {why}") from error


def _brief(event: Event) -> str:
    said = event.data.get("turn") or event.data.get("text")
    return f"{said!r} " if said else ""


def _ending(match: Match) -> dict[str, Json]:
    outcome = match.outcome
    return {
        "turns": match.turns,
        "winners": None if outcome is None else list(outcome.winners),
        "why": None if outcome is None else outcome.reason.id,
    }


def _event_json(number: int, row: Row) -> dict[str, Json]:
    event = row.event
    return {
        "n": number,
        "kind": event.kind,
        "data": dict(event.data),
        "author": [event.author.kind, event.author.name, event.author.player],
        "picture": event.picture,
        "wall_s": row.wall_s,
    }


def _event(data: Mapping[str, Any]) -> Event:
    kind, name, player = data["author"]
    if not isinstance(data["data"], dict) or not isinstance(data["kind"], str):
        raise ValueError("kind and data are missing")
    return Event(data["kind"], data["data"], Author(str(kind), str(name), player), str(data["picture"]))


def _parsed(text: str) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            data = json.loads(line)
        except ValueError as error:
            raise RecordError(f"line {number}: is no JSON: {error}") from error
        if not isinstance(data, dict):
            raise RecordError(f"line {number}: must be a JSON object, not {line[:40]!r}")
        found.append(data)
    if not found or found[0].get("format") != FORMAT:
        raise RecordError(f"line 1: this is no match that was exported (its format is not {FORMAT!r})")
    if found[0].get("version") != VERSION:
        raise RecordError(f"line 1: version {found[0].get('version')!r}; this program reads version {VERSION}")
    if len(found) < 3 or "end" not in found[-1]:
        raise RecordError(f"line {len(found)}: the record is cut off here; its last line is missing")
    if found[0].get("events") != len(found) - 2:
        raise RecordError(f"line 1: says {found[0].get('events')!r} events, but there are {len(found) - 2}")
    return found[0], found[1:-1], found[-1]


def _opening(event: Event) -> tuple[Any, ...]:
    d = event.data
    return d.get("id"), d.get("game"), d.get("players"), d.get("options"), d.get("data", {})


def _opening_of(head: Mapping[str, Any]) -> tuple[Any, ...]:
    return head.get("match"), head.get("game"), head.get("players"), head.get("options"), head.get("data")


def _data_of(head: Mapping[str, Any], games: GamesByName, data_of: DataOf | None) -> DataUsed | None:
    """The data that this program would use for such a match, where the record names any."""
    game, data = head.get("game"), head.get("data")
    try:
        games(str(game))
    except LookupError:
        raise RecordError(f"line 1: this program does not know the game {game!r}") from None
    if not isinstance(head.get("options"), dict) or not isinstance(data, dict):
        raise RecordError("line 1: options and data must be objects")
    return data_of(str(game), head["options"]) if data_of and data else None


def _dumps(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
