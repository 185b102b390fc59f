"""The shapes of the networks, in torch, and their export to ONNX that OpenCV 4.14 and 5.0 both read."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn


def conv(inside: int, outside: int, stride: int = 1, dilation: int = 1, kernel: int = 3) -> nn.Sequential:
    """Convolution, batch norm (folded when exported), ReLU."""
    pad = dilation * (kernel // 2)
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, stride, pad, dilation=dilation, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU(inplace=True),
    )


def finder(outputs: int) -> nn.Module:
    """Fully convolutional: a heat and `outputs` - 1 numbers for each 4 x 4 px, packed four by four in cells of 8 x 8
    px (`vision.pips.unpacked` spreads them)."""
    net = nn.Sequential(
        conv(3, 8, 2),
        conv(8, 24, 2),
        conv(24, 40, 2),
        conv(40, 40),
        conv(40, 40),
        conv(40, 40),
        nn.Conv2d(40, 4 * outputs, 1),
    )
    return net.to(memory_format=torch.channels_last)


WIDE, NARROW, QUICK = (16, 32, 48, 64), (12, 20, 32, 48), (8, 24, 32, 48)
"""Channels of a judge, for hard questions, easier ones, and those that are asked first of all."""


def judge(
    outputs: int, width: int, height: int, channels: tuple[int, int, int, int] = WIDE, hidden: int = 64
) -> nn.Module:
    """A crop of `width` x `height` px (multiples of 8) to `outputs` numbers."""
    a, b, c, d = channels
    net = nn.Sequential(
        conv(3, a, 2, kernel=5),
        conv(a, b),
        nn.MaxPool2d(2),
        conv(b, c),
        conv(c, c),
        nn.MaxPool2d(2),
        conv(c, d),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(d * (width // 8) * (height // 8), hidden),
        nn.ReLU(),
        nn.Linear(hidden, outputs),
    )
    return net.to(memory_format=torch.channels_last)


def export(net: nn.Module, shape: tuple[int, ...], path: Path, free: dict[int, str]) -> None:
    """Writes the network as ONNX; `free` names the input axes whose length may vary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    net.eval()
    axes = {"x": free, "y": {0: "n"}} if 0 in free else {"x": free, "y": free}
    torch.onnx.export(
        net,
        (torch.zeros(shape),),
        str(path),
        input_names=["x"],
        output_names=["y"],
        dynamic_axes=axes,
        opset_version=13,
        dynamo=False,
    )
