"""Rest and motion in time of the frames."""

from __future__ import annotations

import numpy as np
import pytest

from devices.contract import Frame, Image
from tests.vision import drawn
from vision.settler import Settler, Stillness

VIEW = drawn.camera()
LOOK = drawn.look(0)


def feed(settler: Settler, images: list[Image], start_s: float, step_s: float = 0.05) -> list[Stillness]:
    return [settler.feed(Frame(im, i, start_s + i * step_s, "t")) for i, im in enumerate(images)]


def noisy(image: Image, count: int, sigma: float = 4.0) -> list[Image]:
    rng = np.random.default_rng(1)
    return [np.clip(image + rng.normal(0, sigma, image.shape), 0, 255).astype(np.uint8) for _ in range(count)]


def test_rest_is_announced_once_after_the_settling_time() -> None:
    told = feed(Settler(settle_ms=500), noisy(drawn.picture(LOOK, VIEW), 24), 10.0)
    fresh = [i for i, s in enumerate(told) if s.fresh]
    assert fresh == [10]
    assert [s.state for s in told[:10]] == ["moving"] * 10
    assert {s.state for s in told[10:]} == {"still"}


@pytest.mark.parametrize("sigma", [6.0, 10.0, 14.0])
def test_the_noise_of_a_dim_table_is_no_motion_and_a_pawn_in_it_is_news(sigma: float) -> None:
    start = next(k for k, v in LOOK.items() if k.startswith("pawn:") and v != "-")
    end = next(k for k, v in LOOK.items() if k.startswith("pawn:") and v == "-")
    after = {**LOOK, start: "-", end: LOOK[start]}
    before, now = (np.asarray(drawn.picture(each, VIEW) * 0.5, dtype=np.uint8) for each in (LOOK, after))
    settler = Settler(settle_ms=500)
    told = feed(settler, noisy(before, 40, sigma), 0.0)
    assert [i for i, s in enumerate(told) if s.fresh] == [10]
    told = feed(settler, noisy(now, 40, sigma), 2.0)
    assert [i for i, s in enumerate(told) if s.fresh] == [10]


def test_the_settling_time_is_frame_time_whatever_the_rate() -> None:
    for step_s in (0.02, 0.1, 0.25):
        told = feed(Settler(settle_ms=500), [drawn.picture(LOOK, VIEW)] * 60, 0.0, step_s)
        first = next(i for i, s in enumerate(told) if s.fresh)
        assert 0.5 <= first * step_s < 0.5 + step_s + 1e-9


def test_a_hand_is_told_from_other_motion_and_rest_returns_after_it() -> None:
    settler, still = Settler(), drawn.picture(LOOK, VIEW)
    feed(settler, [still] * 15, 0.0)
    hands = [drawn.hand(still, VIEW, (x, 200.0)) for x in range(-100, 260, 40)]
    told = feed(settler, hands, 1.0)
    assert told[-1].state == "hand"
    assert not any(s.fresh for s in told)
    after = feed(settler, [still] * 15, 1.5)
    assert sum(s.fresh for s in after) == 1
    assert after[-1].state == "still"


def test_a_hand_that_rests_is_at_rest() -> None:
    settler, still = Settler(), drawn.picture(LOOK, VIEW)
    feed(settler, [still] * 15, 0.0)
    told = feed(settler, [drawn.hand(still, VIEW, (150.0, 200.0))] * 15, 1.0)
    assert sum(s.fresh for s in told) == 1


def test_light_is_no_motion() -> None:
    settler, still = Settler(), drawn.picture(LOOK, VIEW)
    feed(settler, [still] * 15, 0.0)
    fading = [np.clip(still * (1.0 - 0.02 * i), 0, 255).astype(np.uint8) for i in range(15)]
    told = feed(settler, fading, 1.0)
    assert {s.state for s in told} == {"still"}


def test_a_pawn_put_down_between_two_frames_is_news() -> None:
    settler = Settler()
    feed(settler, [drawn.picture(LOOK, VIEW)] * 15, 0.0)
    empty = next(k for k, v in LOOK.items() if k.startswith("pawn:") and v == "-")
    told = feed(settler, [drawn.picture({**LOOK, empty: "2"}, VIEW)] * 15, 1.0)
    assert sum(s.fresh for s in told) == 1


def test_bad_pictures_and_changes_of_size_are_motion() -> None:
    settler = Settler()
    feed(settler, [drawn.picture(LOOK, VIEW)] * 15, 0.0)
    assert settler.feed(Frame(np.zeros((0, 0, 3), np.uint8), 1, 1.0, "t")).state == "moving"
    assert settler.feed(Frame(np.zeros((100, 100, 3), np.uint8), 2, 1.1, "t")).state == "moving"
    assert settler.feed(Frame(np.zeros((100, 120, 3), np.uint8), 3, 1.2, "t")).state == "moving"
