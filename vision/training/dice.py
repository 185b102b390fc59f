"""Trains the die finder and the die judge."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from vision.dice_eyes import JUDGE_PX, JUDGE_REACH, UNIT_PX, found
from vision.dice_places import COCKED
from vision.pips import STRIDE, Floats, Net, Pyramid, square_map
from vision.training.augment import fit, jitter, weathered
from vision.training.data import DiceExample
from vision.training.nets import export, finder, judge

NONE = 7
FINDER_PX = 128


def finder_sample(rng: np.random.Generator, example: DiceExample) -> tuple[Floats, Floats, Floats]:
    """A finder's input (3, s, s), its target (5, s/4, s/4: heat, dx, dy, log w, log h) and weights for the heat."""
    boxes = example.boxes
    sides = (boxes[:, 2:] - boxes[:, :2]).mean(axis=1) if len(boxes) else np.array([30.0])
    want = np.exp(rng.uniform(np.log(7.5), np.log(26)))
    scale = float(want / np.median(sides)) if rng.uniform() < 0.85 else float(rng.uniform(0.15, 0.6))
    shrink = 1 / scale
    if len(boxes) and rng.uniform() < 0.85:
        b = boxes[rng.integers(len(boxes))]
        cx, cy = (b[:2] + b[2:]) / 2 + rng.uniform(-0.45, 0.45, 2) * FINDER_PX * shrink
    else:
        h, w = example.image.shape[:2]
        cx, cy = rng.uniform(0, w), rng.uniform(0, h)
    turn = float(rng.choice([0, 90, 180, 270]))
    m = square_map(float(cx), float(cy), FINDER_PX * shrink, turn, FINDER_PX)
    image = Pyramid(example.image).patch(m, (FINDER_PX, FINDER_PX), shrink)
    cells = FINDER_PX // STRIDE
    target, weight = np.zeros((5, cells, cells), np.float32), np.ones((cells, cells), np.float32)
    ys, xs = np.mgrid[0:cells, 0:cells].astype(np.float32)
    for b in boxes:
        corners = np.array([[b[0], b[1], 1], [b[2], b[3], 1]], np.float32) @ m.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        middle, size = (low + high) / 2, high - low
        side = float(size.mean())
        at = (middle - 1.5) / STRIDE
        reach = side / STRIDE
        distance = np.hypot(xs - at[0], ys - at[1])
        if side < 6.5 or side > 30:
            weight[distance < reach * 0.6] = 0.0
            continue
        blob = np.exp(-((distance / (0.16 * reach + 0.35)) ** 2) / 2)
        blob[distance <= distance.min()] = 1.0
        mine = blob > target[0]
        target[0] = np.maximum(target[0], blob)
        near = mine & (distance < 0.3 * reach + 0.8)
        target[1][near] = (at[0] - xs)[near]
        target[2][near] = (at[1] - ys)[near]
        target[3][near] = np.log(size[0] / UNIT_PX)
        target[4][near] = np.log(size[1] / UNIT_PX)
    return jitter(rng, image), target, weight


