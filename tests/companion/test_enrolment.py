"""People and figures: who there is, whose is what, photographs that cannot serve, figures that cannot be told apart."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.profile import TableProfile, load_board
from companion.bulletin import Bulletin
from companion.enrolment import Enrolment
from companion.evidence import Author
from companion.games.contract import Message, Setup
from companion.games.moogui import RULES
from companion.games.moogui.enrolling import FORM
from companion.journal import FILE, Journal
from companion.registry import GAMES
from companion.service import Service
from companion.serving import service_of
from companion.uploads import MOST_MEGAPIXELS, decoded
from devices.contract import Image
from devices.simulated.arena import ArenaLook, FigureArt, Lying, camera_over, invented_figures, paint
from vision.figure_table import FigureTableReader

BOARD = load_board("moogui")
ART = invented_figures(np.random.default_rng(11), 3)
VALUES = {
    "kind": ("moogui",),
    "continent": ("north",),
    "powers": ("10", "20", "30", "40", "50", "0"),
    "shield": ("6",),
    "attack": ("5",),
}
SENTINEL = {**VALUES, "kind": ("sentinel",), "powers": tuple("123456"), "shield": ("0",), "attack": ("0",)}


def flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Photographs that are nothing but the face, so that no arena has to be painted."""

    def whole(picture: Image, profile: TableProfile) -> list[tuple[float, float]]:
        height, width = picture.shape[:2]
        return [(-0.5, -0.5), (width - 0.5, -0.5), (width - 0.5, height - 0.5), (-0.5, height - 0.5)]

    monkeypatch.setattr("companion.enrolment.upper_face", whole)


def photograph(art: FigureArt, up: int, turn: float = 10.0) -> Image:
    view = camera_over(BOARD, 2000, 1500, 12.0, -90.0, 0.0, 880.0)
    return paint(BOARD, view, [Lying(art, str(up), (310.0, 290.0), turn)], ArenaLook())


def jpeg(picture: Image) -> bytes:
    return bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 95])[1])


@pytest.fixture
def shots(monkeypatch: pytest.MonkeyPatch) -> list[list[bytes]]:
    """The six faces of two figures, large enough to be photographs."""
    flat(monkeypatch)
    large = [[cv2.resize(np.asarray(f), (900, 277)) for f in art.faces] for art in ART[:2]]
    return [[jpeg(np.asarray(face, np.uint8)) for face in faces] for faces in large]


def made(folder: Path) -> Enrolment:
    return Enrolment(folder, "moogui", FORM, TableProfile(BOARD), RULES.max_players)


def enrol(known: Enrolment, shots: list[bytes], name: str, owner: str = "", values: object = None) -> Message | None:
    for number, shot in enumerate(shots, 1):
        assert known.take(number, shot) is None
    return known.save(name, owner, values or VALUES)  # type: ignore[arg-type]


