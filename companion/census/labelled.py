"""Photographs with a `labels.json`: dice by value (and box, where given), dominoes by their two halves."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from companion.census.tally import ASKED, RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.dice import DiceReader
from vision.dominoes import DominoReader
from vision.reading import SURE_LEAD, Piece

DIE, HALF = "die value", "domino half"
PICTURES = (".jpg", ".jpeg", ".png")


def recognise(folder: Path) -> bool:
    """True when `labels.json` lists pictures with `dice` or `dominoes`."""
    return bool(labels_of(folder))


def labels_of(folder: Path) -> dict[str, Mapping[str, Any]]:
    """File name to its labels, for every picture of dice or dominoes that is there."""
    try:
        labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(labels, dict):
        return {}
    return {
        name: entry
        for name, entry in sorted(labels.items())
        if not name.startswith("_")
        and isinstance(entry, dict)
        and ("dice" in entry or "dominoes" in entry)
        and name.lower().endswith(PICTURES)
        and (folder / name).is_file()
    }


def read(folder: Path) -> Tally:
    """Every labelled picture, read as values only (nothing is known of the table)."""
    tally = Tally()
    dice, dominoes = DiceReader(), DominoReader()
    for name, entry in labels_of(folder).items():
        picture, decode_s = decoded(folder / name)
        tally.pictures += 1
        file = f"{folder.name}/{name}"
        kind = DIE if "dice" in entry else HALF
        if picture is None:
            tally.count(kind, WRONG, file=file, place="", said="no picture", truth="", probability=0.0)
            continue
        frame = Frame(picture, 0, 0.0, file)
        reader = dice if kind == DIE else dominoes
        reading, read_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("cold", []).append(read_s / decode_s)
        if kind == DIE and "boxes" in entry:
            count_boxed_dice(tally, file, reading.pieces, entry["dice"], entry["boxes"])
        elif kind == DIE:
            count_loose_dice(tally, file, reading.pieces, entry["dice"])
        else:
            height, width = picture.shape[:2]
            centres = [(x * width, y * height) for x, y in entry.get("centers", ())]
            count_tiles(tally, file, reading.pieces, entry["dominoes"], centres)
    return tally


def count_boxed_dice(
    tally: Tally, file: str, pieces: Sequence[Piece], values: Sequence[int], boxes: Sequence[Sequence[float]]
) -> None:
    """Each box takes the nearest piece whose middle lies well inside it; the rest are missed or phantoms."""
    left = list(range(len(pieces)))
    for value, (x0, y0, x1, y1) in zip(values, boxes, strict=True):
        middle, side = ((x0 + x1) / 2, (y0 + y1) / 2), (x1 - x0 + y1 - y0) / 2
        near = sorted((math.dist(pieces[i].xy, middle), i) for i in left)
        place = f"{middle[0]:.0f},{middle[1]:.0f}"
        if not near or near[0][0] > 0.4 * side:
            tally.count(DIE, WRONG, file=file, place=place, said="nothing", truth=str(value), probability=0.0)
            continue
        left.remove(near[0][1])
        tally.fact(DIE, file, place, pieces[near[0][1]].facts["value"], str(value))
    for i in left:
        phantom(tally, DIE, file, pieces[i], pieces[i].facts["value"].best)


def phantom(tally: Tally, kind: str, file: str, piece: Piece, said: str) -> None:
    """A piece where none lies: wrong when it is stated to be one, asked when the reader doubts that it is."""
    fact = piece.facts["kind"]
    outcome = WRONG if fact.best != "other" and fact.sure(SURE_LEAD) else ASKED
    place = f"{piece.xy[0]:.0f},{piece.xy[1]:.0f}"
    tally.count(kind, outcome, file=file, place=place, said=said, truth="nothing", probability=fact.probability)


def count_loose_dice(tally: Tally, file: str, pieces: Sequence[Piece], values: Sequence[int]) -> None:
    """Values without places: stated values against true values as bags; unsure pieces answer for what is left."""
    stated = Counter(p.facts["value"].best for p in pieces if p.facts["value"].sure(SURE_LEAD))
    unsure = [p for p in pieces if not p.facts["value"].sure(SURE_LEAD)]
    truth = Counter(str(v) for v in values)
    for value in (stated & truth).elements():
        tally.count(DIE, RIGHT, file=file, place="", said=value, truth=value, probability=1.0)
    missing, invented = list((truth - stated).elements()), list((stated - truth).elements())
    likely = [p for p in unsure if p.facts["kind"].best == "die"]
    for value in missing[: len(likely)]:
        tally.count(DIE, ASKED, file=file, place="", said="", truth=value, probability=0.0)
    missing = missing[len(likely) :]
    for k in range(max(len(missing), len(invented))):
        said = invented[k] if k < len(invented) else "nothing"
        wanted = missing[k] if k < len(missing) else "nothing"
        tally.count(DIE, WRONG, file=file, place="", said=said, truth=wanted, probability=1.0)
    for piece in likely[len(list((truth - stated).elements())) :]:
        phantom(tally, DIE, file, piece, "?")


def count_tiles(
    tally: Tally,
    file: str,
    pieces: Sequence[Piece],
    tiles: Sequence[Sequence[int]],
    centres: Sequence[tuple[float, float]],
) -> None:
    """Tiles by place where centres are given, else by value; two halves each, either way round."""
    left = list(range(len(pieces)))
    pairs: list[tuple[int, Piece | None]] = []
    if centres:
        ways = sorted((math.dist(p.xy, c), t, i) for t, c in enumerate(centres) for i, p in enumerate(pieces))
        taken: dict[int, int] = {}
        for far, t, i in ways:
            if t not in taken and i in left and far < 0.6 * length(pieces[i]):
                taken[t] = i
                left.remove(i)
        pairs = [(t, pieces[taken[t]] if t in taken else None) for t in range(len(tiles))]
    else:
        open_tiles = list(range(len(tiles)))
        for strictness in (2, 1, 0):
            for i in list(left):
                fits = [t for t in open_tiles if agreement(pieces[i], tiles[t]) >= strictness]
                if fits and open_tiles:
                    best = max(fits, key=lambda t: agreement(pieces[i], tiles[t]))
                    pairs.append((best, pieces[i]))
                    open_tiles.remove(best)
                    left.remove(i)
        pairs += [(t, None) for t in open_tiles]
    for t, piece in pairs:
        count_tile(tally, file, piece, tiles[t])
    for i in left:
        for key in ("left", "right"):
            phantom(tally, HALF, file, pieces[i], pieces[i].facts[key].best)


def length(piece: Piece) -> float:
    """Length of a tile's outline in its own unit."""
    q = piece.outline
    return math.dist(
        ((q[0][0] + q[1][0]) / 2, (q[0][1] + q[1][1]) / 2), ((q[2][0] + q[3][0]) / 2, (q[2][1] + q[3][1]) / 2)
    )


def agreement(piece: Piece, tile: Sequence[int]) -> int:
    """How many of the tile's halves the piece shows, the better way round."""
    a, b = piece.facts["left"].best, piece.facts["right"].best
    x, y = str(tile[0]), str(tile[1])
    return max((a == x) + (b == y), (a == y) + (b == x))


def count_tile(tally: Tally, file: str, piece: Piece | None, tile: Sequence[int]) -> None:
    """Both halves of one tile, the way round that agrees better; a missed tile is two wrong halves."""
    x, y = str(tile[0]), str(tile[1])
    if piece is None:
        for value in (x, y):
            tally.count(HALF, WRONG, file=file, place="", said="nothing", truth=value, probability=0.0)
        return
    a, b = piece.facts["left"], piece.facts["right"]
    if (a.best == y) + (b.best == x) > (a.best == x) + (b.best == y):
        a, b = b, a
    place = f"{piece.xy[0]:.0f},{piece.xy[1]:.0f}"
    tally.fact(HALF, file, place, a, x)
    tally.fact(HALF, file, place, b, y)
