"""Trains the domino finder, the squarer (exact corners of a tile) and the judge of halves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from vision.domino_eyes import UNIT_PX
from vision.domino_halves import HALF_PX, MARGIN, half_maps
from vision.domino_squares import SQUARER_PX, squarer_map
from vision.pips import STRIDE, Floats, Pyramid, square_map
from vision.training.augment import fit, jitter, weathered
from vision.training.data import DominoExample
from vision.training.nets import NARROW, QUICK, finder, judge

FINDER_PX = 128
GLANCE_OUTPUTS = 25
FACE_DOWN, OTHER = 7, 8


def finder_sample(rng: np.random.Generator, example: DominoExample) -> tuple[Floats, Floats, Floats]:
    """A finder's input (3, s, s), target (7, s/4, s/4: heat, dx, dy, cos 2a, sin 2a, log length, log width), weight."""
    quads = example.corners
    longs = np.linalg.norm(quads[:, 0] - quads[:, 3], axis=1) if len(quads) else np.array([60.0])
    want = float(np.exp(rng.uniform(np.log(14), np.log(42))))
    shrink = float(np.median(longs)) / want if rng.uniform() < 0.9 else float(rng.uniform(1.5, 6))
    h, w = example.image.shape[:2]
    cx, cy = rng.uniform(0, w), rng.uniform(0, h)
    if len(quads) and rng.uniform() < 0.85:
        cx, cy = quads[rng.integers(len(quads))].mean(axis=0) + rng.uniform(-0.45, 0.45, 2) * FINDER_PX * shrink
    m = square_map(float(cx), float(cy), FINDER_PX * shrink, float(rng.uniform(0, 360)), FINDER_PX)
    image = Pyramid(example.image).patch(m, (FINDER_PX, FINDER_PX), shrink)
    cells = FINDER_PX // STRIDE
    target, weight = np.zeros((7, cells, cells), np.float32), np.ones((cells, cells), np.float32)
    ys, xs = np.mgrid[0:cells, 0:cells].astype(np.float32)
    for quad in quads:
        q = quad @ m[:, :2].T + m[:, 2]
        middle = q.mean(axis=0)
        along, across = (q[2] + q[3] - q[0] - q[1]) / 2, (q[1] + q[2] - q[0] - q[3]) / 2
        length, width = float(np.linalg.norm(along)), float(np.linalg.norm(across))
        at = (middle - 1.5) / STRIDE
        distance = np.hypot(xs - at[0], ys - at[1])
        inside = bool(
            (quad > -0.1 * length * shrink).all() and (quad[:, 0] < w + 2).all() and (quad[:, 1] < h + 2).all()
        )
        if not 11 < length < 52 or not inside:
            weight[distance < 0.5 * length / STRIDE] = 0.0
            continue
        blob = np.exp(-((distance / (0.16 * width / STRIDE + 0.4)) ** 2) / 2)
        blob[distance <= distance.min()] = 1.0
        mine = blob > target[0]
        target[0] = np.maximum(target[0], blob)
        near = mine & (distance < 0.25 * width / STRIDE + 0.9)
        double = 2 * np.arctan2(along[1], along[0])
        values = (
            0,
            at[0] - xs,
            at[1] - ys,
            np.cos(double),
            np.sin(double),
            np.log(length / UNIT_PX),
            np.log(width / UNIT_PX),
        )
        for k in range(1, 7):
            target[k][near] = np.broadcast_to(np.asarray(values[k], np.float32), near.shape)[near]
    return jitter(rng, image), target, weight


