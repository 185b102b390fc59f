"""From pixels to evidence: what some or all tiles of one picture show, learning the board's look where it is new."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.geometry import Array, Camera
from devices.contract import Image
from vision.reading import SURE_LEAD
from vision.sampling import Bools, Floats, Indices, blended, log_of, log_planes, middle, planes_of, solved
from vision.tile_arms import Arms, cut_strips, learn_arms, path_log_likelihoods, score_arms
from vision.tile_doubt import Belief, Light, belief, believed, brightened, usual_light
from vision.tile_evidence import Evidence, lead, rows_of
from vision.tile_gate import (
    PRINTED,
    BareTiles,
    foreign_blocks,
    hidden_tiles,
    learn_bare,
    pooled,
)
from vision.tile_ink import STRIPS, FirstLook, Ink, first_look, half_strips, learn_ink
from vision.tile_pawns import Pawn, PawnColours, PawnLook, learn_colours, look_at_pawns, opponent, pawn_log_likelihoods
from vision.tile_triangle import (
    Triangle,
    inner_corners,
    learn_triangle,
    printed_by,
    score_corners,
    triangle_log_likelihoods,
)
from vision.tile_view import Layout, Openings, View, open_halves, openings_of, view_of

SLIP = 1e-4
"""Share of scores that follow no model: caps what one cue can be worth."""

FAR_MM, FAR_RAD = 5.0, np.radians(7.0)
"""A tile lying further off than this is not read but asked to be straightened."""

BENT_MM = 1.2
"""A shift of the whole board by more than this is followed before its tiles are read."""

FEWEST = 8
"""So many tiles must be wholly in the picture to learn from."""

Foreign = tuple[Bools, Bools]
"""Blocks (T, 14, 14) of something over the tiles, coloured and dark."""

NO_LIGHT = np.zeros(3, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What the reader knows of this table's art and light, from where tiles are looked for (`starts`, T x 3), the light
    on a middling tile, what doors and pawns hide of each tile, and what triangles cover."""

    ink: Ink
    arms: Arms
    triangle: Triangle
    colours: PawnColours
    bare: BareTiles
    starts: Array
    usual: Light
    view: Openings
    printed: Bools


def as_sure_as(leads: Array, others: Array, factor: Array) -> Array:
    """Log-likelihoods of a tile's other facts (T, N), drawn together by factors (T) and so that none leads by more than
    the tile's path does (T): what shows no path may be no tile."""
    most = np.maximum(leads, 0.1) / np.maximum(lead(others), 1e-9)
    return believed(others, np.minimum(most, factor))


