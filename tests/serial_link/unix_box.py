"""Runs under MicroPython's unix port: the firmware's core on standard input and output, poked through a pipe.

Arguments: the checkout, the pipe. Pokes, one a line: `edge <button> <0|1>`, `die <name> <x> <y> <z>`. Signals shown
go to standard error, one a line.
"""

import select
import sys
import time

sys.path.insert(0, sys.argv[1])

from devices.firmware.panel import Panel


def main() -> None:
    panel = Panel(
        "mp01",
        "micropython",
        "boot1",
        ["done1", "done2", "takeback", "referee"],
        ["a"],
        lambda s: print(s, file=sys.stderr),
    )
    pokes = open(sys.argv[2])  # noqa: PTH123, SIM115
    waiting = select.poll()
    waiting.register(sys.stdin, select.POLLIN)
    waiting.register(pokes, select.POLLIN)
    while True:
        now = time.ticks_ms()  # type: ignore[attr-defined]
        for ready in waiting.poll(2):
            if ready[0] is sys.stdin:
                byte = sys.stdin.buffer.read(1)
                if not byte:
                    return
                panel.feed(byte, now)
            else:
                words = pokes.readline().split()
                if words and words[0] == "edge":
                    panel.edge(words[1], words[2] == "1", now)
                elif words:
                    panel.accelerate(words[1], (int(words[2]), int(words[3]), int(words[4])), now)
        sys.stdout.buffer.write(panel.poll(now))


main()
