"""`python -m vision.training`: makes the files in `vision/models`, and those for five-fold validation."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from vision.dice_eyes import JUDGE_PX
from vision.domino_halves import HALF_PX
from vision.domino_squares import SQUARER_PX
from vision.pips import Floats, Net
from vision.training import dice, dominoes
from vision.training.data import (
    DiceExample,
    photographs,
    scenes,
    simulated_die_scene,
    simulated_domino_scene,
    stranger_scene,
    without_tiles,
)
from vision.training.nets import export, judge

FOLDS = 5
DIE_SCENES, DOMINO_SCENES, STRANGERS = 1000, 1100, 200
SHARE = 0.4
"""Share of the photographs among the crops of the fine tuning."""
DIE_FINDER_STEPS, DIE_JUDGE_STEPS, TUNING_STEPS = 1500, 5900, 400
DIE_SECOND_STEPS, SECOND_TUNING_STEPS = 1400, 500
DOMINO_FINDER_STEPS, SQUARER_STEPS, HALVES_STEPS, GLANCE_STEPS = 4600, 2200, 3000, 10000


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains what is asked for and writes it."""
    parser = argparse.ArgumentParser(prog="python -m vision.training", description=main.__doc__)
    parser.add_argument("what", choices=("dice", "dominoes", "domino_glance"))
    parser.add_argument("--photographs", type=Path, help="folder dice_nell with its labels.json (dice only)")
    parser.add_argument("--folds", action="store_true", help="also write one set of files a fold, for validation")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "models")
    parser.add_argument("--cache", type=Path, default=Path("build/training"))
    chosen = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    if chosen.what.startswith("domino"):
        train_dominoes(chosen.out, chosen.cache, chosen.what == "domino_glance")
    else:
        photos = photographs(chosen.photographs) if chosen.photographs else []
        train_dice(chosen.out, chosen.cache, photos, chosen.folds)


def fold_of(index: int) -> int:
    """Fold of the photograph at this place in the order of names."""
    return index % FOLDS


def train_dice(out: Path, cache: Path, photos: Sequence[DiceExample], folds: bool) -> None:
    """The finder and both judges from simulated scenes, the judges then tuned with the photographs; with `folds` also
    once without each fold (in `<out>/fold0` ...)."""
    simulated = scenes(simulated_die_scene, DIE_SCENES, cache) + scenes(stranger_scene, STRANGERS, cache)
    even = np.ones(len(simulated), np.float32)
    net = dice.train_finder(simulated, even, DIE_FINDER_STEPS, 0)
    finder = dice.exported(net)
    alarms = dice.false_alarms(simulated, finder)
    first = dice.train_judge(dice.CropBank(simulated, even, alarms), DIE_JUDGE_STEPS, 0)
    start = {k: v.clone() for k, v in first.state_dict().items()}
    # The second judge goes on from the first with harder crops.
    harsh = dice.CropBank(simulated, even, alarms, harsh=True)
    second = dice.train_judge(harsh, DIE_SECOND_STEPS, 3, rate=1.5e-3, net=first).state_dict()
    photos = dice.tightened(photos, finder)
    kept = [(out, list(photos))]
    if folds:
        kept += [(out / f"fold{k}", [p for i, p in enumerate(photos) if fold_of(i) != k]) for k in range(FOLDS)]
    shape = (1, 3, JUDGE_PX, JUDGE_PX)
    for place, part in kept:
        export(net, (1, 3, 64, 64), place / "dice_finder.onnx", {2: "h", 3: "w"})
        export(tuned(simulated, part, finder, start, False), shape, place / "dice_judge.onnx", {0: "n"})
        export(tuned(simulated, part, finder, second, True), shape, place / "dice_second.onnx", {0: "n"})


def tuned(
    simulated: Sequence[DiceExample],
    photos: Sequence[DiceExample],
    finder: Net,
    start: Mapping[str, torch.Tensor],
    harsh: bool,
) -> nn.Module:
    """A judge after a second, shorter training on simulated scenes and photographs, with the finder's false alarms as
    examples of what is no die."""
    both = [*simulated, *photos]
    weights: Floats = np.ones(len(both), np.float32)
    if photos:
        ours, theirs = sum(len(e.boxes) for e in simulated), sum(len(e.boxes) for e in photos)
        weights[len(simulated) :] = SHARE / (1 - SHARE) * ours / theirs
    net = judge(13, JUDGE_PX, JUDGE_PX)
    net.load_state_dict(dict(start))
    bank = dice.CropBank(both, weights, dice.false_alarms(both, finder), harsh)
    return dice.train_judge(bank, SECOND_TUNING_STEPS if harsh else TUNING_STEPS, 1, rate=1e-3, net=net)


def train_dominoes(out: Path, cache: Path, glance_only: bool = False) -> None:
    """All four networks, or the glance alone, from simulated scenes."""
    simulated = scenes(simulated_domino_scene, DOMINO_SCENES, cache)
    simulated += [without_tiles(e) for e in scenes(stranger_scene, STRANGERS, cache)]
    simulated += [without_tiles(e) for e in scenes(simulated_die_scene, STRANGERS, cache)]
    bank = dominoes.TileBank(simulated)
    square = (1, 3, *SQUARER_PX[::-1])
    export(dominoes.train_glance(bank, GLANCE_STEPS, 0), square, out / "domino_glance.onnx", {0: "n"})
    if glance_only:
        return
    finder = dominoes.train_finder(simulated, DOMINO_FINDER_STEPS, 0)
    export(finder, (1, 3, 64, 64), out / "domino_finder.onnx", {2: "h", 3: "w"})
    export(dominoes.train_squarer(bank, SQUARER_STEPS, 0), square, out / "domino_squarer.onnx", {0: "n"})
    export(dominoes.train_halves(bank, HALVES_STEPS, 0), (1, 3, HALF_PX, HALF_PX), out / "domino_halves.onnx", {0: "n"})


if __name__ == "__main__":
    main()
