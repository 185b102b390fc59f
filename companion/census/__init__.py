"""The census: reads folders of pictures with known truth as the product would, and counts right, asked and wrong.

A kind of folder is one module here with two functions: `recognise(folder) -> bool` tells from the truth files whether
the folder is of its kind, `read(folder) -> Tally` reads every picture in it. Its name goes into KINDS.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import cv2

from companion.census.tally import ASKED, RIGHT, WRONG, Tally

KINDS = ("moguli", "moguli_sequence", "moogui", "maulwurf", "moogh", "dicetray", "dominoes", "throws", "labelled")


class Kind(Protocol):
    """One kind of folder."""

    def recognise(self, folder: Path) -> bool:
        """True when the truth files in `folder` (not below it) are of this kind; never raises."""

    def read(self, folder: Path) -> Tally:
        """Every picture of the folder, read and compared with its truth."""


def main(folder: str | Path, json_path: str | Path | None = None) -> int:
    """Runs the census on `folder` and everything below it, prints a table, writes JSON; 0 when it measured."""
    root = Path(folder)
    if not root.is_dir():
        print(f"no such folder: {root}; give a folder of pictures with their truth files", file=sys.stderr)
        return 2
    tally = Tally()
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        for kind, place in folders(root):
            tally.merge(kind.read(place))
    finally:
        cv2.setNumThreads(threads)
    if not tally.counts:
        print(f"{root} holds no pictures with truth that this census knows ({', '.join(KINDS)})", file=sys.stderr)
        return 1
    report = tally.as_json(str(folder))
    if json_path is not None:
        Path(json_path).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(_table(tally))
    return 0


run = main


def folders(root: Path) -> Iterator[tuple[Kind, Path]]:
    """Every folder at or below `root` that a kind recognises, with that kind, in order of path."""
    kinds = [cast(Kind, import_module(f"companion.census.{name}")) for name in KINDS]
    for place in [root, *sorted(p for p in root.rglob("*") if p.is_dir())]:
        for kind in kinds:
            if kind.recognise(place):
                yield kind, place
                break


def _table(tally: Tally) -> str:
    width = max(len(k) for k in tally.counts)
    lines = [f"{'':{width}}  {RIGHT:>7} {ASKED:>7} {WRONG:>7}"]
    for kind, c in sorted(tally.counts.items()):
        lines.append(f"{kind:{width}}  {c[RIGHT]:7d} {c[ASKED]:7d} {c[WRONG]:7d}")
    for w in tally.wrong[:40]:
        lines.append("wrong: " + " ".join(f"{k}={v}" for k, v in w.items()))
    report = tally.as_json("")
    sure, ratio = report["sure"], report["time_ratio"]
    lines.append(
        f"stated at {sure['stated']:.2f} or more: {sure['right']} of {sure['n']} right, "
        f"95 % interval {sure['low']:.4f} to {sure['high']:.4f}"
    )
    lines.append(f"reading / decoding: median {ratio['median']}, 90 % below {ratio['p90']}")
    for name, values in report["time_ratios"].items():
        lines.append(f"  {name}: median {values['median']}, 90 % below {values['p90']}")
    return "\n".join(lines + tally.notes)
