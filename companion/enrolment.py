"""People and figures of a table: whose figure is whose, how its faces look, and which of them cannot be told apart.

All of it lies in one folder: `people.toml` (people, owners), `catalogue.toml` (the figures as the game's own data),
`figures.toml` with the face pictures (`calibration.figure_prints`), and the faces of a figure in the making.
"""

from __future__ import annotations

import threading
import time
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import tomli_w

from calibration.figure_prints import INDEX, FigurePrint, drop_figure, load_figures, save_figure
from calibration.profile import CalibrationError, TableProfile
from companion.games.contract import Json, Message, Refusal
from companion.games.figure_form import FigureForm
from companion.opening import shown_name
from companion.uploads import decoded
from devices.contract import Image
from vision.contract import VisionError
from vision.enrol import doubts, face_from_photograph
from vision.enrol_table import PhotographError, upper_face
from vision.figure_faces import Solid
from vision.figure_table import enrolled

FOLDER, PEOPLE, CATALOGUE, DRAFT = "enrolled", "people.toml", "catalogue.toml", "draft"
CAMERA_S = 5.0
"""So long the table's camera is waited for."""
MOST_FIGURES = 40


@dataclass(frozen=True, slots=True)
class Known:
    """An enrolled figure: its id, name, owner (empty: nobody), and what cannot be told apart on it."""

    figure: str
    name: str
    owner: str
    doubts: tuple[Message, ...] = ()


