"""The worked cases beside the checkout, for all games, through the golden runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.__main__ import PREFIXES, adapter, main
from tests.shared import shared_dir


@pytest.mark.parametrize("name", [prefix for prefix in PREFIXES if prefix != "moguli"])
def test_golden_cases(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Moguli's are in `test_moguli_golden`, because they take longest."""
    module = adapter(f"{name}.json")
    files: list[Path] = [
        file for file in sorted((shared_dir() / "rules" / "golden").glob("*.json")) if adapter(file.name) is module
    ]
    assert files
    assert main([str(file) for file in files]) == 0, capsys.readouterr().out
