"""Filmed throws with labelled intervals: what the watch over an arena says, frame by frame, and how far it is off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from companion.census.tally import RIGHT, WRONG, Tally, timed
from devices.contract import Frame
from vision.arena_states import ArenaWatch

LABELS = "labels.json"
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "hand": ("thrown", "hand_in", "taking_out"),
    "rest": ("settled",),
    "empty": ("empty", "cleared", "ready"),
}
"""Label of an interval (1-based frames, both ends belong to it) -> the states that are right in it."""
SLACK_S = 0.3
"""A change of state counts as right within so long of where a person sees it; the hold before rest is not counted."""
STATE, CHANGE = "arena state", "arena transition"


def recognise(folder: Path) -> bool:
    """True for a folder of clips with labelled intervals."""
    return bool(_clips(folder))


def read(folder: Path) -> Tally:
    """Every frame of every clip in order of time: each interval right when all of it is, the slack at its ends left
    out; each end of an interval right when the state changes within the slack."""
    tally = Tally()
    for name, truth in _clips(folder).items():
        states = _states(folder / name, float(truth["fps"]), tally)
        tally.pictures += len(states)
        slack = round(SLACK_S * float(truth["fps"]))
        for label, allowed in ALLOWED.items():
            for first, last in truth[label]:
                file, place = f"{folder.name}/{name}", f"{label} {first}-{last}"
                inner = states[first - 1 + slack : last - slack] or states[(first + last) // 2 - 1 :][:1]
                said = sorted(set(inner) - set(allowed))
                outcome = WRONG if said or not inner else RIGHT
                tally.count(STATE, outcome, file=file, place=place, said=", ".join(said), truth=label, probability=1.0)
                for at, off in _changes(states, first, last, allowed):
                    outcome = RIGHT if abs(off) <= slack else WRONG
                    seconds = f"{off / float(truth['fps']):+.2f} s"
                    where = {"file": file, "place": f"{place} {at}", "said": seconds, "truth": label}
                    tally.count(CHANGE, outcome, **where, probability=1.0)
    return tally


def _clips(folder: Path) -> dict[str, Any]:
    """The clips of a folder with their labels."""
    try:
        told = json.loads((folder / LABELS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {
        name: truth
        for name, truth in sorted(told.items())
        if isinstance(truth, dict) and {"fps", *ALLOWED} <= truth.keys() and (folder / name).exists()
    }


def _states(path: Path, fps: float, tally: Tally) -> list[str]:
    """The state of each frame; rest, which is known only after the hold, from the time since which it is told."""
    video = cv2.VideoCapture(str(path))
    watch, names = ArenaWatch(), list[str]()
    spent_s = [0.0, 0.0]
    while True:
        got, picture = video.read()
        if not got:
            break
        number = len(names) + 1
        frame = Frame(np.asarray(picture, dtype=np.uint8), number, number / fps, str(path))
        jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 92])[1]
        _, decode_s = timed(lambda jpeg=jpeg: cv2.imdecode(jpeg, cv2.IMREAD_COLOR))  # type: ignore[misc]
        state, watch_s = timed(lambda frame=frame: watch.watch(frame))  # type: ignore[misc]
        spent_s = [spent_s[0] + watch_s, spent_s[1] + decode_s]
        names.append(state.name)
        if state.fresh:
            since = round(state.since_s * fps) - 1
            names[since:] = [state.name] * (len(names) - since)
    video.release()
    if names:
        tally.ratios.setdefault("arena states", []).append(spent_s[0] / spent_s[1])
    return names


def _changes(states: Sequence[str], first: int, last: int, allowed: Sequence[str]) -> list[tuple[str, int]]:
    """By how many frames the run of right states about the interval's middle begins and ends beside it. A hand's
    interval may be longer than its label, for what it has thrown still moves; the ends of the film are none."""
    begin = end = (first + last) // 2 - 1
    while begin > 0 and states[begin - 1] in allowed:
        begin -= 1
    while end < len(states) - 1 and states[end + 1] in allowed:
        end += 1
    off_first, off_last = begin + 1 - first, end + 1 - last
    if allowed == ALLOWED["hand"]:
        off_first, off_last = max(off_first, 0), min(off_last, 0)
    return [("begins", off_first)] * (first > 2) + [("ends", off_last)] * (last < len(states))
