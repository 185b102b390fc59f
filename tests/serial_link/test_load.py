"""A serial line as full as 115200 baud can be, and 200 edges a second at the pins, at once."""

from __future__ import annotations

from companion.bench.wires import BYTES_S, wires


def test_a_full_line_and_many_edges_lose_nothing_and_leave_most_of_a_core() -> None:
    figures = wires(3.0)
    assert figures["wires_lost"] == figures["wires_doubled"] == 0, figures
    assert figures["wires_serial_presses"] >= 250
    assert 0.9 * BYTES_S <= figures["wires_serial_bytes_a_second"] <= 1.1 * BYTES_S
    assert figures["wires_core_share"] <= 0.15, figures