def train_finder(examples: Sequence[DominoExample], steps: int, seed: int, net: nn.Module | None = None) -> nn.Module:
    """The finder of tiles."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = finder(7) if net is None else net

    def loss_of() -> torch.Tensor:
        picked = [finder_sample(rng, examples[i]) for i in rng.integers(0, len(examples), 16)]
        x, y, w = (torch.from_numpy(np.stack([s[k] for s in picked])) for k in range(3))
        out = nn.functional.pixel_shuffle(net(x), 2)
        heat = torch.sigmoid(out[:, 0]).clamp(1e-4, 1 - 1e-4)
        centre = (y[:, 0] > 0.88).float()
        gain = (1 - heat) ** 2 * torch.log(heat) * centre
        cost = (1 - y[:, 0]) ** 4 * heat**2 * torch.log(1 - heat) * (1 - centre)
        near = (y[:, 0] > 0.5).float()[:, None]
        box = ((out[:, 1:] - y[:, 1:]).abs() * near).sum() / near.sum().clamp(min=1)
        return -((gain + cost) * w).sum() / centre.sum().clamp(min=1) + 3.0 * box

    return fit(net, loss_of, steps, 4e-3, "domino finder")


class TileBank:
    """Draws squarer crops and half crops from simulated pictures."""

    def __init__(self, examples: Sequence[DominoExample]) -> None:
        self._examples = examples
        self._pyramids = [Pyramid(e.image) for e in examples]
        self._strangers = [i for i, e in enumerate(examples) if not len(e.corners)]
        self._tiles = [
            (i, j)
            for i, e in enumerate(examples)
            for j in range(len(e.corners))
            if (e.corners[j] > -6).all() and (e.corners[j] < np.array(e.image.shape[1::-1]) + 5).all()
        ]

    def squares(
        self, rng: np.random.Generator, size: int, weather: float = 0.0
    ) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        """Inputs (n, 3, h, w), corner targets (n, 8; NaN for non-tiles), 1 for tile, 0 for none (n,), and what the
        halves show (n, 2; -1 for non-tiles). `weather` is the share of crops in bad light."""
        inputs: list[Floats] = []
        targets: list[Floats] = []
        real: list[float] = []
        shown: list[tuple[int, int]] = []
        for _ in range(size):
            i, j = self._tiles[rng.integers(len(self._tiles))]
            quad = self._examples[i].corners[j]
            along = (quad[2] + quad[3] - quad[0] - quad[1]) / 2
            length = float(np.linalg.norm(along))
            angle = float(np.degrees(np.arctan2(along[1], along[0]))) + 180 * int(rng.integers(0, 2))
            at = quad.mean(axis=0)
            none = rng.uniform() < 0.25
            if none:
                kind = rng.integers(0, 3)
                if kind == 0:
                    angle += float(rng.uniform(35, 145))
                elif kind == 1:
                    at = at + along * rng.choice([-1, 1]) * rng.uniform(0.3, 0.6)
                else:
                    if self._strangers and rng.uniform() < 0.5:
                        i = int(rng.choice(self._strangers))
                    at = rng.uniform(0, 384, 2)
                    if self._near(i, at, 0.35 * length):
                        continue
            at = at + rng.normal(0, 0.035, 2) * length
            m = squarer_map(
                float(at[0]), float(at[1]), length * float(np.exp(rng.normal(0, 0.08))), angle + float(rng.normal(0, 5))
            )
            patch = self._pyramids[i].patch(m, SQUARER_PX, float(1 / np.linalg.norm(m[0, :2])))
            q = quad @ m[:, :2].T + m[:, 2]
            halves = (-1, -1) if none else self._examples[i].halves[j] or (FACE_DOWN, FACE_DOWN)
            if q[0, 0] > q[2, 0]:
                q, halves = q[[2, 3, 0, 1]], halves[::-1]
            if weather and rng.uniform() < weather:
                patch = weathered(rng, patch)
            inputs.append(jitter(rng, patch))
            shown.append(halves)
            scale = np.array(SQUARER_PX, np.float32)
            targets.append(np.full(8, np.nan, np.float32) if none else ((q - (scale - 1) / 2) / scale[0]).ravel())
            real.append(0.0 if none else 1.0)
        return np.stack(inputs), np.array(targets, np.float32), np.array(real, np.float32), np.array(shown, np.int64)

    def halves(self, rng: np.random.Generator, size: int) -> tuple[Floats, np.ndarray]:
        """Inputs (n, 3, 40, 40) and classes (n,): 0..6, face down, other."""
        inputs: list[Floats] = []
        classes: list[int] = []
        while len(inputs) < size:
            i, j = self._tiles[rng.integers(len(self._tiles))]
            example = self._examples[i]
            quad, halves = example.corners[j], example.halves[j]
            length = float(np.linalg.norm(quad[0] - quad[3]))
            quad = quad + rng.normal(0, 0.011, (4, 2)) * length
            quad = quad + rng.normal(0, 0.008, 2) * length
            other = rng.uniform() < 0.2
            if other:
                along, across = quad[3] - quad[0], quad[1] - quad[0]
                kind = rng.choice(4, p=[0.5, 0.15, 0.15, 0.2])
                if kind == 0:
                    quad = quad + along * rng.choice([-1, 1]) * (
                        0.5 + rng.normal(0, 0.02) if rng.uniform() < 0.5 else rng.uniform(0.17, 0.55)
                    )
                elif kind == 1:
                    quad = quad + across * rng.choice([-1, 1]) * rng.uniform(0.3, 0.8)
                elif kind == 2:
                    middle = quad.mean(axis=0)
                    turn = np.array([[0, -1], [1, 0]], np.float32)
                    quad = (quad - middle) @ turn.T + middle
                    quad = quad + along * rng.uniform(-0.4, 0.4)
                else:
                    at = rng.uniform(0, 384, 2)
                    if self._near(i, at, 0.5 * length):
                        continue
                    quad = quad - quad.mean(axis=0) + at
            quad = quad.astype(np.float32)
            which = int(rng.integers(0, 2))
            if rng.uniform() < 0.06 and self._strangers:
                other, i = True, int(rng.choice(self._strangers))
                quad = quad - quad.mean(axis=0) + rng.uniform(40, 344, 2).astype(np.float32)
            m = half_maps(quad)[which]
            patch = self._pyramids[i].patch(m, (HALF_PX, HALF_PX), length / 2 * (1 + 2 * MARGIN) / HALF_PX)
            if rng.uniform() < 0.5:
                patch = patch[::-1]
            inputs.append(jitter(rng, patch))
            classes.append(OTHER if other else FACE_DOWN if halves is None else halves[which])
        return np.stack(inputs), np.array(classes, np.int64)

    def _near(self, i: int, at: np.ndarray, far: float) -> bool:
        return any(np.hypot(*(q.mean(axis=0) - at)) < far for q in self._examples[i].corners)


def train_squarer(bank: TileBank, steps: int, seed: int, net: nn.Module | None = None) -> nn.Module:
    """The squarer: tile or not, and the four corners."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = judge(9, *SQUARER_PX, NARROW) if net is None else net
    yes = nn.BCEWithLogitsLoss()

    def loss_of() -> torch.Tensor:
        x, corners, real = (torch.from_numpy(a) for a in bank.squares(rng, 64)[:3])
        out = net(x)
        known = ~torch.isnan(corners)
        off = ((out[:, 1:] - torch.nan_to_num(corners)).abs() * known).sum() / known.sum().clamp(min=1)
        return 20 * off + 0.5 * yes(out[:, 0], real)

    return fit(net, loss_of, steps, 3e-3, "squarer")


