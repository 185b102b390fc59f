"""Rendered domino tables with truth: both halves of every tile, the line's order and its two ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from companion.census.dicetray import profile_of, shots
from companion.census.labelled import HALF, length, phantom
from companion.census.tally import ASKED, RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.dominoes import DominoReader
from vision.reading import SURE_LEAD, Piece, Reading

SCENE = "dominoes"


def recognise(folder: Path) -> bool:
    """True for a folder of single pictures of this scene."""
    return bool(shots(folder, SCENE))


def read(folder: Path) -> Tally:
    """Every picture read by a reader that has seen nothing before."""
    tally = Tally()
    for path, truth in shots(folder, SCENE):
        picture, decode_s = decoded(path)
        tally.pictures += 1
        file = f"{folder.name}/{path.stem}"
        if picture is None:
            tally.count(HALF, WRONG, file=file, place="", said="no picture", truth="", probability=0.0)
            continue
        reader = DominoReader(profile_of(truth))
        frame = Frame(picture, 0, 0.0, str(path))
        reading, read_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("cold", []).append(read_s / decode_s)
        count_reading(tally, file, reading, truth)
    return tally


def count_reading(tally: Tally, file: str, reading: Reading, truth: Mapping[str, Any]) -> None:
    """Halves by place, then the line as a sequence of true tiles (from either end), then its ends."""
    pieces = reading.pieces
    found: dict[int, int] = {}
    for t, tile in enumerate(truth["tiles"]):
        unit = "mm" if pieces and pieces[0].unit == "mm" else "px"
        centres = [tuple(c[:2]) for c in tile[f"half_center_{unit}"]]
        middle = ((centres[0][0] + centres[1][0]) / 2, (centres[0][1] + centres[1][1]) / 2)
        near = sorted((math.dist(p.xy, middle), i) for i, p in enumerate(pieces) if i not in found)
        place = f"{middle[0]:.0f},{middle[1]:.0f}"
        if not near or near[0][0] > 0.25 * length(pieces[near[0][1]]):
            for value in tile["halves"]:
                tally.count(HALF, WRONG, file=file, place=place, said="nothing", truth=str(value), probability=0.0)
            continue
        found[near[0][1]] = t
        count_halves(tally, file, pieces[near[0][1]], centres, tile["halves"])
    for i, piece in enumerate(pieces):
        if i not in found:
            for key in ("left", "right"):
                phantom(tally, HALF, file, piece, piece.facts[key].best)
    count_line(tally, file, reading, truth, found)


def count_halves(
    tally: Tally, file: str, piece: Piece, centres: Sequence[tuple[float, ...]], halves: Sequence[int]
) -> None:
    """Each half against the value at its place."""
    q = piece.outline
    left = ((q[0][0] + q[1][0]) / 2, (q[0][1] + q[1][1]) / 2)
    keys = ("left", "right") if math.dist(left, centres[0]) < math.dist(left, centres[1]) else ("right", "left")
    for key, value, at in zip(keys, halves, centres, strict=True):
        tally.fact(HALF, file, f"{at[0]:.0f},{at[1]:.0f}", piece.facts[key], str(value))


def count_line(tally: Tally, file: str, reading: Reading, truth: Mapping[str, Any], found: Mapping[int, int]) -> None:
    """The order (either direction) and the two open ends."""
    wanted = [int(t["index"]) for t in truth["tiles"]]
    order = reading.facts.get("line:order")
    ends = [reading.facts.get("line:start"), reading.facts.get("line:finish")]
    if len(wanted) < 2:
        return
    open_ends = [str(v) for v in truth["open_ends"]]
    if order is None or not order.sure(SURE_LEAD):
        tally.count("line order", ASKED, file=file, place="", said="?", truth=str(wanted), probability=0.0)
        for end in open_ends:
            tally.count("line end", ASKED, file=file, place="", said="?", truth=end, probability=0.0)
        return
    said = [found.get(int(i), -1) for i in order.best.split(">")]
    right = said in (wanted, wanted[::-1])
    tally.count(
        "line order", RIGHT if right else WRONG, file=file, place="", said=str(said), truth=str(wanted), probability=1.0
    )
    if said and said[0] != wanted[0] and said[-1] == wanted[0]:
        ends.reverse()
    for fact, end in zip(ends, open_ends, strict=True):
        tally.fact("line end", file, "", fact, end)
