"""A filmed Moguli game: every frame shown for two seconds, the turns that the whole chain infers against the truth."""

from __future__ import annotations

from pathlib import Path

from companion.census.moguli import count_reading, players_colours, profile_of, shots
from companion.census.tally import Tally, decoded, timed
from devices.contract import Frame
from vision.settler import Settler
from vision.tiles import TileReader

SHOWN_S = 2.0
FRAME_S = 0.1


def recognise(folder: Path) -> bool:
    """True for a folder with a Moguli `sequence.json`."""
    return (folder / "sequence.json").exists() and bool(shots(folder))


def read(folder: Path) -> Tally:
    """The game from its first frame to its last."""
    tally = Tally()
    pictures = shots(folder)
    colours = players_colours(s.truth for s in pictures)
    reader, settler = TileReader(profile_of(pictures[0].truth, colours)), Settler()
    number = 0
    for shot in pictures:
        picture, decode_s = decoded(shot.picture)
        tally.pictures += 1
        if picture is None:
            continue
        reading = None
        for _ in range(round(SHOWN_S / FRAME_S)):
            frame = Frame(picture, number, number * FRAME_S, str(folder))
            number += 1
            rest, settle_s = timed(lambda frame=frame: settler.feed(frame))  # type: ignore[misc]
            tally.ratios.setdefault("settler", []).append(settle_s / decode_s)
            if rest.fresh:
                reading, read_s = timed(lambda frame=frame: reader.read(frame))  # type: ignore[misc]
                tally.ratios.setdefault("cold" if number < SHOWN_S / FRAME_S else "tracked", []).append(
                    read_s / decode_s
                )
        if reading is not None:
            count_reading(tally, f"{folder.name}/{shot.name}", reading, shot.truth)
    return tally
