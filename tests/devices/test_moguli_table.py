"""The simulated Moguli table: its truth, its hands, its camera, its disturbances."""

from __future__ import annotations

import re
from collections.abc import Mapping

import cv2
import numpy as np
import pytest
from gpiozero import Device
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.profile import load_board
from devices.gpio import MockWires, load_pins, mock_factory, open_buttons
from devices.simulated.acts import Hover, MovePawn, Nudge, RelayTiles, TurnTile, acts_for
from devices.simulated.bench import START
from devices.simulated.contract import SimulatedTable
from devices.simulated.disturbances import (
    Bump,
    ColourCast,
    Covered,
    Event,
    ExposureWalk,
    Glare,
    LampSwitch,
    LightDrift,
    PlayerShadow,
    RestingHand,
)
from devices.simulated.lights import LIGHTS
from devices.simulated.optics import CameraModel
from devices.simulated.table import MoguliTable
from devices.simulated.world import PATHS, SLOPPY

BOARD = load_board("moguli")
CELLS = tuple(BOARD.places_mm)
SMALL = CameraModel(width=640, height=360)
SIDES = {"N": (0, 1), "E": (1, 0), "S": (0, -1), "W": (-1, 0)}
LOOK = {
    **{f"path:{c}": p for c, p in zip(CELLS, list(PATHS) * 6, strict=False)},
    **{f"triangle:{c}": ("yes", "no")[i % 2] for i, c in enumerate(CELLS)},
    **{f"pawn:{c}": "1" if c[1] == "1" else "2" if c[1] == "7" else "-" for c in CELLS},
}


def make(look: Mapping[str, str] = LOOK, seed: int = 1, **more: object) -> MoguliTable:
    return MoguliTable(look, BOARD, seed, **{"camera": SMALL, "light": "diffuse", **more})


def finish(table: SimulatedTable) -> None:
    for _ in range(4000):
        if not table.stage.busy:
            return
        table.stage.advance(0.1)
    raise AssertionError("the hand never ended")


def test_the_start_is_the_truth() -> None:
    table: SimulatedTable = make()
    assert table.look() == LOOK and not table.stage.busy


values = {"path": [*PATHS], "triangle": ["yes", "no"], "pawn": ["1", "2", "-"]}
facts = st.sampled_from(sorted(LOOK)).flatmap(lambda k: st.tuples(st.just(k), st.sampled_from(values[k.split(":")[0]])))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(facts, max_size=8).map(dict), max_size=4))
def test_any_changes_come_about(batches: list[dict[str, str]]) -> None:
    table, wanted = make(), dict(LOOK)
    for changes in batches:
        table.perform(changes)
        wanted.update(changes)
    finish(table)
    assert table.look() == wanted


@pytest.mark.parametrize(
    ("old", "new", "quarters"), [("NE", "ES", 1), ("NE", "SW", 2), ("NE", "NW", 3), ("NS", "EW", 1), ("NS", "NS", 2)]
)
def test_a_turned_path_is_one_turn_of_its_tile(old: str, new: str, quarters: int) -> None:
    look = {**LOOK, "path:c4": old}
    assert acts_for({"path:c4": new}, look) == [TurnTile("c4", quarters)]


def test_a_pawn_that_is_elsewhere_was_carried() -> None:
    assert acts_for({"pawn:b1": "-", "pawn:c3": "1"}, LOOK) == [MovePawn("1", "b1", "c3")]
    assert acts_for({"pawn:c3": "1", "pawn:b1": "-"}, LOOK) == [MovePawn("1", "b1", "c3")]
    assert acts_for({"pawn:b1": "-"}, LOOK) == [MovePawn("1", "b1", None)]
    assert acts_for({"pawn:c3": "2"}, LOOK) == [MovePawn("2", None, "c3")]


def test_unfinished_acts_lie_as_they_were_left() -> None:
    table = make()
    table.act([Nudge("c4", 30.0, (3.0, 0.0)), MovePawn("1", "b1", "b3", off_mm=(29.5, 0.0))])
    finish(table)
    tile, pawn = table._world.tiles["c4"], table._world.pawns["b3"]
    assert 25 < tile.askew_deg < 35 and abs(pawn.x_mm - 29.5) < 3
    assert table.look() == {**LOOK, "pawn:b1": "-", "pawn:b3": "1"}
    bare, x, y = make(look={**LOOK, "pawn:b1": "-"}), *BOARD.places_mm["b3"]
    u, v = np.round(table.stage.view.project([(x + 29.5, y, 6.0)])[0]).astype(int)
    patches = (t.stage.frame(0).bgr.astype(int)[v - 3 : v + 4, u - 3 : u + 4] for t in (table, bare))
    assert np.abs(np.subtract(*patches)).mean() > 20


