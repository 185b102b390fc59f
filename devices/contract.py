"""What every device promises: frames and presses come out of a `Source`, time is a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
T_co = TypeVar("T_co", covariant=True)


class DeviceError(Exception):
    """Root of everything a device raises; the message says what is wrong and what to do."""


class DeviceGone(DeviceError):
    """The device no longer answers (unplugged, closed by the other side, stalled for good)."""


class BadAddressError(DeviceError):
    """A device URL that cannot be understood or names nothing; quotes the URL."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture.

    `bgr` is uint8, H x W x 3, read-only (its `writeable` flag is off). `number` rises by at least one a frame of the
    same source. `time_s` is monotonic time of capture in seconds. `source` is the device's URL. `jpeg` is the picture
    as the camera sent it, where it sent it so, else empty.
    """

    bgr: Image
    number: int
    time_s: float
    source: str
    jpeg: bytes = b""


@dataclass(frozen=True, slots=True)
class Press:
    """One clean (debounced) press: the button's name, e.g. `done1`, `takeback`, `referee`, and its monotonic time."""

    button: str
    time_s: float


@dataclass(frozen=True, slots=True)
class DieReport:
    """What an electronic die says: `phase` is "rolling", "settled" or "cocked"; `value` (1..`faces`) only when settled,
    else None. `fresh` is False when the device was only asked what lies there now: no roll has happened."""

    die: str
    phase: str
    faces: int
    value: int | None
    time_s: float
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class TimerReport:
    """What a turn timer says: remaining time in milliseconds (negative when overrun) and whether it runs."""

    timer: str
    remaining_ms: int
    running: bool
    time_s: float


class Source(Protocol[T_co]):
    """The whole input device contract."""

    def read(self, timeout_s: float) -> T_co | None:
        """The newest item, or None when nothing new came within `timeout_s`; raises DeviceGone when it never will."""

    def close(self) -> None:
        """Releases the device; may be called any number of times."""


@dataclass(frozen=True, slots=True)
class Condition:
    """How a device is, in words to come: `message` is a catalogue id (`serial.silent`), `values` fill it."""

    ok: bool
    message: str
    values: tuple[tuple[str, str | int | float], ...] = ()


class Lights(Protocol):
    """The output device contract: a green / amber / red light and a buzzer."""

    def show(self, signal: str) -> None:
        """Shows `signal`, one of SIGNALS; a further call replaces it. Raises DeviceGone, never blocks."""

    def close(self) -> None:
        """Switches everything off and releases the device; may be called any number of times."""


SIGNALS = ("off", "accepted", "provisional", "question", "illegal", "trouble")


class Clock(Protocol):
    """Time as a parameter, so that tests and fast simulations never sleep."""

    def now_s(self) -> float:
        """Monotonic time in seconds."""

    def sleep_s(self, seconds: float) -> None:
        """Returns when `seconds` of this clock's time have passed."""
