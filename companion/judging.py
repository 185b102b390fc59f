"""From a reading to events: the referee's verdict, held back until a second reading confirms what cannot be undone."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from companion.consent import needs_consent, offer_undo
from companion.doubts import ASK_S, ASKED_PLACES, HIDDEN_S, SAY_S, confirmed, unread_places
from companion.draft import Draft, choice, fact_words, place_of, refusal_json, refusal_words
from companion.evidence import Seen
from companion.games.contract import Look, Message, Refusal, Story
from companion.landings import moved, note_landings
from companion.match import Match
from companion.proof import proofs
from companion.referee import LOOKS_OPENED, Position, Tale, Verdict, judge
from companion.sight import CHANGE, COVERED, DOUBTFUL, Sight, lead_of, marked, plain, sight_of
from companion.start_check import check_start
from vision.reading import SURE_LEAD, Fact, Reading

SURER = 2.0
"""By how many nats more a fact must lead than when a person settled it against the camera for it to be news."""
CONFIRM_S = 0.3
"""A withdrawn turn, or the next player's act (it makes a turn final), is believed when seen again after so long."""

ILLEGAL_S = 0.6
"""An illegal position is called illegal when it has stood so long; a hand may be between two acts."""

LATE_S = 5.0
"""The same where the players end their turns by button and have not yet done so: nothing depends on it yet."""

LISTED, OFFERED = 400, 3
"""So many turns are looked through for those of which nothing can be seen, and so many of them offered."""

_NEED_S = {"grow": 0.0, "withdraw": CONFIRM_S, "next": CONFIRM_S, "missed": ASK_S, "takeback": ASK_S}


def seen(draft: Draft, evidence: Seen) -> None:
    """Adds what a settled reading means for the match."""
    match, reading = draft.match, evidence.reading
    if match.paused or match.manual or not reading.facts:
        return
    if match.phase == "start_check":
        check_start(draft, reading)
    elif match.phase in ("playing", "over"):
        _untell(draft, reading)
        sight = _sight(draft.match, reading)
        if draft.match.recheck:
            _show_doubts(draft, reading)
        if not _lagging(draft, sight):
            at_s = reading.time_s
            presses = sum(1 for _, pressed_s in draft.match.pressed if pressed_s < at_s)
            position = position_of(draft.match, presses)
            verdict = judge(draft.match.rules, position, sight)
            changed = sorted(_difference(draft.match, verdict.tale.look))
            so_far = len(draft.events)
            if sight.covered and (presses or verdict.kind in ("illegal", "unsure")):
                _covered(draft, reading, position, sight, verdict)
            else:
                settle(draft, verdict, sight, at_s, presses, proof=proofs(draft.match.game, reading, changed))
            note_landings(draft, reading, changed, so_far)


def position_of(match: Match, presses: int) -> Position:
    """What the referee needs to know of a match."""
    return Position(match.agreed, match.provisional, match.earlier(), presses, match.done_expected, _revealed(match))


def _revealed(match: Match) -> int:
    """The number of the last turn that has brought chance to light; 0 where none has."""
    number = match.turns
    for state, entry in zip(reversed(match.states[:-1]), reversed(match.entries), strict=True):
        if entry.text and not entry.refused and match.rules.reveals(state, match.rules.parse(entry.text)):
            return number
        number -= bool(entry.text)
    return 0


def settle(
    draft: Draft,
    verdict: Verdict,
    sight: Sight,
    at_s: float,
    presses: int,
    by_hand: bool = False,
    proof: tuple[Message, ...] = (),
) -> None:
    """Adds the events of a verdict. What a person has entered `by_hand` needs no second look. `proof` says in words why
    what changed was believed."""
    tale = verdict.tale
    if draft.match.phase == "over" and tale.kind != "takeback":
        return
    question = draft.match.question
    asked_roll = question is not None and question.about_roll and not by_hand
    if asked_roll and (verdict.kind != "accepted" or draft.match.roll_disputed):
        # The table cannot say what a die shows: the question stays, and the table is read again after it.
        confirmed(draft, "a roll is asked about", at_s, ASK_S)
        return
    if verdict.kind == "unchanged":
        unseen = _unseen_turns(draft.match, tale, sight) if presses and not by_hand else ()
        if not unseen:
            _unchanged(draft, presses)
        elif confirmed(draft, "unseen", at_s, ASK_S):
            _ask(draft, Verdict("unsure", unseen[0], (*unseen, tale)), sight)
    elif verdict.kind == "accepted":
        if by_hand or confirmed(draft, _key(draft.match, tale), at_s, 0.0 if presses else _NEED_S[tale.kind]):
            _accept(draft, tale, presses, proof)
    elif verdict.kind == "illegal":
        if by_hand or confirmed(draft, _key(draft.match, tale), at_s, ILLEGAL_S):
            _call_illegal(draft, tale, presses)
    elif by_hand or confirmed(draft, "unsure", at_s, ASK_S if presses or not draft.match.done_expected else LATE_S):
        _ask(draft, verdict, sight)


