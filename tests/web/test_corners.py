"""Corners tapped in the camera's picture: taken in their order, refused in words, kept for the next start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from calibration.profile import TableProfile, load_board
from companion.bulletin import Bulletin
from companion.commands import Corners
from companion.evidence import Author, Seen
from companion.eyes import Eyes, refused_corners
from companion.journal import FILE, Journal
from companion.registry import game
from companion.run import keep_corners, kept_corners
from companion.service import Service
from companion.words import LANGUAGES, say
from devices.simulated.bench import START
from devices.simulated.table import MoguliTable
from tests.companion.table import games
from tests.companion.test_knocks import Listener
from tests.web.conftest import Opener
from web.server import Server

BOARD = load_board("moguli")
GOOD: Corners = ((0.2, 0.9), (0.8, 0.9), (0.7, 0.1), (0.3, 0.1))


def seen(eyes: Eyes, table: MoguliTable) -> Seen:
    for _ in range(60):
        table.stage.advance(0.1)
        frame = table.stage.camera().read(0.0)
        found = eyes.look(frame) if frame is not None else None
        if found is not None:
            return found
    raise AssertionError("nothing was read")


def test_a_board_is_read_by_its_tapped_corners_and_by_its_markers_again() -> None:
    table = MoguliTable(START, BOARD, 5)
    eyes = Eyes(TableProfile(BOARD), game("moguli").load_reader(), Listener())
    by_markers = seen(eyes, table).reading
    width, height = 1280, 720
    assert eyes.tap(tuple((x / width, y / height) for x, y in by_markers.board_px)) is None
    by_corners = seen(eyes, table).reading
    assert by_corners.frame_number > by_markers.frame_number
    assert {k: f.best for k, f in by_corners.facts.items() if k.startswith("path:")} == {
        k: v for k, v in START.items() if k.startswith("path:")
    }
    assert not eyes.finds_board_anywhere and eyes.corners == ()
    assert eyes.tap(()) is None
    assert seen(eyes, table).reading.frame_number > by_corners.frame_number
    assert eyes.finds_board_anywhere


@pytest.mark.parametrize(
    ("points", "why"),
    [
        (GOOD[:3], "corners_four"),
        ((*GOOD[:3], (1.2, 0.5)), "corners_four"),
        ((GOOD[0], GOOD[0], GOOD[2], GOOD[3]), "corners_crossed"),
        ((GOOD[0], GOOD[2], GOOD[1], GOOD[3]), "corners_crossed"),
        (GOOD[::-1], "corners_backwards"),
    ],
)
def test_corners_that_no_camera_can_see_so_are_refused_in_words(points: Corners, why: str) -> None:
    refusal = refused_corners(BOARD, points)
    assert refusal is not None and refusal.id == f"companion.{why}"
    assert all(say(refusal, lang) for lang in LANGUAGES)
    assert refused_corners(BOARD, GOOD) is None


def test_a_board_without_markers_needs_its_corners() -> None:
    refusal = refused_corners(replace(BOARD, markers=None), ())
    assert refusal is not None and refusal.id == "companion.corners_needed"


def test_corners_are_kept_for_the_same_camera(tmp_path: Path) -> None:
    keep_corners(tmp_path, "v4l2:///dev/video0", GOOD)
    assert kept_corners(tmp_path, "v4l2:///dev/video0") == GOOD
    assert kept_corners(tmp_path, "file://other") == ()
    (tmp_path / "corners.json").write_text("{broken")
    assert kept_corners(tmp_path, "v4l2:///dev/video0") == ()


def test_without_a_camera_no_corners_can_be_tapped(tmp_path: Path) -> None:
    service = Service(games, Journal(tmp_path / FILE), Bulletin())
    reply = service.submit("tap_corners", {"points": []}, Author("seat", "table"))
    assert not reply.ok and reply.words is not None


@pytest.mark.browser
def test_the_corners_are_tapped_on_the_page(tmp_path: Path, opened: Opener) -> None:
    table = MoguliTable(START, BOARD, 6)
    bulletin = Bulletin()
    service = Service(games, Journal(tmp_path / FILE), bulletin)
    eyes = Eyes(TableProfile(BOARD), game("moguli").load_reader(), Listener(), bulletin=bulletin)
    service.watch(eyes)
    corners = seen(eyes, table).reading.board_px
    with Server(bulletin, service.submit, port=0, data=tmp_path) as server:
        page = opened(server.url, 390, 844)
        page.get_by_role("button", name="Tap the board's corners").click()
        picture = page.locator("#corners img")
        expect(picture).to_be_visible()
        for name, (x, y) in zip(BOARD.corner_names, corners, strict=True):
            expect(page.locator("#corners-ask")).to_contain_text(name)
            box = picture.bounding_box()
            picture.click(position={"x": x / 1280 * box["width"], "y": y / 720 * box["height"]})
        page.get_by_role("button", name="Use these corners").click()
        expect(page.locator("#said")).to_contain_text("corners are taken")
    reading = seen(eyes, table).reading
    assert not eyes.finds_board_anywhere
    assert {k: f.best for k, f in reading.facts.items() if k in START and k.startswith("path:")} == {
        k: v for k, v in START.items() if k.startswith("path:")
    }