def png(width: int, height: int) -> bytes:
    """The beginning of a picture that claims to be so large."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def test_people_are_registered_once_and_not_without_end(tmp_path: Path) -> None:
    known = made(tmp_path)
    for name in ("Ada", "Bea", "Cid", "Dan", "Eve", "Fay", "Gil", "Hal"):
        assert known.add_person(f" {name} ") is None
    assert known.add_person("Ida") == Message("enrol.too_many_people", (("most", 8),))
    assert known.drop_person("Hal") is None
    assert known.add_person("ada") == Message("companion.same_name")
    assert known.add_person("\x00 ") == Message("enrol.no_name")
    assert made(tmp_path).people == ("Ada", "Bea", "Cid", "Dan", "Eve", "Fay", "Gil")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no_picture"),
        (b"<svg/>", "no_picture"),
        (b"GIF89a" + bytes(90), "no_picture"),
        (b"\xff\xd8\xff", "no_picture"),
        (png(6000, 4000), "too_large"),
        (png(60000, 60000), "too_large"),
        (png(100, 900), "too_small"),
        (png(1000, 900), "no_picture"),
    ],
)
def test_what_is_no_picture_or_too_large_is_said_before_it_is_decoded(data: bytes, why: str) -> None:
    found = decoded(data)
    assert isinstance(found, Message) and found.id == f"enrol.{why}"


def test_a_photograph_of_24_megapixels_is_named_by_its_size() -> None:
    large = jpeg(np.zeros((4000, 6000, 3), np.uint8))
    assert decoded(large) == Message("enrol.too_large", (("megapixels", 24), ("most", MOST_MEGAPIXELS)))
    assert isinstance(decoded(jpeg(np.zeros((600, 800, 3), np.uint8))), np.ndarray)


def test_photographs_that_cannot_serve_are_named(tmp_path: Path) -> None:
    known = made(tmp_path)
    view = camera_over(BOARD, 2000, 1500, 12.0, -90.0, 0.0, 880.0)
    two = [Lying(ART[0], "1", (200.0, 300.0), 5.0), Lying(ART[1], "1", (420.0, 300.0), 5.0)]
    for picture, why in (
        (paint(BOARD, view, [], ArenaLook()), "nothing"),
        (paint(BOARD, view, two, ArenaLook()), "not_alone"),
        (np.zeros((1500, 2000, 3), np.uint8), "no_arena"),
    ):
        assert known.take(1, jpeg(picture)) == Message(f"enrol.photo_{why}")
    assert known.taken == ()
    lying = jpeg(photograph(ART[0], 1))
    assert known.take(7, lying) == Message("enrol.unknown")
    assert known.take(1, lying) is None and known.taken == (1,)
    face = cv2.imdecode(np.frombuffer(known.face(1), np.uint8), cv2.IMREAD_COLOR)
    assert face is not None and face.shape == (139, 450, 3)


def test_an_enrolled_figure_is_read_by_the_eyes_and_played_with(tmp_path: Path, shots: list[list[bytes]]) -> None:
    known = made(tmp_path)
    told: list[int] = []
    known.changed = lambda: told.append(1)
    assert known.catalogue is None and known.start(["Ada", "Bea"], True) == {}
    for name in ("Ada", "Bea"):
        known.add_person(name)
    assert enrol(known, shots[0], "Ärger", "Ada") is None
    assert known.taken == () and told == [1]
    (figure,) = known.figures
    assert (figure.figure, figure.name, figure.owner) == ("arger", "Ärger", "Ada")
    assert known.start(["Ada", "Bea"], True) == Message("enrol.no_figure", (("player", "Bea"),))
    assert known.start(["Cid", "Dan"], False) == {}  # by hand guests play with what there is
    assert enrol(known, shots[1], "Wächter", "Bea", SENTINEL) is None
    assert known.start(["Ada", "Bea"], True) == Message("enrol.no_figure", (("player", "Bea"),))  # it only helps
    assert known.drop("wachter") is None
    assert enrol(known, shots[1], "Bibi", "Bea") is None
    assert known.start(["bea", "ada"], True) == {
        "model_of": {"arger": "arger", "bibi": "bibi"},
        "owners": {"arger": 1, "bibi": 0},
    }
    used = GAMES["moogui"].__class__("moogui", "", data=GAMES["moogui"].data, data_file=known.catalogue).data_used()
    assert used is not None
    state = RULES.new(Setup(("Ada", "Bea"), {}, {**used.start, **known.start(["Ada", "Bea"], True)}))
    assert dict(state.owners) == {"arger": 0, "bibi": 1}
    reader = FigureTableReader(TableProfile(BOARD, figures=str(tmp_path)))
    assert set(reader._names) == {"arger", "bibi"}
    assert [f.name for f in made(tmp_path).figures] == ["Ärger", "Bibi"]  # it outlives the program


def test_two_equal_figures_are_refused_with_the_way_on(tmp_path: Path, shots: list[list[bytes]]) -> None:
    known = made(tmp_path)
    assert enrol(known, shots[0], "One") is None
    brighter = [jpeg(cv2.convertScaleAbs(cv2.imdecode(np.frombuffer(s, np.uint8), 1), alpha=0.9)) for s in shots[0]]
    why = enrol(known, brighter, "Two")
    assert why == Message("enrol.twin", (("figure", "Two"), ("other", "One")))
    assert [f.name for f in known.figures] == ["One"]
    assert known.taken == (1, 2, 3, 4, 5, 6)  # the photographs are still there


def test_faces_that_look_alike_are_named_on_both_figures(tmp_path: Path, shots: list[list[bytes]]) -> None:
    known = made(tmp_path)
    assert enrol(known, shots[0], "One") is None
    assert known.figures[0].doubts == ()
    assert enrol(known, shots[1][:2] * 3, "Two") is None  # every other face of it is the same
    one, two = known.figures
    assert one.doubts == ()
    assert {(dict(m.values)["side"], dict(m.values)["other_side"]) for m in two.doubts} == {
        (a, b) for a, b in ("13", "15", "35", "24", "26", "46")
    }
    assert made(tmp_path).figures == known.figures


def test_what_is_missing_or_wrong_about_a_new_figure_is_said(tmp_path: Path, shots: list[list[bytes]]) -> None:
    known = made(tmp_path)
    assert known.take(1, shots[0][0]) is None
    assert known.save("One", "", VALUES) == Message("enrol.faces_missing", (("faces", "2, 3, 4, 5, 6"),))
    assert enrol(known, shots[0], "") == Message("enrol.no_name")
    assert enrol(known, shots[0], "One", "Nobody") == Message("enrol.unknown")
    for change, rule in (
        ({"shield": ("0",)}, "catalogue_shield"),
        ({"powers": ("10", "x", "30", "40", "50", "0")}, "catalogue_power"),
        ({"attack": ("6",)}, "catalogue_both"),
        ({"kind": ("dragon",)}, "catalogue_kind"),
    ):
        why = known.save("One", "", {**VALUES, **change})
        assert why is not None and why.id == f"moogui.{rule}"
    assert known.save("One", "", VALUES) is None
    assert enrol(known, shots[1], "one") == Message("enrol.same_figure_name", (("figure", "one"),))
    assert known.drop("two") == Message("enrol.unknown")


def test_without_a_camera_that_is_said_and_with_one_its_picture_serves(
    tmp_path: Path, shots: list[list[bytes]]
) -> None:
    known = made(tmp_path)
    assert known.take_by_camera(1) == Message("enrol.no_camera")

    def photograph_now(file: Path) -> bool:
        file.write_bytes(shots[0][0])
        return True

    known.photograph = photograph_now
    assert known.take_by_camera(1) is None
    assert known.taken == (1,)


def test_a_new_game_asks_for_the_figures_of_its_players(tmp_path: Path) -> None:
    asked: list[tuple[str, list[str], bool]] = []

    def pieces(game: str, players: object, seen: bool) -> Message:
        asked.append((game, list(players), seen))  # type: ignore[call-overload]
        return Message("enrol.no_figure", (("player", "Bea"),))

    service = Service(lambda n: GAMES[n].load_rules(), Journal(tmp_path / FILE), Bulletin(), pieces=pieces)
    args = {"game": "moogui", "players": ["Ada", "Bea"], "options": {}, "start": "shuffle"}
    reply = service.submit("new_game", args, Author("seat", "table"))
    assert not reply.ok and reply.words == Message("enrol.no_figure", (("player", "Bea"),))
    assert asked == [("moogui", ["Ada", "Bea"], False)]
    assert service.match.phase == "setup"


def test_a_game_is_begun_with_the_figures_of_those_who_play(tmp_path: Path, shots: list[list[bytes]]) -> None:
    known = made(tmp_path / "enrolled")
    for name, faces in (("Ada", shots[0]), ("Bea", shots[1])):
        known.add_person(name)
        assert enrol(known, faces, f"Figure of {name}", name) is None
    service = service_of(Journal(tmp_path / FILE), Bulletin(), GAMES, None, known)
    args = {"game": "moogui", "players": ["Bea", "Cid"], "options": {}, "start": "shuffle"}
    refused = service.submit("new_game", args, Author("seat", "table"))
    assert refused.words == Message("enrol.no_figure", (("player", "Cid"),))
    assert service.submit("new_game", {**args, "players": ["Bea", "Ada"]}, Author("seat", "table")).ok
    assert dict(service.match.agreed.owners) == {"figure_of_bea": 0, "figure_of_ada": 1}
    assert service.match.data["name"] == "catalogue"
    assert service.submit("declare", {"text": "start p1=figure_of_bea p2=figure_of_ada"}, Author("seat", "table")).ok
