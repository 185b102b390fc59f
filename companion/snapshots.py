"""What a kind of viewer may see of a match: the snapshot, made anew from the match after every step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from companion.bulletin import Act, Answer, Device, Mark, Question, Snapshot, Trouble, TurnLine, Viewer
from companion.games.contract import Json, KeepsSecrets, Message, Refusal, RulesError
from companion.match import Contest, Match

VEILED = "?"
"""What stands in the record for a turn that this viewer may not know yet."""

MOST_ACTS = 24
"""More legal choices than this are not offered as buttons."""

_SIGNALS = {
    "accepted": "accepted",
    "provisional": "provisional",
    "question": "question",
    "illegal": "illegal",
    "open": "provisional",
    "unfinished": "question",
    "waiting": "question",
    "withdrawn": "accepted",
    "takeback": "accepted",
    "corrected": "accepted",
    "checked": "accepted",
}


def snapshot(
    match: Match,
    viewer: Viewer,
    number: int,
    troubles: Iterable[Trouble] = (),
    devices: Iterable[Device] = (),
    picture: str = "",
    corners: tuple[str, ...] = (),
    asked_clip: str = "",
) -> Snapshot:
    """The snapshot of a match for one viewer; `number` must rise from one to the next. `asked_clip` names the pictures
    of what is asked about."""
    troubles, devices = tuple(troubles), tuple(devices)
    base = Snapshot(
        number=number,
        troubles=troubles,
        devices=devices,
        picture=picture,
        corners=corners,
        signal="trouble" if troubles else "off",
    )
    if match.phase == "setup":
        return base
    judgement = None if match.paused else match.judgement
    common: dict[str, Json] = {
        "game": match.game,
        "match_id": match.id,
        "phase": "paused" if match.paused else match.phase,
        "players": match.setup.players,
        "options": match.setup.options,
        "question": _question(match, asked_clip),
        "manual": match.manual,
        "acts": tuple(_acts(match, any(d.name == "camera" and d.ok for d in devices))),
    }
    if match.phase == "start_check":
        return _with(base, common, _start(match))
    rules = match.rules
    awaiting, outcome = rules.to_act(match.agreed), match.outcome
    story = match.provisional
    provisional = None
    if story is not None:
        words = rules.describe(match.agreed, story.turn)
        number_now = match.turns + 1
        doubt = _doubt_of(match, number_now)
        provisional = TurnLine(number_now, story.player, rules.text(story.turn), words, **doubt)
    playing: dict[str, Json] = {
        "to_act": awaiting.players if outcome is None else (),
        "headline": awaiting.message if outcome is None else outcome.reason,
        "view": rules.view(_laid(match), viewer),
        "agreed_view": rules.view(match.agreed, viewer),
        "marks": tuple(_marks(match)),
        "signal": _SIGNALS.get(judgement.kind, "off") if judgement else base.signal,
        "verdict": judgement.words if judgement else None,
        "details": judgement.details if judgement else (),
        "notes": (*_offered(match), *(rules.notes(match.agreed) if outcome is None else ())),
        "provisional": provisional,
        "record": tuple(_record(match, viewer)),
        "outcome": outcome.reason if outcome else None,
        "winners": outcome.winners if outcome else (),
    }
    return _with(base, common, playing)


def _with(base: Snapshot, *parts: dict[str, Json]) -> Snapshot:
    values = {name: getattr(base, name) for name in base.__dataclass_fields__}
    for part in parts:
        values.update(part)
    return Snapshot(**values)


def _start(match: Match) -> dict[str, Json]:
    check = match.check
    if match.question is not None:
        verdict, signal = match.question.words, "question"
    elif check.ready:
        verdict, signal = Message("table.start_ready"), "accepted"
    elif check.differences:
        verdict, signal = Message("table.start_differs"), "illegal"
    else:
        verdict, signal = Message("table.looking"), "off"
    marks = tuple(Mark(place, "question") for place in check.places)
    headline = Message("table.start_check")
    return {"headline": headline, "verdict": verdict, "signal": signal, "details": check.differences, "marks": marks}


def _question(match: Match, clip: str) -> Question | None:
    asked = match.question
    if asked is None:
        return None
    return Question(asked.id, asked.words, tuple(Answer(c.value, c.words) for c in asked.choices), asked.places, clip)


def _doubt_of(match: Match, number: int) -> dict[str, Any]:
    """What a line says of the doubts about its turn."""
    found = next((c for c in match.contests if c.number == number), None)
    if found is None:
        return {}
    return {"doubt": _doubt_words(found), "doubted": not found.decided, "clip": found.clip}


def _doubt_words(contest: Contest) -> Message:
    def who(player: int) -> str:
        return f"#{player}" if player >= 0 else "@table.the_table"

    if not contest.decided:
        return Message("table.doubted", (("player", who(contest.player)),))
    return Message(f"table.doubt_{contest.decided}", (("player", who(contest.decider)),))


def _record(match: Match, viewer: Viewer) -> Iterable[TurnLine]:
    rules, number = match.rules, 0
    secrets = rules if isinstance(rules, KeepsSecrets) else None
    for before, entry in zip(match.states, match.entries, strict=False):
        if entry.text:
            number += 1
            text = entry.text
            if secrets is not None and not entry.refused:
                turn = rules.parse(text)
                text = VEILED if secrets.veiled(before, turn, match.agreed, viewer) else text
            doubt = _doubt_of(match, number)
            yield TurnLine(number, entry.player, text, entry.words, entry.corrected, entry.refused, **doubt)


def _marks(match: Match) -> Iterable[Mark]:
    rules = match.rules
    if len(match.states) > 1:
        yield from _changed(rules.look(match.states[-2]), rules.look(match.agreed), "last")
    if match.provisional is not None:
        yield from _changed(rules.look(match.agreed), rules.look(match.now), "provisional")
    judgement = match.judgement
    if judgement is not None:
        role = {
            "illegal": "illegal",
            "open": "hint",
            "question": "question",
            "waiting": "hint",
            "unfinished": "question",
        }
        if judgement.kind in role:
            yield from (Mark(place, role[judgement.kind]) for place in judgement.places)


def _changed(before: Json, after: Json, role: str) -> Iterable[Mark]:
    places = sorted({key.partition(":")[2] for key in after if after[key] != before.get(key)})
    return (Mark(place, role) for place in places)


def _offered(match: Match) -> Iterable[Message]:
    """What is offered and waits for the others' consent, in words."""
    offer = match.offer
    if offer is None:
        return
    if offer.text:
        yield Message("table.offer_waits", (("player", f"#{offer.player}"), ("what", f"@{offer.words.id}")))
    else:
        yield offer.words


