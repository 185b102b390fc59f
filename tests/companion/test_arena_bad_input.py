"""What goes wrong at an arena: named, with the way on; nothing scored twice, nothing lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from calibration.figure_prints import save_figure
from calibration.profile import TableProfile
from companion.bulletin import Bulletin, Device
from companion.demo_room import Room
from companion.evidence import Author, Evidence
from companion.eyes import TROUBLE_S, Eyes
from companion.games.contract import Message
from companion.journal import FILE, Journal
from companion.registry import GAMES
from companion.service import Service
from companion.words import catalogue
from devices.contract import Frame
from devices.faults import Fault, fault
from devices.simulated.arena import Lying
from devices.simulated.disturbances import Bump
from tests.companion.arena import Arena, figure
from tests.companion.table import games
from tests.vision.test_figure_table import BOARD, PRINTS, art, picture_of
from vision.figure_table import FigureTableReader

STARTED = ("start p1=ari p2=bruma", "order p1=200 p2=100 ~2")
ARI, BRUMA = figure("ari", "3", (200.0, 300.0)), figure("bruma", "2", (420.0, 300.0))
SEAT = Author("seat", "table")


def said(arena: Arena) -> str:
    judgement = arena.match.judgement
    return judgement.words.id if judgement is not None else ""


class TestAtTheTable:
    def test_a_fifth_player_is_refused_with_how_many_may_play(self) -> None:
        arena = Arena()
        reply = arena.say("declare", text="start p1=ari p2=bruma p3=cedro p4=dune p5=eon", at_s=1.0)
        assert not reply.ok and reply.words is not None
        assert reply.words.id == "moogui.player_count" and dict(reply.words.values)["most"] == 4
        assert arena.texts == []

    def test_a_throw_out_of_turn_is_named_and_picked_up_and_the_right_one_counts(self) -> None:
        arena = Arena(*STARTED)
        arena.see(BRUMA, times=3)
        arena.done(1)
        arena.see(BRUMA, times=3)
        assert said(arena) == "moogui.not_your_turn" and len(arena.texts) == 2
        arena.see(times=3)
        assert arena.kind not in ("illegal", "question")
        arena.see(ARI, times=2)
        arena.done(0)
        arena.see(ARI)
        assert arena.texts[2:] == ["throw p1 ari ari=3"]

    def test_a_figure_taken_out_too_early_is_named_and_put_back(self) -> None:
        arena = Arena(*STARTED)
        arena.see(ARI)
        arena.done(0)
        arena.see(ARI)
        before = arena.match.agreed
        arena.see(times=3)
        arena.done(0)
        arena.see(times=3)
        assert said(arena) == "moogui.taken_too_early"
        arena.see(ARI, times=3)
        assert arena.kind not in ("illegal", "question")
        assert arena.match.agreed == before and arena.texts[2:] == ["throw p1 ari ari=3"]

    def test_a_throw_whose_end_is_pressed_again_and_again_is_scored_once(self) -> None:
        arena = Arena(*STARTED)
        arena.done(0)
        arena.done(0)
        arena.see(ARI)
        arena.done(0)
        arena.see(ARI, times=3)
        assert [text for text in arena.texts if text.startswith("throw")] == ["throw p1 ari ari=3"]


class Listener:
    """Stands for the service: what is wrong now, by device."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        """Notes the trouble's id, or forgets it."""
        if trouble is None:
            self.told.pop(name, None)
        else:
            self.told[name] = trouble.id

    def hear(self, evidence: Evidence) -> None:
        """Evidence is returned by the eyes."""


