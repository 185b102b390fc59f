"""Markers to print: the whole mat, or one sheet of markers to cut out; SVG in exact millimetres."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np

from calibration.profile import Board, CalibrationError, Markers

RIM_CELLS = 1
"""White paper that every marker needs about its black square, in cells."""

CHECK_MM = 100.0
A4_MM = (210.0, 297.0)


def mat_svg(board: Board) -> str:
    """A mat in true size: the markers where the board spec says, the board's outline, and a line of 100 mm to check the
    print with. Raises CalibrationError when the spec has no markers or an unknown dictionary."""
    markers = _markers(board)
    corners = np.array([c for square in markers.corners_mm.values() for c in square])[:, :2]
    points = np.concatenate([corners, np.array(board.corners_mm)])
    left, low = points.min(axis=0) - 25.0
    right, high = points.max(axis=0) + 25.0
    parts = [
        _marker(markers, i, min(c[0] for c in square) - left, high - max(c[1] for c in square))
        for i, square in markers.corners_mm.items()
    ]
    outline = " ".join(f"{x - left:.3f},{high - y:.3f}" for x, y in board.corners_mm)
    parts.append(f'<polygon points="{outline}" fill="none" stroke="#999" stroke-width="0.3" stroke-dasharray="2 2"/>')
    parts.append(_check_line((right - left - CHECK_MM) / 2, high - low - 8.0))
    return _svg(right - left, high - low, parts)


def marker_sheet_svg(board: Board) -> str:
    """All markers on A4, each with its white rim and number, to cut out and lay where the board spec says."""
    markers = _markers(board)
    pitch = _side_mm(markers, next(iter(markers.corners_mm))) * 1.6
    columns = max(1, int((A4_MM[0] - 20.0) // pitch))
    parts = []
    for n, i in enumerate(sorted(markers.corners_mm)):
        x, y = 10.0 + (n % columns) * pitch, 10.0 + (n // columns) * (pitch + 6.0)
        side = _side_mm(markers, i)
        inset = (pitch - side) / 2
        parts.append(_marker(markers, i, x + inset, y + inset))
        parts.append(
            f'<rect x="{x:.3f}" y="{y:.3f}" width="{pitch:.3f}" height="{pitch:.3f}" fill="none" stroke="#bbb" '
            'stroke-width="0.2"/>'
        )
        parts.append(f'<text x="{x + 2:.3f}" y="{y + pitch + 4:.3f}" font-size="4" font-family="sans-serif">{i}</text>')
    parts.append(_check_line(20.0, A4_MM[1] - 12.0))
    return _svg(*A4_MM, parts)


def _markers(board: Board) -> Markers:
    if board.markers is None or not board.markers.corners_mm:
        raise CalibrationError(f"the board spec of {board.game} has no markers to print: add a [markers] table")
    if not isinstance(getattr(cv2.aruco, board.markers.dictionary, None), int):
        raise CalibrationError(f"unknown marker dictionary {board.markers.dictionary!r}: use OpenCV's names")
    return board.markers


def _side_mm(markers: Markers, marker: int) -> float:
    first, second = (np.array(c[:2]) for c in markers.corners_mm[marker][:2])
    return float(np.linalg.norm(second - first))


def _marker(markers: Markers, marker: int, x_mm: float, y_mm: float) -> str:
    """One upright marker, its black square's top left corner at (x, y) of the sheet."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, markers.dictionary))
    cells = int(dictionary.markerSize) + 2
    bits = np.asarray(cv2.aruco.generateImageMarker(dictionary, marker, cells)) > 127
    side = _side_mm(markers, marker)
    cell = side / cells
    white = "".join(
        f'<rect x="{x_mm + c * cell:.4f}" y="{y_mm + r * cell:.4f}" width="{cell:.4f}" height="{cell:.4f}"/>'
        for r, c in zip(*np.nonzero(bits), strict=True)
    )
    return (
        f'<g id="marker{marker}"><rect x="{x_mm:.4f}" y="{y_mm:.4f}" width="{side:.4f}" height="{side:.4f}"/>'
        f'<g fill="#fff" shape-rendering="crispEdges">{white}</g></g>'
    )


def _check_line(x_mm: float, y_mm: float) -> str:
    end = x_mm + CHECK_MM
    return (
        f'<g stroke="#000" stroke-width="0.3"><line id="check" x1="{x_mm:.3f}" y1="{y_mm:.3f}" x2="{end:.3f}" '
        f'y2="{y_mm:.3f}"/><line x1="{x_mm:.3f}" y1="{y_mm - 2:.3f}" x2="{x_mm:.3f}" y2="{y_mm + 2:.3f}"/>'
        f'<line x1="{end:.3f}" y1="{y_mm - 2:.3f}" x2="{end:.3f}" y2="{y_mm + 2:.3f}"/></g>'
        f'<text x="{x_mm + 2:.3f}" y="{y_mm - 1.5:.3f}" font-size="4" font-family="sans-serif">100 mm</text>'
    )


def _svg(width_mm: float, height_mm: float, parts: Iterable[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width_mm:.3f}mm" height="{height_mm:.3f}mm" '
        f'viewBox="0 0 {width_mm:.3f} {height_mm:.3f}">\n'
        f'<rect width="{width_mm:.3f}" height="{height_mm:.3f}" fill="#fff"/>\n{body}\n</svg>\n'
    )
