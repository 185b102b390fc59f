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


def weathered(rng: np.random.Generator, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A crop (h, w, 3) as bad light and cheap cameras show it: gleams, the edge of a shadow, another tone curve, a
    phone's sharpening, a shaken hand, strong compression; most crops meet one or two of these."""
    h, w = image.shape[:2]
    x: NDArray[np.floating[Any]] = image.astype(np.float32)
    y, z = np.mgrid[0:h, 0:w].astype(np.float32)
    if rng.uniform() < 0.25:
        a, edge = rng.uniform(0, 2 * np.pi), max(float(rng.uniform(0.02, 0.2)) * w, 0.5)
        far = (z - rng.uniform(0.2, 0.8) * w) * np.cos(a) + (y - rng.uniform(0.2, 0.8) * h) * np.sin(a)
        lit = 1 / (1 + np.exp(-np.clip(far / edge * 4, -30, 30)))
        x *= (1 - lit * rng.uniform(0.2, 0.75))[..., None]
    if rng.uniform() < 0.25:
        for _ in range(int(rng.integers(1, 4))):
            a, long = rng.uniform(0, 2 * np.pi), float(np.exp(rng.uniform(np.log(0.03), np.log(0.15)))) * w
            thin = long * rng.uniform(0.3, 1.0)
            u, v = z - rng.uniform(0.2, 0.8) * w, y - rng.uniform(0.2, 0.8) * h
            p, q = (u * np.cos(a) + v * np.sin(a)) / long, (v * np.cos(a) - u * np.sin(a)) / thin
            x += (np.exp(-((p * p + q * q) ** 2)) * rng.uniform(40, 260))[..., None]
    if rng.uniform() < 0.4:
        x = 255 * np.clip(x / 255, 0, 1) ** float(np.exp(rng.normal(0, 0.35)))
    if rng.uniform() < 0.12:
        length = int(rng.integers(2, 6))
        kernel = np.zeros((length, length), np.float32)
        kernel[length // 2] = 1 / length
        turn = cv2.getRotationMatrix2D(((length - 1) / 2, (length - 1) / 2), float(rng.uniform(0, 180)), 1)
        kernel = np.asarray(cv2.warpAffine(kernel, turn, (length, length)), np.float32)
        x = np.asarray(cv2.filter2D(x, -1, kernel / max(float(kernel.sum()), 1e-3)), np.float32)
    if rng.uniform() < 0.2:
        soft = cv2.GaussianBlur(np.ascontiguousarray(x), (0, 0), float(rng.uniform(0.7, 1.6)))
        x = x + (x - soft) * float(rng.uniform(0.5, 2.0))
    out: NDArray[np.uint8] = np.clip(x, 0, 255).astype(np.uint8)
    if rng.uniform() < 0.25:
        code = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(15, 75))])[1]
        out = np.asarray(cv2.imdecode(code, cv2.IMREAD_COLOR), np.uint8)
    return out


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
