"""When each turn was seen, so that its seconds can be shown: in memory only, for the pictures are, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from companion.clips import Clips, clip_name
from companion.evidence import Evidence, Seen
from companion.footage import LONG_S, Keep
from companion.games.contract import Json
from companion.match import Event, Match

MOST_S = 10.0
"""A turn that was seen to grow over a longer time is shown from so long before its last act."""


class Keeper(Protocol):
    """Who remembers pictures."""

    @property
    def latest_s(self) -> float:
        """Frame time of the newest picture."""

    def keep(self, keep: Keep) -> None:
        """Has a clip written."""


class Moments:
    """The frame times at which the turns of one match were read, and the name of the clip of the open question."""

    def __init__(self, clips: Clips | None) -> None:
        self._clips = clips if clips is not None and clips.limit_mb else None
        self._seen_s: dict[int, tuple[float, float]] = {}
        self._named: dict[int, str] = {}
        self._asked = ("", "", (0.0, 0.0))
        self.asked = ""

    def note(
        self, before: Match, after: Match, events: Sequence[Event], evidence: Evidence, keeper: Keeper | None
    ) -> None:
        """Takes note of what a step has made of the match; a question about the table has its pictures kept at once."""
        if before.id != after.id:
            self._seen_s, self._named, self._asked = {}, {}, ("", "", (0.0, 0.0))
        at_s = evidence.reading.time_s if isinstance(evidence, Seen) and evidence.reading.facts else None
        number = before.turns
        for event in events:
            if event.kind == "turn":
                number += 1
                self._happened(number, at_s, before, grows=False)
            elif event.kind == "provisional":
                self._happened(number + 1, at_s, before, grows=True)
            elif event.kind in ("undone", "withdrawn"):
                number = event.data["to"] if event.kind == "undone" else number
                for late in [n for n in self._seen_s if n > number]:
                    self._seen_s.pop(late)
                    self._named.pop(late, None)
        question = after.question
        if question is None:
            self.asked = ""
        elif question.id != self._asked[0] and at_s is not None and after.phase == "playing":
            self._asked = (question.id, "", (at_s, at_s))
            if self._clips is not None and keeper is not None and not question.about_roll:
                name = clip_name(after.id, question.id)
                keeper.keep(self._clips.order(name, at_s, at_s))
                self._asked = (question.id, name, (at_s, at_s))
            self.asked = self._asked[1]

    def _happened(self, number: int, at_s: float | None, before: Match, grows: bool) -> None:
        """A turn was seen now, or, if it is what a question was answered with, when that was asked."""
        old = self._seen_s.get(number)
        if old is not None and not grows:
            return  # it was seen before it became final
        if at_s is not None:
            first_s = old[0] if old is not None else at_s
            self._seen_s[number] = (max(first_s, at_s - MOST_S), at_s)
            self._named.pop(number, None)
        elif before.question is not None and before.question.id == self._asked[0]:
            self._seen_s[number] = self._asked[2]
            if self._asked[1]:
                self._named[number] = self._asked[1]

    def clip(self, match: Match, number: Json, keeper: Keeper | None) -> str:
        """The name of a turn's clip, which is being kept from now on; empty when nothing is known of its pictures."""
        if not isinstance(number, int) or self._clips is None or keeper is None or number not in self._seen_s:
            return ""
        if number not in self._named and keeper.latest_s - self._seen_s[number][1] > LONG_S:
            return ""
        if number not in self._named:
            name = clip_name(match.id, f"t{number}-{match.events}")
            keeper.keep(self._clips.order(name, *self._seen_s[number]))
            self._named[number] = name
        return self._named[number]
