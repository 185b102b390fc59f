"""Muggins at the real table: what a secret round proves against its players, with its evidence (R-4)."""

from __future__ import annotations

import pytest

from companion.games.contract import Refusal
from companion.games.muggins import RULES
from companion.games.muggins.play import legal
from companion.games.muggins.rules import fault_message
from companion.games.muggins.state import Act, Entry, State
from companion.games.muggins.table import FAULTS, Finding, findings
from companion.games.muggins.tiles import SET, tile_of
from companion.words import LANGUAGES, knows, say
from tests.games.test_muggins_rules import BLOCKED, NAMES, fresh, play, refused, texts, tiles


def log(*acts: str) -> list[Entry]:
    """Entries like `0 open 14`: a player from 0 and an act's notation."""
    entries = []
    for act in acts:
        player, _, text = act.partition(" ")
        entries.append((int(player), RULES.parse(text)[0]))
    return entries


def found(players: int, acts: list[Entry], **more: object) -> set[tuple[int | None, int | None, str]]:
    return {(f.at, f.player, f.fault) for f in findings(players, acts, **more)}  # type: ignore[arg-type]


def test_a_tile_that_does_not_fit_is_a_fault_and_goes_back() -> None:
    (fault,) = findings(2, log("0 open 14", "1 left 23", "1 left 11"))
    assert fault == Finding(1, 1, "does_not_fit", (("ends", (1, 4)), ("tile", (2, 3))))


def test_a_tile_taken_back_is_known_to_be_in_that_hand_and_may_be_placed_later() -> None:
    acts = log("0 open 14", "1 left 23", "1 right 44", "0 right 34", "1 draw", "1 left 11")
    assert found(2, acts) == {(1, 1, "does_not_fit"), (4, 1, "illegal_draw")}
    assert found(2, log("0 open 14", "1 left 23", "1 right 44", "0 right 34", "1 right 23")) == {(1, 1, "does_not_fit")}


def test_a_tile_twice_two_placements_in_a_turn_and_the_wrong_player() -> None:
    assert found(2, log("0 open 25", "1 right 56", "0 left 25")) == {(2, 0, "already_on_line")}
    acts = log("0 open 14", "1 left 11", "1 left 11")
    assert findings(2, acts) == (Finding(2, 1, "out_of_turn", (("expected", 0),)),)


def test_a_draw_before_the_opening_or_from_an_empty_boneyard() -> None:
    assert found(2, log("0 draw", "0 open 14")) == {(0, 0, "draw_before_opening")}
    acts = log("0 open 66", *["1 draw"] * 15)
    assert found(2, acts) == {(15, 1, "draw_from_empty")}


def test_a_pass_with_tiles_in_the_boneyard() -> None:
    assert findings(3, log("0 open 14", "1 pass"))[0].evidence == (("boneyard", 13),)


def test_a_tile_placed_after_a_draw_must_be_the_tile_drawn_last() -> None:
    acts = log("0 open 25", "1 draw 01", "1 draw 55", "1 right 15")
    assert found(2, acts) == {(3, 1, "not_drawn_last")}
    known = log("0 open 14", "1 know 2 16", "1 draw", "1 left 16")
    assert found(2, known) == {(1, 1, "illegal_draw"), (2, 1, "not_drawn_last")}


def test_a_tile_known_in_the_hand_that_fitted_proves_an_illegal_draw() -> None:
    fits = log("0 open 14", "1 know 2 16", "1 draw", "1 right 44")
    assert findings(2, fits) == (Finding(1, 1, "illegal_draw", (("ends", (1, 4)), ("tile", (1, 6)))),)
    for other in ("1 know 2 26", "0 know 1 16"):
        assert not found(2, log("0 open 14", other, "1 draw", "1 right 44"))


EMPTY = log("0 open 66", *["1 draw"] * 14, "1 right 56")
"""A round of two whose boneyard is empty, with 6 and 5 at the ends; player 1 holds 20 tiles."""


def test_once_the_boneyard_is_empty_a_tile_shown_at_the_end_proves_an_illegal_pass() -> None:
    acts = [*EMPTY, *log("0 pass", "1 right 25")]
    shown = [tiles("26 00 01 11 22 33"), None]
    assert found(2, acts, shown=shown) == {(16, 0, "illegal_pass")}
    assert not found(2, acts, shown=[tiles("02 00 01 11 22 33"), None])


def test_once_the_boneyard_is_empty_a_tile_played_later_proves_it_too() -> None:
    acts = [*EMPTY, *log("0 pass", "1 right 25", "0 left 46")]
    assert found(2, acts) == {(16, 0, "illegal_pass")}


def test_a_tile_placed_and_held_before_the_boneyard_was_empty_proves_nothing() -> None:
    acts = log("0 open 14", "1 draw", "1 right 44", "0 draw", "0 left 11")
    assert not found(2, acts)


def test_the_line_the_hands_and_the_boneyard_must_be_the_set() -> None:
    acts = log("0 open 14")
    good = [tiles("00 01 02 03 04 05"), tiles("11 12 13 15 16 22 23")]
    assert not found(2, acts, shown=good)
    twice = [good[0], tiles("14 12 13 15 16 22 23")]
    assert found(2, acts, shown=twice) == {(None, None, "shown_twice"), (None, None, "does_not_add_up")}
    many = [good[0], tiles("11 12 13 15 16 22 23 24")]
    assert found(2, acts, shown=many) == {(None, 1, "number_of_tiles"), (None, None, "does_not_add_up")}
    strange = [good[0], ((7, 7), *tiles("12 13 15 16 22 23"))]
    assert (None, 1, "no_such_tile") in found(2, acts, shown=strange)
    rest = tuple(t for t in SET if t not in (*good[0], *good[1], (1, 4)))
    assert not found(2, acts, shown=good, rest=rest)
    assert found(2, acts, shown=good, rest=rest[1:]) == {(None, None, "does_not_add_up")}


