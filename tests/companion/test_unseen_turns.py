"""A turn that was ended and of which nothing can be seen now is asked about, where only the unseen can have changed."""

from __future__ import annotations

from typing import Any

import pytest

from companion.evidence import Chose, Seen
from companion.games.contract import Look
from companion.games.muggins.rules import RULES
from companion.match import Match
from companion.step import step
from tests.companion.table import CAMERA, CORNERS, PLAYERS, games
from vision.reading import Fact, Reading

BONEYARD = "count:boneyard"


class Table:
    """A match of Muggins after its opening; of the boneyard nothing is ever seen when it is not `counted`."""

    def __init__(self) -> None:
        self.match, self.time_s = Match(games), 0.0
        self.say(
            "new_game", game="muggins", players=["Ada", "Bea"], options={}, start={"starter": 0}, id="m", manual=False
        )
        self.see({**RULES.look(self.match.agreed), "line:0": "4-6"})
        self.say("done", at_s=self.time_s)
        self.see(RULES.look(self.match.now))
        assert self.match.turns == 1

    def say(self, command: str, by: int = 0, **args: Any) -> None:
        done = step(self.match, Chose(command, PLAYERS[by], args))
        assert done.reply.ok, done.reply
        self.match = done.match

    def see(self, look: Look, counted: bool = True, times: int = 1) -> None:
        for _ in range(times):
            self.time_s += 1.0
            facts = {key: Fact((value, "?"), (0.0, -15.0)) for key, value in look.items()}
            if not counted:
                facts[BONEYARD] = Fact(tuple(map(str, range(29))), (0.0,) * 29)
            reading = Reading(round(self.time_s * 10), self.time_s, facts, board_px=CORNERS)
            self.match = step(self.match, Seen(reading, "", CAMERA)).match


def test_an_ended_draw_that_cannot_be_seen_is_asked_about_and_not_called_a_pass() -> None:
    table = Table()
    look = RULES.look(table.match.agreed)
    table.say("done", by=1, at_s=table.time_s)
    table.see(look, counted=False, times=8)
    question = table.match.question
    assert question is not None
    assert [[text for _, text in c.turns] for c in question.choices if c.turns] == [["draw"]]
    assert any(c.kind == "unchanged" for c in question.choices)
    value = next(c.value for c in question.choices if c.turns)
    table.say("answer", by=1, question=question.id, value=value)
    table.see(look, counted=False)
    assert table.match.turns == 2 and table.match.entries[-1].text == "draw"


@pytest.mark.parametrize("counted", [True, False])
def test_a_pass_with_a_boneyard_is_named_where_it_can_be_seen(counted: bool) -> None:
    table = Table()
    table.say("done", by=1, at_s=table.time_s)
    said = set()
    for _ in range(8):
        table.see(RULES.look(table.match.agreed), counted=counted)
        said |= {table.match.judgement.words.id} if table.match.judgement is not None else set()
    assert ("muggins.pass_with_boneyard" in said) == counted
    assert table.match.turns == 1


@pytest.mark.parametrize("ended", [True, False])
def test_a_tile_put_back_is_a_takeback_and_asked_about_where_a_turn_was_ended_by_it(ended: bool) -> None:
    table = Table()
    before = RULES.look(table.match.agreed)
    table.see({**before, "line:-1": "1-4"})
    table.say("done", by=1, at_s=table.time_s)
    table.see({**before, "line:-1": "1-4"})
    assert table.match.turns == 2
    if ended:
        table.say("done", by=0, at_s=table.time_s)
    table.see(before, times=8)
    assert (table.match.question is not None) == ended
    assert (table.match.turns == 1) == (not ended)
