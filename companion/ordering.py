"""From a command of a person or a program to events, or to the words that say why not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from companion.answering import answer
from companion.commands import COMMANDS, OK, Reply, refused, shortened
from companion.consent import needs_consent, offer_undo
from companion.draft import Draft, fact_words
from companion.evidence import Author, Chose
from companion.fold import BrokenHistoryError
from companion.games.contract import Json, Message, Refusal, RulesError
from companion.judging import finish, position_of, settle, tell_turns
from companion.match import as_json, message
from companion.opening import ask_side, new_game
from companion.referee import judge
from companion.rolls import entered, told_by
from companion.sight import plain, sight_by_hand

_log = logging.getLogger(__name__)


def chose(draft: Draft, evidence: Chose) -> Reply:
    """Adds what a command does to the match; the reply says so, or why it cannot be done now."""
    command = COMMANDS.get(evidence.command)
    if command is None:
        return refused("companion.unknown_command", command=evidence.command)
    if evidence.author.kind == "spectator" and not command.spectator:
        return refused("companion.only_players")
    if command.name not in _ORDERS:  # it concerns the camera, and this match has none
        return refused("companion.no_camera_for_start")
    phases, order = _ORDERS[command.name]
    if draft.match.phase not in phases:
        return refused(f"companion.not_while.{draft.match.phase}")
    if draft.match.paused and command.name not in ("resume", "new_game"):
        return refused("companion.not_while.paused")
    before, events = draft.match, list(draft.events)
    try:
        return order(draft, evidence.args, evidence.author)
    except (RulesError, BrokenHistoryError, KeyError, TypeError, ValueError, AttributeError) as error:
        draft.match, draft.events = before, events
        cause = error.__cause__ if isinstance(error, BrokenHistoryError) else error
        if isinstance(cause, RulesError):
            return Reply(False, cause.refusal.message)
        _log.info("command %s with %r cannot be understood", command.name, dict(evidence.args), exc_info=error)
        return refused("companion.bad_arguments", command=command.name)


def _by_rule(refusal: Refusal) -> Reply:
    return Reply(False, refusal.message)


def _first_side(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    draft.add("side", corner=str(args["corner"]))
    return OK


def _hint(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """The hint that the service has found, told to whoever asked; where hints are allowed and it is their turn."""
    match = draft.match
    if not match.hints:
        return refused("table.no_hints")
    to_act = match.rules.to_act(match.agreed).players
    if author.player is not None and author.player not in to_act:
        return refused("game.not_your_turn", player=f"#{author.player}")
    return Reply(True, message(args["found"])) if args.get("found") else refused("table.no_hints")


def _accept_start(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    check = draft.match.check
    if check.ready:
        draft.add("started", start=check.start)
        draft.judged("checked", Message("table.started"))
        return OK
    return Reply(False, check.differences[0] if check.differences else Message("table.no_reading_yet"))


def _done(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """Ends the turn. With `at_s` (frame time of the newest picture, of which nothing is known yet) a later reading is
    waited for; without it the turn ends as the match knows it."""
    match = draft.match
    if match.phase == "start_check":
        return _accept_start(draft, args, author)
    to_act = match.rules.to_act(match.agreed)
    if author.player is not None and not match.pressed and author.player not in to_act.players:
        if match.provisional is None:
            return refused("game.not_your_turn", player=f"#{author.player}")
        draft.add("pressed", player=match.provisional.player, at_s=float(args.get("at_s", 0.0)))
    if match.question is not None:
        draft.add("pressed", player=_number(author), at_s=float(args.get("at_s", 0.0)))
        return Reply(True, match.question.words)
    player = _number(author)
    if match.manual or "at_s" not in args:
        if match.judgement is not None and match.judgement.kind in ("illegal", "open"):
            return Reply(False, match.judgement.words)
        draft.add("pressed", player=player, at_s=0.0)
        before = draft.match.turns
        finish(draft, 1)
        if draft.match.turns > before:
            return OK
        stands = draft.match.judgement
        return Reply(False, stands.words if stands is not None else None)
    if player in (p for p, _ in draft.match.pressed):
        if match.provisional is None:
            return refused("table.looking")
        finish(draft, 1)
        return OK
    draft.add("pressed", player=player, at_s=float(args["at_s"]))
    return OK


def _number(author: Author) -> int:
    return -1 if author.player is None else author.player


def _takeback(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    match = draft.match
    illegal = match.judgement is not None and match.judgement.kind in ("illegal", "open")
    if match.provisional is not None:
        draft.add("withdrawn", lag=True)
    elif illegal and match.manual:
        draft.add("caught_up")
    elif illegal:
        return Reply(True, Message("table.put_it_back"))
    elif match.turns:
        return _undo(draft, match.turns - 1, author)
    else:
        return refused("companion.nothing_to_take_back")
    draft.judged("withdrawn", Message("table.withdrawn"))
    return OK


def _undo_to(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    number = args["number"]
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= draft.match.turns:
        return refused("companion.no_such_turn", number=shortened(number))
    return _undo(draft, number, author)


def _undo(draft: Draft, number: int, author: Author) -> Reply:
    """Undoes at once, or offers it where the table's setting asks for consent."""
    if number < draft.match.turns and needs_consent(draft.match, number):
        offer_undo(draft, number, _number(author))
        return OK
    draft.add("undone", to=number, lag=True)
    draft.judged("takeback", Message("table.taken_back", (("number", number + 1),)))
    return OK


