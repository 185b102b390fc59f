"""What the camera sees of a Muggins table, from whichever end it counts, and what that says about the players' acts."""

from __future__ import annotations

import pytest

from companion.games.contract import RulesError
from companion.games.muggins import RULES
from companion.games.muggins.explain import LINE_KEYS, look
from companion.games.muggins.state import State
from companion.games.muggins.tiles import Line, mirrored
from tests.games.test_muggins_rules import fresh, opened, play
from tests.games.test_muggins_table import secret_round

MIDDLE = "51,14,44,46"


def middle() -> State:
    """A secret round with the line [5|1] [1|4] [4|4] [4|6], opened with [1|4]."""
    state = fresh(3)
    for text in ("open 14", "right 44", "left 15", "right 46"):
        state = play(state, text)
    return state


def lying(line: Line, first: int, boneyard: int = 13) -> dict[str, str]:
    """A whole look with this line counted from `first`."""
    facts = dict.fromkeys(LINE_KEYS, "-")
    facts |= {f"line:{first + k}": f"{a}-{b}" for k, (a, b) in enumerate(line)}
    return {**facts, "count:boneyard": str(boneyard)}


def told(state: State, seen: dict[str, str]) -> str:
    explanation = RULES.explain(state, seen)
    assert len(explanation.stories) == 1, explanation.refusals
    return RULES.text(explanation.stories[0].turn)


