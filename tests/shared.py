"""Where the material beside the checkout lies (golden cases, pictures), and what to do when it is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_path() -> Path | None:
    """The shared folder: `$COMPANION_SHARED` if set, whether or not it exists, else the one beside the checkout."""
    named = os.environ.get("COMPANION_SHARED")
    if named:
        return Path(named)
    beside = ROOT.parent / "shared"
    return beside if beside.is_dir() else None


def shared_dir() -> Path:
    """The shared folder; skips the calling test when there is none, fails it when `$COMPANION_SHARED` names nothing."""
    path = shared_path()
    if path is None:
        pytest.skip("no shared folder: set COMPANION_SHARED to run this test")
    if not path.is_dir():
        pytest.fail(f"COMPANION_SHARED is set to {str(path)!r}, which is no folder")
    return path
