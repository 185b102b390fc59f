"""Rolled dice as evidence: whose roll it is, and what a second kind of device says of the same roll.

The first report of an awaited roll counts at once, so that where one device is silent the other serves. A report of
another kind soon after it is a second opinion: the same value confirms, another one is asked about. Pure, no game.
"""

from __future__ import annotations

from typing import Any

from companion.commands import OK, Reply, refused
from companion.draft import Draft, choice
from companion.evidence import Rolled
from companion.games.contract import Json, Message, Story, roll_stories
from companion.judging import make_final
from companion.match import Choice, Entry, Match, Throw

PAIR_S = 2.0
"""Reports of two kinds of source about dice that came to rest so close together are about the same roll."""

LATE_S = 30.0
"""An electronic die and a camera may be about the same roll for so long (a hand was over the tray); it is asked."""

OLD_S = 60.0
"""A roll that came to rest before the last one, up to so long, is an old one; beyond it the clock has begun anew."""

_WATCHING = frozenset({"die", "camera"})

FACES = 6
"""Dice whose rolls people enter by hand."""


def rolled(draft: Draft, roll: Rolled) -> Reply:
    """Adds what a rolled die means; the reply says so, or why it does not count."""
    match, throw, kind = draft.match, draft.match.throw, roll.author.kind
    if match.phase != "playing" or match.paused:
        return refused("companion.not_while.paused" if match.paused else f"companion.not_while.{match.phase}")
    asked = match.question is not None and match.question.about_roll
    if throw is not None and throw.turn > match.turns and not asked:
        throw = None  # it was answered that it counts for nothing
    if throw is not None and kind not in throw.sources:
        apart_s = abs(roll.at_s - throw.at_s)
        watched = kind in _WATCHING and _WATCHING.issuperset(throw.sources)
        if apart_s <= PAIR_S or (watched and apart_s <= LATE_S):
            return _second_opinion(draft, roll, throw)
    if throw is not None and PAIR_S < throw.at_s - roll.at_s <= OLD_S:
        return refused("rolls.older")
    if asked:
        return refused("rolls.answer_first")
    number, stories = _awaited(match, roll)
    if not stories:
        return _not_awaited(roll)
    _note(draft, roll, kind, number)
    if len(stories) == 1:
        _take(draft, number, stories[0])
        return OK
    words = Message("rolls.whose", (("value", roll.value),))
    choices = [_choice(match, n, story, number) for n, story in enumerate(stories)]
    return _ask(draft, words, [*choices, choice("none", Message("rolls.none"), "unchanged")])


def entered(draft: Draft, turn: Any, at_s: float) -> Reply | None:
    """Notes a roll that a person enters as a turn; the reply when nothing else is to be done about it, else None."""
    match, throw = draft.match, draft.match.throw
    if match.roll_disputed:
        return refused("rolls.answer_first")
    value = _value_of(match.rules, match.agreed, turn)
    if value is None:
        return None
    if throw is not None and "seat" not in throw.sources and abs(at_s - throw.at_s) <= PAIR_S:
        made = _entry(match, throw.turn)
        if made is not None and made.text == match.rules.text(turn):
            draft.add("seconded", source="seat")
            return Reply(True, Message("rolls.known"))
    _note(draft, Rolled("", value, draft.author, FACES, at_s), "seat", match.turns + 1)
    return None


def answered(draft: Draft, chosen: Choice) -> None:
    """Carries out an answer about a roll: the turn that it is, in the record or to come."""
    match, number = draft.match, chosen.number
    player, text = chosen.turns[0]
    entry = _entry(match, number)
    if entry is not None and entry.text == text:
        draft.judged("checked", Message("rolls.stays"))
    elif entry is not None:
        draft.add("rewritten", number=number, text=text)
        draft.judged("corrected", Message("table.rewritten", (("number", number),)))
    else:
        rules, turn = match.rules, match.rules.parse(text)
        state = match.agreed if number == match.turns + 1 else match.now
        value, throw = _value_of(rules, state, turn), match.throw
        if value is not None and throw is not None and throw.turn != number:
            _note(draft, Rolled("", value, draft.author, throw.faces, throw.at_s), "seat", number)
        _take(draft, number, Story(turn, rules.apply(state, turn), player))


def told_by(match: Match) -> list[Message]:
    """Who has told the newest turn, if it is a roll."""
    throw = match.throw
    return [Message(f"rolls.from_{throw.sources[0]}")] if throw is not None and throw.turn == match.turns else []


