"""The eyes in a child process, supervised: what breaks there is started again and said, and never harms the match."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path

from calibration.profile import TableProfile
from companion.bulletin import Bulletin, Device
from companion.channel import Beat, Orders, Report, Task, channel
from companion.commands import Corners
from companion.evidence import Seen
from companion.eyes import Hearer, refused_corners
from companion.footage import MOST_BYTES, Keep
from companion.games.contract import Look, Message

SILENT_S, SILENT_LIMIT_S = 2.0, 16.0
"""A child without a beat for so long hangs. Doubled up to the limit after every kill, halved by a good minute: a slow
machine must not be restarted in circles."""
FIRST_S = 30.0
"""The first beat may take so long: libraries are loaded."""
MEMORY_MB = 700 + MOST_BYTES // 2**20
"""The eyes themselves, and the pictures that they remember."""
PAUSES_S = (0.0, 0.5, 2.0, 5.0)
"""Before starting again, by how many starts have failed in a row (a start that reads a picture has not failed)."""
CALM_S = 60.0
END_S = 2.0
_TURN_S = 0.1
_PROGRAM = "import sys; from companion.process_child import main; main(int(sys.argv[1]))"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Child:
    """A running child and what it said last."""

    process: subprocess.Popen[bytes]
    line: Connection
    started_s: float
    heard_s: float
    hearing: threading.Thread = field(init=False)
    beat: Beat | None = None
    number: int = -1
    sees: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


class EyesProcess:
    """A `Watcher` whose eyes are in a child process. `start` begins; `stop` returns when no child is left.

    `restarts` counts the breakdowns; `memory_mb` is the child's allowed resident memory; `keep` is told of tapped
    corners, so that they are known at the next start.
    """

    def __init__(
        self,
        task: Task,
        service: Hearer,
        bulletin: Bulletin,
        memory_mb: int = MEMORY_MB,
        keep: Callable[[Corners], None] = lambda tapped: None,
    ) -> None:
        self._task, self._service, self._bulletin, self._memory_mb = task, service, bulletin, memory_mb
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._child: Child | None = None
        self._last = Beat(False, False, 0.0, (), 0)
        self._want = True
        self._agreed: tuple[int, Look] | None = None
        self._corner = ""
        self._tapped: Corners | None = None
        self._clips: tuple[Keep, ...] = ()
        self._photograph = ""
        self._renewed = False
        self._keep = keep
        self._silent_s = SILENT_S
        self.restarts = 0
        self._thread = threading.Thread(target=self._run, name="eyes process", daemon=True)

    @property
    def pid(self) -> int | None:
        """The child's process id while one runs."""
        child = self._child
        return child.process.pid if child is not None else None

    @property
    def working(self) -> bool:
        """True while pictures come and the board is in them."""
        return self._last.working

    @property
    def current(self) -> bool:
        """True while the table is at rest and the last reading shows it."""
        return self._last.current

    @property
    def latest_s(self) -> float:
        """The present: the child's frames bear this machine's monotonic time, and one may be on its way to us."""
        return time.monotonic()

    @property
    def corners(self) -> tuple[str, ...]:
        """The corners among which the first player's left one must be named; empty when that is known."""
        return self._last.corners

    @property
    def corner_names(self) -> tuple[str, ...]:
        """The names of the board's corners, in the order in which they are tapped."""
        return self._task.profile.board.corner_names

    @property
    def variant(self) -> str:
        """Which of the game's boards is looked for."""
        return self._task.profile.board.variant

    def tap(self, points: Corners) -> Message | None:
        """From the next picture on the board's corners lie there; children to come are told too. Why not, in words."""
        why = refused_corners(self._task.profile.board, points)
        if why is None:
            with self._lock:
                self._tapped = points
                self._task = replace(self._task, tapped=points, side="")
            self._keep(points)
        return why

    def want(self, soon: bool) -> None:
        """Whether to read again although nothing moved."""
        self._want = soon

    def agree(self, frame_number: int, look: Look) -> None:
        """Passes on what the table agreed on; a picture that another child read is nobody's any more."""
        with self._lock:
            if self._child is not None and self._child.number == frame_number:
                self._agreed = (frame_number, look)

    def turn_board(self, corner: str) -> None:
        """From the next picture on, this tapped corner counts as the first one; children to come are told too."""
        with self._lock:
            self._corner = corner
            self._task = replace(self._task, side=corner)

    def keep(self, keep: Keep) -> None:
        """Has a clip written; without a running child there are no pictures."""
        with self._lock:
            if self._child is not None:
                self._clips = (*self._clips, keep)

    def photograph(self, file: Path) -> bool:
        """Has the next picture written to a file, as the camera gives it; False while no pictures come."""
        with self._lock:
            if self._child is not None:
                self._photograph = str(file)
            return self._child is not None

    def renew(self, profile: TableProfile) -> None:
        """Goes on by another profile, with a new child."""
        with self._lock:
            self._task = replace(self._task, profile=profile)
            self._renewed = True
            if self._child is not None:
                self._child.process.kill()

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the child; returns when it is gone."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(END_S + 10.0)

    def _run(self) -> None:
        failed = 0
        while not self._stop.is_set():
            child = self._begin()
            why: Message | None = None
            try:
                why = self._watch(child)
            except Exception:
                _log.exception("watching the eyes failed")
                why = Message("companion.eyes_crashed")
            finally:
                self._end(child)
            if why is None:
                return
            with self._lock:
                renewed, self._renewed = self._renewed, False
            if renewed:
                self._last = replace(self._last, working=False, current=False)
                continue
            self._broken(child, why)
            failed = 0 if child.sees else failed + 1
            self._stop.wait(PAUSES_S[min(failed, len(PAUSES_S) - 1)])

    def _begin(self) -> Child:
        line, theirs = channel()
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(theirs)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs,),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p or str(Path.cwd()) for p in sys.path)},
            )
        except OSError:
            line.close()
            raise
        finally:
            os.close(theirs)
        now_s = time.monotonic()
        child = Child(process, line, now_s, now_s)
        with self._lock:
            self._child, self._agreed, self._corner, self._tapped = child, None, "", None
            self._clips, self._photograph = (), ""
            task = self._task
        with suppress(OSError):  # a child that has ended already is noticed like any other
            line.send(task)
        child.hearing = threading.Thread(target=self._hear, args=(child,), name="eyes line", daemon=True)
        child.hearing.start()
        return child

    def _watch(self, child: Child) -> Message | None:
        """Watches over a child until it breaks (why, in words) or this is to stop (None)."""
        checked_s = child.started_s
        while not child.ended.wait(_TURN_S):
            if self._stop.is_set():
                return None
            now_s = time.monotonic()
            limit_s = self._silent_s if child.beat is not None else FIRST_S
            if now_s - child.heard_s > limit_s:
                self._silent_s = min(2 * self._silent_s, SILENT_LIMIT_S)
                return Message("companion.eyes_hung")
            if now_s - checked_s >= 0.5:
                checked_s = now_s
                memory_mb = resident_mb(child.process.pid)
                if memory_mb > self._memory_mb:
                    return Message("companion.eyes_swollen", (("megabytes", memory_mb),))
                if self._silent_s > SILENT_S and now_s - child.started_s > CALM_S:
                    self._silent_s = max(SILENT_S, self._silent_s / 2)
        return None if self._stop.is_set() else Message("companion.eyes_crashed")

    def _hear(self, child: Child) -> None:
        """Takes what the child sends until it is gone; a thread of its own, because a hanging child may stop in the
        middle of a message."""
        try:
            while True:
                self._take(child, child.line.recv())
        except (EOFError, OSError):
            pass
        except Exception:
            _log.exception("what the eyes sent cannot be understood")
        finally:
            child.ended.set()

    def _take(self, child: Child, message: object) -> None:
        child.heard_s = time.monotonic()
        if isinstance(message, Beat):
            child.beat = self._last = message
            with self._lock:
                end = self._stop.is_set()
                orders = Orders(
                    self._want, self._agreed, self._corner, self._tapped, self._clips, self._photograph, end
                )
                self._agreed, self._corner, self._tapped, self._clips, self._photograph = None, "", None, (), ""
            child.line.send(orders)
            if message.working and not child.sees:
                child.sees = True
                words = Message("companion.eyes_work")
                self._service.report(Device("eyes", self._task.url, True, words), "eyes process", None)
        elif isinstance(message, Seen):
            child.number = message.reading.frame_number
            self._service.hear(message)
        elif isinstance(message, Report):
            self._service.report(message.device, message.name, message.trouble)
        elif isinstance(message, bytes):
            self._bulletin.publish_picture(message)

    def _broken(self, child: Child, why: Message) -> None:
        self.restarts += 1
        self._last = replace(self._last, working=False, current=False)
        _log.warning("the eyes (process %d) are started again: %s", child.process.pid, why.id)
        self._service.report(Device("eyes", self._task.url, False, why), "eyes process", why)

    def _end(self, child: Child) -> None:
        """Asks the child to end when all ends, gives it a moment, and makes sure."""
        if self._stop.is_set() and not child.ended.is_set():
            child.ended.wait(END_S)
        with self._lock:
            self._child = None
        child.process.kill()
        child.process.wait()
        child.hearing.join()
        child.line.close()


def resident_mb(pid: int) -> int:
    """Resident memory of a process in MB; 0 when it cannot be told."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20
