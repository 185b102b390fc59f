"""The commands a person or a device may give, by name: the only vocabulary between dashboard, buttons and match.

Each carries its author; a command that cannot be carried out now is answered with a Message, never an exception. What
only the service can know is added by it, whatever the giver sent: `id`, `manual`, `corners` and `done_expected` of a
new game, `corners` of `watch`, `at_s` of `done` and `declare`, `found` of `hint`, `clip` of `doubt`, `said` of
`correct` (what the camera says of these facts).
"""

from __future__ import annotations

from dataclasses import dataclass

from companion.games.contract import Message

Corners = tuple[tuple[float, float], ...]
"""Four corners in a picture, as parts of its width and height; or none."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, the arguments it takes (name -> what it is) and whether a spectator may give it."""

    name: str
    args: tuple[str, ...] = ()
    spectator: bool = False


COMMANDS: dict[str, Command] = {
    c.name: c
    for c in (
        Command("new_game", ("game", "players", "options", "start")),  # start: the game's JSON, or "table" or "shuffle"
        Command("first_side", ("corner",)),  # start check: which board corner is the first player's left one
        Command("accept_start"),  # the table lies as it should, or its differences are taken over
        Command("done"),  # finishes the provisional turn (the player's button)
        Command("takeback"),  # withdraws the provisional turn, else the last final one
        Command("hint"),  # a good turn and why, where the table allows hints
        Command("undo_to", ("number",)),  # back to the position after turn `number`
        Command("answer", ("question", "value")),  # to the open question
        Command("set_facts", ("facts",)),  # play by hand: the table now looks so (`path:b3` -> `NE`), judged as if seen
        Command("correct", ("facts",)),  # the agreed position is wrong there: change it, judge again
        Command("correct_turn", ("number", "text")),  # the record is wrong there: change it, judge what follows again
        Command("doubt", ("number",)),  # turn `number` is doubted: its pictures are kept, and the table decides
        Command("uphold", ("number",)),  # the doubted turn stands as it is
        Command("declare", ("text",)),  # a turn in notation that no camera sees (resign, an unseen act, any turn)
        Command("agree"),  # consents to the open offer (draw, undo across a roll)
        Command("decline"),
        Command(
            "tap_corners", ("points",)
        ),  # where the board's corners lie in the camera's picture; [] for its markers
        Command("watch"),  # a game that began by hand: from now on the camera looks too
        Command("referee"),  # look again now, and show every doubt
        Command("pause"),
        Command("resume"),
    )
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the giver of a command is told at once: done or not, and why not in words."""

    ok: bool
    words: Message | None = None


OK = Reply(True)


def refused(message_id: str, **values: str | int | float) -> Reply:
    """Not done, and why."""
    return Reply(False, Message(message_id, tuple(values.items())))


NAME_LENGTH = 40
"""So long may a name be, and what is quoted of something that cannot be understood."""


def shortened(given: object) -> str:
    """What somebody has sent, short enough to be quoted to them."""
    return str(given)[:NAME_LENGTH]
