"""Gravity in, die faces out: an electronic die with an accelerometer. Runs under MicroPython and CPython alike."""

FACE_COS = 0.94  # within about 20 degrees of a face's axis; farther off it leans on something
STILL_MG = 60
SETTLE_MS = 400


class Die:
    """A six-sided die whose accelerometer axes point out of 1 (+x), 2 (+y) and 3 (+z); opposite faces add to seven.

    Fed with acceleration in thousandths of g. Rolling begins with motion; after `SETTLE_MS` of stillness it is
    settled on a face or cocked. Turned over in the hand without a pause it stays rolling, so no value is told.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.phase = "cocked"
        self.value = 0
        self._last = (0, 0, 0)
        self._moved_ms: int | None = None

    def feed(self, xyz_mg: tuple[int, int, int], now_ms: int) -> bool:
        """Takes a sample; True when phase or value has changed."""
        moved = self._moved_ms is None or max(abs(a - b) for a, b in zip(xyz_mg, self._last)) > STILL_MG  # noqa: B905
        self._last = xyz_mg
        before = (self.phase, self.value)
        if moved:
            self._moved_ms = now_ms
            self.phase, self.value = "rolling", 0
        elif self.phase == "rolling" and self._moved_ms is not None and now_ms - self._moved_ms >= SETTLE_MS:
            self.value = _face_up(xyz_mg)
            self.phase = "settled" if self.value else "cocked"
        return (self.phase, self.value) != before

    def line(self) -> tuple[str, ...]:
        """The die's event line: `DIE <name> settled 6 <value>`, `DIE <name> rolling 6` or `DIE <name> cocked 6`."""
        start = ("DIE", self.name, self.phase, "6")
        return start + (str(self.value),) if self.phase == "settled" else start


def _face_up(xyz_mg: tuple[int, int, int]) -> int:
    length = (xyz_mg[0] ** 2 + xyz_mg[1] ** 2 + xyz_mg[2] ** 2) ** 0.5
    for axis, along in enumerate(xyz_mg):
        if length > 0 and abs(along) / length >= FACE_COS:
            return axis + 1 if along > 0 else 6 - axis
    return 0
