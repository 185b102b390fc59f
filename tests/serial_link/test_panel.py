"""The firmware's parts by themselves: debouncing, the die, the timer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from devices.firmware.debounce import Button
from devices.firmware.die import SETTLE_MS as DIE_SETTLE_MS
from devices.firmware.die import Die
from devices.firmware.panel import HELD_MS, SETTLE_MS, STUCK_MS, Panel
from devices.firmware.timer import Timer
from devices.firmware.wire import Lines, encode


def run(edges: list[tuple[int, bool]], until_ms: int) -> list[str]:
    button, events, edges = Button(SETTLE_MS, HELD_MS, STUCK_MS), [], list(edges)
    for now in range(until_ms):
        while edges and edges[0][0] <= now:
            at, closed = edges.pop(0)
            events += button.edge(closed, at)
        events += button.poll(now)
    return [event for event, _ in events]


def test_a_clean_press() -> None:
    assert run([(10, True), (80, False)], 200) == ["press", "release"]


@given(st.lists(st.integers(1, SETTLE_MS - 1), max_size=20), st.lists(st.integers(1, SETTLE_MS - 1), max_size=20))
def test_a_bouncing_press_is_one_press(closing: list[int], opening: list[int]) -> None:
    edges, now, closed = [(10, True)], 10, True
    for gap in closing[: len(closing) // 2 * 2]:
        now, closed = now + gap, not closed
        edges.append((now, closed))
    now += 60
    edges.append((now, False))
    closed = False
    for gap in opening[: len(opening) // 2 * 2]:
        now, closed = now + gap, not closed
        edges.append((now, closed))
    assert run(edges, now + 100) == ["press", "release"]


def test_a_ghost_is_no_press() -> None:
    assert run([(10, True), (14, False)], 200) == ["ghost"]


def test_held_and_stuck_are_told_once() -> None:
    assert run([(10, True)], STUCK_MS + 500) == ["press", "held", "stuck"]
    assert run([(10, True), (HELD_MS + 100, False)], HELD_MS + 300) == ["press", "held", "release"]


FACES = {1: (1000, 0, 0), 6: (-1000, 0, 0), 2: (0, 1000, 0), 5: (0, -1000, 0), 3: (0, 0, 1000), 4: (0, 0, -1000)}


@given(st.sampled_from(sorted(FACES)), st.lists(st.tuples(*[st.integers(-2000, 2000)] * 3), max_size=10))
def test_a_die_tells_the_face_it_rests_on_and_no_other(face: int, tumble: list[tuple[int, int, int]]) -> None:
    die, told = Die("a"), []
    samples = [*tumble, *[FACES[face]] * 60]
    for n, xyz in enumerate(samples):
        if die.feed(xyz, n * 10):
            told.append(die.line())
    assert told[-1] == ("DIE", "a", "settled", "6", str(face))
    assert all(line[2] == "rolling" for line in told[:-1]) or len(tumble) * 10 >= DIE_SETTLE_MS


def test_a_leaning_die_is_cocked() -> None:
    die = Die("a")
    for n in range(60):
        die.feed((700, 0, 714), n * 10)
    assert die.line() == ("DIE", "a", "cocked", "6")


def test_a_die_turned_in_the_hand_tells_nothing() -> None:
    die = Die("a")
    for n in range(400):
        xyz = FACES[1 + n % 6]
        die.feed(xyz, n * 10)
        assert die.phase != "settled"


def test_a_timer_counts_down_and_stops() -> None:
    timer = Timer("turn")
    timer.command("5000", 100)
    assert timer.left_ms(1100) == 4000
    timer.command("stop", 2100)
    assert timer.line(9000) == ("TIMER", "turn", "stop", "3000")
    timer.command("nonsense", 9000)
    assert timer.line(9000) == ("TIMER", "turn", "stop", "3000")


def test_a_button_closed_at_the_start_gives_no_press_until_let_go() -> None:
    panel = Panel("id", "box", "boot", ["done1"], [], lambda signal: None)
    panel.level("done1", True, 0)
    told = []

    def at(now_ms: int) -> None:
        told.extend(words for _, words in Lines().feed(panel.poll(now_ms)) if words[0] == "BTN")

    panel.feed(encode(0, "HELLO", "1", "1") + encode(0, "PING", "boot"), 0)
    at(100)
    panel.edge("done1", False, 200)
    at(300)
    panel.edge("done1", True, 400)
    at(500)
    assert [words[2] for words in told if words[0] == "BTN"][-1] == "press"
    assert [words[2] for words in told].count("press") == 1
