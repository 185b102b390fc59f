"""Moguli's texts, JSON, starts, tile sets, corrections, words: what is accepted, what is refused, how it is said."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.games.contract import Json, Refusal, RulesError, Setup
from companion.games.moguli import RULES, deal
from companion.games.moguli.players import choose, hint, sensible
from companion.games.moguli.start import TileSet, built_in_sets, dealt, read_tile_sets, start_warnings, tile_set, used
from companion.games.moguli.state import State
from companion.words import LANGUAGES, catalogue, placeholders, say
from tests.games.moguli_boards import at, play, seen

OPEN = at("a4", "c4")


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("-", "-"),
        ("R b3+90", "R b3+90"),
        ("R b3+270,M c1-d4 , B b3+180", "R b3-90, M c1-d4, B b3+180"),
        ("R b3-180", "R b3+180"),
        ("Rb3 +90", "R b3+90"),
        ("X4", "X4"),
        ("X-", "X-"),
        ("resign", "resign"),
        ("resign 2", "resign 2"),
        ("draw", "draw"),
    ],
)
def test_turns_in_text(text: str, again: str) -> None:
    assert RULES.text(RULES.parse(text)) == again


@pytest.mark.parametrize(
    "text", ["", "R f1+90", "R a8+90", "R a1+45", "M a1", "M a1-a1-a2", "X6", "resign 3", "R a1+90,"]
)
def test_texts_that_are_no_turns(text: str) -> None:
    with pytest.raises(RulesError) as caught:
        RULES.parse(text)
    assert caught.value.refusal.rule == "moguli.bad_turn_text"


def test_an_act_that_does_not_exist_is_refused() -> None:
    answer = RULES.apply(OPEN, ("R a1+45",))
    assert isinstance(answer, Refusal)
    assert answer.rule == "moguli.no_such_act"


LINE = RULES.position_text(OPEN)


@pytest.mark.parametrize(
    ("old", "new", "quoted"),
    [
        ("S1S1S1S1S1/", "", "rows"),
        ("S1S1S1S1S1 ", "S1S1S1S1S4 ", "S4"),
        ("S1S1S1S1S1 ", "S1S1S1S1 ", "S1S1S1S1"),
        ("1:a4", "2:a4", "2:a4"),
        ("1:a4", "1:f4", "f4"),
        ("1:a4", "1:a4,a4", "a4"),
        ("1:a4", "1:c4", "c4"),
        (" 1 - 0 - -", " 3 - 0 - -", "'3'"),
        (" 1 - 0 - -", " 1 z9 0 - -", "z9"),
        (" 1 - 0 - -", " 1 - x - -", "'x'"),
        (" 1 - 0 - -", " 1 - 0 l -", "'l'"),
        (" 1 - 0 - -", " 1 - 0 - q", "'q'"),
        (" 1 - 0 - -", " 1 - 0 - cc", "'cc'"),
        (" 1 - 0 - -", " 1 - 0 - - over=3,four", "over=3,four"),
        (" 1 - 0 - -", " 1 - 0 - - over=1,bored", "over=1,bored"),
        (" 1 - 0 - -", " 1 - 0 -", "words"),
    ],
)
def test_positions_that_cannot_be_read_are_quoted(old: str, new: str, quoted: str) -> None:
    assert old in LINE
    with pytest.raises(RulesError, match=quoted):
        RULES.parse_position(LINE.replace(old, new, 1))


@pytest.mark.parametrize("more", ["rows", "rows setup=1", "rows setup=2", "over=1,four", "over=0,agreed"])
def test_positions_with_what_is_not_usual(more: str) -> None:
    line = f"{LINE[:-1]}cpm {more}"
    assert RULES.position_text(RULES.parse_position(line)) == line


JSON = RULES.to_json(at("a4", "c4", locked="e7", run=1))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", None),
        ("to_move", 2),
        ("to_move", True),
        ("blocked_run", -1),
        ("last_turn", 0),
        ("setup", 2),
        ("options", []),
        ("pawns", [["a1"]]),
        ("pawns", [["a1"], ["a1"]]),
        ("pawns", [["a1", "a1"], []]),
        ("pawns", [["a9"], []]),
        ("locked", "a1"),
        ("over", {"winner": 0}),
        ("over", {"winner": 2, "why": "four"}),
        ("over", {"winner": 0, "why": "luck"}),
        ("unknown", 1),
    ],
)
def test_json_that_makes_no_sense_names_the_key(key: str, value: Json) -> None:
    with pytest.raises(RulesError, match=key) as caught:
        RULES.from_json({**JSON, key: value})
    assert caught.value.refusal.rule == "moguli.bad_json"


def test_json_of_a_later_version_or_without_a_tile() -> None:
    with pytest.raises(RulesError, match="newer"):
        RULES.from_json({**JSON, "version": 2})
    with pytest.raises(RulesError, match="b3"):
        RULES.from_json({**JSON, "tiles": {k: v for k, v in JSON["tiles"].items() if k != "b3"}})
    with pytest.raises(RulesError, match="state"):
        RULES.from_json([])


def started(**options: Any) -> State:
    return RULES.new(Setup(("A", "B"), options, deal(random.Random(7))))


def test_a_new_game() -> None:
    state = started()
    assert RULES.position_text(state).split()[1:] == ["1:a1,b1,c1,d1,e1", "2:a7,b7,c7,d7,e7", "1", "-", "0", "-", "-"]
    assert RULES.to_act(started(new_starting_row=True)).kind == "choice"


@pytest.mark.parametrize(
    ("players", "options", "start", "rule"),
    [
        (("A",), {}, "dealt", "two_players"),
        (("A", "B"), {"torus": True}, "dealt", "bad_option"),
        (("A", "B"), {"cylinder": 1}, "dealt", "bad_option_value"),
        (("A", "B"), {"ability": "luck"}, "dealt", "bad_option_value"),
        (("A", "B"), {}, None, "no_start"),
        (("A", "B"), {}, {"tiles": {}}, "bad_tiles"),
        (("A", "B"), {}, {"tiles": {"z1": ["NE", True]}}, "bad_tiles"),
        (("A", "B"), {}, {"tiles": []}, "bad_tiles"),
    ],
)
def test_setups_that_are_refused(players: tuple[str, ...], options: Any, start: Json, rule: str) -> None:
    with pytest.raises(RulesError) as caught:
        RULES.new(Setup(players, options, deal(random.Random(7)) if start == "dealt" else start))
    assert caught.value.refusal.rule == f"moguli.{rule}"


@pytest.mark.parametrize("value", [["NE"], ["EN", True], ["NE", 1], "NE", None])
def test_a_tile_that_cannot_be_read(value: Json) -> None:
    start = deal(random.Random(7))
    start["tiles"]["c3"] = value
    with pytest.raises(RulesError, match="c3"):
        RULES.new(Setup(("A", "B"), {}, start))


def test_the_published_set() -> None:
    published = tile_set()
    assert published.tiles == (("bend", True, 17), ("bend", False, 18))
    assert published.provenance == "source"
    start = deal(random.Random(1))
    assert start["tile_set"] == "published"
    assert start["tile_set_hash"] == published.hash
    assert sum(triangle for _, triangle in start["tiles"].values()) == 17
    assert {path for path, _ in start["tiles"].values()} == {"NE", "ES", "SW", "NW"}
    assert deal(random.Random(1)) == start != deal(random.Random(2))


GOOD = '[x]\nprovenance = "invented"\ntiles = [{kind = "bend", triangle = true, count = 35}]'


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[x]", "[x", "TOML"),
        ("[x]", "x = 1\n[y]", "x: is no table"),
        ('"invented"', '"rumour"', "provenance.*rumour"),
        ("35", "34", "34 tiles, the board takes 35"),
        ("35", '"35"', "count"),
        ("35", "0", "count"),
        ("true", '"yes"', "triangle"),
        ('"bend"', '"curve"', "kind.*curve"),
        ("count = 35", "number = 35", "exactly"),
        ("}]", '}, {kind = "bend", triangle = true, count = 1}]', "twice"),
        ("tiles = [", "other = [", "other"),
        ("[{", "[] #", "must be a list"),
    ],
)
def test_tile_sets_that_are_nonsense(old: str, new: str, why: str) -> None:
    assert read_tile_sets(GOOD, "mine.toml")["x"].triangles == 35
    with pytest.raises(RulesError, match=rf"mine\.toml: .*{why}"):
        read_tile_sets(GOOD.replace(old, new, 1), "mine.toml")


def test_an_own_set_comes_before_a_built_in_one() -> None:
    own = {"published": TileSet("published", "Mine", "invented", (("straight", False, 35),))}
    assert tile_set("published", own).title == "Mine"
    assert set(built_in_sets()) >= {"published", "mixed"}
    with pytest.raises(RulesError, match="no known tile set"):
        tile_set("none")


def test_the_start_is_read_from_the_table() -> None:
    state = started()
    start = RULES.start_from_look(RULES.look(state), {})
    assert RULES.new(Setup(("A", "B"), {}, start)) == state


def test_every_difference_of_a_start_is_named() -> None:
    look = {**RULES.look(started()), "pawn:a1": "-", "pawn:c4": "1", "pawn:b7": "1", "pawn:e1": "2"}
    found = RULES.start_from_look(look, {})
    assert isinstance(found, tuple)
    assert {(r.rule.removeprefix("moguli."), r.places) for r in found} == {
        ("start_missing", ("a1",)),
        ("start_astray", ("c4",)),
        ("start_wrong_side", ("b7",)),
        ("start_wrong_side", ("e1",)),
    }


def test_another_count_of_triangles_warns_and_is_no_refusal() -> None:
    state = started()
    tile = next(k for k, v in RULES.look(state).items() if k.startswith("triangle:") and v == "no")
    start = RULES.start_from_look({**RULES.look(state), tile: "yes"}, {})
    assert not isinstance(start, tuple)
    assert [(m.id, dict(m.values)) for m in start_warnings(start)] == [
        ("moguli.triangle_count", {"count": 18, "expected": 17})
    ]
    assert start_warnings(RULES.start_from_look(RULES.look(state), {})) == ()
    assert [m.id for m in start_warnings(deal(random.Random(1), tile_set("mixed")))] == ["moguli.straight_count"]


def test_facts_corrected_by_hand() -> None:
    state = at("a4", "c4", locked="e7", run=1)
    fixed = RULES.with_look(state, {"path:b4": "NS", "pawn:a4": "-", "pawn:a5": "1"})
    assert isinstance(fixed, State)
    assert RULES.look(fixed) == seen(state, b4="NS", a4="-", a5="1")
    assert (fixed.locked, fixed.blocked_run) == (state.locked, state.blocked_run)


@pytest.mark.parametrize(
    ("facts", "rule", "places"),
    [
        ({"pawn:a4": "-"}, "pawn_gone", ("a4",)),
        ({"pawn:b4": "2"}, "pawn_added", ("b4",)),
        ({"pawn:a4": "2"}, "pawn_gone", ("a4",)),
    ],
)
def test_a_correction_may_not_lose_or_double_a_pawn(facts: dict[str, str], rule: str, places: tuple[str, ...]) -> None:
    answer = RULES.with_look(OPEN, facts)
    assert isinstance(answer, Refusal)
    assert (answer.rule, answer.places) == (f"moguli.{rule}", places)


def test_a_correction_of_what_is_no_fact() -> None:
    with pytest.raises(RulesError):
        RULES.with_look(OPEN, {"path:f1": "NE"})
    with pytest.raises(RulesError):
        RULES.with_look(OPEN, {"path:a1": "XY"})


def test_notes_say_why() -> None:
    unable = at("a1,a4,b1", "c1,c4,d1", run=1)
    assert [say(note) for note in RULES.notes(unable)] == [
        "Free doors in row 1: 1, and none of its pawns (a1, b1) can leave. No other pawn may move; "
        "turn a tile or do nothing (R-8)",
        "Turns in a row without a possible move: 1. After 2 more the game ends (R-12)",
    ]
    ids = {
        "note.obliged": at("a1,b1", "c1,d1", tiles={"e1": "B3", "e2": "S0"}),
        "note.unable": at("a4", "c6"),
        "note.compulsory": at("a4", "c4", flags="m"),
        "note.last_turn": at("a7,b7,c7,d7", "c4", 2, last=True),
    }
    for note, state in ids.items():
        assert f"moguli.{note}" in [message.id for message in RULES.notes(state)]
    assert RULES.notes(OPEN) == ()


def test_declarations() -> None:
    ring = at("a4", "c4", flags="c")
    mine = {RULES.text(d.turn): d.needs_consent for d in RULES.declarations(ring, 0)}
    assert mine == {"M a4-a4": False, "resign 1": False, "draw": True}
    assert {RULES.text(d.turn) for d in RULES.declarations(ring, 1)} == {"resign 2", "draw"}
    setup = at("a1", "a7", more="rows setup=1")
    assert [RULES.text(d.turn) for d in RULES.declarations(setup, 0)][:4] == ["X-", "X3", "X4", "X5"]
    assert RULES.declarations(play(ring, "draw"), 0) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-", "Ada does nothing"),
        ("R e7-90", "Ada turns e7 by -90°"),
        ("M a4-d4, R e7+90", "Ada moves a4 to d4, turns e7 by 90°"),
        ("R e7+90, M a4-d4, B a1+180", "Ada turns e7 by 90°, moves a4 to d4, bonus: a1 by 180°"),
        ("resign 2", "Ben resigns"),
        ("draw", "The players agree on a draw"),
    ],
)
def test_turns_in_words(text: str, words: str) -> None:
    assert say(RULES.describe(OPEN, RULES.parse(text)), players=("Ada", "Ben")) == words


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_values(lang: str) -> None:
    english = {key: text for key, text in catalogue("en").items() if key.startswith("moguli.")}
    theirs = {key: text for key, text in catalogue(lang).items() if key.startswith("moguli.")}
    assert theirs.keys() == english.keys()
    for key, text in theirs.items():
        assert placeholders(text) == placeholders(english[key]), key


def test_options_have_words() -> None:
    for option in RULES.options():
        for choice in option.choices:
            assert f"moguli.option.{option.name}.{json.dumps(choice).strip(chr(34))}" in catalogue("en")


def test_a_hint_wins_where_it_can_and_says_so() -> None:
    column = {f"e{row}": "S0" for row in range(1, 8)}
    state = at("e3,a7,b7,c7", "e5,b1,c1,d1", tiles=column)
    turn, why = hint(state)
    after = RULES.apply(state, turn)
    assert isinstance(after, State)
    assert after.last_turn
    assert why.id in ("moguli.hint.arrives", "moguli.hint.stops")
    winning = replace(state, to_move=1)
    turn, why = hint(winning)
    assert why.id == "moguli.hint.wins"
    assert (RULES.apply(winning, turn).over or after).winner == 1  # type: ignore[union-attr]


def test_the_sensible_player_beats_the_one_who_does_nothing() -> None:
    chance = random.Random(5)
    state = started()
    for _ in range(120):
        if state.over is not None:
            break
        if state.to_move == 0:
            turn = sensible(state, chance)
        else:
            turn = next(t for t in RULES.legal(state) if len(t) == min(len(u) for u in RULES.legal(state)))
        after = RULES.apply(state, turn)
        assert isinstance(after, State)
        state = after
    far = (state.pawns[0] >> 30).bit_count(), (state.pawns[1] & 31).bit_count()
    assert far[0] > far[1]


def test_implausible_tiles_are_said_once_at_the_start_and_refused_never() -> None:
    """The table shows 18 triangles where the published set has 17: a warning of the first turn."""
    look = dict(RULES.look(RULES.new(Setup(("A", "B"), {}, deal(random.Random(1))))))
    door = next(key for key, value in look.items() if key.startswith("triangle:") and value == "no")
    start = RULES.start_from_look({**look, door: "yes"}, {}, used(None, {}).start)
    assert not isinstance(start, tuple)
    state = RULES.new(Setup(("A", "B"), {}, start))
    noted = {m.id: dict(m.values) for m in RULES.notes(state)}
    assert noted["moguli.triangle_count"] == {"count": 18, "expected": 17}
    after = RULES.apply(state, next(iter(RULES.legal(state))))
    assert isinstance(after, State)
    assert "moguli.triangle_count" not in {m.id for m in RULES.notes(after)}
    exact = RULES.new(Setup(("A", "B"), {}, dealt(random.Random(1), used(None, {}).start)))
    assert "moguli.triangle_count" not in {m.id for m in RULES.notes(exact)}


def test_a_start_is_dealt_from_the_own_tiles(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[mine]\nprovenance = "owner"\ntiles = [{kind = "straight", triangle = true, count = 35}]\n')
    start = dealt(random.Random(1), used(file, {}).start)
    assert all(path in ("NS", "EW") and triangle for path, triangle in start["tiles"].values())
    state = RULES.new(Setup(("A", "B"), {}, start))
    assert not [m for m in RULES.notes(state) if m.id.endswith("_count")]
    with pytest.raises(RulesError):
        RULES.new(Setup(("A", "B"), {}, {**start, "tile_set_tiles": 3}))


@pytest.mark.parametrize("winner", [None, 0, 1, 2, -1, "0", True])
def test_the_winner_in_a_saved_state_is_nobody_or_one_of_the_two(winner: Any) -> None:
    state = RULES.new(Setup(("A", "B"), {}, deal(random.Random(1))))
    data = {**RULES.to_json(state), "over": {"winner": winner, "why": "agreed"}}
    if winner is None or (winner in (0, 1) and type(winner) is int):
        assert RULES.to_json(RULES.from_json(data)) == data
        return
    with pytest.raises(RulesError):
        RULES.from_json(data)


ONLY_A_ROUND_TRIP = """
SW* NE NE SW NW*
ES* ES* ES NW* NE
ES NW* NW ES ES
NW SW NW* ES* ES
NW* NW NW* SW* SW
SW NE NW* ES* ES*
SW SW SW* SW* NE*
"""
"""Rows 1 to 7 from a to e; * is a triangle. With compulsory actions the only legal turn of the second player is to turn
b6 and to lead the pawn there round to its own door, which no camera can see."""


def test_a_player_with_nothing_left_that_a_camera_can_see_plays_what_there_is() -> None:
    tiles = {}
    for number, row in enumerate(ONLY_A_ROUND_TRIP.split("\n")[1:-1], 1):
        for column, tile in zip("abcde", row.split(), strict=True):
            tiles[f"{column}{number}"] = [tile[:2], tile.endswith("*")]
    options = {"cylinder": False, "new_starting_row": False, "ability": "turn", "compulsory_actions": True}
    pawns = [["a1", "e2", "c3", "e4", "e5"], ["b6", "c6", "a7", "c7", "e7"]]
    state = RULES.from_json(
        {"version": 1, "tiles": tiles, "pawns": pawns, "to_move": 1, "locked": ["d3"], "blocked_run": 0}
        | {"last_turn": False, "options": options, "setup": None, "over": None}
    )
    assert [RULES.text(turn) for turn in RULES.legal(state)] == ["R b6-90, M b6-b6"]
    assert RULES.text(choose(state, random.Random(1))) == "R b6-90, M b6-b6"
