"""Every fault of a simulated camera: said within two seconds, gone within three after its end, never judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibration.profile import load_board
from companion.games.contract import Message
from companion.words import LANGUAGES, catalogue, say
from devices.contract import Condition, Frame
from devices.faults import FAULTS, Running, ScenarioError, load_scenario
from devices.picture_health import PictureHealth
from devices.simulated.acts import Hover, TurnTile
from devices.simulated.bench import START
from devices.simulated.disturbances import Event, Glare, PlayerShadow, RestingHand
from devices.simulated.faults import open_faulty
from devices.simulated.optics import CameraModel
from devices.simulated.table import MoguliTable
from devices.supervised import Kept
from tests.vision import drawn

SAID_S, CLEARED_S, TICK_S = 2.0, 3.0, 0.1
URL = "sim://table"
CAMERA = [kind for kind in FAULTS.values() if kind.place == "camera"]
STILL_JUDGED = {"camera.slow", "camera.colour", "camera.exposure", "camera.flicker", "camera.bump", "camera.swapped"}
"""Seen through well enough by a reader that finds its markers anew in every picture; said all the same."""


class Watched:
    """A simulated table under a camera with faults, watched a picture every tenth of a second."""

    def __init__(
        self,
        seed: int = 1,
        light: str = "diffuse",
        scenario: tuple[tuple[float, Event], ...] = (),
        anywhere: bool = True,
    ) -> None:
        model = CameraModel(width=480, height=270)
        self.table = MoguliTable(START, load_board("moguli"), seed, camera=model, light=light, scenario=scenario)
        self.faults = Running(self.table.stage)
        self.camera = Kept(
            lambda: open_faulty(self.table.stage.camera, self.faults), URL, self.table.stage, anywhere=anywhere
        )
        self.said: list[tuple[float, Condition]] = []
        self.judged: list[Frame] = []

    def watch(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.table.stage.advance(TICK_S)
            frame = self.camera.read(0.0)
            if frame is not None and self.camera.fit:
                self.judged.append(frame)
            if not self.said or self.said[-1][1] != self.camera.condition:
                self.said.append((self.table.stage.now_s(), self.camera.condition))

    def first_s(self, since_s: float, says: tuple[str, ...]) -> float | None:
        """When one of these messages came, in seconds since a time."""
        return next((t - since_s for t, c in self.said if t >= since_s and c.message in says), None)


@pytest.mark.parametrize("seconds", [3.5, 8.0])
@pytest.mark.parametrize("kind", CAMERA, ids=lambda k: k.name)
def test_a_fault_is_said_in_two_seconds_and_gone_three_after_its_end(kind, seconds: float) -> None:  # type: ignore[no-untyped-def]
    watched = Watched()
    watched.watch(4.0)
    assert watched.camera.condition.ok
    began_s = watched.table.stage.now_s()
    watched.faults.begin(kind.name, seconds)
    watched.watch(seconds)
    said_s = watched.first_s(began_s, kind.says)
    assert said_s is not None and said_s <= SAID_S, [(round(t - began_s, 1), c.message) for t, c in watched.said]
    strange = {c.message for t, c in watched.said if t > began_s and not c.ok} - set(kind.says)
    # A camera that is swapped or unplugged is gone for a moment first.
    assert strange <= {"devices.camera_gone", "devices.camera_stalled"}, strange
    watched.watch(CLEARED_S)
    assert watched.camera.condition.ok, watched.camera.condition
    before = len(watched.judged)
    watched.watch(1.0)
    assert len(watched.judged) >= before + 8


def test_every_knock_is_said_however_many_came_before() -> None:
    watched = Watched()
    watched.watch(4.0)
    for _ in range(4):
        began_s = watched.table.stage.now_s()
        watched.faults.begin("camera.bump", 3.5)
        watched.watch(3.5)
        said_s = watched.first_s(began_s, FAULTS["camera.bump"].says)
        assert said_s is not None and said_s <= SAID_S
        watched.watch(CLEARED_S)
        assert watched.camera.condition.ok


@pytest.mark.parametrize("kind", [k for k in CAMERA if k.name not in STILL_JUDGED], ids=lambda k: k.name)
def test_what_a_faulty_camera_shows_is_not_judged(kind) -> None:  # type: ignore[no-untyped-def]
    """From the moment when it is said; a fault of which nothing can be known yet may pass for a moment."""
    watched = Watched()
    watched.watch(4.0)
    began_s = watched.table.stage.now_s()
    watched.faults.begin(kind.name, 6.0)
    watched.watch(2.0)
    before = len(watched.judged)
    watched.watch(4.0 - TICK_S)
    late = [f.time_s - began_s for f in watched.judged[before:]]
    # A damaged stream holds whole pictures too; the others show the fault for as long as it lasts.
    assert len(late) <= (40 if kind.name == "camera.garbled" else 0), late


@pytest.mark.parametrize(("strength", "usual_s"), [(0.1, 14.0), (0.3, 32.0)], ids=["warmer lamp", "garish lamp"])
def test_a_lamp_of_another_colour_is_said_and_after_a_while_the_usual_light(strength: float, usual_s: float) -> None:
    watched = Watched()
    watched.watch(4.0)
    watched.faults.begin("camera.colour", 60.0, strength)
    watched.watch(8.0)
    assert watched.camera.condition.message == "devices.camera_colour"
    watched.watch(usual_s - 8.0)
    assert watched.camera.condition.ok and watched.camera.fit


def test_a_camera_that_began_mirrored_is_believed_after_a_while() -> None:
    watched = Watched()
    watched.faults.begin("camera.mirrored", 2.0)
    watched.watch(6.0)
    assert watched.camera.condition.message == "devices.camera_mirrored"
    watched.watch(30.0)
    assert watched.camera.condition.ok and watched.camera.fit


def test_another_camera_is_not_judged_by_where_the_corners_were_tapped() -> None:
    watched = Watched(anywhere=False)
    watched.watch(4.0)
    watched.faults.begin("camera.swapped", 6.0)
    watched.watch(2.0)
    before = len(watched.judged)
    watched.watch(4.0 - TICK_S)
    assert len(watched.judged) == before
    watched.watch(4.0)
    assert len(watched.judged) > before


@pytest.mark.parametrize("light", ["diffuse", "window", "lamp"])
@pytest.mark.parametrize("seed", [2, 3])
def test_play_shadows_and_hands_are_no_fault_of_the_camera(seed: int, light: str) -> None:
    xy = (120.0, 160.0)
    scenario = ((8.0, PlayerShadow(5.0, xy)), (16.0, RestingHand("c4", 4.0)), (24.0, Glare(3.0, xy)))
    watched = Watched(seed, light, scenario)
    watched.watch(2.0)
    watched.table.act([TurnTile("c4", 1), Hover("b3", 1.0), TurnTile("d5", 1), TurnTile("a1", 1), TurnTile("e7", 3)])
    watched.watch(36.0)
    assert [c.message for _, c in watched.said if not c.ok] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_fault_has_a_name_and_a_sentence_in_every_language(lang: str) -> None:
    words = catalogue(lang)
    for kind in FAULTS.values():
        assert f"faults.{kind.name}" in words
        for message in kind.says:
            assert message in words
            assert "{" not in say(
                Message(
                    message,
                    tuple((k, 1) for k in ("url", "error", "seconds", "rate", "size", "wanted", "megabytes")),
                ),
                lang,
            )


def test_a_scenario_is_read_in_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "evening.toml"
    file.write_text(
        '[[fault]]\nkind = "camera.black"\nat_s = 9\nseconds = 2\n'
        '[[fault]]\nkind = "clock.jump"\nat_s = 1\nseconds = 3\nstrength = 60\n'
    )
    first, second = load_scenario(file)
    assert (first.kind, first.strength, second.end_s) == ("clock.jump", 60, 11.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[fault]]\nkind = 'camera.rabbit'\nat_s = 1\nseconds = 1", "fault 1: there is no fault 'camera.rabbit'"),
        ("[[fault]]\nkind = 'camera.black'\nat_s = 1", "needs kind, at_s and seconds"),
        ("[[fault]]\nkind = 'camera.black'\nat_s = -1\nseconds = 1", "at_s must be a number"),
        ("[[fault]]\nkind = 'camera.black'\nat_s = true\nseconds = 1", "at_s must be a number"),
        ("[[fault]]\nkind = 'camera.black'\nat_s = 1\nseconds = 1\nspeed = 3", "speed is no known key"),
        ("fault = 3", r"holds \[\[fault\]\] tables only"),
        ("[[fault", "cannot be read"),
    ],
)
def test_a_bad_scenario_is_quoted_and_explained(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=says) as caught:
        load_scenario(file)
    assert "bad.toml" in str(caught.value)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (1000, 562), (643, 361)])
def test_a_table_that_is_nearly_symmetrical_is_known_when_it_is_mirrored(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    picture = drawn.picture(drawn.look(1), drawn.camera(0, 18, *size))
    health, said = PictureHealth(), []
    for number in range(40):
        shown = picture if number < 20 else picture[:, ::-1]
        noisy = np.clip(shown + rng.normal(0, 2, shown.shape), 0, 255).astype(np.uint8)
        finding = health.feed(drawn.frame(noisy, number, number * TICK_S))
        said.append("" if finding is None else finding.name)
    assert set(said[:20]) == {""}
    assert said[26:] == ["mirrored"] * 14


def test_a_mirrored_picture_is_known_although_it_lies_where_the_board_lay_before() -> None:
    rng = np.random.default_rng(2)
    board = drawn.picture(drawn.look(1), drawn.camera(0, 18))
    looks = [np.roll(board, side, axis=1) for side in (48, -48)]
    health, said = PictureHealth(), []
    for number in range(90):
        shown = looks[number // 30 > 0]
        shown = shown if number < 60 else shown[:, ::-1]
        noisy = np.clip(shown + rng.normal(0, 2, shown.shape), 0, 255).astype(np.uint8)
        finding = health.feed(drawn.frame(noisy, number, number * TICK_S))
        said.append("" if finding is None else finding.name)
    assert "mirrored" not in said[:60], "a knock, after which it lies as a mirrored one would"
    assert said[68:] == ["mirrored"] * 22
