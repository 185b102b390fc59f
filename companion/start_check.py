"""Before the first turn: the reading against a legal start, its differences by name, or the start to be accepted."""

from __future__ import annotations

from typing import Any

from companion.doubts import ASK_S, ASKED_PLACES, HIDDEN_S, confirmed, unread_places
from companion.draft import Draft, choice, fact_words, place_of
from companion.games.contract import Message
from companion.match import as_json
from companion.referee import ACCEPT, BEYOND, LOOKS_OPENED
from companion.sight import Sight, likely_looks, sight_of
from vision.reading import Reading


def check_start(draft: Draft, reading: Reading) -> None:
    """The reading against a legal start: what is missing or wrong by name, or the start ready to be accepted.

    Of the likeliest looks the first legal start is taken if it leads the next different one; so a doubt about a place
    where only one thing can lie delays nothing.
    """
    match = draft.match
    if not match.side:
        return
    told = match.check.told
    best = {k: told.get(k, f.best) for k, f in reading.facts.items()}
    hidden = [k for k in sorted(best) if reading.facts[k].hidden and k not in told]
    waited = False
    if hidden:
        few = len({place_of(k) for k in hidden}) <= ASKED_PLACES
        waited = confirmed(draft, "hidden", reading.time_s, HIDDEN_S)
        if not few or not (waited or match.check.ready):
            _start_read(draft, None, unread_places(reading, hidden), hidden)
            return
    sight = sight_of(reading, best)
    unknown = {k: dict.fromkeys(reading.facts[k].values, 0.0) for k in hidden}
    sight = Sight({k: v for k, v in sight.costs.items() if k not in told} | unknown)
    looks = likely_looks(sight, best, LOOKS_OPENED, BEYOND, change=0.0)
    starts = [
        (cost, look, match.rules.start_from_look(look, match.setup.options, match.setup.start)) for cost, look in looks
    ]
    legal = [(cost, look, start) for cost, look, start in starts if not isinstance(start, tuple)]
    if not legal or legal[0][0] - looks[0][0] > BEYOND:
        refusals = starts[0][2]
        assert isinstance(refusals, tuple)
        _start_read(draft, None, [r.message for r in refusals], [f":{p}" for r in refusals for p in r.places])
        return
    cost, look, start = legal[0]
    rival = next((o for c, o, s in legal[1:] if c - cost < ACCEPT and s != start), None)
    if rival is None:
        _start_read(draft, start, [], [])
        return
    key = next(k for k in look if look[k] != rival[k])
    # Said first: what is said anew starts every waiting anew.
    _start_read(draft, None, unread_places(reading, [key]), [key])
    if waited if hidden else confirmed(draft, f"unread {key}", reading.time_s, ASK_S):
        values = [value for value, _ in reading.facts[key].ranked[:6]]
        choices = [choice(v, fact_words(match.game, key, v), "fact", facts={key: v}) for v in values]
        draft.ask(Message("table.what_lies_here", (("place", place_of(key)),)), choices, [place_of(key)], {})


def _start_read(draft: Draft, start: Any, differences: list[Message], keys: list[str]) -> None:
    check = draft.match.check
    ready = start is not None
    places = sorted({place_of(k) for k in keys})
    if (check.start, check.ready, check.differences, check.places) != (start, ready, tuple(differences), tuple(places)):
        said = [as_json(m) for m in differences]
        draft.add("start_read", start=start, ready=ready, differences=said, places=places, told={})
