"""The one function that changes a match: `apply(match, event)`.

A match is nothing but its events: `fold` rebuilds it exactly. Events hold every decision (which turn, which question),
so that replaying them needs the rules but no reading, no clock and no chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from companion.games.contract import Json, Look, Message, Refusal, Rules, Setup, Story
from companion.match import (
    Asked,
    Choice,
    Contest,
    Entry,
    Event,
    GamesByName,
    Judgement,
    Match,
    Offer,
    StartCheck,
    Throw,
    message,
    messages,
)


class BrokenHistoryError(Exception):
    """An event that does not fit the match before it: the journal is damaged or of another program version."""


def fold(events: Iterable[Event], games: GamesByName) -> Match:
    """The match that these events make, from nothing; raises BrokenHistoryError when one does not fit."""
    match = Match(games)
    for event in events:
        match = apply(match, event)
    return match


def apply(match: Match, event: Event) -> Match:
    """The match after one event; raises BrokenHistoryError when the event does not fit it."""
    change = _CHANGES.get(event.kind)
    if change is None:
        raise BrokenHistoryError(f"event {match.events + 1}: this program does not know the kind {event.kind!r}")
    try:
        changed = change(match, event.data)
    except (KeyError, TypeError, ValueError, IndexError, LookupError) as error:
        what = f"event {match.events + 1} ({event.kind}) does not fit the match before it: {error}"
        raise BrokenHistoryError(what) from error
    doubt = changed.doubt if event.kind in ("doubted", "pressed") else None
    return replace(changed, events=match.events + 1, doubt=doubt)


def _opened(match: Match, d: Mapping[str, Json]) -> Match:
    setup = Setup(tuple(d["players"]), dict(d["options"]), d.get("given"))
    match.games(d["game"])
    return Match(
        match.games,
        events=match.events,
        questions=match.questions,
        id=d["id"],
        game=d["game"],
        setup=setup,
        phase="start_check",
        manual=d["manual"],
        done_expected=d["done_expected"],
        side=d["side"],
        undo=d.get("undo", "chance"),
        hints=d.get("hints", False),
        data=d.get("data", {}),
    )


def _start_read(match: Match, d: Mapping[str, Json]) -> Match:
    check = StartCheck(
        d["start"], d["ready"], messages(d["differences"]), tuple(d["places"]), {**match.check.told, **d["told"]}
    )
    return replace(match, check=check, question=None)


def _side(match: Match, d: Mapping[str, Json]) -> Match:
    return replace(match, side=d["corner"], question=None, check=StartCheck())


def _started(match: Match, d: Mapping[str, Json]) -> Match:
    setup = replace(match.setup, start=d["start"])
    state = match.rules.new(setup)
    check = StartCheck()
    started = replace(match, setup=setup, phase="playing", states=(state,), entries=(), check=check, question=None)
    return _moved(started, lag=None)


def _provisional(match: Match, d: Mapping[str, Json]) -> Match:
    turn = match.rules.parse(d["turn"])
    after = _applied(match.rules, match.agreed, turn)
    return _moved(replace(match, provisional=Story(turn, after, d["player"], d["unseen"])), lag=None)


def _withdrawn(match: Match, d: Mapping[str, Json]) -> Match:
    contests = _until(match, match.turns)
    return _moved(
        replace(match, provisional=None, pressed=(), contests=contests), lag=match.table if d["lag"] else None
    )


def _turn(match: Match, d: Mapping[str, Json]) -> Match:
    rules = match.rules
    turn = rules.parse(d["turn"])
    after = _applied(rules, match.agreed, turn)
    entry = Entry(d["player"], d["turn"], rules.describe(match.agreed, turn), d["by"])
    grown = replace(
        match,
        entries=(*match.entries, entry),
        states=(*match.states, after),
        provisional=None,
        pressed=match.pressed[1:],
        done_expected=match.done_expected or d["by"] == "done",
        offer=None,
    )
    return _moved(_phase(grown), lag=match.table if d.get("lag") else None)


def _undone(match: Match, d: Mapping[str, Json]) -> Match:
    keep = match.upto(d["to"])
    throw = match.throw if match.throw is not None and match.throw.turn <= d["to"] else None
    shorter = replace(
        match,
        entries=match.entries[:keep],
        states=match.states[: keep + 1],
        provisional=None,
        pressed=(),
        offer=None,
        throw=throw,
        contests=_until(match, d["to"]),
    )
    return _moved(_phase(shorter), lag=match.table if d["lag"] else None)


def _corrected(match: Match, d: Mapping[str, Json]) -> Match:
    facts = dict(d["facts"])
    state = _applied(match.rules, match.agreed, facts)
    words = Message("table.corrected")
    entry = Entry(d["player"], "", words, "corrected", facts)
    told = {**match.told, **d["told"]}
    changed = replace(
        match,
        entries=(*match.entries, entry),
        states=(*match.states, state),
        provisional=None,
        told=told,
        unclear=(),
        contests=_decided(match, None, "changed", d["player"]),
    )
    return _moved(_phase(changed), lag=None)


def _rewritten(match: Match, d: Mapping[str, Json]) -> Match:
    """The record with another turn `number`; what follows is applied again, and what no longer fits is marked."""
    rules = match.rules
    entries: list[Entry] = []
    states = [match.states[0]]
    number = 0
    for entry in match.entries:
        number += bool(entry.text)
        if entry.text and number == d["number"]:
            entry = replace(entry, text=d["text"], corrected=True)
        after, entry = _again(rules, states[-1], entry)
        entries.append(entry)
        states.append(after)
    contests = _decided(match, d["number"], "changed", d.get("player", -1))
    changed = replace(
        match, entries=tuple(entries), states=tuple(states), provisional=None, pressed=(), contests=contests
    )
    return _moved(_phase(changed), lag=None)


def _again(rules: Rules[Any, Any], state: Any, entry: Entry) -> tuple[Any, Entry]:
    if not entry.text:
        after = rules.with_look(state, entry.facts)
        refused = after.rule if isinstance(after, Refusal) else ""
        return (state if refused else after), replace(entry, refused=refused)
    turn = rules.parse(entry.text)
    if entry.by != "declared" and entry.player not in rules.to_act(state).players:
        return state, replace(entry, refused="game.not_your_turn")
    after = rules.apply(state, turn)
    if isinstance(after, Refusal):
        return state, replace(entry, refused=after.rule)
    return after, replace(entry, refused="", words=rules.describe(state, turn))


def _judged(match: Match, d: Mapping[str, Json]) -> Match:
    judgement = Judgement(d["kind"], message(d["words"]), messages(d["details"]), tuple(d["places"]))
    table = {**match.rules.look(match.now), **d["facts"]} if match.states else {}
    keep = match.question if d["kind"] == "question" else None
    return replace(match, judgement=judgement, table=table, question=keep, recheck=False)


def _asked(match: Match, d: Mapping[str, Json]) -> Match:
    choices = tuple(
        Choice(
            c["value"],
            message(c["words"]),
            c["kind"],
            tuple((p, t) for p, t in c["turns"]),
            c["number"],
            dict(c["facts"]),
            messages(c["details"]),
            tuple(c["places"]),
        )
        for c in d["choices"]
    )
    question = Asked(d["id"], message(d["words"]), choices, tuple(d["places"]), dict(d["saw"]), d.get("presses", 0))
    return replace(match, question=question, questions=match.questions + 1)


def _lying(match: Match, d: Mapping[str, Json]) -> Match:
    if match.question is None:
        raise ValueError("nothing is asked")
    lying = {n: tuple(at) for n, at in d["places"].items()}
    unclear = tuple(tuple(at) for at in d.get("unclear", ()))
    saw = {**d.get("saw", {}), **match.question.saw}
    return replace(match, question=replace(match.question, lying=lying, unclear=unclear, saw=saw))


def _settled(match: Match, d: Mapping[str, Json]) -> Match:
    unclear = match.question.unclear if match.question is not None else match.unclear
    return replace(match, question=None, told={**match.told, **d["told"]}, unclear=unclear)


def _untold(match: Match, d: Mapping[str, Json]) -> Match:
    return replace(match, told={k: v for k, v in match.told.items() if k not in d["keys"]})


def _rolled(match: Match, d: Mapping[str, Json]) -> Match:
    return replace(match, throw=Throw(d["faces"], d["value"], d["at_s"], (d["source"],), d["turn"]))


def _seconded(match: Match, d: Mapping[str, Json]) -> Match:
    if match.throw is None:
        raise ValueError("nothing was rolled")
    return replace(match, throw=replace(match.throw, sources=(*match.throw.sources, d["source"])))


def _offered(match: Match, d: Mapping[str, Json]) -> Match:
    return replace(match, offer=Offer(d["player"], message(d["words"]), d["text"], d["number"]))


def _agreed(match: Match, d: Mapping[str, Json]) -> Match:
    if match.offer is None:
        raise ValueError("nothing is offered")
    return replace(match, offer=replace(match.offer, agreed=match.offer.agreed | set(d["players"])))


def _contested(match: Match, d: Mapping[str, Json]) -> Match:
    others = tuple(c for c in match.contests if c.number != d["number"])
    return replace(match, contests=(*others, Contest(d["number"], d["player"], d["clip"])))


def _upheld(match: Match, d: Mapping[str, Json]) -> Match:
    return replace(match, contests=_decided(match, d["number"], "stands", d["player"]))


def _decided(match: Match, number: int | None, how: str, player: int) -> tuple[Contest, ...]:
    """The doubted turns, of which this one (None: every open one) has been decided."""
    return tuple(
        replace(c, decided=how, decider=player) if not c.decided and number in (None, c.number) else c
        for c in match.contests
    )


def _until(match: Match, number: int) -> tuple[Contest, ...]:
    return tuple(c for c in match.contests if c.number <= number)


def _applied(rules: Rules[Any, Any], state: Any, turn_or_facts: Any) -> Any:
    after = (
        rules.with_look(state, turn_or_facts) if isinstance(turn_or_facts, dict) else rules.apply(state, turn_or_facts)
    )
    if isinstance(after, Refusal):
        raise ValueError(f"{after.rule} {' '.join(after.places)}")
    return after


def _moved(match: Match, lag: Look | None) -> Match:
    """The match after its position changed: the table is taken to look so, unless it lags behind."""
    look = dict(match.rules.look(match.now))
    behind = lag if lag is not None and lag != look and not match.manual else None
    return replace(match, table=behind or look, lag=behind, judgement=None, question=None, recheck=False)


def _phase(match: Match) -> Match:
    return replace(match, phase="playing" if match.rules.outcome(match.agreed) is None else "over")


_CHANGES: dict[str, Callable[[Match, Mapping[str, Json]], Match]] = {
    "opened": _opened,
    "start_read": _start_read,
    "side": _side,
    "started": _started,
    "provisional": _provisional,
    "withdrawn": _withdrawn,
    "turn": _turn,
    "undone": _undone,
    "corrected": _corrected,
    "rewritten": _rewritten,
    "judged": _judged,
    "asked": _asked,
    "settled": _settled,
    "untold": _untold,
    "rolled": _rolled,
    "seconded": _seconded,
    "offered": _offered,
    "agreed": _agreed,
    "unoffered": lambda m, d: replace(m, offer=None),
    "pressed": lambda m, d: replace(m, pressed=(*m.pressed, (d["player"], d["at_s"]))),
    "unpressed": lambda m, d: replace(m, pressed=()),
    "doubted": lambda m, d: replace(m, doubt=(d["key"], d["since_s"])),
    "undoubted": lambda m, d: m,
    "caught_up": lambda m, d: _moved(m, lag=None),
    "watched": lambda m, d: replace(_moved(m, lag=None), manual=False, recheck=True),
    "rechecked": lambda m, d: replace(_moved(m, lag=None), recheck=True, told={}, unclear=()),
    "lying": _lying,
    "landed": lambda m, d: m,  # where pieces came to rest; nothing is decided by it
    "contested": _contested,
    "upheld": _upheld,
    "paused": lambda m, d: replace(m, paused=True),
    "resumed": lambda m, d: replace(m, paused=False),
}