def _acts(match: Match, camera: bool) -> Iterable[Act]:
    if match.paused:
        yield Act("resume", Message("table.act_resume"))
        return
    if match.phase == "start_check":
        if match.check.ready:
            yield Act("accept_start", Message("table.act_start"))
        yield Act("referee", Message("table.act_look_again"))
        return
    rules = match.rules
    if match.offer is not None:
        for player in range(len(match.setup.players)):
            if player != match.offer.player and player not in match.offer.agreed:
                yield Act("agree", Message("table.act_agree", (("what", "@table.the_offer"),)), player=player)
                yield Act("decline", Message("table.act_decline"), player=player)
    if match.phase == "playing":
        awaiting = rules.to_act(match.agreed)
        for player in awaiting.players:
            yield Act("done", Message("table.act_done"), player=player)
    if match.phase == "playing" and match.hints and rules.to_act(match.agreed).kind == "turn":
        for player in rules.to_act(match.agreed).players:
            yield Act("hint", Message("table.act_hint"), player=player)
    if match.provisional is not None or match.turns or _illegal_by_hand(match):
        final = match.provisional is None and not _illegal_by_hand(match)
        yield Act("takeback", Message("table.act_takeback"), confirm=final)
    if match.phase == "playing":
        choices = tuple(_choices(match))
        yield from choices
        offered = {(act.player, act.args["text"]) for act in choices}
        for player in range(len(match.setup.players)):
            for said in rules.declarations(match.agreed, player):
                text = rules.text(said.turn)
                if (player, text) not in offered:
                    yield Act("declare", said.message, {"text": text}, player, confirm=True)
        if not match.manual:
            yield Act("referee", Message("table.act_look_again"))
        elif camera:
            yield Act("watch", Message("table.act_watch"))
        yield Act("pause", Message("table.act_pause"))


def _illegal_by_hand(match: Match) -> bool:
    return match.manual and match.judgement is not None and match.judgement.kind in ("illegal", "open")


def _laid(match: Match) -> Any:
    """The position that the page shows: the newest one; by hand also what was laid and is not allowed, because the
    next act by hand builds on it (what is no position at all, such as a piece gone, cannot be shown)."""
    if not _illegal_by_hand(match):
        return match.now
    try:
        laid = match.rules.with_look(match.now, match.table)
    except RulesError:
        return match.now
    return match.now if isinstance(laid, Refusal) else laid


def _choices(match: Match) -> Iterable[Act]:
    """The legal choices or throws of a game that waits for one, while they are few enough for buttons."""
    rules = match.rules
    awaiting = rules.to_act(match.agreed)
    if awaiting.kind not in ("choice", "roll"):
        return
    legal = list(rules.legal(match.agreed))
    if len(legal) <= MOST_ACTS:
        own = {
            rules.text(said.turn): (said.message, player)
            for player in reversed(awaiting.players)
            for said in rules.declarations(match.agreed, player)
        }
        for turn in legal:
            text = rules.text(turn)
            # The button says what is chosen, also where the others will not be told.
            words, player = own.get(text) or (rules.describe(match.agreed, turn), awaiting.players[0])
            yield Act("declare", words, {"text": text}, player)
