"""Everything that Moogui says exists in five languages and leaves no gap."""

from __future__ import annotations

import pytest

from companion.games.contract import Message
from companion.games.moogui import RULES, catalogue
from companion.games.moogui.players import PLAYERS
from companion.games.moogui.state import PHASES
from tests.games.test_moogh_words import heard, option_ids, unsaid


@pytest.mark.parametrize("seed", range(4))
def test_everything_said_in_a_match_has_words(seed: int) -> None:
    options = {"mode": ("training", "competition")[seed % 2]}
    said = heard(RULES, PLAYERS[("random", "sensible")[seed // 2]], options, 2 + 2 * seed, seed)
    assert len(said) > 50 and not unsaid(said)


def test_options_phases_standings_and_catalogue_faults_have_words() -> None:
    words = [f"phase_{phase}" for phase in PHASES]
    words += [f"reading_{how}" for how in ("face", "shield", "immune", "out", "unsure", "taken_back", "not_thrown")]
    assert not unsaid([*option_ids(RULES), *(Message(f"moogui.{word}") for word in words)])
    model = catalogue.to_data(catalogue.default())[0]
    wrong = [
        [],
        {**model, "kind": "x"},
        {**model, "shield": None},
        {**model, "attack": 6},
        {**model, "powers": [0] * 6},
    ]
    assert not unsaid(fault.message for each in wrong for fault in catalogue.faults(each, 1))