class TestInThePicture:
    """Two figures are enrolled; what else lies there is said, and forgotten when it has gone."""

    @pytest.fixture
    def eyes(self, tmp_path: Path) -> tuple[Eyes, Listener]:
        for name in ("ari", "bruma"):
            save_figure(tmp_path, PRINTS[name])
        listener = Listener()
        profile = TableProfile(BOARD, figures=str(tmp_path))
        return Eyes(profile, FigureTableReader, listener), listener  # type: ignore[arg-type]

    def seen(self, eyes: Eyes, since_s: float, *lying: Lying) -> list[Mapping[str, str]]:
        """What the evidence of three seconds says of the figures."""
        picture, heard = picture_of(*lying), []
        picture.flags.writeable = False
        for step in range(30):
            time_s = since_s + step / 10
            found = eyes.look(Frame(picture, round(time_s * 10), time_s, ""))
            if found is not None:
                heard.append({k: f.best for k, f in found.reading.facts.items() if k.startswith("figure:")})
        return heard

    def test_an_unknown_figure_is_said_until_it_has_gone(self, eyes: tuple[Eyes, Listener]) -> None:
        looker, listener = eyes
        assert self.seen(looker, 1.0) and not listener.told
        stranger = Lying(art(PRINTS["glim"]), "3", (400.0, 380.0), 30.0)
        ari = Lying(art(PRINTS["ari"]), "4", (180.0, 220.0), 10.0)
        assert self.seen(looker, 4.0, stranger, ari)[-1] == {"figure:ari": "4", "figure:bruma": "-"}
        assert listener.told == {"pieces": "vision.unknown_figure"}
        self.seen(looker, 7.0, ari)
        assert not listener.told

    def test_two_equal_figures_are_said_and_nothing_is_told_of_either(self, eyes: tuple[Eyes, Listener]) -> None:
        looker, listener = eyes
        self.seen(looker, 1.0)
        one = Lying(art(PRINTS["ari"]), "4", (180.0, 220.0), 10.0)
        assert self.seen(looker, 4.0, one, Lying(art(PRINTS["ari"]), "2", (400.0, 380.0), 80.0)) == []
        assert TROUBLE_S < 3.0 and listener.told == {"board": "vision.equal_figures"}
        assert self.seen(looker, 7.0, one)[-1]["figure:ari"] == "4"
        assert not listener.told

    @pytest.mark.parametrize("key", ["vision.unknown_figure", "vision.equal_figures", "vision.board_moved"])
    def test_there_are_words_for_it(self, key: str) -> None:
        assert all(key in catalogue(language) for language in ("en", "es", "fi", "de", "fr"))


class TestWhileItIsPlayed:
    """The whole chain at a simulated arena: camera, eyes, match."""

    def room(self, folder: Path, *scenario: Fault) -> tuple[Room, Service]:
        """A game of two begun by camera; the order is told, so that Ada's throw is awaited."""
        service = Service(games, Journal(folder / FILE), Bulletin())
        room = Room(GAMES["moogui"], service, service.bulletin, None, scenario, BOARD)
        rules = GAMES["moogui"].load_rules()
        names = ["Ada", "Bea"]
        empty = {f"figure:{name}": "-" for name in ("ari", "bruma", "ibex", "jaca")}
        room.lay(empty, 11)
        room.rest(1.0)
        options = {o.name: o.default for o in rules.options()}
        assert service.submit(
            "new_game", {"game": "moogui", "players": names, "options": options, "start": "table"}, SEAT
        ).ok
        room.rest(1.0)
        assert service.submit("accept_start", {}, SEAT).ok
        for text in STARTED:
            assert service.submit("declare", {"text": text}, SEAT).ok
        room.rest(1.0)
        return room, service

    def record(self, service: Service) -> list[str]:
        return [entry.text for entry in service.match.entries][2:]

    def test_a_camera_lost_in_mid_throw_is_named_and_the_throw_counts_once(self, tmp_path: Path) -> None:
        room, service = self.room(tmp_path, fault("camera.unplugged", 3.6, 4.0))
        room.table.perform({"figure:ari": "5"})
        said = set()
        for _ in range(60):
            room.tick()
            said |= {trouble.words.id for trouble in service.bulletin.snapshot().troubles}
        assert "devices.camera_gone" in said
        room.rest(4.0)
        assert not service.bulletin.snapshot().troubles
        room.table.stage.press("done1")
        room.rest(2.0)
        assert self.record(service) == ["throw p1 ari ari=5"]

    def test_an_arena_that_is_moved_in_a_game_keeps_its_figures(self, tmp_path: Path) -> None:
        room, service = self.room(tmp_path)
        room.table.perform({"figure:ari": "5"})
        room.table.stage.press("done1")
        room.rest(3.0)
        assert self.record(service) == ["throw p1 ari ari=5"]
        agreed = service.match.agreed
        room.disturb(Bump((9.0, -7.0, 0.0), (0.8, -0.6, 1.0)))
        room.rest(4.0)
        assert service.match.agreed == agreed and service.match.question is None
        judgement = service.match.judgement
        assert judgement is None or judgement.kind != "illegal"
        room.table.stage.press("done1")
        room.rest(1.0)
        room.table.perform({"figure:bruma": "1"})
        room.table.stage.press("done2")
        room.rest(3.0)
        assert self.record(service) == ["throw p1 ari ari=5", "end p1", "throw p2 bruma ari=5 bruma=1"]
