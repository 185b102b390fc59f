"""Parts of a picture that look as they did: noise is no change, a pip that came is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision.unchanged import Unchanged

WINDOW = np.array([(40.0, 30.0), (141.0, 30.5), (140.0, 97.0)])


def noisy(seed: int, levels: int = 5) -> np.ndarray:
    """Grey with every pixel off by at most so many levels: twice that much is the most by which two of them differ."""
    rng = np.random.default_rng(seed)
    return (128 + rng.integers(-levels, levels + 1, (120, 160, 3))).astype(np.uint8)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(42, 138), st.integers(32, 94))
def test_noise_is_no_change_and_a_pip_is(seed: int, x: int, y: int) -> None:
    memory = Unchanged()
    memory.keep("part", noisy(seed), WINDOW)
    after = noisy(seed + 1)
    assert memory.same("part", after)
    after[y : y + 2, x : x + 2] = 60
    assert not memory.same("part", after)


def test_what_lies_elsewhere_does_not_count() -> None:
    memory = Unchanged()
    memory.keep("part", noisy(1), WINDOW)
    after = noisy(1)
    after[:, 150:] = 0
    assert memory.same("part", after)


def test_a_slow_change_adds_up() -> None:
    memory = Unchanged()
    picture = np.full((60, 60, 3), 100, np.uint8)
    memory.keep("part", picture, np.array([(0.0, 0.0), (59.0, 59.0)]))
    same = [memory.same("part", picture + np.uint8(n)) for n in range(0, 24, 4)]
    assert same == [True, True, True, False, False, False]


@pytest.mark.parametrize("size", [(0, 0, 3), (8, 8, 3), (60, 160, 3)])
def test_a_picture_that_ends_before_the_part_is_a_change(size: tuple[int, int, int]) -> None:
    memory = Unchanged()
    memory.keep("part", noisy(1), WINDOW)
    assert not memory.same("part", np.full(size, 128, np.uint8))
    assert not memory.same("other", noisy(1))
    memory.forget("part")
    assert not memory.same("part", noisy(1))


def test_a_part_outside_the_picture_cannot_be_told() -> None:
    memory = Unchanged()
    memory.keep("part", noisy(1), WINDOW + 1000)
    assert not memory.same("part", noisy(1))
