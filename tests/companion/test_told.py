"""What a person has told where the camera could not tell it: kept as long as it is so, and where the figure lay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.landings import landings
from companion.sight import marked
from tests.companion.arena import NAMES, Arena, figure
from tests.companion.table import LEAD, VALUES, TestTable
from vision.figure_pieces import UNKNOWN
from vision.reading import Fact, Piece

STARTED = ("start p1=ari p2=bruma", "order p1=200 p2=100 ~2")
PLACE = (120.0, 410.0)
EDGES = ((0.0, -0.5), (-7.0, 0.0))
"""How likely a figure lies within the line and without: rather within, surely without."""


def unread_throw() -> Arena:
    """Ada has thrown, and her figure stands so that it looks rather like something unknown; she has ended her throw."""
    arena = Arena(*STARTED)
    arena.done(0)
    arena.see(figure("ari", "immune", PLACE, unread=6.0), times=3)
    return arena


def test_an_unread_throw_has_landed_where_it_lay_when_the_table_said_what_it_was() -> None:
    arena = unread_throw()
    assert landings(arena.events) == {}
    arena.answer({"figure:ari": "immune"})
    assert arena.texts[2:] == ["throw p1 ari ari=immune"]
    assert landings(arena.events) == {"ari": [PLACE]}
    assert arena.refolded() == arena.match


def test_it_has_not_landed_where_two_pieces_could_be_it() -> None:
    arena = Arena(*STARTED)
    arena.done(0)
    arena.see(figure("ari", "immune", PLACE, unread=6.0), figure("ari", "immune", (450.0, 90.0), unread=6.0), times=3)
    arena.answer({"figure:ari": "immune"})
    assert landings(arena.events) == {}


def test_a_throw_that_the_table_takes_for_nothing_has_no_landing() -> None:
    arena = unread_throw()
    question = arena.match.question
    assert question is not None
    assert arena.say("answer", question=question.id, value="other").ok
    assert landings(arena.events) == {} and len(arena.texts) == 2


def test_an_unread_figure_that_is_picked_up_is_missed() -> None:
    arena = unread_throw()
    arena.answer({"figure:ari": "immune"})
    arena.see(figure("ari", "immune", PLACE, unread=6.0), times=3)
    assert arena.kind != "illegal", "while it lies there the answer stands"
    arena.see(times=3)
    assert arena.kind == "illegal"
    assert arena.match.judgement is not None
    assert arena.match.judgement.words.id == "moogui.taken_too_early"


def test_an_unread_figure_that_lies_elsewhere_and_otherwise_is_not_taken_for_what_was_answered() -> None:
    arena = unread_throw()
    arena.answer({"figure:ari": "immune"})
    moved = figure("ari", "4", (400.0, 100.0), unread=0.5)
    arena.done(0)
    arena.see(moved, times=3)
    question = arena.match.question
    assert arena.kind == "illegal" or question is not None
    if question is not None:
        assert {"figure:ari": "4"} in [dict(c.facts) for c in question.choices]


def test_a_figure_at_the_line_is_asked_about_once_until_it_is_read_otherwise() -> None:
    arena = Arena(*STARTED, "throw p1 ari ari=2", "end p1")
    first, thrown = figure("ari", "2", (200.0, 200.0)), figure("bruma", "3", (300.0, 590.0))
    within, without = (replace(thrown, facts={**thrown.facts, "in": Fact(("yes", "no"), share)}) for share in EDGES)
    arena.see(first, within, times=2)
    arena.done(1)
    arena.see(first, within, times=3)
    arena.answer({"figure:bruma": "3"})
    arena.done(1)
    arena.see(first, within, times=3)
    assert arena.match.questions == 1 and arena.match.question is None
    assert arena.texts[4:] == ["throw p2 bruma ari=2 bruma=3", "end p2"]
    arena.done(0)
    arena.see(first, without, times=3)
    assert arena.match.question is not None or arena.kind == "illegal"


def stranger(xy: tuple[float, float]) -> Piece:
    """A thing with faces that is none of the figures."""
    piece = figure("ari", "2", xy)
    levels = tuple(-40.0 for _ in NAMES)
    return replace(piece, facts={**piece.facts, "figure": Fact((*NAMES, UNKNOWN), (*levels, 0.0))})


class TestAStrangerThatIsLeftLying:
    def asked(self) -> tuple[Arena, Piece]:
        """Ada's throw has been recorded while something strange lies there, and the table was asked about that once."""
        arena = Arena(*STARTED)
        thrown = figure("ari", "3", (200.0, 200.0))
        arena.see(thrown, stranger((450.0, 450.0)), times=3)
        arena.done(0)
        arena.see(thrown, stranger((450.0, 450.0)), times=3)
        arena.done(0)
        arena.see(thrown, stranger((450.0, 450.0)), times=3)
        self.nothing(arena)
        assert arena.texts[2:] == ["throw p1 ari ari=3", "end p1"]
        assert arena.match.questions == 1
        return arena, thrown

    @staticmethod
    def nothing(arena: Arena) -> None:
        question = arena.match.question
        if question is not None:
            unchanged = next(c.value for c in question.choices if c.kind == "unchanged")
            assert arena.say("answer", question=question.id, value=unchanged).ok

    def test_is_not_asked_about_again(self) -> None:
        arena, thrown = self.asked()
        then = (thrown, figure("bruma", "5", (300.0, 100.0)), stranger((450.5, 449.0)))
        for presses in range(2):
            arena.see(*then, times=2)
            arena.done(1)
            arena.see(*then, times=3)
            assert arena.match.question is None, presses
        assert arena.texts[4:6] == ["throw p2 bruma bruma=5 ari=3", "end p2"] or arena.texts[4:6] == [
            "throw p2 bruma ari=3 bruma=5",
            "end p2",
        ]
        assert arena.refolded() == arena.match

    def test_is_asked_about_when_it_lies_elsewhere(self) -> None:
        arena, thrown = self.asked()
        arena.done(1)
        arena.see(thrown, stranger((380.0, 300.0)), times=3)
        assert arena.match.question is not None


