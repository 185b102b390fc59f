"""The ring of pictures: what it remembers, what it may take, what becomes a clip and how long that is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from companion.clips import Clips, clip_name
from companion.footage import FULL_S, LONG_S, SPARSE_S, Footage, Keep
from devices.contract import Frame

EMPTY = np.zeros((2, 2, 3), np.uint8)


def frame(time_s: float, size: int = 100) -> Frame:
    """A picture whose JPEG says when it was taken."""
    return Frame(EMPTY, round(time_s * 100), time_s, "test", f"{time_s:.3f} ".encode().ljust(size, b"."))


def until(done: Callable[[], bool]) -> None:
    began_s = time.monotonic()
    while not done():
        assert time.monotonic() - began_s < 20.0
        time.sleep(0.01)


def filled(seconds: float, rate: float, size: int = 100, most: int = 10**9) -> Footage:
    footage = Footage(most)
    for n in range(round(seconds * rate) + 1):
        footage.add(frame(100.0 + n / rate, size))
    return footage


def test_the_last_seconds_are_there_at_the_full_rate_and_a_minute_at_five_a_second() -> None:
    times_s = filled(90.0, 30.0).times_s
    end_s = times_s[-1]
    full = [t for t in times_s if t >= end_s - FULL_S]
    sparse = [t for t in times_s if t < end_s - FULL_S]
    assert len(full) == FULL_S * 30 + 1
    assert end_s - LONG_S <= times_s[0] < end_s - LONG_S + 2 * SPARSE_S
    gaps = np.diff(sparse)
    assert gaps.min() >= SPARSE_S - 0.02
    assert gaps.max() <= SPARSE_S + 0.04


def test_a_slow_camera_loses_nothing_to_thinning() -> None:
    assert len(filled(59.0, 4.0).times_s) == 59 * 4 + 1


@given(
    st.lists(st.tuples(st.floats(0.001, 3.0), st.integers(1, 4000)), min_size=1, max_size=200), st.integers(100, 20_000)
)
def test_it_never_takes_more_than_it_may_and_counts_right(pictures: list[tuple[float, int]], most: int) -> None:
    footage, now_s = Footage(most), 0.0
    for gap_s, size in pictures:
        now_s += gap_s
        footage.add(frame(now_s, size))
        assert footage.bytes <= most or len(footage.times_s) == 1
        assert footage.times_s[-1] == now_s
        assert footage.times_s == tuple(sorted(footage.times_s))
        assert footage.times_s[0] >= now_s - LONG_S or len(footage.times_s) == 1
    assert footage.bytes == sum(len(s.jpeg) for s in (*footage._sparse, *footage._full))


def test_time_that_begins_anew_forgets_what_was() -> None:
    footage = filled(5.0, 10.0)
    footage.add(frame(3.0))
    assert footage.times_s == (3.0,)


def test_a_picture_without_jpeg_is_made_small() -> None:
    footage = Footage()
    footage.add(Frame(np.full((720, 1280, 3), 90, np.uint8), 1, 1.0, "test"))
    shot = cv2.imdecode(np.frombuffer(footage._full[0].jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert shot is not None and shot.shape == (360, 640, 3)
    assert abs(int(shot.mean()) - 90) <= 2


def test_a_clip_waits_for_its_last_picture_and_holds_what_was_ordered(tmp_path: Path) -> None:
    footage, clips = filled(30.0, 20.0), Clips(tmp_path / "clips")
    footage.keep(clips.order("a", 128.0, 129.5))
    for n in range(1, 20):
        footage.add(frame(130.0 + n / 20))
    assert not clips.times_s("a")
    footage.add(frame(131.0))
    until(lambda: bool(clips.times_s("a")))
    times_s = clips.times_s("a")
    assert times_s[0] == -7.5 and times_s[-1] == 1.5
    assert len(times_s) == 9 * 20 + 1
    for number in (0, 90, 180):
        assert clips.picture("a", number).split()[0] == f"{129.5 + times_s[number]:.3f}".encode()
    assert [clips.picture("a", n) for n in (-1, 181)] == [b"", b""]


def test_a_camera_that_goes_leaves_a_shorter_clip(tmp_path: Path) -> None:
    footage, clips = filled(10.0, 20.0), Clips(tmp_path)
    footage.keep(clips.order("a", 110.0, 110.0))
    footage.flush()
    until(lambda: bool(clips.times_s("a")))
    assert clips.times_s("a")[-1] == 0.0


def test_what_nobody_remembers_makes_no_clip(tmp_path: Path) -> None:
    clips = Clips(tmp_path)
    Footage().keep(clips.order("a", 1.0, 2.0))
    filled(90.0, 10.0).keep(clips.order("b", 101.0, 102.0))
    time.sleep(0.1)
    assert not list(tmp_path.iterdir())
    assert clips.times_s("a") == clips.times_s("b") == []


def test_the_oldest_clips_make_room(tmp_path: Path) -> None:
    clips = Clips(tmp_path, limit_mb=1)
    footage = filled(10.0, 20.0, size=2000)  # 7.5 s of it are 300 kB
    for name in "abcde":
        footage.keep(Keep(str(tmp_path / f"{name}.clip"), 101.0, 108.5, 108.5, 2**20))
        until(lambda name=name: bool(clips.times_s(name)))  # type: ignore[misc]
        time.sleep(0.02)
        assert sum(file.stat().st_size for file in tmp_path.glob("*.clip")) <= 2**20
    assert sorted(file.stem for file in tmp_path.glob("*.clip")) == ["c", "d", "e"]


def test_a_clip_larger_than_all_may_be_is_thinned(tmp_path: Path) -> None:
    clips = Clips(tmp_path)
    footage = filled(10.0, 20.0, size=2000)
    footage.keep(Keep(str(tmp_path / "a.clip"), 100.0, 110.0, 110.0, 100_000))
    until(lambda: bool(clips.times_s("a")))
    assert 20 < len(clips.times_s("a")) <= 51
    assert clips.times_s("a")[-1] - clips.times_s("a")[0] > 9.0


def test_odd_names_and_damaged_clips_give_nothing(tmp_path: Path) -> None:
    clips = Clips(tmp_path)
    (tmp_path / "secret").write_text("x")
    for damage in (b"", b"\xff\xfe", b"[1]\n", b"{\n", b'{"times_s": [0.0], "sizes": [9]}\n'):
        (tmp_path / "a.clip").write_bytes(damage)
        assert clips.picture("a", 0) == b""
        assert clips.picture("a", 3) == b""
    assert clips.times_s("../secret") == clips.times_s("") == clips.times_s("b") == []
    assert clip_name("../../x y", "t1") == "______x_y-t1"
