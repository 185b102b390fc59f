"""The states of an arena, from frame to frame: empty, ready, thrown, settled, hand in, taking out, cleared.

`after` is the whole machine: pure, in time of the frames. Every state can be left: each that waits for something has a
time limit, and `resolved` (a tap) ends any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from devices.contract import Frame
from vision.arena_scene import Glimpse, Scene
from vision.settler import Stillness

EVERY_S = 0.045
"""Frames that follow sooner than this are passed over: half of what a camera of 30 frames a second sends will do."""

Name = Literal["empty", "ready", "thrown", "settled", "hand_in", "taking_out", "cleared"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds of frame time. `settle_s`: so long nothing moves before a throw has settled, a figure that rocks
    begins anew; `cleared_s`: so long an emptied arena is called cleared; `thrown_s`, `hand_s`: so long something may
    move, or be over the arena, before it is judged all the same."""

    settle_s: float = 0.3
    cleared_s: float = 1.0
    thrown_s: float = 8.0
    hand_s: float = 20.0


@dataclass(frozen=True, slots=True)
class ArenaState:
    """What the arena does: `name`, and `since_s` when it began (of rest: when the last thing stopped moving).

    `moved_s`: when something last moved or a hand was seen. `busy_s`: since when the arena is not at rest. `fresh`: the
    arena has come to rest with this frame and is to be read. `timed_out`: rest was not seen but waited for too long, or
    somebody has tapped. `lay`: something lay there at the last rest. `news_s`: since when what is seen differs from
    the last rest although nothing was seen to move; None while it does not. `blind`: nothing of the arena was seen.
    """

    name: Name = "hand_in"
    since_s: float = 0.0
    moved_s: float = 0.0
    busy_s: float = 0.0
    fresh: bool = False
    timed_out: bool = False
    lay: bool = False
    news_s: float | None = None
    blind: bool = False

    @property
    def resting(self) -> bool:
        """True when the arena may be read."""
        return self.name in ("settled", "cleared", "ready", "empty")


def begin(time_s: float) -> ArenaState:
    """The state before anything is known: as if a hand were over the arena."""
    return ArenaState("hand_in", time_s, time_s, time_s)


def after(state: ArenaState, seen: Glimpse, limits: Limits) -> ArenaState:
    """The state after one more frame."""
    now_s = seen.time_s
    blind = seen.hand and seen.strange
    if state.blind and not blind:  # what moves once the lens is free has not moved for so long
        state = replace(state, busy_s=now_s)
    state = replace(state, fresh=False, blind=blind)
    if seen.hand or seen.moving:
        return _busy(state, seen, limits)
    if not state.resting:
        if now_s - state.moved_s < limits.settle_s:
            return state
        return _rest(state, seen, state.moved_s)
    if seen.news and (state.lay or seen.lying):
        news_s = now_s if state.news_s is None else state.news_s
        if now_s - max(news_s, state.moved_s) < limits.settle_s:
            return replace(state, news_s=news_s)
        return _rest(state, seen, max(news_s, state.moved_s))  # put down or taken away between two frames
    state = replace(state, news_s=None)
    calm_s = limits.cleared_s if state.name == "cleared" else limits.settle_s
    if state.name in ("cleared", "empty") and now_s - max(state.since_s, state.moved_s) >= calm_s:
        return replace(state, name="ready", since_s=now_s)
    return state


def resolved(state: ArenaState, seen: Glimpse) -> ArenaState:
    """The state when nothing more is waited for: what lies there now is read."""
    name: Name = "settled" if seen.lying or seen.strange else "empty"
    return ArenaState(name, seen.time_s, seen.time_s, seen.time_s, True, True, name == "settled")


def _busy(state: ArenaState, seen: Glimpse, limits: Limits) -> ArenaState:
    """The state while something moves or is over the arena."""
    now_s = seen.time_s
    name = _what_happens(state, seen)
    if name in ("cleared", "empty"):  # somebody's shadow, or the last of a hand: nothing that could be a throw
        return replace(_named(state, name, now_s), moved_s=now_s, busy_s=now_s, news_s=None)
    busy_s = now_s if state.resting else state.busy_s
    if now_s - busy_s >= (limits.hand_s if seen.hand else limits.thrown_s):
        return resolved(state, seen)
    return replace(_named(state, name, now_s), moved_s=now_s, busy_s=busy_s, news_s=None)


def _what_happens(state: ArenaState, seen: Glimpse) -> Name:
    if seen.hand:
        if state.name == "taking_out" or (state.lay and seen.gone):
            return "taking_out"
        return "thrown" if seen.loose or state.name == "thrown" else "hand_in"
    if state.name in ("taking_out", "cleared") and not seen.lying:
        return "cleared"
    if state.resting and not state.lay and not seen.lying and not seen.loose:
        return "empty"
    return "taking_out" if state.name == "taking_out" else "thrown"


def _rest(state: ArenaState, seen: Glimpse, since_s: float) -> ArenaState:
    name: Name = "settled" if seen.lying else "cleared" if state.lay or not state.resting else "empty"
    return ArenaState(name, since_s, state.moved_s, seen.time_s, True, False, bool(seen.lying))


def _named(state: ArenaState, name: Name, since_s: float) -> ArenaState:
    return state if name == state.name else replace(state, name=name, since_s=since_s, timed_out=False)


class ArenaWatch:
    """Frame in, state out: a `Scene` and the machine in a row; also answers as a Settler does."""

    def __init__(self, limits: Limits | None = None, outline_px: Sequence[tuple[float, float]] = ()) -> None:
        self._limits = limits or Limits()
        self._scene = Scene(outline_px)
        self._seen: Glimpse | None = None
        self.state = ArenaState()

    def watch(self, frame: Frame) -> ArenaState:
        """The state after this frame; frames come in order of time."""
        before = self._seen
        if before is not None and 0.0 <= frame.time_s - before.time_s < EVERY_S:
            self.state = replace(self.state, fresh=False)
            return self.state
        self._seen = self._scene.look(frame)
        self.state = after(begin(frame.time_s) if before is None else self.state, self._seen, self._limits)
        if self.state.fresh:
            self._scene.rested()
            if self.state.timed_out or self._seen.strange:
                self._scene.forget()
        return self.state

    @property
    def device(self) -> str:
        """What is watched, a name on the health panel."""
        return "arena"

    @property
    def told(self) -> str:
        """The catalogue id of what the arena does now."""
        return "vision.arena.late" if self.state.timed_out else f"vision.arena.{self.state.name}"

    def within(self, outline_px: Sequence[tuple[float, float]]) -> None:
        """From now on only this outline in the picture counts as arena; what is known of the floor is kept."""
        self._scene.within(outline_px)

    def tap(self) -> ArenaState:
        """Somebody says that the arena is to be read as it is."""
        if self._seen is not None:
            self.state = resolved(self.state, self._seen)
            self._scene.forget()
        return self.state

    def feed(self, frame: Frame) -> Stillness:
        """The same as `vision.settler.Settler.feed`."""
        state = self.watch(frame)
        seen = self._seen or Glimpse(frame.time_s)
        calm_s = frame.time_s - state.moved_s
        if state.resting:
            return Stillness("still", seen.share, calm_s, state.fresh)
        return Stillness("hand" if seen.hand else "moving", seen.share, calm_s, False)
