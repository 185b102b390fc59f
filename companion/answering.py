"""What an answer to a question does: it settles what the camera could not tell, and tells the turns that follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.commands import OK, Reply, refused
from companion.consent import needs_consent, offer_undo
from companion.draft import Draft
from companion.evidence import Author
from companion.games.contract import Json, Message, Story
from companion.judging import finish, tell_turns
from companion.landings import settled_landings
from companion.match import Asked, Choice
from companion.rolls import answered
from companion.sight import plain


def answer(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """Does what the chosen answer to the open question says; refused when that is closed or has no such answer."""
    question = draft.match.question
    if question is None or question.id != args["question"]:
        return refused("companion.question_closed")
    chosen = next((c for c in question.choices if c.value == args["value"]), None)
    if chosen is None:
        return refused("companion.no_such_answer")
    so_far = len(draft.events)
    _carry_out(draft, chosen, dict(question.saw), min(question.presses, len(draft.match.pressed)))
    if any(event.kind in ("provisional", "turn") for event in draft.events[so_far:]):
        settled_landings(draft, question.lying, chosen.facts)
    return OK


def _stays(question: Asked | None, key: str) -> bool:
    """Whether what is answered about a doubtful fact stays settled also where it agrees with the likeliest: it is about
    a piece that lies freely, or something lies there that is not surely known. Nothing but the piece's moving makes it
    another doubt."""
    return question is not None and (bool(question.unclear) or key.partition(":")[2] in question.lying)


def _carry_out(draft: Draft, chosen: Choice, saw: Mapping[str, str], presses: int) -> None:
    """What an answer does; of the presses only those that were made before it was asked belong to it."""
    match = draft.match
    if chosen.kind == "side":
        draft.add("side", corner=chosen.facts["side"])
        if match.manual:
            draft.add("watched")
        return
    if chosen.kind == "fact":
        check = match.check
        draft.add("start_read", start=None, ready=check.ready, differences=[], places=[], told=dict(chosen.facts))
        return
    look = {**match.rules.look(match.now), **chosen.facts}
    told = {k: v for k, v in saw.items() if look.get(k) != (v if _stays(match.question, k) else plain(v))}
    draft.add("settled", told=told)
    if chosen.kind == "rolled":
        answered(draft, chosen)
    elif chosen.kind == "unchanged":
        draft.judged("checked", Message("table.as_agreed"))
        finish(draft, presses)
    elif chosen.kind == "withdraw":
        draft.add("withdrawn", lag=False)
        draft.judged("withdrawn", Message("table.withdrawn"))
    elif chosen.kind == "takeback" and needs_consent(match, chosen.number):
        offer_undo(draft, chosen.number, -1)
    elif chosen.kind == "takeback":
        draft.add("undone", to=chosen.number, lag=False)
        draft.judged("takeback", Message("table.taken_back", (("number", chosen.number + 1),)))
    elif chosen.kind == "illegal":
        words = chosen.words if chosen.value != "other" else Message("table.unclear")
        if presses:
            draft.add("unpressed")
        draft.judged("illegal", words, chosen.details, chosen.places, dict(chosen.facts))
    else:
        tell_turns(draft, _stories(draft, chosen), presses)


def _stories(draft: Draft, chosen: Choice) -> tuple[Story[Any, Any], ...]:
    rules, state, stories = draft.match.rules, draft.match.agreed, []
    for player, text in chosen.turns:
        turn = rules.parse(text)
        state = rules.apply(state, turn)
        stories.append(Story(turn, state, player))
    return tuple(stories)
