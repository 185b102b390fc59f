"""The page in real Chromium over the real service, rules and journal: a game by hand, watched from a second browser."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from companion.bulletin import Bulletin
from companion.games.contract import Refusal
from companion.games.moguli import RULES
from companion.journal import open_journal
from companion.registry import GAMES
from companion.service import Service
from tests.web.conftest import Opener
from web.server import Server

pytestmark = pytest.mark.browser


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[Service, Server]]:
    with ExitStack() as stack:
        journal, _ = open_journal(tmp_path)
        stack.callback(journal.close)
        bulletin = Bulletin()
        service = Service(
            lambda name: GAMES[name].load_rules(),
            journal,
            bulletin,
            deal=lambda name, chance: GAMES[name].deal_start(chance),
            chance=random.Random(3),
        )
        service.start()
        stack.callback(service.stop)
        offers = [entry.load_rules() for entry in GAMES.values()]
        yield service, stack.enter_context(Server(bulletin, service.submit, port=0, offers=offers, data=tmp_path))


def set_by_hand(page: Any, facts: dict[str, str], send: str) -> None:
    """Makes the board look so, as a person does: turns in the sheet, pawns by two taps, then the button."""
    pawns = {key.split(":")[1]: value for key, value in facts.items() if key.startswith("pawn:")}
    for key, value in facts.items():
        kind, place = key.split(":")
        if kind == "path":
            page.locator(f'#board g.place[data-place="{place}"] > rect').first.click(position={"x": 6, "y": 6})
            page.locator(f"#kind-path-{value}").check()
            page.locator("#sheet").get_by_role("button", name="Change more").click()
            expect(page.locator("#sheet")).to_be_hidden()
    if pawns:
        (start,) = (place for place, value in pawns.items() if value == "-")
        (end,) = (place for place, value in pawns.items() if value != "-")
        page.locator(f'#board g.piece[data-place="{start}"]').click()
        page.locator(f'#board g.place[data-place="{end}"] > rect').first.click(position={"x": 6, "y": 6})
        expect(page.locator(f'#board g.piece[data-place="{end}"]')).to_have_count(1)
    page.locator("#draft").get_by_role("button", name=send).click()
    expect(page.locator("#draft")).to_be_hidden()


def legal_turn(state: Any) -> Any:
    """A turn that both turns a tile and moves a pawn."""
    for turn in RULES.legal(state):
        changed = RULES.trace(state, turn)
        if sum(k.startswith("path:") for k in changed) == 1 and sum(k.startswith("pawn:") for k in changed) == 2:
            return turn
    raise AssertionError("no such turn in this position")


def illegal_move(state: Any) -> dict[str, str]:
    """A pawn of the player to move on a door that no legal turn brings it to, whatever is turned."""
    look = dict(RULES.look(state))
    me = str(RULES.to_act(state).players[0] + 1)
    reached = set()
    for turn in RULES.legal(state):
        changed = RULES.trace(state, turn)
        start = [key for key in changed if key.startswith("pawn:") and changed[key] == "-"]
        end = [key for key in changed if key.startswith("pawn:") and changed[key] == me]
        reached |= set(zip(start, end, strict=True))
    for start_key in (k for k, v in look.items() if k.startswith("pawn:") and v == me):
        for end_key in (k for k, v in look.items() if k.startswith("pawn:") and v == "-"):
            if (start_key, end_key) not in reached:
                return {start_key: "-", end_key: me}
    raise AssertionError("every move is legal")


def test_a_game_by_hand_against_the_rules(real: tuple[Service, Server], opened: Opener) -> None:
    service, server = real
    page, second = opened(server.url), opened(server.url, 390, 844)
    page.get_by_role("button", name="New game").click()
    page.locator("#player-0").fill("Anna")
    page.locator("#player-1").fill("Ben")
    expect(page.locator("#start")).to_have_value("shuffle")  # there is no camera
    page.get_by_role("button", name="Begin").click()
    expect(second.locator("#board g.piece")).to_have_count(10)
    expect(page.locator("#headline")).to_contain_text("Anna")

    # A legal turn: provisional, then final, seen by both.
    start = service.match.agreed
    turn = legal_turn(start)
    set_by_hand(page, dict(RULES.trace(start, turn)), "This is my turn")
    expect(page.locator("#provisional .notation")).to_have_text(RULES.text(turn))
    expect(second.locator("#board g.mark.provisional")).to_have_count(3)
    assert service.match.turns == 0
    page.locator('#acts [data-command="done"]').click()
    expect(second.locator("#headline")).to_contain_text("Ben")
    expect(second.locator("#record li")).to_have_count(1)
    after = RULES.apply(start, turn)
    assert not isinstance(after, Refusal)
    assert service.match.agreed == after

    # An illegal one: named, its places marked, nothing recorded, taken back.
    wrong = illegal_move(after)
    places = {key.split(":")[1] for key in wrong}
    set_by_hand(page, wrong, "This is my turn")
    for viewer in (page, second):
        expect(viewer.locator("#verdict .verdict-kind")).to_have_text("Not allowed")
        expect(viewer.locator("#board g.mark.illegal").first).to_be_visible()
        for where in (key.split(":")[1] for key, value in wrong.items() if key.startswith("pawn:") and value != "-"):
            expect(viewer.locator(f'#board g.piece[data-place="{where}"]')).to_be_visible()
    assert service.match.judgement is not None
    assert places & set(service.match.judgement.places)
    assert service.match.turns == 1
    page.locator('#acts [data-command="takeback"]').click()
    expect(page.locator("#board g.mark.illegal")).to_have_count(0)
    assert service.match.agreed == after

    # The program is wrong at a place: corrected by hand, the game goes on from there.
    look = RULES.look(after)
    key = "path:c4"
    value = {"NE": "ES", "ES": "SW", "SW": "NW", "NW": "NE"}[look[key]]
    set_by_hand(page, {key: value}, "The program is wrong here")
    expect(page.locator("#verdict")).to_contain_text("corrected")
    assert RULES.look(service.match.agreed) == {**look, key: value}

    # The last turn is taken back, after being asked.
    page.locator('#acts [data-command="takeback"]').click()
    page.locator("#ask").get_by_role("button", name="Yes").click()
    expect(second.locator("#headline")).to_contain_text("Anna")
    assert service.match.turns == 0


def test_resigning_ends_the_game_for_everybody(real: tuple[Service, Server], opened: Opener) -> None:
    service, server = real
    page, tv = opened(server.url), opened(server.url + "tv", 1920, 1080)
    page.get_by_role("button", name="New game").click()
    page.locator("#start").select_option("shuffle")
    page.get_by_role("button", name="Begin").click()
    page.locator("#acts summary").click()
    page.locator("#acts .row").get_by_role("button", name="Player 1").first.click()
    page.locator("#ask").get_by_role("button", name="Yes").click()
    expect(page.locator("#players .won")).to_contain_text("Player 2")
    expect(tv.locator("#players .won")).to_contain_text("Player 2")
    expect(page.locator("body")).to_have_attribute("data-phase", "over")
    assert service.match.phase == "over"
