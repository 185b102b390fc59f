"""A game with several boards: the eyes look for the one that is played on, from a profile or from what ships."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from calibration.profile import TableProfile, load_board, load_profile, save_profile
from companion import run
from companion.bulletin import Bulletin
from companion.channel import Task
from companion.config import Config, ConfigError, chosen
from companion.evidence import Author
from companion.games.contract import Setup
from companion.games.maulwurf.layout import BUILT_IN, built_in
from companion.journal import Journal
from companion.registry import GAMES
from companion.service import Service

MAULWURF = GAMES["maulwurf"]
SEAT = Author("seat", "page")


@pytest.mark.parametrize("layout", BUILT_IN)
def test_the_boards_spec_and_the_rules_know_the_same_cells(layout: str) -> None:
    board, cells = MAULWURF.load_board({"layout": layout}), built_in(layout)
    assert board.places_mm.keys() == set(cells.cells)
    assert set(board.grid["groups"]["cave"]) == set(cells.caves)
    assert set(board.grid["groups"]["tunnel"]) == set(cells.tunnels)
    assert tuple(board.grid["starts"]) == cells.corners


@pytest.mark.parametrize("layout", BUILT_IN)
def test_a_saved_profile_is_of_its_own_board(layout: str, tmp_path: Path) -> None:
    board = MAULWURF.load_board({"layout": layout})
    save_profile(TableProfile(board, camera="picam://0"), tmp_path / "table.toml")
    assert load_profile(tmp_path / "table.toml").board == board


class Eyes:
    """Eyes of which only the profile matters."""

    def __init__(self, task: Task, *rest: object, **more: object) -> None:
        self.profile = task.profile
        self.working = self.current = False
        self.latest_s, self.corners, self.corner_names = 0.0, (), task.profile.board.corner_names

    @property
    def variant(self) -> str:
        return self.profile.board.variant

    def renew(self, profile: TableProfile) -> None:
        self.profile = profile

    def want(self, soon: bool) -> None:
        pass

    def start(self) -> None:
        pass

    stop = start


def test_the_eyes_look_for_the_board_of_the_new_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "EyesProcess", Eyes)
    own = replace(load_board("maulwurf"), sizes_mm={"token_radius": 7.0, "token_height": 4.0, "board_height": 1.0})
    save_profile(TableProfile(own, corners_px=((1, 1), (2, 1), (2, 2), (1, 2))), tmp_path / "table.toml")
    service = Service(lambda name: GAMES[name].load_rules(), Journal(tmp_path / "journal.sqlite"), Bulletin())
    config = Config("maulwurf", camera="file:///none", profile=str(tmp_path / "table.toml"))
    table = run.Table(config, service, service.bulletin, tmp_path)
    table.start()
    eyes = table._eyes
    assert isinstance(eyes, Eyes) and eyes.profile.board == own
    for layout, variant in (("square13", "square13"), ("square13", "square13"), ("diamond181", "")):
        args = {"game": "maulwurf", "players": ["A", "B"], "options": {"layout": layout}, "start": "table"}
        assert service.submit("new_game", args, SEAT).ok
        assert eyes.variant == variant
        assert bool(eyes.profile.corners_px) == (not variant)
    table.stop()


def test_a_picture_of_another_board_is_no_start_and_no_crash(tmp_path: Path) -> None:
    rules = MAULWURF.load_rules()
    options = {o.name: o.default for o in rules.options()}
    state = rules.new(Setup(("A", "B"), options))
    assert isinstance(rules.start_from_look(rules.look(state), {**options, "layout": "square13"}, None), tuple)


def test_options_are_given_by_name_and_nonsense_is_named() -> None:
    given = chosen(MAULWURF, ["layout=square13", "push_enters_cave=False", "first=2"])
    assert (given["layout"], given["push_enters_cave"], given["first"]) == ("square13", False, 2)
    assert chosen(MAULWURF, []) == {o.name: o.default for o in MAULWURF.load_rules().options()}
    with pytest.raises(ConfigError, match="known are layout"):
        chosen(MAULWURF, ["lay=square13"])
    with pytest.raises(ConfigError, match="diamond181, square13"):
        chosen(MAULWURF, ["layout=round"])
