"""How a match begins: house rules, the catalogue, and whose pieces there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.contract import Look, Option, Refusal, RulesError, Setup
from companion.games.moogui import catalogue
from companion.games.moogui.catalogue import ID, Model
from companion.games.moogui.state import ABSENT, Rule, State

FEWEST_PEOPLE, MOST_PEOPLE = 2, 8
_KEYS = ("catalogue", "model_of", "owners")


def options() -> tuple[Option, ...]:
    """The house rules."""
    return (
        Option("mode", ("training", "competition"), "training"),
        Option("order", ("farthest_first", "nearest_first"), "farthest_first"),
        Option("target", (3, 1, 2, 4, 5, 6, 7, 8, 9, 10), 3),
    )


def new(setup: Setup) -> State:
    """The state before the first game.

    The players are the people at the arena; two to four of them play each game, the others may ally. `start` may hold
    `catalogue` (canonical models), `model_of` (piece -> model) and `owners` (piece -> player index); without pieces
    everybody gets one character of the made-up catalogue and the Sentinel of its continent. Raises RulesError.
    """
    count = len(setup.players)
    if not FEWEST_PEOPLE <= count <= MOST_PEOPLE:
        raise _error("moogui.people_count", got=count, fewest=FEWEST_PEOPLE, most=MOST_PEOPLE)
    start: Any = setup.start or {}
    if not isinstance(start, Mapping) or any(key not in _KEYS for key in start):
        raise _error("moogui.bad_start", what=str(sorted(start) if isinstance(start, Mapping) else start))
    chosen = _options(setup.options)
    models = catalogue.from_data(start["catalogue"]) if "catalogue" in start else catalogue.default()
    if ("model_of" in start) != ("owners" in start):
        raise _error("moogui.bad_start", what="model_of, owners")
    model_of, owners = _pieces(start, models, count) if "owners" in start else _given_out(models, count)
    rule = Rule(models=models, model_of=model_of, players=count, **chosen)
    return State(rule=rule, owners=owners, points=(0,) * count)


def start_from_look(seen: Look, chosen: Mapping[str, str | int | bool]) -> dict[str, Any] | tuple[Refusal, ...]:
    """Any start is legal while the arena is empty; otherwise the figures that lie there are named."""
    _options(chosen)
    lying = [
        fact.removeprefix("figure:") for fact, value in seen.items() if fact.startswith("figure:") and value != ABSENT
    ]
    return tuple(Refusal("moogui.pick_up", (piece,), (("figure", piece),)) for piece in lying) or {}


def _options(given: Mapping[str, str | int | bool]) -> dict[str, Any]:
    known = {option.name: option for option in options()}
    for name, value in given.items():
        if name not in known or not any(value == c and type(value) is type(c) for c in known[name].choices):
            raise _error("moogui.bad_option", option=name, got=str(value))
    return {name: given.get(name, option.default) for name, option in known.items()}


def _pieces(
    start: Mapping[str, Any], models: tuple[Model, ...], count: int
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, int], ...]]:
    model_of, owners = start["model_of"], start["owners"]
    if not isinstance(model_of, Mapping) or not isinstance(owners, Mapping) or set(model_of) != set(owners):
        raise _error("moogui.bad_start", what="model_of, owners")
    known = {model.id for model in models}
    for piece, model in model_of.items():
        if not isinstance(piece, str) or not ID.match(piece):
            raise _error("moogui.catalogue_id", got=str(piece))
        if model not in known:
            raise _error("moogui.unknown_figure", got=str(model))
        owner = owners[piece]
        if not isinstance(owner, int) or isinstance(owner, bool) or not 0 <= owner < count:
            raise _error("moogui.bad_owner", figure=piece, got=str(owner))
    return tuple(sorted(model_of.items())), tuple(sorted(owners.items()))


def _given_out(
    models: tuple[Model, ...], count: int
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, int], ...]]:
    """One character each and the Sentinel of its continent; pieces are called as their models, later ones numbered."""
    characters = [model for model in models if model.character]
    if not characters:
        raise _error("moogui.bad_start", what="catalogue")
    model_of: dict[str, str] = {}
    owners: dict[str, int] = {}
    for player in range(count):
        character = characters[player % len(characters)]
        sentinels = [m for m in models if not m.character and m.continent == character.continent]
        for model in (character, *sentinels[:1]):
            piece = model.id
            number = 2
            while piece in model_of:
                piece, number = f"{model.id}_{number}", number + 1
            model_of[piece], owners[piece] = model.id, player
    return tuple(sorted(model_of.items())), tuple(sorted(owners.items()))


def _error(rule: str, **values: str | int) -> RulesError:
    return RulesError(Refusal(rule, values=tuple(values.items())), f"{rule} {values}")