# The secret match


def test_the_table_checks_at_once_what_can_be_known() -> None:
    state = fresh(3)
    assert refused(state, "draw") == "draw_before_opening"
    state = play(state, "open 14")
    assert refused(state, "left 44") == "does_not_fit"
    assert refused(state, "right 14") == "already_on_line"
    assert refused(state, "pass") == "pass_with_boneyard"
    assert {"left 11", "right 44", "draw"} <= set(texts(state))
    assert play(state, "draw; draw; right 44").counts == (4, 6, 5)


def test_a_known_tile_that_fits_forbids_drawing() -> None:
    state = play(play(fresh(), "open 14"), "know 2 16")
    assert refused(state, "draw") == "must_play"
    assert dict(RULES.notes(state)[0].values)["tile"] == "[1|6]"
    assert refused(state, "know 1 16") == "known_elsewhere"
    assert play(state, "left 16").known == ((), ())


def test_a_tile_seen_after_an_unseen_draw_may_be_the_one_drawn() -> None:
    state = play(play(play(fresh(), "open 14"), "draw"), "know 2 16")
    assert refused(state, "draw") == "must_play"
    assert play(state, "left 16").line[0] == (6, 1)


def secret_round() -> State:
    """A secret round of two in which player 1 goes out; player 2 has drawn nothing and holds what is left."""
    state = fresh()
    for text in ("open 14", "left 11", "right 44", "left 12", "right 45", "left 22", "right 55", "left 23"):
        state = play(state, text)
    for text in ("right 05", "left 33", "right 00", "left 36", "right 01"):
        state = play(state, text)
    return state


def test_at_the_end_hands_are_shown_and_cost_their_owners() -> None:
    state = secret_round()
    assert state.phase == "show" and RULES.to_act(state).players == (1,)
    before = state.scores
    after = play(state, "show 2 66")
    assert after.phase == "deal" and after.scores == (before[0], before[1] - 10)
    assert after.starter == 0 and not RULES.findings(after)
    assert [m.id for m in RULES.notes(after)] == ["muggins.out", "muggins.hand_costs"]


def test_a_wrong_hand_is_counted_and_its_fault_reported_but_the_score_is_the_tables() -> None:
    state = secret_round()
    after = play(state, "show 2 66 14")
    faults = {f.fault for f in RULES.findings(after)}
    assert faults == {"number_of_tiles", "shown_twice"}
    assert after.scores[1] == state.scores[1] - 15
    assert any(m.id == "muggins.fault_shown_twice" for m in RULES.notes(after))
    assert refused(state, "left 16") == "expects_show"


def test_the_boneyard_may_be_shown_with_the_hands() -> None:
    state = secret_round()
    gone = {tile_of(a, b) for a, b in state.line} | {(6, 6)}
    rest = " ".join(f"{a}{b}" for a, b in SET if (a, b) not in gone)
    after = play(play(state, f"show rest {rest}"), "show 2 66")
    assert after.rest is not None and not RULES.findings(after)


def test_hands_are_secret_until_the_round_ends() -> None:
    state = play(play(fresh(), "open 14"), "know 2 16")
    assert RULES.view(state, None)["hand"] is None
    assert RULES.view(state, 0)["hand"] == [] and RULES.view(state, 1)["hand"] == [[1, 6]]
    dealt = "00,01,02,03,04,05,06 / 11,12,13,14,15,16,22"
    rest = ",".join(f"{a}{b}" for a, b in SET if f"{a}{b}" not in dealt)
    shown = play(fresh(2, "open"), f"deal {dealt} | {rest}")
    assert RULES.view(shown, 0)["hand"][0] == [0, 0] and RULES.view(shown, None)["hand"] is None
    assert all(p["hand"] is None for p in RULES.view(shown, 1)["players"])
    assert "33" not in str(RULES.describe(shown, (Act("draw", (3, 3)),)))


def test_every_fault_has_its_words_in_every_language() -> None:
    evidence = (("ends", (1, 4)), ("tile", (2, 3)), ("expected", 1), ("shown", 1), ("times", 2), ("boneyard", 1))
    for fault in FAULTS:
        message = fault_message(Finding(3, 1, fault, (*evidence, ("seen", 27))))
        for lang in LANGUAGES:
            assert knows(message.id, lang)
            words = say(message, lang, NAMES)
            assert "[muggins" not in words and "{" not in words


def test_a_drawn_tile_that_was_seen_must_be_placed() -> None:
    state = play(play(fresh(), "open 14"), "draw 16")
    assert texts(state) == ["left 16"]
    assert refused(state, "right 44") == "not_drawn_last"
    assert refused(play(fresh(), "open 14"), "draw 14") == "known_elsewhere"


def test_an_unseen_draw_from_the_last_tile_allows_a_pass() -> None:
    state = play(fresh(), "open 66")
    state = play(state, "; ".join(["draw"] * 14))
    assert [RULES.text(t) for t in legal(state)][-1] == "pass"
    assert play(state, "pass").passes == 1


@pytest.mark.parametrize("text", ["know 2 11 12 13 15 16 01 06 46", "know 3 11"])
def test_impossible_knowledge_is_refused(text: str) -> None:
    state = play(fresh(), "open 14")
    assert isinstance(RULES.apply(state, RULES.parse(text)), Refusal)


def test_blocked_line_of_the_cases_is_what_it_says() -> None:
    line = tiles(BLOCKED.replace(",", " "))
    assert len(line) == 24 and len({tile_of(a, b) for a, b in line}) == 24
