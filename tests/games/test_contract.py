"""One suite over every game in the registry: what `companion.games.contract` promises, checked by random play."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from companion.games.contract import Look, Message, Refusal, Rules, RulesError, Setup, roll_stories
from companion.registry import GAMES, Chooser
from companion.words import catalogue, placeholders

GAMES_PLAYED = 3
TURNS_A_GAME = 25
SAMPLED = 30
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal")


@pytest.fixture(params=sorted(GAMES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def played(
    name: str, seed: int, turns: int = TURNS_A_GAME, player: Chooser | None = None
) -> Iterator[tuple[Any, Any, Any]]:
    """(state, turn, state after) of a random game with random options and number of players."""
    entry = GAMES[name]
    rules = entry.load_rules()
    choose = player or entry.load_choose()
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
    """Of what the table itself does and the eyes measure of it; a deal or a choice is told, not seen, and a die too."""
    rules, measured = rules_of(name), GAMES[name].load_measured()
    for state, turn, after in states(name):
        if not rules.trace(state, turn) or rules.to_act(state).kind not in ("turn", "roll"):
            continue
        if any(told.turn == turn for value in range(1, 7) for told in roll_stories(rules, state, 6, value)):
            assert not rules.explain(state, rules.look(after)).stories
            continue
        stories = rules.explain(state, {**rules.look(after), **measured(state, turn)}).stories
        assert after in [story.after for story in stories], rules.text(turn)
        assert [story.unseen for story in stories] == sorted(story.unseen for story in stories)
        for story in stories[:SAMPLED]:
            assert rules.apply(state, story.turn) == story.after
            assert rules.look(story.after) == rules.look(after)


def conserved_in_moguli(before: Any, after: Any, rules: Rules[Any, Any]) -> None:
    """The same tiles (kind and triangle), five pawns a side, one pawn a door."""
    counts = []
    for state in (before, after):
        look = rules.look(state)
        tiles = Counter((look[f"path:{d}"] in ("NS", "EW"), look[f"triangle:{d}"]) for d in doors(look))
        counts.append((tiles, Counter(look[f"pawn:{d}"] for d in doors(look))))
    assert counts[0] == counts[1]
    assert counts[1][1]["1"] == counts[1][1]["2"] == 5


def doors(look: Look) -> list[str]:
    return [key.partition(":")[2] for key in look if key.startswith("pawn:")]


def conserved_in_maulwurf(before: Any, after: Any, rules: Rules[Any, Any]) -> None:
    """Moles neither come nor go, except one for each busy tile that closes its cave; busy tiles never move."""
    old, new = rules.look(before), rules.look(after)
    assert old.keys() == new.keys()
    placed = [key for key, value in new.items() if value.startswith("busy") and old[key] != value]
    assert all(new[key] == value for key, value in old.items() if value.startswith("busy"))
    had, has = Counter(old.values()), Counter(new.values())
    moles = [f"mole{n}" for n in range(1, 5)]
    assert all(0 <= had[mole] - has[mole] <= len(placed) for mole in moles)
    assert sum(had[mole] - has[mole] for mole in moles) <= len(placed)
    assert all(has[mole] <= 9 and has[f"busy{mole[-1]}"] <= 2 for mole in moles)


def conserved_in_muggins(before: Any, after: Any, rules: Rules[Any, Any]) -> None:
    """Twenty-eight different tiles between line, hands and boneyard, once they are dealt."""
    if after.phase not in ("play", "show"):
        return
    held = sum(after.holds(p) for p in range(after.players))
    assert len(after.line) + held + after.left == 28
    tiles = [tuple(sorted(t)) for t in (*after.line, *after.boneyard, *(t for hand in after.hands for t in hand))]
    assert len(set(tiles)) == len(tiles)
    assert all(0 <= a <= b <= 6 for a, b in tiles)
    assert sum(after.scores) % 5 == 0


def conserved_in_moogui(before: Any, after: Any, rules: Rules[Any, Any]) -> None:
    """Every piece has one owner; pieces are neither created nor lost; in training nothing changes hands."""
    assert [piece for piece, _ in before.owners] == [piece for piece, _ in after.owners]
    assert all(0 <= owner < len(after.points) for _, owner in after.owners)
    if after.rule.mode == "training":
        assert before.owners == after.owners
    assert 0 <= sum(after.points) - sum(before.points) <= 1


def conserved_in_moogh(before: Any, after: Any, rules: Rules[Any, Any]) -> None:
    """The same cubes; the dead stay dead and injuries are kept; one cube a cell, none under a resting beast."""
    old, new = rules.look(before), rules.look(after)
    assert old.keys() == new.keys()
    assert all(new[key] == "dead" for key, value in old.items() if key.startswith("cube:") and value == "dead")
    assert all(a.hurt <= b.hurt <= 2 for a, b in zip(before.men, after.men, strict=True))
    assert 0 <= after.health <= before.health <= 6
    cells = [value for key, value in new.items() if key.startswith("cube:") and "," in value]
    assert len(set(cells)) == len(cells)
    x, y = map(int, new["beast:origin"].split(","))
    under = {f"{x + dx},{y + dy}" for dx in (0, 1) for dy in (0, 1)}
    assert after.phase % 2 == 0 or not under & set(cells), "only while the beast acts may it stand on somebody"


CONSERVED: Mapping[str, Callable[[Any, Any, Rules[Any, Any]], None]] = {
    "maulwurf": conserved_in_maulwurf,
    "moguli": conserved_in_moguli,
    "moogh": conserved_in_moogh,
    "moogui": conserved_in_moogui,
    "muggins": conserved_in_muggins,
}


def test_pieces_are_conserved(name: str) -> None:
    rules = rules_of(name)
    for state, _, after in states(name):
        CONSERVED[name](state, after, rules)


def hurried(name: str) -> Chooser:
    """The random player; in Moguli the best of three random turns, or else most games would go on for ever."""
    choose = GAMES[name].load_choose()
    if name != "moguli":
        return choose

    def best(state: Any, chance: random.Random) -> Any:
        rules = rules_of(name)
        turns = [choose(state, chance) for _ in range(3)]
        return max(turns, key=lambda turn: rows_gained(rules, state, turn) + chance.random())

    return best


def rows_gained(rules: Rules[Any, Any], state: Any, turn: Any) -> int:
    pawns = [(value, int(key[-1])) for key, value in rules.trace(state, turn).items() if key.startswith("pawn:")]
    old, new = (next((row for v, row in pawns if (v != "-") == there), 0) for there in (False, True))
    return (new - old) * (1 if state.to_move == 0 else -1)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("games", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_games_break_no_invariant(name: str, games: int) -> None:
    """Whole games in the slow test; their first turns in the normal run."""
    rules, choose = rules_of(name), hurried(name)
    ended = 0
    for seed in range(games):
        after = None
        for state, turn, after in played(name, seed, 8 if games == 200 else 400, choose):
            assert rules.parse(rules.text(turn)) == turn
            assert rules.from_json(rules.to_json(after)) == after
            CONSERVED[name](state, after, rules)
        ended += after is not None and rules.outcome(after) is not None
    assert games == 200 or ended > 0
