"""The physical Moguli table: which tile lies where and how, which pawn stands on which door. No rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

STRAIGHT, BEND = "STRAIGHT", "BEND"
PATHS: dict[str, tuple[str, int]] = {
    "NE": (BEND, 0), "ES": (BEND, 1), "SW": (BEND, 2), "NW": (BEND, 3), "NS": (STRAIGHT, 0), "EW": (STRAIGHT, 1),
}  # fmt: skip
"""Path seen on the table -> kind of tile and quarter turns clockwise from how it was painted."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How carefully a hand puts things down: standard deviations, and the limits that it never exceeds."""

    tile_mm: float = 0.5
    tile_deg: float = 0.9
    tile_limit_mm: float = 2.0
    tile_limit_deg: float = 4.0
    pawn_mm: float = 0.6
    pawn_limit_mm: float = 2.0
    pace: float = 1.0

    def settle(self, rng: np.random.Generator, scale: float = 1.0) -> tuple[float, float, float]:
        """A tile's new deviation from its place: x and y in mm, counter-clockwise degrees."""
        x, y = np.clip(rng.normal(0, self.tile_mm * scale, 2), -self.tile_limit_mm, self.tile_limit_mm)
        turn = np.clip(rng.normal(0, self.tile_deg * scale), -self.tile_limit_deg, self.tile_limit_deg)
        return float(x), float(y), float(turn)

    def stand(self, rng: np.random.Generator) -> tuple[float, float]:
        """A pawn's new deviation from its door's middle, in mm."""
        x, y = np.clip(rng.normal(0, self.pawn_mm, 2), -self.pawn_limit_mm, self.pawn_limit_mm)
        return float(x), float(y)


NEAT = Manner()
SLOPPY = Manner(tile_mm=1.3, tile_deg=2.6, tile_limit_deg=7.0, pawn_mm=2.6, pawn_limit_mm=5.0, pace=0.75)


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: its kind, triangle and own grain (`seed`), its quarter turns clockwise and how it lies off its place
    (mm, counter-clockwise degrees)."""

    straight: bool
    triangle: bool
    seed: int
    quarter: int = 0
    x_mm: float = 0.0
    y_mm: float = 0.0
    askew_deg: float = 0.0

    @property
    def path(self) -> str:
        """The two sides joined on its face."""
        return next(p for p, v in PATHS.items() if v == (self.kind, self.quarter % (2 if self.straight else 4)))

    @property
    def kind(self) -> str:
        """STRAIGHT or BEND."""
        return STRAIGHT if self.straight else BEND

    @property
    def angle_deg(self) -> float:
        """Its counter-clockwise angle from how it was painted."""
        return -90.0 * self.quarter + self.askew_deg


@dataclass(frozen=True, slots=True)
class Pawn:
    """One pawn on a door: its player (`1` or `2`) and how far from the door's middle it stands, in mm."""

    player: str
    x_mm: float = 0.0
    y_mm: float = 0.0


@dataclass(slots=True)
class World:
    """All that lies on the table: `tiles` and `pawns` by cell; a cell with no entry is bare."""

    tiles: dict[str, Tile]
    pawns: dict[str, Pawn]

    def look(self, cells: Iterable[str]) -> dict[str, str]:
        """The facts `path:`, `triangle:` and `pawn:` of every cell; `-` where nothing lies."""
        facts: dict[str, str] = {}
        for cell in cells:
            tile, pawn = self.tiles.get(cell), self.pawns.get(cell)
            facts[f"path:{cell}"] = tile.path if tile else "-"
            facts[f"triangle:{cell}"] = ("yes" if tile.triangle else "no") if tile else "-"
            facts[f"pawn:{cell}"] = pawn.player if pawn else "-"
        return facts

    def copy(self) -> World:
        """A world that can be changed without changing this one."""
        return World(dict(self.tiles), dict(self.pawns))


def tile_for(path: str, triangle: bool, seed: int) -> Tile:
    """A tile that shows this path, exactly on its place; raises ValueError for an unknown path."""
    if path not in PATHS:
        raise ValueError(f"unknown path {path!r}; there are {', '.join(PATHS)}")
    kind, quarter = PATHS[path]
    return Tile(kind == STRAIGHT, triangle, seed, quarter)


def world_of(look: Mapping[str, str], cells: Iterable[str], rng: np.random.Generator, manner: Manner = NEAT) -> World:
    """A world that looks so; what the look does not name is bare, a missing triangle is none."""
    tiles: dict[str, Tile] = {}
    pawns: dict[str, Pawn] = {}
    for cell in cells:
        seed = int(rng.integers(1 << 30))
        path, player = look.get(f"path:{cell}", "-"), look.get(f"pawn:{cell}", "-")
        x, y, turn = manner.settle(rng)
        off = manner.stand(rng)
        if path != "-":
            tile = tile_for(path, look.get(f"triangle:{cell}", "no") == "yes", seed)
            tiles[cell] = replace(tile, x_mm=x, y_mm=y, askew_deg=turn)
        if player != "-":
            pawns[cell] = Pawn(player, *off)
    return World(tiles, pawns)
