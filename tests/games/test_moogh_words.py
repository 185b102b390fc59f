"""Everything that MOOGH says exists in five languages and leaves no gap."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from companion.games.contract import Message, Refusal, Rules, Setup
from companion.games.moogh import RULES, cards, printed
from companion.games.moogh.players import PLAYERS
from companion.registry import Chooser
from companion.words import LANGUAGES, catalogue, say

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal")


def unsaid(messages: Iterable[Message]) -> set[str]:
    """The ids, also those among the values, that a language lacks, and those of sentences with a gap left."""
    missing = set()
    for message in messages:
        ids = [message.id] + [str(v)[1:] for _, v in message.values if isinstance(v, str) and v.startswith("@")]
        for lang in LANGUAGES:
            missing |= {f"{lang}: {each}" for each in ids if each not in catalogue(lang)}
            if "{" in say(message, lang, NAMES):
                missing.add(f"{lang}: {message.id} has a gap")
    return missing


def heard(rules: Rules[Any, Any], choose: Chooser, options: dict[str, Any], players: int, seed: int) -> set[Message]:
    """What is said in one random game, wrong inputs and strange tables included."""
    chance = random.Random(seed)
    state = before = rules.new(Setup(NAMES[:players], options))
    said: set[Message] = set()
    texts: list[str] = []
    for _ in range(200):
        said |= {rules.to_act(state).message, *rules.notes(state)}
        for player in range(players):
            said |= {declared.message for declared in rules.declarations(state, player)}
        outcome = rules.outcome(state)
        if outcome is not None:
            return said | {outcome.reason}
        turn = choose(state, chance)
        said.add(rules.describe(state, turn))
        texts.append(rules.text(turn))
        for text in chance.sample(texts, min(3, len(texts))):
            answer = rules.apply(state, rules.parse(text))
            said |= {answer.message} if isinstance(answer, Refusal) else set()
        look = dict(rules.look(state))
        look[chance.choice(sorted(look))] = chance.choice(["out", "3,3", "2", "-", "A9", "top"])
        said |= {refusal.message for refusal in rules.explain(state, look).refusals}
        corrected = rules.with_look(state, look)
        said |= {corrected.message} if isinstance(corrected, Refusal) else set()
        before, state = state, rules.apply(state, turn)
        said |= {refusal.message for refusal in rules.explain(state, rules.look(before)).refusals}
    return said


def option_ids(rules: Rules[Any, Any]) -> list[Message]:
    """The sentences of all options and their values."""
    ids = [f"{rules.name}.option.{option.name}" for option in rules.options()]
    for option in rules.options():
        for value in option.choices:
            ids.append(f"{rules.name}.option.{option.name}.{str(value).lower() if isinstance(value, bool) else value}")
    return [Message(each) for each in ids]


@pytest.mark.parametrize("seed", range(4))
def test_everything_said_in_a_game_has_words(seed: int) -> None:
    options = {"pvp": seed % 2 == 0, "moogh_control": seed > 1, "secret_actions": seed == 3}
    said = heard(RULES, PLAYERS[("random", "sensible")[seed % 2]], options, 1 + seed, seed)
    assert len(said) > 50 and not unsaid(said)


def test_options_and_card_faults_have_words() -> None:
    assert not unsaid(option_ids(RULES))
    data = dict(cards.default().data)
    wrong = [{}, {**data, "save": {}}, {**data, "front": data["back"]}, {**data, "obstacles": [[0, 1], [9, 9]]}]
    assert not unsaid(fault.message for each in wrong for fault in printed.faults(each))
