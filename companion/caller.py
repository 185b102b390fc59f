"""The caller: says aloud at the table, by a speech program, what is announced on the dashboard."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from typing import Protocol

from companion.bulletin import Bulletin, Device, Snapshot
from companion.games.contract import Message
from companion.words import say

VOICES = ("espeak-ng",)
"""Speech programs that can be named in the configuration."""
LONGEST_S = 30.0
"""What takes longer to be said is cut off: the program hangs, or nobody listens any more."""
_log = logging.getLogger(__name__)


class Told(Protocol):
    """Who is told how the voice is; the service."""

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """A device's state, and what is wrong with it."""


class Announcer:
    """What is worth saying of each snapshot: the newest turn or a refusal, a question, whose turn it is or how it has
    ended; nothing of the first one, and nothing twice."""

    def __init__(self, language: str) -> None:
        self._language, self._told = language, ""

    def words(self, now: Snapshot) -> str:
        """What is new in this snapshot in words; empty when nothing is."""

        def told(message: Message | None) -> str:
            return "" if message is None else say(message, self._language, now.players)

        last = now.record[-1] if now.record else None
        refusal = told(now.verdict) if now.signal == "illegal" else ""
        turn = told(last.words) if last else ""
        question = told(now.question.words) if now.question else ""
        key = repr((now.match_id, len(now.record), turn, question, refusal, now.outcome))
        first, news = not self._told, key != self._told
        self._told = key
        if first or not news or now.phase in ("setup", "paused"):
            return ""
        parts = (refusal or turn, question, told(now.outcome or now.headline))
        return ". ".join(part.rstrip(".") for part in parts if part) + "."


class Caller:
    """Speaks what changes on a bulletin, in a thread of its own; a newer announcement cuts off the one being said.

    `start` and the listening never block the service: a program that is missing, fails or hangs is said on the health
    panel, and tried again with the next announcement.
    """

    def __init__(self, bulletin: Bulletin, told: Told, language: str, program: str = "espeak-ng") -> None:
        self._bulletin, self._service, self._language, self._program = bulletin, told, language, program
        self._announcer = Announcer(language)
        self._news = threading.Event()
        self._stop = False
        self._unlisten: Callable[[], None] = lambda: None
        self._health: Message | None = None
        self._thread = threading.Thread(target=self._run, name="caller", daemon=True)

    def start(self) -> None:
        """Begins to listen."""
        if shutil.which(self._program) is None:
            self._tell(False, Message("companion.voice_missing", (("program", self._program),)))
        else:
            self._tell(True, Message("companion.voice_works"))
        self._announcer.words(self._bulletin.snapshot())
        self._unlisten = self._bulletin.listen(self._news.set)
        self._thread.start()

    def stop(self) -> None:
        """Ends, in the middle of a word if need be."""
        self._unlisten()
        self._stop = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        while not self._stop:
            self._news.wait()
            self._news.clear()
            words = self._announcer.words(self._bulletin.snapshot())
            while words and not self._stop:
                words = self._said(words)

    def _said(self, words: str) -> str:
        """Says it; the announcement that has come meanwhile and cut it off, or nothing."""
        try:
            speech = subprocess.Popen(
                # By standard input, since a name may look like an option.
                [self._program, "-v", self._language, "--stdin"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            _log.info("%s does not start: %s", self._program, error)
            self._tell(False, Message("companion.voice_missing", (("program", self._program),)))
            return ""
        threading.Thread(target=self._feed, args=(speech, words), name="speech", daemon=True).start()
        waited_s = 0.0
        newer = ""
        try:
            while waited_s < LONGEST_S and not self._stop and not newer:
                try:
                    speech.wait(0.05)
                    break
                except subprocess.TimeoutExpired:
                    waited_s += 0.05
                if self._news.is_set():
                    self._news.clear()
                    newer = self._announcer.words(self._bulletin.snapshot())
        finally:
            cut = speech.poll() is None
            if cut:
                speech.kill()
            status = speech.wait()
            why = _last_line(speech)
        if self._stop:
            return ""
        if cut and not newer:
            self._tell(False, self._failed(f"{LONGEST_S:.0f} s"))
        elif not cut:
            self._tell(status == 0, self._failed(why or str(status)) if status else Message("companion.voice_works"))
        return newer

    def _feed(self, speech: subprocess.Popen[bytes], words: str) -> None:
        """Hands the words over; a program that does not read holds up nobody but this thread."""
        assert speech.stdin is not None
        try:
            speech.stdin.write(words.encode())
            speech.stdin.close()
        except OSError:
            pass

    def _failed(self, error: str) -> Message:
        return Message("companion.voice_failed", (("program", self._program), ("error", error)))

    def _tell(self, well: bool, words: Message) -> None:
        if words == self._health:
            return
        self._health = words
        self._service.report(Device("voice", self._program, well, words), "voice", None if well else words)


def _last_line(speech: subprocess.Popen[bytes]) -> str:
    """The last line that an ended program complained with; what it left running may hold its output open."""
    assert speech.stderr is not None
    with speech.stderr:
        os.set_blocking(speech.stderr.fileno(), False)
        said = speech.stderr.read() or b""
    lines = said.decode(errors="replace").split("\n")
    return next((line.strip()[:120] for line in reversed(lines) if line.strip()), "")
