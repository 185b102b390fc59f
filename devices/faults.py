"""What can go wrong, as typed faults with names: which there are, a time line of them from a file, which run now."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from devices.contract import Clock, DeviceError


class ScenarioError(DeviceError):
    """A scenario that cannot be used; the message names file, entry and cure."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One kind of fault. `says`: the messages of which one must come on the screens. `strength` is its default; what it
    means is said in docs/faults.md."""

    name: str
    says: tuple[str, ...]
    strength: float = 1.0

    @property
    def place(self) -> str:
        """What is at fault: camera, clock, disk or process."""
        return self.name.partition(".")[0]


def _camera(name: str, *says: str, strength: float = 1.0) -> FaultKind:
    return FaultKind(f"camera.{name}", tuple(f"devices.camera_{s}" for s in says or (name,)), strength)


FAULTS: Mapping[str, FaultKind] = {
    kind.name: kind
    for kind in (
        _camera("frozen"),
        _camera("silent", "stalled"),
        _camera("black"),
        _camera("slow", strength=1.0),
        _camera("size", strength=0.5),
        _camera("colour", strength=0.12),
        _camera("exposure", strength=0.3),
        _camera("flicker", strength=0.2),
        _camera("bump", "moved", strength=24.0),
        _camera("unplugged", "gone"),
        _camera("swapped"),
        _camera("late", strength=30.0),
        _camera("garbled", "torn", strength=0.002),
        _camera("half", "torn"),
        _camera("mirrored"),
        FaultKind("clock.jump", ("companion.clock_jumped",), 3600.0),
        FaultKind("clock.stop", ("companion.clock_stopped",)),
        FaultKind("disk.full", ("companion.disk_full", "companion.disk")),
        FaultKind("disk.slow", ("companion.disk_slow",), 1.5),
        FaultKind("disk.readonly", ("companion.disk_readonly", "companion.disk")),
        FaultKind("process.crash", ("companion.eyes_crashed",)),
        FaultKind("process.hang", ("companion.eyes_hung",)),
        FaultKind("process.leak", ("companion.eyes_swollen",)),
    )
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault on a time line: its kind's name, when it begins (seconds after the start), for how long, how strong."""

    kind: str
    at_s: float
    seconds: float
    strength: float

    @property
    def end_s(self) -> float:
        """When it is over."""
        return self.at_s + self.seconds


def fault(kind: str, at_s: float, seconds: float, strength: float | None = None) -> Fault:
    """A fault of a known kind; raises ScenarioError that lists the kinds."""
    if kind not in FAULTS:
        raise ScenarioError(f"there is no fault {kind!r}; known are {', '.join(FAULTS)}")
    return Fault(kind, at_s, seconds, FAULTS[kind].strength if strength is None else strength)


def load_scenario(file: Path) -> tuple[Fault, ...]:
    """The faults of a scenario file, in order of time; raises ScenarioError that names file, entry and cure.

    The file is TOML: `[[fault]]` tables with `kind`, `at_s`, `seconds` and optionally `strength`.
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"the scenario {file} cannot be read: {error}") from error
    entries = data.pop("fault", [])
    if data or not isinstance(entries, list):
        raise ScenarioError(f"{file}: a scenario holds [[fault]] tables only, not {', '.join(data) or entries!r}")
    return tuple(sorted((_entry(file, n, e) for n, e in enumerate(entries, 1)), key=lambda f: f.at_s))


def _entry(file: Path, number: int, entry: object) -> Fault:
    where = f"{file}: fault {number}"
    if not isinstance(entry, dict) or not {"kind", "at_s", "seconds"} <= entry.keys():
        raise ScenarioError(f"{where}: needs kind, at_s and seconds, has {entry!r}")
    unknown = entry.keys() - {"kind", "at_s", "seconds", "strength"}
    if unknown:
        raise ScenarioError(
            f"{where}: {', '.join(sorted(unknown))} is no known key; known are at_s, kind, seconds, strength"
        )
    for key in entry.keys() - {"kind"}:
        value = entry[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e6:
            raise ScenarioError(f"{where}: {key} must be a number from 0 to a million, not {value!r}")
    try:
        strength = entry.get("strength")
        return fault(str(entry["kind"]), float(entry["at_s"]), float(entry["seconds"]), strength)
    except ScenarioError as error:
        raise ScenarioError(f"{where}: {error}") from error


class Running:
    """Which faults run now, by a clock: written by whoever triggers them, read by simulated devices, by any thread."""

    def __init__(self, clock: Clock, scenario: Iterable[Fault] = ()) -> None:
        self.clock = clock
        self._start_s = clock.now_s()
        self._lock = threading.Lock()
        self._faults = list(scenario)

    def begin(self, kind: str, seconds: float, strength: float | None = None) -> Fault:
        """Begins a fault now; raises ScenarioError for an unknown kind."""
        begun = fault(kind, self._age_s, seconds, strength)
        with self._lock:
            self._faults.append(begun)
        return begun

    def end(self, kind: str) -> None:
        """Ends every fault of this kind now."""
        now_s = self._age_s
        with self._lock:
            self._faults = [f for f in self._faults if f.kind != kind or not f.at_s <= now_s < f.end_s]

    def of(self, kind: str) -> Fault | None:
        """The fault of this kind that runs now, if one does."""
        now_s = self._age_s
        with self._lock:
            return next((f for f in self._faults if f.kind == kind and f.at_s <= now_s < f.end_s), None)

    def now(self) -> tuple[Fault, ...]:
        """All faults that run now."""
        now_s = self._age_s
        with self._lock:
            return tuple(f for f in self._faults if f.at_s <= now_s < f.end_s)

    def age_s(self, running: Fault) -> float:
        """For how long a fault has been running."""
        return self._age_s - running.at_s

    @property
    def _age_s(self) -> float:
        return self.clock.now_s() - self._start_s