def named(state: State, seen: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    explanation = RULES.explain(state, seen)
    assert not explanation.stories
    return explanation.refusals[0].rule.removeprefix("muggins."), explanation.refusals[0].places


def test_every_look_has_the_same_keys_and_counts_from_the_opening_tile() -> None:
    state = middle()
    facts = RULES.look(state)
    assert set(facts) == set(RULES.look(fresh(3)))
    assert [facts[f"line:{k}"] for k in (-2, -1, 0, 1, 2, 3)] == ["-", "5-1", "1-4", "4-4", "4-6", "-"]
    assert RULES.trace(state, RULES.parse("right 66")) == {"line:3": "6-6"}
    assert RULES.trace(state, RULES.parse("draw; right 66")) == {"line:3": "6-6", "count:boneyard": "12"}


def test_the_opening_a_placement_and_draws_are_told() -> None:
    assert told(fresh(3), lying(((1, 4),), 0)) == "open 14"
    assert told(fresh(3), lying(((4, 1),), 0)) == "open 14"
    line = middle().line
    assert told(middle(), lying((*line, (6, 6)), -1)) == "right 66"
    assert told(middle(), lying(((2, 5), *line), -2)) == "left 25"
    assert told(middle(), lying(line, -1, 11)) == "draw; draw"
    assert told(middle(), lying((*line, (6, 6)), -1, 10)) == "draw; draw; draw; right 66"


@pytest.mark.parametrize("first", [-3, 0, 1, 5])
@pytest.mark.parametrize("turned", [False, True])
def test_a_line_counted_from_any_tile_and_seen_from_either_side_is_recognised(first: int, turned: bool) -> None:
    longer = ((2, 5), *middle().line)
    seen = mirrored(longer) if turned else longer
    assert told(middle(), lying(seen, first)) == "left 25"


def test_r1_the_side_is_told_where_a_tile_fits_both() -> None:
    state = play(play(fresh(), "open 12"), "right 25")
    assert told(state, lying(((5, 1), (1, 2), (2, 5)), -1, 14)) == "left 15"
    assert told(state, lying(((1, 2), (2, 5), (5, 1)), 0, 14)) == "right 15"


def test_a_tile_at_a_lone_double_seen_from_elsewhere_is_one_story() -> None:
    state = play(fresh(), "open 55")
    assert told(state, lying(((3, 5), (5, 5)), 4, 14)) in ("left 35", "right 35")


def test_illegal_acts_are_named_with_their_places() -> None:
    line = middle().line
    assert named(middle(), lying((*line, (3, 3)), -1)) == ("does_not_fit", ("2",))
    assert named(middle(), lying((*line, (6, 4)), -1))[0] == "already_on_line"
    assert named(middle(), lying((*line, (6, 6), (6, 1)), -1)) == ("one_a_turn", ("3", "4"))
    assert named(middle(), lying(((2, 5), *line, (6, 6)), -2)) == ("one_a_turn", ("-2", "3"))
    assert named(middle(), lying(line[:-1], -1)) == ("line_changed", ("2",))
    changed = (*line[:2], (4, 3), (3, 6))
    assert named(middle(), lying(changed, -1)) == ("line_changed", ("1", "2"))
    assert named(middle(), lying(line, -1, 14)) == ("boneyard_grew", ())
    assert named(fresh(3), lying((), 0, 12)) == ("draw_before_opening", ())
    assert named(middle(), {**lying(line, -1), "line:5": "2-2"}) == ("gap", ("3",))


def test_a_tile_not_in_hand_is_named_in_open_play() -> None:
    state = opened("14", "11,46,23,35,00,66 / 55,22,33,01,02,03")
    seen = {"line:1": "4-4"}
    assert RULES.explain(state, seen).refusals[0].rule == "muggins.not_in_hand"


def test_an_unchanged_table_can_be_a_pass_with_an_empty_boneyard_only() -> None:
    state = play(fresh(), "open 66")
    assert named(state, dict(RULES.look(state)))[0] == "pass_with_boneyard"
    state = play(state, "; ".join(["draw"] * 14))
    (story,) = RULES.explain(state, RULES.look(state)).stories
    assert RULES.text(story.turn) == "pass" and story.unseen == 1


def test_a_draw_is_told_with_the_reminder_that_a_fitting_tile_must_be_placed() -> None:
    explanation = RULES.explain(middle(), lying(middle().line, -1, 12))
    assert [w.id for w in explanation.warnings] == ["muggins.drawn_not_placed"]


def test_shown_hands_and_the_cleared_line_are_told() -> None:
    state = secret_round()
    assert told(state, {**RULES.look(state), "hand:1": "6-6"}) == "show 2 66"
    over = play(state, "show 2 66")
    assert RULES.look(over)["hand:1"] == "6-6"
    cleared = dict.fromkeys(LINE_KEYS, "-") | {"hand:1": "-"}
    assert told(over, cleared) == "deal"
    assert told(over, {**cleared, "line:0": "2-4"}) == "deal; open 24"
    assert named(over, {**RULES.look(over), "hand:1": "-"})[0] == "nothing_changed"


@pytest.mark.parametrize(
    ("key", "value"),
    [("line:40", "1-1"), ("line:0", "x"), ("line:0", "7-7"), ("count:boneyard", "many"), ("hand:9", "-")],
)
def test_a_look_that_is_no_look_is_refused(key: str, value: str) -> None:
    with pytest.raises(RulesError):
        RULES.explain(middle(), {key: value})


def test_a_domino_of_a_larger_set_is_refused_as_such() -> None:
    with pytest.raises(RulesError) as caught:
        RULES.explain(middle(), {"line:3": "6-9"})
    assert caught.value.refusal.rule == "muggins.no_such_tile"


# Corrections by hand


def test_a_corrected_tile_takes_the_others_place_everywhere() -> None:
    state = opened("14,46", "11,66,23 / 36,22,33")
    after = RULES.with_look(state, {"line:1": "4-3"})
    assert isinstance(after, State) and after.line == ((1, 4), (4, 3))
    assert (3, 4) not in after.boneyard and (4, 6) in after.boneyard
    secret = RULES.with_look(middle(), {"line:2": "4-2"})
    assert isinstance(secret, State) and RULES.text((secret.log[-1][1],)) == "right 24"


def test_a_correction_that_breaks_the_line_or_the_set_is_refused() -> None:
    state = middle()
    for facts, rule in (
        ({"line:2": "3-2"}, "line_does_not_join"),
        ({"line:2": "4-1"}, "tile_twice"),
        ({"line:2": "-"}, "not_28"),
        ({"hand:0": "1-1"}, "expects_play"),
    ):
        refusal = RULES.with_look(state, facts)
        assert not isinstance(refusal, State) and refusal.rule == f"muggins.{rule}"


def test_a_boneyard_counted_again_gives_the_tiles_to_the_player_to_move() -> None:
    state = middle()
    after = RULES.with_look(state, {"count:boneyard": "11"})
    assert isinstance(after, State) and after.left == 11
    assert after.counts[state.to_move] == state.counts[state.to_move] + 2
    assert sum(after.counts) + after.left + len(after.line) == 28


def test_a_start_needs_an_empty_table() -> None:
    assert RULES.start_from_look(look(fresh()), {}) == {}
    refusals = RULES.start_from_look(RULES.look(middle()), {})
    assert refusals[0].rule == "muggins.line_not_empty" and refusals[0].places == ("-1", "0", "1", "2")