def _second_opinion(draft: Draft, roll: Rolled, throw: Throw) -> Reply:
    """What another kind of source says of the newest roll: it agrees, or the table is asked. Where a further roll is
    awaited and the reports are far apart, or differ, it may also be that one."""
    match, rules = draft.match, draft.match.rules
    entry = _entry(match, throw.turn)
    if entry is None:  # it is still asked whose roll it is
        before = match.now if throw.turn > match.turns + 1 else match.agreed
        ours = roll_stories(rules, before, throw.faces, throw.value)
        number, further = throw.turn, tuple[Story[Any, Any], ...]()
    else:
        before = match.states[match.upto(throw.turn - 1)]
        turn = rules.parse(entry.text)
        ours = (Story(turn, rules.apply(before, turn), entry.player),)
        number, further = _awaited(match, roll)
    same = (roll.faces, roll.value) == (throw.faces, throw.value)
    if same and not (further and abs(roll.at_s - throw.at_s) > PAIR_S):
        draft.add("seconded", source=roll.author.kind)
        _say_agreed(draft, throw, roll)
        return OK
    theirs = () if same else roll_stories(rules, before, roll.faces, roll.value)
    if not theirs and not further:
        return _not_awaited(roll)
    draft.add("seconded", source=roll.author.kind)
    values: dict[str, str | int | float] = {
        "first": f"@rolls.source_{throw.sources[0]}",
        "one": throw.value,
        "second": f"@rolls.source_{roll.author.kind}",
        "two": roll.value,
    }
    owner = len(ours) + len(theirs) > 2
    choices = [
        _choice(match, n, story, throw.turn, None if owner else Message("rolls.shows", (("value", shown),)))
        for n, (story, shown) in enumerate([*((s, throw.value) for s in ours), *((s, roll.value) for s in theirs)])
    ]
    choices += [
        _choice(match, len(choices) + n, story, number, Message("rolls.next", (("value", roll.value),)))
        for n, story in enumerate(further)
    ]
    return _ask(draft, Message("rolls.once_or_twice" if same else "rolls.differ", tuple(values.items())), choices)


def _awaited(match: Match, roll: Rolled) -> tuple[int, tuple[Story[Any, Any], ...]]:
    """The turns that a roll may be, and their number: after the provisional turn if that lets it be rolled."""
    rules, provisional, number = match.rules, match.provisional, match.turns + 1
    if provisional is not None:
        stories = roll_stories(rules, provisional.after, roll.faces, roll.value)
        if stories:
            return number + 1, stories
    return number, roll_stories(rules, match.agreed, roll.faces, roll.value)


def _value_of(rules: Any, state: Any, turn: Any) -> int | None:
    """What a die shows if this turn is an awaited roll, else None."""
    return next((v for v in range(1, FACES + 1) for s in roll_stories(rules, state, FACES, v) if s.turn == turn), None)


def _take(draft: Draft, number: int, story: Story[Any, Any]) -> None:
    """Adds the turn that a roll is; a provisional turn before it is final with it."""
    provisional = draft.match.provisional
    if provisional is not None and number > draft.match.turns + 1:
        make_final(draft, provisional, "next")
    rules = draft.match.rules
    words = rules.describe(draft.match.agreed, story.turn)
    draft.add("turn", turn=rules.text(story.turn), player=story.player, by="rolled", lag=True)
    draft.judged("accepted", words, told_by(draft.match))


def _note(draft: Draft, roll: Rolled, source: str, number: int) -> None:
    draft.add("rolled", die=roll.die, faces=roll.faces, value=roll.value, at_s=roll.at_s, source=source, turn=number)


def _say_agreed(draft: Draft, throw: Throw, roll: Rolled) -> None:
    """Says under the verdict of the roll that both sources agree, while nothing else has happened."""
    judgement = draft.match.judgement
    if draft.match.turns == throw.turn and judgement is not None and judgement.kind == "accepted":
        first, second = f"@rolls.source_{throw.sources[0]}", f"@rolls.source_{roll.author.kind}"
        draft.judged("accepted", judgement.words, [Message("rolls.agree", (("first", first), ("second", second)))])


def _ask(draft: Draft, words: Message, choices: list[dict[str, Json]]) -> Reply:
    draft.ask(words, choices, (), {})
    return Reply(True, words)


def _choice(match: Match, n: int, story: Story[Any, Any], number: int, words: Message | None = None) -> dict[str, Json]:
    if words is None:
        before = match.agreed if number == match.turns + 1 else match.now
        words = match.rules.describe(before, story.turn)
    return choice(str(n), words, "rolled", turns=[[story.player, match.rules.text(story.turn)]], number=number)


def _entry(match: Match, number: int) -> Entry | None:
    """The entry of a final turn by its number, or None."""
    turns = [entry for entry in match.entries if entry.text]
    return turns[number - 1] if 0 < number <= len(turns) else None


def _not_awaited(roll: Rolled) -> Reply:
    return refused("rolls.not_awaited", die=roll.die or "?", value=roll.value)
