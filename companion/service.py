"""The service: one inbox, one thread, one writer. Evidence goes in; what is durable is told to everybody."""

from __future__ import annotations

import logging
import queue
import random
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from companion.bulletin import Bulletin, Device, Snapshot, Trouble, Viewer
from companion.clips import Clips
from companion.commands import Reply
from companion.evidence import Author, Chose, Evidence, Rolled, Seen
from companion.fold import BrokenHistoryError, fold
from companion.games.contract import DataUsed, Json, Message
from companion.journal import Journal, JournalError
from companion.match import GamesByName, Match, as_json
from companion.moments import Moments
from companion.sight import DOUBTFUL, said_by
from companion.snapshots import snapshot
from companion.step import Step, step
from companion.tray import Tray
from companion.watcher import Watcher
from devices.contract import Clock, DeviceGone, Lights

REPLY_S = 10.0
_OURS = (
    *("id", "at_s", "manual", "corners", "done_expected", "data", "given", "undo", "hints"),
    *("found", "clip", "said"),
)
"""Arguments that only the service may add."""
_log = logging.getLogger(__name__)

Dealer = Callable[[str, random.Random], Json]
"""Deals a start: game name and chance -> the game's `Setup.start`."""


DataOf = Callable[[str, Mapping[str, Json]], DataUsed | None]
"""The data that a game with these options is played with; LookupError for an unknown game."""

PiecesOf = Callable[[str, Sequence[str], bool], Mapping[str, Json] | Message]
"""What stands in the start of a game of these players: the pieces that are theirs; or why they cannot begin. The flag
says that a camera will read the table."""

HintOf = Callable[[str], Callable[[Any], tuple[Any, Message]] | None]
"""Who gives hints in a game, or None."""


@dataclass(frozen=True, slots=True)
class _Health:
    device: Device | None
    trouble: Trouble | None


