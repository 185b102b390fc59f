"""The catalogue of all sentences that a user may see, one TOML file a language and namespace, English as fallback."""

from __future__ import annotations

import logging
import string
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from companion.games.contract import Message

LANGUAGES = ("en", "es", "fi", "de", "fr")
FALLBACK = "en"
_DEPTH = 4
_log = logging.getLogger(__name__)
_reported: set[tuple[str, str]] = set()


class WordsError(Exception):
    """A catalogue file that cannot be read; names the file and what is wrong."""


@cache
def catalogue(lang: str) -> Mapping[str, str]:
    """All sentences of one language: message id -> template; empty for a language without files.

    Raises WordsError when a file is no flat table of strings.
    """
    folder = resources.files(__name__) / lang
    words: dict[str, str] = {}
    if not folder.is_dir():
        return words
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".toml"):
            continue
        namespace = file.name.removesuffix(".toml")
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise WordsError(f"cannot read the words in {lang}/{file.name}: {error}") from error
        for key, template in table.items():
            if not isinstance(template, str):
                raise WordsError(f"{lang}/{file.name}: {key} must be a sentence in quotes, not {template!r}")
            words[f"{namespace}.{key}"] = template
    return words


def placeholders(template: str) -> frozenset[str]:
    """The names in braces of a template; raises ValueError when its braces do not match."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


def knows(message_id: str, lang: str = FALLBACK) -> bool:
    """True when the language or the fallback has a sentence of this id."""
    return message_id in catalogue(lang) or message_id in catalogue(FALLBACK)


def say(message: Message, lang: str = FALLBACK, players: Sequence[str] = ()) -> str:
    """The sentence of a message in a language, plain text (not escaped for HTML).

    `#0`, `#1` among the values become the players' names, `@id` the sentence of that id. An unknown id or a missing
    value never raises: it stays visible (`[moguli.word]`, `{value}`) and is logged once.
    """
    return _say(message, lang, players, _DEPTH)


def _say(message: Message, lang: str, players: Sequence[str], depth: int) -> str:
    template = catalogue(lang).get(message.id) or catalogue(FALLBACK).get(message.id)
    values = {name: _value(value, lang, players, depth) for name, value in message.values}
    if template is None:
        _report(message.id, "no sentence in the catalogue")
        shown = ", ".join(f"{name} {value}" for name, value in values.items())
        return f"[{message.id}: {shown}]" if shown else f"[{message.id}]"
    try:
        missing = placeholders(template) - values.keys()
    except ValueError as error:
        _report(message.id, f"template cannot be used: {error}")
        return template
    if missing:
        _report(message.id, f"no value for {', '.join(sorted(missing))}")
    return template.format_map({**{name: f"{{{name}}}" for name in missing}, **values})


def _value(value: str | int | float, lang: str, players: Sequence[str], depth: int) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if not isinstance(value, str):
        return str(value)
    if value.startswith("#") and value[1:].isdigit():
        index = int(value[1:])
        return (
            players[index] if index < len(players) else _say(Message("game.player", (("n", index + 1),)), lang, (), 0)
        )
    if value.startswith("@") and depth > 0 and knows(value[1:], lang):
        return _say(Message(value[1:]), lang, players, depth - 1)
    return value


def _report(message_id: str, what: str) -> None:
    if (message_id, what) not in _reported:
        _reported.add((message_id, what))
        _log.warning("words: %s: %s", message_id, what)
