"""A Raspberry Pi Pico as button, light and dice box over USB serial. How to copy it to the board: docs/wiring.md.

This file alone knows the pins, and it has not met hardware yet; all that it calls has been run under MicroPython.
"""

import os
import select
import sys
import time

import machine
import micropython

from devices.firmware.panel import Panel

BUTTONS = {"done1": 2, "done2": 3, "takeback": 4, "referee": 5}  # GP numbers; each button between its pin and ground
GREEN, AMBER, RED, BUZZER = 10, 11, 12, 15
DIE_I2C = None  # (SDA, SCL) GP numbers of an ADXL345 inside a die on a lead, e.g. (0, 1); None without
WATCHDOG_MS = 4000

# Which lamps burn for a signal (green, amber, red) and the buzzer's beeps in milliseconds.
SIGNALS = {
    "off": ((0, 0, 0), 0),
    "accepted": ((1, 0, 0), 80),
    "provisional": ((1, 1, 0), 0),
    "question": ((0, 1, 0), 200),
    "illegal": ((0, 0, 1), 500),
    "trouble": ((0, 1, 1), 0),
}


class Lamps:
    """The three lamps and the buzzer; a beep ends by itself at the next `poll`."""

    def __init__(self) -> None:
        self._pins = [machine.Pin(n, machine.Pin.OUT, value=0) for n in (GREEN, AMBER, RED)]
        self._buzzer = machine.Pin(BUZZER, machine.Pin.OUT, value=0)
        self._quiet_ms = time.ticks_ms()

    def show(self, signal: str) -> None:
        """Shows a signal of SIGNALS; an unknown one switches everything off."""
        lamps, beep_ms = SIGNALS.get(signal, SIGNALS["off"])
        for pin, value in zip(self._pins, lamps):  # noqa: B905
            pin.value(value)
        if beep_ms:
            self._buzzer.value(1)
            self._quiet_ms = time.ticks_add(time.ticks_ms(), beep_ms)

    def poll(self) -> None:
        """Ends a beep whose time has come."""
        if time.ticks_diff(time.ticks_ms(), self._quiet_ms) >= 0:
            self._buzzer.value(0)


class Adxl345:
    """A three-axis accelerometer on I2C (data sheet: register 0x2D measures, 0x32 holds six bytes, 4 mg a step)."""

    def __init__(self, sda: int, scl: int) -> None:
        self._bus = machine.I2C(0, sda=machine.Pin(sda), scl=machine.Pin(scl))
        self._bus.writeto_mem(0x53, 0x2D, b"\x08")

    def read_mg(self) -> tuple[int, int, int]:
        """Acceleration along x, y, z in thousandths of g."""
        raw = self._bus.readfrom_mem(0x53, 0x32, 6)
        x, y, z = (int.from_bytes(raw[i : i + 2], "little") for i in (0, 2, 4))
        return tuple(4 * (v - 65536 if v & 0x8000 else v) for v in (x, y, z))


def main() -> None:
    """Runs for ever; the watchdog restarts the board should it hang."""
    micropython.kbd_intr(-1)  # the host's bytes may hold Ctrl-C
    identity = "".join("{:02x}".format(b) for b in machine.unique_id())  # noqa: UP032
    boot = "{:08x}".format(int.from_bytes(os.urandom(4), "big"))
    lamps = Lamps()
    dice = ["a"] if DIE_I2C else []
    panel = Panel(identity, "pico", boot, list(BUTTONS), dice, lamps.show)
    pins = {n: machine.Pin(p, machine.Pin.IN, machine.Pin.PULL_UP) for n, p in BUTTONS.items()}
    levels = {n: not p.value() for n, p in pins.items()}
    for name, closed in levels.items():
        panel.level(name, closed, 0)
    sensor = Adxl345(*DIE_I2C) if DIE_I2C else None
    waiting = select.poll()
    waiting.register(sys.stdin.buffer, select.POLLIN)
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    start = time.ticks_ms()
    now_ms = 0
    while True:
        watchdog.feed()
        # ticks_ms wraps after 12 days; adding differences gives a clock that does not.
        tick = time.ticks_ms()
        now_ms += time.ticks_diff(tick, start)
        start = tick
        while waiting.poll(0):
            panel.feed(sys.stdin.buffer.read(1), now_ms)
        for name, pin in pins.items():
            closed = not pin.value()
            if closed != levels[name]:
                levels[name] = closed
                panel.edge(name, closed, now_ms)
        if sensor:
            panel.accelerate("a", sensor.read_mg(), now_ms)
        out = panel.poll(now_ms)
        if out:
            sys.stdout.buffer.write(out)
        lamps.poll()
        time.sleep_ms(1)


main()
