"""Pictures of MOOGH's table with truth: dice, cubes, the cards' sides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from companion.census.dicetray import shots
from companion.census.maulwurf import profile_of
from companion.census.tally import ASKED, RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.moogh import OFF_BOARD, MooghReader
from vision.reading import SURE_LEAD, Fact

SCENE = "moogh"
COLOURS = ("red", "green", "brown", "white")


def recognise(folder: Path) -> bool:
    """True for a folder of single pictures of this scene."""
    return bool(shots(folder, SCENE))


def read(folder: Path) -> Tally:
    """Every picture read by a reader that has seen nothing before, and once more by the same."""
    tally = Tally()
    for path, truth in shots(folder, SCENE):
        picture, decode_s = decoded(path)
        tally.pictures += 1
        name = f"{folder.name}/{path.stem}"
        if picture is None:
            tally.count("board", WRONG, file=name, place="", said="no picture", truth="board", probability=0.0)
            continue
        reader = MooghReader(profile_of(truth, "moogh"))
        frame = Frame(picture, 0, 0.0, str(path))
        reading, read_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("cold", []).append(read_s / decode_s)
        _, again_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("tracked", []).append(again_s / decode_s)
        tally.count(
            "board",
            RIGHT if reading.board_found else WRONG,
            file=name,
            place="",
            said=" ".join(reading.troubles),
            truth="board",
            probability=0.0,
        )
        for key, value in facts_of(truth).items():
            tally.fact(key.replace(":", " "), name, "", reading.facts.get(key), value)
        cells = {str(c["color"]): f"{c['cell'][0]},{c['cell'][1]}" for c in truth["cubes"]}
        for colour in COLOURS:
            fact = reading.facts.get(f"cube:{colour}")
            if colour in cells:
                tally.fact("cube", name, colour, fact, cells[colour])
            else:
                _count_absent(tally, name, colour, fact)
    return tally


def facts_of(truth: Mapping[str, Any]) -> dict[str, str]:
    """What dice and cards show, as the looks write it."""
    dice = {str(d["purpose"]): d for d in truth["dice"]}
    facts = {"card:side": str(truth["action_card"]["side"])}
    if "health" in dice:
        columns, rows = zip(*dice["health"]["cells"], strict=True)
        facts["die:health"] = str(dice["health"]["value"])
        facts["beast:origin"] = f"{min(columns)},{min(rows)}"
    if "rage" in dice:
        facts["die:rage"] = str(dice["rage"]["value"])
        facts["rage:cell"] = f"{dice['rage']['row']}.{dice['rage']['column']}"
    if "points" in dice:
        team = {"left": "A", "right": "B", "center": ""}[str(dice["points"]["slot"])]
        facts["die:points"] = f"{team}{dice['points']['value']}" if team else "0"
    return facts


def _count_absent(tally: Tally, name: str, colour: str, fact: Fact | None) -> None:
    """A cube that stands on no cell: right when that is said, wrong when a cell is stated."""
    outcome = ASKED
    probability = 0.0
    if fact is not None and not fact.hidden:
        weights = {v: math.exp(x) for v, x in zip(fact.values, fact.log_likelihoods, strict=True)}
        probability = sum(weights[v] for v in OFF_BOARD) / sum(weights.values())
        if fact.sure(SURE_LEAD):
            outcome = WRONG
        elif math.log(max(probability, 1e-12) / max(1.0 - probability, 1e-12)) >= SURE_LEAD:
            outcome = RIGHT
    said = "" if fact is None else fact.best
    tally.count("cube absent", outcome, file=name, place=colour, said=said, truth="off", probability=probability)
