"""The worked cases of Muggins and MOOGH, played from drawn pictures: what is read is what the rules made of it."""

from __future__ import annotations

import copy

import pytest

from calibration.profile import TableProfile, load_board
from companion.games.contract import Message, Refusal, Rules, Setup
from companion.games.moogh import cards
from companion.games.moogh.rules import RULES as MOOGH
from companion.games.muggins.rules import RULES as MUGGINS
from companion.referee import Position, Verdict, judge
from companion.sight import sight_of
from devices.contract import Frame
from devices.simulated.contract import SimulatedTable
from devices.simulated.domino_table import DominoTable
from devices.simulated.moogh_table import MooghTable
from vision.contract import Reader
from vision.domino_table import DominoTableReader
from vision.moogh import MooghReader
from vision.reading import SURE_LEAD


class Played:
    """A game at a drawn table: what is done there is read and judged."""

    def __init__(self, rules: Rules, state: object, table: SimulatedTable, reader: Reader) -> None:  # type: ignore[type-arg]
        self.rules, self.state, self.table, self.reader = rules, state, table, reader
        self.look()

    def look(self) -> Verdict:
        """The verdict on the table as it lies."""
        reading = self.reader.read(self.picture())
        assert not reading.troubles
        return judge(self.rules, Position(self.state), sight_of(reading, self.rules.look(self.state)))

    def picture(self) -> Frame:
        """The table as it lies, when nobody is busy at it any more."""
        while self.table.stage.busy:
            self.table.stage.advance(0.2)
        frame = self.table.stage.camera().read(0.0)
        self.table.stage.advance(0.1)
        assert frame is not None
        return frame

    def agree(self, state: object) -> None:
        self.state = state
        self.reader.agree(self.rules.look(state))

    def lay(self, turn: str) -> Message:
        """A turn made by hand, read, judged and said in words."""
        made = self.rules.parse(turn)
        self.table.perform(self.rules.trace(self.state, made))
        verdict = self.look()
        assert verdict.kind == "accepted", verdict
        story = verdict.tale.stories[0]
        words = self.rules.describe(self.state, story.turn)
        self.agree(story.after)
        return words

    def tell(self, turn: str) -> None:
        """An input that is told; then the table is put as the game says, and it must look so while the game goes on."""
        made = self.rules.parse(turn)
        after = self.rules.apply(self.state, made)
        assert not isinstance(after, Refusal), after
        self.table.perform(self.rules.trace(self.state, made))
        self.agree(after)
        if self.rules.outcome(after) is None:
            assert self.look().kind == "unchanged"
            self.agree(after)


def muggins(seed: int) -> Played:
    state = MUGGINS.new(Setup(("A", "B"), {}, {"starter": 0}))
    board = load_board("muggins")
    table = DominoTable(MUGGINS.look(state), board, seed, light="diffuse")
    return Played(MUGGINS, state, table, DominoTableReader(TableProfile(board)))


@pytest.mark.parametrize(
    ("turns", "sums", "points"),
    [
        (("open 14", "left 11", "right 44", "right 34"), (5, 6, 10, 5), (5, 0, 10, 5)),
        (("open 36", "right 66"), (9, 15), (0, 15)),
        (("open 22",), (4,), (0,)),
        (("open 00",), (0,), (0,)),
    ],
)
def test_muggins_scoring_examples_from_drawn_pictures(
    turns: tuple[str, ...], sums: tuple[int, ...], points: tuple[int, ...]
) -> None:
    game = muggins(1)
    said = [dict(game.lay(turn).values) for turn in turns]
    assert tuple(v["sum"] for v in said) == sums
    assert tuple(v["points"] for v in said) == points