def train_finder(
    examples: Sequence[DiceExample],
    weights: Floats,
    steps: int,
    seed: int,
    rate: float = 4e-3,
    net: nn.Module | None = None,
) -> nn.Module:
    """The finder, trained on crops drawn from `examples` in proportion to `weights`."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = finder(5) if net is None else net
    p = weights / weights.sum()

    def loss_of() -> torch.Tensor:
        picked = [finder_sample(rng, examples[i]) for i in rng.choice(len(examples), 16, p=p)]
        x, y, w = (torch.from_numpy(np.stack([s[k] for s in picked])) for k in range(3))
        out = nn.functional.pixel_shuffle(net(x), 2)
        heat = torch.sigmoid(out[:, 0]).clamp(1e-4, 1 - 1e-4)
        centre = (y[:, 0] > 0.9).float()
        gain = (1 - heat) ** 2 * torch.log(heat) * centre
        cost = (1 - y[:, 0]) ** 4 * heat**2 * torch.log(1 - heat) * (1 - centre)
        near = (y[:, 0] > 0.5).float()[:, None]
        box = ((out[:, 1:] - y[:, 1:]).abs() * near).sum() / near.sum().clamp(min=1)
        loss: torch.Tensor = -((gain + cost) * w).sum() / centre.sum().clamp(min=1) + 3.0 * box
        return loss

    return fit(net, loss_of, steps, rate, "die finder")


class CropBank:
    """Draws judge crops: every die of the examples, with negatives beside dice and at `false_alarms`."""

    def __init__(
        self,
        examples: Sequence[DiceExample],
        weights: Floats,
        false_alarms: Sequence[tuple[int, float, float, float]],
        harsh: bool = False,
    ) -> None:
        """`harsh` for the second judge: weathered crops, and parts of dice and heaps among what is no die."""
        self._harsh = harsh
        self._pyramids = [Pyramid(e.image) for e in examples]
        self._examples = examples
        self._false = list(false_alarms)
        self._dice = [
            (i, j) for i, e in enumerate(examples) for j in range(len(e.boxes)) if _whole(e, j) and _free(e, j)
        ]
        p = np.array(
            [weights[i] * (2.0 if examples[i].classes[j] == COCKED else 1.0) for i, j in self._dice], np.float64
        )
        self._p = p / p.sum()

    def batch(self, rng: np.random.Generator, size: int) -> tuple[Floats, NDInt, Floats]:
        """Inputs (n, 3, 56, 56), classes (n,), and per crop dx, dy, log scale, up x, up y (NaN where unknown)."""
        inputs, classes, extra = [], [], []
        positive = rng.choice(len(self._dice), int(size * 0.8), p=self._p)
        for k in positive:
            i, j = self._dice[k]
            if self._examples[i].image[::8, ::8].max() < 60:
                continue
            b = self._examples[i].boxes[j]
            side = float((b[2:] - b[:2]).mean())
            middle = (b[:2] + b[2:]) / 2
            shift = rng.normal(0, 0.05, 2) * side
            grow = float(np.exp(rng.normal(0, 0.09)))
            turn = float(rng.uniform(0, 360))
            x, m = self._crop(rng, i, middle + shift, side * grow, turn)
            back = (m[:, :2] @ middle + m[:, 2] - (JUDGE_PX - 1) / 2) / JUDGE_PX
            spin = m[:, :2] / np.linalg.norm(m[0, :2])
            up = spin @ self._examples[i].ups[j]
            inputs.append(x)
            classes.append(self._examples[i].classes[j])
            extra.append([back[0], back[1], -np.log(grow), up[0], up[1]])
        while len(inputs) < size:
            kind = rng.uniform()
            if self._harsh and kind < 0.25:
                spot = self._part_or_heap(rng)
                if spot is None:
                    continue
                i, cx, cy, side = spot
            elif self._false and kind < (0.7 if self._harsh else 0.6):
                i, cx, cy, side = self._false[rng.integers(len(self._false))]
                side *= float(np.exp(rng.normal(0, 0.1)))
            else:
                i = int(rng.integers(len(self._examples)))
                h, w = self._examples[i].image.shape[:2]
                cx, cy, side = rng.uniform(0, w), rng.uniform(0, h), float(np.exp(rng.uniform(np.log(15), np.log(60))))
                if not clear(self._examples[i], cx, cy, side):
                    continue
            inputs.append(self._crop(rng, i, np.array([cx, cy]), side, float(rng.uniform(0, 360)))[0])
            classes.append(NONE)
            extra.append([np.nan] * 5)
        return np.stack(inputs), np.array(classes, np.int64), np.array(extra, np.float32)

    def _part_or_heap(self, rng: np.random.Generator) -> tuple[int, float, float, float] | None:
        """A window on a part of a die, such as a pip, or on several dice at once: neither is a die."""
        i, j = self._dice[rng.integers(len(self._dice))]
        boxes = self._examples[i].boxes
        middles, sides = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]).mean(axis=1)
        if rng.uniform() < 0.6:
            at = middles[j] + rng.uniform(-0.33, 0.33, 2) * sides[j]
            side = sides[j] * rng.uniform(0.14, 0.36)
            return (i, float(at[0]), float(at[1]), float(side)) if side > 5 else None
        others = np.hypot(*(middles - middles[j]).T)
        near = np.flatnonzero((others > 0) & (others < 1.6 * sides[j]))
        if not len(near):
            return None
        k = int(rng.choice(near))
        return i, *((middles[j] + middles[k]) / 2).tolist(), float(sides[j] * rng.uniform(1.9, 2.8))

    def _crop(
        self, rng: np.random.Generator, i: int, at: np.ndarray, side: float, turn: float
    ) -> tuple[Floats, Floats]:
        reach = side * JUDGE_REACH
        m = square_map(float(at[0]), float(at[1]), reach, turn, JUDGE_PX)
        patch = self._pyramids[i].patch(m, (JUDGE_PX, JUDGE_PX), reach / JUDGE_PX)
        return jitter(rng, weathered(rng, patch) if self._harsh else patch), m


NDInt = np.ndarray


def _whole(example: DiceExample, j: int) -> bool:
    h, w = example.image.shape[:2]
    b = example.boxes[j]
    return bool(b[0] > -4 and b[1] > -4 and b[2] < w + 3 and b[3] < h + 3)


def _free(example: DiceExample, j: int) -> bool:
    """True when no other die's box hides more than a third of this one."""
    b = example.boxes[j]
    area = float((b[2] - b[0]) * (b[3] - b[1]))
    for k, o in enumerate(example.boxes):
        width = min(b[2], o[2]) - max(b[0], o[0])
        height = min(b[3], o[3]) - max(b[1], o[1])
        if k != j and width > 0 and height > 0 and width * height > 0.33 * area:
            return False
    return True


