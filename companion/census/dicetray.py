"""Rendered dice trays with truth: die values, leaning dice refused, and (where the table is known) places."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calibration.profile import Board, Markers, TableProfile
from companion.census.labelled import DIE, phantom
from companion.census.tally import ASKED, RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.dice import DiceReader
from vision.reading import SURE_LEAD, Piece

SCENE = "dicetray"


def recognise(folder: Path) -> bool:
    """True for a folder of single pictures of this scene."""
    return bool(shots(folder, SCENE))


def shots(folder: Path, scene: str) -> list[tuple[Path, Mapping[str, Any]]]:
    """The folder's pictures of one scene and their truth, in order of name."""
    found: list[tuple[Path, Mapping[str, Any]]] = []
    for path in sorted(folder.glob("*.json")):
        try:
            truth = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(truth, dict) and truth.get("scene") == scene:
            picture = folder / str(truth.get("image", path.with_suffix(".jpg").name))
            if picture.exists():
                found.append((picture, truth))
    return found


def profile_of(truth: Mapping[str, Any]) -> TableProfile | None:
    """What set-up knows of this table: the markers' geometry, or the four corners that a person would have tapped of a
    tray measured once; None where there is neither (then only values are read)."""
    if truth.get("markers"):
        markers = Markers(
            dictionary=str(truth["markers"][0]["dict"]),
            corners_mm={int(m["id"]): tuple(_point(p) for p in m["corners_mm"]) for m in truth["markers"]},
        )
        middles = [np.mean(c, axis=0) for _, c in sorted(markers.corners_mm.items())]
        corners = tuple((float(m[0]), float(m[1])) for m in middles)
        return TableProfile(Board(str(truth["scene"]), "census", ("a", "b", "c", "d"), corners, {}, {}, markers))
    if not {"board_corners_mm", "board_corners_px"} <= truth.keys():
        return None
    names = tuple(truth["board_corners_mm"])
    corners = tuple((float(c[0]), float(c[1])) for c in truth["board_corners_mm"].values())
    tapped = tuple((float(truth["board_corners_px"][n][0]), float(truth["board_corners_px"][n][1])) for n in names)
    return TableProfile(Board(str(truth["scene"]), "census", names, corners, {}, {}, None), corners_px=tapped)


def _point(p: Sequence[float]) -> tuple[float, float, float]:
    return (float(p[0]), float(p[1]), float(p[2]) if len(p) > 2 else 0.0)


def read(folder: Path) -> Tally:
    """Every picture read by a reader that has seen nothing before."""
    tally = Tally()
    for path, truth in shots(folder, SCENE):
        picture, decode_s = decoded(path)
        tally.pictures += 1
        file = f"{folder.name}/{path.stem}"
        if picture is None:
            tally.count(DIE, WRONG, file=file, place="", said="no picture", truth="", probability=0.0)
            continue
        reader = DiceReader(profile_of(truth))
        frame = Frame(picture, 0, 0.0, str(path))
        reading, read_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("cold", []).append(read_s / decode_s)
        count_dice(tally, file, reading.pieces, truth["dice"])
    return tally


def count_dice(tally: Tally, file: str, pieces: Sequence[Piece], dice: Sequence[Mapping[str, Any]]) -> None:
    """Dice by place (mm or px, as the reading gives them): values, refusals, phantoms."""
    left = list(range(len(pieces)))
    for die in dice:
        outline = np.array(die["outline_px"], np.float64)
        low, high = outline.min(axis=0), outline.max(axis=0)
        middle, reach = (low + high) / 2, 0.4 * float((high - low).mean())
        if pieces and pieces[0].unit == "mm":
            middle, reach = np.array(die["center_mm"][:2], np.float64), 0.5 * float(die["size_mm"])
        near = sorted((math.dist(pieces[i].xy, middle), i) for i in left)
        place = f"{middle[0]:.0f},{middle[1]:.0f}"
        kind = "cocked die" if die["cocked"] else DIE
        truth = "cocked" if die["cocked"] else str(die["value"])
        if not near or near[0][0] > reach:
            tally.count(kind, WRONG, file=file, place=place, said="nothing", truth=truth, probability=0.0)
            continue
        left.remove(near[0][1])
        piece = pieces[near[0][1]]
        value, cocked = piece.facts["value"], piece.facts["cocked"]
        if not die["cocked"]:
            if cocked.best == "yes" and cocked.sure(SURE_LEAD):
                tally.count(kind, WRONG, file=file, place=place, said="cocked", truth=truth, probability=1.0)
            else:
                tally.fact(kind, file, place, value, truth)
            continue
        stated = value.sure(SURE_LEAD)
        outcome = WRONG if stated else RIGHT if cocked.best == "yes" else ASKED
        said = value.best if stated else "cocked" if cocked.best == "yes" else "?"
        tally.count(kind, outcome, file=file, place=place, said=said, truth=truth, probability=value.probability)
    for i in left:
        phantom(tally, DIE, file, pieces[i], pieces[i].facts["value"].best)