def study(
    picture: Image, camera: Camera, board: Layout, known: tuple[Pawn | None, Pawn | None]
) -> tuple[Learned, Evidence] | None:
    """Learns the board's look from the picture and reads every tile; None when it shows no tiles.

    `known`: the players' pawns, where they are known from before.
    """
    everyone = np.arange(len(board.centres))
    height = board.sizes_mm["tile_height"]
    colours, inside = STRIPS.colours(picture, camera, board.centres, height)
    halves = half_strips(log_planes(planes_of(colours)))
    whole_tiles: Bools = np.asarray(inside.all(axis=1))
    ink = learn_ink(halves[:, whole_tiles]) if whole_tiles.sum() >= FEWEST else None
    if ink is None:
        return None
    first = first_look(halves, ink, open_halves(inside))
    starts = board.centres + _trend(board.centres, first, whole_tiles)
    if np.abs(starts - board.centres)[:, :2].max() > BENT_MM:
        # The board as a whole lies beside its place (a lens, a nudge): look from where its tiles are.
        colours, inside = STRIPS.colours(picture, camera, starts, height)
        halves, whole_tiles = half_strips(log_planes(planes_of(colours))), np.asarray(inside.all(axis=1))
        first = first_look(halves, ink, open_halves(inside))
    look = look_at_pawns(picture, camera, starts + first.offsets, board.sizes_mm, NO_LIGHT)
    white, rows = _white(colours[whole_tiles]), board.centres[:, 1].round(3)
    pawn_colours = learn_colours(look, np.ones(len(everyone), dtype=bool), board.palette, white, rows, known)
    pawns = pawn_log_likelihoods(look, pawn_colours)
    standing = _perhaps_standing(pawns)
    openings = openings_of(camera, starts, board)
    if standing.any():
        beside = first_look(halves[:, standing], ink, (open_halves(inside) & openings.halves)[standing])
        first.arms[standing], first.offsets[standing] = beside.arms, beside.offsets
    view = view_of(picture, camera, height, starts + first.offsets, openings, everyone, standing, NO_LIGHT)
    inked = blended(view.tiles, ink.weights)
    strips, shown = cut_strips(inked, view.seen)
    arms = learn_arms(strips, shown * whole_tiles[:, None, None], first.arms)
    scores, share = score_arms(strips, shown, arms)
    paths = path_log_likelihoods(scores, share, arms, SLIP)
    best = paths.argmax(axis=1)
    trusted = (lead(paths) > 5.0) & whole_tiles
    triangle = learn_triangle(view.tiles, inked, ink.weights, view.seen, best, trusted)
    triangles = triangle_log_likelihoods(*score_corners(view.tiles, view.seen, triangle), best, triangle, SLIP)
    printed = printed_by(triangle)
    blocks, whole = pooled(view.tiles, _bare(view.apart, best, triangles, printed))
    bare = learn_bare(blocks, whole, view.poses)
    foreign = foreign_blocks(blocks, whole, view.poses, bare)
    behind = covered(*foreign, lead(paths) >= SURE_LEAD, board)
    if behind.any():
        # With a hand about: what it covers teaches nothing, and its faint edges count.
        bare = learn_bare(blocks, whole & ~behind[:, None, None], view.poses)
        foreign = foreign_blocks(blocks, whole, view.poses, bare, strictness=1.4)
        behind = covered(*foreign, lead(paths) >= SURE_LEAD, board)
        free = whole_tiles & ~behind
        if free.sum() >= FEWEST:
            arms = learn_arms(strips, shown * free[:, None, None], first.arms)
            scores, share = score_arms(strips, shown, arms)
            paths = path_log_likelihoods(scores, share, arms, SLIP)
            best = paths.argmax(axis=1)
            trusted = (lead(paths) > 5.0) & free
            triangle = learn_triangle(view.tiles, inked, ink.weights, view.seen, best, trusted)
            triangles = triangle_log_likelihoods(*score_corners(view.tiles, view.seen, triangle), best, triangle, SLIP)
            printed = printed_by(triangle)
        pawn_colours = learn_colours(look, ~behind, board.palette, white, rows, known)
        pawns = pawn_log_likelihoods(look, pawn_colours)
    usual = usual_light(view.light)
    learned = Learned(ink, arms, triangle, pawn_colours, bare, starts, usual, openings, printed)
    trust = belief(scores, share, arms, view.light, usual)
    evidence = _evidence(view, paths, triangles, pawns, foreign, look, first, trust)
    evidence["behind"] = behind
    return learned, evidence


def look_again(
    picture: Image, camera: Camera, board: Layout, which: Indices, learned: Learned, light: Floats, hand: bool
) -> Evidence:
    """Reads the tiles `which` with what is already learned; `light` (3) is how much brighter (log, BGR) the picture is
    now, `hand` whether something is known to lie over the board. `behind` stays empty: it needs all tiles."""
    height, count = board.sizes_mm["tile_height"], len(which)
    starts, openings = learned.starts[which], learned.view
    colours, inside = STRIPS.colours(picture, camera, starts, height)
    halves, free = half_strips(log_planes(planes_of(colours))), open_halves(inside)
    # Both without and with a pawn on it, at once: which of them holds is seen next.
    first = first_look(halves, learned.ink, np.stack([free, free & openings.halves[which]]))
    look = look_at_pawns(picture, camera, starts + first.offsets[:count], board.sizes_mm, light)
    pawns = pawn_log_likelihoods(look, learned.colours)
    standing = _perhaps_standing(pawns)
    rows = np.arange(count) + count * standing
    first = FirstLook(first.arms[rows], first.offsets[rows])
    view = view_of(picture, camera, height, starts + first.offsets, openings, which, standing, light)
    scores, share = score_arms(*cut_strips(blended(view.tiles, learned.ink.weights), view.seen), learned.arms)
    paths = path_log_likelihoods(scores, share, learned.arms, SLIP)
    best = paths.argmax(axis=1)
    corners = score_corners(view.tiles, view.seen, learned.triangle)
    triangles = triangle_log_likelihoods(*corners, best, learned.triangle, SLIP)
    blocks, whole = pooled(view.tiles, _bare(view.apart, best, triangles, learned.printed))
    foreign = foreign_blocks(blocks, whole, view.poses, learned.bare, 1.4 if hand else 1.0)
    trust = belief(scores, share, learned.arms, view.light, brightened(learned.usual, math.exp(light[1])))
    return _evidence(view, paths, triangles, pawns, foreign, look, first, trust)


