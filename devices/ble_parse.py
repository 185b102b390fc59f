"""What Bluetooth dice say: bytes to reports. Pure; the bytes are those of the makers' published descriptions.

GoDice: notifications of ParticulaCode's GoDicePythonAPI (`R`, `S xyz`, `FS`, `TS`, `MS`, signed bytes, 64 is 1 g).
Pixels: advertisement of GameWithPixels' doc/CommunicationsProtocol.md. Neither has met a real die here yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from devices.contract import DieReport

GODICE_NAME = "GoDice_"
GODICE_NOTIFY = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"

FACE_COS = 0.94
"""Within about 20 degrees of a face's axis a die lies on it; farther off it leans on something."""

_FACES = {(0, -1): 1, (2, 1): 2, (1, 1): 3, (1, -1): 4, (2, -1): 5, (0, 1): 6}
"""Value of a GoDice by the axis (x, y, z) and sign along which its accelerometer feels the ground push."""

_PIXELS_LEDS = {6, 21}
"""Numbers of lights of six-sided Pixels. Their d4 and fudge dice have six, too, and do not advertise what they are."""

_PIXELS_PHASES = {1: "settled", 2: "rolling", 3: "rolling", 4: "cocked", 5: "settled"}
_PIXELS_NOT_ROLLED = 5


@dataclass(frozen=True, slots=True)
class Battery:
    """How full a die's battery is, 0 to 100 percent."""

    die: str
    percent: int


def godice(die: str, data: bytes, time_s: float) -> DieReport | Battery | None:
    """What a GoDice in its six-sided shell notifies; None for what is neither a phase of a roll nor its battery.

    Only a stable position after a roll (`S`) is a fresh value; `MS` (moved by hand) and `FS` (a false start) are told
    as what lies there now. `TS` is a die that leans.
    """
    if data == b"R":
        return DieReport(die, "rolling", 6, None, time_s)
    if len(data) == 4 and data[:3] == b"Bat" and data[3] <= 100:
        return Battery(die, data[3])
    kind, xyz = data[:-3], data[-3:]
    if kind == b"TS" and len(xyz) == 3:
        return DieReport(die, "cocked", 6, None, time_s)
    if kind not in (b"S", b"MS", b"FS") or len(xyz) != 3:
        return None
    value = _face_up(tuple(b - 256 if b > 127 else b for b in xyz))
    if value is None:
        return DieReport(die, "cocked", 6, None, time_s)
    return DieReport(die, "settled", 6, value, time_s, fresh=kind == b"S")


def pixels(die: str, data: bytes, time_s: float) -> DieReport | None:
    """What a six-sided Pixels die advertises (the manufacturer data behind the company's number: lights, look, roll
    state, face, battery); None for another die, an unknown state or nonsense.

    Only a die that has just been rolled gives a fresh value; one that merely lies on a face does not.
    """
    if len(data) != 5 or data[0] not in _PIXELS_LEDS or data[2] not in _PIXELS_PHASES:
        return None
    phase = _PIXELS_PHASES[data[2]]
    if phase != "settled":
        return DieReport(die, phase, 6, None, time_s)
    if not data[3] < 6:
        return None
    return DieReport(die, "settled", 6, data[3] + 1, time_s, fresh=data[2] != _PIXELS_NOT_ROLLED)


def _face_up(xyz: tuple[int, ...]) -> int | None:
    length = math.hypot(*xyz)
    for axis, along in enumerate(xyz):
        if length > 0 and abs(along) / length >= FACE_COS:
            return _FACES[axis, 1 if along > 0 else -1]
    return None
