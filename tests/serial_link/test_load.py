"""A serial line as full as 115200 baud can be, and 200 edges a second at the pins, at once."""

from __future__ import annotations

from companion.bench.wires import wires


def test_a_full_line_and_many_edges_lose_nothing() -> None:
    figures = wires(3.0)
    assert figures["wires_lost"] == figures["wires_doubled"] == 0, figures
    assert figures["wires_serial_presses"] >= 250
