"""Records all inputs of a match on one time line, and replays them: a strange evening becomes a test.

A recording is a folder: `inputs.jsonl`, one JSON line an input (reading, command, roll) in the order in which the match
heard them, with what the match made of each; and `frames/`, the raw pictures of the readings as JPEG, named by time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.profile import TableProfile, load_profile, save_profile
from companion.evidence import Author, Chose, Evidence, Rolled, Seen
from companion.fold import fold
from companion.games.contract import Json
from companion.match import Event, GamesByName, Match
from companion.process_child import frame_name
from companion.step import Step, step
from devices.contract import Frame
from vision.contract import Reader
from vision.reading import Fact, Piece, Reading

FORMAT, VERSION = "tabletop companion inputs", 1
INPUTS, FRAMES, PROFILE = "inputs.jsonl", "frames", "profile.toml"
SHOWN = 10
Readers = Callable[[str, Mapping[str, str | int | bool], TableProfile | None], Reader]
"""Makes the eyes of a game with these options; by this profile, or by the board spec that ships."""
_ROLL = ("die", "value", "faces", "at_s", "picture")


class RecordingError(Exception):
    """A recording that cannot be made or read; the message names file and line and says what to do."""


class Recorder:
    """Writes a recording; `note` is called by the service after every input, in its thread.

    Raises RecordingError when the folder cannot be used or holds a recording already. A recording that cannot be
    written any further ends (`failed` says why); it never stops the match.
    """

    def __init__(self, folder: Path, history: Iterable[Event] = (), profile: TableProfile | None = None) -> None:
        self.folder, self.frames = folder, folder / FRAMES
        self.failed = ""
        try:
            self.frames.mkdir(parents=True, exist_ok=True)
            self._file = (folder / INPUTS).open("x", encoding="utf-8")
        except FileExistsError:
            raise RecordingError(f"{folder} holds a recording already; choose another folder") from None
        except OSError as error:
            raise RecordingError(
                f"nothing can be recorded in {folder}: {error.strerror}; choose another folder"
            ) from error
        if profile is not None:
            save_profile(profile, folder / PROFILE)
        self._write({"format": FORMAT, "version": VERSION, "history": [_event(e) for e in history]})

    def note(self, evidence: Evidence, done: Step) -> None:
        """Writes one input and what came of it."""
        line = {"at_s": round(time.monotonic(), 3), **_evidence(evidence), "made": _made(done)}
        self._write(line)

    def close(self) -> None:
        """Ends the recording; may be called any number of times."""
        self._file.close()

    def _write(self, line: Json) -> None:
        if self.failed:
            return
        try:
            self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            self.failed = str(error)


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay found: how many inputs, how many turns were final at the end, and where it came out otherwise."""

    inputs: int
    turns: int
    differences: tuple[str, ...]


def replay(file: Path, games: GamesByName, reader_of: Readers | None = None) -> Replay:
    """Gives the recorded inputs to a match again and compares what it makes of each.

    `file` is a recording's folder or its `inputs.jsonl`. With `reader_of` the kept frames are read anew instead of
    taking the recorded readings; then only the verdicts are compared, not the events' data.
    Raises RecordingError.
    """
    file = file / INPUTS if file.is_dir() else file
    lines = _lines(file)
    _, head = next(lines, (0, None))
    if not isinstance(head, dict) or head.get("format") != FORMAT or head.get("version") != VERSION:
        raise RecordingError(f"{file} is no recording of inputs that this program can read (version {VERSION})")
    match, count, differences = _begun(file, head, games), 0, list[str]()
    rereader = _Rereader(file.parent, reader_of) if reader_of is not None else None
    for number, line in lines:
        try:
            evidence = _heard(line)
            made = line["made"]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise RecordingError(f"{file}, line {number}: this is no input ({error!r})") from error
        if rereader is not None and isinstance(evidence, Seen):
            evidence = rereader.again(evidence, match)
        done = step(match, evidence)
        now = _made(done)
        if rereader is not None:
            made, now = _verdict(made), _verdict(now)
        if now != json.loads(json.dumps(made)):
            differences.append(f"line {number}, {line['kind']}: recorded {_short(made)}, now {_short(now)}")
        match = done.match
        if rereader is not None and isinstance(evidence, Seen):
            rereader.agreed(evidence, match)
        count += 1
    return Replay(count, match.turns, tuple(differences))


