"""What people do wrong at a table: illegal acts for simulated players, found for any game from its rules alone."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

from companion.games.contract import Look, Rules
from companion.referee import kinds_of

TRIES = 30
LISTED = 400


def illegal_act(
    rules: Rules[Any, Any], state: Any, earlier: Any | None, chance: random.Random
) -> tuple[dict[str, str], str] | None:
    """Changes of the table that no legal turn makes, and the rule in the way; None when none was found.

    Kinds: two turns at once; the other player's turn again (their piece, a place they have just used); a piece put
    anywhere. All of it can be done by hand, since each part of it was a legal change of some piece.
    """
    before = rules.look(state)
    turns = list(islice(rules.legal(state), LISTED))
    past = list(islice(rules.legal(earlier), LISTED)) if earlier is not None else []
    for _ in range(TRIES):
        kind = chance.randrange(3)
        if kind == 0 and len(turns) > 1:
            first, second = (rules.trace(state, turn) for turn in chance.sample(turns, 2))
            changes = {**first, **second} if not first.keys() & second.keys() else {}
        elif kind == 1 and past:
            assert earlier is not None
            old = rules.look(earlier)
            trace = rules.trace(earlier, chance.choice(past))
            changes = dict(trace) if all(old[key] == before[key] for key in trace) else {}
        else:
            changes = _piece_anywhere(before, chance)
        if not changes:
            continue
        explained = rules.explain(state, {**before, **changes})
        if not explained.stories and explained.refusals:
            return changes, explained.refusals[0].rule
    return None


def _piece_anywhere(look: Look, chance: random.Random) -> dict[str, str]:
    """One piece carried to some bare place, of a kind of which most places are bare."""
    for keys, bare in kinds_of(look):
        pieces = [k for k in keys if look[k] != bare]
        if bare is not None and pieces:
            start = chance.choice(pieces)
            return {start: bare, chance.choice([k for k in keys if look[k] == bare]): look[start]}
    return {}