def test_exchanged_rows_are_laid_anew_not_turned() -> None:
    changes = {
        f"{kind}:{c}{row}": LOOK[f"{kind}:{c}{other}"]
        for c in "abcde"
        for row, other in ((1, 4), (4, 1))
        for kind in ("path", "triangle")
    }
    acts = acts_for(changes, LOOK)
    assert len(acts) == 1 and isinstance(acts[0], RelayTiles)
    table = make()
    before = sorted(t.seed for t in table._world.tiles.values())
    table.perform(changes)
    finish(table)
    assert table.look() == {**LOOK, **changes}
    assert sorted(t.seed for t in table._world.tiles.values()) == before


@pytest.mark.parametrize("changes", [{"path:z9": "NE"}, {"path:a1": "NN"}, {"height:a1": "3"}, {"pawn:a1": "3"}])
def test_what_no_table_can_show_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"no fact|cannot be"):
        make().perform(changes)


def test_a_hand_takes_its_time_and_the_tile_is_missing_meanwhile() -> None:
    table = make()
    table.perform({"path:c4": "SW" if LOOK["path:c4"] != "SW" else "NE"})
    seen = set()
    while table.stage.busy:
        table.stage.advance(0.05)
        seen.add(table.look()["path:c4"])
    assert "-" in seen and 0.8 < table.stage.now_s() < 6.0


@pytest.mark.parametrize("manner", ["neat", "sloppy"])
def test_things_lie_off_their_places_within_the_manner(manner: str) -> None:
    table = make(seed=5, **({"manner": SLOPPY} if manner == "sloppy" else {}))
    tiles, pawns = table._world.tiles.values(), table._world.pawns.values()
    off = [max(abs(t.x_mm), abs(t.y_mm)) for t in tiles]
    turned = [abs(t.askew_deg) for t in tiles]
    if manner == "neat":
        assert 0.2 < max(off) <= 2.0 and 0.5 < max(turned) <= 4.0
    else:
        assert max(turned) > 4.0 and max(abs(p.x_mm) for p in pawns) > 2.0


def test_the_same_seed_and_times_give_the_same_frames() -> None:
    def frames(reads: list[float]) -> dict[float, bytes]:
        table = make(seed=9, light="lamp", scenario=[(0.3, LampSwitch("dim")), (0.8, Bump(shake_s=0.5))])
        table.perform({"pawn:b1": "-", "pawn:b3": "1"})
        camera, got = table.stage.camera(), {}
        for at in reads:
            table.stage.advance(at - table.stage.now_s())
            frame = camera.read(0.0)
            assert frame is not None
            got[at] = frame.bgr.tobytes()
        return got

    often, seldom = frames([0.2, 0.5, 0.9, 1.1, 1.5]), frames([0.2, 0.9, 1.5])
    assert often[0.2] == seldom[0.2] and often[1.5] == frames([0.2, 0.5, 0.9, 1.1, 1.5])[1.5]
    for at in (0.9, 1.5):  # what was painted piece by piece may round differently by a level or two, and no more
        a, b = (np.frombuffer(x[at], np.uint8).astype(int) for x in (often, seldom))
        assert np.abs(a - b).mean() < 0.2


@pytest.mark.parametrize("azimuth", [0, 90, 180, 270])
@pytest.mark.parametrize("light", ["window", "dim"])
def test_the_markers_are_where_the_view_says(azimuth: int, light: str) -> None:
    table = make(light=light, camera=CameraModel(azimuth_deg=azimuth, tilt_deg=20))
    frame = table.stage.camera().read(0.0)
    assert frame is not None and BOARD.markers is not None
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, BOARD.markers.dictionary))
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.minMarkerDistanceRate = 0.05  # newer detectors drop markers at the default
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(frame.bgr)
    found = {int(i): np.asarray(c).reshape(4, 2) for i, c in zip(np.asarray(ids).ravel(), corners, strict=True)}
    assert set(found) == set(BOARD.markers.corners_mm)
    for number, px in found.items():
        assert np.abs(px - table.stage.view.project(BOARD.markers.corners_mm[number])).max() < 1.5
    profile = table.profile()
    assert profile.lens is not None and profile.lens.width == 1280
    assert np.allclose(profile.corners_px, table.stage.view.project([(x, y, 0) for x, y in BOARD.corners_mm]))


def test_the_picture_shows_each_path_on_its_sides() -> None:
    look = {k: v for k, v in LOOK.items() if not k.startswith("pawn")}
    table = make(look, style="brick", camera=CameraModel(tilt_deg=5, noise=0.0))
    frame = table.stage.frame(0)
    for cell in CELLS:
        tile = table._world.tiles[cell]
        x, y = BOARD.places_mm[cell]
        points = [(x + tile.x_mm + dx * 20, y + tile.y_mm + dy * 20, 2.0) for dx, dy in SIDES.values()]
        px = np.round(table.stage.view.project(points)).astype(int)
        brightness = dict(zip(SIDES, (int(frame.bgr[v, u].min()) for u, v in px), strict=True))
        shown = "".join(sorted(sorted(brightness, key=brightness.__getitem__)[2:]))
        assert shown == "".join(sorted(look[f"path:{cell}"])), cell