class _Rereader:
    """Reads kept frames with the reader of today."""

    def __init__(self, folder: Path, reader_of: Readers) -> None:
        self._folder, self._reader_of = folder, reader_of
        self._reader: Reader | None = None
        self._game: tuple[str, Mapping[str, str | int | bool]] = ("", {})

    def again(self, seen: Seen, match: Match) -> Seen:
        """The evidence with a new reading; as recorded where no frame was kept."""
        path = self._folder / FRAMES / frame_name(seen.reading.time_s)
        data = np.frombuffer(path.read_bytes(), np.uint8) if path.exists() else np.zeros(0, np.uint8)
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        game = (match.game, match.setup.options) if match.game else self._game
        if picture is None or not game[0]:
            return seen
        if self._reader is None or game != self._game:
            saved = self._folder / PROFILE
            self._reader = self._reader_of(*game, load_profile(saved) if saved.exists() else None)
            self._game = game
        image = np.asarray(picture, np.uint8)
        image.flags.writeable = False
        reading = self._reader.read(Frame(image, seen.reading.frame_number, seen.reading.time_s, str(path)))
        return Seen(reading, seen.picture, seen.author) if reading.facts else seen

    def agreed(self, seen: Seen, match: Match) -> None:
        """Lets the reader learn where the match has no doubt."""
        if self._reader is not None and match.phase == "playing" and match.doubt is None and match.lag is None:
            self._reader.agree(match.rules.look(match.now))


def _begun(file: Path, head: dict[str, Any], games: GamesByName) -> Match:
    try:
        events = [Event(kind, data, Author(*author), picture) for kind, data, author, picture in head["history"]]
        return fold(events, games)
    except Exception as error:  # any field of a damaged head may be of any kind
        raise RecordingError(f"{file}: the match before the recording cannot be rebuilt: {error!r}") from error


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordingError(f"the recording {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordingError(f"the recording {file} cannot be read: {error}") from error
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError as error:
            if number == len(lines):  # the program ended in the middle of a line
                return
            raise RecordingError(f"{file}, line {number}: this is no JSON ({error})") from error


def _made(done: Step) -> Json:
    judgement = done.match.judgement
    return {
        "ok": done.reply.ok,
        "says": done.reply.words.id if done.reply.words else "",
        "events": [[e.kind, json.loads(json.dumps(dict(e.data)))] for e in done.events],
        "judged": [judgement.kind, judgement.words.id] if judgement else [],
        "turns": done.match.turns,
    }


def _verdict(made: Any) -> Json:
    return {"kinds": [kind for kind, _ in made["events"]], "judged": made["judged"], "turns": made["turns"]}


def _short(made: Json) -> str:
    text = json.dumps(made, ensure_ascii=False)
    return text if len(text) < 300 else f"{text[:300]}..."


def _event(event: Event) -> Json:
    return [event.kind, dict(event.data), _author(event.author), event.picture]


def _author(author: Author) -> Json:
    return [author.kind, author.name, author.player]


def _evidence(evidence: Evidence) -> dict[str, Json]:
    author = _author(evidence.author)
    if isinstance(evidence, Seen):
        return {
            "kind": "seen",
            "author": author,
            "picture": evidence.picture,
            "reading": reading_json(evidence.reading),
        }
    if isinstance(evidence, Chose):
        return {"kind": "chose", "author": author, "command": evidence.command, "args": dict(evidence.args)}
    return {"kind": "rolled", "author": author, **{name: getattr(evidence, name) for name in _ROLL}}


def _heard(line: Any) -> Evidence:
    author = Author(*line["author"])
    if line["kind"] == "seen":
        return Seen(reading_of_json(line["reading"]), line["picture"], author)
    if line["kind"] == "chose":
        return Chose(line["command"], author, line["args"])
    if line["kind"] == "rolled":
        return Rolled(author=author, **{name: line[name] for name in _ROLL if name in line})
    raise ValueError(f"unknown kind {line['kind']!r}")


def reading_json(reading: Reading) -> dict[str, Json]:
    """A reading as JSON; `reading_of_json` gives it back equal."""
    data = {f.name: _plain(getattr(reading, f.name)) for f in fields(reading) if f.name not in ("facts", "pieces")}
    data["facts"] = _facts_json(reading.facts)
    data["pieces"] = [
        {**{f.name: _plain(getattr(p, f.name)) for f in fields(p) if f.name != "facts"}, "facts": _facts_json(p.facts)}
        for p in reading.pieces
    ]
    return data


def reading_of_json(data: Any) -> Reading:
    """A reading from JSON; raises KeyError, TypeError or ValueError for anything else."""
    rest = {k: _frozen(v) for k, v in data.items() if k not in ("facts", "pieces")}
    if "still" in rest:
        rest["still"] = frozenset(rest["still"])
    pieces = tuple(
        Piece(facts=_facts(p["facts"]), **{k: _frozen(v) for k, v in p.items() if k != "facts"}) for p in data["pieces"]
    )
    return Reading(facts=_facts(data["facts"]), pieces=pieces, **rest)


def _facts_json(facts: Any) -> Json:
    return {k: [list(f.values), [float(x) for x in f.log_likelihoods], f.hidden, f.reason] for k, f in facts.items()}


def _facts(data: Any) -> dict[str, Fact]:
    return {k: Fact(tuple(v), tuple(x), hidden, reason) for k, (v, x, hidden, reason) in data.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return value.item() if isinstance(value, np.generic) else value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
