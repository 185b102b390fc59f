"""What the trainings share: colour and light at random, and the training loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from vision.pips import Floats, normal


def jitter(rng: np.random.Generator, image: NDArray[np.uint8]) -> Floats:
    """Colour, light, blur and noise at random, then as network input (3, h, w)."""
    x: NDArray[np.floating[Any]] = image.astype(np.float32)
    if rng.uniform() < 0.2:
        x = x[:, :, rng.permutation(3)]
    if rng.uniform() < 0.15:
        x = np.repeat(x.mean(axis=2, keepdims=True), 3, axis=2)
    x = x * rng.uniform(0.6, 1.3) * (1 + rng.uniform(-0.12, 0.12, 3).astype(np.float32)) + rng.uniform(-15, 15)
    if rng.uniform() < 0.06:
        x = 255 - x
    if rng.uniform() < 0.3:
        x = np.asarray(cv2.GaussianBlur(np.ascontiguousarray(x), (0, 0), rng.uniform(0.3, 1.0)), np.float32)
    if rng.uniform() < 0.4:
        x = x + rng.normal(0, rng.uniform(1, 8), x.shape)
    return np.asarray(normal([np.clip(x, 0, 255).astype(np.uint8)])[0], np.float32)


def fit(net: nn.Module, loss_of: Callable[[], torch.Tensor], steps: int, rate: float, name: str) -> nn.Module:
    """The network after one cycle of AdamW on the losses of `steps` batches."""
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-3)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    start, seen = time.monotonic(), []
    net.train()
    for step in range(steps):
        loss = loss_of()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        plan.step()
        seen.append(loss.item())
        if step % 200 == 199:
            took = time.monotonic() - start
            print(f"{name} {step + 1}/{steps} loss {np.mean(seen[-200:]):.3f} {took:.0f} s", flush=True)
    return net
