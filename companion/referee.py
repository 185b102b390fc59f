"""The referee: the most probable story of what the devices report, or the honest answer that it cannot tell.

A decoder, not a classifier: every story (nothing happened, a turn that grows, the next player's turn, turns that were
missed, a takeback, or something illegal) leads to a look of the table; its score is the likelihood of the reading
under that look plus the story's prior. A story is accepted only with a clear lead over the second and over the best
illegal one. Pure: no clock, no memory, no game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from companion.games.contract import Look, Message, Refusal, Rules, Story
from companion.sight import CHANGE, Sight, likely_looks

ACCEPT = 5.0
"""Lead (nats of log odds, 150 to 1) that the best story needs over every other one."""

ILLEGAL = 3.0
"""Prior cost of an illegal story: about one turn in twenty is illegal; each changed fact costs CHANGE besides."""

UNSEEN = 6.0
"""Prior cost of each act that left no mark and was not needed to explain the look: more than ACCEPT, so that the story
of fewest unseen acts is taken."""

NEEDED = 3.0
"""Prior cost of each unseen act that every story of the look needs."""

LOOKS, LOOKS_OPENED = 12, 96
"""How many looks are tried, and how many where covered places may hide anything; of them only those within BEYOND nats
of the best."""
BEYOND = 14.0

MISSED_UNITS = 8
"""Up to how many separate changes two turns are searched when one does not explain them."""

UNEXPECTED = 8.0
"""Prior cost of a turn more than the players have ended, where they use the done-button."""

APPEARS, GOES = 3.0, 1.0
"""Prior costs of each piece that no legal turn explains having come from nowhere, and gone to nowhere: pieces fall or
are taken off now and then."""

COINCIDENCE = 4.0
"""Prior cost of an illegal act that leads to just a position that the table has agreed on before."""

FORGOTTEN = 3.0
"""The same where otherwise an illegal act would have to be believed: one may have forgotten the button."""

REVEALED = 10.0
"""Prior cost (besides CHANGE a fact) of taking back turns by hand alone that have brought chance to light, or where a
legal turn that does so explains the same look: a throw is neither undone nor done again by hand."""

IDLE = 3.0
"""Prior cost of each turn that was ended by button and left nothing to see."""

WITHDRAW, TAKEBACK, MISSED, NEXT = 2.0, 5.0, 5.0, 0.5
"""Prior costs of a provisional turn put back, an older position laid again, turns of which no reading showed the first
alone, and the next player's act, where nothing is known of the done-button."""

TaleKind = Literal["unchanged", "grow", "next", "withdraw", "takeback", "missed", "illegal"]


@dataclass(frozen=True, slots=True)
class Position:
    """What the table has agreed on: `base` the state at the start of the turn, `provisional` the turn so far, `earlier`
    the positions that a takeback may lead to as (number of turns, state), newest first. `presses`: how many turns the
    players have ended by button since `base` that no reading has shown yet; `done_expected`: they do use the button.
    `revealed`: the turns up to this number have brought chance to light, or come before one that has."""

    base: Any
    provisional: Story[Any, Any] | None = None
    earlier: tuple[tuple[int, Any], ...] = ()
    presses: int = 0
    done_expected: bool = False
    revealed: int = 0


