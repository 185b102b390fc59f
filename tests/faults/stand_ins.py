"""A camera and a reader for the child process that do as a small file says: show a look, crash, hang, leak."""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from calibration.profile import TableProfile
from devices.contract import Frame, Image, Source
from vision.reading import Fact, Reading

SIZE = (90, 160)
CORNERS = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0))


class Script:
    """The file: `look`, and `act` ("", "crash", "hang", "leak", "raise"), done once for each new `number`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0

    def write(self, look: Mapping[str, str], act: str = "") -> None:
        self.number += 1
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"look": dict(look), "act": act, "number": self.number}))
        part.replace(self.path)


class ScriptReader:
    """Reads the truth from the file; what it was told to do, it does once."""

    def __init__(self, profile: TableProfile) -> None:
        self.path = Path(urlsplit(profile.camera).path)
        self.kept: list[bytearray] = []

    def read(self, frame: Frame) -> Reading:
        data = json.loads(self.path.read_text())
        done = self.path.with_suffix(".done")
        if data["act"] and not (done.exists() and done.read_text() == str(data["number"])):
            done.write_text(str(data["number"]))
            self.act(data["act"])
        facts = {k: Fact((v, "other"), (0.0, -15.0)) for k, v in data["look"].items()}
        return Reading(frame.number, frame.time_s, facts, (), CORNERS)

    def act(self, name: str) -> None:
        if name == "crash":
            ctypes.string_at(0)
        elif name == "hang":
            while True:
                time.sleep(10.0)
        elif name == "leak":
            for _ in range(40):
                self.kept.append(bytearray(b"x" * 20_000_000))
                time.sleep(0.02)
            time.sleep(10.0)
        elif name == "raise":
            raise RuntimeError("a bug in the reader")

    def agree(self, look: Mapping[str, str]) -> None:
        with self.path.with_suffix(".agreed").open("a") as file:
            file.write(json.dumps(dict(look), sort_keys=True) + "\n")

    def draw(self, image: Image, reading: Reading) -> Image:
        return image


class ScriptCamera:
    """Twenty noisy pictures a second, of a pattern that changes with the look."""

    def __init__(self, url: str) -> None:
        self.path, self.url = Path(urlsplit(url).path), url
        self.rng = np.random.default_rng()
        self.number, self.next_s = 0, time.monotonic()

    def read(self, timeout_s: float) -> Frame | None:
        wait_s = self.next_s - time.monotonic()
        if wait_s > 0:
            time.sleep(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return None
        self.next_s = max(self.next_s + 0.05, time.monotonic())
        self.number += 1
        pattern = np.random.default_rng(5).integers(40, 200, (9, 16, 3)).repeat(10, 0).repeat(10, 1)
        look = json.loads(self.path.read_text())["look"]
        spot = np.random.default_rng(abs(hash(tuple(sorted(look.values())))) % 2**32).integers(40, 200, (6, 8, 3))
        pattern[30:60, 60:100] = spot.repeat(5, 0).repeat(5, 1)
        picture = np.clip(pattern + self.rng.normal(0, 2, pattern.shape), 0, 255).astype(np.uint8)
        picture.flags.writeable = False
        return Frame(picture, self.number, time.monotonic(), self.url)

    def close(self) -> None:
        pass


def open_script(url: str) -> Source[Frame]:
    return ScriptCamera(url)