def train_halves(bank: TileBank, steps: int, seed: int, net: nn.Module | None = None) -> nn.Module:
    """The judge of halves: 9 logits."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = judge(9, HALF_PX, HALF_PX) if net is None else net
    entropy = nn.CrossEntropyLoss(label_smoothing=0.01)
    hits: list[float] = []

    def loss_of() -> torch.Tensor:
        x, c = (torch.from_numpy(a) for a in bank.halves(rng, 96))
        out = net(x)
        hits.append((out.argmax(1) == c).float().mean().item())
        if len(hits) % 400 == 0:
            print(f"halves right {np.mean(hits[-400:]):.4f}", flush=True)
        loss: torch.Tensor = entropy(out, c)
        return loss

    return fit(net, loss_of, steps, 2e-3, "halves")


def train_glance(bank: TileBank, steps: int, seed: int) -> nn.Module:
    """The glance: tile or not, the four corners, and 8 logits (0..6, face down) for each half."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = judge(GLANCE_OUTPUTS, *SQUARER_PX, QUICK, 96)
    yes, entropy = nn.BCEWithLogitsLoss(), nn.CrossEntropyLoss(ignore_index=-1)
    hits: list[float] = []

    def loss_of() -> torch.Tensor:
        x, corners, real, shown = (torch.from_numpy(a) for a in bank.squares(rng, 64, weather=0.3))
        out = net(x)
        known = ~torch.isnan(corners)
        off = ((out[:, 1:9] - torch.nan_to_num(corners)).abs() * known).sum() / known.sum().clamp(min=1)
        logits = out[:, 9:].reshape(-1, 8)
        hits.append((logits.argmax(1) == shown.ravel())[shown.ravel() >= 0].float().mean().item())
        if len(hits) % 400 == 0:
            print(f"glances right {np.mean(hits[-400:]):.4f}", flush=True)
        loss: torch.Tensor = 20 * off + yes(out[:, 0], real) + entropy(logits, shown.ravel())
        return loss

    return fit(net, loss_of, steps, 3e-3, "glance")
