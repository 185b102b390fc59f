"""The card set as a form: what is typed is checked like a file, and the exported file says what is still invented."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.games.contract import RulesError, Setup
from companion.games.data_form import CONFIRMED, Filled
from companion.games.moogh import RULES, cards, printed
from companion.games.moogh.form import CardForm
from companion.words import LANGUAGES, say

FORM = CardForm()
ROWS = {row.key: row for group in FORM.groups for row in group.rows}


def typed(key: str, *texts: str, mark: str = "owner") -> Filled:
    """The default form with one row typed over."""
    first = FORM.filled()
    return Filled({**first.values, key: texts}, {**first.marks, key: mark})


def read_back(filled: Filled) -> cards.CardSet:
    return cards.parse(FORM.text(filled), "exported")


def test_the_form_shows_every_value_that_can_be_compared_with_a_card() -> None:
    shown = set(ROWS)
    wanted = {key for key in cards.keys_of(cards.default().data) if not key.startswith("arrows.")}
    assert shown == wanted  # the arrows are in the rulebook
    first = FORM.filled()
    assert first.values["front.3"] == ("A1", "M1*", "A1", "T") and first.values["board.beast"] == ("3", "2", "east")
    assert first.values["turn_icon.FL"] == ("none",) and first.values["obstacles"][:4] == ("1", "0", "6", "0")
    assert set(first.marks.values()) == {"invented"}
    assert FORM.faults(first) == ()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_everything_in_the_form_has_words(lang: str) -> None:
    said = [say(FORM.title, lang)]
    for group in FORM.groups:
        said.append(say(group.words, lang))
        for row in group.rows:
            said.append(say(row.words, lang))
            said += [say(words, lang) for part in row.parts for _, words in part.choices]
            said += [say(part.words, lang) for part in row.parts if part.words]
    assert not [text for text in said if "[" in text or "{" in text or "@" in text]


def test_the_untouched_form_is_exported_as_the_default_set_with_every_invented_value_marked() -> None:
    text = FORM.text(FORM.filled())
    same = cards.parse(text, "exported")
    assert same == cards.default() and same.invented
    for line in text.splitlines():
        if " = " in line and not line.startswith(("provenance", "#")) and line not in text.split("[arrows]")[1][:120]:
            assert line.endswith("# invented"), line


def test_a_value_that_is_confirmed_or_changed_is_the_owners_and_the_others_stay_invented() -> None:
    changed = typed("front.2", "T", "M2", "A1", "M1")
    confirmed = Filled(changed.values, {**changed.marks, "save.4": "owner"})
    mine = read_back(confirmed)
    assert mine.rows["front"][2] == ("T", "M2", "A1", "M1")
    assert mine.mark("front.2") == mine.mark("save.4") == "owner"
    assert mine.mark("front.3") == mine.mark("save.5") == mine.mark("characters.red.fit") == "invented"
    tables = tomllib.loads(FORM.text(confirmed))
    assert tables["front"]["provenance"] == "invented" and tables["front"]["provenance_of"] == {"2": "owner"}


def test_a_set_of_which_every_value_is_confirmed_is_no_longer_called_invented(tmp_path: Path) -> None:
    first = FORM.filled()
    file = tmp_path / "mine.toml"
    file.write_text(FORM.text(Filled(first.values, dict.fromkeys(first.marks, "owner"))))
    used = cards.used(file, {})
    state = RULES.new(Setup(("a", "b"), {}, dict(used.start)))
    ids = [note.id for note in RULES.notes(state)]
    assert "moogh.cards_invented" not in ids
    again = RULES.from_json(RULES.to_json(state))
    assert "moogh.cards_invented" not in [note.id for note in RULES.notes(again)]
    assert set(CardForm(file).filled().marks.values()) == {"owner"}


def test_a_set_of_which_a_part_is_the_owners_is_still_called_invented(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[save]\n6 = 6\n")
    state = RULES.new(Setup(("a", "b"), {}, dict(cards.used(file, {}).start)))
    for each in (state, RULES.from_json(RULES.to_json(state))):
        assert "moogh.cards_invented" in [note.id for note in RULES.notes(each)]
    assert CardForm(file).filled().marks["save.6"] == "owner"


@pytest.mark.parametrize(
    ("key", "texts", "rule"),
    [
        ("front.3", ("A1", "M1", "A1", "S"), "moogh.cards_printed"),
        ("back.5", ("S", "TA", "M2"), "moogh.cards_columns"),
        ("front.1", (), "moogh.cards_type"),
        ("front.1", ("M9", "T", "M1", "A1"), "moogh.cards_beast_action"),
        ("save.2", ("9",), "moogh.cards_number"),
        ("save.2", ("",), "moogh.cards_number"),
        ("save.2", ("²",), "moogh.cards_number"),
        ("angle.TOP", ("-1",), "moogh.cards_number"),
        ("attack_dice.1", ("FL", "FL"), "moogh.cards_two_spaces"),
        ("turn_icon.LB", ("up",), "moogh.cards_turn_icon"),
        ("characters.white.hurt", (), "moogh.cards_no_arrow"),
        ("characters.white.hurt", ("M1", "Sing"), "moogh.cards_action"),
        ("board.cols", ("2",), "moogh.cards_number"),
        ("board.wall", ("up",), "moogh.cards_side"),
        ("board.beast", ("3", "x", "east"), "moogh.cards_beast"),
        ("board.beast", ("7", "2", "east"), "moogh.cards_off_board"),
        ("board.beast", ("3", "2", "up"), "moogh.cards_side"),
        ("obstacles", ("1", ""), "moogh.cards_off_board"),
        ("obstacles", ("7", "1"), "moogh.cards_taken"),
        ("start.red", ("0", "1"), "moogh.cards_taken"),
        ("start_solo.green", ("9", "9"), "moogh.cards_off_board"),
    ],
)
def test_nonsense_is_named_at_its_row(key: str, texts: tuple[str, ...], rule: str) -> None:
    found = FORM.faults(typed(key, *texts))
    assert rule in [fault.rule for fault in found]
    places = {place for fault in found for place in fault.places}
    assert places <= set(ROWS) and (key in places or rule == "moogh.cards_taken")  # either of two may be the wrong one
    with pytest.raises(RulesError):
        FORM.text(typed(key, *texts))


def test_an_unknown_mark_is_refused() -> None:
    assert [f.rule for f in FORM.faults(typed("save.1", "2", mark="rumour"))] == ["moogh.cards_provenance"]


def test_a_turn_icon_can_be_taken_off_a_space() -> None:
    mine = read_back(typed("turn_icon.LB", "none"))
    assert dict(mine.turn_icon) == {"RB": "right"} and mine.mark("turn_icon.LB") == "owner"


def test_a_file_that_is_no_toml_or_no_card_set_is_refused_with_the_reason() -> None:
    for text, rule in (("[save", "moogh.cards_unreadable"), ("[save]\n6 = 9\n", "moogh.cards_number")):
        with pytest.raises(RulesError) as error:
            FORM.filled(text)
        assert error.value.refusal.rule == rule


@st.composite
def forms(draw: st.DrawFn) -> Filled:
    """The default form with some rows typed over, sensibly or not, and any marks."""
    filled = FORM.filled()
    for key in draw(st.lists(st.sampled_from(sorted(ROWS)), max_size=4)):
        row, texts = ROWS[key], []
        for _ in range(draw(st.integers(0, 4)) if row.grows else 1):
            for part in row.parts:
                known = st.sampled_from([value for value, _ in part.choices]) if part.choices else st.integers(0, 41)
                texts.append(str(draw(known)))
        filled = replace(filled, values={**filled.values, key: tuple(texts)})
    marks = {key: draw(st.sampled_from(printed.PROVENANCE)) for key in draw(st.sets(st.sampled_from(sorted(ROWS))))}
    return replace(filled, marks={**filled.marks, **marks})


@given(forms())
def test_what_has_no_fault_is_read_back_from_its_text_with_every_mark(filled: Filled) -> None:
    if FORM.faults(filled):
        with pytest.raises(RulesError):
            FORM.text(filled)
        return
    text = FORM.text(filled)
    again = FORM.filled(text)
    assert again.values == filled.values and again.marks == filled.marks
    loud = {key for key, mark in filled.marks.items() if mark not in CONFIRMED}
    assert text.count("# invented") + text.count("# inferred") == len(loud)
