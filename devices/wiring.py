"""How buttons and lights are wired to pins: the pin map, and how to say that a pin of it cannot be used."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from devices.contract import BadAddressError, Condition


@dataclass(frozen=True, slots=True)
class Wiring:
    """A pin (BCM number); for a button, whether it lies between the pin and ground or the 3.3 V supply, and whether it
    opens (instead of closing) when it is pressed."""

    pin: int
    to_supply: bool = False
    opens: bool = False


def load_wiring(path: Path | None = None) -> dict[str, dict[str, Wiring]]:
    """`buttons` and `lights` by name, from `path` or the pin map that ships; raises BadAddressError.

    An entry is a number, or a table such as `{ pin = 17, to_supply = true, opens = true }`.
    """
    source = path if path is not None else resources.files("devices") / "pins.toml"
    try:
        data = tomllib.loads(source.read_text(encoding="utf-8"))
        return {part: {str(k): _wiring(v) for k, v in data.get(part, {}).items()} for part in ("buttons", "lights")}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError, ValueError, AttributeError) as error:
        raise BadAddressError(f"cannot read the pin map {source}: {error}; see docs/devices.md for its form") from error


def _wiring(entry: Any) -> Wiring:
    if not isinstance(entry, dict):
        return Wiring(int(entry))
    if not {"pin"} <= entry.keys() <= {"pin", "to_supply", "opens"}:
        raise ValueError(f"{entry!r} must have a pin, and may say to_supply and opens")
    return Wiring(int(entry["pin"]), bool(entry.get("to_supply", False)), bool(entry.get("opens", False)))


def bad_pin(message: str, name: str, pin: int, error: Exception) -> Condition:
    """The condition of a pin that cannot be used."""
    return Condition(False, message, (("name", name), ("pin", pin), ("error", str(error))))