def _facts(draft: Draft, args: Mapping[str, Json]) -> dict[str, str] | None:
    facts = {str(k): str(v) for k, v in args["facts"].items()}
    known = draft.match.rules.look(draft.match.now)
    return facts if facts and facts.keys() <= known.keys() else None


def _set_facts(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    facts = _facts(draft, args)
    if facts is None:
        return refused("companion.unknown_place")
    match = draft.match
    if match.roll_disputed:
        return refused("rolls.answer_first")
    shown = match.rules.look(match.now) if match.lag is not None else match.table
    sight = sight_by_hand({**shown, **facts})
    verdict = judge(match.rules, position_of(match, 0), sight)
    settle(draft, verdict, sight, 0.0, 0, by_hand=True)
    return OK


def _correct(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """The table is right and the program wrong: another turn explains the facts, or the agreed position is changed."""
    facts = _facts(draft, args)
    if facts is None:
        return refused("companion.unknown_place")
    match, rules = draft.match, draft.match.rules
    said = {**match.table, **args.get("said", {})}
    told = {k: said[k] for k, v in facts.items() if plain(said[k]) != v}
    if match.provisional is not None:
        look = {**rules.look(match.now), **facts}
        stories = rules.explain(match.agreed, look).stories
        if stories:
            draft.add("settled", told=told)
            tell_turns(draft, stories[:1], 0)
            return OK
    after = rules.with_look(match.agreed, facts)
    if isinstance(after, Refusal):
        return _by_rule(after)
    provisional = match.provisional
    player = _number(author)
    draft.add("corrected", facts=facts, told=told, player=player)
    if provisional is not None and not isinstance(rules.apply(draft.match.agreed, provisional.turn), Refusal):
        draft.add(
            "provisional", turn=rules.text(provisional.turn), player=provisional.player, unseen=provisional.unseen
        )
    details = [fact_words(match.game, key, value) for key, value in sorted(facts.items())]
    draft.judged("corrected", Message("table.corrected"), details)
    return OK


def _correct_turn(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    match, rules = draft.match, draft.match.rules
    number, text = args["number"], str(args["text"])
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= match.turns:
        return refused("companion.no_such_turn", number=shortened(number))
    index = next(i for i in range(len(match.entries)) if match.entries[i].text and match.upto(number - 1) <= i)
    after = rules.apply(match.states[index], rules.parse(text))
    if isinstance(after, Refusal):
        return _by_rule(after)
    draft.add("rewritten", number=number, text=rules.text(rules.parse(text)), player=_number(author))
    broken = sum(bool(e.refused) for e in draft.match.entries)
    words = Message("table.rewritten", (("number", number),))
    draft.judged("corrected", words, [Message("table.broken_turns", (("count", broken),))] if broken else [])
    return OK


def _declare(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    match, rules = draft.match, draft.match.rules
    turn = rules.parse(str(args["text"]))
    text = rules.text(turn)
    to_act = rules.to_act(match.agreed).players
    speakers = [author.player] if author.player is not None else [*to_act, *range(len(match.setup.players))]
    # Whose it is to say this; what nobody is offered to say is the turn of whoever acts first.
    said = [(p, d) for p in speakers for d in rules.declarations(match.agreed, p) if rules.text(d.turn) == text]
    if said and said[0][1].needs_consent:
        draft.add("offered", player=said[0][0], words=as_json(said[0][1].message), text=text, number=-1)
        return OK
    player = said[0][0] if said else next((p for p in speakers if p in to_act), None)
    if player is None:
        return refused("game.not_your_turn", player=f"#{speakers[0]}")
    return entered(draft, turn, float(args.get("at_s", 0.0))) or _declared(draft, turn, player)


def _declared(draft: Draft, turn: Any, player: int) -> Reply:
    match, rules = draft.match, draft.match.rules
    after = rules.apply(match.agreed, turn)
    if isinstance(after, Refusal):
        return _by_rule(after)
    words = rules.describe(match.agreed, turn)
    if match.provisional is not None and rules.look(after) == rules.look(match.now):
        draft.add("provisional", turn=rules.text(turn), player=player, unseen=0)
        draft.judged("provisional", words)
    else:
        draft.add("turn", turn=rules.text(turn), player=player, by="declared", lag=True)
        draft.judged("accepted", words, told_by(draft.match))
    return OK


def _agree(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    offer = draft.match.offer
    if offer is None:
        return refused("companion.nothing_offered")
    others = set(range(len(draft.match.setup.players))) - {offer.player}
    if author.player == offer.player:
        return refused("companion.others_must_agree")
    draft.add("agreed", players=sorted(others if author.player is None else {author.player}))
    offer = draft.match.offer
    if offer is None or not others <= offer.agreed:
        return OK
    draft.add("unoffered")
    if offer.text:
        return _declared(draft, draft.match.rules.parse(offer.text), offer.player)
    draft.add("undone", to=offer.number, lag=True)
    return OK


def _decline(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    if draft.match.offer is None:
        return refused("companion.nothing_offered")
    draft.add("unoffered")
    return OK


def _doubt(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """Notes that a turn is doubted; what the table then decides comes as any other command."""
    match, number = draft.match, args["number"]
    known = match.turns + (match.provisional is not None)
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= known:
        return refused("companion.no_such_turn", number=shortened(number))
    clip = str(args.get("clip") or next((c.clip for c in match.contests if c.number == number), ""))
    draft.add("contested", number=number, player=_number(author), clip=clip)
    return OK if clip else Reply(True, Message("table.doubt_without_pictures"))


def _uphold(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    number = args["number"]
    if not any(c.number == number and not c.decided for c in draft.match.contests):
        return refused("table.not_doubted", number=shortened(number))
    draft.add("upheld", number=number, player=_number(author))
    return OK


def _plain(kind: str) -> Callable[[Draft, Mapping[str, Json], Author], Reply]:
    def order(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
        draft.add(kind)
        return OK

    return order


def _referee(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    if draft.match.phase == "start_check":
        return Reply(True, Message("table.looking"))
    if draft.match.roll_disputed:
        return refused("rolls.answer_first")
    draft.add("rechecked")
    return Reply(True, Message("table.looking"))


def _watch(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """The camera joins a game that began by hand; the next picture is compared with the agreed position."""
    corners = [str(c) for c in args.get("corners") or ()]
    if not draft.match.manual:
        return refused("companion.camera_plays")
    if draft.match.roll_disputed:
        return refused("rolls.answer_first")
    if corners:
        ask_side(draft, corners)
    else:
        draft.add("watched")
    return Reply(True, Message("table.looking"))


_ANY = ("setup", "start_check", "playing", "over")
_ON = ("playing",)
_GAME = ("playing", "over")
_ORDERS: dict[str, tuple[tuple[str, ...], Callable[[Draft, Mapping[str, Json], Author], Reply]]] = {
    "new_game": (_ANY, new_game),
    "first_side": (("start_check",), _first_side),
    "accept_start": (("start_check",), _accept_start),
    "done": (("start_check", "playing"), _done),
    "hint": (_ON, _hint),
    "takeback": (_GAME, _takeback),
    "undo_to": (_GAME, _undo_to),
    "answer": (("start_check", "playing", "over"), answer),
    "set_facts": (_ON, _set_facts),
    "correct": (_ON, _correct),
    "correct_turn": (_GAME, _correct_turn),
    "doubt": (_GAME, _doubt),
    "uphold": (_GAME, _uphold),
    "declare": (_ON, _declare),
    "agree": (_GAME, _agree),
    "decline": (_GAME, _decline),
    "watch": (_ON, _watch),
    "referee": (("start_check", "playing"), _referee),
    "pause": (("start_check", "playing"), _plain("paused")),
    "resume": (("start_check", "playing"), _plain("resumed")),
}