def test_moogh_rage_three_turn_then_shake_from_drawn_pictures() -> None:
    """Printed example: at rage 3 the beast acts twice, TURN, then the card is flipped and the die enters at SHAKE."""
    data = copy.deepcopy(dict(cards.default().data))
    data["characters"]["red"]["fit"] = [["DS", "M1"]]
    data["start_solo"]["red"] = [3, 1]
    state = MOOGH.new(Setup(("A",), {"start_column": 3}, {"cards": data}))
    board = load_board("moogh")
    table = MooghTable(MOOGH.look(state), board, 1, light="diffuse")
    game = Played(MOOGH, state, table, MooghReader(TableProfile(board)))
    for turn in ("red arrow 0", "red action DS", "red roll hit 1", "red roll hit 1", "red action end"):
        game.tell(turn)
    look = MOOGH.look(game.state)
    assert (look["card:side"], look["rage:cell"], look["die:rage"], look["die:health"]) == ("back", "3.1", "3", "4")
    # The health die is turned by mistake: named with both values and what set it last.
    table.perform({"die:health": "5"})
    verdict = game.look()
    assert verdict.kind == "illegal"
    refusal = verdict.tale.refusals[0]
    values = dict(refusal.values)
    assert refusal.rule == "moogh.differs"
    assert (values["seen"], values["held"], values["cause"]) == ("5", "4", "red roll hit 1")


def test_moogh_score_die_example_from_drawn_pictures() -> None:
    """Printed example: the teams are equal; green hits, one for red's team; red hits, two; white's hit kills the beast
    and scores three, so brown's team wins with one. Every roll is told, every die on the table is read after it."""
    data = copy.deepcopy(dict(cards.default().data))
    # The beast does nothing but look around, so that only blows change the balance.
    data["front"] = {row: ["T"] * 4 for row in data["front"]}
    data["back"] = {row: ["S" if row == "3" and n == 0 else "T" for n in range(4)] for row in data["back"]}
    data["start"] = {"red": [5, 2], "white": [2, 2], "brown": [4, 4], "green": [2, 3]}
    state = MOOGH.new(Setup(("A", "B"), {}, {"cards": data}))
    board = load_board("moogh")
    table = MooghTable(MOOGH.look(state), board, 2, light="diffuse")
    game = Played(MOOGH, state, table, MooghReader(TableProfile(board)))

    def points_after(*turns: str) -> str:
        for turn in turns:
            game.tell(turn)
        fact = game.reader.read(game.picture()).facts["die:points"]
        assert fact.sure(SURE_LEAD)
        return fact.best

    stab = "{0} action Stab", "{0} roll hit 6", "{0} action end"
    blow = {man: [turn.format(man) for turn in stab] for man in ("red", "white", "brown", "green")}
    choosing = "red arrow 0", "white arrow 2", "brown arrow 1", "green arrow 1"
    # Red from the front for two, white and brown for one each: equal.
    assert points_after(*choosing[:2], *blow["red"], *blow["white"], *choosing[2:], *blow["brown"]) == "0"
    assert points_after(*blow["green"]) == "A1"
    away = "red action M1", "red step 4,1"
    assert points_after("red arrow 0", "white arrow 4", *away, *blow["red"][:2]) == "A2"
    assert points_after("white action Aim", "white roll hit 6") == "B1"
    outcome = MOOGH.outcome(game.state)
    assert outcome is not None and outcome.winners == (1,)


def test_moogh_two_trampled_at_once_from_drawn_pictures() -> None:
    """R-17: push, then save, one after the other; until it is his turn the second has no cell and no cube on any."""
    data = copy.deepcopy(dict(cards.default().data))
    data["front"]["1"] = ["M1"] * 4
    data["start"] = {"red": [5, 2], "white": [5, 3], "brown": [0, 4], "green": [0, 1]}
    state = MOOGH.new(Setup(("A", "B"), {}, {"cards": data}))
    board = load_board("moogh")
    table = MooghTable(MOOGH.look(state), board, 3, light="diffuse")
    game = Played(MOOGH, state, table, MooghReader(TableProfile(board)))
    for turn in ("red arrow 0", "white arrow 0", "red action end", "white action end"):
        game.tell(turn)
    look = MOOGH.look(game.state)
    assert (look["beast:origin"], look["cube:red"], look["cube:white"]) == ("4,2", "5,1", "under")
    game.tell("red roll save:trample 6")
    assert MOOGH.look(game.state)["cube:white"] == "5,4"