def clear(example: DiceExample, cx: float, cy: float, side: float) -> bool:
    """True when a window there shows no die as a die: none near its middle at nearly its size."""
    for b in example.boxes:
        other = float((b[2:] - b[:2]).mean())
        far = np.hypot(*((b[:2] + b[2:]) / 2 - np.array([cx, cy])))
        if far < 0.45 * max(side, other) and 0.5 < side / other < 2.0:
            return False
        if far < 0.3 * other:
            return False
    return True


def train_judge(
    bank: CropBank, steps: int, seed: int, rate: float = 2e-3, net: nn.Module | None = None, batch: int = 64
) -> nn.Module:
    """The judge: 8 logits (values 1..6, cocked, none), dx, dy, log scale, up x, up y."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = judge(13, JUDGE_PX, JUDGE_PX) if net is None else net
    entropy = nn.CrossEntropyLoss(label_smoothing=0.002)
    hits: list[float] = []

    def loss_of() -> torch.Tensor:
        x, c, extra = (torch.from_numpy(a) for a in bank.batch(rng, batch))
        out = net(x)
        known = ~torch.isnan(extra)
        miss = ((out[:, 8:] - torch.nan_to_num(extra)).abs() * known).sum() / known.sum().clamp(min=1)
        hits.append((out[:, :8].argmax(1) == c).float().mean().item())
        if len(hits) % 200 == 0:
            print(f"die judge right {np.mean(hits[-200:]):.4f}", flush=True)
        loss: torch.Tensor = entropy(out[:, :8], c) + 6.0 * miss
        return loss

    return fit(net, loss_of, steps, rate, "die judge")


def exported(net: nn.Module) -> Net:
    """The finder as the product runs it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "finder.onnx"
        export(net, (1, 3, 64, 64), path, {2: "h", 3: "w"})
        return Net(path.read_bytes())


def false_alarms(examples: Sequence[DiceExample], finder: Net) -> list[tuple[int, float, float, float]]:
    """(example, cx, cy, side) of every place that the finder takes for a die and that is none."""
    out = []
    for i, e in enumerate(examples):
        pyramid = Pyramid(e.image)
        for level in range(3):
            places = found(pyramid, finder, level)
            out += [(i, f.cx, f.cy, f.side) for f in places if clear(e, f.cx, f.cy, f.side)]
    return out


def tightened(examples: Sequence[DiceExample], finder: Net) -> list[DiceExample]:
    """The photographs with the finder's own boxes in place of the loose ones drawn by hand, where it sees the die."""
    out = []
    for e in examples:
        pyramid = Pyramid(e.image)
        places = [f for level in range(3) for f in found(pyramid, finder, level)]
        boxes = e.boxes.copy()
        for j, b in enumerate(e.boxes):
            middle, side = (b[:2] + b[2:]) / 2, float((b[2:] - b[:2]).mean())
            near = [
                f
                for f in places
                if math.hypot(f.cx - middle[0], f.cy - middle[1]) < 0.3 * side and 0.55 < f.side / side < 1.2
            ]
            if near:
                f = max(near, key=lambda f: f.score)
                boxes[j] = (f.cx - f.width / 2, f.cy - f.height / 2, f.cx + f.width / 2, f.cy + f.height / 2)
            else:
                half = 0.4 * side
                boxes[j] = (middle[0] - half, middle[1] - half, middle[0] + half, middle[1] + half)
        out.append(replace(e, boxes=boxes))
    return out