def a_tile() -> tuple[TestTable, str, dict[str, str], str]:
    """A table in play, a tile's path, how the table looks, and another path that the tile could show."""
    table = TestTable(seed=6, done_expected=True)
    table.opening()
    key, seen = f"path:{table.texts('R')[0].split()[1][:2]}", table.look()
    return table, key, seen, next(v for v in ("NE", "ES", "SW", "NW", "NS", "EW") if v != seen[key])


@pytest.mark.parametrize("doubtful", [True, False])
def test_a_corrected_fact_of_which_the_camera_was_not_sure_is_seen_again_when_it_is(doubtful: bool) -> None:
    table, key, seen, other = a_tile()
    said = marked(seen[key], 5.0 if doubtful else LEAD)
    assert table.say("correct", facts={key: other}, said={key: said}).ok
    assert table.match.told == {key: said}
    table.see(seen)  # surely as before
    assert (key in table.match.told) is not doubtful


def test_a_correction_to_what_the_camera_says_already_is_nothing_against_it() -> None:
    table, key, _, other = a_tile()
    assert table.say("correct", facts={key: other}, said={key: other}).ok
    assert table.match.told == {}


def test_what_was_settled_against_a_doubtful_camera_is_news_when_the_camera_doubts_less() -> None:
    """What the camera can hardly tell from something else changes into that: it is seen as before, but more surely."""
    table, key, seen, other = a_tile()
    assert table.say("correct", facts={key: other}, said={key: marked(seen[key], 0.5)}).ok
    rest = {v: -LEAD for v in VALUES["path"] if v not in (seen[key], other)}
    table.see(seen, weak={key: {seen[key]: 0.0, other: -0.6, **rest}}, times=2)
    assert key in table.match.told, "it looks as it did when it was settled"
    table.see(seen, weak={key: {seen[key]: 0.0, other: -4.3, **rest}})
    assert key not in table.match.told
