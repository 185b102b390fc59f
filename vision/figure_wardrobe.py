"""The templates of the enrolled figures, each set at the spacing and blur of its use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from vision.figure_faces import Figure, Look, Solid, Templates, templates
from vision.figure_fit import Prints, levelled, prints, rows
from vision.sampling import Floats

SCAN_MM, SCAN_BLUR_MM = 4.0, 1.4
"""Spacing of a figure's sample points for searching, and the blur of what they are compared with."""
SETTLE_MM, SETTLE_BLUR_MM = 2.6, 0.9
"""The same for finding the place to a fraction of a millimetre."""
READ_MM, READ_BLURS_MM = 1.8, (0.35, 0.9)
"""The same for reading: a sharp picture, a soft one."""

Prepared: TypeAlias = tuple[Prints, Floats, list[Floats]]
"""Sample points, the levelled looks (H, N, 3), and each patch's looks as rows of length one (H, 3 n)."""


class Wardrobe:
    """The templates of the enrolled figures, made when first needed."""

    def __init__(self, figures: Sequence[Figure], solid: Solid) -> None:
        self.figures, self.solid = tuple(figures), solid

    def prepare(self) -> None:
        """Makes all templates now."""
        for made in (self.scan, self.settle, self.read):
            assert made

    @cached_property
    def _scan(self) -> Templates:
        return templates(self.figures, self.solid, SCAN_MM, SCAN_BLUR_MM)

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Every look, in the order of the templates."""
        return self._scan.looks

    @cached_property
    def scan(self) -> Prepared:
        """For searching."""
        return _prepared(self._scan)

    @cached_property
    def settle(self) -> Prepared:
        """For finding the place."""
        return _prepared(templates(self.figures, self.solid, SETTLE_MM, SETTLE_BLUR_MM))

    @cached_property
    def read(self) -> tuple[Prints, tuple[Floats, ...], Floats]:
        """Points for reading and each patch's looks (B, 3, H, n), with their sums of squares (B, 3, H, 4); B blurs."""
        sets = []
        for blur in READ_BLURS_MM:
            made, known = _joined(templates(self.figures, self.solid, READ_MM, blur))
            sets.append(known.transpose(2, 0, 1))
        looks = np.stack(sets)
        sizes = (looks * looks) @ (made.mean.T * made.counts) + np.float32(1.0)
        return made, tuple(np.ascontiguousarray(looks[..., part]) for part in made.slices), sizes


def _prepared(made: Templates) -> Prepared:
    points, known = _joined(made)
    return points, levelled(known, points), rows(known, points)


def _joined(made: Templates) -> tuple[Prints, Floats]:
    return prints(made.points), np.asarray(np.concatenate(made.patches, axis=1) * 255.0, dtype=np.float32)