class Service:
    """Holds the match. `submit`, `hear` and `report` may be called from any thread.

    `hint` makes hints possible at this table; `undo` is one of `companion.consent.UNDO`; `clips` is where pictures of
    doubted turns go (None: nowhere); `pieces` knows whose pieces there are. With `start` a thread of its own works
    through the inbox; without it every call is worked off at once in the caller's thread, one after the other, which is
    how tests and simulations run.
    """

    def __init__(
        self,
        games: GamesByName,
        journal: Journal,
        bulletin: Bulletin,
        *,
        deal: Dealer | None = None,
        data: DataOf | None = None,
        hint: HintOf | None = None,
        undo: str = "chance",
        clips: Clips | None = None,
        pieces: PiecesOf | None = None,
        clock: Clock | None = None,
        lights: Lights | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self._journal, self.bulletin = journal, bulletin
        self._deal, self._lights = deal, lights
        self._data, self._hint, self._undo = data, hint, undo
        self._chance = chance or random.Random(secrets.randbits(64))
        self._now_s: Callable[[], float] = clock.now_s if clock is not None else time.monotonic
        self._watcher: Watcher | None = None
        self._buttons = False
        self._health: dict[str, _Health] = {}
        self._number = 0
        self._signal = ""
        self.on_input: Callable[[Evidence, Step], None] = lambda evidence, done: None
        """Called after every input that was worked off, in the order of the inputs; a recorder listens here."""
        self.on_opened: Callable[[], None] = lambda: None
        """Called when a new game has been opened: it may be played on another board."""
        self.write_s = 0.0
        """How long the newest write to the disk took."""
        self._picture = ""
        self._said: dict[str, str] = {}
        self._moments = Moments(clips)
        self._pieces = pieces
        self._trays: dict[Author, Tray] = {}
        self._inbox: queue.SimpleQueue[tuple[Evidence | Callable[[], None] | None, Future[Reply] | None]] = (
            queue.SimpleQueue()
        )
        self._thread: threading.Thread | None = None
        self._turn = threading.RLock()
        self.match = self._resumed(games)
        self._publish()

    def _resumed(self, games: GamesByName) -> Match:
        """The match that was open when the program ended; a match that cannot be rebuilt is left in peace and said."""
        last = self._journal.last_match()
        if last is None:
            return Match(games)
        try:
            return fold((row.event for row in self._journal.rows(last)), games)
        except (BrokenHistoryError, LookupError) as error:
            _log.error("the last match cannot be continued: %s", error)
            words = Message("companion.match_not_continued")
            self._health["journal"] = _Health(None, Trouble("journal", words, self._now_s()))
            return Match(games)

    def watch(self, watcher: Watcher) -> None:
        """Connects the eyes."""
        self._watcher = watcher
        if self.match.side not in ("", "known"):
            watcher.turn_board(self.match.side)
        self._tell_watcher(None)
        self._publish()

    def light(self, lights: Lights) -> None:
        """Shows every signal on these lights from now on."""
        self._lights, self._signal = lights, ""
        self._show(self.bulletin.snapshot().signal)

    def has_buttons(self, there: bool) -> None:
        """Whether the players have done-buttons: then a turn ends only by them or by the dashboard."""
        self._buttons = there

    def submit(self, command: str, args: Mapping[str, Json], author: Author) -> Reply:
        """Gives a command and returns what came of it; an event that it caused is durable by then."""
        return self._send(Chose(command, author, dict(args)))

    def hear(self, evidence: Evidence) -> None:
        """Gives evidence without waiting for what comes of it."""
        if self._thread is None:
            self._take(evidence)
        else:
            self._inbox.put((evidence, None))

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """A device's state, and what is wrong with it in words that say what to do (None: nothing any more)."""

        def note() -> None:
            old = self._health.get(name)
            since_s = old.trouble.since_s if old and old.trouble and old.trouble.words == trouble else self._now_s()
            new = _Health(device, Trouble(name, trouble, since_s) if trouble else None)
            if new != old:
                self._health[name] = new
                self._publish()

        if self._thread is None:
            with self._turn:
                note()
        else:
            self._inbox.put((note, None))

    @property
    def disk_trouble(self) -> bool:
        """True while the newest event could not be written."""
        health = self._health.get("journal")
        return health is not None and health.trouble is not None and health.trouble.words.id == "companion.disk"

    def probe_disk(self) -> None:
        """Tries whether the journal can be written (again), and how fast."""

        def probe() -> None:
            began_s = self._now_s()
            written = self._journal.probe()
            self.write_s = self._now_s() - began_s
            if written and self.disk_trouble:
                del self._health["journal"]
                self._publish()

        if self._thread is None:
            with self._turn:
                probe()
        else:
            self._inbox.put((probe, None))

    def start(self) -> None:
        """Begins to work in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="service", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Works off what came before and ends; harmless when it does not run."""
        thread = self._thread
        if thread is not None:
            self._inbox.put((None, None))
            thread.join(REPLY_S)
            self._thread = None

    def _send(self, evidence: Evidence) -> Reply:
        if self._thread is None or threading.current_thread() is self._thread:
            return self._take(evidence)
        future: Future[Reply] = Future()
        self._inbox.put((evidence, future))
        try:
            return future.result(REPLY_S)
        except TimeoutError:
            return Reply(False, Message("companion.too_busy"))

    def _run(self) -> None:
        while True:
            item, future = self._inbox.get()
            if item is None:
                return
            try:
                if callable(item):
                    item()
                else:
                    reply = self._take(item)
                    if future is not None:
                        future.set_result(reply)
            except Exception:
                _log.exception("the service could not handle %s", type(item).__name__)
                if future is not None and not future.done():
                    future.set_result(Reply(False, Message("companion.internal_error")))

    def _take(self, evidence: Evidence) -> Reply:
        with self._turn:
            return self._handled(evidence)

    def _handled(self, evidence: Evidence) -> Reply:
        if isinstance(evidence, Chose) and evidence.command == "tap_corners":
            return self._tapped(evidence.args["points"])
        if isinstance(evidence, Chose):
            completed = self._completed(evidence)
            if isinstance(completed, Reply):
                return completed
            evidence = completed
        before = self.match
        done = step(before, evidence)
        if done.events:
            self._health.pop("roll", None)
            began_s = self._now_s()
            try:
                self._journal.append(done.match.id, done.events)
                self.write_s = self._now_s() - began_s
            except JournalError as error:
                _log.error("%s", error)
                words = Message("companion.disk")
                self._health["journal"] = _Health(None, Trouble("journal", words, self._now_s()))
                self._publish()
                return Reply(False, words)
            self._health.pop("journal", None)
            self.match = done.match
            if any(e.kind == "side" for e in done.events) and self._watcher is not None:
                self._watcher.turn_board(done.match.side)
            if any(e.kind == "opened" for e in done.events):
                self.on_opened()
            self._moments.note(before, done.match, done.events, evidence, self._watcher)
        if isinstance(evidence, Seen) and evidence.reading.facts:
            self._picture = evidence.picture
            self._said = {key: said_by(fact) for key, fact in evidence.reading.facts.items()}
        self._tell_watcher(evidence)
        told = isinstance(evidence, Rolled) and self._tell_roll(done.reply)
        if done.events or told:
            self._publish()
        self.on_input(evidence, done)
        if isinstance(evidence, Seen):
            rolls = self._trays.setdefault(evidence.author, Tray()).rolled(evidence)
            for roll in rolls if self.match.phase == "playing" and not self.match.paused else ():
                self._handled(roll)
        return done.reply

    def _tell_roll(self, reply: Reply) -> bool:
        """Says on the screen why a roll does not count, since a die hears no reply; True when that is news."""
        before = self._health.pop("roll", None)
        if not reply.ok and reply.words is not None:
            self._health["roll"] = _Health(None, Trouble("roll", reply.words, self._now_s()))
        return before is not None or not reply.ok

    def _tapped(self, points: Json) -> Reply:
        """Corners tapped in the picture concern the camera, not the match: the eyes keep them."""
        if self._watcher is None:
            return Reply(False, Message("companion.no_camera_for_start"))
        why = self._watcher.tap(tuple((float(x), float(y)) for x, y in points))
        return Reply(why is None, why or Message("companion.corners_taken" if points else "companion.markers_again"))

    def _completed(self, chose: Chose) -> Chose | Reply:
        """The command with what only the service knows: ids, chance, the time of the newest picture."""
        args = {k: v for k, v in chose.args.items() if k not in _OURS}
        eyes = self._watcher
        if chose.command == "new_game":
            args["id"] = f"{time.strftime('%Y%m%d-%H%M%S')}-{self._chance.randrange(16**6):06x}"
            args["done_expected"] = self._buttons
            start = args.get("start")
            if start == "table":
                refusal = self._unseeable(str(args.get("game")), args.get("options"))
                if refusal is not None:
                    return Reply(False, refusal)
                args["corners"] = list(eyes.corners) if eyes is not None else []
            elif start == "shuffle":
                try:
                    args["start"] = self._deal(str(args.get("game")), self._chance) if self._deal else None
                except LookupError:
                    return Reply(False, Message("companion.unknown_game", (("game", str(args.get("game"))[:40]),)))
            args["manual"] = start != "table"
            args.update(self._settings(str(args.get("game")), args.get("options")))
            players = args.get("players")
            if self._pieces is not None and isinstance(players, list):
                given = self._pieces(str(args.get("game")), [str(p) for p in players], start == "table")
                if isinstance(given, Message):
                    return Reply(False, given)
                args["given"] = {**args.get("given", {}), **given}
        elif chose.command == "watch":
            refusal = self._unseeable(self.match.game, dict(self.match.setup.options))
            if refusal is not None:
                return Reply(False, refusal)
            args["corners"] = list(eyes.corners) if eyes is not None else []
        elif chose.command == "hint" and self._hint is not None and self.match.phase == "playing":
            hint = self._hint(self.match.game)
            if hint is not None and self.match.rules.outcome(self.match.now) is None:
                args["found"] = as_json(hint(self.match.agreed)[1])
        elif chose.command == "doubt":
            args["clip"] = self._moments.clip(self.match, args.get("number"), eyes)
        elif chose.command == "correct":
            facts = args.get("facts")
            args["said"] = {k: self._said[k] for k in facts if k in self._said} if isinstance(facts, dict) else {}
        elif chose.command == "declare":
            args["at_s"] = self._now_s() if eyes is None else eyes.latest_s
        elif chose.command == "done" and eyes is not None and not self.match.manual:
            # Eyes that see nothing just now will see again: what was done meanwhile is not known until then. What they
            # are not sure of is judged with the press: with it a doubt matters that did not before.
            known = eyes.current and self.match.provisional is not None and self.match.doubt is None
            if not known or any(DOUBTFUL in v for k, v in self._said.items() if k not in self.match.told):
                args["at_s"] = eyes.latest_s
        return Chose(chose.command, chose.author, args)

    def _unseeable(self, game: str, options: Json) -> Message | None:
        """Why no camera can read this game's table here; None where one can."""
        if self._watcher is None:
            return Message("companion.no_camera_for_start")
        try:
            used = self._data(game, options if isinstance(options, dict) else {}) if self._data else None
        except LookupError:
            return None
        return None if used is None or used.seen else Message("companion.board_unseen", (("name", used.name),))

    def _settings(self, game: str, options: Json) -> dict[str, Json]:
        """What this table adds to the setup of a new game: its data, whether hints are given, what may be undone."""
        try:
            used = self._data(game, options if isinstance(options, dict) else {}) if self._data else None
            hints = self._hint is not None and self._hint(game) is not None
        except LookupError:
            return {}
        settings: dict[str, Json] = {"undo": self._undo, "hints": hints}
        if used is not None:
            marks = dict(used.provenance)
            settings["data"] = {"name": used.name, "hash": used.hash, "provenance": marks}
            settings["given"] = dict(used.start)
        return settings

    def _tell_watcher(self, evidence: Evidence | None) -> None:
        if self._watcher is None:
            return
        match = self.match
        wanted = match.phase == "start_check" or (
            match.phase in ("playing", "over")
            and (match.doubt is not None or bool(match.pressed) or match.lag is not None or match.recheck)
        )
        self._watcher.want(wanted and not match.paused and not match.manual)
        calm = match.judgement is None or match.judgement.kind not in (
            "illegal",
            "open",
            "question",
            "unfinished",
            "waiting",
        )
        board = evidence.reading if isinstance(evidence, Seen) and evidence.reading.facts else None  # no tray's picture
        if board is not None and match.phase == "playing" and calm and not wanted and not match.manual:
            self._watcher.agree(board.frame_number, match.rules.look(match.now))

    def _publish(self) -> None:
        self._number += 1
        troubles = [h.trouble for h in self._health.values() if h.trouble]
        devices = [h.device for h in self._health.values() if h.device]
        viewers: list[Viewer] = [None, *range(len(self.match.setup.players))]
        corners = self._watcher.corner_names if self._watcher is not None else ()
        shots: dict[Viewer, Snapshot] = {
            v: snapshot(self.match, v, self._number, troubles, devices, self._picture, corners, self._moments.asked)
            for v in viewers
        }
        self.bulletin.publish(shots)
        self._show(shots[None].signal)

    def _show(self, signal: str) -> None:
        if self._lights is None or signal == self._signal:
            return
        self._signal = signal
        try:
            self._lights.show(signal)
        except DeviceGone as error:
            _log.warning("%s", error)
            self._health["lights"] = _Health(None, Trouble("lights", Message("companion.lights_gone"), self._now_s()))
