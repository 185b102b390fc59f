"""A camera over a dice tray: its real pictures become rolls beside the table's own camera."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from calibration.profile import TableProfile
from companion.bulletin import Bulletin, Device
from companion.evidence import Author, Evidence, Seen
from companion.eyes import Eyes
from companion.games.contract import Message
from companion.journal import open_journal
from companion.run import TRAY, BesideTable
from companion.service import Service
from companion.tray import Tray
from devices.contract import Frame
from devices.simulated.tray import TrayOptions, tray_scene
from tests.companion.table import games
from vision.dice_tray import TrayReader

CAMERA = Author("camera", "sim://tray")


class Ear:
    """Notes what the eyes say."""

    def __init__(self) -> None:
        self.troubles: list[str] = []

    def hear(self, evidence: Evidence) -> None: ...

    def report(self, device: Device | None, name: str, trouble: Message | None) -> None:
        self.troubles += [trouble.id] if trouble is not None else []


def shown(eyes: Eyes, seed: int, dice: int, at_s: float) -> tuple[Seen | None, Mapping[int | None, int]]:
    """What the eyes make of a tray at rest, and how often each value lies there."""
    options = TrayOptions(dice=(dice, dice), cocked=0.0, die_px=(50, 60), tilt_deg=(5, 10), hand=0.0, harsh=0.0)
    image, truth = tray_scene(np.random.default_rng([8, seed]), options)
    found = None
    for n in range(12):
        found = eyes.look(Frame(image, int(10 * at_s) + n, at_s + 0.1 * n, "sim://tray")) or found
    return found, {value: truth.values.count(value) for value in truth.values}


def test_dice_thrown_into_a_tray_are_rolls_and_an_empty_tray_is_no_trouble() -> None:
    ear, tray = Ear(), Tray()
    eyes = Eyes(TableProfile(TRAY, camera="sim://tray"), TrayReader, ear)
    empty, _ = shown(eyes, 1, 0, 1.0)
    assert empty is not None and tray.rolled(empty) == []
    thrown, truth = shown(eyes, 2, 2, 10.0)
    assert thrown is not None and not thrown.reading.facts
    rolls = [roll.value for roll in tray.rolled(thrown)]
    assert rolls and all(rolls.count(value) <= truth.get(value, 0) for value in rolls), "asked rather than guessed"
    assert ear.troubles == []


def test_a_tray_has_its_own_memory_and_its_own_lines_on_the_health_panel(tmp_path: Path) -> None:
    journal, _ = open_journal(tmp_path)
    bulletin = Bulletin()
    service = Service(games, journal, bulletin)
    beside = BesideTable(service)
    beside.report(
        Device("camera", "sim://tray", False, Message("vision.too_dark")), "camera", Message("vision.too_dark")
    )
    service.report(Device("camera", "sim://table", True, Message("companion.eyes_work")), "camera", None)
    shot = bulletin.snapshot()
    assert {d.name for d in shot.devices} == {"tray camera", "camera"}
    assert [t.words.id for t in shot.troubles] == ["vision.too_dark"]
    beside.report(Device("board", "sim://tray", True, Message("companion.board_seen")), "board", None)
    assert {d.name for d in bulletin.snapshot().devices} == {"tray camera", "camera"}
    journal.close()
