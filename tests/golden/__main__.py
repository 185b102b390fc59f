"""`python -m tests.golden FILE...`: checks the engines; exit 1 when a case fails, 2 when a file cannot be read."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tests.golden import Adapter, Case

PREFIXES = ("maulwurf", "moguli", "moogh", "moogui", "muggins")


def adapter(name: str) -> Adapter | None:
    """The adapter module for a file of this name, or None when no game has the prefix."""
    for prefix in PREFIXES:
        if name == f"{prefix}.json" or name.startswith(f"{prefix}_"):
            return cast(Adapter, importlib.import_module(f"tests.golden.{prefix}"))
    return None


def difference(case: Case) -> str | None:
    """What is wrong with the case, an exception included; None when nothing is."""
    try:
        return case.check()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main(arguments: Sequence[str]) -> int:
    """Runs every file, prints failures and a table of counts by file and kind, and returns the exit status."""
    if not arguments:
        print("usage: python -m tests.golden FILE...", file=sys.stderr)
        return 2
    passed: Counter[tuple[str, str]] = Counter()
    failed: Counter[tuple[str, str]] = Counter()
    unread = 0
    started_s = time.perf_counter()
    for argument in arguments:
        path = Path(argument)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            module = adapter(path.name)
        except (OSError, ValueError, ModuleNotFoundError) as error:
            print(f"{path}: cannot be checked: {error}", file=sys.stderr)
            unread += 1
            continue
        if module is None:
            print(f"{path}: no game has files of this name ({', '.join(PREFIXES)})", file=sys.stderr)
            unread += 1
            continue
        prefix = path.name.removesuffix(".json").split("_")[0]
        try:
            cases = list(module.cases(data, path.name))
        except Exception as error:  # whatever a garbled file leads to
            print(f"{path}: not in the format of {prefix}'s cases: {type(error).__name__}: {error}", file=sys.stderr)
            unread += 1
            continue
        if not cases:
            print(f"{path}: holds no cases of {prefix}", file=sys.stderr)
            unread += 1
        for case in cases:
            wrong = difference(case)
            (failed if wrong else passed)[prefix, case.kind] += 1
            if wrong:
                print(f"FAILED {path.name} {case.kind} {case.id}: {wrong}")
    for key in sorted(passed.keys() | failed.keys()):
        print(f"{key[0]:9} {key[1]:12} {passed[key]:5} passed {failed[key]:5} failed")
    total = f"{passed.total()} passed, {failed.total()} failed"
    print(f"{total} in {time.perf_counter() - started_s:.1f} s" + (f", {unread} files not read" if unread else ""))
    if failed.total():
        return 1
    return 2 if unread else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
