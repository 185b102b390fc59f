"""The clips of a table on disk: the seconds around what somebody doubts, or was asked about; and how they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from companion.footage import SUFFIX, Keep

BEFORE_S, AFTER_S = 6.0, 1.5
"""So much is kept before and after the moment at which the table was read."""
FOLDER = "clips"


@dataclass(frozen=True, slots=True)
class Clips:
    """Clips in a folder, which together take at most `limit_mb`."""

    folder: Path
    limit_mb: int = 256

    def order(self, clip: str, first_s: float, last_s: float) -> Keep:
        """What the eyes are told to keep: the pictures around these moments (frame time)."""
        file = self.folder / f"{clip}{SUFFIX}"
        return Keep(str(file), first_s - BEFORE_S, last_s, last_s + AFTER_S, self.limit_mb * 2**20)

    def times_s(self, clip: str) -> list[float]:
        """The times of a clip's pictures, 0 where the table was read; empty while there is no such clip (yet)."""
        with self._open(clip) as (_, head):
            return [float(time_s) for time_s in head.get("times_s", ())]

    def picture(self, clip: str, number: int) -> bytes:
        """A picture of a clip as JPEG; empty when there is none of this number."""
        with self._open(clip) as (file, head):
            sizes = [int(size) for size in head.get("sizes", ())]
            if file is None or not 0 <= number < len(sizes):
                return b""
            file.seek(sum(sizes[:number]), 1)
            return file.read(sizes[number])

    @contextmanager
    def _open(self, clip: str) -> Iterator[tuple[IO[bytes] | None, dict[str, list[float]]]]:
        """The file behind its first line, and that line; nothing for a clip that is missing or damaged."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,120}", clip):
            yield None, {}
            return
        try:
            file = (self.folder / f"{clip}{SUFFIX}").open("rb")
        except OSError:
            yield None, {}
            return
        with file:
            try:
                head = json.loads(file.readline())
                yield file, head if isinstance(head, dict) else {}
            except ValueError:
                yield None, {}


def clip_name(match: str, what: str) -> str:
    """The name of a clip: of which match, and which moment of it."""
    return re.sub(r"[^A-Za-z0-9-]", "_", f"{match}-{what}")[:120]
