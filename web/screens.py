"""What a snapshot looks like to a browser: JSON in words of one language and the board picture, each made once."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from companion.bulletin import Mark, Snapshot, TurnLine, Viewer
from companion.games.contract import Json, Message
from companion.words import catalogue, knows, say
from web.boards import Board, board_of

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Screen:
    """One snapshot for one viewer in one language: `state` JSON without board and record, `record` JSON, `board` SVG.

    `board` and `record` change less often than `state`; a stream sends again only what differs.
    """

    number: int
    state: str
    record: str
    board: str


class Kept(OrderedDict[K, V]):
    """The newest `size` results by key, so that a thousand viewers cost one drawing; thread-safe in `get_or`."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size, self._lock = size, threading.RLock()

    def get_or(self, key: K, make: Callable[[], V]) -> V:
        """The kept result, or a new one."""
        with self._lock:
            if key not in self:
                self[key] = make()
                if len(self) > self._size:
                    self.popitem(last=False)
            return self[key]


class Screens:
    """Makes screens: state once per (number, viewer, language), the board picture once per different picture."""

    def __init__(self) -> None:
        self._screens: Kept[tuple[str, int, Viewer, str], Screen] = Kept(64)
        self._boards: Kept[tuple[str, str, tuple[Mark, ...]], str] = Kept(16)
        self.drawn = 0

    def screen(self, snapshot: Snapshot, viewer: Viewer, lang: str) -> Screen:
        """The screen of a snapshot."""
        key = (snapshot.match_id, snapshot.number, viewer, lang)
        return self._screens.get_or(key, lambda: self._make(snapshot, lang))

    def _make(self, snapshot: Snapshot, lang: str) -> Screen:
        board = board_of(snapshot.game)
        state = json.dumps(state_of(snapshot, board, lang), ensure_ascii=False, separators=(",", ":"))
        record = [_line(line, lang, snapshot.players) for line in snapshot.record]
        svg = self.svg(snapshot)
        return Screen(snapshot.number, state, json.dumps(record, ensure_ascii=False, separators=(",", ":")), svg)

    def svg(self, snapshot: Snapshot) -> str:
        """The board picture with its marks (a bare board while the view is None); empty without a template."""
        board, marks = board_of(snapshot.game), marks_of(snapshot)
        if board is None:
            return ""

        def draw() -> str:
            self.drawn += 1
            return board.draw(snapshot.view, marks)

        return self._boards.get_or((snapshot.game, json.dumps(snapshot.view, sort_keys=True), marks), draw)


def marks_of(snapshot: Snapshot) -> tuple[Mark, ...]:
    """The snapshot's marks, and the places that the open question is about."""
    marked = {mark.place for mark in snapshot.marks if mark.role == "question"}
    asked = snapshot.question.places if snapshot.question else ()
    return (*snapshot.marks, *(Mark(place, "question") for place in asked if place not in marked))


