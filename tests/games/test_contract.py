"""One suite over every game in the registry: what `companion.games.contract` promises, checked by random play."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from companion.games.contract import Message, Refusal, Rules, RulesError, Setup
from companion.registry import GAMES
from companion.words import catalogue, placeholders

GAMES_PLAYED = 3
TURNS_A_GAME = 25
SAMPLED = 30
NOT_EXACT = {"moogui"}
"""Games in which a figure may lie on the mat or be taken away already, for the same state."""
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal")


@pytest.fixture(params=sorted(GAMES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def played(name: str, seed: int, turns: int = TURNS_A_GAME) -> Iterator[tuple[Any, Any, Any]]:
    """(state, turn, state after) of a random game with random options and number of players."""
    entry = GAMES[name]
    rules = entry.load_rules()
    choose = entry.load_choose()
    chance = random.Random(seed)
    state = begun(name, chance)
    for _ in range(turns):
        if rules.outcome(state) is not None:
            return
        turn = choose(state, chance)
        after = rules.apply(state, turn)
        assert not isinstance(after, Refusal), f"{rules.text(turn)} refused: {after}"
        yield state, turn, after
        state = after


def begun(name: str, chance: random.Random) -> Any:
    """A new game with random options; an option that rules out this number of players is left at its default."""
    entry = GAMES[name]
    rules = entry.load_rules()
    players = NAMES[: chance.randint(rules.min_players, rules.max_players)]
    chosen = {o.name: chance.choice(o.choices) for o in rules.options() if chance.random() < 0.3}
    try:
        return rules.new(Setup(players, chosen, entry.deal_start(chance)))
    except RulesError:
        return rules.new(Setup(players, {}, entry.deal_start(chance)))


def states(name: str) -> Iterator[tuple[Any, Any, Any]]:
    for seed in range(GAMES_PLAYED):
        yield from played(name, seed)


def rules_of(name: str) -> Rules[Any, Any]:
    return GAMES[name].load_rules()


def has_words(message: Message) -> bool:
    """Whether the catalogue has the sentence and the message all values that it needs."""
    template = catalogue("en").get(message.id)
    return template is not None and placeholders(template) <= {key for key, _ in message.values}


def test_turn_texts_round_trip_and_differ(name: str) -> None:
    rules, chance = rules_of(name), random.Random(1)
    for state, turn, _ in states(name):
        assert rules.parse(rules.text(turn)) == turn
        listed = list(rules.legal(state))
        for legal in chance.sample(listed, min(SAMPLED, len(listed))):
            assert rules.parse(rules.text(legal)) == legal
        assert len({rules.text(legal) for legal in listed}) == len(listed)


def test_listed_turns_are_legal_and_leave_the_state_alone(name: str) -> None:
    rules, chance = rules_of(name), random.Random(2)
    for state, _, _ in states(name):
        before = json.dumps(rules.to_json(state))
        listed = list(rules.legal(state))
        for legal in chance.sample(listed, min(SAMPLED, len(listed))):
            assert not isinstance(rules.apply(state, legal), Refusal), rules.text(legal)
            rules.describe(state, legal)
            rules.trace(state, legal)
        assert json.dumps(rules.to_json(state)) == before


def test_nothing_is_legal_exactly_when_it_is_over(name: str) -> None:
    rules = rules_of(name)
    for _, _, after in states(name):
        awaiting = rules.to_act(after)
        over = rules.outcome(after) is not None
        assert over == (awaiting.kind == "over") == (not awaiting.players)
        if over:
            assert not list(rules.legal(after))
        elif awaiting.kind == "turn":
            assert list(rules.legal(after))


def test_states_survive_json_and_text(name: str) -> None:
    rules = rules_of(name)
    for state, _, after in states(name):
        for each in (state, after):
            assert rules.from_json(json.loads(json.dumps(rules.to_json(each)))) == each
            line = rules.position_text(each)
            assert "\n" not in line
            assert rules.position_text(rules.parse_position(line)) == line


def test_a_later_version_is_refused(name: str) -> None:
    rules = rules_of(name)
    data = rules.to_json(begun(name, random.Random(3)))
    with pytest.raises(RulesError) as caught:
        rules.from_json({**data, "version": data["version"] + 1})
    assert has_words(caught.value.refusal.message)


@pytest.mark.parametrize("text", ["", "nonsense", "R z9+90", "99"])
def test_a_text_that_is_no_turn_is_refused_and_quoted(name: str, text: str) -> None:
    rules = rules_of(name)
    with pytest.raises(RulesError):
        rules.parse(text)


@pytest.mark.parametrize("text", ["", "nonsense", "a b c d e f g h"])
def test_a_text_that_is_no_position_is_refused(name: str, text: str) -> None:
    with pytest.raises(RulesError):
        rules_of(name).parse_position(text)


def test_an_unknown_option_and_too_many_players_are_refused(name: str) -> None:
    rules = rules_of(name)
    start = GAMES[name].deal_start(random.Random(4))
    with pytest.raises(RulesError):
        rules.new(Setup(NAMES[: rules.min_players], {"no such option": True}, start))
    with pytest.raises(RulesError):
        rules.new(Setup(tuple("abcdefghijk"), {}, start))


def test_every_refusal_names_a_rule_that_has_words(name: str) -> None:
    """Turns that were legal elsewhere in the game are tried where they mostly are not."""
    rules, chance = rules_of(name), random.Random(5)
    pool: list[Any] = []
    refused = 0
    for state, turn, _ in states(name):
        for strange in chance.sample(pool, min(SAMPLED, len(pool))):
            answer = rules.apply(state, strange)
            if isinstance(answer, Refusal):
                refused += 1
                assert answer.rule.startswith(f"{name}.")
                assert has_words(answer.message), answer
        listed = list(rules.legal(state))
        pool += [turn, *chance.sample(listed, min(5, len(listed)))]
    assert refused > 0


def test_what_is_awaited_noted_and_declared_has_words(name: str) -> None:
    rules = rules_of(name)
    for state, turn, after in states(name):
        outcome = rules.outcome(after)
        messages = [rules.to_act(state).message, rules.describe(state, turn), *rules.notes(state)]
        messages += [] if outcome is None else [outcome.reason]
        for player in rules.to_act(state).players:
            for declared in rules.declarations(state, player):
                messages.append(declared.message)
                assert rules.parse(rules.text(declared.turn)) == declared.turn
        for message in messages:
            assert has_words(message), message


def test_views_are_json(name: str) -> None:
    rules = rules_of(name)
    for _, _, after in states(name):
        for player in (None, 0):
            json.dumps(rules.view(after, player))


def test_the_trace_is_what_changes_in_the_look(name: str) -> None:
    rules = rules_of(name)
    for state, turn, after in states(name):
        before, now = dict(rules.look(state)), dict(rules.look(after))
        trace = dict(rules.trace(state, turn))
        assert all(before.get(key) != value for key, value in trace.items())
        assert {**before, **trace} == now


def test_a_turn_that_shows_is_explained_by_a_story_with_its_next_state(name: str) -> None:
    """Of what the table itself does; a deal or a choice is told, not seen."""
    rules = rules_of(name)
    for state, turn, after in states(name):
        if not rules.trace(state, turn) or rules.to_act(state).kind not in ("turn", "roll"):
            continue
        stories = rules.explain(state, rules.look(after)).stories
        assert after in [story.after for story in stories], rules.text(turn)
        assert [story.unseen for story in stories] == sorted(story.unseen for story in stories)
        for story in stories[:SAMPLED]:
            assert rules.apply(state, story.turn) == story.after
            assert name in NOT_EXACT or rules.look(story.after) == rules.look(after)


def pieces_of_moguli(state: Any) -> Any:
    kinds = Counter((code & 1, code >> 1 in (1, 4)) for code in state.tiles)
    return kinds, [mask.bit_count() for mask in state.pawns]


def pieces_by_value(state: Any, rules: Rules[Any, Any]) -> Any:
    return Counter(value for key, value in rules.look(state).items() if key.startswith("mole:"))


CONSERVED: Mapping[str, Callable[[Any, Rules[Any, Any]], Any]] = {
    "moguli": lambda state, rules: pieces_of_moguli(state),
    "maulwurf": pieces_by_value,
}


@pytest.mark.parametrize("name", sorted(CONSERVED))
def test_pieces_are_conserved(name: str) -> None:
    rules = rules_of(name)
    for state, _, after in states(name):
        assert CONSERVED[name](state, rules) == CONSERVED[name](after, rules)


@pytest.mark.parametrize("games", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_games_break_no_invariant(name: str, games: int) -> None:
    rules = rules_of(name)
    for seed in range(games):
        for state, turn, after in played(name, seed, 8 if games == 200 else 400):
            assert rules.parse(rules.text(turn)) == turn
            assert rules.from_json(rules.to_json(after)) == after
            if name in CONSERVED:
                assert CONSERVED[name](state, rules) == CONSERVED[name](after, rules)
