"""Pictures of Die Maulwurfshöhle with truth: what lies on every cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration.profile import Markers, TableProfile, load_board
from companion.census.dicetray import shots
from companion.census.tally import RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.tokens import TokenReader

SCENE = "maulwurfshoehle"
VISIBLE = 0.02
"""Up to this share behind a hand a piece counts as visible."""


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
        colours = [str(c) for c in truth["players"]]
        reader = TokenReader(profile_of(truth, "maulwurf"), colours)
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
        for place, (value, cover) in cells_of(truth, colours).items():
            kind = "cell" if value == "-" else value.rstrip("0123456789")
            label = kind if cover <= VISIBLE else f"{kind} covered"
            tally.fact(label, name, place, reading.facts.get(f"cell:{place}"), value)
    return tally


def profile_of(truth: Mapping[str, Any], game: str) -> TableProfile:
    """What set-up knows of this table: the markers' geometry, or else four tapped corners."""
    board = load_board(game)
    if truth.get("markers"):
        markers = Markers(
            dictionary=str(truth["markers"][0]["dict"]),
            corners_mm={
                int(m["id"]): tuple((float(x), float(y), float(z)) for x, y, z in m["corners_mm"])
                for m in truth["markers"]
            },
        )
        return TableProfile(replace(board, markers=markers))
    tapped = tuple((float(x), float(y)) for x, y in (truth["board_corners_px"][n] for n in board.corner_names))
    return TableProfile(replace(board, markers=None), corners_px=tapped)


def cells_of(truth: Mapping[str, Any], colours: list[str]) -> dict[str, tuple[str, float]]:
    """What lies on every cell as the looks write it, and the share of it that is behind a hand."""
    cells = {str(c): ("-", 0.0) for c in truth["cell_centers_px"]}
    for piece in truth["pieces"]:
        u, v = piece["cell"]
        value = f"{piece['kind']}{colours.index(piece['color']) + 1}"
        cells[f"{u},{v}"] = (value, float(piece.get("hand_cover", 0.0)))
    return cells
