"""The players of a demo: they know the rules, choose turns and plant illegal acts, and know what a camera can see."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

from companion.games.contract import Look, Refusal, roll_stories
from companion.match import Choice, Match
from companion.mischief import illegal_act
from companion.registry import GameEntry

Planted = tuple[Mapping[str, str], str]
"""An illegal act and the rule that it breaks."""

SIDES = 6
"""Of the players' dice."""

PLANT_TRIES = 40
"""How many illegal acts are tried to find one against a rule that has not been broken yet."""

PICK_TRIES = 8
"""How many turns are tried to find one that a camera can tell from every other."""


class Players:
    """All players of one game; `chance` makes their choices."""

    def __init__(self, game: GameEntry, chance: random.Random) -> None:
        self.rules = game.load_rules()
        self.measured = game.load_measured()
        self._choose, self._plant = game.load_choose(), game.load_illegal()
        self._chance = chance

    def pick(self, state: Any, shown: Collection[str]) -> tuple[Any, Any, bool]:
        """A turn, the state after it, and whether it must be declared because a camera cannot tell it from another;
        `shown` are the facts that can be seen on this table."""
        for _ in range(PICK_TRIES):
            turn = self._choose(state, self._chance)
            after = self.rules.apply(state, turn)
            assert not isinstance(after, Refusal)
            plain = self._plain(state, turn, after, shown)
            if plain:
                break
        return turn, after, not plain

    def _plain(self, state: Any, turn: Any, after: Any, shown: Collection[str]) -> bool:
        """Whether what is seen of a turn says which turn it is."""
        measured, before = self.measured(state, turn), self.rules.look(state)
        seen = {**measured, **self._visible(before, self.rules.look(after), shown)}
        stories = self.rules.explain(state, seen).stories
        if not stories or stories[0].after != after:
            return False
        changed = [key for key, value in seen.items() if before.get(key) != value]
        kind = self.rules.to_act(state).kind
        if kind == "choice" and not measured:
            # Made by putting one piece; what follows from it is done when it was told.
            return len(changed) == 1 and self.rolled(state, turn) is None
        # A choice or a roll of which nothing is to be seen is told, and a die is to be read.
        return kind == "turn" or (bool(changed) and self.rolled(state, turn) is None)

    def _visible(self, before: Look, after: Look, shown: Collection[str]) -> Look:
        """How the table looks to a camera after a turn: what cannot be seen on it stays as it was known."""
        return {key: value if key in shown else before[key] for key, value in after.items()}

    def rolled(self, state: Any, turn: Any) -> int | None:
        """What a die shows for this turn to be made; None for a turn that no die makes."""
        values = range(1, SIDES + 1)
        return next((v for v in values if any(s.turn == turn for s in roll_stories(self.rules, state, SIDES, v))), None)

    def unseen_together(self, state: Any, after: Any, following: Any) -> bool:
        """Whether a turn may follow the one from `state` to `after` unseen: no throw, one that leaves all marks of the
        first, and not by the same player, whose second press would count as one with the first."""
        if self.rules.outcome(after) is not None:
            return False
        one, two = (self.rules.to_act(each).players[0] for each in (state, after))
        if one == two or self.rules.reveals(after, following):
            return False
        first, second = self.rules.look(state), self.rules.look(after)
        marks = {key for key, value in second.items() if first[key] != value}
        return not marks & self.rules.trace(after, following).keys()

    def hold_for_true(self, choice: Choice, match: Match, truth: Look, goal: Any) -> bool:
        """Whether an answer says what is so: the table shows `truth`, and its turns lead to the position `goal`."""
        if choice.kind == "fact":
            return all(truth.get(k, v) == v for k, v in choice.facts.items())
        if choice.value == "other":
            return False
        look = {**match.rules.look(match.now), **choice.facts}
        if any(truth.get(k, v) != v for k, v in look.items()):
            return False
        if choice.kind == "takeback" and goal is not None:
            return bool(match.states[match.upto(choice.number)] == goal)
        state = match.agreed
        for _, text in choice.turns:
            state = self.rules.apply(state, self.rules.parse(text))
        return not choice.turns or state == goal

    def planted(self, state: Any, earlier: Any | None, known: Mapping[str, int]) -> Planted | None:
        """An illegal act and the rule that it breaks, one of the least `known` rules where there is such; `earlier` is
        the state before the last turn."""
        if self._plant is None:
            return illegal_act(self.rules, state, earlier, self._chance)
        found = [self._plant(state, self._chance) for _ in range(PLANT_TRIES)]
        return min((act for act in found if act is not None), key=lambda act: known.get(act[1], 0), default=None)
