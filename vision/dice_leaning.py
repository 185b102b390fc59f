"""Whether a die leans: by how its upright edge looks from here, and by what it might lean on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.geometry import Camera
from vision.dice_places import COCKED, EVEN, NONE, Verdict
from vision.pips import Floats, Found, log_softmax

BOX_EDGES = 1.27
"""A square's box is so many of its edges wide, averaged over its directions."""
LEANS_FROM, LEANS_RATE, LEANS_AT_MOST = 0.18, 14.0, 2.0
"""An upright edge that is off by the first (in sides of the box) speaks neither way; what it is further off speaks for
leaning at the second (natural log odds a side), what it is nearer for lying flat; never by more than the third. Fitted
to simulated dice."""
FREE_OF_DICE, FREE_OF_RIM, FREE = 1.9, 1.4, 3.0
"""A die whose middle is further than so many edges from all others and from the rim has nothing to lean on: leaning is
less likely by the third (natural log odds; the places may be wrong)."""
RIM_EDGES, AT_RIM = 0.9, 1.5
"""A die nearer to the rim than so many edges touches it: leaning is more likely by the second."""
OTHERS = 2
"""So many other dice tell how the upright edge of a die that lies flat points, where no camera is known."""


def upright(place: Found, camera: Camera, edge_mm: float) -> Floats:
    """How the upright edge of a die that lies flat there looks to this camera, in sides of the box: it points away from
    the point under the camera, by a known share of the die."""
    foot = camera.to_plane(np.array([[place.cx, place.cy]]), edge_mm / 2)[0]
    ends = camera.project(np.array([[*foot, 0.0], [*foot, edge_mm], [foot[0] + edge_mm, foot[1], 0.0]]))
    share = (ends[1] - ends[0]) / max(float(np.linalg.norm(ends[2] - ends[0])), 1e-6)
    # A square's box is 1.27 of its edge wide, averaged over its directions; the upright edge adds to it.
    return np.asarray(share / (BOX_EDGES + 0.6 * float(np.linalg.norm(share))), np.float32)


def usual_uprights(verdicts: Sequence[Verdict]) -> list[Floats | None]:
    """For each place how the upright edges of the picture's other dice point: their geometric median, each as likely as
    it lies flat.

    None where too few others are seen to say so. Upright edges of one picture are all but parallel.
    """
    if not verdicts:
        return []
    ups = np.array([v.up for v in verdicts], np.float64)
    dice = np.array([v.logs[NONE] < EVEN for v in verdicts])
    flat = np.exp([v.logs[:6] for v in verdicts]).sum(axis=1, dtype=np.float64) + 1e-6
    weights = np.where(dice & ~np.eye(len(verdicts), dtype=bool), flat, 0.0)
    enough = (weights > 0).sum(axis=1) >= OTHERS
    weights[~enough] = flat
    middles = weights @ ups / weights.sum(axis=1, keepdims=True)
    for _ in range(15):
        near = weights / np.maximum(np.linalg.norm(ups - middles[:, None], axis=2), 0.03)
        middles = near @ ups / near.sum(axis=1, keepdims=True)
    return [np.asarray(m, np.float32) if yes else None for m, yes in zip(middles, enough, strict=True)]


def support(which: int, spots_mm: NDArray[np.float64], rim_mm: NDArray[np.float64], edge_mm: float) -> float:
    """How much likelier than usual a die leans (natural log odds): more at the rim, less where it is far from all that
    it might lean on. `spots_mm` (N, 2) are the dice's middles, `rim_mm` (4, 2) the corners of the tray's floor."""
    here = spots_mm[which]
    inside = cv2.pointPolygonTest(rim_mm.astype(np.float32), (float(here[0]), float(here[1])), True) / edge_mm
    alone = np.count_nonzero(np.linalg.norm(spots_mm - here, axis=1) < FREE_OF_DICE * edge_mm) == 1
    return AT_RIM if 0 < inside < RIM_EDGES else -FREE if inside > FREE_OF_RIM and alone else 0.0


def oddly(verdict: Verdict, expected: Floats) -> bool:
    """Whether the upright edge is so far from that of a die that lies flat there that it speaks for leaning."""
    return float(np.hypot(*(np.array(verdict.up) - expected))) > LEANS_FROM


def leaning(verdict: Verdict, expected: Floats | None, support: float = 0.0) -> Verdict:
    """The verdict with what the upright edge says, given how that of a die that lies flat looks there (None where that
    is not known), and with what its place says for leaning (natural log odds)."""
    logs = verdict.logs.copy()
    logs[COCKED] += support
    if expected is not None:
        off = float(np.hypot(*(np.array(verdict.up) - expected)))
        logs[COCKED] += np.clip((off - LEANS_FROM) * LEANS_RATE, -LEANS_AT_MOST, LEANS_AT_MOST)
    return replace(verdict, logs=log_softmax(logs))
