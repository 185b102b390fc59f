"""Recordings of inputs: replayed they give the same verdicts, a changed one does not, a damaged one is explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.bulletin import Bulletin
from companion.cli import main
from companion.evidence import Author, Seen
from companion.footage import Keep
from companion.journal import FILE, Journal
from companion.recorder import INPUTS, Recorder, RecordingError, reading_json, reading_of_json, replay
from companion.service import Service
from tests.companion.table import TestTable, games, reading_of
from vision.reading import Fact, Piece, Reading

CAMERA, TABLE = Author("camera", "test"), Author("seat", "table")


def recorded(folder: Path, turns: int, before: int = 0) -> Path:
    """A short match with doubtful readings, a refused command and a takeback; recorded from turn `before` on."""
    table = TestTable(seed=4)
    service = Service(games, Journal(folder / FILE), Bulletin())
    new = {"game": "moguli", "players": ["Ada", "Bea"], "options": {}, "start": "table"}
    time_s = 1.0

    def see(**unclear: object) -> None:
        nonlocal time_s
        time_s += 1.0
        service.hear(Seen(reading_of(table.look(), time_s, **unclear), "", CAMERA))  # type: ignore[arg-type]

    class Corners:
        working = current = True
        latest_s = 0.0
        corners = corner_names = ()

        def want(self, soon: bool) -> None: ...
        def agree(self, frame_number: int, look: object) -> None: ...
        def tap(self, points: object) -> None: ...
        def turn_board(self, corner: str) -> None: ...

        def keep(self, keep: Keep) -> None: ...

    service.watch(Corners())
    recorder = None
    if not before:
        recorder = Recorder(folder / "tape")
        service.on_input = recorder.note
    assert service.submit("new_game", new, TABLE).ok
    see()
    assert service.submit("done", {}, TABLE).ok
    table.state = service.match.agreed
    for number in range(turns):
        if number and number == before:
            journal = Journal(folder / FILE)
            recorder = Recorder(folder / "tape", [row.event for row in journal.rows(service.match.id)])
            journal.close()
            service.on_input = recorder.note
        player = table.rules.to_act(table.state).players[0]
        table.turn()
        see(weak={"path:c4": {"NE": 0.0, "ES": -0.3, "SW": -0.1, "NW": -0.2, "NS": -0.1, "EW": -0.4}})
        see()
        service.submit("done", {}, Author("button", f"done{player + 1}", player))
        see()
    assert not service.submit("answer", {"question": "none", "value": "x"}, TABLE).ok
    service.submit("takeback", {}, TABLE)
    assert service.match.turns >= turns - 1
    assert recorder is not None
    recorder.close()
    return folder / "tape"


def test_a_replay_gives_the_same_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tape = recorded(tmp_path, 6)
    found = replay(tape, games)
    assert found.differences == () and found.inputs >= 20 and found.turns >= 5
    assert main(["replay-inputs", str(tape / INPUTS)]) == 0
    assert "differences 0" in capsys.readouterr().out


def test_a_recording_may_begin_in_the_middle_of_a_match(tmp_path: Path) -> None:
    found = replay(recorded(tmp_path, 6, before=3), games)
    assert found.differences == () and found.turns >= 5


def test_another_verdict_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tape = recorded(tmp_path, 3)
    lines = (tape / INPUTS).read_text().splitlines()
    seen = [i for i, line in enumerate(lines) if '"kind":"seen"' in line and json.loads(line)["made"]["events"]]
    data = json.loads(lines[seen[1]])
    data["made"]["judged"] = ["illegal", "moguli.two_moves"]
    lines[seen[1]] = json.dumps(data)
    (tape / INPUTS).write_text("\n".join(lines) + "\n")
    found = replay(tape, games)
    assert len(found.differences) == 1 and f"line {seen[1] + 1}, seen" in found.differences[0]
    assert main(["replay-inputs", str(tape)]) == 1
    assert "differences 1" in capsys.readouterr().out


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    tape = recorded(tmp_path, 2)
    whole = replay(tape, games).inputs
    text = (tape / INPUTS).read_text()
    (tape / INPUTS).write_text(text[:-40])
    assert replay(tape, games).inputs == whole - 1


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda lines: ["{}", *lines[1:]], "no recording of inputs"),
        (lambda lines: [], "no recording of inputs"),
        (lambda lines: [lines[0], "not json", *lines[1:]], "line 2: this is no JSON"),
        (lambda lines: [lines[0], '{"kind":"rabbit","author":["a","b",null]}', *lines[1:]], "line 2: this is no input"),
        (lambda lines: [lines[0].replace('"history":[]', '"history":[[1]]'), *lines[1:]], "cannot be rebuilt"),
    ],
)
def test_a_damaged_recording_is_explained(tmp_path: Path, spoil, says: str) -> None:  # type: ignore[no-untyped-def]
    tape = recorded(tmp_path, 1)
    lines = (tape / INPUTS).read_text().splitlines()
    (tape / INPUTS).write_text("\n".join(spoil(lines)) + "\n")
    with pytest.raises(RecordingError, match=says):
        replay(tape, games)


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    recorded(tmp_path, 1)
    with pytest.raises(RecordingError, match="another folder"):
        Recorder(tmp_path / "tape")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
LOGS = st.floats(-1e300, 1e300)
FACTS = st.dictionaries(
    st.text(max_size=8),
    st.lists(st.tuples(st.text(max_size=4), LOGS), min_size=1, max_size=4).flatmap(
        lambda pairs: st.builds(
            Fact, st.just(tuple(v for v, _ in pairs)), st.just(tuple(x for _, x in pairs)), st.booleans(), st.text()
        )
    ),
    max_size=4,
)
PIECES = st.builds(
    Piece,
    st.text(),
    st.tuples(NUMBERS, NUMBERS),
    NUMBERS,
    FACTS,
    NUMBERS,
    st.lists(st.tuples(NUMBERS, NUMBERS)).map(tuple),
)


@given(
    st.builds(
        Reading,
        frame_number=st.integers(),
        time_s=NUMBERS,
        facts=FACTS,
        pieces=st.lists(PIECES, max_size=2).map(tuple),
        board_px=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4).map(tuple),
        residual_mm=NUMBERS,
        troubles=st.lists(st.text()).map(tuple),
        still=st.frozensets(st.text()),
    )
)
def test_a_reading_goes_to_json_and_back(reading: Reading) -> None:
    assert reading_of_json(json.loads(json.dumps(reading_json(reading)))) == reading
