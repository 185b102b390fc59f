"""How a match begins: who plays what, with which options and from which start; nonsense is refused in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from companion.commands import NAME_LENGTH, OK, Reply, refused, shortened
from companion.draft import Draft, choice
from companion.evidence import Author
from companion.games.contract import Json, Message

# Characters that turn the direction of the text around them (Unicode, UAX #9).
TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def new_game(draft: Draft, args: Mapping[str, Json], author: Author) -> Reply:
    """Opens a match, or says why not.

    `start`: "table" (read from the camera), else the game's own JSON (None for a game whose start is fixed).
    """
    try:
        rules = draft.match.games(str(args["game"]))
    except LookupError:
        return refused("companion.unknown_game", game=shortened(args["game"]))
    players = [shown_name(str(p)) for p in args["players"]]
    if not rules.min_players <= len(players) <= rules.max_players or not all(players):
        if rules.min_players == rules.max_players:
            return refused("companion.wrong_players_exactly", number=rules.min_players)
        return refused("companion.wrong_players", least=rules.min_players, most=rules.max_players)
    if len({p.casefold() for p in players}) < len(players):
        return refused("companion.same_name")
    options: dict[str, str | int | bool] = {o.name: o.default for o in rules.options()}
    given = dict(args.get("options") or {})
    for option in rules.options():
        value = given.pop(option.name, option.default)
        if not any(value == c and type(value) is type(c) for c in option.choices):
            return refused("companion.bad_option", option=option.name, value=shortened(value))
        options[option.name] = value
    if given:
        return refused("companion.unknown_option", option=shortened(next(iter(given))))
    start = args.get("start")
    given = dict(args.get("given") or {})
    manual = bool(args.get("manual", start != "table"))
    corners = [str(c) for c in args.get("corners") or ()]
    draft.add(
        "opened",
        id=str(args["id"]),
        game=str(args["game"]),
        players=players,
        options=options,
        manual=manual,
        done_expected=bool(args.get("done_expected", False)),
        side="" if corners else "known",
        given=given or None,
        data=dict(args.get("data") or {}),
        undo=str(args.get("undo", "chance")),
        hints=bool(args.get("hints", False)),
    )
    if start != "table":
        draft.add("started", start={**given, **start} if given and start else start or given or None)
    elif corners:
        ask_side(draft, corners)
    return OK


def ask_side(draft: Draft, corners: list[str]) -> None:
    """Asks which of the board's corners lies at the first player's left hand."""
    choices = [choice(c, Message("table.corner", (("corner", c),)), "side", facts={"side": c}) for c in corners]
    draft.ask(Message("table.which_side", (("player", "#0"),)), choices, corners, {})


def shown_name(given: str) -> str:
    """A player's name as it can be shown: one line without control and turning characters; empty if nothing is seen."""
    seen = (
        c
        for c in given
        if c.isspace() or not (unicodedata.category(c) == "Cc" or unicodedata.bidirectional(c) in TURNING)
    )
    name = " ".join("".join(seen).split())[:NAME_LENGTH].rstrip()
    return name if any(unicodedata.category(c)[0] in "LNPS" for c in name) else ""