def test_what_changed_is_painted_as_if_all_were() -> None:
    table = make(light="window")
    table.stage.camera().read(0.0)
    table.perform({"path:c4": "NE", "pawn:b1": "-", "pawn:b3": "1"})
    while table.stage.busy:
        table.stage.advance(0.2)
        table.stage.frame(0)
    piecewise = table._scene.resting(table._world).astype(int)
    table._scene.light_by(table._scene.light)
    assert np.abs(piecewise - table._scene.resting(table._world)).max() <= 3


def test_a_hand_over_the_table_is_in_the_picture_and_leaves_no_trace() -> None:
    table = make(camera=CameraModel(width=640, height=360, noise=0.0, jpeg_quality=0))
    before = table.stage.frame(0).bgr.astype(int)
    table.act([Hover("c4", 1.0)])
    table.stage.advance(1.0)
    during = table.stage.frame(1).bgr.astype(int)
    u, v = np.round(table.stage.view.project([(147, 206, 30)])[0]).astype(int)
    assert np.abs(during - before)[v - 15 : v + 15, u - 15 : u + 15].mean() > 10
    finish(table)
    assert np.array_equal(table.stage.frame(2).bgr, before)


EVENTS: list[tuple[Event, float]] = [
    (LampSwitch("candle"), 3.0),
    (LightDrift(2.0, 0.4, (0.8, 1.0, 1.2)), 1.0),
    (ExposureWalk(2.0, 0.4), 2.0),
    (ColourCast(2.0), 2.0),
    (Bump(), 2.0),
    (RestingHand("c4", 2.0), 1.0),
    (PlayerShadow(2.0, (147, 200)), 1.0),
    (Glare(2.0, (147, 200)), 1.0),
    (Covered(2.0), 10.0),
]


TIMES_S = (0.9, 1.6, 9.0)


def looks_over_time(scenario: list[tuple[float, Event]]) -> dict[float, np.ndarray]:
    still = CameraModel(width=480, height=270, noise=0.0)
    table, seen = make(scenario=scenario, camera=still, light=LIGHTS["window"]), {}
    for at in TIMES_S:
        table.stage.advance(at - table.stage.now_s())
        seen[at] = table.stage.frame(0).bgr.astype(int)
    assert table.look() == LOOK
    return seen


@pytest.fixture(scope="module")
def calm() -> dict[float, np.ndarray]:
    return looks_over_time([])


@pytest.mark.parametrize(("event", "least"), EVENTS, ids=lambda e: re.sub(r"\(.*", "", str(e)))
def test_each_disturbance_shows_and_leaves_the_truth(event: Event, least: float, calm: dict[float, np.ndarray]) -> None:
    seen = looks_over_time([(1.0, event)])
    change = {}
    for at in TIMES_S:
        difference = np.abs(seen[at] - calm[at]).ravel()
        change[at] = float(np.sort(difference)[-difference.size // 20 :].mean())
    assert change[0.9] == 0 and change[1.6] > 3 * least
    stays = isinstance(event, LampSwitch | LightDrift | Bump)
    assert (change[9.0] > least) == stays


def test_a_resting_hand_keeps_the_table_busy() -> None:
    table = make(scenario=[(1.0, RestingHand("b2", 3.0))])
    table.stage.advance(0.9)
    assert not table.stage.busy
    table.stage.advance(1.0)
    assert table.stage.busy
    table.stage.advance(3.0)
    assert not table.stage.busy


def test_a_locked_camera_keeps_its_gain() -> None:
    means = {}
    for auto in (True, False):
        table = make(
            camera=CameraModel(width=640, height=360, auto_exposure=auto, noise=0.0),
            scenario=[(1.0, LightDrift(2.0, 0.25))],
        )
        first = table.stage.frame(0).bgr.mean()
        table.stage.advance(4.0)
        means[auto] = table.stage.frame(1).bgr.mean() / first
    assert means[True] > 0.9 > 0.7 > means[False]


def test_presses_go_through_the_real_driver() -> None:
    pins, wires = mock_factory(), load_pins()["buttons"]
    try:
        table = make(press_wire=MockWires(pins, wires, bounces=3))
        buttons = open_buttons("gpio-mock://", table.stage, pins)
        table.perform({"pawn:b1": "-", "pawn:b3": "1"})
        table.stage.press("done1")
        heard: list[tuple[str, bool]] = []
        while table.stage.busy:
            press = buttons.read(0.05)
            if press is not None:
                heard.append((press.button, table.look()["pawn:b3"] == "1"))
        assert heard == [("done1", True)]
        buttons.close()
    finally:
        pins.reset()
        Device.pin_factory = None


def test_start_of_the_speed_measure_is_a_whole_table() -> None:
    assert make(START).look() == {**dict.fromkeys((f"triangle:{c}" for c in CELLS), "no"), **empty_pawns(), **START}


def empty_pawns() -> dict[str, str]:
    return dict.fromkeys((f"pawn:{c}" for c in CELLS), "-")