def _covered(draft: Draft, reading: Reading, position: Position, sight: Sight, verdict: Verdict) -> None:
    """Holds a verdict back while something covers the table, and says what. When that lasts, it is asked
    about, with what would be legal if a covered place had changed; many covered places are waited for twice as long."""
    at_s, keys = reading.time_s, sorted(sight.covered)
    if draft.match.question is not None:
        return  # it has been asked already
    if verdict.kind == "accepted" and position.presses and verdict.tale.kind == "grow":
        # Seen so far, but what is covered may belong to the turn that was ended.
        settle(draft, verdict, sight, at_s, 0)
    held = f"covered {position.presses}"
    since = draft.match.doubt
    if not confirmed(draft, held, at_s, SAY_S):
        return
    few = len({place_of(k) for k in keys}) <= ASKED_PLACES
    if at_s - (since[1] if since else at_s) >= (HIDDEN_S if few else 2 * HIDDEN_S):
        opened = judge(draft.match.rules, position, sight.opened(), LOOKS_OPENED)
        settle(draft, opened, sight, at_s, position.presses, by_hand=True)
        return
    details = unread_places(reading, keys)
    since = draft.match.doubt
    draft.judged("unfinished", Message("table.unfinished"), details, sorted({place_of(k) for k in keys}))
    if since is not None and draft.match.doubt is None:
        draft.add("doubted", key=since[0], since_s=since[1])


def _key(match: Match, tale: Tale) -> str:
    turns = " ".join(match.rules.text(s.turn) for s in tale.stories)
    return f"{tale.kind} {tale.number} {turns} {sorted(_difference(match, tale.look).items())}"


def _difference(match: Match, look: Look) -> dict[str, str]:
    now = match.rules.look(match.now)
    return {k: v for k, v in look.items() if now.get(k) != v}


def _unseen_turns(match: Match, unchanged: Tale, sight: Sight) -> tuple[Tale, ...]:
    """Legal turns of which all marks are where nothing can be seen now, after somebody has ended a turn while nothing
    has changed that can be seen and there is no turn without marks."""
    rules = match.rules
    if match.provisional is not None or not sight.hidden or rules.explain(match.agreed, unchanged.look).stories:
        return ()
    player = rules.to_act(match.agreed).players[0]
    found: dict[Any, Tale] = {}
    for turn in islice(rules.legal(match.agreed), LISTED):
        trace = rules.trace(match.agreed, turn)
        if trace and trace.keys() <= sight.hidden and len(found) < OFFERED:
            after = rules.apply(match.agreed, turn)
            if not isinstance(after, Refusal):
                story = Story(turn, after, player)
                found.setdefault(after, Tale("grow", 0.0, {**unchanged.look, **trace}, (story,)))
    return tuple(found.values())


def _unchanged(draft: Draft, presses: int) -> None:
    if presses:
        finish(draft, presses)
        return
    old = draft.match.judgement
    if old is not None and old.kind in ("illegal", "open", "question", "unfinished", "waiting"):
        draft.judged("checked", Message("table.as_agreed"))
    elif draft.match.doubt is not None:
        draft.add("undoubted")


def finish(draft: Draft, presses: int) -> None:
    """Makes the turns final that players have ended: the provisional one, else a turn without visible acts."""
    for _ in range(presses):
        match = draft.match
        if not match.pressed or match.phase != "playing":
            break
        player = match.pressed[0][0]
        story = match.provisional
        if story is None:
            silent = match.rules.explain(match.agreed, match.rules.look(match.agreed))
            if player >= 0 and player not in match.rules.to_act(match.agreed).players:
                draft.judged("illegal", Message("game.not_your_turn", (("player", f"#{player}"),)))
                break
            if not silent.stories:
                draft.judged("illegal", *refusal_words(silent.refusals))
                break
            awaited = match.rules.to_act(match.agreed)
            if len(silent.stories) > 1 and awaited.kind != "turn":  # a choice or a roll, of which nothing can be seen
                draft.judged("illegal", awaited.message)
                break
            story = silent.stories[0]
        make_final(draft, story, "done")
    else:
        return  # presses made since then are still to be judged
    if draft.match.pressed:
        draft.add("unpressed")


