"""How a game of MOOGH begins: house rules, who has whom, and the table before the first turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.contract import Json, Look, Option, Refusal, RulesError, Setup
from companion.games.moogh import cards as card_sets
from companion.games.moogh.cards import CardSet
from companion.games.moogh.engine import settle
from companion.games.moogh.look import look
from companion.games.moogh.printed import MEN, SOLO
from companion.games.moogh.state import BEAST, Man, Rule, State, parse_cell
from companion.games.moogh.work import Work, men_of

TEAMS = {"A": ("red", "green"), "B": ("brown", "white")}
CHIEFS = ("red", "brown")
_START_KEYS = ("cards", "seats", "teams")


def options() -> tuple[Option, ...]:
    """The house rules."""
    return (
        Option("diag_moves", (True, False), True),
        Option("stab_from_corners", (False, True), False),
        Option("pvp", (False, True), False),
        Option("moogh_control", (False, True), False),
        Option("start_column", (0, 1, 2, 3, 4), 1),
        Option("solo_single_beast", (False, True), False),
        Option("secret_actions", (False, True), False),
    )


def new(setup: Setup) -> State:
    """The state before the first input.

    `start` may hold `cards` (a canonical card set), `seats` (tribesman -> player, `moogh` for who steers the beast) and
    `teams` ({"A": [...], "B": [...]}). Without seats: one player hunts alone with red and green; two have a team each;
    four one tribesman each in the order red, white, brown, green; with three or five the last one steers the beast and
    the others sit as two or four. Raises RulesError on anything else.
    """
    count = len(setup.players)
    if not 1 <= count <= 5:
        raise _error("moogh.player_count", got=count)
    start: Mapping[str, Any] = setup.start or {}
    if not isinstance(start, Mapping) or any(key not in _START_KEYS for key in start):
        raise _error("moogh.bad_start", what=str(sorted(start) if isinstance(start, Mapping) else start))
    chosen = _options(setup.options)
    cards = card_sets.from_data(start["cards"]) if start.get("cards") is not None else card_sets.default()
    if chosen["start_column"] > cards.columns:
        raise _error("moogh.bad_option", option="start_column", got=str(chosen["start_column"]))
    teams = _teams(start.get("teams"), solo=count == 1)
    seats = _seats(start.get("seats"), count, teams)
    chosen["moogh_control"] = bool(chosen["moogh_control"]) or BEAST in seats
    rule = Rule(cards=cards, seats=tuple(seats.items()), teams=tuple(teams.items()), players=count, **chosen)
    places = cards.start_solo if rule.solo else cards.start
    state = State(
        rule=rule,
        round=1,
        phase=1,
        origin=cards.origin,
        facing=cards.facing,
        health=6,
        level=1,
        side="front",
        column=int(chosen["start_column"]),
        balance=0,
        men=tuple(Man(name, places[name]) for name in men_of(rule.solo)),
        agenda=(("phase",),),
    )
    work = Work(state)
    settle(work)
    return work.freeze()


def start_from_look(
    seen: Look, chosen: Mapping[str, str | int | bool], given: Json = None
) -> Json | tuple[Refusal, ...]:
    """The start of a table laid out as the given card set (else the default one) says, for as many tribesmen as have
    cubes on the board."""
    fixed = dict(given or {})
    # A camera says of a cube that is not there that it lies on no cell, not where else.
    solo = not any(parse_cell(seen.get(f"cube:{man}", "-")) for man in MEN if man not in SOLO)
    wanted = look(new(Setup(("",) if solo else ("",) * 4, chosen, {"cards": fixed.get("cards")})))
    # What no camera knows (the beast's facing) is taken as it should be; a cube must be there.
    known = {fact: value for fact, value in wanted.items() if fact in seen or fact.startswith("cube:")}
    wrong = [
        Refusal(
            "moogh.start_differs",
            (seen.get(fact, "-"),),
            (("fact", fact_word(fact)), ("seen", seen.get(fact, "-")), ("wanted", value)),
        )
        for fact, value in known.items()
        if seen.get(fact, "-") != value
    ]
    return tuple(wrong) or fixed


def fact_word(fact: str) -> str:
    """The catalogue id of a fact's name, as a value."""
    return "@moogh.fact_" + fact.replace(":", "_")


def card_marks(cards: CardSet) -> dict[str, str]:
    """Where each table (or overridden key) of the card set comes from, for the dashboard."""
    return dict(cards.provenance)


def _options(given: Mapping[str, str | int | bool]) -> dict[str, Any]:
    known = {option.name: option for option in options()}
    for name, value in given.items():
        if name not in known or not any(value == c and type(value) is type(c) for c in known[name].choices):
            raise _error("moogh.bad_option", option=name, got=str(value))
    return {name: given.get(name, option.default) for name, option in known.items()}


def _teams(given: object, solo: bool) -> dict[str, str]:
    """Which team each tribesman belongs to; the default teams are fixed, also with two players (R-22)."""
    men = men_of(solo)
    wanted: object = given if given is not None else TEAMS
    if not isinstance(wanted, Mapping) or set(wanted) != {"A", "B"}:
        raise _error("moogh.bad_teams", got=str(given))
    teams = {man: team for team, names in wanted.items() for man in names if man in men}
    listed = [man for names in wanted.values() for man in names]
    if len(set(listed)) != len(listed) or set(teams) != set(men) or not set(listed) <= set(MEN):
        raise _error("moogh.bad_teams", got=str(given))
    return {man: teams[man] for man in men}


def _seats(given: object, count: int, teams: Mapping[str, str]) -> dict[str, int]:
    """Which player has which tribesman, and who steers the beast."""
    men = men_of(count == 1)
    if given is None:
        hunters = count - 1 if count in (3, 5) else count
        if hunters == 2:
            seats = {man: 0 if teams[man] == teams["red"] else 1 for man in men}
        else:
            seats = {man: index % hunters for index, man in enumerate(men)}
        return {**seats, BEAST: count - 1} if hunters < count else seats
    if not isinstance(given, Mapping) or not set(men) <= set(given) <= {*men, BEAST}:
        raise _error("moogh.bad_seats", got=str(given))
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in given.values()):
        raise _error("moogh.bad_seats", got=str(given))
    if set(given.values()) != set(range(count)):
        raise _error("moogh.bad_seats", got=str(given))
    if count == 2 and given["red"] == given["brown"]:
        raise _error("moogh.one_chief_each")
    if count == 2 and sum(given[man] == 0 for man in men) != 2:
        raise _error("moogh.bad_seats", got=str(given))
    return {name: given[name] for name in (*men, BEAST) if name in given}


def _error(rule: str, **values: str | int) -> RulesError:
    return RulesError(Refusal(rule, values=tuple(values.items())), f"{rule} {values}")
