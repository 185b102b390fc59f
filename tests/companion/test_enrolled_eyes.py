"""A figure registered on the dashboard is read by the eyes from the next game on, and no game in play loses its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.profile import TableProfile
from companion import run
from companion.bulletin import Bulletin
from companion.config import Config
from companion.enrolment import Enrolment
from companion.evidence import Author
from companion.journal import FILE, Journal
from companion.registry import GAMES
from companion.service import Service
from companion.serving import service_of
from tests.companion.test_boards import Eyes
from tests.companion.test_enrolment import enrol, made, shots

__all__ = ["shots"]
SEAT = Author("seat", "page")
START = {"game": "moogui", "players": ["Ada", "Bea"], "options": {}, "start": "table"}


class Counted(Eyes):
    """Eyes that count how often they are made anew."""

    renewals: int = 0

    def photograph(self, file: Path) -> bool:
        return False

    def renew(self, profile: TableProfile) -> None:
        self.renewals += 1
        super().renew(profile)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Service, Enrolment, Counted]:
    monkeypatch.setattr(run, "EyesProcess", Counted)
    known = made(tmp_path / "enrolled")
    for name in ("Ada", "Bea"):
        assert known.add_person(name) is None
    service = service_of(Journal(tmp_path / FILE), Bulletin(), GAMES, None, known)
    devices = run.Table(Config("moogui", camera="file:///none"), service, service.bulletin, tmp_path, None, known)
    devices.start()
    assert isinstance(devices._eyes, Counted)
    return service, known, devices._eyes


def begin(service: Service) -> None:
    assert service.submit("new_game", START, SEAT).ok


def test_a_registered_figure_is_known_at_once_where_nothing_is_played(
    table: tuple[Service, Enrolment, Counted], shots: list[list[bytes]]
) -> None:
    _, known, eyes = table
    assert eyes.profile.figures == ""
    assert enrol(known, shots[0], "Zork", "Ada") is None
    assert (eyes.profile.figures, eyes.renewals) == (str(known.folder), 1)


def test_a_game_in_play_keeps_the_figures_it_began_with(
    table: tuple[Service, Enrolment, Counted], shots: list[list[bytes]]
) -> None:
    service, known, eyes = table
    begin(service)
    assert enrol(known, shots[0], "Zork", "Ada") is None
    assert enrol(known, shots[1], "Yrk", "Bea") is None
    assert (eyes.profile.figures, eyes.renewals) == ("", 0)
    begin(service)
    assert dict(service.match.setup.start["owners"]) == {"zork": 0, "yrk": 1}
    assert (eyes.profile.figures, eyes.renewals) == (str(known.folder), 1)
    begin(service)
    assert eyes.renewals == 1, "nothing has changed since"


def test_a_figure_registered_during_a_game_is_learnt_for_the_next(
    table: tuple[Service, Enrolment, Counted], shots: list[list[bytes]]
) -> None:
    service, known, eyes = table
    assert enrol(known, shots[0], "Zork", "Ada") is None
    assert enrol(known, shots[1], "Yrk", "Bea") is None
    begin(service)
    renewals = eyes.renewals
    swapped = [*shots[0][3:], *shots[1][:3]]
    assert enrol(known, swapped, "Xanthe", "Bea") is None
    assert eyes.renewals == renewals
    begin(service)
    assert eyes.renewals == renewals + 1
    assert set(service.match.setup.start["owners"]) == {"zork", "yrk", "xanthe"}
