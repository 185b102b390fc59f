"""One serial port, every call of which survives an unplug; and where such ports are."""

from __future__ import annotations

import time
from pathlib import Path

import serial
from serial.tools import list_ports

from devices.firmware.wire import Lines

try:
    from termios import error as termios_error
except ImportError:  # not a POSIX system: the name stays, nothing raises it
    termios_error = OSError  # type: ignore[misc,assignment]

# pyserial's exceptions are no family: SerialException is an OSError, flush raises termios.error, and a port closed by
# another thread gives its reader a TypeError.
PORT_ERRORS = (OSError, termios_error, TypeError, ValueError)

BAUD = 115200
READ_S = 0.02
GATHER_S = 0.004  # what comes within it is read at once: a busy line would wake this thread for every few bytes


def candidate_ports(by_id: Path = Path("/dev/serial/by-id")) -> list[str]:
    """Ports at which a device may be, the stable names first; each physical port once."""
    stable = sorted(str(p) for p in by_id.iterdir()) if by_id.is_dir() else []
    taken = {str(Path(p).resolve()) for p in stable}
    others = [p.device for p in list_ports.comports() if p.vid is not None and p.device not in taken]
    return stable + sorted(others)


class Port:
    """An open port with its line buffer; every call survives an unplug (`gone` is then set)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.gone = False
        self.lines = Lines()
        # Setting a timeout later sets up the whole port anew, so it is never touched.
        self.device = serial.serial_for_url(url, baudrate=BAUD, timeout=READ_S, write_timeout=0.2, do_not_open=True)
        if hasattr(self.device, "exclusive"):
            self.device.exclusive = True
        self.device.open()

    def read(self) -> list[tuple[int, list[str]]]:
        """Whole lines, after READ_S at most."""
        try:
            data = self.device.read(1)
            if data:
                time.sleep(GATHER_S)
                data += self.device.read(self.device.in_waiting)
            return self.lines.feed(data)
        except PORT_ERRORS:
            self.gone = True
            return []

    def write(self, data: bytes) -> None:
        """Sends the bytes."""
        try:
            if data:
                self.device.write(data)
        except PORT_ERRORS:
            self.gone = True

    def close(self) -> None:
        """Frees the port."""
        try:
            self.device.close()
        except PORT_ERRORS:
            self.gone = True
