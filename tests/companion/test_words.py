"""The catalogue: every language's sentences exist in English and take the same values; nothing unknown ever raises."""

from __future__ import annotations

import pytest

from companion.games.contract import Message
from companion.words import FALLBACK, LANGUAGES, catalogue, placeholders, say


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sentence_exists_in_english_and_takes_the_same_values(lang: str) -> None:
    english = catalogue(FALLBACK)
    for message_id, template in catalogue(lang).items():
        assert message_id in english, f"{lang}: {message_id} has no English sentence"
        assert placeholders(template) == placeholders(english[message_id]), f"{lang}: {message_id}"


def test_players_and_ids_among_the_values_become_words() -> None:
    said = say(Message("game.to_move", (("player", "#1"),)), "en", ("Ada", "Bea"))
    assert "Bea" in said and "#1" not in said
    assert say(Message("game.to_move", (("player", "@game.resign"),))).startswith(catalogue("en")["game.resign"])


def test_a_name_that_looks_like_a_player_or_an_id_stays_a_name() -> None:
    assert "#1" in say(Message("game.to_move", (("player", "#0"),)), "en", ("#1", "Bea"))


def test_an_unknown_id_or_a_missing_value_stays_visible() -> None:
    assert say(Message("nonsense.word", (("place", "b3"),))) == "[nonsense.word: place b3]"
    assert "{player}" in say(Message("game.to_move"))


def test_a_language_without_a_sentence_falls_back_to_english() -> None:
    assert say(Message("game.player", (("n", 2),)), "xx") == say(Message("game.player", (("n", 2),)), "en")
