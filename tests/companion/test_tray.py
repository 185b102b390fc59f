"""Dice that a camera sees: rolled ones are told from those that lie there, lean, are unclear or were under a hand."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.bulletin import Bulletin
from companion.evidence import Author, Rolled, Seen
from companion.games.contract import Setup
from companion.journal import open_journal
from companion.registry import GAMES
from companion.service import Service
from companion.tray import Tray
from tests.companion.table import games
from vision.reading import Fact, Piece, Reading

CAMERA = Author("camera", "picam://0")
EDGE_MM = 16.0


def die(value: int, x: float, y: float = 0.0, sure: bool = True) -> Piece:
    """A die as the eyes report it."""
    lead = 12.0 if sure else 2.0
    facts = {"value": Fact(tuple("123456"), tuple(0.0 if v == value else -lead for v in range(1, 7)))}
    half = EDGE_MM / 2
    outline = tuple((x + a * half, y + b * half) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    return Piece("die", (x, y), 0.6, facts, outline=outline)


def seen(time_s: float, *dice: Piece) -> Seen:
    return Seen(Reading(int(time_s), time_s, pieces=dice), f"f{time_s:.0f}", CAMERA)


def values(rolls: list[Rolled]) -> list[int]:
    return [roll.value for roll in rolls]


def test_what_lies_there_first_is_no_roll_and_what_lies_elsewhere_then_is_one() -> None:
    tray = Tray()
    assert tray.rolled(seen(1.0, die(4, 0))) == []
    assert tray.rolled(seen(2.0, die(4, 1))) == []
    assert tray.rolled(seen(3.0, die(2, 90))) == [Rolled("", 2, CAMERA, 6, 3.0, "f3")]
    assert tray.rolled(seen(4.0, die(2, 90))) == []
    assert values(tray.rolled(seen(5.0, die(5, 90)))) == [5], "the same place, another face"


def test_a_hand_over_a_die_makes_no_roll() -> None:
    tray = Tray()
    tray.rolled(seen(1.0, die(4, 0)))
    assert tray.rolled(seen(2.0)) == []
    assert tray.rolled(seen(3.0, die(4, 0))) == []
    tray.rolled(seen(4.0))
    assert values(tray.rolled(seen(5.0, die(4, 60)))) == [4]
    assert values(tray.rolled(seen(6.0, die(4, 0)))) == [4], "back where it lay long ago"


def test_an_unclear_or_leaning_die_is_a_roll_only_when_it_is_clear() -> None:
    tray = Tray()
    tray.rolled(seen(1.0, die(4, 0)))
    assert tray.rolled(seen(2.0, die(6, 50, sure=False))) == []
    assert values(tray.rolled(seen(3.0, die(6, 50)))) == [6]
    assert tray.rolled(seen(4.0, die(6, 50, sure=False))) == []
    assert tray.rolled(seen(5.0, die(6, 50))) == [], "shadow over a die that lies still"


def test_two_dice_are_two_rolls_and_the_one_left_lying_none() -> None:
    tray = Tray()
    tray.rolled(seen(1.0, die(4, 0), die(1, 100)))
    assert values(tray.rolled(seen(2.0, die(3, 60), die(6, 30)))) == [6, 3]
    assert values(tray.rolled(seen(3.0, die(3, 60), die(2, 90)))) == [2]


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans(), st.integers(0, 3)), max_size=20))
def test_each_throw_of_one_die_is_one_roll(throws: list[tuple[int, bool, int]]) -> None:
    """However often it is looked at and a hand comes in between."""
    tray, time_s, got = Tray(), 1.0, []
    tray.rolled(seen(0.0, die(1, -100)))
    for number, (value, hand, looks) in enumerate(throws):
        at = (100.0 * math.cos(number), 100.0 * math.sin(number) + 40.0 * number)
        for look in range(looks + 1):
            if hand and look:
                got += values(tray.rolled(seen(time_s)))
            got += values(tray.rolled(seen(time_s, die(value, *at))))
            time_s += 1.0
    assert got == [value for value, _, _ in throws]


@pytest.mark.parametrize("second", [None, 3, 5])
def test_the_camera_rolls_in_a_game_and_an_electronic_die_is_its_second_opinion(
    tmp_path: Path, second: int | None
) -> None:
    rules, chance = games("moogh"), random.Random(1)
    journal, _ = open_journal(tmp_path)
    bulletin = Bulletin()
    service = Service(games, journal, bulletin)
    service.submit("new_game", {"game": "moogh", "players": ["Ada", "Bea"]}, Author("seat", "laptop"))
    assert service.match.agreed == rules.new(Setup(("Ada", "Bea"), service.match.setup.options))
    service.hear(seen(1.0, die(6, 0)))
    while rules.to_act(service.match.agreed).kind != "roll":
        text = rules.text(GAMES["moogh"].load_choose()(service.match.agreed, chance))
        assert service.submit("declare", {"text": text}, Author("seat", "laptop")).ok
    before = service.match.turns
    service.hear(seen(100.0, die(5, 80)))
    assert service.match.entries[-1].by == "rolled" and service.match.entries[-1].text.endswith("5")
    turn = next(row for row in reversed(tuple(journal.rows(service.match.id))) if row.event.kind == "turn")
    assert (turn.event.author, turn.event.picture) == (CAMERA, "f100")
    if second is not None:
        service.hear(Rolled("a", second, Author("die", "a"), 6, 100.3))
    assert service.match.turns == before + 1
    assert (bulletin.snapshot().question is not None) == (second == 3)
    journal.close()
