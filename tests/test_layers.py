"""Data goes right, imports go left: who may import whom, as one table."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("calibration", "devices", "vision", "companion", "web")

# Longest matching package decides. "std" allows the standard library; every other name is a package (and all below it).
ALLOWED: dict[str, frozenset[str]] = {
    "calibration": frozenset({"std", "numpy", "cv2", "tomli_w", "calibration"}),
    "devices": frozenset({"std", "numpy", "cv2", "gpiozero", "serial", "picamera2", "bleak", "devices"}),
    "devices.simulated": frozenset({"std", "numpy", "cv2", "devices", "calibration", "gpiozero"}),
    "devices.firmware": frozenset({"std", "devices.firmware"}),
    "devices.firmware.main": frozenset({"std", "machine", "micropython", "devices.firmware"}),
    "vision": frozenset({"std", "numpy", "cv2", "vision", "devices.contract", "calibration"}),
    "vision.training": frozenset({"std", "numpy", "cv2", "torch", "onnx", "vision", "devices", "calibration"}),
    "companion.games": frozenset({"std", "companion.games"}),
    "companion": frozenset({"std", "numpy", "cv2", "tomli_w", "companion", "vision", "devices", "calibration"}),
    "companion.bench": frozenset(
        {"std", "numpy", "cv2", "chess", "psutil", "companion", "vision", "devices", "calibration"}
    ),
    "companion.cli": frozenset({"std", *OURS}),
    "companion.threads": frozenset({"std", "threadpoolctl"}),
    "companion.serving": frozenset({"std", *OURS}),
    "companion.__main__": frozenset({"std", *OURS}),
    "web": frozenset(
        {"std", "flask", "werkzeug", "itsdangerous", "markupsafe", "a2wsgi", "uvicorn", "segno", "web"}
        | {"companion.bulletin", "companion.commands", "companion.evidence", "companion.words"}
        | {
            "companion.games.contract",
            "companion.games.data_form",
            "companion.games.figure_form",
            "companion.games.sheets",
        }
    ),
}

# The pure rooms: no clock, no input or output, no chance of their own (a `random.Random` is handed in).
PURE = {"companion.games": {"time", "datetime", "socket", "subprocess", "threading", "asyncio", "secrets", "os"}}


def modules() -> list[Path]:
    """Every Python file of our packages."""
    return [p for room in OURS for p in sorted((ROOT / room).rglob("*.py"))]


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    """Dotted names that the file imports, whether at the top or inside a function."""
    names: set[str] = set()
    package = dotted(path) if path.name == "__init__.py" else dotted(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            names.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*up, base] if base else up)
            # `from devices import contract` names a module too.
            names.update(f"{base}.{a.name}" if base in OURS else base for a in node.names)
    return names


def rule_for(module: str) -> frozenset[str]:
    return ALLOWED[max((k for k in ALLOWED if module == k or module.startswith(k + ".")), key=len)]


def within(name: str, allowed: frozenset[str]) -> bool:
    if "std" in allowed and name.split(".")[0] in sys.stdlib_module_names:
        return True
    return any(name == a or name.startswith(a + ".") for a in allowed - {"std"})


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_go_left(path: Path) -> None:
    strangers = {n for n in imported(path) if not within(n, rule_for(dotted(path)))}
    assert not strangers, f"{dotted(path)} may not import {sorted(strangers)}; see ALLOWED in {Path(__file__).name}"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_rules_touch_nothing(path: Path) -> None:
    for room, forbidden in PURE.items():
        if dotted(path).startswith(room):
            assert not {n.split(".")[0] for n in imported(path)} & forbidden


def test_every_room_is_in_the_table() -> None:
    for path in modules():
        assert rule_for(dotted(path))


def test_a_stranger_would_be_found(tmp_path: Path) -> None:
    assert not within("cv2", ALLOWED["companion.games"])
    assert not within("web.app", ALLOWED["companion"])
    assert not within("companion.match", ALLOWED["web"])
    assert within("companion.games.contract", ALLOWED["web"])
