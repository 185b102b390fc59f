"""Moguli pictures with truth: paths, triangles and pawns of every place, visible and covered counted apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calibration.palette import named
from calibration.profile import CalibrationError, Markers, TableProfile, load_board
from companion.census.tally import RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.reading import Reading
from vision.tiles import TileReader

VISIBLE = 0.02
"""Up to this share behind a hand a thing counts as visible."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture and its truth file."""

    name: str
    picture: Path
    truth: Mapping[str, Any]


def recognise(folder: Path) -> bool:
    """True for a folder of single Moguli pictures (a sequence has its own kind)."""
    return not (folder / "sequence.json").exists() and bool(shots(folder))


def read(folder: Path) -> Tally:
    """Every picture read by a reader that has seen nothing before."""
    tally = Tally()
    pictures = shots(folder)
    colours = players_colours(s.truth for s in pictures)
    for shot in pictures:
        picture, decode_s = decoded(shot.picture)
        tally.pictures += 1
        name = f"{folder.name}/{shot.name}"
        if picture is None:
            tally.count("board", WRONG, file=name, place="", said="no picture", truth="board", probability=0.0)
            continue
        reader = TileReader(profile_of(shot.truth, colours))
        frame = Frame(picture, 0, 0.0, str(shot.picture))
        reading, read_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("cold", []).append(read_s / decode_s)
        count_reading(tally, name, reading, shot.truth)
    return tally


def shots(folder: Path) -> list[Shot]:
    """The folder's Moguli pictures in order of name; files that are something else are passed over."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            truth = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(truth, dict) and truth.get("scene") == "moguli" and "tiles" in truth:
            picture = folder / str(truth.get("image", path.with_suffix(".jpg").name))
            if picture.exists():
                found.append(Shot(path.stem, picture, truth))
    return found


def players_colours(truths: Any) -> dict[int, str]:
    """Which colour is whose (player 1 or 2 -> colour name): what set-up asks once a folder."""
    return {int(p["player"]): str(p["color"]) for truth in truths for p in truth.get("pawns", ())}


def profile_of(truth: Mapping[str, Any], colours: Mapping[int, str]) -> TableProfile:
    """What set-up knows of this table: the markers' geometry, or else four tapped corners, and the pawns' colours."""
    board = load_board("moguli")
    palette = {}
    for player, colour in colours.items():
        try:
            palette[f"pawn{player}"] = named(colour)
        except CalibrationError:
            # A colour without a common name is learned at the start position instead.
            palette = {}
            break
    if truth.get("markers"):
        markers = Markers(
            dictionary=str(truth["markers"][0]["dict"]),
            corners_mm={int(m["id"]): tuple(_point(p) for p in m["corners_mm"]) for m in truth["markers"]},
        )
        return TableProfile(board=replace(board, markers=markers), palette=palette)
    tapped = tuple((float(x), float(y)) for x, y in (truth["board_corners_px"][n] for n in board.corner_names))
    return TableProfile(board=replace(board, markers=None), corners_px=tapped, palette=palette)


def _point(p: Any) -> tuple[float, float, float]:
    return (float(p[0]), float(p[1]), float(p[2]) if len(p) > 2 else 0.0)


def count_reading(tally: Tally, name: str, reading: Reading, truth: Mapping[str, Any]) -> None:
    """Compares one reading with its picture's truth."""
    tally.count(
        "board",
        RIGHT if reading.board_found else WRONG,
        file=name,
        place="",
        said=" ".join(reading.troubles),
        truth="board",
        probability=0.0,
    )
    for key, value, cover in facts_of(truth):
        kind, _, place = key.partition(":")
        label = kind if cover <= VISIBLE else f"{kind} covered"
        tally.fact(label, name, place, reading.facts.get(key), value)


def facts_of(truth: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Every fact of a picture: its key, its value, and the share of it that is behind a hand."""
    pawns = {p["cell"]: p for p in truth.get("pawns", ())}
    facts = []
    for tile in truth["tiles"]:
        cell, cover = tile["cell"], float(tile.get("hand_cover", 0.0))
        facts.append((f"path:{cell}", in_order(tile["surface_sides"]), cover))
        facts.append((f"triangle:{cell}", "yes" if tile["triangle"] else "no", cover))
        pawn = pawns.get(cell)
        standing = cover if pawn is None else max(cover, float(pawn.get("hand_cover", 0.0)))
        facts.append((f"pawn:{cell}", "-" if pawn is None else str(pawn["player"]), standing))
    return facts


def in_order(sides: str) -> str:
    """The two sides of a path as the looks write them (NE NS NW ES EW SW)."""
    for path in ("NE", "NS", "NW", "ES", "EW", "SW"):
        if set(path) == set(sides):
            return path
    raise ValueError(f"no path joins {sides!r}")
