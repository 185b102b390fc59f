"""What each signal looks and sounds like, as data: steps of lights and tones."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from devices.contract import SIGNALS, BadAddressError


@dataclass(frozen=True, slots=True)
class Step:
    """Lights that are on, a tone in Hz (0: silence) and for how long; `seconds` 0 means until the next signal."""

    on: tuple[str, ...]
    tone_hz: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """Steps one after another, from the start again when `repeat`."""

    steps: tuple[Step, ...]
    repeat: bool = False

    def at(self, age_s: float) -> tuple[Step, float | None]:
        """The step `age_s` after the signal began, and the seconds until it changes (None: it stays)."""
        total = sum(step.seconds for step in self.steps)
        if self.repeat and total > 0:
            age_s %= total
        for step in self.steps:
            if not step.seconds:
                return step, None
            if age_s < step.seconds:
                return step, step.seconds - age_s
            age_s -= step.seconds
        return (self.steps[0], self.steps[0].seconds) if self.repeat else (Step(()), None)


def load_patterns(path: Path | None = None) -> dict[str, Pattern]:
    """A pattern for every one of SIGNALS, from `path` or the file that ships; raises BadAddressError that says why."""
    source = path if path is not None else resources.files("devices") / "signals.toml"
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
        return {
            signal: Pattern(
                tuple(
                    Step(tuple(s["on"]), float(s.get("tone", 0)), float(s.get("seconds", 0)))
                    for s in data[signal]["steps"]
                ),
                bool(data[signal].get("repeat", False)),
            )
            for signal in SIGNALS
        }
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise BadAddressError(f"cannot read the signals {source}: {error!r}") from error
