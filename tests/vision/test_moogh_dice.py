"""One face of a die of known size: every value, turn, size and make is read or asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibration.geometry import Camera
from devices.contract import Image
from devices.simulated import solids
from devices.simulated.materials import PipInk, die_paint, plain, solid_colour
from devices.simulated.solids import Light, Scene, Solid, develop, look_at, render
from devices.simulated.tray import FACES, upright
from vision.moogh_dice import read_face
from vision.reading import SURE_LEAD

SIZE_PX, DISTANCE_MM = 200, 500.0


def picture_of(
    rng: np.random.Generator, value: int | None, edge: float, turn: float, tilt: float, light: bool
) -> tuple[Image, Camera]:
    """A die (or a box without pips) at the middle of the table, 3 mm off its middle at most."""
    body, ink = (np.array([0.05, 0.05, 0.5]), 0.8) if light else (np.array([0.7, 0.72, 0.75]), 0.03)
    half = edge / 2
    paint = plain(body.astype(np.float32))
    spin = upright(4, turn)
    if value is not None:
        pips = PipInk(np.full(3, ink, np.float32), edge * 0.1, edge * 0.25)
        paint = die_paint(solid_colour(body.astype(np.float32)), pips, FACES, (0,) * 6, 0.1)
        spin = upright(FACES.index(value), turn)
    off = rng.uniform(-0.15, 0.15, 2) * edge
    die = Solid((half, half, half), spin, np.array([*off, half], np.float32), paint, ball_mm=half * 1.62)
    rotation, move = look_at((0.0, 0.0), DISTANCE_MM, tilt, float(rng.uniform(0, 360)), 0.0)
    focal = SIZE_PX / (edge * 4.4) * DISTANCE_MM
    middle = (SIZE_PX - 1) / 2
    eye = solids.Camera(SIZE_PX, SIZE_PX, focal, (middle, middle), rotation, move)
    lamp = Light(np.array([0.3, 0.4, 0.87], np.float32), np.full(3, 0.7, np.float32))
    grey = np.array([0.25, 0.27, 0.26], np.float32)
    linear = render(Scene([die], [lamp], lambda xy: np.tile(grey, (len(xy), 1))), eye)
    matrix = np.array([[focal, 0, middle], [0, focal, middle], [0, 0, 1.0]])
    camera = Camera(matrix, np.zeros(5), rotation.astype(np.float64), move.astype(np.float64), SIZE_PX, SIZE_PX)
    return develop(linear, rng, noise=2.0), camera


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32 - 1),
    value=st.integers(1, 6),
    edge=st.sampled_from([8.0, 11.0, 36.0]),
    turn=st.floats(0, 360),
    tilt=st.floats(0, 22),
    light=st.booleans(),
)
def test_the_upper_face_is_read(seed: int, value: int, edge: float, turn: float, tilt: float, light: bool) -> None:
    rng = np.random.default_rng(seed)
    image, camera = picture_of(rng, value, edge, turn, tilt, light)
    face = read_face(image, camera, (0.0, 0.0), edge, edge, edge * 0.4)
    assert face is not None
    assert face.shown
    ranked = sorted(face.scores)
    if ranked[-1] - ranked[-2] >= SURE_LEAD:
        assert 1 + face.scores.index(ranked[-1]) == value
        assert np.hypot(*face.xy_mm) < 0.4 * edge


@pytest.mark.parametrize("value", range(1, 7))
def test_nearly_every_face_is_read_for_sure(value: int) -> None:
    read = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, value])
        turn, tilt = float(rng.uniform(0, 360)), float(rng.uniform(0, 20))
        image, camera = picture_of(rng, value, 11.0, turn, tilt, bool(rng.integers(2)))
        face = read_face(image, camera, (0.0, 0.0), 11.0, 11.0, 4.4)
        assert face is not None
        ranked = sorted(face.scores)
        read += ranked[-1] - ranked[-2] >= SURE_LEAD and 1 + face.scores.index(ranked[-1]) == value
    assert read >= 5


@pytest.mark.parametrize("edge", [8.0, 36.0])
def test_a_box_without_pips_shows_no_value(edge: float) -> None:
    image, camera = picture_of(np.random.default_rng(0), None, edge, 20.0, 10.0, True)
    face = read_face(image, camera, (0.0, 0.0), edge, edge, edge * 0.4)
    if face is not None:
        ranked = sorted(face.scores)
        assert ranked[-1] - ranked[-2] < SURE_LEAD


def test_a_place_outside_the_picture_gives_nothing() -> None:
    image, camera = picture_of(np.random.default_rng(0), 4, 16.0, 20.0, 10.0, True)
    assert read_face(image, camera, (400.0, 0.0), 16.0, 16.0, 6.0) is None