def make_final(draft: Draft, story: Story[Any, Any], by: str, details: tuple[Message, ...] = ()) -> None:
    """Adds a turn to the record; `by` how it became final."""
    words = draft.match.rules.describe(draft.match.agreed, story.turn)
    draft.add("turn", turn=draft.match.rules.text(story.turn), player=story.player, by=by)
    draft.judged("accepted", words, details)


def _accept(draft: Draft, tale: Tale, presses: int, proof: tuple[Message, ...]) -> None:
    if tale.kind == "withdraw":
        draft.add("withdrawn", lag=False)
        draft.judged("withdrawn", Message("table.withdrawn"))
    elif tale.kind == "takeback" and needs_consent(draft.match, tale.number):
        offer_undo(draft, tale.number, -1)
        facts = _difference(draft.match, tale.look)
        draft.judged("waiting", Message("table.takeback_seen", (("number", tale.number + 1),)), facts=facts)
    elif tale.kind == "takeback":
        draft.add("undone", to=tale.number, lag=False)
        draft.judged("takeback", Message("table.taken_back", (("number", tale.number + 1),)))
    else:
        tell_turns(draft, tale.stories, presses, (*tale.warnings, *proof))


def tell_turns(
    draft: Draft, stories: tuple[Story[Any, Any], ...], presses: int, warnings: tuple[Message, ...] = ()
) -> None:
    """Adds turns in their order: all but the last are final, the last one when its player has ended it or the game."""
    for number, story in enumerate(stories):
        rules = draft.match.rules
        if number < len(stories) - 1 or presses >= len(stories):
            last = number == len(stories) - 1
            make_final(draft, story, "done" if presses > number else "next", warnings if last else ())
        elif rules.outcome(story.after) is not None and not story.open:
            make_final(draft, story, "end", warnings)
        else:
            words = rules.describe(draft.match.agreed, story.turn)
            draft.add("provisional", turn=rules.text(story.turn), player=story.player, unseen=story.unseen)
            draft.judged("provisional", words, warnings)


def _call_illegal(draft: Draft, tale: Tale, presses: int) -> None:
    """Adds the judgement that the table shows something illegal, or a turn that is not finished yet."""
    match = draft.match
    told = match.judgement is not None and match.judgement.kind in ("illegal", "open")
    facts = _difference(match, tale.look)
    if told and not presses and match.table == {**match.rules.look(match.now), **facts}:
        return
    words, details = refusal_words(tale.refusals)
    kind = "illegal"
    if not presses and tale.unfinished:
        kind, words, details = "open", Message("table.not_finished"), (words, *details)
    details = (*details, *_inferred(match))
    places = tale.refusals[0].places if tale.refusals else ()
    if match.pressed:
        draft.add("unpressed")
    draft.judged(kind, words, details, places or sorted({place_of(k) for k in facts}), facts)


def _inferred(match: Match) -> tuple[Message, ...]:
    """What must be said with every refusal after a turn of which not all acts left a mark: what it locked, or allowed,
    was only inferred."""
    last = match.entries[-1] if match.entries else None
    if last is None or not last.text or last.by in ("declared", "rolled"):
        return ()
    stories = match.rules.explain(match.states[-2], match.rules.look(match.agreed)).stories
    unseen = next((s.unseen for s in stories if s.after == match.agreed), 0)
    return (Message("table.partly_inferred", (("turn", last.text),)),) if unseen else ()


def _ask(draft: Draft, verdict: Verdict, sight: Sight) -> None:
    match = draft.match
    choices = [_choice(match, str(n), tale) for n, tale in enumerate(verdict.rivals)]
    choices.append(choice("other", Message("table.answer_other"), "illegal", details=[["table.set_by_hand", []]]))
    keys = _open_keys(verdict.rivals, match)
    saw = {k: _said(sight.costs[k]) for k in keys if k in sight.costs}
    saw |= dict.fromkeys(sight.covered, COVERED)
    draft.ask(Message("table.what_happened"), choices, sorted({place_of(k) for k in keys}), saw)


