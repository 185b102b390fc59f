"""The configuration of a table: which game, which devices, which language; a small TOML file, all of it optional."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from companion.caller import VOICES
from companion.consent import UNDO
from companion.registry import GAMES, GameEntry
from companion.words import LANGUAGES

DATA = Path.home() / ".local" / "share" / "tabletop-companion"
"""Where matches are kept when nobody names another folder."""
_KINDS: dict[str, tuple[type, str]] = {
    "port": (int, "a number"),
    "hints": (bool, "true or false"),
    "clips_mb": (int, "a number"),
}


class ConfigError(Exception):
    """A configuration that cannot be used; the message names file, key and cure."""


@dataclass(frozen=True, slots=True)
class Config:
    """What `companion run` needs to know. Empty addresses: no such device. `box`: a serial device with
    buttons, lights, dice. `dice`: Bluetooth dice, or a second serial device. `tray`: a camera over a dice tray.
    `profile`: the calibrated table.
    `data_file`: a user's own tile set, board, cards or catalogue for `game`. Both lie beside the configuration, if
    relative. `hints`: whether the players may ask for one.
    `undo`: what all must agree to take back (`free`: nothing, `chance`: what brought chance or hidden things,
    `always`). `clips_mb`: so much disk the pictures of doubted turns may take, the oldest go first; 0 keeps none.
    `voice`: a speech program that says aloud what happens (`espeak-ng`), empty for none."""

    game: str = "moguli"
    camera: str = ""
    buttons: str = ""
    lights: str = ""
    box: str = ""
    dice: str = ""
    tray: str = ""
    profile: str = ""
    language: str | None = None
    data_file: str = ""
    hints: bool = False
    undo: str = "chance"
    clips_mb: int = 256
    voice: str = ""
    host: str = "127.0.0.1"
    port: int = 8000


def chosen(entry: GameEntry, given: Sequence[str]) -> dict[str, str | int | bool]:
    """A game's options: its defaults, but those given as `name=value`; raises ConfigError that names what there
    is."""
    known = {o.name: o for o in entry.load_rules().options()}
    options = {o.name: o.default for o in known.values()}
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            raise ConfigError(f"--option {text}: {entry.name} has no option {name!r}; known are {', '.join(known)}")
        choices = {str(c).lower(): c for c in known[name].choices}
        if value.lower() not in choices:
            raise ConfigError(f"--option {text}: {name} is one of {', '.join(choices)}, not {value!r}")
        options[name] = choices[value.lower()]
    return options


def load_config(file: Path) -> Config:
    """The configuration in a file; raises ConfigError that names the file, the key and what to write."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"there is no configuration {file}; write one, or leave --config out") from None
    except tomllib.TOMLDecodeError as error:
        cure = 'write lines such as game = "moguli", texts in quotes'
        raise ConfigError(f"the configuration {file} cannot be read: {error}; {cure}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"the configuration {file} cannot be read: it is no text file in UTF-8") from None
    except OSError as error:
        raise ConfigError(f"the configuration {file} cannot be read: {error.strerror}") from error
    known = {f.name for f in fields(Config)}
    for key, value in data.items():
        if key not in known:
            raise ConfigError(f"{file}: {key} is no known key; known are {', '.join(sorted(known))}")
        kind, words = _KINDS.get(key, (str, "a text in quotes"))
        if type(value) is not kind:
            raise ConfigError(f"{file}: {key} must be {words}, not {value!r}")
    config = Config(**data)
    if config.game not in GAMES:
        raise ConfigError(f"{file}: game = {config.game!r} is not known; known are {', '.join(sorted(GAMES))}")
    if config.language is not None and config.language not in LANGUAGES:
        raise ConfigError(f"{file}: language = {config.language!r} is not known; known are {', '.join(LANGUAGES)}")
    if config.undo not in UNDO:
        raise ConfigError(f"{file}: undo = {config.undo!r} is not known; known are {', '.join(UNDO)}")
    if config.voice not in ("", *VOICES):
        raise ConfigError(f"{file}: voice = {config.voice!r} is not known; known are {', '.join(VOICES)}")
    if not 0 <= config.clips_mb <= 100_000:
        raise ConfigError(f"{file}: clips_mb must be between 0 and 100000, not {config.clips_mb}")
    if not 0 <= config.port < 65536:
        raise ConfigError(f"{file}: port must be between 0 and 65535, not {config.port}")

    def beside(path: str) -> str:
        return str(file.parent / path) if path else ""

    return replace(config, data_file=beside(config.data_file), profile=beside(config.profile))
