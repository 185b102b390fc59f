"""The command that runs golden cases: a file that holds none is named in one line, whatever it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.golden.__main__ import PREFIXES, main

ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["positions", "turns", "games", "cases", "layouts", "id", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("name", PREFIXES)
@pytest.mark.parametrize("content", ["", "{", "[1]", "{}", "\x00", '{"positions": [{"position": {}}]}', '{"games": 3}'])
def test_a_garbled_file_never_passes(
    name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"{name}.json"
    file.write_text(content, encoding="utf-8")
    assert main([str(file)]) in (1, 2)
    told = capsys.readouterr()
    assert file.name in told.out + told.err


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(PREFIXES), data=ANY)
def test_no_content_breaks_it(name: str, data: object, tmp_path: Path) -> None:
    file = tmp_path / f"{name}_x.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert main([str(file)]) in (1, 2)


def test_a_missing_file_and_one_of_no_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "chess.json"
    other.write_text("{}", encoding="utf-8")
    assert main([str(tmp_path / "none.json"), str(other)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 2