def _said(costs: Mapping[str, float]) -> str:
    """What the camera says of a fact, marked where it is not sure of it."""
    best, *others = sorted(costs, key=costs.__getitem__)
    return marked(best, min((costs[other] - costs[best] for other in others), default=SURE_LEAD))


def _open_keys(rivals: tuple[Tale, ...], match: Match) -> list[str]:
    """The facts on which the rivals differ, or else those that all of them change."""
    differ = sorted({k for t in rivals for k in t.look if t.look[k] != rivals[0].look[k]})
    return differ or sorted(_difference(match, rivals[0].look)) if rivals else []


def _choice(match: Match, value: str, tale: Tale) -> Any:
    rules = match.rules
    turns = [[s.player, rules.text(s.turn)] for s in tale.stories]
    facts = _difference(match, tale.look)
    details = refusal_json(tale.refusals)
    places = list(tale.refusals[0].places) if tale.refusals else []
    if tale.kind == "grow":
        words = rules.describe(match.agreed, tale.stories[0].turn)
    elif tale.kind == "next":
        words = rules.describe(tale.stories[0].after, tale.stories[1].turn)
    elif tale.kind == "missed":
        words = Message(
            "table.answer_turns", (("turns", "; ".join(f"{n + 1}. {t}" for n, (_, t) in enumerate(turns))),)
        )
    elif tale.kind == "takeback":
        words = Message("table.answer_takeback", (("number", tale.number + 1),))
    elif tale.kind == "illegal":
        words = refusal_words(tale.refusals)[0]
    else:
        words = Message(f"table.answer_{tale.kind}")
    return choice(value, words, tale.kind, turns=turns, number=tale.number, facts=facts, details=details, places=places)


def _untell(draft: Draft, reading: Reading) -> None:
    """Forgets what a person has told of facts of which the camera now says something new, or is now sure where it was
    not, of covered ones that look as they did when the answer was given, and of doubtful ones when something that is
    not surely known lies where nothing such lay: from then on a change will be noticed."""
    facts, told = reading.facts, draft.match.told
    keys = [
        k
        for k, said in told.items()
        if k in facts and not facts[k].hidden and _news(facts[k], said, bool(reading.pieces))
    ]
    keys += [k for k, said in told.items() if said == COVERED and k in reading.still]
    if draft.match.unclear and moved(draft.match.unclear, reading):
        keys += [k for k, said in told.items() if DOUBTFUL in said]
    if keys:
        draft.add("untold", keys=sorted(set(keys)))


def _news(fact: Fact, said: str, lies_anywhere: bool) -> bool:
    """Whether a fact says something else than it did, or the same more surely than it was said. How sure it is of a
    piece that `lies_anywhere` changes with every knock; on a place of its own that stays."""
    if fact.best != plain(said):
        return True
    surer = not lies_anywhere and fact.lead > lead_of(said) + SURER
    return DOUBTFUL in said and (fact.sure(SURE_LEAD) or surer)


def _sight(match: Match, reading: Reading) -> Sight:
    return sight_of(reading, match.rules.look(match.now)).without(match.told)


def _lagging(draft: Draft, sight: Sight) -> bool:
    """True while the table still has to be put as the match says (after an undo by button): nothing else is judged."""
    match = draft.match
    if match.lag is None:
        return False
    want, old = match.rules.look(match.now), match.lag
    seen_now: dict[str, str] = {}
    for key, costs in sight.costs.items():
        known = (want[key], old.get(key))
        best = min(costs, key=lambda v, c=costs, k=known: c[v] + (0.0 if v in k else CHANGE))  # type: ignore[misc]
        if best != want[key]:
            seen_now[key] = best
    if not seen_now:
        draft.add("caught_up")
        return True
    if any(value != old.get(key) for key, value in seen_now.items()):
        return False
    details = [fact_words(match.game, key, want[key]) for key in sorted(seen_now)]
    draft.judged("waiting", Message("table.put_back"), details, sorted({place_of(k) for k in seen_now}), seen_now)
    return True


def _show_doubts(draft: Draft, reading: Reading) -> None:
    doubts = [key for key in sorted(draft.match.rules.look(draft.match.now)) if not _readable(reading, key)]
    words = Message("table.all_read") if not doubts else Message("table.doubts", (("count", len(doubts)),))
    details = unread_places(reading, doubts)
    draft.judged("checked", words, details, sorted({place_of(k) for k in doubts}))


def _readable(reading: Reading, key: str) -> bool:
    fact = reading.facts.get(key)
    return fact is not None and fact.sure(SURE_LEAD)