@dataclass(frozen=True, slots=True)
class Tale:
    """One story with its score (nats, higher is better) and the look it leads to.

    `stories` are the legal turns it consists of, in order (none for unchanged, withdraw, takeback, illegal); `number`
    the turns left after a takeback; `refusals` the rules an illegal one breaks, `unfinished` when further acts may
    still make it legal; `warnings` what the table should know.
    """

    kind: TaleKind
    score: float
    look: Look
    stories: tuple[Story[Any, Any], ...] = ()
    number: int = 0
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[Message, ...] = ()
    unfinished: bool = False

    def same_end(self, other: Tale) -> bool:
        """True when both leave the same agreed position, so that nobody needs to choose between them."""
        if self.kind == other.kind == "illegal":
            return self.refusals[:1] == other.refusals[:1]
        return (
            self.kind == other.kind
            and self.number == other.number
            and self.look == other.look
            and [(s.player, s.after) for s in self.stories] == [(s.player, s.after) for s in other.stories]
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the referee says: `kind` "unchanged", "accepted", "illegal" or "unsure"; `tale` the best story, `rivals` all
    stories between which it cannot decide, likeliest first; `lead` by how much the best story leads."""

    kind: Literal["unchanged", "accepted", "illegal", "unsure"]
    tale: Tale
    rivals: tuple[Tale, ...] = ()
    lead: float = 0.0


def judge(rules: Rules[Any, Any], position: Position, sight: Sight, looks_tried: int = LOOKS) -> Verdict:
    """The verdict on a sight of the table."""
    now = rules.look(position.provisional.after if position.provisional else position.base)
    idle = position.presses - (position.provisional is not None)
    tales = [Tale("unchanged", -sight.cost(now) - IDLE * max(0, idle), now)]
    looks = likely_looks(sight, now, looks_tried, BEYOND)
    enough = ACCEPT + IDLE * max(0, idle)  # whoever has ended a turn has likely done something
    if looks[0][1] == now and (len(looks) == 1 or looks[1][0] - looks[0][0] >= enough):
        return Verdict("unchanged", tales[0], lead=ACCEPT)
    for cost, look in looks:
        if look != now:
            tales += _tales_of(rules, position, look, cost, now, sight.measured)
    tales = _with_pieces(tales, now)
    legal = [t.look for t in tales if t.stories]
    thrown = [t.look for t in tales if _by_chance(rules, position, t)]
    back = list(_takebacks(rules, position, sight, now, legal, thrown))
    tales = [_rarer(tale) if any(tale.look == b.look for b in back) else tale for tale in tales] + back
    if position.presses > 1 or not any(t.stories for t in tales):
        tales += _missed(rules, position, looks[0][1], looks[0][0])
    return _decide(_without_guesses(tales, sight, now), asked=position.presses > 0)


def _without_guesses(tales: list[Tale], sight: Sight, now: Look) -> list[Tale]:
    """The tales without those illegal ones that only add to another illegal one a change of which nothing is seen:
    whatever is wrong besides, nobody can say it now. Where most places of a kind are bare a change is half of a move,
    and stays."""
    fixed = {key for keys, bare in kinds_of(now) if bare is None for key in keys}
    illegal = [tale for tale in tales if tale.kind == "illegal"]
    changes = {id(tale): {(k, v) for k, v in tale.look.items() if now[k] != v} for tale in illegal}

    def guesses(tale: Tale, other: Tale) -> bool:
        more = changes[id(tale)] - changes[id(other)]
        unseen = all(k in fixed and sight.cost_of(k, v) >= sight.cost_of(k, now[k]) for k, v in more)
        return changes[id(other)] < changes[id(tale)] and unseen

    guessed = {id(tale) for tale in illegal if any(guesses(tale, other) for other in illegal)}
    return [tale for tale in tales if id(tale) not in guessed]


def _rarer(tale: Tale) -> Tale:
    """An illegal act that happens to lay an earlier position again is rarer than others."""
    return replace(tale, score=tale.score - COINCIDENCE) if tale.kind == "illegal" else tale


def _decide(tales: list[Tale], asked: bool) -> Verdict:
    """The verdict on scored tales. A doubt about an unchanged table matters only when a turn is `asked` for."""
    ranked = sorted(tales, key=lambda t: -t.score)
    best = ranked[0]
    rivals = [best]
    for tale in ranked[1:]:
        if not any(tale.same_end(r) for r in rivals):
            rivals.append(tale)
    lead = best.score - rivals[1].score if len(rivals) > 1 else ACCEPT
    if lead >= ACCEPT or (best.kind == "unchanged" and not asked):
        kinds: dict[TaleKind, Literal["unchanged", "illegal"]] = {"unchanged": "unchanged", "illegal": "illegal"}
        return Verdict(kinds.get(best.kind, "accepted"), best, (), lead)
    close = tuple(t for t in rivals if best.score - t.score < ACCEPT + 3.0)[:4]
    return Verdict("unsure", best, close, lead)


def _tales_of(
    rules: Rules[Any, Any], position: Position, look: Look, cost: float, now: Look, measured: Look
) -> Iterator[Tale]:
    """All stories that lead to one look: legal ones of the player in turn and of the next, or the illegal one."""
    provisional = position.provisional
    base_look = rules.look(position.base)
    legal = False
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[Message, ...] = ()
    unfinished = False
    if provisional is not None and look == base_look:
        legal = True
        changed = sum(look[k] != now[k] for k in look)
        yield Tale("withdraw", -(cost - CHANGE * changed) - WITHDRAW, look)
    else:
        grown = rules.explain(position.base, {**measured, **look})
        refusals, warnings, unfinished = grown.refusals, grown.warnings, grown.unfinished
        for story in grown.stories:
            legal = True
            score = -cost - _turns_cost(position, 1, 0.0) - _unseen_cost(story, grown.stories)
            yield Tale("grow", score, look, (story,), warnings=warnings)
    if provisional is not None and rules.outcome(provisional.after) is None:
        following = rules.explain(provisional.after, {**measured, **look})
        prior = _turns_cost(position, 2, NEXT)
        if position.done_expected and position.presses == 0 and not legal:
            prior = FORGOTTEN
        for story in following.stories:
            legal = legal or not position.done_expected
            stories = (provisional, story)
            score = -cost - prior - _unseen_cost(story, following.stories)
            yield Tale("next", score, look, stories, warnings=following.warnings)
        refusals = refusals or following.refusals
    if not legal:
        prior = ILLEGAL + IDLE * max(0, position.presses - 1)
        yield Tale("illegal", -cost - prior, look, refusals=refusals, warnings=warnings, unfinished=unfinished)


def _unseen_cost(story: Story[Any, Any], stories: tuple[Story[Any, Any], ...]) -> float:
    """Prior cost of a story's unseen acts, among all stories of one look."""
    needed = min(s.unseen for s in stories)
    return NEEDED * needed + UNSEEN * (story.unseen - needed)


def _by_chance(rules: Rules[Any, Any], position: Position, tale: Tale) -> bool:
    """Whether the last turn of a legal story brings chance to light."""
    if tale.kind == "grow":
        return rules.reveals(position.base, tale.stories[0].turn)
    return tale.kind == "next" and rules.reveals(tale.stories[0].after, tale.stories[1].turn)


def _takebacks(
    rules: Rules[Any, Any], position: Position, sight: Sight, now: Look, legal: list[Look], thrown: list[Look]
) -> Iterator[Tale]:
    """Earlier positions that the table may show again, the newest of equal ones; only those that explain the sight. One
    that looks like the base is none: whoever lays that means the base."""
    seen: list[Look] = [rules.look(position.base)]
    for number, state in position.earlier:
        look = rules.look(state)
        cost = sight.cost(look)
        if cost <= BEYOND and look not in seen:
            seen.append(look)
            prior = TAKEBACK + IDLE * position.presses  # whoever puts back what was done ends no turn by it
            revealed = number < position.revealed or look in thrown
            if revealed or look in legal:
                # What a turn is charged with for each change counts here too: both explain the same ones.
                prior += CHANGE * sum(look[k] != now[k] for k in look) + (REVEALED if revealed else 0.0)
            yield Tale("takeback", -cost - prior, look, number=number)


def kinds_of(look: Look) -> Iterator[tuple[list[str], str | None]]:
    """The facts of each kind, and the value of a bare place where most places of the kind are bare (pieces lie there),
    else None."""
    kinds: dict[str, list[str]] = {}
    for key in sorted(look):
        kinds.setdefault(key.partition(":")[0], []).append(key)
    for keys in kinds.values():
        value, count = Counter(look[k] for k in keys).most_common(1)[0]
        yield keys, value if 2 * count > len(keys) and len(keys) > 2 else None


def _missed(rules: Rules[Any, Any], position: Position, look: Look, cost: float) -> Iterator[Tale]:
    """Two turns of which no reading showed the first alone: every split of the changes into two legal turns, and all of
    them made by the second after a first without marks where both have been ended by button."""
    for first, second in _two_turns(rules, position.base, look):
        score = -cost - _turns_cost(position, 2, MISSED) - UNSEEN * (first.unseen + second.unseen)
        yield Tale("missed", score, look, (first, second))
    if position.provisional is None and position.presses > 1:
        # The first player may have ended a turn that leaves nothing to see.
        for first in rules.explain(position.base, rules.look(position.base)).stories:
            if rules.outcome(first.after) is None:
                for second in rules.explain(first.after, look).stories:
                    prior = _turns_cost(position, 2, MISSED) + NEEDED * first.unseen + UNSEEN * second.unseen
                    yield Tale("missed", -cost - prior, look, (first, second))
    if position.provisional is not None and position.presses > 1:
        for first, second in _two_turns(rules, position.provisional.after, look):
            score = -cost - _turns_cost(position, 3, MISSED) - UNSEEN * (first.unseen + second.unseen)
            yield Tale("missed", score, look, (position.provisional, first, second))


def _turns_cost(position: Position, turns: int, without_button: float) -> float:
    """Prior cost of a story of so many turns, by how often the done-button was pressed. Whoever presses it has acted
    before; what the next player does is seen apart unless it was very quick."""
    if not position.done_expected and position.presses == 0:
        return without_button
    if turns > max(position.presses, 1):
        return UNEXPECTED
    return IDLE * max(0, position.presses - turns)


def _two_turns(rules: Rules[Any, Any], state: Any, look: Look) -> Iterable[tuple[Story[Any, Any], Story[Any, Any]]]:
    before = rules.look(state)
    units = separate_changes(before, look)
    if not 2 <= len(units) <= MISSED_UNITS:
        return
    for size in range(1, len(units)):
        for chosen in combinations(units, size):
            facts = [fact for unit in chosen for fact in unit.items()]
            facts.sort(key=lambda fact: fact[1] == look[fact[0]])  # what comes to a place counts, not what left it
            middle = {**before, **dict(facts)}
            for first in rules.explain(state, middle).stories:
                if rules.outcome(first.after) is None:
                    for second in rules.explain(first.after, look).stories:
                        yield first, second


def _with_pieces(tales: list[Tale], now: Look) -> list[Tale]:
    """The tales with what it costs illegal ones that pieces come from nowhere or go there. Where a legal turn brings
    pieces of a kind to the table (tiles out of a hand), more of them are no wonder."""
    kinds = [(keys, bare) for keys, bare in kinds_of(now) if bare is not None]
    legal = [tale.look for tale in tales if tale.stories]

    def grows(keys: list[str], bare: str, look: Look) -> bool:
        return sum(look[k] != bare for k in keys) > sum(now[k] != bare for k in keys)

    laid = [any(grows(keys, bare, look) for look in legal) for keys, bare in kinds]

    def cost(look: Look) -> float:
        total = 0.0
        for (keys, bare), from_hands in zip(kinds, laid, strict=True):
            had, has = Counter(now[k] for k in keys), Counter(look[k] for k in keys)
            for value in (had.keys() | has.keys()) - {bare}:
                more = has[value] - had[value]
                total += -GOES * more if more < 0 else 0.0 if from_hands else APPEARS * more
        return total

    return [replace(t, score=t.score - cost(t.look)) if t.kind == "illegal" else t for t in tales]


def separate_changes(before: Look, after: Look) -> list[dict[str, str]]:
    """The changes in groups that belong together, each with the values that it alone leads to: where pieces only moved
    over mostly bare places (as many of each value lie there as before), those of one value are one group, also where
    one went to the place that another had left; every other fact is one by itself."""
    units: list[dict[str, str]] = []
    for every, bare in kinds_of(before):
        keys = [k for k in every if after[k] != before[k]]
        pieces = {before[k] for k in keys} | {after[k] for k in keys}
        conserved = Counter(before[k] for k in keys) == Counter(after[k] for k in keys)
        if bare is None or not conserved:
            units += [{k: after[k]} for k in keys]
            continue
        for piece in sorted(pieces - {bare}):
            left = {k: bare for k in keys if before[k] == piece}
            units.append({**left, **{k: piece for k in keys if after[k] == piece}})
    return units