def _perhaps_standing(pawns: Array) -> Bools:
    """Which tiles do not surely lack a pawn: what one would hide counts as hidden."""
    return np.asarray(pawns[:, 0] - pawns[:, 1:].max(axis=1) < SURE_LEAD)


def _evidence(
    view: View,
    paths: Array,
    triangles: Array,
    pawns: Array,
    foreign: Foreign,
    look: PawnLook,
    first: FirstLook,
    trust: Belief,
) -> Evidence:
    """The evidence, believed as far as the light allows."""
    paths = believed(paths, trust.path)
    leads = lead(paths)
    return rows_of(
        len(paths),
        pose=view.poses,
        paths=paths,
        triangles=as_sure_as(leads, triangles, trust.others),
        pawns=as_sure_as(leads, pawns, trust.others),
        pawn_colour=look.colour,
        pawn_seen=look.seen,
        inside=view.inside,
        spots=view.maps[0],
        parts=view.maps[1],
        probe=view.probe,
        tolerance=view.tolerance,
        coloured=foreign[0],
        dark=foreign[1],
        askew=_far(first),
        reason=trust.reasons,
    )


def covered(coloured: Bools, dark: Bools, clear: Bools, board: Layout) -> Bools:
    """Which of all tiles lie behind something; a shadow through which the print is `clear` (T) is nothing."""
    behind, shaded = hidden_tiles(coloured, dark, board.grid, board.row_column)
    return np.asarray(behind | (shaded & ~clear))


def _trend(centres: Array, first: FirstLook, whole: Bools) -> Array:
    """The part of the tiles' offsets (T, 3) that all tiles share: a shift, turn and stretch of the whole board."""
    x, y = ((centres[:, :2] - centres[:, :2].mean(axis=0)) / 150.0).T
    terms = np.stack([np.ones_like(x), x, y], axis=1)
    weight, ridge = whole.astype(float), 0.5 * np.eye(3)
    fit = np.zeros((3, 2))
    for _ in range(4):
        part = terms * weight[:, None]
        fit = solved(part.T @ terms + ridge, part.T @ first.offsets[:, :2])
        off = first.offsets[:, :2] - terms @ fit
        weight = whole / np.maximum(1.0, np.einsum("ij,ij->i", off, off) / 1.5**2)
    turn = (fit[1, 1] - fit[2, 0]) / 2 / 150.0
    return np.column_stack([terms @ fit, np.full(len(centres), turn)])


def _far(first: FirstLook) -> Bools:
    off = first.offsets
    return np.asarray((np.hypot(off[:, 0], off[:, 1]) > FAR_MM) | (np.abs(off[:, 2]) > FAR_RAD))


def _bare(apart: Bools, best: Indices, triangles: Array, printed: Bools) -> Bools:
    """Samples (T, 841) on which nothing is printed, if the tiles are what they seem."""
    # On a straight tile the triangle may be in any corner.
    inner = inner_corners(best)
    corner = np.where(triangles[:, 1] > triangles[:, 0], np.where(inner < 0, 4, inner), 5)
    return np.asarray(apart & ~(PRINTED[best] | printed[corner]))


def _white(colours: Image) -> Array:
    """Opponent log colour of the brightest things on the board: print, or pawns, near enough to white in this light."""
    some = colours.reshape(-1, 3)[::7]
    bright = some[some[:, 1] >= np.partition(some[:, 1], -len(some) // 33)[-len(some) // 33]]
    level = middle(bright.astype(np.float32), 0).reshape(1, 3)
    return np.asarray(opponent(log_of(level))[0], dtype=np.float64)
