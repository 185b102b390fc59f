"""The line of dominoes: order, ends, doubt, and what was newly laid."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.simulated.dominoes import LONG_MM, SHORT_MM, Tile, lay_line
from vision.dominoes_line import line_facts, line_of, newly_laid
from vision.reading import SURE_LEAD, Fact, Piece, Reading

VALUES = tuple("0123456")


def number(value: int, lead: float = 12.0) -> Fact:
    return Fact(VALUES, tuple(0.0 if str(value) == v else -lead for v in VALUES))


def piece(tile: Tile, lead: float = 12.0, down: bool = False) -> Piece:
    a = math.radians(tile.angle_deg)
    along, across = (
        np.array([math.cos(a), math.sin(a)]) * LONG_MM / 2,
        np.array([-math.sin(a), math.cos(a)]) * SHORT_MM / 2,
    )
    c = np.array(tile.centre_mm)
    quad = (c - along - across, c - along + across, c + along + across, c + along - across)
    first, second = tile.halves or (0, 0)
    facts = {
        "left": number(first, lead),
        "right": number(second, lead),
        "face": Fact(("up", "down"), (-9.0, 0.0) if down else (0.0, -9.0)),
        "kind": Fact(("domino", "other"), (0.0, -9.0)),
    }
    return Piece("domino", tile.centre_mm, 1.0, facts, tile.angle_deg, tuple((float(x), float(y)) for x, y in quad))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_any_legal_line_is_read_in_its_order_whatever_the_order_of_pieces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tiles = lay_line(rng, int(rng.integers(2, 14)), 300.0).tiles
    if len(tiles) < 2:
        return
    shuffle = rng.permutation(len(tiles))
    pieces = [piece(tiles[i]) for i in shuffle]
    truth = tuple(int(np.flatnonzero(shuffle == i)[0]) for i in range(len(tiles)))
    line = line_of(pieces)
    assert line is not None
    assert line.order in (truth, truth[::-1])
    facts = line_facts(pieces)
    halves = [t.halves for t in tiles if t.halves is not None]
    assert sorted([facts["line:start"].best, facts["line:finish"].best]) == sorted(
        [str(halves[0][0]), str(halves[-1][1])]
    )


def row(*halves: tuple[int, int], gap: float = 0.5) -> list[Tile]:
    return [Tile(h, (i * (LONG_MM + gap), 0.0), 0.0) for i, h in enumerate(halves)]


def test_a_lone_tile_and_scattered_tiles_form_no_line() -> None:
    assert line_of([]) is None
    assert line_of([piece(Tile((1, 2), (0.0, 0.0), 0.0))]) is None
    assert line_of([piece(t) for t in row((1, 2), (2, 3), gap=40.0)]) is None


def test_touching_tiles_whose_numbers_differ_are_no_certain_line() -> None:
    facts = line_facts([piece(t) for t in row((1, 2), (3, 4))])
    assert not facts or not facts["line:order"].sure(SURE_LEAD)


def test_a_tile_touching_the_line_at_its_side_makes_the_order_doubtful() -> None:
    side = Tile((6, 5), (LONG_MM / 4, SHORT_MM / 2 + LONG_MM / 2 + 0.5), 90.0)
    facts = line_facts([piece(t) for t in [*row((1, 2), (2, 3)), side]])
    line = line_of([piece(t) for t in [*row((1, 2), (2, 3)), side]])
    assert line is not None
    assert len(line.order) == 2
    assert not facts["line:order"].sure(SURE_LEAD)


def test_a_branch_that_fits_makes_the_order_doubtful() -> None:
    branch = Tile((2, 5), (LONG_MM / 4, SHORT_MM / 2 + LONG_MM / 2 + 0.5), 90.0)
    facts = line_facts([piece(t) for t in [*row((1, 2), (2, 3)), branch]])
    assert not facts["line:order"].sure(SURE_LEAD)
    assert not facts["line:finish"].sure(SURE_LEAD)


def test_an_end_that_cannot_be_read_is_not_stated() -> None:
    tiles = row((1, 2), (2, 3))
    facts = line_facts([piece(tiles[0], lead=2.0), piece(tiles[1])])
    assert not facts["line:start"].sure(SURE_LEAD)
    assert facts["line:finish"].sure(SURE_LEAD)


def test_face_down_tiles_join_no_line() -> None:
    first, second = row((1, 2), (2, 3))
    assert line_of([piece(first), piece(second, down=True)]) is None


def test_the_newly_laid_tile_is_the_one_where_none_lay() -> None:
    tiles = row((1, 2), (2, 3), (3, 3))
    before = Reading(0, 0.0, pieces=tuple(piece(t) for t in tiles[:2]))
    after = Reading(1, 1.0, pieces=tuple(piece(t) for t in (tiles[2], tiles[0], tiles[1])))
    assert [p.xy for p in newly_laid(before, after)] == [tiles[2].centre_mm]
    assert newly_laid(after, before) == ()


def test_where_nothing_can_be_seen_beyond_an_end_neither_it_nor_the_order_is_certain() -> None:
    pieces = [piece(t) for t in row((1, 2), (2, 3), (3, 4))]
    facts = line_facts(pieces, lambda end, inner: (end, inner) != (2, 1))
    assert not facts["line:order"].sure(SURE_LEAD)
    ends = [facts["line:start"], facts["line:finish"]]
    assert sorted(f.sure(SURE_LEAD) for f in ends) == [False, True]
    assert next(f for f in ends if f.sure(SURE_LEAD)).best == "1"
    assert all(f.sure(SURE_LEAD) for f in line_facts(pieces, lambda end, inner: True).values())