class Enrolment:
    """The folder of one table; every method may be called from any thread.

    `photograph` has the table's camera write a picture to a file (False: there is no camera). `changed` is called after
    the figures have changed, so that the eyes learn them.
    """

    def __init__(
        self,
        folder: Path,
        game: str,
        form: FigureForm,
        profile: TableProfile,
        most_people: int,
        photograph: Callable[[Path], bool] = lambda file: False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder, self.game, self.form, self.most_people = folder, game, form, most_people
        self.photograph, self.changed = photograph, changed
        self._profile = replace(profile, figures="")
        sizes = profile.board.sizes_mm
        self._solid = Solid(sizes.get("figure_length", 45.0), sizes.get("figure_across_flats", 24.0))
        self._lock = threading.RLock()
        self._doubts: dict[str, tuple[Message, ...]] = self._compared(self._prints())

    # ---- what there is

    @property
    def catalogue(self) -> Path | None:
        """The data file of the enrolled figures; None while there are none."""
        file = self.folder / CATALOGUE
        return file if self._tables() and file.exists() else None

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who is registered."""
        return tuple(str(p) for p in self._kept().get("people", ()))

    @property
    def figures(self) -> tuple[Known, ...]:
        """Every enrolled figure."""
        owners = self._kept().get("owners", {})
        return tuple(
            Known(figure, str(table["name"]), str(owners.get(figure, "")), self._doubts.get(figure, ()))
            for figure, table in self._tables().items()
        )

    @property
    def taken(self) -> tuple[int, ...]:
        """The faces of the figure in the making that have been photographed."""
        return tuple(n for n in range(1, self.form.faces + 1) if self._draft(n).exists())

    def face(self, number: int) -> bytes:
        """The face cut from a photograph of the figure in the making, as PNG; empty when there is none."""
        file = self._draft(number)
        return file.read_bytes() if 1 <= number <= self.form.faces and file.exists() else b""

    def enrolled_face(self, figure: str, number: int) -> bytes:
        """A face of an enrolled figure as PNG; empty when there is none."""
        file = self.folder / f"{figure}_{number}.png"
        known = figure in self._tables() and 1 <= number <= self.form.faces
        return file.read_bytes() if known and file.exists() else b""

    # ---- people

    def add_person(self, given: str) -> Message | None:
        """Registers somebody; why not, in words."""
        name = shown_name(given)
        with self._lock:
            people = self.people
            if not name:
                return Message("enrol.no_name")
            if name.casefold() in {p.casefold() for p in people}:
                return Message("companion.same_name")
            if len(people) >= self.most_people:
                return Message("enrol.too_many_people", (("most", self.most_people),))
            return self._keep({**self._kept(), "people": [*people, name]})

    def drop_person(self, name: str) -> Message | None:
        """Forgets somebody; the figures stay, without an owner."""
        with self._lock:
            kept = self._kept()
            owners = {f: owner for f, owner in kept.get("owners", {}).items() if owner != name}
            return self._keep({"people": [p for p in self.people if p != name], "owners": owners})

    def give(self, figure: str, owner: str) -> Message | None:
        """Whose figure it is from now on (empty: nobody's); why not, in words."""
        with self._lock:
            kept = self._kept()
            if figure not in self._tables() or owner not in ("", *self.people):
                return Message("enrol.unknown")
            owners = {**kept.get("owners", {}), figure: owner}
            return self._keep({**kept, "owners": {f: o for f, o in owners.items() if o}})

    # ---- figures

    def take(self, number: int, data: bytes) -> Message | None:
        """A photograph of the figure lying alone in the arena, face `number` up; in words why it cannot be used."""
        picture = decoded(data)
        return picture if isinstance(picture, Message) else self._take(number, picture)

    def take_by_camera(self, number: int) -> Message | None:
        """The same, with the table's own camera."""
        file = self.folder / DRAFT / "camera.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if not self.photograph(file):
            return Message("enrol.no_camera")
        until_s = time.monotonic() + CAMERA_S
        while not file.exists():
            if time.monotonic() > until_s:
                return Message("enrol.no_camera")
            time.sleep(0.05)
        return self.take(number, file.read_bytes())

    def _take(self, number: int, picture: Image) -> Message | None:
        if not 1 <= number <= self.form.faces:
            return Message("enrol.unknown")
        try:
            corners = upper_face(picture, self._profile)
            face = face_from_photograph(picture, corners, self._solid)
        except PhotographError as error:
            return Message(f"enrol.photo_{error.reason}")
        except VisionError as error:
            return Message("enrol.photo_unusable", (("error", str(error)),))
        file = self._draft(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_png(face))
        return None

    def save(self, given: str, owner: str, values: Mapping[str, tuple[str, ...]]) -> Message | None:
        """Enrols the figure in the making; why not, in words. What can be confused is said, but allowed; only a figure
        that looks like another one all round is not."""
        name = shown_name(given)
        if not name:
            return Message("enrol.no_name")
        missing = [n for n in range(1, self.form.faces + 1) if n not in self.taken]
        if missing:
            return Message("enrol.faces_missing", (("faces", ", ".join(map(str, missing))),))
        with self._lock:
            tables = self._tables()
            if name.casefold() in {str(t["name"]).casefold() for t in tables.values()}:
                return Message("enrol.same_figure_name", (("figure", name),))
            if len(tables) >= MOST_FIGURES:
                return Message("enrol.too_many_figures", (("most", MOST_FIGURES),))
            if owner not in ("", *self.people):
                return Message("enrol.unknown")
            figure = _id(name, tables)
            table = self.form.table(figure, name, values)
            if isinstance(table, Refusal):
                return table.message
            faces = [cv2.imdecode(np.frombuffer(self.face(n + 1), np.uint8), 1) for n in range(self.form.faces)]
            states = self.form.states(table)
            shield = states.index("shield") + 1 if "shield" in states else 0
            print_ = FigurePrint(figure, tuple(np.asarray(face, np.uint8) for face in faces), shield)
            prints = (*self._prints(), print_)
            twin = self._twin(prints, figure)
            if twin:
                return Message("enrol.twin", (("figure", name), ("other", str(tables[twin]["name"]))))
            try:
                save_figure(self.folder, print_)
                self._write(CATALOGUE, {**tables, figure: table})
            except OSError as error:
                return Message("enrol.disk", (("error", error.strerror or str(error)),))
            self._doubts = self._compared(prints)
            why = self.give(figure, owner)
            for number in range(1, self.form.faces + 1):
                self._draft(number).unlink(missing_ok=True)
        self.changed()
        return why

    def drop(self, figure: str) -> Message | None:
        """Forgets a figure."""
        with self._lock:
            tables = self._tables()
            if figure not in tables:
                return Message("enrol.unknown")
            del tables[figure]
            try:
                drop_figure(self.folder, figure)
                self._write(CATALOGUE, tables)
            except OSError as error:
                return Message("enrol.disk", (("error", error.strerror or str(error)),))
            kept = self._kept()
            why = self._keep({**kept, "owners": {f: o for f, o in kept.get("owners", {}).items() if f != figure}})
            self._doubts = self._compared(self._prints())
        self.changed()
        return why

    # ---- for a game

    def start(self, players: Sequence[str], seen: bool) -> Mapping[str, Json] | Message:
        """What stands in `Setup.start` of a game of these players: their figures. In words why they cannot begin;
        `seen`: a camera reads the table, so nobody can play with a figure that is not enrolled."""
        tables, owners = self._tables(), self._kept().get("owners", {})
        index = {name.casefold(): n for n, name in enumerate(players)}
        mine = {f: index[o.casefold()] for f, o in owners.items() if f in tables and o.casefold() in index}
        if not tables or (not mine and not seen):
            return {}
        for number, name in enumerate(players):
            if not any(owner == number and self.form.character(tables[f]) for f, owner in mine.items()):
                return Message("enrol.no_figure", (("player", name),))
        return self.form.start({figure: figure for figure in mine}, mine)

    def plays(self, start: Json) -> bool:
        """Whether a game that began with this `Setup.start` is played with figures that were enrolled here."""
        pieces = start.get("owners", {}) if isinstance(start, dict) else {}
        return any(figure in pieces for figure in self._tables())

    # ---- the folder

    def _draft(self, number: int) -> Path:
        return self.folder / DRAFT / f"face{number}.png"

    def _kept(self) -> dict[str, Json]:
        return _toml(self.folder / PEOPLE)

    def _tables(self) -> dict[str, Json]:
        return _toml(self.folder / CATALOGUE)

    def _keep(self, data: Mapping[str, Json]) -> Message | None:
        try:
            self._write(PEOPLE, data)
        except OSError as error:
            return Message("enrol.disk", (("error", error.strerror or str(error)),))
        return None

    def _write(self, name: str, data: Mapping[str, Json]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{name}.part"
        part.write_text(tomli_w.dumps(data), encoding="utf-8")
        part.replace(self.folder / name)

    def _prints(self) -> tuple[FigurePrint, ...]:
        try:
            return load_figures(self.folder) if (self.folder / INDEX).exists() else ()
        except CalibrationError:
            return ()

    # ---- what can be confused

    def _pairs(self, prints: Sequence[FigurePrint]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        found = doubts([enrolled(p) for p in prints], self._solid) if prints else []
        return [(d.first, d.second) for d in found]

    def _twin(self, prints: Sequence[FigurePrint], figure: str) -> str:
        """The other figure that every face of this one can be taken for; empty when there is none."""
        alike: dict[str, set[str]] = {}
        for first, second in self._pairs(prints):
            for (mine, face), (other, _) in ((first, second), (second, first)):
                if mine == figure and other != figure:
                    alike.setdefault(other, set()).add(face)
        return next((other for other, faces in alike.items() if len(faces) >= self.form.faces), "")

    def _compared(self, prints: Sequence[FigurePrint]) -> dict[str, tuple[Message, ...]]:
        names = {f: str(t["name"]) for f, t in self._tables().items()}
        told: dict[str, list[Message]] = {}
        for (figure, side), (other, other_side) in self._pairs(prints):
            if (figure, side) == (other, other_side):
                words = Message("enrol.blank", (("figure", names.get(figure, figure)), ("side", side)))
            else:
                values = (
                    ("figure", names.get(figure, figure)),
                    ("side", side),
                    ("other", names.get(other, other)),
                    ("other_side", other_side),
                )
                words = Message("enrol.alike", values)
            for of in dict.fromkeys((figure, other)):
                told.setdefault(of, []).append(words)
        return {figure: tuple(lines) for figure, lines in told.items()}


def _toml(file: Path) -> dict[str, Json]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _png(picture: Image) -> bytes:
    return bytes(cv2.imencode(".png", picture)[1])


def _id(name: str, taken: Mapping[str, Json]) -> str:
    """A figure's id of its name: letters, digits and underscores, unlike those that are taken."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    base = "".join(c if c.isalnum() else "_" for c in plain).strip("_")[:30] or "figure"
    figure, number = base, 2
    while figure in taken:
        figure, number = f"{base}_{number}", number + 1
    return figure