def state_of(snapshot: Snapshot, board: Board | None, lang: str) -> dict[str, Json]:
    """A snapshot as JSON in the words of one language, without its record."""

    def words(message: Message | None) -> str | None:
        return None if message is None else say(message, lang, snapshot.players)

    shown = board if snapshot.view is not None else None
    question = snapshot.question
    return {
        "number": snapshot.number,
        "game": snapshot.game,
        "title": game_title(snapshot.game, lang) if snapshot.game else "",
        "match": snapshot.match_id,
        "phase": snapshot.phase,
        "players": list(snapshot.players),
        "chips": [board.chip(snapshot.view, i) for i in range(len(snapshot.players))] if board else [],
        "options": [option_words(snapshot.game, name, value, lang) for name, value in snapshot.options.items()],
        "to_act": list(snapshot.to_act),
        "headline": words(snapshot.headline),
        "corners": list(snapshot.corners),
        "marks": [{"place": m.place, "role": m.role} for m in marks_of(snapshot)],
        "signal": snapshot.signal,
        "verdict": words(snapshot.verdict),
        "details": [words(m) for m in snapshot.details],
        "notes": [words(m) for m in snapshot.notes],
        "provisional": _line(snapshot.provisional, lang, snapshot.players) if snapshot.provisional else None,
        "question": question
        and {
            "id": question.id,
            "words": words(question.words),
            "places": list(question.places),
            "answers": [{"value": a.value, "words": words(a.words)} for a in question.answers],
            "clip": question.clip,
        },
        "acts": [
            {
                "command": a.command,
                "args": dict(a.args),
                "words": words(a.words),
                "player": a.player,
                "confirm": a.confirm,
            }
            for a in snapshot.acts
        ],
        "troubles": [{"device": t.device, "words": words(t.words)} for t in snapshot.troubles],
        "devices": [
            {"name": device_name(d.name, lang), "url": d.url, "ok": d.ok, "words": words(d.words)}
            for d in snapshot.devices
        ],
        "picture": snapshot.picture,
        "manual": snapshot.manual,
        "outcome": words(snapshot.outcome),
        "winners": list(snapshot.winners),
        "facts": dict(shown.facts(snapshot.view)) if shown else {},
        "table": table_of(shown, snapshot.view, lang) if shown else None,
    }


def _line(line: TurnLine, lang: str, players: Sequence[str]) -> dict[str, Json]:
    return {
        "number": line.number,
        "player": line.player,
        "text": line.text,
        "words": say(line.words, lang, players),
        "corrected": line.corrected,
        "refused": say(Message(line.refused), lang, players) if line.refused else "",
        "doubt": say(line.doubt, lang, players) if line.doubt else "",
        "doubted": line.doubted,
        "clip": line.clip,
    }


def table_of(board: Board, view: Json, lang: str) -> Json:
    """The board in words: column headings and rows of (heading, cells), each cell with its place."""
    table = board.table(view)
    return {
        "columns": list(table.columns),
        "rows": [
            {
                "name": name,
                "cells": [
                    {"place": place, "words": ", ".join(say(m, lang) for m in cell)}
                    for place, cell in zip(places, cells, strict=True)
                ],
            }
            for (name, cells), places in zip(table.rows, table.places, strict=True)
        ],
    }


def kit_of(board: Board, lang: str) -> list[Json]:
    """What may be set by hand at a place, with words and small pictures."""
    return [
        {
            "kind": kind.kind,
            "words": say(kind.words, lang),
            "turn": dict(kind.turn),
            "nothing": kind.nothing,
            "choices": [{"value": c.value, "words": say(c.words, lang), "icon": c.icon} for c in kind.choices],
        }
        for kind in board.kinds()
    ]


def game_title(game: str, lang: str) -> str:
    """The game's name in words, or its own name when the catalogue has none."""
    return say(Message(f"{game}.title"), lang) if knows(f"{game}.title", lang) else game.capitalize()


def option_words(game: str, name: str, value: str | int | bool, lang: str) -> dict[str, Json]:
    """One option and its value in words; what the catalogue does not know is shown as it is."""
    key = f"{game}.option.{name}"
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    value_key = f"{key}.{shown}"
    if not knows(value_key, lang) and isinstance(value, bool):
        value_key = "web.yes" if value else "web.no"
    return {
        "name": name,
        "words": say(Message(key), lang) if knows(key, lang) else name,
        "value": value,
        "value_words": say(Message(value_key), lang) if knows(value_key, lang) else shown,
    }


def device_name(name: str, lang: str) -> str:
    """What a device is called; one without a word of its own keeps its name."""
    return say(Message(f"web.device.{name}"), lang) if knows(f"web.device.{name}") else name


def ui_words(lang: str) -> Mapping[str, str]:
    """The page's own sentences (`web.*`), English where the language lacks one; keys without `web.`."""
    both = {**catalogue("en"), **catalogue(lang)}
    return {key.removeprefix("web."): text for key, text in both.items() if key.startswith("web.")}
