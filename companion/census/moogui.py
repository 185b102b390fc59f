"""Rendered arenas with truth: figures, their faces and states, in or out, and where they lie."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2

from calibration.profile import Markers, TableProfile, load_board
from companion.census.tally import ASKED, RIGHT, WRONG, Tally, decoded, timed
from devices.contract import Frame
from vision.figure_faces import Figure
from vision.figure_pieces import UNKNOWN
from vision.figures import FigureReader
from vision.reading import SURE_LEAD, Fact, Piece

SCENE = "moogui"
NEAR_MM = 30.0
"""A piece counts as this figure when its place is within this."""
RIGHT_MM = 4.0
SURE_MM = 2.5
"""Up to this standard deviation a place counts as stated."""


def recognise(folder: Path) -> bool:
    """True for a folder of single pictures of an arena with its catalogue."""
    return (folder / "catalogue.json").exists() and bool(shots(folder))


def shots(folder: Path) -> list[tuple[Path, Mapping[str, Any]]]:
    """The folder's arena pictures and their truth, in order of name."""
    found: list[tuple[Path, Mapping[str, Any]]] = []
    for path in sorted(folder.glob("*.json")):
        try:
            truth = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(truth, dict) and truth.get("scene") == SCENE and "figures" in truth:
            picture = folder / str(truth.get("image", path.with_suffix(".jpg").name))
            if picture.exists():
                found.append((picture, truth))
    return found


def catalogue(folder: Path) -> tuple[tuple[Figure, ...], dict[str, float]]:
    """The enrolled figures of a folder and the prism's measures."""
    data = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))

    def picture(name: str | None) -> Any:
        return None if name is None else cv2.imread(str(folder / name), cv2.IMREAD_COLOR)

    figures = []
    for item in data["figures"]:
        faces = sorted(item["faces"], key=lambda face: int(face["index"]))
        figures.append(
            Figure(
                name=str(item["id"]),
                faces=tuple(picture(face["picture"]) for face in faces),
                states=tuple("shield" if face["kind"] == "shield" else "power" for face in faces),
                top=picture(item.get("top_picture")),
                bottom=picture(item.get("bottom_picture")),
            )
        )
    sizes = {"figure_length": float(data["length_mm"]), "figure_across_flats": float(data["across_flats_mm"])}
    return tuple(figures), sizes


def profile_of(truth: Mapping[str, Any], sizes: Mapping[str, float]) -> TableProfile:
    """What set-up knows of this arena: the markers' places, or else four tapped corners, and the figures' measures."""
    board = load_board("moogui")
    board = replace(board, sizes_mm={**board.sizes_mm, **sizes})
    if truth.get("markers"):
        markers = Markers(
            dictionary=str(truth["markers"][0]["dict"]),
            corners_mm={int(m["id"]): tuple(_point(p) for p in m["corners_mm"]) for m in truth["markers"]},
        )
        return TableProfile(board=replace(board, markers=markers))
    tapped = tuple((float(x), float(y)) for x, y in (truth["board_corners_px"][n] for n in board.corner_names))
    return TableProfile(board=replace(board, markers=None), corners_px=tapped)


def _point(p: Sequence[float]) -> tuple[float, float, float]:
    return (float(p[0]), float(p[1]), float(p[2]) if len(p) > 2 else 0.0)


def read(folder: Path) -> Tally:
    """Every picture read by a reader that has seen nothing before, and once more with the arena's place known."""
    tally = Tally()
    figures, sizes = catalogue(folder)
    for path, truth in shots(folder):
        picture, decode_s = decoded(path)
        tally.pictures += 1
        file = f"{folder.name}/{path.stem}"
        if picture is None:
            tally.count("figure", WRONG, file=file, place="", said="no picture", truth="", probability=0.0)
            continue
        reader = FigureReader(profile_of(truth, sizes), figures)
        reader.prepare()
        frame = Frame(picture, 0, 0.0, str(path))
        reading, read_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        _, again_s = timed(lambda reader=reader, frame=frame: reader.read(frame))  # type: ignore[misc]
        tally.ratios.setdefault("cold", []).append(read_s / decode_s)
        tally.ratios.setdefault("tracked", []).append(again_s / decode_s)
        count_figures(tally, file, reading.pieces, truth["figures"])
    return tally


def count_figures(tally: Tally, file: str, pieces: Sequence[Piece], figures: Sequence[Mapping[str, Any]]) -> None:
    """Figures by place: name, face, state, in or out, position; then what was seen where nothing lies."""
    left = list(range(len(pieces)))
    for figure in figures:
        middle = (float(figure["center_mm"][0]), float(figure["center_mm"][1]))
        place = f"{middle[0]:.0f},{middle[1]:.0f}"
        up = figure["up"]
        truth = {
            "figure": str(figure["id"]),
            "face": str(int(up) + 1) if str(up).isdigit() else str(up),
            "state": str(figure["state"]),
            "in/out": "yes" if figure["in"] else "no",
        }
        near = sorted((math.dist(pieces[i].xy, middle), i) for i in left)
        if not near or near[0][0] > NEAR_MM:
            for kind, value in (*truth.items(), ("position", place)):
                tally.count(kind, WRONG, file=file, place=place, said="nothing", truth=value, probability=0.0)
            continue
        off, chosen = near[0]
        left.remove(chosen)
        piece = pieces[chosen]
        for kind, value in truth.items():
            tally.fact(kind, file, place, _judged(piece, "in" if kind == "in/out" else kind), value)
        stated = piece.sigma <= SURE_MM
        outcome = (RIGHT if off <= RIGHT_MM else WRONG) if stated else ASKED
        tally.count("position", outcome, file=file, place=place, said=f"{off:.1f} mm off", truth=place, probability=0.0)
    for i in left:
        fact = pieces[i].facts["figure"]
        stated = fact.sure(SURE_LEAD) and fact.best != UNKNOWN
        place = f"{pieces[i].xy[0]:.0f},{pieces[i].xy[1]:.0f}"
        outcome = WRONG if stated else ASKED
        tally.count("figure", outcome, file=file, place=place, said=fact.best, truth="nothing", probability=0.0)


def _judged(piece: Piece, kind: str) -> Fact:
    """The fact as a person is told it: `unknown` asks, and so does all that hangs on it."""
    fact = piece.facts[kind]
    if kind == "figure" and fact.best == UNKNOWN:
        return replace(fact, hidden=True, reason=fact.reason or "unclear")
    return fact
