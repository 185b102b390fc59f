"""What the match hears: a settled reading, a choice by a person, a roll; each with who noticed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from companion.games.contract import Json
from vision.reading import Reading


@dataclass(frozen=True, slots=True)
class Author:
    """Who says it: `kind` is "seat" (a browser that holds a seat), "button", "camera", "die" (an electronic one),
    "program" or "spectator"; `name` which one; `player` the index it speaks for, or None (anyone at the table)."""

    kind: str
    name: str
    player: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A settled reading of the table; `picture` is the id under which the service keeps the frame, or empty."""

    reading: Reading
    picture: str
    author: Author


@dataclass(frozen=True, slots=True)
class Chose:
    """A command of a person or a program: `command` is one of the names in `companion.commands`, `args` its JSON."""

    command: str
    author: Author
    args: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rolled:
    """A die has come to rest after a roll: which die, what it shows, who has noticed it, of how many faces it is, since
    when it rests (monotonic seconds), and the id of its picture, or empty. Never a die that is cocked or moving, nor
    one that lay there before."""

    die: str
    value: int
    author: Author
    faces: int = 6
    at_s: float = 0.0
    picture: str = ""


Evidence = Seen | Chose | Rolled
